"""Random attribute values, items and keys, from small pools, so that requests meet the same items again."""

STRINGS = ["", "a", "b", "ab", "abc", "B", "é", "zz", "x y", "\U0001d11e"]
NUMBERS = ["0", "1", "-1", "2", "10", "1.5", "-2.50", "100", "1e3", "0.001", "12345678901234567890123456789012345678",
           "1E-130", "9.9999999999999999999999999999999999999E+125", "-0", "007", "120", "+4", "0.0", "1e2", "1.10", "-1E-130", "1E+125", "5.", ".5",
           "99999999999999999999999999999999999999", "0.00000000000000000000000000000000000001", "0.1", "-100"]
BYTES = ["", "YQ==", "YWI=", "AAE=", "/w=="]
TOP = ["a", "b", "c", "d", "e", "m", "l", "s1", "n1", "b1"]
INNER = ["x", "y", "z", "k.1"]
BAD = [{"N": ""}, {"N": "x"}, {"N": "1e200"}, {"N": "1e-200"}, {"N": "123456789012345678901234567890123456789"}, {"SS": []}, {"NS": []}, {"BS": []},
       {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": ["YQ==", "YQ=="]}, {}, {"S": "a", "N": "1"}, {"NULL": False}, {"N": " 1"}, {"N": "1 "},
       {"N": "--1"}, {"N": "1e"}, {"N": "."}, {"N": "1.2.3"}, {"N": "NaN"}, {"N": "0x10"}, {"NS": ["1", "y"]}, {"L": [{}]}, {"M": {"x": {}}},
       {"M": {"x": {"SS": []}}}, {"N": "1_0"}, {"M": {"": {"S": "a"}}}, {"N": "1e126"}, {"N": "-1e126"}, {"N": "1e-131"}, {"N": "1E+"}, {"N": "+"},
       {"N": "1234567890123456789012345678901234567.89"}, {"L": [{"M": {"x": {"N": "e"}}}]}, {"NS": [""]}, {"SS": ["", ""]}]


def deep(r):
    """A leaf in about as many containers as may be."""
    result = {"S": "leaf"}
    for _ in range(r.choice([29, 30, 31, 32, 33])):
        result = {"L": [result]} if r.random() < 0.5 else {"M": {"x": result}}
    return result


def value(r, depth=0):
    if depth == 0 and r.random() < 0.004:
        return deep(r)
    kinds = ["S", "S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS"]
    if depth < 3:
        kinds += ["L", "M", "L", "M"]
    return of_type(r, r.choice(kinds), depth)


def of_type(r, kind, depth=0):
    if kind == "S":
        return {"S": r.choice(STRINGS)}
    if kind == "N":
        return {"N": r.choice(NUMBERS)}
    if kind == "B":
        return {"B": r.choice(BYTES)}
    if kind == "BOOL":
        return {"BOOL": r.random() < 0.5}
    if kind == "NULL":
        return {"NULL": True}
    if kind == "SS":
        return {"SS": r.sample(STRINGS[1:], r.randint(1, 3))}
    if kind == "NS":
        return {"NS": r.sample(["0", "1", "-1", "2", "10", "1.5", "100"], r.randint(1, 3))}
    if kind == "BS":
        return {"BS": r.sample(BYTES[1:], r.randint(1, 3))}
    if kind == "L":
        return {"L": [value(r, depth + 1) for _ in range(r.randint(0, 3))]}
    return {"M": {name: value(r, depth + 1) for name in r.sample(INNER, r.randint(0, 3))}}


def bad(r):
    return r.choice(BAD)


# What stands in most items, so that conditions and paths find something of the right type.
TYPICAL = {"a": "S", "b": "N", "c": "B", "d": "BOOL", "e": "NULL", "m": "M", "l": "L", "s1": "SS", "n1": "NS", "b1": "BS"}


def attribute(r, name):
    return of_type(r, TYPICAL[name]) if name in TYPICAL and r.random() < 0.7 else value(r)


def key_value(r, kind, sort=False):
    if kind == "S":
        return {"S": r.choice(["a", "ab", "abc", "b", "bc", "é"] if sort else ["p", "q", "r"])}
    if kind == "N":
        return {"N": r.choice(["1", "2", "-1", "10", "1.5", "100"] if sort else ["1", "2", "1.0", "-3"])}
    return {"B": r.choice(["YQ==", "YWI=", "Yg==", "/w=="] if sort else ["YQ==", "YWI="])}


def big(r, table):
    """An item of many bytes, for sizes and pages."""
    item = table.key(r)
    item["big"] = {"S": "x" * r.choice([1000, 1024, 4000, 5000, 9000, 100_000, 399_000, 409_600])}
    return item


def item(r, table):
    result = table.key(r)
    for name in r.sample(TOP, r.randint(0, 6)):
        result[name] = attribute(r, name)
    for name, kind in table.index_attributes():
        if r.random() < 0.6:
            result[name] = key_value(r, kind, True)
    return result
