//! PutItem, UpdateItem and DeleteItem on a table of CQL.
//!
//! The row is read, the new item is computed, and the change is committed on the condition that the row is still what was read. If it is
//! not, all is done again. So a condition of this API holds at the moment of the commit, and the commit is an ordinary one of CQL.

use super::super::item::{shown, written_answer};
use super::super::table::OpenTable;
use super::super::write::{Change, Written};
use super::super::{Caller, Dynamo, query_error, store_error};
use super::read::row_restrictions;
use super::{Row, bytes_of, item_of, key_bytes};
use crate::error::{ApiError, ErrorName};
use crate::messages::Rule;
use crate::request::{DeleteItem, PutItem, ReturnValues, UpdateItem, WriteOptions};
use crate::size;
use crate::value::Item;
use query::Values;
use query::expr::Expr;
use query::write::{
    Assignment, AssignmentKind, ConditionPlan, Keys, Masks, WriteKind, WritePlan, conditional_commit,
};
use schema::{Column, Table};
use std::sync::Arc;
use store::{CellCondition, Comparison, Store, Subject, Tree};

/// A row that changes so often between reading and writing is a hot one.
const ATTEMPTS_MAX: usize = 50;

impl<S: Store> Dynamo<S> {
    pub(super) async fn cql_put(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        put: PutItem,
    ) -> Result<Vec<u8>, ApiError> {
        open.definition.key_of_item(&put.item)?;
        check_columns(open, put.item.iter().map(|(name, _)| name))?;
        let written = self.cql_write(caller, open, &Change::Put(put.item), &put.options).await?;
        Ok(answer(open, &put.options, &written))
    }

    pub(super) async fn cql_delete(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        delete: DeleteItem,
    ) -> Result<Vec<u8>, ApiError> {
        open.definition.key_of_request(&delete.key)?;
        let written = self.cql_write(caller, open, &Change::Delete(delete.key), &delete.options).await?;
        Ok(answer(open, &delete.options, &written))
    }

    pub(super) async fn cql_update(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        update: UpdateItem,
    ) -> Result<Vec<u8>, ApiError> {
        let UpdateItem { key, update, options, .. } = update;
        open.definition.key_of_request(&key)?;
        open.definition.check_update(&update)?;
        check_columns(open, update.names())?;
        let written = self.cql_write(caller, open, &Change::Update { key, update }, &options).await?;
        Ok(answer(open, &options, &written))
    }

    pub(in super::super) async fn cql_write(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        change: &Change,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let table = &open.table;
        let key = &change.key(&open.definition);
        if let Some(condition) = &options.condition {
            open.definition.check_condition(condition)?;
        }
        for _ in 0..ATTEMPTS_MAX {
            let row = self.cql_row(caller, open, key).await?;
            let old = row.as_ref().map(|row| item_of(table, row));
            if options.condition.as_ref().is_some_and(|condition| !condition.holds(old.as_ref())) {
                return Err(ApiError::condition_failed(old.as_ref().filter(|_| options.item_on_failure)));
            }
            let mut written = Written { old_size: old.as_ref().map(size::item), ..Written::default() };
            match change {
                Change::Put(item) => written.new = Some(item.clone()),
                Change::Delete(_) | Change::Check(_) => {}
                Change::Update { update, .. } => {
                    let updated = update.apply(old.as_ref(), key)?;
                    written.updated_old = updated.updated_old;
                    written.updated_new = updated.updated_new;
                    written.new = Some(updated.item);
                }
            }
            written.new_size = written.new.as_ref().map(size::item);
            if written.new_size.is_some_and(|size| size > size::ITEM_MAX) {
                return Err(Rule::ItemSizeToUpdate.refuse(&[]));
            }
            let plan = match &written.new {
                Some(item) => Some(insert(table, key, item, row.as_ref())?),
                None if row.is_some() => Some(delete(table, key)?),
                None => None,
            };
            written.old = old;
            let Some(plan) = plan else { return Ok(written) };
            if self.cql_commit(caller, &plan, row.as_ref()).await? {
                return Ok(written);
            }
            tokio::task::yield_now().await;
        }
        Err(ApiError::new(
            ErrorName::Throttling,
            "The row was changed by others each time this write was about to be made; try again later",
        ))
    }

    /// Commits if the row is still what was read; says whether it was.
    async fn cql_commit(
        &self,
        caller: &Caller<'_>,
        plan: &WritePlan,
        row: Option<&Row>,
    ) -> Result<bool, ApiError> {
        let context = self.context(self.plain_request(caller));
        let mut commit = conditional_commit(&context, &[plan], &[Values::NONE]).map_err(query_error)?;
        let table = &plan.table;
        for check in &mut commit.checks {
            check.exists = Some(row.is_some());
            let Some(row) = row else { continue };
            let places = table.columns().zip(row).skip(table.primary_key().count());
            check.conditions = places.map(|(column, seen)| Tree::from(is(column, seen.clone()))).collect();
        }
        let outcome = context.store.commit_if(commit).await.map_err(store_error)?;
        Ok(outcome.applied)
    }
}

fn answer(open: &OpenTable, options: &WriteOptions, written: &Written) -> Vec<u8> {
    let wanted = match (options.return_values, &written.new) {
        (ReturnValues::AllOld, _) | (_, Some(_)) => shown(options.return_values, written),
        (_, None) => None,
    };
    written_answer(open, options, written, wanted)
}

/// Attributes are columns: there are no others.
pub(in super::super) fn check_columns<'n>(
    open: &OpenTable,
    names: impl Iterator<Item = &'n str>,
) -> Result<(), ApiError> {
    let table = &open.table;
    let mut unknown = names.filter(|name| table.column(name).is_none());
    match unknown.next() {
        None => Ok(()),
        Some(name) => Err(ApiError::validation(format!(
            "One or more parameter values were invalid: the CQL table {}.{} has no column {name}. Add it with ALTER TABLE",
            table.keyspace, table.name
        ))),
    }
}

/// The column has this value.
fn is(column: &Column, value: Option<Vec<u8>>) -> CellCondition {
    CellCondition {
        column: column.id,
        is_static: false,
        data_type: column.data_type.clone(),
        path: Vec::new(),
        subject: Subject::Value,
        comparison: Comparison::Equal,
        values: vec![value],
    }
}

fn plan(table: &Arc<Table>, kind: WriteKind, keys: Keys, assignments: Vec<Assignment>) -> WritePlan {
    WritePlan {
        table: table.clone(),
        kind,
        keys,
        assignments,
        statics_only: false,
        timestamp: None,
        ttl: None,
        // Replaced by the check of what was read.
        condition: Some(ConditionPlan::Exists),
        masks: Masks::default(),
        checked: table.is_looked_at(),
        json: None,
        calls: Vec::new(),
    }
}

/// Makes the row the item: every column that is not as it should be is set, and the row exists even if it has keys only.
pub(super) fn insert(
    table: &Arc<Table>,
    key: &Item,
    item: &Item,
    before: Option<&Row>,
) -> Result<WritePlan, ApiError> {
    let keys = table.primary_key().count();
    let mut assignments = Vec::new();
    for (place, column) in table.regulars.iter().enumerate() {
        let wanted = bytes_of(table, column, item)?;
        let had = before.and_then(|row| row.get(keys + place)).cloned().flatten();
        if wanted == had {
            continue;
        }
        let value = match wanted {
            Some(bytes) => Expr::constant(column.data_type.clone(), bytes),
            None => Expr::null(column.data_type.clone()),
        };
        assignments.push(Assignment {
            column: column.id,
            name: column.name.clone(),
            is_static: false,
            data_type: column.data_type.clone(),
            kind: AssignmentKind::Set(value),
        });
    }
    assignments.sort_by_key(|assignment| assignment.column);
    let constant = |column: &Column| {
        Ok::<_, ApiError>(Expr::constant(column.data_type.clone(), key_bytes(table, column, key)?))
    };
    let keys = Keys::Values {
        partition: table.partition_key.iter().map(constant).collect::<Result<_, _>>()?,
        clustering: table.clustering.iter().map(constant).collect::<Result<_, _>>()?,
    };
    Ok(plan(table, WriteKind::Insert, keys, assignments))
}

pub(super) fn delete(table: &Arc<Table>, key: &Item) -> Result<WritePlan, ApiError> {
    let keys = Keys::Where(Box::new(row_restrictions(table, key)?));
    Ok(plan(table, WriteKind::Delete, keys, Vec::new()))
}
