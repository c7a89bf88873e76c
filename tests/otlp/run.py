#!/usr/bin/env python3
"""What a collector gets with --otlp-endpoint, read with OpenTelemetry's own message definitions (PyPI, pinned).

usage: run.py PARTITA-BINARY. A collector listens on loopback; the server gets a little work with every request sampled. Bodies must parse without
unknown fields; metrics must have names, types and times; spans must have ids, times, the statement without its values, and no keys.
Last line: N passed, N failed.
"""
import http.server
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "attack"), str(HERE.parents[1] / "drivers")]
import client  # noqa: E402
import harness  # noqa: E402

SECRET = "a-key-that-nobody-may-see"
WAIT_SECONDS = 40
passed = failed = 0


def check(name, holds, why=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"ok {name}" if holds else f"FAIL {name}: {why}", flush=True)


def in_venv():
    """This program again, with the packages it reads messages with."""
    folder = harness.CACHE / "otlp"
    folder.mkdir(parents=True, exist_ok=True)
    python = harness.install_venv("otlp", HERE / "requirements.txt", folder / "install.log") / "python"
    os.execv(python, [str(python), __file__, "--installed", *sys.argv[1:]])


class Collector(http.server.BaseHTTPRequestHandler):
    bodies = {"/v1/metrics": [], "/v1/traces": []}
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.bodies.setdefault(self.path, []).append((self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def wait(condition):
    end = time.monotonic() + WAIT_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def is_known(message):
    """Whether neither the message nor anything in it has a field that OpenTelemetry does not define."""
    from google.protobuf.message import Message
    from google.protobuf.unknown_fields import UnknownFieldSet

    if len(UnknownFieldSet(message)):
        return False
    for _, value in message.ListFields():
        parts = [value] if isinstance(value, Message) else value if hasattr(value, "__getitem__") else []
        if not all(is_known(part) for part in parts if isinstance(part, Message)):
            return False
    return True


def parsed(kind, path):
    """Every body that came to a path, as messages; nothing when one is no such message."""
    found = []
    for content_type, body in Collector.bodies[path]:
        message = kind.FromString(body)
        if content_type != "application/x-protobuf" or not is_known(message):
            return []
        found.append(message)
    return found


def main(binary):
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        to = f"http://127.0.0.1:{listener.server_port}"
        server, ports = client.start(binary, folder + "/data", "--otlp-endpoint", to, "--otlp-sample-every", "1", "--no-dynamo")
        began = time.time_ns()
        connection = client.Connection(ports["cql"])
        connection.query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        connection.query("CREATE TABLE k.t (a text, b int, PRIMARY KEY (a, b))")
        prepared = connection.prepare("SELECT b FROM k.t WHERE a = ?")
        for n in range(20):
            connection.query(f"INSERT INTO k.t (a, b) VALUES ('{SECRET}', {n})")
            connection.execute(prepared, [SECRET.encode()])
        arrived = wait(lambda: Collector.bodies["/v1/metrics"] and len(spans_of(parsed(ExportTraceServiceRequest, "/v1/traces"))) >= 40)
        check("metrics and spans arrive", arrived, {path: len(bodies) for path, bodies in Collector.bodies.items()})
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=20)
    check("nothing came to other paths", set(Collector.bodies) == {"/v1/metrics", "/v1/traces"}, set(Collector.bodies))
    metrics(parsed(ExportMetricsServiceRequest, "/v1/metrics"), began)
    traces(parsed(ExportTraceServiceRequest, "/v1/traces"), began)
    check("no key is in what was sent", not any(SECRET.encode() in body for bodies in Collector.bodies.values() for _, body in bodies))
    print(f"{passed} passed, {failed} failed")
    raise SystemExit(failed > 0)


def service(resource):
    return {one.key: one.value.string_value for one in resource.attributes}.get("service.name")


def spans_of(messages):
    return [span for message in messages or [] for of in message.resource_spans for scope in of.scope_spans for span in scope.spans]


def metrics(messages, began):
    check("metrics parse as OTLP", messages, Collector.bodies["/v1/metrics"][:1])
    if not messages:
        return
    check("their resource names the service", all(service(of.resource) == "partita" for m in messages for of in m.resource_metrics))
    last = {one.name: one for of in messages[-1].resource_metrics for scope in of.scope_metrics for one in scope.metrics}
    check("there are more than forty, each with a name", len(last) > 40 and all(last), len(last))
    kinds = {one.WhichOneof("data") for one in last.values()}
    check("they are gauges, sums and histograms", kinds <= {"gauge", "sum", "histogram"} and {"gauge", "sum"} <= kinds, kinds)
    points = [point for one in last.values() for point in getattr(one, one.WhichOneof("data")).data_points]
    check("every point has its time", points and all(point.time_unix_nano >= began for point in points))
    sums = [one for one in last.values() if one.WhichOneof("data") == "sum"]
    check("sums say since when they count", all(one.sum.aggregation_temporality == 2 for one in sums), [one.name for one in sums][:5])


def traces(messages, began):
    spans = spans_of(messages)
    check("spans parse as OTLP", spans, Collector.bodies["/v1/traces"][:1])
    if not spans:
        return
    check("their resource names the service", all(service(of.resource) == "partita" for m in messages for of in m.resource_spans))
    check("ids have 16 and 8 bytes and are no zeros", all(len(s.trace_id) == 16 and len(s.span_id) == 8 and any(s.trace_id) and any(s.span_id) for s in spans))
    check("no span id comes twice", len({s.span_id for s in spans}) == len(spans))
    now = time.time_ns()
    check("they end after they begin, and both were a moment ago", all(began - 10**9 <= s.start_time_unix_nano <= s.end_time_unix_nano <= now for s in spans))
    texts = [one.value.string_value for span in spans for one in span.attributes if one.key == "db.query.text"]
    wanted = {"INSERT INTO k.t (a, b) VALUES (?, ?)": 20, "SELECT * FROM k.t WHERE a = ?": 20}
    found = {text: texts.count(text) for text in wanted}
    check("each request is a span with its statement", found == wanted, f"{found}; {sorted(set(texts))[:10]}")


if __name__ == "__main__":
    if sys.argv[1] == "--installed":
        main(os.path.abspath(sys.argv[2]))
    in_venv()
