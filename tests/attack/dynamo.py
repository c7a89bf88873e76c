"""Hostile bodies for the DynamoDB listener: `dynamo.py BINARY`, run by `./test attack`.

Depth, size, numbers, names, base 64, chunks, lengths that lie, bodies that arrive byte by byte, and thousands of broken requests, while a victim writes
and reads an item. Everybody must be answered or cut off, no turn may hold a shard for longer than the other attacks may (processor time, by the
server's own account), memory must come back, and the victim must be served. Prints `N passed, N failed, N skipped`.
"""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HELD_SECONDS_MAX = 0.065536
BODY_MAX = 16 << 20
GROWTH_MAX = 256 << 20
outcomes = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, good, shown=""):
    outcomes["passed" if good else "failed"] += 1
    print(f"{'ok  ' if good else 'FAIL'} {name}{'' if good else f': {shown}'}", flush=True)


class Client:
    """One connection; bodies are bytes, whatever they are."""

    def __init__(self, port):
        self.port, self.socket, self.rest = port, None, b""

    def head(self, operation, length, more=""):
        return (f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Type: application/x-amz-json-1.0\r\n"
                f"Authorization: AWS4-HMAC-SHA256 Credential=any/20261118/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature={'0' * 64}\r\n"
                f"X-Amz-Date: 20261118T000000Z\r\n{more}" + (f"Content-Length: {length}\r\n\r\n" if length is not None else "\r\n")).encode()

    def open(self, timeout=60):
        self.socket = self.socket or socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return self.socket

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.rest = None, b""

    def send(self, operation, body, raw=None):
        """The status of the answer; 0 when the server cut the connection."""
        try:
            self.open().sendall(raw if raw is not None else self.head(operation, len(body)) + body)
            while b"\r\n\r\n" not in self.rest:
                self.more()
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))
            while len(self.rest) < length:
                self.more()
            self.body, self.rest = self.rest[:length], self.rest[length:]
            if b"connection: close" in head.lower():
                self.close()
            return int(head.split(b" ", 2)[1])
        except (ConnectionError, BrokenPipeError):
            self.close()
            return 0

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise ConnectionError
        self.rest += got


def put(value):
    return b'{"TableName":"things","Item":{"pk":{"S":"a"},"v":' + value + b"}}"


def filled(start, unit, end, limit=BODY_MAX):
    return start + unit * ((limit - len(start) - len(end)) // len(unit)) + end


def nested(levels, opening, closing):
    return put(opening * levels + b'{"S":"x"}' + closing * levels)


BODIES = {
    "a list in a list, a million times": lambda: b"[" * 1_000_000,
    "an object in an object, a million times": lambda: b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000,
    "a value in a hundred thousand lists": lambda: nested(100_000, b'{"L":[', b"]}"),
    "a value in a hundred thousand maps": lambda: nested(100_000, b'{"M":{"x":', b"}}"),
    "a number of 16 MB": lambda: filled(put(b'{"N":"')[:-2], b"1", b'"}}}'),
    "an exponent of a million digits": lambda: put(b'{"N":"1e' + b"9" * 1_000_000 + b'"}'),
    "a bare number of 16 MB as Limit": lambda: filled(b'{"TableName":"things","Limit":', b"9", b"}"),
    "a set of two million numbers": lambda: filled(put(b'{"NS":[')[:-2], b'"1.5",', b'"2"]}}}'),
    "a set of strings that differ little": lambda: put(b'{"SS":[' + b",".join(b'"%d"' % n for n in range(1_000_000)) + b"]}"),
    "a million attributes": lambda: b'{"TableName":"things","Item":{"pk":{"S":"a"}' + b"".join(b',"a%d":{"N":"1"}' % n for n in range(700_000)) + b"}}",
    "one name a million times": lambda: filled(b'{"TableName":"things","Item":{"pk":{"S":"a"}', b',"a":{"N":"1"}', b"}}"),
    "a member unknown to the API of 16 MB": lambda: filled(b'{"TableName":"things","Unknown":[', b"[],", b"0]}"),
    "16 MB of escapes": lambda: filled(put(b'{"S":"')[:-2], b"\\u0041", b'"}}}'),
    "16 MB of half surrogates": lambda: filled(put(b'{"S":"')[:-2], b"\\ud800", b'"}}}'),
    "16 MB of broken UTF-8": lambda: filled(put(b'{"S":"')[:-2], b"\xff", b'"}}}'),
    "16 MB of base 64": lambda: filled(put(b'{"B":"')[:-2], b"AAAA", b'"}}}'),
    "16 MB of blanks": lambda: filled(b"{", b" ", b"}"),
    "an expression of 16 MB": lambda: filled(b'{"TableName":"things","FilterExpression":"', b"a = b AND ", b'a = b"}'),
    "parentheses": lambda: b'{"TableName":"things","FilterExpression":"' + b"(" * 4000 + b'"}',
    "ten thousand names for an expression": lambda: b'{"TableName":"things","FilterExpression":"#a = #b","ExpressionAttributeNames":{'
                                                    + b",".join(b'"#n%d":"x"' % n for n in range(300_000)) + b"}}",
    "a batch of a hundred thousand puts": lambda: filled(b'{"RequestItems":{"things":[', b'{"PutRequest":{"Item":{"pk":{"S":"a"}}}},',
                                                         b'{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]}}', 8 << 20),
    "a transaction of a hundred thousand": lambda: filled(b'{"TransactItems":[', b'{"Get":{"TableName":"things","Key":{"pk":{"S":"a"}}}},',
                                                          b'{"Get":{"TableName":"things","Key":{"pk":{"S":"a"}}}}]}', 8 << 20),
}
OPERATIONS = {"a bare": "Scan", "an exp": "PutItem", "ten th": "Scan", "parent": "Scan", "a batc": "BatchWriteItem", "a tran": "TransactGetItems", "a list": "PutItem"}


def operation_of(name):
    return "Scan" if name == "an expression of 16 MB" else OPERATIONS.get(name[:6], "PutItem")


def broken(port, seed, count):
    """Requests of every kind, each broken in a few bytes."""
    rng, client = random.Random(seed), Client(port)
    bodies = [("PutItem", put(b'{"M":{"x":{"L":[{"N":"1.5"},{"SS":["a","b"]}]}}}')), ("GetItem", b'{"TableName":"things","Key":{"pk":{"S":"a"}}}'),
              ("UpdateItem", b'{"TableName":"things","Key":{"pk":{"S":"z"}},"UpdateExpression":"SET v.x[1] = if_not_exists(w, :v) REMOVE #n",'
                             b'"ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":v":{"B":"AAEC"}}}'),
              ("Query", b'{"TableName":"things","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":3}'),
              ("ExecuteStatement", b'{"Statement":"SELECT * FROM things WHERE pk = ?","Parameters":[{"S":"a"}]}'),
              ("CreateTable", b'{"TableName":"more","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":'
                              b'[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}'),
              ("TransactWriteItems", b'{"TransactItems":[{"Delete":{"TableName":"things","Key":{"pk":{"S":"q"}}}}],"ClientRequestToken":"t"}')]
    statuses = {}
    for _ in range(count):
        operation, body = rng.choice(bodies)
        body = bytearray(body)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(body))
            form = rng.randrange(4)
            if form == 0:
                body[at] = rng.randrange(256)
            elif form == 1:
                del body[at:at + rng.randint(1, 9)]
            elif form == 2:
                body[at:at] = rng.choice([b"{", b"}", b"[", b'"', b"\\", b"\x00", b"1e999", b"null", b'"a":', b"\xff"])
            else:
                body[at:at] = body[at:at + 20]
            if not body:
                break
        status = client.send(operation, bytes(body))
        statuses[status] = statuses.get(status, 0) + 1
    return statuses


def wire(port):
    """What is wrong below JSON: each must be answered or cut off."""
    found = {}
    client = lambda: Client(port)
    probe = client()
    get = b'{"TableName":"things","Key":{"pk":{"S":"a"}}}'
    cases = {
        "a body of 17 MB": probe.head("PutItem", 17 << 20),
        "two lengths": probe.head("PutItem", 3, "Content-Length: 4\r\n") + b"{}}}",
        "a length and chunks": probe.head("PutItem", 3, "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n",
        "a chunk of 2^60 bytes": probe.head("PutItem", None, "Transfer-Encoding: chunked\r\n") + b"1000000000000000\r\n",
        "a chunk length without end": probe.head("PutItem", None, "Transfer-Encoding: chunked\r\n") + b"0" * 100_000,
        "chunks of one byte": probe.head("GetItem", None, "Transfer-Encoding: chunked\r\n") + b"".join(b"1\r\n%c\r\n" % c for c in get) + b"0\r\n\r\n",
        "a head without end": b"POST / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000,
        "no HTTP": bytes(range(256)) * 100,
    }
    for name, data in cases.items():
        one = client()
        one.open(timeout=30)
        found[name] = one.send("", b"", raw=data)
        one.close()
    return found


def resident(pid):
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held(port):
    """Turns that took longer than they may."""
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
    counts = dict(re.findall(r'partita_shard_held_seconds_bucket\{le="([^"]+)"\} (\d+)', page))
    below = next(int(count) for bound, count in counts.items() if bound != "+Inf" and abs(float(bound) - HELD_SECONDS_MAX) < 1e-6)
    return int(counts["+Inf"]) - below


class Victim(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.client, self.served, self.wrong, self.longest, self.ended = Client(port), 0, [], 0.0, False

    def run(self):
        number = 0
        while not self.ended:
            number += 1
            body = json.dumps({"TableName": "things", "Item": {"pk": {"S": "victim"}, "n": {"N": str(number)}}}).encode()
            begun = time.monotonic()
            wrote = self.client.send("PutItem", body)
            read = self.client.send("GetItem", b'{"TableName":"things","Key":{"pk":{"S":"victim"}},"ConsistentRead":true}')
            self.longest = max(self.longest, time.monotonic() - begun)
            if (wrote, read) != (200, 200) or json.loads(self.client.body)["Item"]["n"]["N"] != str(number):
                self.wrong.append((number, wrote, read))
            self.served += 1
            time.sleep(0.005)


def main():
    folder = tempfile.mkdtemp(prefix="attack-dynamo-")
    out = open(os.path.join(folder, "out"), "w+")
    server = subprocess.Popen([sys.argv[1], "serve", "--data", os.path.join(folder, "data"), "--shards", "2", "--cql", "127.0.0.1:0", "--http",
                               "127.0.0.1:0", "--dynamo", "127.0.0.1:0", "--durability", "periodic", "--log", "warn"], stdout=out, stderr=out)
    ports = {}
    while len(ports) < 2 and server.poll() is None:
        time.sleep(0.05)
        text = open(out.name).read()
        ports = {name: int(port) for name, port in re.findall(r"listening (dynamo|http) 127\.0\.0\.1:(\d+)", text)}
    port = ports["dynamo"]
    table = {"TableName": "things", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
             "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}
    assert Client(port).send("CreateTable", json.dumps(table).encode()) == 200
    victim = Victim(port)
    victim.start()
    try:
        # Slow ones from the beginning: some send a byte a second of a head, some of a body, and never come to an end.
        slow = []
        for n in range(100):
            one = Client(port)
            one.open().sendall(one.head("PutItem", 1000) + b"{" if n % 2 else b"POST / HTTP/1.1\r\nHost: x\r\n")
            slow.append((time.monotonic(), one))
        before = held(ports["http"])
        attacker = Client(port)
        for name, make in BODIES.items():
            body = make()
            assert len(body) <= BODY_MAX, name
            begun = time.monotonic()
            status = attacker.send(operation_of(name), body)
            took = time.monotonic() - begun
            after = held(ports["http"])
            check(f"{name}: answered ({status}, {took * 1000:.0f} ms)", status in (200, 400, 413), status)
            check(f"{name}: no turn above {HELD_SECONDS_MAX * 1000:.0f} ms", after == before, f"{after - before} longer turns")
            before = after
            for _, one in slow:
                try:
                    one.socket and one.socket.send(b"a")
                except OSError:
                    one.close()
        statuses = broken(port, 7, 4000)
        check(f"4,000 broken requests are answered: {statuses}", set(statuses) <= {200, 400} and statuses.get(400, 0) > 2000, statuses)
        for name, status in wire(port).items():
            wanted = (200,) if name == "chunks of one byte" else (0, 400, 413)
            check(f"{name}: {status}", status in wanted, status)
        cut = 0
        until = time.monotonic() + 45
        while slow and time.monotonic() < until:
            for entry in list(slow):
                one = entry[1]
                try:
                    one.open().setblocking(False)
                    if not one.socket.recv(1000):
                        raise ConnectionError
                except BlockingIOError:
                    pass
                except OSError:
                    cut += 1
                    slow.remove(entry)
            time.sleep(0.2)
        check(f"clients that are too slow are cut off ({cut} of 100)", not slow, f"{len(slow)} stay")
        grown = resident(server.pid)
        check(f"memory comes back: {grown >> 20} MiB", grown < GROWTH_MAX, grown)
        victim.ended = True
        victim.join(60)
        check(f"the victim was served {victim.served} times, longest {victim.longest * 1000:.0f} ms", victim.served > 100 and not victim.wrong, victim.wrong[:3])
        check("the server lives", server.poll() is None, server.poll())
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    sys.exit(1 if outcomes["failed"] else 0)


main()
