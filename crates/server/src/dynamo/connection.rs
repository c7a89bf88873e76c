//! One client of the DynamoDB API: requests in, one at a time, answers out, over HTTP/1.1 that is kept alive.
//!
//! Bounded: the head, the body (counted against the server's memory before it is read), how long either may take, and how long an
//! idle connection stays. A request that has begun is finished even if its client leaves.

use super::head::{Body, Chunks, HEAD_BYTES_MAX, Head, chunks};
use super::reply::Reply;
use super::service;
use crate::accept::Place;
use crate::shard::Shard;
use crate::stream::Stream;
use rt::Share;
use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// Longest body, as the service has it.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 16 << 10;
/// What a connection may hold of requests without asking: most never have more.
const BUFFER_BYTES_FREE: usize = 64 << 10;
/// A body up to this is copied behind its head: cheaper than two pieces for the socket.
const BODY_BYTES_COPIED: usize = 4 << 10;
/// Who waits for memory looks again after this time.
const ROOM_PAUSE: Duration = Duration::from_millis(10);
/// SDKs keep connections for a minute or so; a forgotten one need not stay for ever.
const IDLE_MAX: Duration = Duration::from_secs(15 * 60);
/// A client that does not take its answers for this long is cut off.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// What the requests of one connection share.
pub struct Peer {
    pub address: SocketAddr,
    pub place: Place,
}

pub struct Connection {
    shard: Rc<Shard>,
    peer: Peer,
    stream: Stream,
    out: Vec<u8>,
    /// Memory for a long request.
    room: Share,
    known: bool,
}

/// How far the request at the front of the buffer has arrived.
enum Arrived<'b> {
    /// So many bytes will be enough to look again.
    Wanted(usize),
    /// The client waits for a word before it sends the body.
    Continue(usize),
    Whole(Received<'b>),
    TooLarge,
    Malformed,
}

/// A whole request, where it lies in the buffer.
struct Received<'b> {
    head: Head<'b>,
    body: Cow<'b, [u8]>,
    /// Of head and body, as they arrived.
    bytes: usize,
}

/// How long the client may still take for the request that it sends.
struct Patience {
    deadline: Instant,
    begun: bool,
    in_body: bool,
}

/// Counts a connection as long as it lives, however it ends.
struct Counted(Rc<Shard>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics().connections.sub(1);
    }
}

impl Connection {
    pub fn new(shard: Rc<Shard>, stream: Stream, address: SocketAddr, place: Place) -> Connection {
        let room = shard.shared.memory.nothing();
        let peer = Peer { address, place };
        Connection { shard, peer, stream, out: Vec::new(), room, known: false }
    }

    /// Serves the client until it leaves or breaks the rules.
    pub async fn run(mut self) {
        self.shard.metrics().connections.add(1);
        self.shard.metrics().connections_total.add(1);
        let _counted = Counted(self.shard.clone());
        if let Err(error) = self.serve().await {
            tracing::debug!(peer = %self.peer.address, %error, "connection ended");
        }
    }

    async fn serve(&mut self) -> io::Result<()> {
        // What has arrived and is not served yet. A head is read once, where it lies, if the request is whole by then.
        let mut buffer = Vec::new();
        let mut patience = self.patience();
        loop {
            if !patience.begun && !buffer.is_empty() {
                patience.begun = true;
                patience.deadline = Instant::now() + self.shard.shared.config.limits.http_head_timeout;
            }
            let wanted = match arrived(&buffer, patience.in_body) {
                Arrived::Whole(request) => {
                    let bytes = request.bytes;
                    let keep = self.answer(request).await?;
                    buffer.drain(..bytes);
                    // A body of megabytes should not stay allocated for a connection's lifetime.
                    if buffer.capacity() > BUFFER_BYTES_FREE {
                        buffer.shrink_to(READ_BYTES);
                    }
                    self.room.shrink_to(0);
                    if !keep {
                        return self.stream.shutdown().await;
                    }
                    patience = self.patience();
                    continue;
                }
                Arrived::Wanted(wanted) => wanted,
                Arrived::Continue(wanted) => {
                    self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
                    wanted
                }
                Arrived::TooLarge => return self.refuse(Reply::too_large()).await,
                Arrived::Malformed => return self.refuse(Reply::malformed()).await,
            };
            if !self.receive(&mut buffer, wanted, &mut patience).await? {
                return Ok(());
            }
        }
    }

    fn patience(&self) -> Patience {
        let limits = &self.shard.shared.config.limits;
        let deadline = Instant::now() + if self.known { IDLE_MAX } else { limits.handshake_timeout };
        Patience { deadline, begun: false, in_body: false }
    }

    /// Waits for more bytes of a request; `false` when the client has left or must go.
    async fn receive(
        &mut self,
        buffer: &mut Vec<u8>,
        wanted: usize,
        patience: &mut Patience,
    ) -> io::Result<bool> {
        if wanted > HEAD_BYTES_MAX && !patience.in_body {
            patience.in_body = true;
            patience.deadline = Instant::now() + self.shard.shared.config.limits.message_timeout;
        }
        if !self.has_room(wanted, patience.deadline).await {
            self.shard.metrics().overloaded.add(1);
            return self.refuse(Reply::overloaded()).await.map(|()| false);
        }
        // What is there, as far as `wanted` bytes and a little more.
        let missing = wanted.saturating_sub(buffer.len());
        buffer.reserve(missing.max(READ_BYTES));
        match tokio::time::timeout_at(patience.deadline, self.stream.read_buf(buffer)).await {
            Ok(Ok(0)) => Ok(false),
            Ok(Ok(count)) => {
                self.shard.metrics().bytes_read.add(count as u64);
                Ok(true)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Takes memory for a request of so many bytes, waiting for it if need be.
    async fn has_room(&mut self, wanted: usize, deadline: Instant) -> bool {
        if wanted <= BUFFER_BYTES_FREE {
            return true;
        }
        // Once as it arrives, and once more for what parsing makes of it.
        let Some(more) = (2 * wanted).checked_sub(self.room.bytes()) else { return true };
        while !self.room.grow(more) {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(ROOM_PAUSE).await;
        }
        true
    }

    async fn refuse(&mut self, reply: Reply) -> io::Result<()> {
        self.send(reply, false).await?;
        self.stream.shutdown().await
    }

    /// Answers a request; `false`: it was the last of this connection.
    async fn answer(&mut self, request: Received<'_>) -> io::Result<bool> {
        let keep = request.head.keep_alive;
        let (reply, known) = service::answer(&self.shard, &self.peer, &request.head, &request.body).await;
        if known && !self.known {
            self.known = true;
            if !self.peer.place.settle() {
                return Ok(false);
            }
        }
        self.send(reply, keep).await?;
        Ok(keep)
    }

    async fn send(&mut self, reply: Reply, keep: bool) -> io::Result<()> {
        self.out.clear();
        reply.encode_head(keep, super::request_id(&self.shard), &mut self.out);
        let bytes = self.out.len() + reply.body.len();
        // A short body goes behind its head; a long one is sent from where it is.
        let apart = reply.body.len() > BODY_BYTES_COPIED;
        if !apart {
            self.out.extend_from_slice(&reply.body);
        }
        let write = async {
            match apart {
                false => self.stream.write_all(&self.out).await?,
                true => {
                    let mut parts = [IoSlice::new(&self.out), IoSlice::new(&reply.body)];
                    let mut parts = &mut parts[..];
                    while !parts.is_empty() {
                        match self.stream.write_vectored(parts).await? {
                            0 => return Err(io::ErrorKind::WriteZero.into()),
                            written => IoSlice::advance_slices(&mut parts, written),
                        }
                    }
                }
            }
            self.stream.flush().await
        };
        tokio::time::timeout(WRITE_TIMEOUT, write).await??;
        self.shard.metrics().bytes_written.add(bytes as u64);
        self.shard.dynamo.take_back(reply.body);
        if self.out.capacity() > BUFFER_BYTES_FREE {
            self.out = Vec::new();
        }
        Ok(())
    }
}

fn arrived(buffer: &[u8], in_body: bool) -> Arrived<'_> {
    if buffer.is_empty() {
        return Arrived::Wanted(1);
    }
    let head = match Head::parse(buffer) {
        Ok(Some(head)) => head,
        Ok(None) => return Arrived::Wanted(buffer.len() + 1),
        Err(_) => return Arrived::Malformed,
    };
    let (start, behind) = (head.bytes, buffer.len() - head.bytes);
    match head.body {
        Body::Length(length) if length > BODY_BYTES_MAX => Arrived::TooLarge,
        Body::Length(length) if behind >= length => {
            let bytes = start + length;
            Arrived::Whole(Received { head, body: Cow::Borrowed(&buffer[start..bytes]), bytes })
        }
        Body::Length(length) if head.expects_continue && behind == 0 && !in_body => {
            Arrived::Continue(start + length)
        }
        Body::Length(length) => Arrived::Wanted(start + length),
        Body::Chunked => match chunks(&buffer[start..], BODY_BYTES_MAX) {
            Ok(Chunks::Whole(body, bytes)) => {
                Arrived::Whole(Received { head, body: Cow::Owned(body), bytes: start + bytes })
            }
            Ok(Chunks::More) if behind > 2 * BODY_BYTES_MAX => Arrived::TooLarge,
            Ok(Chunks::More) => Arrived::Wanted((buffer.len() + 1).max(2 * behind)),
            Ok(Chunks::TooLarge) => Arrived::TooLarge,
            Err(_) => Arrived::Malformed,
        },
    }
}
