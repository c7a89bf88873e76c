//! To which partitions of a shard the work goes.
//!
//! Reads of one partition, mutations and refused conditions are counted where they happen, on every path and for every
//! dialect. Scans of many partitions are not: they touch everything alike. The counts are handed to other threads now and
//! then, by a caller who has a clock (see [`crate::EmbeddedStore::show_heat`]).

use super::Shard;
use model::key::PartitionKey;
use observe::{HotKeys, Load, SLOT_MILLIS};
use std::cell::{Cell, RefCell};
use std::sync::PoisonError;
use store::{Mutation, Partitions, Read, TableId};

/// Keys that are watched by name: about 100 KiB.
const WATCHED_MAX: usize = 512;
/// Keys of a slot that are kept.
const KEYS_MAX: usize = 64;

pub(super) struct Heat {
    hot: RefCell<HotKeys>,
    /// When the slot began.
    since_millis: Cell<Option<u64>>,
}

impl Default for Heat {
    fn default() -> Heat {
        Heat { hot: RefCell::new(HotKeys::new(WATCHED_MAX)), since_millis: Cell::new(None) }
    }
}

impl Heat {
    #[inline]
    pub fn read(&self, read: &Read, load: Load) {
        if let Partitions::One(key) = &read.partitions {
            self.add(read.table, key, load);
        }
    }

    #[inline]
    pub fn write(&self, mutation: &Mutation) {
        let bytes = mutation.encoded().len() as u64;
        self.add(mutation.table, &mutation.key, Load { writes: 1, bytes, ..Load::default() });
    }

    /// A condition on the partition did not hold.
    pub fn refused(&self, table: TableId, key: &PartitionKey) {
        self.add(table, key, Load { refused: 1, ..Load::default() });
    }

    #[inline]
    fn add(&self, table: TableId, key: &PartitionKey, load: Load) {
        self.hot.borrow_mut().add(table.0, key.token().0, key.bytes(), load);
    }
}

impl Shard {
    /// Lets other threads see what was counted; ends the slot when it is over.
    pub fn show_heat(&self, now_millis: u64) {
        let since = self.heat.since_millis.get().unwrap_or_else(|| {
            self.show_sizes();
            now_millis
        });
        let millis = now_millis.saturating_sub(since);
        let mut hot = self.heat.hot.borrow_mut();
        let Some(windows) = self.shared.heat.get(self.index) else { return };
        let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
        if millis >= SLOT_MILLIS {
            let slot = hot.take(millis, KEYS_MAX);
            let mut loads = self.shared.loads.lock().unwrap_or_else(PoisonError::into_inner);
            slot.tables.iter().for_each(|(table, load)| loads.entry(*table).or_default().add(load));
            drop(loads);
            windows.push(slot);
            self.heat.since_millis.set(Some(now_millis));
            drop(windows);
            self.show_sizes();
        } else {
            windows.show(hot.look(millis, KEYS_MAX));
            self.heat.since_millis.set(Some(since));
            drop(windows);
            self.show_changed_sizes();
        }
    }
}
