//! One request of a client: where it goes.

use super::mirror;
use super::peer::Peer;
use cluster::{Class, Job, Lane, LaneKey, Link, OpenError, Own, Preparing, Route, Statement, Task, route};
use cql_wire::{
    BatchQuery, Envelope, ErrorKind, ErrorMessage, Opcode, QueryParams, Reply, Request, Response, flags,
};
use std::rc::Rc;
use std::sync::Arc;

pub const UNPREPARED: &str = "Prepared statement is unknown on this front end (it was never prepared, was evicted, or the front end \
                          was restarted); prepare it again";

/// Sends the request on its way, or answers it.
pub fn serve(peer: &Rc<Peer>, envelope: &Envelope<'_>) {
    let stream = envelope.stream;
    if peer.shard.held.get() > peer.shard.shared.limits().answer_bytes_max {
        let text = "Too many bytes of answers wait for their clients on this front end; try again later";
        return peer.fail(stream, ErrorMessage::new(ErrorKind::Overloaded, text));
    }
    let request = match Request::decode(peer.protocol(), envelope) {
        Ok(request) => request,
        Err(error) => return peer.fail(stream, ErrorMessage::new(ErrorKind::Protocol, error.to_string())),
    };
    if peer.shard.mirror.is_some() {
        return mirror::serve(peer, envelope, &request);
    }
    match request {
        Request::Execute { id, params, .. } => execute(peer, envelope, id, &params),
        Request::Query { query, params } => text(peer, envelope, query, &params),
        Request::Prepare { query, keyspace } => prepare(peer, envelope, query, keyspace),
        Request::Batch(batch) => {
            let mut statements: Vec<Arc<Statement>> = Vec::new();
            for item in batch.statements.iter() {
                let BatchQuery::Prepared(id) = item.query else { continue };
                match peer.shard.shared.statements.get(id) {
                    Some(statement) => statements.push(statement),
                    None => return unprepared(peer, stream, id),
                }
            }
            if may(peer, stream, Class::Write, "BATCH") {
                forward_there(peer, envelope, Task::Batch(statements), None);
            }
        }
        other => others(peer, envelope, &other),
    }
}

/// What is about the connection.
pub fn others(peer: &Rc<Peer>, envelope: &Envelope<'_>, request: &Request<'_>) {
    let stream = envelope.stream;
    match request {
        Request::Register(kinds) => {
            let mut all = peer.registered.get();
            all.extend(*kinds);
            peer.registered.set(all);
            peer.put(stream, &Response::Ready);
        }
        _ => {
            let text = "Unexpected message on a started connection";
            peer.fail(stream, ErrorMessage::new(ErrorKind::Protocol, text));
        }
    }
}

pub fn unprepared(peer: &Peer, stream: i16, id: &[u8]) {
    peer.fail(stream, ErrorMessage::new(ErrorKind::Unprepared { id: id.to_vec() }, UNPREPARED));
}

fn execute(peer: &Rc<Peer>, envelope: &Envelope<'_>, id: &[u8], params: &QueryParams<'_>) {
    let stream = envelope.stream;
    let Some(statement) = peer.shard.shared.statements.get(id) else { return unprepared(peer, stream, id) };
    if statement.is_local {
        return local(peer, envelope);
    }
    if let Some(keyspace) = &statement.sets_keyspace {
        return use_keyspace(peer, stream, keyspace.clone());
    }
    if !may(peer, stream, statement.class, first_word(&statement.text)) {
        return;
    }
    let token = cluster::key::token(&statement.partition_key, &params.values, &mut Vec::new());
    forward_there(peer, envelope, Task::Execute(statement), token);
}

fn text(peer: &Rc<Peer>, envelope: &Envelope<'_>, query: &str, params: &QueryParams<'_>) {
    let keyspace = keyspace_of(peer, params.keyspace);
    match route(query, keyspace.as_deref()) {
        Route::Local => local(peer, envelope),
        Route::Use(keyspace) => use_keyspace(peer, envelope.stream, keyspace.into()),
        Route::Refused(own) => refuse(peer, envelope.stream, own),
        Route::Forward(class) => {
            if may(peer, envelope.stream, class, first_word(query)) {
                forward_there(peer, envelope, Task::Query(class), None);
            }
        }
    }
}

fn prepare(peer: &Rc<Peer>, envelope: &Envelope<'_>, query: &str, keyspace: Option<&str>) {
    let stream = envelope.stream;
    let keyspace = keyspace_of(peer, keyspace);
    let (class, sets_keyspace) = match route(query, keyspace.as_deref()) {
        Route::Local => return prepare_local(peer, stream, query),
        Route::Refused(own) => return refuse(peer, stream, own),
        Route::Use(name) => (Class::Other, Some(name.into())),
        Route::Forward(class) => {
            if !may(peer, stream, class, first_word(query)) {
                return;
            }
            (class, None)
        }
    };
    let preparing = Preparing { class, keyspace, sets_keyspace };
    forward_there(peer, envelope, Task::Prepare(Box::new(preparing)), None);
}

/// The keyspace that unqualified names are in.
pub fn keyspace_of(peer: &Peer, named: Option<&str>) -> Option<Arc<str>> {
    match named {
        Some(keyspace) => Some(keyspace.into()),
        None => peer.lane.borrow().as_ref().and_then(|lane| lane.key().keyspace.clone()),
    }
}

/// Whether a statement of this class may pass; answers it if not.
pub fn may(peer: &Peer, stream: i16, class: Class, what: &str) -> bool {
    if class == Class::Read || peer.shard.shared.cluster.writes {
        return true;
    }
    peer.shard.counters().refused.add(1);
    let text = format!(
        "This front end is read-only, so that nothing changes in the cluster while you look: {what} is refused. Start it with \
         --cluster-writes to let writes and schema changes through"
    );
    peer.fail(stream, ErrorMessage::new(ErrorKind::Unauthorized, text));
    false
}

/// What the message says of a statement: no values, no names.
pub fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    match text.get(..end.min(16)) {
        Some(word) if !word.is_empty() => word,
        _ => "this statement",
    }
}

pub fn refuse(peer: &Peer, stream: i16, own: Own) {
    peer.shard.counters().refused.add(1);
    let what = match own {
        Own::Explain => "EXPLAIN tells how Partita's own engine would run a statement",
        Own::AccessPattern => "Access patterns are Partita's own",
        Own::Projection => "Projections are Partita's own",
        Own::Job => "Jobs are Partita's own",
        Own::LiveTable => "This table of system_views is Partita's own",
    };
    let text = format!(
        "{what}; this server is a front end of a cluster (--engine cassandra://…), which does not have it yet. docs/cluster.md \
         says what works on a cluster"
    );
    peer.fail(stream, ErrorMessage::new(ErrorKind::Invalid, text));
}

/// To the cluster, as it is.
fn forward_there(peer: &Rc<Peer>, envelope: &Envelope<'_>, task: Task, token: Option<i64>) {
    forward(peer, peer.lane.borrow().clone(), envelope, task, token);
}

/// Over this lane, as it is.
pub fn forward(
    peer: &Rc<Peer>,
    lane: Option<Rc<Lane>>,
    envelope: &Envelope<'_>,
    task: Task,
    token: Option<i64>,
) {
    let Some(lane) = lane else {
        let error = ErrorMessage::new(ErrorKind::Protocol, "The connection is not started");
        return peer.fail(envelope.stream, error);
    };
    let shard = &peer.shard;
    let asked = shard.asked.get() + envelope.body.len();
    if asked > shard.shared.limits().in_flight_bytes_max {
        let text = "Too many bytes of requests are under way on this front end; try again later";
        return peer.fail(envelope.stream, ErrorMessage::new(ErrorKind::Overloaded, text));
    }
    // Given back when the job is answered, which every job is.
    shard.asked.set(asked);
    shard.counters().forwarded.add(1);
    peer.in_flight.set(peer.in_flight.get() + 1);
    lane.send(Job {
        opcode: envelope.opcode,
        flags: envelope.flags & !flags::COMPRESSED,
        body: envelope.body.to_vec(),
        task,
        asker: peer.clone(),
        stream: envelope.stream,
        token,
        again: 0,
    });
}

/// USE: from now on, the client's requests go over connections that are in this keyspace.
pub fn use_keyspace(peer: &Rc<Peer>, stream: i16, keyspace: Arc<str>) {
    let Some(key) = peer.lane.borrow().as_ref().map(|lane| lane.key().clone()) else { return };
    peer.in_flight.set(peer.in_flight.get() + 1);
    let peer = peer.clone();
    tokio::task::spawn_local(async move {
        let key = LaneKey { keyspace: Some(keyspace.clone()), ..key };
        let opened = mirror::lanes(&peer, key).await;
        peer.done();
        match opened {
            Ok(()) => peer.put(stream, &Response::SetKeyspace(&keyspace)),
            Err(error) => peer.fail(stream, open_error(&error)),
        }
    });
}

/// The cluster's own words where it said any.
pub fn open_error(error: &OpenError) -> ErrorMessage {
    match error {
        OpenError::Refused(error) => error.clone(),
        OpenError::LoginNeeded => ErrorMessage::new(
            ErrorKind::BadCredentials,
            "The cluster asks for a login, and this front end has no account there and asks its clients for none",
        ),
        OpenError::Io(_) | OpenError::TimedOut | OpenError::Unexpected(_) => {
            ErrorMessage::new(ErrorKind::Server, "No node of the cluster can be reached by this front end")
        }
    }
}

pub fn prepare_local(peer: &Rc<Peer>, stream: i16, query: &str) {
    let reply = Reply::new(peer.protocol(), stream);
    let mut answer = Vec::new();
    match peer.shard.local.prepare(query, &reply, &mut answer) {
        Ok(id) => {
            peer.shard.shared.statements.keep(Statement {
                id: id.into(),
                text: query.into(),
                keyspace: None,
                class: Class::Read,
                partition_key: [].into(),
                sets_keyspace: None,
                is_local: true,
            });
            peer.append(|out| out.extend_from_slice(&answer));
        }
        Err(error) => peer.fail(stream, error),
    }
}

/// Answers a SELECT on the tables that tell where nodes are.
pub fn local(peer: &Rc<Peer>, envelope: &Envelope<'_>) {
    peer.shard.counters().local.add(1);
    peer.in_flight.set(peer.in_flight.get() + 1);
    let (peer, body) = (peer.clone(), envelope.body.to_vec());
    let (stream, bits, opcode) = (envelope.stream, envelope.flags, envelope.opcode);
    tokio::task::spawn_local(async move {
        let outcome = answer_local(&peer, stream, bits, opcode, &body).await;
        peer.done();
        match outcome {
            Ok(answer) => peer.append(|out| out.extend_from_slice(&answer)),
            Err(error) => peer.fail(stream, error),
        }
    });
}

async fn answer_local(
    peer: &Peer,
    stream: i16,
    bits: u8,
    opcode: Opcode,
    body: &[u8],
) -> Result<Vec<u8>, ErrorMessage> {
    let envelope = Envelope { version: peer.version.get(), flags: bits, stream, opcode, body };
    let reply = Reply::new(peer.protocol(), stream);
    let mut answer = Vec::new();
    match Request::decode(peer.protocol(), &envelope)? {
        Request::Query { query, params } => {
            peer.shard.local.select(query, &params, &reply, &mut answer).await?;
        }
        Request::Execute { id, params, .. } => {
            let unknown = || ErrorMessage::new(ErrorKind::Unprepared { id: id.to_vec() }, UNPREPARED);
            let statement = peer.shard.shared.statements.get(id).ok_or_else(unknown)?;
            peer.shard.local.select(&statement.text, &params, &reply, &mut answer).await?;
        }
        _ => return Err(ErrorMessage::new(ErrorKind::Server, "Nothing else is answered here")),
    }
    Ok(answer)
}
