//! Tenants of this API: a caller that is bound to some reaches the items of these and nothing else.
//!
//! A table is opened for a caller in one of two ways. [`Dynamo::open_for`] refuses a caller that is bound to tenants of the table, so every operation
//! that was not thought of here is closed to it: Scan, SearchVectors, streams, backups, exports, changes of the table. [`Dynamo::open_for_keys`] lets it in, and
//! its users ask [`Dynamo::admit`] about every partition before it is read or written.

use super::table::OpenTable;
use super::write::{Change, Write};
use super::{Caller, Dynamo, query_error};
use crate::error::ApiError;
use crate::operation::Operation;
use crate::table::Index;
use database::grants::Permission;
use database::tenants::{Admission, Refusal};
use model::key::PartitionKey;
use query::tenant::{Access, first_value};
use std::sync::Arc;
use store::{Store, Work};

impl<S: Store> Dynamo<S> {
    /// Executes a request where some table has tenants, and counts what it used.
    pub(super) async fn execute_tenanted(
        &self,
        caller: &Caller<'_>,
        operation: Operation,
        body: &[u8],
    ) -> Result<Vec<u8>, ApiError> {
        let admission = Admission::borrowed(&self.runtime, caller.grants, caller.now_micros);
        let gated =
            Caller { gate: Some(&admission), ..Caller::new(caller.grants, caller.now_micros, caller.host) };
        let outcome = Box::pin(self.execute(&gated, operation, body)).await;
        // Whoever counts and explains looks at the caller that was given.
        caller.seen.replace(gated.seen.take());
        caller.items.set(gated.items.get());
        let answered = outcome.as_ref().map_or(0, Vec::len) as u64;
        let writes = matches!(
            operation,
            Operation::PutItem
                | Operation::UpdateItem
                | Operation::DeleteItem
                | Operation::BatchWriteItem
                | Operation::TransactWriteItems
        );
        if writes {
            admission.wrote_together(body.len());
        }
        admission.finish(&Work { bytes: answered, ..Work::default() });
        outcome
    }

    /// The table for a caller that may do this with some of its items. What it touches has to be admitted.
    pub(super) fn open_for_keys(
        &self,
        caller: &Caller<'_>,
        permission: Permission,
        name: &str,
    ) -> Result<Arc<OpenTable>, ApiError> {
        self.open_permitted(caller, permission, name)
    }

    /// Refuses a caller that is bound to tenants of a table what reaches further than their items.
    pub(super) fn refuse_bound(&self, caller: &Caller<'_>, open: &OpenTable) -> Result<(), ApiError> {
        let Some(grants) = caller.grants.filter(|grants| grants.is_bound()) else { return Ok(()) };
        match grants.tenants(&open.table) {
            Some(_) => Err(query_error(Refusal::of(grants, &open.table))),
            None => Ok(()),
        }
    }

    /// Asks whether the caller may touch a partition of a table.
    #[inline]
    pub(super) fn admit(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        access: Access,
        key: &PartitionKey,
    ) -> Result<(), ApiError> {
        match caller.gate {
            Some(gate) if table.table.has_tenants() => {
                gate.tenant(&table.table, access, key.bytes()).map_err(query_error)
            }
            _ => Ok(()),
        }
    }

    /// The same of an item that is written. A condition tells about the item, so it needs the right to read as well.
    #[inline]
    pub(super) fn admit_write(&self, caller: &Caller<'_>, write: &Write) -> Result<(), ApiError> {
        let Some(gate) = caller.gate.filter(|_| write.table.table.has_tenants()) else { return Ok(()) };
        let (table, tenant) = (&write.table.table, write.place.key.bytes());
        let checks = matches!(write.change, Change::Check(_));
        if checks || write.condition.is_some() || write.wants_old {
            gate.tenant(table, Access::Read, tenant).map_err(query_error)?;
        }
        if !checks {
            gate.tenant(table, Access::Write, tenant).map_err(query_error)?;
        }
        Ok(())
    }

    /// The same of a partition of the table or one of its indexes, which may hold items of several tenants.
    pub(super) fn admit_read(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        index: Option<&Index>,
        partitions: &store::Partitions,
    ) -> Result<(), ApiError> {
        let Some(gate) = caller.gate.filter(|_| table.table.has_tenants()) else { return Ok(()) };
        let hash = index.map_or(&table.definition.key, |index| &index.key).hash.as_slice();
        let leads = hash.first().is_some_and(|attribute| *attribute.name == *table.table.options.tenant);
        match partitions {
            store::Partitions::One(key) if leads => {
                let tenant = first_value(hash.len() > 1, key.bytes());
                gate.tenant(&table.table, Access::Read, tenant).map_err(query_error)
            }
            _ => gate.all(&table.table, Access::Read).map_err(query_error),
        }
    }
}
