"""Reads responses.txt with the decoders of the Python driver (PyPI: cassandra-driver 3.30) and prints what they say.

Only for judging the golden file after it was made anew:  python check_responses.py
Fails if a response cannot be decoded; whether it says what the sample meant is for the reader.
"""
import pathlib

from cassandra.cqltypes import Int32Type, UTF8Type
from cassandra.protocol import ProtocolHandler

HERE = pathlib.Path(__file__).parent
# What a driver would remember from PREPARE when it asks for rows without metadata.
REMEMBERED = [("ks", "t", "k", Int32Type), ("ks", "t", "v", UTF8Type)]


def show(message):
    fields = {key: value for key, value in sorted(vars(message).items())
              if value not in (None, [], {}) and key not in ("stream_id", "name")}
    if "column_types" in fields:
        fields["column_types"] = [t.cql_parameterized_type() for t in fields["column_types"]]
    for key in ("column_metadata", "bind_metadata"):
        if key in fields:
            fields[key] = [str(column) for column in fields[key]]
    return f"{type(message).__name__} {fields}"


def main():
    for line in open(HERE / "responses.txt"):
        name, version, data = line.split()
        version, data = int(version), bytes.fromhex(data)
        assert data[0] == version | 0x80 and int.from_bytes(data[5:9], "big") == len(data) - 9, name
        stream = int.from_bytes(data[2:4], "big", signed=True)
        metadata = REMEMBERED if "skip" in name else None
        message = ProtocolHandler.decode_message(version, {}, stream, data[1], data[4], data[9:], None, metadata)
        print(f"{name} v{version}: stream {stream}: {show(message)}")


main()
