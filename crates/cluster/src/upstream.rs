//! One connection to one node, shared by many clients: requests go out in the order they come, answers find their askers.
//!
//! The sending half and the receiving half are two tasks, so that neither waits for the other. A request is appended to the
//! outbox and goes out with all others that are there when the socket takes more.

use crate::handshake::Opened;
use crate::job::{Answer, Job, Reply};
use crate::pending::Pending;
use cql_wire::{
    ClientCodec, Direction, Envelope, ErrorKind, Event, Framing, Header, Opcode, Protocol, Response, Version,
    flags,
};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

const READ_BYTES: usize = 32 << 10;
/// A buffer that has grown beyond this is given back.
const KEEP_BYTES: usize = 1 << 20;

/// Who hears what is not simply the answer to a job.
pub trait Owner {
    /// A node does not know the statement with this id. The job has not been done.
    fn unprepared(&self, upstream: &Rc<Upstream>, job: Job, id: &[u8], reply: Reply<'_>);
    fn event(&self, event: Event);
    /// The connection has ended; these had been sent.
    fn lost(&self, upstream: &Rc<Upstream>, jobs: Vec<Job>);
}

/// See the module.
pub struct Upstream {
    version: Version,
    outbox: RefCell<Vec<u8>>,
    pending: RefCell<Pending>,
    wake: Notify,
    closed: Cell<bool>,
    /// Ticks of the lane's clock since the connection was opened.
    tick: Cell<u32>,
    /// Ticks without a word while there was something to be said.
    silent: Cell<u32>,
    heard: Cell<bool>,
}

impl Upstream {
    pub fn new(version: Version) -> Upstream {
        Upstream {
            version,
            outbox: RefCell::default(),
            pending: RefCell::default(),
            wake: Notify::new(),
            closed: Cell::new(false),
            tick: Cell::new(0),
            silent: Cell::new(0),
            heard: Cell::new(false),
        }
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn is_open(&self) -> bool {
        !self.closed.get()
    }

    pub fn in_flight(&self) -> usize {
        self.pending.borrow().waiting()
    }

    /// Ticks for which the node has owed answers and said nothing.
    pub fn silent_ticks(&self) -> u32 {
        self.silent.get()
    }

    /// Sends a request; gives it back if there is no room or no connection.
    pub fn send(&self, job: Box<Job>) -> Result<(), Box<Job>> {
        if self.closed.get() {
            return Err(job);
        }
        let (opcode, bits) = (job.opcode, job.flags & !flags::COMPRESSED);
        let bits = if self.version.is_beta() { bits | flags::USE_BETA } else { bits };
        let mut outbox = self.outbox.borrow_mut();
        let was_empty = outbox.is_empty();
        let at = outbox.len();
        // The header is written with the stream when there is one; the body is copied while the job is still ours.
        let Ok(length) = u32::try_from(job.body.len()) else { return Err(job) };
        let header = Header { version: self.version, flags: bits, stream: 0, opcode: opcode as u8, length };
        header.encode(Direction::Request, &mut outbox);
        outbox.extend_from_slice(&job.body);
        match self.pending.borrow_mut().add(job, self.tick.get()) {
            Ok(stream) => outbox[at + 2..at + 4].copy_from_slice(&stream.to_be_bytes()),
            Err(job) => {
                outbox.truncate(at);
                return Err(job);
            }
        }
        if was_empty {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// The connection is of no more use.
    pub fn close(&self) {
        self.closed.set(true);
        self.wake.notify_one();
    }

    /// The lane's clock: counts silence, and gives up what has waited for `patience` ticks.
    pub fn tick(&self, patience: u32) -> Vec<Job> {
        let now = self.tick.get() + 1;
        self.tick.set(now);
        let mut pending = self.pending.borrow_mut();
        let owes = pending.taken() > 0;
        self.silent.set(if self.heard.replace(false) || !owes { 0 } else { self.silent.get() + 1 });
        if pending.waiting() == 0 {
            return Vec::new();
        }
        pending.give_up(now.saturating_sub(patience))
    }

    fn take_all(&self) -> Vec<Job> {
        self.outbox.borrow_mut().clear();
        self.pending.borrow_mut().drain()
    }
}

/// Runs a connection until it ends.
pub async fn run(upstream: Rc<Upstream>, opened: Opened, owner: Rc<dyn Owner>) -> io::Error {
    let framing = opened.codec.framing();
    let sending = send_all(&upstream, opened.halves.writer, framing);
    let receiving = receive_all(&upstream, opened.halves.reader, opened.codec, &*owner);
    let ended = tokio::select! {
        biased;
        error = receiving => error,
        error = sending => error,
    };
    upstream.closed.set(true);
    let jobs = upstream.take_all();
    owner.lost(&upstream, jobs);
    ended
}

async fn send_all(
    upstream: &Upstream,
    mut writer: Box<dyn AsyncWrite + Unpin>,
    framing: Framing,
) -> io::Error {
    let (mut plain, mut framed) = (Vec::new(), Vec::new());
    loop {
        std::mem::swap(&mut plain, &mut *upstream.outbox.borrow_mut());
        if plain.is_empty() {
            if upstream.closed.get() {
                return io::ErrorKind::ConnectionAborted.into();
            }
            upstream.wake.notified().await;
            continue;
        }
        let bytes = if framing.is_plain() {
            &plain
        } else {
            framed.clear();
            framing.frame(&plain, &mut framed);
            &framed
        };
        let written = async {
            writer.write_all(bytes).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            return error;
        }
        plain.clear();
        for buffer in [&mut plain, &mut framed] {
            if buffer.capacity() > KEEP_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

async fn receive_all(
    upstream: &Rc<Upstream>,
    mut reader: Box<dyn AsyncRead + Unpin>,
    mut codec: ClientCodec,
    owner: &dyn Owner,
) -> io::Error {
    loop {
        let buffer = codec.receive_buffer();
        buffer.reserve(READ_BYTES);
        match reader.read_buf(buffer).await {
            Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => upstream.heard.set(true),
            Err(error) => return error,
        }
        loop {
            match codec.next_envelope() {
                Ok(None) => break,
                Ok(Some(envelope)) => received(upstream, owner, &envelope),
                Err(refusal) => return io::Error::new(io::ErrorKind::InvalidData, refusal.to_string()),
            }
        }
    }
}

fn received(upstream: &Rc<Upstream>, owner: &dyn Owner, envelope: &Envelope<'_>) {
    let protocol = Protocol::new(upstream.version);
    if envelope.opcode == Opcode::Event {
        // An event that we cannot read is one that we cannot pass on.
        if let Ok((_, Response::Event(event))) = Response::decode(protocol, envelope) {
            owner.event(event);
        }
        return;
    }
    let Some(job) = upstream.pending.borrow_mut().take(envelope.stream) else { return };
    let bits = envelope.flags & !(flags::COMPRESSED | flags::USE_BETA);
    let reply = Reply { flags: bits, opcode: envelope.opcode, body: envelope.body };
    if envelope.opcode == Opcode::Error
        && let Ok((_, Response::Error(error))) = Response::decode(protocol, envelope)
        && let ErrorKind::Unprepared { id } = error.kind
    {
        return owner.unprepared(upstream, *job, &id, reply);
    }
    job.answer(Answer::Node(reply));
}
