//! `table-scan`: a read that looks at every item.

use super::{Rule, on_operation, views};
use crate::dynamo::expression::Comparison;
use crate::dynamo::facts::View;
use crate::dynamo::{Operation, fix, meaning_of};
use crate::facts::Content;
use crate::finding::{Findings, Severity};
use crate::lexicon::REGISTRY;
use crate::rules::Context;
use crate::vocabulary::{Meaning, any_word, words};

pub static RULE: Rule = Rule {
    id: "table-scan",
    title: "a Scan in the way of a request: it reads and pays for every item, whatever it returns",
    why: "A Scan reads the whole table, 1 MB a page, and a filter is applied after reading: finding one user among a million by email reads a million \
          items. It grows with the table until it times out. Ask through a key or an index; for exports and clean-up jobs scan in segments, or \
          export the table.",
    bad: r#"{"tables": [{"table": "users", "hash": "user_id"}],
 "operations": [{"op": "Scan", "table": "users", "filter": "email = :e"}]}"#,
    good: r#"{"tables": [{"table": "users", "hash": "user_id", "indexes": [{"name": "by_email", "hash": "email", "projection": "KEYS_ONLY"}]}],
 "operations": [{"op": "Query", "table": "users", "index": "by_email", "key": "email = :e", "limit": 1}]}"#,
    seen: super::seen::SCAN,
    check,
};

/// Names of operations that nobody waits for.
const JOBS: &[&str] = &[
    "archive",
    "reap",
    "expire",
    "export",
    "backfill",
    "migrate",
    "migration",
    "job",
    "cron",
    "scheduled",
    "nightly",
    "cleanup",
    "purge",
    "seed",
    "test",
    "dump",
    "backup",
    "report",
    "reindex",
    "truncate",
    "reset",
    "maintenance",
    "sweep",
    "sync",
    "admin",
    "stat",
    "statistic",
    "script",
    "cli",
    "batch",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let mut told: Vec<String> = Vec::new();
        for scan in view.operations.iter().copied().filter(|o| o.action == crate::dynamo::Action::Scan) {
            let Some((severity, message)) = judged(&view, scan) else { continue };
            // One word per kind of scan is enough.
            let kind = format!(
                "{severity}{}",
                scan.filters().iter().map(|t| t.attribute.as_str()).collect::<String>()
            );
            if told.contains(&kind) {
                continue;
            }
            told.push(kind);
            let span = scan.filter.as_ref().map(|f| f.span);
            findings
                .push(on_operation(&RULE, severity, &view, scan, span).say(message, repaired(&view, scan)));
        }
    }
}

fn judged(view: &View<'_>, scan: &Operation) -> Option<(Severity, String)> {
    let table = view.table;
    let is_job = scan.name.as_ref().is_some_and(|name| any_word(&words(name), JOBS)) || scan.has_segments;
    // A registry is read whole; to look for one entry of it by a filter is a read like any other.
    let last = table.words.last().map(std::slice::from_ref).unwrap_or(&[]);
    // Connections and sessions come and go with people: as many as are there now.
    let people = any_word(&table.words, &["connection", "session"]);
    let listed = any_word(last, REGISTRY) || any_word(last, &["calendar", "scheduler", "roster"]);
    let small = view.is_small() || (scan.filters().is_empty() && listed && !people);
    // A sparse index is made to be scanned.
    let sparse = scan
        .index
        .as_ref()
        .and_then(|name| table.index(name))
        .is_some_and(|index| index.keys().any(|k| view.is_sparse(&k.name)));
    if sparse {
        return None;
    }
    let equal = || scan.filters().iter().filter(|t| t.comparison == Comparison::Equal && t.value.is_some());
    let keyed = equal().find(|t| {
        let named = |name: &str| t.attribute == name;
        named(&table.hash.name) || table.indexes.iter().any(|index| named(&index.hash.name))
    });
    let has_or = scan.filter.as_ref().is_some_and(|f| f.has_or);
    if let Some(term) = keyed.filter(|_| !has_or) {
        let through =
            table.indexes.iter().find(|i| i.hash.name == term.attribute && term.attribute != table.hash.name);
        let by =
            through.map_or("the table's own hash key".to_string(), |index| format!("index {}", index.name));
        let message = format!(
            "{} reads every item of {} to find those with one {}, which is {by}: a Query reads only those",
            scan.title(),
            table.name,
            term.attribute
        );
        return Some((Severity::Error, message));
    }
    if is_job {
        return None;
    }
    let point = equal().find(|t| matches!(meaning_of(&words(&t.attribute), None), Meaning::Identity));
    if let Some(term) = point.filter(|_| !has_or) {
        let severity = if small { Severity::Warning } else { Severity::Error };
        let message = format!(
            "{} reads every item of {} to find those with one {}; an index on it reads only those",
            scan.title(),
            table.name,
            term.attribute
        );
        return Some((severity, message));
    }
    // What is waiting and due, looked for again and again among everything.
    let of = |wanted: fn(Meaning) -> bool, how: &[Comparison]| {
        scan.filters()
            .iter()
            .any(|t| how.contains(&t.comparison) && wanted(meaning_of(&words(&t.attribute), None)))
    };
    let polls = of(|m| matches!(m, Meaning::Few(_)), &[Comparison::Equal])
        && of(|m| matches!(m, Meaning::Time | Meaning::TimeBucket(_)), &[Comparison::Range]);
    // One member of a list among all lists, or a stretch of time among all that ever happened.
    let member = of(|m| m == Meaning::Identity, &[Comparison::Contains]);
    let of_time = of(|m| matches!(m, Meaning::Time | Meaning::TimeBucket(_)), &[Comparison::Range]);
    let history = of_time && view.content() != Content::Things;
    let severity = match (small, polls || member || history) {
        (true, _) => Severity::Advice,
        (false, true) => Severity::Error,
        (false, false) => Severity::Warning,
    };
    let message = if scan.filters().is_empty() {
        format!(
            "{} reads every item of {}: it grows with the table; the number of items would settle it (a Scan reads about 1 MB a page)",
            scan.title(),
            table.name
        )
    } else {
        let by: Vec<&str> = scan.filters().iter().map(|t| t.attribute.as_str()).collect();
        format!(
            "{} reads every item of {} and then keeps those that {} selects: all are paid for; the number of items would settle it",
            scan.title(),
            table.name,
            by.join(", ")
        )
    };
    Some((severity, message))
}

fn repaired(view: &View<'_>, scan: &Operation) -> String {
    let table = view.table;
    let term = scan.filters().iter().find(|t| t.comparison == Comparison::Equal);
    let Some(term) = term else {
        return fix::said(&[
            "For a list: an index whose hash is spread by a suffix (\"ALL#0\" to \"ALL#9\"), sorted as the list is; read a page of each.".to_string(),
            "For a job: Scan with TotalSegments, or an export of the table.".to_string(),
        ]);
    };
    let attribute = term.attribute.as_str();
    let through = table.indexes.iter().find(|index| index.hash.name == attribute);
    if attribute == table.hash.name || through.is_some() {
        let mut body =
            serde_json::json!({"op": "Query", "table": table.name, "key": format!("{attribute} = :v")});
        if let Some(index) = through.filter(|_| attribute != table.hash.name) {
            body["index"] = serde_json::json!(index.name);
        }
        return fix::operation(&["In place of the Scan:".to_string()], &body);
    }
    let meaning = meaning_of(&words(attribute), None);
    if matches!(meaning, Meaning::Few(_) | Meaning::TimeBucket(_) | Meaning::Time) {
        return fix::said(&[
            format!(
                "{attribute} has few values, so an index on it alone would be hot: hash by what the reader knows (owner, tenant), sort by {attribute} and time."
            ),
            format!(
                "Or write a further attribute only while {attribute} is the one that is looked for (a sparse index)."
            ),
        ]);
    }
    let name = fix::free_name(table, &format!("by_{}", words(attribute).join("_")));
    fix::new_index(
        table,
        &name,
        (attribute, 'S'),
        None,
        &[],
        &[format!("Then Query {name} with {attribute} = :v, and get the items by their keys.")],
    )
}
