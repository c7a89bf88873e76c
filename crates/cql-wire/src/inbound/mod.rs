//! From the bytes of a connection to whole envelopes: the common part of the two codecs.
//!
//! Memory: the receive buffer holds at most one incomplete envelope (or segment) beyond what was read and not yet taken,
//! the two work buffers hold at most one body each, and no body is longer than the limit. Declared lengths are compared
//! with the limit and otherwise only waited for.

mod body;
mod plain;
mod received;
mod segmented;

use crate::compress::{BodyError, decompress_body};
use crate::envelope::{Direction, Envelope, HEADER_BYTES, Header, HeaderError, flags};
use crate::error::WireError;
use crate::framing::Framing;
use crate::opcode::Opcode;
use crate::refusal::Refusal;
use crate::response::{ErrorKind, ErrorMessage};
use crate::version::Version;
pub use body::Body;
use received::{RETAIN_BYTES_MAX, Received};
use segmented::Segments;
use std::ops::Range;

/// Which buffer a body lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Received,
    Decompressed,
    Assembled,
}

/// A whole envelope, located but not borrowed, so that a codec can act on its header first.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) header: Header,
    pub(crate) opcode: Opcode,
    place: Place,
    body: Range<usize>,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(crate) struct Inbound {
    direction: Direction,
    body_bytes_max: usize,
    /// The version every further envelope must have.
    version: Option<Version>,
    framing: Framing,
    received: Received,
    /// A decompressed body or segment payload.
    decompressed: Vec<u8>,
    segments: Segments,
    /// Bytes of an oversized body still to be dropped (without segments).
    discard_left: usize,
    closed: bool,
}

impl Inbound {
    pub(crate) fn new(direction: Direction, body_bytes_max: usize) -> Inbound {
        Inbound {
            direction,
            body_bytes_max: body_bytes_max.min(i32::MAX as usize),
            version: None,
            framing: Framing::PLAIN,
            received: Received::default(),
            decompressed: Vec::new(),
            segments: Segments::default(),
            discard_left: 0,
            closed: false,
        }
    }

    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        let dropped = self.received.compact(self.segments.needs_received_from());
        self.segments.received_moved(dropped);
        self.received.spare(self.body_bytes_max)
    }

    /// Changes the limit on bodies for the envelopes that follow.
    pub(crate) fn set_body_bytes_max(&mut self, body_bytes_max: usize) {
        self.body_bytes_max = body_bytes_max.min(i32::MAX as usize);
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    /// From the next byte on, the connection is framed like this and speaks this version only.
    pub(crate) fn establish(&mut self, version: Version, framing: Framing) {
        self.version = Some(version);
        self.framing = framing;
    }

    /// Whether something has arrived that is not a whole envelope yet.
    pub(crate) fn is_partial(&self) -> bool {
        !self.closed
            && (!self.received.rest().is_empty() || self.discard_left > 0 || self.segments.is_partial())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.received.capacity() + self.decompressed.capacity() + self.segments.capacity()
    }

    /// Consumes the next whole envelope. After a refusal that closes, there is never another.
    pub(crate) fn locate(&mut self) -> Result<Option<Located>, Refusal> {
        if self.closed {
            let everything = self.received.rest().len();
            self.received.consume(everything);
            return Ok(None);
        }
        let located = if self.framing.has_segments() { self.locate_segmented() } else { self.locate_plain() };
        if matches!(&located, Err(refusal) if refusal.close) {
            self.closed = true;
        }
        located
    }

    pub(crate) fn envelope(&self, located: Located) -> Envelope<'_> {
        let Located { header, opcode, place, body } = located;
        let body = match place {
            Place::Received => self.received.get(body),
            Place::Decompressed => self.decompressed.get(body).unwrap_or_default(),
            Place::Assembled => self.segments.assembled(body),
        };
        Envelope { version: header.version, flags: header.flags, stream: header.stream, opcode, body }
    }

    /// Decodes a header at the start of `bytes` and checks its version against the connection's.
    fn header(&self, bytes: &[u8]) -> Result<Option<Header>, Refusal> {
        let decoded = Header::decode(bytes, self.direction).map_err(|error| self.refuse_header(error));
        let Some(header) = decoded? else { return Ok(None) };
        match self.version {
            Some(version) if version != header.version => {
                let message = format!(
                    "Invalid message version. Got {} but previous messages on this connection had version {version}",
                    header.version
                );
                Err(self.fatal(header.stream, message))
            }
            _ => Ok(Some(header)),
        }
    }

    fn refuse_header(&self, error: HeaderError) -> Refusal {
        let message = error.to_string();
        match error {
            // The answer is sent in our newest version on stream 0: that is what drivers look for to step down.
            HeaderError::Version { .. } | HeaderError::Beta => Refusal {
                version: if error == HeaderError::Beta { Version::V6 } else { Version::NEWEST },
                stream: 0,
                error: ErrorMessage::new(ErrorKind::Protocol, message),
                close: true,
            },
            HeaderError::Direction { version } => Refusal {
                version: self.version.unwrap_or(version),
                stream: 0,
                error: ErrorMessage::new(ErrorKind::Protocol, message),
                close: true,
            },
            HeaderError::Length { version, stream, .. } => Refusal {
                version: self.version.unwrap_or(version),
                stream,
                error: ErrorMessage::new(ErrorKind::Protocol, message),
                close: true,
            },
        }
    }

    /// A protocol error after which the connection cannot be understood any more.
    fn fatal(&self, stream: i16, message: impl Into<String>) -> Refusal {
        Refusal {
            version: self.version.unwrap_or(Version::NEWEST),
            stream,
            error: ErrorMessage::new(ErrorKind::Protocol, message),
            close: true,
        }
    }

    /// A body above the limit: answered, discarded, and the connection goes on.
    fn too_big(&self, header: Header, length: usize) -> Refusal {
        let max = self.body_bytes_max;
        let message = format!("Request is too big: length {length} exceeds maximum allowed length {max}.");
        Refusal {
            version: header.version,
            stream: header.stream,
            error: ErrorMessage::new(ErrorKind::Invalid, message),
            close: false,
        }
    }

    /// The last step for every envelope: its kind, and the body decompressed if it is (v3, v4).
    fn located(&mut self, header: Header, place: Place, body: Range<usize>) -> Result<Located, Refusal> {
        let refuse = |error: WireError| Refusal {
            version: header.version,
            stream: header.stream,
            error: error.into(),
            close: false,
        };
        let opcode = Opcode::from_byte(header.opcode)
            .ok_or_else(|| refuse(WireError::UnknownOpcode { byte: header.opcode }))?;
        if !header.has(flags::COMPRESSED) || header.version >= Version::V5 {
            return Ok(Located { header, opcode, place, body });
        }
        let compression =
            self.framing.compression().ok_or_else(|| refuse(WireError::CompressionNotNegotiated))?;
        if self.decompressed.capacity() > RETAIN_BYTES_MAX {
            self.decompressed = Vec::new();
        }
        let wire = self.received.get(body);
        match decompress_body(compression, wire, self.body_bytes_max, &mut self.decompressed) {
            Ok(()) => {
                Ok(Located { header, opcode, place: Place::Decompressed, body: 0..self.decompressed.len() })
            }
            Err(BodyError::TooLarge { length }) => Err(self.too_big(header, length)),
            Err(BodyError::Malformed(error)) => Err(refuse(error)),
        }
    }
}

/// The bytes of an envelope with this header; cannot overflow, as lengths are 31 bits.
fn total_bytes(header: &Header) -> usize {
    HEADER_BYTES + header.length as usize
}
