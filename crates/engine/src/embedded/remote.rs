//! Reads of partitions that another shard owns.

use super::EmbeddedStore;
use super::chunk::{ChunkWriter, Replay};
use crate::shard::{Errand, Shard};
use std::time::Duration;
use store::{Ahead, AheadMax, Partitions, Position, Read, ReadEnd, ReadOutcome, Sink, StoreError};
use tokio::sync::oneshot;

/// The first piece is small, because most reads want few rows; later ones grow.
const CHUNK_BYTES_FIRST: usize = 32 << 10;
const CHUNK_BYTES_MAX: usize = 512 << 10;

/// About how long reading a byte of a piece takes; and how long a piece takes that ends because it has looked at enough.
const BYTE_NANOS: u64 = 2;
const PAUSE_NANOS: u64 = 1_000_000;

/// Some rows of a read.
struct Piece {
    bytes: Vec<u8>,
    /// Where it is full.
    full_at: Option<Position>,
    outcome: ReadOutcome,
}

impl Piece {
    fn read(shard: &Shard, read: &Read, mut writer: ChunkWriter) -> Result<Piece, StoreError> {
        let outcome = shard.read(read, &mut writer)?;
        let (bytes, full_at) = writer.finish();
        Ok(Piece { bytes, full_at, outcome })
    }

    fn nanos(&self) -> u64 {
        let paused = matches!(self.outcome.end, ReadEnd::Paused(_));
        BYTE_NANOS * self.bytes.len() as u64 + if paused { PAUSE_NANOS } else { 0 }
    }
}

/// The first rows of a partition, as they came from its shard.
struct Fetched(Piece);

impl Ahead for Fetched {
    fn bytes(&self) -> usize {
        self.0.bytes.len()
    }

    fn play(self: Box<Self>, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        let Piece { bytes, full_at, outcome } = self.0;
        let mut replay = Replay::new(sink);
        let goes_on = replay.play(&bytes).ok_or_else(malformed)?;
        let end = match (goes_on, outcome.end, full_at) {
            (false, ..) => ReadEnd::Stopped,
            (true, ReadEnd::Stopped, Some(full_at)) => match replay.next_after(full_at) {
                Some(after) => ReadEnd::Paused(after),
                None => ReadEnd::Stopped,
            },
            (true, end, _) => end,
        };
        Ok(ReadOutcome { end, tombstones: outcome.tombstones })
    }
}

fn malformed() -> StoreError {
    StoreError::Io { context: "rows from another shard are malformed".into() }
}

impl EmbeddedStore {
    /// One message to every shard that owns some of the partitions.
    pub(super) async fn read_pieces(
        &self,
        reads: Vec<Read>,
        max: AheadMax,
    ) -> Result<Vec<Option<Box<dyn Ahead>>>, StoreError> {
        let mut pieces: Vec<Option<Box<dyn Ahead>>> = reads.iter().map(|_| None).collect();
        let mut by_owner: Vec<Vec<(usize, Read)>> = vec![Vec::new(); self.shards()];
        for (place, read) in reads.into_iter().enumerate() {
            let Partitions::One(key) = &read.partitions else { continue };
            let owner = self.shard.owner_of(key);
            if let (true, Some(reads)) = (owner != self.shard.index, by_owner.get_mut(owner)) {
                reads.push((place, read));
            }
        }
        let mut asked = Vec::new();
        for (owner, reads) in by_owner.into_iter().enumerate().filter(|(_, reads)| !reads.is_empty()) {
            if self.only_here.get() {
                return std::future::pending().await;
            }
            reads.iter().for_each(|_| self.count(false));
            asked.push(self.ask_in_passing(owner, move |shard| read_each(shard, reads, max))?);
        }
        for answer in asked {
            for (place, piece) in answer.await.map_err(|_| StoreError::Closed)? {
                if let Some(slot) = pieces.get_mut(place) {
                    *slot = Some(Box::new(Fetched(piece?)));
                }
            }
        }
        Ok(pieces)
    }

    pub(super) async fn read_remote(
        &self,
        owner: usize,
        read: &Read,
        sink: &mut dyn Sink,
    ) -> Result<ReadOutcome, StoreError> {
        let mut replay = Replay::new(sink);
        let mut read = read.clone();
        let mut tombstones = 0;
        let mut bytes_max = CHUNK_BYTES_FIRST;
        loop {
            let wanted = read.clone();
            // The first piece of a partition is short, so it needs no task of its own.
            let piece = match (&read.partitions, &read.after) {
                (Partitions::One(_), None) => self.read_in_passing(owner, wanted, bytes_max).await??,
                _ => {
                    self.shard
                        .ask_for(owner, async move |shard| {
                            Piece::read(&shard, &wanted, ChunkWriter::new(bytes_max))
                        })
                        .await??
                }
            };
            tombstones += piece.outcome.tombstones;
            if !replay.play(&piece.bytes).ok_or_else(malformed)? {
                return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones });
            }
            match (piece.outcome.end, piece.full_at) {
                (ReadEnd::Stopped, Some(full_at)) => match replay.next_after(full_at) {
                    Some(after) => read.after = Some(after),
                    None => return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones }),
                },
                (end, _) => return Ok(ReadOutcome { end, tombstones }),
            }
            bytes_max = (bytes_max * 4).min(CHUNK_BYTES_MAX);
        }
    }

    /// A piece that the other shard reads when it looks at its mail.
    async fn read_in_passing(
        &self,
        owner: usize,
        read: Read,
        bytes_max: usize,
    ) -> Result<Result<Piece, StoreError>, StoreError> {
        let read_one = move |shard: &Shard| {
            let piece = Piece::read(shard, &read, ChunkWriter::new(bytes_max));
            let nanos = piece.as_ref().map_or(0, Piece::nanos);
            rt::turn::worked(Duration::from_nanos(nanos));
            piece
        };
        self.ask_in_passing(owner, read_one)?.await.map_err(|_| StoreError::Closed)
    }

    /// Has another shard do something short when it looks at its mail.
    fn ask_in_passing<T: Send + 'static>(
        &self,
        owner: usize,
        task: impl FnOnce(&Shard) -> T + Send + 'static,
    ) -> Result<oneshot::Receiver<T>, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let errand: Errand = Box::new(move |shard| {
            // The asking task may be gone.
            if !sender.is_closed() {
                let _ = sender.send(task(shard));
            }
        });
        self.shard.send(owner, errand)?;
        Ok(receiver)
    }
}

/// The first rows of some partitions of this shard, by their places.
fn read_each(
    shard: &Shard,
    reads: Vec<(usize, Read)>,
    max: AheadMax,
) -> Vec<(usize, Result<Piece, StoreError>)> {
    let piece = |(place, read): (usize, Read)| {
        let piece = Piece::read(shard, &read, ChunkWriter::new(max.bytes).of_rows(max.rows));
        rt::turn::worked(Duration::from_nanos(piece.as_ref().map_or(0, Piece::nanos)));
        (place, piece)
    };
    reads.into_iter().map(piece).collect()
}
