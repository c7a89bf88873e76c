"""Random parameters of the API before expressions: Expected, AttributeUpdates, KeyConditions, filters."""

import values

OPERATORS = {"EQ": 1, "NE": 1, "LT": 1, "LE": 1, "GT": 1, "GE": 1, "NULL": 0, "NOT_NULL": 0, "CONTAINS": 1, "NOT_CONTAINS": 1, "BEGINS_WITH": 1,
             "IN": 2, "BETWEEN": 2}


def condition(r, name):
    operator = r.choice(list(OPERATORS))
    count = OPERATORS[operator]
    if r.random() < 0.05:
        count = r.choice([0, 1, 2, 3])
    result = {"ComparisonOperator": operator if r.random() < 0.98 else operator.lower()}
    if count or r.random() < 0.05:
        kind = values.TYPICAL.get(name, "S")
        if operator in ("LT", "LE", "GT", "GE", "BETWEEN", "IN", "BEGINS_WITH", "CONTAINS", "NOT_CONTAINS") and r.random() < 0.9:
            kind = r.choice("SNB") if operator != "BEGINS_WITH" else r.choice("SB")
        result["AttributeValueList"] = [values.of_type(r, kind if r.random() < 0.97 else "S") for _ in range(count)]
    return result


def conditions(r, names):
    return {name: condition(r, name) for name in r.sample(names, r.choice([1, 1, 2]))}


def join(r, request):
    if r.random() < 0.3:
        request["ConditionalOperator"] = r.choice(["AND", "OR"])


def expected(r, table, request):
    result = {}
    for name in r.sample(values.TOP, r.choice([1, 1, 2])):
        form = r.choice(["value", "value", "absent", "exists", "operator", "operator", "bad"])
        if form == "value":
            result[name] = {"Value": values.attribute(r, name)}
        elif form == "absent":
            result[name] = {"Exists": False}
        elif form == "exists":
            result[name] = {"Exists": True, "Value": values.attribute(r, name)}
        elif form == "operator":
            result[name] = condition(r, name)
        else:
            result[name] = r.choice([{"Exists": True}, {"Exists": False, "Value": {"S": "a"}}, {"AttributeValueList": [{"S": "a"}]}, {},
                                     {"ComparisonOperator": "EQ"}, {"ComparisonOperator": "EQ", "Value": {"S": "a"}},
                                     {"ComparisonOperator": "EQ", "Exists": True},
                                     {"ComparisonOperator": "EQ", "Value": {"S": "a"}, "AttributeValueList": [{"S": "a"}]}])
    request["Expected"] = result
    join(r, request)


def filters(r, table, request, member):
    request[member] = conditions(r, values.TOP)
    join(r, request)


def key_conditions(r, table, index, request):
    keys = table.index_keys(index)
    name, _ = keys[0]
    result = {name: {"ComparisonOperator": "EQ" if r.random() < 0.95 else r.choice(["GT", "NE"]),
                     "AttributeValueList": [values.key_value(r, table.types[name], name != "pk")]}}
    if len(keys) > 1 and r.random() < 0.6:
        name, _ = keys[1]
        operator = r.choice(["EQ", "LT", "LE", "GT", "GE", "BETWEEN", "BEGINS_WITH", "BEGINS_WITH" if r.random() < 0.8 else "NE"])
        result[name] = {"ComparisonOperator": operator,
                        "AttributeValueList": [values.key_value(r, table.types[name], True) for _ in range(2 if operator == "BETWEEN" else 1)]}
    request["KeyConditions"] = result


def updates(r, table, request):
    result = {}
    for name in r.sample(values.TOP, r.choice([1, 2, 3])):
        # Local forgets updates without an Action, which should be PUT: they are in the recorded scenarios instead.
        action = r.choice(["PUT", "PUT", "PUT", "ADD", "DELETE", "BAD" if r.random() < 0.1 else "PUT"])
        entry = {}
        if action:
            entry["Action"] = action
        if action != "DELETE" or r.random() < 0.5:
            kind = values.TYPICAL[name]
            if action == "ADD":
                kind = r.choice(["N", "SS", "NS", "L", kind])
            entry["Value"] = values.of_type(r, kind)
        if r.random() < 0.03:
            entry.pop("Value", None)
        result[name] = entry
    if r.random() < 0.03:
        result["pk"] = {"Value": {"S": "x"}}
    request["AttributeUpdates"] = result
