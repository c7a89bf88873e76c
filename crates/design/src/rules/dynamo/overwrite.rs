//! `overwriting-put`: a PutItem that should make something new and silently replaces what is there.

use super::{Rule, on_operation, views};
use crate::dynamo::facts::View;
use crate::dynamo::{Action, Operation, fix, meaning_of};
use crate::facts::{Content, Owner};
use crate::finding::{Findings, Severity};
use crate::lexicon::{MARKER, PERSON};
use crate::rules::Context;
use crate::vocabulary::{Meaning, any_word, words};

pub static RULE: Rule = Rule {
    id: "overwriting-put",
    title: "a PutItem that should make something new replaces what is there",
    why: "PutItem replaces the item with the same key without a word. Where the key is chosen by people (an email, a user name, a short link) or the item is a \
          lock or a marker, the second writer must be refused: `attribute_not_exists(key)` does that at no extra cost.",
    bad: r#"{"tables": [{"table": "locks", "hash": "lock_name", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "name": "acquireLock", "table": "locks", "item": {"lock_name": "<lock_name>", "owner": "<owner>", "expires_at": "<epoch_seconds>"}}]}"#,
    good: r#"{"tables": [{"table": "locks", "hash": "lock_name", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "name": "acquireLock", "table": "locks", "item": {"lock_name": "<lock_name>", "owner": "<owner>", "expires_at": "<epoch_seconds>"}, "condition": "attribute_not_exists(lock_name) OR expires_at < :now"}]}"#,
    seen: super::seen::OVERWRITE,
    check,
};

const CHOSEN: &[&str] = &["email", "username", "slug", "handle", "phone", "nickname", "alias"];
const CREATES: &[&str] =
    &["create", "register", "signup", "sign", "new", "add", "insert", "claim", "reserve", "acquire"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        for put in view.writes().filter(|o| o.action == Action::Put && o.condition.is_none()) {
            let name = put.name.as_deref().map(words).unwrap_or_default();
            let hash_words = put
                .given(&table.hash.name)
                .map(|t| t.holes().flat_map(words).collect::<Vec<_>>())
                .unwrap_or_default();
            let all: Vec<String> = table
                .hash
                .words
                .iter()
                .cloned()
                .chain(hash_words)
                .chain(words(put.given(&table.hash.name).map_or("", |t| t.prefix())))
                .collect();
            let is_lock = any_word(&table.words, &["lock", "lease", "mutex"])
                || any_word(&all, &["lock", "mutex", "lease"]);
            let releases = any_word(&name, &["release", "update", "renew", "save", "refresh", "extend"]);
            let is_marker = any_word(&table.words, MARKER) || any_word(&all, MARKER);
            let chosen = table.range.is_none()
                && any_word(&all, CHOSEN)
                && any_word(&name, CREATES)
                && !any_word(&name, &["or", "upsert", "update", "save"]);
            let (severity, what) = if is_lock && !releases {
                (Severity::Error, "two at once both hold the lock")
            } else if is_marker && !releases {
                (
                    Severity::Warning,
                    "the second of two at once does not learn that it is the second; unless a read before decides and a race is harmless",
                )
            } else if chosen {
                (
                    Severity::Warning,
                    "somebody else's item with the same key is replaced without a word; unless a condition is set elsewhere",
                )
            } else if let Some((range, severity)) = shared_instant(&view, put) {
                let message = format!(
                    "{} sorts by {range} alone: two items of one {} in the same instant are one, and the second silently replaces the first",
                    put.title(),
                    table.hash.name
                );
                let mut body = serde_json::json!({"op": "PutItem", "table": table.name, "item": {}});
                for (attribute, value) in &put.item {
                    let tail = if *attribute == range { "#<event_id>" } else { "" };
                    body["item"][attribute] = serde_json::json!(format!("{}{tail}", value.text));
                }
                let lines = [
                    "In its place, with an id of its own behind the time; ranges of time are read as before:"
                        .to_string(),
                ];
                let fixed = fix::operation(&lines, &body);
                findings.push(on_operation(&RULE, severity, &view, put, None).say(message, fixed));
                continue;
            } else {
                continue;
            };
            let message = format!("{} writes {} without a condition: {what}", put.title(), table.hash.name);
            let mut body = serde_json::json!({"op": "PutItem", "table": table.name, "condition": format!("attribute_not_exists({})", table.hash.name), "item": {}});
            for (attribute, value) in &put.item {
                body["item"][attribute] = serde_json::json!(value.text);
            }
            let fixed = fix::operation(
                &["In its place; ConditionalCheckFailedException means that it is taken:".to_string()],
                &body,
            );
            findings.push(on_operation(&RULE, severity, &view, put, None).say(message, fixed));
        }
    }
}

/// The sort key, when it is nothing but the instant at which one of many did something, and how sure that is.
fn shared_instant(view: &View<'_>, put: &Operation) -> Option<(String, Severity)> {
    let table = view.table;
    let range = table.range.as_ref()?;
    let bare =
        put.given(&range.name).is_some_and(|value| value.holes().count() == 1 && value.prefix().is_empty());
    let is_instant = meaning_of(&range.words, None) == Meaning::Time;
    let content = view.content();
    if !bare || !is_instant || content == Content::Things {
        return None;
    }
    // Whoever did it stands beside the key: several do.
    let somebody = put.item.iter().any(|(name, value)| {
        let said: Vec<String> = words(name).into_iter().chain(value.holes().flat_map(words)).collect();
        *name != table.hash.name && *name != range.name && any_word(&said, PERSON)
    });
    let owner = view.owner(&table.hash);
    let is_text = range.kind != Some('N');
    let severity = match (owner, content) {
        (Owner::Person | Owner::Machine, _) | (_, Content::Telemetry) if !somebody => return None,
        (Owner::Group, _) if is_text => Severity::Error,
        _ if somebody && content == Content::Happenings => Severity::Error,
        (Owner::Group | Owner::Unknown, Content::Happenings) => Severity::Warning,
        _ => return None,
    };
    Some((range.name.clone(), severity))
}
