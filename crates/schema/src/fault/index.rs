//! Indexes. Facts without words.

use super::Kind;
use crate::index::IndexPart;
use crate::name::FullName;
use model::types::DataType;

/// An index cannot be as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexFault {
    TableMissing {
        table: String,
    },
    Exists {
        index: String,
    },
    OfView,
    OfCounters,
    Same {
        index: String,
        same: String,
    },
    NotAWord {
        index: String,
    },
    NoColumn,
    /// The stray quote is Cassandra's.
    Missing {
        index: FullName,
    },
    OptionsOfPlain,
    OwnOption {
        option: String,
    },
    Sasi,
    ClassUnknown {
        class: String,
    },
    UndefinedColumn {
        column: String,
        table: FullName,
    },
    NoTarget,
    SeveralTargets,
    DuplicateTarget {
        column: String,
    },
    DropsColumn {
        column: String,
        indexes: Vec<String>,
    },
    RenamesColumn {
        column: String,
        indexes: Vec<String>,
    },
    ColumnName {
        column: String,
        characters_max: usize,
    },
    Durations {
        data_type: DataType,
    },
    CompactKey,
    CompactValue,
    OnlyKey {
        column: String,
    },
    FrozenInParts {
        part: IndexPart,
        column: String,
    },
    FullOfOthers,
    PartOfOthers {
        part: IndexPart,
        column: String,
    },
    NotAMap {
        part: IndexPart,
        column: String,
    },
    UdtColumn {
        column: String,
    },
}

impl IndexFault {
    pub fn kind(&self) -> Kind {
        match self {
            IndexFault::TableMissing { .. }
            | IndexFault::Exists { .. }
            | IndexFault::OfView
            | IndexFault::OfCounters
            | IndexFault::Same { .. }
            | IndexFault::NoColumn
            | IndexFault::Missing { .. }
            | IndexFault::OptionsOfPlain
            | IndexFault::OwnOption { .. }
            | IndexFault::Sasi
            | IndexFault::UndefinedColumn { .. }
            | IndexFault::NoTarget
            | IndexFault::SeveralTargets
            | IndexFault::DuplicateTarget { .. }
            | IndexFault::DropsColumn { .. }
            | IndexFault::RenamesColumn { .. }
            | IndexFault::ColumnName { .. }
            | IndexFault::Durations { .. }
            | IndexFault::CompactKey
            | IndexFault::CompactValue
            | IndexFault::OnlyKey { .. }
            | IndexFault::FrozenInParts { .. }
            | IndexFault::FullOfOthers
            | IndexFault::PartOfOthers { .. }
            | IndexFault::NotAMap { .. }
            | IndexFault::UdtColumn { .. } => Kind::Invalid,
            IndexFault::NotAWord { .. } | IndexFault::ClassUnknown { .. } => Kind::Misconfigured,
        }
    }
}

/// What storage-attached indexes demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachedFault {
    UnknownOptions { options: Vec<String> },
    Several { column: String },
    VectorElement,
    CosineOfOne,
    Type { data_type: DataType },
    AnalysisOfKey { options: Vec<String> },
    AnalysisOfEntries { types: Vec<DataType> },
    AnalysisOf { data_type: DataType },
    EmptyBoolean { option: String },
    Boolean { option: String, value: String },
    VectorOptionsOf { data_type: DataType },
    NodeConnections,
    BeamWidth,
    Similarity { name: String },
    OptimizeFor { value: String },
    NoTarget,
    SeveralTargets { target: String },
}

impl AttachedFault {
    pub fn kind(&self) -> Kind {
        match self {
            AttachedFault::UnknownOptions { .. } => Kind::Misconfigured,
            AttachedFault::Several { .. }
            | AttachedFault::VectorElement
            | AttachedFault::CosineOfOne
            | AttachedFault::Type { .. }
            | AttachedFault::AnalysisOfKey { .. }
            | AttachedFault::AnalysisOfEntries { .. }
            | AttachedFault::AnalysisOf { .. }
            | AttachedFault::EmptyBoolean { .. }
            | AttachedFault::Boolean { .. }
            | AttachedFault::VectorOptionsOf { .. }
            | AttachedFault::NodeConnections
            | AttachedFault::BeamWidth
            | AttachedFault::Similarity { .. }
            | AttachedFault::OptimizeFor { .. }
            | AttachedFault::NoTarget
            | AttachedFault::SeveralTargets { .. } => Kind::Invalid,
        }
    }
}
