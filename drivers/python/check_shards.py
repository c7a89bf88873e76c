"""Shard awareness of scylla-driver: one connection per shard, and requests arrive on the shard that owns the key."""

import urllib.request

from scenario import KEYSPACE, METRICS, TARGET, Skip, check, eq, eventually

REQUESTS = 400


def applies():
    if TARGET == "cassandra":
        raise Skip("Cassandra has no shards")


def counter(name):
    """The sum of one counter over all its label sets, read from the server's /metrics."""
    with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    found = [float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name]
    if not found:
        raise AssertionError(f"{name} is not in /metrics")
    return sum(found)


@check("shards: one connection per shard")
def connections(world):
    applies()
    cluster, session = world.connect(keyspace=KEYSPACE)
    host = cluster.metadata.all_hosts()[0]
    info = host.sharding_info
    assert info is not None, "the server sent no sharding information"
    pool = session._pools[host]
    eventually(lambda: len(pool._connections) == info.shards_count, what=f"{info.shards_count} connections")
    eq(sorted(pool._connections), list(range(info.shards_count)))
    for shard, connection in pool._connections.items():
        eq(connection.features.shard_id, shard)
    assert cluster.is_shard_aware()
    cluster.shutdown()


@check("shards: requests arrive on the owning shard")
def owning(world):
    applies()
    if not METRICS:
        raise Skip("no metrics address was given")
    cluster, session = world.connect(keyspace=KEYSPACE)
    host = cluster.metadata.all_hosts()[0]
    pool = session._pools[host]
    eventually(lambda: len(pool._connections) == host.sharding_info.shards_count, what="all connections")
    insert = session.prepare("INSERT INTO kv (k, n) VALUES (?, ?)")
    local, remote = counter("partita_requests_local_shard_total"), counter("partita_requests_remote_shard_total")
    for i in range(REQUESTS):
        session.execute(insert, [f"shard {i}", i])
    local, remote = counter("partita_requests_local_shard_total") - local, counter("partita_requests_remote_shard_total") - remote
    assert local >= REQUESTS, f"{local} requests were local, wanted {REQUESTS}"
    eq(remote, 0, "requests that had to change shards")
    cluster.shutdown()
