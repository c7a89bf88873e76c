"""The common scenario through the AWS CLI, as a person types it. Prints `ok NAME`, `FAIL NAME: why`."""

import json
import os
import subprocess
import sys

TABLE = os.environ.get("DYNAMO_PREFIX", "cli") + "_books"
ACCESS = {"AWS_ACCESS_KEY_ID": os.environ.get("DYNAMO_KEY", "local"), "AWS_SECRET_ACCESS_KEY": os.environ.get("DYNAMO_SECRET", "local"),
          "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": "", "AWS_MAX_ATTEMPTS": "1"}


def aws(*words, refused=None):
    done = subprocess.run([os.environ["AWS_CLI"], "--endpoint-url", os.environ["DYNAMO_ENDPOINT"], "--output", "json", "dynamodb", *words],
                          env={**os.environ, **ACCESS}, capture_output=True, text=True, timeout=120)
    if refused:
        assert done.returncode != 0 and refused in done.stderr, done.stderr or "not refused"
        return None
    assert done.returncode == 0, done.stderr.strip()
    return json.loads(done.stdout) if done.stdout.strip() else {}


def a_table_is_created():
    aws("create-table", "--table-name", TABLE, "--billing-mode", "PAY_PER_REQUEST", "--attribute-definitions", "AttributeName=author,AttributeType=S",
        "AttributeName=year,AttributeType=N", "--key-schema", "AttributeName=author,KeyType=HASH", "AttributeName=year,KeyType=RANGE")
    aws("wait", "table-exists", "--table-name", TABLE)


def items_are_put_queried_and_deleted():
    for year in (1920, 1934, 1939):
        aws("put-item", "--table-name", TABLE, "--item", json.dumps({"author": {"S": "Christie"}, "year": {"N": str(year)}}))
    found = aws("query", "--table-name", TABLE, "--key-condition-expression", "author = :a AND #y > :y", "--expression-attribute-names", '{"#y": "year"}',
                "--expression-attribute-values", '{":a": {"S": "Christie"}, ":y": {"N": "1930"}}', "--no-scan-index-forward")
    assert [item["year"]["N"] for item in found["Items"]] == ["1939", "1934"], found
    aws("delete-item", "--table-name", TABLE, "--key", '{"author": {"S": "Christie"}, "year": {"N": "1920"}}')
    assert aws("scan", "--table-name", TABLE, "--page-size", "1")["Count"] == 2
    aws("put-item", "--table-name", TABLE, "--item", '{"author": {"S": "Christie"}}', refused="ValidationException")


def partiql_answers():
    found = aws("execute-statement", "--statement", f"SELECT * FROM \"{TABLE}\" WHERE author = 'Christie' AND \"year\" = 1939")
    assert len(found["Items"]) == 1, found


def the_table_is_deleted():
    aws("delete-table", "--table-name", TABLE)
    aws("wait", "table-not-exists", "--table-name", TABLE)
    aws("describe-table", "--table-name", TABLE, refused="ResourceNotFoundException")


def main():
    failed = 0
    for check in (a_table_is_created, items_are_put_queried_and_deleted, partiql_answers, the_table_is_deleted):
        try:
            check()
            print(f"ok {check.__name__}", flush=True)
        except Exception as error:  # noqa: BLE001: every failure is told
            failed += 1
            print(f"FAIL {check.__name__}: {str(error)[:600]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
