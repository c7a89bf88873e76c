"""Drives a server with latte, and turns its report into the few numbers that we compare.

latte answers success even when requests failed (see README), so every run is checked: no errors, and the expected
number of rows per request.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("PARTITA_CACHE") or REPO / ".cache").resolve()
WORKLOADS = REPO / "bench" / "workloads"
VERSION = "0.29.0"
P50, P99, P999, MAX = 6, 11, 12, 14  # positions in latte's list of percentiles


def binary():
    """The latte program: from PATH, or installed once into the cache (ten minutes of building)."""
    found = shutil.which("latte") or CACHE / "latte" / "bin" / "latte"
    if not Path(found).exists():
        print(f"bench: installing latte-cli {VERSION} into {CACHE / 'latte'} (about ten minutes)", flush=True)
        subprocess.run(["cargo", "install", "latte-cli", "--version", VERSION, "--locked", "--root", str(CACHE / "latte")], check=True)
    return str(found)


class Latte:
    def __init__(self, server, core, raw):
        self.server = server
        self.core = core
        self.raw = Path(raw)
        self.raw.mkdir(parents=True, exist_ok=True)
        self.program = binary()

    def _call(self, verb, script, words, params):
        command = ["taskset", "-c", self.core, self.program, verb, *words]
        for key, value in params.items():
            command += ["-P", f"{key}={value}"]
        command += [str(WORKLOADS / script), self.server.address]
        with open(self.raw / "latte.log", "ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            # latte also leaves a log of its own in the folder it runs in.
            code = subprocess.call(command, cwd=self.raw, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        if code != 0:
            raise SystemExit(f"bench: latte {verb} {script} ended with {code}; see {self.raw / 'latte.log'}")

    def schema(self, script, **params):
        self._call("schema", script, [], params)

    def load(self, script, **params):
        """Loads the workload's data; the default connection count and a concurrency that Cassandra digests."""
        self._call("load", script, ["-q", "--concurrency", "128"], params)

    def run(self, tag, script, functions, duration, rate=None, start_cycle=0, rows=None, connections=1, concurrency=128, params=None):
        """One measured run. `rows`: what each request must return (None: not checked). Returns a dict of numbers."""
        report = self.raw / f"{tag}.json"
        report.unlink(missing_ok=True)
        words = ["-q", "-t", "1", "-c", str(connections), "-p", str(concurrency), "-w", "1", "-d", str(duration), "--start-cycle", str(start_cycle),
                 "--drop-sampling-log", "-o", str(report), "--tag", tag]
        for function in functions:
            words += ["-f", function]
        if rate:
            words += ["-r", str(rate)]
        before = self.server.cpu_seconds()
        self._call("run", script, words, params or {})
        cpu = self.server.cpu_seconds() - before
        result = json.loads(report.read_text())["result"]
        if result["error_count"]:
            raise SystemExit(f"bench: {tag}: {result['error_count']} errors, for example {result['errors'][:1]}")
        per_request = result["row_count_per_req"] or 0
        if rows is not None and abs(per_request - rows) > 0.01 * max(rows, 1):
            raise SystemExit(f"bench: {tag}: {per_request} rows per request, expected {rows}")
        latency = [p["value"] for p in result["cycle_latency"]["percentiles"]]
        return {
            "ops": result["cycle_count"],
            "rate": result["cycle_throughput"]["value"],
            "p50_ms": latency[P50], "p99_ms": latency[P99], "p999_ms": latency[P999], "max_ms": latency[MAX],
            "cpu_us_per_op": cpu * 1e6 / result["cycle_count"],
            "client_cpu_us_per_op": result["cpu_time_s"] * 1e6 / result["cycle_count"],
            "client_busy": result["cpu_time_s"] / result["elapsed_time_s"],
            "resident_mb": self.server.resident_mb(),
        }
