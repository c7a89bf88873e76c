//! TransactWriteItems and TransactGetItems: all at one moment, or nothing.

use super::account::TOKENS;
use super::answer::{self, Consumed};
use super::layout::{self, internal};
use super::table::OpenTable;
use super::token::Token;
use super::write::{Change, Decided, Refused, Write, WriteAll, Written};
use super::{Caller, Dynamo, STALE_MAX, store_error};
use crate::capacity::{self, Consistency};
use crate::document::Document;
use crate::error::{ApiError, ErrorName};
use crate::expression::Condition;
use crate::json::{self, Writer};
use crate::messages::Rule;
use crate::request::{
    ReturnCapacity, TransactAction, TransactGet, TransactGetItems, TransactWrite, TransactWriteItems,
};
use crate::value::Item;
use database::grants::Permission;
use model::row::RowView;
use query::tenant::Access;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Decide, Moment, Mutation, Store, StoreError, Transaction, WantedRow};

/// One write of a transaction.
pub(super) struct Action {
    pub table: String,
    pub change: Change,
    pub condition: Option<Condition>,
    pub item_on_failure: bool,
    /// A failed condition means that the key is taken.
    pub is_insert: bool,
}

/// One reason of a cancelled transaction.
pub(super) struct Reason {
    pub code: &'static str,
    pub message: Option<String>,
    pub item: Option<Item>,
}

impl Reason {
    pub fn none() -> Reason {
        Reason { code: "None", message: None, item: None }
    }

    pub fn validation(error: &ApiError) -> Reason {
        Reason { code: "ValidationError", message: Some(error.message().to_string()), item: None }
    }
}

pub(super) fn cancelled(reasons: &[Reason]) -> ApiError {
    let codes: Vec<&str> = reasons.iter().map(|reason| reason.code).collect();
    let text = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let mut list = Vec::new();
    list.push(b'[');
    for (nth, reason) in reasons.iter().enumerate() {
        if nth > 0 {
            list.push(b',');
        }
        let mut object = Writer::object(&mut list);
        object.string("Code", reason.code);
        if let Some(message) = &reason.message {
            object.string("Message", message);
        }
        if let Some(item) = &reason.item {
            object.item("Item", item);
        }
        object.end();
    }
    list.push(b']');
    ApiError::new(ErrorName::TransactionCanceled, text).with("CancellationReasons", list)
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn transact_write(
        &self,
        caller: &Caller<'_>,
        request: TransactWriteItems,
    ) -> Result<Vec<u8>, ApiError> {
        let TransactWriteItems { actions, token, return_capacity, return_metrics, digest } = request;
        let mut all = Vec::with_capacity(actions.len());
        for action in actions {
            let change = match action.write.clone() {
                TransactWrite::Check { key } => Change::Check(key),
                TransactWrite::Put { item } => Change::Put(item),
                TransactWrite::Update { key, update } => Change::Update { key, update },
                TransactWrite::Delete { key } => Change::Delete(key),
            };
            let TransactAction { table, condition, item_on_failure, .. } = action;
            all.push(Action { table, change, condition, item_on_failure, is_insert: false });
        }
        let (tables, outcome) = match self.all_of_cql(all.iter().map(|action| action.table.as_str()))? {
            true => self.cql_write_all(caller, &all, token.as_deref(), digest).await?,
            false => self.write_all(caller, &all, token.as_deref(), digest, false).await?,
        };
        let mut consumed = Vec::new();
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        match outcome {
            Outcome::Done(written) => {
                for (table, written) in tables.iter().zip(&written) {
                    let mut one = Consumed::write_of(table, written, 2.0);
                    one.kind = Some("WriteCapacityUnits");
                    answer::gather(&mut consumed, one);
                }
                if return_metrics {
                    let mut metrics: Vec<(String, Vec<u8>)> = Vec::new();
                    for (table, Action { change, .. }) in tables.iter().zip(&all) {
                        let (Change::Put(item)
                        | Change::Update { key: item, .. }
                        | Change::Delete(item)
                        | Change::Check(item)) = change;
                        if table.definition.has_local_indexes() && !matches!(change, Change::Check(_)) {
                            let mut text = Vec::new();
                            answer::put_collection(&mut text, table, item);
                            metrics.push((table.definition.name.clone(), text));
                        }
                    }
                    if !metrics.is_empty() {
                        metrics.sort();
                        metrics.dedup();
                        let mut by_table = object.nested("ItemCollectionMetrics");
                        for group in metrics.chunk_by(|a, b| a.0 == b.0) {
                            let name = group.first().map(|(name, _)| name.as_str()).unwrap_or_default();
                            by_table.list(name, group, |(_, text), out| out.extend_from_slice(text));
                        }
                        by_table.end();
                    }
                }
            }
            Outcome::Replayed(sizes) => {
                for (table, size) in tables.iter().zip(sizes) {
                    let units = capacity::read(size, Consistency::Transaction);
                    let mut one = Consumed::table(table, units);
                    one.kind = Some("ReadCapacityUnits");
                    answer::gather(&mut consumed, one);
                }
            }
        }
        answer::capacity_list(&mut object, return_capacity, &consumed);
        object.end();
        Ok(out)
    }

    /// Several writes as one, by the tables' current definitions.
    pub(super) async fn write_all(
        &self,
        caller: &Caller<'_>,
        all: &[Action],
        token: Option<&str>,
        digest: u64,
        wants_old: bool,
    ) -> Result<(Vec<Arc<OpenTable>>, Outcome), ApiError> {
        for _ in 0..STALE_MAX {
            let mut tables = Vec::with_capacity(all.len());
            for action in all {
                let permission = match &action.change {
                    Change::Check(_) => Permission::Select,
                    _ => Permission::Modify,
                };
                tables.push(self.open_for_keys(caller, permission, &action.table)?);
            }
            let token = match token {
                Some(text) => Token::new(self.account_store(caller, TOKENS).await?, caller, text, digest),
                None => None,
            };
            let mut writes = Vec::with_capacity(all.len());
            let mut refused = Vec::with_capacity(all.len());
            let mut seen = HashSet::new();
            for (table, action) in tables.iter().zip(all) {
                match Write::new(table, action.change.clone(), action.condition.clone()) {
                    Ok(mut write) => {
                        if !seen.insert((table.id, write.place.key.clone(), write.place.clustering.clone())) {
                            return Err(Rule::TransactSameItem.refuse(&[]));
                        }
                        write.item_on_failure = action.item_on_failure;
                        write.wants_old = wants_old;
                        self.admit_write(caller, &write)?;
                        writes.push(write);
                        refused.push(None);
                    }
                    Err(error) if error.message().contains("cannot contain an empty") => return Err(error),
                    Err(error) => refused.push(Some(error)),
                }
            }
            for table in &tables {
                self.throttle_write(caller, table)?;
            }
            if writes.is_empty() {
                let outcomes =
                    refused.into_iter().flatten().map(|error| Err(Refused::Invalid(error))).collect();
                return Err(cancelled(&reasons_of(outcomes, all)));
            }
            // The others are judged too: each action has its own reason.
            let judge_only = writes.len() < all.len();
            let token = token.filter(|_| !judge_only);
            let rows = token.iter().map(Token::wanted).chain(writes.iter().map(Write::wanted)).collect();
            let decide = WriteAll { token, writes, judge_only };
            let transaction = Transaction { rows, decide, now_seconds: caller.now_seconds() };
            match self.runtime.store.transact(transaction).await.map_err(store_error)? {
                Decided::Done(written) => {
                    for (table, written) in tables.iter().zip(&written) {
                        written.count(table);
                        self.charge_write(table, 2.0 * written.table_units());
                    }
                    return Ok((tables, Outcome::Done(written)));
                }
                Decided::Replayed(sizes) => return Ok((tables, Outcome::Replayed(sizes))),
                Decided::Mismatch => return Err(Rule::TokenMismatch.refuse(&[])),
                Decided::Cancelled(outcomes) => {
                    let mut judged = outcomes.into_iter();
                    let outcome = |refused: Option<ApiError>| match refused {
                        Some(error) => Err(Refused::Invalid(error)),
                        None => judged.next().unwrap_or_else(|| Ok(Written::default())),
                    };
                    let outcomes = refused.into_iter().map(outcome).collect();
                    return Err(cancelled(&reasons_of(outcomes, all)));
                }
                Decided::Stale => {
                    for (table, action) in tables.iter().zip(all) {
                        self.look_again(table, &action.table).await;
                    }
                }
            }
        }
        Err(internal("the tables' definitions change all the time"))
    }

    pub(super) async fn transact_get(
        &self,
        caller: &Caller<'_>,
        request: TransactGetItems,
    ) -> Result<Vec<u8>, ApiError> {
        let (tables, documents) = match self.all_of_cql(request.gets.iter().map(|get| get.table.as_str()))? {
            true => self.cql_get_all(caller, &request.gets).await?,
            false => self.get_all(caller, &request.gets).await?,
        };
        let mut consumed = Vec::new();
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let list = object.key("Responses");
        list.push(b'[');
        for (nth, ((table, document), get)) in tables.iter().zip(&documents).zip(&request.gets).enumerate() {
            if nth > 0 {
                list.push(b',');
            }
            let document = document.as_deref().map(Document::new).transpose().map_err(internal)?;
            let size = document.as_ref().map_or(0, |document| document.size());
            put_response(document.as_ref(), get, list)?;
            if request.return_capacity != ReturnCapacity::None {
                let mut one = Consumed::table(table, capacity::read(size, Consistency::Transaction));
                one.kind = Some("ReadCapacityUnits");
                answer::gather(&mut consumed, one);
            }
        }
        list.push(b']');
        answer::capacity_list(&mut object, request.return_capacity, &consumed);
        object.end();
        Ok(out)
    }

    /// The stored items as they were at one moment.
    pub(super) async fn get_all(
        &self,
        caller: &Caller<'_>,
        gets: &[TransactGet],
    ) -> Result<(Vec<Arc<OpenTable>>, Vec<Option<Vec<u8>>>), ApiError> {
        let mut tables = Vec::with_capacity(gets.len());
        for get in gets {
            tables.push(self.open_for_keys(caller, Permission::Select, &get.table)?);
        }
        let mut rows = Vec::with_capacity(gets.len());
        let mut reasons = Vec::with_capacity(gets.len());
        let mut seen = HashSet::new();
        for (table, get) in tables.iter().zip(gets) {
            if let Some(projection) = &get.projection {
                table.definition.check_projection(projection)?;
            }
            match table.definition.key_of_request(&get.key).and_then(|key| layout::item_place(&key)) {
                Ok(place) => {
                    self.admit(caller, table, Access::Read, &place.key)?;
                    if !seen.insert((table.id, place.key.clone(), place.clustering.clone())) {
                        return Err(Rule::TransactSameItem.refuse(&[]));
                    }
                    rows.push(WantedRow { table: table.id, key: place.key, clustering: place.clustering });
                    reasons.push(Reason::none());
                }
                Err(error) => reasons.push(Reason::validation(&error)),
            }
        }
        if rows.len() < gets.len() {
            return Err(cancelled(&reasons));
        }
        let columns = tables.iter().map(|table| table.column).collect();
        let transaction = Transaction { rows, decide: Look { columns }, now_seconds: caller.now_seconds() };
        let documents = self.runtime.store.transact(transaction).await.map_err(store_error)?;
        Ok((tables, documents))
    }
}

/// What a transaction has come to.
pub(super) enum Outcome {
    Done(Vec<Written>),
    Replayed(Vec<usize>),
}

/// Looks at rows and changes nothing.
struct Look {
    columns: Vec<u32>,
}

impl Decide for Look {
    type Outcome = Vec<Option<Vec<u8>>>;

    fn decide(
        self,
        rows: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<(Self::Outcome, Vec<Mutation>), StoreError> {
        let look = |(row, column): (&Option<RowView<'_>>, &u32)| {
            let bytes = layout::document_bytes(row.as_ref()?, *column, moment.now_seconds)?;
            Some(bytes.to_vec())
        };
        Ok((rows.iter().zip(&self.columns).map(look).collect(), Vec::new()))
    }
}

fn put_response(
    document: Option<&Document<'_>>,
    get: &TransactGet,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let Some(document) = document else {
        out.extend_from_slice(b"{}");
        return Ok(());
    };
    match &get.projection {
        None => {
            out.extend_from_slice(b"{\"Item\":");
            document.write_json(out).map_err(internal)?;
            out.push(b'}');
        }
        Some(projection) => {
            // A projection that matches nothing leaves nothing, not even an empty item.
            let item = projection.apply(&document.decode().map_err(internal)?);
            let mut object = Writer::object(out);
            if !item.is_empty() {
                json::write_item(&item, object.key("Item"));
            }
            object.end();
        }
    }
    Ok(())
}

pub(super) fn reasons_of(outcomes: Vec<Result<Written, Refused>>, all: &[Action]) -> Vec<Reason> {
    let reason = |(outcome, action): (Result<Written, Refused>, &Action)| match outcome {
        Ok(_) | Err(Refused::Stale(_)) => Reason::none(),
        Err(Refused::Condition { .. }) if action.is_insert => Reason {
            code: "DuplicateItem",
            message: Some("Duplicate primary key exists in table".into()),
            item: None,
        },
        Err(Refused::Condition { old }) => Reason {
            code: "ConditionalCheckFailed",
            message: Some("The conditional request failed".into()),
            item: old,
        },
        Err(Refused::Invalid(error)) => Reason::validation(&error),
    };
    outcomes.into_iter().zip(all).map(reason).collect()
}
