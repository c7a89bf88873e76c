//! `needs-filtering`: a read or write that the key cannot answer, with the table that would.

use super::serve::{self, Serving};
use super::{Context, Rule, on_access};
use crate::catalogue::{Access, Column, Table, Verb};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Findings, Severity};
use crate::fix::{self, Draft};
use crate::growth::PARTITION_BYTES_MAX;
use crate::vocabulary::Meaning;
use cql_syntax::ast::{NativeType, RelationOp};

pub static RULE: Rule = Rule {
    id: "needs-filtering",
    title: "a pattern or query that the key cannot answer",
    why: "Without the partition key there is no node to ask, so all are asked and every row is looked at. It works with ten thousand rows \
          in a test and takes minutes with a billion. The answer is a table whose key is what the query knows.",
    bad: "CREATE TABLE orders (order_id uuid PRIMARY KEY, customer_id uuid, created_at timestamp, status text);\nSELECT * FROM orders WHERE status = 'pending' ALLOW FILTERING;",
    good: "CREATE TABLE orders_by_customer (customer_id uuid, created_at timestamp, order_id uuid, status text,\n  PRIMARY KEY (customer_id, created_at, order_id));\nSELECT * FROM orders_by_customer WHERE customer_id = ? LIMIT 50;",
    seen: "mainflux/mainflux keys messages by publisher while every read knows the channel: each is a scan with ALLOW \
           FILTERING. gravitee-io/gravitee-repository-cassandra searches keys, pages, memberships and audits in the same \
           way: each needs a table keyed by what the search knows.",
    check,
};

/// Declared rows of a partition that a filter may well walk through.
const ROWS_TO_FILTER_MAX: f64 = 1_000.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (access, at, table, facts) in context.accesses() {
        let found = match serve::partition(context.catalogue, at, table, access) {
            Serving::None => Some(without_key(table, facts, access)),
            Serving::Part { missing } if missing.iter().all(|c| c.meaning.is_bucket()) => {
                Some(without_bucket(table, access, &missing))
            }
            Serving::Part { missing }
                if !access.is_read() || serve::has_whole_read(context.catalogue, at, table) =>
            {
                Some(without_bucket(table, access, &missing))
            }
            Serving::Part { missing } if access.filtering.is_some() => {
                Some(without_bucket(table, access, &missing))
            }
            Serving::Index { column, filtered } if !filtered.is_empty() => {
                Some(beside_index(table, facts, access, &column, &filtered))
            }
            Serving::Whole if access.verb != Verb::Insert => inside(context, at, table, facts, access),
            _ => None,
        };
        if let Some((severity, message)) = found {
            let fix = serving_table(table, access);
            findings.push(on_access(&RULE, severity, access, table, place(access)).say(message, fix));
        }
    }
}

fn place(access: &Access) -> cql_syntax::Span {
    access.filtering.unwrap_or_else(|| access.restrictions.first().map_or(access.place.span, |r| r.span))
}

fn without_key(table: &Table, facts: &Facts, access: &Access) -> (Severity, String) {
    let names: Vec<&str> =
        access.restrictions.iter().flat_map(|r| r.columns.iter().map(String::as_str)).collect();
    let allowed = if access.filtering.is_some() {
        "ALLOW FILTERING hides a scan of"
    } else {
        "it cannot run but as a scan of"
    };
    let message = format!(
        "{} knows {} and not the partition key {}: {allowed} every partition on every node, a million rows read to return a few",
        access.title(),
        names.join(", "),
        table.partition_text()
    );
    let small = facts.is_reference || facts.numbers.partitions.is_some_and(|n| n <= 1_000.0);
    (if small { Severity::Advice } else { Severity::Error }, message)
}

/// An index finds the rows of one relation; what it gives is then looked at row by row.
fn beside_index(
    table: &Table,
    facts: &Facts,
    access: &Access,
    column: &str,
    filtered: &[String],
) -> (Severity, String) {
    let few = table.column(column).is_some_and(|c| matches!(c.meaning, Meaning::Few(_)));
    let message = match (access.filtering.is_some(), few) {
        (false, _) => format!(
            "{} finds rows by the index on {column} and must look at {} of each: the server refuses that without ALLOW FILTERING",
            access.title(),
            filtered.join(", ")
        ),
        (true, true) => format!(
            "{} finds rows by the index on {column}, which has few values, and looks at {} of each: a large part of the table is read",
            access.title(),
            filtered.join(", ")
        ),
        (true, false) => format!(
            "{} finds rows by the index on {column} on every node and looks at {} of each; how many rows has one {column}?",
            access.title(),
            filtered.join(", ")
        ),
    };
    let small = facts.is_reference || facts.numbers.partitions.is_some_and(|n| n <= 1_000.0);
    let severity = match (small, access.filtering.is_some(), few) {
        (true, ..) => Severity::Advice,
        (_, false, _) | (_, _, true) => Severity::Error,
        _ => Severity::Warning,
    };
    (severity, message)
}

fn without_bucket(table: &Table, access: &Access, missing: &[&Column]) -> (Severity, String) {
    let names: Vec<&str> = missing.iter().map(|c| c.name.as_str()).collect();
    let ways = if missing.iter().all(|c| c.meaning.is_bucket()) {
        "ask bucket by bucket, newest first"
    } else {
        "give the whole key"
    };
    let message = format!(
        "{} does not give {} of the partition key {}, so no partition is known and 0 rows can be read without a scan; {ways}",
        access.title(),
        names.join(", "),
        table.partition_text()
    );
    (Severity::Error, message)
}

fn inside(
    context: &Context<'_>,
    at: usize,
    table: &Table,
    facts: &Facts,
    access: &Access,
) -> Option<(Severity, String)> {
    let inside = serve::inside(context.catalogue, at, table, access);
    if inside.filtered.is_empty() {
        return None;
    }
    let columns = inside.filtered.join(", ");
    if !access.is_read() {
        let message = format!(
            "{} asks for {columns}, which does not name rows by their key: the server refuses such a write; read which rows they are, then \
             write them by their whole key",
            access.title()
        );
        return Some((Severity::Error, message));
    }
    let rows = facts.numbers.rows_worst();
    let message = format!(
        "{} filters by {columns}, which the clustering key cannot find: {} rows of the partition are read for those that match",
        access.title(),
        rows.map_or("all".to_string(), crate::units::count),
    );
    let small = rows.is_some_and(|rows| rows <= ROWS_TO_FILTER_MAX);
    let bounded = facts.growth.is_declared && facts.growth.full_bytes(2) <= PARTITION_BYTES_MAX;
    // The rows of one person, or of something that ends, are few enough to look at.
    let few_rows = facts.content == Content::Things
        && matches!(facts.owner, Owner::Person | Owner::Unit)
        && !facts.growth.is_declared;
    let severity = match (access.filtering.is_some(), small || few_rows) {
        (false, _) => Severity::Error,
        (true, true) => Severity::Advice,
        (true, false) if bounded || facts.growth_weight(table) < 4 => Severity::Warning,
        (true, false) => Severity::Error,
    };
    Some((severity, message))
}

/// The table that answers: what the statement fixes is the partition key, what it ranges over or orders by comes next.
pub(super) fn serving_table(table: &Table, access: &Access) -> String {
    let plain = |name: &&String| table.column(name).is_some_and(|c| !c.is_collection() && !c.is_static);
    let mut partition: Vec<String> = Vec::new();
    let mut clustering: Vec<(String, bool)> = Vec::new();
    for restriction in access.restrictions.iter().filter(|r| !r.is_token) {
        for name in restriction.columns.iter().filter(plain) {
            if matches!(restriction.op, RelationOp::Eq | RelationOp::In) && !partition.contains(name) {
                partition.push(name.clone());
            }
        }
    }
    for (name, order, _) in &access.order_by {
        if table.column(name).is_some() {
            clustering.push((name.clone(), *order == cql_syntax::ast::SortOrder::Desc));
        }
    }
    let slices =
        access.restrictions.iter().filter(|r| r.op.is_slice()).flat_map(|r| &r.columns).filter(plain);
    clustering
        .extend(slices.map(|name| (name.clone(), table.column(name).is_some_and(Column::is_chronological))));
    clustering.extend(
        table
            .clustering
            .iter()
            .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending))),
    );
    clustering.extend(table.partition_columns().map(|c| (c.name.clone(), false)));
    let mut seen: Vec<String> = partition.clone();
    clustering.retain(|(name, _)| {
        let fresh = !seen.contains(name);
        seen.push(name.clone());
        fresh
    });
    let mut suffix = partition.join("_and_");
    let weak = partition.iter().all(|name| {
        table
            .column(name)
            .is_some_and(|c| matches!(c.meaning, Meaning::Few(_) | Meaning::TimeBucket(_) | Meaning::Time))
    });
    let buckets: Vec<String> = table
        .partition_columns()
        .filter(|c| c.meaning.is_bucket() && !weak)
        .map(|c| c.name.clone())
        .collect();
    clustering.retain(|(name, _)| !buckets.contains(name));
    partition.extend(buckets.into_iter().filter(|b| !suffix.split("_and_").any(|s| s == b)));
    let mut draft = Draft::of(table).keyed(partition, clustering);
    if weak {
        let dated = fix::has_arrival(table);
        let by = if dated { "day" } else { "bucket" };
        suffix = if suffix.is_empty() { by.into() } else { format!("{suffix}_and_{by}") };
        if dated {
            draft = draft.partition_with("day", NativeType::Date);
        }
        draft = draft.partition_with("bucket", NativeType::Int);
    }
    let base = table.name.split("_by_").next().unwrap_or(&table.name);
    draft.named(&format!("{base}_by_{suffix}")).print()
}
