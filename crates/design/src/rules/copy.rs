//! `ungoverned-copy`: a duplicate without source of truth and rebuild path.

use super::{Context, Rule, on_table};
use crate::catalogue::Table;
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::vocabulary::{any_word, singular, words};
use std::collections::HashMap;

pub static RULE: Rule = Rule {
    id: "ungoverned-copy",
    title: "a duplicate without source of truth and rebuild path",
    why: "Copies drift: one of two writes fails, a retry comes late, a backfill misses a day. A copy needs a named source of truth, one way it is \
          written, and a way to rebuild it. Here that is a comment, a declared pattern, a logged batch or a view.",
    bad: "CREATE TABLE orders_by_customer (customer_id uuid, order_id uuid, status text, total bigint, PRIMARY KEY (customer_id, order_id));\nCREATE TABLE orders_by_day (day date, shard int, order_id uuid, status text, total bigint, PRIMARY KEY ((day, shard), order_id));",
    good: "ALTER TABLE orders_by_day WITH comment = 'copy of orders_by_customer (source of truth); rebuilt by job rebuild_orders_by_day';",
    seen: "scylladb/argus wrote and deleted its lookup of keys by hand beside the keys; in August 2026 the second path of writes was removed and \
           the server keeps the copy. matt-rog/librelog writes users and users_by_account in one batch: the batch is the rule by which \
           the copies stay alike.",
    check,
};

const GOVERNED: &[&str] = &[
    "source",
    "copy",
    "truth",
    "canonical",
    "rebuild",
    "rebuilt",
    "projection",
    "derived",
    "reconcile",
    "repair",
    "event",
    "stream",
    "cdc",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    let catalogue = context.catalogue;
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, table, _) in context.tables().filter(|(_, table, _)| !table.is_view()) {
        groups.entry(stem(&table.name)).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    for group in groups {
        let Some(first) = group.first().and_then(|at| catalogue.tables.get(*at)) else { continue };
        for at in group.iter().skip(1) {
            let Some(table) = catalogue.tables.get(*at) else { continue };
            let shared = shared_columns(first, table);
            if shared.len() < 2
                || !same_entity(first, table)
                || is_governed(context, &group, *at, first, table)
            {
                continue;
            }
            let alone = written_alone(context, &group);
            // Statements of a file are examples; that one copy is not written by them proves nothing unless patterns are declared.
            let certain = alone && context.catalogue.has_patterns();
            let severity = if certain || is_read_model(context, *at, &shared) {
                Severity::Warning
            } else {
                Severity::Advice
            };
            let message = format!(
                "{} repeats {} columns of {} ({}) and nothing says which is the truth or how the other is rebuilt{}",
                table.name,
                shared.len(),
                first.name,
                shared.join(", "),
                if alone { "; a statement here writes only one of them" } else { "" }
            );
            let fix = format!(
                "ALTER TABLE {} WITH comment = 'copy of {} (source of truth); rebuilt by ...';",
                fix::qualified(table),
                first.name
            );
            findings.push(on_table(&RULE, severity, table, table.place.span).say(message, fix));
        }
    }
}

/// What the table holds: its name before `by`, in singular.
fn stem(name: &str) -> String {
    let words = words(name);
    let end = words.iter().position(|w| w == "by").filter(|at| *at > 0).unwrap_or(words.len());
    words[..end].iter().map(|w| singular(w)).collect::<Vec<_>>().join("_")
}

fn shared_columns<'t>(a: &Table, b: &'t Table) -> Vec<&'t str> {
    b.regular_columns()
        .filter(|c| a.column(&c.name).is_some_and(|other| other.data_type == c.data_type))
        .map(|c| c.name.as_str())
        .collect()
}

/// Both know the same id.
fn same_entity(a: &Table, b: &Table) -> bool {
    a.columns.iter().any(|c| super::tie_breaker::is_own_id(a, c) && b.column(&c.name).is_some())
}

fn is_governed(context: &Context<'_>, group: &[usize], at: usize, first: &Table, table: &Table) -> bool {
    let speaks = |t: &Table| t.comment.as_deref().is_some_and(|comment| any_word(&words(comment), GOVERNED));
    let declared = |at: usize| context.facts.get(at).is_some_and(|facts| facts.numbers.source.is_some());
    let batched = context.catalogue.batches.iter().any(|batch| {
        let writes = |wanted: usize| {
            batch
                .accesses
                .iter()
                .filter_map(|a| context.catalogue.accesses.get(*a))
                .any(|a| a.table == Some(wanted))
        };
        group.first().is_some_and(|first| writes(*first)) && writes(at)
    });
    speaks(first)
        || speaks(table)
        || declared(at)
        || group.first().is_some_and(|first| declared(*first))
        || batched
}

/// A copy with declared readers that carries more than what leads to the original: its staleness is seen.
fn is_read_model(context: &Context<'_>, at: usize, shared: &[&str]) -> bool {
    let is_list = context.catalogue.tables.get(at).is_some_and(|table| !table.clustering.is_empty());
    let declared = context.catalogue.accesses_of(at).any(|a| a.is_read() && a.pattern.is_some());
    is_list && declared && shared.len() >= 3
}

/// A plain write to one of the copies while another is never written.
fn written_alone(context: &Context<'_>, group: &[usize]) -> bool {
    let written = |at: &usize| context.catalogue.accesses_of(*at).any(|a| !a.is_read());
    let count = group.iter().filter(|at| written(at)).count();
    count > 0 && count < group.len()
}
