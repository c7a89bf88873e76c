//! Commits as data: plain ones, and conditional ones with their outcome.

use crate::condition::{RowCheck, RowPosition};
use crate::mutation::Mutation;
use model::key::PartitionKey;

/// Mutations that enter the log as one record: all or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    pub mutations: Vec<Mutation>,
    /// For deferred operations: decides what is live and stamps tombstones and expiries.
    pub now_seconds: u32,
}

/// What a commit checks of one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionCheck {
    pub table: crate::TableId,
    pub key: PartitionKey,
    /// None: the partition is only read, or only kept from changing meanwhile.
    pub checks: Vec<RowCheck>,
}

/// Mutations that apply only if every check holds, decided while nobody else decides about a partition that is checked or
/// written. Without mutations it is a read of several partitions at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalCommit {
    pub table: crate::TableId,
    /// The partition the checks read.
    pub key: PartitionKey,
    pub checks: Vec<RowCheck>,
    /// What a transaction checks beside: other partitions, of any table, on any shard.
    pub further: Vec<PartitionCheck>,
    /// Stamped provisionally with `provisional_timestamp`; the store shifts them to its ballot,
    /// which is strictly above every earlier ballot of these partitions.
    pub mutations: Vec<Mutation>,
    pub provisional_timestamp: i64,
    pub now_seconds: u32,
}

/// One row as the checks saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentRow {
    pub position: RowPosition,
    /// The merged image (payload form); `None` when the row does not exist.
    pub row: Option<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CasOutcome {
    pub applied: bool,
    /// The partition that was checked.
    pub key: PartitionKey,
    /// The static row as the checks saw it (payload form), if it is live.
    pub static_row: Option<Vec<u8>>,
    /// One per check, in order.
    pub rows: Vec<CurrentRow>,
    /// The other partitions, in the order of [`ConditionalCommit::further`].
    pub further: Vec<CheckedPartition>,
}

/// One partition as the checks saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedPartition {
    /// Whether its checks hold.
    pub holds: bool,
    pub key: PartitionKey,
    /// The static row (payload form), if it is live.
    pub static_row: Option<Vec<u8>>,
    /// One per check, in order.
    pub rows: Vec<CurrentRow>,
}
