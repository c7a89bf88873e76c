#!/usr/bin/env python3
"""Looks at what partita draws, in a real browser: the review page and the picture of a simulation.

usage: run.py PARTITA-BINARY. Pages load without console errors and without asking for anything; every table has its diagram; curves
and graphs are there; no text leaves its box or covers another; contrast is enough; in light and dark, wide and narrow. Screenshots
are left in $PARTITA_CACHE/browser. Last line: N passed, N failed, N skipped.
"""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import chromium  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def partita(binary, *arguments, stdin=None):
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, input=stdin)
    if done.returncode == 2 or "panicked" in done.stderr:
        raise SystemExit(f"partita {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def columns_by_table(cql):
    """Tables of a CQL text with the number of their columns: counted here, not by the code under test."""
    tables = {}
    for statement in re.sub(r"--[^\n]*", "", cql).split(";"):
        match = re.match(r'\s*CREATE TABLE\s+("(?P<quoted>[^"]+)"|(?P<plain>\w+))\s*\((?P<body>.*)', statement, re.S)
        if not match:
            continue
        depth, parts, part = 0, [], ""
        for c in match["body"]:
            if c in "(<":
                depth += 1
            elif c in ")>":
                depth -= 1
            if depth < 0:
                break
            if c == "," and depth == 0:
                parts.append(part)
                part = ""
            else:
                part += c
        parts.append(part)
        names = [p for p in parts if p.strip() and not p.strip().startswith("PRIMARY KEY")]
        tables[match["quoted"] or match["plain"]] = len(names)
    return tables


def pages(binary, folder):
    """Name, file and what must be on it."""
    derived = folder / "orders.cql"
    derived.write_text(partita(binary, "design", ROOT / "docs/examples/orders.toml"))
    for name, source in [("flawed", HERE / "shop.cql"), ("derived", derived)]:
        page = folder / f"review-{name}.html"
        partita(binary, "review", source, "--format", "html", "-o", page)
        found = json.loads(partita(binary, "review", source, "--format", "json"))
        text = source.read_text()
        edges = len(re.findall(r"^CREATE ACCESS PATTERN|^SELECT", text, re.M))
        growth = 3 if name == "flawed" else 2
        expected = {"tables": columns_by_table(text), "findings": len(found["findings"]) + len(found["errors"]), "edges": edges, "growth": growth}
        expected["texts"] = [finding["message"] for finding in found["findings"]] + [finding["rule"] for finding in found["findings"]]
        assert expected["tables"], "the input has tables"
        yield f"review-{name}", page, expected, (1280, 420)
    many = folder / "review-many.html"
    text = "\n".join(f"CREATE TABLE t{n} (k uuid, c timeuuid, v text, PRIMARY KEY (k, c));" for n in range(60))
    partita(binary, "review", "-", "--format", "html", "-o", many, stdin=text)
    yield "review-many", many, {"tables": {f"t{n}": 3 for n in range(60)}}, (1280,)
    for name, source, more in [("flawed", HERE / "shop.cql", ["--large", "acme=40%"]), ("derived", derived, ["--large", "acme=30%", "--nodes", "12"])]:
        schema = folder / f"simulate-{name}.cql"
        schema.write_text("\n".join(line for line in source.read_text().splitlines() if not line.startswith("SELEC ")))
        picture = folder / f"simulate-{name}.svg"
        partita(binary, "simulate", schema, "--format", "svg", "-o", picture, *more)
        tables = columns_by_table(schema.read_text())
        expected = {"texts": [*(t[:30] for t in tables), "Hottest partitions", "100 MB"], "shapes": {"path.sizes": 3 * len(tables), "rect.writes": 3}}
        yield f"simulate-{name}", picture, expected, (1280,)


def main():
    binary = sys.argv[1]
    begun = time.monotonic()
    program = chromium.find() or chromium.install()
    if not program:
        print("no Chromium here and none could be installed; set PARTITA_CHROMIUM to one\n0 passed, 0 failed, 1 skipped")
        return 0
    print(f"{program} ready after {time.monotonic() - begun:.0f} s")
    folder = Path(os.environ.get("PARTITA_CACHE", ROOT / ".cache")).resolve() / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    check = (HERE / "check.js").read_text()
    check = check[check.index("(expected)"):]
    passed = failed = 0
    browser = chromium.Browser(program)
    try:
        for name, file, expected, widths in pages(binary, folder):
            for width in widths:
                for scheme in ("light", "dark"):
                    url = file.as_uri()
                    browser.open(url, width, scheme)
                    wrong = browser.evaluate(check, expected) + browser.complaints(url)
                    browser.screenshot(folder / f"{name}-{width}-{scheme}.png")
                    print(f"{'ok  ' if not wrong else 'FAIL'} {name} {width} {scheme}", *wrong[:12], sep="\n     ")
                    passed, failed = passed + (not wrong), failed + bool(wrong)
    finally:
        browser.close()
    print(f"screenshots in {folder}; {time.monotonic() - begun:.0f} s")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
