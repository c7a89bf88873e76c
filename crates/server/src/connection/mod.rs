//! One client connection: bytes in, requests under way, answers out.
//!
//! The loop reads whatever has arrived, starts every complete request, polls each once (most reads
//! finish right there), and writes all finished answers with one system call. Requests that wait for
//! the log stay in a set and answer when they are done, out of order, as the protocol allows.
//! Bounded: requests under way per connection, bytes under way per shard, time to finish a
//! handshake and a message.

mod auth;
mod handle;
mod reply;
mod startup;
mod stream;
mod trace;

pub use startup::offered;
pub use stream::Stream;

use self::handle::{Head, Owned};
use crate::shard::Shard;
use cql::session::Session;
use cql_wire::{Event, EventKinds, Opcode, Protocol, Reply, Response, ServerCodec, Stage};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::broadcast;

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 16 << 10;
/// Answers are written out when this many bytes have gathered, even if more requests are waiting.
const WRITE_BYTES: usize = 256 << 10;
/// A client that does not take its answers for this long is cut off.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// What requests of one connection share.
pub struct Peer {
    pub address: SocketAddr,
    pub session: RefCell<Session>,
    pub registered: Cell<EventKinds>,
    /// Plain envelopes of finished answers.
    pub outbox: RefCell<Vec<u8>>,
    pub in_flight: Cell<usize>,
    pub throw_on_overload: Cell<bool>,
    pub lwt_mark: Cell<bool>,
    pub driver: RefCell<Vec<(String, String)>>,
    /// What STARTUP or AUTH_RESPONSE decided; the loop tells the codec.
    pub authenticated: Cell<bool>,
}

type Pending = Pin<Box<dyn Future<Output = ()>>>;

pub struct Connection {
    shard: Rc<Shard>,
    peer: Rc<Peer>,
    stream: Stream,
    codec: ServerCodec,
    pending: FuturesUnordered<Pending>,
    events: Option<broadcast::Receiver<Event>>,
    framed: Vec<u8>,
}

enum Wake {
    Read(std::io::Result<usize>),
    Done,
    Event(Event),
    TooSlow,
}

impl Connection {
    pub fn new(shard: Rc<Shard>, stream: Stream, address: SocketAddr) -> Connection {
        let codec = ServerCodec::new(shard.shared.config.limits.frame_bytes_max);
        let peer = Peer {
            address,
            session: RefCell::default(),
            registered: Cell::default(),
            outbox: RefCell::default(),
            in_flight: Cell::new(0),
            throw_on_overload: Cell::new(false),
            lwt_mark: Cell::new(false),
            driver: RefCell::default(),
            authenticated: Cell::new(false),
        };
        let (pending, framed) = (FuturesUnordered::new(), Vec::new());
        Connection { shard, peer: Rc::new(peer), stream, codec, pending, events: None, framed }
    }

    /// Serves the client until it leaves or breaks the rules.
    pub async fn run(mut self) {
        let shard = self.shard.clone();
        shard.metrics().connections.add(1);
        shard.metrics().connections_total.add(1);
        if let Err(error) = self.serve().await {
            tracing::debug!(peer = %self.peer.address, %error, "connection ended");
        }
        shard.metrics().connections.sub(1);
    }

    async fn serve(&mut self) -> std::io::Result<()> {
        loop {
            let go_on = self.start_requests();
            self.flush().await?;
            if !go_on {
                return self.stream.shutdown().await;
            }
            match self.wait().await {
                Wake::Read(Ok(0)) => return Ok(()),
                Wake::Read(Ok(count)) => self.shard.metrics().bytes_read.add(count as u64),
                Wake::Read(Err(error)) => return Err(error),
                Wake::Done => self.take_finished(),
                Wake::Event(event) => self.announce(event),
                Wake::TooSlow => return Err(std::io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Starts every complete request in the buffer; `false` when the connection must close.
    fn start_requests(&mut self) -> bool {
        let limit = self.shard.shared.config.limits.in_flight_per_connection_max;
        while self.peer.in_flight.get() < limit && self.peer.outbox.borrow().len() < WRITE_BYTES {
            if self.peer.authenticated.take() {
                self.codec.authenticated();
            }
            let protocol = self.codec.protocol();
            match self.codec.next_envelope() {
                Ok(None) => break,
                Ok(Some(envelope)) => {
                    // The first request fixes the version of the connection.
                    let protocol = Protocol { version: envelope.version, ..protocol };
                    let head = Head { protocol, stream: envelope.stream, flags: envelope.flags };
                    match envelope.opcode {
                        Opcode::Startup => {
                            let outcome = startup::negotiate(&self.shard, &self.peer, head, &envelope);
                            self.startup(head, outcome);
                        }
                        Opcode::Options => startup::supported(&self.shard, &self.peer, head),
                        opcode => {
                            let request = Owned { head, opcode, body: envelope.body.into() };
                            self.start(request);
                        }
                    }
                }
                Err(refusal) => {
                    self.shard.metrics().error(refusal.error.kind.code());
                    refusal.encode(&mut self.peer.outbox.borrow_mut());
                    if refusal.close {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// STARTUP changes the framing, so answers before it go out in the old one.
    fn startup(&mut self, head: Head, outcome: Result<startup::Accepted, cql_wire::ErrorMessage>) {
        self.frame();
        match outcome {
            Ok(accepted) => {
                let authenticator = accepted.authenticator;
                self.codec.accept_startup(head.stream, accepted.negotiated, authenticator, &mut self.framed);
            }
            Err(error) => {
                self.codec.refuse_startup();
                self.shard.metrics().error(error.kind.code());
                let reply = Reply::new(head.protocol, head.stream);
                Response::Error(error).encode(&reply, &mut self.peer.outbox.borrow_mut());
            }
        }
    }

    /// Runs a request as far as it gets without waiting.
    fn start(&mut self, request: Owned) {
        let mut future: Pending = Box::pin(handle::run(self.shard.clone(), self.peer.clone(), request));
        let mut context = Context::from_waker(Waker::noop());
        if future.as_mut().poll(&mut context).is_pending() {
            self.pending.push(future);
        }
        self.subscribe();
    }

    /// Listens to events once the client has registered for some.
    fn subscribe(&mut self) {
        if self.events.is_none() && !self.peer.registered.get().is_empty() {
            self.events = Some(self.shard.shared.events.subscribe());
        }
    }

    /// Lets every request that can go on do so.
    fn take_finished(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(())) = self.pending.poll_next_unpin(&mut context) {}
        self.subscribe();
    }

    fn announce(&mut self, event: Event) {
        if self.peer.registered.get().contains(event.kind()) {
            let reply = Reply::new(self.codec.protocol(), cql_wire::EVENT_STREAM);
            Response::Event(event).encode(&reply, &mut self.peer.outbox.borrow_mut());
        }
    }

    /// Moves finished answers into the form the connection uses.
    fn frame(&mut self) {
        let mut outbox = self.peer.outbox.borrow_mut();
        if outbox.is_empty() {
            return;
        }
        let framing = self.codec.framing();
        if framing.is_plain() && self.framed.is_empty() {
            std::mem::swap(&mut *outbox, &mut self.framed);
        } else {
            framing.frame(&outbox, &mut self.framed);
        }
        outbox.clear();
    }

    async fn flush(&mut self) -> std::io::Result<()> {
        self.frame();
        if self.framed.is_empty() {
            return Ok(());
        }
        let write = async {
            self.stream.write_all(&self.framed).await?;
            self.stream.flush().await
        };
        tokio::time::timeout(WRITE_TIMEOUT, write).await??;
        self.shard.metrics().bytes_written.add(self.framed.len() as u64);
        self.framed.clear();
        // A page of megabytes should not stay allocated for a connection's lifetime.
        if self.framed.capacity() > 4 * WRITE_BYTES {
            self.framed = Vec::new();
        }
        Ok(())
    }

    /// Waits for bytes, a finished request or an event.
    async fn wait(&mut self) -> Wake {
        let limits = &self.shard.shared.config.limits;
        let may_read = self.peer.in_flight.get() < limits.in_flight_per_connection_max;
        let patience = match self.codec.stage() {
            Stage::Ready if self.codec.is_partial() => Some(limits.message_timeout),
            Stage::Ready => None,
            _ => Some(limits.handshake_timeout),
        };
        let event = async {
            match &mut self.events {
                None => std::future::pending().await,
                Some(events) => loop {
                    match events.recv().await {
                        Ok(event) => return event,
                        Err(broadcast::error::RecvError::Lagged(_)) => {}
                        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
                    }
                },
            }
        };
        let timeout = async {
            match patience {
                None => std::future::pending().await,
                Some(patience) => tokio::time::sleep(patience).await,
            }
        };
        let buffer = self.codec.receive_buffer();
        buffer.reserve(READ_BYTES);
        tokio::select! {
            biased;
            Some(()) = self.pending.next(), if !self.pending.is_empty() => Wake::Done,
            count = self.stream.read_buf(buffer), if may_read => Wake::Read(count),
            event = event => Wake::Event(event),
            () = timeout => Wake::TooSlow,
        }
    }
}
