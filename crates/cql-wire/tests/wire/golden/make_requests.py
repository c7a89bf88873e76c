"""Writes requests.txt and segments.txt with the encoders of the Python driver (PyPI: cassandra-driver 3.30, lz4).

Only for making the golden files anew:  python make_requests.py
Each line is: name, version, hex of the bytes.
"""
import io
import pathlib

from cassandra import ConsistencyLevel
from cassandra.connection import lz4_compress, segment_codec_lz4, segment_codec_no_compression
from cassandra.protocol import (
    AuthResponseMessage, BatchMessage, ExecuteMessage, OptionsMessage, PrepareMessage, ProtocolHandler, QueryMessage,
    RegisterMessage, StartupMessage, _UNSET_VALUE,
)
from cassandra.query import BatchType

CL = ConsistencyLevel
HERE = pathlib.Path(__file__).parent


def messages(version):
    yield "startup", StartupMessage("3.4.7", {"COMPRESSION": "lz4"})
    yield "auth_response", AuthResponseMessage(b"\0user\0password")
    yield "options", OptionsMessage()
    yield "query_minimal", QueryMessage("SELECT * FROM ks.t", CL.ONE)
    full = dict(serial_consistency_level=CL.LOCAL_SERIAL, fetch_size=5000, paging_state=b"\x01\x02\x03",
                timestamp=1700000000000000)
    if version >= 5:
        full["keyspace"] = "ks"
    yield "query_full", QueryMessage("SELECT v FROM t WHERE k = 'ä'", CL.LOCAL_QUORUM, **full)
    yield "prepare", PrepareMessage("INSERT INTO t (k, v) VALUES (?, ?)")
    if version >= 5:
        yield "prepare_keyspace", PrepareMessage("INSERT INTO t (k, v) VALUES (?, ?)", keyspace="ks")
    values = [b"\0\0\0\x07", None, b""]
    if version >= 4:
        values.append(_UNSET_VALUE)
    execute = ExecuteMessage("0123456789abcdef", values, CL.QUORUM, fetch_size=100, timestamp=5,
                             result_metadata_id="fedcba9876543210")
    yield "execute", execute
    batch = BatchMessage(BatchType.UNLOGGED, [
        (False, "INSERT INTO t (k) VALUES (1)", []),
        (True, b"\xAA\xBB", [b"x", None]),
    ], CL.EACH_QUORUM, serial_consistency_level=CL.SERIAL, timestamp=9)
    yield "batch", batch
    if version >= 5:
        yield "batch_keyspace", BatchMessage(BatchType.COUNTER, [(True, b"\x01", [])], CL.ALL, keyspace="other")
    yield "register", RegisterMessage(["TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE"])
    if version >= 4:
        payload = QueryMessage("SELECT now() FROM system.local", CL.TWO)
        payload.custom_payload = {"k": b"\x01\x02"}
        payload.tracing = True
        yield "query_payload_traced", payload


def encode(message, stream, version, compressor=None):
    return ProtocolHandler.encode_message(message, stream, version, compressor, False)


def segments():
    options = encode(OptionsMessage(), 1, 5)
    small = encode(QueryMessage("SELECT 1", CL.ONE), 2, 5)
    repetitive = encode(QueryMessage("SELECT " + "a, " * 100 + "b FROM t", CL.ONE), 3, 5)
    for name, codec in (("plain", segment_codec_no_compression), ("lz4", segment_codec_lz4)):
        for kind, payload in (("one", options), ("two", options + small), ("repetitive", repetitive)):
            buffer = io.BytesIO()
            codec.encode(buffer, payload)
            yield f"{name}_{kind}", buffer.getvalue()


def main():
    with open(HERE / "requests.txt", "w") as out:
        for version in (3, 4, 5):
            for stream, (name, message) in enumerate(messages(version)):
                out.write(f"{name} {version} {encode(message, stream, version).hex()}\n")
        text = "SELECT " + "a, " * 200 + "b FROM t"
        for version in (3, 4):
            data = encode(QueryMessage(text, CL.ONE), 500, version, lz4_compress)
            out.write(f"query_lz4 {version} {data.hex()}\n")
    with open(HERE / "segments.txt", "w") as out:
        for name, data in segments():
            out.write(f"{name} 5 {data.hex()}\n")


main()
