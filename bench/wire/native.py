"""CPU time, system calls and context switches of the server without valgrind."""
import glob
import re
import shutil
import signal
import subprocess
import tempfile
import time


def cpu_seconds(pid):
    """Time that the server's threads have run so far (nanoseconds in /proc, unlike stat's ticks)."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def switches(pid):
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as status:
            total += sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", status.read()))
    return total


def measure(server, connection, groups, operations):
    """Runs the groups; CPU microseconds and context switches per operation, operations per second."""
    cpu, switched, started = cpu_seconds(server.pid), switches(server.pid), time.monotonic()
    connection.pump(groups)
    seconds = time.monotonic() - started
    return {
        "cpu_us": (cpu_seconds(server.pid) - cpu) * 1e6 / operations,
        "switches": (switches(server.pid) - switched) / operations,
        "per_second": operations / seconds,
    }


def system_calls(server, connection, groups, operations):
    """System calls per operation by name, as strace counts them; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as out:
        tracer = subprocess.Popen(["strace", "-f", "-c", "-q", "-o", out.name, "-p", str(server.pid)], stderr=subprocess.PIPE)
        wait_until_traced(server.pid)
        connection.pump(groups)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(timeout=60)
        counts = {}
        for line in out.read().splitlines():
            fields = line.split()
            if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
                counts[fields[-1]] = int(fields[3]) / operations
    return counts


def wait_until_traced(pid):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        statuses = [open(path).read() for path in glob.glob(f"/proc/{pid}/task/*/status")]
        if all(re.search(r"TracerPid:\s+[1-9]", status) for status in statuses):
            return
        time.sleep(0.01)
    raise SystemExit("strace did not attach")
