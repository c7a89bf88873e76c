//! Commits that can be logged right away: begun by a plain call, known by a number until they are applied.
//!
//! For callers with many commits under way: no future per commit, one waker for all that a group of the log makes safe.
//! Guarantees: `None` means that nothing has happened; then [`Shard::commit`] and [`Shard::commit_if`] are the way.

use super::{Shard, conditional};
use crate::log::NO_BALLOT;
use std::rc::Rc;
use std::task::{Context, Poll};
use store::{CasOutcome, Commit, ConditionalCommit, Mutation, StoreError};

/// A conditional commit that was decided; its number, if it is on its way through the log.
pub type Decided = (CasOutcome, Option<u64>);

impl Shard {
    /// Logs the commit, if all of it belongs here, needs no current value, changes no index or view and has room.
    pub fn begin(self: &Rc<Self>, commit: &mut Commit) -> Option<Result<u64, StoreError>> {
        if !self.may_begin() || !commit.mutations.iter().all(|m| self.is_plain(m)) {
            return None;
        }
        let mutations = std::mem::take(&mut commit.mutations);
        Some(self.submit_with_others(NO_BALLOT, mutations, Vec::new()))
    }

    /// Decides the commit, and logs it if it applies, unless somebody holds its partition.
    pub fn begin_if(self: &Rc<Self>, commit: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>> {
        if !self.may_begin() || !commit.mutations.iter().all(|m| self.is_plain(m)) {
            return None;
        }
        let guard = self.locks.try_acquire((commit.table, commit.key.clone()))?;
        self.shared.metrics.conditional_commits.add(1);
        let outcome = match conditional::decide(self, commit) {
            Ok(outcome) => outcome,
            Err(error) => return Some(Err(error)),
        };
        if !outcome.applied {
            return Some(Ok((outcome, None)));
        }
        let (ballot, mutations) = conditional::stamped(self, commit);
        let number = self.submit_with_others(ballot, mutations, vec![guard]);
        Some(number.map(|number| (outcome, Some(number))))
    }

    fn may_begin(&self) -> bool {
        !self.closing.get() && self.room.is_free()
    }

    fn is_plain(&self, mutation: &Mutation) -> bool {
        mutation.deferred.is_empty()
            && self.owner_of(&mutation.key) == self.index
            && !self.is_projected(mutation.table)
    }

    /// What became of the commit with this number; `None` while it is on its way.
    pub fn outcome_of(&self, number: u64) -> Option<Result<(), StoreError>> {
        self.commits.borrow().outcome_of(number)
    }

    /// The same, for a task that wants to be woken.
    pub fn poll_outcome(&self, number: u64, context: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
        let commits = &mut *self.commits.borrow_mut();
        match commits.outcome_of(number) {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                commits.wake_when_applied(number, context.waker());
                Poll::Pending
            }
        }
    }
}
