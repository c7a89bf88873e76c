"""The tables and rows of the bucket benchmarks: the same rows in one partition, in day buckets, and in 16 hash buckets.

Each size is an entity: `size` days, of which the newest has 100 rows and every other one row. Rows have about 100 bytes.
"""
import random
import struct

SIZES = [1, 16, 365, 10_000]
NEWEST = 100
DAY_MS = 86_400_000
# Midnight UTC.
LAST_DAY_MS = 1_699_920_000_000

KEYSPACE = "CREATE KEYSPACE IF NOT EXISTS buckets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
COLUMNS = "entity int, at timestamp, id bigint, state text, raw blob, PRIMARY KEY (entity, at, id)"
ORDER = "CLUSTERING ORDER BY (at DESC, id ASC)"
TABLES = {
    "plain": "",
    "days": " AND bucketing = {'by': 'at', 'every': '1d'}",
    "hashed": " AND bucketing = {'by': 'id', 'into': 16}",
}
# What an application does without the property: the bucket in its key, a loop, and a merge.
BY_HAND = {
    "days_by_hand": "entity int, bucket timestamp, at timestamp, id bigint, state text, raw blob, PRIMARY KEY ((entity, bucket), at, id)",
    "hashed_by_hand": "entity int, bucket int, at timestamp, id bigint, state text, raw blob, PRIMARY KEY ((entity, bucket), at, id)",
}


def create(name, plan):
    return f"CREATE TABLE IF NOT EXISTS buckets.{name} ({COLUMNS}) WITH {ORDER}{plan}"


def create_by_hand(name):
    return f"CREATE TABLE IF NOT EXISTS buckets.{name} ({BY_HAND[name]}) WITH {ORDER}"


def rows(size):
    """(entity, at, id, state, raw) of the entity with so many days, as Python values."""
    chance = random.Random(size)
    first = LAST_DAY_MS - (size - 1) * DAY_MS
    number = 0
    for day in range(size):
        for second in range(NEWEST if day == size - 1 else 1):
            number += 1
            yield size, first + day * DAY_MS + second * 60_000, number, f"status={number % 4};site{number % 7}", chance.randbytes(48)


def wire(row):
    entity, at, number, state, raw = row
    return [struct.pack(">i", entity), struct.pack(">q", at), struct.pack(">q", number), state.encode(), raw]
