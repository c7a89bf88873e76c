//! `view-cost`: a view that multiplies writes, moves rows, or serves no pattern.

use super::{Context, Rule, key_span, on_table};
use crate::catalogue::{Table, TableKind, Verb};
use crate::finding::{Findings, Severity};
use crate::fix;
use crate::vocabulary::any_word;

pub static RULE: Rule = Rule {
    id: "view-cost",
    title: "a view that multiplies writes, moves rows, or serves no pattern",
    why: "Each view is one more write for every write of its base, and a read before it. When a column of the view's key changes, its row \
          moves: a delete in one partition and an insert in another. A view is a projection and wants an owner and a reader.",
    bad: "CREATE TABLE tasks (task_id uuid PRIMARY KEY, status text, title text);\nCREATE MATERIALIZED VIEW tasks_by_status AS SELECT * FROM tasks\n  WHERE status IS NOT NULL AND task_id IS NOT NULL PRIMARY KEY (status, task_id);",
    good: "CREATE TABLE users (user_id uuid PRIMARY KEY, email text);\nCREATE MATERIALIZED VIEW users_by_email AS SELECT * FROM users\n  WHERE email IS NOT NULL AND user_id IS NOT NULL PRIMARY KEY (email, user_id);",
    seen: "scylladb/argus wrote a second table by hand to find keys by their fingerprint, then let a view do it, and in August 2026 took the view \
           back for an index, because it did no more than that. agarwal-nitesh/Jukebox has views of songs by artist: their key does \
           not change, so a write costs one write more and moves nothing.",
    check,
};

/// From this number of views on, the base pays more for its views than for itself.
const VIEWS_MANY: usize = 3;
const CHANGING: &[&str] = &[
    "status", "state", "stage", "phase", "priority", "score", "rating", "rank", "updated", "modified",
    "last", "balance", "quantity", "count", "position", "location", "assignee", "seen", "price",
];

fn check(context: &Context<'_>, findings: &mut Findings) {
    let reads = context.catalogue.accesses.iter().any(|access| access.is_read());
    for (at, table, _) in context.tables() {
        let TableKind::View { base } = &table.kind else { continue };
        let mut findings_here = Vec::new();
        if let Some((column, told)) = moving_column(context, table, base) {
            let message = format!(
                "{column} is in the key of view {} and {told}: each change is 2 more writes (delete the old row, insert the new) and a tombstone",
                table.name
            );
            findings_here.push((Severity::Warning, key_span(table, column), message));
        }
        if reads && !context.catalogue.accesses_of(at).any(|access| access.is_read()) {
            let severity =
                if context.catalogue.has_patterns() { Severity::Warning } else { Severity::Advice };
            let message = format!(
                "no pattern reads view {}, yet every write of {base} is written to it as well",
                table.name
            );
            findings_here.push((severity, table.place.span, message));
        }
        let siblings = context.catalogue.tables.iter().filter(|t| t.kind == table.kind).count();
        let is_first = context
            .catalogue
            .tables
            .iter()
            .find(|t| t.kind == table.kind)
            .is_some_and(|t| t.name == table.name);
        if siblings >= VIEWS_MANY && is_first {
            let message = format!(
                "{base} has {siblings} views, so each write of it becomes {} writes and {siblings} reads before them",
                siblings + 1
            );
            findings_here.push((Severity::Warning, table.place.span, message));
        }
        for (severity, span, message) in findings_here {
            let fix = format!(
                "DROP MATERIALIZED VIEW {};\n{}",
                fix::qualified(table),
                fix::Draft::of(table).print()
            );
            findings.push(on_table(&RULE, severity, table, span).say(message, fix));
        }
    }
}

/// A column of the view's key that changes: an UPDATE in the files says so, or its name.
fn moving_column<'t>(context: &Context<'_>, view: &'t Table, base: &str) -> Option<(&'t str, &'static str)> {
    let at = context.catalogue.find(view.keyspace.as_deref(), base)?;
    let base = context.catalogue.tables.get(at)?;
    let is_base_key =
        |name: &str| base.partition_columns().chain(base.clustering_columns()).any(|c| c.name == name);
    let moving =
        || view.partition_columns().chain(view.clustering_columns()).filter(|c| !is_base_key(&c.name));
    let updated = moving().find(|column| {
        context
            .catalogue
            .accesses_of(at)
            .any(|a| a.verb == Verb::Update && a.assigned.iter().any(|(c, _)| *c == column.name))
    });
    if let Some(column) = updated {
        return Some((&column.name, "an UPDATE here changes it"));
    }
    moving()
        .find(|column| any_word(&column.words, CHANGING))
        .map(|c| (c.name.as_str(), "changes by its nature"))
}
