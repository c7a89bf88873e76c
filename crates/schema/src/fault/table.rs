//! Tables and their keys. Facts without words.

use super::Kind;
use crate::name::FullName;
use model::types::DataType;

/// A table cannot be made, altered or emptied as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableFault {
    LikeView,
    LikeTypeElsewhere { column: String, data_type: DataType, of: String, into: String },
    DuplicateColumn { column: String, table: FullName },
    NoPrimaryKey { table: FullName },
    DuplicateInOrder { column: String, table: FullName },
    TooManyColumns { most: usize, columns: usize, table: String },
    NotAWord { table: FullName, name: String },
    NameTooLong { table: FullName, characters_max: usize, characters: usize, name: String },
    IdMalformed,
    IdTaken { id: String, table: FullName },
    NestedCollections,
    CountersAndOthers,
    StaticsNeedClustering,
    TtlOfCounters,
    TooManyKeyColumns { table: String, columns: usize, most: usize },
    IdAltered,
    TruncatedKeyspaceMissing { keyspace: String },
    TruncatedMissing { table: String },
    NotTruncatable { table: FullName },
    LikeTargetMissing { keyspace: String },
    LikeSourceKeyspaceMissing { keyspace: String },
    LikeSourceMissing { table: FullName },
}

impl TableFault {
    pub fn kind(&self) -> Kind {
        match self {
            TableFault::LikeView
            | TableFault::LikeTypeElsewhere { .. }
            | TableFault::DuplicateColumn { .. }
            | TableFault::NoPrimaryKey { .. }
            | TableFault::DuplicateInOrder { .. }
            | TableFault::TooManyColumns { .. }
            | TableFault::NestedCollections
            | TableFault::CountersAndOthers
            | TableFault::StaticsNeedClustering
            | TableFault::TtlOfCounters
            | TableFault::TooManyKeyColumns { .. }
            | TableFault::TruncatedKeyspaceMissing { .. }
            | TableFault::TruncatedMissing { .. }
            | TableFault::NotTruncatable { .. }
            | TableFault::LikeTargetMissing { .. }
            | TableFault::LikeSourceKeyspaceMissing { .. }
            | TableFault::LikeSourceMissing { .. } => Kind::Invalid,
            TableFault::NotAWord { .. }
            | TableFault::NameTooLong { .. }
            | TableFault::IdMalformed
            | TableFault::IdTaken { .. }
            | TableFault::IdAltered => Kind::Misconfigured,
        }
    }
}

/// A column cannot be in the PRIMARY KEY, or not in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFault {
    Unknown { column: String, table: String },
    Twice { column: String, table: String },
    OrderOfOthers { columns: Vec<String> },
    Static { column: String },
    Counter { column: String },
    Udt { udt: FullName, column: String },
    Collection { data_type: DataType, column: String },
    Duration { column: String },
    OrderSwapped { column: String, before: String },
    OrderMissing { column: String },
}

impl KeyFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// What COMPACT STORAGE does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactFault {
    NotCompact,
    ColumnAdded,
    ColumnDropped { column: String, table: FullName },
    Collections,
    Statics,
    NoValue,
    SeveralValues { columns: Vec<String> },
}

impl CompactFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// A table that another dialect than CQL defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignFault {
    NoStores,
    NotAName { table: FullName },
    OfDynamo { table: FullName },
}

impl ForeignFault {
    pub fn kind(&self) -> Kind {
        match self {
            ForeignFault::NoStores | ForeignFault::OfDynamo { .. } => Kind::Invalid,
            ForeignFault::NotAName { .. } => Kind::Misconfigured,
        }
    }
}
