"""Batches, lightweight transactions, counters, deletes, TTL and write times."""

import time

from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.query import BatchStatement, BatchType, SimpleStatement

from scenario import KEYSPACE, check, eq, raises


def kv(world, key):
    row = world.session.execute("SELECT v, n FROM kv WHERE k = %s", [key]).one()
    return row and tuple(row)


@check("batch: logged, with simple and prepared statements")
def logged(world):
    insert = world.session.prepare("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)")
    batch = BatchStatement()
    batch.add(insert, ("b1", "one", 1))
    batch.add(SimpleStatement("INSERT INTO kv (k, v) VALUES (%s, %s)"), ("b2", "two"))
    batch.add("INSERT INTO kv (k, v) VALUES ('b3', 'three')")
    batch.add(insert.bind(("b4", None, 4)))
    world.session.execute(batch)
    eq([kv(world, f"b{i}") for i in (1, 2, 3, 4)], [("one", 1), ("two", None), ("three", None), (None, 4)])


@check("batch: unlogged, with a timestamp for all")
def unlogged(world):
    batch = BatchStatement(batch_type=BatchType.UNLOGGED, consistency_level=ConsistencyLevel.QUORUM)
    for i in range(50):
        batch.add(SimpleStatement("INSERT INTO kv (k, n) VALUES (%s, %s)"), ("unlogged", i))
    world.session.execute(batch)
    # Same timestamp, so the greatest value wins.
    eq(kv(world, "unlogged"), (None, 49))


@check("batch: counter")
def counter_batch(world):
    add = world.session.prepare("UPDATE counts SET c = c + ? WHERE k = ?")
    batch = BatchStatement(batch_type=BatchType.COUNTER)
    for i in range(10):
        batch.add(add, (i, "batched"))
    world.session.execute(batch)
    eq(world.session.execute("SELECT c, d FROM counts WHERE k = 'batched'").one()[:], (45, None))
    mixed = BatchStatement()
    mixed.add("UPDATE counts SET c = c + 1 WHERE k = 'x'")
    mixed.add("INSERT INTO kv (k) VALUES ('x')")
    raises(InvalidRequest, world.session.execute, mixed)


@check("batch: as CQL text, with USING TIMESTAMP")
def text_batch(world):
    world.session.execute("""BEGIN BATCH USING TIMESTAMP 1234
                             INSERT INTO kv (k, v) VALUES ('tb', 'x'); UPDATE kv SET n = 3 WHERE k = 'tb';
                             APPLY BATCH""")
    eq(world.session.execute("SELECT writetime(v) AS w, n FROM kv WHERE k = 'tb'").one()[:], (1234, 3))
    prepared = world.session.prepare("BEGIN BATCH INSERT INTO kv (k, v) VALUES (?, ?); DELETE n FROM kv WHERE k = ?; APPLY BATCH")
    world.session.execute(prepared, ["tb", "y", "tb"])
    eq(kv(world, "tb"), ("y", None))


@check("batch: conditional")
def conditional_batch(world):
    s = world.session
    s.execute("CREATE TABLE accounts (bank text, id int, balance int, total int static, PRIMARY KEY (bank, id))")
    s.execute("INSERT INTO accounts (bank, id, balance, total) VALUES ('b', 1, 100, 100)")
    take = s.prepare("UPDATE accounts SET balance = ? WHERE bank = ? AND id = ? IF balance = ?")
    put = s.prepare("INSERT INTO accounts (bank, id, balance) VALUES (?, ?, ?) IF NOT EXISTS")
    batch = BatchStatement(serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL)
    batch.add(take, (60, "b", 1, 100))
    batch.add(put, ("b", 2, 40))
    eq(s.execute(batch).was_applied, True)
    eq(s.execute(batch).was_applied, False)
    eq([tuple(r) for r in s.execute("SELECT id, balance FROM accounts WHERE bank = 'b'")], [(1, 60), (2, 40)])


@check("lwt: insert if not exists")
def lwt_insert(world):
    s = world.session
    insert = s.prepare("INSERT INTO kv (k, v) VALUES (?, ?) IF NOT EXISTS")
    eq(s.execute(insert, ["lwt", "first"]).was_applied, True)
    second = s.execute(insert, ["lwt", "second"])
    eq(second.was_applied, False)
    row = s.execute(insert, ["lwt", "third"]).one()
    eq((row[0], row.k, row.v, row.n), (False, "lwt", "first", None))


@check("lwt: update and delete under conditions")
def lwt_update(world):
    s = world.session
    eq(s.execute("UPDATE kv SET v = 'second' WHERE k = 'lwt' IF v = 'first'").was_applied, True)
    refused = s.execute("UPDATE kv SET v = 'third' WHERE k = 'lwt' IF v = 'first' AND n = null").one()
    eq((refused[0], refused.v), (False, "second"))
    eq(s.execute("UPDATE kv SET n = 1 WHERE k = 'absent' IF EXISTS").was_applied, False)
    eq(s.execute("UPDATE kv SET n = 9 WHERE k = 'lwt' IF v IN ('second', 'other')").was_applied, True)
    eq(s.execute("UPDATE kv SET n = 10 WHERE k = 'lwt' IF n > 8").was_applied, True)
    select = SimpleStatement("SELECT v, n FROM kv WHERE k = 'lwt'", consistency_level=ConsistencyLevel.SERIAL)
    eq(s.execute(select).one()[:], ("second", 10))
    eq(s.execute("DELETE FROM kv WHERE k = 'lwt' IF n = 11").was_applied, False)
    eq(s.execute("DELETE FROM kv WHERE k = 'lwt' IF EXISTS").was_applied, True)
    eq(kv(world, "lwt"), None)


@check("lwt: one winner among concurrent writers")
def lwt_race(world):
    s = world.session
    insert = s.prepare("INSERT INTO kv (k, n) VALUES (?, ?) IF NOT EXISTS")
    futures = [s.execute_async(insert, ["race", i]) for i in range(20)]
    winners = [i for i, f in enumerate(futures) if f.result().was_applied]
    eq(len(winners), 1, "winners")
    eq(kv(world, "race"), (None, winners[0]))


@check("counters")
def counters(world):
    s = world.session
    add = s.prepare("UPDATE counts SET c = c + ?, d = d - ? WHERE k = ?")
    for f in [s.execute_async(add, [1, 2, "n"]) for _ in range(200)]:
        f.result()
    eq(s.execute("SELECT c, d FROM counts WHERE k = 'n'").one()[:], (200, -400))
    s.execute("DELETE c FROM counts WHERE k = 'n'")
    eq(s.execute("SELECT c, d FROM counts WHERE k = 'n'").one()[:], (None, -400))


@check("ttl and write time")
def ttl(world):
    s = world.session
    s.execute("INSERT INTO kv (k, v, n) VALUES ('ttl', 'x', 1) USING TTL 1000 AND TIMESTAMP 1700000000000000")
    row = s.execute("SELECT ttl(v) AS t, writetime(v) AS w FROM kv WHERE k = 'ttl'").one()
    assert 990 <= row.t <= 1000, row
    eq(row.w, 1700000000000000)
    s.execute("UPDATE kv USING TTL 0 SET v = 'y' WHERE k = 'ttl'")
    eq(s.execute("SELECT ttl(v) AS t FROM kv WHERE k = 'ttl'").one().t, None)
    prepared = s.prepare("UPDATE kv USING TTL ? AND TIMESTAMP ? SET v = ? WHERE k = ?")
    eq([c.name for c in prepared.column_metadata][:2], ["[ttl]", "[timestamp]"])
    # The write time of a driver's own timestamp is close to now, in microseconds.
    s.execute("INSERT INTO kv (k, v) VALUES ('now', 'x')")
    written = s.execute("SELECT writetime(v) AS w FROM kv WHERE k = 'now'").one().w
    assert abs(written / 1e6 - time.time()) < 30, written


@check("ttl: an expired cell is gone")
def expiry(world):
    s = world.session
    s.execute("INSERT INTO kv (k, v) VALUES ('brief', 'x') USING TTL 1")
    s.execute("UPDATE kv SET n = 1 WHERE k = 'brief'")
    deadline = time.monotonic() + 10
    while kv(world, "brief")[0] is not None:
        assert time.monotonic() < deadline, "the cell never expired"
        time.sleep(0.05)
    eq(kv(world, "brief"), (None, 1))


@check("deletes: cell, row, range, partition")
def deletes(world):
    s = world.session
    s.execute("CREATE TABLE series (p int, a int, b int, v int, s int static, PRIMARY KEY (p, a, b))")
    insert = s.prepare("INSERT INTO series (p, a, b, v, s) VALUES (?, ?, ?, ?, ?)")
    for a in range(5):
        for b in range(5):
            s.execute(insert, [1, a, b, a * 10 + b, 7])
    values = lambda: [r.v for r in s.execute("SELECT v FROM series WHERE p = 1")]  # noqa: E731
    s.execute("DELETE v FROM series WHERE p = 1 AND a = 0 AND b = 0")
    s.execute("DELETE FROM series WHERE p = 1 AND a = 0 AND b = 1")
    s.execute("DELETE FROM series WHERE p = 1 AND a = 1")
    s.execute("DELETE FROM series WHERE p = 1 AND a >= 3 AND a < 5")
    s.execute("DELETE FROM series WHERE p = 1 AND a = 2 AND b > 1")
    eq(values(), [None, 2, 3, 4, 20, 21])
    s.execute("DELETE s FROM series WHERE p = 1")
    eq(s.execute("SELECT s FROM series WHERE p = 1 LIMIT 1").one().s, None)
    s.execute("DELETE FROM series WHERE p = 1")
    eq(values(), [])
    s.execute("INSERT INTO series (p, a, b, v) VALUES (2, 0, 0, 0)")
    s.execute(f"TRUNCATE TABLE {KEYSPACE}.series")
    eq(s.execute("SELECT * FROM series").all(), [])
