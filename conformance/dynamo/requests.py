"""Random requests of the item operations: most of them valid, some broken on purpose."""

import copy

import legacy
import values
from expressions import Writer, broken

CAPACITY = ["NONE", "TOTAL", "INDEXES", "INDEXES"]


def sometimes(r, request, member, choices, chance=0.3):
    if r.random() < chance:
        request[member] = r.choice(choices)


def put(r, table):
    request = {"TableName": table.name, "Item": values.big(r, table) if r.random() < 0.04 else values.item(r, table)}
    conditional(r, table, request)
    sometimes(r, request, "ReturnValues", ["NONE", "ALL_OLD", "ALL_OLD", "ALL_NEW"])
    return "PutItem", request


def delete(r, table):
    request = {"TableName": table.name, "Key": table.key(r)}
    conditional(r, table, request)
    sometimes(r, request, "ReturnValues", ["NONE", "ALL_OLD", "ALL_OLD", "UPDATED_OLD"])
    return "DeleteItem", request


def get(r, table):
    request = {"TableName": table.name, "Key": table.key(r)}
    projection(r, table, request)
    sometimes(r, request, "ConsistentRead", [True, False])
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    return "GetItem", request


def update(r, table):
    request = {"TableName": table.name, "Key": table.key(r)}
    if r.random() < 0.15:
        legacy.updates(r, table, request)
        if r.random() < 0.4:
            legacy.expected(r, table, request)
    elif r.random() < 0.97:
        writer = Writer(r, table)
        request["UpdateExpression"] = writer.update()
        if r.random() < 0.3:
            request["ConditionExpression"] = writer.condition()
        writer.put_into(request)
    sometimes(r, request, "ReturnValues", ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"], 0.6)
    options(r, request)
    return "UpdateItem", request


def options(r, request):
    sometimes(r, request, "ReturnItemCollectionMetrics", ["SIZE", "NONE"], 0.06)
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    sometimes(r, request, "ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"], 0.2)


def conditional(r, table, request):
    if r.random() < 0.4:
        if r.random() < 0.25:
            legacy.expected(r, table, request)
        else:
            writer = Writer(r, table)
            request["ConditionExpression"] = writer.condition()
            writer.put_into(request)
    options(r, request)


def projection(r, table, request, chance=0.4):
    if r.random() < chance:
        if r.random() < 0.25:
            request["AttributesToGet"] = r.sample(values.TOP, r.randint(1, 3))
        else:
            writer = Writer(r, table)
            request["ProjectionExpression"] = writer.projection()
            writer.put_into(request)


def query(r, table):
    index = r.choice([None, None] + list(table.indexes))
    request = {"TableName": table.name}
    if index:
        request["IndexName"] = index
    writer = Writer(r, table)
    old = r.random() < 0.15
    if old:
        legacy.key_conditions(r, table, index, request)
    else:
        request["KeyConditionExpression"] = writer.key_condition(index)
    if old and r.random() < 0.3:
        legacy.filters(r, table, request, "QueryFilter")
    elif r.random() < 0.35:
        request["FilterExpression"] = writer.condition()
    if "QueryFilter" not in request and r.random() < 0.25:
        request["ProjectionExpression"] = writer.projection()
    writer.put_into(request)
    sometimes(r, request, "ScanIndexForward", [False, True], 0.4)
    if not (index and table.indexes[index][0] == "GSI") or r.random() < 0.05:
        sometimes(r, request, "ConsistentRead", [True, False])
    reads(r, request)
    return "Query", request


def reads(r, request):
    sometimes(r, request, "Select", ["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"], 0.15)
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    sometimes(r, request, "Limit", [1, 2, 3, 5, 100], 0.3)


def scan(r, table):
    index = r.choice([None, None, None] + list(table.indexes))
    request = {"TableName": table.name}
    if index:
        request["IndexName"] = index
    if r.random() < 0.2:
        legacy.filters(r, table, request, "ScanFilter")
        if r.random() < 0.3:
            request["AttributesToGet"] = r.sample(values.TOP, 2)
    else:
        writer = Writer(r, table)
        if r.random() < 0.5:
            request["FilterExpression"] = writer.condition()
        if r.random() < 0.25:
            request["ProjectionExpression"] = writer.projection()
        writer.put_into(request)
    if not (index and table.indexes[index][0] == "GSI"):
        sometimes(r, request, "ConsistentRead", [True, False])
    reads(r, request)
    if "Limit" not in request and r.random() < 0.15:
        request["TotalSegments"] = r.choice([1, 2, 3, 7])
        request["Segment"] = r.choice([0, 0, 1, 2])
        if r.random() < 0.1:
            request.pop(r.choice(["TotalSegments", "Segment"]))
    return "Scan", request


def batch_get(r, tables):
    items = {}
    many = r.random() < 0.02
    for table in r.sample(tables, r.randint(1, min(3, len(tables)))):
        keys = []
        for number in range(r.choice([1, 2, 3, 8]) if not many else r.choice([50, 100, 101])):
            key = table.key(r) if not many else numbered(table, number)
            if key not in keys or r.random() < 0.05:
                keys.append(key)
        entry = {"Keys": keys}
        projection(r, table, entry, 0.3)
        sometimes(r, entry, "ConsistentRead", [True, False])
        items[table.name] = entry
    request = {"RequestItems": items}
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    return "BatchGetItem", request


def numbered(table, number):
    """Keys that are all different."""
    made = {"S": {"S": f"k{number}"}, "N": {"N": str(1000 + number)}, "B": {"B": f"{number:04}"}}
    return {name: made[table.types[name]] for name, _ in table.keys}


def batch_write(r, tables):
    items = {}
    many = r.random() < 0.03
    for table in r.sample(tables, r.randint(1, min(3, len(tables)))):
        entries, keys = [], []
        for number in range(r.choice([1, 2, 3, 8]) if not many else r.choice([12, 25, 26])):
            item = values.item(r, table)
            if many:
                item.update(numbered(table, number))
            key = str({name: item[name] for name, _ in table.keys})
            if key in keys and r.random() < 0.95:
                continue
            keys.append(key)
            if r.random() < 0.7:
                entries.append({"PutRequest": {"Item": item}})
            else:
                entries.append({"DeleteRequest": {"Key": {name: item[name] for name, _ in table.keys}}})
        items[table.name] = entries
    request = {"RequestItems": items}
    options(r, request)
    request.pop("ReturnValuesOnConditionCheckFailure", None)
    return "BatchWriteItem", request


def transact_get(r, tables):
    entries = []
    for _ in range(r.choice([1, 2, 4])):
        table = r.choice(tables)
        entry = {"TableName": table.name, "Key": table.key(r)}
        if r.random() < 0.3:
            writer = Writer(r, table)
            entry["ProjectionExpression"] = writer.projection()
            writer.put_into(entry)
        entries.append({"Get": entry})
    request = {"TransactItems": entries}
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    return "TransactGetItems", request


def transact_write(r, tables):
    entries, seen = [], []
    for _ in range(r.choice([1, 2, 3, 5])):
        table = r.choice(tables)
        item = values.item(r, table)
        key = {name: item[name] for name, _ in table.keys}
        if (table.name, key) in seen and r.random() < 0.97:
            continue
        seen.append((table.name, key))
        kind = r.choice(["Put", "Put", "Update", "Update", "Delete", "ConditionCheck"])
        writer = Writer(r, table)
        action = {"TableName": table.name}
        action.update({"Item": item} if kind == "Put" else {"Key": key})
        if kind == "Update":
            action["UpdateExpression"] = writer.update()
        if kind == "ConditionCheck" or r.random() < 0.3:
            action["ConditionExpression"] = writer.condition()
        writer.put_into(action)
        sometimes(r, action, "ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"])
        entries.append({kind: action})
    request = {"TransactItems": entries}
    sometimes(r, request, "ReturnConsumedCapacity", CAPACITY)
    sometimes(r, request, "ReturnItemCollectionMetrics", ["SIZE", "NONE"], 0.06)
    if r.random() < 0.02:
        entries[:] = [{"Put": {"TableName": tables[0].name, "Item": numbered(tables[0], number)}} for number in range(r.choice([99, 100, 101]))]
    return "TransactWriteItems", request


# ---- broken requests

EXPRESSIONS = ["Statement", "ConditionExpression", "UpdateExpression", "FilterExpression", "ProjectionExpression", "KeyConditionExpression"]
ENUMS = ["ReturnValues", "Select", "ConditionalOperator"]


def structures(node, found):
    """All objects in the request that have members of the API (not attribute values)."""
    if isinstance(node, dict):
        found.append(node)
        for name, child in node.items():
            if name not in ("Item", "Key", "ExpressionAttributeValues", "ExpressionAttributeNames"):
                structures(child, found)
    elif isinstance(node, list):
        for child in node:
            structures(child, found)
    return found


def start_key(r, table, index):
    """A key to begin behind, that no page gave; nothing need be there."""
    names = [name for name, _ in table.keys] + [name for name, _ in table.indexes.get(index, (None, [], None))[1]]
    return {name: values.key_value(r, table.types[name], name != "pk") for name in names}


def mutate(r, operation, request, table):
    """Breaks the request in one place; the result may still be valid."""
    request = copy.deepcopy(request)
    objects = structures(request, [])
    texts = [(o, name) for o in objects for name in EXPRESSIONS if name in o]
    if texts and r.random() < 0.6:
        target, name = r.choice(texts)
        changed = broken(r, target[name])
        # Local takes a statement in parentheses, the grammar does not.
        if name != "Statement" or not changed.startswith("("):
            target[name] = changed
        return request
    target = r.choice(objects)
    form = r.choice(["enum", "value", "name", "unused", "undefined", "key", "key", "item", "index", "table", "empty", "mix", "start", "limit"])
    if form == "enum":
        known = [name for name in ENUMS if name in target]
        if known:
            target[r.choice(known)] = r.choice(["", "all_old", "NOPE"])
    elif form == "value" and target.get("ExpressionAttributeValues"):
        target["ExpressionAttributeValues"][r.choice(list(target["ExpressionAttributeValues"]))] = values.bad(r) if r.random() < 0.6 else values.value(r)
    elif form == "name" and target.get("ExpressionAttributeNames"):
        target["ExpressionAttributeNames"][r.choice(list(target["ExpressionAttributeNames"]))] = r.choice(["", "pk", "sk", "a", "zz"])
    elif form == "unused":
        if r.random() < 0.5:
            target.setdefault("ExpressionAttributeNames", {})[r.choice(["#unused", "unused", "#", "#a-b"])] = "a"
        else:
            target.setdefault("ExpressionAttributeValues", {})[r.choice([":unused", "unused", ":", ":a b"])] = {"S": "a"}
    elif form == "undefined":
        for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if target.get(name) and r.random() < 0.6:
                target[name].pop(r.choice(list(target[name])))
    elif form in ("key", "item"):
        for name in ("Key", "Item"):
            if isinstance(target.get(name), dict) and target[name]:
                break_map(r, target[name])
    elif form == "index" and "IndexName" in target:
        target["IndexName"] = "nosuch"
    elif form == "table" and "TableName" in target:
        target["TableName"] = "nosuchtable"
    elif form == "empty":
        name = r.choice(EXPRESSIONS + ["ExpressionAttributeNames", "ExpressionAttributeValues"])
        if name in target:
            target[name] = "" if name in EXPRESSIONS else {}
    elif form == "mix":
        name = r.choice(["AttributesToGet", "Expected", "ConditionalOperator", "AttributeUpdates", "ScanFilter", "QueryFilter", "KeyConditions"])
        condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}
        target[name] = {"AttributesToGet": ["a"], "ConditionalOperator": "OR", "AttributeUpdates": {"a": {"Action": "PUT", "Value": {"S": "x"}}}}.get(name, {"a": condition})
    elif form == "start" and operation in ("Query", "Scan"):
        target["ExclusiveStartKey"] = start_key(r, table, target.get("IndexName")) if r.random() < 0.6 else r.choice([{"pk": {"S": "p"}}, {"pk": {"S": "p"}, "sk": {"S": "a"}}, {"pk": {"N": "1"}, "sk": {"N": "1"}}, {}, {"x": {"S": "a"}}])
    return request


def break_map(r, attributes):
    name = r.choice(list(attributes))
    form = r.choice(["drop", "type", "bad", "extra", "empty", "rename"])
    if form == "drop":
        del attributes[name]
    elif form == "type":
        attributes[name] = values.value(r)
    elif form == "bad":
        attributes[name] = values.bad(r)
    elif form == "extra":
        attributes["extra"] = values.value(r)
    elif form == "empty":
        attributes[name] = r.choice([{"S": ""}, {"B": ""}])
    else:
        attributes["x" + name] = attributes.pop(name)
