"""Random PartiQL statements with their parameters."""

import values


class Statement:
    def __init__(self, r, table):
        self.r, self.table, self.parameters = r, table, []

    def literal(self, value):
        r = self.r
        kind, inner = next(iter(value.items()))
        if r.random() < 0.6 or kind in ("B", "BS"):
            self.parameters.append(value)
            return "?"
        if kind == "S":
            return "'" + inner.replace("'", "''") + "'"
        if kind == "N":
            if not inner.lstrip("-").replace(".", "").isdigit() or len(inner) > 18 or inner.startswith(("0", "+", "-0")):
                return "7"
            return inner
        if kind == "BOOL":
            return "true" if inner else "false"
        if kind == "NULL":
            return "null"
        if kind in ("SS", "NS"):
            return "<<" + ", ".join(f"'{v}'" if kind == "SS" else v for v in inner) + ">>"
        if kind == "L":
            return "[" + ", ".join(self.literal(v) for v in inner) + "]"
        return "{" + ", ".join(f"'{k}': {self.literal(v)}" for k, v in inner.items()) + "}"

    def name(self, name):
        return name if self.r.random() < 0.5 and "." not in name else f'"{name}"'

    def key(self, key=None):
        return " AND ".join(f"{self.name(n)} = {self.literal(v)}" for n, v in (key or self.table.key(self.r)).items())

    def condition(self):
        r = self.r
        name = r.choice(["a", "b", "d", "s1", "m", "l"])
        form = r.choice(["cmp"] * 4 + ["between", "in", "missing", "null", "type", "begins", "contains", "size", "exists", "not", "is", "nested", "or", "neg"])
        kind = values.TYPICAL[name]
        if form == "cmp":
            return f"{self.name(name)} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {self.literal(values.of_type(r, kind if kind in 'SNBBOOL' else 'S'))}"
        if form == "between":
            return f"b BETWEEN {self.literal({'N': '1'})} AND {self.literal({'N': '10'})}"
        if form == "in":
            return f"a IN [{self.literal({'S': 'a'})}, {self.literal({'S': 'b'})}]"
        if form == "missing":
            return f"{self.name(name)} IS {r.choice(['', 'NOT '])}MISSING"
        if form == "null":
            return f"e IS {r.choice(['', 'NOT '])}NULL"
        if form == "type":
            return f"attribute_type({self.name(name)}, {self.literal({'S': kind})})"
        if form == "begins":
            return f"begins_with(a, {self.literal({'S': r.choice(['a', 'ab', ''])})})"
        if form == "contains":
            return f"contains({r.choice(['a', 's1'])}, {self.literal({'S': 'a'})})"
        if form == "size":
            return f"size({self.name(name)}) > {self.literal({'N': '1'})}"
        if form == "is":
            kind = r.choice(["NULL", "BOOLEAN", "STRING", "NUMERIC", "BLOB", "STRUCT", "LIST", "MISSING", "TUPLE", "NUMBER"])
            return f"{self.name(name)} IS {r.choice(['', 'NOT '])}{kind}"
        if form == "nested":
            return f"{r.choice(['m.x', 'm.y', 'l[0]', 'l[1]', 'm.x.y', chr(34) + 'm' + chr(34) + '.' + chr(34) + 'x' + chr(34)])} = {self.literal(values.value(r, 2))}"
        if form == "or":
            return f"(a = {self.literal({'S': 'a'})} OR b > {self.literal({'N': '1'})})"
        if form == "neg":
            return f"b = {self.literal({'N': '-1'})}"
        if form == "exists":
            return f"attribute_exists({self.name(name)})" if r.random() < 0.3 else f"m.x = {self.literal({'S': 'a'})}"
        return f"NOT a = {self.literal({'S': 'a'})}"

    def where(self, key=None):
        text = self.key(key)
        while self.r.random() < 0.25:
            text += f" {'AND' if self.r.random() < 0.9 else 'OR'} {self.condition()}"
        return text

    def select(self):
        r, table = self.r, self.table
        source = f'"{table.name}"'
        what = r.choice(["*", "*", "a, b", "pk", "m.x", "l[0]", '"s1"', "m", "m.x, m.y", "l[0], l[1]"])
        form = r.choice(["key", "key", "hash", "filter", "none", "index", "keys"])
        if form == "index" and table.indexes:
            index = r.choice(list(table.indexes))
            names = [name for name, _ in table.indexes[index][1]]
            where = " AND ".join(f"{self.name(n)} = {self.literal(values.key_value(r, table.types[n], n != 'pk'))}" for n in names[:r.choice([0, 1, 1, 2])])
            return f'SELECT {r.choice(["*", "*", "pk", "a"])} FROM {source}."{index}"' + (f" WHERE {where}" if where else "")
        if form == "keys":
            several = ", ".join(self.literal(table.key(r)["pk"]) for _ in range(2))
            return f"SELECT {what} FROM {source} WHERE pk IN [{several}]"
        if form == "key":
            return f"SELECT {what} FROM {source} WHERE {self.where()}"
        if form == "hash":
            key = {"pk": table.key(r)["pk"]}
            order = r.choice(["", " ORDER BY sk DESC", " ORDER BY sk ASC"]) if "sk" in table.types else ""
            return f"SELECT {what} FROM {source} WHERE {self.key(key)}{order}"
        if form == "filter":
            return f"SELECT {what} FROM {source} WHERE {self.condition()}"
        return f"SELECT {what} FROM {source}"

    def insert(self, key=None):
        item = values.item(self.r, self.table)
        item.update(key or {})
        inner = ", ".join(f"'{name}': {self.literal(value)}" for name, value in item.items())
        return f'INSERT INTO "{self.table.name}" VALUE {{{inner}}}'

    def update(self, key=None, returning=True):
        r = self.r
        parts = []
        for name in r.sample(["a", "b", "d", "m", "l", "s1"], r.choice([1, 1, 2])):
            form = r.choice(["set"] * 4 + ["remove", "plus", "append", "nested", "add"])
            if form == "set":
                parts.append(f"SET {self.name(name)} = {self.literal(values.attribute(r, name))}")
            elif form == "remove":
                parts.append(f"REMOVE {self.name(name)}")
            elif form == "plus":
                parts.append(f"SET b = b {r.choice('+-')} {self.literal({'N': '2'})}")
            elif form == "append":
                parts.append(f"SET l = list_append(l, {self.literal({'L': [{'S': 'x'}]})})")
            elif form == "nested":
                parts.append(f"SET m.x = {self.literal({'S': 'y'})}")
            else:
                parts.append(f"SET s1 = set_{r.choice(['add', 'delete'])}(s1, {self.literal({'SS': ['a']})})")
        end = r.choice(["", "", " RETURNING ALL NEW *", " RETURNING ALL OLD *", " RETURNING MODIFIED NEW *", " RETURNING MODIFIED OLD *"]) if returning else ""
        return f'UPDATE "{self.table.name}" {" ".join(parts)} WHERE {self.where(key)}{end}'

    def exists(self, key=None, returning=True):
        return f'EXISTS(SELECT * FROM "{self.table.name}" WHERE {self.key(key)} AND {self.condition()})'

    def delete(self, key=None, returning=True):
        end = self.r.choice(["", "", " RETURNING ALL OLD *"]) if returning else ""
        return f'DELETE FROM "{self.table.name}" WHERE {self.where(key)}{end}'


def with_capacity(r, request):
    if r.random() < 0.3:
        request["ReturnConsumedCapacity"] = r.choice(["TOTAL", "INDEXES"])
    return request


def statement(r, tables, kinds, key=None, returning=True):
    table = r.choice(tables)
    made = Statement(r, table)
    kind = r.choice(kinds)
    if kind == "select":
        text = made.select()
    elif kind == "insert":
        text = made.insert(key)
    else:
        text = getattr(made, kind)(key, returning)
    request = {"Statement": text}
    if made.parameters:
        request["Parameters"] = made.parameters
    return request


def one(r, tables):
    request = statement(r, tables, ["select", "select", "insert", "update", "delete"])
    if r.random() < 0.06 and request.get("Parameters"):
        request["Parameters"].pop()
        if not request["Parameters"]:
            del request["Parameters"]
    if r.random() < 0.2:
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if r.random() < 0.15 and request["Statement"].startswith("SELECT"):
        request["Limit"] = r.choice([1, 2, 5])
    if r.random() < 0.2:
        request["ConsistentRead"] = r.choice([True, False])
    return "ExecuteStatement", with_capacity(r, request)


def batch(r, tables):
    kinds = r.choice([["insert", "update", "delete"], ["select"]])
    return "BatchExecuteStatement", with_capacity(r, {"Statements": [statement(r, tables, kinds, returning=False) for _ in range(r.choice([1, 2, 3]))]})


def transaction(r, tables):
    kinds = r.choice([["insert", "update", "delete"], ["insert", "update", "exists"], ["select"]])
    return "ExecuteTransaction", with_capacity(r, {"TransactStatements": [statement(r, tables, kinds, returning=False) for _ in range(r.choice([1, 2, 3]))]})
