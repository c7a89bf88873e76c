//! Reads of partitions that another shard owns.

use super::EmbeddedStore;
use super::chunk::{ChunkWriter, Replay};
use crate::shard::{Errand, Shard};
use std::time::Duration;
use store::{Partitions, Position, Read, ReadEnd, ReadOutcome, Sink, StoreError};
use tokio::sync::oneshot;

/// The first piece is small, because most reads want few rows; later ones grow.
const CHUNK_BYTES_FIRST: usize = 32 << 10;
const CHUNK_BYTES_MAX: usize = 512 << 10;

/// What a byte of a piece takes to be read, about; and what one takes that ends because it has looked at enough.
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
    fn read(shard: &Shard, read: &Read, bytes_max: usize) -> Result<Piece, StoreError> {
        let mut writer = ChunkWriter::new(bytes_max);
        let outcome = shard.read(read, &mut writer)?;
        let (bytes, full_at) = writer.finish();
        Ok(Piece { bytes, full_at, outcome })
    }

    fn nanos(&self) -> u64 {
        let paused = matches!(self.outcome.end, ReadEnd::Paused(_));
        BYTE_NANOS * self.bytes.len() as u64 + if paused { PAUSE_NANOS } else { 0 }
    }
}

impl EmbeddedStore {
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
                _ => self.ask(owner, async move |shard| Piece::read(&shard, &wanted, bytes_max)).await??,
            };
            tombstones += piece.outcome.tombstones;
            let malformed = || StoreError::Io { context: "rows from another shard are malformed".into() };
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
        let (sender, receiver) = oneshot::channel();
        let errand: Errand = Box::new(move |shard| {
            // Whoever asked may have gone meanwhile.
            if sender.is_closed() {
                return;
            }
            let piece = Piece::read(shard, &read, bytes_max);
            let nanos = piece.as_ref().map_or(0, Piece::nanos);
            rt::turn::worked(Duration::from_nanos(nanos));
            let _ = sender.send(piece);
        });
        self.shard.send(owner, errand)?;
        receiver.await.map_err(|_| StoreError::Closed)
    }
}
