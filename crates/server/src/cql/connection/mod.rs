//! One client connection: bytes in, requests under way, answers out.
//!
//! The loop reads whatever has arrived, serves every complete request as far as it gets without waiting (most reads
//! finish right there, see `at_once`), and writes all finished answers with one system call. Writes that wait for the
//! log stay in a queue, everything else that waits in a set of tasks; they answer when they are done, out of order, as
//! the protocol allows.
//! Bounded: requests under way per connection, bytes of requests and of answers under way per shard, time to finish a
//! handshake and a message.

mod at_once;
mod auth;
mod elsewhere;
mod handle;
mod long;
mod reply;
mod startup;
mod trace;
mod untimed;

pub use handle::Failure;
pub use startup::offered;

use self::at_once::{AtOnce, Begun};
use self::elsewhere::Outgoing;
use self::handle::{Head, Owned};
use self::long::LongAnswers;
use self::untimed::Untimed;
use crate::accept::Place;
use crate::cql::answers::{Quota, Room};
use crate::cql::clients::{Clients, Entry};
use crate::cql::statements::Statement;
use crate::metrics::Operation;
use crate::shard::Shard;
use crate::stream::Stream;
use cql::session::Session;
use cql_wire::{Event, EventKinds, Opcode, Protocol, Reply, Response, ServerCodec, Stage};
use futures_util::stream::{FuturesUnordered, StreamExt};
use rt::Share;
use rt::turn::Party;
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use store::Prompt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::broadcast;

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 16 << 10;
/// Answers are written out when this many bytes have gathered, even if more requests are waiting.
const WRITE_BYTES: usize = 256 << 10;
/// A client that does not take its answers for this long is cut off.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// What a connection may hold of requests without asking: most never have more.
const BUFFER_BYTES_FREE: usize = 64 << 10;
/// Who waits for memory looks again after this time.
const ROOM_PAUSE: Duration = Duration::from_millis(10);

/// Counts what is held of a message that has not arrived whole. `false`: there is no memory for more of it now.
fn has_room(codec: &ServerCodec, room: &mut Share) -> bool {
    let held = codec.memory_bytes();
    if held <= BUFFER_BYTES_FREE {
        room.shrink_to(0);
        return true;
    }
    // The buffer doubles when it is full.
    let wanted = 2 * held;
    match wanted.checked_sub(room.bytes()) {
        None | Some(0) => {
            room.shrink_to(wanted);
            true
        }
        Some(more) => room.grow(more),
    }
}

/// What requests of one connection share.
pub struct Peer {
    pub address: SocketAddr,
    pub session: RefCell<Session>,
    pub registered: Cell<EventKinds>,
    /// Plain envelopes of finished answers.
    pub outbox: RefCell<Vec<u8>>,
    /// Finished answers that are too long for it.
    pub long: LongAnswers,
    /// What it may hold for answers of reads, and what it holds for those in the outbox.
    pub quota: Quota,
    pub rooms: RefCell<Vec<Room>>,
    pub in_flight: Cell<usize>,
    pub throw_on_overload: Cell<bool>,
    pub lwt_mark: Cell<bool>,
    pub entry: Entry,
    /// Its place among the connections; its own once the client is known.
    pub place: Place,
    /// What STARTUP or AUTH_RESPONSE decided; the loop tells the codec.
    pub authenticated: Cell<bool>,
    /// Statements of no declared pattern that it was told of.
    pub warned: RefCell<HashSet<[u8; 16]>>,
}

impl Peer {
    /// Whether the client has yet to hear that the statement is of no declared pattern. Those that are refused hear it always.
    pub fn is_to_warn(&self, statement: &Statement) -> bool {
        let Some(undeclared) = &statement.prepared.undeclared else { return false };
        let warned = self.warned.borrow();
        !undeclared.refused && warned.len() < handle::WARNED_MAX && !warned.contains(&statement.prepared.id)
    }
}

type Pending = Pin<Box<dyn Future<Output = ()>>>;

/// Requests that are served at once between two looks at the clock.
const LOOKS: u32 = 16;

pub struct Connection {
    shard: Rc<Shard>,
    peer: Rc<Peer>,
    stream: Stream,
    codec: ServerCodec,
    pending: FuturesUnordered<Pending>,
    /// Writes on their way through the log, in its order.
    begun: VecDeque<Begun>,
    /// Reads for other shards that have not been sent yet.
    outgoing: Outgoing,
    /// Requests answered since the last write to the socket.
    answered: [u32; Operation::ALL.len()],
    /// Of which statements they were.
    times: Untimed,
    events: Option<broadcast::Receiver<Event>>,
    framed: Vec<u8>,
    /// As whom its requests stand in line.
    party: Party,
    /// Memory for a message that arrives in parts.
    room: Share,
    /// When the handshake, or the message that has begun to arrive, must be complete.
    deadline: Option<Instant>,
}

/// Counts a connection as long as it lives, however it ends.
struct Counted(Rc<Shard>);

impl Counted {
    fn enter(shard: &Rc<Shard>) -> Counted {
        shard.metrics().connections.add(1);
        shard.metrics().connections_total.add(1);
        Counted(shard.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics().connections.sub(1);
    }
}

/// How far the requests in the receive buffer got.
enum Started {
    /// As many as may be under way; a finished one or new bytes will wake the connection.
    All,
    /// The answers so far should be written first.
    Some,
    /// It has taken long: others have their turn first.
    Long,
    /// The connection must close.
    Refused,
}

enum Wake {
    Read(std::io::Result<usize>),
    Done,
    Logged,
    Event(Event),
    /// There may be memory now for the rest of a long message.
    Room,
    TooSlow,
}

impl Connection {
    pub fn new(shard: Rc<Shard>, stream: Stream, address: SocketAddr, place: Place) -> Connection {
        let codec = ServerCodec::new(shard.shared.config.limits.frame_bytes_max);
        let room = shard.shared.memory.nothing();
        let peer = Peer {
            address,
            session: RefCell::default(),
            registered: Cell::default(),
            outbox: RefCell::default(),
            long: LongAnswers::default(),
            quota: Quota::default(),
            rooms: RefCell::default(),
            in_flight: Cell::new(0),
            throw_on_overload: Cell::new(false),
            lwt_mark: Cell::new(false),
            entry: Clients::enter(&shard.shared, address, stream.tls()),
            place,
            authenticated: Cell::new(false),
            warned: RefCell::default(),
        };
        Connection {
            shard,
            peer: Rc::new(peer),
            stream,
            codec,
            pending: FuturesUnordered::new(),
            begun: VecDeque::new(),
            outgoing: Outgoing::default(),
            answered: Default::default(),
            times: Untimed::default(),
            events: None,
            framed: Vec::new(),
            party: Party::new(),
            room,
            deadline: None,
        }
    }

    /// Serves the client until it leaves or breaks the rules.
    pub async fn run(mut self) {
        let _counted = Counted::enter(&self.shard);
        if let Err(error) = self.serve().await {
            tracing::debug!(peer = %self.peer.address, %error, "connection ended");
        }
    }

    async fn serve(&mut self) -> std::io::Result<()> {
        loop {
            // Others have worked for long since the sockets were looked at: new requests can wait for that.
            if rt::turn::is_over() {
                tokio::task::yield_now().await;
            }
            let started = self.start_requests();
            self.flush().await?;
            match started {
                Started::All => {}
                // What is left arrived already: no more bytes may come to wake us.
                Started::Some => continue,
                Started::Long => {
                    tokio::task::yield_now().await;
                    continue;
                }
                Started::Refused => return self.stream.shutdown().await,
            }
            match self.wait().await {
                Wake::Read(Ok(0)) => return Ok(()),
                Wake::Read(Ok(count)) => self.shard.metrics().bytes_read.add(count as u64),
                Wake::Read(Err(error)) => return Err(error),
                Wake::Room => {}
                Wake::Done => self.take_finished(),
                Wake::Logged => self.answer_logged(),
                Wake::Event(event) => self.announce(event),
                Wake::TooSlow => return Err(std::io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Starts every complete request in the buffer, until the answers are a good deal to write.
    fn start_requests(&mut self) -> Started {
        let limit = self.shard.shared.config.limits.in_flight_per_connection_max;
        let arrived = Instant::now();
        let mut started = Started::All;
        let counted = rt::turn::spent();
        let mut looks = 0;
        while self.peer.in_flight.get() < limit {
            looks += 1;
            // A look at the clock costs little, but not nothing.
            if looks > LOOKS {
                if arrived.elapsed() > handle::TURN || rt::turn::is_over() {
                    started = Started::Long;
                    break;
                }
                looks = 0;
            }
            if self.peer.outbox.borrow().len() >= WRITE_BYTES || !self.peer.long.is_empty() {
                started = Started::Some;
                break;
            }
            if self.peer.authenticated.take() {
                self.codec.authenticated();
                self.deadline = None;
            }
            let protocol = self.codec.protocol();
            let ready = self.codec.stage() == Stage::Ready;
            match self.codec.next_envelope() {
                Ok(None) => break,
                Ok(Some(envelope)) => {
                    if ready {
                        self.deadline = None;
                        self.peer.entry.client.requests.add(1);
                    }
                    // The first request fixes the version of the connection.
                    let protocol = Protocol { version: envelope.version, ..protocol };
                    let head = Head { protocol, stream: envelope.stream, flags: envelope.flags };
                    match envelope.opcode {
                        Opcode::Startup => {
                            let outcome = startup::negotiate(&self.shard, &self.peer, head, &envelope);
                            self.startup(head, outcome);
                        }
                        Opcode::Options => startup::supported(&self.shard, &self.peer, head),
                        opcode => match at_once::serve(&self.shard, &self.peer, head, &envelope, arrived) {
                            AtOnce::Answered(operation, statement) => {
                                self.answered[operation as usize] += 1;
                                self.times.note(statement);
                            }
                            AtOnce::Begun(begun) => self.begun.push_back(begun),
                            AtOnce::Elsewhere(leaving) => {
                                self.outgoing.put(&self.shard, &self.peer, leaving);
                                if self.outgoing.is_full() {
                                    self.send_outgoing();
                                }
                            }
                            AtOnce::Waits(future) => self.push(future),
                            AtOnce::NotYet => {
                                let request = Owned { head, opcode, body: self.codec.take_body() };
                                self.start(request);
                                looks += LOOKS;
                            }
                        },
                    }
                }
                Err(refusal) => {
                    self.shard.metrics().error(refusal.error.kind.code());
                    refusal.encode(&mut self.peer.outbox.borrow_mut());
                    if refusal.close {
                        return Started::Refused;
                    }
                }
            }
        }
        self.send_outgoing();
        if matches!(started, Started::Long) || self.answered.iter().any(|&count| count > 0) {
            let elapsed = arrived.elapsed();
            // Some of the work has counted itself.
            rt::turn::worked(elapsed.saturating_sub(rt::turn::spent().saturating_sub(counted)));
            self.record_answered(elapsed);
        }
        started
    }

    /// One look at the clock for all requests that were answered together.
    fn record_answered(&mut self, elapsed: Duration) {
        let micros = elapsed.as_micros() as u64;
        for ((operation, _), count) in Operation::ALL.iter().zip(&mut self.answered) {
            self.shard.metrics().record_many(*operation, micros, u64::from(std::mem::take(count)));
        }
        self.times.took(micros);
    }

    /// STARTUP changes the framing, so answers before it go out in the old one.
    fn startup(&mut self, head: Head, outcome: Result<startup::Accepted, cql_wire::ErrorMessage>) {
        self.frame();
        match outcome {
            Ok(accepted) => {
                self.deadline = None;
                let authenticator = accepted.authenticator;
                self.peer.entry.client.started(head.protocol.version as u8, authenticator.is_some());
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

    /// Sends the reads that other shards are to execute.
    fn send_outgoing(&mut self) {
        let (shard, peer) = (self.shard.clone(), self.peer.clone());
        let mut outgoing = std::mem::take(&mut self.outgoing);
        outgoing.send(&shard, &peer, self.party, |parcel| self.push(parcel));
        self.outgoing = outgoing;
    }

    /// Runs a request as far as it gets without waiting.
    fn start(&mut self, request: Owned) {
        let work = handle::run(self.shard.clone(), self.peer.clone(), request);
        self.push(Box::pin(rt::turn::paced(self.party, work)));
        self.subscribe();
    }

    /// Lets a request get as far as it can without waiting, and keeps the rest.
    fn push(&mut self, mut future: Pending) {
        let mut context = Context::from_waker(Waker::noop());
        if future.as_mut().poll(&mut context).is_pending() {
            self.pending.push(future);
        }
    }

    /// Listens to events once the client has registered for some.
    fn subscribe(&mut self) {
        if self.events.is_none() && !self.peer.registered.get().is_empty() {
            self.events = Some(self.shard.shared.cql.events.subscribe());
        }
    }

    /// Lets every request that can go on do so, until the answers are a good deal to write.
    fn take_finished(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while self.peer.outbox.borrow().len() < WRITE_BYTES
            && self.peer.long.is_empty()
            && let Poll::Ready(Some(())) = self.pending.poll_next_unpin(&mut context)
        {}
        self.subscribe();
    }

    /// Answers the writes that the log has made safe.
    fn answer_logged(&mut self) {
        let now = Instant::now();
        while let Some(first) = self.begun.front()
            && let Some(outcome) = self.shard.dialect.store.outcome_of(first.number)
            && let Some(begun) = self.begun.pop_front()
        {
            begun.finish(&self.shard, &self.peer, outcome, now);
        }
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
        if self.framed.is_empty() && self.peer.long.is_empty() {
            return Ok(());
        }
        // The room of what is written now; answers that are finished meanwhile bring their own.
        let rooms = std::mem::take(&mut *self.peer.rooms.borrow_mut());
        if !self.framed.is_empty() {
            let (stream, framed) = (&mut self.stream, &self.framed);
            let write = tokio::time::timeout(WRITE_TIMEOUT, async {
                stream.write_all(framed).await?;
                stream.flush().await
            });
            long::beside(&mut self.pending, write).await??;
            self.shard.metrics().bytes_written.add(self.framed.len() as u64);
            self.framed.clear();
        }
        while let Some(answer) = self.peer.long.pop() {
            let sending = answer.send(self.codec.framing(), &mut self.stream);
            let sent = long::beside(&mut self.pending, sending).await?;
            self.shard.metrics().bytes_written.add(sent);
        }
        drop(rooms);
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
        // Gives back what a long message needed, before it is counted.
        self.codec.receive_buffer();
        let has_room = has_room(&self.codec, &mut self.room);
        let patience = match self.codec.stage() {
            Stage::Ready if self.codec.is_partial() => Some(limits.message_timeout),
            Stage::Ready => None,
            _ => Some(limits.handshake_timeout),
        };
        // Kept while the same message trickles in, so that a byte now and then buys no more time.
        self.deadline = patience.map(|patience| self.deadline.unwrap_or_else(|| Instant::now() + patience));
        let deadline = self.deadline;
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
        // Made only when it is waited for: a timer costs more than a look at the buffer.
        let room = async { tokio::time::sleep(ROOM_PAUSE).await };
        let timeout = async {
            match deadline {
                None => std::future::pending().await,
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            }
        };
        let buffer = self.codec.receive_buffer();
        buffer.reserve(READ_BYTES);
        let first = self.begun.front().map(|begun| begun.number);
        let store = &self.shard.dialect.store;
        let logged = poll_fn(|context| match first {
            Some(number) => store.poll_outcome(number, context).map(drop),
            None => Poll::Pending,
        });
        tokio::select! {
            biased;
            () = logged, if first.is_some() => Wake::Logged,
            Some(()) = self.pending.next(), if !self.pending.is_empty() => Wake::Done,
            count = self.stream.read_buf(buffer), if may_read && has_room => Wake::Read(count),
            () = room, if !has_room => Wake::Room,
            event = event => Wake::Event(event),
            () = timeout => Wake::TooSlow,
        }
    }
}
