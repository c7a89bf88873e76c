//! `constant-hash-key`, `few-valued-hash-key`, `time-hash-key`, `hash-key-not-given`: hash keys that do not spread, or that nobody gives.

use super::{KEY_WRITES_MAX, Rule, on_view, views};
use crate::dynamo::facts::{CONSTANTS, Spread, View};
use crate::dynamo::{Action, Index, Key, fix};
use crate::finding::{Finding, Findings, Severity};
use crate::lexicon::{HAPPENING, POPULATION, TELEMETRY, UNIT};
use crate::rules::Context;
use crate::units;
use crate::vocabulary::any_word;
use cql_syntax::Span;

pub static CONSTANT: Rule = Rule {
    id: "constant-hash-key",
    title: "every item has the same hash key, in a table or an index",
    why: "All items under one hash value share one limit: 1,000 write units a second, whatever the table is paid for. In an index the limit \
          holds back the table itself: writes are refused when the index cannot follow. A list of everything is better spread over a known \
          number of values (`ALL#0` to `ALL#9`) and read in parallel, or exported.",
    bad: r#"{"tables": [{"table": "orders", "hash": "order_id", "indexes": [{"name": "all_by_date", "hash": "kind", "range": "created_at"}]}],
 "operations": [{"op": "PutItem", "table": "orders", "item": {"order_id": "<order_id>", "kind": "ORDER", "created_at": "<created_at>"}},
  {"op": "Query", "table": "orders", "index": "all_by_date", "key": "kind = 'ORDER'", "forward": false, "limit": 20}]}"#,
    good: r#"{"tables": [{"table": "orders", "hash": "order_id", "indexes": [{"name": "all_by_date", "hash": "kind_shard", "range": "created_at"}]}],
 "operations": [{"op": "PutItem", "table": "orders", "item": {"order_id": "<order_id>", "kind_shard": "ORDER#<shard>", "created_at": "<created_at>"}},
  {"op": "Query", "table": "orders", "index": "all_by_date", "key": "kind_shard = 'ORDER#<shard>'", "forward": false, "limit": 20}]}"#,
    seen: super::seen::CONSTANT,
    check: constant,
};

pub static FEW: Rule = Rule {
    id: "few-valued-hash-key",
    title: "the hash key of a table or an index has few values: a status, a type, a flag",
    why: "A status has ten values, so ten hash values take all writes, and most of them one: the state in which items are created. Each takes \
          1,000 write units a second, and each read of a state pages through everything in it. Keep the few-valued attribute in the sort key \
          behind what every reader knows (a tenant, an owner), write it only while it matters (a sparse index), or spread it by a suffix.",
    bad: r#"{"tables": [{"table": "jobs", "hash": "job_id", "indexes": [{"name": "by_status", "hash": "status", "range": "created_at"}]}],
 "operations": [{"op": "Query", "table": "jobs", "index": "by_status", "key": "status = :s", "limit": 25},
  {"op": "UpdateItem", "table": "jobs", "key": {"job_id": "<job_id>"}, "update": "SET #s = :s"}]}"#,
    good: r#"{"tables": [{"table": "jobs", "hash": "job_id", "indexes": [{"name": "by_tenant_status", "hash": "tenant_id", "range": "status_created_at"}]}],
 "operations": [{"op": "Query", "table": "jobs", "index": "by_tenant_status", "key": "tenant_id = :t AND begins_with(status_created_at, :s)", "limit": 25}]}"#,
    seen: super::seen::FEW,
    check: few,
};

pub static TIME: Rule = Rule {
    id: "time-hash-key",
    title: "the hash key is a day or an instant: all that is written now has the same value, or nobody can ask for it",
    why: "With a day as hash key every write of today goes to one hash value, and tomorrow to the next: the hot spot moves, it does not go away. \
          With an instant as hash key no range can be read, since a Query needs the exact value, and two items of one instant replace each \
          other where it is the whole key. Put the owner first and the time into the sort key; for lists by time over all owners spread a day \
          over suffixes.",
    bad: r#"{"tables": [{"table": "events", "hash": "event_id", "indexes": [{"name": "by_day", "hash": "event_date", "range": "event_time"}]}],
 "operations": [{"op": "Query", "table": "events", "index": "by_day", "key": "event_date = :d"}]}"#,
    good: r#"{"tables": [{"table": "events", "hash": "event_id", "indexes": [{"name": "by_day", "hash": "day_shard", "range": "event_time"}]}],
 "operations": [{"op": "PutItem", "table": "events", "item": {"event_id": "<event_id>", "day_shard": "<day>#<shard>", "event_time": "<event_time>"}},
  {"op": "Query", "table": "events", "index": "by_day", "key": "day_shard = '<day>#<shard>'", "limit": 100}]}"#,
    seen: super::seen::TIME,
    check: time,
};

pub static NOT_GIVEN: Rule = Rule {
    id: "hash-key-not-given",
    title: "no operation ever gives the table's hash key: the key serves nobody",
    why: "An item is found by its hash key, or by that of an index. A table whose every read goes through one index pays for each item twice and reads \
          eventually consistent data, while its own key serves nobody: the key of that index should be the table's key.",
    bad: r#"{"tables": [{"table": "visits", "hash": "row_id", "indexes": [{"name": "by_user", "hash": "user_id", "range": "visited_at"}]}],
 "operations": [{"op": "PutItem", "table": "visits", "item": {"row_id": "<uuid>", "user_id": "<user_id>", "visited_at": "<visited_at>"}},
  {"op": "Query", "table": "visits", "index": "by_user", "key": "user_id = :u", "limit": 20}]}"#,
    good: r#"{"tables": [{"table": "visits", "hash": "user_id", "range": "visited_at"}],
 "operations": [{"op": "PutItem", "table": "visits", "item": {"user_id": "<user_id>", "visited_at": "<visited_at>"}},
  {"op": "Query", "table": "visits", "key": "user_id = :u", "limit": 20}]}"#,
    seen: super::seen::NOT_GIVEN,
    check: not_given,
};

/// Suffixes that a repair spreads a value over.
const SHARDS: u32 = 10;

/// A hash key: the table's own, or an index's.
struct Side<'v> {
    index: Option<&'v Index>,
    hash: &'v Key,
    range: Option<&'v Key>,
}

impl Side<'_> {
    fn called(&self) -> String {
        match self.index {
            Some(index) => format!("index {}", index.name),
            None => "the table".into(),
        }
    }
}

fn sides<'v>(view: &View<'v>) -> Vec<Side<'v>> {
    let table = view.table;
    let own = Side { index: None, hash: &table.hash, range: table.range.as_ref() };
    let of_index =
        |index: &'v Index| Side { index: Some(index), hash: &index.hash, range: index.range.as_ref() };
    std::iter::once(own).chain(table.indexes.iter().filter(|i| !i.is_local).map(of_index)).collect()
}

/// The declared rate makes certain what is otherwise likely: above the limit an error, far below it no more than advice.
fn judged(view: &View<'_>, likely: Severity) -> (Severity, String) {
    match view.write_rate() {
        Some(rate) if rate > KEY_WRITES_MAX => (
            Severity::Error,
            format!(
                "the declared {} writes/s are more than the 1,000 that one value takes",
                units::count(rate)
            ),
        ),
        Some(rate) if rate * 5.0 < KEY_WRITES_MAX => (
            Severity::Advice,
            format!("the declared {} writes/s are fine, ten times as many are not", units::count(rate)),
        ),
        Some(rate) => {
            (likely, format!("{} writes/s are declared, one value takes 1,000", units::count(rate)))
        }
        None => (likely, "one value takes 1,000 writes/s; declare `rate` on the writes to settle it".into()),
    }
}

/// An index beside the old one, whose hash is spread by a suffix.
fn spread_out(view: &View<'_>, side: &Side<'_>) -> String {
    let table = view.table;
    let attribute = format!("{}_shard", side.hash.name);
    let id = table.range.as_ref().unwrap_or(&table.hash);
    let said = |first: &str| {
        vec![
            format!("1. {first}: {attribute} = {} + \"#\" + (hash of {}) % {SHARDS}", side.hash.name, id.name),
            format!("2. Read {SHARDS} values in parallel ({}#0 to {}#{}) and merge by the sort key.", side.hash.name, side.hash.name, SHARDS - 1),
            "3. Give existing items the attribute (a parallel Scan with UpdateItem), move the readers over, then stop using the old.".to_string(),
        ]
    };
    match side.index {
        Some(index) => {
            let range = side.range.map(|key| (key.name.as_str(), key.kind.unwrap_or('S')));
            let name = fix::free_name(table, &format!("{}_sharded", index.name));
            fix::new_index(table, &name, (&attribute, 'S'), range, &[], &said("Write a further attribute"))
        }
        None => {
            fix::said(&said("The hash key of a table cannot be changed: make a new table with the hash key"))
        }
    }
}

fn push(
    findings: &mut Findings,
    rule: &Rule,
    view: &View<'_>,
    side: &Side<'_>,
    severity: Severity,
    message: String,
    fix: String,
) {
    let span: Span = side.index.map_or_else(
        || view.key_span(side.hash),
        |index| if side.hash.span.end > 0 { side.hash.span } else { index.span },
    );
    let finding: Finding = on_view(rule, severity, view, span);
    findings.push(finding.say(message, fix));
}

fn constant(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for side in sides(&view) {
            let Spread::Constant(value) = view.spread(side.hash) else {
                one_entity(&view, &side, findings);
                continue;
            };
            // One hash value without sort key is one item.
            if side.range.is_none() && side.index.is_none() {
                continue;
            }
            let fixed = side.range.is_some_and(|range| {
                view.values(&range.name).iter().all(|(v, _)| v.is_constant())
                    && !view.values(&range.name).is_empty()
            });
            if fixed || view.is_sparse(&side.hash.name) {
                continue;
            }
            let (severity, settles) =
                judged(&view, if view.is_small() { Severity::Advice } else { Severity::Error });
            let message = format!(
                "{} has one hash value: every operation gives {} = {value}, so all items of {} are behind it; {settles}",
                side.called(),
                side.hash.name,
                view.table.name
            );
            push(findings, &CONSTANT, &view, &side, severity, message, spread_out(&view, &side));
        }
    }
}

/// One kind of item of a shared table whose hash is constant while its sort key is not: `PK = ORDERS, SK = <order>`.
fn one_entity(view: &View<'_>, side: &Side<'_>, findings: &mut Findings) {
    let Some(range) = side.range else { return };
    if view.is_sparse(&side.hash.name) && !side.hash.is_generic() {
        return;
    }
    let mut told: Vec<&str> = Vec::new();
    for operation in view.writes() {
        let (Some(hash), Some(sort)) = (operation.given(&side.hash.name), operation.given(&range.name))
        else {
            continue;
        };
        if !hash.is_constant()
            || sort.is_constant()
            || told.contains(&hash.text.as_str())
            || hash.text.is_empty()
        {
            continue;
        }
        told.push(&hash.text);
        let words = crate::vocabulary::words(&hash.text);
        let few = few_by_nature(&words);
        let many = any_word(&words, HAPPENING)
            || any_word(&words, TELEMETRY)
            || any_word(&words, POPULATION)
            || any_word(&words, UNIT);
        let likely = match (few, many) {
            (true, _) => Severity::Advice,
            (false, true) => Severity::Error,
            (false, false) => Severity::Warning,
        };
        let (severity, settles) = judged(view, likely);
        let message = format!(
            "{}: every item written with {} = {} is behind one hash value, sorted by {}; {settles}",
            side.called(),
            side.hash.name,
            hash.text,
            sort.text
        );
        push(findings, &CONSTANT, view, side, severity, message, spread_out(view, side));
    }
}

fn few_by_nature(words: &[String]) -> bool {
    let small = [
        "config",
        "configuration",
        "setting",
        "feature",
        "flag",
        "category",
        "plan",
        "template",
        "role",
        "permission",
        "meta",
        "metadata",
        "counter",
        "region",
        "country",
        "team",
        "tenant",
        "organization",
        "org",
        "admin",
        "model",
        "rule",
        "policy",
        "schedule",
        "system",
        "global",
        "version",
        "type",
        "tag",
        "environment",
        "registry",
        "index",
        "list",
        "menu",
        "store",
        "shop",
        "project",
    ];
    any_word(words, &small) && !any_word(words, HAPPENING) && !any_word(words, TELEMETRY)
}

fn few(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for side in sides(&view) {
            let Spread::Few(values, what) = view.spread(side.hash) else { continue };
            // Several constants of a shared attribute: each is told as the constant that it is.
            if side.hash.is_generic() && what == CONSTANTS {
                continue;
            }
            if side.index.is_none() && side.range.is_none() {
                continue;
            }
            if view.is_small() || view.is_sparse(&side.hash.name) {
                continue;
            }
            // Nobody reads through it: another rule says so.
            let is_read = side.index.is_none_or(|index| {
                view.operations.is_empty() || view.reads_of(Some(index)).next().is_some()
            });
            if !is_read {
                continue;
            }
            let likely =
                if side.index.is_none() || values <= 2 { Severity::Error } else { Severity::Warning };
            let (severity, settles) = judged(&view, likely);
            let message = format!(
                "the hash key of {} is {}, which has few values ({} by {what}, assumed): all items of {} are behind them, new ones mostly behind one; {settles}",
                side.called(),
                side.hash.name,
                if values <= 2 { "two".to_string() } else { format!("about {values}") },
                view.table.name
            );
            push(findings, &FEW, &view, &side, severity, message, spread_out(&view, &side));
        }
    }
}

fn time(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        for side in sides(&view) {
            match view.spread(side.hash) {
                Spread::Period(what) => {
                    // One item per day is a daily figure.
                    if (side.index.is_none() && side.range.is_none()) || view.is_small() {
                        continue;
                    }
                    let (severity, settles) = judged(&view, Severity::Warning);
                    let message = format!(
                        "the hash key of {} is {what}: everything written in one period has the same value; {settles}",
                        side.called()
                    );
                    push(findings, &TIME, &view, &side, severity, message, spread_out(&view, &side));
                }
                Spread::Instant(what) => instant(&view, &side, &what, findings),
                _ => {}
            }
        }
    }
}

fn instant(view: &View<'_>, side: &Side<'_>, what: &str, findings: &mut Findings) {
    let whole = side.index.is_none() && side.range.is_none();
    let (severity, reason) = if whole {
        (
            Severity::Error,
            "two items of the same instant replace each other, and no range of time can be read",
        )
    } else {
        (Severity::Warning, "a Query must give the exact instant, so no range of time can be read through it")
    };
    let message = format!("the hash key of {} is the instant {what}: {reason}", side.called());
    let lines = [
        format!("Hash by what readers know (an owner, an id), sort by {}: {{\"hash\": \"<owner>_id\", \"range\": \"{}\"}}.", side.hash.name, side.hash.name),
        "Where nobody is the owner, hash by day and suffix (\"2026-11-18#3\") and sort by the instant and an id.".to_string(),
    ];
    push(findings, &TIME, view, side, severity, message, fix::said(&lines));
}

fn not_given(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let hash = &view.table.hash.name;
        let through: Vec<&str> =
            view.reads().filter(|o| o.action == Action::Query).filter_map(|o| o.index.as_deref()).collect();
        let Some(first) = through.first() else { continue };
        let one_index = through.iter().all(|name| name == first);
        let all_queries = view.reads().all(|o| o.index.is_some());
        let given = view.operations.iter().any(|o| o.action != Action::Put && o.given(hash).is_some());
        let looked_up = view.reads().any(|o| o.then.is_some());
        if !one_index || !all_queries || given || looked_up {
            continue;
        }
        // Only where that key would be a good one, and where writes show that the operations are told.
        let good = matches!(
            view.table.index(first).map(|i| view.spread(&i.hash)),
            Some(Spread::Good | Spread::Unknown)
        );
        let Some(index) = view.table.index(first).filter(|i| !i.is_local && good) else { continue };
        if view.writes().next().is_none() {
            continue;
        }
        let message = format!(
            "no operation gives {hash}: every read goes through index {}, so each item is stored and paid for twice and read eventually consistent",
            index.name
        );
        let key = index
            .range
            .as_ref()
            .map_or_else(|| index.hash.name.clone(), |range| format!("{}, {}", index.hash.name, range.name));
        let lines = [
            format!(
                "A new table with the key of {} ({key}, and {hash} behind the sort key where two items may share it).",
                index.name
            ),
            "Write both, copy what is there, read the new one, then stop writing the old one.".to_string(),
        ];
        findings.push(
            on_view(&NOT_GIVEN, Severity::Warning, &view, view.key_span(&view.table.hash))
                .say(message, fix::said(&lines)),
        );
    }
}
