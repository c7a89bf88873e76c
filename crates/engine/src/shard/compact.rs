//! Compaction as the shard sees it: what to merge next, and the exchange of files when it is done.

use super::Shard;
use crate::background::compact::CompactJob;
use crate::compaction::{Choice, FileFacts, Situation, choose};
use crate::jobs::Lane;
use crate::table::Table;
use model::deletion::Timestamp;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::TableId;

impl Shard {
    /// Looks at every table; after opening and after a change of the tables.
    pub(super) fn compact_all_if_due(self: &Rc<Self>) {
        let ids: Vec<TableId> = self.tables.borrow().keys().copied().collect();
        ids.into_iter().for_each(|id| self.compact_if_due(id));
    }

    /// Begins the most useful merge of the table, unless one is under way.
    pub(super) fn compact_if_due(self: &Rc<Self>, id: TableId) {
        if self.closing.get() {
            return;
        }
        let mut tables = self.tables.borrow_mut();
        let Some(table) = tables.get_mut(&id) else { return };
        if table.compacting || table.files.is_empty() {
            return;
        }
        let facts: Vec<FileFacts> = table.files.iter().map(|file| FileFacts::of(file, false)).collect();
        let situation = Situation {
            now_seconds: self.shared.clock.seconds(),
            grace_seconds: table.config.gc_grace_seconds,
            oldest_live_segment: self.shared.log_begins.load(Ordering::Acquire),
            memtables_min_timestamp: table.min_timestamp(),
            flush_bytes: self.room.flush_bytes(),
            shards: self.shared.options.shards as u32,
        };
        let choice = choose(table.config.compaction, &facts, &situation);
        let (numbers, merge) = match choice {
            Choice::Nothing => return,
            Choice::Merge(numbers) => (numbers, true),
            Choice::Drop(numbers) => (numbers, false),
        };
        let (inputs, others) = table.files.iter().cloned().partition(|file| numbers.contains(&file.number()));
        table.compacting = true;
        let job = CompactJob {
            shared: self.shared.clone(),
            shard: self.index,
            config: table.config.clone(),
            inputs,
            others,
            situation,
            merge,
        };
        self.shared.jobs.submit(Lane::Compaction, move || job.run());
    }

    /// The smallest timestamp in any memtable of the table, and in any file that is not among the `known`.
    pub(crate) fn oldest_unknown(&self, id: TableId, known: &[u64]) -> Option<Timestamp> {
        let tables = self.tables.borrow();
        let table = tables.get(&id)?;
        let files = table.files.iter().filter(|file| !known.contains(&file.number()));
        files.map(|file| file.statistics().min_timestamp).chain(table.min_timestamp()).min()
    }

    /// The inputs are replaced by the outputs, in the manifest already.
    pub(crate) fn compacted(
        self: &Rc<Self>,
        id: TableId,
        incarnation: u32,
        inputs: Vec<Arc<Table>>,
        outputs: Vec<Arc<Table>>,
    ) {
        let known = {
            let mut tables = self.tables.borrow_mut();
            let table = tables.get_mut(&id).filter(|table| table.config.incarnation == incarnation);
            table.is_some_and(|table| {
                table.files.retain(|file| !inputs.iter().any(|input| input.number() == file.number()));
                table.files.extend(outputs.iter().cloned());
                table.compacting = false;
                self.relook(table);
                true
            })
        };
        self.shared.remove_files(inputs);
        match known {
            true => self.compact_if_due(id),
            false => self.shared.drop_files(outputs),
        }
    }

    /// The merge came to nothing. `again`: the table may be looked at again with the next flush.
    pub(crate) fn compaction_failed(self: &Rc<Self>, id: TableId, incarnation: u32, again: bool) {
        let mut tables = self.tables.borrow_mut();
        if let Some(table) = tables.get_mut(&id).filter(|table| table.config.incarnation == incarnation) {
            table.compacting = !again;
        }
    }
}
