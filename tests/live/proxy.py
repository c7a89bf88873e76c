"""A proxy before a CQL server that counts, without asking the server, what goes through it: calls, rows and errors of every shape of statement.

It reads protocol v4 without compression, and changes nothing. The shape of a statement is its text with every literal replaced by a marker,
so that prepared and interpolated statements of one kind count together.
"""
import re
import socket
import struct
import threading
from collections import Counter

ERROR, QUERY, RESULT, PREPARE, EXECUTE, BATCH = 0x00, 0x07, 0x08, 0x09, 0x0A, 0x0D
ROWS, PREPARED = 2, 4
GLOBAL_SPEC, MORE_PAGES, NO_METADATA = 1, 2, 4

LITERAL = re.compile(r"'(?:[^']|'')*'|0x[0-9a-f]*|[0-9a-f]{8}-[0-9a-f-]{27}|(?<![\w?])-?\d+(?:\.\d+)?|\btrue\b|\bfalse\b|\bnull\b", re.I)


def shape(text):
    """The statement without its values, in one line."""
    text = LITERAL.sub("?", text)
    text = re.sub(r"\s+", " ", text).strip().rstrip(";").strip()
    text = re.sub(r"\s*([(,=])\s*", r"\1", text).lower()
    text = re.sub(r"\s*\)\s*(?=\w)", ") ", text)
    return re.sub(r"in\(\?(?:,\?)*\)", "in ?", text.replace(" in(", " in(")).replace("in(?)", "in ?")


SELECT_TEXT = re.compile(r"select (?P<what>.*?) from (?P<table>[\w.\"]+)(?: where (?P<where>.*?))?(?P<group> group by .*?)?(?P<order> order by .*?)?"
                         r"(?P<limit> limit \?)?(?: allow filtering)?$")
WRITE_TEXT = re.compile(r"(?P<verb>insert into|update|delete.*? from) (?P<table>[\w.\"]+)(?P<rest>.*)$")


def kind(text):
    """What access patterns tell apart: verb, table, restrictions, order, whether there is a limit, a group or a condition."""
    text = shape(text)
    if found := SELECT_TEXT.match(text):
        grouped = bool(found["group"] or re.match(r"distinct |(count|max|min|sum|avg)\(", found["what"]))
        parts = ("select", found["where"] or "", found["order"] or "", bool(found["limit"]), grouped)
    else:
        found = WRITE_TEXT.match(text)
        rest, _, condition = found["rest"].partition(" if ")
        if not condition and found["rest"].endswith("if not exists"):
            condition = "not exists"
        parts = (found["verb"].split()[0], rest.partition(" where ")[2], bool(condition))
    return found["table"].split(".")[-1], *parts


class Reader:
    """The parts of a body, one after the other."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, form):
        value = struct.unpack_from(">" + form, self.body, self.at)[0]
        self.at += struct.calcsize(">" + form)
        return value

    def some(self, count):
        self.at += count
        return self.body[self.at - count:self.at]

    def string(self):
        return self.some(self.take("H")).decode()

    def long_string(self):
        return self.some(self.take("i")).decode(errors="replace")

    def short_bytes(self):
        return bytes(self.some(self.take("H")))

    def values(self):
        for _ in range(self.take("H")):
            self.some(max(self.take("i"), 0))

    def type(self):
        kind = self.take("H")
        if kind == 0:
            self.string()
        elif kind in (0x20, 0x22):
            self.type()
        elif kind == 0x21:
            self.type(), self.type()
        elif kind == 0x30:
            self.string(), self.string()
            for _ in range(self.take("H")):
                self.string(), self.type()
        elif kind == 0x31:
            for _ in range(self.take("H")):
                self.type()


def rows_of(reader):
    """How many rows a RESULT of kind Rows holds."""
    flags, columns = reader.take("i"), reader.take("i")
    if flags & MORE_PAGES:
        reader.some(max(reader.take("i"), 0))
    if not flags & NO_METADATA:
        if flags & GLOBAL_SPEC:
            reader.string(), reader.string()
        for _ in range(columns):
            if not flags & GLOBAL_SPEC:
                reader.string(), reader.string()
            reader.string(), reader.type()
    return reader.take("i")


class Proxy:
    """Listens on a free port of loopback. `calls`, `rows` and `errors` are by shape."""

    def __init__(self, port):
        self.upstream, self.lock = port, threading.Lock()
        self.texts = {}
        self.reset()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def reset(self):
        with self.lock:
            self.calls, self.rows, self.errors = Counter(), Counter(), Counter()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.upstream))
            under_way = {}
            for source, sink, seen in ((client, server, self.asked), (server, client, self.answered)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pass_on, args=(source, sink, seen, under_way), daemon=True).start()

    def pass_on(self, source, sink, seen, under_way):
        held = b""
        try:
            while more := source.recv(1 << 16):
                held += more
                whole = 0
                while len(held) - whole >= 9:
                    _, flags, stream, opcode, length = struct.unpack_from(">BBhBi", held, whole)
                    if len(held) - whole < 9 + length:
                        break
                    with self.lock:
                        seen(under_way, stream, opcode, flags, held[whole + 9:whole + 9 + length])
                    whole += 9 + length
                # Counted first: nobody has an answer that was not counted.
                sink.sendall(held[:whole])
                held = held[whole:]
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def asked(self, under_way, stream, opcode, flags, body):
        reader = Reader(body)
        if opcode == QUERY:
            under_way[stream] = (opcode, [reader.long_string()])
        elif opcode == PREPARE:
            under_way[stream] = (opcode, [reader.long_string()])
        elif opcode == EXECUTE:
            under_way[stream] = (opcode, [self.texts[reader.short_bytes()]])
        elif opcode == BATCH:
            reader.take("B")
            texts = []
            for _ in range(reader.take("H")):
                texts.append(self.texts[reader.short_bytes()] if reader.take("B") else reader.long_string())
                reader.values()
            under_way[stream] = (opcode, texts)

    def answered(self, under_way, stream, opcode, flags, body):
        asked, texts = under_way.pop(stream, (None, []))
        reader = Reader(body)
        if flags & 0x02:
            reader.some(16)
        if flags & 0x08:
            for _ in range(reader.take("H")):
                reader.string()
        kind = reader.take("i") if opcode == RESULT else None
        if asked == PREPARE and kind == PREPARED:
            self.texts[reader.short_bytes()] = texts[0]
        if asked not in (QUERY, EXECUTE, BATCH):
            return
        for text in texts:
            self.calls[shape(text)] += 1
            self.errors[shape(text)] += opcode == ERROR
        if kind == ROWS and asked != BATCH:
            self.rows[shape(texts[0])] += rows_of(reader)
