//! What operations are to declared access patterns: their shapes, where their calls are counted, and which of them are refused.
//!
//! The shape of an operation is that of the CQL statement that would do the same to the table, so a pattern that was declared in CQL is
//! met by both dialects: GetItem is a SELECT by the whole key, PutItem an INSERT, and a condition is an IF. A Limit is how much comes at
//! a time, so it matches whatever limit a pattern has. Found out once for each kind of operation on a table; the catalogue's next version
//! begins anew.

use super::table::OpenTable;
use super::{Caller, Dynamo};
use crate::error::ApiError;
use crate::expression::{KeyCondition, KeyTest};
use crate::partiql::Plan;
use crate::request::{BatchWrite, Request, TransactWrite};
use crate::table::{IndexKind, KeyAttribute};
use database::shape::{Class, How, Limit, Order, Shape, Verb};
use database::traffic::Observed;
use model::types::quote_identifier;
use schema::Catalogue;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;

/// Kinds of operations that a shard remembers; more begin anew.
const KINDS_MAX: usize = 10_000;

/// An operation as traffic and patterns know it.
#[derive(Clone, Debug)]
pub struct Shaped {
    pub shape: Shape,
    pub class: Class,
    /// What a pattern would declare.
    pub statement: String,
    /// The operation, without its values.
    pub example: String,
    /// Where it looks: the table or an index.
    pub path: String,
}

/// An operation of no pattern, in a keyspace that wants one.
#[derive(Clone, Debug)]
pub struct Undeclared {
    pub refused: bool,
    /// What the client is told.
    pub text: String,
    /// Roles that may all the same.
    pub allowed: Vec<String>,
}

/// A kind of operation on a table, with what the server makes of it.
#[derive(Debug)]
pub struct Watched {
    pub shaped: Shaped,
    pub observed: Option<Arc<Observed>>,
    pub undeclared: Option<Undeclared>,
}

/// Who counts operations and knows the patterns.
pub trait Watcher {
    fn watch(&self, catalogue: &Catalogue, shaped: Shaped) -> Watched;
}

/// What is remembered under one version of the catalogue.
#[derive(Default)]
pub(super) struct Kinds {
    version: u64,
    known: HashMap<(u32, Kind), Rc<Watched>>,
}

/// What an operation does, as far as its shape goes. An index is its place in the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Get,
    Put { conditional: bool },
    Update { conditional: bool },
    Delete { conditional: bool },
    Query { index: Option<u16>, equal: u8, range: bool, reverse: bool, limited: bool },
    Scan { index: Option<u16>, limited: bool },
}

impl<S: Store> Dynamo<S> {
    /// Tells the watcher what a request is about to do; refuses it where only declared patterns are served.
    pub(super) fn watch_request(&self, caller: &Caller<'_>, request: &Request) -> Result<(), ApiError> {
        if self.watcher.is_none() {
            return Ok(());
        }
        let one = |name: &str, kind: Kind| self.watch_named(caller, name, |_| Some(kind));
        match request {
            Request::GetItem(get) => one(&get.table, Kind::Get),
            Request::PutItem(put) => {
                one(&put.table, Kind::Put { conditional: put.options.condition.is_some() })
            }
            Request::UpdateItem(update) => {
                one(&update.table, Kind::Update { conditional: update.options.condition.is_some() })
            }
            Request::DeleteItem(delete) => {
                one(&delete.table, Kind::Delete { conditional: delete.options.condition.is_some() })
            }
            Request::Query(query) => self.watch_named(caller, &query.read.table, |table| {
                let (index, limited) = (&query.read.index, query.read.limit.is_some());
                query_kind(table, index.as_deref(), &query.key_condition, !query.forward, limited)
            }),
            Request::Scan(scan) => self.watch_named(caller, &scan.read.table, |table| {
                let limited = scan.read.limit.is_some();
                Some(Kind::Scan { index: index_of(table, scan.read.index.as_deref())?, limited })
            }),
            Request::BatchGetItem(batch) => {
                batch.tables.iter().try_for_each(|wanted| one(&wanted.table, Kind::Get))
            }
            Request::TransactGetItems(gets) => {
                gets.gets.iter().try_for_each(|get| one(&get.table, Kind::Get))
            }
            Request::BatchWriteItem(batch) => batch.tables.iter().try_for_each(|wanted| {
                wanted.writes.iter().try_for_each(|write| match write {
                    BatchWrite::Put(_) => one(&wanted.table, Kind::Put { conditional: false }),
                    BatchWrite::Delete(_) => one(&wanted.table, Kind::Delete { conditional: false }),
                })
            }),
            Request::TransactWriteItems(writes) => writes.actions.iter().try_for_each(|action| {
                let conditional = action.condition.is_some();
                let kind = match &action.write {
                    TransactWrite::Check { .. } => Kind::Get,
                    TransactWrite::Put { .. } => Kind::Put { conditional },
                    TransactWrite::Update { .. } => Kind::Update { conditional },
                    TransactWrite::Delete { .. } => Kind::Delete { conditional },
                };
                one(&action.table, kind)
            }),
            _ => Ok(()),
        }
    }

    /// The same for a PartiQL statement. Conditions that only say that the item is there are none.
    pub(super) fn watch_plan(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
        plan: &Plan,
    ) -> Result<(), ApiError> {
        let kind = match plan {
            Plan::Query(query) => {
                let (index, limited) = (&query.read.index, query.read.limit.is_some());
                query_kind(table, index.as_deref(), &query.key_condition, !query.forward, limited)
            }
            Plan::Scan(scan) => index_of(table, scan.read.index.as_deref())
                .map(|index| Kind::Scan { index, limited: scan.read.limit.is_some() }),
            Plan::Insert(_) => Some(Kind::Put { conditional: true }),
            Plan::Update(_) => Some(Kind::Update { conditional: true }),
            Plan::Delete(delete) => Some(Kind::Delete { conditional: delete.options.condition.is_some() }),
            Plan::Check { .. } => Some(Kind::Get),
        };
        kind.map_or(Ok(()), |kind| self.watch(caller, table, kind))
    }

    fn watch_named(
        &self,
        caller: &Caller<'_>,
        name: &str,
        kind: impl FnOnce(&OpenTable) -> Option<Kind>,
    ) -> Result<(), ApiError> {
        let table = match name.contains('.').then(|| self.open_cql(name)).flatten() {
            Some(of_cql) => of_cql,
            None => self.open(name),
        };
        // Whoever asks for a table that is not there, or for an index of none, is told by the operation itself.
        let Ok(table) = table else { return Ok(()) };
        kind(&table).map_or(Ok(()), |kind| self.watch(caller, &table, kind))
    }

    fn watch(&self, caller: &Caller<'_>, table: &OpenTable, kind: Kind) -> Result<(), ApiError> {
        let Some(watcher) = &self.watcher else { return Ok(()) };
        let (version, catalogue) = self.runtime.catalogue();
        let mut kinds = self.kinds.borrow_mut();
        if kinds.version != version || kinds.known.len() >= KINDS_MAX {
            *kinds = Kinds { version, known: HashMap::new() };
        }
        let watched = kinds
            .known
            .entry((table.table.id, kind))
            .or_insert_with(|| Rc::new(watcher.watch(&catalogue, shaped(table, kind))));
        if let Some(undeclared) = &watched.undeclared {
            let roles = caller.grants.map(|grants| &grants.roles);
            let allowed = |name: &String| roles.is_some_and(|roles| roles.contains(name));
            if undeclared.refused && !undeclared.allowed.iter().any(allowed) {
                return Err(ApiError::validation(undeclared.text.clone()));
            }
        }
        let mut seen = caller.seen.borrow_mut();
        // A batch counts as one call of each kind of operation in it.
        if !seen.iter().any(|known| Rc::ptr_eq(known, watched)) {
            seen.push(watched.clone());
        }
        Ok(())
    }
}

/// `None`: there is no such index.
fn index_of(table: &OpenTable, name: Option<&str>) -> Option<Option<u16>> {
    let Some(name) = name else { return Some(None) };
    let place = table.definition.indexes.iter().position(|index| index.name == name)?;
    u16::try_from(place).ok().map(Some)
}

fn query_kind(
    table: &OpenTable,
    index: Option<&str>,
    condition: &KeyCondition,
    reverse: bool,
    limited: bool,
) -> Option<Kind> {
    let index = index_of(table, index)?;
    let schema =
        index.map_or(&table.definition.key, |place| &table.definition.indexes[usize::from(place)].key);
    let test = |attribute: &KeyAttribute| condition.tests.iter().find(|(name, _)| *name == attribute.name);
    let is_equal = |attribute: &&KeyAttribute| matches!(test(attribute), Some((_, KeyTest::Equal(_))));
    let equal = schema.sort.iter().take_while(is_equal).count();
    let range = schema.sort.get(equal).is_some_and(|attribute| test(attribute).is_some());
    Some(Kind::Query { index, equal: equal as u8, range, reverse, limited })
}

/// The shape of a kind of operation on a table.
fn shaped(table: &OpenTable, kind: Kind) -> Shaped {
    let definition = &table.definition;
    let (keyspace, name) = (&table.table.keyspace, &table.table.name);
    let place = format!("{}.{}", quote_identifier(keyspace), quote_identifier(name));
    let whole: Vec<(&str, How)> =
        definition.key.attributes().map(|a| (a.name.as_str(), How::Equal)).collect();
    let mut path = "table".to_string();
    let mut schema = &definition.key;
    if let Kind::Query { index: Some(index), .. } | Kind::Scan { index: Some(index), .. } = kind {
        let index = &definition.indexes[usize::from(index)];
        let word = if index.kind == IndexKind::Local { "local" } else { "global" };
        (schema, path) = (&index.key, format!("{word} secondary index {}", index.name));
    }
    let (verb, restricted, conditional, class) = match kind {
        Kind::Get => (Verb::Select, whole, false, Class::Single),
        Kind::Put { conditional } => (Verb::Insert, Vec::new(), conditional, Class::Single),
        Kind::Update { conditional } => (Verb::Update, whole, conditional, Class::Single),
        Kind::Delete { conditional } => (Verb::Delete, whole, conditional, Class::Single),
        Kind::Scan { .. } => (Verb::Select, Vec::new(), false, Class::Unbounded),
        Kind::Query { equal, range, .. } => {
            let sort = schema.sort.iter().take(usize::from(equal)).map(|a| (a.name.as_str(), How::Equal));
            let tested = schema.sort.get(usize::from(equal)).filter(|_| range);
            let parts = schema.hash.iter().map(|a| (a.name.as_str(), How::Equal)).chain(sort);
            let parts = parts.chain(tested.map(|a| (a.name.as_str(), How::Range)));
            (Verb::Select, parts.collect(), false, Class::Single)
        }
    };
    let (reverse, limited) = match kind {
        Kind::Query { reverse, limited, .. } => (reverse, limited),
        Kind::Scan { limited, .. } => (false, limited),
        _ => (false, false),
    };
    let clause = where_clause(&restricted);
    let columns: Vec<String> = table.table.columns().map(|column| quote_identifier(&column.name)).collect();
    let condition = if conditional { " IF EXISTS" } else { "" };
    let statement = match verb {
        Verb::Select => {
            let last = schema.sort.last().filter(|_| reverse);
            let order = last.map(|a| format!(" ORDER BY {} DESC", quote_identifier(&a.name)));
            let limit = if limited { " LIMIT ?" } else { "" };
            format!("SELECT * FROM {place}{clause}{}{limit}", order.unwrap_or_default())
        }
        Verb::Insert => {
            let condition = if conditional { " IF NOT EXISTS" } else { "" };
            let (names, marks) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
            format!("INSERT INTO {place} ({names}) VALUES ({marks}){condition}")
        }
        Verb::Update => {
            let column = table.table.regulars.first().map(|column| quote_identifier(&column.name));
            format!("UPDATE {place} SET {} = ?{clause}{condition}", column.unwrap_or_default())
        }
        Verb::Delete => format!("DELETE FROM {place}{clause}{condition}"),
    };
    let mut restricted: Vec<(String, How)> =
        restricted.into_iter().map(|(name, how)| (quote_identifier(name), how)).collect();
    restricted.sort();
    Shaped {
        shape: Shape {
            keyspace: keyspace.clone(),
            table: name.clone(),
            verb,
            restricted,
            order: if reverse { Order::Reversed } else { Order::Stored },
            limit: if limited { Limit::Bound } else { Limit::None },
            conditional,
            grouped: false,
        },
        class,
        statement,
        example: format!("{} of {}, {path}", kind.word(), definition.name),
        path,
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Get => "GetItem",
            Kind::Put { .. } => "PutItem",
            Kind::Update { .. } => "UpdateItem",
            Kind::Delete { .. } => "DeleteItem",
            Kind::Query { .. } => "Query",
            Kind::Scan { .. } => "Scan",
        }
    }
}

fn where_clause(restricted: &[(&str, How)]) -> String {
    let part = |(name, how): &(&str, How)| {
        let sign = if *how == How::Range { ">=" } else { "=" };
        format!("{} {sign} ?", quote_identifier(name))
    };
    let parts: Vec<String> = restricted.iter().map(part).collect();
    if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
}
