"""Front ends before a ring of three real Cassandra nodes: scenarios, a driver, then faults under load at QUORUM.

Run by `./test cluster` inside the Python driver's environment: `ring.py BINARY CONFORMANCE [all]`. The recorded scenarios are asked
through a front end (without `all` only those of SCENARIOS: a schema change takes a second here), then the Python driver's own checks,
then random statements beside the embedded engine. Then clients write through two front ends (inserts, a register of their own that
grows, one that all raise by conditions) while each node is killed with -9 and stopped for 15 s in turn, and one front end is killed.
What was acknowledged must be there; the register lies between what was acknowledged and that plus what nobody knows.
The last line is `N passed, N failed`. `STEPS=faults` runs parts.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cassandra import ConsistencyLevel
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import FallthroughRetryPolicy, RoundRobinPolicy

from ring_nodes import Ring

REPO = Path(__file__).resolve().parent.parent
SCENARIOS = ["batches.txt", "conditions.txt", "seed-000.txt", "old-writes.txt"]
WORKERS = 6
PAUSED_SECONDS = 15


class Front:
    """A front end of the ring."""

    def __init__(self, binary, contact, log):
        self.child = subprocess.Popen([binary, "serve", "--engine", f"cassandra://{contact}", "--cluster-writes", "--cql", "127.0.0.1:0",
                                       "--http", "127.0.0.1:0", "--log", "warn"], stdout=subprocess.PIPE, stderr=open(log, "ab"), text=True)
        for line in self.child.stdout:
            if line.startswith("listening cql"):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise SystemExit(f"the front end did not start: {Path(log).read_text()[-2000:]}")

    def end(self, how=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(how)
            self.child.wait(timeout=60)


def connect(port):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy(), request_timeout=20,
                               consistency_level=ConsistencyLevel.QUORUM, serial_consistency_level=ConsistencyLevel.SERIAL)
    cluster = Cluster(["127.0.0.1"], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    try:
        return cluster, cluster.connect()
    except Exception:
        cluster.shutdown()
        raise


class Writer(threading.Thread):
    """Writes through one front end, and through the other when that is gone; notes what it was told."""

    def __init__(self, number, ports, stop):
        super().__init__()
        self.number, self.ports, self.stop = number, ports, stop
        self.inserted, self.perhaps, self.told, self.tried = set(), set(), 0, 0
        self.raised, self.raised_perhaps, self.seen = 0, 0, 0
        self.errors = {}

    def run(self):
        turn = self.number
        while not self.stop.is_set():
            turn += 1
            try:
                cluster, session = connect(self.ports[turn % len(self.ports)])
            except Exception:
                time.sleep(0.2)
                continue
            try:
                self.write(session)
            except Exception as error:
                name = type(error).__name__
                self.errors[name] = self.errors.get(name, 0) + 1
            finally:
                cluster.shutdown()

    def write(self, session):
        insert = session.prepare("INSERT INTO ring.rows (k, c, v) VALUES (?, ?, ?)")
        own = session.prepare("UPDATE ring.own SET v = ? WHERE k = ?")
        cas = session.prepare("UPDATE ring.cas SET v = ? WHERE k = 1 IF v = ?")
        while not self.stop.is_set():
            n = len(self.inserted) + len(self.perhaps)
            self.perhaps.add(n)
            session.execute(insert, (self.number, n, f"v{n}"))
            self.perhaps.discard(n)
            self.inserted.add(n)
            self.tried = max(self.told, self.tried) + 1
            session.execute(own, (self.tried, self.number))
            self.told = self.tried
            if n % 10 == self.number:
                self.raised_perhaps += 1
                answer = session.execute(cas, (self.seen + 1, self.seen)).one()
                self.raised_perhaps -= 1
                if answer.applied:
                    self.raised, self.seen = self.raised + 1, self.seen + 1
                else:
                    self.seen = answer.v


def check(session, writers):
    problems = []
    for writer in writers:
        found = {row.c for row in session.execute("SELECT c FROM ring.rows WHERE k = %s", (writer.number,))}
        lost, made_up = writer.inserted - found, found - writer.inserted - writer.perhaps
        if lost or made_up:
            problems.append(f"writer {writer.number}: lost {sorted(lost)[:5]}, made up {sorted(made_up)[:5]}")
        row = session.execute("SELECT v FROM ring.own WHERE k = %s", (writer.number,)).one()
        if not writer.told <= (row.v if row else 0) <= writer.tried:
            problems.append(f"writer {writer.number}: register {row}, told {writer.told}, tried {writer.tried}")
    value = session.execute("SELECT v FROM ring.cas WHERE k = 1").one().v
    raised, perhaps = sum(w.raised for w in writers), sum(w.raised_perhaps for w in writers)
    if not raised <= value <= raised + perhaps:
        problems.append(f"conditional register: {value}, acknowledged {raised}, unknown {perhaps}")
    return problems, (raised, value, perhaps)


def faults(binary, ring, base):
    fronts = [Front(binary, ring.contact, base / f"front{n}.log") for n in range(2)]
    stop = threading.Event()
    try:
        cluster, session = connect(fronts[0].port)
        for statement in ("DROP KEYSPACE IF EXISTS ring",
                          "CREATE KEYSPACE ring WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
                          "CREATE TABLE ring.rows (k int, c int, v text, PRIMARY KEY (k, c))",
                          "CREATE TABLE ring.own (k int PRIMARY KEY, v int)", "CREATE TABLE ring.cas (k int PRIMARY KEY, v int)",
                          "INSERT INTO ring.cas (k, v) VALUES (1, 0)"):
            session.execute(statement, timeout=60)
        cluster.shutdown()
        ports = [front.port for front in fronts]
        writers = [Writer(n, ports, stop) for n in range(WORKERS)]
        for writer in writers:
            writer.start()
        so_far = lambda: sum(len(writer.inserted) for writer in writers)
        for n in range(3):
            before = so_far()
            time.sleep(3)
            ring.kill(n)
            time.sleep(5)
            ring.start(n)
            middle = so_far()
            time.sleep(5)
            ring.pause(n)
            time.sleep(PAUSED_SECONDS)
            ring.resume(n)
            print(f"node {n + 1}: {middle - before} rows while it was killed, {so_far() - middle} while it was stopped", flush=True)
        fronts[1].end(signal.SIGKILL)
        before = so_far()
        time.sleep(5)
        print(f"one front end killed: {so_far() - before} rows through the other", flush=True)
        stop.set()
        for writer in writers:
            writer.join()
        time.sleep(5)
        cluster, session = connect(fronts[0].port)
        problems, register = check(session, writers)
        cluster.shutdown()
        unknown = sum(len(writer.perhaps) for writer in writers)
        errors = {}
        for writer in writers:
            for name, count in writer.errors.items():
                errors[name] = errors.get(name, 0) + count
        print(f"{so_far()} rows acknowledged, {unknown} not known; conditional register {register[1]}, acknowledged {register[0]}, unknown {register[2]}; {errors}")
        if so_far() < 500:
            problems.append("hardly anything was written")
        return problems
    finally:
        stop.set()
        for front in fronts:
            front.end()


def counts(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 1)


# Checks of the driver's that a Cassandra cannot pass: what they are about is Partita's own.
OWN_CHECKS = ("buckets:",)


def command(words, log):
    with open(log, "w") as out:
        subprocess.run([str(word) for word in words], stdout=out, stderr=subprocess.STDOUT, cwd=REPO)
    text = Path(log).read_text()
    passed, failed = counts(text)
    failed -= sum(name.startswith(OWN_CHECKS) for name in re.findall(r"^  python: FAIL (.*)$", text, re.M))
    if failed:
        print(text[-6000:], flush=True)
    print(f"{Path(log).stem}: {passed} passed, {failed} failed", flush=True)
    return passed, failed


def main(binary, conformance, everything):
    steps = os.environ.get("STEPS", "scenarios,driver,random,faults").split(",")
    passed = failed = 0
    logs = Path(os.environ.get("LOGS") or tempfile.mkdtemp(prefix="partita-ring-logs-"))
    print(f"logs are in {logs}", flush=True)
    with tempfile.TemporaryDirectory(prefix="partita-ring-") as base, Ring(base) as ring:
        base = Path(base)
        if set(steps) - {"faults"}:
            front = Front(binary, ring.contact, base / "front.log")
            try:
                commands = []
                if "scenarios" in steps:
                    for only in [[]] if everything else [["--only", name] for name in SCENARIOS]:
                        words = [conformance, "record", "--check", "--port", front.port, "--except", "conformance/known-ring.txt", *only]
                        commands.append((words, "scenarios-" + "".join(only[1:]) ))
                if "driver" in steps:
                    commands.append(([sys.executable, "drivers/run", "--only", "python", "--host", "127.0.0.1", "--port", front.port, "--target", "cassandra"], "driver"))
                for words, name in commands:
                    p, f = command(words, logs / f"{name}.log")
                    passed, failed = passed + p, failed + f
            finally:
                front.end()
        if "faults" in steps:
            problems = faults(binary, ring, base)
            for problem in problems:
                print(f"FAIL faults: {problem}")
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], "all" in sys.argv[3:]))
