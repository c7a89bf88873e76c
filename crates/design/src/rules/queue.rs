//! `queue-like`: insert, read, delete at one end; delete-heavy tables.

use super::{Context, Rule, on_access, on_table};
use crate::catalogue::{Access, Limit, Table, Verb};
use crate::facts::{Content, Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::vocabulary::{Grain, Meaning, any_word, words};
use cql_syntax::ast::NativeType;

pub static RULE: Rule = Rule {
    id: "queue-like",
    title: "insert, read, delete at one end; delete-heavy tables",
    why: "Each delete leaves a tombstone that stays for gc_grace_seconds (10 days by default). A reader of the head walks over the tombstones of \
          everything consumed since, and gets slower with every message handled. Buckets that are dropped whole, or a log, do not.",
    bad: "CREATE TABLE job_queue (queue_name text, enqueued_at timestamp, job_id uuid, payload text,\n  PRIMARY KEY (queue_name, enqueued_at, job_id));\nDELETE FROM job_queue WHERE queue_name = ? AND enqueued_at = ? AND job_id = ?;",
    good: "CREATE TABLE jobs_by_hour (queue_name text, hour timestamp, shard int, enqueued_at timestamp, job_id uuid, payload text,\n  PRIMARY KEY ((queue_name, hour, shard), enqueued_at, job_id)) WITH default_time_to_live = 86400;",
    check,
};

const QUEUE: &[&str] = &["queue", "outbox", "mailbox", "backlog", "fifo"];
const PENDING: &[&str] = &["pending", "waiting", "unprocessed", "todo", "scheduled", "due"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        if table.clustering.is_empty() || table.is_view() || facts.time_bucket.is_some() {
            continue;
        }
        let row_delete = context.catalogue.accesses_of(at).find(|a| is_row_delete(table, a));
        let head_read = context.catalogue.accesses_of(at).any(|a| is_head_read(table, a));
        let subject = subject_words(table);
        let key_words = table.partition_columns().any(|c| any_word(&words(&c.name), QUEUE));
        let is_queue = any_word(&subject, QUEUE) || key_words;
        let in_order = table
            .clustering_columns()
            .next()
            .is_some_and(|c| c.is_chronological() || c.meaning == Meaning::Sequence);
        let is_pending = in_order && any_word(&subject, PENDING);
        let severity = match (row_delete.is_some(), head_read, is_queue, is_pending) {
            (true, true, true, _) | (true, true, _, true) => Severity::Error,
            // Rows that are found by an id are not taken from one end: a list of things, some of them removed.
            (true, true, false, false) if !in_order && facts.content == Content::Things => Severity::Advice,
            (true, true, ..) | (true, false, true, _) | (true, false, _, true) => Severity::Warning,
            (true, false, ..) if facts.is_history && facts.content != Content::Things => Severity::Warning,
            (false, _, true, _) if facts.is_history => Severity::Warning,
            _ => continue,
        };
        let severity =
            if facts.hash_bucket && severity == Severity::Warning { Severity::Advice } else { severity };
        let message = message(table, facts);
        let draft = fix::with_time_bucket(table, Grain::Hour)
            .partition_with("shard", NativeType::Int)
            .with_ttl(86_400)
            .print();
        let finding = match row_delete {
            Some(access) => on_access(&RULE, severity, access, table, access.place.span),
            None => on_table(&RULE, severity, table, table.place.span),
        };
        findings.push(finding.say(message, draft));
    }
}

fn message(table: &Table, facts: &Facts) -> String {
    let grace = table.gc_grace_days;
    let rate = facts.write_rate.map(|rate| {
        format!(
            ": at {} deletes/s that is {}",
            crate::units::count(rate),
            crate::units::count(rate * 86_400.0 * grace)
        )
    });
    format!(
        "rows of {} are deleted one by one, and each leaves a tombstone for {} that every read from that end walks over{}",
        table.name,
        crate::units::days(grace),
        rate.unwrap_or_else(|| "; declare peak_rate of the delete to see how many".into())
    )
}

/// A delete of single rows, not of a partition or a range.
fn is_row_delete(table: &Table, access: &Access) -> bool {
    access.verb == Verb::Delete
        && access.deletes_rows
        && table.clustering_columns().all(|c| access.point(&c.name).is_some())
}

/// A read of the first rows of a partition.
fn is_head_read(table: &Table, access: &Access) -> bool {
    let fixed = table.clustering_columns().any(|c| access.point(&c.name).is_some());
    access.is_read() && access.limit != Limit::None && !fixed
}
