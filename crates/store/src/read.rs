//! Reads as data, and the sink that receives rows.
//!
//! A slice is a half-open interval of clustering bytes; a position is where a reader stopped. Both
//! are plain bytes, so they survive flush, compaction and restart, and travel in paging states.

use crate::account::Accounted;
use crate::error::StoreError;
use crate::{Store, TableId};
use model::key::PartitionKey;
use model::row::RowView;
use std::task::Poll;

/// Rows whose clustering bytes lie in `[start, end)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    pub start: Vec<u8>,
    pub end: Vec<u8>,
}

impl Slice {
    /// Every row of a partition.
    pub fn all() -> Slice {
        Slice { start: Vec::new(), end: vec![0xff] }
    }

    /// The row with exactly this (full) clustering key.
    pub fn one(clustering: &[u8]) -> Slice {
        Slice::behind(clustering.to_vec(), 0)
    }

    /// Every row whose clustering key starts with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Slice {
        Slice::behind(prefix.to_vec(), 0xff)
    }

    /// From `start` to `start` followed by `behind`: 0 for one row, 0xff for everything with that prefix.
    pub fn behind(start: Vec<u8>, behind: u8) -> Slice {
        let mut end = Vec::with_capacity(start.len() + 1);
        end.extend_from_slice(&start);
        end.push(behind);
        Slice { start, end }
    }

    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    pub fn contains(&self, clustering: &[u8]) -> bool {
        self.start.as_slice() <= clustering && clustering < self.end.as_slice()
    }
}

/// Rows that a store has read before anybody takes them.
pub trait Ahead {
    fn bytes(&self) -> usize;

    /// Delivers them. A read that has more behind them is paused there.
    fn play(self: Box<Self>, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError>;
}

/// How much is read ahead of a partition.
#[derive(Clone, Copy, Debug)]
pub struct AheadMax {
    pub rows: u64,
    pub bytes: usize,
}

/// Which partitions a read visits, in token order.
#[derive(Clone, Debug, PartialEq)]
pub enum Partitions {
    One(PartitionKey),
    /// Partitions whose storage prefix lies in `[start, end)`; an empty `end` means no bound.
    Range {
        start: Vec<u8>,
        end: Vec<u8>,
    },
}

impl Partitions {
    pub fn all() -> Partitions {
        Partitions::Range { start: Vec::new(), end: Vec::new() }
    }
}

/// Where a reader stopped: reading resumes strictly behind it, in the read's direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub key: PartitionKey,
    /// `None`: the whole partition is behind the reader.
    pub clustering: Option<Vec<u8>>,
}

/// A read of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub table: TableId,
    pub partitions: Partitions,
    /// Ascending and disjoint. Empty: no rows are wanted (static row only).
    pub slices: Vec<Slice>,
    /// Rows inside each partition in descending order; partitions stay in token order.
    pub reverse: bool,
    /// Deliver static rows.
    pub statics: bool,
    /// Resume behind this position. The partition and its static row are delivered again.
    pub after: Option<Position>,
    /// The one clock reading that decides every liveness question of this read.
    pub now_seconds: u32,
    /// Pause after this many stored entries were examined, so that a scan does not stall its shard.
    pub scan_limit: u64,
    /// Fail when more dead rows and range tombstones than this were met in one call.
    pub tombstone_limit: u64,
    /// Where the work is counted.
    pub account: Accounted,
}

impl Read {
    /// All rows of these slices in ascending order, without static rows, from the beginning and without a limit; nobody counts the work.
    /// What differs is said with `..Read::of(…)`.
    pub fn of(table: TableId, partitions: Partitions, slices: Vec<Slice>, now_seconds: u32) -> Read {
        Read {
            table,
            partitions,
            slices,
            reverse: false,
            statics: false,
            after: None,
            now_seconds,
            scan_limit: u64::MAX,
            tombstone_limit: u64::MAX,
            account: Accounted::default(),
        }
    }

    /// Reads until there is nothing more or the sink says stop, however often the store pauses. Between two pieces others have their
    /// turn.
    pub async fn to_end<S: Store>(
        mut self,
        store: &S,
        sink: &mut dyn Sink,
    ) -> Result<ReadOutcome, StoreError> {
        let mut tombstones = 0;
        loop {
            let outcome = store.read(&self, sink).await?;
            tombstones += outcome.tombstones;
            let ReadEnd::Paused(position) = outcome.end else {
                return Ok(ReadOutcome { tombstones, ..outcome });
            };
            self.after = Some(position);
            let mut has_waited = false;
            std::future::poll_fn(|context| {
                if std::mem::replace(&mut has_waited, true) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }
}

/// What the sink wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// Skip the rest of this partition (`partition_end` is still called).
    NextPartition,
    Stop,
}

/// Receives the rows of a read. Grammar: `(partition static_row? row* partition_end)*`, cut short
/// after `Flow::Stop`. Rows are merged and live; cells inside may still be dead: look at them with
/// `Cell::live_value(now_seconds)`. A partition without anything live may be announced.
pub trait Sink {
    fn partition(&mut self, key: &PartitionKey) -> Flow;
    fn static_row(&mut self, row: RowView<'_>) -> Flow;
    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow;
    fn partition_end(&mut self) -> Flow;
}

/// Keeps the first row that is delivered and stops: its clustering key and its payload.
#[derive(Default)]
pub struct FirstRow {
    pub row: Option<(Vec<u8>, Vec<u8>)>,
}

impl Sink for FirstRow {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.row = Some((clustering.to_vec(), row.to_payload()));
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReadEnd {
    /// Everything the read asked for was delivered.
    Complete,
    /// The sink said stop.
    Stopped,
    /// `scan_limit` was reached, or the store gives no more at a time: read again with `after` set to this ([`Read::to_end`]).
    Paused(Position),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadOutcome {
    pub end: ReadEnd,
    /// Dead rows and range tombstones met on the way.
    pub tombstones: u64,
}
