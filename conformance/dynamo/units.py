"""What a write must consume, computed from the items before and after it (DYNAMO.md 4): where Local's capacity is of no use, Partita's is held
against this."""

import base64
import decimal
import json
import re

import compare

WIDE = decimal.Context(prec=80)
READ_BLOCK, WRITE_BLOCK = 4096, 1024


def number_size(text):
    """A byte for sign and magnitude, pairs of digits aligned on the point, an end for the negative ones."""
    value = WIDE.create_decimal(text).normalize(WIDE)
    if not value:
        return 1
    pairs = value.adjusted() // 2 - value.as_tuple().exponent // 2 + 1
    return 1 + pairs + (1 if value < 0 and pairs < 20 else 0)


def value_size(value):
    kind, inner = next(iter(value.items()))
    if kind == "S":
        return len(inner.encode())
    if kind == "B":
        return len(base64.b64decode(inner))
    if kind == "N":
        return number_size(inner)
    if kind in ("BOOL", "NULL"):
        return 1
    if kind in ("SS", "NS", "BS"):
        return sum(value_size({kind[0]: member}) for member in inner)
    if kind == "L":
        return 3 + sum(1 + value_size(member) for member in inner)
    return 3 + sum(1 + len(name.encode()) + value_size(member) for name, member in inner.items())


def item_size(item):
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def key_text(table, item):
    return json.dumps(compare.canonical({name: item.get(name) for name, _ in table.keys}), sort_keys=True)


def snapshot(server, tables):
    """All items by table and key, as Local has them."""
    found = {}
    for table in tables:
        items, start = {}, None
        while True:
            request = {"TableName": table.name, "ConsistentRead": True, **({"ExclusiveStartKey": start} if start else {})}
            body = server.send("Scan", request).body
            items.update({key_text(table, item): item for item in body["Items"]})
            start = body.get("LastEvaluatedKey")
            if start is None:
                break
        found[table.name] = items
    return found


def blocks(size, block):
    return max(1, -(-size // block))


def write_units(old, new):
    return blocks(max(item_size(old or {}), item_size(new or {})), WRITE_BLOCK)


def entry(table, index, item):
    """What an index holds of an item, and where; None if it is not in it."""
    _, keys, projection = table.indexes[index]
    if item is None or any(name not in item for name, _ in keys):
        return None
    names = {name for name, _ in table.keys + keys} | set(projection.get("NonKeyAttributes", []))
    held = item if projection["ProjectionType"] == "ALL" else {name: value for name, value in item.items() if name in names}
    return json.dumps(compare.canonical({name: item[name] for name, _ in keys}), sort_keys=True), held


def index_units(table, old, new):
    found = {}
    for index in table.indexes:
        left, right = entry(table, index, old), entry(table, index, new)
        if left is None and right is None or left and right and compare.canonical(left[1]) == compare.canonical(right[1]):
            continue
        if left and right and left[0] != right[0]:
            units = blocks(item_size(left[1]), WRITE_BLOCK) + blocks(item_size(right[1]), WRITE_BLOCK)
        else:
            units = blocks(max(item_size(side[1]) for side in (left, right) if side), WRITE_BLOCK)
        found[index] = units
    return found


class Sums:
    """Units by table and by index."""

    def __init__(self):
        self.tables, self.indexes = {}, {}

    def add(self, table, units, indexes=()):
        self.tables[table.name] = self.tables.get(table.name, 0) + units
        for index, more in dict(indexes).items():
            self.indexes[table.name, index] = self.indexes.get((table.name, index), 0) + more

    def are(self, told, kind=None):
        """Whether a list of ConsumedCapacity says exactly this; `kind` is the member that transactions have at every level."""
        if told is None or {cost["TableName"] for cost in told} != set(self.tables) or len(told) != len(self.tables):
            return False
        for cost in told:
            name = cost["TableName"]
            mine = {index: units for (table, index), units in self.indexes.items() if table == name}
            levels = [(cost, self.tables[name] + sum(mine.values()))]
            if "Table" in cost:
                levels.append((cost["Table"], self.tables[name]))
                found = {**cost.get("LocalSecondaryIndexes", {}), **cost.get("GlobalSecondaryIndexes", {})}
                if set(found) != set(mine):
                    return False
                levels += [(found[index], units) for index, units in mine.items()]
            if any(level["CapacityUnits"] != units or kind and level.get(kind) != units for level, units in levels):
                return False
        return True


def transaction(request, tables, before, after, told):
    """Whether a TransactWriteItems consumed what it must; done again with its token it is charged as reads."""
    replayed = any("ReadCapacityUnits" in cost for cost in told or [])
    sums = Sums()
    for wrapped in request["TransactItems"]:
        action = next(iter(wrapped.values()))
        table = tables[compare.table_of(action["TableName"])]
        key = key_text(table, action.get("Item") or action["Key"])
        old, new = before[table.name].get(key), after[table.name].get(key)
        if replayed:
            sums.add(table, 2 * blocks(item_size(old or {}), READ_BLOCK))
        else:
            sums.add(table, 2 * write_units(old, new), index_units(table, old, new))
    return (not replayed or before == after) and sums.are(told, "ReadCapacityUnits" if replayed else "WriteCapacityUnits")


def statements(request, tables, before, after, told):
    """The same of PartiQL: writes exactly, reads by key too; a SELECT that looks for more costs what a page may cost."""
    texts = [request] if "Statement" in request else request.get("Statements") or request["TransactStatements"]
    factor, kind = (2, None) if "TransactStatements" in request else (1, None)
    told = told if isinstance(told, list) else [told] if told else told
    if any(re.match(r"(?i)\s*(SELECT|EXISTS)", text["Statement"]) for text in texts):
        return told is not None and all(cost["CapacityUnits"] > 0 and cost["CapacityUnits"] * 2 == int(cost["CapacityUnits"] * 2) for cost in told)
    changed = Sums()
    least = {}
    for text in texts:
        name = next((name for name in tables if name in text["Statement"]), None)
        # A statement of no known table did nothing.
        if name is not None:
            least[name] = least.get(name, 0) + factor
    exact = all(item_size(item) <= WRITE_BLOCK for side in (before, after) for name in least for item in side.get(name, {}).values())
    for name in least:
        table = tables[name]
        changed.add(table, least[name])
        for key in set(before[name]) | set(after[name]):
            old, new = before[name].get(key), after[name].get(key)
            if compare.canonical(old) != compare.canonical(new):
                changed.add(table, 0, index_units(table, old, new))
    if exact and "Statements" not in request:
        return changed.are(told, kind)
    # In a batch some statements may have been refused, which are charged or not by what refused them.
    return told is not None and all(cost["CapacityUnits"] >= 1 for cost in told)
