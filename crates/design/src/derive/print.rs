//! A plan as CQL: tables with their reasons, patterns with their numbers, copies with their source, and the fan-out.
//!
//! Writing to a String cannot fail, so results of `write!` are dropped.

use super::input::Pattern;
use super::plan::{Bucket, Plan, PlannedTable};
use crate::vocabulary::Grain;
use cql_syntax::maybe_quote;
use cql_syntax::quote::string;
use std::fmt::Write;

/// The whole plan.
pub fn write(plan: &Plan) -> String {
    let mut out = String::new();
    let (patterns, entities) = (plan.request.patterns.len(), plan.request.entities.len());
    let _ = writeln!(out, "-- Derived by partita design from {patterns} patterns over {entities} entities.");
    if let Some(keyspace) = &plan.request.keyspace {
        let _ = writeln!(out, "USE {};", maybe_quote(keyspace));
    }
    for (at, table) in plan.tables.iter().enumerate() {
        write_table(&mut out, plan, at, table);
    }
    fan_out(&mut out, plan);
    out
}

/// Name and type of the bucket column.
fn bucket_column(bucket: Bucket) -> Option<(&'static str, &'static str)> {
    match bucket {
        Bucket::None => None,
        Bucket::Hash(_) => Some(("bucket", "int")),
        Bucket::Time(Grain::Day) => Some(("day", "date")),
        Bucket::Time(grain @ (Grain::Hour | Grain::Minute)) => Some((grain.word(), "timestamp")),
        Bucket::Time(grain) => Some((grain.word(), "text")),
    }
}

fn write_table(out: &mut String, plan: &Plan, at: usize, table: &PlannedTable) {
    let Some(entity) = plan.request.entities.get(table.entity) else { return };
    out.push('\n');
    for reason in &table.reasons {
        let _ = writeln!(out, "-- {reason}.");
    }
    let bucket = bucket_column(table.bucket);
    let mut key: Vec<&str> = table.partition.iter().map(String::as_str).collect();
    key.extend(bucket.map(|(name, _)| name));
    let _ = writeln!(out, "CREATE TABLE {} (", maybe_quote(&table.name));
    let clustering = || table.clustering.iter().map(|(name, _)| name.as_str());
    let in_key = |name: &str| key.contains(&name) || clustering().any(|c| c == name);
    let plain = entity.fields.keys().map(String::as_str).filter(|name| !in_key(name));
    for name in key.iter().copied().chain(clustering()).chain(plain) {
        let own = bucket.filter(|(bucket, _)| *bucket == name).map(|(_, data_type)| data_type);
        let data_type = own.or_else(|| entity.fields.get(name).map(String::as_str)).unwrap_or("text");
        let _ = writeln!(out, "    {} {data_type},", maybe_quote(name));
    }
    let quoted: Vec<String> = key.iter().map(|name| maybe_quote(name).to_string()).collect();
    let mut parts = vec![format!("({})", quoted.join(", "))];
    parts.extend(clustering().map(|name| maybe_quote(name).to_string()));
    let _ = writeln!(out, "    PRIMARY KEY ({})", parts.join(", "));
    let mut options = Vec::new();
    if !table.clustering.is_empty() {
        let direction = |descending: bool| if descending { "DESC" } else { "ASC" };
        let order: Vec<String> =
            table.clustering.iter().map(|(n, d)| format!("{} {}", maybe_quote(n), direction(*d))).collect();
        options.push(format!("CLUSTERING ORDER BY ({})", order.join(", ")));
    }
    options.push(format!("comment = {}", string(&comment(plan, at, table))));
    let _ = writeln!(out, ") WITH {};", options.join("\n    AND "));
    for pattern in table.serves.iter().filter_map(|number| plan.request.patterns.get(*number)) {
        write_pattern(out, table, pattern, &key);
    }
}

/// Which table or system holds the truth, and how this one is rebuilt.
fn comment(plan: &Plan, at: usize, table: &PlannedTable) -> String {
    let Some(entity) = plan.request.entities.get(table.entity) else { return String::new() };
    let served = || table.serves.iter().filter_map(|number| plan.request.patterns.get(*number));
    let declared =
        served().find_map(|p| p.source_of_truth.clone()).or_else(|| entity.source_of_truth.clone());
    let repair = served().find_map(|p| p.repair.clone()).or_else(|| entity.repair.clone());
    let rebuild = repair.unwrap_or_else(|| "rebuilt by reading the source again".into());
    let first = plan.tables.iter().position(|t| t.entity == table.entity);
    match (declared, first) {
        (Some(source), _) => format!("copy of {source} (source of truth); {rebuild}"),
        (None, Some(first)) if first != at => {
            let source = plan.tables.get(first).map_or(entity.name.as_str(), |t| t.name.as_str());
            format!("copy of {source} (source of truth); {rebuild}")
        }
        _ => format!("source of truth for {}", entity.name),
    }
}

fn write_pattern(out: &mut String, table: &PlannedTable, pattern: &Pattern, key: &[&str]) {
    let mut relations: Vec<String> = key.iter().map(|name| format!("{} = ?", maybe_quote(name))).collect();
    if let Some(range) = &pattern.range {
        relations.push(format!("{0} >= ? AND {0} < ?", maybe_quote(range)));
    }
    let rows = pattern.limit.unwrap_or(100);
    let limit = if table.clustering.is_empty() { String::new() } else { format!(" LIMIT {rows}") };
    let mut numbers: Vec<String> = Vec::new();
    let mut number = |name: &str, value: Option<f64>| {
        numbers.extend(value.filter(|v| v.is_finite()).map(|value| format!("{name} = {value}")));
    };
    number("peak_rate", pattern.frequency);
    number("p99_ms", pattern.p99_ms);
    number("row_bytes", pattern.row_bytes);
    match table.bucket {
        Bucket::None => {
            number("rows_per_partition", pattern.growth);
            number("rows_per_day", pattern.rows_per_day.filter(|_| pattern.growth.is_none()));
        }
        Bucket::Hash(buckets) => {
            number("rows_per_partition", pattern.growth.map(|rows| (rows / f64::from(buckets)).ceil()));
        }
        Bucket::Time(_) => number("rows_per_day", pattern.rows_per_day),
    }
    for (name, text) in [
        ("retention", &pattern.retention),
        ("freshness", &pattern.freshness),
        ("source", &pattern.source_of_truth),
    ] {
        numbers.extend(text.as_ref().map(|text| format!("{name} = {}", string(text))));
    }
    let with = if numbers.is_empty() { String::new() } else { format!("\n  WITH {}", numbers.join(" AND ")) };
    let _ = writeln!(
        out,
        "CREATE ACCESS PATTERN {} AS\n  SELECT * FROM {} WHERE {}{limit}{with};",
        maybe_quote(&pattern.operation),
        maybe_quote(&table.name),
        relations.join(" AND "),
    );
    let _ = match table.bucket {
        Bucket::None => Ok(()),
        Bucket::Hash(buckets) => {
            writeln!(
                out,
                "-- read: buckets 0 to {} in parallel, merged in order, first {rows} rows.",
                buckets - 1
            )
        }
        Bucket::Time(grain) => {
            writeln!(
                out,
                "-- read: the current {}, then the one before, until there are {rows} rows.",
                grain.word()
            )
        }
    };
}

/// What one write of each entity costs.
fn fan_out(out: &mut String, plan: &Plan) {
    out.push_str("\n-- Write fan-out:\n");
    for (at, entity) in plan.request.entities.iter().enumerate() {
        let names: Vec<&str> =
            plan.tables.iter().filter(|t| t.entity == at).map(|t| t.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(out, "--   one {} is {} writes: {}", entity.name, names.len(), names.join(", "));
        if names.len() > 1 {
            let copied: Vec<&str> = entity
                .fields
                .keys()
                .filter(|field| !entity.key.contains(field))
                .map(String::as_str)
                .collect();
            let _ = writeln!(out, "--     each holds a copy of {}", copied.join(", "));
        }
    }
}
