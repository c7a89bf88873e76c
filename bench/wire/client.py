"""A raw CQL v4 client that sends exactly what a driver sends, many requests per system call, and nothing else.

Frames are made before the clock runs, so that the client costs as little as possible; answers are counted and checked for
errors, not decoded. Python's standard library only.
"""
import socket
import struct

STARTUP, QUERY, READY, RESULT, PREPARE, EXECUTE, BATCH, ERROR = 0x01, 0x07, 0x02, 0x08, 0x09, 0x0A, 0x0D, 0x00
LOCAL_ONE, LOCAL_QUORUM, LOCAL_SERIAL = 0x0A, 0x06, 0x09
VALUES, PAGE_SIZE, SERIAL, TIMESTAMP = 0x01, 0x04, 0x10, 0x20
PAGE_ROWS = 5000
OPTIONS, SUPPORTED = 0x05, 0x06


def short_bytes(value):
    return struct.pack(">H", len(value)) + value


def values_of(values):
    return struct.pack(">H", len(values)) + b"".join(struct.pack(">i", len(v)) + v for v in values)


def frame(opcode, stream, body):
    return struct.pack(">BBhBi", 4, 0, stream, opcode, len(body)) + body


def execute(stream, statement, values, timestamp=None, serial=False):
    """EXECUTE with a page size, as every driver sends it; result metadata is asked for, as latte's driver does."""
    flags = VALUES | PAGE_SIZE | (SERIAL if serial else 0) | (TIMESTAMP if timestamp else 0)
    body = short_bytes(statement) + struct.pack(">HB", LOCAL_QUORUM, flags) + values_of(values) + struct.pack(">i", PAGE_ROWS)
    body += struct.pack(">H", LOCAL_SERIAL) if serial else b""
    body += struct.pack(">q", timestamp) if timestamp else b""
    return frame(EXECUTE, stream, body)


def logged_batch(stream, statements, timestamp):
    """BATCH of prepared statements: `statements` is a list of (id, values)."""
    body = b"\0" + struct.pack(">H", len(statements))
    for statement, values in statements:
        body += b"\1" + short_bytes(statement) + values_of(values)
    return frame(BATCH, stream, body + struct.pack(">HBq", LOCAL_QUORUM, TIMESTAMP, timestamp))


class Connection:
    """One socket. `pump` keeps a window of requests under way."""

    def __init__(self, port, address="127.0.0.1", timeout=300):
        self.socket = socket.create_connection((address, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.ask(STARTUP, struct.pack(">H", 1) + short_bytes(b"CQL_VERSION") + short_bytes(b"3.0.0"), READY)

    def shard(self):
        """The shard that serves this connection."""
        answer = self.ask(OPTIONS, b"", SUPPORTED)
        at = answer.index(b"SCYLLA_SHARD\0\1") + len(b"SCYLLA_SHARD\0\1")
        length = struct.unpack_from(">H", answer, at)[0]
        return int(answer[at + 2:at + 2 + length])

    def ask(self, opcode, body, expected=RESULT):
        self.socket.sendall(frame(opcode, 1, body))
        found, answer = self.next_answer()
        if found != expected:
            raise SystemExit(f"the server answered {found:#x}: {answer[:300]!r}")
        return answer

    def next_answer(self):
        while True:
            if len(self.received) >= 9:
                length = struct.unpack_from(">i", self.received, 5)[0]
                if len(self.received) >= 9 + length:
                    opcode, body = self.received[4], self.received[9:9 + length]
                    self.received = self.received[9 + length:]
                    return opcode, body
            self.fill()

    def fill(self):
        more = self.socket.recv(1 << 17)
        if not more:
            raise SystemExit("the server closed the connection")
        self.received += more

    def query(self, text):
        text = text.encode()
        return self.ask(QUERY, struct.pack(">i", len(text)) + text + struct.pack(">HB", LOCAL_ONE, 0))

    def prepare(self, text):
        text = text.encode()
        answer = self.ask(PREPARE, struct.pack(">i", len(text)) + text)
        length = struct.unpack_from(">H", answer, 4)[0]
        return answer[6:6 + length]

    def pump(self, groups):
        """Sends each group of frames with one call and waits for all its answers; returns bytes received."""
        received = 0
        for frames, count in groups:
            self.socket.sendall(frames)
            received += self.take(count)
        return received

    def take(self, count):
        """Waits for `count` answers."""
        total, buffer, at = 0, self.received, 0
        while count:
            if len(buffer) - at < 9 or len(buffer) - at < 9 + (length := struct.unpack_from(">i", buffer, at + 5)[0]):
                buffer, at = buffer[at:] + self.socket.recv(1 << 17), 0
                continue
            if buffer[at + 4] != RESULT:
                raise SystemExit(f"the server answered with an error: {buffer[at:at + 300]!r}")
            at += 9 + length
            total += 9 + length
            count -= 1
        self.received = buffer[at:]
        return total
