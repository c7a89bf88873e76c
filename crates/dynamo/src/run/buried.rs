//! Streams of tables that were deleted: they can be read for a day more, as with the service.
//!
//! The change of the catalogue that drops a table moves the stores of its streams to a table of the keyspace `dynamo_streams`; items and
//! entries of indexes go at once. A sweep drops what is older than a day, also of streams that were disabled while their table lives.

use super::record::RETENTION_SECONDS;
use super::table::{KEYSPACE, OpenTable, stream_store};
use super::{Caller, Dynamo};
use crate::error::ApiError;
use crate::table::{StreamDefinition, TableDefinition};
use model::types::DataType;
use schema::{
    Applied, Catalogue, Change, NewColumn, NewForeign, NewTable, Properties, PropertyValue, Setting, Table,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Store;

/// The keyspace of what is left of deleted tables.
pub const BURIED: &str = "dynamo_streams";

/// What is left of a deleted table.
pub(super) struct Buried {
    /// The id that the table had: shards and events are named by it.
    pub id: u32,
    pub deleted_ms: i64,
    pub definition: TableDefinition,
    pub table: Arc<Table>,
}

impl Buried {
    fn of(table: &Arc<Table>) -> Option<Buried> {
        let (id, deleted_ms) = table.name.strip_prefix('t')?.split_once('.')?;
        let foreign = table.foreign.as_deref()?;
        Some(Buried {
            id: id.parse().ok()?,
            deleted_ms: deleted_ms.parse().ok()?,
            definition: TableDefinition::from_json(&foreign.definition.to_string()).ok()?,
            table: table.clone(),
        })
    }
}

pub(super) fn streams(definition: &TableDefinition) -> impl Iterator<Item = &StreamDefinition> {
    definition.stream.iter().chain(&definition.former_streams)
}

impl<S: Store> Dynamo<S> {
    /// All that is left of tables that were deleted within a day or so.
    pub(super) fn buried(&self) -> Vec<Buried> {
        let (_, catalogue) = self.runtime.catalogue();
        let tables = catalogue.keyspace(BURIED).into_iter().flat_map(|keyspace| keyspace.tables.values());
        tables.filter_map(Buried::of).collect()
    }

    /// Drops a table that has streams, but not the streams.
    pub(super) async fn bury_table(&self, caller: &Caller<'_>, open: &OpenTable) -> Result<(), ApiError> {
        let mut definition = open.definition.clone();
        definition.indexes.clear();
        definition.vector_indexes.clear();
        definition.time_to_live = None;
        definition.stream.iter_mut().for_each(|stream| stream.disable(caller.now_ms()));
        let names: Vec<String> = streams(&definition).map(|stream| stream_store(&stream.label)).collect();
        let holder = NewTable {
            keyspace: BURIED.into(),
            name: format!("t{}.{}", open.table.id, caller.now_ms()),
            columns: vec![NewColumn::regular("key", DataType::Blob)],
            partition_key: vec!["key".into()],
            foreign: Some(NewForeign {
                definition: serde_json::to_value(&definition).map_err(super::internal)?,
                stores: Vec::new(),
            }),
            ..NewTable::default()
        };
        let from = (KEYSPACE.to_string(), definition.name.clone());
        let to = (BURIED.to_string(), holder.name.clone());
        let compute = move |catalogue: &Catalogue, setting: &Setting| -> Result<Applied, ApiError> {
            let drop = Change::DropForeign { keyspace: from.0.clone(), name: from.1.clone() };
            let steps = [
                keyspace(),
                Change::CreateTable(Box::new(holder)),
                Change::TakeStores { from, to, stores: names },
            ];
            let mut next = catalogue.clone();
            for step in &steps {
                next = next.apply(step, setting).map_err(ApiError::from)?.catalogue;
            }
            next.apply(&drop, setting).map_err(ApiError::from)
        };
        self.change(caller, compute).await
    }

    /// Gives up streams that nobody may read any more.
    pub async fn sweep_streams(&self, caller: &Caller<'_>) {
        let is_over = |since_ms: i64| caller.now_ms() - since_ms > i64::from(RETENTION_SECONDS) * 1_000;
        for buried in self.buried().into_iter().filter(|buried| is_over(buried.deleted_ms)) {
            let change = Change::DropForeign { keyspace: BURIED.into(), name: buried.table.name.to_string() };
            let compute = move |catalogue: &Catalogue, setting: &Setting| {
                catalogue.apply(&change, setting).map_err(ApiError::from)
            };
            if let Err(error) = self.change(caller, compute).await {
                tracing::warn!(table = %buried.definition.name, %error, "the stream of a deleted table could not be removed");
            }
        }
        let (_, catalogue) = self.runtime.catalogue();
        let Some(keyspace) = catalogue.keyspace(KEYSPACE) else { return };
        for table in keyspace.tables.values() {
            let Ok(open) = self.open(&table.name) else { continue };
            let over: Vec<String> = streams(&open.definition)
                .filter(|stream| stream.disabled_ms.is_some_and(is_over))
                .map(|stream| stream.label.clone())
                .collect();
            if over.is_empty() {
                continue;
            }
            let edit = move |mut definition: TableDefinition| {
                definition.former_streams.retain(|stream| !over.contains(&stream.label));
                definition.stream = definition.stream.filter(|stream| !over.contains(&stream.label));
                Ok(definition)
            };
            if let Err(error) = self.alter(caller, &table.name, edit).await {
                tracing::warn!(table = %table.name, %error, "a disabled stream could not be removed");
            }
        }
    }

    pub(super) async fn change(
        &self,
        caller: &Caller<'_>,
        compute: impl FnOnce(&Catalogue, &Setting) -> Result<Applied, ApiError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let changed = self.runtime.shared.change_aside(&self.runtime.store, caller.now_micros, compute).await;
        changed.map(|_| ())
    }
}

fn keyspace() -> Change {
    let replication: BTreeMap<String, String> =
        [("class", "SimpleStrategy"), ("replication_factor", "1")].map(|(k, v)| (k.into(), v.into())).into();
    let mut properties = Properties::default();
    // The first of its name, so it cannot be there twice.
    let added = properties.add("replication", PropertyValue::Map(replication));
    debug_assert!(added.is_ok());
    Change::CreateKeyspace { name: BURIED.into(), if_not_exists: true, properties }
}
