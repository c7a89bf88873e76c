//! `shattered-key`: too much in the partition key, or the bucket left out of it; both spellings of the parentheses trap.

use super::serve::{self, Serving};
use super::{Context, Rule, key_span, on_access, on_table};
use crate::catalogue::{Column, Table};
use crate::facts::{Content, Facts, Owner};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::Draft;
use crate::growth::PARTITION_BYTES_MAX;
use crate::vocabulary::Meaning;

pub static RULE: Rule = Rule {
    id: "shattered-key",
    title: "too much in the partition key: a read that should be one slice becomes a scatter",
    why: "Columns inside the inner parentheses are hashed together. Each distinct combination is its own partition on its own \
          nodes, so what should be read as one ordered run is spread over the ring. Two parentheses decide it, in both \
          directions: a bucket left outside them bounds nothing.",
    bad: "CREATE TABLE user_events (user_id text, event_time timestamp, event_id uuid, payload text,\n  PRIMARY KEY ((user_id, event_time), event_id));",
    good: "CREATE TABLE user_events (user_id text, event_time timestamp, event_id uuid, payload text,\n  PRIMARY KEY ((user_id), event_time, event_id)) WITH CLUSTERING ORDER BY (event_time DESC, event_id ASC);",
    seen: "NiewidzialnyCzlowiek/conference-rooms keys its entries by ((room_id, date), quant): the day bounds the partition \
           and one read gets it. With the quant in the inner parentheses each quarter of an hour would be a partition of \
           its own.",
    check,
};

fn check(context: &Context<'_>, findings: &mut Findings) {
    for (at, table, facts) in context.tables() {
        let before = findings_of_reads(context, at, table, findings);
        if !before && let Some(finding) = by_key(context, at, table, facts) {
            findings.push(finding);
        }
        if let Some(finding) = bucket_outside(table, facts) {
            findings.push(finding);
        }
    }
}

/// Reads that know part of the partition key only.
fn findings_of_reads(context: &Context<'_>, at: usize, table: &Table, findings: &mut Findings) -> bool {
    // A key that another read gives whole is right for that one; this one is a question of its own: needs-filtering.
    if serve::has_whole_read(context.catalogue, at, table) {
        return false;
    }
    let mut any = false;
    for access in context.catalogue.accesses_of(at).filter(|access| access.is_read()) {
        let Serving::Part { missing } = serve::partition(context.catalogue, at, table, access) else {
            continue;
        };
        if missing.iter().all(|column| column.meaning.is_bucket()) {
            continue;
        }
        any = true;
        let names: Vec<&str> = missing.iter().map(|c| c.name.as_str()).collect();
        let message = format!(
            "{} knows only part of the partition key {}: without {} its rows are spread over as many partitions as there are \
             values, and one slice becomes a scan of them all",
            access.title(),
            table.partition_text(),
            names.join(", "),
        );
        let fix = moved(table, &missing).print();
        findings.push(on_access(&RULE, Severity::Error, access, table, access.place.span).say(message, fix));
    }
    any
}

/// The table with these columns moved from the partition key to the front of the clustering key.
fn moved(table: &Table, columns: &[&Column]) -> Draft {
    let is_moved = |name: &str| columns.iter().any(|c| c.name == name);
    let mut partition: Vec<String> = table.partition_columns().map(|c| c.name.clone()).collect();
    partition.retain(|name| !is_moved(name));
    let mut clustering: Vec<(String, bool)> =
        columns.iter().map(|c| (c.name.clone(), c.is_chronological())).collect();
    for item in &table.clustering {
        clustering.extend(table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
    }
    Draft::of(table).keyed(partition, clustering)
}

/// An instant, or the id of the row itself, hashed together with its owner.
fn by_key(context: &Context<'_>, at: usize, table: &Table, facts: &Facts) -> Option<Finding> {
    let owners = table.partition_columns().filter(|c| c.meaning == Meaning::Identity).count();
    if table.partition.len() < 2 || owners == 0 {
        return None;
    }
    if let Some(instant) = table.partition_columns().find(|c| c.meaning == Meaning::Time) {
        // ((cell_id, run_at), lead_hours), read by both: the instant names a run of rows that belong together.
        let holds_run = table.clustering_columns().next().is_some_and(|c| c.meaning != Meaning::Identity);
        if holds_run && serve::has_whole_read(context.catalogue, at, table) {
            return None;
        }
        let certain = facts.content != Content::Things || facts.owner != Owner::Unknown;
        let severity = if certain { Severity::Error } else { Severity::Warning };
        let message = format!(
            "{} inside the partition key makes every instant a partition of its own: the rows of one {} are spread over the \
             ring, and a range or the latest N cannot be read as one slice",
            instant.name,
            table
                .partition_columns()
                .find(|c| c.meaning == Meaning::Identity)
                .map_or("owner", |c| c.name.as_str()),
        );
        let span = key_span(table, &instant.name);
        return Some(on_table(&RULE, severity, table, span).say(message, moved(table, &[instant]).print()));
    }
    // ((user_id, event_id)): each event alone. Right only if every read knows both.
    let own = table.partition_columns().skip(1).find(|c| super::tie_breaker::is_own_id(table, c))?;
    // A condition reads its row too.
    let reads_whole = context.catalogue.accesses_of(at).any(|a| a.is_read() || a.is_conditional);
    if reads_whole || !table.clustering.is_empty() || facts.content == Content::Things {
        return None;
    }
    let message = format!(
        "{} inside the partition key makes every row a partition of its own, so the rows of one {} cannot be listed; declare \
         the reading pattern if every read knows {}",
        own.name,
        table.partition_columns().next().map_or("owner", |c| c.name.as_str()),
        table.partition_text(),
    );
    let span = key_span(table, &own.name);
    Some(on_table(&RULE, Severity::Warning, table, span).say(message, moved(table, &[own]).print()))
}

/// `PRIMARY KEY (sensor_id, day, ts)` where `((sensor_id, day), ts)` was meant.
fn bucket_outside(table: &Table, facts: &Facts) -> Option<Finding> {
    let first = table.clustering_columns().next().filter(|c| c.meaning.is_bucket())?;
    if table.partition_columns().any(|c| c.meaning.is_bucket()) || table.bucketing.is_some() {
        return None;
    }
    let behind = || table.clustering_columns().skip(1);
    let has_rows = behind().any(|c| c.is_chronological() || c.meaning == Meaning::Identity);
    let has_instant = behind().any(Column::is_chronological);
    let growth = &facts.growth;
    if !has_rows || (growth.is_declared && growth.full_bytes(2) <= PARTITION_BYTES_MAX) {
        return None;
    }
    let severity = match (first.meaning, facts.growth_weight(table)) {
        (Meaning::HashBucket, _) => Severity::Error,
        (_, weight) if has_instant && weight >= 3 => Severity::Error,
        (_, weight) if has_instant && weight >= 1 => Severity::Warning,
        _ => return None,
    };
    let message = format!(
        "{} stands outside the inner parentheses: it only sorts rows, and all buckets of one {} stay in a single partition that \
         nothing bounds",
        first.name,
        table.partition_text(),
    );
    let mut partition: Vec<String> = table.partition_columns().map(|c| c.name.clone()).collect();
    partition.push(first.name.clone());
    let clustering = table
        .clustering
        .iter()
        .filter_map(|item| table.columns.get(item.column).map(|c| (c.name.clone(), item.descending)));
    let fix = Draft::of(table).keyed(partition, clustering.collect()).print();
    Some(on_table(&RULE, severity, table, key_span(table, &first.name)).say(message, fix))
}
