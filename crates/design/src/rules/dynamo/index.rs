//! `unused-index`, `unwritten-index-key`, `index-projection`: indexes that serve nobody, hold nothing, or hold too much or too little.

use super::{Rule, on_operation, on_view, views};
use crate::dynamo::{Action, Projection, fix, same_name};
use crate::finding::{Findings, Severity};
use crate::rules::Context;

pub static UNUSED: Rule = Rule {
    id: "unused-index",
    title: "an index that no operation reads, or that repeats another key",
    why: "Every write pays again for every index it touches, and a global index holds its own copy of what it projects. An index that nobody reads \
          costs and gives nothing; one with the key of the table, or of another index, gives nothing new.",
    bad: r#"{"tables": [{"table": "users", "hash": "user_id", "indexes": [{"name": "by_email", "hash": "email"}, {"name": "by_phone", "hash": "phone"}]}],
 "operations": [{"op": "GetItem", "table": "users", "key": {"user_id": "<user_id>"}},
  {"op": "Query", "table": "users", "index": "by_email", "key": "email = :e"}]}"#,
    good: r#"{"tables": [{"table": "users", "hash": "user_id", "indexes": [{"name": "by_email", "hash": "email"}]}],
 "operations": [{"op": "GetItem", "table": "users", "key": {"user_id": "<user_id>"}},
  {"op": "Query", "table": "users", "index": "by_email", "key": "email = :e"}]}"#,
    seen: super::seen::UNUSED,
    check: unused,
};

pub static UNWRITTEN: Rule = Rule {
    id: "unwritten-index-key",
    title: "an index on an attribute that no write ever gives: it stays empty",
    why: "An item is in an index only when it has the index's key attributes. When no write gives one of them, the index is empty and every Query \
          through it finds nothing, without an error.",
    bad: r#"{"tables": [{"table": "orders", "hash": "order_id", "indexes": [{"name": "by_customer", "hash": "customer_id", "range": "placed_at"}]}],
 "operations": [{"op": "PutItem", "table": "orders", "item": {"order_id": "<order_id>", "customer": "<customer>", "placed_at": "<placed_at>"}},
  {"op": "GetItem", "table": "orders", "key": {"order_id": "<order_id>"}},
  {"op": "Query", "table": "orders", "index": "by_customer", "key": "customer_id = :c", "limit": 20}]}"#,
    good: r#"{"tables": [{"table": "orders", "hash": "order_id", "indexes": [{"name": "by_customer", "hash": "customer_id", "range": "placed_at"}]}],
 "operations": [{"op": "PutItem", "table": "orders", "item": {"order_id": "<order_id>", "customer_id": "<customer_id>", "placed_at": "<placed_at>"}},
  {"op": "GetItem", "table": "orders", "key": {"order_id": "<order_id>"}},
  {"op": "Query", "table": "orders", "index": "by_customer", "key": "customer_id = :c", "limit": 20}]}"#,
    seen: super::seen::UNWRITTEN,
    check: unwritten,
};

pub static PROJECTION: Rule = Rule {
    id: "index-projection",
    title: "an index that projects everything for a narrow read, or too little for what is read",
    why: "An index with ALL is a second copy of the table, written again with every change of any attribute. One with KEYS_ONLY whose results are \
          fetched one by one pays a read for each. Project what its queries return.",
    bad: r#"{"tables": [{"table": "posts", "hash": "post_id", "indexes": [{"name": "by_author", "hash": "author_id", "range": "posted_at", "projection": "KEYS_ONLY"}]}],
 "operations": [{"op": "Query", "table": "posts", "index": "by_author", "key": "author_id = :a", "limit": 20, "then": "GetItem"}]}"#,
    good: r#"{"tables": [{"table": "posts", "hash": "post_id", "indexes": [{"name": "by_author", "hash": "author_id", "range": "posted_at", "projection": ["title"]}]}],
 "operations": [{"op": "Query", "table": "posts", "index": "by_author", "key": "author_id = :a", "limit": 20, "projection": ["post_id", "title", "posted_at"]}]}"#,
    seen: super::seen::PROJECTION,
    check: projection,
};

fn unused(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        for (at, index) in table.indexes.iter().enumerate() {
            let own = table.keys().map(|k| &k.name).eq(index.keys().map(|k| &k.name));
            let earlier = table.indexes[..at]
                .iter()
                .find(|other| other.keys().map(|k| &k.name).eq(index.keys().map(|k| &k.name)));
            let message = if own {
                format!(
                    "index {} has the key of the table itself: it answers nothing that the table does not answer",
                    index.name
                )
            } else if let Some(other) = earlier {
                format!("index {} has the key of index {}: one of them is enough", index.name, other.name)
            } else if view.reads().next().is_some() && view.reads_of(Some(index)).next().is_none() {
                format!(
                    "no operation reads index {}: every write of its attributes pays for it; unless operations are missing in the file",
                    index.name
                )
            } else {
                continue;
            };
            let lines = [format!(
                "If nothing else reads {}, remove it from the definition; the table's items stay.",
                index.name
            )];
            findings
                .push(on_view(&UNUSED, Severity::Warning, &view, index.span).say(message, fix::said(&lines)));
        }
    }
}

fn unwritten(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let puts: Vec<_> = view.writes().filter(|o| o.action == Action::Put).collect();
        // Only where every put says what it holds.
        if puts.is_empty() || puts.iter().any(|o| o.item.len() < 2) {
            continue;
        }
        for index in &view.table.indexes {
            let missing = index.keys().find(|key| !view.writes().any(|o| o.given(&key.name).is_some()));
            let Some(key) = missing.filter(|_| view.reads_of(Some(index)).next().is_some()) else { continue };
            let near = puts.iter().flat_map(|o| &o.item).map(|(name, _)| name).find(|name| {
                same_name(name, &key.name)
                    || name.starts_with(&key.name)
                    || key.name.starts_with(name.as_str())
            });
            let hint = near.map(|name| format!(" (they give {name})")).unwrap_or_default();
            let message = format!(
                "index {} needs {}, which no write gives{hint}: the index stays empty, and what reads through it finds nothing",
                index.name, key.name
            );
            let lines = [format!(
                "Give {} in every PutItem that the index should hold, and in existing items by UpdateItem.",
                key.name
            )];
            findings.push(
                on_view(&UNWRITTEN, Severity::Warning, &view, index.span).say(message, fix::said(&lines)),
            );
        }
    }
}

fn projection(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        for index in &table.indexes {
            let reads: Vec<_> = view.reads_of(Some(index)).collect();
            let held = |name: &str| {
                index.keys().chain(table.keys()).any(|key| key.name == name)
                    || match &index.projection {
                        Projection::All => true,
                        Projection::KeysOnly => false,
                        Projection::Include(list) => list.iter().any(|a| a == name),
                    }
            };
            for read in &reads {
                let asked =
                    read.projection.iter().find(|name| !held(name) && !name.contains(['.', '[', '#']));
                if let Some(name) = asked.filter(|_| !index.is_local) {
                    let message = format!(
                        "{} asks index {} for {name}, which it does not project: DynamoDB refuses it",
                        read.title(),
                        index.name
                    );
                    let include: Vec<&str> = read
                        .projection
                        .iter()
                        .map(String::as_str)
                        .filter(|n| !index.keys().chain(table.keys()).any(|k| k.name == **n))
                        .collect();
                    let fresh = fix::free_name(table, &format!("{}_wide", index.name));
                    let hash = (index.hash.name.as_str(), index.hash.kind.unwrap_or('S'));
                    let range = index.range.as_ref().map(|k| (k.name.as_str(), k.kind.unwrap_or('S')));
                    let why = ["An index's projection cannot be changed: make one beside it, then move the readers over.".to_string()];
                    let fixed = fix::new_index(table, &fresh, hash, range, &include, &why);
                    findings.push(
                        on_operation(&PROJECTION, Severity::Error, &view, read, None).say(message, fixed),
                    );
                } else if read.then.is_some() && index.projection == Projection::KeysOnly {
                    let message = format!(
                        "{} reads keys from {} and then each item by itself: a page of {} results costs as many reads again",
                        read.title(),
                        index.name,
                        read.limit.map_or("n".to_string(), |n| n.to_string())
                    );
                    let lines = ["Project the attributes that the list shows (INCLUDE), or read the items with one BatchGetItem of up to 100.".to_string()];
                    findings.push(
                        on_operation(&PROJECTION, Severity::Warning, &view, read, None)
                            .say(message, fix::said(&lines)),
                    );
                }
            }
            let narrow = !reads.is_empty()
                && reads.iter().all(|r| !r.projection.is_empty() && r.projection.len() <= 4);
            if narrow && index.projection == Projection::All && !index.is_local {
                let message = format!(
                    "index {} holds a copy of every attribute, and its reads return at most {} of them",
                    index.name,
                    reads.iter().map(|r| r.projection.len()).max().unwrap_or(0)
                );
                let lines = ["An index with INCLUDE and just these attributes is smaller and is not written when others change.".to_string()];
                findings.push(
                    on_view(&PROJECTION, Severity::Advice, &view, index.span).say(message, fix::said(&lines)),
                );
            }
        }
    }
}
