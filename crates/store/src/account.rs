//! What the reads of a statement really did, counted by the stores that served them.
//!
//! A read may carry an account; every shard that serves a part of it adds to the same one, so it is shared and atomic. Nothing
//! is decided by it: EXPLAIN ANALYZE shows it, and access patterns are compared with it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// What one index did for a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexWork {
    pub entries: u64,
    /// Parts of the table that it was tried for.
    pub windows: u64,
    /// Parts that it led through.
    pub chosen: u64,
    /// Parts where it had too many entries, so that all rows were read instead.
    pub given_up: u64,
}

impl IndexWork {
    pub fn plus(&self, other: &IndexWork) -> IndexWork {
        IndexWork {
            entries: self.entries + other.entries,
            windows: self.windows + other.windows,
            chosen: self.chosen + other.chosen,
            given_up: self.given_up + other.given_up,
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Account {
    /// Pieces that were read: one per partition or range, more where a read paused.
    reads: AtomicU64,
    partitions: AtomicU64,
    rows: AtomicU64,
    tombstones: AtomicU64,
    bytes: AtomicU64,
    blocks_cached: AtomicU64,
    blocks_read: AtomicU64,
    nanos: AtomicU64,
    is_timed: bool,
    /// A bit for each shard; shards beyond the 64th share bits.
    shards: AtomicU64,
    /// By the name of the index.
    indexes: Mutex<BTreeMap<String, IndexWork>>,
}

/// Work to add to an account, or its sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub reads: u64,
    /// In which something live was found.
    pub partitions: u64,
    /// That were delivered to the statement, which may have dropped them.
    pub rows: u64,
    /// Dead rows and range tombstones.
    pub tombstones: u64,
    pub bytes: u64,
    pub blocks_cached: u64,
    /// Not in the cache: read from a file.
    pub blocks_read: u64,
    /// Inside shards, where it was measured.
    pub nanos: u64,
}

impl Work {
    pub fn plus(&self, other: &Work) -> Work {
        Work {
            reads: self.reads + other.reads,
            partitions: self.partitions + other.partitions,
            rows: self.rows + other.rows,
            tombstones: self.tombstones + other.tombstones,
            bytes: self.bytes + other.bytes,
            blocks_cached: self.blocks_cached + other.blocks_cached,
            blocks_read: self.blocks_read + other.blocks_read,
            nanos: self.nanos + other.nanos,
        }
    }
}

impl Account {
    /// One that also measures how long reads took, which costs two looks at the clock for each.
    pub fn timed() -> Account {
        Account { is_timed: true, ..Account::default() }
    }

    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    #[inline]
    pub fn add(&self, shard: usize, work: &Work) {
        let counts = [
            (&self.reads, work.reads),
            (&self.partitions, work.partitions),
            (&self.rows, work.rows),
            (&self.tombstones, work.tombstones),
            (&self.bytes, work.bytes),
            (&self.blocks_cached, work.blocks_cached),
            (&self.blocks_read, work.blocks_read),
            (&self.nanos, work.nanos),
        ];
        for (counter, count) in counts {
            if count > 0 {
                counter.fetch_add(count, Relaxed);
            }
        }
        let bit = 1 << (shard % 64);
        if self.shards.load(Relaxed) & bit == 0 {
            self.shards.fetch_or(bit, Relaxed);
        }
    }

    pub fn sum(&self) -> Work {
        Work {
            reads: self.reads.load(Relaxed),
            partitions: self.partitions.load(Relaxed),
            rows: self.rows.load(Relaxed),
            tombstones: self.tombstones.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            blocks_cached: self.blocks_cached.load(Relaxed),
            blocks_read: self.blocks_read.load(Relaxed),
            nanos: self.nanos.load(Relaxed),
        }
    }

    pub fn add_index(&self, name: &str, work: &IndexWork) {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = indexes.entry(name.to_string()).or_default();
        *sum = sum.plus(work);
    }

    /// What each index did, by name.
    pub fn indexes(&self) -> Vec<(String, IndexWork)> {
        let indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.iter().map(|(name, work)| (name.clone(), *work)).collect()
    }

    /// How many shards took part.
    pub fn shards(&self) -> u32 {
        self.shards.load(Relaxed).count_ones()
    }
}

/// The account of a read, if anybody wants one. Reads that differ in nothing else are the same read.
#[derive(Clone, Debug, Default)]
pub struct Accounted(pub Option<Arc<Account>>);

impl PartialEq for Accounted {
    fn eq(&self, _: &Accounted) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_add_up() {
        let account = Account::default();
        let work = Work { reads: 1, partitions: 1, rows: 20, blocks_cached: 2, ..Work::default() };
        [0, 3, 3].into_iter().for_each(|shard| account.add(shard, &work));
        assert_eq!(
            account.sum(),
            Work { reads: 3, partitions: 3, rows: 60, blocks_cached: 6, ..Work::default() }
        );
        assert_eq!(account.shards(), 2);
    }
}
