//! The state of one table on one shard: memtables and files.

use super::limits::Limited;
use crate::log::Pin;
use crate::memtable::Memtable;
use crate::table::Table;
use model::deletion::Timestamp;
use std::sync::Arc;
use store::{Mutation, TableConfig};

/// A table as recovery found it.
pub(crate) struct TableSeed {
    pub config: TableConfig,
    /// Oldest first; the last one goes on taking writes.
    pub memtables: Vec<Sealed>,
    pub files: Vec<Arc<Table>>,
}

/// A memtable that takes no more writes.
pub(crate) struct Sealed {
    pub memtable: Memtable,
    /// Keeps the log until the memtable is in a file.
    pub pin: Pin,
}

pub(crate) struct TableState {
    pub config: TableConfig,
    pub active: Memtable,
    pin: Option<Pin>,
    /// Oldest first.
    pub sealed: Vec<Arc<Sealed>>,
    pub files: Vec<Arc<Table>>,
    /// A merge of some of the files is under way.
    pub compacting: bool,
    pub limited: Limited,
}

impl TableState {
    pub fn new(seed: TableSeed) -> TableState {
        let TableSeed { config, mut memtables, files } = seed;
        let (active, pin) = match memtables.pop() {
            Some(Sealed { memtable, pin }) => (memtable, Some(pin)),
            None => (Memtable::new(), None),
        };
        let sealed = memtables.into_iter().map(Arc::new).collect();
        TableState { config, active, pin, sealed, files, compacting: false, limited: Limited::default() }
    }

    /// Applies a mutation from the pinned segment; returns by how many bytes the memtable grew.
    pub fn apply(&mut self, mutation: &Mutation, pin: &Pin) -> usize {
        let before = self.active.bytes();
        self.active.apply(mutation, pin.segment());
        if self.pin.as_ref().is_none_or(|mine| pin.segment() < mine.segment())
            && let Some(later) = self.pin.replace(pin.clone())
        {
            later.release();
        }
        self.active.bytes().saturating_sub(before)
    }

    /// Memory of all memtables.
    pub fn bytes(&self) -> usize {
        self.active.bytes() + self.sealed.iter().map(|s| s.memtable.bytes()).sum::<usize>()
    }

    /// The smallest timestamp in any memtable.
    pub fn min_timestamp(&self) -> Option<Timestamp> {
        let memtables = self.sealed.iter().map(|sealed| &sealed.memtable).chain([&self.active]);
        memtables.filter_map(|memtable| memtable.timestamps()).map(|(smallest, _)| smallest).min()
    }

    /// The oldest log segment the active memtable holds back.
    pub fn oldest_segment(&self) -> Option<u64> {
        self.pin.as_ref().map(Pin::segment)
    }

    /// The table is gone, and with it everything its memtables hold.
    pub fn release(&self) {
        let sealed = self.sealed.iter().map(|sealed| &sealed.pin);
        sealed.chain(&self.pin).for_each(Pin::release);
    }

    /// Puts a new memtable in the place of the active one; `None` when that one is empty.
    pub fn seal(&mut self) -> Option<Arc<Sealed>> {
        let pin = self.pin.take()?;
        let sealed = Arc::new(Sealed { memtable: std::mem::take(&mut self.active), pin });
        self.sealed.push(sealed.clone());
        self.limited.sealed();
        Some(sealed)
    }
}
