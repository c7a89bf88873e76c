//! Copies that follow later (`store::later`): what commits leave for them, and who waits for them.
//!
//! Writers compute nothing and take no lock: an entry says which rows were touched, and is applied together with them, on the same shard. One task per
//! shard follows ([`follow`]). Entries have stamps of this shard's ballots, so no two of a partition are equal.

mod backlog;
mod follow;

pub(super) use follow::keep_following;

use super::Shard;
use crate::database::late::Standing;
use backlog::Backlog;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use store::later::{LaterConfig, OnLag, Pending};
use store::{Mutation, StoreError, TableConfig, TableId};
use tokio::sync::Notify;

/// Commits of one shard that may wait for a copy.
const WAITING_MAX: usize = 4096;

#[derive(Default)]
pub(super) struct Later {
    /// By the table of what is pending.
    backlogs: RefCell<BTreeMap<TableId, Backlog>>,
    /// Some table has a copy that follows later.
    any: Cell<bool>,
    /// There is something to follow.
    woken: Notify,
    /// Something was followed, or cannot be.
    progressed: Notify,
    waiting: Cell<usize>,
}

/// Counts a commit that waits, also if it gives up.
struct Waiter<'l>(&'l Later);

impl<'l> Waiter<'l> {
    fn new(later: &'l Later) -> Waiter<'l> {
        later.waiting.set(later.waiting.get() + 1);
        Waiter(later)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get() - 1);
    }
}

impl Shard {
    /// What a mutation of this shard leaves to be done, with its stamp.
    pub(super) fn pending_entries(&self, mutation: &Mutation) -> Option<(Vec<Mutation>, i64)> {
        let tables = self.tables.borrow();
        let later = &tables.get(&mutation.table)?.config.later;
        if later.is_empty() {
            return None;
        }
        let mut touched = super::views::touched(mutation);
        touched.ranges.extend(mutation.touched.as_deref().cloned());
        let slices = super::indexes::slices(touched);
        if slices.is_empty() {
            return None;
        }
        let stamp = self.next_ballot();
        let pending = Pending { stamp, since: stamp, slices };
        let entry = |later: &Arc<LaterConfig>| pending.mutation(later.pending, mutation.key.clone());
        Some((later.iter().map(entry).collect(), stamp))
    }

    /// An entry was applied.
    #[cold]
    pub(super) fn note_pending(&self, mutation: &Mutation) {
        let mut backlogs = self.later.backlogs.borrow_mut();
        let Some(backlog) = backlogs.get_mut(&mutation.table) else { return };
        let had_work = backlog.has_work();
        backlog.note(mutation);
        if !had_work && backlog.has_work() {
            backlog.show(self.index, self.shared.clock.micros());
            self.later.woken.notify_one();
        }
    }

    /// The tables have changed: copies come and go, and are emptied with their table.
    pub(super) fn later_altered(&self, configs: &[TableConfig]) {
        let now = self.shared.clock.micros();
        let mut backlogs = self.later.backlogs.borrow_mut();
        let of = |id: &TableId| configs.iter().find(|config| config.id == *id && config.pending.is_some());
        backlogs.retain(|id, backlog| of(id).is_some_and(|config| config.incarnation == backlog.incarnation));
        for config in configs {
            let Some(later) = &config.pending else { continue };
            match backlogs.get_mut(&config.id) {
                Some(backlog) => backlog.config = later.clone(),
                None => {
                    let standing = self.shared.late.of(config.id, self.shared.options.shards);
                    let backlog = Backlog::new(later.clone(), config.incarnation, standing, now);
                    backlog.show(self.index, now);
                    backlogs.insert(config.id, backlog);
                }
            }
        }
        self.shared.late.keep(|id| of(&id).is_some());
        self.later.any.set(!backlogs.is_empty());
        self.later.woken.notify_one();
        self.later.progressed.notify_waiters();
    }

    /// The task that follows ends.
    pub(super) fn end_later(&self) {
        self.later.woken.notify_one();
        self.later.progressed.notify_waiters();
        self.later.backlogs.borrow().values().for_each(|backlog| backlog.standing.eased.notify_waiters());
    }

    /// Whether a copy of one of these tables holds its writers back.
    pub(super) fn is_held_back(&self, mutations: &[Mutation]) -> bool {
        self.has_followers() && self.holding_back(mutations.iter().map(|m| m.table)).is_some()
    }

    fn holding_back(&self, written: impl Iterator<Item = TableId>) -> Option<(Arc<Standing>, OnLag)> {
        let tables = self.tables.borrow();
        let backlogs = self.later.backlogs.borrow();
        for table in written {
            for later in tables.get(&table).into_iter().flat_map(|table| &table.config.later) {
                let Some(backlog) = backlogs.get(&later.pending) else { continue };
                if later.on_lag != OnLag::Late && backlog.standing.is_pressing() {
                    return Some((backlog.standing.clone(), later.on_lag));
                }
            }
        }
        None
    }

    /// Whether any copy follows later; asked before anything is made for them.
    pub(super) fn has_followers(&self) -> bool {
        self.later.any.get()
    }

    /// Waits while copies of the tables are too far behind, or refuses, as their rules say.
    pub(super) async fn hold_back(&self, written: &[TableId]) -> Result<(), StoreError> {
        let overloaded = |what| {
            self.shared.metrics.commits_overloaded.add(1);
            Err(StoreError::Overloaded(what))
        };
        while let Some((standing, rule)) = self.holding_back(written.iter().copied()) {
            if rule == OnLag::Refuse {
                return overloaded("a projection of the table is as far behind as it may be");
            }
            if standing.is_stuck() {
                return overloaded("a projection of the table is behind and cannot follow at present");
            }
            if self.later.waiting.get() >= WAITING_MAX {
                return overloaded("too many writes wait for a projection of the table");
            }
            let _waiter = Waiter::new(&self.later);
            let eased = standing.eased.notified();
            if standing.is_pressing() && !standing.is_stuck() {
                eased.await;
            }
            if self.closing.get() {
                return Err(StoreError::Closed);
            }
        }
        Ok(())
    }

    /// Returns when this shard has followed everything for a copy that was applied before the call.
    pub async fn caught_up(self: &Rc<Self>, pending: TableId) -> Result<(), StoreError> {
        let mark = self.next_ballot();
        loop {
            let progressed = self.later.progressed.notified();
            {
                let backlogs = self.later.backlogs.borrow();
                // Dropped meanwhile: then nobody waits for it.
                let Some(backlog) = backlogs.get(&pending) else { return Ok(()) };
                if !backlog.has_work() || backlog.since().is_none_or(|since| since > mark) {
                    return Ok(());
                }
                if backlog.standing.is_stuck() {
                    return Err(StoreError::Overloaded("a projection cannot follow at present"));
                }
            }
            if self.closing.get() {
                return Err(StoreError::Closed);
            }
            progressed.await;
        }
    }
}

/// The tables whose rows mutations write; rows that are only touched hold nobody back.
pub(super) fn written(mutations: &[Mutation]) -> Vec<TableId> {
    let written = mutations.iter().filter(|m| m.touched.is_none() || !m.encoded().is_empty());
    written.map(|mutation| mutation.table).collect()
}
