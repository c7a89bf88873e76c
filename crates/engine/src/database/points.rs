//! The points from which spilled buckets continue in finer ones (ADR 20), known to every shard.
//!
//! All of them are in memory, because every writer needs them. There is one for as many bytes of data as the table's threshold says, so they
//! are few; beyond a number of them no more buckets spill.

use model::key::PartitionKey;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use store::TableId;

/// Each takes about 150 bytes.
const POINTS_MAX: usize = 1 << 20;
/// Most buckets that wait for their point, or are known to be too late for one; for others the next write to them finds it out again.
const WAITING_MAX: usize = 10_000;

type Known = HashMap<TableId, HashMap<PartitionKey, i64>>;
type Buckets = HashSet<(TableId, PartitionKey)>;

#[derive(Default)]
pub struct Points {
    count: AtomicUsize,
    known: RwLock<Known>,
    is_due: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    due: Buckets,
    too_late: Buckets,
}

impl Points {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any bucket has spilled: with none, a write asks nothing else.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    pub fn find(&self, table: TableId, key: &PartitionKey) -> Option<i64> {
        if !self.any() {
            return None;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(&table)?.get(key).copied()
    }

    pub fn add(&self, table: TableId, key: PartitionKey, point: i64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.entry(table).or_default().insert(key, point).is_none() {
            self.count.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// A table is gone.
    pub fn forget(&self, table: TableId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let gone = known.remove(&table).map_or(0, |points| points.len());
        self.count.fetch_sub(gone, Ordering::AcqRel);
        drop(known);
        let waiting = &mut *self.waiting();
        waiting.due.retain(|(of, _)| *of != table);
        waiting.too_late.retain(|(of, _)| *of != table);
    }

    /// A bucket has passed its threshold.
    pub fn must_spill(&self, table: TableId, key: &PartitionKey) {
        let waiting = &mut *self.waiting();
        let bucket = (table, key.clone());
        let is_full = waiting.due.len() >= WAITING_MAX || self.count.load(Ordering::Acquire) >= POINTS_MAX;
        if !is_full && !waiting.too_late.contains(&bucket) && waiting.due.insert(bucket) {
            self.is_due.store(true, Ordering::Release);
        }
    }

    /// There is no point for a bucket: its newest row is in its last finer bucket.
    pub fn too_late(&self, table: TableId, key: PartitionKey) {
        let waiting = &mut *self.waiting();
        if waiting.too_late.len() >= WAITING_MAX {
            waiting.too_late.clear();
        }
        waiting.too_late.insert((table, key));
    }

    /// The buckets that wait for their point, which do so no longer.
    pub fn take_due(&self) -> Vec<(TableId, PartitionKey)> {
        match self.is_due.swap(false, Ordering::AcqRel) {
            true => std::mem::take(&mut self.waiting().due).into_iter().collect(),
            false => Vec::new(),
        }
    }
}
