//! `no-retention`: growing history with neither TTL nor buckets nor a stated reason.

use super::{Context, Rule, on_table};
use crate::facts::{Content, Owner, subject_words};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::units;
use crate::vocabulary::{any_word, words};

pub static RULE: Rule = Rule {
    id: "no-retention",
    title: "growing history with neither TTL nor buckets nor a stated reason",
    why: "History that nobody ends is kept for ever, and deleting it later row by row leaves a tombstone for each. A TTL, a bucket \
          that can be dropped whole, or a declared reason to keep it belongs in the design.",
    bad: "CREATE TABLE login_history (user_id uuid, login_at timestamp, session_id uuid, ip inet,\n  PRIMARY KEY (user_id, login_at, session_id));",
    good: "CREATE TABLE login_history (user_id uuid, login_at timestamp, session_id uuid, ip inet,\n  PRIMARY KEY (user_id, login_at, session_id)) WITH default_time_to_live = 7776000;",
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
const LOGS: &[&str] = &["log", "audit", "history", "trail", "journal", "login"];

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        let numbers = &facts.numbers;
        let settled = table.default_ttl_days.is_some()
            || numbers.retention_days.is_some()
            || numbers.rows_worst().is_some()
            || facts.time_bucket.is_some()
            || table.is_bucketed_by_server
            || table.comment.as_deref().is_some_and(|comment| any_word(&words(comment), REASONS))
            || context.catalogue.accesses_of(at).any(|access| access.has_ttl);
        let concerns = facts.is_history
            && facts.content != Content::Things
            && facts.owner != Owner::Unit
            && !facts.has_weak_key
            && !table.is_view()
            && !table.is_counter();
        if settled || !concerns {
            continue;
        }
        let told = findings.has("unbounded-partition", &table.name, Severity::Error);
        let is_log = any_word(&subject_words(table), LOGS);
        let quiet =
            told || facts.hash_bucket || (matches!(facts.owner, Owner::Person | Owner::LongUnit) && !is_log);
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
        let fix = format!("ALTER TABLE {} WITH default_time_to_live = 7776000;", fix::qualified(table));
        findings.push(on_table(&RULE, severity, table, table.place.span).say(message, fix));
    }
}
