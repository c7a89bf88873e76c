//! Memory for memtables: admission of commits, and when a memtable is sealed.
//!
//! The shard's budget is split in two: active memtables may fill half of it, the other half belongs to
//! sealed ones on their way to disk. Commits wait while both are full; beyond a number of waiting commits, or when
//! flushing fails, they are refused as overload.

use super::Shard;
use std::cell::Cell;
use std::rc::Rc;
use store::StoreError;
use tokio::sync::{Notify, oneshot};

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
    /// Commits that were let in and have not ended.
    inside: Cell<usize>,
    left: Notify,
    /// A snapshot is being taken.
    paused: Cell<bool>,
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
            inside: Cell::new(0),
            left: Notify::new(),
            paused: Cell::new(false),
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

    pub fn is_free(&self) -> bool {
        self.used.get() < self.bytes_max && !self.paused.get()
    }
}

/// A commit that was let in; it counts as under way until this is dropped.
pub(super) struct Admitted {
    shard: Rc<Shard>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let room = &self.shard.room;
        room.inside.set(room.inside.get() - 1);
        self.shard.commits_left();
    }
}

/// Counts a commit that waits, also if it gives up.
struct Waiter<'r>(&'r Room);

impl<'r> Waiter<'r> {
    fn new(room: &'r Room) -> Waiter<'r> {
        room.waiting.set(room.waiting.get() + 1);
        Waiter(room)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get() - 1);
    }
}

impl Shard {
    /// Waits until there is memory for another commit.
    pub(super) async fn admit(self: &Rc<Self>) -> Result<Admitted, StoreError> {
        if self.closing.get() {
            return Err(StoreError::Closed);
        }
        if !self.room.is_free() {
            self.wait_for_room().await?;
        }
        self.room.inside.set(self.room.inside.get() + 1);
        Ok(Admitted { shard: self.clone() })
    }

    async fn wait_for_room(&self) -> Result<(), StoreError> {
        let overloaded = |what| {
            self.shared.metrics.commits_overloaded.add(1);
            Err(StoreError::Overloaded(what))
        };
        while !self.room.is_free() {
            if self.room.stuck.get() && !self.room.paused.get() {
                return overloaded("memtables are full and cannot be flushed");
            }
            if self.room.waiting.get() >= WAITING_MAX {
                return overloaded("memtables are full");
            }
            let _waiter = Waiter::new(&self.room);
            let freed = self.room.freed.notified();
            if self.shared.options.inline {
                self.shared.jobs.run_pending();
            }
            freed.await;
            if self.closing.get() {
                return Err(StoreError::Closed);
            }
        }
        Ok(())
    }

    /// Lets no commit in until [`Shard::resume`]; answers when none is under way any more.
    pub fn pause(self: &Rc<Self>, done: oneshot::Sender<bool>) {
        self.room.paused.set(true);
        let shard = self.clone();
        tokio::task::spawn_local(async move {
            loop {
                let left = shard.room.left.notified();
                if shard.room.inside.get() == 0 && !shard.has_waiting_commits() {
                    // The asking task may be gone.
                    let _ = done.send(true);
                    return;
                }
                left.await;
            }
        });
    }

    pub fn is_paused(&self) -> bool {
        self.room.paused.get()
    }

    pub fn resume(&self) {
        self.room.paused.set(false);
        self.room.freed.notify_waiters();
    }

    /// Commits were applied, or given up.
    pub(super) fn commits_left(&self) {
        // Only a pause waits for that.
        if self.room.paused.get() {
            self.room.left.notify_waiters();
        }
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
        self.resized.set(true);
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
