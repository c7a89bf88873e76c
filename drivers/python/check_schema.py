"""Connecting, DDL, schema agreement, the driver's metadata and token map, and schema events seen by a second session."""

from cassandra.metadata import Murmur3Token

from scenario import HOST, KEYSPACE, PORT, check, eq, eventually


@check("connect")
def connect(world):
    world.cluster, world.session = world.connect()
    row = world.session.execute("SELECT release_version, cql_version, data_center, rack, partitioner, tokens, host_id, schema_version "
                                "FROM system.local WHERE key='local'").one()
    assert row.release_version.startswith("5.0"), row
    eq(row.data_center, "datacenter1")
    eq(row.rack, "rack1")
    eq(row.partitioner, "org.apache.cassandra.dht.Murmur3Partitioner")
    assert row.host_id is not None and row.schema_version is not None and len(row.tokens) >= 1, row
    eq(world.session.execute("SELECT * FROM system.peers_v2").all(), [])
    eq(world.session.execute("SELECT * FROM system.peers").all(), [])


@check("connect: negotiated version and host")
def negotiated(world):
    eq(world.cluster.protocol_version, 5, "protocol version")
    hosts = world.cluster.metadata.all_hosts()
    eq(len(hosts), 1)
    eq((hosts[0].address, hosts[0].endpoint.port, hosts[0].datacenter, hosts[0].is_up), (HOST, PORT, "datacenter1", True))
    eq(world.cluster.metadata.partitioner, "org.apache.cassandra.dht.Murmur3Partitioner")


@check("ddl: keyspace, type, tables")
def ddl(world):
    s = world.session
    s.execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}")
    result = s.execute(f"CREATE KEYSPACE {KEYSPACE} WITH replication = "
                       "{'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = true")
    assert result.response_future.is_schema_agreed, "schema agreement"
    s.set_keyspace(KEYSPACE)
    s.execute("CREATE TYPE address (street text, zip int, tags frozen<set<text>>)")
    s.execute("CREATE TYPE person (name text, home frozen<address>, phones map<text, text>)")
    s.execute("CREATE TABLE kv (k text PRIMARY KEY, v text, n int)")
    s.execute("CREATE TABLE counts (k text PRIMARY KEY, c counter, d counter)")
    s.execute("""CREATE TABLE events (tenant uuid, day date, at timestamp, seq int, body text, label text static, tags set<text>,
                 PRIMARY KEY ((tenant, day), at, seq))
                 WITH CLUSTERING ORDER BY (at DESC, seq ASC) AND comment = 'events of a day' AND default_time_to_live = 864000
                 AND gc_grace_seconds = 3600 AND compaction = {'class': 'LeveledCompactionStrategy'}
                 AND compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 16}""")
    s.execute('CREATE TABLE "MixedCase" ("Key" int PRIMARY KEY, "Value One" text)')


@check("ddl: schema agreement")
def agreement(world):
    assert world.cluster.control_connection.wait_for_schema_agreement(wait_time=10)
    versions = world.session.execute("SELECT schema_version FROM system.local").one().schema_version
    world.session.execute("CREATE TABLE agreed (k int PRIMARY KEY)")
    assert world.session.execute("SELECT schema_version FROM system.local").one().schema_version != versions
    world.session.execute("DROP TABLE agreed")


@check("ddl: IF NOT EXISTS and IF EXISTS change nothing")
def if_exists(world):
    s = world.session
    before = s.execute("SELECT schema_version FROM system.local").one().schema_version
    s.execute("CREATE TABLE IF NOT EXISTS kv (k text PRIMARY KEY)")
    s.execute("DROP TABLE IF EXISTS no_such_table")
    s.execute(f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = "
              "{'class': 'SimpleStrategy', 'replication_factor': 1}")
    eq(s.execute("SELECT schema_version FROM system.local").one().schema_version, before)


@check("metadata: tables, columns, types, options")
def metadata(world):
    ks = world.cluster.metadata.keyspaces[KEYSPACE]
    eq(ks.durable_writes, True)
    eq(ks.replication_strategy.export_for_schema(), "{'class': 'SimpleStrategy', 'replication_factor': '1'}")
    eq(set(ks.tables), {"kv", "counts", "events", "MixedCase"})
    events = ks.tables["events"]
    eq([c.name for c in events.partition_key], ["tenant", "day"])
    eq([(c.name, c.is_reversed) for c in events.clustering_key], [("at", True), ("seq", False)])
    eq({n: c.cql_type for n, c in events.columns.items()},
       {"tenant": "uuid", "day": "date", "at": "timestamp", "seq": "int", "body": "text", "label": "text", "tags": "set<text>"})
    eq([c.name for c in events.columns.values() if c.is_static], ["label"])
    eq(events.options["comment"], "events of a day")
    eq(events.options["default_time_to_live"], 864000)
    eq(events.options["gc_grace_seconds"], 3600)
    assert "LeveledCompactionStrategy" in str(events.options["compaction"]), events.options
    assert not events.is_compact_storage
    eq(list(ks.user_types), ["address", "person"])
    eq(ks.user_types["person"].field_types, ["text", "frozen<address>", "map<text, text>"])
    eq([c.cql_type for c in ks.tables["counts"].columns.values()], ["text", "counter", "counter"])
    eq(list(ks.tables["MixedCase"].columns), ["Key", "Value One"])


@check("metadata: the exported CQL builds the same table")
def exported(world):
    ks = world.cluster.metadata.keyspaces[KEYSPACE]
    text = ks.tables["events"].export_as_string()
    assert "CLUSTERING ORDER BY (at DESC, seq ASC)" in text and "label text STATIC" in text.replace("static", "STATIC"), text
    world.session.execute(text.replace(f"{KEYSPACE}.events", f"{KEYSPACE}.events_again"))
    again = world.cluster.metadata.keyspaces[KEYSPACE].tables["events_again"]
    eq(again.export_as_string().replace("events_again", "events"), text)
    world.session.execute("DROP TABLE events_again")
    assert f"CREATE TYPE {KEYSPACE}.person" in ks.export_as_string()


@check("metadata: token map and replicas")
def tokens(world):
    meta = world.cluster.metadata
    host = meta.all_hosts()[0]
    assert len(meta.token_map.ring) >= 1
    for key in (b"", b"a", b"hello world", bytes(range(40))):
        eq(list(meta.get_replicas(KEYSPACE, key)), [host])
    # The driver's own murmur3 must agree with the server's token().
    world.session.execute("INSERT INTO kv (k, v) VALUES ('token of me', 'x')")
    row = world.session.execute("SELECT token(k) AS t FROM kv WHERE k = 'token of me'").one()
    eq(row.t, Murmur3Token.from_key(b"token of me").value)
    world.session.execute("TRUNCATE kv")


@check("metadata: system keyspaces are described")
def system_keyspaces(world):
    meta = world.cluster.metadata
    for name in ("system", "system_schema", "system_auth", "system_traces"):
        assert name in meta.keyspaces, f"{name} is missing"
    assert {"local", "peers", "peers_v2"} <= set(meta.keyspaces["system"].tables), "system tables"
    assert "system_virtual_schema" in meta.keyspaces and meta.keyspaces["system_virtual_schema"].virtual


@check("events: a second session sees every schema change")
def events(world):
    other, _ = world.connect(schema_event_refresh_window=0)
    s = world.session
    tables = lambda: other.metadata.keyspaces[KEYSPACE].tables  # noqa: E731
    s.execute("CREATE TABLE seen (k int PRIMARY KEY, a int)")
    eventually(lambda: "seen" in tables(), what="created table seen")
    s.execute("ALTER TABLE seen ADD b text")
    eventually(lambda: "b" in tables()["seen"].columns, what="added column seen")
    s.execute("ALTER TABLE seen DROP a")
    eventually(lambda: "a" not in tables()["seen"].columns, what="dropped column seen")
    s.execute("DROP TABLE seen")
    eventually(lambda: "seen" not in tables(), what="dropped table seen")
    s.execute("CREATE TABLE seen (k int PRIMARY KEY, a int)")
    s.execute("CREATE MATERIALIZED VIEW seen_by_a AS SELECT * FROM seen WHERE a IS NOT NULL AND k IS NOT NULL PRIMARY KEY (a, k)")
    views = lambda: other.metadata.keyspaces[KEYSPACE].views  # noqa: E731
    eventually(lambda: "seen_by_a" in views(), what="created view seen")
    s.execute("ALTER TABLE seen ADD b text")
    eventually(lambda: "b" in views()["seen_by_a"].columns, what="column added to a view seen")
    s.execute("DROP MATERIALIZED VIEW seen_by_a")
    eventually(lambda: "seen_by_a" not in views(), what="dropped view seen")
    s.execute("DROP TABLE seen")
    s.execute("CREATE TYPE seen_type (a int)")
    eventually(lambda: "seen_type" in other.metadata.keyspaces[KEYSPACE].user_types, what="created type seen")
    s.execute("ALTER TYPE seen_type ADD b int")
    eventually(lambda: other.metadata.keyspaces[KEYSPACE].user_types["seen_type"].field_names == ["a", "b"], what="altered type seen")
    s.execute("DROP TYPE seen_type")
    eventually(lambda: "seen_type" not in other.metadata.keyspaces[KEYSPACE].user_types, what="dropped type seen")
    name = f"{KEYSPACE}_seen"
    s.execute(f"CREATE KEYSPACE {name} WITH replication = {{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}}")
    eventually(lambda: name in other.metadata.keyspaces, what="created keyspace seen")
    s.execute(f"ALTER KEYSPACE {name} WITH durable_writes = false")
    eventually(lambda: other.metadata.keyspaces[name].durable_writes is False, what="altered keyspace seen")
    s.execute(f"DROP KEYSPACE {name}")
    eventually(lambda: name not in other.metadata.keyspaces, what="dropped keyspace seen")
    other.shutdown()


@check("metadata: client-side refresh after events are off")
def refresh(world):
    other, session = world.connect(schema_event_refresh_window=-1, keyspace=KEYSPACE)
    world.session.execute("CREATE TABLE refreshed (k int PRIMARY KEY)")
    other.refresh_table_metadata(KEYSPACE, "refreshed")
    assert "refreshed" in other.metadata.keyspaces[KEYSPACE].tables
    other.refresh_schema_metadata()
    other.refresh_nodes()
    world.session.execute("DROP TABLE refreshed")
    other.shutdown()
