//! A write: to the side that answers, then to the other, then the answer.

use super::super::peer::Peer;
use super::marks::Place;
use super::serve::{Kept, finish};
use super::state::{Phase, Side};
use super::{Entered, Mirror, MirrorShard, Mode, lane_of};
use crate::front::request;
use cluster::written::{RowWrite, Way, Written};
use cluster::{
    AskError, Asked, Class, Exchanged, Lane, Lost, Owned, Route, Statement, Task, exchange, lost_error, route,
};
use cql_wire::{
    Batch, BatchList, BatchQuery, ErrorKind, ErrorMessage, Opcode, Protocol, QueryParams, Request, Response,
    Version, flags,
};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The side that does not answer must say in this time that it has the write; later the client has its answer, and the key its mark.
const SECOND_PATIENCE: Duration = Duration::from_secs(5);
/// What was sent and not answered may still arrive for so long.
const MAY_ARRIVE: Duration = Duration::from_secs(15);
/// Clients before v5 cannot say from when a TTL counts, so both sides must have begun within a second.
const SLOW: Duration = Duration::from_millis(800);

/// What makes the cells of a write the same on both sides.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    micros: i64,
    seconds: u32,
}

/// What is to be done with a write.
struct Plan {
    way: Way,
    /// `None`: they cannot be told.
    places: Option<Vec<Place>>,
}

/// What became of it on the side that answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    NotDone,
    Unknown,
}

/// Does a write and answers it.
pub async fn perform(peer: Rc<Peer>, kept: Kept, entered: Entered) {
    let began = Instant::now();
    if let Some(mirror) = &peer.shard.mirror {
        let outcome = run(&peer, mirror, &kept, entered.mode, began).await;
        mirror.shared.counters.micros.record(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        match &outcome {
            Ok(owned) => finish(&peer, &kept, Ok(owned.reply())),
            Err(error) => finish(&peer, &kept, Err(error.clone())),
        }
    }
    drop(entered);
}

async fn run(
    peer: &Rc<Peer>,
    mirror: &MirrorShard,
    kept: &Kept,
    mode: Mode,
    began: Instant,
) -> Result<Owned, ErrorMessage> {
    let plan = plan(peer, &mirror.shared, kept, mode)?;
    let stamp = (plan.way == Way::Repeat).then(|| {
        let micros = mirror.shared.timestamp();
        Stamp { micros, seconds: u32::try_from(micros / 1_000_000).unwrap_or(u32::MAX) }
    });
    let lane = lane_of(peer, mode.answers).ok_or_else(not_started)?;
    let asked = asked(peer, mirror, kept, mode.answers, stamp).await?;
    let Exchanged { job, outcome } = exchange(&lane, asked).await.ok_or_else(stopping)?;
    let fate = fate_of(&outcome);
    let is_marked = match (plan.way, fate) {
        (Way::Elsewhere | Way::Counter, _) | (_, Fate::NotDone) => true,
        (Way::Look, Fate::Done) => mirror.shared.mark(plan.places, Duration::ZERO).await,
        (_, Fate::Unknown) => mirror.shared.mark(plan.places, MAY_ARRIVE).await,
        (Way::Repeat, Fate::Done) => {
            let second = second(peer, mirror, kept, mode.answers.other(), stamp);
            let had = tokio::time::timeout(SECOND_PATIENCE, second).await.unwrap_or(Fate::Unknown);
            let is_late = kept.version < Version::V5 && began.elapsed() > SLOW;
            match had {
                Fate::Done if !is_late => {
                    mirror.shared.counters.both.add(1);
                    true
                }
                Fate::Unknown => mirror.shared.mark(plan.places, MAY_ARRIVE).await,
                Fate::Done | Fate::NotDone => mirror.shared.mark(plan.places, Duration::ZERO).await,
            }
        }
    };
    if !is_marked {
        let text = "The write is on one cluster, and this front end could not note that the other must be brought up to date \
                    (its --mirror-state folder cannot be written)";
        return Err(ErrorMessage::new(lost_error(&job, kept.version, Lost::Silent).kind, text));
    }
    match outcome {
        Ok(owned) => {
            let is_schema =
                owned.read(|response| matches!(response, Response::SchemaChange(_))).unwrap_or(false);
            if is_schema && !lane.agree().await {
                tracing::warn!(
                    "the nodes of the cluster do not agree on the schema ten seconds after a change"
                );
            }
            Ok(owned)
        }
        Err(lost) => Err(lost_error(&job, kept.version, lost)),
    }
}

fn not_started() -> ErrorMessage {
    ErrorMessage::new(ErrorKind::Protocol, "The connection is not started")
}

fn stopping() -> ErrorMessage {
    ErrorMessage::new(ErrorKind::Server, "The front end is stopping; whether it happened is not known")
}

fn refused(what: &str) -> ErrorMessage {
    let text = format!(
        "{what} is refused while a migration runs: the other cluster could not follow. Finish it first (partita migrate status)"
    );
    ErrorMessage::new(ErrorKind::Invalid, text)
}

fn fate_of(outcome: &Result<Owned, Lost>) -> Fate {
    let owned = match outcome {
        Ok(owned) => owned,
        Err(Lost::NoNode | Lost::Full) => return Fate::NotDone,
        Err(Lost::Broken | Lost::Silent) => return Fate::Unknown,
    };
    match owned.read(|_| ()) {
        Ok(()) => Fate::Done,
        Err(AskError::Error(error)) => match error.kind {
            ErrorKind::Protocol
            | ErrorKind::BadCredentials
            | ErrorKind::Unavailable { .. }
            | ErrorKind::Overloaded
            | ErrorKind::Bootstrapping
            | ErrorKind::FunctionFailure { .. }
            | ErrorKind::Syntax
            | ErrorKind::Unauthorized
            | ErrorKind::Invalid
            | ErrorKind::Config
            | ErrorKind::AlreadyExists { .. }
            | ErrorKind::Unprepared { .. } => Fate::NotDone,
            // Timeouts and failures of replicas, and whatever is new.
            _ => Fate::Unknown,
        },
        Err(_) => Fate::Unknown,
    }
}

/// Sends the write to the side that does not answer.
async fn second(
    peer: &Rc<Peer>,
    mirror: &MirrorShard,
    kept: &Kept,
    side: Side,
    stamp: Option<Stamp>,
) -> Fate {
    let Some(lane) = lane_of(peer, side) else { return Fate::NotDone };
    // It may have been opened a moment ago.
    if lane.ready().await.is_err() {
        return Fate::NotDone;
    }
    let Ok(mut asked) = asked(peer, mirror, kept, side, stamp).await else { return Fate::NotDone };
    asked.flags = 0;
    match exchange(&lane, asked).await {
        Some(exchanged) => fate_of(&exchanged.outcome),
        None => Fate::Unknown,
    }
}

fn decode(kept: &Kept) -> Result<Request<'_>, ErrorMessage> {
    let envelope = kept.envelope();
    Request::decode(Protocol::new(kept.version), &envelope)
        .map_err(|error| ErrorMessage::new(ErrorKind::Protocol, error.to_string()))
}

fn known(peer: &Peer, id: &[u8]) -> Result<Arc<Statement>, ErrorMessage> {
    let unknown = || ErrorMessage::new(ErrorKind::Unprepared { id: id.to_vec() }, request::UNPREPARED);
    peer.shard.shared.statements.get(id).ok_or_else(unknown)
}

fn plan(peer: &Rc<Peer>, mirror: &Mirror, kept: &Kept, mode: Mode) -> Result<Plan, ErrorMessage> {
    if mode.phase != Phase::Dual {
        return Ok(Plan { way: Way::Elsewhere, places: None });
    }
    let (mut ways, mut places) = (Vec::new(), Some(Vec::new()));
    let mut add = |shape: &Written,
                   class: Class,
                   values: &cql_wire::Values<'_>|
     -> Result<(), ErrorMessage> {
        match shape {
            Written::Refused(what) => return Err(refused(what)),
            Written::Unknown if class == Class::Other => return Err(refused("A change of schema or roles")),
            Written::Unknown => ways.push(Way::Look),
            Written::Rows(writes) => ways.extend(writes.iter().map(|write: &RowWrite| write.way)),
        }
        if let Some(all) = &mut places
            && mirror.places(shape, values, all).is_none()
        {
            places = None;
        }
        Ok(())
    };
    match decode(kept)? {
        Request::Query { query, params } => {
            let keyspace = request::keyspace_of(peer, params.keyspace);
            let class = class_of(query, keyspace.as_deref());
            add(&mirror.shape(query, keyspace), class, &params.values)?;
        }
        Request::Execute { id, params, .. } => {
            let statement = known(peer, id)?;
            let shape = mirror.shape(&statement.text, statement.keyspace.clone());
            add(&shape, statement.class, &params.values)?;
        }
        Request::Batch(batch) => {
            let keyspace = request::keyspace_of(peer, batch.params.keyspace);
            for item in batch.statements.iter() {
                match item.query {
                    BatchQuery::Text(text) => {
                        add(&mirror.shape(text, keyspace.clone()), Class::Write, &item.values)?;
                    }
                    BatchQuery::Prepared(id) => {
                        let statement = known(peer, id)?;
                        let shape = mirror.shape(&statement.text, statement.keyspace.clone());
                        add(&shape, Class::Write, &item.values)?;
                    }
                }
            }
        }
        _ => return Err(ErrorMessage::new(ErrorKind::Protocol, "Unexpected message")),
    }
    // One statement that cannot be repeated keeps its batch from being repeated, and so does a table that stays where it is.
    let way = match ways.iter().max() {
        None | Some(Way::Elsewhere) => Way::Elsewhere,
        Some(Way::Counter) => Way::Counter,
        Some(_) if ways.iter().all(|way| *way == Way::Repeat) => Way::Repeat,
        Some(_) => Way::Look,
    };
    Ok(Plan { way, places })
}

fn class_of(text: &str, keyspace: Option<&str>) -> Class {
    match route(text, keyspace) {
        Route::Forward(class) => class,
        _ => Class::Other,
    }
}

fn stamped<'a>(params: QueryParams<'a>, stamp: Option<Stamp>, version: Version) -> QueryParams<'a> {
    let Some(Stamp { micros, seconds }) = stamp else { return params };
    QueryParams {
        timestamp: params.timestamp.or(Some(micros)),
        now_in_seconds: match version >= Version::V5 {
            true => params.now_in_seconds.or(Some(seconds)),
            false => None,
        },
        ..params
    }
}

/// The request as this side understands it: its own ids of statements, and the stamp.
pub(super) async fn asked_of(
    peer: &Rc<Peer>,
    mirror: &MirrorShard,
    kept: &Kept,
    side: Side,
) -> Result<Asked, ErrorMessage> {
    asked(peer, mirror, kept, side, None).await
}

async fn asked(
    peer: &Rc<Peer>,
    mirror: &MirrorShard,
    kept: &Kept,
    side: Side,
    stamp: Option<Stamp>,
) -> Result<Asked, ErrorMessage> {
    let version = kept.version;
    let protocol = Protocol::new(version);
    let as_it_is =
        |task, token| Asked { opcode: kept.opcode, flags: kept.flags, body: kept.body.clone(), task, token };
    // A payload is for the node that answers, and cannot be written anew.
    let anew = |request: Request<'_>, task, token| Asked {
        flags: kept.flags & !flags::CUSTOM_PAYLOAD,
        token,
        ..Asked::of(&request, protocol, task)
    };
    match decode(kept)? {
        Request::Query { query, params } => {
            let keyspace = request::keyspace_of(peer, params.keyspace);
            let task = Task::Query(class_of(query, keyspace.as_deref()));
            Ok(match stamp {
                None => as_it_is(task, None),
                some => anew(Request::Query { query, params: stamped(params, some, version) }, task, None),
            })
        }
        Request::Execute { id, result_metadata_id, params } => {
            let statement = at_side(peer, mirror, side, &known(peer, id)?).await?;
            let token = cluster::key::token(&statement.partition_key, &params.values, &mut Vec::new());
            if stamp.is_none() && *statement.id == *id {
                return Ok(as_it_is(Task::Execute(statement), token));
            }
            let params = stamped(params, stamp, version);
            let request = Request::Execute { id: &statement.id, result_metadata_id, params };
            Ok(anew(request, Task::Execute(statement.clone()), token))
        }
        Request::Batch(Batch { batch_type, statements, params }) => {
            let (mut list, mut all) = (BatchList::new(), Vec::new());
            for item in statements.iter() {
                match item.query {
                    BatchQuery::Text(_) => list.push(item.query, item.values),
                    BatchQuery::Prepared(id) => {
                        let statement = at_side(peer, mirror, side, &known(peer, id)?).await?;
                        let pushed = list.push(BatchQuery::Prepared(&statement.id), item.values);
                        all.push(statement);
                        pushed
                    }
                };
            }
            let params = stamped(params, stamp, version);
            let request = Request::Batch(Batch { batch_type, statements: list.as_statements(), params });
            Ok(anew(request, Task::Batch(all), None))
        }
        _ => Err(ErrorMessage::new(ErrorKind::Protocol, "Unexpected message")),
    }
}

/// What a statement that the client knows is on this side: prepared there when it is used first.
pub(super) async fn at_side(
    peer: &Rc<Peer>,
    mirror: &MirrorShard,
    side: Side,
    statement: &Arc<Statement>,
) -> Result<Arc<Statement>, ErrorMessage> {
    if let Some(there) = mirror.known_at(side, &statement.id) {
        return Ok(there);
    }
    let lane: Rc<Lane> = lane_of(peer, side).ok_or_else(not_started)?;
    match cluster::prepare_there(&lane, statement).await {
        Ok(there) => {
            let there = Arc::new(there);
            mirror.keep(side, &statement.id, there.clone());
            Ok(there)
        }
        Err(Some(said)) => Err(match said.read(|_| ()) {
            Err(AskError::Error(error)) => error,
            _ => ErrorMessage::new(
                ErrorKind::Server,
                "The statement could not be prepared on the cluster that answers now",
            ),
        }),
        // The client prepares it again, in the keyspace that it is in.
        Err(None) => {
            Err(ErrorMessage::new(ErrorKind::Unprepared { id: statement.id.to_vec() }, request::UNPREPARED))
        }
    }
}

/// Bytes of statements that a thread knows of both sides; beyond, they are asked for again.
const KNOWN_BYTES_MAX: usize = 16 << 20;
/// What a statement takes besides its text.
const STATEMENT_BYTES: usize = 400;

impl MirrorShard {
    pub(super) fn known_at(&self, side: Side, id: &[u8]) -> Option<Arc<Statement>> {
        self.known[side as usize].borrow().get(id).cloned()
    }

    fn keep(&self, side: Side, id: &[u8], statement: Arc<Statement>) {
        let bytes = self.known_bytes.get() + STATEMENT_BYTES + statement.text.len();
        self.known_bytes.set(bytes);
        if bytes > KNOWN_BYTES_MAX {
            self.known.iter().for_each(|known| known.borrow_mut().clear());
            self.known_bytes.set(0);
        }
        self.known[side as usize].borrow_mut().insert(id.into(), statement);
    }
}

/// Whether it is rows, or at least no error.
pub(super) fn is_result(owned: &Owned) -> bool {
    owned.reply().opcode == Opcode::Result
}
