//! Buckets, retention and spilling. Facts without words.

use super::Kind;
use crate::bucketing::Every;
use crate::name::FullName;
use model::types::DataType;

/// A bucketing plan cannot be, or cannot be changed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketingFault {
    HasView { table: FullName, view: String },
    IndexUnbuilt { index: String },
    RetentionLost,
    UnderWay { table: FullName, job: u32 },
    NameTaken { column: String, job: u32 },
    RetentionAlone,
    Unknown { name: String },
    NoBy,
    Every { text: String },
    NoTime { column: String },
    HashWithoutInto,
    Into { text: String, most: u32 },
    HashWithoutEvery,
    NoBuckets,
    InPartitionKey { column: String },
    ColumnTaken { column: String, found: DataType, data_type: DataType },
    OfCompact,
    StaticColumn { column: String },
    RetentionWithoutTime,
    RetentionMalformed { text: String },
    RetentionTooShort { text: String, every: Every },
    OfView,
    AtWithoutSpill,
    SpillWithoutTime,
    SpillMalformed { text: String },
    SpillNotFirst { first: String },
    SpillLength { spill: Every, every: Every, most: u64 },
    AtMalformed { text: String },
    LimitSpills,
    Extension { name: &'static str, text: String },
    NotInKey { column: String },
    NoColumn { column: String },
}

impl BucketingFault {
    pub fn kind(&self) -> Kind {
        match self {
            BucketingFault::HasView { .. }
            | BucketingFault::IndexUnbuilt { .. }
            | BucketingFault::RetentionLost
            | BucketingFault::UnderWay { .. }
            | BucketingFault::NameTaken { .. }
            | BucketingFault::OfCompact
            | BucketingFault::StaticColumn { .. }
            | BucketingFault::OfView => Kind::Invalid,
            BucketingFault::RetentionAlone
            | BucketingFault::Unknown { .. }
            | BucketingFault::NoBy
            | BucketingFault::Every { .. }
            | BucketingFault::NoTime { .. }
            | BucketingFault::HashWithoutInto
            | BucketingFault::Into { .. }
            | BucketingFault::HashWithoutEvery
            | BucketingFault::NoBuckets
            | BucketingFault::InPartitionKey { .. }
            | BucketingFault::ColumnTaken { .. }
            | BucketingFault::RetentionWithoutTime
            | BucketingFault::RetentionMalformed { .. }
            | BucketingFault::RetentionTooShort { .. }
            | BucketingFault::AtWithoutSpill
            | BucketingFault::SpillWithoutTime
            | BucketingFault::SpillMalformed { .. }
            | BucketingFault::SpillNotFirst { .. }
            | BucketingFault::SpillLength { .. }
            | BucketingFault::AtMalformed { .. }
            | BucketingFault::LimitSpills
            | BucketingFault::Extension { .. }
            | BucketingFault::NotInKey { .. }
            | BucketingFault::NoColumn { .. } => Kind::Misconfigured,
        }
    }
}
