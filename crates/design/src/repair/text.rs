//! A repair as text: statements that run, and comments that say how to get there.

use super::Plan;
use crate::catalogue::{Catalogue, Table};
use crate::finding::Finding;
use crate::fix::qualified;
use std::fmt::Write;

/// The text as comments; what is one already stays as it is.
pub fn commented(text: &str) -> String {
    let lines = text.lines().map(|line| {
        if line.trim_start().starts_with("--") || line.trim().is_empty() {
            line.to_string()
        } else {
            format!("-- {line}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of a proposal that are comments.
pub fn comments_of(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().filter(|line| line.trim_start().starts_with("--")).map(str::to_string)
}

/// Tables to make, the way there, and what else there is to say.
pub fn write(
    catalogue: &Catalogue,
    table: &Table,
    plans: &[Plan],
    comments: &[String],
    findings: &[&Finding],
) -> String {
    let mut out = String::new();
    if !plans.is_empty() {
        let _ = writeln!(out, "-- 1. Beside {}; from then on the application writes both:", table.name);
        for plan in plans {
            let _ = writeln!(out, "{}", plan.print());
        }
        let _ = writeln!(out, "-- 2. Copy what is there, token range by token range:");
        copy(&mut out, table, plans);
        let _ = writeln!(out, "-- 3. Read the new; drop {} when nothing reads it any more.", table.name);
        indexes(&mut out, catalogue, table, findings);
    }
    for comment in comments {
        let _ = writeln!(out, "{comment}");
    }
    if out.is_empty() {
        let _ = writeln!(
            out,
            "-- No key of these columns passes the review: what do the reads of {} know?",
            table.name
        );
    }
    out.trim_end().to_string()
}

/// The statements that fill the new tables.
fn copy(out: &mut String, table: &Table, plans: &[Plan]) {
    let quoted = |name: &str| cql_syntax::maybe_quote(name).to_string();
    let partition: Vec<String> = table.partition_columns().map(|c| quoted(&c.name)).collect();
    let columns: Vec<String> = table.columns.iter().map(|c| quoted(&c.name)).collect();
    let token = format!("token({})", partition.join(", "));
    let _ = writeln!(
        out,
        "--    SELECT {} FROM {} WHERE {token} > ? AND {token} <= ?;",
        columns.join(", "),
        qualified(table)
    );
    for plan in plans {
        let create = plan.statement();
        let names: Vec<String> = create.columns.iter().map(|c| quoted(&c.name.name)).collect();
        if table.is_counter() {
            let _ = writeln!(
                out,
                "--    Counters cannot be copied: add what was counted to {} once.",
                create.name
            );
            continue;
        }
        let marks = vec!["?"; names.len()].join(", ");
        let _ = writeln!(out, "--    INSERT INTO {} ({}) VALUES ({marks});", create.name, names.join(", "));
        for (column, how) in
            plan.computed.iter().filter(|(c, _)| create.columns.iter().any(|d| d.name.name == *c))
        {
            let _ = writeln!(out, "--    {column}: {how}");
        }
    }
}

/// Indexes that nothing needs once the new tables are read.
fn indexes(out: &mut String, catalogue: &Catalogue, table: &Table, findings: &[&Finding]) {
    if !findings.iter().any(|f| f.rule == "index-misuse") {
        return;
    }
    let Some(at) = catalogue.find(table.keyspace.as_deref(), &table.name) else { return };
    for name in catalogue.indexes_of(at).filter_map(|index| index.name.as_ref()) {
        let keyspace =
            table.keyspace.as_ref().map(|k| format!("{}.", cql_syntax::maybe_quote(k))).unwrap_or_default();
        let _ = writeln!(out, "--    Then: DROP INDEX {keyspace}{};", cql_syntax::maybe_quote(name));
    }
}
