#!/usr/bin/env python3
"""Talks to `partita lsp` with a real language client (pygls), as an editor does.

usage: run.py PARTITA-BINARY [SCRIPT]. Installs the client at pinned versions into $PARTITA_CACHE/lsp, then runs check.py (or SCRIPT) with it.
Last line: N passed, N failed, N skipped.
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = Path(os.environ.get("PARTITA_CACHE") or HERE.parent.parent / ".cache").resolve() / "lsp"
REQUIREMENTS = HERE / "requirements.txt"


def install():
    """The Python with the client; installed once per list of versions."""
    python, mark = HOME / "venv/bin/python", HOME / "complete"
    key = REQUIREMENTS.read_text() + sys.version
    if not (mark.exists() and mark.read_text() == key):
        HOME.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", HOME / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", REQUIREMENTS], check=True)
        mark.write_text(key)
    return python


def main():
    try:
        python = install()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: the language client could not be installed (no registry?): {error}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    return subprocess.call([python, HERE / (sys.argv[2] if len(sys.argv) > 2 else "check.py"), sys.argv[1]])


if __name__ == "__main__":
    sys.exit(main())
