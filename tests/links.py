#!/usr/bin/env python3
"""Every relative link of every tracked Markdown file leads to a file that is there, and every anchor to a heading.

Addresses on the net are not asked. Fails with one line per dead link; the last line counts: `N passed, N failed`."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def prose(path):
    """The lines of a file without its fenced blocks and code spans, where brackets are not links."""
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield line


def anchors(path):
    """The anchors that GitHub gives the headings of a file; a heading that comes again gets a number."""
    found = {}
    for line in prose(path):
        if not re.match(r"#{1,6} ", line):
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        yield f"{slug}-{count}" if count else slug


def fault(source, target):
    """Why a link is dead, or None."""
    name, _, anchor = target.partition("#")
    file = (source.parent / name).resolve() if name else source
    if not file.exists():
        return "there is no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return "there is no such heading"
    return None


def main():
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    sources = [ROOT / name for name in listed.stdout.split("\0") if name]
    passed = failed = 0
    for source in filter(pathlib.Path.exists, sources):
        for line in prose(source):
            for target in LINK.findall(re.sub(r"`[^`]*`", "`", line)):
                if ELSEWHERE.match(target):
                    continue
                why = fault(source, target)
                passed, failed = passed + (why is None), failed + (why is not None)
                if why:
                    print(f"{source.relative_to(ROOT)}: ({target}): {why}")
    print(f"{passed} passed, {failed} failed")
    # No link at all means that nothing was read.
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
