//! Keyspaces, replication, notes, and what belongs to the server. Facts without words.

use super::Kind;
use crate::name::FullName;
use crate::note::NoteKind;

/// The object belongs to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemFault {
    Keyspace { keyspace: String },
    Unmodifiable { keyspace: String },
    Resource { verb: &'static str, keyspace: String, resource: Resource },
}

impl SystemFault {
    pub fn kind(&self) -> Kind {
        match self {
            SystemFault::Keyspace { .. } => Kind::Invalid,
            SystemFault::Unmodifiable { .. } | SystemFault::Resource { .. } => Kind::Unauthorized,
        }
    }
}

/// A keyspace cannot be as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyspaceFault {
    ReplicationMissing,
    NotAWord { keyspace: String },
    NameTooLong { characters_max: usize, characters: usize, keyspace: String },
}

impl KeyspaceFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// Replication settings that make no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicationFault {
    ClassMissing,
    LocalStrategy,
    ClassUnknown { class: String },
    Transient,
    FactorMalformed { text: String },
    FactorNegative { factor: i32 },
    UnknownOption { option: String, strategy: &'static str, keyspace: String },
    NoDataCenter,
}

impl ReplicationFault {
    pub fn kind(&self) -> Kind {
        match self {
            ReplicationFault::ClassMissing
            | ReplicationFault::ClassUnknown { .. }
            | ReplicationFault::Transient
            | ReplicationFault::FactorMalformed { .. }
            | ReplicationFault::FactorNegative { .. }
            | ReplicationFault::UnknownOption { .. }
            | ReplicationFault::NoDataCenter => Kind::Misconfigured,
            ReplicationFault::LocalStrategy => Kind::Invalid,
        }
    }
}

/// COMMENT ON and SECURITY LABEL ON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteFault {
    Empty { kind: NoteKind },
    ColumnMissing { column: String, table: FullName },
    FieldMissing { field: String, name: FullName },
}

impl NoteFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// What a statement is about that belongs to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    Keyspace,
    AllTables,
    Table(String),
}
