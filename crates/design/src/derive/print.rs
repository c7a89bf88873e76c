//! A plan as CQL: tables with their reasons, patterns with their numbers, copies with their source, and the fan-out.
//!
//! Writing to a String cannot fail, so results of `write!` are dropped.

use super::bucket::Bucket;
use super::input::{Entity, Pattern};
use super::plan::{Plan, PlannedTable, is_tenant};
use crate::vocabulary::Grain;
use cql_syntax::maybe_quote;
use cql_syntax::quote::string;
use std::fmt::Write;

/// The longest time to live that CQL knows: 20 years.
const TTL_SECONDS_MAX: f64 = 630_720_000.0;

/// The whole plan.
pub fn write(plan: &Plan) -> String {
    let mut out = String::new();
    let (patterns, entities) = (plan.request.patterns.len(), plan.request.entities.len());
    let _ = writeln!(
        out,
        "-- Derived by partita design: {patterns} patterns over {entities} entities give {} tables.",
        plan.tables.len()
    );
    if let Some(keyspace) = &plan.request.keyspace {
        let copies = plan.request.replication.unwrap_or(3);
        let keyspace = maybe_quote(keyspace);
        let _ = writeln!(
            out,
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': {copies}}};\nUSE {keyspace};"
        );
    }
    for table in &plan.tables {
        write_table(&mut out, plan, table);
    }
    fan_out(&mut out, plan);
    out
}

/// Names and types of the bucket columns.
fn bucket_columns(bucket: Bucket) -> Vec<(&'static str, &'static str)> {
    let time = bucket.time.map(|grain| match grain {
        Grain::Day => ("day", "date"),
        Grain::Hour | Grain::Minute => (grain.word(), "timestamp"),
        _ => (grain.word(), "text"),
    });
    time.into_iter().chain(bucket.hash.map(|_| ("bucket", "int"))).collect()
}

fn write_table(out: &mut String, plan: &Plan, table: &PlannedTable) {
    let Some(entity) = plan.request.entities.get(table.entity) else { return };
    out.push('\n');
    for reason in &table.reasons {
        let _ = writeln!(out, "-- {reason}.");
    }
    let buckets = if table.bucketing.is_some() { Vec::new() } else { bucket_columns(table.bucket) };
    let mut key: Vec<&str> = table.partition.iter().map(String::as_str).collect();
    key.extend(buckets.iter().map(|(name, _)| *name));
    let columns = columns(entity, table, &key);
    let _ = writeln!(out, "CREATE TABLE {} (", maybe_quote(&table.name));
    for name in &columns {
        let own = buckets.iter().find(|(bucket, _)| bucket == name).map(|(_, data_type)| *data_type);
        let data_type = own.or_else(|| entity.fields.get(*name).map(String::as_str)).unwrap_or("text");
        let _ = writeln!(out, "    {} {data_type},", maybe_quote(name));
    }
    let quoted: Vec<String> = key.iter().map(|name| maybe_quote(name).to_string()).collect();
    let mut parts = vec![format!("({})", quoted.join(", "))];
    parts.extend(table.clustering.iter().map(|(name, _)| maybe_quote(name).to_string()));
    let _ = writeln!(out, "    PRIMARY KEY ({})", parts.join(", "));
    let _ = writeln!(out, ") WITH {};", options(plan, table).join("\n    AND "));
    for pattern in patterns(plan, table) {
        write_pattern(out, table, pattern, &key);
    }
    write_insert(out, plan, table, entity, &columns);
}

fn patterns<'p>(plan: &'p Plan, table: &'p PlannedTable) -> impl Iterator<Item = &'p Pattern> + Clone {
    table.serves.iter().filter_map(|number| plan.request.patterns.get(*number))
}

/// Key columns in key order, then the rest.
fn columns<'p>(entity: &'p Entity, table: &'p PlannedTable, key: &[&'p str]) -> Vec<&'p str> {
    let mut columns = key.to_vec();
    columns.extend(table.clustering.iter().map(|(name, _)| name.as_str()));
    let plain: Vec<&str> =
        entity.fields.keys().map(String::as_str).filter(|name| !columns.contains(name)).collect();
    columns.extend(plain);
    columns
}

fn options(plan: &Plan, table: &PlannedTable) -> Vec<String> {
    let mut options = Vec::new();
    if !table.clustering.is_empty() {
        let direction = |descending: bool| if descending { "DESC" } else { "ASC" };
        let order: Vec<String> =
            table.clustering.iter().map(|(n, d)| format!("{} {}", maybe_quote(n), direction(*d))).collect();
        options.push(format!("CLUSTERING ORDER BY ({})", order.join(", ")));
    }
    options.extend(table.bucketing.as_ref().map(|plan| format!("bucketing = {}", plan.text())));
    if let Some(days) = table.kept_days.filter(|_| table.bucketing.as_ref().is_some_and(|b| b.time.is_some()))
    {
        // Whole buckets go, without a tombstone for each row.
        options.push(format!("retention = '{}d'", days.ceil()));
        options.push(format!("comment = {}", string(&comment(plan, table))));
        return options;
    }
    let seconds = table.kept_days.map(|days| (days * 86_400.0).round());
    if let Some(seconds) = seconds.filter(|s| *s <= TTL_SECONDS_MAX) {
        options.push(format!("default_time_to_live = {seconds}"));
        if table.bucket.time.is_some() {
            options.push("compaction = {'class': 'TimeWindowCompactionStrategy'}".into());
        }
    }
    options.push(format!("comment = {}", string(&comment(plan, table))));
    options
}

/// Which table or system holds the truth, and how this one is rebuilt.
fn comment(plan: &Plan, table: &PlannedTable) -> String {
    let Some(entity) = plan.request.entities.get(table.entity) else { return String::new() };
    if table.is_source {
        return format!("source of truth for {}", entity.name);
    }
    let own = plan.tables.iter().find(|t| t.entity == table.entity && t.is_source).map(|t| t.name.clone());
    let declared = patterns(plan, table).find_map(|p| p.source_of_truth.clone());
    let source = declared.or_else(|| entity.source_of_truth.clone()).or(own);
    let source = source.unwrap_or_else(|| format!("every {}", entity.name));
    let repair = patterns(plan, table).find_map(|p| p.repair.clone()).or_else(|| entity.repair.clone());
    let rebuild = repair
        .map_or_else(|| "rebuild by reading the source again".into(), |text| format!("rebuild: {text}"));
    format!("copy of {source} (source of truth); {rebuild}")
}

fn write_pattern(out: &mut String, table: &PlannedTable, pattern: &Pattern, key: &[&str]) {
    let mut relations: Vec<String> = key.iter().map(|name| format!("{} = ?", maybe_quote(name))).collect();
    if let Some(range) = &pattern.range {
        relations.push(format!("{0} >= ? AND {0} < ?", maybe_quote(range)));
    }
    let rows = pattern.limit.unwrap_or(100);
    let limit = if table.clustering.is_empty() { String::new() } else { format!(" LIMIT {rows}") };
    let numbers = numbers(table, pattern);
    let with = if numbers.is_empty() { String::new() } else { format!("\n  WITH {}", numbers.join(" AND ")) };
    let _ = writeln!(
        out,
        "CREATE ACCESS PATTERN {} AS\n  SELECT * FROM {} WHERE {}{}{limit}{with};",
        maybe_quote(&pattern.operation),
        maybe_quote(&table.name),
        relations.join(" AND "),
        order_by(table, pattern),
    );
    if let Some(plan) = &table.bucketing {
        let merge = plan.hash.as_ref().map(|hash| format!("merges {} partitions", hash.into));
        let walk = plan.time.as_ref().map(|_| format!("walks its buckets until there are {rows} rows"));
        let ways: Vec<String> = merge.into_iter().chain(walk).collect();
        let _ = writeln!(out, "-- read: one statement; the server {}.", ways.join(" and "));
        return;
    }
    let merge = match table.bucket.hash {
        Some(buckets) => format!("buckets 0 to {} in parallel, merged in order", buckets - 1),
        None => String::new(),
    };
    let back = match table.bucket.time {
        Some(grain) => {
            format!("the current {}, then the one before, until there are {rows} rows", grain.word())
        }
        None => format!("first {rows} rows"),
    };
    if table.bucket != Bucket::default() {
        let parts: Vec<&str> =
            [merge.as_str(), back.as_str()].into_iter().filter(|p| !p.is_empty()).collect();
        let _ = writeln!(out, "-- read: {}.", parts.join("; "));
    }
}

/// Said only when the table is stored the other way round.
fn order_by(table: &PlannedTable, pattern: &Pattern) -> String {
    let wanted = pattern.order_columns();
    let first = wanted.iter().find(|(name, _)| table.clustering.iter().any(|(c, _)| c == name));
    match (first, table.clustering.first()) {
        (Some((name, wanted)), Some((stored, descending))) if name == stored && wanted != descending => {
            format!(" ORDER BY {} {}", maybe_quote(name), if *wanted { "DESC" } else { "ASC" })
        }
        _ => String::new(),
    }
}

fn numbers(table: &PlannedTable, pattern: &Pattern) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    let mut number = |name: &str, value: Option<f64>| {
        numbers.extend(value.filter(|v| v.is_finite()).map(|value| format!("{name} = {value}")));
    };
    number("peak_rate", pattern.frequency);
    number("p99_ms", pattern.p99_ms);
    number("row_bytes", pattern.row_bytes);
    number("partitions", pattern.keys);
    let kept = pattern.retention.as_deref().and_then(crate::numbers::parse_days);
    let per_day = pattern
        .rows_per_day
        .or(pattern.growth.zip(kept.filter(|d| d.is_finite())).map(|(g, d)| g / d.max(1.0)));
    let per_day = per_day.map(|rate| (rate * 100.0).round() / 100.0);
    if table.bucketing.is_some() {
        // Of the key that statements name: the buckets are the server's.
        number("rows_per_partition", pattern.growth);
        number("rows_per_day", per_day.filter(|_| pattern.growth.is_none() || kept.is_some()));
    }
    match (table.bucket.time, table.bucket.hash) {
        _ if table.bucketing.is_some() => {}
        (None, None) => {
            number("rows_per_partition", pattern.growth);
            number("rows_per_day", pattern.rows_per_day.filter(|_| pattern.growth.is_none()));
        }
        (None, Some(buckets)) => {
            let rows = pattern.growth.or(pattern.rows_per_day.zip(kept).map(|(rate, days)| rate * days));
            number("buckets", Some(f64::from(buckets)));
            number("rows_per_partition", rows.map(|rows| (rows / f64::from(buckets)).ceil()));
        }
        (Some(grain), Some(buckets)) => {
            number("buckets", Some(f64::from(buckets)));
            let rows =
                per_day.zip(grain.days()).map(|(rate, days)| (rate * days / f64::from(buckets)).ceil());
            number("rows_per_partition", rows);
        }
        (Some(_), None) => number("rows_per_day", per_day),
    }
    for (name, text) in [
        ("retention", &pattern.retention),
        ("lookback", &pattern.lookback),
        ("freshness", &pattern.freshness),
        ("owner", &pattern.owner),
        ("source", &pattern.source_of_truth),
    ] {
        numbers.extend(text.as_ref().map(|text| format!("{name} = {}", string(text))));
    }
    numbers
}

/// The write of the table as a pattern, when its rate is declared: the simulation and the server count it.
fn write_insert(out: &mut String, plan: &Plan, table: &PlannedTable, entity: &Entity, columns: &[&str]) {
    let declared = patterns(plan, table).filter_map(|p| p.write_rate).reduce(f64::max);
    let Some(rate) = declared.or(entity.write_rate) else { return };
    let names: Vec<String> = columns.iter().map(|name| maybe_quote(name).to_string()).collect();
    let hot = patterns(plan, table).filter_map(|p| p.hot_share).reduce(f64::max);
    // The share of the busiest partition: hash buckets divide it.
    let buckets = table.bucket.hash.filter(|_| table.bucketing.is_none()).unwrap_or(1);
    let hot = hot.map(|share| share / f64::from(buckets));
    let hot = hot.map_or(String::new(), |share| format!(" AND hot_share = {share}"));
    let _ = writeln!(
        out,
        "CREATE ACCESS PATTERN {} AS\n  INSERT INTO {} ({}) VALUES ({})\n  WITH peak_rate = {rate}{hot};",
        maybe_quote(&format!("write_{}", table.name)),
        maybe_quote(&table.name),
        names.join(", "),
        vec!["?"; columns.len()].join(", ")
    );
    if let Some(buckets) = table.bucket.hash.filter(|_| table.bucketing.is_none()) {
        let id = entity.key.last().map_or("the key", String::as_str);
        let _ = writeln!(out, "-- write: bucket = hash({id}) % {buckets}.");
    }
}

/// What one write of each entity costs, and which fields exist more than once.
fn fan_out(out: &mut String, plan: &Plan) {
    out.push_str("\n-- Write fan-out:\n");
    for (at, entity) in plan.request.entities.iter().enumerate() {
        let tables: Vec<&PlannedTable> = plan.tables.iter().filter(|t| t.entity == at).collect();
        if tables.is_empty() {
            let _ = writeln!(out, "--   {}: no pattern reads it, so it has no table", entity.name);
            continue;
        }
        let names: Vec<&str> = tables.iter().map(|t| t.name.as_str()).collect();
        let writes = if names.len() == 1 { "1 write".to_string() } else { format!("{} writes", names.len()) };
        let _ = writeln!(out, "--   one {} is {writes}: {}", entity.name, names.join(", "));
        if tables.len() == 1 && entity.source_of_truth.is_none() {
            continue;
        }
        let own = tables.iter().find(|t| t.is_source).map(|t| t.name.as_str());
        let source = entity.source_of_truth.as_deref().or(own).unwrap_or("the writer");
        let copied: Vec<&str> =
            entity.fields.keys().filter(|field| !entity.key.contains(field)).map(String::as_str).collect();
        let _ = writeln!(out, "--     copied: {}; the truth is in {source}", copied.join(", "));
        let moving = moving(entity, &tables);
        if !moving.is_empty() {
            let _ = writeln!(
                out,
                "--     a change of {} moves rows: delete the old one and write the new one in one batch",
                moving.join(", ")
            );
        }
    }
}

/// Fields that are in the key of a table without identifying the entity: changing one moves its row. Tenants do not change.
fn moving<'p>(entity: &'p Entity, tables: &[&'p PlannedTable]) -> Vec<&'p str> {
    let in_key = |field: &str| {
        tables
            .iter()
            .any(|t| t.partition.iter().any(|c| c == field) || t.clustering.iter().any(|(c, _)| c == field))
    };
    let filtered = |field: &str| {
        tables.iter().any(|t| t.filter.as_deref().and_then(|f| f.split_whitespace().next()) == Some(field))
    };
    entity
        .fields
        .keys()
        .map(String::as_str)
        .filter(|field| !entity.key.iter().any(|k| k == field) && (in_key(field) || filtered(field)))
        .filter(|field| !is_tenant(field))
        .collect()
}
