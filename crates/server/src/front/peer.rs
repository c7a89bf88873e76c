//! A client as the cluster's answers find it: its outbox, and what it has under way.

use super::FrontShard;
use crate::accept::Place;
use cluster::{Answer, Asker, Class, Job, Lane, Reply as NodeReply, Statement, Task, lost_error};
use cql_wire::{
    Direction, Envelope, ErrorMessage, EventKinds, Header, Opcode, Protocol, Reply, Request, Response,
    Version, flags,
};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use tokio::sync::Notify;

pub struct Peer {
    pub shard: Rc<FrontShard>,
    pub address: SocketAddr,
    pub place: Place,
    pub version: Cell<Version>,
    /// Plain envelopes of answers.
    pub outbox: RefCell<Vec<u8>>,
    /// There is something in the outbox.
    pub wake: Notify,
    /// Requests that are not answered yet.
    pub in_flight: Cell<usize>,
    pub lane: RefCell<Option<Rc<Lane>>>,
    /// The lane to the second cluster of a migration.
    pub other: RefCell<Option<Rc<Lane>>>,
    pub registered: Cell<EventKinds>,
    /// The connection has ended: answers go nowhere.
    pub gone: Cell<bool>,
    pub itself: Weak<Peer>,
}

impl Peer {
    pub fn protocol(&self) -> Protocol {
        Protocol::new(self.version.get())
    }

    /// Appends an answer of ours.
    pub fn put(&self, stream: i16, response: &Response<'_>) {
        self.append(|out| response.encode(&Reply::new(self.protocol(), stream), out));
    }

    pub fn fail(&self, stream: i16, error: ErrorMessage) {
        self.shard.counters().errors.add(1);
        self.put(stream, &Response::Error(error));
    }

    /// Lets `write` append whole envelopes to the outbox.
    pub fn append(&self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.gone.get() {
            return;
        }
        let mut outbox = self.outbox.borrow_mut();
        let before = outbox.len();
        write(&mut outbox);
        let held = &self.shard.held;
        held.set(held.get() + (outbox.len() - before));
        if before == 0 {
            self.wake.notify_one();
        }
    }

    /// Appends what a node said, on the client's stream.
    pub fn pass_on(&self, stream: i16, reply: NodeReply<'_>) {
        let version = self.version.get();
        let bits = if version.is_beta() { reply.flags | flags::USE_BETA } else { reply.flags };
        let Ok(length) = u32::try_from(reply.body.len()) else { return };
        let header = Header { version, flags: bits, stream, opcode: reply.opcode as u8, length };
        self.append(|out| {
            header.encode(Direction::Response, out);
            out.extend_from_slice(reply.body);
        });
    }

    /// A request is answered.
    pub fn done(&self) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
    }

    fn read<'a>(&self, reply: &NodeReply<'a>) -> Option<Response<'a>> {
        let NodeReply { flags, opcode, body } = *reply;
        let envelope = Envelope { version: self.version.get(), flags, stream: 0, opcode, body };
        Response::decode(self.protocol(), &envelope).ok().map(|(_, response)| response)
    }

    /// Keeps what a node has prepared.
    fn remember(&self, job: &Job, reply: &NodeReply<'_>) {
        let Task::Prepare(preparing) = &job.task else { return };
        let Some(Response::Prepared(prepared)) = self.read(reply) else { return };
        let envelope = Envelope {
            version: self.version.get(),
            flags: job.flags,
            stream: 0,
            opcode: job.opcode,
            body: &job.body,
        };
        let Ok(Request::Prepare { query, .. }) = Request::decode(self.protocol(), &envelope) else { return };
        self.shard.shared.statements.keep(Statement {
            id: prepared.id.as_ref().into(),
            text: query.into(),
            keyspace: preparing.keyspace.clone(),
            class: preparing.class,
            partition_key: prepared.partition_key.as_ref().into(),
            sets_keyspace: preparing.sets_keyspace.clone(),
            is_local: false,
        });
    }

    /// Passes on the answer to a schema change when all nodes have it. Drivers see one node, so they cannot wait themselves.
    fn pass_on_when_agreed(&self, stream: i16, reply: NodeReply<'_>) {
        let (Some(peer), lane) = (self.itself.upgrade(), self.lane.borrow().clone()) else { return };
        let (bits, opcode, body) = (reply.flags, reply.opcode, reply.body.to_vec());
        tokio::task::spawn_local(async move {
            if let Some(lane) = lane
                && !lane.agree().await
            {
                tracing::warn!(
                    "the nodes of the cluster do not agree on the schema ten seconds after a change"
                );
            }
            peer.done();
            peer.pass_on(stream, NodeReply { flags: bits, opcode, body: &body });
        });
    }
}

impl Asker for Peer {
    fn answered(&self, job: Job, answer: Answer<'_>) {
        let asked = &self.shard.asked;
        asked.set(asked.get().saturating_sub(job.body.len()));
        match answer {
            Answer::Node(reply) => {
                let may_be_schema = match &job.task {
                    Task::Query(class) => *class == Class::Other,
                    Task::Execute(statement) => statement.class == Class::Other,
                    _ => false,
                };
                if may_be_schema
                    && reply.opcode == Opcode::Result
                    && matches!(self.read(&reply), Some(Response::SchemaChange(_)))
                {
                    return self.pass_on_when_agreed(job.stream, reply);
                }
                self.done();
                if reply.opcode == Opcode::Error {
                    self.shard.counters().errors.add(1);
                } else {
                    self.remember(&job, &reply);
                }
                self.pass_on(job.stream, reply);
            }
            Answer::Lost(lost) => {
                self.done();
                self.fail(job.stream, lost_error(&job, self.version.get(), lost));
            }
        }
        self.shard.counters().link.answered.add(1);
    }
}
