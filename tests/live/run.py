#!/usr/bin/env python3
"""Patterns of real applications: learnt, declared, enforced, and every number held against a proxy's count.

usage: run.py PARTITA-BINARY (installs the pinned packages of requirements.txt once). For each application of apps.py: it runs once before a new server; `partita patterns` writes what it saw; those patterns
are declared and enforced; the application runs again on a fresh start of the server, through a proxy that counts on its own. Then all of its
statements must have been matched (one that is not would have been refused), and calls, rows and errors of every pattern must be the proxy's.
Last line: N passed, N failed.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "attack"), str(HERE.parents[1] / "drivers")]
import client  # noqa: E402
import harness  # noqa: E402
from proxy import ROWS, Proxy, Reader, kind, rows_of  # noqa: E402

APPS = {"shop": "shop", "sensors": "fleet", "celery": "celery"}
OWN = ("system", "create ", "use ", "alter ")
passed = failed = 0


def check(name, holds, why=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok {name}" if holds else f"FAIL {name}: {why}", flush=True)


class Server:
    def __init__(self, binary, data):
        self.process, ports = client.start(binary, data, "--no-dynamo", "--shards", "2")
        self.port = ports["cql"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)


def rows(port, statement):
    """Rows of a SELECT JSON as dictionaries."""
    _, body = client.Connection(port).query(statement)
    reader = Reader(body)
    assert reader.take("i") == ROWS, body[:40]
    found = []
    for _ in range(rows_of(reader)):
        found.append(json.loads(reader.some(reader.take("i"))))
    return found


def run(python, app, port):
    done = subprocess.run([python, HERE / "apps.py", app, str(port)], capture_output=True, text=True, timeout=180)
    check(f"{app}: runs before a server of Partita", done.returncode == 0, done.stderr[-800:])


def of_app(proxy):
    """What the application did to tables of its own, by shape."""
    return {text: count for text, count in proxy.calls.items() if not text.startswith(OWN) and " from system" not in text}


def tried(binary, python, app, keyspace):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(binary, folder + "/data")
        proxy = Proxy(server.port)
        run(python, app, proxy.port)
        seen = of_app(proxy)
        unmatched = rows(server.port, f"SELECT JSON statement, calls FROM system_views.unmatched_statements WHERE keyspace_name = '{keyspace}' ALLOW FILTERING")
        check(f"{app}: every call is listed as one that nobody declared", sum(row["calls"] for row in unmatched) == sum(seen.values()), f"{unmatched} {seen}")
        learnt = subprocess.run([binary, "patterns", "--from", f"127.0.0.1:{server.port}", "--keyspace", keyspace], capture_output=True, text=True, timeout=60)
        statements = [s for s in learnt.stdout.split(";\n") if "CREATE ACCESS PATTERN" in s]
        connection = client.Connection(server.port)
        for statement in statements:
            connection.query(statement)
        connection.query(f"ALTER KEYSPACE {keyspace} WITH patterns = 'enforce'")
        check(f"{app}: patterns were learnt and declared", statements, learnt.stderr)
        server.stop()

        server = Server(binary, folder + "/data")
        proxy = Proxy(server.port)
        run(python, app, proxy.port)
        seen = of_app(proxy)
        unmatched = rows(server.port, f"SELECT JSON statement, calls FROM system_views.unmatched_statements WHERE keyspace_name = '{keyspace}' ALLOW FILTERING")
        patterns = rows(server.port, f"SELECT JSON * FROM system_views.access_patterns WHERE keyspace_name = '{keyspace}'")
        calls = {row["pattern_name"]: row["calls"] or 0 for row in patterns}
        matched = sum(calls.values())
        check(f"{app}: all of its {sum(seen.values())} calls were matched, none was without a pattern",
              matched == sum(seen.values()) and not unmatched, f"{matched} of {sum(seen.values())}; {unmatched}")
        compare(app, patterns, proxy, seen)
        server.stop()


def compare(app, patterns, proxy, seen):
    """Each kind of statement against the patterns of that kind."""
    by_kind = {}
    for text, count in seen.items():
        sums = by_kind.setdefault(kind(text), [0, 0, 0])
        sums[0], sums[1], sums[2] = sums[0] + count, sums[1] + proxy.rows[text], sums[2] + proxy.errors[text]
    for one, (calls, returned, errors) in sorted(by_kind.items(), key=str):
        found = [row for row in patterns if kind(row["statement"]) == one]
        told = (sum(row["calls"] or 0 for row in found), round(sum((row["rows_per_call"] or 0) * (row["calls"] or 0) for row in found)),
                sum(row["errors"] or 0 for row in found))
        check(f"{app}: {calls} calls, {returned} rows, {errors} errors of {' '.join(map(str, one))}", told == (calls, returned, errors), f"the server says {told}: {found}")
        observed = [row for row in found if row["calls"]]
        times = [row["p99_ms_observed"] for row in observed]
        check(f"{app}: times and rates of it were observed", observed and all(times) and all(row["peak_rate_observed"] for row in observed), found)


def main():
    binary = os.path.abspath(sys.argv[1])
    folder = harness.CACHE / "live"
    folder.mkdir(parents=True, exist_ok=True)
    python = harness.install_venv("live", HERE / "requirements.txt", folder / "install.log") / "python"
    for app, keyspace in APPS.items():
        tried(binary, python, app, keyspace)
    print(f"{passed} passed, {failed} failed")
    raise SystemExit(failed > 0)


main()
