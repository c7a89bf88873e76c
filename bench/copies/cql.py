"""Statements at any consistency, and rows of ints as answers: what the programs of this folder need beside `bench/wire/client.py`."""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wire"))
import client  # noqa: E402

ONE, QUORUM, ALL = 0x01, 0x04, 0x05
WARNINGS = 0x08


class Refused(Exception):
    """The server answered with an error."""


class Session(client.Connection):
    def run(self, text, consistency=ONE):
        """Executes a statement; its rows, if it has some. Only columns of type int are understood."""
        text = text.encode()
        self.socket.sendall(client.frame(client.QUERY, 1, struct.pack(">i", len(text)) + text + struct.pack(">HB", consistency, 0)))
        while len(self.received) < 9 or len(self.received) < 9 + struct.unpack_from(">i", self.received, 5)[0]:
            self.fill()
        flags = self.received[1]
        opcode, body = self.next_answer()
        if flags & WARNINGS:
            # Of tombstones, mostly. They stand before the answer.
            count, at = struct.unpack_from(">H", body)[0], 2
            for _ in range(count):
                at += 2 + struct.unpack_from(">H", body, at)[0]
            body = body[at:]
        if opcode == client.ERROR:
            length = struct.unpack_from(">H", body, 4)[0]
            raise Refused(body[6:6 + length].decode(errors="replace"))
        kind = struct.unpack_from(">i", body)[0]
        return rows_of(body) if kind == 2 else []


def rows_of(body):
    flags, columns = struct.unpack_from(">ii", body, 4)
    at = 12
    if flags & 2:
        raise SystemExit("a page where everything was asked for")

    def text():
        nonlocal at
        length = struct.unpack_from(">H", body, at)[0]
        at += 2 + length

    if flags & 1:
        text(), text()
    for _ in range(columns):
        text()
        kind = struct.unpack_from(">H", body, at)[0]
        if kind != 9:
            raise SystemExit(f"a column of type {kind}")
        at += 2
    count = struct.unpack_from(">i", body, at)[0]
    at += 4
    rows = []
    for _ in range(count):
        row = []
        for _ in range(columns):
            length = struct.unpack_from(">i", body, at)[0]
            at += 4
            row.append(struct.unpack_from(">i", body, at)[0] if length == 4 else None)
            at += max(length, 0)
        rows.append(tuple(row))
    return rows
