//! `filter-for-key`: a Query whose filter does what a key should do.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::Comparison;
use crate::dynamo::facts::{Spread, View};
use crate::dynamo::{Action, Operation, fix, meaning_of};
use crate::facts::Owner;
use crate::finding::{Findings, Severity};
use crate::rules::Context;
use crate::vocabulary::{Meaning, words};

pub static RULE: Rule = Rule {
    id: "filter-for-key",
    title: "a Query whose filter does what a key should do",
    why: "A filter is applied after reading, so everything under the hash value is read and paid for. A limit counts what was read, not what is \
          left: with limit 20 a page may be empty though matches follow, and with limit 1 the answer is often nothing. What every call filters by \
          belongs into the sort key or the key of an index.",
    bad: r#"{"tables": [{"table": "orders", "hash": "customer_id", "range": "order_id"}],
 "operations": [{"op": "Query", "table": "orders", "key": "customer_id = :c", "filter": "tracking_number = :t", "limit": 1}]}"#,
    good: r#"{"tables": [{"table": "orders", "hash": "customer_id", "range": "order_id", "indexes": [{"name": "by_tracking_number", "hash": "tracking_number"}]}],
 "operations": [{"op": "Query", "table": "orders", "index": "by_tracking_number", "key": "tracking_number = :t", "limit": 1}]}"#,
    seen: super::seen::FILTER,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for query in view.operations.iter().copied().filter(|o| o.action == Action::Query) {
            let Some((severity, message)) = judged(&view, query) else { continue };
            let span = query.filter.as_ref().map(|f| f.span);
            findings
                .push(on_operation(&RULE, severity, &view, query, span).say(message, repaired(&view, query)));
        }
    }
}

fn judged(view: &View<'_>, query: &Operation) -> Option<(Severity, String)> {
    let table = view.table;
    // Items that TTL has not removed yet are rightly filtered out.
    let expiry = |name: &str| table.ttl.as_ref().is_some_and(|ttl| ttl.attribute == name);
    let terms: Vec<_> = query.filters().iter().filter(|t| !expiry(&t.attribute)).collect();
    let first = terms.first()?;
    let names: Vec<&str> = terms.iter().map(|t| t.attribute.as_str()).collect();
    let names = names.join(", ");
    match query.limit {
        Some(1) => {
            let message = format!(
                "{} reads one item and then filters it by {names}: when the first does not match the answer is empty, though others may match",
                query.title()
            );
            return Some((Severity::Error, message));
        }
        Some(limit) => {
            let message = format!(
                "{} reads {limit} items and then filters them by {names}: pages come back short or empty though matches follow; the share that matches would settle it",
                query.title()
            );
            return Some((Severity::Warning, message));
        }
        None => {}
    }
    let index = query.index.as_ref().and_then(|name| table.index(name));
    let hash = index.map_or(&table.hash, |index| &index.hash);
    let equal = terms.iter().find(|t| t.comparison == Comparison::Equal);
    let identity = equal.is_some_and(|t| meaning_of(&words(&t.attribute), None) == Meaning::Identity);
    let weak = matches!(view.spread(hash), Spread::Constant(_) | Spread::Few(..) | Spread::Period(_));
    let wide = matches!(view.owner(hash), Owner::Group | Owner::Machine);
    let narrowed = query.key_terms().len() > 1;
    let severity =
        if !narrowed && (weak || (identity && wide)) { Severity::Warning } else { Severity::Advice };
    let message = format!(
        "{} reads everything under one {} and then keeps what {names} selects: the items per {} would settle it",
        query.title(),
        hash.name,
        hash.name
    );
    let _ = first;
    Some((severity, message))
}

fn repaired(view: &View<'_>, query: &Operation) -> String {
    let table = view.table;
    let index = query.index.as_ref().and_then(|name| table.index(name));
    let hash = index.map_or(&table.hash, |index| &index.hash);
    let Some(term) = query
        .filters()
        .iter()
        .find(|t| t.comparison == Comparison::Equal)
        .or_else(|| query.filters().first())
    else {
        return String::new();
    };
    let range = format!("{}_sort", term.attribute);
    let sorted = if index.and_then(|i| i.range.as_ref()).or(table.range.as_ref()).is_some() {
        let known =
            index.and_then(|i| i.range.as_ref()).or(table.range.as_ref()).map_or("", |k| k.name.as_str());
        format!("{range} = \"<{}>#<{known}>\"", term.attribute)
    } else {
        format!("{range} = \"<{}>\"", term.attribute)
    };
    let name = fix::free_name(
        table,
        &format!("by_{}_{}", words(&hash.name).join("_"), words(&term.attribute).join("_")),
    );
    let why = [
        format!(
            "Write a further attribute {sorted}; then Query {name} with {} = :h AND begins_with({range}, :v).",
            hash.name
        ),
        "Add the attributes that the answer shows to the projection.".to_string(),
    ];
    fix::new_index(table, &name, (&hash.name, hash.kind.unwrap_or('S')), Some((&range, 'S')), &[], &why)
}
