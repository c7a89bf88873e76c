//! What a store can do beyond the contract. Each capability has a name. If a store lacks it, the caller takes the general
//! way, or the request is refused with the reason.

use crate::commit::{CasOutcome, Commit, ConditionalCommit};
use crate::error::StoreError;
use std::convert::Infallible;
use std::task::{Context, Poll};

/// What came of a conditional commit that was decided at once, and its number if it applies.
pub type Decided = (CasOutcome, Option<u64>);

/// Requests that can be served without waiting: the short way for a server with many of them under way. A store without it has every
/// request take the general way.
pub trait Prompt {
    /// Logs the commit if that needs no waiting, and gives its number; `None`: nothing has happened, the commit is untouched and
    /// [`crate::Store::commit`] is the way.
    fn begin(&self, commit: &mut Commit) -> Option<Result<u64, StoreError>>;

    /// Decides a conditional commit if that needs no waiting. `None` as in [`Prompt::begin`].
    fn begin_if(&self, commit: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>>;

    /// What became of a commit that was begun; `None` while it is on its way. Numbers are in order: when one is done, so are all
    /// before it.
    fn outcome_of(&self, number: u64) -> Option<Result<(), StoreError>>;

    /// The same, for a task that wants to be woken.
    fn poll_outcome(&self, number: u64, context: &mut Context<'_>) -> Poll<Result<(), StoreError>>;

    /// Whether commits wait for a change of the tables or for a snapshot.
    fn is_paused(&self) -> bool;

    /// Runs `body` so that reads of what is elsewhere are not sent but stay pending for ever. For polling a read once: when it is not
    /// ready, it can be dropped and nothing has happened.
    fn only_here<T>(&self, body: impl FnOnce() -> T) -> T;
}

/// The capability of a store that has none: there is no value of it.
#[derive(Clone, Copy, Debug)]
pub struct NoPrompt(Infallible);

impl Prompt for NoPrompt {
    fn begin(&self, _: &mut Commit) -> Option<Result<u64, StoreError>> {
        match self.0 {}
    }

    fn begin_if(&self, _: &mut ConditionalCommit) -> Option<Result<Decided, StoreError>> {
        match self.0 {}
    }

    fn outcome_of(&self, _: u64) -> Option<Result<(), StoreError>> {
        match self.0 {}
    }

    fn poll_outcome(&self, _: u64, _: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
        match self.0 {}
    }

    fn is_paused(&self) -> bool {
        match self.0 {}
    }

    fn only_here<T>(&self, _: impl FnOnce() -> T) -> T {
        match self.0 {}
    }
}

/// What a store promises. A caller that needs more refuses in words before anything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// [`crate::Store::transact`] and [`crate::Store::horizon`].
    pub transactions: bool,
    /// [`crate::Store::exclusively`].
    pub exclusive_work: bool,
    /// The next generation of a table is kept in step with it, so that its buckets can change.
    pub mirrors: bool,
    /// [`crate::Store::crowding`]: the limits of partitions are exact.
    pub exact_limits: bool,
    /// Copies may follow later. Others keep every copy in the commit of its table.
    pub later: bool,
    /// An answer always comes: nothing is [`StoreError::Unknown`].
    pub answers: bool,
}
