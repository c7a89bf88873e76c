"""Hostile requests of every kind: long, deep, wide, many; as text, as bound values, as JSON, as schema.

Each attack is a name and a function that sends what it has on a connection of its own. Whether the server obeys or refuses is its choice;
that others are served meanwhile is not.
"""
import struct

from client import Refused

KEYSPACE = "attack"
SCHEMA = [
    f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}} AND review = 'off'",
    f"CREATE TABLE {KEYSPACE}.victim (k int PRIMARY KEY, v text)",
    f"CREATE TABLE {KEYSPACE}.wide (k int, c int, v text, n varint, d decimal, PRIMARY KEY (k, c))",
    f"CREATE TABLE {KEYSPACE}.keys (a int, b int, c int, d int, e int, v text, PRIMARY KEY ((a, b), c, d, e))",
    f"CREATE TABLE {KEYSPACE}.parts (k int PRIMARY KEY, l list<int>, m map<text, int>, s set<text>, w int)",
    f"CREATE TABLE {KEYSPACE}.indexed (k int, c int, v int, w text, PRIMARY KEY (k, c))",
    f"CREATE INDEX ON {KEYSPACE}.indexed (v)",
    f"CREATE TABLE {KEYSPACE}.large (k int PRIMARY KEY, v text)",
]
WIDE_ROWS = 20000


def numbers(count):
    return ", ".join(map(str, range(count)))


def int4(number):
    return struct.pack(">i", number)


def fill(connection):
    """The schema, and rows that are worth reading."""
    for text in SCHEMA:
        connection.query(text)
    insert = connection.prepare(f"INSERT INTO {KEYSPACE}.wide (k, c, v, n, d) VALUES (?, ?, ?, ?, ?)")
    for n in range(WIDE_ROWS):
        connection.execute(insert, [int4(n % 4), int4(n), b"x" * 200, b"\x77" * 40, int4(3) + b"\x77" * 40])
    index = connection.prepare(f"INSERT INTO {KEYSPACE}.indexed (k, c, v, w) VALUES (?, ?, ?, ?)")
    for n in range(5000):
        connection.execute(index, [int4(n % 50), int4(n), int4(n % 3), b"w"])
    connection.query(f"INSERT INTO {KEYSPACE}.parts (k, l) VALUES (1, [{numbers(20000)}])")
    large = connection.prepare(f"INSERT INTO {KEYSPACE}.large (k, v) VALUES (?, ?)")
    connection.execute(large, [int4(1), b'"' * (1 << 20)])


def texts(*statements):
    """An attack that sends these texts, one after the other."""
    def attack(connection):
        for text in statements:
            try:
                connection.query(text)
            except Refused:
                pass
    return attack


def pages(text):
    """An attack that reads a page of a million rows."""
    def attack(connection):
        try:
            connection.query(text, page=1000000)
        except Refused:
            pass
    return attack


def pipelined(text, count):
    """Many requests at once on one connection."""
    def attack(connection):
        body = struct.pack(">i", len(text)) + text.encode() + struct.pack(">HBi", 1, 0x04, 5000)
        for _ in range(count):
            connection.send(0x07, body)
        for _ in range(count):
            try:
                connection.receive()
            except Refused:
                pass
    return attack


def bound(text, *values):
    def attack(connection):
        try:
            connection.execute(connection.prepare(text), values)
        except Refused:
            pass
    return attack


def batches(statement, count):
    def attack(connection):
        try:
            connection.batch([statement] * count)
        except Refused:
            pass
    return attack


def prepared_many(connection):
    for n in range(200):
        try:
            connection.prepare(f"SELECT * FROM {KEYSPACE}.wide WHERE k IN ({numbers(1000)}) AND c = {n}")
        except Refused:
            pass


def nested(head, opening, core, closing, tail, depth):
    return f"{head}{opening * depth}{core}{closing * depth}{tail}"


def many_types(connection):
    """Types that nest and types that double; then a table and an alteration of the innermost."""
    for family, fields in (("chain", "f frozen<{0}>"), ("twice", "f frozen<{0}>, g frozen<{0}>")):
        before = "int"
        for n in range(80):
            name = f"{KEYSPACE}.{family}{n}"
            inner = fields.format(before) if before != "int" else "f int"
            try:
                connection.query(f"CREATE TYPE IF NOT EXISTS {name} ({inner})")
            except Refused:
                break
            before = f"{family}{n}"
        try:
            connection.query(f"CREATE TABLE IF NOT EXISTS {KEYSPACE}.{family} (k int PRIMARY KEY, v frozen<{before}>)")
            connection.query(f"SELECT * FROM {KEYSPACE}.{family}")
            connection.query(f"ALTER TYPE {KEYSPACE}.{family}0 ADD IF NOT EXISTS h text")
            connection.query(f"DESCRIBE KEYSPACE {KEYSPACE}")
        except Refused:
            pass


def wide_tables(connection):
    """Tables as wide as they may be, and wider."""
    for name, count in (("broad", 4999), ("broader", 60000)):
        columns = ", ".join(f"c{n} int" for n in range(count))
        for text in (f"CREATE TABLE IF NOT EXISTS {KEYSPACE}.{name} (k int PRIMARY KEY, {columns})",
                     f"SELECT * FROM {KEYSPACE}.{name}",
                     f"ALTER TABLE {KEYSPACE}.{name} ADD x{count} int",
                     f"DROP TABLE IF EXISTS {KEYSPACE}.{name}"):
            try:
                connection.query(text)
            except Refused:
                pass


def schema_reads(connection):
    for text in ("DESCRIBE FULL SCHEMA", "SELECT * FROM system_schema.columns", "SELECT * FROM system_schema.tables"):
        try:
            connection.query(text)
        except Refused:
            pass


K = KEYSPACE
MANY, SOME = numbers(200), numbers(40)
LONG = "7" * 900000
ATTACKS = {
    "a product of IN lists": texts(
        f"UPDATE {K}.keys SET v = 'x' WHERE a IN ({MANY}) AND b IN ({MANY}) AND c IN ({SOME}) AND d IN ({SOME}) AND e IN ({SOME})"),
    "as many keys as IN may name": texts(
        f"SELECT * FROM {K}.keys WHERE a IN ({numbers(100)}) AND b IN ({numbers(100)})",
        f"UPDATE {K}.keys SET v = 'x' WHERE a IN ({numbers(100)}) AND b = 1 AND c IN ({numbers(100)}) AND d = 1 AND e = 1"),
    "a long IN list": texts(f"SELECT * FROM {K}.wide WHERE k IN ({numbers(150000)})"),
    "a long number": texts(f"SELECT * FROM {K}.wide WHERE k = {LONG}", f"INSERT INTO {K}.wide (k, c, n) VALUES (1, 1, {LONG})"),
    "a long text": texts(f"INSERT INTO {K}.victim (k, v) VALUES (1, '{'x' * 1000000}')"),
    "a long list of nothing": texts("SELECT " + ", ".join(["v"] * 200000) + f" FROM {K}.wide", "(" * 1000000),
    "deep calls": texts(*[nested("SELECT ", call, "v", ")", f" FROM {K}.wide", 60) for call in ("abs(", "to_json(", "mask_default(", "(v + ")]),
    "deep calls on a large value": texts(
        *[nested("SELECT ", call, "v", close, f" FROM {K}.large", depth) for depth in (1, 2, 30)
          for call, close in (("blob_as_text(text_as_blob(", "))"), ("to_json(", ")"), ("mask_default(", ")"))]),
    "a large value selected often": texts(*[f"SELECT {', '.join(['v'] * count)} FROM {K}.large" for count in (10, 20, 9000)]),
    "deep literals": texts(*[nested("SELECT * FROM system.local WHERE key = ", o, "1", c, "", 60)
                             for o, c in (("[", "]"), ("{", "}"), ("(", ")"), ("{1: ", "}"), ("(int)", ""))]),
    "a scan that filters": pages(f"SELECT k FROM {K}.wide WHERE v = 'nothing' ALLOW FILTERING"),
    "a scan that filters by many values": pages(
        f"SELECT k FROM {K}.wide WHERE c NOT IN ({numbers(2000)}) AND v = 'nothing' ALLOW FILTERING"),
    "an aggregate of everything": pages(f"SELECT max(v), min(n), sum(n), avg(d), count(*) FROM {K}.wide"),
    "a page of everything": pages(f"SELECT * FROM {K}.wide"),
    "everything as JSON": pages(f"SELECT JSON * FROM {K}.wide"),
    "much computed per row": pages("SELECT " + ", ".join(["to_json(v)", "n * n", "d / 7", "exp(d)"] * 50) + f" FROM {K}.wide LIMIT 500"),
    "rows of several partitions in order": pages(f"SELECT * FROM {K}.wide WHERE k IN (0, 1, 2, 3) ORDER BY c DESC"),
    "a read through an index": pages(f"SELECT * FROM {K}.indexed WHERE v = 1"),
    "a document with many members": texts(
        f"INSERT INTO {K}.parts JSON '{{\"k\": 1, {', '.join(f'{chr(34)}a{n}{chr(34)}: {n}' for n in range(60000))}}}'",
        f"INSERT INTO {K}.parts JSON '{{\"k\": 2, \"m\": {{{', '.join(f'{chr(34)}a{n}{chr(34)}: {n}' for n in range(50000))}}}}}'"),
    "a document that is deep": texts(f"INSERT INTO {K}.parts JSON '{'[' * 400000}'"),
    "long lists": texts(f"UPDATE {K}.parts SET l = l - [{numbers(15000)}] WHERE k = 1",
                        f"UPDATE {K}.parts SET " + ", ".join(f"l[{n}] = 1" for n in range(2000)) + " WHERE k = 1",
                        f"UPDATE {K}.parts SET " + ", ".join(f"l[{n}] = 1" for n in range(16)) + " WHERE k = 1"),
    "large bound numbers": bound(f"INSERT INTO {K}.wide (k, c, n) VALUES (1, 1, ?)", b"\x77" * (8 << 20)),
    "a large bound list": bound(f"SELECT * FROM {K}.wide WHERE k IN ?",
                                struct.pack(">i", 300000) + b"".join(int4(4) + int4(n) for n in range(300000))),
    "a large bound set": bound(f"INSERT INTO {K}.parts (k, s) VALUES (3, ?)",
                               struct.pack(">i", 300000) + b"".join(int4(6) + b"%06d" % n for n in reversed(range(300000)))),
    "a batch of texts": batches(f"INSERT INTO {K}.victim (k, v) VALUES (5, 'b')", 5000),
    "a batch of long texts": batches(f"INSERT INTO {K}.victim (k, v) VALUES (5, '{'b' * 1000}')", 5000),
    "a batch in a text": texts("BEGIN BATCH " + f"INSERT INTO {K}.victim (k, v) VALUES (6, 'b');" * 9000 + " APPLY BATCH"),
    "many statements at once": pipelined(f"SELECT * FROM {K}.wide WHERE k IN ({numbers(2500)})", 200),
    "many scans at once": pipelined(f"SELECT count(*) FROM {K}.wide", 100),
    "many long statements at once": pipelined(f"SELECT * FROM {K}.wide WHERE k IN ({numbers(40000)})", 30),
    "many prepared statements": prepared_many,
    "types that nest and double": many_types,
    "tables that are wide": wide_tables,
    "reading the schema": schema_reads,
}
