//! The rules for DynamoDB. One file per rule or small family; they speak DynamoDB's words and use its limits.

mod collection;
mod filter;
mod grammar;
mod index;
mod item;
mod key;
mod lifecycle;
mod order;
mod overwrite;
mod refused;
mod scan;
mod seen;
mod tenant;
mod transaction;
mod ttl;
mod update;

use super::{Context, Rule};
use crate::dynamo::Operation;
use crate::dynamo::facts::View;
use crate::finding::{Finding, Severity};
use crate::source::Place;
use cql_syntax::Span;

/// In the order in which they run and are listed.
pub static ALL: &[&Rule] = &[
    &key::CONSTANT,
    &key::FEW,
    &key::TIME,
    &key::NOT_GIVEN,
    &index::UNUSED,
    &index::UNWRITTEN,
    &index::PROJECTION,
    &collection::RULE,
    &item::RULE,
    &scan::RULE,
    &filter::RULE,
    &grammar::RULE,
    &order::RULE,
    &tenant::RULE,
    &lifecycle::RULE,
    &update::RULE,
    &overwrite::RULE,
    &ttl::UNIT,
    &ttl::MISSING,
    &transaction::RULE,
    &refused::RULE,
];

/// Writes per second that one value of a hash key takes, and reads.
const KEY_WRITES_MAX: f64 = 1_000.0;

fn views<'c>(context: &Context<'c>) -> Vec<View<'c>> {
    View::all(&context.catalogue.dynamo)
}

fn on_view(rule: &Rule, severity: Severity, view: &View<'_>, span: Span) -> Finding {
    Finding {
        rule: rule.id,
        severity,
        keyspace: None,
        table: Some(view.table.name.clone()),
        pattern: None,
        place: Place { file: view.table.place.file, span },
        message: String::new(),
        fix: String::new(),
    }
}

fn on_operation(
    rule: &Rule,
    severity: Severity,
    view: &View<'_>,
    operation: &Operation,
    span: Option<Span>,
) -> Finding {
    let span = span.unwrap_or(operation.place.span);
    Finding {
        pattern: operation.name.clone(),
        place: Place { file: operation.place.file, span },
        ..on_view(rule, severity, view, span)
    }
}
