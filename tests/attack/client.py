"""A client of the native protocol, version 4, in as few lines as an attacker needs: no driver stands between a hostile request and the server."""
import re
import socket
import struct
import subprocess


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, code, text):
        super().__init__(f"0x{code:04x} {text}")
        self.code, self.text = code, text


def long_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">i", len(data)) + data


class Connection:
    """One connection; requests are answered in turn unless they are sent with `send` and read with `receive`."""

    def __init__(self, port, user=None, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = 0
        opcode, body = self.request(0x01, struct.pack(">H", 1) + b"\x00\x0bCQL_VERSION\x00\x053.0.0")
        if opcode == 0x03:
            token = f"\0{user}\0{user}".encode()
            opcode, body = self.request(0x0F, struct.pack(">i", len(token)) + token)
        assert opcode in (0x02, 0x10), (opcode, body)

    def close(self):
        self.socket.close()

    def send(self, opcode, body):
        self.stream = (self.stream + 1) % 30000
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, self.stream, opcode, len(body)) + body)

    def receive(self):
        head = self.read(9)
        _, _, _, opcode, length = struct.unpack(">BBhBi", head)
        body = self.read(length)
        if opcode == 0x00:
            code, length = struct.unpack(">iH", body[:6])
            raise Refused(code, body[6:6 + length].decode(errors="replace"))
        return opcode, body

    def read(self, count):
        parts = []
        while count:
            part = self.socket.recv(min(count, 1 << 20))
            if not part:
                raise ConnectionError("the server closed the connection")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def request(self, opcode, body):
        self.send(opcode, body)
        return self.receive()

    def query(self, text, values=(), page=5000):
        return self.request(0x07, long_string(text) + parameters(values, page))

    def prepare(self, text):
        _, body = self.request(0x09, long_string(text))
        length = struct.unpack(">H", body[4:6])[0]
        return body[6:6 + length]

    def execute(self, statement, values=(), page=5000):
        return self.request(0x0A, struct.pack(">H", len(statement)) + statement + parameters(values, page))

    def batch(self, texts):
        statements = b"".join(b"\0" + long_string(text) + b"\0\0" for text in texts)
        return self.request(0x0D, b"\1" + struct.pack(">H", len(texts)) + statements + struct.pack(">HB", 1, 0))


def parameters(values, page):
    flags = (0x01 if values else 0) | 0x04
    body = struct.pack(">HB", 1, flags)
    if values:
        body += struct.pack(">H", len(values)) + b"".join(long_string(value) for value in values)
    return body + struct.pack(">i", page)


def start(binary, folder, *options):
    """A server on free ports; its process and its ports by name."""
    server = subprocess.Popen(
        [binary, "serve", "--data", folder, "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--no-shard-aware", "--log", "warn", *options],
        stdout=subprocess.PIPE, stderr=open(folder + ".err", "ab"), text=True)
    ports = {}
    for line in server.stdout:
        found = re.match(r"listening (\w+) 127\.0\.0\.1:(\d+)", line)
        if found:
            ports[found.group(1)] = int(found.group(2))
        if {"cql", "http"} <= ports.keys():
            return server, ports
    raise SystemExit(f"the server did not start:\n{open(folder + '.err').read()}")
