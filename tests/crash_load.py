"""What `kill9.py` writes, and what must be there after a restart.

Every worker owns partitions that nobody else touches and keeps a model of them. Exactly one statement per worker can be in
doubt when the server dies, so after a restart a partition must equal the model before that statement or after it: nothing
lost, nothing half there, nothing deleted back. Registers are shared by all workers; their history is checked for
linearizability.
"""
import itertools
import threading

from linearizable import NEVER, Event, is_linearizable

SCHEMA = [
    "CREATE KEYSPACE IF NOT EXISTS crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE IF NOT EXISTS crash.rows (k int, c int, v text, tags set<int>, s int static, PRIMARY KEY (k, c))",
    "CREATE INDEX IF NOT EXISTS by_v ON crash.rows (v)",
    "CREATE INDEX IF NOT EXISTS by_tag ON crash.rows (tags)",
    "CREATE INDEX IF NOT EXISTS by_s ON crash.rows (s)",
    "CREATE MATERIALIZED VIEW IF NOT EXISTS crash.rows_by_v AS SELECT k, c, v, tags FROM crash.rows"
    " WHERE v IS NOT NULL AND k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, k, c)",
    "CREATE TABLE IF NOT EXISTS crash.left (id int PRIMARY KEY, v int)",
    "CREATE TABLE IF NOT EXISTS crash.right (id int PRIMARY KEY, v int)",
    "CREATE TABLE IF NOT EXISTS crash.claims (id int PRIMARY KEY, owner int)",
    "CREATE TABLE IF NOT EXISTS crash.counts (k int PRIMARY KEY, n counter)",
    "CREATE TABLE IF NOT EXISTS crash.registers (k int PRIMARY KEY, v int)",
]
STATEMENTS = {
    "insert": "INSERT INTO crash.rows (k, c, v, tags) VALUES (?, ?, ?, ?)",
    "update": "UPDATE crash.rows SET v = ? WHERE k = ? AND c = ?",
    "static": "UPDATE crash.rows SET s = ? WHERE k = ?",
    "add tag": "UPDATE crash.rows SET tags = tags + ? WHERE k = ? AND c = ?",
    "remove tag": "UPDATE crash.rows SET tags = tags - ? WHERE k = ? AND c = ?",
    "delete cell": "DELETE v FROM crash.rows WHERE k = ? AND c = ?",
    "delete row": "DELETE FROM crash.rows WHERE k = ? AND c = ?",
    "delete range": "DELETE FROM crash.rows WHERE k = ? AND c >= ? AND c < ?",
    "delete partition": "DELETE FROM crash.rows WHERE k = ?",
    "batch": "BEGIN BATCH INSERT INTO crash.left (id, v) VALUES (?, ?); INSERT INTO crash.right (id, v) VALUES (?, ?); APPLY BATCH",
    "move": "BEGIN BATCH DELETE FROM crash.left WHERE id = ?; INSERT INTO crash.right (id, v) VALUES (?, ?); APPLY BATCH",
    "claim": "INSERT INTO crash.claims (id, owner) VALUES (?, ?) IF NOT EXISTS",
    "release": "DELETE FROM crash.claims WHERE id = ? IF owner = ?",
    "count": "UPDATE crash.counts SET n = n + 1 WHERE k = ?",
    "swap": "UPDATE crash.registers SET v = ? WHERE k = ? IF v = ?",
    "read register": "SELECT v FROM crash.registers WHERE k = ?",
}
PARTITIONS = 4
REGISTERS = 3
# The checker's search is over sets of operations; a register is not used further in a round.
EVENTS_PER_REGISTER_MAX = 60


def check_projections(session):
    """For every value that rows have: what an index leads to is what reading everything finds; and the view has just the rows it should.
    What is wrong, and how many values were asked for."""
    rows = list(session.execute("SELECT k, c, v, tags, s FROM crash.rows"))
    asked = {
        "v = %s": {row.v: set() for row in rows if row.v is not None},
        "tags CONTAINS %s": {tag: set() for row in rows for tag in row.tags or ()},
        "s = %s": {row.s: set() for row in rows if row.s is not None},
    }
    for row in rows:
        place = (row.k, row.c)
        if row.v is not None:
            asked["v = %s"][row.v].add(place)
        for tag in row.tags or ():
            asked["tags CONTAINS %s"][tag].add(place)
        if row.s is not None:
            asked["s = %s"][row.s].add(place)
    problems = []
    plain = lambda rows: {(row.v, row.k, row.c, frozenset(row.tags or ())) for row in rows if row.v is not None}
    view = list(session.execute("SELECT k, c, v, tags FROM crash.rows_by_v"))
    if len(view) != len(plain(view)) or plain(view) != plain(rows):
        problems.append(f"view: only here {sorted(plain(view) - plain(rows), key=str)[:3]}, missing {sorted(plain(rows) - plain(view), key=str)[:3]}")
    for relation, values in asked.items():
        for value, expected in values.items():
            found = [(row.k, row.c) for row in session.execute(f"SELECT k, c FROM crash.rows WHERE {relation}", (value,))]
            if len(found) != len(expected) or set(found) != expected:
                problems.append(f"index, {relation} {value!r}: found {sorted(found)}, expected {sorted(expected)}")
    return problems[:3], sum(map(len, asked.values()))


class Doubt(Exception):
    """The answer never came."""


class Worker:
    """One thread's partitions, batches, claims and counter, with what it knows of them."""

    def __init__(self, number):
        self.number = number
        self.partitions = {number * 100 + i: {} for i in range(PARTITIONS)}
        self.statics = {k: None for k in self.partitions}
        self.in_doubt = None  # (what, key, state after)
        self.pairs, self.claims = {}, {}
        self.counted, self.maybe_counted = 0, 0
        self.ids = itertools.count(number * 1_000_000)
        self.done = dict.fromkeys(STATEMENTS, 0)

    def run(self, session, statements, registers, stop, rng):
        try:
            while not stop.is_set():
                self.step(session, statements, registers, rng)
        except Doubt:
            pass

    def send(self, session, statements, kind, values):
        try:
            answer = session.execute(statements[kind], values)
            self.done[kind] += 1
            return answer
        except Exception as error:
            raise Doubt() from error

    def step(self, session, statements, registers, rng):
        send = lambda kind, *values: self.send(session, statements, kind, values)
        choice = rng.random()
        if choice < 0.5:
            self.change_rows(send, rng)
        elif choice < 0.65:
            self.batch(send, rng)
        elif choice < 0.75:
            self.claim(send, rng)
        elif choice < 0.85:
            self.maybe_counted = 1
            send("count", self.number)
            self.counted, self.maybe_counted = self.counted + 1, 0
        else:
            registers.use(self, send, rng)

    def change_rows(self, send, rng):
        k, c = rng.choice(list(self.partitions)), rng.randrange(40)
        rows = {c: dict(row) for c, row in self.partitions[k].items()}
        static = self.statics[k]
        kind = rng.choices(["insert", "update", "static", "add tag", "remove tag", "delete cell", "delete row", "delete range",
                            "delete partition"], [30, 10, 5, 8, 5, 6, 8, 4, 1])[0]
        if kind == "insert":
            row = {"v": "x" * rng.randrange(300), "tags": frozenset(rng.sample(range(9), 2)), "marker": True}
            rows[c], values = row, (k, c, row["v"], set(row["tags"]))
        elif kind == "update":
            text = "u" * rng.randrange(1, 50)
            rows.setdefault(c, {})["v"] = text
            values = (text, k, c)
        elif kind == "static":
            static = rng.randrange(1000)
            values = (static, k)
        elif kind == "add tag":
            row = rows.setdefault(c, {})
            tag = rng.randrange(9)
            row["tags"] = row.get("tags", frozenset()) | {tag}
            values = ({tag}, k, c)
        elif kind == "remove tag":
            tag = rng.randrange(9)
            if c in rows:
                rows[c]["tags"] = rows[c].get("tags", frozenset()) - {tag}
            values = ({tag}, k, c)
        elif kind == "delete cell":
            rows.get(c, {}).pop("v", None)
            values = (k, c)
        elif kind == "delete row":
            rows.pop(c, None)
            values = (k, c)
        elif kind == "delete range":
            end = c + rng.randrange(8)
            rows = {c2: row for c2, row in rows.items() if not c <= c2 < end}
            values = (k, c, end)
        else:
            rows, static, values = {}, None, (k,)
        # A row without a marker is there as long as one of its cells is.
        rows = {c: row for c, row in rows.items() if row.get("marker") or row.get("v") is not None or row.get("tags")}
        self.in_doubt = ("rows", k, (rows, static))
        send(kind, *values)
        self.partitions[k], self.statics[k] = rows, static
        self.in_doubt = None

    def batch(self, send, rng):
        """A pair appears in both tables at once, or moves from one to the other."""
        both = [i for i, state in self.pairs.items() if state == "both"]
        if both and rng.random() < 0.4:
            i, state = rng.choice(both), "right"
            values = (i, i, i + 1)
        else:
            i, state = next(self.ids), "both"
            values = (i, i, i, i)
        self.in_doubt = ("pair", i, state)
        send("move" if state == "right" else "batch", *values)
        self.pairs[i], self.in_doubt = state, None

    def claim(self, send, rng):
        held = [i for i, owner in self.claims.items() if owner is not None]
        if held and rng.random() < 0.4:
            i, owner = rng.choice(held), None
            self.in_doubt = ("claim", i, None)
            answer = send("release", i, self.number)
        else:
            i, owner = next(self.ids), self.number
            self.in_doubt = ("claim", i, owner)
            answer = send("claim", i, owner)
        assert answer.one().applied, f"claim {i}: refused although only this worker touches it"
        self.claims[i], self.in_doubt = owner, None

    def check(self, session):
        """What is wrong; afterwards the model is what was found."""
        problems = []
        doubt, self.in_doubt = self.in_doubt or (None, None, None), None
        for k, rows in self.partitions.items():
            found, static = {}, None
            for row in session.execute("SELECT c, v, tags, s FROM crash.rows WHERE k = %s", (k,)):
                static = row.s
                if row.c is not None:
                    found[row.c] = (row.v, frozenset(row.tags or ()))
            plain = lambda rows: {c: (row.get("v"), row.get("tags", frozenset())) for c, row in rows.items()}
            before, after = (rows, self.statics[k]), doubt[2] if doubt[:2] == ("rows", k) else None
            if after and (found, static) == (plain(after[0]), after[1]):
                self.partitions[k], self.statics[k] = after
            elif (found, static) != (plain(before[0]), before[1]):
                odd = {c: (found.get(c), plain(rows).get(c)) for c in {*found, *rows} if found.get(c) != plain(rows).get(c)}
                problems.append(f"partition {k}: found and expected differ at {odd}, static {static} {self.statics[k]}, in doubt {doubt}")
        problems += self.check_pairs(session, doubt) + self.check_claims(session, doubt) + self.check_count(session)
        return problems

    def mine(self, ids):
        return [i for i in ids if self.number * 1_000_000 <= i < (self.number + 1) * 1_000_000]

    def check_pairs(self, session, doubt):
        left = {r.id: r.v for r in session.execute("SELECT id, v FROM crash.left")}
        right = {r.id: r.v for r in session.execute("SELECT id, v FROM crash.right")}
        found = {}
        for i in self.mine({*left, *right}):
            whole = {(i, i): "both", (None, i + 1): "right"}
            found[i] = whole.get((left.get(i), right.get(i)), f"half: {left.get(i)} {right.get(i)}")
        return self.compare("pair", found, self.pairs, doubt)

    def check_claims(self, session, doubt):
        found = {r.id: r.owner for r in session.execute("SELECT id, owner FROM crash.claims")}
        found = {i: found[i] for i in self.mine(found)}
        expected = {i: owner for i, owner in self.claims.items() if owner is not None}
        return self.compare("claim", found, expected, doubt)

    def compare(self, what, found, expected, doubt):
        odd = {i for i in {*found, *expected} if found.get(i) != expected.get(i)}
        if doubt[0] == what and found.get(doubt[1]) == doubt[2]:
            odd.discard(doubt[1])
            (self.pairs if what == "pair" else self.claims)[doubt[1]] = doubt[2]
        return [f"{what} {i}: found {found.get(i)}, expected {expected.get(i)}, in doubt {doubt}" for i in sorted(odd)[:3]]

    def check_count(self, session):
        row = session.execute("SELECT n FROM crash.counts WHERE k = %s", (self.number,)).one()
        found = row.n if row else 0
        allowed = {self.counted, self.counted + self.maybe_counted}
        problem = [] if found in allowed else [f"counter {self.number}: found {found}, acknowledged {self.counted}, in doubt {self.maybe_counted}"]
        self.counted, self.maybe_counted = found, 0
        return problem


class Registers:
    """Compare-and-set registers that all workers fight for, and the history of what they saw."""

    def __init__(self, round_number):
        self.keys = [round_number * REGISTERS + i for i in range(REGISTERS)]
        self.events = {k: [] for k in self.keys}
        self.known = {k: None for k in self.keys}
        self.clock, self.lock = itertools.count(), threading.Lock()

    def tick(self):
        with self.lock:
            return next(self.clock)

    def use(self, worker, send, rng):
        k = rng.choice(self.keys)
        if len(self.events[k]) >= EVENTS_PER_REGISTER_MAX:
            return
        begin = self.tick()
        if rng.random() < 0.3:
            row = send("read register", k).one()
            seen = row.v if row else None
            self.record(k, Event("read", None, seen, begin, self.tick()), seen)
            return
        expected, new = self.known[k], next(worker.ids)
        try:
            answer = send("swap", new, k, expected).one()
        except Doubt:
            self.record(k, Event("lost", expected, new, begin, NEVER), expected)
            raise
        if answer.applied:
            self.record(k, Event("won", expected, new, begin, self.tick()), new)
        else:
            current = getattr(answer, "v", None)
            self.record(k, Event("refused", expected, current, begin, self.tick()), current)

    def record(self, k, event, known):
        with self.lock:
            self.events[k].append(event)
            self.known[k] = known

    def check(self, session):
        """Reads every register once more, then looks for an order that explains it all."""
        problems = []
        for k in self.keys:
            begin = self.tick()
            row = session.execute("SELECT v FROM crash.registers WHERE k = %s", (k,)).one()
            events = [*self.events[k], Event("read", None, row.v if row else None, begin, self.tick())]
            if not is_linearizable(events):
                problems.append(f"register {k} is not linearizable: {events}")
        return problems, sum(map(len, self.events.values()))
