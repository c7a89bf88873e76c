//! Reads of partitions that another shard owns.

use super::EmbeddedStore;
use super::chunk::{ChunkWriter, Replay};
use store::{Read, ReadEnd, ReadOutcome, Sink, StoreError};

/// The first piece is small, because most reads want few rows; later ones grow.
const CHUNK_BYTES_FIRST: usize = 32 << 10;
const CHUNK_BYTES_MAX: usize = 1 << 20;

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
            let piece = read.clone();
            let (outcome, bytes, full_at) = self
                .ask(owner, async move |shard| {
                    let mut writer = ChunkWriter::new(bytes_max);
                    let outcome = shard.read(&piece, &mut writer);
                    let (bytes, full_at) = writer.finish();
                    (outcome, bytes, full_at)
                })
                .await?;
            let outcome = outcome?;
            tombstones += outcome.tombstones;
            let malformed = || StoreError::Io { context: "rows from another shard are malformed".into() };
            if !replay.play(&bytes).ok_or_else(malformed)? {
                return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones });
            }
            match (outcome.end, full_at) {
                (ReadEnd::Stopped, Some(full_at)) => match replay.next_after(full_at) {
                    Some(after) => read.after = Some(after),
                    None => return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones }),
                },
                (end, _) => return Ok(ReadOutcome { end, tombstones }),
            }
            bytes_max = (bytes_max * 4).min(CHUNK_BYTES_MAX);
        }
    }
}
