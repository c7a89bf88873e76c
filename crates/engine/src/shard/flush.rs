//! From memory to files: sealing memtables, and what happens when a flush is done.

use super::tables::Sealed;
use super::{Shard, TableState};
use crate::background::flush::FlushJob;
use crate::jobs::Lane;
use crate::table::Table;
use std::rc::Rc;
use std::sync::Arc;
use store::{TableConfig, TableId};
use tokio::sync::oneshot;

impl Shard {
    /// Seals memtables while the active ones hold more than their half of the budget, or are full.
    pub(super) fn seal_due(self: &Rc<Self>) {
        self.recount();
        let full = |table: &TableState| table.active.is_full();
        let full: Vec<TableId> =
            self.tables.borrow().values().filter(|t| full(t)).map(|t| t.config.id).collect();
        full.into_iter().for_each(|id| self.seal(id));
        while self.room.active_is_over() {
            let tables = self.tables.borrow();
            let largest = tables.values().max_by_key(|table| table.active.bytes());
            let Some(id) = largest.filter(|table| !table.active.is_empty()).map(|table| table.config.id)
            else {
                return;
            };
            drop(tables);
            self.seal(id);
        }
    }

    /// Flushes what recovery left sealed.
    pub(super) fn flush_replayed(self: &Rc<Self>) {
        for table in self.tables.borrow().values() {
            table.sealed.iter().for_each(|sealed| self.flush(&table.config, sealed.clone()));
        }
    }

    fn flush(&self, config: &TableConfig, sealed: Arc<Sealed>) {
        let job = FlushJob::new(self.shared.clone(), self.index, config.clone(), sealed);
        self.shared.jobs.submit(Lane::Flush, move || job.run());
    }

    /// Seals memtables that keep more of the log than they may.
    pub(super) fn seal_old(self: &Rc<Self>, current_segment: u64) {
        let options = &self.shared.options;
        let segments_max = (options.log_bytes_max / u64::from(options.log_segment_bytes)).max(2);
        let Some(oldest_allowed) = current_segment.checked_sub(segments_max) else { return };
        let tables = self.tables.borrow();
        let old =
            tables.values().filter(|table| table.oldest_segment().is_some_and(|at| at < oldest_allowed));
        let old: Vec<TableId> = old.map(|table| table.config.id).collect();
        drop(tables);
        old.into_iter().for_each(|id| self.seal(id));
    }

    /// Seals the table's memtable and has it flushed.
    fn seal(self: &Rc<Self>, id: TableId) {
        let mut tables = self.tables.borrow_mut();
        let Some(table) = tables.get_mut(&id) else { return };
        let Some(sealed) = table.seal() else { return };
        self.room.sealed(sealed.memtable.bytes());
        self.flush(&table.config, sealed);
    }

    /// A sealed memtable is in files now (in none, if it held nothing).
    pub(crate) fn flushed(
        self: &Rc<Self>,
        id: TableId,
        incarnation: u32,
        sealed: &Arc<Sealed>,
        files: Vec<Arc<Table>>,
    ) {
        let place = {
            let mut tables = self.tables.borrow_mut();
            let table = tables.get_mut(&id).filter(|table| table.config.incarnation == incarnation);
            table.and_then(|table| {
                let place = table.sealed.iter().position(|other| Arc::ptr_eq(other, sealed))?;
                table.sealed.remove(place);
                table.files.extend(files.iter().cloned());
                self.relook(table);
                Some(())
            })
        };
        if place.is_none() {
            // Dropped or truncated while the flush ran: the memory was counted then.
            return self.shared.drop_files(files);
        }
        self.room.unstick();
        self.shrank_sealed(sealed.memtable.bytes());
        self.compact_if_due(id);
        self.finish_draining();
    }

    /// A flush failed; it will be tried again, or (`again` is false) never.
    pub(crate) fn flush_failed(self: &Rc<Self>, again: bool) {
        self.room.stick();
        if !again {
            self.stranded.set(true);
        }
        if !self.drained.borrow().is_empty() {
            // The log has everything; do not hold up anybody for a disk that may never recover.
            self.answer_drained(false);
        }
    }

    /// Refuses new work and flushes everything; answers whether all of it is in files.
    pub fn close(self: &Rc<Self>, done: oneshot::Sender<bool>) {
        self.closing.set(true);
        self.room.wake_all();
        self.end_later();
        self.flush_all(done);
    }

    /// Seals every memtable; answers when all of them are in files.
    pub fn flush_all(self: &Rc<Self>, done: oneshot::Sender<bool>) {
        let ids: Vec<TableId> = self.tables.borrow().keys().copied().collect();
        ids.into_iter().for_each(|id| self.seal(id));
        self.drained.borrow_mut().push(done);
        self.finish_draining();
    }

    fn finish_draining(&self) {
        if self.tables.borrow().values().all(|table| table.sealed.is_empty()) {
            self.answer_drained(true);
        } else if self.stranded.get() {
            // Nobody works on it any more: waiting would never end.
            self.answer_drained(false);
        }
    }

    fn answer_drained(&self, all: bool) {
        for waiting in self.drained.borrow_mut().drain(..) {
            // The asking task may be gone.
            let _ = waiting.send(all);
        }
    }

    /// Memtables are counted as they grow; where it matters, what they hold is asked for.
    fn recount(&self) {
        let tables = self.tables.borrow();
        self.room.recount(tables.values().map(|table| table.active.bytes()).sum());
    }
}
