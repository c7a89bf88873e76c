"""Protocol versions, compression, authentication and TLS: a short scenario over every combination that the driver has."""

import re
import uuid

from cassandra import AuthenticationFailed, InvalidRequest, Unauthorized
from cassandra.cluster import NoHostAvailable
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, SimpleStatement

from scenario import AUTH_PORT, CLIENT_CERT, KEYSPACE, MUTUAL_TLS_PORT, TARGET, TLS_CA, TLS_PORT, Skip, check, eq, raises


def short_scenario(session, keyspace=KEYSPACE):
    """What every connection must do, whatever its version and wrapping."""
    s = session
    key = str(uuid.uuid4())
    insert = s.prepare("INSERT INTO kv (k, v, n) VALUES (?, ?, ?)")
    text = "".join(f"{i:06d} {uuid.uuid4()} " for i in range(6000))
    s.execute(insert, [key, text, 42])
    eq(s.execute("SELECT v, n FROM kv WHERE k = %s", [key]).one()[:], (text, 42))
    batch = BatchStatement()
    batch.add(insert, [key, "small", 1])
    batch.add(SimpleStatement("DELETE n FROM kv WHERE k = %s"), [key])
    s.execute(batch)
    eq(s.execute(s.prepare("SELECT v, n FROM kv WHERE k = ?"), [key]).one()[:], ("small", None))
    eq(s.execute(s.prepare("UPDATE kv SET v = ? WHERE k = ? IF v = ?"), ["next", key, "wrong"]).one()[:], (False, "small"))
    raises(InvalidRequest, s.execute, "SELECT nope FROM kv")
    raises(SyntaxException, s.execute, "SELEC")
    s.execute("DELETE FROM kv WHERE k = %s", [key])
    # Many rows in small pages and in one page, so that answers of every size travel.
    assert len(s.execute(SimpleStatement(f"SELECT * FROM {keyspace}.paged WHERE p = 1", fetch_size=100)).all()) == 1000
    assert len(s.execute(SimpleStatement(f"SELECT * FROM {keyspace}.paged WHERE p = 2", fetch_size=5000)).current_rows) == 1000


def version_check(version, compression):
    name = compression or "none"

    @check(f"protocol: v{version}, compression {name}")
    def run(world):
        options = {"protocol_version": version, "compression": compression or False, "keyspace": KEYSPACE}
        cluster, session = world.connect(**options)
        eq(cluster.protocol_version, version)
        connection = next(iter(session.get_pools())).get_connections()[0]
        eq(getattr(connection, "_compression_type", None) or getattr(connection, "compressor", None) is not None or None,
           compression if hasattr(connection, "_compression_type") else (True if compression else None), "compression in use")
        short_scenario(session)
        cluster.shutdown()


for each_version in (3, 4, 5):
    for each_compression in (None, "lz4", "snappy"):
        if (each_version, each_compression) != (5, "snappy"):
            version_check(each_version, each_compression)


@check("protocol: v3 carries the newer types as custom types")
def old_types(world):
    cluster, s = world.connect(protocol_version=3, keyspace=KEYSPACE)
    new = world.session.execute("SELECT * FROM scalars WHERE id = 1").one()
    old = s.execute("SELECT * FROM scalars WHERE id = 1").one()
    eq(old, new)
    cluster.shutdown()


@check("protocol: negotiation down from an unknown version")
def negotiation(world):
    # 66 (0x42) and 65 (0x41) are DSE's; the driver starts there and steps down on the server's answer.
    cluster, s = world.connect(keyspace=KEYSPACE)
    eq(cluster.protocol_version, 5)
    cluster.shutdown()
    error = raises(NoHostAvailable, world.connect, protocol_version=6)
    assert re.search("version|beta", str(error), re.I), error


@check("auth: the default superuser logs in")
def login(world):
    if not AUTH_PORT:
        raise Skip("no server with authentication was given")
    for version in (4, 5):
        cluster, s = world.connect(port=AUTH_PORT, user="cassandra", password="cassandra", protocol_version=version)
        assert "cassandra" in {r.role for r in s.execute("LIST ROLES")}
        cluster.shutdown()


@check("auth: wrong password, unknown user and no credentials are refused")
def refused(world):
    if not AUTH_PORT:
        raise Skip("no server with authentication was given")
    for user, password in (("cassandra", "wrong"), ("nobody", "cassandra"), ("", "")):
        error = raises(NoHostAvailable, world.connect, port=AUTH_PORT, user=user, password=password)
        assert all(isinstance(e, AuthenticationFailed) for e in error.errors.values()), error.errors
    error = raises(NoHostAvailable, world.connect, port=AUTH_PORT)
    assert all(isinstance(e, AuthenticationFailed) for e in error.errors.values()), error.errors


@check("auth: permissions are enforced")
def permissions(world):
    if not AUTH_PORT:
        raise Skip("no server with authentication was given")
    cluster, admin = world.connect(port=AUTH_PORT, user="cassandra", password="cassandra")
    name = KEYSPACE + "_user"
    admin.execute(f"DROP ROLE IF EXISTS {name}")
    admin.execute(f"CREATE ROLE {name} WITH PASSWORD = 'secret' AND LOGIN = true")
    admin.execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}")
    admin.execute(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    admin.execute(f"CREATE TABLE {KEYSPACE}.kv (k text PRIMARY KEY, v text, n int)")
    other, user = world.connect(port=AUTH_PORT, user=name, password="secret")
    raises(Unauthorized, user.execute, f"SELECT * FROM {KEYSPACE}.kv")
    raises(Unauthorized, user.execute, f"INSERT INTO {KEYSPACE}.kv (k) VALUES ('a')")
    raises(Unauthorized, user.execute, f"DROP TABLE {KEYSPACE}.kv")
    raises(Unauthorized, user.execute, "CREATE ROLE another")
    admin.execute(f"GRANT SELECT ON {KEYSPACE}.kv TO {name}")
    eq(user.execute(f"SELECT * FROM {KEYSPACE}.kv").all(), [])
    raises(Unauthorized, user.execute, f"INSERT INTO {KEYSPACE}.kv (k) VALUES ('a')")
    eq([(r.permission, r.role) for r in admin.execute(f"LIST ALL PERMISSIONS OF {name}")], [("SELECT", name)])
    admin.execute(f"REVOKE SELECT ON {KEYSPACE}.kv FROM {name}")
    raises(Unauthorized, user.execute, f"SELECT * FROM {KEYSPACE}.kv")
    admin.execute(f"ALTER ROLE {name} WITH PASSWORD = 'changed'")
    raises(NoHostAvailable, world.connect, port=AUTH_PORT, user=name, password="secret")
    again, _ = world.connect(port=AUTH_PORT, user=name, password="changed")
    for each in (again, other):
        each.shutdown()
    admin.execute(f"DROP ROLE {name}")
    admin.execute(f"DROP KEYSPACE {KEYSPACE}")
    cluster.shutdown()


@check("auth: credentials offered to a server without authentication")
def needless(world):
    cluster, s = world.connect(user="anyone", password="anything", keyspace=KEYSPACE)
    short_scenario(s)
    cluster.shutdown()


@check("tls: verified certificate, v4 and v5")
def tls(world):
    if not TLS_PORT:
        raise Skip("no server with TLS was given")
    for version in (4, 5):
        cluster, s = world.connect(port=TLS_PORT, tls=True, protocol_version=version)
        s.execute(f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE}_tls WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
        s.set_keyspace(f"{KEYSPACE}_tls")
        s.execute("CREATE TABLE IF NOT EXISTS kv (k text PRIMARY KEY, v text)")
        text = "x" * 500_000
        s.execute("INSERT INTO kv (k, v) VALUES ('a', %s)", [text])
        eq(s.execute("SELECT v FROM kv WHERE k = 'a'").one().v, text)
        s.execute(f"DROP KEYSPACE {KEYSPACE}_tls")
        cluster.shutdown()
    assert TLS_CA


@check("tls: a plain client is refused by the TLS port")
def plain_refused(world):
    if TARGET == "cassandra":
        raise Skip("the test Cassandra answers plain and TLS clients on one port")
    if not TLS_PORT:
        raise Skip("no server with TLS was given")
    raises(NoHostAvailable, world.connect, port=TLS_PORT)


@check("tls: a server that wants client certificates takes one of its authority and refuses clients without")
def mutual(world):
    if not MUTUAL_TLS_PORT:
        raise Skip("no server that wants client certificates was given")
    cluster, s = world.connect(port=MUTUAL_TLS_PORT, tls=True, client_cert=CLIENT_CERT)
    eq(s.execute("SELECT key FROM system.local").one().key, "local")
    cluster.shutdown()
    raises(NoHostAvailable, world.connect, port=MUTUAL_TLS_PORT, tls=True)
