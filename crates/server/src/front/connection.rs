//! The loop of one client of a front end: bytes in, requests on their way, answers out.

use super::FrontShard;
use super::login;
use super::peer::Peer;
use super::request;
use crate::accept::Place;
use crate::stream::Stream;
use cluster::Heard;
use cql_wire::{
    Envelope, ErrorKind, ErrorMessage, Event, EventKind, Opcode, Reply, Request, Response, ServerCodec,
    Stage, Version,
};
use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, broadcast};

const READ_BYTES: usize = 16 << 10;
/// A client that has so much to take yet is not read from.
const OUTBOX_BYTES_MAX: usize = 4 << 20;
/// Buffers beyond this are given back.
const KEEP_BYTES: usize = 1 << 20;
/// A client that does not take its answers for this long is cut off.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Connection {
    peer: Rc<Peer>,
    stream: Stream,
    codec: ServerCodec,
    framed: Vec<u8>,
    plain: Vec<u8>,
    events: Option<broadcast::Receiver<Heard>>,
    deadline: Option<Instant>,
}

/// Tells the answers that are still to come that nobody waits for them.
struct Leaving(Rc<Peer>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let peer = &self.0;
        peer.gone.set(true);
        let held = &peer.shard.held;
        held.set(held.get().saturating_sub(peer.outbox.borrow().len()));
        peer.lane.borrow_mut().take();
        peer.other.borrow_mut().take();
        peer.shard.counters().connections.subtract(1);
    }
}

/// A request that ends the connection's beginning, kept while its answer is awaited.
enum Beginning {
    Startup { version: Version, stream: i16, flags: u8, body: Vec<u8> },
    Auth { version: Version, stream: i16, token: Vec<u8> },
}

impl Connection {
    pub fn new(shard: Rc<FrontShard>, stream: Stream, address: SocketAddr, place: Place) -> Connection {
        let codec = ServerCodec::new(shard.shared.limits().frame_bytes_max);
        let peer = Rc::new_cyclic(|itself| Peer {
            shard,
            address,
            place,
            version: Cell::new(Version::NEWEST),
            outbox: RefCell::default(),
            wake: Notify::new(),
            in_flight: Cell::new(0),
            lane: RefCell::default(),
            other: RefCell::default(),
            registered: Cell::default(),
            gone: Cell::new(false),
            itself: itself.clone(),
        });
        let (framed, plain) = (Vec::new(), Vec::new());
        Connection { peer, stream, codec, framed, plain, events: None, deadline: None }
    }

    pub async fn run(mut self) {
        self.peer.shard.counters().connections.add(1);
        let _leaving = Leaving(self.peer.clone());
        if let Err(error) = self.serve().await {
            tracing::debug!(peer = %self.peer.address, %error, "connection ended");
        }
    }

    async fn serve(&mut self) -> io::Result<()> {
        loop {
            let goes_on = self.start_requests().await;
            self.flush().await?;
            if !goes_on {
                return self.stream.shutdown().await;
            }
            if self.events.is_none() && !self.peer.registered.get().is_empty() {
                self.events = Some(self.peer.shard.shared.events.subscribe());
            }
            self.wait().await?;
        }
    }

    /// Serves every whole request that has arrived. `false`: the connection must end.
    async fn start_requests(&mut self) -> bool {
        let limit = self.peer.shard.shared.limits().in_flight_per_connection_max;
        while self.peer.in_flight.get() < limit && self.peer.outbox.borrow().len() < OUTBOX_BYTES_MAX {
            let stage = self.codec.stage();
            let beginning = match self.codec.next_envelope() {
                Ok(None) => return true,
                Ok(Some(envelope)) => {
                    self.peer.version.set(envelope.version);
                    if stage == Stage::Ready {
                        self.deadline = None;
                    }
                    match envelope.opcode {
                        Opcode::Options => {
                            let supported = self.peer.shard.supported().to_vec();
                            self.peer.put(envelope.stream, &Response::Supported(supported.into()));
                            continue;
                        }
                        _ if stage == Stage::Ready => {
                            request::serve(&self.peer, &envelope);
                            continue;
                        }
                        _ => beginning(&self.peer, &envelope),
                    }
                }
                Err(refusal) => {
                    self.peer.shard.counters().errors.add(1);
                    self.peer.append(|out| refusal.encode(out));
                    if refusal.close {
                        return false;
                    }
                    continue;
                }
            };
            if let Some(beginning) = beginning {
                self.begin(beginning).await;
            }
        }
        true
    }

    /// STARTUP and login wait for the cluster; nothing else is allowed on the connection meanwhile.
    async fn begin(&mut self, beginning: Beginning) {
        let patience = self.peer.shard.shared.limits().handshake_timeout;
        let late =
            || ErrorMessage::new(ErrorKind::Server, "The cluster did not let this front end in in time");
        match beginning {
            Beginning::Startup { version, stream, flags, body } => {
                let envelope = Envelope { version, flags, stream, opcode: Opcode::Startup, body: &body };
                let accepted = tokio::time::timeout(patience, login::startup(&self.peer, &envelope)).await;
                // STARTUP changes the framing, so answers before it go out in the old one.
                self.frame();
                match accepted.unwrap_or_else(|_| Err(late())) {
                    Ok(accepted) => {
                        self.deadline = None;
                        let login::Accepted { negotiated, authenticator } = accepted;
                        self.codec.accept_startup(stream, negotiated, authenticator, &mut self.framed);
                    }
                    Err(error) => {
                        self.codec.refuse_startup();
                        self.peer.fail(stream, error);
                    }
                }
            }
            Beginning::Auth { version, stream, token } => {
                let entered =
                    tokio::time::timeout(patience, login::respond(&self.peer, version, &token)).await;
                match entered.unwrap_or_else(|_| Err(late())) {
                    Ok(()) => {
                        self.deadline = None;
                        self.codec.authenticated();
                        self.peer.put(stream, &Response::AuthSuccess(None));
                    }
                    Err(error) => self.peer.fail(stream, error),
                }
            }
        }
    }

    /// Moves finished answers into the form that the connection uses.
    fn frame(&mut self) {
        std::mem::swap(&mut self.plain, &mut *self.peer.outbox.borrow_mut());
        let held = &self.peer.shard.held;
        held.set(held.get().saturating_sub(self.plain.len()));
        self.codec.framing().frame(&self.plain, &mut self.framed);
        self.plain.clear();
        if self.plain.capacity() > KEEP_BYTES {
            self.plain = Vec::new();
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.frame();
        if self.framed.is_empty() {
            return Ok(());
        }
        let (stream, framed) = (&mut self.stream, &self.framed);
        tokio::time::timeout(WRITE_TIMEOUT, async {
            stream.write_all(framed).await?;
            stream.flush().await
        })
        .await??;
        self.framed.clear();
        if self.framed.capacity() > KEEP_BYTES {
            self.framed = Vec::new();
        }
        Ok(())
    }

    /// Waits for bytes, answers or an event.
    async fn wait(&mut self) -> io::Result<()> {
        let limits = self.peer.shard.shared.limits();
        let may_read = self.peer.in_flight.get() < limits.in_flight_per_connection_max
            && self.peer.outbox.borrow().len() < OUTBOX_BYTES_MAX;
        let patience = match self.codec.stage() {
            Stage::Ready if self.codec.is_partial() && may_read => Some(limits.message_timeout),
            Stage::Ready => None,
            _ => Some(limits.handshake_timeout),
        };
        // Kept while the same message trickles in, so that a byte now and then buys no more time.
        self.deadline = patience.map(|patience| self.deadline.unwrap_or_else(|| Instant::now() + patience));
        let deadline = self.deadline;
        let timeout = async {
            match deadline {
                None => std::future::pending().await,
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            }
        };
        let event = async {
            match &mut self.events {
                None => std::future::pending().await,
                Some(events) => events.recv().await,
            }
        };
        let buffer = self.codec.receive_buffer();
        buffer.reserve(READ_BYTES);
        tokio::select! {
            biased;
            () = self.peer.wake.notified() => Ok(()),
            count = self.stream.read_buf(buffer), if may_read => match count? {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(()),
            },
            event = event => self.announce(event),
            () = timeout => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    fn announce(&mut self, event: Result<Heard, broadcast::error::RecvError>) -> io::Result<()> {
        match event {
            Ok(Heard::Schema(change)) => {
                if self.peer.registered.get().contains(EventKind::SchemaChange) {
                    let reply = Reply::new(self.peer.protocol(), cql_wire::EVENT_STREAM);
                    self.peer.append(|out| Response::Event(Event::Schema(change)).encode(&reply, out));
                }
                Ok(())
            }
            // The client believes that it hears of every change. It looks at the schema again when it connects again.
            Ok(Heard::Gap) | Err(broadcast::error::RecvError::Lagged(_)) => {
                Err(io::Error::other("schema changes were missed; the client must look again"))
            }
            Err(broadcast::error::RecvError::Closed) => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

/// What of an envelope is needed while its answer is awaited; answers what does not belong here.
fn beginning(peer: &Peer, envelope: &Envelope<'_>) -> Option<Beginning> {
    let Envelope { version, stream, flags, body, .. } = *envelope;
    if envelope.opcode == Opcode::Startup {
        return Some(Beginning::Startup { version, stream, flags, body: body.to_vec() });
    }
    match Request::decode(peer.protocol(), envelope) {
        Ok(Request::AuthResponse(token)) => {
            Some(Beginning::Auth { version, stream, token: token.unwrap_or_default().to_vec() })
        }
        Ok(_) => {
            peer.fail(stream, ErrorMessage::new(ErrorKind::Protocol, "Unexpected message"));
            None
        }
        Err(error) => {
            peer.fail(stream, ErrorMessage::new(ErrorKind::Protocol, error.to_string()));
            None
        }
    }
}
