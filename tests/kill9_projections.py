"""kill -9 while copies are being filled and followed: the real binary, a real driver, every copy proved after every restart.

Run by `./test crash` inside the Python driver's environment: `kill9_projections.py BINARY ROUNDS`. Each round starts the server on the same folder, waits until what the last kill
has cut is built to the end, and proves every copy twice: with CHECK PROJECTION, which must find nothing, and row by row with the test's own idea of the definition. Then
several threads write, delete rows, ranges and partitions; a new projection is created whose backfill is slow; a partition of thousands of rows is deleted, so that the projections that
follow later are behind; a projection that was proved is swapped in for another; and the server is killed. A backfill must go on from its checkpoint, not from the beginning, and a swap
is done or not done: whatever has the name then is a copy of the table.
Prints one line per round and, last, `N passed, N failed`. `SEED=n` repeats a run's choices.
"""
import os
import random
import signal
import sys
import tempfile
import threading
import time

from cassandra import OperationTimedOut, RequestExecutionException
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException

from kill9 import connect, start

WORKERS = 3
LARGE = 6_000
SCHEMA = [
    "CREATE KEYSPACE IF NOT EXISTS proj WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE IF NOT EXISTS proj.t (k int, c int, g int, v int, PRIMARY KEY (k, c))",
]
SELECTED = "AS SELECT v WHERE v >= 0 PRIMARY KEY (g, k, c)"
LATER = ["CREATE PROJECTION IF NOT EXISTS proj.waits ON proj.t " + SELECTED + " WITH freshness = '60s'",
         "CREATE PROJECTION IF NOT EXISTS proj.lates ON proj.t " + SELECTED + " WITH freshness = '500ms' AND on_lag = 'late'"]
FRESHNESS = ["'atomic'", "'60s'"]


def write(session, number, stop, rng, counts):
    """Writes to partitions of its own until the server is gone."""
    insert = session.prepare("INSERT INTO proj.t (k, c, g, v) VALUES (?, ?, ?, ?)")
    while not stop.is_set():
        k, c = number * 10 + rng.randrange(5), rng.randrange(200)
        try:
            kind = rng.randrange(20)
            if kind == 0:
                session.execute(f"DELETE FROM proj.t WHERE k = {k} AND c >= {c} AND c < {c + 20}")
            elif kind == 1:
                session.execute(f"DELETE FROM proj.t WHERE k = {k} AND c = {c}")
            elif kind == 2 and rng.randrange(10) == 0:
                session.execute(f"DELETE FROM proj.t WHERE k = {k}")
            elif kind < 6:
                session.execute(f"UPDATE proj.t SET g = {rng.randrange(9)} WHERE k = {k} AND c = {c}")
            else:
                session.execute(insert, (k, c, rng.randrange(9), rng.randrange(-20, 100)))
            counts[number] += 1
        except (ConnectionException, OperationTimedOut, RequestExecutionException, NoHostAvailable, OSError):
            return


def fill_large(session, k, rows):
    insert = session.prepare("INSERT INTO proj.t (k, c, g, v) VALUES (?, ?, ?, ?)")
    # All at once: on a busy machine the last ones wait for more than the usual ten seconds.
    futures = [session.execute_async(insert, (k, c, c % 9, c), timeout=60) for c in range(rows)]
    for future in futures:
        future.result()


def copies(session):
    rows = session.execute("SELECT name, state, lag_ms, rows_behind, progress FROM system_views.projections WHERE keyspace_name = 'proj'")
    return {row.name: row for row in rows}


def settled(session):
    """Waits until every copy is built; what is wrong."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        states = {name: copy.state for name, copy in copies(session).items()}
        if all(state == "ready" for state in states.values()):
            return []
        if "failed" in states.values():
            errors = [(job.target, job.error) for job in session.execute("SELECT target, error FROM system_views.jobs")]
            return [f"failed: {states}, {errors}"]
        time.sleep(0.1)
    return [f"never ready: {copies(session)}"]


def prove(session):
    """Compares every copy with the table; what is wrong."""
    problems = []
    for name in copies(session):
        found = session.execute(f"CHECK PROJECTION proj.{name}", timeout=120).one()
        if (found.missing, found.extra, found.stale) != (0, 0, 0):
            problems.append(f"CHECK {name}: {found}")
    expected = {(row.g, row.k, row.c, row.v) for row in session.execute("SELECT k, c, g, v FROM proj.t")
                if row.g is not None and row.v is not None and row.v >= 0}
    for name in copies(session):
        found = [(row.g, row.k, row.c, row.v) for row in session.execute(f"SELECT g, k, c, v FROM proj.{name}")]
        if len(found) != len(set(found)) or set(found) != expected:
            here, there = sorted(set(found) - expected)[:3], sorted(expected - set(found))[:3]
            problems.append(f"{name}: only there {here}, missing {there}")
    return problems


def checkpoint(session, name):
    """How many rows the job of a copy has done, and its number."""
    for job in session.execute("SELECT id, rows, target, kind, state FROM system_views.jobs"):
        if job.target == name and job.kind == "build view":
            return job.id, job.rows
    return None, 0


def main(binary, rounds):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"seed {seed}, {rounds} rounds", flush=True)
    passed, failed, resumed, behind_seen = 0, 0, 0, 0
    counts = {number: 0 for number in range(WORKERS)}
    cut, large, ready, swapped = None, None, None, 0
    with tempfile.TemporaryDirectory(prefix="partita-kill9-") as base:
        folder = os.path.join(base, "data")
        for number in range(rounds + 1):
            shards = str(1 + number % 3)
            server, port = start(binary, folder, ["sync", "periodic"][number % 2], ["--shards", shards])
            cluster, session = connect(port)
            for statement in SCHEMA + LATER:
                session.execute(statement)
            problems = []
            behind = max((copy.rows_behind or 0 for copy in copies(session).values()), default=0)
            behind_seen += behind > 0
            if cut:
                _, rows = checkpoint(session, cut[0])
                # What was done before the kill is done: at most the page that was under way is done again.
                if rows + 400 < cut[1]:
                    problems.append(f"the backfill of {cut[0]} began anew: {rows} rows after {cut[1]}")
                resumed += rows > 0
            problems += settled(session)
            problems += prove(session)
            print(f"round {number}, {shards} shards: {sum(counts.values())} statements so far, {behind} rows behind when it started, backfill cut at "
                  f"{cut[1] if cut else 0} rows{': ' + '; '.join(problems) if problems else ''}", flush=True)
            failed += bool(problems)
            passed += not problems
            if number == rounds:
                server.send_signal(signal.SIGTERM)
                if server.wait(timeout=60) != 0:
                    print(f"SIGTERM: the server ended with {server.returncode}")
                    failed += 1
                cluster.shutdown()
                break
            if ready:
                swapped += ready not in copies(session)
                session.execute(f"DROP PROJECTION IF EXISTS proj.{ready}")
            # What the last round has filled, and this one has proved.
            ready = cut[0] if cut else None
            if cut:
                session.execute(f"DELETE FROM proj.t WHERE k = {large}")
            # One is to be copied, the other one is deleted meanwhile.
            large, victim = 1_000 + number, 2_000 + number
            fill_large(session, large, LARGE)
            fill_large(session, victim, LARGE)
            stop = threading.Event()
            threads = [threading.Thread(target=write, args=(session, worker, stop, random.Random(rng.random()), counts)) for worker in counts]
            for thread in threads:
                thread.start()
            name = f"filled{number}"
            session.execute(f"CREATE PROJECTION proj.{name} ON proj.t {SELECTED} WITH freshness = {rng.choice(FRESHNESS)} "
                            "AND backfill = {'rows_per_second': '800'}")
            deadline = time.monotonic() + 20
            while checkpoint(session, name)[1] < 800 and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 0.3))
            cut = (name, checkpoint(session, name)[1])
            session.execute(f"DELETE FROM proj.t WHERE k = {victim}")
            if ready:
                session.execute_async(f"ALTER TABLE proj.t REPLACE PROJECTION lates WITH {ready}")
                time.sleep(rng.choice([0, 0.002, 0.01, 0.05]))
            server.send_signal(signal.SIGKILL)
            server.wait()
            stop.set()
            for thread in threads:
                thread.join()
            cluster.shutdown()
    print(f"{behind_seen} times a projection was behind when the server started, {resumed} backfills went on from a checkpoint, {swapped} swaps were done before the kill")
    if rounds >= 3 and not (behind_seen and resumed):
        print("that is too seldom to show anything")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
