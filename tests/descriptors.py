"""A server whose clients take every file descriptor: the real binary, a real driver, a hard limit.

Run by `./test crash`: `descriptors.py BINARY`. Silent connections, to the CQL port and to the HTTP port, take whatever the limit leaves.
Meanwhile rows are written until the log has gone through several segments and memtables have been flushed: each write is acknowledged or
refused with an error that drivers understand. When the silent clients have left, writes go on without a restart. Then the server is killed
and started again: everything acknowledged is there. Prints `N passed, N failed, N skipped`.
"""
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

from cassandra import OperationTimedOut
from cassandra.protocol import OverloadedErrorMessage

from backup import check, outcomes
from kill9 import connect, start

LIMIT = 256
# More than the first segment (1 MiB) and two full ones (32 MiB each).
ROWS, ROW_BYTES = 400, 200_000
# Descriptors are looked for every 0.1 s; a busy machine may take longer.
PATIENCE_SECONDS = 60


def start_limited(binary, folder):
    """The server with a hard limit; its process and the ports of CQL and HTTP."""
    server = subprocess.Popen(
        [binary, "serve", "--data", folder, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memtable-mib", "8", "--log", "warn",
         "--no-shard-aware"],
        stdout=subprocess.PIPE, stderr=open(folder + ".err", "ab"), text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT)))
    ports = {}
    for line in server.stdout:
        found = re.match(r"listening (\w+) 127\.0\.0\.1:(\d+)", line)
        if found:
            ports[found.group(1)] = int(found.group(2))
        if {"cql", "http"} <= ports.keys():
            return server, ports["cql"], ports["http"]
    raise SystemExit(f"the server did not start:\n{open(folder + '.err').read()}")


def take_all(*ports):
    """Silent connections, as many as the kernel completes."""
    silent = []
    for n in range(2 * LIMIT):
        client = socket.socket()
        client.settimeout(1)
        try:
            client.connect(("127.0.0.1", ports[n % len(ports)]))
        except OSError:
            client.close()
            continue
        silent.append(client)
    return silent


def write_rows(session, insert, acknowledged):
    """Writes the rows; the errors of those that were refused."""
    refused = []
    value = os.urandom(ROW_BYTES)
    for n in range(1, ROWS + 1):
        try:
            session.execute(insert, (n, value), timeout=5)
            acknowledged.append(n)
        except Exception as error:
            refused.append(error)
            if len(refused) >= 20:
                break
    return refused


def main(binary):
    with tempfile.TemporaryDirectory(prefix="partita-descriptors-") as base:
        starve(binary, os.path.join(base, "data"))
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if outcomes["failed"] else 0


def starve(binary, data):
    server, cql, http = start_limited(binary, data)
    try:
        acknowledged = crowd_out(server, cql, http)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
    server, port = start(binary, data, "sync")
    cluster, session = connect(port)
    found = {row.id for row in session.execute("SELECT id FROM crash.big")}
    lost = [n for n in acknowledged if n not in found]
    check(f"after kill -9 all {len(set(acknowledged))} acknowledged rows are there", not lost, lost[:5])
    cluster.shutdown()
    server.send_signal(signal.SIGTERM)
    check("the server stops cleanly", server.wait(timeout=60) == 0)


def crowd_out(server, cql, http):
    """Takes the descriptors away and gives them back; the rows that were acknowledged."""
    cluster, session = connect(cql)
    session.execute("CREATE TABLE IF NOT EXISTS crash.big (id int PRIMARY KEY, v blob) WITH compression = {'enabled': 'false'}")
    insert = session.prepare("INSERT INTO crash.big (id, v) VALUES (?, ?)")
    acknowledged = []
    silent = take_all(cql, http)
    taken = len(os.listdir(f"/proc/{server.pid}/fd"))
    check(f"{len(silent)} silent clients; the server has {taken} of {LIMIT} descriptors open", taken >= LIMIT // 4, taken)
    refused = write_rows(session, insert, acknowledged)
    kinds = {type(error).__name__ for error in refused}
    print(f"   {len(acknowledged)} rows acknowledged, {len(refused)} refused: {sorted(kinds)}")
    understood = all(isinstance(error, (OverloadedErrorMessage, OperationTimedOut)) for error in refused)
    check("writes are acknowledged, or refused with an error that drivers understand", understood, refused[:3])
    check("the server lives", server.poll() is None)
    for client in silent:
        client.close()
    deadline, resumed, last = time.monotonic() + PATIENCE_SECONDS, False, None
    while not resumed and time.monotonic() < deadline:
        try:
            session.execute(insert, (1_000_000, b"again"), timeout=5)
            resumed = True
        except Exception as error:
            last = error
            time.sleep(0.05)
    check("when the silent clients have left, writes go on without a restart", resumed, last)
    if resumed:
        acknowledged.append(1_000_000)
        more = write_rows(session, insert, acknowledged)
        check("and go on through further segments", not more, more[:3])
        session.execute("CREATE TABLE crash.later (id int PRIMARY KEY)")
    cluster.shutdown()
    return acknowledged


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
