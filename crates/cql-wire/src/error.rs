//! Why bytes of a message body could not be understood.
//!
//! Every variant carries facts; [`std::fmt::Display`] turns them into the text a client sees. A `WireError` never
//! means that the connection is out of step: the envelope was delimited, so the server answers on its stream and
//! goes on. Faults that do end a connection are [`crate::Refusal`]s with `close` set.

use crate::opcode::Opcode;
use std::fmt;

/// A malformed message body. Maps to error code 0x000A (protocol error).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireError {
    /// The body ended inside a field.
    Truncated { field: &'static str, needed: usize, left: usize },
    /// A length or count below zero where null is not allowed.
    NegativeLength { field: &'static str, length: i32 },
    /// A bound value with a length below -2.
    ValueLength { length: i32 },
    /// A string that is not UTF-8.
    NotUtf8 { field: &'static str },
    /// A byte for which there is no message kind.
    UnknownOpcode { byte: u8 },
    /// A message kind that this side never receives.
    WrongDirection { opcode: Opcode },
    /// A consistency code above 10.
    UnknownConsistency { code: u16 },
    /// A code or name outside the set that the field allows.
    UnknownCode { field: &'static str, code: i64 },
    /// A name outside the set that the field allows.
    UnknownName { field: &'static str, name: String },
    /// A page size of zero.
    PageSizeZero,
    /// The one timestamp that clients may not send.
    TimestampOutOfBounds,
    /// The named-values flag in BATCH, whose layout cannot work.
    NamedValuesInBatch,
    /// STARTUP without `CQL_VERSION`.
    MissingCqlVersion,
    /// STARTUP with a `CQL_VERSION` below 3.0.0 or unreadable.
    CqlVersion { version: String },
    /// STARTUP asks for an algorithm we do not have.
    UnknownCompression { name: String },
    /// STARTUP asks for snappy with v5.
    SnappyInV5,
    /// An envelope with the compression flag on a connection that did not negotiate one.
    CompressionNotNegotiated,
    /// A compressed body that does not decompress to its declared length.
    Decompression { algorithm: &'static str },
    /// A type description nested deeper than we follow.
    TypeTooDeep { depth_max: usize },
    /// An address that is neither 4 nor 16 bytes long.
    AddressLength { length: u8 },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Truncated { field, needed, left } => {
                write!(
                    f,
                    "Malformed message: {field} needs {needed} bytes but only {left} are left in the body"
                )
            }
            WireError::NegativeLength { field, length } => {
                write!(f, "Malformed message: {field} has the invalid length {length}")
            }
            WireError::ValueLength { length } => write!(f, "Invalid ByteBuf length {length}"),
            WireError::NotUtf8 { field } => write!(f, "Malformed message: {field} is not valid UTF-8"),
            WireError::UnknownOpcode { byte } => write!(f, "Unknown opcode {byte}"),
            WireError::WrongDirection { opcode } => {
                write!(f, "Wrong protocol direction: unexpected message {opcode}")
            }
            WireError::UnknownConsistency { code } => {
                write!(f, "Unknown code {code} for a consistency level")
            }
            WireError::UnknownCode { field, code } => write!(f, "Unknown code {code} for {field}"),
            WireError::UnknownName { field, name } => write!(f, "Invalid value '{name}' for {field}"),
            WireError::PageSizeZero => f.write_str("The page size cannot be 0"),
            WireError::TimestampOutOfBounds => {
                let (min, max) = (i64::MIN + 1, i64::MAX);
                write!(f, "Out of bound timestamp, must be in [{min}, {max}] (got {})", i64::MIN)
            }
            WireError::NamedValuesInBatch => f.write_str("Named values are not supported in BATCH messages"),
            WireError::MissingCqlVersion => f.write_str("Missing value CQL_VERSION in STARTUP message"),
            WireError::CqlVersion { version } => write!(
                f,
                "CQL version {version} is not supported by the binary protocol (supported version are >= 3.0.0)"
            ),
            WireError::UnknownCompression { name } => write!(f, "Unknown compression algorithm: {name}"),
            WireError::SnappyInV5 => {
                f.write_str("Snappy compression is not supported in protocol v5; use lz4")
            }
            WireError::CompressionNotNegotiated => {
                f.write_str("The envelope is marked as compressed but STARTUP did not negotiate compression")
            }
            WireError::Decompression { algorithm } => {
                write!(f, "The {algorithm} body does not decompress to its declared length")
            }
            WireError::TypeTooDeep { depth_max } => {
                write!(f, "Malformed message: a type is nested deeper than {depth_max} levels")
            }
            WireError::AddressLength { length } => {
                write!(f, "Malformed message: an address of {length} bytes is neither IPv4 nor IPv6")
            }
        }
    }
}

impl std::error::Error for WireError {}
