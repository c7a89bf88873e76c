//! `unbounded-item-collection`: items gather under one hash value without end.

use super::{Rule, on_operation, on_view, views};
use crate::dynamo::facts::{Spread, View};
use crate::dynamo::{Action, fix};
use crate::facts::{Content, Owner};
use crate::finding::{Findings, Severity};
use crate::rules::Context;

pub static RULE: Rule = Rule {
    id: "unbounded-item-collection",
    title: "items gather under one hash value without end",
    why: "With a local index all items of one hash value, and their index entries, may take 10 GB together; then DynamoDB refuses writes for that \
          value, and the index cannot be taken away again. Without one there is no such end, but a read that asks for the whole collection takes \
          longer every day. Put a period into the hash key, let items expire, and read a page.",
    bad: r#"{"tables": [{"table": "device_events", "hash": "device_id", "range": "event_time", "indexes": [{"name": "by_kind", "local": true, "range": "kind"}]}],
 "operations": [{"op": "PutItem", "table": "device_events", "item": {"device_id": "<device_id>", "event_time": "<event_time>", "kind": "<kind>"}},
  {"op": "Query", "table": "device_events", "index": "by_kind", "key": "device_id = :d AND kind = :k", "limit": 50}]}"#,
    good: r#"{"tables": [{"table": "device_events", "hash": "device_month", "range": "event_time", "ttl": "expires_at"}],
 "operations": [{"op": "PutItem", "table": "device_events", "item": {"device_month": "<device_id>#<month>", "event_time": "<event_time>", "expires_at": "<epoch_seconds>"}},
  {"op": "Query", "table": "device_events", "key": "device_month = :d", "limit": 50}]}"#,
    seen: super::seen::COLLECTION,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        if table.range.is_none() || view.is_small() {
            continue;
        }
        let owner = view.owner(&table.hash);
        let content = view.content();
        let spread = view.spread(&table.hash);
        let weak = matches!(spread, Spread::Constant(_) | Spread::Few(..));
        let appended = view.is_appended() || content != Content::Things;
        let period = matches!(spread, Spread::Period(_)) || has_period(&view);
        // All items of the table under one value, and a local index that ends at 10 GB of them.
        let ends = matches!(spread, Spread::Constant(_)) && table.has_local_index();
        if !ends && (!appended || period || owner == Owner::Unit) {
            continue;
        }
        if table.has_local_index() && table.ttl.is_none() {
            let fast =
                matches!(owner, Owner::Machine | Owner::Group) || content == Content::Telemetry || weak;
            let severity = if fast { Severity::Error } else { Severity::Warning };
            let local: Vec<&str> =
                table.indexes.iter().filter(|i| i.is_local).map(|i| i.name.as_str()).collect();
            let message = format!(
                "with the local index {} all items of one {} may take 10 GB together, and nothing ends them: then writes for it are refused; items per {} and their size settle when",
                local.join(", "),
                table.hash.name,
                table.hash.name
            );
            findings.push(
                on_view(&RULE, severity, &view, view.key_span(&table.hash)).say(message, repaired(&view)),
            );
            continue;
        }
        whole_reads(&view, owner, content, findings);
    }
}

/// Queries that ask for a whole growing collection.
fn whole_reads(view: &View<'_>, owner: Owner, content: Content, findings: &mut Findings) {
    let table = view.table;
    if table.ttl.is_some() || content == Content::Things {
        return;
    }
    for read in view.reads_of(None).filter(|o| o.action == Action::Query) {
        let bounded = read.limit.is_some() || read.key_terms().len() > 1;
        if bounded {
            continue;
        }
        let severity = match owner {
            Owner::Machine | Owner::Group => Severity::Warning,
            _ => Severity::Advice,
        };
        let message = format!(
            "{} reads all items of one {}, and items are only ever added: the read grows with them; items per {} would settle it",
            read.title(),
            table.hash.name,
            table.hash.name
        );
        let lines = ["Read newest first with a limit and continue with LastEvaluatedKey, or give a range of the sort key.".to_string()];
        findings.push(on_operation(&RULE, severity, view, read, None).say(message, fix::said(&lines)));
    }
}

fn has_period(view: &View<'_>) -> bool {
    use crate::dynamo::meaning_of;
    use crate::vocabulary::{Meaning, words};
    let is = |name: &str| matches!(meaning_of(&words(name), None), Meaning::TimeBucket(_));
    is(&view.table.hash.name)
        || view.values(&view.table.hash.name).iter().any(|(value, _)| value.holes().any(is))
}

fn repaired(view: &View<'_>) -> String {
    let table = view.table;
    let range = table.range.as_ref().map_or("", |key| key.name.as_str());
    fix::said(&[
        format!(
            "A new table whose hash value ends: {}_month = \"<{}>#<yyyy-mm>\", sort key {range}; global indexes in place of local ones.",
            table.hash.name, table.hash.name
        ),
        "Write both, copy what is there month by month, read the new one, then stop writing the old one."
            .to_string(),
    ])
}
