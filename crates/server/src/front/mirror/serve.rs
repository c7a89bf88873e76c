//! One request of a client of a front end of two clusters: to one side, to both, or kept until writes may go on.

use super::super::peer::Peer;
use super::super::request::{self, may, refuse, unprepared};
use super::state::{Phase, Side};
use super::{dual, lane_of, reads};
use cluster::{Class, LaneKey, OpenError, Preparing, Route, Task, route};
use cql_wire::{BatchQuery, Envelope, ErrorKind, ErrorMessage, Opcode, Request, Response, Version};
use std::rc::Rc;

/// A request with its own bytes.
#[derive(Clone)]
pub struct Kept {
    pub version: Version,
    pub flags: u8,
    pub stream: i16,
    pub opcode: Opcode,
    pub body: Vec<u8>,
}

impl Kept {
    pub fn of(envelope: &Envelope<'_>) -> Kept {
        let Envelope { version, flags, stream, opcode, body } = *envelope;
        Kept { version, flags: flags & !cql_wire::flags::COMPRESSED, stream, opcode, body: body.to_vec() }
    }

    pub fn envelope(&self) -> Envelope<'_> {
        let Kept { version, flags, stream, opcode, ref body } = *self;
        Envelope { version, flags, stream, opcode, body }
    }
}

/// A write that waits until writes may go on.
pub struct Parked {
    peer: Rc<Peer>,
    kept: Kept,
}

/// Both lanes of a client; that of the side that answers is connected when this succeeds.
pub async fn lanes(peer: &Rc<Peer>, key: LaneKey) -> Result<(), OpenError> {
    let shard = &peer.shard;
    let Some(mirror) = &shard.mirror else {
        let lane = shard.door.lane(key).await?;
        *peer.lane.borrow_mut() = Some(lane);
        return Ok(());
    };
    let there = LaneKey { login: mirror.shared.login.clone(), ..key.clone() };
    let (source, target) = match mirror.shared.mode().answers {
        Side::Source => (shard.door.lane(key).await?, mirror.door.lane_at_once(there)?),
        Side::Target => {
            let target = mirror.door.lane(there).await?;
            (shard.door.lane_at_once(key)?, target)
        }
    };
    *peer.lane.borrow_mut() = Some(source);
    *peer.other.borrow_mut() = Some(target);
    Ok(())
}

/// Sends the request on its way, or answers it.
pub fn serve(peer: &Rc<Peer>, envelope: &Envelope<'_>, request: &Request<'_>) {
    let (shard, stream) = (&peer.shard, envelope.stream);
    match request {
        Request::Execute { id, params, .. } => {
            let Some(statement) = shard.shared.statements.get(id) else {
                return unprepared(peer, stream, id);
            };
            if statement.is_local {
                return request::local(peer, envelope);
            }
            if let Some(keyspace) = &statement.sets_keyspace {
                return request::use_keyspace(peer, stream, keyspace.clone());
            }
            if !may(peer, stream, statement.class, request::first_word(&statement.text)) {
                return;
            }
            match statement.class {
                Class::Read => reads::execute(peer, envelope, &statement, params),
                _ => begin(peer, Kept::of(envelope)),
            }
        }
        Request::Query { query, params } => {
            let keyspace = request::keyspace_of(peer, params.keyspace);
            match route(query, keyspace.as_deref()) {
                Route::Local => request::local(peer, envelope),
                Route::Use(keyspace) => request::use_keyspace(peer, stream, keyspace.into()),
                Route::Refused(own) => refuse(peer, stream, own),
                Route::Forward(class) if !may(peer, stream, class, request::first_word(query)) => {}
                Route::Forward(Class::Read) => reads::query(peer, envelope, query, params),
                Route::Forward(_) => begin(peer, Kept::of(envelope)),
            }
        }
        Request::Batch(batch) => {
            for item in batch.statements.iter() {
                if let BatchQuery::Prepared(id) = item.query
                    && shard.shared.statements.get(id).is_none()
                {
                    return unprepared(peer, stream, id);
                }
            }
            if may(peer, stream, Class::Write, "BATCH") {
                begin(peer, Kept::of(envelope));
            }
        }
        Request::Prepare { query, keyspace } => prepare(peer, envelope, query, *keyspace),
        _ => request::others(peer, envelope, request),
    }
}

/// PREPARE goes to the side that answers; the other learns of a statement when it is used.
fn prepare(peer: &Rc<Peer>, envelope: &Envelope<'_>, query: &str, keyspace: Option<&str>) {
    let stream = envelope.stream;
    let keyspace = request::keyspace_of(peer, keyspace);
    let (class, sets_keyspace) = match route(query, keyspace.as_deref()) {
        Route::Local => return request::prepare_local(peer, stream, query),
        Route::Refused(own) => return refuse(peer, stream, own),
        Route::Use(name) => (Class::Other, Some(name.into())),
        Route::Forward(class) if !may(peer, stream, class, request::first_word(query)) => return,
        Route::Forward(class) => (class, None),
    };
    let task = Task::Prepare(Box::new(Preparing { class, keyspace, sets_keyspace }));
    request::forward(peer, answering(peer), envelope, task, None);
}

/// The lane of the side that answers.
pub fn answering(peer: &Peer) -> Option<Rc<cluster::Lane>> {
    let side = peer.shard.mirror.as_ref().map_or(Side::Source, |mirror| mirror.shared.mode().answers);
    lane_of(peer, side)
}

/// A write begins now, or when writes may go on.
fn begin(peer: &Rc<Peer>, kept: Kept) {
    let shard = &peer.shard;
    let Some(mirror) = &shard.mirror else { return };
    let asked = shard.asked.get() + kept.body.len();
    if asked > shard.shared.limits().in_flight_bytes_max {
        let text = "Too many bytes of requests are under way on this front end; try again later";
        return peer.fail(kept.stream, ErrorMessage::new(ErrorKind::Overloaded, text));
    }
    if mirror.shared.mode().phase == Phase::Dual && mirror.shared.marks.is_full() {
        mirror.shared.counters.refused.add(1);
        let text = "Too many keys wait to be looked at again on both clusters of a migration; is `partita migrate run` running?";
        return peer.fail(kept.stream, ErrorMessage::new(ErrorKind::Overloaded, text));
    }
    shard.asked.set(asked);
    peer.in_flight.set(peer.in_flight.get() + 1);
    enter(peer, kept);
}

fn enter(peer: &Rc<Peer>, kept: Kept) {
    let Some(mirror) = &peer.shard.mirror else { return };
    match mirror.shared.enter() {
        Some(entered) => {
            peer.shard.counters().forwarded.add(1);
            tokio::task::spawn_local(dual::perform(peer.clone(), kept, entered));
        }
        // They count as under way for their clients, which bounds them.
        None => mirror.parked.borrow_mut().push_back(Parked { peer: peer.clone(), kept }),
    }
}

/// Lets parked writes go on, whenever writes may.
pub async fn unpark(shard: Rc<super::super::FrontShard>) {
    let Some(mirror) = &shard.mirror else { return };
    let mut released = mirror.shared.released();
    while released.changed().await.is_ok() {
        let waiting = std::mem::take(&mut *mirror.parked.borrow_mut());
        for Parked { peer, kept } in waiting {
            enter(&peer, kept);
        }
    }
}

/// A write is answered; what it held is given back.
pub fn finish(peer: &Peer, kept: &Kept, answer: Result<cluster::Reply<'_>, ErrorMessage>) {
    let asked = &peer.shard.asked;
    asked.set(asked.get().saturating_sub(kept.body.len()));
    peer.done();
    match answer {
        Ok(reply) => {
            if reply.opcode == Opcode::Error {
                peer.shard.counters().errors.add(1);
            }
            peer.pass_on(kept.stream, reply);
        }
        Err(error) => peer.put(kept.stream, &Response::Error(error)),
    }
    peer.shard.counters().link.answered.add(1);
}
