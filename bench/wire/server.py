"""Starts and stops the real server, natively or under valgrind."""
import re
import subprocess


class Server:
    """One running `partita serve` on a data folder."""

    def __init__(self, binary, folder, durability="periodic", wrapper=(), shards=1):
        self.errors = open(f"{folder}.err", "ab")
        # Only a server with a shard-aware port tells which shard serves a connection.
        aware = ["--no-shard-aware"] if shards == 1 else ["--cql-shard-aware", "127.0.0.1:0"]
        command = [*wrapper, binary, "serve", "--data", folder, "--shards", str(shards), "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0",
                   *aware, "--durability", durability, "--log", "warn"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        for line in self.process.stdout:
            found = re.match(r"listening cql 127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                return
        raise SystemExit(f"the server did not start; see {folder}.err")

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        """Ends the server; its memtables go to files."""
        self.process.terminate()
        if self.process.wait(timeout=120) != 0:
            raise SystemExit(f"the server ended with {self.process.returncode}")
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            if kind is None:
                self.stop()
            else:
                self.process.kill()
                self.process.wait()
