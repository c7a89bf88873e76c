//! Answers that are too long to be copied, framed or sent in one go while others wait for the shard.
//!
//! The rows stay where they were collected. They leave in pieces, and between two pieces others have their turn. Clients tell
//! answers apart by their streams, so a long one need not keep its place among the short ones.

use super::{Pending, WRITE_TIMEOUT};
use crate::stream::Stream;
use cql_wire::{Framing, PIECE_BYTES};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::time::Instant;
use tokio::io::AsyncWriteExt;

/// Rows above this are a long answer.
pub const LONG_BYTES: usize = 256 << 10;

/// What is framed and sent between two looks at the clock: at most about a millisecond, even with compression.
const SENT_BYTES: usize = 4 * PIECE_BYTES;

/// One answer: an envelope up to its rows, and the rows.
pub struct Long {
    pub head: Vec<u8>,
    pub rows: Vec<u8>,
}

/// The long answers that a connection has yet to send.
#[derive(Default)]
pub struct LongAnswers(RefCell<VecDeque<Long>>);

impl LongAnswers {
    pub fn put(&self, long: Long) {
        self.0.borrow_mut().push_back(long);
    }

    pub fn put_all(&self, all: Vec<Long>) {
        self.0.borrow_mut().extend(all);
    }

    pub fn pop(&self) -> Option<Long> {
        self.0.borrow_mut().pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Takes those back that were put after the first `count`.
    pub fn take_after(&self, count: usize) -> Vec<Long> {
        self.0.borrow_mut().drain(count..).collect()
    }
}

impl Long {
    /// Sends the answer; how many bytes went to the socket.
    pub async fn send(self, framing: Framing, stream: &mut Stream) -> io::Result<u64> {
        tokio::time::timeout(WRITE_TIMEOUT, async {
            let sent = match framing.compresses_whole() {
                true => self.send_compressed(framing, stream).await?,
                false => self.send_pieces(framing, stream).await?,
            };
            stream.flush().await?;
            Ok(sent)
        })
        .await?
    }

    /// Old protocols compress an answer as a whole, which takes a millisecond for each megabyte or two: not on this thread.
    async fn send_compressed(self, framing: Framing, stream: &mut Stream) -> io::Result<u64> {
        let framed = rt::aside(move || {
            let mut whole = self.head;
            whole.extend_from_slice(&self.rows);
            drop(self.rows);
            let mut framed = Vec::new();
            framing.frame(&whole, &mut framed);
            framed
        });
        let framed = framed.await;
        for piece in framed.chunks(SENT_BYTES) {
            send(piece, stream).await?;
        }
        Ok(framed.len() as u64)
    }

    async fn send_pieces(mut self, framing: Framing, stream: &mut Stream) -> io::Result<u64> {
        // Pieces are whole segments, so the first takes the head along.
        let first = SENT_BYTES.saturating_sub(self.head.len()).min(self.rows.len());
        self.head.extend_from_slice(&self.rows[..first]);
        let mut sent = 0;
        let mut framed = Vec::new();
        for piece in std::iter::once(&*self.head).chain(self.rows[first..].chunks(SENT_BYTES)) {
            if framing.has_segments() {
                framed.clear();
                framing.frame_piece(piece, &mut framed);
                send(&framed, stream).await?;
                sent += framed.len() as u64;
            } else {
                send(piece, stream).await?;
                sent += piece.len() as u64;
            }
        }
        Ok(sent)
    }
}

/// Sends a piece, then lets others have their turn if the thread has worked for one.
async fn send(piece: &[u8], stream: &mut Stream) -> io::Result<()> {
    let began = Instant::now();
    stream.write_all(piece).await?;
    rt::turn::worked(began.elapsed());
    if rt::turn::is_over() {
        rt::turn::give_way().await;
    }
    Ok(())
}

/// Waits for `work` while the requests of the connection go on: a client that takes no answers must not hold up others, and its
/// requests under way have locks and room that others wait for. No new ones are started, so what they answer is bounded.
pub async fn beside<T>(pending: &mut FuturesUnordered<Pending>, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(()) = pending.next(), if !pending.is_empty() => {}
        }
    }
}
