//! `refused-operation`: what DynamoDB itself refuses, known from the text.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::Comparison;
use crate::dynamo::facts::View;
use crate::dynamo::{Action, Operation, fix};
use crate::finding::{Findings, Severity};
use crate::rules::Context;

pub static RULE: Rule = Rule {
    id: "refused-operation",
    title: "an operation that DynamoDB refuses",
    why: "A Query gives the hash key with = and at most one condition on the sort key; a single item is named by its whole key; global indexes cannot be \
          read consistently; filters cannot name the keys; keys cannot be updated; batches take no conditions, and 25 writes or 100 reads at most. \
          Such an operation fails at its first call.",
    bad: r#"{"tables": [{"table": "orders", "hash": "customer_id", "range": "order_id", "indexes": [{"name": "by_email", "hash": "email"}]}],
 "operations": [{"op": "Query", "table": "orders", "index": "by_email", "key": "email = :e", "consistent": true},
  {"op": "GetItem", "table": "orders", "key": {"order_id": "<order_id>"}}]}"#,
    good: r#"{"tables": [{"table": "orders", "hash": "customer_id", "range": "order_id", "indexes": [{"name": "by_email", "hash": "email"}]}],
 "operations": [{"op": "Query", "table": "orders", "index": "by_email", "key": "email = :e"},
  {"op": "GetItem", "table": "orders", "key": {"customer_id": "<customer_id>", "order_id": "<order_id>"}}]}"#,
    seen: super::seen::REFUSED,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for operation in view.operations.iter().copied() {
            for message in refusals(&view, operation) {
                let message = format!("{}: {message}", operation.title());
                let fixed = repaired(&view, operation);
                findings
                    .push(on_operation(&RULE, Severity::Error, &view, operation, None).say(message, fixed));
            }
        }
    }
}

fn refusals(view: &View<'_>, operation: &Operation) -> Vec<String> {
    let table = view.table;
    let mut out = Vec::new();
    let index = match &operation.index {
        Some(name) => match table.index(name) {
            Some(index) => Some(index),
            None => return vec![format!("{} has no index {name}", table.name)],
        },
        None => None,
    };
    if operation.is_consistent && index.is_some_and(|i| !i.is_local) {
        out.push("a global index cannot be read consistently".into());
    }
    let (hash, range) = index.map_or((&table.hash, table.range.as_ref()), |i| (&i.hash, i.range.as_ref()));
    match operation.action {
        Action::Query => {
            let terms = operation.key_terms();
            if operation.key.is_some()
                && !terms.iter().any(|t| t.attribute == hash.name && t.comparison == Comparison::Equal)
            {
                out.push(format!("a Query must give {} with =", hash.name));
            }
            let others = terms.iter().filter(|t| t.attribute != hash.name);
            if let Some(other) = others.clone().find(|t| range.is_none_or(|r| r.name != t.attribute)) {
                out.push(format!(
                    "{} is not part of the key it reads by; it can only be a filter",
                    other.attribute
                ));
            } else if others.clone().count() > 1 {
                out.push(format!(
                    "two conditions on {}: only one is taken (use BETWEEN)",
                    range.map_or("", |r| r.name.as_str())
                ));
            }
            let odd = others.clone().find(|t| {
                matches!(
                    t.comparison,
                    Comparison::Contains
                        | Comparison::NotEqual
                        | Comparison::In
                        | Comparison::Exists
                        | Comparison::NotExists
                )
            });
            if let Some(odd) = odd.filter(|t| range.is_some_and(|r| r.name == t.attribute)) {
                out.push(format!(
                    "the condition on {} must be =, a range, BETWEEN or begins_with",
                    odd.attribute
                ));
            }
            if operation.key.as_ref().is_some_and(|k| k.has_or) {
                out.push("a condition on keys takes no OR".into());
            }
            if let Some(number) = others.clone().find(|t| {
                t.comparison == Comparison::BeginsWith && range.is_some_and(|r| r.kind == Some('N'))
            }) {
                out.push(format!("begins_with on {}, which is a number", number.attribute));
            }
            if let Some(term) = operation
                .filters()
                .iter()
                .find(|t| t.attribute == hash.name || range.is_some_and(|r| r.name == t.attribute))
            {
                out.push(format!(
                    "the filter names {}, which is a key: it belongs into the condition on the key",
                    term.attribute
                ));
            }
        }
        Action::Get | Action::Update | Action::Delete => {
            if index.is_some() {
                out.push(format!("{} takes no index; Query it", operation.action.name()));
            } else if !operation.item.is_empty() {
                let given = |name: &str| operation.item.iter().any(|(n, _)| n == name);
                let missing: Vec<&str> =
                    table.keys().map(|k| k.name.as_str()).filter(|name| !given(name)).collect();
                if !missing.is_empty() {
                    out.push(format!("the whole key is needed, and {} is missing", missing.join(", ")));
                }
            }
            if let Some(change) =
                operation.changes().iter().find(|c| table.keys().any(|k| k.name == c.attribute))
            {
                out.push(format!("{} is part of the key and cannot be updated", change.attribute));
            }
        }
        Action::Put => {
            let given = |name: &str| operation.item.iter().any(|(n, _)| n == name);
            let missing: Vec<&str> =
                table.keys().map(|k| k.name.as_str()).filter(|name| !given(name)).collect();
            if operation.item.len() > 1 && !missing.is_empty() {
                out.push(format!("the item lacks {}", missing.join(", ")));
            }
        }
        _ => {}
    }
    match operation.member_of {
        Some(Action::BatchWrite) if operation.condition.is_some() => {
            out.push("BatchWriteItem takes no conditions; TransactWriteItems does".into());
        }
        Some(Action::BatchWrite) if operation.action == Action::Update => {
            out.push("BatchWriteItem takes no updates".into())
        }
        Some(Action::BatchWrite) if operation.member_count > 25 => {
            out.push("BatchWriteItem takes 25 writes".into())
        }
        Some(Action::BatchGet | Action::TransactGet | Action::TransactWrite)
            if operation.member_count > 100 =>
        {
            out.push("100 items at most".into())
        }
        _ => {}
    }
    out
}

fn repaired(view: &View<'_>, operation: &Operation) -> String {
    let table = view.table;
    let index = operation.index.as_ref().and_then(|name| table.index(name));
    let (hash, range) = index.map_or((&table.hash, table.range.as_ref()), |i| (&i.hash, i.range.as_ref()));
    let key = range.map_or_else(|| hash.name.clone(), |r| format!("{} and {}", hash.name, r.name));
    fix::said(&[format!("The key here is {key}.")])
}
