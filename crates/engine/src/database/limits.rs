//! Partitions that are near or at their limit, known to every shard.
//!
//! The owning shard marks them as they grow (`shard::limits`); before a write is logged, this is asked. A partition can
//! exceed its limit only by the writes that were under way when it reached the limit.

use crate::statistics::Held;
use model::key::PartitionKey;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{FullPartition, Mutation, PartitionLimit, StoreError, TableId};

/// A partition that is near its limit or at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub held: Held,
    pub limit: PartitionLimit,
}

impl Mark {
    pub fn new(held: Held, limit: PartitionLimit) -> Option<Mark> {
        let is_near = held.bytes >= limit.warn_bytes || held.rows >= limit.warn_rows;
        is_near.then_some(Mark { held, limit })
    }

    pub fn is_full(&self) -> bool {
        self.held.bytes >= self.limit.bytes || self.held.rows >= self.limit.rows
    }
}

/// By table and place on the ring.
type Marks = HashMap<(TableId, u64), Mark>;

#[derive(Default)]
pub struct Limits {
    /// How many marks there are: with none, a write asks nothing else.
    count: AtomicUsize,
    marks: Mutex<Marks>,
}

impl Limits {
    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the partition, or takes its mark away.
    pub fn set(&self, table: TableId, ring_position: u64, mark: Option<Mark>) {
        let mut marks = self.marks();
        match mark {
            Some(mark) => drop(marks.insert((table, ring_position), mark)),
            None => drop(marks.remove(&(table, ring_position))),
        }
        self.count.store(marks.len(), Ordering::Release);
    }

    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    pub fn find(&self, table: TableId, key: &PartitionKey) -> Option<Mark> {
        if !self.any() {
            return None;
        }
        self.marks().get(&(table, key.token().ring_position())).copied()
    }

    /// Refuses a mutation that would add to a full partition.
    pub fn check(&self, mutation: &Mutation) -> Result<(), StoreError> {
        let Some(mark) = self.find(mutation.table, &mutation.key) else { return Ok(()) };
        if !mark.limit.refuse || !mark.is_full() || !mutation.adds_data() {
            return Ok(());
        }
        let Mark { held, limit } = mark;
        let (table, key) = (mutation.table, mutation.key.clone());
        let full = FullPartition { table, key, bytes: held.bytes, rows: held.rows, limit };
        Err(StoreError::PartitionFull(Box::new(full)))
    }
}
