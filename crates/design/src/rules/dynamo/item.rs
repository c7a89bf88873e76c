//! `growing-item`: a list or a set inside one item grows towards 400 KB.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::ChangeKind;
use crate::dynamo::facts::View;
use crate::dynamo::{Operation, fix};
use crate::finding::{Findings, Severity};
use crate::lexicon::{HAPPENING, TELEMETRY};
use crate::rules::Context;
use crate::vocabulary::{any_word, singular, words};

pub static RULE: Rule = Rule {
    id: "growing-item",
    title: "a list or a set inside one item only grows: an item ends at 400 KB",
    why: "An item may take 400 KB. A list that every event is appended to reaches it, and then each write is refused; long before, every append \
          rewrites and pays for the whole item. Entries that come without end are items of their own, with a sort key.",
    bad: r#"{"tables": [{"table": "chats", "hash": "chat_id"}],
 "operations": [{"op": "UpdateItem", "table": "chats", "key": {"chat_id": "<chat_id>"}, "update": "SET messages = list_append(messages, :m)"}]}"#,
    good: r#"{"tables": [{"table": "chat_messages", "hash": "chat_id", "range": "message_id"}],
 "operations": [{"op": "PutItem", "table": "chat_messages", "item": {"chat_id": "<chat_id>", "message_id": "<ulid>", "body": "<body>"}},
  {"op": "Query", "table": "chat_messages", "key": "chat_id = :c", "forward": false, "limit": 50}]}"#,
    seen: super::seen::ITEM,
    check,
};

/// What comes without end, beyond the happenings that CQL's rules know.
const ENDLESS: &[&str] = &[
    "message",
    "history",
    "log",
    "event",
    "comment",
    "transaction",
    "activity",
    "entry",
    "visit",
    "post",
    "notification",
    "reading",
    "follower",
    "follow",
    "like",
    "vote",
    "view",
    "click",
    "update",
    "change",
    "play",
    "score",
    "order",
    "review",
    "turn",
    "conversation",
    "search",
];

/// What one thing has a few of.
const BOUNDED: &[&str] = &[
    "attachment",
    "tag",
    "label",
    "alias",
    "role",
    "permission",
    "image",
    "photo",
    "address",
    "device",
    "category",
    "skill",
    "option",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let mut told: Vec<&str> = Vec::new();
        for operation in view.operations.iter().copied() {
            for change in operation.changes() {
                let grows = match change.kind {
                    ChangeKind::Append => true,
                    ChangeKind::Add => is_set(operation, &change.attribute),
                    _ => false,
                };
                if !grows || told.contains(&change.attribute.as_str()) || shrinks(&view, &change.attribute) {
                    continue;
                }
                told.push(&change.attribute);
                let words = words(&change.leaf);
                let endless =
                    any_word(&words, ENDLESS) || any_word(&words, HAPPENING) || any_word(&words, TELEMETRY);
                let bounded = operation.condition.as_ref().is_some_and(|c| c.text.contains("size"));
                let bounded = bounded || any_word(&words, BOUNDED);
                let severity = match (endless && change.kind == ChangeKind::Append, bounded) {
                    (_, true) => Severity::Advice,
                    (true, false) => Severity::Error,
                    (false, false) => Severity::Warning,
                };
                let message = format!(
                    "{} adds to {} inside the item, and nothing takes away: at 100 bytes an entry the item ends at 400 KB with 4,000 entries, and every write pays for all of them; entries per item would settle it",
                    operation.title(),
                    change.attribute
                );
                let span = operation.update.as_ref().map(|u| u.span);
                findings.push(
                    on_operation(&RULE, severity, &view, operation, span)
                        .say(message, repaired(&view, &change.attribute)),
                );
            }
        }
    }
}

/// Whether `ADD` adds to a set, not to a number.
fn is_set(operation: &Operation, attribute: &str) -> bool {
    let words = words(attribute);
    let counts = [
        "count", "total", "number", "num", "amount", "sum", "quantity", "counter", "version", "balance",
        "score", "hit", "point", "credit", "size", "byte", "second",
    ];
    let value = operation.changes().iter().find(|c| c.attribute == attribute).and_then(|c| c.value.as_ref());
    let numeric = value.is_some_and(|v| {
        v.is_number
            || v.text.parse::<f64>().is_ok()
            || v.holes().any(|h| {
                ["one", "n", "inc", "incr", "increment", "delta", "val", "value", "amount", "by", "count"]
                    .contains(&h.to_ascii_lowercase().as_str())
            })
    });
    let plural = words.last().is_some_and(|last| singular(last) != *last);
    !any_word(&words, &counts) && !numeric && plural
}

/// Whether anything takes entries away or replaces the whole by something that was not made of it.
fn shrinks(view: &View<'_>, attribute: &str) -> bool {
    view.operations.iter().any(|operation| {
        operation.changes().iter().any(|c| {
            let replaced = c.kind == ChangeKind::Set && !operation.after_read;
            c.attribute == attribute
                && (replaced || matches!(c.kind, ChangeKind::Remove | ChangeKind::DeleteFrom))
        })
    })
}

fn repaired(view: &View<'_>, attribute: &str) -> String {
    let table = view.table;
    let entry = singular(attribute);
    let body = serde_json::json!({
        "op": "PutItem", "table": format!("{}_{attribute}", table.name),
        "item": {table.hash.name.clone(): format!("<{}>", table.hash.name), format!("{entry}_id"): "<ulid>", "body": "<body>"},
    });
    let lines = [format!(
        "Each entry an item of its own: hash {}, sort {entry}_id; in one table with the owner, or beside it:",
        table.hash.name
    )];
    fix::operation(&lines, &body)
}
