//! ERROR: every code with its extra fields, and what older versions are told instead.

use crate::consistency::Consistency;
use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_address, put_i32, put_short_bytes, put_string, put_string_list, put_u8, put_u16};
use std::fmt;
use std::net::IpAddr;

/// An error answer: the text for people, and the kind with its facts for drivers.
///
/// ```
/// use cql_wire::{ErrorKind, ErrorMessage};
///
/// let error = ErrorMessage::new(ErrorKind::Invalid, "keyspace ks does not exist");
/// assert_eq!(error.kind.code(), 0x2200);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorMessage {
    pub kind: ErrorKind,
    pub message: String,
}

/// What kind of write timed out or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteType {
    Simple,
    Batch,
    UnloggedBatch,
    Counter,
    BatchLog,
    Cas,
    View,
    Cdc,
}

impl WriteType {
    pub const ALL: [WriteType; 8] = [
        WriteType::Simple,
        WriteType::Batch,
        WriteType::UnloggedBatch,
        WriteType::Counter,
        WriteType::BatchLog,
        WriteType::Cas,
        WriteType::View,
        WriteType::Cdc,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WriteType::Simple => "SIMPLE",
            WriteType::Batch => "BATCH",
            WriteType::UnloggedBatch => "UNLOGGED_BATCH",
            WriteType::Counter => "COUNTER",
            WriteType::BatchLog => "BATCH_LOG",
            WriteType::Cas => "CAS",
            WriteType::View => "VIEW",
            WriteType::Cdc => "CDC",
        }
    }
}

/// How many replicas answered of how many that had to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgements {
    pub consistency: Consistency,
    pub received: i32,
    pub required: i32,
}

/// Which replica failed, and the reason code.
pub type ReplicaFailures = Vec<(IpAddr, u16)>;

/// The kind of an error with its extra fields. Kinds that a version does not know are sent as their nearest
/// relative in it, as Cassandra does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    Server,
    Protocol,
    BadCredentials,
    Unavailable {
        consistency: Consistency,
        required: i32,
        alive: i32,
    },
    Overloaded,
    Bootstrapping,
    Truncate,
    WriteTimeout {
        acknowledgements: Acknowledgements,
        write_type: WriteType,
        contentions: u16,
    },
    ReadTimeout {
        acknowledgements: Acknowledgements,
        data_present: bool,
    },
    ReadFailure {
        acknowledgements: Acknowledgements,
        failures: ReplicaFailures,
        data_present: bool,
    },
    FunctionFailure {
        keyspace: String,
        function: String,
        argument_types: Vec<String>,
    },
    WriteFailure {
        acknowledgements: Acknowledgements,
        failures: ReplicaFailures,
        write_type: WriteType,
    },
    CdcWriteFailure,
    CasWriteUnknown {
        acknowledgements: Acknowledgements,
    },
    Syntax,
    Unauthorized,
    Invalid,
    Config,
    AlreadyExists {
        keyspace: String,
        table: String,
    },
    Unprepared {
        id: Vec<u8>,
    },
    /// ScyllaDB's; send it only to clients that negotiated it.
    RateLimit {
        operation: u8,
        rejected_by_coordinator: bool,
    },
}

impl ErrorKind {
    /// The code in the newest version.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            ErrorKind::Server => 0x0000,
            ErrorKind::Protocol => 0x000A,
            ErrorKind::BadCredentials => 0x0100,
            ErrorKind::Unavailable { .. } => 0x1000,
            ErrorKind::Overloaded => 0x1001,
            ErrorKind::Bootstrapping => 0x1002,
            ErrorKind::Truncate => 0x1003,
            ErrorKind::WriteTimeout { .. } => 0x1100,
            ErrorKind::ReadTimeout { .. } => 0x1200,
            ErrorKind::ReadFailure { .. } => 0x1300,
            ErrorKind::FunctionFailure { .. } => 0x1400,
            ErrorKind::WriteFailure { .. } => 0x1500,
            ErrorKind::CdcWriteFailure => 0x1600,
            ErrorKind::CasWriteUnknown { .. } => 0x1700,
            ErrorKind::Syntax => 0x2000,
            ErrorKind::Unauthorized => 0x2100,
            ErrorKind::Invalid => 0x2200,
            ErrorKind::Config => 0x2300,
            ErrorKind::AlreadyExists { .. } => 0x2400,
            ErrorKind::Unprepared { .. } => 0x2500,
            ErrorKind::RateLimit { .. } => 0xF000,
        }
    }

    /// The kind that stands in for this one in a version that does not know it.
    fn stand_in(&self, version: Version) -> Option<ErrorKind> {
        match self {
            ErrorKind::ReadFailure { acknowledgements, data_present, .. } if version < Version::V4 => {
                let (acknowledgements, data_present) = (*acknowledgements, *data_present);
                Some(ErrorKind::ReadTimeout { acknowledgements, data_present })
            }
            ErrorKind::WriteFailure { acknowledgements, write_type, .. } if version < Version::V4 => {
                let (acknowledgements, write_type) = (*acknowledgements, *write_type);
                Some(ErrorKind::WriteTimeout { acknowledgements, write_type, contentions: 0 })
            }
            ErrorKind::FunctionFailure { .. } | ErrorKind::CdcWriteFailure if version < Version::V4 => {
                Some(ErrorKind::Invalid)
            }
            ErrorKind::CasWriteUnknown { acknowledgements } if version < Version::V5 => {
                let (acknowledgements, write_type) = (*acknowledgements, WriteType::Cas);
                Some(ErrorKind::WriteTimeout { acknowledgements, write_type, contentions: 0 })
            }
            _ => None,
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>, version: Version) {
        match self {
            ErrorKind::Unavailable { consistency, required, alive } => {
                put_u16(out, consistency.code());
                put_i32(out, *required);
                put_i32(out, *alive);
            }
            ErrorKind::WriteTimeout { acknowledgements, write_type, contentions } => {
                acknowledgements.write(out);
                put_string(out, write_type.name());
                if version >= Version::V5 && *write_type == WriteType::Cas {
                    put_u16(out, *contentions);
                }
            }
            ErrorKind::ReadTimeout { acknowledgements, data_present } => {
                acknowledgements.write(out);
                put_u8(out, u8::from(*data_present));
            }
            ErrorKind::ReadFailure { acknowledgements, failures, data_present } => {
                acknowledgements.write(out);
                write_failures(out, failures, version);
                put_u8(out, u8::from(*data_present));
            }
            ErrorKind::WriteFailure { acknowledgements, failures, write_type } => {
                acknowledgements.write(out);
                write_failures(out, failures, version);
                put_string(out, write_type.name());
            }
            ErrorKind::FunctionFailure { keyspace, function, argument_types } => {
                put_string(out, keyspace);
                put_string(out, function);
                put_string_list(out, argument_types);
            }
            ErrorKind::CasWriteUnknown { acknowledgements } => acknowledgements.write(out),
            ErrorKind::AlreadyExists { keyspace, table } => {
                put_string(out, keyspace);
                put_string(out, table);
            }
            ErrorKind::Unprepared { id } => put_short_bytes(out, id),
            ErrorKind::RateLimit { operation, rejected_by_coordinator } => {
                put_u8(out, *operation);
                put_u8(out, u8::from(*rejected_by_coordinator));
            }
            ErrorKind::Server
            | ErrorKind::Protocol
            | ErrorKind::BadCredentials
            | ErrorKind::Overloaded
            | ErrorKind::Bootstrapping
            | ErrorKind::Truncate
            | ErrorKind::CdcWriteFailure
            | ErrorKind::Syntax
            | ErrorKind::Unauthorized
            | ErrorKind::Invalid
            | ErrorKind::Config => {}
        }
    }

    fn read(reader: &mut Reader<'_>, code: i32, version: Version) -> Result<ErrorKind, WireError> {
        Ok(match code {
            0x0000 => ErrorKind::Server,
            0x000A => ErrorKind::Protocol,
            0x0100 => ErrorKind::BadCredentials,
            0x1000 => ErrorKind::Unavailable {
                consistency: reader.consistency()?,
                required: reader.i32("required replicas")?,
                alive: reader.i32("live replicas")?,
            },
            0x1001 => ErrorKind::Overloaded,
            0x1002 => ErrorKind::Bootstrapping,
            0x1003 => ErrorKind::Truncate,
            0x1100 => {
                let acknowledgements = Acknowledgements::read(reader)?;
                let write_type = read_write_type(reader)?;
                let counted = version >= Version::V5 && write_type == WriteType::Cas;
                let contentions = if counted { reader.u16("contentions")? } else { 0 };
                ErrorKind::WriteTimeout { acknowledgements, write_type, contentions }
            }
            0x1200 => ErrorKind::ReadTimeout {
                acknowledgements: Acknowledgements::read(reader)?,
                data_present: reader.u8("data present")? != 0,
            },
            0x1300 => ErrorKind::ReadFailure {
                acknowledgements: Acknowledgements::read(reader)?,
                failures: read_failures(reader, version)?,
                data_present: reader.u8("data present")? != 0,
            },
            0x1400 => ErrorKind::FunctionFailure {
                keyspace: reader.string("keyspace")?.to_owned(),
                function: reader.string("function")?.to_owned(),
                argument_types: reader.string_list("argument types")?,
            },
            0x1500 => ErrorKind::WriteFailure {
                acknowledgements: Acknowledgements::read(reader)?,
                failures: read_failures(reader, version)?,
                write_type: read_write_type(reader)?,
            },
            0x1600 => ErrorKind::CdcWriteFailure,
            0x1700 => ErrorKind::CasWriteUnknown { acknowledgements: Acknowledgements::read(reader)? },
            0x2000 => ErrorKind::Syntax,
            0x2100 => ErrorKind::Unauthorized,
            0x2200 => ErrorKind::Invalid,
            0x2300 => ErrorKind::Config,
            0x2400 => ErrorKind::AlreadyExists {
                keyspace: reader.string("keyspace")?.to_owned(),
                table: reader.string("table")?.to_owned(),
            },
            0x2500 => ErrorKind::Unprepared { id: reader.short_bytes("statement id")?.to_vec() },
            0xF000 => ErrorKind::RateLimit {
                operation: reader.u8("operation")?,
                rejected_by_coordinator: reader.u8("rejected by coordinator")? != 0,
            },
            code => return Err(WireError::UnknownCode { field: "an error", code: code.into() }),
        })
    }
}

impl Acknowledgements {
    fn write(self, out: &mut Vec<u8>) {
        put_u16(out, self.consistency.code());
        put_i32(out, self.received);
        put_i32(out, self.required);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Acknowledgements, WireError> {
        Ok(Acknowledgements {
            consistency: reader.consistency()?,
            received: reader.i32("received acknowledgements")?,
            required: reader.i32("required acknowledgements")?,
        })
    }
}

impl ErrorMessage {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ErrorMessage {
        ErrorMessage { kind, message: message.into() }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        let stand_in = self.kind.stand_in(version);
        let kind = stand_in.as_ref().unwrap_or(&self.kind);
        put_i32(out, kind.code());
        put_string(out, &self.message);
        kind.write_fields(out, version);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, version: Version) -> Result<ErrorMessage, WireError> {
        let code = reader.i32("error code")?;
        let message = reader.string("error message")?.to_owned();
        Ok(ErrorMessage { kind: ErrorKind::read(reader, code, version)?, message })
    }
}

impl From<WireError> for ErrorMessage {
    fn from(error: WireError) -> ErrorMessage {
        ErrorMessage::new(ErrorKind::Protocol, error.to_string())
    }
}

impl fmt::Display for ErrorMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error 0x{:04X}: {}", self.kind.code(), self.message)
    }
}

impl std::error::Error for ErrorMessage {}

/// v4 says how many replicas failed, v5 which and why.
fn write_failures(out: &mut Vec<u8>, failures: &ReplicaFailures, version: Version) {
    put_i32(out, i32::try_from(failures.len()).unwrap_or(i32::MAX));
    if version >= Version::V5 {
        for (address, reason) in failures {
            put_address(out, *address);
            put_u16(out, *reason);
        }
    }
}

/// For v4, which has only a count, unspecified addresses with reason 0 stand in (at most 65,535 of them).
fn read_failures(reader: &mut Reader<'_>, version: Version) -> Result<ReplicaFailures, WireError> {
    let count = reader.length("number of failures")?;
    if version < Version::V5 {
        let nobody = IpAddr::from([0, 0, 0, 0]);
        return Ok(vec![(nobody, 0); count.min(usize::from(u16::MAX))]);
    }
    (0..count).map(|_| Ok((reader.address("failed replica")?, reader.u16("failure reason")?))).collect()
}

fn read_write_type(reader: &mut Reader<'_>) -> Result<WriteType, WireError> {
    let name = reader.string("write type")?;
    WriteType::ALL
        .into_iter()
        .find(|write_type| write_type.name() == name)
        .ok_or_else(|| WireError::UnknownName { field: "a write type", name: name.to_owned() })
}
