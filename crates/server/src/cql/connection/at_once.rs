//! Requests that need not wait, served in place: read from the receive buffer, answered into the outbox, without a copy and
//! without a task of their own. Writes are begun the same way; what is left of them until the log has them is a number.
//!
//! A write that the store cannot begin is handed on as the commit it already is.
//!
//! Guarantees: [`AtOnce::NotYet`] means that nothing has happened; the request then takes the long way (`handle`).

use super::elsewhere::{self, Leaving};
use super::handle::{self, Failure, Head, InFlight};
use super::{Peer, Pending, reply};
use crate::cql::answers::SMALL_BYTES;
use crate::cql::errors::Attempt;
use crate::cql::statements::Statement;
use crate::metrics::Operation;
use crate::shard::Shard;
use cql::CqlError;
use cql::immediate::{Write, decided};
use cql::prepared::Plan;
use cql::session::{Answer, Response, Session};
use cql_wire::{Batch, BatchQuery, Envelope, Opcode, QueryParams, Request, flags};
use query::write::BatchPlan;
use query::{Bound, Values};
use std::rc::Rc;
use std::time::Instant;
use store::{Commit, ConditionalCommit, Prompt, Store, StoreError};

/// Bound values kept on the stack; statements with more have them on the heap.
const VALUES_INLINE: usize = 16;

/// How far a request got.
pub enum AtOnce<'a> {
    /// The answer is in the outbox.
    Answered(Operation, Option<Rc<Statement>>),
    /// Another shard owns the partition that it reads.
    Elsewhere(Leaving<'a>),
    Begun(Begun),
    /// A commit that has to wait; the answer is in the outbox when this is done.
    Waits(Pending),
    NotYet,
}

/// A write on its way through the log.
pub struct Begun {
    /// What the store knows it by.
    pub number: u64,
    head: Head,
    operation: Operation,
    attempt: Attempt,
    started: Instant,
    answer: Then,
    counted: Counted,
    _in_flight: InFlight,
}

/// The statements that a request counts for: one, or each of a batch, which all take the time of the whole.
#[derive(Clone)]
enum Counted {
    One(Rc<Statement>),
    Each(Vec<Rc<Statement>>),
}

impl Counted {
    fn statements(&self) -> &[Rc<Statement>] {
        match self {
            Counted::One(statement) => std::slice::from_ref(statement),
            Counted::Each(statements) => statements,
        }
    }

    /// The only statement, if it is one.
    fn one(&self) -> Option<&Rc<Statement>> {
        match self {
            Counted::One(statement) => Some(statement),
            Counted::Each(_) => None,
        }
    }

    /// The request was answered with so many rows, or failed, and took so long.
    fn ended(&self, rows: Option<u64>, micros: u64) {
        for statement in self.statements() {
            match rows {
                Some(rows) => statement.answered(rows, 0),
                None => statement.failed(false),
            }
            statement.took(micros, 1);
        }
    }
}

/// A commit that is handed on.
enum Handed {
    Plain(Commit),
    Conditional(ConditionalCommit, Rc<Statement>),
}

/// What the client is told when the write is safe.
enum Then {
    Void,
    /// An answer that is ready to be sent, but for its stream.
    Encoded(Rc<[u8]>),
}

impl Begun {
    /// Answers the write; `now` is when it was found to be done.
    pub fn finish(self, shard: &Shard, peer: &Peer, outcome: Result<(), StoreError>, now: Instant) {
        let rows = match (outcome, self.answer) {
            (Ok(()), Then::Void) => {
                reply::void(peer, self.head);
                Some(0)
            }
            (Ok(()), Then::Encoded(answer)) => {
                reply::again(peer, self.head, &answer);
                Some(1)
            }
            (Err(error), _) => {
                let failure = Failure::Query(error.into(), self.attempt);
                reply::failure(shard, peer, self.head, failure, None);
                None
            }
        };
        let micros = now.saturating_duration_since(self.started).as_micros() as u64;
        shard.metrics().record(self.operation, micros);
        self.counted.ended(rows, micros);
    }
}

/// One request and where it came from.
struct Asked<'a> {
    shard: &'a Rc<Shard>,
    peer: &'a Rc<Peer>,
    head: Head,
    body_bytes: usize,
    started: Instant,
}

/// Serves the request if it needs no waiting; `started` is when its bytes arrived.
pub fn serve<'e>(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    envelope: &Envelope<'e>,
    started: Instant,
) -> AtOnce<'e> {
    let in_flight = shard.metrics().in_flight_bytes.get() as usize + envelope.body.len();
    let prompt = matches!(envelope.opcode, Opcode::Execute | Opcode::Batch)
        && head.flags & flags::TRACING == 0
        && envelope.body.len() <= handle::SHORT_BYTES
        && in_flight <= shard.shared.config.limits.in_flight_bytes_max;
    if !prompt {
        return AtOnce::NotYet;
    }
    let asked = Asked { shard, peer, head, body_bytes: envelope.body.len(), started };
    match Request::decode(head.protocol, envelope) {
        Ok(Request::Execute { id, result_metadata_id, params }) => {
            let Some(statement) = shard.statement(id) else { return AtOnce::NotYet };
            if let Some((owner, attempt)) = asked.elsewhere(&statement, &params) {
                let (body, known_id, skip_metadata) =
                    (envelope.body, result_metadata_id, params.skip_metadata);
                return AtOnce::Elsewhere(Leaving {
                    owner,
                    head,
                    body,
                    statement,
                    attempt,
                    known_id,
                    skip_metadata,
                });
            }
            let metadata =
                reply::Metadata::Prepared { known_id: result_metadata_id, skip: params.skip_metadata };
            asked.execute(&statement, &params, metadata)
        }
        Ok(Request::Batch(message)) => asked.batch(&message),
        // The long way says what is wrong.
        _ => AtOnce::NotYet,
    }
}

impl Asked<'_> {
    /// The shard that should execute the request, if it is another one and the request a read that is probably short.
    fn elsewhere(&self, statement: &Statement, params: &QueryParams<'_>) -> Option<(usize, Attempt)> {
        let shards = self.shard.shared.config.shards;
        if shards == 1 || statement.large.get() || statement.audited.is_some() {
            return None;
        }
        match &statement.prepared.plan {
            Plan::Select(select) if select.restrictions.partitions.is_single() => {}
            _ => return None,
        }
        if self.peer.is_to_warn(statement) || handle::check_consistency(statement, params).is_err() {
            return None;
        }
        let owner = elsewhere::owner(statement, params, shards, self.shard.index)?;
        Some((owner, handle::kind(statement, params).1))
    }

    fn execute(
        &self,
        statement: &Rc<Statement>,
        params: &QueryParams<'_>,
        metadata: reply::Metadata<'_>,
    ) -> AtOnce<'static> {
        let plan = &statement.prepared.plan;
        let prompt = match plan {
            // The long way records what came of it.
            _ if statement.audited.is_some() || self.peer.is_to_warn(statement) => false,
            // Ranges visit every shard.
            Plan::Select(select) => {
                select.restrictions.partitions.is_single() || self.shard.shared.config.shards == 1
            }
            Plan::Write(_) | Plan::Batch(_) => true,
            _ => false,
        };
        if !prompt {
            return AtOnce::NotYet;
        }
        let (operation, attempt) = handle::kind(statement, params);
        let failed = |error| self.failed(operation, error, attempt, &Counted::One(statement.clone()));
        if let Err(error) = handle::check_consistency(statement, params) {
            return failed(error);
        }
        let mut inline = [Bound::Null; VALUES_INLINE];
        let many: Vec<Bound<'_>>;
        let count = params.values.len();
        let values = if count <= VALUES_INLINE && !params.values.is_named() {
            inline
                .iter_mut()
                .zip(params.values.iter())
                .for_each(|(slot, value)| *slot = handle::bound(value));
            &inline[..count]
        } else {
            many = match handle::bind_values(statement, &params.values) {
                Ok(values) => values,
                Err(error) => return failed(error),
            };
            &many[..]
        };
        let mut request = handle::request(self.shard, params, Values(values));
        request.account = statement.account();
        let dialect = &self.shard.dialect;
        let session = self.peer.session.borrow();
        if let Plan::Select(_) = plan {
            return match self.read(&session, statement, request) {
                None => AtOnce::NotYet,
                Some(Err(error)) => failed(error),
                Some(Ok(answer)) => {
                    let (rows, bytes) = answer.size();
                    statement.answered(rows, bytes);
                    reply::answer(self.shard, self.peer, self.head, None, statement, answer, metadata);
                    AtOnce::Answered(operation, Some(statement.clone()))
                }
            };
        }
        let write = dialect.write_now(&session, &statement.prepared, request);
        self.begin(write, operation, attempt, Counted::One(statement.clone()))
    }

    /// Reads what is here. Small answers need no room of their own: the outbox that they go to is bounded.
    fn read(
        &self,
        session: &Session,
        statement: &Statement,
        mut request: query::Request<'_>,
    ) -> Option<Result<Answer, CqlError>> {
        let dialect = &self.shard.dialect;
        let large = statement.large.get();
        let room = if large { self.shard.answers().page_now(&self.peer.quota) } else { None };
        request.result_bytes_max = Some(room.as_ref().map_or(SMALL_BYTES, |room| room.bytes));
        let outcome = dialect.store.only_here(|| dialect.read_now(session, &statement.prepared, request))?;
        if handle::outgrown(statement, &request, &outcome) {
            return None;
        }
        if statement.large.get() {
            self.peer.rooms.borrow_mut().extend(room);
        }
        Some(outcome)
    }

    /// Gives a write to the store.
    fn begin(
        &self,
        write: Option<Result<Write, CqlError>>,
        operation: Operation,
        attempt: Attempt,
        counted: Counted,
    ) -> AtOnce<'static> {
        let store = &self.shard.dialect.store;
        let begun = match write {
            None => return AtOnce::NotYet,
            Some(Err(error)) => return self.failed(operation, error, attempt, &counted),
            Some(Ok(Write::Nothing)) => {
                reply::void(self.peer, self.head);
                counted.ended(Some(0), self.started.elapsed().as_micros() as u64);
                return AtOnce::Answered(operation, None);
            }
            Some(Ok(Write::Plain(mut commit))) => match store.begin(&mut commit) {
                // The tables may be about to change: whoever waits binds again afterwards.
                None if store.is_paused() => return AtOnce::NotYet,
                None => {
                    return AtOnce::Waits(self.waits(operation, attempt, Handed::Plain(commit), counted));
                }
                Some(begun) => begun.map(|number| (number, Then::Void)),
            },
            Some(Ok(Write::Conditional(mut commit))) => {
                let Some(statement) = counted.one() else { return AtOnce::NotYet };
                let Plan::Write(plan) = &statement.prepared.plan else { return AtOnce::NotYet };
                let (outcome, number) = match store.begin_if(&mut commit) {
                    None if store.is_paused() => return AtOnce::NotYet,
                    None => {
                        let handed = Handed::Conditional(commit, statement.clone());
                        return AtOnce::Waits(self.waits(operation, attempt, handed, counted));
                    }
                    Some(Err(error)) => {
                        return self.failed(operation, error.into(), attempt, &counted);
                    }
                    Some(Ok(decided)) => decided,
                };
                let answer = || {
                    let rows = decided(plan, &outcome, commit.now_seconds);
                    Answer { response: Response::Rows(rows), warnings: Vec::new() }
                };
                let Some(number) = number else {
                    statement.answered(1, 0);
                    reply::unprepared_answer(self.shard, self.peer, self.head, None, answer());
                    return AtOnce::Answered(operation, Some(statement.clone()));
                };
                let applied = statement.applied(self.head.protocol.version, || self.encoded(answer()));
                Ok((number, Then::Encoded(applied)))
            }
        };
        match begun {
            Ok((number, answer)) => AtOnce::Begun(Begun {
                number,
                head: self.head,
                operation,
                attempt,
                started: self.started,
                answer,
                counted,
                _in_flight: InFlight::enter(self.shard, self.peer, self.body_bytes),
            }),
            Err(error) => self.failed(operation, error.into(), attempt, &counted),
        }
    }

    /// The rest of a write that has to wait for something: room, a lock, a current value.
    fn waits(&self, operation: Operation, attempt: Attempt, handed: Handed, counted: Counted) -> Pending {
        let (shard, peer, head, started) = (self.shard.clone(), self.peer.clone(), self.head, self.started);
        let in_flight = InFlight::enter(&shard, &peer, self.body_bytes);
        Box::pin(async move {
            let _in_flight = in_flight;
            let store = &shard.dialect.store;
            let outcome = match handed {
                Handed::Plain(commit) => store.commit(commit).await.map(|()| None),
                Handed::Conditional(commit, statement) => {
                    let now_seconds = commit.now_seconds;
                    let outcome = store.commit_if(commit).await;
                    let rows = |outcome| match &statement.prepared.plan {
                        Plan::Write(plan) => Some(decided(plan, &outcome, now_seconds)),
                        _ => None,
                    };
                    outcome.map(rows)
                }
            };
            // It was bound to a generation of its table that has ended since: nothing was done.
            let outcome = outcome.map_err(|error| match error {
                StoreError::UnknownTable(_) => StoreError::Overloaded("the table has just been changed"),
                error => error,
            });
            let rows = match outcome {
                Ok(None) => {
                    reply::void(&peer, head);
                    Some(0)
                }
                Ok(Some(rows)) => {
                    let count = rows.count;
                    let answer = Answer { response: Response::Rows(rows), warnings: Vec::new() };
                    reply::unprepared_answer(&shard, &peer, head, None, answer);
                    Some(u64::from(count))
                }
                Err(error) => {
                    reply::failure(&shard, &peer, head, Failure::Query(error.into(), attempt), None);
                    None
                }
            };
            let micros = started.elapsed().as_micros() as u64;
            shard.metrics().record(operation, micros);
            counted.ended(rows, micros);
        })
    }

    /// The answer as bytes of its own, to be sent later.
    fn encoded(&self, answer: Answer) -> Vec<u8> {
        let others = std::mem::take(&mut *self.peer.outbox.borrow_mut());
        reply::unprepared_answer(self.shard, self.peer, self.head, None, answer);
        std::mem::replace(&mut *self.peer.outbox.borrow_mut(), others)
    }

    fn batch(&self, message: &Batch<'_>) -> AtOnce<'static> {
        // No level for writes: the long way refuses it.
        if message.params.consistency.is_serial() {
            return AtOnce::NotYet;
        }
        let mut statements = Vec::with_capacity(message.statements.len());
        let mut found = Vec::with_capacity(message.statements.len());
        let mut bound: Vec<Bound<'_>> = Vec::with_capacity(4 * message.statements.len());
        let mut ends = Vec::with_capacity(message.statements.len());
        for item in message.statements.iter() {
            let BatchQuery::Prepared(id) = item.query else { return AtOnce::NotYet };
            let Some(statement) = self.shard.statement(id) else { return AtOnce::NotYet };
            let Plan::Write(plan) = &statement.prepared.plan else { return AtOnce::NotYet };
            let must_wait = plan.is_conditional()
                || statement.audited.is_some()
                || statement.prepared.undeclared.is_some();
            if item.values.len() != statement.prepared.markers.len() || must_wait {
                return AtOnce::NotYet;
            }
            statements.push(plan.clone());
            found.push(statement);
            bound.extend(item.values.iter().map(handle::bound));
            ends.push(bound.len());
        }
        let mut start = 0;
        let values: Vec<Values<'_>> =
            ends.iter().map(|&end| Values(&bound[std::mem::replace(&mut start, end)..end])).collect();
        let (kind, attempt) = handle::batch_kind(message);
        let batch = BatchPlan { kind, statements, timestamp: None };
        let request = handle::request(self.shard, &message.params, Values::NONE);
        let session = self.peer.session.borrow();
        let write = self.shard.dialect.batch_now(&session, &batch, &values, request);
        self.begin(write, Operation::Batch, attempt, Counted::Each(found))
    }

    fn failed(
        &self,
        operation: Operation,
        error: CqlError,
        attempt: Attempt,
        counted: &Counted,
    ) -> AtOnce<'static> {
        // Its rows may have moved to another generation of the table: the long way looks again.
        if matches!(error, CqlError::Store(StoreError::UnknownTable(_))) {
            return AtOnce::NotYet;
        }
        counted.statements().iter().for_each(|statement| statement.failed(error.is_overload()));
        reply::failure(self.shard, self.peer, self.head, Failure::Query(error, attempt), None);
        AtOnce::Answered(operation, counted.one().cloned())
    }
}
