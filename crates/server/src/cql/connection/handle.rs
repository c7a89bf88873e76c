//! One request from decoding to its answer in the outbox.

use super::{Peer, auth, reply, trace};
use crate::cql::answers::SMALL_BYTES;
use crate::cql::errors::Attempt;
use crate::cql::statements::Statement;
use crate::cql::{outcome, parsing};
use crate::metrics::Operation;
use crate::shard::Shard;
use cql::CqlError;
use cql::prepared::Plan;
use cql::session::{Answer, Response};
use cql_wire::{
    Batch, BatchQuery, BatchType, Body, Consistency, Envelope, ErrorKind, ErrorMessage, Opcode, Protocol,
    QueryParams, Request, Values as WireValues, WriteType, flags,
};
use query::write::{BatchKind, WritePlan};
use query::{Bound, Values};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::StoreError;

/// How long a request may work before it lets others have their turn.
pub const TURN: Duration = Duration::from_millis(2);

/// Requests above this give way before they are worked on: copying them takes a good part of a turn.
pub const SHORT_BYTES: usize = 256 << 10;

/// Statements that a connection was warned of; beyond it, nobody is warned.
pub const WARNED_MAX: usize = 1000;

/// What a request's answer needs of its envelope.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub protocol: Protocol,
    pub stream: i16,
    pub flags: u8,
}

/// A request that outlives the receive buffer.
pub struct Owned {
    pub head: Head,
    pub opcode: Opcode,
    pub body: Body,
}

impl Owned {
    fn envelope(&self) -> Envelope<'_> {
        let Head { protocol, stream, flags } = self.head;
        Envelope { version: protocol.version, flags, stream, opcode: self.opcode, body: &self.body }
    }
}

/// Why a request is answered with an error.
pub enum Failure {
    Query(CqlError, Attempt),
    Wire(ErrorMessage),
}

impl Failure {
    fn protocol(text: impl Into<String>) -> Failure {
        Failure::Wire(ErrorMessage::new(ErrorKind::Protocol, text))
    }
}

/// Runs the request; its answer is in the peer's outbox when this is done.
pub async fn run(shard: Rc<Shard>, peer: Rc<Peer>, request: Owned) {
    let _in_flight = InFlight::enter(&shard, &peer, request.body.len());
    let started = Instant::now();
    let head = request.head;
    if shard.metrics().in_flight_bytes.get() > shard.shared.config.limits.in_flight_bytes_max as u64 {
        shard.metrics().overloaded.add(1);
        let text = "Too many requests are under way on this shard; try again later";
        let error = ErrorMessage::new(ErrorKind::Overloaded, text);
        return reply::failure(&shard, &peer, head, Failure::Wire(error), None);
    }
    if request.body.len() > SHORT_BYTES {
        rt::turn::give_way().await;
    }
    let decoded = match Request::decode(head.protocol, &request.envelope()) {
        Ok(decoded) => decoded,
        Err(error) => return reply::refuse(&shard, &peer, head, &error),
    };
    let Some(_work) = shard.shared.memory.take(parsing::bytes_of(&decoded)) else {
        shard.metrics().overloaded.add(1);
        let text = "The memory for parsing statements is taken; bind values instead of writing them into the text, send \
                    shorter statements, or try again later";
        let error = ErrorMessage::new(ErrorKind::Overloaded, text);
        return reply::failure(&shard, &peer, head, Failure::Wire(error), None);
    };
    let wants_trace = head.flags & flags::TRACING != 0;
    let trace = if wants_trace { trace::Trace::begin(&shard, &peer, &decoded) } else { None };
    let operation = if let Some(trace) = trace {
        let trace_id = Some(trace.id);
        let work = dispatch(&shard, &peer, head, trace_id, decoded);
        let ((operation, outcome), answer) = trace::answered_apart(&peer, work).await;
        trace.tell(&shard, operation, started.elapsed(), outcome.is_err());
        trace.finish(&shard, started.elapsed(), outcome.as_ref().err()).await;
        answer.leave(&peer);
        if let Err(failure) = outcome {
            reply::failure(&shard, &peer, head, failure, trace_id);
        }
        operation
    } else {
        let (mut operation, mut outcome) = dispatch(&shard, &peer, head, None, decoded).await;
        if let Err(Failure::Query(CqlError::Store(StoreError::UnknownTable(_)), _)) = &outcome
            && let Ok(again) = Request::decode(head.protocol, &request.envelope())
        {
            // Dropped, or its rows have moved to another generation while the request was on its way. Nothing was done.
            shard.shared.catalogue.changed().await;
            (operation, outcome) = Box::pin(dispatch(&shard, &peer, head, None, again)).await;
        }
        if let Err(failure) = outcome {
            reply::failure(&shard, &peer, head, failure, None);
        }
        operation
    };
    shard.metrics().record(operation, started.elapsed().as_micros() as u64);
}

type Outcome = Result<(), Failure>;

async fn dispatch(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    trace_id: Option<[u8; 16]>,
    request: Request<'_>,
) -> (Operation, Outcome) {
    match request {
        Request::Execute { id, result_metadata_id, params } => {
            let Some(statement) = shard.statement_of(id).await else {
                let text = "Prepared statement is unknown on this node (it was never prepared, was evicted, or the schema changed); prepare it again";
                let error = ErrorMessage::new(ErrorKind::Unprepared { id: id.to_vec() }, text);
                return (Operation::Other, Err(Failure::Wire(error)));
            };
            let shown =
                reply::Metadata::Prepared { known_id: result_metadata_id, skip: params.skip_metadata };
            execute(shard, peer, head, trace_id, &statement, &params, shown).await
        }
        Request::Query { query, params } => {
            let session = peer.session.borrow().clone();
            let parsed = shard.parse(&session, params.keyspace, query).await;
            match parsed {
                Ok(statement) => {
                    let metadata = reply::Metadata::Full;
                    let done = execute(shard, peer, head, trace_id, &statement, &params, metadata).await;
                    // What was made of a long text takes a while to give back, too.
                    if query.len() > SHORT_BYTES {
                        rt::turn::give_way().await;
                    }
                    done
                }
                Err(error) => {
                    let failure = Failure::Query(error, Attempt::read(params.consistency));
                    outcome::unbound(shard, peer, query, &failure);
                    (Operation::Other, Err(failure))
                }
            }
        }
        Request::Prepare { query, keyspace } => {
            let session = peer.session.borrow().clone();
            let outcome = shard.prepare(&session, keyspace, query).await;
            let outcome = outcome.map(|s| reply::prepared(shard, peer, head, trace_id, &s));
            let attempt = Attempt::read(Consistency::One);
            (Operation::Prepare, outcome.map_err(|e| Failure::Query(e, attempt)))
        }
        Request::Batch(message) => (Operation::Batch, batch(shard, peer, head, trace_id, &message).await),
        Request::Register(kinds) => {
            let mut all = peer.registered.get();
            all.extend(kinds);
            peer.registered.set(all);
            reply::ready(peer, head);
            (Operation::Other, Ok(()))
        }
        Request::AuthResponse(token) => (Operation::Other, auth::respond(shard, peer, head, token).await),
        Request::Startup(_) | Request::Options => {
            (Operation::Other, Err(Failure::protocol("Unexpected message on a started connection")))
        }
    }
}

async fn execute(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    trace_id: Option<[u8; 16]>,
    statement: &Rc<Statement>,
    params: &QueryParams<'_>,
    metadata: reply::Metadata<'_>,
) -> (Operation, Outcome) {
    let (operation, attempt) = kind(statement, params);
    let started = Instant::now();
    let outcome = async {
        check_consistency(statement, params)?;
        let values = bind_values(statement, &params.values)?;
        // What a statement costs can be told without its values.
        let needs_values = !matches!(statement.prepared.plan, Plan::Explain(_));
        let complete = values.len() == statement.prepared.markers.len();
        if matches!(metadata, reply::Metadata::Full) && needs_values && !complete {
            // A statement that was not prepared is refused in other words.
            return Err(CqlError::invalid("Invalid amount of bind variables"));
        }
        let mut request = request(shard, params, Values(&values));
        request.account = statement.account();
        match &statement.prepared.plan {
            Plan::Select(_) => read(shard, peer, statement, request).await,
            _ => {
                let session = peer.session.borrow().clone();
                shard.dialect.execute(&session, &statement.prepared, request).await
            }
        }
    };
    let mut outcome = outcome.await.map_err(|e| Failure::Query(e, attempt));
    if let Ok(answer) = &mut outcome
        && peer.is_to_warn(statement)
    {
        warn_once(shard, peer, statement, answer).await;
    }
    outcome::answered(shard, peer, statement, outcome.as_ref(), started.elapsed());
    let outcome =
        outcome.map(|answer| reply::answer(shard, peer, head, trace_id, statement, answer, metadata));
    (operation, outcome)
}

/// Says that a statement is of no declared pattern, once on each connection.
async fn warn_once(shard: &Shard, peer: &Peer, statement: &Statement, answer: &mut Answer) {
    let session = peer.session.borrow().clone();
    let now_micros = shard.ids.now_micros();
    if let Ok(Some(warning)) = shard.dialect.undeclared(&session, &statement.prepared, now_micros).await {
        answer.warnings.push(warning.to_string());
    }
    let mut warned = peer.warned.borrow_mut();
    if warned.len() < WARNED_MAX {
        warned.insert(statement.prepared.id);
    }
}

/// Executes a read in the room that there is for its answer, and again in more if it needs more.
async fn read(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    statement: &Rc<Statement>,
    mut request: query::Request<'_>,
) -> Result<Answer, CqlError> {
    let session = peer.session.borrow().clone();
    let answers = shard.answers();
    let page = if statement.large.get() { answers.page_now(&peer.quota) } else { None };
    let mut room = match page {
        Some(room) => room,
        None => answers.small(&peer.quota).await?,
    };
    let mut sizes = answers.sizes(request.page_size.is_some());
    loop {
        request.result_bytes_max = Some(room.bytes);
        let outcome = shard.dialect.execute(&session, &statement.prepared, request).await;
        if outgrown(statement, &request, &outcome)
            && let Some(bytes) = sizes.find(|bytes| *bytes > room.bytes)
        {
            drop(outcome);
            drop(room);
            room = answers.large(&peer.quota, bytes).await?;
            // It has taken a while, and begins anew.
            rt::turn::give_way().await;
            continue;
        }
        // Small answers need no room once they are there, as long as the outbox stays small.
        if room.bytes > SMALL_BYTES || peer.outbox.borrow().len() > super::WRITE_BYTES {
            peer.rooms.borrow_mut().push(room);
        }
        return outcome;
    }
}

/// Whether a read needs more room than it had; the statement remembers what it needs.
pub fn outgrown(
    statement: &Statement,
    request: &query::Request<'_>,
    outcome: &Result<Answer, CqlError>,
) -> bool {
    let rows = match outcome {
        Ok(Answer { response: Response::Rows(rows), .. }) => Ok(rows),
        Ok(_) => return false,
        Err(error) => Err(error),
    };
    let outgrown = request.outgrown(rows);
    statement.large.set(outgrown || rows.is_ok_and(|rows| rows.body.len() > SMALL_BYTES));
    outgrown
}

pub fn kind(statement: &Statement, params: &QueryParams<'_>) -> (Operation, Attempt) {
    let (operation, write) = match &statement.prepared.plan {
        Plan::Select(_) | Plan::Describe(_) | Plan::Explain(_) | Plan::Analyze(_) => (Operation::Read, None),
        Plan::Write(plan) if plan.is_conditional() => (Operation::Conditional, Some(WriteType::Cas)),
        Plan::Write(plan) if plan.is_counter() => (Operation::Write, Some(WriteType::Counter)),
        Plan::Write(_) => (Operation::Write, Some(WriteType::Simple)),
        Plan::Batch(_) => (Operation::Batch, Some(WriteType::Batch)),
        Plan::Transaction(_) => (Operation::Conditional, Some(WriteType::Cas)),
        Plan::Ddl(_) | Plan::Job(_) => (Operation::Schema, None),
        Plan::Use(_) | Plan::Role(_) | Plan::ServiceLevel(_) => (Operation::Other, None),
    };
    (operation, Attempt { consistency: params.consistency, write })
}

/// One copy serves every level; only combinations that make no sense are refused, in Cassandra's words.
pub fn check_consistency(statement: &Statement, params: &QueryParams<'_>) -> Result<(), CqlError> {
    let level = params.consistency;
    let refused = match &statement.prepared.plan {
        Plan::Select(_) if level == Consistency::Any => {
            Some("ANY ConsistencyLevel is only supported for writes".to_string())
        }
        Plan::Select(select) if level.is_serial() && select.restrictions.partitions.names_several() => Some(
            "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time".to_string(),
        ),
        Plan::Write(plan) => {
            let counters = plan.is_counter().then_some(&*plan.table.name);
            write_level_refused(level, plan.is_conditional(), counters)
        }
        Plan::Batch(_) => write_level_refused(level, statement.prepared.is_conditional(), None),
        _ => None,
    };
    if let Some(text) = refused {
        return Err(CqlError::invalid(text));
    }
    if params.serial_consistency.is_some_and(|level| !level.is_serial()) {
        let text = "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL";
        return Err(CqlError::invalid(text));
    }
    Ok(())
}

fn write_level_refused(level: Consistency, conditional: bool, counters: Option<&str>) -> Option<String> {
    match level {
        Consistency::Any if counters.is_some() => {
            let table = counters.unwrap_or_default();
            Some(format!("Consistency level ANY is not yet supported for counter table {table}"))
        }
        _ if !level.is_serial() => None,
        _ if counters.is_some() => Some("Counter operations are inherently non-serializable".into()),
        _ if conditional => Some(format!(
            "{level} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is \
             accepted but I don't care how many replicas commit it for non-SERIAL reads\""
        )),
        _ => Some("You must use conditional updates for serializable writes".into()),
    }
}

/// Values in marker order; named ones are matched by name.
pub fn bind_values<'a>(statement: &Statement, values: &WireValues<'a>) -> Result<Vec<Bound<'a>>, CqlError> {
    if !values.is_named() {
        return Ok(values.iter().map(bound).collect());
    }
    // Looked up by name once each, however many there are.
    let mut by_name: HashMap<&str, cql_wire::Value<'a>> = HashMap::with_capacity(values.len());
    for (name, value) in values.iter_named() {
        by_name.entry(name).or_insert(value);
    }
    let markers = statement.prepared.markers.iter();
    markers
        .map(|marker| {
            by_name.get(&*marker.name).copied().map(bound).ok_or_else(|| {
                CqlError::invalid(format!("Invalid amount of bind variables: no value named {}", marker.name))
            })
        })
        .collect()
}

pub fn bound(value: cql_wire::Value<'_>) -> Bound<'_> {
    match value {
        cql_wire::Value::Null => Bound::Null,
        cql_wire::Value::Unset => Bound::Unset,
        cql_wire::Value::Bytes(bytes) => Bound::Value(bytes),
    }
}

pub fn request<'a>(shard: &Shard, params: &QueryParams<'a>, values: Values<'a>) -> query::Request<'a> {
    let mut request = query::Request::new(values, shard.ids.now_micros());
    request.page_size = params.page_size;
    request.paging_state = params.paging_state;
    request.timestamp = params.timestamp;
    if let Some(now) = params.now_in_seconds {
        request.now_seconds = now;
    }
    request
}

async fn batch(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    head: Head,
    trace_id: Option<[u8; 16]>,
    message: &Batch<'_>,
) -> Outcome {
    let (started, mut found) = (Instant::now(), Vec::new());
    let answer = execute_batch(shard, peer, message, &mut found).await;
    let elapsed = started.elapsed();
    for statement in &found {
        outcome::answered(shard, peer, statement, answer.as_ref(), elapsed);
    }
    reply::unprepared_answer(shard, peer, head, trace_id, answer?);
    Ok(())
}

/// `found` gets the statements of the batch, as far as they were found.
async fn execute_batch(
    shard: &Rc<Shard>,
    peer: &Rc<Peer>,
    message: &Batch<'_>,
    found: &mut Vec<Rc<Statement>>,
) -> Result<Answer, Failure> {
    let (kind, attempt) = batch_kind(message);
    let fail = |e| Failure::Query(e, attempt);
    if let Some(text) = write_level_refused(attempt.consistency, false, None) {
        return Err(fail(CqlError::invalid(text)));
    }
    let session = peer.session.borrow().clone();
    let mut plans: Vec<Arc<WritePlan>> = Vec::with_capacity(message.statements.len());
    let mut values: Vec<Vec<Bound<'_>>> = Vec::with_capacity(message.statements.len());
    let mut warnings: Vec<String> = Vec::new();
    let mut since = Instant::now();
    for item in message.statements.iter() {
        // Thousands of texts take long to parse; others have their turn between.
        if since.elapsed() > TURN {
            rt::turn::give_way().await;
            since = Instant::now();
        }
        let statement = match item.query {
            BatchQuery::Text(text) => {
                let parsed = shard.parse(&session, message.params.keyspace, text).await.map_err(fail);
                parsed.inspect_err(|failure| outcome::unbound(shard, peer, text, failure))?
            }
            BatchQuery::Prepared(id) => shard.statement_of(id).await.ok_or_else(|| {
                let text = "Prepared statement of the batch is unknown on this node; prepare it again";
                Failure::Wire(ErrorMessage::new(ErrorKind::Unprepared { id: id.to_vec() }, text))
            })?,
        };
        found.push(statement.clone());
        let Plan::Write(plan) = &statement.prepared.plan else {
            let text = "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.";
            return Err(fail(CqlError::invalid(text)));
        };
        let (markers, given) = (statement.prepared.markers.len(), item.values.len());
        if markers != given {
            let text = format!("There were {markers} markers(?) in CQL but {given} bound variables");
            return Err(fail(CqlError::invalid(text)));
        }
        if statement.prepared.undeclared.is_some() {
            let undeclared = shard.dialect.undeclared(&session, &statement.prepared, shard.ids.now_micros());
            if let Some(warning) = undeclared.await.map_err(fail)?
                && peer.is_to_warn(&statement)
            {
                warnings.push(warning.to_string());
                peer.warned.borrow_mut().insert(statement.prepared.id);
            }
        }
        plans.push(plan.clone());
        values.push(item.values.iter().map(bound).collect());
    }
    let values: Vec<Values<'_>> = values.iter().map(|v| Values(v)).collect();
    let request = request(shard, &message.params, Values::NONE);
    let mut answer = shard.dialect.batch(&session, kind, plans, &values, request).await.map_err(fail)?;
    answer.warnings.append(&mut warnings);
    Ok(answer)
}

pub fn batch_kind(message: &Batch<'_>) -> (BatchKind, Attempt) {
    let (kind, write) = match message.batch_type {
        BatchType::Logged => (BatchKind::Logged, WriteType::Batch),
        BatchType::Unlogged => (BatchKind::Unlogged, WriteType::UnloggedBatch),
        BatchType::Counter => (BatchKind::Counter, WriteType::Counter),
    };
    (kind, Attempt { consistency: message.params.consistency, write: Some(write) })
}

/// Counts a request while it is under way.
pub struct InFlight {
    shard: Rc<Shard>,
    peer: Rc<Peer>,
    bytes: u64,
}

impl InFlight {
    pub fn enter(shard: &Rc<Shard>, peer: &Rc<Peer>, bytes: usize) -> InFlight {
        let bytes = bytes as u64;
        shard.metrics().in_flight.add(1);
        shard.metrics().in_flight_bytes.add(bytes);
        peer.in_flight.set(peer.in_flight.get() + 1);
        InFlight { shard: shard.clone(), peer: peer.clone(), bytes }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.shard.metrics().in_flight.sub(1);
        self.shard.metrics().in_flight_bytes.sub(self.bytes);
        self.peer.in_flight.set(self.peer.in_flight.get() - 1);
    }
}
