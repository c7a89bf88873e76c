//! PutItem, UpdateItem, DeleteItem, GetItem.

use super::answer::{self, Consumed};
use super::layout::{self, Place};
use super::table::OpenTable;
use super::write::{Change, Refused, Write, WriteOne, Written};
use super::{Caller, Dynamo, STALE_MAX, layout::internal, store_error};
use crate::capacity::{self, Consistency};
use crate::document::Document;
use crate::error::ApiError;
use crate::expression::Projection;
use crate::json::{self, Writer};
use crate::request::{DeleteItem, GetItem, PutItem, ReturnCapacity, ReturnValues, UpdateItem, WriteOptions};
use crate::value::Item;
use database::grants::Permission;
use model::key::PartitionKey;
use model::row::RowView;
use query::tenant::Access;
use std::sync::Arc;
use store::{Flow, Partitions, Read, Sink, Slice, Store, TableId, Transaction};

impl<S: Store> Dynamo<S> {
    pub(super) async fn put_item(&self, caller: &Caller<'_>, put: PutItem) -> Result<Vec<u8>, ApiError> {
        let PutItem { table, item, options } = put;
        let (table, written) = self.write_one(caller, &table, Change::Put(item), &options, false).await?;
        let old =
            matches!(options.return_values, ReturnValues::AllOld).then_some(written.old.as_ref()).flatten();
        Ok(written_answer(&table, &options, &written, old))
    }

    pub(super) async fn delete_item(
        &self,
        caller: &Caller<'_>,
        delete: DeleteItem,
    ) -> Result<Vec<u8>, ApiError> {
        let DeleteItem { table, key, options } = delete;
        let (table, written) = self.write_one(caller, &table, Change::Delete(key), &options, false).await?;
        let old =
            matches!(options.return_values, ReturnValues::AllOld).then_some(written.old.as_ref()).flatten();
        Ok(written_answer(&table, &options, &written, old))
    }

    pub(super) async fn update_item(
        &self,
        caller: &Caller<'_>,
        update: UpdateItem,
    ) -> Result<Vec<u8>, ApiError> {
        let UpdateItem { table, key, update, options } = update;
        let change = Change::Update { key, update };
        let (table, written) = self.write_one(caller, &table, change, &options, false).await?;
        Ok(written_answer(&table, &options, &written, shown(options.return_values, &written)))
    }

    /// One item, by the table's current definition.
    pub(super) async fn write_one(
        &self,
        caller: &Caller<'_>,
        name: &str,
        change: Change,
        options: &WriteOptions,
        by_expiry: bool,
    ) -> Result<(Arc<OpenTable>, Written), ApiError> {
        let mut change = change;
        for _ in 0..STALE_MAX {
            let table = self.open_for_keys(caller, Permission::Modify, name)?;
            let mut write = Write::new(&table, change, options.condition.clone())?;
            write.wants_old = options.return_values != ReturnValues::None;
            write.item_on_failure = options.item_on_failure;
            write.by_expiry = by_expiry;
            self.admit_write(caller, &write)?;
            self.throttle_write(caller, &table)?;
            let rows = vec![write.wanted()];
            let transaction =
                Transaction { rows, decide: WriteOne(write), now_seconds: caller.now_seconds() };
            match self.runtime.store.transact(transaction).await.map_err(store_error)? {
                Ok(written) => {
                    written.count(&table);
                    self.charge_write(&table, written.table_units());
                    return Ok((table, written));
                }
                Err(Refused::Condition { old }) => return Err(ApiError::condition_failed(old.as_ref())),
                Err(Refused::Invalid(error)) => return Err(error),
                Err(Refused::Stale(again)) => {
                    change = again;
                    self.look_again(&table, name).await;
                }
            }
        }
        Err(internal("the table's definition changes all the time"))
    }

    pub(super) async fn get_item(&self, caller: &Caller<'_>, get: &GetItem) -> Result<Vec<u8>, ApiError> {
        let table = self.open_for_keys(caller, Permission::Select, &get.table)?;
        let place = layout::item_place(&table.definition.key_of_request(&get.key)?)?;
        self.admit(caller, &table, Access::Read, &place.key)?;
        if let Some(projection) = &get.projection {
            table.definition.check_projection(projection)?;
        }
        self.throttle_read(caller, &table)?;
        let mut out = Vec::with_capacity(256);
        out.push(b'{');
        let mut sink = OneItem::new(&table, get.projection.as_ref(), caller.now_seconds(), &mut out);
        sink.lead = b"\"Item\":";
        let read = one_row(table.id, &place, caller.now_seconds());
        self.runtime.store.read(&read, &mut sink).await.map_err(store_error)?;
        let size = sink.finish()?;
        caller.items.set(u64::from(size.is_some()));
        let consistency = if get.consistent { Consistency::Strong } else { Consistency::Eventual };
        let units = capacity::read(size.unwrap_or(0), consistency);
        self.charge_read(&table, units);
        if get.return_capacity != ReturnCapacity::None {
            out.extend_from_slice(if size.is_some() {
                b",\"ConsumedCapacity\":"
            } else {
                b"\"ConsumedCapacity\":"
            });
            Consumed::table(&table, units).put(&mut out, get.return_capacity);
        }
        out.push(b'}');
        Ok(out)
    }
}

/// What ReturnValues asks for.
pub(super) fn shown(wanted: ReturnValues, written: &Written) -> Option<&Item> {
    match wanted {
        ReturnValues::None => None,
        ReturnValues::AllOld => written.old.as_ref(),
        ReturnValues::AllNew => written.new.as_ref(),
        ReturnValues::UpdatedOld => Some(&written.updated_old).filter(|item| !item.is_empty()),
        ReturnValues::UpdatedNew => Some(&written.updated_new).filter(|item| !item.is_empty()),
    }
}

pub(super) fn written_answer(
    table: &OpenTable,
    options: &WriteOptions,
    written: &Written,
    attributes: Option<&Item>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Writer::object(&mut out);
    if let Some(attributes) = attributes {
        object.item("Attributes", attributes);
    }
    Consumed::write_of(table, written, 1.0).write(&mut object, options.return_capacity);
    if options.return_metrics {
        let item = written.new.as_ref().or(written.old.as_ref());
        answer::collection_metrics(&mut object, table, item);
    }
    object.end();
    out
}

pub(super) fn one_row(table: TableId, place: &Place, now_seconds: u32) -> Read {
    Read::of(table, Partitions::One(place.key.clone()), vec![Slice::one(&place.clustering)], now_seconds)
}

/// Writes the one item of a read as JSON, straight from the stored bytes.
pub(super) struct OneItem<'r> {
    column: u32,
    projection: Option<&'r Projection>,
    now_seconds: u32,
    pub lead: &'static [u8],
    pub out: &'r mut Vec<u8>,
    size: Option<usize>,
    fault: Option<ApiError>,
}

impl<'r> OneItem<'r> {
    pub fn new(
        table: &OpenTable,
        projection: Option<&'r Projection>,
        now_seconds: u32,
        out: &'r mut Vec<u8>,
    ) -> OneItem<'r> {
        OneItem { column: table.column, projection, now_seconds, lead: b"", out, size: None, fault: None }
    }

    /// The accounted size of the item, if there is one.
    pub fn finish(self) -> Result<Option<usize>, ApiError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.size),
        }
    }

    fn write(&mut self, row: &RowView<'_>) -> Result<(), ApiError> {
        let document = layout::document(row, self.column, self.now_seconds)?;
        self.size = Some(document.size());
        self.out.extend_from_slice(self.lead);
        write_projected(&document, self.projection, self.out)
    }
}

/// An item as JSON, or the parts of it that are wanted.
pub(super) fn write_projected(
    document: &Document<'_>,
    projection: Option<&Projection>,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let Some(projection) = projection else { return document.write_json(out).map_err(internal) };
    match projection.names() {
        Some(names) => document.write_json_of(&names, out).map_err(internal),
        None => {
            let item = document.decode().map_err(internal)?;
            json::write_item(&projection.apply(&item), out);
            Ok(())
        }
    }
}

impl Sink for OneItem<'_> {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.fault = self.write(&row).err();
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
