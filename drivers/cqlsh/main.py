"""cqlsh against the server: DESCRIBE of everything, COPY both ways, TRACING, paging, errors, warnings, login, TLS.

Every check starts cqlsh as a user would (a process, its output read), so what is compared is what people see.
It needs no package itself; the runner passes the cqlsh to start in CQLSH.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = os.environ.get("TARGET", "partita")
HOST = os.environ.get("CQL_HOST", "127.0.0.1")
PORT = os.environ.get("CQL_PORT", "9042")
AUTH_PORT = os.environ.get("CQL_AUTH_PORT", "")
TLS_PORT = os.environ.get("CQL_TLS_PORT", "")
TLS_CA = os.environ.get("CQL_TLS_CA", "")
KS = os.environ.get("CQL_KEYSPACE", "drv_cqlsh")
CQLSH = os.environ.get("CQLSH", "cqlsh")
ROWS = 1000

CHECKS = []
WORK = Path(tempfile.mkdtemp(prefix="partita-cqlsh-"))
(WORK / "cqlshrc").write_text("")


class Skip(Exception):
    pass


def check(name):
    def register(function):
        CHECKS.append((name, function))
        return function
    return register


def cqlsh(text=None, *arguments, port=PORT, stdin=None, ok=True, env=None):
    """Runs cqlsh with the statements; returns its output and error output. A wrong exit code is a failure."""
    command = [CQLSH, HOST, str(port), "--no-color", "--disable-history", "--connect-timeout=20", "--request-timeout=60",
               "--cqlshrc", str(WORK / "cqlshrc")] + list(arguments)
    if text is not None:
        command += ["-e", text]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "HOME": str(WORK), "TZ": "UTC", "LC_ALL": "C.UTF-8", **(env or {})})
    if ok is not None and (done.returncode == 0) != ok:
        raise AssertionError(f"exit {done.returncode} of {text or stdin!r}: {done.stderr[-800:]} {done.stdout[-400:]}")
    # The test Cassandra is newer than this cqlsh was built for, and cqlsh says so on standard output.
    lines = done.stdout.splitlines(keepends=True)
    if TARGET == "cassandra":
        lines = [line for line in lines if "cqlsh was built against" not in line]
    return "".join(lines), done.stderr


def has(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError(f"{part!r} is not in the output: {text[-1500:]!r}")


def squeeze(text):
    return "\n".join(" | ".join(cell.strip() for cell in line.split("|")) for line in text.splitlines() if line.strip())


SCHEMA = f"""
CREATE KEYSPACE {KS} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
CREATE TYPE {KS}.address (street text, zip int);
CREATE TYPE {KS}.person (name text, home frozen<address>);
CREATE TABLE {KS}.people (id int PRIMARY KEY, p frozen<person>, tags set<text>, scores map<text, int>, log list<timestamp>, pair tuple<int, text>);
CREATE TABLE {KS}.events (tenant text, day date, at timestamp, n int, body text, label text static, PRIMARY KEY ((tenant, day), at, n))
  WITH CLUSTERING ORDER BY (at DESC, n ASC) AND comment = 'of a ''day''' AND default_time_to_live = 1000
  AND compaction = {{'class': 'LeveledCompactionStrategy'}};
CREATE TABLE {KS}.counts (k text PRIMARY KEY, c counter);
CREATE TABLE {KS}."MixedCase" ("Key" int, "select me" text, PRIMARY KEY ("Key"));
CREATE TABLE {KS}.numbers (p int, c int, v text, PRIMARY KEY (p, c));
"""


@check("connect and version")
def connect():
    out, _ = cqlsh("SHOW VERSION; SHOW HOST")
    has(out, "cqlsh 6.2.2", "Cassandra 5.0", "CQL spec 3.4.7", "Native protocol v5", "Connected to", f"{HOST}:{PORT}")
    out, err = cqlsh("SELECT cluster_name FROM system.local")
    if TARGET == "partita" and "WARNING" in out + err:
        raise AssertionError(out + err)


@check("schema from a file")
def schema():
    cqlsh(f"DROP KEYSPACE IF EXISTS {KS}")
    path = WORK / "schema.cql"
    path.write_text(SCHEMA)
    cqlsh(None, "-f", str(path))
    cqlsh(f"SOURCE '{path}'", ok=None)
    out, _ = cqlsh(f"SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{KS}'")
    has(out, "people", "events", "counts", "MixedCase", "numbers", "(5 rows)")


@check("describe: cluster, lists and schema")
def describe_lists():
    out, _ = cqlsh("DESCRIBE CLUSTER; DESCRIBE KEYSPACES; DESCRIBE TABLES; DESCRIBE TYPES; DESCRIBE FUNCTIONS; DESCRIBE AGGREGATES")
    has(out, "Cluster:", "Partitioner: Murmur3Partitioner", "Snitch: ", KS, "system_schema", "Keyspace " + KS, "people", "address")
    out, _ = cqlsh("DESCRIBE TABLES; DESCRIBE TYPES", "-k", KS)
    has(out, "people", "counts", "person")
    out, _ = cqlsh("DESCRIBE SCHEMA")
    has(out, f"CREATE KEYSPACE {KS} WITH replication", f"CREATE TABLE {KS}.counts", f"CREATE TYPE {KS}.person")
    out, _ = cqlsh("DESCRIBE FULL SCHEMA")
    has(out, "CREATE KEYSPACE system", "CREATE TABLE system.local", f"CREATE TABLE {KS}.counts")


@check("describe: table, type, keyspace, with internals")
def describe_elements():
    out, _ = cqlsh(f"DESCRIBE TABLE {KS}.events")
    has(out, f"CREATE TABLE {KS}.events (", "    tenant text,", "    label text static,", "PRIMARY KEY ((tenant, day), at, n)",
        "WITH CLUSTERING ORDER BY (at DESC, n ASC)", "AND comment = 'of a ''day'''", "AND default_time_to_live = 1000", "LeveledCompactionStrategy")
    out, _ = cqlsh(f'DESCRIBE TABLE {KS}."MixedCase"')
    has(out, '"MixedCase"', '"Key" int PRIMARY KEY', '"select me" text')
    out, _ = cqlsh(f"DESCRIBE TYPE {KS}.person; DESCRIBE ONLY KEYSPACE {KS}; DESCRIBE {KS}.counts; DESC {KS}")
    has(out, f"CREATE TYPE {KS}.person (", "    home frozen<address>", f"CREATE KEYSPACE {KS} WITH replication", "c counter")
    assert out.index(f"CREATE TYPE {KS}.address") < out.rindex(f"CREATE TYPE {KS}.person"), "types in the order of their need"
    out, _ = cqlsh(f"DESCRIBE TABLE {KS}.counts WITH INTERNALS")
    has(out, "WITH ID = ")
    out, _ = cqlsh("DESCRIBE TABLE system.local; DESCRIBE KEYSPACE system_schema; DESCRIBE KEYSPACE system_virtual_schema")
    has(out, "CREATE TABLE system.local", "CREATE TABLE system_schema.columns")


@check("describe: what it prints builds the same schema")
def describe_round_trip():
    before, _ = cqlsh(f"DESCRIBE KEYSPACE {KS}")
    cqlsh(f"DROP KEYSPACE {KS}")
    path = WORK / "described.cql"
    path.write_text(before)
    cqlsh(None, "-f", str(path))
    after, _ = cqlsh(f"DESCRIBE KEYSPACE {KS}")
    if before != after:
        raise AssertionError(f"before {before!r}\nafter {after!r}")


@check("describe: errors")
def describe_errors():
    _, err = cqlsh(f"DESCRIBE TABLE {KS}.nope", ok=False)
    has(err, f"'nope' not found in keyspace '{KS}'")
    _, err = cqlsh("DESCRIBE KEYSPACE nope", ok=False)
    has(err, "'nope' not found in keyspaces")
    _, err = cqlsh("DESCRIBE TYPE nope", ok=False)
    has(err, "No keyspace specified and no current keyspace")


@check("describe: index and materialized view")
def describe_index():
    _, err = cqlsh(f"CREATE INDEX people_tags ON {KS}.people (tags)", ok=None)
    if TARGET == "partita" and "not supported" in err:
        raise Skip("Partita answers CREATE INDEX with: " + " ".join(err.split())[:120])
    cqlsh(f"CREATE MATERIALIZED VIEW {KS}.by_c AS SELECT * FROM {KS}.numbers WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, p)")
    out, _ = cqlsh(f"DESCRIBE INDEX {KS}.people_tags; DESCRIBE MATERIALIZED VIEW {KS}.by_c; DESCRIBE TABLE {KS}.people")
    has(out, f"CREATE INDEX people_tags ON {KS}.people (values(tags))", f"CREATE MATERIALIZED VIEW {KS}.by_c AS")
    cqlsh(f"DROP INDEX {KS}.people_tags; DROP MATERIALIZED VIEW {KS}.by_c")


@check("select: how values of every kind are shown")
def shown():
    out, _ = cqlsh(f"""
        INSERT INTO {KS}.people (id, p, tags, scores, log, pair) VALUES (1, {{name: 'Ann', home: {{street: 'Rue', zip: 7}}}}, {{'b', 'a'}},
          {{'x': 1}}, ['2020-01-02T03:04:05.678Z'], (1, 'it''s'));
        INSERT INTO {KS}.people (id) VALUES (2);
        SELECT id, p, tags, scores, log, pair FROM {KS}.people;
        SELECT JSON id, tags FROM {KS}.people WHERE id = 1;
        EXPAND ON; SELECT id, pair FROM {KS}.people WHERE id = 2; EXPAND OFF;
        SELECT 1.5e10 AS nope FROM system.local;""", ok=None)
    text = squeeze(out)
    has(text, "id | p | tags | scores | log | pair",
        "1 | {name: 'Ann', home: {street: 'Rue', zip: 7}} | {'a', 'b'} | {'x': 1} | ['2020-01-02 03:04:05.678000+0000'] | (1, 'it''s')",
        "2 | null | null | null | null | null", '{"id": 1, "tags": ["a", "b"]}', "@ Row 1", "pair | null", "(2 rows)")


@check("insert, update, delete, batch, lwt, counter")
def writes():
    out, _ = cqlsh(f"""
        BEGIN BATCH INSERT INTO {KS}.numbers (p, c, v) VALUES (-1, 1, 'a'); INSERT INTO {KS}.numbers (p, c, v) VALUES (-1, 2, 'b'); APPLY BATCH;
        UPDATE {KS}.numbers SET v = 'c' WHERE p = -1 AND c = 2; DELETE FROM {KS}.numbers WHERE p = -1 AND c = 1;
        INSERT INTO {KS}.numbers (p, c, v) VALUES (-1, 2, 'd') IF NOT EXISTS;
        UPDATE {KS}.numbers SET v = 'e' WHERE p = -1 AND c = 2 IF v = 'c';
        UPDATE {KS}.counts SET c = c + 5 WHERE k = 'a'; UPDATE {KS}.counts SET c = c - 2 WHERE k = 'a';
        CONSISTENCY QUORUM; SERIAL CONSISTENCY LOCAL_SERIAL; CONSISTENCY;
        SELECT * FROM {KS}.counts; SELECT * FROM {KS}.numbers WHERE p = -1;""")
    text = squeeze(out)
    has(text, "[applied] | p | c | v", "False | -1 | 2 | c", "[applied]", "True", "a | 3", "-1 | 2 | e", "Consistency level set to QUORUM.")


@check("copy from and to a file, numbers")
def copy():
    source, target = WORK / "in.csv", WORK / "out.csv"
    lines = [f"{i % 10},{i},value {i}" for i in range(ROWS)]
    source.write_text("\n".join(lines) + "\n")
    out, err = cqlsh(f"TRUNCATE {KS}.numbers; COPY {KS}.numbers (p, c, v) FROM '{source}' WITH NUMPROCESSES = 1")
    has(out + err, f"{ROWS} rows imported from 1 files")
    out, err = cqlsh(f"COPY {KS}.numbers (p, c, v) TO '{target}' WITH HEADER = true AND PAGESIZE = 100 AND NUMPROCESSES = 1")
    has(out + err, f"{ROWS} rows exported to 1 files")
    found = target.read_text().splitlines()
    if found[0] != "p,c,v" or sorted(found[1:]) != sorted(lines):
        raise AssertionError(f"{len(found)} lines came back, first {found[:3]}")


@check("copy round trip of every type that cqlsh can import (not duration)")
def copy_types():
    table = f"{KS}.typed"
    cqlsh(f"""CREATE TABLE {table} (id int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, d date, de decimal, do double, f float,
              i inet, s smallint, t text, ti time, ts timestamp, tu timeuuid, ty tinyint, u uuid, v varint, l list<int>, se set<text>,
              m map<text, int>, tp frozen<tuple<int, text>>, ud frozen<address>, n map<int, frozen<list<text>>>);
        INSERT INTO {table} (id, a, b, bl, bo, d, de, do, f, i, s, t, ti, ts, tu, ty, u, v, l, se, m, tp, ud, n) VALUES (1, 'a', -5, 0xff00, true,
          '2024-02-29', 1.10, 2.5, 3.5, '::1', 3, 'text, with "quotes" and ''more''', '01:02:03.000000004', '2020-01-02T03:04:05.678Z',
          50554d6e-29bb-11e5-b345-feff819cdc9f, -1, 123e4567-e89b-12d3-a456-426614174000, 12345678901234567890123, [3, 1], {{'x', 'y'}},
          {{'k': 1}}, (1, 'one'), {{street: 'S', zip: 1}}, {{1: ['a', 'b']}});
        INSERT INTO {table} (id) VALUES (2);""", "-k", KS)
    first, second = WORK / "types1.csv", WORK / "types2.csv"
    cqlsh(f"COPY {table} TO '{first}' WITH NUMPROCESSES = 1 AND NULL = '<null>'; TRUNCATE {table}; COPY {table} FROM '{first}' WITH NUMPROCESSES = 1 AND NULL = '<null>'; "
          f"COPY {table} TO '{second}' WITH NUMPROCESSES = 1 AND NULL = '<null>'")
    one, two = (sorted(p.read_text().splitlines()) for p in (first, second))
    if one != two or len(one) != 2:
        raise AssertionError(f"{one} then {two}")


@check("tracing")
def tracing():
    out, _ = cqlsh(f"TRACING ON; SELECT * FROM {KS}.numbers WHERE p = 1 LIMIT 1; TRACING OFF; SELECT p FROM {KS}.numbers LIMIT 1")
    has(out, "TRACING set to ON", "Tracing session: ", "activity", "Execute CQL3 query", "Request complete", "TRACING set to OFF")
    if out.count("Tracing session: ") != 1:
        raise AssertionError(out)
    session = re.search(r"Tracing session: ([0-9a-f-]{36})", out).group(1)
    out, _ = cqlsh(f"SHOW SESSION {session}")
    has(out, session, "Request complete")


@check("paging in a terminal")
def paging():
    out, _ = cqlsh(None, "--tty", "-k", KS, stdin="PAGING 100\nSELECT c FROM numbers WHERE p = 1 LIMIT 100;\nPAGING 30\nSELECT c FROM numbers WHERE p = 2;\n\n\n\n\nPAGING OFF\nEXIT\n")
    has(out, "Page size: 100", "Page size: 30", "PAGING set to OFF")
    if out.count("---MORE---") < 3:
        raise AssertionError(f"{out.count('---MORE---')} pages: {out[-600:]}")
    values = {int(m) for m in re.findall(r"^\s+(\d+)\s*$", out, re.M)}
    missing = {i for i in range(ROWS) if i % 10 in (1, 2)} - values
    if missing:
        raise AssertionError(f"rows {sorted(missing)[:10]} were not shown")


@check("errors as people see them")
def errors():
    for statement, part in (
        ("SELEC 1", "SyntaxException: line 1:0 no viable alternative at input 'SELEC'"),
        (f"SELECT nope FROM {KS}.people", "InvalidRequest: Error from server: code=2200 [Invalid query] message=\"Undefined column name nope in table"),
        (f"SELECT * FROM {KS}.nope", "message=\"table nope does not exist\""),
        (f"SELECT * FROM {KS}.people WHERE pair = (1, 'a')", "use ALLOW FILTERING"),
        (f"CREATE TABLE {KS}.people (id int PRIMARY KEY)", "AlreadyExists: Table '{}.people' already exists".format(KS)),
        ("USE nope", "Keyspace 'nope' does not exist"),
        (f"INSERT INTO {KS}.people (id) VALUES ('text')", "Invalid STRING constant (text) for \"id\" of type int"),
    ):
        _, err = cqlsh(statement, ok=False)
        has(err, part)


@check("warnings as people see them")
def warnings():
    out, err = cqlsh(f"SELECT count(*) FROM {KS}.numbers")
    has(out + err, "Aggregation query used without partition key")
    has(squeeze(out), str(ROWS))


@check("the review speaks after CREATE TABLE")
def review():
    if TARGET != "partita":
        raise Skip("Cassandra reviews nothing")
    ks = KS + "_review"
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    cqlsh(f"DROP KEYSPACE IF EXISTS {ks}; CREATE KEYSPACE {ks} WITH replication = {replication}")
    readings = "(sensor_id uuid, recorded_at timestamp, value double, PRIMARY KEY (sensor_id, recorded_at))"
    out, err = cqlsh(f"CREATE TABLE {ks}.sensor_readings {readings}")
    has(out + err, "Warnings :", "review error (unbounded-partition): nothing ends the partition of one sensor_id",
        "[partita review --explain unbounded-partition]")
    out, err = cqlsh(f"CREATE TABLE {ks}.users (user_id uuid PRIMARY KEY, name text)")
    if "arning" in out + err:
        raise AssertionError(f"a lookup table is clean: {out + err}")
    # Access patterns pass through cqlsh, are listed, described by name, and judged.
    cqlsh(f"CREATE ACCESS PATTERN {ks}.user_by_id AS SELECT name FROM {ks}.users WHERE user_id = ? WITH peak_rate = 100;"
          f"ALTER ACCESS PATTERN {ks}.user_by_id WITH p99_ms = 5")
    out, _ = cqlsh(f"SELECT pattern_name, settings, problem FROM system_views.access_patterns WHERE keyspace_name = '{ks}'")
    has(out, "user_by_id", "'p99_ms': '5'", "'peak_rate': '100'", "null")
    out, _ = cqlsh(f"DESCRIBE {ks}.user_by_id")
    has(out, f"CREATE ACCESS PATTERN {ks}.user_by_id AS SELECT name FROM {ks}.users WHERE user_id = ?", "peak_rate = 100")
    out, err = cqlsh(f"CREATE ACCESS PATTERN {ks}.by_name AS SELECT * FROM {ks}.users WHERE name = ?")
    has(out + err, "needs-filtering")
    # Enforced: refused with rule, reason and repair; a pattern in use is named.
    cqlsh(f"DROP ACCESS PATTERN {ks}.by_name; ALTER KEYSPACE {ks} WITH review = 'enforce'")
    _, err = cqlsh(f"CREATE TABLE {ks}.device_readings {readings}", ok=False)
    has(err, "Refused by the review (unbounded-partition)", "CREATE TABLE")
    _, err = cqlsh(f"ALTER TABLE {ks}.users DROP name", ok=False)
    has(err, f"break access pattern {ks}.user_by_id")
    # What DESCRIBE prints builds the same again, the review's word and the patterns included.
    before, _ = cqlsh(f"DESCRIBE KEYSPACE {ks}")
    has(before, "AND review = 'enforce'", "CREATE ACCESS PATTERN")
    path = WORK / "review.cql"
    cqlsh(f"ALTER TABLE {ks}.sensor_readings WITH review = 'off'")
    path.write_text(cqlsh(f"DESCRIBE KEYSPACE {ks}")[0])
    before = path.read_text()
    cqlsh(f"DROP KEYSPACE {ks}")
    cqlsh(None, "-f", str(path))
    after, _ = cqlsh(f"DESCRIBE KEYSPACE {ks}")
    if before != after:
        raise AssertionError(f"{before}\n---\n{after}")
    cqlsh(f"DROP KEYSPACE {ks}")


@check("older protocol version")
def version():
    out, _ = cqlsh(f"SHOW VERSION; SELECT count(*) FROM {KS}.numbers WHERE p = 1", "--protocol-version=4")
    has(out, "Native protocol v4", str(ROWS // 10))


@check("login")
def login():
    if not AUTH_PORT:
        raise Skip("no server with authentication was given")
    role = KS + "_role"
    out, _ = cqlsh(f"DROP ROLE IF EXISTS {role}; CREATE ROLE {role} WITH PASSWORD = 'pw' AND LOGIN = true; LIST ROLES; LIST USERS",
                   "-u", "cassandra", "-p", "cassandra", port=AUTH_PORT)
    has(out, role, "cassandra")
    _, err = cqlsh("SELECT * FROM system.local", "-u", "cassandra", "-p", "wrong", port=AUTH_PORT, ok=False)
    has(err, "Provided username cassandra and/or password are incorrect")
    _, err = cqlsh("SELECT * FROM system.local", port=AUTH_PORT, ok=False)
    has(err, "AuthenticationFailed")
    _, err = cqlsh("SELECT * FROM system_auth.roles", "-u", role, "-p", "pw", port=AUTH_PORT, ok=False)
    has(err, "Unauthorized: Error from server: code=2100 [Unauthorized]")
    cqlsh(f"DROP ROLE {role}", "-u", "cassandra", "-p", "cassandra", port=AUTH_PORT)


@check("tls")
def tls():
    if not TLS_PORT:
        raise Skip("no server with TLS was given")
    out, _ = cqlsh("SELECT cluster_name FROM system.local", "--ssl", port=TLS_PORT, env={"SSL_CERTFILE": TLS_CA, "SSL_VALIDATE": "true"})
    has(out, "cluster_name", "(1 rows)")


def main():
    failed = 0
    only = os.environ.get("CHECK", "")
    for name, function in CHECKS:
        if only and only not in name and function is not schema:
            continue
        begun = time.monotonic()
        try:
            function()
            print(f"ok {name}  # {time.monotonic() - begun:.2f} s", flush=True)
        except Skip as reason:
            print(f"skip {name}: {reason}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL {name}: {' '.join(f'{type(error).__name__}: {error}'.split())[:900]}", flush=True)
            print(error, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
