//! Commits that can be logged right away: begun by a plain call, known by a number until they are applied.
//!
//! For callers with many commits under way: no future per commit, one waker for all commits that a group of the log makes safe.
//! Guarantees: `None` means that nothing has happened; then the caller uses [`Shard::commit`] or [`Shard::commit_if`].

use super::locks::{Guard, LockKey};
use super::operations::together;
use super::{Shard, conditional};
use crate::log::NO_BALLOT;
use std::rc::Rc;
use std::task::{Context, Poll};
use store::{CasOutcome, Commit, ConditionalCommit, Mutation, StoreError};

/// A conditional commit that was decided; its number, if it is on its way through the log.
pub type Decided = (CasOutcome, Option<u64>);

impl Shard {
    /// Logs the commit, if it needs no current value, has room, and nobody holds a partition whose views it changes. Entries of
    /// indexes, rows of views and partitions of other shards go along.
    pub fn begin(self: &Rc<Self>, commit: &mut Commit) -> Option<Result<u64, StoreError>> {
        if !self.may_begin() {
            return None;
        }
        if commit.mutations.iter().all(|m| self.is_plain(m)) {
            let mutations = std::mem::take(&mut commit.mutations);
            return Some(self.submit_with_others(NO_BALLOT, mutations, Vec::new(), Vec::new()));
        }
        self.give_home(&mut commit.mutations);
        if !self.is_resolved(&commit.mutations) || self.is_held_back(&commit.mutations) {
            return None;
        }
        let guards = self.try_hold(self.viewed_keys(&commit.mutations))?;
        let mutations = std::mem::take(&mut commit.mutations);
        Some(self.begin_wide(NO_BALLOT, mutations, commit.now_seconds, guards))
    }

    /// Logs mutations with what they do to indexes and views, and parts for the shards that own some of it.
    fn begin_wide(
        self: &Rc<Self>,
        ballot: i64,
        mutations: Vec<Mutation>,
        now_seconds: u32,
        guards: Vec<Guard>,
    ) -> Result<u64, StoreError> {
        let mut mutations = mutations;
        let mut ballot = ballot;
        if self.are_projected(&mutations) {
            // A view follows all that a commit does to a row, not each half by itself.
            mutations = together(mutations);
            ballot = ballot.max(self.project_here(&mut mutations, now_seconds)?);
        }
        let mut parts = Vec::new();
        if mutations.iter().any(|mutation| self.owner_of(&mutation.key) != self.index) {
            parts = self.split_off_remote(&mut mutations, &mut Vec::new(), ballot)?;
        }
        self.submit_with_others(ballot, mutations, parts, guards)
    }

    /// The locks of these partitions, if nobody holds one of them.
    fn try_hold(&self, mut keys: Vec<LockKey>) -> Option<Vec<Guard>> {
        keys.sort();
        keys.dedup();
        keys.into_iter().map(|key| self.locks.try_acquire(key)).collect()
    }

    /// Whether everything that the mutations need to know is on this shard.
    fn is_resolved(&self, mutations: &[Mutation]) -> bool {
        mutations.iter().all(|mutation| {
            mutation.deferred.is_empty()
                && (self.is_here(mutation) || !self.is_projected(mutation.table))
                // Totals need locks that may have to be waited for.
                && !self.is_totalled(mutation.table)
        })
    }

    /// Decides the commit, and logs it if it applies, unless somebody holds its partition.
    pub fn begin_if(self: &Rc<Self>, commit: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>> {
        if self.is_elsewhere(commit) {
            return None;
        }
        let here = self.owner_of(&commit.key) == self.index;
        let waits = !here || !commit.further.is_empty() || commit.mutations.iter().any(|m| !self.is_here(m));
        if waits || !self.may_begin() || !self.is_resolved(&commit.mutations) {
            return None;
        }
        if let [only] = &commit.mutations[..]
            && only.table == commit.table
            && only.key == commit.key
            && self.is_plain(only)
        {
            let guard = self.locks.try_acquire((commit.table, commit.key.clone()))?;
            return Some(self.decide_now(commit, vec![guard]));
        }
        let mut keys = self.viewed_keys(&commit.mutations);
        keys.extend(commit.mutations.iter().map(|mutation| (mutation.table, mutation.key.clone())));
        keys.push((commit.table, commit.key.clone()));
        if self.is_held_back(&commit.mutations) {
            return None;
        }
        let guards = self.try_hold(keys)?;
        Some(self.decide_now(commit, guards))
    }

    /// Decides a commit of locked partitions of this shard, and logs it if it applies.
    fn decide_now(
        self: &Rc<Self>,
        commit: &mut ConditionalCommit,
        guards: Vec<Guard>,
    ) -> Result<Decided, StoreError> {
        self.shared.metrics.conditional_commits.add(1);
        let outcome = conditional::decide(self, commit)?;
        if !outcome.applied || commit.mutations.is_empty() {
            return Ok((outcome, None));
        }
        let (ballot, mutations) = conditional::stamped(self, commit);
        let number = match mutations.iter().all(|m| self.is_plain(m)) {
            true => self.submit_with_others(ballot, mutations, Vec::new(), guards),
            false => self.begin_wide(ballot, mutations, commit.now_seconds, guards),
        };
        number.map(|number| (outcome, Some(number)))
    }

    fn may_begin(&self) -> bool {
        !self.closing.get() && self.room.is_free()
    }

    fn is_here(&self, mutation: &Mutation) -> bool {
        self.owner_of(&mutation.key) == self.index
    }

    /// Whether a mutation concerns this shard and its own table alone.
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
