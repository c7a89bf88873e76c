"""A database moves between the embedded server and a real Cassandra while it is written, both ways, and back once.

Run by `./test cluster` inside the Python driver's environment: `migrate.py BINARY [SECONDS]`. For each direction: the source has rows;
a front end of both goes before it; `partita migrate run` works; clients write through the front end all the time (inserts, updates
with TTL, every kind of deletion, batches, conditional writes, sets, maps, lists, statics, counters), and know what they were told is
done. Every few seconds the front end or the worker is killed with -9. Then: cut over, roll back, cut over, each under load. At the end
both sides must have equal sums, what clients were told, and expiries within a second.
Prints what it saw and, last, `N passed, N failed`. `SEED=n` repeats the choices.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import ConstantReconnectionPolicy, FallthroughRetryPolicy, RoundRobinPolicy

from crash_load import SCHEMA, STATEMENTS, Doubt, Worker

HERE = Path(__file__).resolve().parent
NODE = HERE.parent / "conformance" / "cassandra" / "node"
WORKERS = 3
KILL_EVERY = 10
# The worker's own rows, the front end's too: views and indexes are made by the migration, and tested elsewhere.
TABLES = [text for text in SCHEMA if " INDEX " not in text and " VIEW " not in text]
MORE = [
    "CREATE TABLE IF NOT EXISTS crash.more (k int, c int, l list<int>, m map<text, int>, t text, PRIMARY KEY (k, c))",
    "CREATE TABLE IF NOT EXISTS crash.cas (k int PRIMARY KEY, v int)",
]
MORE_STATEMENTS = {
    "set list": "UPDATE crash.more SET l = ? WHERE k = ? AND c = ?",
    "append": "UPDATE crash.more SET l = l + ? WHERE k = ? AND c = ?",
    "prepend": "UPDATE crash.more SET l = ? + l WHERE k = ? AND c = ?",
    "discard": "UPDATE crash.more SET l = l - ? WHERE k = ? AND c = ?",
    "put": "UPDATE crash.more SET m[?] = ? WHERE k = ? AND c = ?",
    "expiring": "INSERT INTO crash.more (k, c, t) VALUES (?, ?, ?) USING TTL 3600",
    "forget": "DELETE FROM crash.more WHERE k = ? AND c = ?",
    "cas": "UPDATE crash.cas SET v = ? WHERE k = 1 IF v = ?",
}


class Mover(Worker):
    """Also lists, maps, values that expire, and one register that everybody raises."""

    def __init__(self, number):
        super().__init__(number)
        self.more = {}
        self.raised, self.perhaps, self.seen = 0, 0, None
        self.done.update(dict.fromkeys(MORE_STATEMENTS, 0))
        self.doubts = 0

    def step(self, session, statements, registers, rng):
        send = lambda kind, *values: self.send(session, statements, kind, values)
        choice = rng.random()
        if choice < 0.35:
            self.change_more(send, rng)
        elif choice < 0.4:
            self.raise_register(send)
        else:
            # Registers of the crash test are another's business.
            super().step(session, statements, self, rng)
        time.sleep(0.002)

    def use(self, _, send, rng):
        self.change_more(send, rng)

    def change_more(self, send, rng):
        k, c = self.number * 10 + rng.randrange(3), rng.randrange(8)
        row = {name: value.copy() if hasattr(value, "copy") else value for name, value in self.more.get((k, c), {}).items()}
        kind = rng.choice(["set list", "append", "append", "prepend", "discard", "put", "expiring", "forget"])
        n = rng.randrange(100)
        values = (n, k, c)
        if kind == "set list":
            row["l"], values = [n, n + 1], ([n, n + 1], k, c)
        elif kind == "append":
            row["l"], values = row.get("l", []) + [n], ([n], k, c)
        elif kind == "prepend":
            row["l"], values = [n] + row.get("l", []), ([n], k, c)
        elif kind == "discard":
            gone = row.get("l", [n])[:1] or [n]
            row["l"], values = [x for x in row.get("l", []) if x not in gone], (gone, k, c)
        elif kind == "put":
            row.setdefault("m", {})[f"x{n % 5}"] = n
            values = (f"x{n % 5}", n, k, c)
        elif kind == "expiring":
            row["t"], values = f"t{n}", (k, c, f"t{n}")
        else:
            row, values = {}, (k, c)
        self.in_doubt = ("more", (k, c), row)
        send(kind, *values)
        self.more[(k, c)], self.in_doubt = row, None

    def raise_register(self, send):
        new = (self.seen or 0) + 1
        self.in_doubt = ("cas", None, None)
        self.perhaps += 1
        answer = send("cas", new, self.seen).one()
        self.in_doubt = None
        self.perhaps -= 1
        if answer.applied:
            self.raised, self.seen = self.raised + 1, new
        else:
            self.seen = getattr(answer, "v", None)

    def check(self, session):
        doubt = self.in_doubt or (None, None, None)
        problems = super().check(session)
        found = {}
        for row in session.execute("SELECT k, c, l, m, t FROM crash.more"):
            if row.k // 10 == self.number:
                found[(row.k, row.c)] = (list(row.l or ()), dict(row.m or {}), row.t)
        plain = lambda row: (row.get("l", []), row.get("m", {}), row.get("t"))
        for key in {*found, *self.more}:
            is_there, expected = found.get(key, ([], {}, None)), plain(self.more.get(key, {}))
            if is_there == expected:
                continue
            if doubt[:2] == ("more", key) and is_there == plain(doubt[2]):
                self.more[key] = doubt[2]
                continue
            problems.append(f"more {key}: found {is_there}, expected {expected}, in doubt {doubt}")
        return problems


def connect(port, address="127.0.0.1"):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy(), request_timeout=15)
    cluster = Cluster([address], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
                      reconnection_policy=ConstantReconnectionPolicy(0.5, max_attempts=None))
    return cluster, cluster.connect()


def patiently(what, act, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except Exception as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"{what}: {error}") from error
            time.sleep(0.2)


class Load:
    """Workers that go on after a lost answer, once they know what came of it."""

    def __init__(self, port, rng):
        self.port, self.stop, self.problems = port, threading.Event(), []
        self.movers = [Mover(number) for number in range(1, WORKERS + 1)]
        self.threads = [threading.Thread(target=self.work, args=(mover, random.Random(rng.random()))) for mover in self.movers]
        for thread in self.threads:
            thread.start()

    def work(self, mover, rng):
        try:
            while not self.stop.is_set():
                cluster, session = patiently("the front end does not come back", lambda: connect(self.port))
                try:
                    prepared = {kind: session.prepare(text) for kind, text in {**STATEMENTS, **MORE_STATEMENTS}.items()}
                    # What was under way must have come to rest.
                    time.sleep(1)
                    self.problems += mover.check(session)
                    while not self.stop.is_set():
                        mover.step(session, prepared, None, rng)
                except Doubt:
                    mover.doubts += 1
                except Exception as error:
                    mover.doubts += 1
                    print(f"worker {mover.number}: {type(error).__name__}: {error}", flush=True)
                finally:
                    cluster.shutdown()
        except BaseException as error:
            self.problems.append(f"worker {mover.number} ended: {error!r}")

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


class Process:
    """A process of ours, started again with the same words when it was killed."""

    def __init__(self, words, log, waits_for=None):
        self.words, self.log, self.waits_for = [str(word) for word in words], log, waits_for
        self.child = None

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(self.words, stdout=subprocess.PIPE if self.waits_for else log, stderr=log, text=bool(self.waits_for))
        if self.waits_for:
            for line in self.child.stdout:
                if line.startswith(self.waits_for):
                    threading.Thread(target=self.child.stdout.read, daemon=True).start()
                    return int(line.rsplit(":", 1)[1])
            raise SystemExit(f"{self.words[1]} did not start:\n{Path(self.log).read_text()[-3000:]}")
        return None

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()


def tables():
    return [part for name in ("rows", "left", "right", "claims", "counts", "more", "cas") for part in ("--table", f"crash.{name}")]


def migrate(binary, *words, check=True):
    done = subprocess.run([binary, "migrate", *map(str, words)], capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"migrate {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expiries(port):
    cluster, session = connect(port)
    now = time.time()
    found = {(row.k, row.c): now + row.ttl for row in session.execute("SELECT k, c, ttl(t) AS ttl FROM crash.more") if row.ttl}
    cluster.shutdown()
    return found


def is_verified(binary, state):
    return "verified: everything was equal" in migrate(binary, "status", "--state", state, check=False)


def one_direction(binary, base, name, source, target, seconds, rng):
    """What is wrong, and what was seen."""
    state = base / f"state-{name}"
    front = Process([binary, "serve", "--engine", f"cassandra://127.0.0.1:{source}", "--cluster-writes", "--mirror", f"cassandra://127.0.0.1:{target}",
                     "--mirror-state", state, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log", "warn"], base / f"front-{name}.log", "listening cql")
    port = front.start()
    front.words[front.words.index("--cql") + 1] = f"127.0.0.1:{port}"
    worker = Process([binary, "migrate", "run", "--state", state, "--from", f"127.0.0.1:{source}", "--to", f"127.0.0.1:{target}", "--keyspace", "crash",
                      "--connections", "2"], base / f"worker-{name}.log")
    problems, kills = [], {"front": 0, "worker": 0}
    load = Load(port, rng)

    def disturb(turn):
        which = "front" if turn % 2 == 0 else "worker"
        {"front": front, "worker": worker}[which].kill()
        kills[which] += 1
        time.sleep(0.5)
        {"front": front, "worker": worker}[which].start()

    def verified(what):
        deadline = time.monotonic() + 180
        while not is_verified(binary, state):
            if time.monotonic() > deadline:
                raise SystemExit(f"{what}: not verified:\n{migrate(binary, 'status', '--state', state, check=False)}\n{Path(worker.log).read_text()[-3000:]}")
            time.sleep(0.5)

    try:
        time.sleep(2)
        worker.start()
        for turn in range(max(2, seconds // KILL_EVERY)):
            time.sleep(KILL_EVERY)
            disturb(turn)
        for order in ("cut-over", "roll-back", "cut-over"):
            verified(order)
            told = migrate(binary, order, "--state", state, check=False)
            if "answers since now" not in told:
                verified(order)
                told = migrate(binary, order, "--state", state)
            print(f"{name}: {told.strip().splitlines()[-1]}", flush=True)
            time.sleep(3)
            disturb(len(order))
        load.end()
        verified("the end")
        # Counters are brought over when one turns; and every key is at rest.
        migrate(binary, "roll-back", "--state", state)
        same = migrate(binary, "--once", "--from", f"127.0.0.1:{source}", "--to", f"127.0.0.1:{target}", *tables(), "--verify-only", "--live", check=False)
        if "are the same on both sides" not in same:
            problems.append(f"sums: {same}")
        for side, at in (("source", source), ("target", target)):
            cluster, session = connect(at)
            for mover in load.movers:
                problems += [f"{side}: {problem}" for problem in mover.check(session)]
            raised, perhaps = sum(mover.raised for mover in load.movers), sum(mover.perhaps for mover in load.movers)
            row = session.execute("SELECT v FROM crash.cas WHERE k = 1").one()
            if not raised <= (row.v if row else 0) <= raised + perhaps:
                problems.append(f"{side}: register {row}, raised {raised}, perhaps {perhaps}")
            cluster.shutdown()
        ours, theirs = expiries(source), expiries(target)
        apart = {key: abs(ours[key] - theirs.get(key, 0)) for key in ours}
        worst = max(apart.values(), default=0)
        if ours.keys() != theirs.keys() or worst > 1.5:
            problems.append(f"expiries: {len(ours)} and {len(theirs)}, apart by up to {worst:.1f} s")
        print(migrate(binary, "status", "--state", state), flush=True)
        migrate(binary, "finish", "--state", state)
        worker.child.wait(timeout=30)
    except SystemExit:
        print(f"{migrate(binary, 'status', '--state', state, check=False)}\n{(state / 'marks').read_text()[-1500:]}\nworker: {worker.child.poll()}", flush=True)
        raise
    finally:
        load.stop.set()
        for process in (front, worker):
            if process.child and process.child.poll() is None:
                process.kill()
    done = {}
    for mover in load.movers:
        for kind, count in mover.done.items():
            done[kind] = done.get(kind, 0) + count
    problems += load.problems
    missing = [kind for kind in (*MORE_STATEMENTS, "insert", "delete range", "claim", "count", "batch") if not done.get(kind)]
    if missing:
        problems.append(f"never acknowledged: {missing}")
    print(f"{name}: {sum(done.values())} statements acknowledged, {sum(mover.doubts for mover in load.movers)} times in doubt, killed {kills}, "
          f"{len(ours)} expiries apart by up to {worst:.1f} s", flush=True)
    return problems


def main(binary, seconds):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"seed {seed}", flush=True)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="partita-migrate-") as base:
        base = Path(base)
        node = base / "node"
        told = subprocess.run([sys.executable, NODE, "start", "--dir", node, "--port", "0", "--fresh", "--heap", "512M"], capture_output=True, text=True)
        if told.returncode:
            raise SystemExit(f"Cassandra did not start: {told.stderr}")
        cassandra = int(told.stdout.strip().rsplit(":", 1)[1])
        try:
            for name in ("to-partita", "to-cassandra"):
                server = Process([binary, "serve", "--data", base / f"data-{name}", "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--no-dynamo",
                                  "--no-shard-aware", "--log", "warn"], base / f"server-{name}.log", "listening cql")
                embedded = server.start()
                source, target = (cassandra, embedded) if name == "to-partita" else (embedded, cassandra)
                for port, statements in ((cassandra, ["DROP KEYSPACE IF EXISTS crash"]), (source, TABLES + MORE)):
                    cluster, session = connect(port)
                    for statement in statements:
                        session.execute(statement, timeout=60)
                    cluster.shutdown()
                try:
                    problems = one_direction(binary, base, name, source, target, seconds, rng)
                finally:
                    server.child.send_signal(signal.SIGTERM)
                    server.child.wait(timeout=60)
                for problem in problems[:10]:
                    print(f"FAIL {name}: {problem}", flush=True)
                passed, failed = passed + (not problems), failed + bool(problems)
        except SystemExit as error:
            print(f"FAIL: {error}")
            failed += 1
            for log in sorted(base.glob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-2500:]}", flush=True)
        finally:
            subprocess.run([sys.executable, NODE, "stop", "--dir", node, "--kill"], stdout=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30))
