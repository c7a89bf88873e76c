"""Every CQL type travels both ways: written as CQL text and as bound values, read back as the driver's own types."""

import datetime
import math
import uuid
from collections import namedtuple
from decimal import Decimal

from cassandra.util import Date, Duration, OrderedMapSerializedKey, Time

from scenario import KEYSPACE, Skip, check, eq

SCALARS = [
    # column, CQL type, CQL literal, value in Python
    ("c_ascii", "ascii", "'ascii'", "ascii"),
    ("c_bigint", "bigint", "-9223372036854775808", -2**63),
    ("c_blob", "blob", "0x00ff10", b"\x00\xff\x10"),
    ("c_boolean", "boolean", "true", True),
    ("c_date", "date", "'1969-12-31'", Date("1969-12-31")),
    ("c_decimal", "decimal", "-123456789.000000000987", Decimal("-123456789.000000000987")),
    ("c_double", "double", "1.5E-300", 1.5e-300),
    ("c_duration", "duration", "1y2mo3d4h5m6s7ms8us9ns", Duration(14, 3, 14706007008009)),
    ("c_float", "float", "3.25", 3.25),
    ("c_inet", "inet", "'192.0.2.7'", "192.0.2.7"),
    ("c_inet6", "inet", "'2001:db8::1'", "2001:db8::1"),
    ("c_int", "int", "-2147483648", -2**31),
    ("c_smallint", "smallint", "-32768", -2**15),
    ("c_text", "text", "'Grüße, 世界 🎼, it''s'", "Grüße, 世界 🎼, it's"),
    ("c_time", "time", "'23:59:59.999999999'", Time("23:59:59.999999999")),
    ("c_timestamp", "timestamp", "'1960-02-29T12:34:56.789Z'", datetime.datetime(1960, 2, 29, 12, 34, 56, 789000)),
    ("c_timeuuid", "timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", uuid.UUID("50554d6e-29bb-11e5-b345-feff819cdc9f")),
    ("c_tinyint", "tinyint", "-128", -128),
    ("c_uuid", "uuid", "123e4567-e89b-12d3-a456-426614174000", uuid.UUID("123e4567-e89b-12d3-a456-426614174000")),
    ("c_varchar", "varchar", "'v'", "v"),
    ("c_varint", "varint", "123456789012345678901234567890", 123456789012345678901234567890),
]
NAMES = [c[0] for c in SCALARS]

Address = namedtuple("Address", "street zip tags")
Person = namedtuple("Person", "name home phones")


def read(world, table, key, columns="*"):
    return world.session.execute(f"SELECT {columns} FROM {table} WHERE id = {key}").one()


@check("types: scalars written as CQL text")
def scalar_literals(world):
    columns = ", ".join(f"{n} {t}" for n, t, _, _ in SCALARS)
    world.session.execute(f"CREATE TABLE scalars (id int PRIMARY KEY, {columns})")
    world.session.execute(f"INSERT INTO scalars (id, {', '.join(NAMES)}) VALUES (1, {', '.join(c[2] for c in SCALARS)})")
    row = read(world, "scalars", 1)
    for name, _, _, value in SCALARS:
        eq(getattr(row, name), value, name)


@check("types: scalars bound to a prepared statement")
def scalar_bound(world):
    marks = ", ".join("?" * (len(NAMES) + 1))
    insert = world.session.prepare(f"INSERT INTO scalars (id, {', '.join(NAMES)}) VALUES ({marks})")
    world.session.execute(insert, [2] + [c[3] for c in SCALARS])
    eq(read(world, "scalars", 2)[1:], read(world, "scalars", 1)[1:])
    world.session.execute(insert, [3] + [None] * len(NAMES))
    eq(set(read(world, "scalars", 3)[1:]), {None})


@check("types: extreme and special values")
def extremes(world):
    s = world.session
    insert = s.prepare("INSERT INTO scalars (id, c_bigint, c_decimal, c_double, c_float, c_varint, c_date, c_time, c_duration, c_int) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    values = [2**63 - 1, Decimal("1E-2147483"), math.inf, -math.inf, -2**200, Date(-(2**31)), Time(0), Duration(-1, -2, -3), 0]
    s.execute(insert, [4] + values)
    row = read(world, "scalars", 4, "c_bigint, c_decimal, c_double, c_float, c_varint, c_date, c_time, c_duration, c_int")
    eq(list(row), values)
    s.execute("INSERT INTO scalars (id, c_double, c_float) VALUES (5, NaN, -Infinity)")
    row = read(world, "scalars", 5)
    assert math.isnan(row.c_double) and row.c_float == -math.inf, row
    s.execute(insert, [6, 0, Decimal("0"), -0.0, 0.0, 0, Date(0), Time(86399999999999), Duration(0, 0, 0), 0])
    eq(math.copysign(1, read(world, "scalars", 6).c_double), -1.0)


@check("types: empty is not null")
def empty(world):
    s = world.session
    s.execute(s.prepare("INSERT INTO scalars (id, c_text, c_ascii, c_blob) VALUES (?, ?, ?, ?)"), [7, "", "", b""])
    row = read(world, "scalars", 7)
    eq((row.c_text, row.c_ascii, row.c_blob, row.c_varchar), ("", "", b"", None))


@check("types: collections")
def collections(world):
    s = world.session
    s.execute("CREATE TABLE collections (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, ft frozen<list<double>>, "
              "nested map<uuid, frozen<list<frozen<set<timestamp>>>>>, ml map<int, frozen<map<text, frozen<tuple<int, text>>>>>)")
    key = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")
    t1, t2 = datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)
    insert = s.prepare("INSERT INTO collections (id, l, s, m, ft, nested, ml) VALUES (?, ?, ?, ?, ?, ?, ?)")
    s.execute(insert, [1, [3, 1, 2, 1], {"b", "a"}, {"z": 1, "a": 2}, [1.5, -2.5], {key: [{t2, t1}, set()]}, {7: {"x": (1, "one"), "w": (2, None)}}])
    s.execute("INSERT INTO collections (id, l, s, m, ft, nested, ml) VALUES (2, [3, 1, 2, 1], {'b', 'a'}, {'z': 1, 'a': 2}, [1.5, -2.5], "
              "{123e4567-e89b-12d3-a456-426614174000: [{'2021-01-01T00:00Z', '2020-01-01T00:00Z'}, {}]}, {7: {'x': (1, 'one'), 'w': (2, null)}})")
    one, two = read(world, "collections", 1), read(world, "collections", 2)
    eq(one[1:], two[1:], "bound and literal")
    eq(list(one.l), [3, 1, 2, 1])
    eq(list(one.s), ["a", "b"])
    eq(list(one.m.items()), [("a", 2), ("z", 1)])
    eq([sorted(x) for x in one.nested[key]], [[t1, t2], []])
    eq(one.ml[7]["x"], (1, "one"))
    eq(one.ml[7]["w"], (2, None))


@check("types: changing parts of collections")
def collection_updates(world):
    s = world.session
    for change in ("l = l + [9]", "l = [0] + l", "l[1] = 33", "s = s + {'c'}", "s = s - {'a'}", "m['new'] = 5", "m = m + {'z': 10}",
                   "m = m - {'a'}", "l = l - [1]"):
        s.execute(f"UPDATE collections SET {change} WHERE id = 1")
    s.execute("DELETE l[0], m['z'] FROM collections WHERE id = 1")
    row = read(world, "collections", 1)
    eq((list(row.l), list(row.s), dict(row.m)), ([33, 2, 9], ["b", "c"], {"new": 5}))
    update = s.prepare("UPDATE collections SET m[?] = ?, s = s + ? WHERE id = ?")
    s.execute(update, ["bound", 6, {"d"}, 1])
    eq(dict(read(world, "collections", 1).m), {"new": 5, "bound": 6})
    s.execute("UPDATE collections SET l = [], s = {}, m = {} WHERE id = 1")
    row = read(world, "collections", 1)
    eq((row.l, row.s, row.m), (None, None, None), "an empty collection reads as null")


@check("types: tuples")
def tuples(world):
    s = world.session
    s.execute("CREATE TABLE tuples (id int PRIMARY KEY, t tuple<int, text, double>, n frozen<tuple<frozen<list<int>>, frozen<tuple<uuid, boolean>>>>)")
    key = uuid.uuid4()
    insert = s.prepare("INSERT INTO tuples (id, t, n) VALUES (?, ?, ?)")
    s.execute(insert, [1, (1, "a", 2.5), ([1, 2], (key, True))])
    s.execute(insert, [2, (None, "only text", None), None])
    s.execute(f"INSERT INTO tuples (id, t, n) VALUES (3, (1, 'a', 2.5), ([1, 2], ({key}, true)))")
    row = read(world, "tuples", 1)
    eq((row.t, row.n), ((1, "a", 2.5), ([1, 2], (key, True))))
    eq(read(world, "tuples", 3)[1:], row[1:])
    row = read(world, "tuples", 2)
    eq((row.t, row.n), ((None, "only text", None), None))


@check("types: user-defined types mapped to Python classes")
def user_types(world):
    cluster, s = world.cluster, world.session
    s.execute("CREATE TABLE people (id int PRIMARY KEY, p frozen<person>, a address, all_homes list<frozen<address>>, by_name map<text, frozen<person>>)")
    cluster.register_user_type(KEYSPACE, "address", Address)
    cluster.register_user_type(KEYSPACE, "person", Person)
    home = Address("Rue 1", 75001, {"blue", "red"})
    ann = Person("Ann", home, {"mobile": "1", "work": "2"})
    insert = s.prepare("INSERT INTO people (id, p, a, all_homes, by_name) VALUES (?, ?, ?, ?, ?)")
    s.execute(insert, [1, ann, home, [home, Address(None, None, None)], {"ann": ann}])
    s.execute("INSERT INTO people (id, p, a, all_homes, by_name) VALUES (2, "
              "{name: 'Ann', home: {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}, phones: {'mobile': '1', 'work': '2'}}, "
              "{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}, [{street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}, {street: null}], "
              "{'ann': {name: 'Ann', home: {street: 'Rue 1', zip: 75001, tags: {'red', 'blue'}}, phones: {'mobile': '1', 'work': '2'}}})")
    for key in (1, 2):
        row = read(world, "people", key)
        eq(row.p.name, "Ann")
        eq((row.a.street, row.a.zip, set(row.a.tags)), ("Rue 1", 75001, {"blue", "red"}))
        eq(set(row.p.home.tags), {"blue", "red"})
        eq(dict(row.p.phones), {"mobile": "1", "work": "2"})
        eq(tuple(row.all_homes[1]), (None, None, None))
        eq(row.by_name["ann"].home.zip, 75001)
    s.execute("UPDATE people SET a.zip = 2, a.street = null WHERE id = 1")
    eq(read(world, "people", 1, "a.zip AS z, a.street AS s")[:], (2, None))
    eq(s.execute("SELECT p.home AS h FROM people WHERE id = 1").one().h[:2], ("Rue 1", 75001))


@check("types: a user-defined type grows")
def type_grows(world):
    s = world.session
    s.execute("CREATE TYPE grown (a int)")
    s.execute("CREATE TABLE growing (id int PRIMARY KEY, g frozen<grown>, h grown)")
    s.execute("INSERT INTO growing (id, g, h) VALUES (1, {a: 1}, {a: 2})")
    s.execute("ALTER TYPE grown ADD b text")
    s.execute("ALTER TYPE grown RENAME a TO first")
    s.execute("UPDATE growing SET h.b = 'new' WHERE id = 1")
    row = read(world, "growing", 1)
    eq((row.g.first, row.g.b, row.h.first, row.h.b), (1, None, 2, "new"))


@check("types: vectors")
def vectors(world):
    try:
        from cassandra.cqltypes import VectorType  # noqa: F401
    except ImportError:
        raise Skip("this driver has no vector type") from None
    s = world.session
    s.execute("CREATE TABLE vectors (id int PRIMARY KEY, v vector<float, 3>, i vector<int, 2>, t vector<text, 2>)")
    s.execute("INSERT INTO vectors (id, v, i, t) VALUES (1, [1.5, -2, 0.25], [7, 8], ['a', 'bc'])")
    s.execute(s.prepare("INSERT INTO vectors (id, v, i, t) VALUES (?, ?, ?, ?)"), [2, [1.5, -2.0, 0.25], [7, 8], ["a", "bc"]])
    for key in (1, 2):
        row = read(world, "vectors", key)
        eq((list(row.v), list(row.i), list(row.t)), ([1.5, -2.0, 0.25], [7, 8], ["a", "bc"]), f"row {key}")
    row = s.execute("SELECT similarity_cosine(v, [1.5, -2, 0.25]) AS c FROM vectors WHERE id = 1").one()
    assert abs(row.c - 1.0) < 1e-6, row


@check("types: column types in result metadata")
def result_metadata(world):
    rs = world.session.execute("SELECT id, l, m, nested FROM collections WHERE id = 2")
    eq(rs.column_names, ["id", "l", "m", "nested"])
    eq([t.cql_parameterized_type() for t in rs.column_types],
       ["int", "list<int>", "map<varchar, bigint>", "map<uuid, list<set<timestamp>>>"])
    assert isinstance(rs.one().m, OrderedMapSerializedKey)
