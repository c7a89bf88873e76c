"""kill -9 under load through the DynamoDB API: the real binary, plain HTTP, everything acknowledged checked after every restart.

`kill9_dynamo.py BINARY ROUNDS`; needs nothing but Python. Each round starts the server on the same folder (by turns with durability
`sync` and `periodic`), checks everything acknowledged so far, writes from several threads (puts, conditional updates of counters,
deletes, transfers in transactions), and kills the server at a random moment. Every item has one writer, so after a restart it is as its
last acknowledged change left it, or as the one change without an answer would have. The table has a global index and a stream: the
index must be its definition, and the stream the history of every item, each record following from the one before. Registers that all
workers write with conditions are checked for linearizability (`linearizable.py`).
Prints one line per round and, last, `N passed, N failed`. `SEED=n` repeats a run's choices.
"""
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from linearizable import NEVER, Event, check_the_checker, is_linearizable

WORKERS = 4
ITEMS = 6
ACCOUNTS = 3
REGISTERS = 2
EVENTS_MAX = 60    # of one register in one round: the search for an order is exponential at worst
START = 1000
TABLE = "load"
# Any will do without --auth, but some must be there.
CREDENTIALS = {"X-Amz-Date": "20260101T000000Z", "Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"}


class Refused(Exception):
    def __init__(self, body):
        super().__init__(body.get("message") or body.get("Message") or str(body))
        self.name = body["__type"].split("#")[1]
        self.item = body.get("Item")


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def call(self, operation, body, service="DynamoDB_20120810"):
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"{service}.{operation}", **CREDENTIALS}
        self.connection.request("POST", "/", json.dumps(body), headers)
        answer = self.connection.getresponse()
        found = json.loads(answer.read() or b"null")
        if answer.status != 200:
            raise Refused(found)
        return found

    def streams(self, operation, body):
        return self.call(operation, body, "DynamoDBStreams_20120810")


def start(binary, folder, durability):
    server = subprocess.Popen(
        [binary, "serve", "--data", folder, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--dynamo", "127.0.0.1:0",
         "--memtable-mib", "2", "--log", "warn", "--durability", durability],
        stdout=subprocess.PIPE, stderr=open(folder + ".err", "ab"), text=True)
    for line in server.stdout:
        found = re.match(r"listening dynamo 127\.0\.0\.1:(\d+)", line)
        if found:
            return server, int(found.group(1))
    raise SystemExit(f"the server did not start:\n{open(folder + '.err').read()}")


def create(client):
    try:
        client.call("CreateTable", {
            "TableName": TABLE, "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in (("p", "S"), ("s", "N"), ("g", "S"))],
            "GlobalSecondaryIndexes": [{
                "IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"}}],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}})
    except Refused as error:
        if error.name != "ResourceInUseException":
            raise


class Worker:
    """Writes items that nobody else writes; knows what each of them is, or may be."""

    def __init__(self, number, rng):
        self.number, self.rng, self.serial = number, rng, 0
        self.known = {}    # key -> item or None, as acknowledged
        self.maybe = {}    # key -> item or None, if the change without an answer was made
        self.acknowledged = 0

    def key(self, n):
        return {"p": {"S": f"worker{self.number}"}, "s": {"N": str(n)}}

    def account(self, n):
        return {"p": {"S": f"worker{self.number}-account{n}"}, "s": {"N": "0"}}

    def run(self, port, stop, registers):
        client = Client(port)
        try:
            while not stop.is_set():
                self.step(client)
                if self.rng.random() < 0.2:
                    registers.step(client, self)
        except (OSError, http.client.HTTPException):
            pass

    def intend(self, changes):
        self.maybe = dict(changes)

    def done(self):
        self.known.update(self.maybe)
        self.maybe = {}
        self.acknowledged += 1

    def step(self, client):
        self.serial += 1
        stamp = {"N": str(self.serial)}
        n = self.rng.randrange(ITEMS)
        name, old = (n,), self.known.get((n,))
        choice = self.rng.random()
        if choice < 0.35:
            item = {**self.key(n), "w": stamp, "pad": {"S": "x" * self.rng.randrange(600)}}
            if self.rng.random() < 0.7:
                item["g"] = {"S": f"group{self.rng.randrange(4)}"}
            self.intend({name: item})
            client.call("PutItem", {"TableName": TABLE, "Item": item})
        elif choice < 0.65:
            base = old if old is not None else self.key(n)
            count = int(base.get("c", {"N": "0"})["N"])
            self.intend({name: {**base, "c": {"N": str(count + 1)}, "w": stamp}})
            condition = "c = :old" if "c" in base else "attribute_not_exists(c)"
            values = {":w": stamp, ":one": {"N": "1"}}
            if "c" in base:
                values[":old"] = {"N": str(count)}
            client.call("UpdateItem", {
                "TableName": TABLE, "Key": self.key(n), "UpdateExpression": "SET w = :w ADD c :one",
                "ConditionExpression": condition, "ExpressionAttributeValues": values})
        elif choice < 0.75:
            self.intend({name: None})
            client.call("DeleteItem", {"TableName": TABLE, "Key": self.key(n)})
        else:
            self.transfer(client, stamp)
            return
        self.done()

    def transfer(self, client, stamp):
        accounts = [("account", n) for n in range(ACCOUNTS)]
        if self.known.get(accounts[0]) is None:
            items = {name: {**self.account(name[1]), "balance": {"N": str(START)}, "w": stamp} for name in accounts}
            self.intend(items)
            client.call("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": TABLE, "Item": item}} for item in items.values()]})
            self.done()
            return
        giver, taker = self.rng.sample(accounts, 2)
        amount = self.rng.randrange(START)
        have = int(self.known[giver]["balance"]["N"])
        changed = {
            giver: {**self.known[giver], "balance": {"N": str(have - amount)}, "w": stamp},
            taker: {**self.known[taker], "balance": {"N": str(int(self.known[taker]["balance"]["N"]) + amount)}, "w": stamp}}
        values = {":a": {"N": str(amount)}, ":w": stamp}
        action = lambda name, sign, more: {"Update": {
            "TableName": TABLE, "Key": self.account(name[1]), "UpdateExpression": f"SET balance = balance {sign} :a, w = :w",
            "ExpressionAttributeValues": values, **more}}
        if amount <= have:
            self.intend(changed)
        try:
            client.call("TransactWriteItems", {"TransactItems": [
                action(giver, "-", {"ConditionExpression": "balance >= :a"}), action(taker, "+", {})]})
        except Refused as error:
            assert error.name == "TransactionCanceledException" and amount > have, error
            return
        assert amount <= have, "a transfer was made that the condition forbids"
        self.done()

    def settle(self, items):
        """After a restart: takes what is there for known, if it may be there."""
        names = set(self.known) | set(self.maybe)
        place = lambda name: self.account(name[1]) if name[0] == "account" else self.key(name[0])
        found = {name: items.get(key_text(place(name))) for name in names}
        before = {name: self.known.get(name) for name in names}
        after = {**before, **self.maybe}
        assert found == before or found == after, f"worker {self.number}: found {found}, expected {before} or {after}"
        self.known.update(found)
        self.maybe = {}


class Registers:
    """Items of one round that every worker writes, each write on the condition of the value it has seen last."""

    def __init__(self, round_number):
        self.keys = [{"p": {"S": f"register{round_number}-{n}"}, "s": {"N": "0"}} for n in range(REGISTERS)]
        self.events = [[] for _ in self.keys]
        self.known = [None for _ in self.keys]
        self.lock, self.ticks = threading.Lock(), 0

    def tick(self):
        with self.lock:
            self.ticks += 1
            return self.ticks

    def record(self, n, event, known):
        with self.lock:
            self.events[n].append(event)
            self.known[n] = known

    def read(self, client, n):
        item = client.call("GetItem", {"TableName": TABLE, "Key": self.keys[n], "ConsistentRead": True}).get("Item")
        return value_of(item)

    def step(self, client, worker):
        n, begin = worker.rng.randrange(REGISTERS), self.tick()
        if len(self.events[n]) >= EVENTS_MAX:
            return
        if worker.rng.random() < 0.3:
            seen = self.read(client, n)
            self.record(n, Event("read", None, seen, begin, self.tick()), seen)
            return
        worker.serial += 1
        expected, new = self.known[n], f"{worker.number}-{worker.serial}"
        condition = {"ConditionExpression": "attribute_not_exists(v)"}
        if expected is not None:
            condition = {"ConditionExpression": "v = :old", "ExpressionAttributeValues": {":old": {"S": expected}}}
        try:
            client.call("PutItem", {"TableName": TABLE, "Item": {**self.keys[n], "v": {"S": new}}, **condition,
                                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
            self.record(n, Event("won", expected, new, begin, self.tick()), new)
        except Refused as error:
            assert error.name == "ConditionalCheckFailedException", error
            self.record(n, Event("refused", expected, value_of(error.item), begin, self.tick()), value_of(error.item))
        except (OSError, http.client.HTTPException):
            self.record(n, Event("lost", expected, new, begin, NEVER), expected)
            raise

    def check(self, client):
        for n, events in enumerate(self.events):
            begin = self.tick()
            events = [*events, Event("read", None, self.read(client, n), begin, self.tick())]
            assert is_linearizable(events), f"register {n} is not linearizable: {events}"


def value_of(item):
    return item["v"]["S"] if item else None


def key_text(item):
    return json.dumps({"p": item["p"], "s": item["s"]}, sort_keys=True)


def scan(client, **more):
    items, start_key = [], None
    while True:
        page = client.call("Scan", {"TableName": TABLE, **more, **({"ExclusiveStartKey": start_key} if start_key else {})})
        items += page["Items"]
        start_key = page.get("LastEvaluatedKey")
        if not start_key:
            return items


def check_stream(client, items):
    arn = client.streams("ListStreams", {"TableName": TABLE})["Streams"][0]["StreamArn"]
    shard = client.streams("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = client.streams("GetShardIterator", {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"})["ShardIterator"]
    last, count = {}, 0
    while True:
        answer = client.streams("GetRecords", {"ShardIterator": iterator})
        if not answer["Records"]:
            break
        for record in answer["Records"]:
            body = record["dynamodb"]
            name = key_text(body["Keys"])
            assert body.get("OldImage") == last.get(name), f"{name}: a record does not follow from the one before"
            assert body.get("NewImage") != last.get(name), f"{name}: a record of no change"
            last[name] = body.get("NewImage")
            count += 1
        iterator = answer["NextShardIterator"]
    ends = {name: image for name, image in last.items() if image is not None}
    assert ends == items, "the stream does not end where the table is"
    return count


def check(client, workers):
    items = {key_text(item): item for item in scan(client)}
    for worker in workers:
        worker.settle(items)
        balances = [int(worker.known[("account", n)]["balance"]["N"]) for n in range(ACCOUNTS) if worker.known.get(("account", n))]
        assert not balances or sum(balances) == ACCOUNTS * START, f"money: {balances}"
    entries = {key_text(item): item for item in scan(client, IndexName="by-g")}
    assert entries == {name: item for name, item in items.items() if "g" in item}, "the index is not its definition"
    return check_stream(client, items)


def main():
    check_the_checker()
    binary, rounds = sys.argv[1], int(sys.argv[2])
    seed = int(os.environ.get("SEED", time.time()))
    rng = random.Random(seed)
    workers = [Worker(n, random.Random(rng.random())) for n in range(WORKERS)]
    passed = failed = 0
    registers = Registers(-1)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            durability = ("sync", "periodic")[number % 2]
            server, port = start(binary, folder + "/data", durability)
            try:
                client = Client(port)
                create(client)
                records = check(client, workers)
                registers.check(client)
                passed += 1
                print(f"round {number} {durability}: {sum(w.acknowledged for w in workers)} acknowledged, {records} records, "
                      f"{sum(map(len, registers.events))} events of registers, fine", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"round {number} (SEED={seed}): FAILED {error}", flush=True)
                server.kill()
                break
            if number == rounds:
                server.send_signal(signal.SIGTERM)
                server.wait()
                break
            stop, registers = threading.Event(), Registers(number)
            threads = [threading.Thread(target=worker.run, args=(port, stop, registers)) for worker in workers]
            for thread in threads:
                thread.start()
            time.sleep(rng.uniform(0.3, 2.0))
            server.kill()
            server.wait()
            stop.set()
            for thread in threads:
                thread.join()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
