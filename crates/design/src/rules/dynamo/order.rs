//! `unsortable-key`: a sort key whose order as text is not the order that is meant.

use super::{Rule, on_view, views};
use crate::dynamo::facts::View;
use crate::dynamo::template::{Piece, Template};
use crate::dynamo::{Key, fix, meaning_of};
use crate::finding::{Findings, Severity};
use crate::rules::Context;
use crate::vocabulary::{Meaning, any_word, words};

pub static RULE: Rule = Rule {
    id: "unsortable-key",
    title: "a sort key whose order as text is not the order that is meant",
    why: "Text sorts letter by letter: V10 comes before V9, 03/02/2027 before 12/01/2026, and seconds after milliseconds. Write numbers with \
          leading zeros (or as type N), times as ISO 8601 in UTC or one epoch unit, the largest part first.",
    bad: r##"{"tables": [{"table": "documents", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "documents", "item": {"PK": "DOC#<document_id>", "SK": "VERSION#<version>"}},
  {"op": "Query", "table": "documents", "key": "PK = :p AND begins_with(SK, 'VERSION#')", "forward": false, "limit": 1}]}"##,
    good: r##"{"tables": [{"table": "documents", "hash": "PK", "range": "SK"}],
 "operations": [{"op": "PutItem", "table": "documents", "item": {"PK": "DOC#<document_id>", "SK": "VERSION#<version:08d>"}},
  {"op": "Query", "table": "documents", "key": "PK = :p AND begins_with(SK, 'VERSION#')", "forward": false, "limit": 1}]}"##,
    seen: super::seen::ORDER,
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for view in views(context) {
        let table = view.table;
        let mut keys: Vec<&Key> = table.range.iter().collect();
        keys.extend(table.indexes.iter().filter_map(|index| index.range.as_ref()));
        let mut told: Vec<&str> = Vec::new();
        for key in keys {
            if told.contains(&key.name.as_str()) || key.kind == Some('N') {
                continue;
            }
            let Some((severity, message)) = judged(&view, key) else { continue };
            told.push(&key.name);
            let lines = ["Numbers with leading zeros to one width (\"00000042\"), times as \"2026-11-18T09:30:00Z\", the largest part first.".to_string(),
                "Existing items keep their old keys until they are written again: copy them under the new key, then stop reading the old.".to_string()];
            findings
                .push(on_view(&RULE, severity, &view, view.key_span(key)).say(message, fix::said(&lines)));
        }
    }
}

fn judged(view: &View<'_>, key: &Key) -> Option<(Severity, String)> {
    let mut templates: Vec<&Template> = view.values(&key.name).into_iter().map(|(value, _)| value).collect();
    let samples =
        view.table.samples.iter().flatten().filter(|(name, _)| *name == key.name).map(|(_, value)| value);
    let samples: Vec<&Template> = samples.collect();
    if let Some((a, b)) = broken_order(&samples) {
        return Some((
            Severity::Error,
            format!("{} holds {a} and {b}: as text the first sorts behind the second", key.name),
        ));
    }
    if let Some(date) = samples.iter().find(|t| is_local_date(&t.text)) {
        return Some((
            Severity::Error,
            format!("{} holds {}: a date with its year last does not sort by time", key.name, date.text),
        ));
    }
    templates.extend(samples);
    for template in &templates {
        for (at, piece) in template.pieces.iter().enumerate() {
            let Piece::Hole(hole) = piece else { continue };
            let lower = hole.to_ascii_lowercase();
            let year = lower.find("yyyy");
            if year.is_some_and(|y| y > 0 && (lower.starts_with("dd") || lower.starts_with("mm"))) {
                return Some((
                    Severity::Error,
                    format!(
                        "{} holds a date as {hole}: with its year last it does not sort by time",
                        key.name
                    ),
                ));
            }
            let last = template.pieces.len() - 1 == at;
            if is_plain_number(hole) && (last || matches!(template.pieces.get(at + 1), Some(Piece::Fixed(_))))
            {
                let likely = if reads_order(view, key) { Severity::Error } else { Severity::Warning };
                return Some((
                    likely,
                    format!(
                        "{} holds {} as text: as text 10 sorts before 9; unless <{hole}> is written with leading zeros (say so: <{hole}:08d>)",
                        key.name, template.text
                    ),
                ));
            }
        }
    }
    let units: Vec<bool> = templates.iter().flat_map(|t| t.holes()).filter_map(epoch_unit).collect();
    if units.iter().any(|ms| *ms) && units.iter().any(|ms| !*ms) {
        return Some((
            Severity::Error,
            format!(
                "{} holds epoch seconds in one place and milliseconds in another: they do not sort together",
                key.name
            ),
        ));
    }
    // The name alone, of an attribute that is declared as text.
    let as_number = meaning_of(&key.words, Some('N'));
    let counts = matches!(as_number, Meaning::Sequence | Meaning::Measure)
        && !matches!(key.meaning(), Meaning::Few(_));
    let number_words = [
        "score", "price", "amount", "count", "rank", "votes", "number", "seq", "sequence", "quantity",
        "total", "points",
    ];
    let named = counts && any_word(&key.words, &number_words) && key.kind == Some('S');
    named.then(|| (Severity::Warning, format!("{} is declared as text (S), and its name says number: as text 10 sorts before 9; its format would settle it", key.name)))
}

/// A number that nothing says is padded.
fn is_plain_number(hole: &str) -> bool {
    let lower = hole.to_ascii_lowercase();
    let padded = lower.contains("pad")
        || lower.contains(":0")
        || lower.contains("%0")
        || lower.contains("zero")
        || lower.contains("iso");
    let names = words(hole);
    let number = [
        "version", "ver", "number", "num", "seq", "sequence", "score", "price", "amount", "count", "rank",
        "position", "index", "page", "counter",
    ];
    let tied = ["uuid", "ulid", "id", "hash", "date", "time"];
    !padded && names.last().is_some_and(|last| number.contains(&last.as_str())) && !any_word(&names, &tied)
}

/// Whether an operation relies on the order of the key.
fn reads_order(view: &View<'_>, key: &Key) -> bool {
    view.reads().any(|o| {
        let index = o.index.as_ref().and_then(|name| view.table.index(name));
        let range = index.map_or(view.table.range.as_ref(), |i| i.range.as_ref());
        let ordered = o.is_forward.is_some()
            || o.key_terms().iter().any(|t| {
                t.attribute == key.name && t.comparison == crate::dynamo::expression::Comparison::Range
            });
        range.is_some_and(|r| r.name == key.name) && ordered
    })
}

fn epoch_unit(hole: &str) -> Option<bool> {
    let names = words(hole);
    let time = any_word(&names, &["epoch", "ts", "timestamp", "time", "now", "unix"]);
    let ms = any_word(&names, &["ms", "milli", "millisecond"]);
    let s = any_word(&names, &["s", "sec", "second"]);
    (time && (ms || s)).then_some(ms)
}

/// Two samples of one kind whose numbers are in the other order than their texts.
fn broken_order(samples: &[&Template]) -> Option<(String, String)> {
    let split = |text: &str| {
        let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = text.split_at(text.len() - digits);
        (digits > 0 && digits < 10).then(|| (stem.to_string(), number.to_string()))
    };
    let mut known: std::collections::HashMap<String, Vec<String>> = std::collections::HashMap::new();
    for sample in samples.iter().filter(|s| s.is_constant() && !s.is_number) {
        let Some((stem, number)) = split(&sample.text) else { continue };
        // Ids are not an order: only what counts.
        let counts = words(&stem).last().is_some_and(|w| {
            matches!(
                w.as_str(),
                "v" | "version"
                    | "ver"
                    | "seq"
                    | "rev"
                    | "revision"
                    | "page"
                    | "line"
                    | "step"
                    | "no"
                    | "number"
            )
        });
        if counts {
            known.entry(stem).or_default().push(number);
        }
    }
    for (stem, mut numbers) in known {
        numbers.sort_by_key(|n| n.parse::<u64>().unwrap_or(0));
        for pair in numbers.windows(2) {
            if let [a, b] = pair
                && a > b
            {
                return Some((format!("{stem}{a}"), format!("{stem}{b}")));
            }
        }
    }
    None
}

/// `18/11/2026`, `11-18-2026`.
fn is_local_date(text: &str) -> bool {
    let last = text.rsplit('#').next().unwrap_or(text);
    let parts: Vec<&str> = last.split(['/', '-', '.']).collect();
    let number = |s: &&str| !s.is_empty() && s.chars().all(|c| c.is_ascii_digit());
    matches!(parts.as_slice(), [a, b, c] if number(a) && number(b) && a.len() <= 2 && b.len() <= 2 && c.len() >= 4 && c.chars().take(4).all(|c| c.is_ascii_digit()))
}
