//! Requests that this shard can serve without waiting: the short way for a server with many of them under way.

use super::EmbeddedStore;
use crate::shard::Decided;
use std::cell::Cell;
use std::task::{Context, Poll};
use store::{Commit, ConditionalCommit, StoreError};

impl EmbeddedStore {
    /// Runs `body` so that reads of partitions of other shards are not sent but stay pending for ever. For polling a
    /// read once: when it is not ready, it can be dropped and nothing has happened.
    pub fn only_here<T>(&self, body: impl FnOnce() -> T) -> T {
        /// Also when `body` panics, or reads would hang for ever.
        struct Reset<'a>(&'a Cell<bool>);
        impl Drop for Reset<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.only_here.set(true);
        let _reset = Reset(&self.only_here);
        body()
    }

    /// Logs the commit if that needs no waiting, and gives its number; `None`: nothing has happened, the commit is
    /// untouched and [`store::Store::commit`] is the way.
    pub fn begin(&self, commit: &mut Commit) -> Option<Result<u64, StoreError>> {
        let here = |key| self.shard.owner_of(key) == self.shard.index;
        let local = commit.mutations.iter().all(|mutation| here(&mutation.key));
        let begun = self.shard.begin(commit)?;
        self.count(local);
        Some(begun)
    }

    /// Whether commits wait for a change of the tables or for a snapshot.
    pub fn is_paused(&self) -> bool {
        self.shard.is_paused()
    }

    /// Decides a conditional commit if that needs no waiting: its outcome, and its number if it applies. `None` as in
    /// [`EmbeddedStore::begin`].
    pub fn begin_if(&self, commit: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>> {
        let begun = self.shard.begin_if(commit)?;
        self.count(true);
        Some(begun)
    }

    /// What became of a commit that was begun; `None` while it is on its way to the log. Numbers are in order: when one
    /// is done, so are all before it.
    pub fn outcome_of(&self, number: u64) -> Option<Result<(), StoreError>> {
        self.shard.outcome_of(number)
    }

    /// The same, for a task that wants to be woken.
    pub fn poll_outcome(&self, number: u64, context: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
        self.shard.poll_outcome(number, context)
    }
}
