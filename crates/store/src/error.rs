//! What can go wrong in a store, by what the caller must do next. Facts, not prose for clients:
//! each dialect maps a kind to its own protocol error in one place.

use crate::refused::Refused;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The request itself is wrong; nothing was done.
    Refused(Box<Refused>),
    /// A budget is used up; nothing was done; try again later.
    Overloaded(&'static str),
    /// More tombstones than allowed were scanned; narrow the read or compact.
    TooManyTombstones { scanned: u64, limit: u64 },
    /// The partition has reached its limit and takes no more data; nothing was done.
    PartitionFull(Box<FullPartition>),
    /// The store no longer accepts writes (failed write or fsync, full disk); reads continue.
    ReadOnly { reason: String },
    /// Stored bytes are damaged.
    Corrupt { file: String, offset: u64, what: String },
    /// The table is unknown to the store: dropped while the request was on its way.
    UnknownTable(crate::TableId),
    /// Nobody can tell whether it was done: the answer was lost. Never told as done, nor as refused.
    Unknown,
    /// The store is closing.
    Closed,
    /// Input or output failed while reading.
    Io { context: String },
}

/// Which partition is full, and how full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullPartition {
    pub table: crate::TableId,
    pub key: model::key::PartitionKey,
    pub bytes: u64,
    pub rows: u64,
    pub limit: crate::PartitionLimit,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Refused(why) => write!(f, "refused: {why:?}"),
            StoreError::Overloaded(what) => write!(f, "overloaded: {what}"),
            StoreError::TooManyTombstones { scanned, limit } => {
                write!(f, "scanned {scanned} tombstones, the limit is {limit}")
            }
            StoreError::PartitionFull(full) => write!(
                f,
                "the partition holds {} bytes in {} rows, its limit is {} bytes and {} rows",
                full.bytes, full.rows, full.limit.bytes, full.limit.rows
            ),
            StoreError::ReadOnly { reason } => write!(f, "writes are stopped: {reason}"),
            StoreError::Corrupt { file, offset, what } => {
                write!(f, "corrupt data in {file} at offset {offset}: {what}")
            }
            StoreError::UnknownTable(id) => write!(f, "table {} is gone", id.0),
            StoreError::Unknown => f.write_str("no answer came: whether it was done is not known"),
            StoreError::Closed => f.write_str("the store is closing"),
            StoreError::Io { context } => write!(f, "input/output failed: {context}"),
        }
    }
}

impl std::error::Error for StoreError {}
