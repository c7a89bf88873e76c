//! The other end: takes bytes, asks the naive store, returns bytes. It knows clients only by their messages.

use super::message::{Answer, Event, Page, Request};
use super::wire::Wire;
use crate::commit::{Commit, ConditionalCommit};
use crate::condition::RowPosition;
use crate::error::StoreError;
use crate::mutation::Mutation;
use crate::naive::NaiveStore;
use crate::read::{Flow, Position, Read, ReadEnd, Sink};
use crate::transaction::{Horizon, WantedRow};
use crate::{Store, TableId};
use model::key::PartitionKey;
use model::row::RowView;
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// Rows of one answer. Few, so that readers have to continue at all kinds of places.
const ROWS_MAX: usize = 5;
/// A lock whose client went silent ends after this many messages of others.
const LOCK_MESSAGES_MAX: u64 = 5_000;

type Locked = Vec<(TableId, PartitionKey)>;

#[derive(Default)]
pub struct Node {
    store: NaiveStore,
    /// By number: what is locked, and the message with which it was.
    locks: BTreeMap<u64, (Locked, u64)>,
    messages: u64,
    last_ballot: i64,
}

impl Node {
    pub fn serve(&mut self, request: &[u8]) -> Vec<u8> {
        self.messages += 1;
        let now = self.messages;
        self.locks.retain(|_, (_, since)| now - *since <= LOCK_MESSAGES_MAX);
        let mut rest = request;
        let request = Request::take(&mut rest).filter(|_| rest.is_empty());
        let answer = match request {
            Some(request) => self.answer(request).unwrap_or_else(Answer::Refused),
            None => Answer::Refused(StoreError::Io { context: "a request is not well formed".into() }),
        };
        let mut bytes = Vec::new();
        answer.put(&mut bytes);
        bytes
    }

    fn answer(&mut self, request: Request) -> Result<Answer, StoreError> {
        Ok(match request {
            Request::Read(read) => Answer::Page(self.page(&read)?),
            Request::Commit(commit) => self.commit(commit)?,
            Request::CommitIf(commit) => self.commit_if(commit)?,
            Request::Look { rows, now_seconds } => {
                self.last_ballot = self.last_ballot.max(ready(self.store.horizon())?.given) + 1;
                Answer::Looked { seen: self.rows(&rows, now_seconds), ballot: self.last_ballot }
            }
            Request::CommitIfSame { rows, seen, mutations, now_seconds, .. } => {
                if self.rows(&rows, now_seconds) != seen {
                    return Ok(Answer::Overtaken);
                }
                self.commit(Commit { mutations, now_seconds })?
            }
            Request::Lock { partitions } => {
                if partitions.iter().any(|partition| self.is_locked(partition)) {
                    return Ok(Answer::Busy);
                }
                self.locks.insert(self.messages, (partitions, self.messages));
                Answer::Locked(self.messages)
            }
            Request::CommitLocked { lock, stamped, mut mutations } => {
                // A lock that expired protected nothing: others may have decided since.
                let Some(_) = self.locks.remove(&lock) else {
                    return Err(StoreError::Overloaded("the locks ran out"));
                };
                let given = ready(self.store.horizon())?.given;
                self.last_ballot = stamped.provisional_timestamp.max(self.last_ballot.max(given) + 1);
                for mutation in &mut mutations {
                    mutation.shift_timestamps(self.last_ballot - stamped.provisional_timestamp);
                }
                ready(self.store.commit(Commit { mutations, now_seconds: stamped.now_seconds }))?;
                Answer::Done
            }
            Request::Unlock { lock } => {
                self.locks.remove(&lock);
                Answer::Done
            }
            Request::Horizon => {
                let given = self.last_ballot.max(ready(self.store.horizon())?.given);
                Answer::Horizon(Horizon { settled: given, given })
            }
            Request::Alter { catalogue, tables } => {
                ready(self.store.alter(catalogue, tables))?;
                Answer::Done
            }
        })
    }

    fn is_locked(&self, partition: &(TableId, PartitionKey)) -> bool {
        self.locks.values().any(|(locked, _)| locked.contains(partition))
    }

    /// Plain writes wait for nobody, unless they have to read before: then they decide something.
    fn commit(&mut self, commit: Commit) -> Result<Answer, StoreError> {
        let decides = |mutation: &&Mutation| !mutation.deferred.is_empty();
        let busy = |mutation: &Mutation| self.is_locked(&(mutation.table, mutation.key.clone()));
        if commit.mutations.iter().filter(decides).any(busy) {
            return Ok(Answer::Busy);
        }
        ready(self.store.commit(commit)).map(|()| Answer::Done)
    }

    fn commit_if(&mut self, commit: ConditionalCommit) -> Result<Answer, StoreError> {
        let further = commit.further.iter().map(|check| (check.table, check.key.clone()));
        let written = commit.mutations.iter().map(|mutation| (mutation.table, mutation.key.clone()));
        let first = (commit.table, commit.key.clone());
        if std::iter::once(first).chain(further).chain(written).any(|place| self.is_locked(&place)) {
            return Ok(Answer::Busy);
        }
        ready(self.store.commit_if(commit)).map(Answer::Outcome)
    }

    fn rows(&self, rows: &[WantedRow], now_seconds: u32) -> Vec<Option<Vec<u8>>> {
        let live = |row: &WantedRow| {
            let at = RowPosition::Row(row.clustering.clone());
            let payload = self.store.current(row.table, &row.key, &at, now_seconds)?;
            RowView::from_payload(&payload)?.is_live(now_seconds).then_some(payload)
        };
        rows.iter().map(live).collect()
    }

    fn page(&self, read: &Read) -> Result<Page, StoreError> {
        let mut taken = Taken::default();
        let outcome = ready(self.store.read(read, &mut taken))?;
        let end = match outcome.end {
            ReadEnd::Stopped => taken.last.map_or(ReadEnd::Complete, ReadEnd::Paused),
            end => end,
        };
        Ok(Page { events: taken.events, end, tombstones: outcome.tombstones })
    }
}

/// The naive store never waits.
fn ready<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(StoreError::Io { context: "the naive store waits".into() }),
    }
}

/// The first rows of a read.
#[derive(Default)]
struct Taken {
    events: Vec<Event>,
    key: Option<PartitionKey>,
    rows: usize,
    last: Option<Position>,
}

impl Sink for Taken {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        self.events.push(Event::Partition(key.clone()));
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.events.push(Event::Static(row.to_payload()));
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.events.push(Event::Row(clustering.to_vec(), row.to_payload()));
        self.rows += 1;
        if self.rows < ROWS_MAX {
            return Flow::Continue;
        }
        let clustering = Some(clustering.to_vec());
        self.last = self.key.clone().map(|key| Position { key, clustering });
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        self.events.push(Event::PartitionEnd);
        Flow::Continue
    }
}
