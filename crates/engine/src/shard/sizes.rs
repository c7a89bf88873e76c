//! How large the tables of a shard are, shown to other threads now and then.
//!
//! Files know it without being read, and so do memtables while they are small; see [`statistics::of_table`].

use super::Shard;
use crate::memtable::Memtable;
use crate::statistics::{self, TableStatistics};
use model::key::partition_bytes;
use observe::{DAY_MILLIS, WEEK_MILLIS};
use std::sync::PoisonError;
use store::TableId;

/// Of the largest partitions of a table.
const LARGEST_MAX: usize = 64;
/// Partitions in memtables, and files, that are looked at every second; beyond, every ten.
const SMALL_MAX: usize = 4000;

impl Shard {
    /// Lets other threads see how large the tables are.
    pub fn show_sizes(&self) {
        self.resized.set(false);
        let now_millis = self.now_millis();
        let mut growth = self.growth.borrow_mut();
        let mut sizes: Vec<(u32, TableStatistics)> = Vec::new();
        for (id, table) in self.tables.borrow().iter() {
            let all = table.sealed.iter().map(|sealed| &sealed.memtable).chain([&table.active]);
            let memtables: Vec<&Memtable> = all.filter(|memtable| memtable.partitions() > 0).collect();
            if memtables.is_empty() && table.files.is_empty() {
                continue;
            }
            let mut found = statistics::of_table(&memtables, &table.files, LARGEST_MAX);
            for size in &mut found.largest {
                let key = partition_bytes(&size.prefix);
                growth.note(id.0, key, now_millis, size.bytes_min);
                let per_day = |span| growth.per_day(id.0, key, now_millis, size.bytes_min, span);
                (size.growth_day, size.growth_week) = (per_day(DAY_MILLIS), per_day(WEEK_MILLIS));
            }
            sizes.push((id.0, found));
        }
        let mut tables = self.tables.borrow_mut();
        for (id, found) in &sizes {
            if let Some(table) = tables.get_mut(&TableId(*id)) {
                self.mark_large(table, &found.largest);
            }
        }
        if let Some(shown) = self.shared.sizes.get(self.index) {
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = sizes;
        }
    }

    /// Shows sizes that have changed, unless looking at them takes long.
    pub(super) fn show_changed_sizes(&self) {
        let effort = || -> usize {
            let tables = self.tables.borrow();
            tables.values().map(|table| table.active.partitions().min(20_000) + table.files.len()).sum()
        };
        if self.resized.get() && effort() <= SMALL_MAX {
            self.show_sizes();
        }
    }
}
