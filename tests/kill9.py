"""kill -9 under load: the real binary, a real driver, everything acknowledged checked after every restart.

Run by `./test crash` inside the Python driver's environment: `kill9.py BINARY ROUNDS`. Each round starts the server on the
same folder (by turns with durability `sync` and `periodic`: a killed process loses nothing with either), checks everything
acknowledged so far, writes from several threads (inserts, updates, sets, statics, every kind of deletion, logged batches over
two tables, conditional writes and deletes, counters, compare-and-set registers), and kills the server at a random moment. The rows
have indexes and a view; after every restart they must lead to what reading everything finds, and have just the rows they should.
What is written and how it is checked: `crash_load.py`; registers are checked for linearizability: `linearizable.py`.
Prints one line per round and, last, `N passed, N failed`. `SEED=n` repeats a run's choices.
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

from crash_load import SCHEMA, STATEMENTS, Registers, Worker, check_projections
from linearizable import check_the_checker

WORKERS = 4


def start(binary, folder, durability, extra=()):
    server = subprocess.Popen(
        [binary, "serve", "--data", folder, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memtable-mib", "2", "--log", "warn",
         "--durability", durability, *extra],
        stdout=subprocess.PIPE, stderr=open(folder + ".err", "ab"), text=True)
    for line in server.stdout:
        found = re.match(r"listening cql 127\.0\.0\.1:(\d+)", line)
        if found:
            return server, int(found.group(1))
    raise SystemExit(f"the server did not start:\n{open(folder + '.err').read()}")


def connect(port, schema=SCHEMA):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), retry_policy=FallthroughRetryPolicy(), request_timeout=10)
    cluster = Cluster(["127.0.0.1"], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    session = cluster.connect()
    for statement in schema:
        session.execute(statement)
    return cluster, session


def load(session, workers, registers, rng):
    """Starts the workers; returns how to stop and join them."""
    statements = {kind: session.prepare(text) for kind, text in STATEMENTS.items()}
    stop = threading.Event()
    threads = [threading.Thread(target=worker.run, args=(session, statements, registers, stop, random.Random(rng.random())))
               for worker in workers]
    for thread in threads:
        thread.start()

    def join():
        stop.set()
        for thread in threads:
            thread.join()
    return join


def main(binary, rounds):
    check_the_checker()
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"seed {seed}, {rounds} rounds", flush=True)
    workers, passed, failed = [Worker(number) for number in range(1, WORKERS + 1)], 0, 0
    registers = None
    with tempfile.TemporaryDirectory(prefix="partita-kill9-") as base:
        folder = os.path.join(base, "data")
        for number in range(rounds + 1):
            durability = ["sync", "periodic"][number % 2]
            began = time.monotonic()
            server, port = start(binary, folder, durability)
            opened = time.monotonic() - began
            cluster, session = connect(port)
            problems = [problem for worker in workers for problem in worker.check(session)]
            events = 0
            if registers:
                wrong, events = registers.check(session)
                problems += wrong
            wrong, looked_up = check_projections(session)
            problems += wrong
            print(f"round {number} {durability}: open {opened * 1000:.0f} ms, {sum(sum(w.done.values()) for w in workers)} statements "
                  f"acknowledged so far, {events} register events, "
                  f"{looked_up} values looked up in indexes, view compared{': ' + '; '.join(problems) if problems else ''}", flush=True)
            failed += bool(problems)
            passed += not problems
            if number < rounds:
                registers = Registers(number)
                join = load(session, workers, registers, rng)
                time.sleep(rng.uniform(0.2, 1.2))
                server.send_signal(signal.SIGKILL)
                server.wait()
                join()
            else:
                server.send_signal(signal.SIGTERM)
                if server.wait(timeout=60) != 0:
                    print(f"SIGTERM: the server ended with {server.returncode}")
                    failed += 1
            cluster.shutdown()
    done = {kind: sum(worker.done[kind] for worker in workers) for kind in STATEMENTS}
    print("acknowledged: " + ", ".join(f"{count} {kind}" for kind, count in done.items()))
    missing = [kind for kind, count in done.items() if not count]
    if missing:
        print(f"never acknowledged: {missing}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
