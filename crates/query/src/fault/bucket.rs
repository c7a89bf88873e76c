//! Tables with bucketing: rows without a bucket, and reads of too many.

use super::Kind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketFault {
    NotBucketed,
    /// The column that the buckets are made of has no value that makes one.
    NoBucket {
        column: String,
    },
    /// The bucket that the statement names is not the one that the row belongs to. Values are literals.
    OtherBucket {
        column: String,
        given: String,
        own: String,
    },
    /// The retention of the table has dropped the bucket. Times are literals.
    Expired {
        keyspace: String,
        table: String,
        bucket: String,
        oldest: String,
    },
    TooManyPartitions {
        found: usize,
        most: usize,
    },
    /// The plan of the buckets is another one than that of the first page.
    Changed,
}

impl BucketFault {
    pub fn kind(&self) -> Kind {
        match self {
            BucketFault::TooManyPartitions { .. } => Kind::TooLarge,
            BucketFault::NotBucketed
            | BucketFault::NoBucket { .. }
            | BucketFault::OtherBucket { .. }
            | BucketFault::Expired { .. }
            | BucketFault::Changed => Kind::Invalid,
        }
    }
}
