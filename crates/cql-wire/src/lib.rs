//! The CQL native protocol: frames, segments, messages, compression. No I/O.
