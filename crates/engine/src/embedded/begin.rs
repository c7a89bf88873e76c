//! Requests that this shard can serve without waiting: the short way for a server with many of them under way.

use super::EmbeddedStore;
use crate::shard::Decided;
use std::cell::Cell;
use std::task::{Context, Poll};
use store::{Commit, ConditionalCommit, Prompt, StoreError};

impl Prompt for EmbeddedStore {
    fn only_here<T>(&self, body: impl FnOnce() -> T) -> T {
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

    fn begin(&self, commit: &mut Commit) -> Option<Result<u64, StoreError>> {
        let here = |key| self.shard.owner_of(key) == self.shard.index;
        let local = commit.mutations.iter().all(|mutation| here(&mutation.key));
        let begun = self.shard.begin(commit)?;
        self.count(local);
        Some(begun)
    }

    fn is_paused(&self) -> bool {
        self.shard.is_paused()
    }

    fn begin_if(&self, commit: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>> {
        let begun = self.shard.begin_if(commit)?;
        self.count(true);
        Some(begun)
    }

    fn outcome_of(&self, number: u64) -> Option<Result<(), StoreError>> {
        self.shard.outcome_of(number)
    }

    fn poll_outcome(&self, number: u64, context: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
        self.shard.poll_outcome(number, context)
    }
}
