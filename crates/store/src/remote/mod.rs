//! A store behind a message boundary: what the contract costs, and what it cannot say, when nothing but bytes travels.
//!
//! The node at the other end is the naive store. Every request is encoded, every answer decoded, and [`Link`] delays and loses both. So
//! this store has what a cluster's client has: no references, no common clock, answers that never come. It runs the
//! engine's model test and the recorded scenarios of CQL.
//!
//! Guarantees: if the answer to a request was lost, a read is repeated, and a request that may have changed something is reported as
//! [`StoreError::Unknown`], never as done or refused. This store refuses what it lacks: tables that move to another bucketing plan
//! and buckets that become finer, because code decides where their rows go ([`crate::Homes`], [`crate::Finer`]), not data.

mod link;
mod message;
mod node;
mod shapes;
mod wire;

#[cfg(test)]
mod tests;

pub use link::{Faults, Link};

use crate::commit::{CasOutcome, Commit, ConditionalCommit};
use crate::error::StoreError;
use crate::mutation::Mutation;
use crate::read::{Flow, Read, ReadEnd, ReadOutcome, Sink};
use crate::refused::Refused;
use crate::transaction::{Decide, Horizon, Moment, Stamped, Transaction};
use crate::{NoPrompt, Promises, Store, TableConfig, TableId};
use link::Lost;
use message::{Answer, Event, Page, Request};
use model::key::PartitionKey;
use model::row::RowView;
use std::rc::Rc;
use wire::Wire;

/// A read whose answers are lost this often in a row is given up.
const READS_MAX: usize = 8;
/// A client that finds partitions locked asks again this often.
const BUSY_MAX: usize = 10_000;

/// A client of the node; clones share the link to it.
#[derive(Clone)]
pub struct RemoteStore {
    link: Rc<Link>,
}

impl RemoteStore {
    /// A client of an empty node.
    pub fn new(faults: Faults) -> RemoteStore {
        RemoteStore { link: Rc::new(Link::to_an_empty_node(faults)) }
    }

    /// Messages that were sent, and bytes both ways.
    pub fn traffic(&self) -> (u64, u64) {
        self.link.traffic()
    }

    async fn ask(&self, request: &Request) -> Result<Answer, Lost> {
        let mut bytes = Vec::new();
        request.put(&mut bytes);
        let answer = self.link.call(bytes).await?;
        let mut rest = &answer[..];
        let decoded = Answer::take(&mut rest);
        assert!(decoded.is_some() && rest.is_empty(), "an answer of the node is not well formed");
        decoded.ok_or(Lost)
    }

    /// For what changes nothing: asked again when the answer is lost.
    async fn look(&self, request: &Request) -> Result<Answer, StoreError> {
        for _ in 0..READS_MAX {
            if let Ok(answer) = self.ask(request).await {
                return answer.or_refused();
            }
        }
        Err(StoreError::Unknown)
    }

    /// For what may change something: a lost answer stays unknown. Asked again only when the node says that it has done nothing.
    async fn change(&self, request: &Request) -> Result<Answer, StoreError> {
        for _ in 0..BUSY_MAX {
            match self.ask(request).await {
                Ok(Answer::Busy) => link::others_have_their_turn().await,
                Ok(answer) => return answer.or_refused(),
                Err(Lost) => return Err(StoreError::Unknown),
            }
        }
        Err(StoreError::Overloaded("the partitions are locked by others"))
    }

    async fn done(&self, request: Request) -> Result<(), StoreError> {
        match self.change(&request).await? {
            Answer::Done => Ok(()),
            other => unexpected(&other),
        }
    }

    /// Reads whether its outcome may be lost or not, and unlocks in the end; a lock whose end is lost runs out at the node.
    async fn locked<T, E: From<StoreError>>(
        &self,
        lock: u64,
        stamped: Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> Result<T, E> {
        let (outcome, mutations) = match work().await {
            Ok(done) => done,
            Err(error) => {
                // Whether this arrives does not matter: nothing was written, and the lock runs out.
                let _ = self.ask(&Request::Unlock { lock }).await;
                return Err(error);
            }
        };
        self.done(Request::CommitLocked { lock, stamped, mutations }).await?;
        Ok(outcome)
    }
}

fn unexpected<T>(answer: &Answer) -> Result<T, StoreError> {
    Err(StoreError::Io { context: format!("an answer of another kind: {answer:?}") })
}

/// Hands the rows of a page to the sink, as if they were read here.
fn deliver(page: Page, sink: &mut dyn Sink) -> ReadOutcome {
    let mut skips = false;
    for event in &page.events {
        let flow = match event {
            Event::Partition(key) => {
                skips = false;
                sink.partition(key)
            }
            Event::PartitionEnd => sink.partition_end(),
            Event::Static(_) | Event::Row(..) if skips => continue,
            Event::Static(payload) => view(payload).map_or(Flow::Continue, |row| sink.static_row(row)),
            Event::Row(clustering, payload) => {
                view(payload).map_or(Flow::Continue, |row| sink.row(clustering, row))
            }
        };
        match flow {
            Flow::Continue => {}
            Flow::NextPartition => skips = true,
            Flow::Stop => return ReadOutcome { end: ReadEnd::Stopped, tombstones: page.tombstones },
        }
    }
    ReadOutcome { end: page.end, tombstones: page.tombstones }
}

fn view(payload: &[u8]) -> Option<RowView<'_>> {
    let row = RowView::from_payload(payload);
    debug_assert!(row.is_some_and(|row| row.check()), "a row of the node is well formed");
    row
}

impl Store for RemoteStore {
    type Prompt = NoPrompt;

    fn promises(&self) -> Promises {
        Promises {
            transactions: true,
            exclusive_work: true,
            mirrors: false,
            exact_limits: false,
            later: false,
            answers: false,
        }
    }

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        match self.look(&Request::Read(read.clone())).await? {
            Answer::Page(page) => Ok(deliver(page, sink)),
            other => unexpected(&other),
        }
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.done(Request::Commit(commit)).await
    }

    async fn commit_if(&self, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        match self.change(&Request::CommitIf(commit)).await? {
            Answer::Outcome(outcome) => Ok(outcome),
            other => unexpected(&other),
        }
    }

    /// A decision is code, so it is made here, of rows that were read; the node commits it if they are still the same.
    async fn transact<D: Decide>(&self, transaction: Transaction<D>) -> Result<D::Outcome, StoreError> {
        let Transaction { rows, decide, now_seconds } = transaction;
        if rows.is_empty() {
            return Err(Refused::RowsOfTransaction { most: usize::MAX }.into());
        }
        let looked = self.look(&Request::Look { rows: rows.clone(), now_seconds }).await?;
        let Answer::Looked { seen, ballot } = looked else { return unexpected(&looked) };
        let views: Vec<Option<RowView<'_>>> = seen.iter().map(|row| row.as_deref().and_then(view)).collect();
        let (outcome, mutations) = decide.decide(&views, Moment { ballot, place: 0, now_seconds })?;
        drop(views);
        if mutations.is_empty() {
            return Ok(outcome);
        }
        let decided = Request::CommitIfSame { rows, seen, ballot, mutations, now_seconds };
        match self.change(&decided).await? {
            Answer::Done => Ok(outcome),
            Answer::Overtaken => Err(StoreError::Overloaded("another transaction was faster")),
            other => unexpected(&other),
        }
    }

    async fn exclusively<T, E: From<StoreError>>(
        &self,
        partitions: Vec<(TableId, PartitionKey)>,
        stamped: Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> Result<T, E> {
        match self.change(&Request::Lock { partitions }).await {
            Ok(Answer::Locked(lock)) => self.locked(lock, stamped, work).await,
            Ok(other) => Ok(unexpected(&other)?),
            // Nothing was written, whether there is a lock or not.
            Err(StoreError::Unknown) => Err(StoreError::Overloaded("the locks could not be taken").into()),
            Err(error) => Err(error.into()),
        }
    }

    async fn horizon(&self) -> Result<Horizon, StoreError> {
        match self.look(&Request::Horizon).await? {
            Answer::Horizon(horizon) => Ok(horizon),
            other => unexpected(&other),
        }
    }

    async fn alter(&self, catalogue: Vec<u8>, tables: Vec<TableConfig>) -> Result<(), StoreError> {
        if tables.iter().any(|table| table.mirror.is_some() || table.spill.is_some()) {
            return Err(Refused::NoMirrors.into());
        }
        // The same tables once more change nothing, so a lost answer is asked for again.
        let request = Request::Alter { catalogue, tables };
        for _ in 0..READS_MAX {
            match self.change(&request).await {
                Err(StoreError::Unknown) => {}
                Ok(Answer::Done) => return Ok(()),
                Ok(other) => return unexpected(&other),
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Unknown)
    }
}
