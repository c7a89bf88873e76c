//! What a client asks and a node answers.

use super::wire::{Wire, wire_enum, wire_struct};
use crate::TableConfig;
use crate::TableId;
use crate::commit::{CasOutcome, Commit, ConditionalCommit};
use crate::error::StoreError;
use crate::mutation::Mutation;
use crate::read::{Read, ReadEnd};
use crate::transaction::{Horizon, Stamped, WantedRow};
use model::key::PartitionKey;

#[derive(Debug)]
pub enum Request {
    Read(Read),
    Commit(Commit),
    CommitIf(ConditionalCommit),
    /// The rows as they are, and a ballot above all earlier ones.
    Look {
        rows: Vec<WantedRow>,
        now_seconds: u32,
    },
    /// Commits if the rows are still those that were seen.
    CommitIfSame {
        rows: Vec<WantedRow>,
        seen: Vec<Option<Vec<u8>>>,
        ballot: i64,
        mutations: Vec<Mutation>,
        now_seconds: u32,
    },
    Lock {
        partitions: Vec<(TableId, PartitionKey)>,
    },
    /// Commits and unlocks.
    CommitLocked {
        lock: u64,
        stamped: Stamped,
        mutations: Vec<Mutation>,
    },
    Unlock {
        lock: u64,
    },
    Horizon,
    Alter {
        catalogue: Vec<u8>,
        tables: Vec<TableConfig>,
    },
}

wire_enum!(Request {
    0 => Read(read),
    1 => Commit(commit),
    2 => CommitIf(commit),
    3 => Look { rows, now_seconds },
    4 => CommitIfSame { rows, seen, ballot, mutations, now_seconds },
    5 => Lock { partitions },
    6 => CommitLocked { lock, stamped, mutations },
    7 => Unlock { lock },
    8 => Horizon,
    9 => Alter { catalogue, tables },
});

#[derive(Debug)]
pub enum Answer {
    Done,
    Refused(StoreError),
    /// Nothing was done, because its partitions are locked.
    Busy,
    /// Nothing was done, because the rows are not those that were seen any more.
    Overtaken,
    Page(Page),
    Outcome(CasOutcome),
    Looked {
        seen: Vec<Option<Vec<u8>>>,
        ballot: i64,
    },
    Locked(u64),
    Horizon(Horizon),
}

wire_enum!(Answer {
    0 => Done,
    1 => Refused(error),
    2 => Busy,
    3 => Overtaken,
    4 => Page(page),
    5 => Outcome(outcome),
    6 => Looked { seen, ballot },
    7 => Locked(lock),
    8 => Horizon(horizon),
});

impl Answer {
    pub fn or_refused(self) -> Result<Answer, StoreError> {
        match self {
            Answer::Refused(error) => Err(error),
            answer => Ok(answer),
        }
    }
}

/// Part of what a read asked for.
#[derive(Debug)]
pub struct Page {
    pub events: Vec<Event>,
    pub end: ReadEnd,
    pub tombstones: u64,
}

/// What a sink gets. Rows are payloads.
#[derive(Debug)]
pub enum Event {
    Partition(PartitionKey),
    Static(Vec<u8>),
    Row(Vec<u8>, Vec<u8>),
    PartitionEnd,
}

wire_struct!(Page { events, end, tombstones });

wire_enum!(Event {
    0 => Partition(key),
    1 => Static(payload),
    2 => Row(clustering, payload),
    3 => PartitionEnd,
});
