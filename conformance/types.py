#!/usr/bin/env python3
"""Writes scenarios/types-*.txt (all, or those named) without answers: every type in every role. `conformance record` adds them."""
import pathlib
import sys

# Type name as declared (frozen where a key needs it) -> distinct literals, in no particular order; the last is not of the type.
TYPES = {
    "ascii": ["'b'", "'a'", "''", "'Z~'", "'é'"],
    "bigint": ["1", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808"],
    "blob": ["0x01", "0xff", "0x", "0x00ff", "'x'"],
    "boolean": ["true", "false", "'maybe'"],
    "date": ["'2026-11-16'", "'1969-12-31'", "'-0044-03-15'", "2147483648", "'2026-13-01'"],
    "decimal": ["1.5", "-0.001", "1E10", "0", "'x'"],
    "double": ["1.5", "-0.0", "NaN", "-Infinity", "'x'"],
    "duration": ["1mo2d3ns", "12h30m", "-1y", "P1DT2H", "'x'"],
    "float": ["1.5", "-2", "NaN", "Infinity", "'x'"],
    "inet": ["'127.0.0.1'", "'::1'", "'10.0.0.200'", "'2001:db8::ff'", "'300.1.1.1'"],
    "int": ["1", "-1", "2147483647", "-2147483648", "2147483648"],
    "smallint": ["1", "-1", "32767", "-32768", "32768"],
    "text": ["'b'", "'a'", "''", "'été'", "1"],
    "time": ["'08:12:54'", "'00:00:00'", "'23:59:59.999999999'", "'08:12:54.123'", "'25:00:00'"],
    "timestamp": ["'2026-11-16T10:00:00.123Z'", "0", "'1969-12-31 23:59:59+0000'", "'2026-11-16+0200'", "'tomorrow'"],
    "timeuuid": ["e1f2b3c4-5d6e-11ef-8000-000000000001", "e1f2b3c4-5d6e-11ef-8000-0000000000ff", "00000001-5d6f-11ef-8000-000000000001", "ffffffff-0000-11ef-8000-000000000001", "7b0a1f5e-3c1d-4a57-9b1e-2f3a4b5c6d7e"],
    "tinyint": ["1", "-1", "127", "-128", "128"],
    "uuid": ["7b0a1f5e-3c1d-4a57-9b1e-2f3a4b5c6d7e", "00000000-0000-0000-0000-000000000000", "e1f2b3c4-5d6e-11ef-8000-000000000001", "ffffffff-ffff-4fff-bfff-ffffffffffff", "'x'"],
    "varint": ["1", "-1", "123456789012345678901234567890", "-128", "1.5"],
    "frozen<list<int>>": ["[1, 2]", "[1]", "[2]", "[]", "[1, 'x']"],
    "frozen<set<text>>": ["{'b', 'a'}", "{'a'}", "{'c'}", "{}", "{1}"],
    "frozen<map<text, int>>": ["{'b': 1, 'a': 2}", "{'a': 1}", "{'c': 0}", "{}", "{1: 'x'}"],
    "tuple<int, text>": ["(1, 'a')", "(1, null)", "(0, 'z')", "(-1, '')", "(1, 'a', 2)"],
    "frozen<pair>": ["{a: 1, b: 'x'}", "{a: 1}", "{b: 'y'}", "{a: -1, b: ''}", "{c: 1}"],
    "vector<float, 2>": ["[1.0, 2.0]", "[1.0, -2.0]", "[0, 0]", "[-1.5, 3]", "[1.0]"],
    "vector<text, 2>": ["['a', 'b']", "['', 'z']", "['a', 'a']", "['bb', '']", "['a']"],
}
PAIR = "CREATE TYPE pair (a int, b text);"


def word(name):
    return "".join(c if c.isalnum() else " " for c in name).strip().replace("  ", " ")


def begin(out, name, t):
    out.append(f"\n=== {name} {word(t)}")
    if "pair" in t:
        out.append(PAIR)


def partition_key(out, t, values, wrong):
    begin(out, "partition key", t)
    out.append(f"CREATE TABLE t (k {t} PRIMARY KEY, v int);")
    for i, v in enumerate(values):
        out.append(f"INSERT INTO t (k, v) VALUES ({v}, {i});")
    out += [f"INSERT INTO t (k, v) VALUES ({wrong}, 9);", "INSERT INTO t (k, v) VALUES (null, 9);",
            "SELECT * FROM t;", "SELECT token(k), v FROM t;", "@page 2", "SELECT k FROM t;",
            f"SELECT v FROM t WHERE k = {values[0]};",
            f"SELECT k, v FROM t WHERE k IN ({', '.join(values[:3])});",
            f"SELECT v FROM t WHERE token(k) > token({values[1]});",
            f"SELECT v FROM t WHERE k = {wrong};",
            f"SELECT v FROM t WHERE k > {values[0]} ALLOW FILTERING;",
            f"UPDATE t SET v = 100 WHERE k = {values[1]};", f"DELETE FROM t WHERE k = {values[0]};",
            "SELECT * FROM t;", "SELECT JSON * FROM t;", "@prepare", "SELECT v FROM t WHERE k = ?;"]


# Written in a way that key bytes keep (COMPAT.md: scales of decimals in keys), and without Cassandra's own bug: an
# empty map literal for a DESC column is a ClassCastException there.
AS_KEY = {"1E10": "12345678901", "{}": "{'d': 1}"}


def as_key(t, values):
    return [AS_KEY.get(v, v) if t in ("decimal", "frozen<map<text, int>>") else v for v in values]


def clustering(out, t, values, wrong):
    values = as_key(t, values)
    begin(out, "clustering", t)
    for order, table in (("ASC", "a"), ("DESC", "d")):
        out.append(f"CREATE TABLE {table} (p int, c {t}, s {t} STATIC, v int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c {order});")
        for i, v in enumerate(values):
            out.append(f"INSERT INTO {table} (p, c, s, v) VALUES (1, {v}, {v}, {i});")
        m = values[0]
        out += [f"SELECT * FROM {table} WHERE p = 1;", f"SELECT c FROM {table} WHERE p = 1 AND c > {m};",
                f"SELECT c FROM {table} WHERE p = 1 AND c >= {m};", f"SELECT c FROM {table} WHERE p = 1 AND c < {m};",
                f"SELECT c FROM {table} WHERE p = 1 AND c <= {m};", f"SELECT c, v FROM {table} WHERE p = 1 AND c = {m};",
                f"SELECT c FROM {table} WHERE p = 1 AND c IN ({', '.join(values[:2])});",
                f"SELECT c FROM {table} WHERE p = 1 ORDER BY c {'DESC' if order == 'ASC' else 'ASC'};",
                f"SELECT min(c), max(c), count(c) FROM {table} WHERE p = 1;",
                "@page 1", f"SELECT c FROM {table} WHERE p = 1;",
                f"DELETE FROM {table} WHERE p = 1 AND c > {m};", f"SELECT c, v FROM {table} WHERE p = 1;"]
    out += [f"SELECT c FROM a WHERE p = 1 AND c = {wrong};", "SELECT c FROM a WHERE p = 1 AND c = null;",
            f"SELECT c FROM a WHERE (c) > ({values[0]}) AND p = 1;"]


def regular(out, t, values, wrong):
    begin(out, "regular and static", t)
    out.append(f"CREATE TABLE t (k int, c int, s {t} STATIC, v {t}, PRIMARY KEY (k, c));")
    for i, v in enumerate(values):
        out.append(f"INSERT INTO t (k, c, s, v) VALUES (1, {i}, {v}, {v});")
    a, b = values[0], values[1]
    out += ["SELECT * FROM t;", "SELECT JSON * FROM t;", "SELECT to_json(v) FROM t;", "SELECT min(v), max(v), count(v) FROM t WHERE k = 1;",
            "SELECT CAST(v AS text) FROM t;", "SELECT CAST(v AS int) FROM t;", "SELECT CAST(v AS blob) FROM t;", "SELECT v AS x, writetime(v) > 0 FROM t;",
            f"INSERT INTO t (k, c, v) VALUES (1, 9, {wrong});", "INSERT INTO t (k, c, v) VALUES (1, 9, null);",
            f"SELECT c FROM t WHERE v = {a} ALLOW FILTERING;", f"SELECT c FROM t WHERE v > {a} ALLOW FILTERING;",
            f"SELECT c FROM t WHERE v <= {a} ALLOW FILTERING;", f"SELECT c FROM t WHERE v = {wrong} ALLOW FILTERING;",
            f"SELECT c FROM t WHERE v IN ({a}, {b}) ALLOW FILTERING;", f"SELECT c FROM t WHERE s = {a} ALLOW FILTERING;",
            f"UPDATE t SET v = {b} WHERE k = 1 AND c = 0 IF v = {a};", f"UPDATE t SET v = {a} WHERE k = 1 AND c = 0 IF v = {a};",
            f"UPDATE t SET v = {a} WHERE k = 1 AND c = 0 IF v > {a};",
            f"UPDATE t SET v = {a} WHERE k = 1 AND c = 0 IF v IN ({a}, {b});",
            f"UPDATE t SET s = {a} WHERE k = 1 IF s != {a};",
            "DELETE v FROM t WHERE k = 1 AND c = 0;", "DELETE s FROM t WHERE k = 1;", "SELECT * FROM t;",
            "@prepare", "INSERT INTO t (k, c, s, v) VALUES (?, ?, ?, ?);",
            "@bind 2", "@bind 1", "@bind unset", "@bind null", "INSERT INTO t (k, c, s, v) VALUES (?, ?, ?, ?);",
            "@bind 2", "@bind 2", "@bind 0x", "INSERT INTO t (k, c, v) VALUES (?, ?, ?);",
            "@bind 2", "@bind 3", "@bind 0x0102030405", "INSERT INTO t (k, c, v) VALUES (?, ?, ?);",
            "SELECT * FROM t WHERE k = 2;"]


def element(out, t, values, wrong):
    begin(out, "collection element", t)
    out.append(f"CREATE TABLE t (k int PRIMARY KEY, l list<{t}>, s set<{t}>, m map<{t}, {t}>, n map<int, {t}>);")
    values = as_key(t, values)
    a, b = values[0], values[1]
    out += [f"INSERT INTO t (k, l, n) VALUES (1, [{', '.join(values)}], {{1: {a}, 2: {b}}});",
            f"INSERT INTO t (k, s, m) VALUES (1, {{{', '.join(values)}}}, {{{a}: {b}, {b}: {a}}});", "SELECT * FROM t;",
            f"UPDATE t SET l = l + [{a}], n[3] = {b} WHERE k = 1;", f"UPDATE t SET s = s + {{{a}}}, m[{a}] = {a} WHERE k = 1;",
            f"UPDATE t SET l = [{b}] + l, n = n - {{1}} WHERE k = 1;", "SELECT * FROM t;",
            f"UPDATE t SET l[0] = {a}, s = s - {{{b}}} WHERE k = 1;", f"UPDATE t SET l = l - [{a}] WHERE k = 1;", f"DELETE m[{b}], s[{a}], l[0] FROM t WHERE k = 1;",
            "SELECT * FROM t;", "SELECT JSON * FROM t;", f"SELECT k FROM t WHERE l CONTAINS {b} ALLOW FILTERING;",
            f"SELECT k FROM t WHERE s CONTAINS {b} ALLOW FILTERING;", f"SELECT k FROM t WHERE m CONTAINS KEY {a} ALLOW FILTERING;",
            f"SELECT k FROM t WHERE m[{a}] = {a} ALLOW FILTERING;", f"SELECT m[{a}], n[3], s[{a}] FROM t;",
            f"UPDATE t SET l = [{wrong}] WHERE k = 1;", f"UPDATE t SET s = {{{a}, null}} WHERE k = 1;",
            f"UPDATE t SET n[1] = {a} WHERE k = 1 IF n[3] = {b};", f"UPDATE t SET n[1] = {b} WHERE k = 1 IF s CONTAINS {a};",
            "SELECT collection_count(l), collection_min(l), collection_max(l) FROM t;"]


def field(out, t, values, wrong):
    begin(out, "field of a user type", t)
    f = t
    a, b = values[0], values[1]
    out += [f"CREATE TYPE u (x {f}, y int);", "CREATE TABLE t (k int PRIMARY KEY, v u, f frozen<u>, l list<frozen<u>>, w tuple<frozen<u>, int>);",
            f"INSERT INTO t (k, v, f, l, w) VALUES (1, {{x: {a}, y: 1}}, {{x: {b}}}, [{{x: {a}}}, {{y: 2}}], ({{x: {b}, y: 3}}, 4));",
            "SELECT * FROM t;", "SELECT v.x, f.x, v.y, f.y FROM t;", "SELECT JSON v, f, l, w FROM t;",
            f"UPDATE t SET v.x = {b} WHERE k = 1;", "UPDATE t SET v.y = null WHERE k = 1;", "SELECT v, v.x FROM t WHERE k = 1;",
            f"UPDATE t SET f.x = {b} WHERE k = 1;", f"UPDATE t SET v.x = {wrong} WHERE k = 1;", "DELETE v.x FROM t WHERE k = 1;",
            "SELECT v FROM t;", f"UPDATE t SET v.x = {a} WHERE k = 1 IF v.x = null;", f"UPDATE t SET v.x = {a} WHERE k = 1 IF v.x = {b};",
            f"SELECT k FROM t WHERE f = {{x: {b}}} ALLOW FILTERING;"]


# The name of the function that makes the type of bytes; types without one are left out there.
BLOB_NAMES = {"timestamp", "timeuuid", "uuid", "int", "bigint", "smallint", "tinyint", "varint", "decimal", "double", "float",
              "text", "ascii", "boolean", "date", "time", "inet"}


def composite(out, t, values, wrong):
    """A component of a compound partition key, and one of several clustering columns with mixed order."""
    values = as_key(t, values)
    begin(out, "component of a key", t)
    a, b = values[0], values[1]
    out.append(f"CREATE TABLE t (p int, q {t}, c {t}, d int, v int, PRIMARY KEY ((p, q), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC);")
    for i, v in enumerate(values):
        out.append(f"INSERT INTO t (p, q, c, d, v) VALUES (1, {a}, {v}, {i % 2}, {i});")
    out += [f"INSERT INTO t (p, q, c, d, v) VALUES (1, {b}, {a}, 0, 50);", f"INSERT INTO t (p, q, c, d, v) VALUES (1, {a}, {a}, 7, 51);",
            f"SELECT c, d, v FROM t WHERE p = 1 AND q = {a};", f"SELECT c, d FROM t WHERE p = 1 AND q = {a} ORDER BY c ASC, d DESC;",
            f"SELECT v FROM t WHERE p = 1 AND q IN ({a}, {b});", f"SELECT v FROM t WHERE p = 1 AND q = {a} AND (c, d) > ({a}, 0);",
            f"SELECT v FROM t WHERE p = 1 AND q = {a} AND (c, d) <= ({b}, 1);", f"SELECT v FROM t WHERE p = 1 AND q = {a} AND (c, d) IN (({a}, 7), ({b}, 1));",
            f"SELECT v FROM t WHERE p = 1 AND q = {a} AND c = {a} AND d >= 1;", f"SELECT v FROM t WHERE q = {a} ALLOW FILTERING;",
            f"SELECT v FROM t WHERE q = {a};", f"SELECT v FROM t WHERE token(p, q) = token(1, {b});", f"SELECT token(p, q) FROM t WHERE p = 1 AND q = {a} LIMIT 1;",
            f"SELECT c, count(*), max(v) FROM t WHERE p = 1 AND q = {a} GROUP BY p, q, c;", "@page 2", f"SELECT v FROM t WHERE p = 1 AND q = {a};",
            f"DELETE FROM t WHERE p = 1 AND q = {a} AND c = {a};", f"DELETE FROM t WHERE p = 1 AND q = {b} AND c = {wrong};",
            f"SELECT v FROM t WHERE p = 1 AND q = {a};", f"UPDATE t SET v = 9 WHERE p = 1 AND q = {b} AND c = {a} AND d = 0 IF v = 50;",
            "SELECT v FROM t PER PARTITION LIMIT 1;", "@prepare", "UPDATE t SET v = ? WHERE p = ? AND q = ? AND c = ? AND d = ?;"]


def nested(out, t, values, wrong):
    """Inside frozen collections, tuples and user types that are keys, and inside collections of collections."""
    values = as_key(t, values)
    begin(out, "nested", t)
    a, b = values[0], values[1]
    out += [f"CREATE TYPE n (x {t}, y frozen<list<{t}>>);",
            f"CREATE TABLE l (k frozen<list<{t}>>, c frozen<set<{t}>>, v int, PRIMARY KEY (k, c));",
            f"INSERT INTO l (k, c, v) VALUES ([{a}, {b}], {{{b}, {a}}}, 1);", f"INSERT INTO l (k, c, v) VALUES ([{a}, {b}], {{{a}}}, 2);",
            f"INSERT INTO l (k, c, v) VALUES ([{a}, {b}], {{}}, 3);", f"SELECT * FROM l WHERE k = [{a}, {b}];",
            f"SELECT v FROM l WHERE k = [{a}, {b}] AND c >= {{{a}}};", f"SELECT v FROM l WHERE k = [{b}, {a}];",
            f"SELECT v FROM l WHERE k = [{a}, {b}] AND c CONTAINS {b} ALLOW FILTERING;",
            f"CREATE TABLE u (k int, c frozen<n>, w tuple<{t}, frozen<n>>, m map<text, frozen<map<int, {t}>>>, PRIMARY KEY (k, c));",
            f"INSERT INTO u (k, c, w, m) VALUES (1, {{x: {a}, y: [{b}]}}, ({a}, {{x: {b}}}), {{'m': {{1: {a}}}}});",
            f"INSERT INTO u (k, c) VALUES (1, {{x: {a}}});", f"INSERT INTO u (k, c) VALUES (1, {{y: [{a}]}});",
            "SELECT * FROM u WHERE k = 1;", "SELECT JSON * FROM u WHERE k = 1;", f"SELECT c.x, c.y FROM u WHERE k = 1 AND c = {{x: {a}, y: [{b}]}};",
            f"SELECT c FROM u WHERE k = 1 AND c > {{x: {a}}};", f"UPDATE u SET m['n'] = {{2: {b}}}, w = ({b}, null) WHERE k = 1 AND c = {{x: {a}}};",
            f"UPDATE u SET m['n'] = {{2: {wrong}}} WHERE k = 1 AND c = {{x: {a}}};", "SELECT w, m, m['n'] FROM u WHERE k = 1;",
            "@prepare", "INSERT INTO u (k, c, w, m) VALUES (?, ?, ?, ?);"]


def condition(out, t, values, wrong):
    """In IF: every comparison, null, IN, markers, and what a failed condition shows."""
    begin(out, "condition on", t)
    a, b = values[0], values[1]
    out.append(f"CREATE TABLE t (k int, c int, s {t} STATIC, v {t}, m map<int, {t}>, PRIMARY KEY (k, c));")
    out += [f"INSERT INTO t (k, c, v) VALUES (1, 1, {a}) IF NOT EXISTS;", f"INSERT INTO t (k, c, v) VALUES (1, 1, {b}) IF NOT EXISTS;"]
    for op in ("=", "!=", "<", "<=", ">", ">="):
        out.append(f"UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v {op} {b};")
    out += [f"UPDATE t SET v = {b} WHERE k = 1 AND c = 1 IF v = null;", f"UPDATE t SET v = {b} WHERE k = 1 AND c = 1 IF v != null;",
            f"UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v > null;", f"UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v IN ({b}, null);",
            f"UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v IN ();", f"UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v = {wrong};",
            f"UPDATE t SET s = {a} WHERE k = 1 IF s = null;", f"UPDATE t SET v = {b} WHERE k = 1 AND c = 1 IF s = {b} AND v = {a};",
            f"UPDATE t SET m[1] = {a} WHERE k = 1 AND c = 1 IF m[1] = null;", f"UPDATE t SET m[1] = {b} WHERE k = 1 AND c = 1 IF m[1] IN ({b});",
            f"UPDATE t SET m[1] = {b} WHERE k = 1 AND c = 1 IF m[1] >= {a} AND v IN ({a}, {b});",
            f"BEGIN BATCH UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v = {a}; INSERT INTO t (k, c, v) VALUES (1, 2, {b}) IF NOT EXISTS; APPLY BATCH;",
            f"BEGIN BATCH UPDATE t SET v = {a} WHERE k = 1 AND c = 1 IF v = {a}; UPDATE t SET s = {b} WHERE k = 1 IF s = {a}; APPLY BATCH;",
            f"DELETE v FROM t WHERE k = 1 AND c = 1 IF v = {b};", f"DELETE FROM t WHERE k = 1 AND c = 1 IF v IN ({a}, {b});",
            "SELECT * FROM t;", "@prepare", f"UPDATE t SET v = ? WHERE k = ? AND c = ? IF v = ? AND m[?] IN ?;"]


def json_and_functions(out, t, values, wrong):
    """Through JSON in and out, through bytes, masks, collection functions and aggregates."""
    begin(out, "functions of", t)
    out.append(f"CREATE TABLE t (k int PRIMARY KEY, v {t}, l list<{t}>, m map<text, {t}>);")
    for i, v in enumerate(values):
        out.append(f"INSERT INTO t (k, v, l, m) VALUES ({i}, {v}, [{v}, {values[0]}], {{'x': {v}}});")
    out += ["SELECT JSON v, l, m FROM t;", "SELECT to_json(v), to_json(l) FROM t;", "INSERT INTO t JSON '{\"k\": 20, \"v\": null, \"l\": []}';",
            "INSERT INTO t JSON '{\"k\": 21, \"v\": {}}';", "INSERT INTO t JSON '{\"k\": 21, \"v\": []}';", "INSERT INTO t JSON '{\"k\": 21, \"v\": \"\"}';",
            "INSERT INTO t JSON '{\"k\": 21, \"v\": true}';", "INSERT INTO t JSON '{\"k\": 21, \"v\": 1.5}';", "INSERT INTO t JSON '{\"k\": 22, \"v\": 1}';",
            "INSERT INTO t JSON '{\"k\": 23, \"v\": \"1\"}';", "SELECT v FROM t WHERE k = 21;", "SELECT v FROM t WHERE k IN (22, 23);",
            "SELECT mask_null(v), mask_default(v) FROM t WHERE k = 0;", f"SELECT mask_replace(v, {values[1]}) FROM t WHERE k = 0;", "SELECT mask_hash(v) FROM t WHERE k = 0;",
            "SELECT count(v), min(v), max(v) FROM t WHERE k IN (0, 1, 2);", "SELECT sum(v) FROM t;", "SELECT avg(v) FROM t;",
            "SELECT collection_count(l), collection_min(l), collection_max(l), map_keys(m), map_values(m) FROM t WHERE k = 0;",
            "SELECT v + v FROM t WHERE k = 0;", "SELECT -v FROM t WHERE k = 0;", f"SELECT v, {values[0]} FROM t WHERE k = 0;", f"SELECT ({t}) {values[0]} FROM t WHERE k = 0;"]
    if t in BLOB_NAMES:
        out += [f"SELECT {t}_as_blob(v) FROM t WHERE k = 0;", f"SELECT {t}AsBlob(v), blobAs{t.capitalize()}({t}AsBlob(v)) FROM t WHERE k = 0;",
                f"SELECT blob_as_{t}(0x01) FROM t WHERE k = 0;", f"SELECT blob_as_{t}(0x) FROM t WHERE k = 0;",
                f"INSERT INTO t (k, v) VALUES (30, blob_as_{t}({t}_as_blob({values[0]})));", "SELECT v FROM t WHERE k = 30;"]


def older_protocol(out, t, values, wrong):
    """The same values through protocol v4, where some types travel under other names."""
    begin(out, "protocol four", t)
    a, b = values[0], values[1]
    out += [f"CREATE TABLE t (k int PRIMARY KEY, v {t}, l list<{t}>, w tuple<{t}, int>);",
            "@version 4", f"INSERT INTO t (k, v, l, w) VALUES (1, {a}, [{a}, {b}], ({b}, 1));", "@version 4", "SELECT * FROM t;",
            "@version 4", "@prepare", "INSERT INTO t (k, v, l, w) VALUES (?, ?, ?, ?);", "@version 4", "@bind 2", "@bind unset", "@bind null", "@bind null",
            "INSERT INTO t (k, v, l, w) VALUES (?, ?, ?, ?);", "@version 4", "@prepare", "@bind 1", "SELECT v, l, w FROM t WHERE k = ?;",
            "@version 4", f"UPDATE t SET v = {b} WHERE k = 1 IF v = {b};", "@version 4", f"SELECT v FROM t WHERE k = 1 AND v = {wrong};",
            "@version 3", "SELECT * FROM t WHERE k = 1;", "SELECT * FROM t WHERE k = 2;"]


def altered(out, t, values, wrong):
    """Added to a table that has rows, filled, dropped, added again; and in the schema tables."""
    begin(out, "altered", t)
    a, b = values[0], values[1]
    out += ["CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c));", "INSERT INTO t (k, c, v) VALUES (1, 1, 1);", f"ALTER TABLE t ADD (x {t}, s {t} STATIC, l list<{t}>);",
            "SELECT * FROM t;", f"UPDATE t SET x = {a}, l = [{b}, {a}] WHERE k = 1 AND c = 1;", f"UPDATE t SET s = {b} WHERE k = 1;", "SELECT * FROM t;",
            "SELECT column_name, kind, type FROM system_schema.columns WHERE keyspace_name = '{ks}';", "ALTER TABLE t DROP x;", "SELECT * FROM t;",
            f"INSERT INTO t (k, c, x) VALUES (1, 1, {a});", f"ALTER TABLE t ADD x {t};", "SELECT x FROM t;", f"INSERT INTO t (k, c, x) VALUES (1, 1, {b});",
            "SELECT x, l, s FROM t;", "ALTER TABLE t ADD x int;", "ALTER TABLE t DROP s;", "ALTER TABLE t ADD s int;", "ALTER TABLE t DROP l;", "ALTER TABLE t ADD l text;",
            "SELECT column_name, type, kind FROM system_schema.dropped_columns WHERE keyspace_name = '{ks}';", "DESCRIBE TABLE t;"]


def main():
    folder = pathlib.Path(__file__).parent / "scenarios"
    roles = (partition_key, clustering, regular, element, field, composite, nested, condition, json_and_functions, older_protocol, altered)
    for role in roles:
        if sys.argv[1:] and role.__name__ not in sys.argv[1:]:
            continue
        name = role.__name__.replace("_", "-")
        out = [f"# Every type as {name.replace('-', ' ')}. Written by types.py; answers by `conformance record`."]
        for t, literals in TYPES.items():
            role(out, t, literals[:-1], literals[-1])
        (folder / f"types-{name}.txt").write_text("\n".join(out) + "\n")


main()
