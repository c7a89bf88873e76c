#!/usr/bin/env python3
"""Prints scenarios/types-*.txt without answers: every type in every role. `conformance record` adds the answers."""
import pathlib

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


def main():
    folder = pathlib.Path(__file__).parent / "scenarios"
    for role in (partition_key, clustering, regular, element, field):
        name = role.__name__.replace("_", "-")
        out = [f"# Every type as {name.replace('-', ' ')}. Written by types.py; answers by `conformance record`."]
        for t, literals in TYPES.items():
            role(out, t, literals[:-1], literals[-1])
        (folder / f"types-{name}.txt").write_text("\n".join(out) + "\n")


main()
