"""The statements that are measured: the tables of the latte workloads, one function per kind of operation.

Every kind makes the frame of operation `i`; operations never repeat within a run, so that an insert inserts and a
conditional insert applies.
"""
import random
import struct
import uuid

import owner
from client import execute, logged_batch

SENSORS, ROWS, DAY = 100, 300, 19675
EPOCH_MS = 1_700_000_000_000
STATES = [b"status=ok;site0", b"status=ok;site1", b"status=warn;st2", b"status=fail;st3"]

SCHEMA = [
    "CREATE KEYSPACE IF NOT EXISTS cost WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    *(f"CREATE TABLE IF NOT EXISTS cost.{name} (sensor_id uuid, day int, ts timestamp, temperature double, battery int, "
      "state text, raw blob, PRIMARY KEY ((sensor_id, day), ts)) WITH CLUSTERING ORDER BY (ts DESC)"
      for name in ("history", "readings", "indexed", "viewed")),
    "CREATE INDEX IF NOT EXISTS by_battery ON cost.indexed (battery)",
    "CREATE MATERIALIZED VIEW IF NOT EXISTS cost.viewed_by_battery AS SELECT * FROM cost.viewed WHERE battery IS NOT NULL AND sensor_id IS NOT NULL "
    "AND day IS NOT NULL AND ts IS NOT NULL PRIMARY KEY (battery, sensor_id, day, ts)",
    "CREATE TABLE IF NOT EXISTS cost.claims (name text PRIMARY KEY, owner bigint, note text)",
    "CREATE TABLE IF NOT EXISTS cost.orders (order_id uuid PRIMARY KEY, customer bigint, placed timestamp, cents bigint, note text)",
    "CREATE TABLE IF NOT EXISTS cost.orders_by_customer (customer bigint, placed timestamp, order_id uuid, cents bigint, "
    "PRIMARY KEY (customer, placed, order_id)) WITH CLUSTERING ORDER BY (placed DESC, order_id ASC)",
]
COLUMNS = "(sensor_id, day, ts, temperature, battery, state, raw) VALUES (?, ?, ?, ?, ?, ?, ?)"
ORDER = "INSERT INTO cost.orders (order_id, customer, placed, cents, note) VALUES (?, ?, ?, ?, ?)"
INDEX = "INSERT INTO cost.orders_by_customer (customer, placed, order_id, cents) VALUES (?, ?, ?, ?)"
POINT = "SELECT temperature, battery, state, raw FROM cost.{} WHERE sensor_id = ? AND day = ? AND ts = ?"
STATEMENTS = {
    "load": f"INSERT INTO cost.history {COLUMNS}",
    "insert": f"INSERT INTO cost.readings {COLUMNS}",
    "insert_indexed": f"INSERT INTO cost.indexed {COLUMNS}",
    "insert_viewed": f"INSERT INTO cost.viewed {COLUMNS}",
    "read_index": "SELECT temperature, state, raw FROM cost.indexed WHERE battery = ? LIMIT 1",
    "read_file": POINT.format("history"),
    "read_memory": POINT.format("readings"),
    "newest_100": "SELECT ts, temperature, battery, state, raw FROM cost.history WHERE sensor_id = ? AND day = ? LIMIT 100",
    "lwt_insert": "INSERT INTO cost.claims (name, owner, note) VALUES (?, ?, ?) IF NOT EXISTS",
    "batch": ORDER,
    "batch_index": INDEX,
    "batch_text": f"BEGIN BATCH {ORDER}; {INDEX}; APPLY BATCH",
}
# What is measured, in this order: the reads of memory want the rows of the inserts before them.
KINDS = ["read_file", "newest_100", "insert", "read_memory", "lwt_insert", "batch", "batch_text", "insert_indexed",
         "read_index", "insert_viewed"]

# The slot for what watches requests: the same operations once more after patterns are declared and the review is enforced.
WATCHED = {"read_watched": "read_file", "insert_watched": "insert"}
WATCH = [
    "ALTER KEYSPACE cost WITH review = 'enforce'",
    *(f"CREATE ACCESS PATTERN cost.point_{n} AS {POINT.format(table)} WITH peak_rate = {1000 + n}"
      for n, table in enumerate(["history", "readings"] * 10)),
]


def big(value):
    return struct.pack(">q", value)


def sensor(number):
    return uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (1 << 128), version=4).bytes


def row(i, fleet=range(SENSORS)):
    """The i-th reading of a fleet whose sensors report in turn."""
    chance = random.Random(i)
    return [sensor(fleet[i % len(fleet)]), struct.pack(">i", DAY), big(EPOCH_MS + i // len(fleet) * 60_000),
            struct.pack(">d", 15 + chance.random() * 20), struct.pack(">i", i % 1024), STATES[i % 4], chance.randbytes(31)]


def fleets(shards):
    """The sensors whose partitions each shard owns."""
    owner_of = lambda number: owner.shard([sensor(number), struct.pack(">i", DAY)], shards)
    return [[number for number in range(SENSORS) if owner_of(number) == shard] for shard in range(shards)]


class Workload:
    """Frames for one server: holds the prepared ids and how far each kind has come."""

    def __init__(self, connection, done=None, fleet=range(SENSORS)):
        self.fleet = fleet
        self.ids = {name: connection.prepare(text) for name, text in STATEMENTS.items()}
        self.done = dict(done or dict.fromkeys(STATEMENTS, 0))

    def one(self, kind, i, stream):
        chosen = random.Random(i)
        if kind in ("insert", "load", "insert_indexed", "insert_viewed"):
            return execute(stream, self.ids[kind], row(i, self.fleet), timestamp=EPOCH_MS * 1000 + i)
        if kind == "read_file":
            return execute(stream, self.ids[kind], row(chosen.randrange(SENSORS * ROWS))[:3])
        if kind == "read_memory":
            return execute(stream, self.ids[kind], row(chosen.randrange(self.done["insert"]), self.fleet)[:3])
        if kind == "read_index":
            return execute(stream, self.ids[kind], row(chosen.randrange(self.done["insert_indexed"]))[4:5])
        if kind == "newest_100":
            return execute(stream, self.ids[kind], row(i)[:2])
        if kind == "lwt_insert":
            values = [f"user-{i}".encode(), big(i), b"first come, first served"]
            return execute(stream, self.ids[kind], values, serial=True)
        # Both forms of the batch write different orders.
        order, customer = sensor(i + (1 << 40) * (kind == "batch")), big(i % 1000)
        placed, cents = big(EPOCH_MS + i), big(i % 100_000)
        first, second = [order, customer, placed, cents, b"packed and ready to ship"], [customer, placed, order, cents]
        if kind == "batch":
            statements = [(self.ids["batch"], first), (self.ids["batch_index"], second)]
            return logged_batch(stream, statements, EPOCH_MS * 1000 + i)
        return execute(stream, self.ids[kind], first + second, timestamp=EPOCH_MS * 1000 + i)

    def groups(self, kind, count, window):
        """The next `count` operations, in groups of `window` frames that are sent with one call."""
        start = self.done[kind]
        self.done[kind] += count
        made = []
        for at in range(start, start + count, window):
            size = min(window, start + count - at)
            made.append((b"".join(self.one(kind, at + n, n) for n in range(size)), size))
        return made
