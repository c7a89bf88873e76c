//! Memory for memtables: admission of commits, and when a memtable is sealed.
//!
//! The shard's budget is split in two: active memtables may fill half of it, the other half belongs to
//! sealed ones on their way to disk. Commits wait while both are full; beyond a number of waiting commits, or when
//! flushing fails, they are refused as overload.

use super::Shard;
use std::cell::Cell;
use std::rc::Rc;
use store::StoreError;
use tokio::sync::Notify;

/// Commits of one shard that may wait for memory. The server bounds requests in flight too; this is the
/// second line, so that waiting commits cannot hold more than a few megabytes of small mutations.
const WAITING_MAX: usize = 4096;

pub(super) struct Room {
    bytes_max: usize,
    /// All memtables, and the active ones among them.
    used: Cell<usize>,
    active: Cell<usize>,
    /// Some memtable must be sealed whatever its size.
    full: Cell<bool>,
    waiting: Cell<usize>,
    freed: Notify,
    /// The last flush failed: waiting makes no sense until one succeeds.
    stuck: Cell<bool>,
}

impl Room {
    pub fn new(bytes_max: usize) -> Room {
        Room {
            bytes_max: bytes_max.max(1),
            used: Cell::new(0),
            active: Cell::new(0),
            full: Cell::new(false),
            waiting: Cell::new(0),
            freed: Notify::new(),
            stuck: Cell::new(false),
        }
    }

    /// About how large a flushed memtable is.
    pub fn flush_bytes(&self) -> u64 {
        (self.bytes_max / 2) as u64
    }

    /// Whether active memtables hold more than their half.
    pub fn active_is_over(&self) -> bool {
        self.active.get() > self.bytes_max / 2
    }

    /// A memtable of this size takes no more writes.
    pub fn sealed(&self, bytes: usize) {
        self.active.set(self.active.get().saturating_sub(bytes));
    }

    /// A memtable cannot take much more.
    pub fn must_seal(&self) {
        self.full.set(true);
    }

    /// What active memtables really hold.
    pub fn recount(&self, active: usize) {
        self.active.set(active);
    }

    /// Flushing does not work at present.
    pub fn stick(&self) {
        self.stuck.set(true);
        self.freed.notify_waiters();
    }

    pub fn unstick(&self) {
        self.stuck.set(false);
    }

    pub fn wake_all(&self) {
        self.freed.notify_waiters();
    }

    fn is_free(&self) -> bool {
        self.used.get() < self.bytes_max
    }
}

impl Shard {
    /// Waits until there is memory for another commit.
    pub(super) async fn admit(&self) -> Result<(), StoreError> {
        if self.closing.get() {
            return Err(StoreError::Closed);
        }
        if self.room.is_free() {
            return Ok(());
        }
        self.admit_slowly().await
    }

    async fn admit_slowly(&self) -> Result<(), StoreError> {
        let overloaded = |what| {
            self.shared.metrics.commits_overloaded.add(1);
            Err(StoreError::Overloaded(what))
        };
        while !self.room.is_free() {
            if self.room.stuck.get() {
                return overloaded("memtables are full and cannot be flushed");
            }
            if self.room.waiting.get() >= WAITING_MAX {
                return overloaded("memtables are full");
            }
            self.room.waiting.set(self.room.waiting.get() + 1);
            let freed = self.room.freed.notified();
            if self.shared.options.inline {
                self.shared.jobs.run_pending();
            }
            freed.await;
            self.room.waiting.set(self.room.waiting.get() - 1);
            if self.closing.get() {
                return Err(StoreError::Closed);
            }
        }
        Ok(())
    }

    /// Counts what recovery has put into memtables.
    pub(super) fn account_replayed(self: &Rc<Self>) {
        let bytes: usize = self.tables.borrow().values().map(|t| t.bytes()).sum();
        self.room.used.set(bytes);
        self.shared.metrics.memtable_bytes.add(bytes as u64);
        self.flush_replayed();
        self.seal_due();
    }

    /// Memtables have grown: counts it, and seals what is due.
    pub(super) fn grew(self: &Rc<Self>, bytes: usize) {
        self.room.used.set(self.room.used.get() + bytes);
        self.room.active.set(self.room.active.get() + bytes);
        self.shared.metrics.memtable_bytes.add(bytes as u64);
        if self.room.active_is_over() || self.room.full.take() {
            self.seal_due();
        }
    }

    /// A sealed memtable is gone from memory.
    pub(super) fn shrank_sealed(&self, bytes: usize) {
        self.room.used.set(self.room.used.get().saturating_sub(bytes));
        self.shared.metrics.memtable_bytes.subtract(bytes as u64);
        self.room.freed.notify_waiters();
    }
}
