//! `order-mismatch`: clustering order, range column or prefix does not serve the pattern's order.

use super::serve::{self, Serving};
use super::{Context, Rule, on_access};
use crate::catalogue::{Access, Column, Limit, Table};
use crate::finding::{Findings, Severity};
use crate::fix::Draft;
use crate::vocabulary::{any_word, words};
use cql_syntax::Span;
use cql_syntax::ast::SortOrder;

pub static RULE: Rule = Rule {
    id: "order-mismatch",
    title: "clustering order, range column or prefix does not serve the pattern's order",
    why: "Rows of a partition are stored in the order of the clustering columns, and only that order (or its exact reverse) can be read \
          without sorting. A range works on the first clustering column that has no fixed value; behind a gap it is no interval.",
    bad: "CREATE TABLE user_events (user_id uuid, event_time timestamp, event_id uuid, PRIMARY KEY ((user_id), event_time, event_id));\nSELECT * FROM user_events WHERE user_id = ? AND event_id > ?;",
    good: "SELECT * FROM user_events WHERE user_id = ? AND event_time = ? AND event_id > ?;",
    seen: "daronphang/chat-app stores messages newest first, which is how each page is read: its order costs nothing. The \
           usual slip is the default, ascending, with ORDER BY ... DESC in every query.",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (access, at, table, _) in context.accesses() {
        if !access.is_read()
            || !matches!(serve::partition(context.catalogue, at, table, access), Serving::Whole)
        {
            continue;
        }
        let inside = serve::inside(context.catalogue, at, table, access);
        if let Some((column, open)) = &inside.range_gap {
            let span = access.slice(column).map_or(access.place.span, |r| r.span);
            let message = format!(
                "{} asks for a range of {column} while {open} before it is open: rows are sorted by {open} first, so the range is scattered over the whole partition",
                access.title()
            );
            let fix = reordered(table, access, &[(column.clone(), false)]);
            findings.push(on_access(&RULE, Severity::Error, access, table, span).say(message, fix));
            continue;
        }
        let read_forward = context.catalogue.accesses_of(at).any(|other| reads_forward(table, other));
        if let Some((severity, span, message, wanted)) = order(table, access, inside.fixed, read_forward) {
            findings.push(
                on_access(&RULE, severity, access, table, span)
                    .say(message, reordered(table, access, &wanted)),
            );
        }
    }
}

type Wanted = Vec<(String, bool)>;

/// Whether the read wants the rows as they are stored, or does not care.
fn reads_forward(table: &Table, access: &Access) -> bool {
    let first = access.order_by.first();
    let stored = |name: &str| {
        let named = |item: &&crate::catalogue::Clustering| {
            table.columns.get(item.column).is_some_and(|column| column.name == name)
        };
        table.clustering.iter().find(named).is_some_and(|item| item.descending)
    };
    access.is_read() && first.is_none_or(|(name, order, _)| (*order == SortOrder::Desc) == stored(name))
}

fn order(
    table: &Table,
    access: &Access,
    fixed: usize,
    read_forward: bool,
) -> Option<(Severity, Span, String, Wanted)> {
    let stored: Vec<(&Column, bool)> = table
        .clustering
        .iter()
        .filter_map(|item| Some((table.columns.get(item.column)?, item.descending)))
        .collect();
    let mut wanted: Vec<(String, bool, Span)> = access
        .order_by
        .iter()
        .map(|(name, order, span)| (name.clone(), *order == SortOrder::Desc, *span))
        .collect();
    let declared = wanted.is_empty();
    if let Some(text) = access.numbers.order.as_deref().filter(|_| declared) {
        wanted = declared_order(text, access.place.span);
    }
    if wanted.is_empty() {
        return latest(table, access, &stored, fixed);
    }
    let list: Wanted = wanted.iter().map(|(name, descending, _)| (name.clone(), *descending)).collect();
    // Fixed columns may be named or left out; what remains must be the next clustering columns in order.
    let mut next = fixed;
    let mut reversed: Option<bool> = None;
    for (name, descending, span) in &wanted {
        if stored.iter().take(fixed).any(|(c, _)| c.name == *name) {
            continue;
        }
        let Some((column, stored_descending)) = stored.get(next).copied().filter(|(c, _)| c.name == *name)
        else {
            let expected = stored.get(next).map_or("no further column", |(c, _)| c.name.as_str());
            let message = format!(
                "{} wants {name} as its order, but the rows of one {} are stored by {expected} here: the order would need a sort of the whole partition",
                access.title(),
                table.partition_text()
            );
            return Some((Severity::Error, *span, message, list));
        };
        let turned = *descending != stored_descending;
        if reversed.is_some_and(|before| before != turned) {
            let message = format!(
                "{} turns the direction of {} only: stored rows can be read forward or backward as a whole, not mixed",
                access.title(),
                column.name
            );
            return Some((Severity::Error, *span, message, list));
        }
        reversed = Some(turned);
        next += 1;
    }
    let (name, descending, span) = wanted.first()?;
    if reversed != Some(true) {
        return None;
    }
    let direction = if *descending { "DESC" } else { "ASC" };
    // The engine reads backward as cheaply, but a declared order without ORDER BY is not what comes back.
    let (severity, ending) = if declared {
        (Severity::Warning, "and the statement has no ORDER BY, so it returns the other end")
    } else {
        // When a declared pattern wants the reverse and nothing wants what is stored, the table is simply upside down.
        let upside_down = access.pattern.is_some() && !read_forward;
        let severity = if upside_down { Severity::Warning } else { Severity::Advice };
        (severity, "so each page is read backward")
    };
    let message =
        format!("{} wants {name} {direction} and the table stores the reverse, {ending}", access.title());
    Some((severity, *span, message, list))
}

/// `'due_at ASC, task_id'`
fn declared_order(text: &str, span: Span) -> Vec<(String, bool, Span)> {
    text.split(',')
        .filter_map(|part| {
            let mut words = part.split_whitespace();
            let name = words.next()?.to_ascii_lowercase();
            let descending = words.next().is_some_and(|word| word.eq_ignore_ascii_case("desc"));
            Some((name, descending, span))
        })
        .collect()
}

/// A pattern called "latest" that reads the oldest end.
fn latest(
    table: &Table,
    access: &Access,
    stored: &[(&Column, bool)],
    fixed: usize,
) -> Option<(Severity, Span, String, Wanted)> {
    let name = access.pattern.as_ref()?;
    let (column, descending) = stored.get(fixed).copied()?;
    let asks = any_word(&words(name), &["latest", "newest", "recent"]) && access.limit != Limit::None;
    if !asks || descending || !column.is_chronological() || access.slice(&column.name).is_some() {
        return None;
    }
    let message = format!(
        "pattern {name} reads the first rows, and {} stores {} ascending: it returns the oldest rows, not the latest",
        table.name, column.name
    );
    Some((Severity::Warning, access.place.span, message, vec![(column.name.clone(), true)]))
}

/// The table with this order behind the columns that the read fixes.
fn reordered(table: &Table, access: &Access, wanted: &[(String, bool)]) -> String {
    let mut clustering: Vec<(String, bool)> = Vec::new();
    let is_wanted = |name: &str| wanted.iter().any(|(wanted, _)| wanted == name);
    let all: Vec<(&Column, bool)> = table
        .clustering
        .iter()
        .filter_map(|item| Some((table.columns.get(item.column)?, item.descending)))
        .collect();
    let fixed = all.iter().filter(|(c, _)| access.point(&c.name).is_some() && !is_wanted(&c.name));
    clustering.extend(fixed.map(|(c, d)| (c.name.clone(), *d)));
    clustering.extend(wanted.iter().filter(|(name, _)| table.column(name).is_some()).cloned());
    for (column, descending) in all {
        if !clustering.iter().any(|(name, _)| *name == column.name) {
            clustering.push((column.name.clone(), descending));
        }
    }
    let partition = table.partition_columns().map(|c| c.name.clone()).collect();
    let first = wanted.first().map_or("order", |(name, _)| name.as_str());
    Draft::of(table)
        .named(&format!("{}_in_order_of_{first}", table.name))
        .keyed(partition, clustering)
        .print()
}
