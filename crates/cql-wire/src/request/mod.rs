//! Requests: decoded in place by servers, encoded by our own test client and tools.
//!
//! A decoded request borrows everything from the body; decoding allocates nothing unless it fails. Bytes after the
//! last field of a message are ignored, as Cassandra ignores them.

mod batch;
mod params;
mod startup;
mod values;

pub use batch::{Batch, BatchIter, BatchList, BatchQuery, BatchStatement, BatchStatements, BatchType};
pub use params::QueryParams;
pub use startup::{Startup, StartupOptions};
pub use values::{NamedValueIter, Value, ValueIter, ValueList, Values};

use crate::envelope::{Direction, Envelope, OpenEnvelope, flags};
use crate::error::WireError;
use crate::event::EventKinds;
use crate::opcode::Opcode;
use crate::reader::Reader;
use crate::version::{Protocol, Version};
use crate::writer::{put_bytes, put_i32, put_long_string, put_short_bytes, put_string};

/// Flag of PREPARE in v5: a keyspace follows.
const PREPARE_KEYSPACE: i32 = 0x01;

/// A request.
///
/// ```
/// use cql_wire::{ClientCodec, Consistency, Protocol, QueryParams, Request, Version};
///
/// let protocol = Protocol::new(Version::V4);
/// let request = Request::Query { query: "SELECT * FROM t", params: QueryParams::new(Consistency::One) };
/// let mut out = Vec::new();
/// request.encode(protocol, 7, 0, &mut out);
/// assert_eq!(out[..5], [0x04, 0x00, 0x00, 0x07, 0x07]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    Startup(Startup<'a>),
    /// The token may be null.
    AuthResponse(Option<&'a [u8]>),
    Options,
    Query {
        query: &'a str,
        params: QueryParams<'a>,
    },
    Prepare {
        query: &'a str,
        /// v5 only.
        keyspace: Option<&'a str>,
    },
    Execute {
        id: &'a [u8],
        /// Present exactly if [`Protocol::has_metadata_id`]; may be empty.
        result_metadata_id: Option<&'a [u8]>,
        params: QueryParams<'a>,
    },
    Batch(Batch<'a>),
    Register(EventKinds),
}

impl<'a> Request<'a> {
    /// Decodes the body of an envelope. The version is the envelope's own; `protocol` adds the extensions.
    pub fn decode(protocol: Protocol, envelope: &Envelope<'a>) -> Result<Request<'a>, WireError> {
        let version = envelope.version;
        let protocol = Protocol { version, ..protocol };
        let mut reader = Reader::new(envelope.body);
        if version >= Version::V4 && envelope.flags & flags::CUSTOM_PAYLOAD != 0 {
            reader.skip_bytes_map("custom payload")?;
        }
        let reader = &mut reader;
        match envelope.opcode {
            Opcode::Startup => Startup::read(reader).map(Request::Startup),
            Opcode::AuthResponse => reader.bytes("authentication token").map(Request::AuthResponse),
            Opcode::Options => Ok(Request::Options),
            Opcode::Query => {
                let query = reader.long_string("query string")?;
                Ok(Request::Query { query, params: QueryParams::read(reader, version)? })
            }
            Opcode::Prepare => Request::read_prepare(reader, version),
            Opcode::Execute => {
                let id = reader.short_bytes("statement id")?;
                let result_metadata_id = if protocol.has_metadata_id() {
                    Some(reader.short_bytes("result metadata id")?)
                } else {
                    None
                };
                let params = QueryParams::read(reader, version)?;
                Ok(Request::Execute { id, result_metadata_id, params })
            }
            Opcode::Batch => Batch::read(reader, version).map(Request::Batch),
            Opcode::Register => EventKinds::read(reader).map(Request::Register),
            opcode => Err(WireError::WrongDirection { opcode }),
        }
    }

    fn read_prepare(reader: &mut Reader<'a>, version: Version) -> Result<Request<'a>, WireError> {
        let query = reader.long_string("query string")?;
        let mut keyspace = None;
        if version >= Version::V5 && reader.i32("flags of PREPARE")? & PREPARE_KEYSPACE != 0 {
            keyspace = Some(reader.string("keyspace of PREPARE")?);
        }
        Ok(Request::Prepare { query, keyspace })
    }

    /// The message kind.
    #[must_use]
    pub fn opcode(&self) -> Opcode {
        match self {
            Request::Startup(_) => Opcode::Startup,
            Request::AuthResponse(_) => Opcode::AuthResponse,
            Request::Options => Opcode::Options,
            Request::Query { .. } => Opcode::Query,
            Request::Prepare { .. } => Opcode::Prepare,
            Request::Execute { .. } => Opcode::Execute,
            Request::Batch(_) => Opcode::Batch,
            Request::Register(_) => Opcode::Register,
        }
    }

    /// Appends the request as one plain envelope. `flags` are header flags ([`flags::TRACING`]); a custom payload
    /// cannot be sent this way. Give the bytes to [`crate::Framing::frame`] before they go to the socket.
    pub fn encode(&self, protocol: Protocol, stream: i16, flags: u8, out: &mut Vec<u8>) {
        let version = protocol.version;
        let open = OpenEnvelope::begin(out, version, Direction::Request, flags, stream, self.opcode());
        match self {
            Request::Startup(startup) => startup.write(out),
            Request::AuthResponse(token) => put_bytes(out, *token),
            Request::Options => {}
            Request::Query { query, params } => {
                put_long_string(out, query);
                params.write(out, version);
            }
            Request::Prepare { query, keyspace } => {
                put_long_string(out, query);
                if version >= Version::V5 {
                    put_i32(out, if keyspace.is_some() { PREPARE_KEYSPACE } else { 0 });
                    keyspace.inspect(|keyspace| put_string(out, keyspace));
                }
            }
            Request::Execute { id, result_metadata_id, params } => {
                put_short_bytes(out, id);
                if protocol.has_metadata_id() {
                    put_short_bytes(out, result_metadata_id.unwrap_or_default());
                }
                params.write(out, version);
            }
            Request::Batch(batch) => batch.write(out, version),
            Request::Register(kinds) => kinds.write(out),
        }
        if !open.finish(out) {
            out.truncate(open.start());
        }
    }
}
