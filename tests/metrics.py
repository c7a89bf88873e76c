#!/usr/bin/env python3
"""What /metrics says, read by those who will read it: promtool, a real Prometheus, and the alert rules and dashboard in docs/monitoring.

usage: metrics.py PARTITA-BINARY. The server gets a little of every kind of work. Then: promtool accepts the text and the rules; a Prometheus from
the system's packages scrapes it and answers every expression of the rules and of the dashboard; every name that those use is really there; no
partition key is in the text. Last line: N passed, N failed, N skipped.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "attack"))
import client  # noqa: E402

DOCS = HERE.parent / "docs/monitoring"
SECRET = "a-key-that-nobody-may-see"
# The ten of the seed; what is reconciled on one machine are copies with their table.
WANTED = [
    "partita_partition_bytes", "partita_table_top_keys_share", "partita_table_request_seconds_bucket", "partita_pattern_request_seconds_bucket",
    "partita_table_tombstones_met_total", "partita_background_jobs", "partita_conditional_failures_total", "partita_throttled_requests_total",
    "partita_projection_building", "partita_findings", "partita_projection_lag_seconds", "partita_projection_drift_rows",
    "partita_tenant_requests_total", "partita_tenant_throttled_total", "partita_tenant_stored_bytes",
]


def tools():
    """promtool and prometheus: installed, or unpacked from Debian's package into the cache."""
    found = [shutil.which("promtool"), shutil.which("prometheus")]
    if all(found):
        return found
    folder = Path(os.environ.get("PARTITA_CACHE", HERE.parent / ".cache")).resolve() / "prometheus"
    folder.mkdir(parents=True, exist_ok=True)
    programs = [folder / "usr/bin/promtool", folder / "usr/bin/prometheus"]
    if not programs[0].exists() and shutil.which("apt-get"):
        print("unpacking Prometheus from the system's packages", flush=True)
        for command in (["apt-get", "download", "prometheus"], ["apt-get", "update", "-qq"], ["apt-get", "download", "prometheus"]):
            subprocess.run(command, cwd=folder, capture_output=True, timeout=180)
            package = next(folder.glob("prometheus_*.deb"), None)
            if package:
                subprocess.run(["dpkg", "-x", package, folder], timeout=60)
                break
    return [str(p) for p in programs] if programs[1].exists() else None


def get(url, accept="*/*"):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=30) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def work(port):
    connection = client.Connection(port)
    for statement in (
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (a text, b int, c int, PRIMARY KEY (a, b))", "CREATE INDEX by_c ON k.t (c)",
        'CREATE TABLE k."odd "" name" (a int PRIMARY KEY)',
        "CREATE TABLE k.owned (org text, id int, v int, PRIMARY KEY (org, id)) WITH tenant = 'org' AND tenant_limits = {'requests_per_second': '5'}",
        "CREATE ACCESS PATTERN k.by_a AS SELECT * FROM t WHERE a = ? WITH peak_rate = 1 AND row_bytes = 1",
    ):
        try:
            connection.query(statement)
        except client.Refused as refused:
            assert "odd" in statement, refused
    for n in range(200):
        connection.query(f"INSERT INTO k.t (a, b, c) VALUES ('{SECRET}', {n}, 1)")
    connection.query(f"DELETE FROM k.t WHERE a = '{SECRET}' AND b = 3")
    connection.query(f"INSERT INTO k.t (a, b) VALUES ('{SECRET}', 1) IF NOT EXISTS")
    for _ in range(300):
        connection.query(f"SELECT * FROM k.t WHERE a = '{SECRET}'")
    connection.query("SELECT * FROM k.t WHERE c = 1")
    connection.query("CHECK PROJECTION k.by_c")
    over = 0
    for n in range(50):
        try:
            connection.query(f"INSERT INTO k.owned (org, id, v) VALUES ('acme', {n}, 1)")
        except client.Refused as refused:
            assert refused.code == 0x1001, refused
            over += 1
    assert over, "fifty requests at once are over a limit of five a second"


def expressions():
    rules = re.findall(r"^\s+expr: (.*)$", (DOCS / "alerts.yml").read_text(), re.M)
    board = json.loads((DOCS / "grafana.json").read_text())
    panels = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    panels = [e.replace("$__rate_interval", "1m").replace('instance=~"$instance"', 'instance=~".*"') for e in panels]
    assert len(rules) >= 8 and len(panels) >= 12, "both files were read"
    return rules, panels


def scraped(prometheus, http, folder, rules, panels):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = (DOCS / "prometheus.yml").read_text().replace("127.0.0.1:9180", f"127.0.0.1:{http}").replace("10s", "1s")
    (folder / "prometheus.yml").write_text(config)
    shutil.copy(DOCS / "alerts.yml", folder)
    process = subprocess.Popen([prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                                f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def ask(expression):
            text, _ = get(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
            return json.loads(text)
        deadline = time.monotonic() + 60
        while True:
            try:
                if any(float(one["value"][1]) == 1 for one in ask('up{job="partita"}')["data"]["result"]):
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline, "Prometheus does not see the server as up"
            time.sleep(0.5)
        for expression in rules + panels:
            assert ask(expression)["status"] == "success", expression
        found = ask('partita_table_top_keys_share{keyspace="k",table="t",top="1"}')["data"]["result"]
        assert found and float(found[0]["value"][1]) > 0.9, found
        print("     a real Prometheus scrapes it; the share of the hottest key there is", found[0]["value"][1])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def main():
    binary, passed, failed = sys.argv[1], 0, 0
    programs = tools()
    folder = Path(tempfile.mkdtemp(prefix="partita-metrics-"))
    server, ports = client.start(binary, str(folder / "data"), "--no-dynamo")
    try:
        work(ports["cql"])
        time.sleep(12)
        url = f"http://127.0.0.1:{ports['http']}/metrics"
        rules, panels = expressions()

        def every_name_is_there():
            text, kind = get(url)
            assert kind.startswith("text/plain; version=0.0.4"), kind
            names = {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}
            for name in WANTED:
                assert name in names, name
            for name in set(re.findall(r"\b(?:partita|process)_\w+", " ".join(rules + panels))):
                assert name in names, f"{name} is in docs/monitoring and not in /metrics"

        def no_key_is_there():
            assert SECRET not in get(url)[0]

        def promtool_accepts_it():
            done = subprocess.run([programs[0], "check", "metrics"], input=get(url)[0], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            done = subprocess.run([programs[0], "check", "rules", DOCS / "alerts.yml"], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr

        def openmetrics_is_served():
            text, kind = get(url, "application/openmetrics-text; version=1.0.0")
            assert kind.startswith("application/openmetrics-text"), kind
            assert text.endswith("# EOF\n") and "# TYPE partita_commits counter\n" in text and "\npartita_commits_total " in text
            families = re.findall(r"^# TYPE (\S+)", text, re.M)
            assert len(families) == len(set(families)), "a family is there twice"
            try:
                from prometheus_client.openmetrics.parser import text_string_to_metric_families
            except ImportError:
                return
            assert len(list(text_string_to_metric_families(text))) == len(families)

        def prometheus_scrapes_it():
            scraped(programs[1], ports["http"], folder, rules, panels)

        steps = [every_name_is_there, no_key_is_there, openmetrics_is_served]
        skipped = 0 if programs else 2
        if programs:
            steps += [promtool_accepts_it, prometheus_scrapes_it]
        else:
            print("skipped: no promtool and none could be unpacked (apt-get install prometheus)")
        for step in steps:
            try:
                step()
                print(f"ok   {step.__name__.replace('_', ' ')}", flush=True)
                passed += 1
            except (AssertionError, OSError) as error:
                print(f"FAIL {step.__name__.replace('_', ' ')}\n     {error}", flush=True)
                failed += 1
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
