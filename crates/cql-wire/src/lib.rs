//! The CQL native protocol, versions 3, 4 and 5: frames, segments, messages, compression. No I/O.
//!
//! Bytes become messages in two steps. A codec ([`ServerCodec`], [`ClientCodec`]) is fed whatever the socket gave and
//! hands out whole [`Envelope`]s, decompressed and checked; [`Request::decode`] and [`Response::decode`] then read the
//! body, borrowing from it. The other way, [`Request::encode`], [`Response::encode`] and [`RowsWriter`] append plain
//! envelopes to a buffer, and [`Framing::frame`] turns those into what goes to the socket.
//!
//! Guarantees: no input makes this crate panic; memory grows with bytes received, never with lengths declared, and
//! stays within the codec's limit; decoding a request allocates nothing unless it fails; encoding rows allocates
//! nothing per cell.
//!
//! Not here: the meaning of values (crate `model`), statements and prepared ids (crate `cql`), sockets and TLS (crate
//! `server`). Types of columns are described with this crate's own [`WireType`]; the server maps.

mod codec;
mod compress;
mod consistency;
mod crc;
mod envelope;
mod error;
mod event;
mod framing;
mod inbound;
mod opcode;
mod reader;
mod refusal;
mod request;
mod response;
mod segment;
mod version;
mod writer;

pub use codec::{ClientCodec, Negotiated, ServerCodec, Stage};
pub use consistency::Consistency;
pub use envelope::{Direction, Envelope, HEADER_BYTES, Header, HeaderError, flags};
pub use error::WireError;
pub use event::{
    ChangeKind, ChangeTarget, EVENT_STREAM, Event, EventKind, EventKinds, SchemaChange, StatusChange,
    TopologyChange,
};
pub use framing::{Framing, PIECE_BYTES};
pub use inbound::Body;
pub use opcode::Opcode;
pub use reader::Reader;
pub use refusal::Refusal;
pub use request::{
    Batch, BatchIter, BatchList, BatchQuery, BatchStatement, BatchStatements, BatchType, NamedValueIter,
    QueryParams, Request, Startup, StartupOptions, Value, ValueIter, ValueList, Values,
};
pub use response::{
    Acknowledgements, ColumnSpec, ErrorKind, ErrorMessage, LWT_MARK, Prefix, Prepared, ReplicaFailures,
    Reply, Response, Rows, RowsMetadata, RowsWriter, SupportedOptions, WireType, WriteType, WrittenColumns,
};
pub use version::{Compression, Protocol, Version};
pub use writer::put_bytes;
