"""The pre-commit hooks and the GitHub Action: they parse, their patterns choose the right files, and their commands work.

usage: ci.py PARTITA-BINARY, with PyYAML installed. Last line: N passed, N failed, N skipped.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
GOOD = "CREATE TABLE users (user_id uuid PRIMARY KEY, name text);\n"
BAD = "CREATE TABLE sensor_readings (sensor_id uuid, recorded_at timestamp, value double, PRIMARY KEY (sensor_id, recorded_at));\n"
TABLE = 'resource "aws_dynamodb_table" "t" {\n  name = "jobs"\n  hash_key = "job_id"\n}\n'
SCAN = '[{"op": "Scan", "table": "jobs", "filter": "job_id = :j"}]'


def read(name):
    return yaml.safe_load((ROOT / name).read_text())


def run(words, folder, binary, **env):
    path = f"{Path(binary).resolve().parent}:{os.environ['PATH']}"
    return subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path, **env}, capture_output=True, text=True)


def hooks(binary, folder):
    """As pre-commit does: the entry, then every file whose name matches."""
    found = {hook["id"]: hook for hook in read(".pre-commit-hooks.yaml")}
    assert set(found) == {"partita-review", "partita-review-dynamodb"}, found.keys()
    names = {"good.cql": GOOD, "bad.cql": BAD, "table.tf": TABLE, "operations.json": SCAN, "package.json": "{}", "main.rs": ""}
    for name, text in names.items():
        (folder / name).write_text(text)
    for hook, chosen in [("partita-review", ["bad.cql", "good.cql"]), ("partita-review-dynamodb", ["operations.json", "table.tf"])]:
        matching = sorted(name for name in names if re.search(found[hook]["files"], name))
        assert matching == chosen, (hook, matching)
        assert found[hook]["require_serial"] and found[hook]["language"] == "system"
        done = run(found[hook]["entry"].split() + matching, folder, binary)
        assert done.returncode == 1 and "error[" in done.stdout, done
    done = run(found["partita-review"]["entry"].split() + ["good.cql"], folder, binary)
    assert done.returncode == 0, done


def action(binary, folder):
    """The steps of the action, with the environment that the runner would give them."""
    described = read("action.yml")
    assert described["runs"]["using"] == "composite"
    build, review = described["runs"]["steps"]
    assert "cargo build --release --locked" in build["run"] and build["if"] == "inputs.binary == ''"
    inputs = set(described["inputs"])
    named = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert named == inputs, (named, inputs)
    (folder / "deep").mkdir()
    (folder / "deep/bad.cql").write_text(BAD)
    (folder / "good.cql").write_text(GOOD)
    given = {"BINARY": str(Path(binary).resolve()), "SARIF": "out.sarif", "GITHUB_ACTION_PATH": str(ROOT)}
    for files, code in [("good.cql", 0), ("**/*.cql", 1), ("*.nothing", 2)]:
        done = run(["bash", "-e", "-o", "pipefail", "-c", review["run"]], folder, binary, FILES=files, **given)
        assert done.returncode == code, (files, done)
    sarif = json.loads((folder / "out.sarif").read_text())
    assert any(result["ruleId"] == "unbounded-partition" for result in sarif["runs"][0]["results"])


def workflow(binary, folder):
    described = read("docs/examples/review-workflow.yml")
    steps = described["jobs"]["review"]["steps"]
    given = next(step["with"] for step in steps if "files" in step.get("with", {}))
    assert set(given) <= set(read("action.yml")["inputs"]), given
    uploaded = next(step["with"]["sarif_file"] for step in steps if "sarif_file" in step.get("with", {}))
    assert uploaded == read("action.yml")["inputs"]["sarif"]["default"]


def main():
    passed = failed = 0
    for check in [hooks, action, workflow]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(sys.argv[1], Path(folder))
                passed += 1
                print(f"ok {check.__name__}")
            except Exception:
                failed += 1
                print(f"FAIL {check.__name__}: {traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
