"""kill -9 under load: the real binary, a real driver, acknowledged writes checked after every restart.

Run by `./test crash` inside the Python driver's environment: `kill9.py BINARY ROUNDS`. Each round starts the server on the
same folder, checks everything acknowledged so far, writes from several threads (plain inserts, logged batches over two
tables, conditional inserts, deletes), and kills the server at a random moment. Prints one line per round and, last,
`N passed, N failed`.
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import FallthroughRetryPolicy, RoundRobinPolicy

BINARY, ROUNDS = sys.argv[1], int(sys.argv[2])
SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))
KEYSPACE = "CREATE KEYSPACE IF NOT EXISTS crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
TABLES = [
    "CREATE TABLE IF NOT EXISTS crash.rows (k int, c int, v text, PRIMARY KEY (k, c))",
    "CREATE TABLE IF NOT EXISTS crash.left (id int PRIMARY KEY, v int)",
    "CREATE TABLE IF NOT EXISTS crash.right (id int PRIMARY KEY, v int)",
    "CREATE TABLE IF NOT EXISTS crash.claims (id int PRIMARY KEY, owner int)",
]


def start(folder):
    server = subprocess.Popen(
        [BINARY, "serve", "--data", folder, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memtable-mib", "2", "--log", "warn"],
        stdout=subprocess.PIPE, stderr=open(folder + ".err", "ab"), text=True)
    for line in server.stdout:
        found = re.match(r"listening cql 127\.0\.0\.1:(\d+)", line)
        if found:
            return server, int(found.group(1))
    raise SystemExit(f"the server did not start; see {folder}.err")


def connect(port):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy(), request_timeout=10)
    cluster = Cluster(["127.0.0.1"], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    return cluster, cluster.connect()


class Ledger:
    """What was acknowledged. A write whose answer never came may or may not be there."""

    def __init__(self):
        self.rows, self.deleted, self.pairs, self.claims = {}, set(), set(), {}
        self.next_id = 0
        self.lock = threading.Lock()

    def fresh(self):
        with self.lock:
            self.next_id += 1
            return self.next_id


def prepare(session):
    return [
        session.prepare("INSERT INTO crash.rows (k, c, v) VALUES (?, ?, ?)"),
        session.prepare("DELETE FROM crash.rows WHERE k = ? AND c = ?"),
        session.prepare("BEGIN BATCH INSERT INTO crash.left (id, v) VALUES (?, ?); INSERT INTO crash.right (id, v) VALUES (?, ?); APPLY BATCH"),
        session.prepare("INSERT INTO crash.claims (id, owner) VALUES (?, ?) IF NOT EXISTS"),
    ]


def write(session, ledger, stop, rng):
    try:
        statements = prepare(session)
    except Exception:
        # Killed before the first write.
        return
    insert, delete, pair, claim = statements
    while not stop.is_set():
        number = ledger.fresh()
        try:
            kind = rng.random()
            if kind < 0.6:
                session.execute(insert, (number % 50, number, "x" * rng.randrange(200)))
                ledger.rows[(number % 50, number)] = True
                if rng.random() < 0.2:
                    session.execute(delete, (number % 50, number))
                    del ledger.rows[(number % 50, number)]
                    ledger.deleted.add((number % 50, number))
            elif kind < 0.8:
                session.execute(pair, (number, number, number, number))
                ledger.pairs.add(number)
            else:
                applied = session.execute(claim, (number, number)).one().applied
                assert applied, f"claim {number} was refused although nobody had it"
                ledger.claims[number] = number
        except AssertionError:
            raise
        except Exception:
            # The server was killed: this write is in doubt, and this thread is done.
            ledger.rows.pop((number % 50, number), None)
            return


def check(session, ledger):
    problems = []
    found = {(r.k, r.c) for k in range(50) for r in session.execute("SELECT k, c FROM crash.rows WHERE k = %s", (k,))}
    lost = [key for key in ledger.rows if key not in found]
    back = [key for key in ledger.deleted if key in found]
    left = {r.id for r in session.execute("SELECT id FROM crash.left")}
    right = {r.id for r in session.execute("SELECT id FROM crash.right")}
    claims = {r.id: r.owner for r in session.execute("SELECT id, owner FROM crash.claims")}
    problems += [f"{len(lost)} acknowledged rows lost, e.g. {lost[:3]}"] if lost else []
    problems += [f"{len(back)} deleted rows are back, e.g. {back[:3]}"] if back else []
    problems += [f"half a batch: {sorted(left ^ right)[:3]}"] if left != right else []
    problems += [f"batches lost: {sorted(ledger.pairs - left)[:3]}"] if ledger.pairs - left else []
    wrong = [i for i, owner in ledger.claims.items() if claims.get(i) != owner]
    problems += [f"claims lost: {wrong[:3]}"] if wrong else []
    return problems, len(found) + len(left) + len(claims)


def main():
    rng = random.Random(SEED)
    print(f"seed {SEED}, {ROUNDS} rounds", flush=True)
    ledger, passed, failed = Ledger(), 0, 0
    with tempfile.TemporaryDirectory(prefix="partita-kill9-") as base:
        folder = os.path.join(base, "data")
        for number in range(ROUNDS + 1):
            began = time.monotonic()
            server, port = start(folder)
            opened = time.monotonic() - began
            cluster, session = connect(port)
            for statement in [KEYSPACE, *TABLES]:
                session.execute(statement)
            problems, seen = check(session, ledger)
            print(f"round {number}: open {opened * 1000:.0f} ms, {seen} rows checked{': ' + '; '.join(problems) if problems else ''}", flush=True)
            failed += bool(problems)
            passed += not problems
            if number < ROUNDS:
                stop = threading.Event()
                threads = [threading.Thread(target=write, args=(session, ledger, stop, random.Random(rng.random()))) for _ in range(4)]
                for thread in threads:
                    thread.start()
                time.sleep(rng.uniform(0.2, 1.2))
                server.send_signal(signal.SIGKILL)
                server.wait()
                stop.set()
                for thread in threads:
                    thread.join()
            else:
                server.send_signal(signal.SIGTERM)
                if server.wait(timeout=30) != 0:
                    print(f"SIGTERM: the server ended with {server.returncode}")
                    failed += 1
            cluster.shutdown()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
