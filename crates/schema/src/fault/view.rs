//! Materialized views and projections. Facts without words.

use super::Kind;
use crate::name::FullName;
use crate::totals::TotalKind;
use model::types::DataType;

/// A materialized view cannot be as asked, or its table cannot change so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewFault {
    AlteredAsTable,
    DroppedAsTable,
    StillThere {
        keyspace: String,
        views: Vec<String>,
    },
    Truncated,
    UndefinedColumn {
        column: String,
        table: FullName,
    },
    StaticColumn {
        column: String,
        view: String,
    },
    KeyUnknown {
        column: String,
        view: String,
    },
    KeyTwice {
        column: String,
        view: String,
    },
    OrderDiffers,
    KeyLacks {
        view: String,
        columns: Vec<String>,
        table: String,
    },
    KeyAddsSeveral {
        columns: Vec<String>,
    },
    ScaleLost {
        column: String,
    },
    KeyNullable {
        columns: Vec<String>,
    },
    OthersRestricted {
        columns: Vec<String>,
    },
    OtherKeyspace,
    BaseMissing {
        base: String,
    },
    NameOfTable {
        view: String,
    },
    OfCounters,
    NoGrace {
        view: String,
        base: String,
    },
    Ttl,
    GraceAltered,
    TtlAltered,
    Missing {
        view: FullName,
    },
    ColumnDropped {
        column: String,
        base: String,
    },
    GraceOfBase,
    KeyUdt {
        data_type: DataType,
        column: String,
    },
    KeyCollection {
        data_type: DataType,
        column: String,
    },
    /// What the dialect found wrong in the definition while it read it, in its words: told when its turn comes.
    Written(String),
}

impl ViewFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// A projection cannot be as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectionFault {
    LagOfAtomic,
    FreshnessMalformed { text: String },
    FreshnessOutOfBounds { text: String },
    LagRule { word: String },
    BackfillSetting { name: String },
    BackfillNumber { name: String, value: String },
    LateTotals { projection: String },
    LateBuckets { projection: String, table: String },
    LateLimit { projection: String },
    ReplacedBaseMissing { place: String },
    ReplacesItself { projection: String },
    NotReady { new: String, old: String },
    LacksColumn { new: String, old: String, column: String, data_type: DataType },
    Missing { table: String, projection: String },
    Condition { column: String },
}

impl ProjectionFault {
    pub fn kind(&self) -> Kind {
        match self {
            ProjectionFault::LagOfAtomic
            | ProjectionFault::FreshnessMalformed { .. }
            | ProjectionFault::FreshnessOutOfBounds { .. }
            | ProjectionFault::LagRule { .. }
            | ProjectionFault::BackfillSetting { .. }
            | ProjectionFault::BackfillNumber { .. } => Kind::Misconfigured,
            ProjectionFault::LateTotals { .. }
            | ProjectionFault::LateBuckets { .. }
            | ProjectionFault::LateLimit { .. }
            | ProjectionFault::ReplacedBaseMissing { .. }
            | ProjectionFault::ReplacesItself { .. }
            | ProjectionFault::NotReady { .. }
            | ProjectionFault::LacksColumn { .. }
            | ProjectionFault::Missing { .. }
            | ProjectionFault::Condition { .. } => Kind::Invalid,
        }
    }
}

/// Totals cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TotalsFault {
    TooMany { most: usize },
    OfBuckets { projection: String, table: String },
    DuplicateColumn { projection: String, column: String },
    Neither { column: String },
    OfExpiring { table: String },
    OfTenants { table: String, tenant: String },
    Masked { column: String, projection: String },
    Unkept { function: String, argument: Option<String>, why: Unkept },
}

impl TotalsFault {
    pub fn kind(&self) -> Kind {
        Kind::Invalid
    }
}

/// Why a total cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unkept {
    UnknownFunction,
    /// The function takes one column, not all rows.
    NotOfAll,
    NoColumn {
        table: String,
        column: String,
    },
    Static {
        column: String,
    },
    Masked {
        column: String,
    },
    InKey {
        column: String,
    },
    /// A sum of binary fractions depends on their order.
    Inexact {
        column: String,
        data_type: DataType,
    },
    NoSuchTotal {
        kind: TotalKind,
        data_type: Option<DataType>,
    },
}
