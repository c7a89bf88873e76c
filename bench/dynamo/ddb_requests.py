"""Requests of the DynamoDB API as bytes, with the headers that boto3 sends, and one connection that sends them."""
import json
import random
import socket
import time

ITEMS = 2_000
GROUP = 100
PAYLOAD = "x" * 900
TABLES = {"plain": {}, "gsi": {"index": True}, "stream": {"stream": True}, "both": {"index": True, "stream": True}}


def request(operation, body, port):
    text = json.dumps(body, separators=(",", ":"))
    return (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept-Encoding: identity\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\nUser-Agent: Boto3/1.44.3 md/Botocore#1.44.3 ua/2.1 os/linux md/arch#x86_64 lang/python#3.11\r\n"
        "X-Amz-Date: 20261118T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=any/20261118/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + "0" * 64 + "\r\n"
        "amz-sdk-invocation-id: 00000000-0000-4000-8000-000000000000\r\namz-sdk-request: attempt=1\r\n"
        f"Content-Length: {len(text)}\r\n\r\n{text}").encode()


def key(n):
    """Items lie in groups of 100 that share a partition."""
    return {"pk": {"S": f"group-{n // GROUP}"}, "sk": {"N": str(n % GROUP)}}


def item(n, version=0):
    return {**key(n), "owner": {"S": f"owner-{n % 50}"}, "version": {"N": str(version)}, "payload": {"S": PAYLOAD},
            "tags": {"SS": ["blue", "green"]}, "done": {"BOOL": False}}


def create(name, index=False, stream=False):
    body = {
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}]}
    if index:
        body["AttributeDefinitions"].append({"AttributeName": "owner", "AttributeType": "S"})
        body["GlobalSecondaryIndexes"] = [{
            "IndexName": "by-owner", "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"}}]
    if stream:
        body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return body


def operation(kind, table, n, serial):
    """The nth request of a kind: its operation and body."""
    if kind == "put":
        return "PutItem", {"TableName": table, "Item": item(n, serial)}
    if kind == "get":
        return "GetItem", {"TableName": table, "Key": key(n)}
    if kind == "update":
        return "UpdateItem", {
            "TableName": table, "Key": key(n), "UpdateExpression": "SET version = :v, done = :d",
            "ConditionExpression": "attribute_exists(pk) AND version >= :zero",
            "ExpressionAttributeValues": {":v": {"N": str(serial)}, ":d": {"BOOL": bool(serial % 2)}, ":zero": {"N": "0"}}}
    if kind == "query":
        return "Query", {"TableName": table, "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key(n)["pk"]}}
    if kind == "batch":
        first = n // GROUP * GROUP
        puts = [{"PutRequest": {"Item": item(first + (n + i) % GROUP, serial)}} for i in range(25)]
        return "BatchWriteItem", {"RequestItems": {table: puts}}
    if kind == "transact":
        update = lambda m: {"Update": {"TableName": table, "Key": key(m % ITEMS), "UpdateExpression": "SET version = :v",
                                       "ExpressionAttributeValues": {":v": {"N": str(serial)}}}}
        return "TransactWriteItems", {"TransactItems": [update(n + 501 * i) for i in range(4)]}
    raise ValueError(kind)


KINDS = ["get", "put", "update", "query", "batch", "transact"]


def some(kind, table, count, port, seed):
    """So many requests on items all over the table."""
    rng = random.Random(seed)
    return [request(*operation(kind, table, rng.randrange(ITEMS), seed * 1_000_000 + serial), port) for serial in range(count)]


class Connection:
    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def call(self, operation, body):
        return json.loads(self.send(request(operation, body, self.port)))

    def send(self, data):
        self.socket.sendall(data)
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        while len(self.rest) < length:
            self.more()
        body, self.rest = self.rest[:length], self.rest[length:]
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{head.decode()}\n{body.decode()}")
        return body

    def more(self):
        got = self.socket.recv(1 << 20)
        if not got:
            raise SystemExit("the server closed the connection")
        self.rest += got

    def load(self, tables=TABLES):
        """Makes the tables and their items."""
        for name, more in tables.items():
            self.call("CreateTable", create(name, **more))
            # Some servers take their time.
            while self.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] != "ACTIVE":
                time.sleep(0.05)
            for first in range(0, ITEMS, 25):
                puts = [{"PutRequest": {"Item": item(n)}} for n in range(first, first + 25)]
                answer = self.call("BatchWriteItem", {"RequestItems": {name: puts}})
                assert not answer["UnprocessedItems"], answer
