"""Counts instructions and calls of the running server with callgrind.

The server stays up; callgrind is told to write down (and forget) its counts between measurements, so start-up, preparing and
loading are in no figure. Two runs of different length are subtracted, so that what a measurement costs by itself is not
either.
"""
import glob
import re
import subprocess

# Entry points of libc and of the allocator, by what they stand for in the report.
CALLS = {
    "allocations": {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "mi_malloc_aligned", "mi_zalloc_aligned",
                    "mi_realloc_aligned"},
    "socket_reads": {"recv", "recvfrom", "readv", "recvmsg", "read"},
    "socket_writes": {"send", "sendto", "writev", "sendmsg", "write"},
    "polls": {"epoll_wait", "epoll_pwait", "epoll_pwait2"},
    "log_writes": {"pwrite64", "pwrite", "pwritev"},
    "log_syncs": {"fdatasync", "fsync"},
}


def wrapper(out):
    return ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={out}", "--compress-strings=yes", "--fair-sched=yes"]


def dump(pid, out):
    """Writes the counts since the last dump to a file of its own and returns its path."""
    before = set(glob.glob(f"{glob.escape(out)}.*"))
    asked = subprocess.run(["vgdb", f"--pid={pid}", "dump"], capture_output=True, text=True, timeout=120)
    new = set(glob.glob(f"{glob.escape(out)}.*")) - before
    if len(new) != 1:
        raise SystemExit(f"callgrind wrote no counts: {asked.stdout}{asked.stderr}")
    return new.pop()


def read(path):
    """Instructions in all, and calls of the functions in CALLS."""
    counts = dict.fromkeys(["instructions", *CALLS], 0)
    wanted = {name: what for what, names in CALLS.items() for name in names}
    called, names = None, {}
    with open(path, encoding="utf-8", errors="replace") as dumped:
        for line in dumped:
            if line.startswith("cfn=") or line.startswith("fn="):
                found = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
                number, name = found.groups()
                if name:
                    # `malloc'2` is a recursive call, `read@@GLIBC_2.2` a versioned name.
                    names[number] = re.split(r"[@']", name)[0].removeprefix("__libc_")
                if line[0] == "c":
                    called = names.get(number)
            elif line.startswith("calls="):
                what = wanted.get(called)
                if what:
                    counts[what] += int(line[6:].split()[0])
            elif line.startswith("summary:") or (line.startswith("totals:") and not counts["instructions"]):
                counts["instructions"] = int(line.split()[1])
    return counts


def difference(long, short, operations):
    return {name: (long[name] - short[name]) / operations for name in long}
