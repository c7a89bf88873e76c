//! `unbounded-fanout`: a pattern that touches an unbounded number of partitions, or has no limit.

use super::serve::{self, Serving};
use super::{Context, Rule, on_access};
use crate::catalogue::{Access, Column, Limit, Restriction, Table};
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::lexicon::{HAPPENING, PERSON, REGISTRY};
use crate::people::{TRADED, USERS};
use crate::units;
use crate::vocabulary::{Grain, Meaning, any_word, native};
use cql_syntax::Span;
use cql_syntax::ast::{NativeType, RelationOp};

pub static RULE: Rule = Rule {
    id: "unbounded-fanout",
    title: "a pattern that touches an unbounded number of partitions, or has no limit",
    why: "Latency follows the slowest of all partitions asked. A bounded number of them (16 buckets, 30 days) is a design; as many as \
          there happen to be is not. The same holds for rows: a read without limit returns whatever has grown there.",
    bad: "CREATE ACCESS PATTERN all_users AS SELECT * FROM users;",
    good: "CREATE ACCESS PATTERN user_page AS SELECT * FROM users_by_team WHERE team_id = ? LIMIT 100;",
    seen: "Mifaki/cassandra-social-app counts likes with a GROUP BY over the whole table; it also has a table of counters \
           that answers the same question by one read. golang-migrate/migrate reads its table of versions whole, which is \
           fine: it has one row (its issue 455 argues otherwise).",
    check,
};

const VALUES_MAX: usize = 100;
const VALUES_MANY: usize = 20;
const BUCKETS_MAX: f64 = 1_000.0;
const BUCKETS_MANY: f64 = 100.0;
/// An answer without limit may have so many rows and bytes: a few pages.
const ANSWER_ROWS_MAX: f64 = 100_000.0;
const ANSWER_BYTES_MAX: f64 = 10e6;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (access, at, table, facts) in context.accesses().filter(|(access, ..)| access.is_read()) {
        if facts.is_reference || facts.numbers.partitions.is_some_and(|n| n <= VALUES_MANY as f64) {
            continue;
        }
        let found = match serve::partition(context.catalogue, at, table, access) {
            Serving::Scan => scan(table, facts, access),
            Serving::Whole => many_values(table, access)
                .or_else(|| many_buckets(table, facts, access))
                .or_else(|| no_limit(table, facts, access)),
            _ => None,
        };
        if let Some((severity, span, message)) = found {
            findings
                .push(on_access(&RULE, severity, access, table, span).say(message, instead(table, access)));
        }
    }
}

type Found = (Severity, Span, String);

/// A read of the whole table. Of a registry that is how it is read; of what grows it is not.
fn scan(table: &Table, facts: &Facts, access: &Access) -> Option<Found> {
    let head = subject_words(table);
    // What people have is no registry, whatever it is called.
    let of_people = table.partition_columns().any(|c| any_word(&c.words, PERSON));
    // What has a price or an amount is traded, row by row.
    let is_traded = table.regular_columns().any(|c| {
        any_word(&c.words, &["amount", "price", "total", "balance", "cost", "fee", "salary", "quantity"])
    });
    let is_registry = table.clustering.len() <= 2
        && !of_people
        && !(is_traded && facts.usage.inserts > 0)
        && (any_word(head.last().map(std::slice::from_ref).unwrap_or(&[]), REGISTRY)
            || (facts.is_reference && !facts.is_history));
    let counts = access.is_aggregate || access.is_grouped || access.filtering.is_some();
    let is_registry =
        is_registry || is_list_of_names(table, facts) || (is_short_list(table, facts) && !counts);
    let limited = access.limit != Limit::None && !counts;
    let severity = match (is_registry, counts, limited, access.pattern.is_some()) {
        (true, _, _, false) => Severity::Advice,
        (_, true, ..) | (_, _, false, true) => Severity::Error,
        (_, _, true, false) => Severity::Advice,
        _ if grows_with_use(table) => Severity::Error,
        _ => Severity::Warning,
    };
    let rows = match access.limit {
        Limit::Rows(rows) if limited => format!("{rows} rows of no particular order"),
        _ => "every row of every partition".into(),
    };
    let message = format!(
        "{} has no WHERE: it asks all nodes for {rows} of {}, more with every row written{}",
        access.title(),
        table.name,
        if is_registry { "; fine while it has a few hundred" } else { "" }
    );
    Some((severity, access.place.span, message))
}

/// A few columns about something that nothing here writes: it was put there once.
fn is_short_list(table: &Table, facts: &Facts) -> bool {
    let is_word = |c: &Column| {
        matches!(native(&c.data_type), Some(NativeType::Text | NativeType::Ascii | NativeType::Uuid))
    };
    table.columns.len() <= 4
        && table.columns.iter().all(is_word)
        && table.clustering.is_empty()
        && facts.usage.inserts + facts.usage.updates == 0
        && !grows_with_use(table)
}

/// One row per name that something is known by, or nothing written here at all: a list that somebody keeps by hand.
fn is_list_of_names(table: &Table, facts: &Facts) -> bool {
    let is_name = |c: &Column| {
        matches!(c.meaning, Meaning::Few(_))
            || (c.meaning == Meaning::Label && c.words.last().is_some_and(|word| word == "name"))
    };
    let named = table.partition.len() == 1 && table.partition_columns().all(is_name);
    let usage = &facts.usage;
    let mut keys = table.partition_columns().chain(table.clustering_columns());
    let unwritten = usage.inserts + usage.updates == 0 && keys.all(|c| c.meaning != Meaning::Identity);
    // A table that is nothing but its key is there to be read whole.
    let key_only = table.regular_columns().count() == 0 && table.partition.len() == 1;
    !grows_with_use(table)
        && !facts.is_history
        && (unwritten || (table.clustering.is_empty() && (named || key_only)))
}

/// What people are or do: one row more with each of them, so a read of the whole table has no bound.
fn grows_with_use(table: &Table) -> bool {
    let subject = subject_words(table);
    let head = subject.iter().rev().find(|word| {
        !matches!(word.as_str(), "id" | "data" | "table" | "info" | "profile" | "detail" | "list")
    });
    let head = head.map(std::slice::from_ref).unwrap_or(&[]);
    let is_time = |c: &Column| c.is_chronological() || matches!(c.meaning, Meaning::TimeBucket(_));
    // One row per period is a report, however it is called.
    let is_period = |c: &Column| is_time(c) && native(&c.data_type) != Some(NativeType::Timeuuid);
    if table.clustering.is_empty() && table.partition_columns().all(is_period) {
        return false;
    }
    let dated = table.partition_columns().chain(table.clustering_columns()).any(is_time);
    let of_people = table.partition_columns().any(|c| any_word(&c.words, USERS));
    any_word(head, USERS)
        || any_word(head, TRADED)
        || any_word(head, HAPPENING)
        || (dated && !any_word(head, REGISTRY))
        || (of_people && !table.clustering.is_empty())
}

fn many_values(table: &Table, access: &Access) -> Option<Found> {
    let is_in = |r: &&Restriction| r.op == RelationOp::In && !r.is_token;
    for restriction in access.restrictions.iter().filter(is_in) {
        let column = table.partition_columns().find(|c| restriction.columns.contains(&c.name))?;
        let is_bucket = column.meaning.is_bucket();
        let (severity, number) = match restriction.values {
            Some(n) if n > VALUES_MAX => (Severity::Error, n.to_string()),
            Some(n) if n > VALUES_MANY && !is_bucket => (Severity::Warning, n.to_string()),
            None if !is_bucket && access.pattern.is_some() => (Severity::Warning, "as many".to_string()),
            None if !is_bucket => (Severity::Advice, "as many".to_string()),
            _ => continue,
        };
        let message = format!(
            "{} gives {} a list: {number} partitions{} are read by one request, and the slowest decides; ask them one by one, in parallel, \
             with a known bound",
            access.title(),
            column.name,
            if restriction.values.is_none() { " as the caller puts into it" } else { "" },
        );
        return Some((severity, restriction.span, message));
    }
    None
}

fn many_buckets(table: &Table, facts: &Facts, access: &Access) -> Option<Found> {
    let days = facts.time_bucket.and_then(Grain::days)?;
    let lookback = access.numbers.lookback_days?;
    let buckets = lookback / days;
    let severity = match buckets {
        n if n > BUCKETS_MAX => Severity::Error,
        n if n > BUCKETS_MANY => Severity::Warning,
        _ => return None,
    };
    let message = format!(
        "{} looks back {} over buckets of a {}: {} partitions of {} for one answer",
        access.title(),
        units::days(lookback),
        facts.time_bucket.unwrap_or(Grain::Unknown).word(),
        units::count(buckets),
        table.name
    );
    Some((severity, access.place.span, message))
}

fn no_limit(table: &Table, facts: &Facts, access: &Access) -> Option<Found> {
    let open = access.limit == Limit::None && !access.per_partition_limit && !access.is_aggregate;
    let grows = facts.is_history
        && facts.time_bucket.is_none()
        && !facts.growth.is_declared
        && facts.growth_weight(table) >= 1;
    let sliced = table.clustering_columns().any(|c| {
        access.point(&c.name).is_some()
            || (access.slice(&c.name).is_some()
                && c.meaning != Meaning::Other
                && bounds(access, &c.name) >= 2)
    });
    if !open || sliced {
        return None;
    }
    if let Some(rows) = facts.growth.rows_bound.map(|bound| bound[2]) {
        let bytes = rows * facts.growth.row_bytes;
        let text = format!(
            "{} has no LIMIT: by the declared numbers it returns up to {} rows x {} = {} of one {}; give it a LIMIT and page",
            access.title(),
            units::count(rows),
            units::bytes(facts.growth.row_bytes),
            units::bytes(bytes),
            table.partition_text(),
        );
        let much = rows > ANSWER_ROWS_MAX || bytes > ANSWER_BYTES_MAX;
        return much.then_some((Severity::Warning, access.place.span, text));
    }
    if !grows {
        return None;
    }
    let per_year = facts.growth.rows_per_day[2] * 365.0;
    let message = format!(
        "{} has no LIMIT: it returns the whole partition of one {}, {} rows after a year at an assumed {} a day; declare rows_per_partition \
         if that is bounded",
        access.title(),
        table.partition_text(),
        units::count(per_year),
        units::count(facts.growth.rows_per_day[2])
    );
    // A driver pages; that the partition grows is a finding of its own. Only a declared pattern promises an answer.
    let certain = access.pattern.is_some() && facts.growth_weight(table) >= 2;
    let severity = if certain { Severity::Warning } else { Severity::Advice };
    Some((severity, access.place.span, message))
}

/// How many ends of a range are given.
fn bounds(access: &Access, column: &str) -> usize {
    let slices =
        access.restrictions.iter().filter(|r| r.op.is_slice() && r.columns.iter().any(|c| c == column));
    slices.map(|r| if r.op == RelationOp::Between { 2 } else { 1 }).sum()
}

/// What to do instead. A read that needs everything still does: it is paged, not cut off.
fn instead(table: &Table, access: &Access) -> String {
    let partition: Vec<String> =
        table.partition_columns().map(|c| cql_syntax::maybe_quote(&c.name).to_string()).collect();
    if access.restrictions.is_empty() {
        let token = format!("token({})", partition.join(", "));
        return format!(
            "-- Which rows does the caller want? A table keyed by what it knows answers that. A job that needs all reads token range by\n\
             -- token range: SELECT * FROM {} WHERE {token} > ? AND {token} <= ?;",
            fix::qualified(table)
        );
    }
    let known: Vec<String> = partition.iter().map(|name| format!("{name} = ?")).collect();
    format!(
        "-- One request per partition, several at a time, each read page by page: SELECT * FROM {} WHERE {};",
        fix::qualified(table),
        known.join(" AND ")
    )
}
