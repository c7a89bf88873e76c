//! Columns, user-defined types and constraints. Facts without words.

use super::Kind;
use crate::name::FullName;
use model::constraint::ConstraintError;
use model::types::DataType;
use model::types::TypeSizeError;

/// A column cannot be added, dropped, renamed or changed as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFault {
    Missing { column: String },
    Exists { column: String },
    NestedCollections { column: String },
    CounterAmongOthers { table: FullName, column: String },
    OtherAmongCounters { table: FullName, column: String },
    CounterReturns { column: String },
    ReturnsAsType { column: String, data_type: DataType, before: DataType },
    ReturnsAsKind { column: String, kind: &'static str, before: &'static str },
    NotFound { column: String, table: FullName },
    KeyDropped { column: String },
    UdtDropped { column: String, udt: String },
    Undefined { column: String, table: FullName },
    OtherRenamed { column: String },
    RenameTaken { from: String, to: String, table: FullName },
    MaskedMissing { column: String, table: String },
    TypeTooLarge { column: String, error: TypeSizeError },
}

impl ColumnFault {
    pub fn kind(&self) -> Kind {
        match self {
            ColumnFault::Missing { .. }
            | ColumnFault::Exists { .. }
            | ColumnFault::NestedCollections { .. }
            | ColumnFault::CounterReturns { .. }
            | ColumnFault::ReturnsAsType { .. }
            | ColumnFault::ReturnsAsKind { .. }
            | ColumnFault::NotFound { .. }
            | ColumnFault::KeyDropped { .. }
            | ColumnFault::UdtDropped { .. }
            | ColumnFault::Undefined { .. }
            | ColumnFault::OtherRenamed { .. }
            | ColumnFault::RenameTaken { .. }
            | ColumnFault::MaskedMissing { .. }
            | ColumnFault::TypeTooLarge { .. } => Kind::Invalid,
            ColumnFault::CounterAmongOthers { .. } | ColumnFault::OtherAmongCounters { .. } => {
                Kind::Misconfigured
            }
        }
    }
}

/// A user-defined type cannot be as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeFault {
    Reserved {
        name: String,
    },
    DuplicateField {
        field: String,
        name: String,
    },
    Counter,
    NotFrozen,
    AlteredMissing {
        name: FullName,
    },
    FieldExists {
        field: String,
        name: FullName,
    },
    InFirstState {
        name: FullName,
        aggregates: Vec<String>,
    },
    FieldMissing {
        field: String,
        name: FullName,
    },
    /// Cassandra names the keyspace here, not the type.
    RenamedTwice {
        field: String,
        keyspace: String,
    },
    TooLarge {
        name: FullName,
        error: TypeSizeError,
    },
    Circular {
        field: String,
        data_type: DataType,
        name: FullName,
    },
    InPartitionKey {
        field: String,
        data_type: DataType,
        name: FullName,
        tables: Vec<String>,
    },
    UsedByFunctions {
        name: FullName,
        functions: Vec<String>,
    },
    UsedByTypes {
        name: FullName,
        types: Vec<String>,
    },
    UsedByTables {
        name: FullName,
        tables: Vec<String>,
    },
}

impl TypeFault {
    pub fn kind(&self) -> Kind {
        match self {
            TypeFault::Reserved { .. } => Kind::Syntax,
            TypeFault::DuplicateField { .. }
            | TypeFault::Counter
            | TypeFault::NotFrozen
            | TypeFault::AlteredMissing { .. }
            | TypeFault::FieldExists { .. }
            | TypeFault::InFirstState { .. }
            | TypeFault::FieldMissing { .. }
            | TypeFault::RenamedTwice { .. }
            | TypeFault::TooLarge { .. }
            | TypeFault::Circular { .. }
            | TypeFault::InPartitionKey { .. }
            | TypeFault::UsedByFunctions { .. }
            | TypeFault::UsedByTypes { .. }
            | TypeFault::UsedByTables { .. } => Kind::Invalid,
        }
    }
}

/// A column cannot have these constraints.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintFault {
    NotFrozen { column: String, data_type: DataType, table: FullName, kind: &'static str },
    NotNullOfKey { key: &'static str, column: String },
    CounterValue { term: String, column: String },
    Counter { column: String },
    Unfit(ConstraintError),
}

impl ConstraintFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}
