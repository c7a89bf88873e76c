"""Many requests in flight, execution profiles, speculative execution, client timestamps and large values."""

import time

from cassandra import ConsistencyLevel
from cassandra.cluster import ExecutionProfile
from cassandra.concurrent import execute_concurrent
from cassandra.policies import ConstantSpeculativeExecutionPolicy, FallthroughRetryPolicy, RoundRobinPolicy, WhiteListRoundRobinPolicy
from cassandra.query import SimpleStatement, dict_factory

from scenario import HOST, KEYSPACE, check, eq


@check("async: 1,000 requests in flight, answers reach their askers")
def in_flight(world):
    s = world.session
    insert = s.prepare("INSERT INTO kv (k, n) VALUES (?, ?)")
    select = s.prepare("SELECT n FROM kv WHERE k = ?")
    for future in [s.execute_async(insert, [f"async {i}", i]) for i in range(1000)]:
        future.result()
    futures = [(i, s.execute_async(select, [f"async {i}"])) for i in range(1000)]
    for i, future in futures:
        eq(future.result().one().n, i)


@check("async: good and bad statements mixed")
def mixed(world):
    work = [("SELECT * FROM kv WHERE k = 'async 1'", ()) if i % 2 else ("SELECT nope FROM kv", ()) for i in range(40)]
    results = execute_concurrent(world.session, work, raise_on_first_error=False)
    eq([ok for ok, _ in results], [bool(i % 2) for i in range(40)])


@check("profiles: execution profiles")
def profiles(world):
    s = world.session
    quick = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([HOST]), row_factory=dict_factory, request_timeout=15,
                             consistency_level=ConsistencyLevel.ONE, retry_policy=FallthroughRetryPolicy())
    cluster, other = world.connect(keyspace=KEYSPACE, execution_profiles={"quick": quick})
    eq(other.execute("SELECT n FROM kv WHERE k = 'async 7'", execution_profile="quick").one(), {"n": 7})
    clone = other.execution_profile_clone_update("quick", row_factory=tuple)
    assert clone is not quick
    eq(other.execute("SELECT n FROM kv WHERE k = 'async 7'").one().n, 7)
    eq(s.execute("SELECT n FROM kv WHERE k = 'async 7'").one().n, 7)
    cluster.shutdown()


@check("profiles: speculative execution")
def speculative(world):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=20,
                               speculative_execution_policy=ConstantSpeculativeExecutionPolicy(delay=0.001, max_attempts=5))
    cluster, s = world.connect(keyspace=KEYSPACE, execution_profiles={"speculative": profile})
    statement = SimpleStatement("SELECT n FROM kv WHERE k = 'async 9'", is_idempotent=True)
    for _ in range(20):
        eq(s.execute(statement, execution_profile="speculative").one().n, 9)
    cluster.shutdown()


@check("client timestamps decide")
def timestamps(world):
    s = world.session
    s.execute("INSERT INTO kv (k, n) VALUES ('ts', 1) USING TIMESTAMP 9000000000000000")
    s.execute("INSERT INTO kv (k, n) VALUES ('ts', 2)")
    eq(s.execute("SELECT n FROM kv WHERE k = 'ts'").one().n, 1)
    cluster, other = world.connect(keyspace=KEYSPACE, timestamp_generator=lambda: 1234567)
    other.execute("INSERT INTO kv (k, n) VALUES ('ts2', 2)")
    eq(other.execute("SELECT writetime(n) AS w FROM kv WHERE k = 'ts2'").one().w, 1234567)
    cluster.shutdown()


@check("large values")
def large(world):
    s = world.session
    s.execute("CREATE TABLE big (k int PRIMARY KEY, t text, b blob)")
    insert = s.prepare("INSERT INTO big (k, t, b) VALUES (?, ?, ?)")
    for i, size in enumerate((0, 1, 131_060, 131_071, 131_072, 400_000, 3_000_000)):
        s.execute(insert, [i, "x" * size, bytes(j % 251 for j in range(min(size, 300_000)))])
        row = s.execute("SELECT t, b FROM big WHERE k = %s", [i]).one()
        eq((len(row.t), row.b), (size, bytes(j % 251 for j in range(min(size, 300_000)))), f"size {size}")


@check("idle connections answer heartbeats")
def heartbeat(world):
    cluster, s = world.connect(keyspace=KEYSPACE, idle_heartbeat_interval=1)
    connection = next(iter(s.get_pools())).get_connections()[0]
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        assert not connection.is_defunct and not connection.is_closed
        time.sleep(0.2)
    eq(s.execute("SELECT n FROM kv WHERE k = 'async 3'").one().n, 3)
    cluster.shutdown()
