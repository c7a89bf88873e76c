"""Starts and stops the two servers under test, pinned to one core, and reads what they cost from /proc.

Both objects have the same face: start(), stop(), address, pid, cpu_seconds(), resident_mb(), disk_mb(), start_seconds.
A server's folder is made new by start(fresh=True) and kept by start(fresh=False).
"""

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
NODE = REPO / "conformance" / "cassandra" / "node"
TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS_MAX = 120


class Server:
    name = "?"

    def __init__(self, home, core, durability):
        self.home = Path(home)
        self.core = core
        self.durability = durability
        self.pid = None
        self.address = None
        self.start_seconds = None

    def cpu_seconds(self):
        """User and system time of the whole process, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_mb(self):
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def disk_mb(self):
        total = 0
        for root, _, files in os.walk(self.home):
            for name in files:
                try:
                    total += os.stat(Path(root) / name).st_blocks * 512
                except OSError:
                    pass  # compaction removes files while we look
        return total / 1e6

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Partita(Server):
    name = "partita"
    shards = 1

    def start(self, fresh=True):
        binary = os.environ.get("PARTITA_BIN") or str(REPO / "target" / "release" / "partita")
        if fresh:
            shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True, exist_ok=True)
        log = open(self.home.parent / "partita.log", "ab")
        begun = time.monotonic()
        self.process = subprocess.Popen(
            ["taskset", "-c", self.core, binary, "serve", "--data", str(self.home), "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0",
             "--shards", str(self.shards), "--durability", self.durability],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.address = None
        for line in self.process.stdout:
            if line.startswith("listening cql "):
                self.address = line.split()[2]
                break
        if self.address is None:
            raise SystemExit(f"bench: partita did not start; see {log.name}")
        wait_for_answer(self.address, begun)
        self.start_seconds = time.monotonic() - begun
        self.pid = self.process.pid

    def stop(self):
        if self.pid:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
            self.pid = None


class Cassandra(Server):
    name = "cassandra"
    heap = "2G"

    def start(self, fresh=True):
        commitlog = "batch" if self.durability == "sync" else "periodic"
        begun = time.monotonic()
        command = ["taskset", "-c", self.core, str(NODE), "start", "--dir", str(self.home), "--port", "0", "--heap", self.heap,
                   "--commitlog", commitlog] + (["--fresh"] if fresh else [])
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.address = [line.split()[2] for line in out.splitlines() if line.startswith("listening cql ")][-1]
        wait_for_answer(self.address, begun)
        self.start_seconds = time.monotonic() - begun
        self.pid = int((self.home / "pid").read_text())

    def stop(self):
        if self.pid:
            subprocess.run([str(NODE), "stop", "--dir", str(self.home)], check=True, stdout=subprocess.DEVNULL)
            self.pid = None


def wait_for_answer(address, begun):
    """Returns when the server has answered STARTUP and one QUERY, which is when a driver can work."""
    host, port = address.rsplit(":", 1)
    startup = frame(1, b"\x00\x01" + text(b"CQL_VERSION") + text(b"3.0.0"))
    query = b"SELECT key FROM system.local"
    query = frame(7, struct.pack(">i", len(query)) + query + b"\x00\x01\x00")
    while time.monotonic() - begun < START_SECONDS_MAX:
        try:
            with socket.create_connection((host, int(port)), timeout=5) as s:
                s.sendall(startup)
                s.recv(4096)
                s.sendall(query)
                if s.recv(4096)[4:5] == b"\x08":
                    return
        except OSError:
            pass
        time.sleep(0.002)
    raise SystemExit(f"bench: no answer from {address} after {START_SECONDS_MAX} s")


def frame(opcode, body):
    return struct.pack(">BBhBi", 4, 0, 1, opcode, len(body)) + body


def text(value):
    return struct.pack(">H", len(value)) + value
