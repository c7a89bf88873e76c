//! `constant-key`: one value of the partition key carries the whole table.

use super::{Context, Rule, on_table, partition_span};
use crate::catalogue::Table;
use crate::facts::{Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::units;
use crate::vocabulary::{Grain, Meaning, any_word, words};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "constant-key",
    title: "one value of the partition key carries the whole table",
    why: "Rows of one partition live on one set of replicas. With a single key value every read and write of the \
          table meets there, and adding nodes changes nothing.",
    bad: "CREATE TABLE global_feed (feed text, created_at timestamp, event_id uuid, body text,\n  PRIMARY KEY (feed, created_at, event_id));\nINSERT INTO global_feed (feed, created_at, event_id, body) VALUES ('GLOBAL_FEED', ?, ?, ?);",
    good: "CREATE TABLE global_feed (day date, bucket int, created_at timestamp, event_id uuid, body text,\n  PRIMARY KEY ((day, bucket), created_at, event_id)) WITH CLUSTERING ORDER BY (created_at DESC, event_id ASC);",
    check,
};

const CONSTANT_NAMES: &[&str] =
    &["dummy", "constant", "const", "singleton", "fixed", "placeholder", "everything", "all", "one"];
const CONSTANT_VALUES: &[&str] =
    &["global", "all", "main", "default", "singleton", "feed", "queue", "constant", "root", "latest"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        if table.clustering.is_empty() || facts.is_reference || table.partition.len() != 1 {
            continue;
        }
        let Some(column) = table.partition_columns().next() else { continue };
        let Some((severity, evidence)) = evidence(context, at, table, facts) else { continue };
        let message = format!(
            "{evidence}, so every row and every request of {} meets in one partition: 1 of N nodes works, and at {} per row \
             {} rows fill its 100 MB",
            table.name,
            units::bytes(facts.growth.row_bytes),
            units::count(100e6 / facts.growth.row_bytes.max(1.0)),
        );
        let draft = if column.meaning == Meaning::HashBucket {
            fix::with_time_bucket(table, Grain::Day)
        } else {
            fix::with_time_bucket(table, Grain::Day).partition_with("bucket", NativeType::Int)
        };
        findings.push(on_table(&RULE, severity, table, partition_span(table)).say(message, draft.print()));
    }
}

fn evidence(context: &Context<'_>, at: usize, table: &Table, facts: &Facts) -> Option<(Severity, String)> {
    let column = table.partition_columns().next()?;
    let name = words(&column.name);
    let is_id = column.meaning == Meaning::Identity && name.last().is_some_and(|w| w == "id");
    if any_word(&name, CONSTANT_NAMES) && !is_id {
        return Some((Severity::Error, format!("partition key {} is a constant by its name", column.name)));
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
        // An application that binds the rest and writes the key into its statement has no other key.
        let built_in = column.meaning == Meaning::Identity
            && context.catalogue.accesses_of(at).any(|access| {
                let bound = access.assigned.iter().any(|(c, value)| *c != column.name && value.is_none());
                !access.is_read() && bound && access.constant_of(&column.name).is_some()
            });
        if speaking || plain || built_in {
            return Some((
                Severity::Error,
                format!("every statement here gives {} the one value '{value}'", column.name),
            ));
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
