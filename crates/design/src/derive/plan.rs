//! The derivation: a pattern's inputs become the partition key, its order the clustering key, its growth the bucket.

use super::input::{Entity, Pattern, Request};
use crate::growth::{PARTITION_BYTES_MAX, PARTITION_WRITES_MAX};
use crate::units;
use crate::vocabulary::{Grain, any_word, singular, words};

/// A partition is planned to stay this far below its limit, so that a year better than expected does not break it.
const PLANNED_BYTES_MAX: f64 = PARTITION_BYTES_MAX / 2.0;
const BUCKETS_MAX: f64 = 256.0;

/// The derived design.
#[derive(Debug)]
pub struct Plan {
    pub request: Request,
    pub tables: Vec<PlannedTable>,
}

/// One table and the patterns it serves.
#[derive(Debug, Clone)]
pub struct PlannedTable {
    pub name: String,
    /// Index into the entities.
    pub entity: usize,
    pub partition: Vec<String>,
    /// Column and whether it descends.
    pub clustering: Vec<(String, bool)>,
    pub bucket: Bucket,
    /// Indices into the patterns.
    pub serves: Vec<usize>,
    pub filter: Option<String>,
    /// Why it is so, one sentence each.
    pub reasons: Vec<String>,
}

/// What keeps a partition small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    None,
    Time(Grain),
    /// This many hash buckets.
    Hash(u32),
}

/// One table per distinct key; patterns that the same key answers share it.
pub fn plan(request: Request) -> Plan {
    let mut tables: Vec<PlannedTable> = Vec::new();
    for (number, pattern) in request.patterns.iter().enumerate() {
        let Some(at) = request.entities.iter().position(|e| e.name == pattern.entity) else { continue };
        let Some(entity) = request.entities.get(at) else { continue };
        let table = table_for(entity, at, number, pattern);
        let same = tables.iter_mut().find(|known| {
            known.entity == at
                && known.filter == table.filter
                && known.partition == table.partition
                && known.bucket == table.bucket
                && known.clustering == table.clustering
        });
        match same {
            Some(known) => {
                known.serves.push(number);
                known.reasons.push(format!("also serves {}: the same key answers it", pattern.operation));
            }
            None => tables.push(table),
        }
    }
    let mut seen: Vec<String> = Vec::new();
    for table in &mut tables {
        while seen.contains(&table.name) {
            table.name.push_str("_2");
        }
        seen.push(table.name.clone());
    }
    Plan { request, tables }
}

fn table_for(entity: &Entity, entity_at: usize, number: usize, pattern: &Pattern) -> PlannedTable {
    let mut reasons = Vec::new();
    // The tenant leads every key, so that no read can leave it.
    let mut partition = pattern.inputs.clone();
    partition.sort_by_key(|name| !is_tenant(name));
    partition.dedup();
    let tenant = entity.fields.keys().find(|name| is_tenant(name));
    if let Some(tenant) = tenant.filter(|tenant| !partition.contains(tenant)) {
        partition.insert(0, tenant.clone());
        reasons.push(format!("{tenant} leads the key although the pattern does not name it"));
    }
    reasons.push(format!(
        "{} knows {}, so that is the partition key: one read, one partition",
        pattern.operation,
        partition.join(", ")
    ));
    let clustering = clustering(entity, pattern, &partition, &mut reasons);
    let bucket =
        if clustering.is_empty() { Bucket::None } else { bucket(entity, pattern, &clustering, &mut reasons) };
    if let Some(filter) = &pattern.filter {
        reasons.push(format!(
            "only rows with {filter} are in it: the writer inserts and removes them as that changes"
        ));
    }
    let name = name(entity, pattern, &partition, bucket);
    let filter = pattern.filter.clone();
    PlannedTable {
        name,
        entity: entity_at,
        partition,
        clustering,
        bucket,
        serves: vec![number],
        filter,
        reasons,
    }
}

/// The order that is asked for, the range, and the entity's key as tie-breaker.
fn clustering(
    entity: &Entity,
    pattern: &Pattern,
    partition: &[String],
    reasons: &mut Vec<String>,
) -> Vec<(String, bool)> {
    let mut clustering = pattern.order_columns();
    if let Some(range) = pattern.range.as_ref().filter(|r| !clustering.iter().any(|(name, _)| name == *r)) {
        clustering.insert(0, (range.clone(), false));
    }
    clustering.retain(|(name, _)| !partition.contains(name));
    if !clustering.is_empty() {
        let order: Vec<String> = clustering
            .iter()
            .map(|(name, d)| format!("{name} {}", if *d { "DESC" } else { "ASC" }))
            .collect();
        reasons.push(format!("rows are stored as they are read: {}", order.join(", ")));
    }
    let missing: Vec<&String> = entity
        .key
        .iter()
        .filter(|column| !partition.contains(column) && !clustering.iter().any(|(name, _)| name == *column))
        .collect();
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
        reasons.push(format!("{} ends the key as tie-breaker: no two rows share it", names.join(", ")));
        clustering.extend(missing.into_iter().map(|name| (name.clone(), false)));
    }
    clustering
}

fn is_tenant(name: &str) -> bool {
    any_word(&words(name), &["tenant", "org", "organization", "organisation", "workspace"])
}

/// Estimated bytes of a row, from the types as written.
fn row_bytes(entity: &Entity, pattern: &Pattern) -> f64 {
    pattern.row_bytes.unwrap_or_else(|| {
        let cells = entity.fields.values().map(|data_type| {
            8.0 + match data_type.as_str() {
                "boolean" | "tinyint" => 1.0,
                "int" | "float" | "date" => 4.0,
                "uuid" | "timeuuid" => 16.0,
                "text" | "ascii" | "varchar" => 64.0,
                "blob" => 1_024.0,
                other if other.contains('<') => 400.0,
                _ => 8.0,
            }
        });
        16.0 + cells.sum::<f64>()
    })
}

fn bucket(
    entity: &Entity,
    pattern: &Pattern,
    clustering: &[(String, bool)],
    reasons: &mut Vec<String>,
) -> Bucket {
    let row = row_bytes(entity, pattern);
    let kept =
        pattern.retention.as_deref().and_then(crate::numbers::parse_days).unwrap_or(f64::INFINITY).max(1.0);
    let hot = pattern.write_rate.zip(pattern.hot_share).map(|(rate, share)| rate * share);
    if let Some(rate) = hot.filter(|rate| *rate > PARTITION_WRITES_MAX) {
        let buckets = buckets(rate / PARTITION_WRITES_MAX);
        let rate = units::count(rate);
        reasons.push(format!(
            "{rate} writes/s on the busiest key are spread over {buckets} hash buckets; a read merges them"
        ));
        return Bucket::Hash(buckets);
    }
    let Some(rows) = pattern.growth.or(pattern.rows_per_day.map(|rate| rate * kept)) else {
        reasons.push("growth is not declared: no bucket, and the review will ask for the number".into());
        return Bucket::None;
    };
    let bytes = rows * row;
    let size = if bytes.is_finite() {
        format!("{} rows x {} = {}", units::count(rows), units::bytes(row), units::bytes(bytes))
    } else {
        "growth without end".into()
    };
    if bytes <= PLANNED_BYTES_MAX {
        reasons.push(format!("{size} at most: no bucket needed"));
        return Bucket::None;
    }
    let is_time =
        |name: &str| entity.fields.get(name).is_some_and(|t| matches!(t.as_str(), "timestamp" | "timeuuid"));
    let by_time = clustering.first().is_some_and(|(name, _)| is_time(name));
    let per_day = pattern.rows_per_day.or((rows.is_finite() && kept.is_finite()).then(|| rows / kept));
    if let Some(per_day) = per_day.filter(|_| by_time) {
        let fits = |grain: &Grain| grain.days().is_some_and(|days| days * per_day * row <= PLANNED_BYTES_MAX);
        let grains = Grain::KNOWN.into_iter().rev().filter(|grain| *grain != Grain::Quarter);
        let grain = grains.into_iter().find(fits).unwrap_or(Grain::Minute);
        let day = units::bytes(per_day * row);
        reasons
            .push(format!("{size} is past 50 MB; {day} a day, so one {} makes one partition", grain.word()));
        return Bucket::Time(grain);
    }
    let buckets = buckets(bytes / PLANNED_BYTES_MAX);
    reasons.push(format!("{size} is past 50 MB, so {buckets} hash buckets hold it; a read merges them"));
    Bucket::Hash(buckets)
}

/// At least two, a power of two, so that the number can be doubled later without moving half of the rows twice.
fn buckets(wanted: f64) -> u32 {
    (wanted.ceil().clamp(2.0, BUCKETS_MAX) as u32).next_power_of_two()
}

fn name(entity: &Entity, pattern: &Pattern, partition: &[String], bucket: Bucket) -> String {
    let state = pattern.filter.as_deref().and_then(|filter| {
        let value = filter.split('\'').nth(1)?.to_lowercase();
        let value: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
        value.starts_with(|c: char| c.is_ascii_lowercase()).then(|| format!("{value}_"))
    });
    let others = || partition.iter().filter(|name| !is_tenant(name));
    let by = if others().next().is_none() {
        "tenant".to_string()
    } else if others().all(|column| entity.key.contains(column)) {
        "id".to_string()
    } else {
        others().map(|name| name.strip_suffix("_id").unwrap_or(name)).collect::<Vec<_>>().join("_and_")
    };
    let ending = match bucket {
        Bucket::None => String::new(),
        Bucket::Time(grain) => format!("_{}", grain.word()),
        Bucket::Hash(_) => "_bucket".into(),
    };
    format!("{}{}_by_{by}{ending}", state.unwrap_or_default(), plural(&entity.name))
}

fn plural(name: &str) -> String {
    let one = singular(name);
    match one.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if one.ends_with(['s', 'x']) => format!("{one}es"),
        _ => format!("{one}s"),
    }
}
