//! How close a partition of a limited table is to its limit, checked whenever the partition or its files change.
//!
//! What a partition holds is added up from its runs: exactly in memtables, and in files as far as their ledgers name it
//! ([`crate::statistics::Floor`]). A row that several runs hold counts in each until they are merged. What a deletion of the whole
//! partition hides does not count from the moment it is applied.

use super::{Shard, TableState};
use crate::database::limits::Mark;
use crate::memtable::Partition;
use crate::statistics::{BoundedSize, Held};
use model::deletion::Deletion;
use model::key::token_of;
use std::collections::{HashMap, HashSet};
use store::{Mutation, PartitionLimit, TableId};

/// Partitions that are remembered for their files or for their deletion; beyond, both are found out again.
const REMEMBERED_MAX: usize = 100_000;

/// What a table with a limit keeps beside its runs. Keys are places on the ring.
#[derive(Default)]
pub(crate) struct Limited {
    /// What sealed memtables and files hold of partitions that are written to.
    below: HashMap<u64, Held>,
    /// Deletions of whole partitions whose memtable may be a file by now.
    deletions: HashMap<u64, Deletion>,
    marked: HashSet<u64>,
}

impl Limited {
    /// The active memtable has become a sealed one.
    pub fn sealed(&mut self) {
        self.below.clear();
    }
}

fn held(partition: &Partition) -> Held {
    Held { bytes: partition.data_bytes(), rows: partition.rows() }
}

impl TableState {
    /// What all runs hold of the partition.
    pub(super) fn held_of(&mut self, ring_position: u64) -> Held {
        let active = self.active.partition_at(ring_position);
        let mut sum = active.map(held).unwrap_or_default();
        let deletion = active.map_or(Deletion::NONE, Partition::deletion);
        if !deletion.is_none() {
            if self.limited.deletions.len() >= REMEMBERED_MAX {
                self.limited.deletions.clear();
            }
            let known = self.limited.deletions.entry(ring_position).or_insert(deletion);
            *known = Deletion::max(*known, deletion);
            self.limited.below.remove(&ring_position);
        }
        sum.add(match self.limited.below.get(&ring_position) {
            Some(known) => *known,
            None => {
                let found = self.held_below(ring_position);
                if self.limited.below.len() >= REMEMBERED_MAX {
                    self.limited.below.clear();
                }
                self.limited.below.insert(ring_position, found);
                found
            }
        });
        sum
    }

    /// The same of sealed memtables and files.
    fn held_below(&self, ring_position: u64) -> Held {
        let mut deletion = self.limited.deletions.get(&ring_position).copied().unwrap_or(Deletion::NONE);
        let mut sum = Held::default();
        for sealed in self.sealed.iter().rev() {
            if let Some(partition) = sealed.memtable.partition_at(ring_position) {
                if !deletion.covers(partition.max_timestamp()) {
                    sum.add(held(partition));
                }
                deletion = deletion.max(partition.deletion());
            }
        }
        for file in &self.files {
            let statistics = file.statistics();
            if !deletion.covers(statistics.max_timestamp) {
                sum.add(statistics.as_run().find(ring_position).unwrap_or_default());
            }
        }
        sum
    }

    /// Partitions that may be near the limit: near it in one run, if the runs share it evenly.
    fn candidates(&self, limit: &PartitionLimit) -> HashSet<u64> {
        let runs = (1 + self.sealed.len() + self.files.len()) as u64;
        let counts =
            |held: Held| held.bytes >= limit.warn_bytes / runs || held.rows >= limit.warn_rows / runs;
        let mut found: HashSet<u64> = self.limited.marked.iter().copied().collect();
        for memtable in self.sealed.iter().map(|sealed| &sealed.memtable).chain([&self.active]) {
            let partitions = memtable.each_partition().filter(|partition| counts(held(partition)));
            found.extend(partitions.map(Partition::ring_position));
        }
        for file in &self.files {
            let run = file.statistics().as_run();
            found.extend(run.each().filter(|(_, held)| counts(*held)).map(|(place, _)| place));
        }
        found
    }
}

impl Shard {
    /// A partition of a watched table has changed.
    pub(super) fn look_at(&self, table: &mut TableState, mutation: &Mutation) {
        if let Some(limit) = table.config.limit {
            self.mark(table, mutation.key.token().ring_position(), limit);
        }
        self.look_for_spill(table, mutation);
    }

    fn mark(&self, table: &mut TableState, ring_position: u64, limit: PartitionLimit) {
        let mark = Mark::new(table.held_of(ring_position), limit);
        let changed = match mark {
            Some(_) => table.limited.marked.insert(ring_position) || mark.is_some_and(|mark| mark.is_full()),
            None => table.limited.marked.remove(&ring_position),
        };
        // Between the warning and the limit the size in the mark may lag: no write is refused by it.
        if changed {
            self.shared.limits.set(table.config.id, ring_position, mark);
        }
    }

    /// For a table without a limit: marks the partitions that are as large as the server warns of. It gets the largest ones once a second,
    /// so that no write pays for it.
    pub(super) fn mark_large(&self, table: &mut TableState, largest: &[BoundedSize]) {
        let (Some(bytes), None) = (self.shared.options.partition_bytes_warn, table.config.limit) else {
            return;
        };
        let limit =
            PartitionLimit { bytes, rows: u64::MAX, warn_bytes: bytes, warn_rows: u64::MAX, refuse: false };
        let large = largest.iter().filter_map(|size| {
            let held = Held { bytes: size.bytes_min, rows: size.rows_min };
            Some((token_of(&size.prefix).ring_position(), Mark::new(held, limit)?))
        });
        let large: HashMap<u64, Mark> = large.collect();
        for gone in table.limited.marked.iter().filter(|place| !large.contains_key(place)) {
            self.shared.limits.set(table.config.id, *gone, None);
        }
        large.iter().for_each(|(place, mark)| self.shared.limits.set(table.config.id, *place, Some(*mark)));
        table.limited.marked = large.into_keys().collect();
    }

    /// The files of a table have changed: what its partitions hold may have.
    pub(super) fn relook(&self, table: &mut TableState) {
        self.resized.set(true);
        table.limited.below.clear();
        let Some(limit) = table.config.limit else { return };
        let marked: Vec<u64> = table.limited.marked.iter().copied().collect();
        marked.into_iter().for_each(|place| self.mark(table, place, limit));
    }

    /// The table has another limit than before, or one that is said again after opening.
    pub(super) fn limit_changed(&self, table: &mut TableState) {
        self.forget_marks(table);
        let Some(limit) = table.config.limit else { return };
        table.candidates(&limit).into_iter().for_each(|place| self.mark(table, place, limit));
    }

    /// The table is gone, or was emptied.
    pub(super) fn forget_marks(&self, table: &mut TableState) {
        let id: TableId = table.config.id;
        for place in std::mem::take(&mut table.limited).marked {
            self.shared.limits.set(id, place, None);
        }
    }
}
