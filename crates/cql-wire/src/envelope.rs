//! Envelopes: the 9-byte header that delimits every message, in all versions.
//!
//! ```text
//! version u8 (0x80 = response) | flags u8 | stream i16 | opcode u8 | length i32 | body
//! ```
//!
//! The version byte is judged before anything else, because headers of v1 and v2 are shorter: a client of those
//! versions must get its answer although the rest of "our" header never arrives.

use crate::opcode::Opcode;
use crate::version::Version;
use crate::writer::{patch_i32, put_u8};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 9;

/// The bit of the version byte that marks a response.
pub const RESPONSE_BIT: u8 = 0x80;

/// Header flag bits.
pub mod flags {
    /// The body is compressed (v3, v4). Ignored in v5.
    pub const COMPRESSED: u8 = 0x01;
    /// Request: trace this. Response: the body starts with the tracing id.
    pub const TRACING: u8 = 0x02;
    /// The body holds a custom payload (v4 and later).
    pub const CUSTOM_PAYLOAD: u8 = 0x04;
    /// Response: the body holds warnings (v4 and later).
    pub const WARNINGS: u8 = 0x08;
    /// The client accepts a beta version.
    pub const USE_BETA: u8 = 0x10;
}

/// Who sends an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Request,
    Response,
}

impl Direction {
    fn bit(self) -> u8 {
        match self {
            Direction::Request => 0,
            Direction::Response => RESPONSE_BIT,
        }
    }
}

/// A decoded header. `opcode` stays a byte, since an unknown one does not put the connection out of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub version: Version,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    /// Bytes of the body as declared, not yet received or trusted.
    pub length: u32,
}

/// A header that makes it impossible to go on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderError {
    /// A version we do not speak (`number` without the direction bit).
    Version { number: u8 },
    /// Version 6 without the flag that accepts beta versions.
    Beta,
    /// A request where a response was due, or the reverse.
    Direction { version: Version },
    /// A length below zero.
    Length { version: Version, stream: i16, length: i32 },
}

impl std::fmt::Display for HeaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HeaderError::Version { number } => {
                let [a, b, c, d] = Version::ALL;
                write!(
                    f,
                    "Invalid or unsupported protocol version ({number}); supported versions are ({a}, {b}, {c}, {d})"
                )
            }
            HeaderError::Beta => {
                f.write_str("Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset")
            }
            HeaderError::Direction { version } => {
                write!(f, "Wrong protocol direction in the version byte of an envelope ({version})")
            }
            HeaderError::Length { length, .. } => write!(f, "Invalid frame body length: {length}"),
        }
    }
}

impl std::error::Error for HeaderError {}

impl Header {
    /// Reads a header from the start of `bytes`. `Ok(None)` means that more bytes are needed.
    pub fn decode(bytes: &[u8], direction: Direction) -> Result<Option<Header>, HeaderError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        let number = first & !RESPONSE_BIT;
        let version = Version::from_number(number).ok_or(HeaderError::Version { number })?;
        if version.is_beta() {
            let Some(header_flags) = bytes.get(1) else { return Ok(None) };
            if header_flags & flags::USE_BETA == 0 {
                return Err(HeaderError::Beta);
            }
        }
        if first & RESPONSE_BIT != direction.bit() {
            return Err(HeaderError::Direction { version });
        }
        let Some([_, flags, s0, s1, opcode, l0, l1, l2, l3]) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let stream = i16::from_be_bytes([*s0, *s1]);
        let length = i32::from_be_bytes([*l0, *l1, *l2, *l3]);
        match u32::try_from(length) {
            Ok(length) => Ok(Some(Header { version, flags: *flags, stream, opcode: *opcode, length })),
            Err(_) => Err(HeaderError::Length { version, stream, length }),
        }
    }

    /// Appends the header.
    pub fn encode(&self, direction: Direction, out: &mut Vec<u8>) {
        put_u8(out, self.version.number() | direction.bit());
        put_u8(out, self.flags);
        out.extend_from_slice(&self.stream.to_be_bytes());
        put_u8(out, self.opcode);
        out.extend_from_slice(&self.length.to_be_bytes());
    }

    /// Whether this flag bit is set.
    #[must_use]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// One whole message as received: the body is decompressed and borrowed from the codec's buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub version: Version,
    /// See [`flags`].
    pub flags: u8,
    pub stream: i16,
    pub opcode: Opcode,
    pub body: &'a [u8],
}

impl Envelope<'_> {
    /// Whether the client asked for a trace of this request.
    #[must_use]
    pub fn wants_tracing(&self) -> bool {
        self.flags & flags::TRACING != 0
    }
}

/// Writes the header now and its length at the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenEnvelope {
    start: usize,
}

impl OpenEnvelope {
    pub(crate) fn begin(
        out: &mut Vec<u8>,
        version: Version,
        direction: Direction,
        flags: u8,
        stream: i16,
        opcode: Opcode,
    ) -> OpenEnvelope {
        let start = out.len();
        let flags = if version.is_beta() { flags | self::flags::USE_BETA } else { flags };
        Header { version, flags, stream, opcode: opcode as u8, length: 0 }.encode(direction, out);
        OpenEnvelope { start }
    }

    /// Where the envelope began in the output.
    pub(crate) fn start(self) -> usize {
        self.start
    }

    /// Fills in the length. False if the body is too long for the field; the caller must then drop the envelope.
    #[must_use]
    pub(crate) fn finish(self, out: &mut [u8]) -> bool {
        self.finish_before(out, 0)
    }

    /// The same for a body that goes on elsewhere, for so many bytes.
    #[must_use]
    pub(crate) fn finish_before(self, out: &mut [u8], more: usize) -> bool {
        let body = out.len().saturating_sub(self.start + HEADER_BYTES).saturating_add(more);
        let Ok(length) = i32::try_from(body) else { return false };
        patch_i32(out, self.start + HEADER_BYTES - 4, length);
        true
    }
}
