//! Responses: encoded by servers straight into an output buffer, decoded by our own test client and tools.
//!
//! [`Response::encode`] serves every kind; [`RowsWriter`] is the way for rows, whose cells are copied once, from the
//! store into the output. Output is plain envelopes; [`crate::Framing::frame`] turns them into what goes to the socket.

mod columns;
mod failure;
mod prepared;
mod rows;
mod wire_type;

pub use columns::{ColumnSpec, WrittenColumns};
pub use failure::{Acknowledgements, ErrorKind, ErrorMessage, ReplicaFailures, WriteType};
pub use prepared::{LWT_MARK, Prepared};
pub use rows::{Rows, RowsMetadata, RowsWriter};
pub use wire_type::WireType;

use crate::envelope::{Direction, Envelope, OpenEnvelope, flags};
use crate::error::WireError;
use crate::event::{EVENT_STREAM, Event, SchemaChange};
use crate::opcode::Opcode;
use crate::reader::Reader;
use crate::version::{Protocol, Version};
use crate::writer::{put_bytes, put_i32, put_list, put_string, put_string_list};
use std::borrow::Cow;

const RESULT_VOID: i32 = 1;
const RESULT_ROWS: i32 = 2;
const RESULT_SET_KEYSPACE: i32 = 3;
const RESULT_PREPARED: i32 = 4;
const RESULT_SCHEMA_CHANGE: i32 = 5;

/// What every response says besides its content.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub protocol: Protocol,
    pub stream: i16,
    pub tracing_id: Option<[u8; 16]>,
    /// v4 and later; v3 clients do not get them.
    pub warnings: &'a [String],
    /// v4 and later; v3 clients do not get it.
    pub custom_payload: &'a [(String, Vec<u8>)],
}

impl<'a> Reply<'a> {
    /// An answer on `stream` without tracing, warnings or payload.
    pub fn new(protocol: impl Into<Protocol>, stream: i16) -> Reply<'a> {
        let protocol = protocol.into();
        Reply { protocol, stream, tracing_id: None, warnings: &[], custom_payload: &[] }
    }

    /// Writes the header and the prefixes of the body.
    fn begin(&self, out: &mut Vec<u8>, opcode: Opcode) -> OpenEnvelope {
        let version = self.protocol.version;
        let extended = version >= Version::V4;
        let warnings = self.warnings.get(..).filter(|w| extended && !w.is_empty());
        let payload = self.custom_payload.get(..).filter(|p| extended && !p.is_empty());
        let mut bits = 0;
        let mut set = |bit: u8, on: bool| bits |= if on { bit } else { 0 };
        set(flags::TRACING, self.tracing_id.is_some());
        set(flags::WARNINGS, warnings.is_some());
        set(flags::CUSTOM_PAYLOAD, payload.is_some());
        let envelope = OpenEnvelope::begin(out, version, Direction::Response, bits, self.stream, opcode);
        if let Some(id) = self.tracing_id {
            out.extend_from_slice(&id);
        }
        if let Some(warnings) = warnings {
            put_string_list(out, warnings);
        }
        if let Some(payload) = payload {
            put_list(out, payload.iter(), |out, (key, value)| {
                put_string(out, key);
                put_bytes(out, Some(value));
            });
        }
        envelope
    }
}

/// The prefixes of a decoded response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefix {
    pub tracing_id: Option<[u8; 16]>,
    pub warnings: Vec<String>,
    /// A null value is given as empty.
    pub custom_payload: Vec<(String, Vec<u8>)>,
}

impl Prefix {
    fn read(reader: &mut Reader<'_>, bits: u8) -> Result<Prefix, WireError> {
        let mut prefix = Prefix::default();
        if bits & flags::TRACING != 0 {
            prefix.tracing_id = Some(reader.uuid("tracing id")?);
        }
        if bits & flags::WARNINGS != 0 {
            prefix.warnings = reader.string_list("warnings")?;
        }
        if bits & flags::CUSTOM_PAYLOAD != 0 {
            for _ in 0..reader.u16("custom payload")? {
                let key = reader.string("custom payload")?.to_owned();
                let value = reader.bytes("custom payload")?.unwrap_or_default().to_vec();
                prefix.custom_payload.push((key, value));
            }
        }
        Ok(prefix)
    }
}

/// The keys and values of SUPPORTED.
pub type SupportedOptions = [(String, Vec<String>)];

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response<'a> {
    Error(ErrorMessage),
    Ready,
    /// The class name of the authenticator.
    Authenticate(&'a str),
    Supported(Cow<'a, SupportedOptions>),
    Void,
    Rows(Rows<'a>),
    SetKeyspace(&'a str),
    Prepared(Prepared<'a>),
    SchemaChange(SchemaChange),
    Event(Event),
    AuthChallenge(Option<&'a [u8]>),
    AuthSuccess(Option<&'a [u8]>),
}

impl<'a> Response<'a> {
    /// The message kind.
    #[must_use]
    pub fn opcode(&self) -> Opcode {
        match self {
            Response::Error(_) => Opcode::Error,
            Response::Ready => Opcode::Ready,
            Response::Authenticate(_) => Opcode::Authenticate,
            Response::Supported(_) => Opcode::Supported,
            Response::Void
            | Response::Rows(_)
            | Response::SetKeyspace(_)
            | Response::Prepared(_)
            | Response::SchemaChange(_) => Opcode::Result,
            Response::Event(_) => Opcode::Event,
            Response::AuthChallenge(_) => Opcode::AuthChallenge,
            Response::AuthSuccess(_) => Opcode::AuthSuccess,
        }
    }

    /// Appends the response as one plain envelope. An EVENT goes to stream -1 whatever `reply` says. A body above
    /// 2 GiB cannot be sent; an error takes its place.
    pub fn encode(&self, reply: &Reply<'_>, out: &mut Vec<u8>) {
        let version = reply.protocol.version;
        if let Response::Rows(rows) = self {
            return encode_rows(rows, reply, out);
        }
        let stream = if matches!(self, Response::Event(_)) { EVENT_STREAM } else { reply.stream };
        let envelope = Reply { stream, ..*reply }.begin(out, self.opcode());
        let mut kind = |code: i32| put_i32(out, code);
        match self {
            Response::Rows(_) | Response::Ready => {}
            Response::Error(error) => error.write(out, version),
            Response::Authenticate(class) => put_string(out, class),
            Response::Supported(options) => put_list(out, options.iter(), |out, (key, values)| {
                put_string(out, key);
                put_string_list(out, values);
            }),
            Response::Void => kind(RESULT_VOID),
            Response::SetKeyspace(keyspace) => {
                kind(RESULT_SET_KEYSPACE);
                put_string(out, keyspace);
            }
            Response::Prepared(prepared) => {
                kind(RESULT_PREPARED);
                prepared.write(out, reply.protocol);
            }
            Response::SchemaChange(change) => {
                kind(RESULT_SCHEMA_CHANGE);
                change.write(out, version);
            }
            Response::Event(event) => event.write(out, version),
            Response::AuthChallenge(token) | Response::AuthSuccess(token) => put_bytes(out, *token),
        }
        if !envelope.finish(out) {
            out.truncate(envelope.start());
            encode_too_large(out, version, stream);
        }
    }

    /// Decodes the body of an envelope. The version is the envelope's own; `protocol` adds the extensions.
    pub fn decode(protocol: Protocol, envelope: &Envelope<'a>) -> Result<(Prefix, Response<'a>), WireError> {
        let protocol = Protocol { version: envelope.version, ..protocol };
        let mut reader = Reader::new(envelope.body);
        let prefix = Prefix::read(&mut reader, envelope.flags)?;
        let reader = &mut reader;
        let response = match envelope.opcode {
            Opcode::Error => Response::Error(ErrorMessage::read(reader, envelope.version)?),
            Opcode::Ready => Response::Ready,
            Opcode::Authenticate => Response::Authenticate(reader.string("authenticator")?),
            Opcode::Supported => Response::Supported(read_supported(reader)?.into()),
            Opcode::Result => Response::read_result(reader, protocol)?,
            Opcode::Event => Response::Event(Event::read(reader)?),
            Opcode::AuthChallenge => Response::AuthChallenge(reader.bytes("authentication token")?),
            Opcode::AuthSuccess => Response::AuthSuccess(reader.bytes("authentication token")?),
            opcode => return Err(WireError::WrongDirection { opcode }),
        };
        Ok((prefix, response))
    }

    fn read_result(reader: &mut Reader<'a>, protocol: Protocol) -> Result<Response<'a>, WireError> {
        match reader.i32("result kind")? {
            RESULT_VOID => Ok(Response::Void),
            RESULT_ROWS => Rows::read(reader).map(Response::Rows),
            RESULT_SET_KEYSPACE => reader.string("keyspace").map(Response::SetKeyspace),
            RESULT_PREPARED => Prepared::read(reader, protocol).map(Response::Prepared),
            RESULT_SCHEMA_CHANGE => SchemaChange::read(reader).map(Response::SchemaChange),
            code => Err(WireError::UnknownCode { field: "a result kind", code: code.into() }),
        }
    }
}

/// Rows that were decoded before, or built whole by a test.
fn encode_rows(rows: &Rows<'_>, reply: &Reply<'_>, out: &mut Vec<u8>) {
    let skip = rows.columns.is_empty() && rows.column_count > 0;
    let metadata = RowsMetadata { columns: &rows.columns, skip, changed_id: rows.changed_id, written: None };
    let mut writer = RowsWriter::begin(out, reply, metadata);
    if skip {
        writer.set_column_count(rows.column_count);
    }
    writer.buffer().extend_from_slice(rows.cells);
    writer.finish(u32::try_from(rows.row_count).unwrap_or(u32::MAX), rows.paging_state);
}

fn read_supported(reader: &mut Reader<'_>) -> Result<Vec<(String, Vec<String>)>, WireError> {
    let mut options = Vec::new();
    for _ in 0..reader.u16("number of options")? {
        let key = reader.string("option")?.to_owned();
        options.push((key, reader.string_list("values of an option")?));
    }
    Ok(options)
}

/// What the client gets in place of a response that the length field cannot express.
fn encode_too_large(out: &mut Vec<u8>, version: Version, stream: i16) {
    let error = ErrorMessage::new(ErrorKind::Server, "The response is larger than an envelope can hold");
    Response::Error(error).encode(&Reply::new(version, stream), out);
}
