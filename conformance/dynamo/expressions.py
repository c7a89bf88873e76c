"""Random expressions of every form, with the placeholders they use; and ways to break them."""

import re

from values import INNER, TOP, attribute, of_type, value, bad

COMPARE = ["=", "<>", "<", "<=", ">", ">="]
RESERVED = ["name", "Status", "size", "SET", "order", "values"]


class Writer:
    """Collects placeholders while an expression is written."""

    def __init__(self, r, table):
        self.r, self.table = r, table
        self.names, self.values = {}, {}

    def name(self, name):
        plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
        if plain and self.r.random() < 0.6:
            return name
        for known, target in self.names.items():
            if target == name:
                return known
        key = f"#n{len(self.names)}"
        self.names[key] = name
        return key

    def value(self, given):
        key = f":v{len(self.values)}"
        self.values[key] = given
        return key

    def top(self, keys=False):
        r = self.r
        pool = TOP + [name for name, _ in self.table.index_attributes()]
        if keys and r.random() < 0.15:
            pool = [name for name, _ in self.table.keys]
        return r.choice(pool)

    def path(self, keys=False):
        r = self.r
        top = self.top(keys)
        text = self.name(top)
        if top == "m" and r.random() < 0.8 or r.random() < 0.05:
            text += "." + self.name(r.choice(INNER))
            if r.random() < 0.2:
                text += r.choice([f"[{r.randint(0, 2)}]", "." + self.name(r.choice(INNER))])
        elif top == "l" and r.random() < 0.8:
            text += f"[{r.choice([0, 0, 1, 2, 5])}]"
            if r.random() < 0.2:
                text += "." + self.name(r.choice(INNER))
        return text, top

    # -- conditions

    def operand(self, keys=True):
        """A path, or now and then size of one; with a type that suits it."""
        path, top = self.path(keys)
        if self.r.random() < 0.12:
            return f"size({path})", "size"
        return path, top

    def suited(self, top):
        r = self.r
        if top == "size":
            return self.value({"N": r.choice(["0", "1", "2", "3"])})
        if r.random() < 0.05:
            return self.path()[0]
        if top in self.table.types and r.random() < 0.9:
            from values import key_value
            return self.value(key_value(r, self.table.types[top], top != "pk"))
        return self.value(attribute(r, top))

    def condition(self, depth=2):
        r = self.r
        if depth and r.random() < 0.45:
            form = r.choice(["AND", "OR", "NOT", "()", "AND", "and"])
            if form == "NOT":
                return f"NOT {self.group(depth - 1)}"
            if form == "()":
                return f"({self.condition(depth - 1)})"
            return f"{self.group(depth - 1)} {form} {self.group(depth - 1)}"
        form = r.choice(["cmp"] * 6 + ["between", "in", "exists", "not_exists", "type", "begins", "contains"])
        if form == "cmp":
            left, top = self.operand()
            right = self.suited(top)
            if r.random() < 0.1:
                left, right = right, left
            return f"{left} {r.choice(COMPARE)} {right}"
        if form == "between":
            left, top = self.operand()
            return f"{left} BETWEEN {self.suited(top)} AND {self.suited(top)}"
        if form == "in":
            left, top = self.operand()
            return f"{left} IN ({', '.join(self.suited(top) for _ in range(r.randint(1, 3)))})"
        if form == "exists":
            return f"attribute_exists({self.path(True)[0]})"
        if form == "not_exists":
            return f"attribute_not_exists({self.path(True)[0]})"
        if form == "type":
            kind = self.value({"S": r.choice(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"])})
            return f"attribute_type({self.path(True)[0]}, {kind})"
        path, top = self.path(True)
        if form == "begins":
            return f"begins_with({path}, {self.value(of_type(r, r.choice('SSSB')))})"
        return f"contains({path}, {self.value(of_type(r, r.choice(['S', 'S', 'N', 'B'])))})"

    def group(self, depth):
        text = self.condition(depth)
        return f"({text})" if " AND " in text or " OR " in text or self.r.random() < 0.1 else text

    # -- updates

    def update(self):
        r = self.r
        sections = r.sample(["SET", "SET", "REMOVE", "ADD", "DELETE"], r.choice([1, 1, 1, 2]))
        if sections.count("SET") > 1 and r.random() < 0.9:
            sections = ["SET"]
        taken, parts = set(), []
        for section in sections:
            actions = []
            for _ in range(r.choice([1, 1, 2, 3])):
                action = self.action(section, taken)
                if action:
                    actions.append(action)
            if actions:
                parts.append(f"{section if r.random() < 0.9 else section.lower()} {', '.join(actions)}")
        return " ".join(parts) or "REMOVE a"

    def action(self, section, taken):
        r = self.r
        if section in ("ADD", "DELETE"):
            top = r.choice(["b", "n1", "s1", "b1", "m"] if section == "ADD" else ["n1", "s1", "b1", "a"])
            if top in taken and r.random() < 0.9:
                return None
            taken.add(top)
            kind = {"b": "N", "n1": "NS", "s1": "SS", "b1": "BS", "m": "N", "a": "SS"}[top]
            if r.random() < 0.08:
                kind = r.choice(["N", "S", "SS", "L", "M", "BOOL", "NULL", "B"])
            path = self.name(top) + ("." + self.name("x") if top == "m" else "")
            return f"{path} {self.value(of_type(r, kind))}"
        path, top = self.path(keys=r.random() < 0.1)
        if top in taken and r.random() < 0.9:
            return None
        taken.add(top)
        if section == "REMOVE":
            return path
        if top in self.table.types and r.random() < 0.9:
            return f"{path} = {self.suited(top)}"
        form = r.choice(["value"] * 5 + ["path", "plus", "minus", "append", "absent", "group"])
        if form == "value":
            return f"{path} = {self.value(attribute(r, top))}"
        if form == "path":
            return f"{path} = {self.path()[0]}"
        if form in ("plus", "minus"):
            left = r.choice([self.name("b"), self.name("b"), self.path()[0]])
            if r.random() < 0.4:
                left = f"if_not_exists({left}, {self.value({'N': '5'})})"
            return f"{path} = {left} {'+' if form == 'plus' else '-'} {self.value(of_type(r, 'N' if r.random() < 0.95 else 'S'))}"
        if form == "append":
            pair = [r.choice([self.name("l"), path, f"if_not_exists({self.name('l')}, {self.value({'L': []})})"]), self.value(of_type(r, "L"))]
            r.shuffle(pair)
            return f"{path} = list_append({pair[0]}, {pair[1]})"
        if form == "absent":
            return f"{path} = if_not_exists({self.path()[0]}, {self.value(attribute(r, top))})"
        return f"{path} = ({self.value(attribute(r, top))})"

    # -- projections and keys

    def projection(self):
        r = self.r
        tops, paths = set(), []
        for _ in range(r.choice([1, 2, 3, 4])):
            path, top = self.path(True)
            if top not in tops or r.random() < 0.1:
                tops.add(top)
                paths.append(path)
        return ", ".join(paths)

    def key_condition(self, index):
        from values import key_value
        r = self.r
        keys = self.table.index_keys(index)
        equal = lambda name: f"{self.name(name)} = {self.value(key_value(r, self.table.types[name], name not in ('pk',)))}"
        parts = [equal(name) for name, kind in keys if kind == "HASH" and (name == keys[0][0] or r.random() < 0.97)]
        sort = [name for name, kind in keys if kind == "RANGE"]
        leading = r.randint(0, len(sort) - 1) if len(sort) > 1 else 0
        parts += [equal(name) for name in sort[:leading] if r.random() < 0.97]
        if sort and r.random() < 0.7:
            name = sort[leading]
            kind = self.table.types[name]
            operand = lambda: self.value(key_value(r, kind, True))
            form = r.choice(["=", "<", "<=", ">", ">=", "between", "begins"])
            if form == "between":
                low, high = key_value(r, kind, True), key_value(r, kind, True)
                if r.random() < 0.9:
                    order = (lambda v: float(v["N"])) if kind == "N" else (lambda v: str(v))
                    low, high = sorted([low, high], key=order)
                parts.append(f"{self.name(name)} BETWEEN {self.value(low)} AND {self.value(high)}")
            elif form == "begins":
                parts.append(f"begins_with({self.name(name)}, {operand()})")
            else:
                parts.append(f"{self.name(name)} {form} {operand()}")
            if r.random() < 0.15:
                parts.reverse()
        parts = [f"({part})" if r.random() < 0.05 else part for part in parts]
        return f" {r.choice(['AND', 'and'])} ".join(parts)

    def put_into(self, request):
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        if self.values:
            request["ExpressionAttributeValues"] = self.values


TOKEN = re.compile(r"[A-Za-z0-9_#:]+|<>|<=|>=|\s+|.")
EXTRA = ["AND", "OR", "NOT", "(", ")", ",", "=", "<", ".", "[0]", "[", "]", "IN", "BETWEEN", ":v0", ":vX", "#n0", "#nX", "a", "b", "size", "name", "SET",
         "REMOVE", "+", "-", "&", "!", "1", "attribute_exists", "(a)", "begins_with", "list_append", "foo(a)", "_x", "é", "a.b.c", "[1][2]", "contains"]


def broken(r, text):
    """The expression with one or two tokens dropped, doubled, swapped, replaced or added."""
    tokens = TOKEN.findall(text)
    for _ in range(r.choice([1, 1, 2])):
        if not tokens:
            break
        at = r.randrange(len(tokens))
        form = r.choice(["drop", "double", "swap", "replace", "add", "add", "case", "group"])
        if form == "drop":
            del tokens[at]
        elif form == "double":
            tokens.insert(at, tokens[at] + " ")
        elif form == "swap":
            other = r.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif form == "replace":
            tokens[at] = r.choice(EXTRA)
        elif form == "add":
            tokens.insert(at, f" {r.choice(EXTRA)} ")
        elif form == "case":
            tokens[at] = tokens[at].swapcase()
        else:
            return f"({text})" if r.random() < 0.5 else f"(({text}))"
    return "".join(tokens)
