//! `unbounded-collection`: a collection used as a child table.

use super::{Context, Rule, on_table};
use crate::catalogue::{Column, Table, Verb};
use crate::facts::{Owner, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix::Draft;
use crate::lexicon::REGISTRY;
use crate::vocabulary::{any_word, native, singular};
use cql_syntax::ast::{DataType, NativeType, TypeKind};

pub static RULE: Rule = Rule {
    id: "unbounded-collection",
    title: "a collection used as a child table",
    why: "A collection is read whole with its row, cannot be paged, and an element of a list is found by reading the rest. It is meant for a handful of \
          values. What grows with use is a table of its own, clustered by time or id.",
    bad: "CREATE TABLE posts (post_id uuid PRIMARY KEY, body text, comments list<text>);",
    good: "CREATE TABLE comments_by_post (post_id uuid, created_at timestamp, comment_id uuid, body text,\n  PRIMARY KEY (post_id, created_at, comment_id));",
    seen: "doanduyhai/killrchat keeps the participants of a room in a set that grows with every join; \
           IFUNMAN1358/CorporateMessenger-Spring has chat_members_by_chat_id, which can be paged.",
    check,
};

/// Children that grow as long as the parent lives.
const GROWING: &[&str] = &[
    "event",
    "history",
    "log",
    "message",
    "comment",
    "follower",
    "following",
    "reading",
    "transaction",
    "visit",
    "click",
    "like",
    "view",
    "post",
    "tweet",
    "notification",
    "measurement",
    "entry",
    "activity",
    "login",
    "review",
    "reply",
    "audit",
    "viewer",
    "subscriber",
    "bid",
    "movement",
    "change",
    "metric",
    "vote",
    "play",
    "order",
    "payment",
    "purchase",
    "session",
    "journal",
    "timeline",
    "feed",
];
/// Children that are few in one order, many in one group.
const DOUBTFUL: &[&str] = &[
    "item",
    "member",
    "participant",
    "product",
    "friend",
    "contact",
    "task",
    "child",
    "user",
    "file",
    "photo",
    "player",
    "note",
];

/// Words that say how children are held, not what they are: follower_ids, comment_list.
const SHAPE: &[&str] = &["id", "ids", "list", "set", "map", "uuids", "json", "by"];

/// Whether the word, or what somebody does who is called so (liker, liked), is a child that grows.
fn is_growing(word: &[String]) -> bool {
    let stems = |w: &String| {
        let w = singular(w);
        ["r", "d", "er", "ed"]
            .iter()
            .filter_map(|e| w.strip_suffix(e).map(str::to_string))
            .collect::<Vec<_>>()
    };
    any_word(word, GROWING) || word.iter().any(|w| any_word(&stems(w), GROWING))
}

/// saved_by, seen_by: who did it.
fn is_done_by(name: &[String]) -> bool {
    matches!(name, [done, by] if by == "by" && (done.ends_with("ed") || done == "seen" || done == "read"))
}

/// Whether an element is found by an instant.
fn keyed_by_time(data_type: &DataType) -> bool {
    let is_time = |t: &DataType| matches!(native(t), Some(NativeType::Timestamp | NativeType::Timeuuid));
    match &data_type.kind {
        TypeKind::Map(key, _) => is_time(key),
        TypeKind::List(element) | TypeKind::Set(element) => is_time(element),
        _ => false,
    }
}

/// Tables of a few hundred rows, which somebody edits.
fn is_registry(table: &Table) -> bool {
    subject_words(table).last().is_some_and(|word| any_word(std::slice::from_ref(word), REGISTRY))
}

fn is_list(column: &Column) -> bool {
    matches!(column.data_type.kind, TypeKind::List(_))
}

/// Whether a statement sets the collection anew or takes elements out.
fn shrinks(context: &Context<'_>, at: usize, column: &Column) -> bool {
    context.catalogue.accesses_of(at).any(|a| {
        let sets =
            a.assigned.iter().any(|(name, _)| *name == column.name) && !a.appended.contains(&column.name);
        (a.verb == Verb::Update && sets) || a.verb == Verb::Delete
    })
}

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        if table.is_view() {
            continue;
        }
        for column in table.regular_columns().filter(|c| c.is_collection()) {
            let name = column.words.clone();
            let last: Vec<String> =
                name.iter().rev().find(|word| !SHAPE.contains(&word.as_str())).cloned().into_iter().collect();
            let appended = context.catalogue.accesses_of(at).any(|a| a.appended.contains(&column.name));
            let unit = facts.owner == Owner::Unit;
            let newest_only = name.iter().any(|w| w == "recent" || w == "last");
            let severity = if is_growing(&last) && !newest_only {
                if unit { Severity::Advice } else { Severity::Error }
            } else if keyed_by_time(&column.data_type) && appended && !unit && !newest_only {
                // One entry per instant, added by a statement here: history inside a row.
                Severity::Warning
            } else if appended && is_list(column) && !unit && !newest_only && !shrinks(context, at, column) {
                // Each statement adds, none takes away.
                if is_registry(table) { Severity::Advice } else { Severity::Warning }
            } else if is_done_by(&name) && !unit {
                // As many as there are people.
                Severity::Warning
            } else if any_word(&last, DOUBTFUL) && !unit {
                if appended { Severity::Warning } else { Severity::Advice }
            } else {
                continue;
            };
            let element = 40.0;
            let message = format!(
                "{} grows inside one row: 10,000 elements of about {element:.0} bytes are {} read and rewritten whole, without paging; it is a child table",
                column.name,
                crate::units::bytes(10_000.0 * element)
            );
            findings
                .push(on_table(&RULE, severity, table, column.span).say(message, child_table(table, column)));
        }
    }
}

fn child_table(table: &Table, column: &Column) -> String {
    let child = singular(&column.name);
    let mut draft = Draft::of(table).named(&format!("{}_by_{}", column.name, singular(&table.name)));
    for other in table.regular_columns() {
        draft = draft.without_column(&other.name);
    }
    let partition = table.partition_columns().map(|c| c.name.clone()).collect();
    let clustering = table.clustering_columns().map(|c| (c.name.clone(), false)).collect();
    draft
        .keyed(partition, clustering)
        .clustering_with("created_at", NativeType::Timestamp)
        .clustering_with(&format!("{child}_id"), NativeType::Uuid)
        .with_column(&format!("{child}_value"), NativeType::Text)
        .print()
}
