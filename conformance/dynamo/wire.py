"""One connection to a server of the DynamoDB API: plain HTTP, no SDK, so that broken requests can be sent too."""

import http.client
import json

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
                     "SignedHeaders=host;x-amz-date, Signature=0",
}
STREAMS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}


class Answer:
    """Status, JSON body (None if it is not JSON), and the error's name and sentence if it is one."""

    def __init__(self, status, raw):
        self.status = status
        self.raw = raw
        try:
            self.body = json.loads(raw)
        except ValueError:
            self.body = None
        self.error = self.message = None
        if status != 200 and isinstance(self.body, dict):
            self.error = str(self.body.get("__type", "")).split("#")[-1]
            self.message = self.body.get("message", self.body.get("Message"))

    def short(self):
        if self.error:
            return f"{self.status} {self.error}: {self.message}"
        return f"{self.status} {self.raw.decode('utf-8', 'replace')[:1500]}"


class Server:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        self.connection = None

    def send(self, operation, body):
        """`body` is bytes, or anything that json.dumps takes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        service = "DynamoDBStreams_20120810" if operation in STREAMS else "DynamoDB_20120810"
        headers = dict(HEADERS)
        headers["X-Amz-Target"] = f"{service}.{operation}"
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(*self.address, timeout=60)
                self.connection.request("POST", "/", data, headers)
                response = self.connection.getresponse()
                return Answer(response.status, response.read())
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    raise
