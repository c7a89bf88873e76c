//! A table as operations use it: its definition, where its rows and those of its indexes lie, and what is counted about it.

use super::backups::Copying;
use super::layout::internal;
use crate::error::ApiError;
use crate::table::{Index, IndexKind, TableDefinition};
use schema::Table;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use store::TableId;

/// The keyspace that CQL sees these tables in.
pub const KEYSPACE: &str = "dynamo";

pub fn index_store(index: &Index) -> String {
    match index.kind {
        IndexKind::Local => format!("lsi/{}", index.name),
        IndexKind::Global => format!("gsi/{}", index.name),
    }
}

pub fn stream_store(label: &str) -> String {
    format!("stream/{label}")
}

/// Whether a table is known under its own name: one that is being restored is not yet.
pub fn is_shown(table: &Table) -> bool {
    let name = table.foreign.as_deref().and_then(|foreign| foreign.definition.get("name"));
    name.and_then(|name| name.as_str()).is_some_and(|name| *name == *table.name)
}

/// What all shards know of a table beside the catalogue. Lives as long as the server.
#[derive(Debug, Default)]
pub struct Counts {
    /// Items and their accounted bytes, as far as they are known.
    pub items: AtomicI64,
    pub bytes: AtomicI64,
    /// Counted from the beginning, or by a scan since the server started.
    pub known: AtomicBool,
    /// Grows when the definition changes in a way that writes must not overlook.
    pub epoch: AtomicU64,
    /// Units that may still be used, in thousandths, and when they were last topped up; see `throttle`.
    pub read_units: AtomicI64,
    pub write_units: AtomicI64,
    pub topped_up_micros: AtomicI64,
    pub copying: Copying,
}

impl Counts {
    pub fn count(&self, items: i64, bytes: i64) {
        if items != 0 {
            self.items.fetch_add(items, Relaxed);
        }
        if bytes != 0 {
            self.bytes.fetch_add(bytes, Relaxed);
        }
    }
}

/// See the module. Shared with decisions, which run on any shard.
#[derive(Debug)]
pub struct OpenTable {
    pub definition: TableDefinition,
    pub table: Arc<Table>,
    pub id: TableId,
    /// The column of documents.
    pub column: u32,
    /// In the order of the definition's indexes.
    pub indexes: Vec<TableId>,
    /// The enabled stream's.
    pub stream: Option<TableId>,
    pub counts: Arc<Counts>,
    /// The epoch that the definition is of.
    pub epoch: u64,
}

impl OpenTable {
    /// `epoch` was read before the catalogue was.
    pub fn open(table: &Arc<Table>, counts: Arc<Counts>, epoch: u64) -> Result<OpenTable, ApiError> {
        let foreign = table.foreign.as_deref().ok_or_else(ApiError::no_such_resource)?;
        let definition = TableDefinition::from_json(&foreign.definition.to_string()).map_err(internal)?;
        let store = |name: &str| foreign.store(name).map(|store| TableId(store.id));
        let indexes = definition.indexes.iter().map(|index| {
            store(&index_store(index)).ok_or_else(|| internal(format!("index {} has no store", index.name)))
        });
        let indexes = indexes.collect::<Result<_, _>>()?;
        let stream = definition.enabled_stream().and_then(|stream| store(&stream_store(&stream.label)));
        let column = table.regulars.first().map(|column| column.id);
        Ok(OpenTable {
            id: TableId(table.id),
            column: column.ok_or_else(|| internal("a table without a column for items"))?,
            indexes,
            stream,
            table: table.clone(),
            definition,
            counts,
            epoch,
        })
    }

    /// The definition has changed since this was opened: a write must not go by it any more.
    pub fn is_stale(&self) -> bool {
        self.counts.epoch.load(Relaxed) != self.epoch
    }

    /// A table of CQL that this API serves.
    pub fn is_of_cql(&self) -> bool {
        self.table.foreign.is_none()
    }

    pub fn index(&self, name: &str) -> Option<(&Index, TableId)> {
        let place = self.definition.indexes.iter().position(|index| index.name == name)?;
        Some((self.definition.indexes.get(place)?, *self.indexes.get(place)?))
    }
}
