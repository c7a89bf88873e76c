//! `no-retention`: growing history with neither TTL nor buckets nor a stated reason.

use super::{Context, Rule, on_table};
use crate::catalogue::Table;
use crate::facts::{Content, Facts, Owner, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::lexicon::MARKER;
use crate::units;
use crate::vocabulary::{Meaning, any_word, native, words};

pub static RULE: Rule = Rule {
    id: "no-retention",
    title: "growing history with neither TTL nor buckets nor a stated reason",
    why: "History that nobody ends is kept for ever, and deleting it later row by row leaves a tombstone for each. A TTL, a bucket \
          that can be dropped whole, or a declared reason to keep it belongs in the design.",
    bad: "CREATE TABLE login_history (user_id uuid, login_at timestamp, session_id uuid, ip inet,\n  PRIMARY KEY (user_id, login_at, session_id));",
    good: "CREATE TABLE login_history (user_id uuid, login_at timestamp, session_id uuid, ip inet,\n  PRIMARY KEY (user_id, login_at, session_id)) WITH default_time_to_live = 7776000;",
    seen: "rudrasura/distributed_job_scheduler remembers every idempotency key for ever; Camel's idempotent repository \
           offers a TTL for its inserts, celery gives one to every task result.",
    check,
};

const REASONS: &[&str] = &[
    "retention",
    "retain",
    "retained",
    "forever",
    "keep",
    "kept",
    "archive",
    "purge",
    "purged",
    "legal",
    "permanent",
    "expire",
    "bounded",
    "append",
    "truth",
    "canonical",
];

/// Kept for a purpose that ends, whoever they are about.
const LOGS: &[&str] = &["log", "audit", "trail", "journal"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        let numbers = &facts.numbers;
        let settled = table.default_ttl_days.is_some()
            || numbers.retention_days.is_some()
            || numbers.rows_worst().is_some()
            || table.has_time_buckets()
            || table.comment.as_deref().is_some_and(|comment| any_word(&words(comment), REASONS))
            || context.catalogue.accesses_of(at).any(|access| access.has_ttl)
            || table.is_view()
            || table.is_counter();
        if settled {
            continue;
        }
        if let Some(message) = written_only(table, facts) {
            let fix = format!(
                "-- When 90 days are enough: ALTER TABLE {} WITH default_time_to_live = 7776000;",
                fix::qualified(table)
            );
            findings.push(on_table(&RULE, Severity::Warning, table, table.place.span).say(message, fix));
            continue;
        }
        if let Some(message) = marker(table, facts) {
            let fix = format!(
                "-- When a repetition after 30 days need not be known: ALTER TABLE {} WITH default_time_to_live = 2592000;",
                fix::qualified(table)
            );
            findings.push(on_table(&RULE, Severity::Warning, table, table.place.span).say(message, fix));
            continue;
        }
        let concerns = facts.is_history
            && facts.time_bucket.is_none()
            && facts.content != Content::Things
            && facts.owner != Owner::Unit
            && !facts.has_weak_key;
        if !concerns {
            continue;
        }
        let told = findings.has("unbounded-partition", &table.name, Severity::Error);
        let is_log = any_word(&subject_words(table), LOGS);
        let of_people = matches!(facts.owner, Owner::Person | Owner::LongUnit);
        // A few megabytes a year at a rate that is only assumed are nobody's trouble.
        let per_year = facts.growth.rows_per_day[2] * facts.growth.row_bytes * 365.0;
        let small = !facts.growth.is_declared && per_year < 10e6;
        let quiet = told
            || (small && !is_log)
            || facts.usage.drops_partitions
            || facts.hash_bucket
            || (of_people && !is_log);
        let severity = if quiet { Severity::Advice } else { Severity::Warning };
        let growth = &facts.growth;
        let message = format!(
            "{} keeps its history for ever: at {} {} rows a day x {} one {} holds {} after a year; set a TTL or buckets, or \
             declare retention",
            table.name,
            if growth.is_declared { "the declared" } else { "an assumed" },
            units::count(growth.rows_per_day[2]),
            units::bytes(growth.row_bytes),
            table.partition_text(),
            units::bytes(growth.rows_per_day[2] * growth.row_bytes * 365.0),
        );
        let fix = format!(
            "-- Say how long rows are needed: a TTL if they may go, or why they stay, for example\n\
             -- ALTER TABLE {} WITH comment = 'kept for ever: source of truth';",
            fix::qualified(table)
        );
        findings.push(on_table(&RULE, severity, table, table.place.span).say(message, fix));
    }
}

/// Log lines under an id of their own, only ever inserted: nobody finds them again, and nothing ends them.
fn written_only(table: &Table, facts: &Facts) -> Option<String> {
    let usage = &facts.usage;
    let others = usage.reads + usage.updates;
    let dropped = usage.drops_rows || usage.drops_partitions || usage.drops_ranges;
    let is_log = any_word(&subject_words(table), LOGS);
    (is_log && table.clustering.is_empty() && usage.inserts > 0 && others == 0 && !dropped).then(|| {
        format!(
            "{} is only written: each row lies under a {} of its own, no statement here reads or removes one, and nothing expires; how long is it needed?",
            table.name,
            table.partition_text()
        )
    })
}

/// Whether a row is one id without a word about it, perhaps with a time.
fn is_bare_id(table: &Table) -> bool {
    use cql_syntax::ast::NativeType::{Bigint, Blob, Timeuuid, Uuid};
    let is_id = |c: &crate::catalogue::Column| {
        matches!(native(&c.data_type), Some(Uuid | Timeuuid | Blob | Bigint))
            || matches!(
                c.words.last().map(String::as_str),
                Some("hash" | "digest" | "checksum" | "fingerprint")
            )
    };
    table.clustering.is_empty()
        && table.partition.len() == 1
        && table.partition_columns().all(is_id)
        && table.regular_columns().all(|c| c.meaning == Meaning::Time)
}

/// A table that remembers what was seen: nothing but its key, perhaps when, only ever inserted into.
fn marker(table: &Table, facts: &Facts) -> Option<String> {
    let usage = &facts.usage;
    let only_inserts = usage.inserts > 0
        && usage.updates == 0
        && !(usage.drops_rows || usage.drops_partitions || usage.drops_ranges);
    let named = any_word(&table.words, MARKER);
    let mut others = table.regular_columns().filter(|c| c.meaning != Meaning::Time);
    // Besides its key a marker has at most what it points to.
    let small = others.next().is_none() || (named && (others.next().is_none() || usage.only_asks));
    let about = table.regular_columns().count() == 0 && table.clustering.is_empty();
    // An id and nothing else, which is only ever asked for: seen before or not.
    let key_only = is_bare_id(table) && usage.only_asks;
    let remembers = named || (about && facts.content == Content::Happenings) || key_only;
    (only_inserts && small && remembers).then(|| {
        format!(
            "{} remembers every {} for ever: rows are only inserted, and nothing here expires or deletes them; how long must a repetition be known?",
            table.name,
            table.partition_text()
        )
    })
}
