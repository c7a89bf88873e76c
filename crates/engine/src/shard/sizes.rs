//! How large the tables of a shard are, shown to other threads now and then.
//!
//! Files know it without being read. Partitions in memtables are looked at one by one, so memtables with many are left out: they
//! will be files soon.

use super::Shard;
use crate::memtable::Memtable;
use crate::statistics::{self, TableStatistics};
use std::sync::PoisonError;

/// Partitions in memtables that are looked at: about a millisecond of work.
const PARTITIONS_MAX: usize = 20_000;
/// Of the largest partitions of a table.
const LARGEST_MAX: usize = 20;

impl Shard {
    /// Lets other threads see how large the tables are.
    pub fn show_sizes(&self) {
        let mut left = PARTITIONS_MAX;
        let mut sizes: Vec<(u32, TableStatistics)> = Vec::new();
        for (id, table) in self.tables.borrow().iter() {
            let all = table.sealed.iter().map(|sealed| &sealed.memtable).chain([&table.active]);
            let mut memtables: Vec<&Memtable> = Vec::new();
            for memtable in all.filter(|memtable| memtable.partitions() > 0) {
                if memtable.partitions() <= left {
                    left -= memtable.partitions();
                    memtables.push(memtable);
                }
            }
            if !memtables.is_empty() || !table.files.is_empty() {
                sizes.push((id.0, statistics::of_table(&memtables, &table.files, LARGEST_MAX)));
            }
        }
        if let Some(shown) = self.shared.sizes.get(self.index) {
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = sizes;
        }
    }
}
