"""Adds up test counts in a log: `count.py LOG STATUS` prints `passed failed skipped`.

Understands cargo's `test result:` lines and our runners' closing line `N passed, N failed[, N skipped]`.
A run that failed without a failed test (it did not build, it crashed) counts as one failure, and so
does a run in which no test ran and none says that it was skipped.
"""
import re
import sys


def count(text: str, status: int) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for line in re.findall(r"^test result: .*$", text, re.M):
        numbers = {name: int(n) for n, name in re.findall(r"(\d+) (passed|failed|ignored)", line)}
        passed += numbers.get("passed", 0)
        failed += numbers.get("failed", 0)
        skipped += numbers.get("ignored", 0)
    closing = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    if closing:
        p, f, s = closing[-1]
        passed, failed, skipped = passed + int(p), failed + int(f), skipped + int(s or 0)
    if (status != 0 and failed == 0) or passed + failed + skipped == 0:
        failed += 1
    return passed, failed, skipped


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        print(*count(log.read(), int(sys.argv[2])))
