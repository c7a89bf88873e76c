//! `constant-key`: one value of the partition key carries the whole table.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::Table;
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::units;
use crate::vocabulary::{Meaning, any_word, native, words};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "constant-key",
    title: "one value of the partition key carries the whole table",
    why: "Rows of one partition live on one set of replicas. With a single key value every read and write of the \
          table meets there, and adding nodes changes nothing.",
    bad: "CREATE TABLE global_feed (feed text, created_at timestamp, event_id uuid, body text,\n  PRIMARY KEY (feed, created_at, event_id));\nINSERT INTO global_feed (feed, created_at, event_id, body) VALUES ('GLOBAL_FEED', ?, ?, ?);",
    good: "CREATE TABLE global_feed (day date, bucket int, created_at timestamp, event_id uuid, body text,\n  PRIMARY KEY ((day, bucket), created_at, event_id)) WITH CLUSTERING ORDER BY (created_at DESC, event_id ASC);",
    seen: "iotaledger/chronicle.rs binds the key of its tables sync and analytics to the one word 'permanode': every \
           milestone of the network lies in one partition. Camel's idempotent repository keys all message ids by the name \
           of the repository; a variant without that column exists and has no such partition.",
    check,
};

const CONSTANT_NAMES: &[&str] =
    &["dummy", "constant", "const", "singleton", "fixed", "placeholder", "everything", "all", "one"];
const CONSTANT_VALUES: &[&str] =
    &["global", "all", "main", "default", "singleton", "feed", "queue", "constant", "root", "latest"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        if table.clustering.is_empty() || facts.is_reference || table.has_hash_buckets() {
            continue;
        }
        let found = match table.partition.len() {
            1 => evidence(context, at, table, facts),
            _ => component(table, facts),
        };
        let Some((severity, evidence)) = found.or_else(|| copied(table, facts)) else { continue };
        let message = format!(
            "{evidence}, so every row and every request of {} meets in one partition: 1 of N nodes works, and at {} per row \
             {} rows fill its 100 MB",
            table.name,
            units::bytes(facts.growth.row_bytes),
            units::count(100e6 / facts.growth.row_bytes.max(1.0)),
        );
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, String::new()));
    }
}

/// A key of several columns in which all that could part rows is a constant.
fn component(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let constants = &facts.usage.constants;
    if constants.is_empty() || facts.key(table).count() > 0 {
        return None;
    }
    let values: Vec<String> = constants.iter().map(|(name, value)| format!("{name} = '{value}'")).collect();
    Some((Severity::Error, format!("every statement here gives the key one value, {}", values.join(" and "))))
}

/// One INSERT binds the key, another writes the same under a constant: a second copy of everything under one key.
fn copied(table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let (name, value) = facts.usage.copied_under.as_ref()?;
    (table.partition.len() == 1).then(|| {
        let text = format!(
            "one statement here writes every row under {name} = '{value}' as well, a second copy of everything under one key"
        );
        (Severity::Error, text)
    })
}

fn evidence(context: &Context<'_>, at: usize, table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let column = table.partition_columns().next()?;
    let name = &column.words;
    let is_id = column.meaning == Meaning::Identity && name.last().is_some_and(|w| w == "id");
    if any_word(name, CONSTANT_NAMES) && !is_id {
        return Some((Severity::Error, format!("partition key {} is a constant by its name", column.name)));
    }
    // A text called `partition` before the id of the row parts nothing in practice; statements may say more.
    let is_text = matches!(native(&column.data_type), Some(NativeType::Text | NativeType::Ascii));
    let is_filler =
        is_text && name.len() <= 2 && name[0] == "partition" && facts.usage.inserts + facts.usage.reads == 0;
    if is_filler && table.clustering.len() == 1 {
        let text = format!(
            "partition key {} looks like one value for everything (declare partitions = N if not)",
            column.name
        );
        return Some((Severity::Warning, text)).filter(|_| facts.numbers.partitions.is_none());
    }
    let every = |value: &str| format!("every statement here gives {} the one value '{value}'", column.name);
    if let Some((_, value)) = facts.usage.constants.first() {
        return Some((Severity::Error, every(value)));
    }
    let mut constants: Vec<&str> = Vec::new();
    let mut others = false;
    for access in context.catalogue.accesses_of(at) {
        let given =
            access.point(&column.name).is_some() || access.assigned.iter().any(|(c, _)| *c == column.name);
        match access.constant_of(&column.name) {
            Some(value) => constants.push(value),
            None => others |= given,
        }
    }
    constants.dedup();
    if let ([value], false) = (constants.as_slice(), others) {
        let speaking = any_word(&words(value), CONSTANT_VALUES);
        let plain = !matches!(
            column.meaning,
            Meaning::Identity | Meaning::TimeBucket(_) | Meaning::Time | Meaning::Few(_) | Meaning::Label
        );
        if speaking || plain {
            return Some((Severity::Error, every(value)));
        }
    }
    let is_open = matches!(column.meaning, Meaning::Other | Meaning::Label | Meaning::Few(_));
    if is_open && facts.is_history && any_word(&subject_words(table), &["global", "all", "everything"]) {
        return Some((
            Severity::Warning,
            format!(
                "{} is one {} for everybody (declare partitions = N if there are many)",
                table.name, column.name
            ),
        ))
        .filter(|_| facts.numbers.partitions.is_none());
    }
    None
}
