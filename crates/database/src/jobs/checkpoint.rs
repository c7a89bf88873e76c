//! The progress of a build, stored in `system_distributed.jobs`.
//!
//! A checkpoint is a mutation, so it can be part of the commit that it describes: after a crash the stored position is exactly
//! what was committed. A database whose catalogue has no such table stores nothing, and its builds start again.

use super::{LastCheck, Limits};
use crate::usage::Usage;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{ColumnId, RowView, RowWriter};
use schema::Catalogue;
use store::{Flow, Mutation, Partitions, Position, Read, Sink, Slice, Store, StoreError, TableId};

const KEYSPACE: &str = "system_distributed";
const TABLE: &str = "jobs";

/// What the last check of a copy has found is stored as if it were a job, with the copy's number behind this one: no job has it.
const CHECKS_FROM: u64 = 1 << 48;

/// And the counts of a copy from this one on.
const USAGES_FROM: u64 = 1 << 49;

/// What is stored of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The rows up to here are done.
    pub after: Option<Position>,
    pub rows: u64,
    pub is_paused: bool,
    pub limits: Limits,
}

/// Where checkpoints are stored.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints {
    table: TableId,
    paused: ColumnId,
    position: ColumnId,
    rows: ColumnId,
    rows_per_second: ColumnId,
    mb_per_second: ColumnId,
    p99_ms: ColumnId,
}

impl Checkpoints {
    pub fn find(catalogue: &Catalogue) -> Option<Checkpoints> {
        let table = catalogue.table(KEYSPACE, TABLE)?;
        let id = |name: &str| table.column(name).map(|column| column.id);
        Some(Checkpoints {
            table: TableId(table.id),
            paused: id("paused")?,
            position: id("position")?,
            rows: id("rows")?,
            rows_per_second: id("rows_per_second")?,
            mb_per_second: id("mb_per_second")?,
            p99_ms: id("p99_ms")?,
        })
    }

    /// Stores what the last check of a copy has found: when in `rows`, the rest in `position`.
    pub fn save_check(&self, copy: u32, check: &LastCheck, timestamp: i64) -> Option<Mutation> {
        let found = [check.missing, check.extra, check.stale].map(u64::to_be_bytes).concat();
        let mut cells = [(self.position, found), (self.rows, check.at_micros.to_be_bytes().to_vec())];
        cells.sort_by_key(|(column, _)| *column);
        let mut row = RowWriter::new();
        row.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        cells.iter().for_each(|(column, value)| row.live(*column, value));
        let mut mutation = Mutation::new(self.table, key(CHECKS_FROM + u64::from(copy))?);
        mutation.row(&[], row.view());
        Some(mutation)
    }

    /// Stores what was counted of a copy: when it was read last in `rows`, the rest in `position`.
    pub fn save_usage(&self, copy: u32, usage: &Usage, timestamp: i64) -> Option<Mutation> {
        let Usage { reads, last_read_micros, writes, written_bytes, since_micros } = *usage;
        let counted =
            [reads, writes, written_bytes, since_micros.cast_unsigned()].map(u64::to_be_bytes).concat();
        let last_read = last_read_micros.unwrap_or_default().to_be_bytes().to_vec();
        let mut cells = [(self.position, counted), (self.rows, last_read)];
        cells.sort_by_key(|(column, _)| *column);
        let mut row = RowWriter::new();
        row.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        cells.iter().for_each(|(column, value)| row.live(*column, value));
        let mut mutation = Mutation::new(self.table, key(USAGES_FROM + u64::from(copy))?);
        mutation.row(&[], row.view());
        Some(mutation)
    }

    pub async fn load_usage<S: Store>(&self, store: &S, copy: u32) -> Result<Option<Usage>, StoreError> {
        let mut found = FoundUsage { checkpoints: *self, usage: None };
        self.read(store, USAGES_FROM + u64::from(copy), &mut found).await?;
        Ok(found.usage)
    }

    /// What [`Checkpoints::save_usage`] wrote.
    fn usage_of(&self, row: RowView<'_>) -> Option<Usage> {
        let value = |column: ColumnId| row.cells().find(|cell| cell.column == column)?.live_value(0);
        let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes);
        let (last_read, counts) = (number(value(self.rows)?)?.cast_signed(), value(self.position)?);
        let count = |place: usize| number(counts.get(8 * place..8 * place + 8)?);
        Some(Usage {
            reads: count(0)?,
            last_read_micros: (last_read > 0).then_some(last_read),
            writes: count(1)?,
            written_bytes: count(2)?,
            since_micros: count(3)?.cast_signed(),
        })
    }

    pub async fn load_check<S: Store>(&self, store: &S, copy: u32) -> Result<Option<LastCheck>, StoreError> {
        let mut found = FoundCheck { checkpoints: *self, check: None };
        self.read(store, CHECKS_FROM + u64::from(copy), &mut found).await?;
        Ok(found.check)
    }

    /// What [`Checkpoints::save_check`] wrote.
    fn check_of(&self, row: RowView<'_>) -> Option<LastCheck> {
        let value = |column: ColumnId| row.cells().find(|cell| cell.column == column)?.live_value(0);
        let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes);
        let (at, counts) = (number(value(self.rows)?)?, value(self.position)?);
        let count = |place: usize| number(counts.get(8 * place..8 * place + 8)?);
        let (missing, extra, stale) = (count(0)?, count(1)?, count(2)?);
        Some(LastCheck { at_micros: at.cast_signed(), missing, extra, stale })
    }

    /// Stores all of it over what was stored at an earlier timestamp.
    pub fn save(&self, id: u64, saved: &Saved, timestamp: i64) -> Option<Mutation> {
        let limit = |limit: Option<u32>| (limit.unwrap_or(0) as i32).to_be_bytes().to_vec();
        let mut cells = [
            (self.paused, vec![u8::from(saved.is_paused)]),
            (self.position, encode(saved.after.as_ref())),
            (self.rows, (saved.rows as i64).to_be_bytes().to_vec()),
            (self.rows_per_second, limit(saved.limits.rows_per_second)),
            (self.mb_per_second, limit(saved.limits.mb_per_second)),
            (self.p99_ms, limit(saved.limits.p99_millis)),
        ];
        cells.sort_by_key(|(column, _)| *column);
        let mut row = RowWriter::new();
        row.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
        cells.iter().for_each(|(column, value)| row.live(*column, value));
        let mut mutation = Mutation::new(self.table, key(id)?);
        mutation.row(&[], row.view());
        Some(mutation)
    }

    pub fn remove(&self, id: u64, timestamp: i64) -> Option<Mutation> {
        let local_seconds = u32::try_from(timestamp / 1_000_000).unwrap_or_default();
        let mut mutation = Mutation::new(self.table, key(id)?);
        mutation.delete_partition(Deletion { timestamp, local_seconds });
        Some(mutation)
    }

    /// What is stored, and its timestamp.
    pub async fn load<S: Store>(&self, store: &S, id: u64) -> Result<Option<(Saved, i64)>, StoreError> {
        let mut found = Found { checkpoints: *self, saved: None };
        self.read(store, id, &mut found).await?;
        Ok(found.saved)
    }

    async fn read<S: Store>(&self, store: &S, id: u64, sink: &mut dyn Sink) -> Result<(), StoreError> {
        let Some(key) = key(id) else { return Ok(()) };
        let read = Read::of(self.table, Partitions::One(key), vec![Slice::all()], 0);
        read.to_end(store, sink).await.map(drop)
    }
}

fn key(id: u64) -> Option<PartitionKey> {
    PartitionKey::of(&(id as i64).to_be_bytes())
}

struct Found {
    checkpoints: Checkpoints,
    saved: Option<(Saved, i64)>,
}

impl Sink for Found {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        let value = |column: ColumnId| {
            let cell = row.cells().find(|cell| cell.column == column)?;
            cell.live_value(0).map(<[u8]>::to_vec)
        };
        let Checkpoints { paused, position, rows, rows_per_second, mb_per_second, p99_ms, .. } =
            self.checkpoints;
        let number = |bytes: Vec<u8>| bytes.iter().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
        // Not stored by an older server, or none.
        let limit = |column| value(column).map(|bytes| number(bytes) as u32).filter(|limit| *limit > 0);
        let saved = Saved {
            after: value(position).and_then(|bytes| decode(&bytes)),
            rows: value(rows).map(number).unwrap_or_default(),
            is_paused: value(paused) == Some(vec![1]),
            limits: Limits {
                rows_per_second: limit(rows_per_second),
                mb_per_second: limit(mb_per_second),
                p99_millis: limit(p99_ms),
            },
        };
        self.saved = Some((saved, row.marker().map_or(0, |marker| marker.timestamp)));
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

struct FoundUsage {
    checkpoints: Checkpoints,
    usage: Option<Usage>,
}

impl Sink for FoundUsage {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.usage = self.checkpoints.usage_of(row);
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

struct FoundCheck {
    checkpoints: Checkpoints,
    check: Option<LastCheck>,
}

impl Sink for FoundCheck {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.check = self.checkpoints.check_of(row);
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Nothing; or the length of the key, the key, and a clustering key behind a 1, or a 0.
fn encode(position: Option<&Position>) -> Vec<u8> {
    let Some(Position { key, clustering }) = position else { return Vec::new() };
    let mut bytes = (key.bytes().len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(key.bytes());
    bytes.push(u8::from(clustering.is_some()));
    bytes.extend_from_slice(clustering.as_deref().unwrap_or_default());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Position> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (key, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let (has_clustering, clustering) = rest.split_first()?;
    let clustering = (*has_clustering == 1).then(|| clustering.to_vec());
    Some(Position { key: PartitionKey::of(key)?, clustering })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back() {
        let key = PartitionKey::of(b"some key").unwrap();
        for clustering in [None, Some(Vec::new()), Some(b"\x20c".to_vec())] {
            let position = Position { key: key.clone(), clustering };
            assert_eq!(decode(&encode(Some(&position))), Some(position));
        }
        assert_eq!(decode(&encode(None)), None);
        for damaged in [&b"\0\0\0\x09short"[..], b"\xff\xff\xff\xff", b"\0\0"] {
            assert_eq!(decode(damaged), None);
        }
    }
}
