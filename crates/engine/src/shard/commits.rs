//! Commits on their way: queued in the log, waiting to be safe, then applied and acknowledged.

use super::locks::{Guard, LockKey};
use super::{Errand, Shard};
use crate::log::{Durability, NO_BALLOT, Pin, SubmitError, record};
use crate::shard::holds::{RemoteHold, Ticket};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin as Pinned;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use store::{Mutation, Refused, StoreError};
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct Commits {
    waiting: VecDeque<Waiting>,
    /// Number of the last commit that was applied; `waiting` begins with the one behind it.
    applied: u64,
    /// Begun commits that are applied here, but not yet by every other shard that they concern.
    unfinished: HashMap<u64, Unfinished>,
    failed: Option<String>,
}

/// What a begun commit still waits for on other shards.
struct Unfinished {
    ballot: i64,
    parts: usize,
    /// A shard has ended before it applied its part. The log has the commit.
    lost: bool,
    /// Partitions whose buckets are recorded once all is applied.
    learnable: Vec<LockKey>,
    waker: Option<Waker>,
}

impl Commits {
    /// What became of the commit with this number; `None` while it is on its way.
    pub fn outcome_of(&self, number: u64) -> Option<Result<(), StoreError>> {
        if self.applied >= number {
            // Looked up only while there are any, because nearly every commit is of one shard.
            return match self.unfinished.is_empty() {
                true => Some(Ok(())),
                false => self.outcome_elsewhere(number),
            };
        }
        self.failed.as_ref().map(|reason| Err(StoreError::ReadOnly { reason: reason.clone() }))
    }

    fn outcome_elsewhere(&self, number: u64) -> Option<Result<(), StoreError>> {
        match self.unfinished.get(&number) {
            None => Some(Ok(())),
            Some(Unfinished { lost: true, .. }) => Some(Err(StoreError::Closed)),
            Some(_) => None,
        }
    }

    /// The lowest ballot of the commits that are not applied everywhere yet.
    pub fn oldest_ballot(&self) -> Option<i64> {
        let waiting = self.waiting.iter().map(|waiting| waiting.ballot);
        // What another shard lost is in the log and comes with the next open.
        let unfinished = self.unfinished.values().filter(|unfinished| !unfinished.lost);
        let ballots = waiting.chain(unfinished.map(|unfinished| unfinished.ballot));
        ballots.filter(|ballot| *ballot != NO_BALLOT).min()
    }

    pub fn wake_when_applied(&mut self, number: u64, waker: &Waker) {
        if let Some(unfinished) = self.unfinished.get_mut(&number) {
            unfinished.waker = Some(waker.clone());
        }
        if self.applied >= number {
            return;
        }
        let place = (number - self.applied - 1) as usize;
        if let Some(waiting) = self.waiting.get_mut(place) {
            waiting.waker = Some(waker.clone());
        }
    }
}

struct Waiting {
    ballot: i64,
    mutations: Vec<Mutation>,
    remote: Vec<RemotePart>,
    /// Released when the commit is applied, also if nobody waits for it any more.
    guards: Vec<Guard>,
    waker: Option<Waker>,
}

/// The part of a commit that belongs to another shard.
pub(crate) struct RemotePart {
    pub shard: usize,
    /// With the incarnations of their tables as the record in the log has them.
    pub mutations: Vec<(u32, Mutation)>,
    pub hold: Option<RemoteHold>,
    /// The commit's: later ones of the partitions must be above it.
    pub ballot: i64,
    pub done: Done,
}

/// Who hears when a part is applied.
pub(crate) enum Done {
    /// A task that waits.
    Task(oneshot::Sender<()>),
    /// The shard that has begun the commit, which knows it by its number.
    Begun { shard: usize, number: u64 },
}

/// A part on the shard that owns it.
pub(super) struct ArrivedPart {
    mutations: Vec<(u32, Mutation)>,
    pin: Pin,
    ticket: Option<Ticket>,
    ballot: i64,
    done: Done,
    /// Version of the tables that the sender knew.
    version: u64,
}

impl Shard {
    /// Logs mutations of this shard and parts for other shards as one record. Deferred operations must have
    /// been resolved. The returned number is what [`Shard::applied`] waits for.
    pub(super) fn submit(
        self: &Rc<Self>,
        ballot: i64,
        mutations: Vec<Mutation>,
        remote: Vec<RemotePart>,
        guards: Vec<Guard>,
    ) -> Result<u64, StoreError> {
        let number = self.queue(ballot, mutations, remote, guards)?;
        // Where the shard writes the log itself, the commit is applied before anybody waits for it.
        if self.shared.options.durability != Durability::Sync || self.shared.options.inline {
            self.pump();
        }
        Ok(number)
    }

    /// The same for one of many: where the shard writes the log itself, it does so when it has queued the others.
    pub(super) fn submit_with_others(
        self: &Rc<Self>,
        ballot: i64,
        mutations: Vec<Mutation>,
        remote: Vec<RemotePart>,
        guards: Vec<Guard>,
    ) -> Result<u64, StoreError> {
        let number = self.queue(ballot, mutations, remote, guards)?;
        if self.shared.options.inline {
            self.pump();
        } else if !self.pump_due.replace(true) {
            self.shared.log.help_soon(self.index);
        }
        Ok(number)
    }

    fn queue(
        &self,
        ballot: i64,
        mutations: Vec<Mutation>,
        mut remote: Vec<RemotePart>,
        guards: Vec<Guard>,
    ) -> Result<u64, StoreError> {
        if self.shared.limits.any() {
            let parts = remote.iter().flat_map(|part| &part.mutations).map(|(_, mutation)| mutation);
            mutations.iter().chain(parts).try_for_each(|mutation| self.shared.limits.check(mutation))?;
        }
        let number = {
            let tables = self.tables.borrow();
            let incarnation_of = |mutation: &Mutation| match tables.get(&mutation.table) {
                Some(table) => Ok(table.config.incarnation),
                None => Err(StoreError::UnknownTable(mutation.table)),
            };
            // All tables are known before anything is written; most commits have one mutation.
            let mut first = 0;
            for (at, mutation) in mutations.iter().enumerate() {
                let incarnation = incarnation_of(mutation)?;
                first = if at == 0 { incarnation } else { first };
            }
            let encode = |out: &mut Vec<u8>| {
                record::begin_commit(out, ballot);
                for (at, mutation) in mutations.iter().enumerate() {
                    let incarnation =
                        if at == 0 { first } else { incarnation_of(mutation).unwrap_or_default() };
                    record::put_mutation(out, incarnation, mutation);
                }
                for (incarnation, mutation) in remote.iter().flat_map(|part| &part.mutations) {
                    record::put_mutation(out, *incarnation, mutation);
                }
            };
            self.shared.log.submit(self.index, encode).map_err(|error| self.refusal(error))?
        };
        self.shared.metrics.commits.add(1);
        self.number_parts(number, ballot, &mut remote, &mutations);
        let waiting = Waiting { ballot, mutations, remote, guards, waker: None };
        self.commits.borrow_mut().waiting.push_back(waiting);
        Ok(number)
    }

    /// Lets the parts of a begun commit find back to it.
    fn number_parts(&self, commit: u64, ballot: i64, remote: &mut [RemotePart], own: &[Mutation]) {
        let mut parts = 0;
        for part in remote {
            if let Done::Begun { number, .. } = &mut part.done {
                *number = commit;
                parts += 1;
            }
        }
        if parts > 0 {
            let learnable = self.learnable(own);
            let unfinished = Unfinished { ballot, parts, lost: false, learnable, waker: None };
            self.commits.borrow_mut().unfinished.insert(commit, unfinished);
        }
    }

    /// Another shard has applied its part of a begun commit, or never will.
    pub(super) fn part_done(&self, number: u64, applied: bool) {
        let mut commits = self.commits.borrow_mut();
        let Some(unfinished) = commits.unfinished.get_mut(&number) else { return };
        unfinished.parts -= 1;
        unfinished.lost |= !applied;
        if unfinished.parts > 0 && applied {
            return;
        }
        let waker = unfinished.waker.take();
        if applied {
            let learned = commits.unfinished.remove(&number).map(|unfinished| unfinished.learnable);
            self.learn(learned.unwrap_or_default());
        }
        drop(commits);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.commits_left();
    }

    fn refusal(&self, error: SubmitError) -> StoreError {
        match error {
            SubmitError::QueueFull => {
                self.shared.metrics.commits_overloaded.add(1);
                StoreError::Overloaded("the commit log is far behind")
            }
            SubmitError::Stalled(reason) => {
                self.shared.metrics.commits_overloaded.add(1);
                StoreError::Overloaded(reason)
            }
            SubmitError::TooLarge { bytes, limit } => Refused::CommitTooLarge { bytes, limit }.into(),
            SubmitError::Failed(reason) => StoreError::ReadOnly { reason },
        }
    }

    /// Resolves when the commit with this number is applied, or never will be.
    pub(super) fn applied(self: &Rc<Self>, number: u64) -> Applied {
        Applied { shard: self.clone(), number }
    }

    /// Applies what the log has made safe since the last call.
    pub(super) fn pump(self: &Rc<Self>) {
        self.pump_due.set(false);
        self.shared.log.help();
        let mut grown = 0;
        let mut segment = self.segment.get();
        for progress in self.shared.log.take_progress(self.index) {
            segment = progress.pin.segment();
            loop {
                let waiting = {
                    let mut commits = self.commits.borrow_mut();
                    if commits.applied >= progress.last {
                        break;
                    }
                    commits.applied += 1;
                    commits.waiting.pop_front()
                };
                let Some(waiting) = waiting else { break };
                grown += self.apply_waiting(waiting, &progress.pin);
            }
            progress.pin.release();
        }
        if let Some(reason) = self.shared.log.failure() {
            self.fail_waiting(reason);
        }
        if grown > 0 {
            self.grew(grown);
        }
        if self.segment.replace(segment) != segment {
            self.seal_old(segment);
        }
        self.commits_left();
    }

    fn apply_waiting(self: &Rc<Self>, waiting: Waiting, pin: &Pin) -> usize {
        let mut grown = 0;
        {
            let mut tables = self.tables.borrow_mut();
            for mutation in &waiting.mutations {
                // Dropped meanwhile: then the data is not wanted any more.
                if let Some(table) = tables.get_mut(&mutation.table) {
                    self.heat.write(mutation);
                    grown += table.apply(mutation, pin);
                    if table.config.is_watched() {
                        self.look_at(table, mutation);
                    }
                    if table.config.buckets.is_some() {
                        self.applied_to_bucket(mutation, waiting.remote.is_empty());
                    }
                    if table.config.pending.is_some() {
                        self.note_pending(mutation);
                    }
                    if table.active.is_full() {
                        self.room.must_seal();
                    }
                }
            }
        }
        for part in waiting.remote {
            self.send_part(part, pin.clone());
        }
        drop(waiting.guards);
        if let Some(waker) = waiting.waker {
            waker.wake();
        }
        grown
    }

    fn send_part(&self, part: RemotePart, pin: Pin) {
        let RemotePart { shard, mutations, hold, ballot, done } = part;
        let ticket = hold.map(RemoteHold::into_ticket);
        let begun = match done {
            Done::Begun { number, .. } => Some(number),
            Done::Task(_) => None,
        };
        let arrived = ArrivedPart { mutations, pin, ticket, ballot, done, version: self.version.get() };
        let errand: Errand = Box::new(move |owner| owner.take_part(arrived));
        // A shard that has ended cannot apply; the log has the record, so the next open will.
        if self.send(shard, errand).is_err()
            && let Some(number) = begun
        {
            self.part_done(number, false);
        }
    }

    /// Applies what another shard has logged, unless that shard knows of a change of the tables that has not
    /// arrived here yet: then it waits for the change.
    fn take_part(self: &Rc<Self>, part: ArrivedPart) {
        if part.version > self.version.get() {
            self.early.borrow_mut().push(part);
            return;
        }
        self.apply_part(&part.mutations, &part.pin);
        self.raise_ballot(part.ballot);
        part.pin.release();
        if let Some(ticket) = part.ticket {
            self.release(ticket);
        }
        match part.done {
            // The waiting task may be gone.
            Done::Task(sender) => drop(sender.send(())),
            Done::Begun { shard, number } => {
                let _ = self.send(shard, Box::new(move |origin| origin.part_done(number, true)));
            }
        }
    }

    /// The tables have changed: parts that came early may be due now.
    pub(super) fn take_early_parts(self: &Rc<Self>) {
        let parts = std::mem::take(&mut *self.early.borrow_mut());
        parts.into_iter().for_each(|part| self.take_part(part));
    }

    fn apply_part(self: &Rc<Self>, mutations: &[(u32, Mutation)], pin: &Pin) {
        let mut grown = 0;
        {
            let mut tables = self.tables.borrow_mut();
            for (incarnation, mutation) in mutations {
                if let Some(table) = tables.get_mut(&mutation.table)
                    && table.config.incarnation == *incarnation
                {
                    self.heat.write(mutation);
                    grown += table.apply(mutation, pin);
                    if table.config.is_watched() {
                        self.look_at(table, mutation);
                    }
                    if table.config.buckets.is_some() {
                        self.applied_to_bucket(mutation, false);
                    }
                    if table.config.pending.is_some() {
                        self.note_pending(mutation);
                    }
                    if table.active.is_full() {
                        self.room.must_seal();
                    }
                }
            }
        }
        self.grew(grown);
    }

    pub(super) fn has_waiting_commits(&self) -> bool {
        let commits = self.commits.borrow();
        !commits.waiting.is_empty() || commits.unfinished.values().any(|unfinished| !unfinished.lost)
    }

    pub(super) fn fail_waiting(&self, reason: &str) {
        let waiting = {
            let mut commits = self.commits.borrow_mut();
            commits.failed.get_or_insert_with(|| reason.to_owned());
            // What was not applied here was not sent on either.
            let applied = commits.applied;
            commits.unfinished.retain(|number, _| *number <= applied);
            std::mem::take(&mut commits.waiting)
        };
        for commit in waiting {
            drop(commit.guards);
            drop(commit.remote);
            if let Some(waker) = commit.waker {
                waker.wake();
            }
        }
    }

    /// Takes mutations of tables for which `gone` holds out of the queue: they were logged under an incarnation
    /// that has ended.
    pub(super) fn forget_waiting(&self, gone: impl Fn(store::TableId) -> bool) {
        for waiting in &mut self.commits.borrow_mut().waiting {
            waiting.mutations.retain(|mutation| !gone(mutation.table));
        }
    }
}

/// See [`Shard::applied`].
pub(super) struct Applied {
    shard: Rc<Shard>,
    number: u64,
}

impl Future for Applied {
    type Output = Result<(), StoreError>;

    fn poll(self: Pinned<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.shard.poll_outcome(self.number, context)
    }
}
