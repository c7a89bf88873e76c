//! Reads on a shard: synchronous, over memtables and files of one table.

use super::Shard;
use crate::memtable::Memtable;
use crate::merge::{self, Sources};
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::merge::RowMerger;
use model::row::RowView;
use observe::Load;
use store::row_ttl::LivingRows;
use store::{Flow, Partitions, Read, ReadOutcome, RowPosition, Sink, Slice, StoreError, TableId, Work};

/// Sealed memtables that a reader keeps on its stack; there are rarely more than one or two.
const SEALED_INLINE: usize = 7;

/// Whether rows whose moment has come are shown.
#[derive(Clone, Copy)]
enum Shown {
    Living,
    Stored,
}

/// The cache's counters are published for other threads once in this many reads.
const PUBLISH_COUNTS_EVERY: u64 = 256;

impl Shard {
    /// Delivers the shard's part of a read. The sink must not call back into the shard.
    pub fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        self.read_rows(read, sink, Shown::Living)
    }

    fn read_rows(&self, read: &Read, sink: &mut dyn Sink, shown: Shown) -> Result<ReadOutcome, StoreError> {
        self.count_read();
        self.with_table(read.table, |table| {
            let mut living;
            let sink: &mut dyn Sink = match (table.config.row_ttl, shown) {
                (Some(row_ttl), Shown::Living) => {
                    living = LivingRows { row_ttl, now_seconds: read.now_seconds, sink };
                    &mut living
                }
                _ => sink,
            };
            let mut inline: [&Memtable; SEALED_INLINE + 1] = [&table.active; SEALED_INLINE + 1];
            let many: Vec<&Memtable>;
            let memtables: &[&Memtable] = if table.sealed.len() <= SEALED_INLINE {
                for (place, sealed) in inline[1..].iter_mut().zip(&table.sealed) {
                    *place = &sealed.memtable;
                }
                &inline[..1 + table.sealed.len()]
            } else {
                many = table.sealed.iter().map(|s| &s.memtable).chain([&table.active]).collect();
                &many
            };
            let sources = Sources { memtables, tables: &table.files, cache: Some(&self.cache) };
            let blocks = self.cache.looked_up();
            let is_timed = read.account.0.as_ref().is_some_and(|account| account.is_timed());
            let began = if is_timed { self.shared.clock.micros() } else { 0 };
            let (outcome, load, partitions) = merge::read_counted(&sources, read, sink)?;
            self.heat.read(read, load);
            if let Some(account) = &read.account.0 {
                let (hits, misses) = self.cache.looked_up();
                let Load { reads, rows, tombstones, bytes, .. } = load;
                let (blocks_cached, blocks_read) = (hits - blocks.0, misses - blocks.1);
                let nanos = match is_timed {
                    true => (self.shared.clock.micros() - began).max(0) as u64 * 1000,
                    false => 0,
                };
                let work =
                    Work { reads, partitions, rows, tombstones, bytes, blocks_cached, blocks_read, nanos };
                account.add(self.index, &work);
            }
            Ok(outcome)
        })
    }

    /// What a read would deliver if this were applied too.
    pub(super) fn read_then(
        &self,
        read: &Read,
        then: Option<&Memtable>,
        sink: &mut dyn Sink,
    ) -> Result<ReadOutcome, StoreError> {
        let Some(then) = then else { return self.read(read, sink) };
        self.with_table(read.table, |table| {
            let sealed = table.sealed.iter().map(|sealed| &sealed.memtable);
            let memtables: Vec<&Memtable> = sealed.chain([&table.active, then]).collect();
            let sources = Sources { memtables: &memtables, tables: &table.files, cache: Some(&self.cache) };
            merge::read(&sources, read, sink)
        })
    }

    fn count_read(&self) {
        let count = self.reads.get() + 1;
        self.reads.set(count);
        if count.is_multiple_of(PUBLISH_COUNTS_EVERY) {
            self.shared.metrics.reads.add(PUBLISH_COUNTS_EVERY);
            if let Some(Ok(mut counts)) = self.shared.cache_counts.get(self.index).map(|c| c.lock()) {
                *counts = self.cache.counts();
            }
        }
    }

    /// What is stored, with rows whose moment has come: for whoever must take away what is made of them.
    pub(super) fn read_stored(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        self.read_rows(read, sink, Shown::Stored)
    }

    /// The live static row and rows of one partition, for checks and operations that need the current value.
    pub(super) fn current(
        &self,
        table: TableId,
        key: &PartitionKey,
        positions: impl Iterator<Item = RowPosition>,
        now_seconds: u32,
    ) -> Result<CurrentRows, StoreError> {
        self.rows_at(table, key, positions, now_seconds, Shown::Living)
    }

    /// The same of what is stored, with rows whose moment has come.
    pub(super) fn stored(
        &self,
        table: TableId,
        key: &PartitionKey,
        positions: impl Iterator<Item = RowPosition>,
        now_seconds: u32,
    ) -> Result<CurrentRows, StoreError> {
        self.rows_at(table, key, positions, now_seconds, Shown::Stored)
    }

    fn rows_at(
        &self,
        table: TableId,
        key: &PartitionKey,
        positions: impl Iterator<Item = RowPosition>,
        now_seconds: u32,
        shown: Shown,
    ) -> Result<CurrentRows, StoreError> {
        let mut clusterings: Vec<Vec<u8>> = Vec::new();
        for position in positions {
            if let RowPosition::Row(clustering) = position {
                clusterings.push(clustering);
            }
        }
        clusterings.sort();
        clusterings.dedup();
        let read = Read {
            statics: true,
            ..Read::of(
                table,
                Partitions::One(key.clone()),
                clusterings.iter().map(|clustering| Slice::one(clustering)).collect(),
                now_seconds,
            )
        };
        let mut rows = CurrentRows::default();
        self.read_rows(&read, &mut rows, shown)?;
        Ok(rows)
    }
}

/// Rows by position, as payloads; ascending, because reads deliver them so.
#[derive(Clone, Default)]
pub(super) struct CurrentRows {
    rows: Vec<(RowPosition, Vec<u8>)>,
}

impl CurrentRows {
    pub fn payload(&self, position: &RowPosition) -> Option<&Vec<u8>> {
        let place = self.place(position).ok()?;
        self.rows.get(place).map(|(_, payload)| payload)
    }

    pub fn view(&self, position: &RowPosition) -> Option<RowView<'_>> {
        self.payload(position).and_then(|payload| RowView::from_payload(payload))
    }

    fn place(&self, position: &RowPosition) -> Result<usize, usize> {
        self.rows.binary_search_by(|(known, _)| known.cmp(position))
    }

    /// Positions and payloads, ascending.
    pub fn payloads(&self) -> &[(RowPosition, Vec<u8>)] {
        &self.rows
    }

    pub fn rows(&self) -> impl Iterator<Item = (&RowPosition, RowView<'_>)> {
        self.rows.iter().filter_map(|(position, payload)| Some((position, RowView::from_payload(payload)?)))
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|(_, payload)| payload.len()).sum()
    }

    /// Gives a row away.
    pub fn take(&mut self, position: &RowPosition) -> Option<Vec<u8>> {
        self.place(position).ok().map(|place| self.rows.remove(place).1)
    }

    /// Merges another version into a row; the bytes of the outcome.
    pub fn merge(&mut self, merger: &mut RowMerger, position: &RowPosition, image: &[u8]) -> usize {
        let merged = match (self.view(position), RowView::from_payload(image)) {
            (Some(row), Some(image)) => {
                merger.merge(&[row, image], Deletion::NONE, None);
                merger.row().to_payload()
            }
            _ => image.to_vec(),
        };
        let bytes = merged.len();
        self.put(position.clone(), merged);
        bytes
    }

    pub fn put(&mut self, position: RowPosition, payload: Vec<u8>) {
        if self.rows.last().is_none_or(|(last, _)| *last < position) {
            return self.rows.push((position, payload));
        }
        match self.place(&position) {
            Ok(place) => self.rows[place].1 = payload,
            Err(place) => self.rows.insert(place, (position, payload)),
        }
    }
}

impl Sink for CurrentRows {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.put(RowPosition::Static, row.to_payload());
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.put(RowPosition::Row(clustering.to_vec()), row.to_payload());
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
