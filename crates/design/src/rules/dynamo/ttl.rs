//! `ttl-unit`, `missing-ttl`: items that never expire, or at once.

use super::{Rule, on_view, views};
use crate::dynamo::facts::View;
use crate::dynamo::template::Template;
use crate::dynamo::{Action, Form, fix};
use crate::finding::{Findings, Severity};
use crate::lexicon::MARKER;
use crate::rules::Context;
use crate::vocabulary::{any_word, words};

pub static UNIT: Rule = Rule {
    id: "ttl-unit",
    title: "the TTL attribute is not a time in epoch seconds: items never expire, or at once",
    why: "TTL reads a number of seconds since 1970. A text is ignored, so nothing expires; milliseconds are fifty thousand years away, so nothing \
          expires; the time of creation has already passed, so everything expires within days.",
    bad: r#"{"tables": [{"table": "sessions", "hash": "session_id", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "sessions", "item": {"session_id": "<session_id>", "expires_at": "<expires_iso8601>"}}]}"#,
    good: r#"{"tables": [{"table": "sessions", "hash": "session_id", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "sessions", "item": {"session_id": "<session_id>", "expires_at": "<epoch_seconds>"}}]}"#,
    seen: super::seen::TTL_UNIT,
    check: unit,
};

pub static MISSING: Rule = Rule {
    id: "missing-ttl",
    title: "items that are made to expire, and nothing that lets them",
    why: "Sessions, tokens, locks and markers are worthless after a while. Without TTL and without deletes the table keeps all of them for ever, and pays. \
          An expiry attribute alone does nothing: TTL must be switched on for it. TTL may be days late, so reads still check the time.",
    bad: r#"{"tables": [{"table": "sessions", "hash": "session_id"}],
 "operations": [{"op": "PutItem", "table": "sessions", "item": {"session_id": "<session_id>", "user_id": "<user_id>", "expires_at": "<epoch_seconds>"}},
  {"op": "GetItem", "table": "sessions", "key": {"session_id": "<session_id>"}}]}"#,
    good: r#"{"tables": [{"table": "sessions", "hash": "session_id", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "sessions", "item": {"session_id": "<session_id>", "user_id": "<user_id>", "expires_at": "<epoch_seconds>"}},
  {"op": "GetItem", "table": "sessions", "key": {"session_id": "<session_id>"}}]}"#,
    seen: super::seen::TTL_MISSING,
    check: missing,
};

/// Milliseconds of any year since 1973; seconds reach this in the year 5138.
const MILLISECONDS_MIN: f64 = 1e11;
const TRANSIENT: &[&str] = &[
    "session",
    "otp",
    "nonce",
    "cache",
    "lock",
    "csrf",
    "captcha",
    "presence",
    "heartbeat",
    "throttle",
    "challenge",
    "magic",
    "lease",
    "mutex",
];
const EXPIRY: &[&str] = &["ttl", "expires", "expire", "expiry", "expiration", "expired"];

fn unit(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let Some(ttl) = &view.table.ttl else { continue };
        let Some((severity, message)) = wrong(&view, &ttl.attribute) else { continue };
        let lines = [
            format!(
                "Write a number of seconds: {} = now + lifetime, in seconds since 1970 (type N).",
                ttl.attribute
            ),
            "Existing items keep the old value until they are written again.".to_string(),
        ];
        findings.push(on_view(&UNIT, severity, &view, ttl.span).say(message, fix::said(&lines)));
    }
}

fn wrong(view: &View<'_>, attribute: &str) -> Option<(Severity, String)> {
    let table = view.table;
    let key = table.keys().chain(table.indexes.iter().flat_map(|i| i.keys())).find(|k| k.name == attribute);
    if key.is_some_and(|k| k.kind == Some('S')) {
        return Some((
            Severity::Error,
            format!(
                "TTL reads {attribute}, which is declared as text (S): it needs a number, so nothing ever expires"
            ),
        ));
    }
    let names = words(attribute);
    if any_word(&names, &["created", "creation", "updated", "modified", "inserted"])
        && !any_word(&names, EXPIRY)
    {
        return Some((
            Severity::Error,
            format!(
                "TTL reads {attribute}, a time that has passed when the item is written: every item expires soon after it was made"
            ),
        ));
    }
    for (value, _) in view.values(attribute) {
        if let Some(reason) = not_seconds(value) {
            return Some((
                Severity::Error,
                format!("TTL reads {attribute}, and {} is {reason}: nothing ever expires", value.text),
            ));
        }
    }
    let ms = any_word(&names, &["ms", "milli", "millisecond"]);
    ms.then(|| (Severity::Warning, format!("TTL reads {attribute}, whose name says milliseconds: it needs seconds; the value that is written would settle it")))
}

fn not_seconds(value: &Template) -> Option<&'static str> {
    if value.is_constant() {
        return match value.text.parse::<f64>() {
            Ok(number) if number >= MILLISECONDS_MIN => Some("in milliseconds"),
            Ok(_) if value.is_number => None,
            Ok(_) => None,
            Err(_) => Some("a text"),
        };
    }
    let names: Vec<String> = value.holes().flat_map(words).collect();
    if any_word(&names, &["ms", "milli", "millisecond"]) {
        Some("in milliseconds")
    } else if any_word(&names, &["iso", "iso8601", "rfc3339", "date", "datetime", "string", "isoformat"]) {
        Some("a text")
    } else {
        None
    }
}

fn missing(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        if table.ttl.is_some() {
            continue;
        }
        let written = view.writes().flat_map(|o| {
            o.item.iter().map(|(name, _)| name).chain(o.changes().iter().map(|c| &c.attribute))
        });
        let mut names: Vec<&String> = written.collect();
        let sampled = table.samples.iter().flatten().map(|(name, _)| name);
        names.extend(sampled);
        let is_key = |name: &str| table.keys().any(|k| k.name == name);
        let expiry = names.iter().find(|name| any_word(&words(name), EXPIRY) && !is_key(name));
        let is_ttl = |name: &str| {
            matches!(name.to_ascii_lowercase().replace(['_', '-'], "").as_str(), "ttl" | "timetolive")
        };
        // An inbox that is only put into, each message once, remembers what was handled.
        let once = view.writes().all(|o| o.action == Action::Put && o.condition.is_some());
        let inbox = any_word(&table.words, &["inbox"]) && once;
        let transient = any_word(&table.words, TRANSIENT) || any_word(&table.words, MARKER) || inbox;
        // `describe-table` does not show TTL.
        let unseen = table.form == Form::Json;
        let cleaned = view.has_deletes() || view.operations.is_empty();
        let (severity, attribute) = match expiry {
            Some(name) if is_ttl(name) && !unseen => (Severity::Error, name.as_str()),
            Some(name) if transient && !cleaned && !unseen => (Severity::Error, name.as_str()),
            Some(name) if transient || is_ttl(name) => (Severity::Warning, name.as_str()),
            Some(_) => continue,
            None if transient && !cleaned && view.writes().next().is_some() => {
                (Severity::Warning, "expires_at")
            }
            None => continue,
        };
        let message = match expiry {
            Some(_) if unseen => format!(
                "items of {} carry {attribute}, and no TTL is seen: unless it is switched on outside of this file, nothing expires",
                table.name
            ),
            Some(_) => format!(
                "items of {} carry {attribute}, and TTL is not switched on: nothing expires",
                table.name
            ),
            None => format!(
                "items of {} are made to pass, and neither TTL nor a delete ends them; how long one is of use would settle it",
                table.name
            ),
        };
        let why = [format!(
            "{attribute} in seconds since 1970, as a number; switching it on deletes only items whose time has passed."
        )];
        findings.push(
            on_view(&MISSING, severity, &view, view.key_span(&table.hash))
                .say(message, fix::ttl(table, attribute, &why)),
        );
    }
}
