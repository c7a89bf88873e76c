//! The record of buckets: which partitions are known to have their entry, so that an ordinary write looks once and adds nothing.
//!
//! A partition is remembered when the whole commit that wrote its entry is applied, on other shards too: from then on every
//! reader finds the bucket. After forgetting one, its entry is just written again, so the set may be small and starts empty.

use super::Shard;
use super::locks::LockKey;
use model::key::{KIND_PARTITION_DELETION, PartitionKey};
use std::cell::RefCell;
use std::collections::HashSet;
use store::buckets::writes_rows;
use store::{Mutation, TableId};

/// Partitions that are remembered, in two generations of this many. With keys of a hundred bytes that is about 5 MB per shard.
const KNOWN_MAX: usize = 16 << 10;
/// Longer keys are not remembered: their entries are written with every commit.
const KEY_BYTES_MAX: usize = 512;

/// The partitions that were seen lately. When the younger generation is full the older one is forgotten.
#[derive(Default)]
pub(super) struct Known {
    sets: RefCell<[HashSet<LockKey>; 2]>,
}

impl Known {
    fn contains(&self, key: &LockKey) -> bool {
        self.sets.borrow().iter().any(|set| set.contains(key))
    }

    fn add(&self, key: LockKey) {
        let [young, old] = &mut *self.sets.borrow_mut();
        if key.1.prefix().len() > KEY_BYTES_MAX || young.contains(&key) {
            return;
        }
        if young.len() >= KNOWN_MAX {
            *old = std::mem::take(young);
        }
        young.insert(key);
    }

    fn remove(&self, key: &LockKey) {
        self.sets.borrow_mut().iter_mut().for_each(|set| {
            set.remove(key);
        });
    }
}

impl Shard {
    /// The entry that a mutation of a partition of this shard needs, unless it is known to be there.
    pub(super) fn bucket_entry(&self, mutation: &Mutation) -> Option<Mutation> {
        let tables = self.tables.borrow();
        let config = tables.get(&mutation.table)?.config.buckets.as_ref()?;
        match self.known_buckets.contains(&(mutation.table, mutation.key.clone())) {
            true => None,
            false => config.entry(mutation),
        }
    }

    /// The partitions among these whose entries are in the same commit or known: they are learned when all is applied.
    pub(super) fn learnable(&self, mutations: &[Mutation]) -> Vec<LockKey> {
        if !self.any_projection.get() {
            return Vec::new();
        }
        let tables = self.tables.borrow();
        let bucketed = |table: TableId| tables.get(&table).is_some_and(|t| t.config.buckets.is_some());
        let here = |key: &PartitionKey| self.owner_of(key) == self.index;
        let learnable = mutations.iter().filter(|m| bucketed(m.table) && here(&m.key) && recorded(m));
        learnable.map(|m| (m.table, m.key.clone())).collect()
    }

    pub(super) fn learn(&self, keys: Vec<LockKey>) {
        keys.into_iter().for_each(|key| self.known_buckets.add(key));
    }

    /// A mutation of a bucketed table was applied; `whole`: and with it everything of its commit.
    pub(super) fn applied_to_bucket(&self, mutation: &Mutation, whole: bool) {
        let key = || (mutation.table, mutation.key.clone());
        if drops(mutation) {
            // It may lose its entry with its rows.
            self.known_buckets.remove(&key());
        } else if whole && recorded(mutation) {
            self.known_buckets.add(key());
        }
    }
}

/// Whether a commit with this mutation has the entry of its bucket, or found it known.
fn recorded(mutation: &Mutation) -> bool {
    !drops(mutation) && writes_rows(mutation)
}

fn drops(mutation: &Mutation) -> bool {
    mutation.entries().any(|entry| entry.position.first() == Some(&KIND_PARTITION_DELETION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_bounded_and_keeps_the_young() {
        let known = Known::default();
        let key = |n: u32| (TableId(1), PartitionKey::of(&n.to_be_bytes()).unwrap());
        (0..3 * KNOWN_MAX as u32).for_each(|n| known.add(key(n)));
        let count = (0..3 * KNOWN_MAX as u32).filter(|n| known.contains(&key(*n))).count();
        assert_eq!(count, 2 * KNOWN_MAX);
        assert!(known.contains(&key(3 * KNOWN_MAX as u32 - 1)) && !known.contains(&key(0)));
        known.remove(&key(3 * KNOWN_MAX as u32 - 1));
        assert!(!known.contains(&key(3 * KNOWN_MAX as u32 - 1)));
        known.add((TableId(1), PartitionKey::of(&[7; KEY_BYTES_MAX]).unwrap()));
        assert!(!known.contains(&(TableId(1), PartitionKey::of(&[7; KEY_BYTES_MAX]).unwrap())));
    }
}
