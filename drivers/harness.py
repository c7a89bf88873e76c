"""What the runners of real clients share: installing from registries once, running a client, counting what it reports."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("PARTITA_CACHE") or REPO / ".cache").resolve()
HOME = CACHE / "drivers"


class Failure(Exception):
    pass


def say(text):
    print(f"drivers: {text}", flush=True)


def command(words, log, cwd=None, env=None):
    """Runs an installation step with its output in the log; one retry, because registries sometimes drop a connection."""
    for attempt in (1, 2):
        with open(log, "ab") as out:
            out.write(f"$ {' '.join(map(str, words))}\n".encode())
            out.flush()
            code = subprocess.call([str(w) for w in words], cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT)
        if code == 0:
            return
    tail = "\n".join(Path(log).read_text(errors="replace").splitlines()[-15:])
    raise Failure(f"`{' '.join(map(str, words[:3]))} …` ended with {code}; log {log}:\n{tail}")


def need(tool, what):
    if shutil.which(tool) is None:
        raise Failure(f"`{tool}` is not on PATH; {what} needs it")


def digest(*paths):
    h = hashlib.sha256()
    for path in sorted(paths):
        h.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return h.hexdigest()[:16]


def once(folder, key, build):
    """Runs `build(folder)` unless the folder was completed before with the same key."""
    mark = folder / "complete"
    if mark.exists() and mark.read_text() == key:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build(folder)
    mark.write_text(key)
    return folder


def install_venv(name, requirements, log):
    def build(folder):
        command([sys.executable, "-m", "venv", folder / "venv"], log)
        # --no-deps: the file pins every package, so nothing else may come in.
        command([folder / "venv/bin/pip", "install", "--quiet", "--no-deps", "-r", requirements], log)
    return once(HOME / name, digest(requirements) + sys.version.split()[0], build) / "venv/bin"


def run_client(name, prepared, env, logs, seconds_max):
    """Runs one client; returns (passed, failed, skipped) and prints the lines that are not `ok`."""
    words, cwd, more = prepared
    log = logs / f"{name}.log"
    begun = time.monotonic()
    with open(log, "wb") as out, open(logs / f"{name}.err", "wb") as err:
        process = subprocess.Popen([str(w) for w in words], cwd=cwd, env={**os.environ, **env, **more},
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            code = process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"timeout after {seconds_max} s"
    lines = log.read_text(errors="replace").splitlines()
    passed = [line for line in lines if line.startswith("ok ")]
    failed = [line for line in lines if line.startswith("FAIL ")]
    skipped = [line for line in lines if line.startswith("skip ")]
    if code not in (0, 1) or (code == 0) == bool(failed) or not passed:
        failed.append(f"FAIL the client itself: exit {code} after {len(passed)} passed checks; see {log} and {name}.err")
    for line in failed + skipped:
        print(f"  {name}: {line}", flush=True)
    say(f"{name}: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped in {time.monotonic() - begun:.1f} s")
    return len(passed), len(failed), len(skipped)
