//! `mixed-lifecycles`: kinds of items in one table of which only some expire; worth knowing, nothing is wrong.

use super::{Rule, on_view, views};
use crate::dynamo::{Action, fix};
use crate::finding::{Findings, Severity};
use crate::rules::Context;

pub static RULE: Rule = Rule {
    id: "mixed-lifecycles",
    title: "kinds of items in one table of which only some expire",
    why: "TTL is one attribute for the whole table: items without it stay, which is right for some kinds and a leak for others. Backups, exports \
          and streams see all kinds together. Know which kinds expire; where a kind is many times the rest, a table of its own is easier to keep.",
    bad: r##"{"tables": [{"table": "app", "hash": "PK", "range": "SK", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "app", "item": {"PK": "SESSION#<session_id>", "SK": "META", "expires_at": "<epoch_seconds>"}},
  {"op": "PutItem", "table": "app", "item": {"PK": "USER#<user_id>", "SK": "PROFILE"}}]}"##,
    good: r##"{"tables": [{"table": "sessions", "hash": "PK", "range": "SK", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "sessions", "item": {"PK": "SESSION#<session_id>", "SK": "META", "expires_at": "<epoch_seconds>"}}]}"##,
    seen: super::seen::LIFECYCLE,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let Some(ttl) = &view.table.ttl else { continue };
        let puts: Vec<_> = view
            .writes()
            .filter(|o| {
                o.action == Action::Put && o.item.len() > 1 && o.given(&view.table.hash.name).is_some()
            })
            .collect();
        let expires = |o: &&&crate::dynamo::Operation| o.has_ttl || o.given(&ttl.attribute).is_some();
        let with = puts.iter().filter(expires).count();
        let Some(without) = puts.iter().find(|o| !expires(o)).filter(|_| with > 0) else { continue };
        let kind = without.given(&view.table.hash.name).map_or("", |t| t.text.as_str());
        let message = format!(
            "items with {} = {kind} are written without {}, so they stay, while others expire",
            view.table.hash.name, ttl.attribute
        );
        let lines = ["Right for what must stay; else give the attribute in that PutItem too.".to_string()];
        findings.push(on_view(&RULE, Severity::Advice, &view, ttl.span).say(message, fix::said(&lines)));
    }
}
