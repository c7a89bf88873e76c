//! `queue-like`: insert, read, delete at one end; delete-heavy tables.

use super::{Context, Rule, on_access, on_table};
use crate::catalogue::{Access, Column, Limit, Table, Verb};
use crate::facts::{Content, Facts, subject_words};
use crate::finding::{Findings, Severity};
use crate::lexicon::TRANSIENT;
use crate::vocabulary::{Meaning, any_word, native};
use cql_syntax::ast::{NativeType, RelationOp, SortOrder};

pub static RULE: Rule = Rule {
    id: "queue-like",
    title: "insert, read, delete at one end; delete-heavy tables",
    why: "Each delete leaves a tombstone that stays for gc_grace_seconds (10 days by default). A reader of the head walks over the tombstones of \
          everything consumed since, and gets slower with every message handled. Buckets that are dropped whole, or a log, do not.",
    bad: "CREATE TABLE job_queue (queue_name text, enqueued_at timestamp, job_id uuid, payload text,\n  PRIMARY KEY (queue_name, enqueued_at, job_id));\nDELETE FROM job_queue WHERE queue_name = ? AND enqueued_at = ? AND job_id = ?;",
    good: "CREATE TABLE jobs_by_hour (queue_name text, hour timestamp, shard int, enqueued_at timestamp, job_id uuid, payload text,\n  PRIMARY KEY ((queue_name, hour, shard), enqueued_at, job_id)) WITH default_time_to_live = 86400;",
    seen: "Comcast/cmb built a message queue of rows that are inserted, read from the head and deleted, with gc_grace_seconds set to 5 against \
           the tombstones. paradoxical-io/cassieq marks messages as acknowledged and deletes whole buckets instead. scylladb/argus \
           deleted its snapshots row by row after reading them, up to 4.5 seconds a request; in June 2026 one delete of the \
           partition took their place.",
    check,
};

const QUEUE: &[&str] = &["queue", "outbox", "mailbox", "backlog", "fifo"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        if table.clustering.is_empty() || table.is_view() || facts.time_bucket.is_some() {
            continue;
        }
        let accesses = || context.catalogue.accesses_of(at);
        let row_delete = accesses().find(|a| is_row_delete(table, a));
        let trim = accesses().find(|a| is_trim(table, a));
        let head_read = accesses().any(|a| is_head_read(table, a));
        let subject = subject_words(table);
        let key_words =
            facts.key(table).any(|c| any_word(&c.words, QUEUE) && !matches!(c.meaning, Meaning::Few(_)));
        let is_queue = any_word(&subject, QUEUE) || key_words;
        let in_order = table
            .clustering_columns()
            .next()
            .is_some_and(|c| c.is_chronological() || c.meaning == Meaning::Sequence || is_bigint(c))
            // A range that is cut off says that rows lie in the order in which they came.
            || trim.is_some();
        let is_pending = in_order && any_word(&subject, TRANSIENT);
        let work = ["task", "job", "work", "command", "timer", "queue", "dlq"];
        let is_work = any_word(&table.words, &work) || facts.key(table).any(|c| any_word(&c.words, &work));
        let usage = &facts.usage;
        // Claimed by a condition and deleted afterwards.
        let is_claimed = accesses().any(|a| a.verb == Verb::Delete && !a.conditions.is_empty());
        let severity = match (row_delete.is_some(), head_read, is_queue, is_pending) {
            (true, true, true, _) | (true, true, _, true) => Severity::Error,
            (true, true, ..) if in_order && is_claimed => Severity::Error,
            // Rows that are found by an id are not taken from one end: a list of things, some of them removed.
            (true, true, false, false) if !in_order => Severity::Advice,
            // Messages of a room that somebody takes back are no queue: they are read newest first.
            (true, true, ..) if reads_newest_first(context, at, table) => Severity::Advice,
            (true, true, ..) | (true, false, true, _) | (true, false, _, true) => Severity::Warning,
            // Rows that live while something runs, read whole again and again.
            (true, ..) if any_word(&subject, TRANSIENT) && usage.inserts > 0 && usage.reads_whole => {
                Severity::Warning
            }
            (true, false, ..) if !in_order && facts.is_history && facts.content != Content::Things => {
                Severity::Warning
            }
            (false, ..) if trim.is_some() && in_order && (is_work || reads_from_head(context, at, table)) => {
                Severity::Warning
            }
            (false, _, true, _) if facts.is_history && usage.reads + usage.inserts == 0 => Severity::Warning,
            _ => continue,
        };
        let message = message(table, facts, row_delete.is_none() && trim.is_some());
        let finding = match row_delete.or(trim) {
            Some(access) => on_access(&RULE, severity, access, table, access.place.span),
            None => on_table(&RULE, severity, table, table.place.span),
        };
        findings.push(finding.say(message, String::new()));
    }
}

fn is_bigint(column: &Column) -> bool {
    native(&column.data_type) == Some(NativeType::Bigint) && column.meaning != Meaning::Identity
}

/// A delete of everything before a point: the head is cut off.
fn is_trim(table: &Table, access: &Access) -> bool {
    let first = table.clustering_columns().next();
    access.verb == Verb::Delete
        && access.deletes_rows
        && first.is_some_and(|c| {
            access.restrictions.iter().any(|r| {
                r.columns.first() == Some(&c.name) && matches!(r.op, RelationOp::Lt | RelationOp::Le)
            })
        })
}

/// Whether a read begins at the end that is cut off, without saying where live rows begin.
fn reads_from_head(context: &Context<'_>, at: usize, table: &Table) -> bool {
    let Some(first) = table.clustering_columns().next() else { return false };
    let ascending = table.clustering.first().is_some_and(|item| !item.descending);
    context.catalogue.accesses_of(at).any(|a| {
        let has_floor = a.restrictions.iter().any(|r| {
            r.columns.first() == Some(&first.name)
                && matches!(r.op, RelationOp::Gt | RelationOp::Ge | RelationOp::Between | RelationOp::Eq)
        });
        a.is_read() && !has_floor && ascending && a.order_by.is_empty()
    })
}

/// Whether every read of several rows begins at the newest: what was deleted lies behind.
fn reads_newest_first(context: &Context<'_>, at: usize, table: &Table) -> bool {
    let descending = table.clustering.first().is_some_and(|item| item.descending);
    let mut reads = context.catalogue.accesses_of(at).filter(|a| is_head_read(table, a));
    reads.all(|a| match a.order_by.first() {
        Some((_, order, _)) => *order == SortOrder::Desc,
        None => descending,
    })
}

fn message(table: &Table, facts: &Facts, trims: bool) -> String {
    let grace = table.gc_grace_days;
    let rate = facts.write_rate.map(|rate| {
        format!(
            ": at {} deletes/s that is {}",
            crate::units::count(rate),
            crate::units::count(rate * 86_400.0 * grace)
        )
    });
    if trims {
        return format!(
            "the oldest rows of {} are deleted as a range while reads begin there: each read walks over what was deleted within {}",
            table.name,
            crate::units::days(grace)
        );
    }
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

/// A read of the first rows of a partition: so many, or all up to a point.
fn is_head_read(table: &Table, access: &Access) -> bool {
    let Some(first) = table.clustering_columns().next() else { return false };
    let fixed = table.clustering_columns().any(|c| access.point(&c.name).is_some());
    let to_a_point = access
        .restrictions
        .iter()
        .any(|r| r.columns.first() == Some(&first.name) && matches!(r.op, RelationOp::Lt | RelationOp::Le));
    access.is_read() && !fixed && (access.limit != Limit::None || to_a_point)
}
