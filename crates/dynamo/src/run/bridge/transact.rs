//! TransactWriteItems and TransactGetItems on tables of CQL.
//!
//! All rows are CQL's, so the locks are too: their partitions are locked as a transaction of CQL locks them, rows are read, conditions
//! judged, and the writes are one commit. Tables of both dialects do not go together: they are locked in different ways. Client tokens
//! are remembered by the server, not by the store: a restart forgets them.

use super::super::table::OpenTable;
use super::super::transact::{Action, Outcome, Reason, cancelled, reasons_of};
use super::super::write::{Change, Refused, Written};
use super::super::{Caller, Dynamo, layout, query_error};
use super::read::row_restrictions;
use super::write::{check_columns, delete, insert};
use crate::document;
use crate::error::ApiError;
use crate::messages::Rule;
use crate::request::TransactGet;
use crate::size;
use crate::value::Item;
use database::grants::Permission;
use model::key::PartitionKey;
use query::write::{WritePlan, exclusive_mutations};
use std::collections::HashSet;
use std::sync::Arc;
use store::{Stamped, Store, TableId};

/// What an action makes of its row: the outcome, and the write if there is one.
type Judged = (Written, Option<WritePlan>);

impl<S: Store> Dynamo<S> {
    /// Whether all of these are tables of CQL.
    pub(in super::super) fn all_of_cql<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<bool, ApiError> {
        let of_cql = |name: &str| name.contains('.') && self.open_cql(name).is_some();
        let (mut cql, mut own) = (None, None);
        for name in names {
            if of_cql(name) { cql = cql.or(Some(name)) } else { own = own.or(Some(name)) }
        }
        match (cql, own) {
            (Some(cql), Some(own)) => Err(ApiError::validation(format!(
                "A transaction cannot have tables of both dialects: {cql} is a table of CQL and {own} is not. Make two transactions"
            ))),
            (cql, _) => Ok(cql.is_some()),
        }
    }

    /// All writes, or none.
    pub(in super::super) async fn cql_write_all(
        &self,
        caller: &Caller<'_>,
        all: &[Action],
        token: Option<&str>,
        digest: u64,
    ) -> Result<(Vec<Arc<OpenTable>>, Outcome), ApiError> {
        let mut tables = Vec::with_capacity(all.len());
        for action in all {
            let permission = match &action.change {
                Change::Check(_) => Permission::Select,
                _ => Permission::Modify,
            };
            tables.push(self.open_any(caller, permission, &action.table)?);
        }
        let held = match token {
            None => None,
            Some(token) => match self.shared.tokens.hold(token, digest, caller.now_ms())? {
                Some(held) => Some(held),
                None => return Ok((tables, Outcome::Replayed(vec![0; all.len()]))),
            },
        };
        let mut checked = Vec::with_capacity(all.len());
        let mut places = Vec::with_capacity(all.len());
        let mut seen = HashSet::new();
        for (table, action) in tables.iter().zip(all) {
            let key = action.change.key(&table.definition);
            let outcome = check(table, action).map_err(|error| Refused::Invalid(error));
            if outcome.is_ok()
                && !seen.insert((table.id, layout::item_place(&table.definition.key_of_request(&key)?)?))
            {
                return Err(Rule::TransactSameItem.refuse(&[]));
            }
            places.push(key);
            checked.push(outcome);
        }
        if checked.iter().any(Result::is_err) {
            let outcomes = checked.into_iter().map(|one| one.map(|()| Written::default())).collect();
            return Err(cancelled(&reasons_of(outcomes, all)));
        }
        let partitions = self.cql_partitions(caller, &tables, &places)?;
        let work = async || {
            let (mut outcomes, mut plans) = (Vec::with_capacity(all.len()), Vec::new());
            for ((table, action), key) in tables.iter().zip(all).zip(&places) {
                let judged = self.cql_judge(caller, table, action, key).await?;
                outcomes.push(judged.map(|(written, plan)| {
                    plans.extend(plan.map(Arc::new));
                    written
                }));
            }
            let context = self.context(self.plain_request(caller));
            let mutations = match outcomes.iter().all(Result::is_ok) {
                true => exclusive_mutations(&context, &plans).map_err(query_error)?,
                false => Vec::new(),
            };
            Ok::<_, ApiError>((outcomes, mutations))
        };
        let outcomes = self.runtime.store.exclusively(partitions, stamped(caller), work).await?;
        if outcomes.iter().any(Result::is_err) {
            return Err(cancelled(&reasons_of(outcomes, all)));
        }
        if let Some(held) = held {
            held.keep(caller.now_ms());
        }
        Ok((tables, Outcome::Done(outcomes.into_iter().filter_map(Result::ok).collect())))
    }

    /// Items at one moment, as they would be stored.
    pub(in super::super) async fn cql_get_all(
        &self,
        caller: &Caller<'_>,
        gets: &[TransactGet],
    ) -> Result<(Vec<Arc<OpenTable>>, Vec<Option<Vec<u8>>>), ApiError> {
        let mut tables = Vec::with_capacity(gets.len());
        for get in gets {
            tables.push(self.open_any(caller, Permission::Select, &get.table)?);
        }
        let mut seen = HashSet::new();
        let mut reasons = Vec::with_capacity(gets.len());
        for (table, get) in tables.iter().zip(gets) {
            match table.definition.key_of_request(&get.key).and_then(|key| layout::item_place(&key)) {
                Ok(place) if !seen.insert((table.id, place.clone())) => {
                    return Err(Rule::TransactSameItem.refuse(&[]));
                }
                Ok(_) => reasons.push(Reason::none()),
                Err(error) => reasons.push(Reason::validation(&error)),
            }
        }
        if seen.len() < gets.len() {
            return Err(cancelled(&reasons));
        }
        let keys: Vec<Item> = gets.iter().map(|get| get.key.clone()).collect();
        let partitions = self.cql_partitions(caller, &tables, &keys)?;
        let work = async || {
            let mut found = Vec::with_capacity(gets.len());
            for (table, get) in tables.iter().zip(gets) {
                let item = self.cql_item(caller, table, &get.key).await?;
                found.push(item.as_ref().map(document::encode));
            }
            Ok::<_, ApiError>((found, Vec::new()))
        };
        let found = self.runtime.store.exclusively(partitions, stamped(caller), work).await?;
        Ok((tables, found))
    }

    fn cql_partitions(
        &self,
        caller: &Caller<'_>,
        tables: &[Arc<OpenTable>],
        keys: &[Item],
    ) -> Result<Vec<(TableId, PartitionKey)>, ApiError> {
        let request = self.plain_request(caller);
        let mut partitions = Vec::with_capacity(keys.len());
        for (table, key) in tables.iter().zip(keys) {
            let restrictions = row_restrictions(&table.table, key)?;
            let found = restrictions.keys(&request, &*self.runtime.ids).map_err(query_error)?;
            partitions.extend(found.into_iter().map(|key| (table.id, key)));
        }
        Ok(partitions)
    }

    /// What an action makes of its row as it is, while nobody else may change it.
    async fn cql_judge(
        &self,
        caller: &Caller<'_>,
        open: &OpenTable,
        action: &Action,
        key: &Item,
    ) -> Result<Result<Judged, Refused>, ApiError> {
        let table = &open.table;
        let row = self.cql_row(caller, open, key).await?;
        let old = row.as_ref().map(|row| super::item_of(table, row));
        if action.condition.as_ref().is_some_and(|condition| !condition.holds(old.as_ref())) {
            return Ok(Err(Refused::Condition { old: old.filter(|_| action.item_on_failure) }));
        }
        let mut written = Written { old_size: old.as_ref().map(size::item), ..Written::default() };
        match &action.change {
            Change::Put(item) => written.new = Some(item.clone()),
            Change::Delete(_) => {}
            Change::Check(_) => {
                written.new_size = written.old_size;
                return Ok(Ok((written, None)));
            }
            Change::Update { update, .. } => match update.apply(old.as_ref(), key) {
                Ok(updated) => written.new = Some(updated.item),
                Err(error) => return Ok(Err(Refused::Invalid(error))),
            },
        }
        written.new_size = written.new.as_ref().map(size::item);
        if written.new_size.is_some_and(|size| size > size::ITEM_MAX) {
            return Ok(Err(Refused::Invalid(Rule::ItemSizeToUpdate.refuse(&[]))));
        }
        let plan = match &written.new {
            Some(item) => insert(table, key, item, row.as_ref()).map(Some),
            None if row.is_some() => delete(table, key).map(Some),
            None => Ok(None),
        };
        Ok(match plan {
            Ok(plan) => Ok((written, plan.map(|plan| WritePlan { condition: None, ..plan }))),
            Err(error) => Err(Refused::Invalid(error)),
        })
    }
}

fn stamped(caller: &Caller<'_>) -> Stamped {
    Stamped { provisional_timestamp: caller.now_micros, now_seconds: caller.now_seconds() }
}

/// What can be told of an action without its row.
fn check(open: &OpenTable, action: &Action) -> Result<(), ApiError> {
    match &action.change {
        Change::Put(item) => {
            open.definition.key_of_item(item)?;
            check_columns(open, item.iter().map(|(name, _)| name))?;
        }
        Change::Update { key, update } => {
            open.definition.key_of_request(key)?;
            open.definition.check_update(update)?;
            check_columns(open, update.names())?;
        }
        Change::Delete(key) | Change::Check(key) => {
            open.definition.key_of_request(key)?;
        }
    }
    action.condition.as_ref().map_or(Ok(()), |condition| open.definition.check_condition(condition))
}
