//! BatchGetItem and BatchWriteItem: many items, each by itself.

use super::answer::{self, Consumed};
use super::item::{OneItem, one_row};
use super::layout;
use super::table::OpenTable;
use super::write::{Change, Written};
use super::{Caller, Dynamo, bridge, store_error};
use crate::capacity::{self, Consistency};
use crate::error::{ApiError, ErrorName};
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::request::{BatchGetItem, BatchGetTable, BatchWrite, BatchWriteItem, WriteOptions};
use crate::size;
use crate::value::Item;
use database::grants::Permission;
use futures_util::stream::{FuturesUnordered, StreamExt};
use model::key::PartitionKey;
use query::tenant::Access;
use std::collections::HashSet;
use std::sync::Arc;
use store::Store;

/// What one BatchGetItem gives back, at most.
const GET_BYTES_MAX: usize = 16 << 20;

/// What was found of one table.
#[derive(Default)]
struct Found {
    items: Vec<u8>,
    unprocessed: Vec<Item>,
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn batch_get(
        &self,
        caller: &Caller<'_>,
        batch: &BatchGetItem,
    ) -> Result<Vec<u8>, ApiError> {
        let mut opened = Vec::with_capacity(batch.tables.len());
        for wanted in &batch.tables {
            let table = self.open_any(caller, Permission::Select, &wanted.table)?;
            let mut seen = HashSet::new();
            for key in &wanted.keys {
                let place = layout::item_place(&table.definition.key_of_request(key)?)?;
                self.admit(caller, &table, Access::Read, &place.key)?;
                if !seen.insert((place.key, place.clustering)) {
                    return Err(Rule::BatchDuplicateKeys.refuse(&[]));
                }
            }
            if let Some(projection) = &wanted.projection {
                table.definition.check_projection(projection)?;
            }
            opened.push(table);
        }
        let mut consumed = Vec::new();
        let mut bytes = 0;
        let mut found = Vec::with_capacity(opened.len());
        for (table, wanted) in opened.iter().zip(&batch.tables) {
            found.push(self.get_some(caller, table, wanted, &mut bytes, &mut consumed).await?);
        }
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut responses = object.nested("Responses");
        for (wanted, found) in batch.tables.iter().zip(&found) {
            let list = responses.key(&wanted.requested);
            list.push(b'[');
            list.extend_from_slice(&found.items);
            list.push(b']');
        }
        responses.end();
        let mut unprocessed = object.nested("UnprocessedKeys");
        for (wanted, found) in
            batch.tables.iter().zip(&found).filter(|(_, found)| !found.unprocessed.is_empty())
        {
            let mut left = unprocessed.nested(&wanted.requested);
            left.list("Keys", &found.unprocessed, json::write_item);
            if !wanted.echo.is_empty() {
                left.out.push(b',');
                left.out.extend_from_slice(&wanted.echo);
            }
            left.end();
        }
        unprocessed.end();
        answer::capacity_list(&mut object, batch.return_capacity, &consumed);
        object.end();
        Ok(out)
    }

    async fn get_some(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        wanted: &BatchGetTable,
        bytes: &mut usize,
        consumed: &mut Vec<Consumed>,
    ) -> Result<Found, ApiError> {
        let consistency = if wanted.consistent { Consistency::Strong } else { Consistency::Eventual };
        let mut found = Found::default();
        for key in &wanted.keys {
            if *bytes >= GET_BYTES_MAX || self.throttle_read(caller, table).is_err() {
                found.unprocessed.push(key.clone());
                continue;
            }
            let size = match table.is_of_cql() {
                true => self.cql_batched(caller, table, wanted, key, &mut found.items).await?,
                false => self.get_one(caller, table, wanted, key, &mut found.items).await?,
            };
            *bytes += size;
            let units = capacity::read(size, consistency);
            self.charge_read(table, units);
            answer::gather(consumed, Consumed::table(table, units));
        }
        Ok(found)
    }

    /// Appends an item if it is there; returns its size.
    async fn get_one(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        wanted: &BatchGetTable,
        key: &Item,
        items: &mut Vec<u8>,
    ) -> Result<usize, ApiError> {
        let place = layout::item_place(&table.definition.key_of_request(key)?)?;
        let read = one_row(table.id, &place, caller.now_seconds());
        let mut sink = OneItem::new(table, wanted.projection.as_ref(), caller.now_seconds(), items);
        if !sink.out.is_empty() {
            sink.lead = b",";
        }
        self.runtime.store.read(&read, &mut sink).await.map_err(store_error)?;
        Ok(sink.finish()?.unwrap_or(0))
    }

    /// The same from a table of CQL.
    async fn cql_batched(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        wanted: &BatchGetTable,
        key: &Item,
        items: &mut Vec<u8>,
    ) -> Result<usize, ApiError> {
        let Some(item) = self.cql_item(caller, table, key).await? else { return Ok(0) };
        if !items.is_empty() {
            items.push(b',');
        }
        match &wanted.projection {
            Some(projection) => json::write_item(&projection.apply(&item), items),
            None => json::write_item(&item, items),
        }
        Ok(size::item(&item))
    }

    /// One write of a batch, to a table of either dialect.
    async fn write_batched(
        &self,
        caller: &Caller<'_>,
        name: &str,
        change: Change,
        options: &WriteOptions,
    ) -> Result<(Arc<OpenTable>, Written), ApiError> {
        match name.contains('.').then(|| self.open_cql(name)).flatten() {
            None => self.write_one(caller, name, change, options, false).await,
            Some(open) => {
                let open = open?;
                let written = self.cql_write(caller, &open, &change, options).await?;
                Ok((open, written))
            }
        }
    }

    pub(super) async fn batch_write(
        &self,
        caller: &Caller<'_>,
        batch: BatchWriteItem,
    ) -> Result<Vec<u8>, ApiError> {
        let BatchWriteItem { tables, return_capacity, return_metrics } = batch;
        // All is checked before anything is done.
        for wanted in &tables {
            let table = self.open_any(caller, Permission::Modify, &wanted.table)?;
            let keys = check_writes(&table, &wanted.writes)?;
            // Writes to tables of CQL are plans, which ask by themselves.
            for key in keys.iter().filter(|_| !table.is_of_cql()) {
                self.admit(caller, &table, Access::Write, key)?;
            }
        }
        let mut consumed = Vec::new();
        let mut collections: Vec<(String, Vec<u8>)> = Vec::new();
        let mut unprocessed: Vec<(String, Vec<BatchWrite>)> = Vec::new();
        let options = WriteOptions::default();
        for wanted in tables {
            let name = wanted.table.as_str();
            let mut under_way = FuturesUnordered::new();
            for write in wanted.writes {
                let change = match &write {
                    BatchWrite::Put(item) => Change::Put(item.clone()),
                    BatchWrite::Delete(key) => Change::Delete(key.clone()),
                };
                let options = &options;
                under_way
                    .push(async move { (self.write_batched(caller, name, change, options).await, write) });
            }
            while let Some((outcome, write)) = under_way.next().await {
                match outcome {
                    Ok((table, written)) => {
                        answer::gather(&mut consumed, Consumed::write_of(&table, &written, 1.0));
                        if return_metrics && table.definition.has_local_indexes() {
                            let (BatchWrite::Put(item) | BatchWrite::Delete(item)) = &write;
                            let mut text = Vec::new();
                            answer::put_collection(&mut text, &table, item);
                            let known = collections.iter().any(|(t, c)| *t == name && *c == text);
                            if !known {
                                collections.push((name.to_string(), text));
                            }
                        }
                    }
                    Err(error) if may_be_tried_again(&error) => {
                        match unprocessed.iter_mut().find(|(known, _)| *known == wanted.requested) {
                            Some((_, left)) => left.push(write),
                            None => unprocessed.push((wanted.requested.clone(), vec![write])),
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let mut left = object.nested("UnprocessedItems");
        for (table, writes) in &unprocessed {
            left.list(table, writes, put_write);
        }
        left.end();
        if return_metrics && !collections.is_empty() {
            let mut metrics = object.nested("ItemCollectionMetrics");
            for table in tables_of(&collections) {
                let of_table: Vec<&Vec<u8>> =
                    collections.iter().filter(|(t, _)| *t == table).map(|(_, text)| text).collect();
                metrics.list(&table, &of_table, |text, out| out.extend_from_slice(text));
            }
            metrics.end();
        }
        answer::capacity_list(&mut object, return_capacity, &consumed);
        object.end();
        Ok(out)
    }
}

fn tables_of(collections: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut names: Vec<String> = collections.iter().map(|(table, _)| table.clone()).collect();
    names.dedup();
    names
}

fn put_write(write: &BatchWrite, out: &mut Vec<u8>) {
    let mut object = Writer::object(out);
    let (kind, member, item) = match write {
        BatchWrite::Put(item) => ("PutRequest", "Item", item),
        BatchWrite::Delete(key) => ("DeleteRequest", "Key", key),
    };
    let mut inner = object.nested(kind);
    inner.item(member, item);
    inner.end();
    object.end();
}

fn may_be_tried_again(error: &ApiError) -> bool {
    matches!(error.name(), ErrorName::ProvisionedThroughputExceeded | ErrorName::Throttling)
}

/// The partitions that are written.
fn check_writes(table: &Arc<OpenTable>, writes: &[BatchWrite]) -> Result<Vec<PartitionKey>, ApiError> {
    let mut seen = HashSet::new();
    for write in writes {
        let key = match write {
            // Whatever is wrong with a key is told in one sentence here.
            BatchWrite::Put(item) => {
                table.definition.key_of_item(item).map_err(|error| match error.message() {
                    text if text.contains("empty") || text.contains("exceeded") => error,
                    _ => Rule::KeyDoesNotMatch.refuse(&[]),
                })?
            }
            BatchWrite::Delete(key) => table.definition.key_of_request(key)?,
        };
        let place = layout::item_place(&key)?;
        if !seen.insert((place.key, place.clustering)) {
            return Err(Rule::BatchDuplicateKeys.refuse(&[]));
        }
        if let BatchWrite::Put(item) = write {
            table.definition.check_index_keys(item, false)?;
            if table.is_of_cql() {
                bridge::check_columns(table, item.iter().map(|(name, _)| name))?;
            }
        }
    }
    Ok(seen.into_iter().map(|(key, _)| key).collect())
}
