"""Backup, restore and verify with the real binary and a real driver.

Run by `./test crash`: `backup.py BINARY`. A server is written to all the while: one thread inserts pairs in batches over two
tables, numbered in order. A backup made meanwhile must hold whole pairs, everything acknowledged before it began, and no
gap. Then: restore, compare every row; a flipped byte is found with file and offset; nothing is overwritten; a restore
that runs out of space leaves nothing. Prints `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from kill9 import connect, start

ROWS_BEFORE = 3000
outcomes = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, good, detail=""):
    outcomes["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAILED'}: {name}{'' if good else ': ' + str(detail)}", flush=True)


def command(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def stop(server):
    server.send_signal(signal.SIGTERM)
    return server.wait(timeout=60)


class Writer(threading.Thread):
    """Inserts pair after pair until told to stop; `acknowledged` is the last number that is safe."""

    def __init__(self, session, first):
        super().__init__()
        self.session, self.acknowledged, self.ending = session, first, threading.Event()
        self.pair = session.prepare(
            "BEGIN BATCH INSERT INTO crash.left (id, v) VALUES (?, ?); INSERT INTO crash.right (id, v) VALUES (?, ?); APPLY BATCH")

    def run(self):
        while not self.ending.is_set():
            self.write(self.acknowledged + 1)

    def write(self, n):
        self.session.execute(self.pair, (n, n, n, n))
        self.acknowledged = n


def rows(session):
    return [{r.id: r.v for r in session.execute(f"SELECT id, v FROM crash.{table}")} for table in ("left", "right")]


def serve_and_read(binary, folder):
    server, port = start(binary, folder, "sync")
    cluster, session = connect(port)
    found = rows(session)
    cluster.shutdown()
    check(f"the server on {os.path.basename(folder)} stops cleanly", stop(server) == 0)
    return found


def backup_under_load(binary, base):
    """Returns the folder of the server (stopped), of a backup made while it was written to, and what it must hold."""
    data, copy = os.path.join(base, "data"), os.path.join(base, "backup")
    server, port = start(binary, data, "sync")
    cluster, session = connect(port)
    writer = Writer(session, 0)
    for n in range(1, ROWS_BEFORE + 1):
        writer.write(n)
    writer.start()
    before = writer.acknowledged
    code, text = command(binary, "backup", "--data", data, "--to", copy)
    after = writer.acknowledged + 1
    writer.ending.set()
    writer.join()
    check("a running server is backed up", code == 0 and "every checksum is right" in text, text)
    check("writes went on meanwhile", after - 1 > before, (before, after))
    code, text = command(binary, "verify", "--data", data)
    check("a running server is verified", code == 0 and "all is well" in text, text)
    check("no snapshot stays behind", only_the_socket_stays(os.path.join(data, "control")), os.listdir(os.path.join(data, "control")))
    cluster.shutdown()
    check("the server stops cleanly", stop(server) == 0)
    return data, copy, before, after, writer.acknowledged


def only_the_socket_stays(folder, seconds=10):
    """The server removes a snapshot when it sees that the asking command has gone, so just after that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.listdir(folder) == ["socket"]:
            return True
        time.sleep(0.02)
    return False


def flipped_byte(binary, base, copy):
    damaged = os.path.join(base, "damaged")
    shutil.copytree(copy, damaged)
    tables = os.path.join(damaged, "tables")
    path = max((os.path.join(tables, name) for name in os.listdir(tables)), key=os.path.getsize)
    at = os.path.getsize(path) // 2
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    code, text = command(binary, "verify", "--data", damaged)
    offset = re.search(r"offset (\d+)", text)
    check("a flipped byte is found with file and offset", code == 1 and path in text and offset and int(offset.group(1)) <= at, text)
    check("and the operator is told what to do", "restore" in text, text)
    target = os.path.join(base, "from-damaged")
    code, text = command(binary, "restore", "--from", damaged, "--data", target)
    check("a damaged backup is not restored", code == 1 and path in text and not os.path.exists(target), text)


def full_disk(binary, base, copy):
    small = os.path.join(base, "small")
    os.mkdir(small)
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(copy) for name in names)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={max(size // 2, 16384)}", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        outcomes["skipped"] += 1
        print(f"skipped: a restore onto a full disk: mounting a small file system is not permitted here ({mounted.stderr.strip()})")
        return
    try:
        target = os.path.join(small, "new")
        code, text = command(binary, "restore", "--from", copy, "--data", target)
        check("a restore onto a full disk fails and says so", code == 1 and "space" in text and "holds no database" in text, text)
        check("and leaves nothing", os.listdir(small) == [], os.listdir(small))
    finally:
        subprocess.run(["umount", small], check=True)


def main(binary):
    with tempfile.TemporaryDirectory(prefix="partita-backup-") as base:
        data, copy, before, after, written = backup_under_load(binary, base)
        code, text = command(binary, "verify", "--data", copy)
        check("the backup verifies", code == 0 and "all is well" in text, text)
        restored = os.path.join(base, "restored")
        code, text = command(binary, "restore", "--from", copy, "--data", restored)
        check("the backup is restored", code == 0 and "restored" in text, text)
        left, right = serve_and_read(binary, restored)
        check("the restored database holds whole pairs", left == right, sorted(left.items() ^ right.items())[:4])
        last = max(left, default=0)
        check("without a gap", left == {n: n for n in range(1, last + 1)}, last)
        check("and everything acknowledged before the backup began", before <= last <= after, (before, last, after))
        code, text = command(binary, "restore", "--from", copy, "--data", restored)
        check("nothing is overwritten", code == 1 and "already holds a database" in text, text)
        code, text = command(binary, "restore", "--from", copy, "--data", base)
        check("nor mixed with other files", code == 1 and "is not empty" in text, text)
        cold = os.path.join(base, "cold")
        code, text = command(binary, "backup", "--data", data, "--to", cold)
        check("a stopped database is backed up", code == 0, text)
        check("with every row", serve_and_read(binary, cold) == [{n: n for n in range(1, written + 1)}] * 2)
        flipped_byte(binary, base, copy)
        full_disk(binary, base, copy)
        code, text = command(binary, "verify", "--data", os.path.join(base, "nowhere"))
        check("a folder that is no database is named", code == 1 and "not a database" in text, text)
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
