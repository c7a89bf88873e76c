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
use std::io;
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
    /// What has arrived and is not served yet.
    buffer: Vec<u8>,
    out: Vec<u8>,
    /// Memory for a long request.
    room: Share,
    known: bool,
}

/// How far the request in the buffer has arrived.
enum Arrived {
    /// So many bytes will be enough to look again.
    Wanted(usize),
    /// The client waits for a word before it sends the body.
    Continue(usize),
    /// Bytes of the head, bytes of the body behind it, and the body itself if it was in chunks.
    Whole(usize, usize, Option<Vec<u8>>),
    TooLarge,
    Malformed,
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
        Connection { shard, peer, stream, buffer: Vec::new(), out: Vec::new(), room, known: false }
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
        while let Some((head, body, chunked)) = self.receive().await? {
            let keep = self.answer(head, body, chunked).await?;
            self.buffer.drain(..head + body);
            // A body of megabytes should not stay allocated for a connection's lifetime.
            if self.buffer.capacity() > BUFFER_BYTES_FREE {
                self.buffer.shrink_to(READ_BYTES);
            }
            self.room.shrink_to(0);
            if !keep {
                return self.stream.shutdown().await;
            }
        }
        Ok(())
    }

    /// Waits for a whole request; `None` when the client has left or must go.
    async fn receive(&mut self) -> io::Result<Option<(usize, usize, Option<Vec<u8>>)>> {
        let limits = &self.shard.shared.config.limits;
        let (head_patience, body_patience) = (limits.http_head_timeout, limits.message_timeout);
        let mut deadline = Instant::now() + if self.known { IDLE_MAX } else { limits.handshake_timeout };
        let mut begun = false;
        let mut in_body = false;
        loop {
            if !begun && !self.buffer.is_empty() {
                begun = true;
                deadline = Instant::now() + head_patience;
            }
            let wanted = match self.arrived(in_body) {
                Arrived::Whole(head, body, chunked) => return Ok(Some((head, body, chunked))),
                Arrived::Wanted(wanted) => wanted,
                Arrived::Continue(wanted) => {
                    self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
                    wanted
                }
                Arrived::TooLarge => return self.refuse(Reply::too_large()).await.map(|()| None),
                Arrived::Malformed => return self.refuse(Reply::malformed()).await.map(|()| None),
            };
            if wanted > HEAD_BYTES_MAX && !in_body {
                in_body = true;
                deadline = Instant::now() + body_patience;
            }
            if !self.has_room(wanted, deadline).await {
                self.shard.metrics().overloaded.add(1);
                return self.refuse(Reply::overloaded()).await.map(|()| None);
            }
            let read = tokio::time::timeout_at(deadline, self.read(wanted)).await;
            match read {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(count)) => self.shard.metrics().bytes_read.add(count as u64),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Reads what is there, as far as `wanted` bytes and a little more.
    async fn read(&mut self, wanted: usize) -> io::Result<usize> {
        let missing = wanted.saturating_sub(self.buffer.len());
        self.buffer.reserve(missing.max(READ_BYTES));
        self.stream.read_buf(&mut self.buffer).await
    }

    fn arrived(&self, in_body: bool) -> Arrived {
        if self.buffer.is_empty() {
            return Arrived::Wanted(1);
        }
        let head = match Head::parse(&self.buffer) {
            Ok(Some(head)) => head,
            Ok(None) => return Arrived::Wanted(self.buffer.len() + 1),
            Err(_) => return Arrived::Malformed,
        };
        let behind = self.buffer.len() - head.bytes;
        match head.body {
            Body::Length(length) if length > BODY_BYTES_MAX => Arrived::TooLarge,
            Body::Length(length) if behind >= length => Arrived::Whole(head.bytes, length, None),
            Body::Length(length) if head.expects_continue && behind == 0 && !in_body => {
                Arrived::Continue(head.bytes + length)
            }
            Body::Length(length) => Arrived::Wanted(head.bytes + length),
            Body::Chunked => match chunks(&self.buffer[head.bytes..], BODY_BYTES_MAX) {
                Ok(Chunks::Whole(body, bytes)) => Arrived::Whole(head.bytes, bytes, Some(body)),
                Ok(Chunks::More) if behind > 2 * BODY_BYTES_MAX => Arrived::TooLarge,
                Ok(Chunks::More) => Arrived::Wanted((self.buffer.len() + 1).max(2 * behind)),
                Ok(Chunks::TooLarge) => Arrived::TooLarge,
                Err(_) => Arrived::Malformed,
            },
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

    /// Answers the request at the front of the buffer; `false`: it was the last of this connection.
    async fn answer(&mut self, head: usize, body: usize, chunked: Option<Vec<u8>>) -> io::Result<bool> {
        let Some(request) = Head::parse(&self.buffer[..head]).ok().flatten() else { return Ok(false) };
        let body = match &chunked {
            Some(body) => body,
            None => &self.buffer[head..head + body],
        };
        let keep = request.keep_alive;
        let (reply, known) = service::answer(&self.shard, &self.peer, &request, body).await;
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
        reply.encode(keep, super::request_id(&self.shard), &mut self.out);
        let write = async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        };
        tokio::time::timeout(WRITE_TIMEOUT, write).await??;
        self.shard.metrics().bytes_written.add(self.out.len() as u64);
        if self.out.capacity() > BUFFER_BYTES_FREE {
            self.out = Vec::new();
        }
        Ok(())
    }
}
