"""A ring of three real Cassandra nodes on 127.0.0.1, .2 and .3, for `./test cluster`: started one after the other, stopped by their pids.

`with Ring(folder) as ring:` gives `ring.contact` (`127.0.0.1:PORT`), `ring.kill(n)`, `ring.start(n)`, `ring.pause(n)`,
`ring.resume(n)`. All nodes have the same ports. It takes about 30 s and 3 GB.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

NODE = Path(__file__).resolve().parent.parent / "conformance" / "cassandra" / "node"
ADDRESSES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]


def free_port_everywhere():
    """A port that no loopback address of the ring uses."""
    for _ in range(100):
        with socket.socket() as first:
            first.bind((ADDRESSES[0], 0))
            port = first.getsockname()[1]
            try:
                for address in ADDRESSES[1:]:
                    with socket.socket() as other:
                        other.bind((address, port))
            except OSError:
                continue
            return port
    raise SystemExit("no port is free on all loopback addresses of the ring")


class Ring:
    def __init__(self, folder, heap="512M"):
        self.folder, self.heap = Path(folder), heap
        self.port, self.storage_port = free_port_everywhere(), free_port_everywhere()

    @property
    def contact(self):
        return ",".join(f"{address}:{self.port}" for address in ADDRESSES)

    def home(self, n):
        return self.folder / f"node{n + 1}"

    def pid(self, n):
        return json.loads((self.home(n) / "node.json").read_text())["pid"]

    def start(self, n, fresh=False):
        command = [sys.executable, NODE, "start", "--dir", self.home(n), "--address", ADDRESSES[n], "--port", str(self.port),
                   "--storage-port", str(self.storage_port), "--seeds", ADDRESSES[0], "--heap", self.heap]
        subprocess.run(command + (["--fresh"] if fresh else []), check=True, stdout=sys.stderr)

    def kill(self, n):
        subprocess.run([sys.executable, NODE, "stop", "--dir", self.home(n), "--kill"], check=True, stdout=sys.stderr)

    def pause(self, n):
        os.kill(self.pid(n), signal.SIGSTOP)

    def resume(self, n):
        os.kill(self.pid(n), signal.SIGCONT)

    def __enter__(self):
        began = time.monotonic()
        try:
            for n in range(len(ADDRESSES)):
                self.start(n, fresh=True)
            self.wait_until_all_are_up()
        except BaseException:
            self.stop()
            raise
        print(f"a ring of three is up after {time.monotonic() - began:.0f} s", flush=True)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for n in range(len(ADDRESSES)):
            try:
                os.kill(self.pid(n), signal.SIGCONT)
            except (OSError, ValueError):
                continue
            self.kill(n)

    def wait_until_all_are_up(self):
        """Until every node says that all three are up and normal."""
        for n in range(len(ADDRESSES)):
            for _ in range(60):
                told = subprocess.run([sys.executable, NODE, "nodetool", "--dir", self.home(n), "status"], capture_output=True, text=True)
                if told.stdout.count("UN ") == len(ADDRESSES):
                    break
                time.sleep(1)
            else:
                raise SystemExit(f"node {n + 1} does not see the ring:\n{told.stdout}{told.stderr}")
