//! Reads on a shard: synchronous, over memtables and files of one table.

use super::Shard;
use super::tables::SEALED_MAX;
use crate::memtable::Memtable;
use crate::merge::{self, Sources};
use model::key::PartitionKey;
use model::row::RowView;
use std::collections::HashMap;
use store::{Flow, Partitions, Read, ReadOutcome, RowPosition, Sink, Slice, StoreError, TableId};

impl Shard {
    /// Delivers the shard's part of a read. The sink must not call back into the shard.
    pub fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        self.shared.metrics.reads.add(1);
        self.with_table(read.table, |table| {
            let mut memtables: [&Memtable; SEALED_MAX + 1] = [&table.active; SEALED_MAX + 1];
            for (place, sealed) in memtables[1..].iter_mut().zip(&table.sealed) {
                *place = &sealed.memtable;
            }
            let count = 1 + table.sealed.len().min(SEALED_MAX);
            let sources =
                Sources { memtables: &memtables[..count], tables: &table.files, cache: Some(&self.cache) };
            merge::read(&sources, read, sink)
        })
    }

    /// The live static row and rows of one partition, for checks and operations that need the current value.
    pub(super) fn current(
        &self,
        table: TableId,
        key: &PartitionKey,
        positions: impl Iterator<Item = RowPosition>,
        now_seconds: u32,
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
            table,
            partitions: Partitions::One(key.clone()),
            slices: clusterings.iter().map(|clustering| Slice::one(clustering)).collect(),
            reverse: false,
            statics: true,
            after: None,
            now_seconds,
            scan_limit: u64::MAX,
            tombstone_limit: u64::MAX,
        };
        let mut rows = CurrentRows::default();
        self.read(&read, &mut rows)?;
        Ok(rows)
    }
}

/// Rows by position, as payloads.
#[derive(Default)]
pub(super) struct CurrentRows {
    rows: HashMap<RowPosition, Vec<u8>>,
}

impl CurrentRows {
    pub fn payload(&self, position: &RowPosition) -> Option<&Vec<u8>> {
        self.rows.get(position)
    }

    pub fn view(&self, position: &RowPosition) -> Option<RowView<'_>> {
        self.rows.get(position).and_then(|payload| RowView::from_payload(payload))
    }

    pub fn put(&mut self, position: RowPosition, payload: Vec<u8>) {
        self.rows.insert(position, payload);
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
