"""A server on a file system that fills up: the real binary, a real driver, a tmpfs of its own.

Run by `./test crash`: `full_disk.py BINARY`. Writes go on until the disk is full; then writes must be refused with an error
that drivers understand (Overloaded, or a timeout for those that were already queued), reads must go on, `/health` must say so or
stay truthful, and when room is made the server must go on writing without a restart. Then it is killed and started again:
everything acknowledged is there. Without the right to mount it says so and is skipped.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

from cassandra import OperationTimedOut
from cassandra.protocol import OverloadedErrorMessage

from backup import check, outcomes
from kill9 import connect, start

SIZE_MIB, BALLAST_MIB = 96, 40
REFUSALS = 5
# Room comes back within the log's retry (0.1 s) and one flush; a busy machine may take longer.
PATIENCE_SECONDS = 60


def write_until_refused(session, insert, acknowledged):
    """Writes rows until several in a row are refused; the classes of the refusals."""
    refusals, n = [], len(acknowledged)
    value = os.urandom(20_000)
    while len(refusals) < REFUSALS and n < 100_000:
        n += 1
        try:
            session.execute(insert, (n, value), timeout=5)
            acknowledged.append(n)
            refusals = []
        except Exception as error:
            refusals.append(error)
    return refusals


def main(binary):
    with tempfile.TemporaryDirectory(prefix="partita-full-") as base:
        disk = os.path.join(base, "disk")
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "tmpfs", disk], capture_output=True, text=True)
        if mounted.returncode:
            print(f"skipped: mounting a small file system is not permitted here ({mounted.stderr.strip()})")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        try:
            fill(binary, base, disk)
        finally:
            subprocess.run(["umount", "-l", disk], check=True)
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if outcomes["failed"] else 0


def fill(binary, base, disk):
    ballast = os.path.join(disk, "ballast")
    with open(ballast, "wb") as file:
        file.write(b"\0" * (BALLAST_MIB << 20))
    data = os.path.join(disk, "data")
    server, port = start(binary, data, "sync")
    cluster, session = connect(port)
    session.execute("CREATE TABLE IF NOT EXISTS crash.big (id int PRIMARY KEY, v blob) WITH compression = {'enabled': 'false'}")
    insert = session.prepare("INSERT INTO crash.big (id, v) VALUES (?, ?)")
    select = session.prepare("SELECT id FROM crash.big WHERE id = ?")
    acknowledged = []
    refusals = write_until_refused(session, insert, acknowledged)
    understood = all(isinstance(error, (OverloadedErrorMessage, OperationTimedOut)) for error in refusals)
    check(f"after {len(acknowledged)} rows writes are refused", len(refusals) == REFUSALS, refusals)
    check("with an error that drivers understand", understood and any(isinstance(e, OverloadedErrorMessage) for e in refusals), refusals)
    print("  ", {f"{type(error).__name__}: {error}" for error in refusals})
    read = [n for n in acknowledged[::97] if session.execute(select, (n,)).one() is not None]
    check("reads go on", read == acknowledged[::97])
    check("the server lives", server.poll() is None)
    os.remove(ballast)
    deadline, resumed = time.monotonic() + PATIENCE_SECONDS, None
    while resumed is None and time.monotonic() < deadline:
        try:
            session.execute(insert, (1_000_000, b"again"), timeout=5)
            resumed = time.monotonic()
        except (OverloadedErrorMessage, OperationTimedOut) as error:
            last = error
            time.sleep(0.05)
    check("when there is room again, writes go on without a restart", resumed is not None, resumed or last)
    acknowledged.append(1_000_000)
    cluster.shutdown()
    server.send_signal(signal.SIGKILL)
    server.wait()
    server, port = start(binary, data, "sync")
    cluster, session = connect(port)
    found = {row.id for row in session.execute("SELECT id FROM crash.big")}
    lost = [n for n in acknowledged if n not in found]
    check(f"after kill -9 all {len(acknowledged)} acknowledged rows are there", not lost, lost[:5])
    cluster.shutdown()
    server.send_signal(signal.SIGTERM)
    check("the server stops cleanly", server.wait(timeout=60) == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
