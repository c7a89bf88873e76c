//! `no-tie-breaker`: two rows can share the full key, and the later silently replaces the earlier.

use super::{Context, Rule, key_span, on_table};
use crate::catalogue::{Column, Table};
use crate::facts::{Content, Facts, Owner, PERSON, holds_numbers, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix::Draft;
use crate::vocabulary::{Meaning, any_word, singular, words};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "no-tie-breaker",
    title: "two rows can share the full key: a silent overwrite, and paging without a deterministic order",
    why: "A write with a key that exists is an update. Two events in the same millisecond are one row, and nobody is told. A unique \
          last clustering column costs a few bytes; it also makes a paging cursor exact.",
    bad: "CREATE TABLE user_timeline (user_id uuid, created_at timestamp, post_id uuid, summary text,\n  PRIMARY KEY (user_id, created_at));",
    good: "CREATE TABLE user_timeline (user_id uuid, created_at timestamp, post_id uuid, summary text,\n  PRIMARY KEY (user_id, created_at, post_id)) WITH CLUSTERING ORDER BY (created_at DESC, post_id ASC);",
    check,
};

/// Ids that name the row itself, whatever the table is called.
const ROW_IDS: &[&str] = &[
    "post",
    "event",
    "message",
    "notification",
    "comment",
    "tweet",
    "transaction",
    "payment",
    "task",
    "entry",
    "activity",
    "log",
    "alert",
    "photo",
    "trade",
    "bid",
    "click",
    "record",
    "note",
    "reading",
    "review",
    "msg",
];
/// Ids whose owner is listed when rows are sorted by a quantity or a label.
const LISTED_IDS: &[&str] =
    &["user", "player", "product", "item", "member", "customer", "team", "account", "employee", "id"];
/// Times that say since when a value holds: one per instant by nature.
const EFFECTIVE: &[&str] = &["valid", "effective", "from", "since", "start", "as", "slot", "due"];

/// Whether the column is the id of the row, not of something it refers to.
pub fn is_own_id(table: &Table, column: &Column) -> bool {
    if column.meaning != Meaning::Identity || column.is_collection() {
        return false;
    }
    let name = words(&column.name);
    let subject: Vec<String> = subject_words(table).iter().map(|word| singular(word)).collect();
    let Some((last, stem)) = name.split_last() else { return false };
    if stem.is_empty() {
        return matches!(last.as_str(), "id" | "uuid" | "guid");
    }
    let stem = singular(&stem[stem.len() - 1]);
    subject.contains(&stem) || ROW_IDS.contains(&stem.as_str())
}

/// An amount that is lost when its row is replaced; other numbers at an instant are measured, and there is one.
fn is_money(column: &Column) -> bool {
    let money = ["amount", "price", "cent", "balance", "total", "fee", "cost", "payment"];
    any_word(&words(&column.name), &money)
}

/// Whether the column is the id of somebody: a bidder, a sender.
fn is_someone(column: &Column) -> bool {
    let name = words(&column.name);
    let [.., stem, last] = name.as_slice() else { return false };
    column.meaning == Meaning::Identity
        && matches!(last.as_str(), "id" | "uuid" | "guid")
        && (any_word(std::slice::from_ref(stem), PERSON) || stem.ends_with("er") || stem.ends_with("or"))
}

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (_, table, facts) in context.tables() {
        if table.is_view() || table.is_counter() || facts.is_reference {
            continue;
        }
        let own = table.regular_columns().find(|c| !c.is_static && is_own_id(table, c));
        let found = if table.clustering.is_empty() {
            without_clustering(table)
        } else {
            with_clustering(table, facts, own)
        };
        let Some((severity, column, id)) = found else { continue };
        let (name, native) = match id.or(own) {
            Some(id) => (id.name.clone(), NativeType::Uuid),
            None => (fresh_name(table), NativeType::Timeuuid),
        };
        let outside = match id.or(own) {
            Some(id) => format!("{} is not part of it", id.name),
            None => "nothing in it is unique".into(),
        };
        let message = format!(
            "two rows of one {} with the same {column} share the full primary key, since {outside}: the second write silently replaces the \
             first, and a page that ends there cannot be continued exactly",
            table.partition_text(),
        );
        let fix = Draft::of(table).clustering_with(&name, native).print();
        findings.push(on_table(&RULE, severity, table, key_span(table, column)).say(message, fix));
    }
}

fn fresh_name(table: &Table) -> String {
    let name = "event_id";
    if table.column(name).is_some() { "tie_breaker".into() } else { name.into() }
}

type Found<'t> = Option<(Severity, &'t str, Option<&'t Column>)>;

/// `users_by_city (city PRIMARY KEY, user_id)`: one row per city.
fn without_clustering(table: &Table) -> Found<'_> {
    let shared = table.partition_columns().all(|c| c.meaning.is_shared());
    let listed = |c: &&Column| {
        let name = words(&c.name);
        c.meaning == Meaning::Identity && (is_own_id(table, c) || any_word(&name, LISTED_IDS))
    };
    let id = table.regular_columns().find(listed).filter(|_| shared)?;
    let last = table.partition_columns().last()?;
    // One row per label that points at its owner is a lookup table: names may be unique.
    let severity = if last.meaning == Meaning::Label && last.name.ends_with("name") {
        Severity::Warning
    } else {
        Severity::Error
    };
    Some((severity, &last.name, Some(id)))
}

fn with_clustering<'t>(table: &'t Table, facts: &Facts, own: Option<&'t Column>) -> Found<'t> {
    if !table.clustering_columns().all(|c| c.meaning.is_shared()) {
        return None;
    }
    let last = table.clustering_columns().last()?;
    let instant = table.clustering_columns().find(|c| c.meaning == Meaning::Time);
    let quantity = table.clustering_columns().find(|c| c.meaning == Meaning::Measure);
    if let Some(quantity) = quantity {
        let listed = table.regular_columns().find(|c| {
            c.meaning == Meaning::Identity && (is_own_id(table, c) || any_word(&words(&c.name), LISTED_IDS))
        });
        return Some((
            if listed.is_some() { Severity::Error } else { Severity::Warning },
            &quantity.name,
            listed,
        ));
    }
    let Some(instant) = instant else {
        // One row per day, per country: the key may be the thing itself. With an id outside it is not.
        return own.map(|id| (Severity::Warning, last.name.as_str(), Some(id)));
    };
    if own.is_some() {
        return Some((Severity::Error, &instant.name, own));
    }
    let measured = facts.content == Content::Telemetry || facts.owner == Owner::Machine;
    if measured || any_word(&words(&instant.name), EFFECTIVE) {
        return None;
    }
    // What one unit does follows one after another, unless several take part: then two of them may be as quick.
    let several = table.regular_columns().any(|c| !c.is_static && is_someone(c));
    let measured = holds_numbers(table) && !table.regular_columns().any(is_money);
    let severity = if (facts.owner == Owner::Unit || measured) && !several {
        Severity::Advice
    } else {
        Severity::Warning
    };
    Some((severity, &instant.name, None))
}
