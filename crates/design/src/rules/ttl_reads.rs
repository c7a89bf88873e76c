//! `wide-ttl-reads`: reads that wade through expired rows.

use super::{Context, Rule, on_access, on_table};
use crate::catalogue::{Access, Limit, Table};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Findings, Severity};
use crate::units;
use crate::vocabulary::Meaning;

pub static RULE: Rule = Rule {
    id: "wide-ttl-reads",
    title: "reads that wade through expired rows",
    why: "A row that expires becomes a tombstone until compaction removes it. In a partition that lives longer than its rows, a read from the old \
          end, or of everything, walks over all of them before it finds a live one. Day buckets expire whole.",
    bad: "CREATE TABLE notifications (tenant_id uuid, created_at timestamp, id uuid, body text,\n  PRIMARY KEY (tenant_id, created_at, id)) WITH default_time_to_live = 604800;",
    good: "CREATE TABLE notifications (tenant_id uuid, day date, created_at timestamp, id uuid, body text,\n  PRIMARY KEY ((tenant_id, day), created_at, id)) WITH CLUSTERING ORDER BY (created_at DESC, id ASC) AND default_time_to_live = 604800;",
    seen: "gridsense reads its newest reading first, so that expired rows lie behind what is read; a read from the old end \
           would walk over 90 days of them.",
    check,
};

/// Tombstones in one read from which the server begins to complain, and from which it is no longer a matter of taste.
const DEAD_SOME: f64 = 1_000.0;
const DEAD_MANY: f64 = 10_000.0;

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        let ttl = table.default_ttl_days;
        let expires = ttl.is_some() || context.catalogue.accesses_of(at).any(|a| a.has_ttl);
        let Some(first) = table.clustering_columns().next().filter(|c| c.is_chronological()) else {
            continue;
        };
        let bucketed = facts.time_bucket.is_some()
            || table.partition_columns().any(|c| matches!(c.meaning, Meaning::Time));
        // The rows of one unit are written together and expire together.
        let is_unit = facts.owner == Owner::Unit;
        if !expires || is_unit || bucketed || table.is_view() || table.has_time_buckets() {
            continue;
        }
        let ascending = table.clustering.first().is_some_and(|item| !item.descending);
        let reads: Vec<&Access> = context.catalogue.accesses_of(at).filter(|a| a.is_read()).collect();
        let wades = |a: &&&Access| reads_expired(a, &first.name, ascending);
        let place = match reads.iter().find(wades) {
            Some(access) => Some(*access),
            None if reads.is_empty() && ascending => None,
            None => continue,
        };
        let from_old_end = place.is_none_or(|a| begins_at_old_end(a, ascending));
        let promised = place.is_some_and(|a| a.pattern.is_some());
        let (severity, dead) = amount(table, facts, ttl, from_old_end, promised);
        let from = match place {
            Some(access) => format!("{} starts at the expired end of {}", access.title(), table.name),
            None => {
                format!("{} stores the oldest rows first, so a read starts at the expired end", table.name)
            }
        };
        let message = format!("{from}: {dead}");
        let finding = match place {
            Some(access) => on_access(&RULE, severity, access, table, access.place.span),
            None => on_table(&RULE, severity, table, super::key_span(table, &first.name)),
        };
        findings.push(finding.say(message, String::new()));
    }
}

/// Whether the read meets expired rows before or beside live ones.
fn reads_expired(access: &Access, time: &str, ascending: bool) -> bool {
    use cql_syntax::ast::RelationOp;
    if access.point(time).is_some() {
        return false;
    }
    let has_floor = access.restrictions.iter().any(|r| {
        matches!(r.op, RelationOp::Gt | RelationOp::Ge | RelationOp::Between)
            && r.columns.iter().any(|c| c == time)
    });
    // A floor may be older than the TTL, but the caller at least says where live rows begin.
    !has_floor && (begins_at_old_end(access, ascending) || access.limit == Limit::None)
}

fn begins_at_old_end(access: &Access, ascending: bool) -> bool {
    let turned = access
        .order_by
        .first()
        .is_some_and(|(_, order, _)| (*order == cql_syntax::ast::SortOrder::Desc) == ascending);
    ascending != turned
}

fn amount(
    table: &Table,
    facts: &Facts,
    ttl: Option<f64>,
    from_old_end: bool,
    promised: bool,
) -> (Severity, String) {
    let grace = table.gc_grace_days;
    let rate = facts.growth.rows_per_day[2];
    let dead = rate * grace;
    let kept =
        ttl.map_or("its rows expire".to_string(), |days| format!("rows expire after {}", units::days(days)));
    if facts.growth.is_declared && rate > 0.0 {
        let severity = if dead > 100_000.0 { Severity::Error } else { Severity::Warning };
        return (
            severity,
            format!(
                "{kept}, and {} rows a day x {} of grace leave up to {} dead rows in one partition",
                units::count(rate),
                units::days(grace),
                units::count(dead)
            ),
        );
    }
    // A guessed number of dead rows is nobody's trouble while it is small, and less so behind the live ones.
    let guessed = facts.owner == Owner::Unknown && facts.content != Content::Telemetry;
    let many = if from_old_end && !guessed { DEAD_SOME } else { DEAD_MANY };
    let severity = if dead >= many || promised { Severity::Warning } else { Severity::Advice };
    (
        severity,
        format!(
            "{kept} and stay as tombstones for {}, up to {} in one partition at an assumed {} rows a day; declare rows_per_day to settle it",
            units::days(grace),
            units::count(dead),
            units::count(rate)
        ),
    )
}
