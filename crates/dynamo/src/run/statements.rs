//! PartiQL: statements run as the requests that they mean.

use super::answer::{self, Consumed};
use super::item::shown;
use super::layout::internal;
use super::page::{BEGINNING, Page};
use super::table::OpenTable;
use super::transact::{Action, Outcome, Reason, cancelled};
use super::write::Change;
use super::{Caller, Dynamo};
use crate::capacity::{self, Consistency};
use crate::document::{self, Document};
use crate::error::{ApiError, ErrorName};
use crate::expression::{KeyTest, Projection};
use crate::json::{self, Writer};
use crate::messages::{Layer, Rule};
use crate::partiql::{self, Columns, Options, Parsed, Plan};
use crate::request::{
    BatchExecuteStatement, ExecuteStatement, ExecuteTransaction, Query, ReadOptions, ReturnCapacity,
    Statement, TransactGet, WriteOptions,
};
use crate::value::Item;
use database::grants::Permission;
use std::collections::HashSet;
use std::sync::Arc;
use store::Store;
use xxhash_rust::xxh3::xxh3_64;

/// What one statement gave.
#[derive(Default)]
struct Ran {
    /// Items as JSON, with commas between them.
    items: Vec<u8>,
    last: Option<Item>,
    consumed: Option<Consumed>,
}

impl<S: Store> Dynamo<S> {
    pub(super) async fn execute_statement(
        &self,
        caller: &Caller<'_>,
        execute: ExecuteStatement,
    ) -> Result<Vec<u8>, ApiError> {
        let ExecuteStatement { statement, next_token, limit, return_capacity } = execute;
        let digest = digest_of(&statement);
        let start = next_token.as_deref().map(|token| read_token(token, digest)).transpose()?;
        let parsed = partiql::parse(&statement)?;
        let options = Options {
            consistent: statement.consistent,
            limit,
            return_capacity,
            item_on_failure: statement.item_on_failure,
        };
        let ran = self.run_statement(caller, &parsed, options, start, columns(&parsed)).await?;
        let mut out = Vec::with_capacity(ran.items.len() + 64);
        let mut object = Writer::object(&mut out);
        let list = object.key("Items");
        list.push(b'[');
        list.extend_from_slice(&ran.items);
        list.push(b']');
        if let Some(last) = &ran.last {
            object.string("NextToken", &token_text(last, digest));
            object.item("LastEvaluatedKey", last);
        }
        if let Some(consumed) = &ran.consumed {
            consumed.write(&mut object, return_capacity);
        }
        object.end();
        Ok(out)
    }

    async fn run_statement(
        &self,
        caller: &Caller<'_>,
        parsed: &Parsed,
        options: Options,
        start: Option<Item>,
        columns: Option<&Columns>,
    ) -> Result<Ran, ApiError> {
        let permission = if parsed.is_read() { Permission::Select } else { Permission::Modify };
        let table = self.open_for_keys(caller, permission, parsed.table())?;
        let plan = parsed.plan(&table.definition, options)?;
        self.watch_plan(caller, &table, &plan)?;
        match plan {
            Plan::Query(mut query) => {
                query.read.start_key = start;
                let page = self.query_page(caller, &table, &query, columns).await?;
                Ok(self.ran(&table, &query.read, page))
            }
            Plan::Scan(mut scan) => {
                scan.read.start_key = start;
                let page = self.scan_page(caller, &table, &scan, columns).await?;
                Ok(self.ran(&table, &scan.read, page))
            }
            Plan::Insert(put) => {
                let change = Change::Put(put.item);
                self.run_write(caller, parsed.table(), change, &put.options).await.map_err(
                    |error| match error.name() {
                        ErrorName::ConditionalCheckFailed => Rule::StatementDuplicate.refuse(&[]),
                        _ => error,
                    },
                )
            }
            Plan::Update(update) => {
                let change = Change::Update { key: update.key, update: update.update };
                self.run_write(caller, parsed.table(), change, &update.options).await
            }
            Plan::Delete(delete) => {
                self.run_write(caller, parsed.table(), Change::Delete(delete.key), &delete.options).await
            }
            Plan::Check { .. } => {
                Err(ApiError::validation("EXISTS can only be used in ExecuteTransaction write requests."))
            }
        }
    }

    fn ran(&self, table: &OpenTable, read: &ReadOptions, mut page: Page) -> Ran {
        let consumed = self.page_consumed(table, read, &page);
        let beginning = BEGINNING.len().min(page.items.len());
        Ran { items: page.items.split_off(beginning), last: page.last, consumed: Some(consumed) }
    }

    async fn run_write(
        &self,
        caller: &Caller<'_>,
        table: &str,
        change: Change,
        options: &WriteOptions,
    ) -> Result<Ran, ApiError> {
        let (table, written) = self.write_one(caller, table, change, options, false).await?;
        let mut items = Vec::new();
        if let Some(item) = shown(options.return_values, &written) {
            json::write_item(item, &mut items);
        }
        Ok(Ran { items, last: None, consumed: Some(Consumed::write_of(&table, &written, 1.0)) })
    }

    pub(super) async fn batch_statements(
        &self,
        caller: &Caller<'_>,
        batch: BatchExecuteStatement,
    ) -> Result<Vec<u8>, ApiError> {
        let parsed: Vec<Result<Parsed, ApiError>> = batch.statements.iter().map(partiql::parse).collect();
        let reads = parsed.iter().flatten().filter(|parsed| parsed.is_read()).count();
        if reads > 0 && reads < parsed.iter().flatten().count() {
            return Err(Rule::StatementBatchMixed.refuse(&[]));
        }
        let mut ready: Vec<Result<Parsed, ApiError>> = Vec::with_capacity(parsed.len());
        let mut seen = HashSet::new();
        for (parsed, statement) in parsed.into_iter().zip(&batch.statements) {
            let checked =
                parsed.and_then(|parsed| Ok((self.key_of_statement(caller, &parsed, statement)?, parsed)));
            ready.push(checked.and_then(
                |(key, parsed)| match seen.insert((parsed.table().to_string(), key)) {
                    true => Ok(parsed),
                    false => Err(Rule::BatchDuplicateKeys.refuse(&[])),
                },
            ));
        }
        if let Some(error) = ready.iter().find_map(|one| match one {
            Err(error) if error.message() == Rule::BatchDuplicateKeys.text(Layer::Older) => {
                Some(error.clone())
            }
            _ => None,
        }) {
            return Err(error);
        }
        let mut consumed = Vec::new();
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let list = object.key("Responses");
        list.push(b'[');
        for (nth, (parsed, statement)) in ready.into_iter().zip(&batch.statements).enumerate() {
            if nth > 0 {
                list.push(b',');
            }
            let mut response = Writer::object(list);
            // A statement that was refused before it ran names no table.
            let name = parsed.as_ref().map(|parsed| parsed.table().to_string()).ok();
            match self.run_of_batch(caller, parsed, statement).await {
                Ok(ran) => {
                    response.string("TableName", &name.unwrap_or_default());
                    if !ran.items.is_empty() {
                        response.key("Item").extend_from_slice(&ran.items);
                    }
                    if let Some(one) = ran.consumed {
                        answer::gather(&mut consumed, one);
                    }
                }
                Err(error) => {
                    let mut fault = response.nested("Error");
                    fault.string("Code", code_of(error.name()));
                    fault.string("Message", error.message());
                    if let Some(item) = error.extra("Item") {
                        fault.key("Item").extend_from_slice(item);
                    }
                    fault.end();
                    if let Some(name) = name {
                        response.string("TableName", &name);
                    }
                }
            }
            response.end();
        }
        list.push(b']');
        answer::capacity_list(&mut object, batch.return_capacity, &consumed);
        object.end();
        Ok(out)
    }

    /// The key of the one item that a statement of a batch is about.
    fn key_of_statement(
        &self,
        caller: &Caller<'_>,
        parsed: &Parsed,
        statement: &Statement,
    ) -> Result<Item, ApiError> {
        let permission = if parsed.is_read() { Permission::Select } else { Permission::Modify };
        let table = self.open_for_keys(caller, permission, parsed.table())?;
        let options = Options { consistent: statement.consistent, ..Options::default() };
        match parsed.plan(&table.definition, options)? {
            Plan::Query(query) if query.read.filter.is_some() && whole_key(&table, &query).is_some() => {
                Err(Rule::StatementBatchSingle.refuse(&[]))
            }
            Plan::Query(query) => {
                whole_key(&table, &query).ok_or_else(|| Rule::StatementBatchKey.refuse(&[]))
            }
            Plan::Scan(_) => Err(Rule::StatementBatchKey.refuse(&[])),
            Plan::Insert(put) => Ok(table.definition.key_attributes(&put.item)),
            Plan::Update(update) => Ok(update.key),
            Plan::Delete(delete) => Ok(delete.key),
            Plan::Check { key, .. } => Ok(key),
        }
    }

    async fn run_of_batch(
        &self,
        caller: &Caller<'_>,
        parsed: Result<Parsed, ApiError>,
        statement: &Statement,
    ) -> Result<Ran, ApiError> {
        let parsed = parsed?;
        let options = Options {
            consistent: statement.consistent,
            item_on_failure: statement.item_on_failure,
            ..Options::default()
        };
        // Unlike ExecuteStatement, a batch gives paths in the shape of the item.
        self.run_statement(caller, &parsed, options, None, None).await
    }

    pub(super) async fn transact_statements(
        &self,
        caller: &Caller<'_>,
        execute: ExecuteTransaction,
    ) -> Result<Vec<u8>, ApiError> {
        let mut parsed = Vec::with_capacity(execute.statements.len());
        let mut reasons = Vec::with_capacity(execute.statements.len());
        let mut tables = Vec::with_capacity(execute.statements.len());
        // A statement that cannot be read is told before what is wrong with those before it.
        let read = |(nth, statement)| partiql::parse(statement).map_err(|error| in_transaction(nth, error));
        let all = execute.statements.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        for (nth, one) in all.into_iter().enumerate() {
            if one.returning().is_some() {
                return Err(Rule::StatementTransactionReturning.refuse(&[&nth.to_string()]));
            }
            match self.open(one.table()) {
                Ok(table) => {
                    check_of_transaction(&one, &table).map_err(|error| in_transaction(nth, error))?;
                    tables.push(table);
                    reasons.push(Reason::none());
                }
                Err(error) => reasons.push(Reason {
                    code: "ResourceNotFound",
                    message: Some(error.message().to_string()),
                    item: None,
                }),
            }
            parsed.push(one);
        }
        if tables.len() < parsed.len() {
            return Err(cancelled(&reasons));
        }
        if parsed.iter().all(Parsed::is_read) {
            return self.transact_reads(caller, &execute, &parsed, &tables).await;
        }
        if parsed.iter().any(Parsed::is_read) {
            return Err(Rule::StatementBatchMixed.refuse(&[]));
        }
        let mut actions = Vec::with_capacity(parsed.len());
        for (nth, ((one, table), statement)) in
            parsed.iter().zip(&tables).zip(&execute.statements).enumerate()
        {
            let options = Options { item_on_failure: statement.item_on_failure, ..Options::default() };
            let plan = one.plan(&table.definition, options).map_err(|error| in_transaction(nth, error))?;
            self.watch_plan(caller, table, &plan)?;
            actions.push(action_of(plan, table, statement)?);
        }
        let (tables, outcome) =
            self.write_all(caller, &actions, execute.token.as_deref(), execute.digest, false).await?;
        let mut consumed = Vec::new();
        match outcome {
            Outcome::Done(written) => {
                for (table, written) in tables.iter().zip(&written) {
                    let mut one = Consumed::write_of(table, written, 2.0);
                    one.kind = Some("WriteCapacityUnits");
                    answer::gather(&mut consumed, one);
                }
            }
            Outcome::Replayed(sizes) => {
                for (table, size) in tables.iter().zip(sizes) {
                    let mut one = Consumed::table(table, capacity::read(size, Consistency::Transaction));
                    one.kind = Some("ReadCapacityUnits");
                    answer::gather(&mut consumed, one);
                }
            }
        }
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        object.list("Responses", &[] as &[()], |_, _| {});
        answer::capacity_list(&mut object, execute.return_capacity, &consumed);
        object.end();
        Ok(out)
    }

    async fn transact_reads(
        &self,
        caller: &Caller<'_>,
        execute: &ExecuteTransaction,
        parsed: &[Parsed],
        tables: &[Arc<OpenTable>],
    ) -> Result<Vec<u8>, ApiError> {
        let mut gets = Vec::with_capacity(parsed.len());
        for (nth, (one, table)) in parsed.iter().zip(tables).enumerate() {
            let plan = one.plan(&table.definition, Options::default());
            let plan = plan.map_err(|error| in_transaction(nth, error))?;
            self.watch_plan(caller, table, &plan)?;
            let key = match plan {
                Plan::Query(query) if query.read.filter.is_none() => whole_key(table, &query),
                _ => None,
            };
            let key = key.ok_or_else(|| in_transaction(nth, Rule::StatementTransactionKey.refuse(&[])))?;
            gets.push(TransactGet { table: one.table().to_string(), key, projection: None });
        }
        let (tables, documents) = self.get_all(caller, &gets).await?;
        let mut consumed = Vec::new();
        let mut out = Vec::new();
        let mut object = Writer::object(&mut out);
        let list = object.key("Responses");
        list.push(b'[');
        for (nth, ((table, found), one)) in tables.iter().zip(&documents).zip(parsed).enumerate() {
            if nth > 0 {
                list.push(b',');
            }
            let mut response = Writer::object(list);
            let document = found.as_deref().map(Document::new).transpose().map_err(internal)?;
            let size = document.as_ref().map_or(0, |document| document.size());
            if let Some(document) = document {
                let item = document.decode().map_err(internal)?;
                // Unlike ExecuteStatement, a transaction gives paths in the shape of the item.
                let item = match columns(one) {
                    Some(columns) => {
                        let paths = columns.0.iter().map(|(_, path)| path.clone()).collect();
                        Projection { paths }.apply(&item)
                    }
                    None => item,
                };
                response.item("Item", &item);
            }
            response.end();
            if execute.return_capacity != ReturnCapacity::None {
                let mut one = Consumed::table(table, capacity::read(size, Consistency::Transaction));
                one.kind = Some("ReadCapacityUnits");
                answer::gather(&mut consumed, one);
            }
        }
        list.push(b']');
        answer::capacity_list(&mut object, execute.return_capacity, &consumed);
        object.end();
        Ok(out)
    }
}

/// What can be told of a statement before the transaction: a SELECT must name one item, the others their key.
fn check_of_transaction(parsed: &Parsed, table: &OpenTable) -> Result<(), ApiError> {
    if matches!(parsed, Parsed::Select(select) if select.index.is_some()) {
        return Err(Rule::StatementTransactionIndex.refuse(&[]));
    }
    match parsed.plan(&table.definition, Options::default())? {
        Plan::Query(query) if query.read.filter.is_none() && whole_key(table, &query).is_some() => Ok(()),
        Plan::Query(_) | Plan::Scan(_) => Err(Rule::StatementTransactionKey.refuse(&[])),
        _ => Ok(()),
    }
}

/// A statement of a transaction is refused with its place.
fn in_transaction(nth: usize, error: ApiError) -> ApiError {
    if error.name() != ErrorName::Validation {
        return error;
    }
    let text = format!("Validation failed in TransactStatements[{nth}]: {}", error.message());
    error.reworded(text)
}

fn columns(parsed: &Parsed) -> Option<&Columns> {
    match parsed {
        Parsed::Select(select) => select.columns.as_ref(),
        _ => None,
    }
}

fn action_of(plan: Plan, table: &OpenTable, statement: &Statement) -> Result<Action, ApiError> {
    let (change, condition, is_insert) = match plan {
        Plan::Insert(put) => (Change::Put(put.item), put.options.condition, true),
        Plan::Update(update) => {
            (Change::Update { key: update.key, update: update.update }, update.options.condition, false)
        }
        Plan::Delete(delete) => (Change::Delete(delete.key), delete.options.condition, false),
        Plan::Check { key, condition } => (Change::Check(key), Some(condition), false),
        Plan::Query(_) | Plan::Scan(_) => return Err(Rule::StatementBatchMixed.refuse(&[])),
    };
    let (table, item_on_failure) = (table.definition.name.clone(), statement.item_on_failure);
    Ok(Action { table, change, condition, item_on_failure, is_insert })
}

/// The key of the one item that a query of the table can find.
fn whole_key(table: &OpenTable, query: &Query) -> Option<Item> {
    if query.read.index.is_some() {
        return None;
    }
    let mut key = Item::new();
    for (name, test) in &query.key_condition.tests {
        let KeyTest::Equal(value) = test else { return None };
        key.insert(name.as_str(), value.clone());
    }
    (key.len() == table.definition.key.attributes().count()).then_some(key)
}

/// What a token is bound to.
fn digest_of(statement: &Statement) -> u64 {
    xxh3_64(format!("{}\0{:?}", statement.text, statement.parameters).as_bytes())
}

fn token_text(last: &Item, digest: u64) -> String {
    let mut bytes = digest.to_be_bytes().to_vec();
    bytes.extend_from_slice(&document::encode(last));
    let mut text = Vec::new();
    json::encode_base64(&bytes, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn read_token(token: &str, digest: u64) -> Result<Item, ApiError> {
    let invalid = || Rule::NextTokenInvalid.refuse(&[]);
    let bytes = json::decode_base64(token.as_bytes()).map_err(|_| invalid())?;
    let (of, key) = bytes.split_first_chunk::<8>().ok_or_else(invalid)?;
    let key = document::decode(key).map_err(|_| invalid())?;
    if u64::from_be_bytes(*of) != digest {
        return Err(Rule::StatementTokenMismatch.refuse(&[]));
    }
    Ok(key)
}

/// The short word that a batch has for an error.
fn code_of(name: ErrorName) -> &'static str {
    match name {
        ErrorName::ConditionalCheckFailed => "ConditionalCheckFailed",
        ErrorName::ItemCollectionSizeLimitExceeded => "ItemCollectionSizeLimitExceeded",
        ErrorName::ProvisionedThroughputExceeded => "ProvisionedThroughputExceeded",
        ErrorName::Throttling => "ThrottlingError",
        ErrorName::InternalServer => "InternalServerError",
        ErrorName::ResourceNotFound => "ResourceNotFound",
        ErrorName::AccessDenied => "AccessDenied",
        ErrorName::DuplicateItem => "DuplicateItem",
        _ => "ValidationError",
    }
}
