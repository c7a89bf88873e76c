"""Three applications with statements of their own: a shop and a fleet of sensors (ours), and Celery's store of task results (its own code, from PyPI).

Each makes its schema and works through a driver, as it would in production; none knows that it is watched.
"""
import datetime
import os
import random
import sys
import uuid

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import BatchStatement, SimpleStatement

KEYSPACE = "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
ROUNDS = 40


def session(port, keyspace):
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy(["127.0.0.1"]))
    cluster = Cluster(["127.0.0.1"], port=port, protocol_version=4, compression=False, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    connected = cluster.connect()
    connected.execute(KEYSPACE.format(keyspace))
    connected.set_keyspace(keyspace)
    return cluster, connected


def shop(port):
    """Orders by id and by customer in one batch, stock under a condition, pages of a customer's orders."""
    cluster, db = session(port, "shop")
    db.execute("CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY, customer int, placed timestamp, cents bigint)")
    db.execute("CREATE TABLE IF NOT EXISTS orders_by_customer (customer int, placed timestamp, id uuid, cents bigint, "
               "PRIMARY KEY (customer, placed, id)) WITH CLUSTERING ORDER BY (placed DESC, id ASC)")
    db.execute("CREATE TABLE IF NOT EXISTS stock (item text PRIMARY KEY, pieces int)")
    put = db.prepare("INSERT INTO orders (id, customer, placed, cents) VALUES (?, ?, ?, ?)")
    put_by_customer = db.prepare("INSERT INTO orders_by_customer (customer, placed, id, cents) VALUES (?, ?, ?, ?)")
    by_id = db.prepare("SELECT customer, cents FROM orders WHERE id = ?")
    newest = db.prepare("SELECT id, cents FROM orders_by_customer WHERE customer = ? LIMIT 5")
    since = db.prepare("SELECT id FROM orders_by_customer WHERE customer = ? AND placed >= ?")
    take = db.prepare("UPDATE stock SET pieces = ? WHERE item = ? IF pieces = ?")
    pieces = db.prepare("SELECT pieces FROM stock WHERE item = ?")
    db.execute(db.prepare("INSERT INTO stock (item, pieces) VALUES (?, ?)"), ("lamp", ROUNDS))
    start, chance = datetime.datetime(2026, 1, 1), random.Random(1)
    for n in range(ROUNDS):
        order, customer, placed = uuid.UUID(int=n + 1), n % 7, start + datetime.timedelta(minutes=n)
        batch = BatchStatement()
        batch.add(put, (order, customer, placed, n * 100))
        batch.add(put_by_customer, (customer, placed, order, n * 100))
        db.execute(batch)
        assert db.execute(by_id, (order,)).one().cents == n * 100
        db.execute(newest, (chance.randrange(7),)).all()
        db.execute(since, (customer, start)).all()
        left = db.execute(pieces, ("lamp",)).one().pieces
        # Every fourth order expects a stock that is not there.
        expected = left if n % 4 else left + 1
        assert db.execute(take, (left - 1, "lamp", expected)).was_applied == bool(n % 4)
    cluster.shutdown()


def sensors(port):
    """Readings that expire, the newest ones, a range, several sensors at once, a count, pages, and a sensor that is forgotten."""
    cluster, db = session(port, "fleet")
    db.execute("CREATE TABLE IF NOT EXISTS readings (sensor int, day date, at timestamp, celsius double, PRIMARY KEY ((sensor, day), at)) "
               "WITH CLUSTERING ORDER BY (at DESC)")
    put = db.prepare("INSERT INTO readings (sensor, day, at, celsius) VALUES (?, ?, ?, ?) USING TTL 86400")
    newest = db.prepare("SELECT at, celsius FROM readings WHERE sensor = ? AND day = ? LIMIT 10")
    between = db.prepare("SELECT celsius FROM readings WHERE sensor = ? AND day = ? AND at >= ? AND at < ?")
    several = db.prepare("SELECT sensor, celsius FROM readings WHERE sensor IN ? AND day = ?")
    how_many = db.prepare("SELECT count(*) FROM readings WHERE sensor = ? AND day = ?")
    forget = db.prepare("DELETE FROM readings WHERE sensor = ? AND day = ?")
    day, start = datetime.date(2026, 11, 18), datetime.datetime(2026, 11, 18)
    for n in range(ROUNDS * 5):
        db.execute(put, (n % 5, day, start + datetime.timedelta(seconds=n), n / 10))
    for n in range(ROUNDS):
        db.execute(newest, (n % 5, day)).all()
        db.execute(between, (n % 5, day, start, start + datetime.timedelta(seconds=n))).all()
        assert db.execute(how_many, (n % 5, day)).one().count == ROUNDS
    several.fetch_size = 30
    assert len(db.execute(several, ([0, 1, 2], day)).all()) == 3 * ROUNDS
    # Not prepared: the values are in the text.
    for n in range(10):
        db.execute(SimpleStatement("SELECT celsius FROM readings WHERE sensor = %s AND day = %s LIMIT 1"), (n % 5, "2026-11-18")).all()
    db.execute(forget, (4, day))
    cluster.shutdown()


def celery(port):
    """Celery's own backend stores results of tasks, reads them, and forgets some."""
    cluster, _ = session(port, "celery")
    cluster.shutdown()
    from celery import Celery
    from celery.backends.cassandra import CassandraBackend

    app = Celery("tasks")
    app.conf.cassandra_options = {"protocol_version": 4, "compression": False}
    backend = CassandraBackend(servers=["127.0.0.1"], port=port, keyspace="celery", table="results", app=app)
    for n in range(ROUNDS):
        task = str(uuid.uuid4())
        backend.store_result(task, {"n": n}, "SUCCESS")
        assert backend.get_result(task) == {"n": n}, task
        if n % 3 == 0:
            backend.store_result(task, {"n": n + 1}, "SUCCESS")
        backend.get_state(str(uuid.uuid4()))
    backend._cluster.shutdown()


APPS = {"shop": (shop, "shop"), "sensors": (sensors, "fleet"), "celery": (celery, "celery")}

if __name__ == "__main__":
    APPS[sys.argv[1]][0](int(sys.argv[2]))
    sys.stdout.flush()
    # The driver's threads have nothing more to say.
    os._exit(0)
