//! The derivation: a pattern's inputs become the partition key, its order the clustering key, its growth the bucket.

use super::bucket::{self, Bucket, Declared};
use super::input::{Entity, Pattern, Request};
use crate::catalogue::{Bucketing, HashBuckets, TimeBuckets, every};
use crate::entry::Target;
use crate::vocabulary::{any_word, singular, words};

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
    /// Whether the truth about its entity lives here.
    pub is_source: bool,
    /// Days that rows live, when every pattern says so.
    pub kept_days: Option<f64>,
    /// Why it is so, one sentence each.
    pub reasons: Vec<String>,
    /// The clause that makes the buckets, where the server does.
    pub bucketing: Option<Bucketing>,
}

/// One table per distinct key; patterns that the same key answers share it.
pub fn plan(mut request: Request, target: Target) -> Plan {
    add_lookups(&mut request);
    let mut tables: Vec<PlannedTable> = Vec::new();
    for (number, pattern) in request.patterns.iter().enumerate() {
        let Some(at) = request.entities.iter().position(|e| e.name == pattern.entity) else { continue };
        let Some(entity) = request.entities.get(at) else { continue };
        let table = table_for(entity, at, number, pattern);
        match tables.iter_mut().find(|known| serves_too(known, &table, pattern)) {
            Some(known) => {
                known.serves.push(number);
                known.reasons.push(format!("also serves {}: the same key answers it", pattern.operation));
            }
            None => tables.push(table),
        }
    }
    for table in &mut tables {
        finish(&request, table, target);
    }
    for entity in 0..request.entities.len() {
        let declared = request.entities.get(entity).is_some_and(|e| e.source_of_truth.is_some());
        let first = tables.iter_mut().find(|t| t.entity == entity && t.filter.is_none());
        if let Some(table) = first.filter(|_| !declared) {
            table.is_source = true;
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

/// An entity whose every table holds only some of its rows, and whose truth is nowhere else, gets a table by its key.
fn add_lookups(request: &mut Request) {
    for entity in &request.entities {
        let mut own = request.patterns.iter().filter(|p| p.entity == entity.name).peekable();
        let is_partial = own.peek().is_some() && own.all(|p| p.filter.is_some());
        if !is_partial || entity.source_of_truth.is_some() {
            continue;
        }
        let operation = format!("get_{}", entity.name);
        if request.patterns.iter().all(|p| p.operation != operation) {
            let (entity, inputs) = (entity.name.clone(), entity.key.clone());
            request.patterns.push(Pattern { operation, entity, inputs, ..Pattern::default() });
        }
    }
}

/// Whether a table that is planned already answers the pattern of another one.
fn serves_too(known: &PlannedTable, wanted: &PlannedTable, pattern: &Pattern) -> bool {
    if (known.entity, &known.filter, &known.partition) != (wanted.entity, &wanted.filter, &wanted.partition) {
        return false;
    }
    let asks_order = pattern.order.is_some() || pattern.range.is_some();
    let turned = known.clustering.len() == wanted.clustering.len()
        && known.clustering.iter().zip(&wanted.clustering).all(|(a, b)| a.0 == b.0);
    let same = known.clustering == wanted.clustering;
    // A tie-breaker has no order of its own, so a table turned round in its first column is the same table.
    let first_only = known.clustering.first().map(|c| c.1) != wanted.clustering.first().map(|c| c.1)
        && pattern.order_columns().len() <= 1;
    same || (turned && first_only)
        || (!asks_order && !known.clustering.is_empty() && !wanted.clustering.is_empty())
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
        reasons.push(format!(
            "{tenant} leads the key although the pattern does not name it: no read can leave its tenant"
        ));
    }
    if !partition.is_empty() {
        let known = partition.join(", ");
        reasons.push(format!(
            "{} knows {known}, so that is the partition key: one read, one partition",
            pattern.operation
        ));
    }
    let clustering = clustering(entity, pattern, &partition, &mut reasons);
    if let Some(filter) = &pattern.filter {
        reasons.push(format!(
            "only rows with {filter} are in it: the writer inserts and removes them as that changes"
        ));
    }
    PlannedTable {
        name: String::new(),
        entity: entity_at,
        partition,
        clustering,
        bucket: Bucket::default(),
        serves: vec![number],
        filter: pattern.filter.clone(),
        is_source: false,
        kept_days: None,
        reasons,
        bucketing: None,
    }
}

/// Buckets, retention and name, once all patterns of the table are known.
fn finish(request: &Request, table: &mut PlannedTable, target: Target) {
    let Some(entity) = request.entities.get(table.entity) else { return };
    let patterns = table.serves.iter().filter_map(|number| request.patterns.get(*number));
    let declared = Declared::of(entity, patterns.clone());
    let is_time =
        |name: &str| entity.fields.get(name).is_some_and(|t| matches!(t.as_str(), "timestamp" | "timeuuid"));
    let by_time = table.clustering.first().is_some_and(|(name, _)| is_time(name));
    if !table.clustering.is_empty() || table.partition.is_empty() {
        table.bucket = bucket::choose(&declared, by_time, table.partition.is_empty(), &mut table.reasons);
    }
    if patterns.clone().all(|p| p.retention.is_some()) && declared.kept_days.is_finite() {
        table.kept_days = Some(declared.kept_days);
    }
    if target == Target::Partita {
        table.bucketing = served(table);
    }
    if let Some(first) = patterns.clone().next() {
        // What the server does is no part of the name.
        let by_hand = if table.bucketing.is_some() { Bucket::default() } else { table.bucket };
        table.name = name(entity, first, &table.partition, by_hand);
    }
}

/// The buckets as a clause; none where there are none, or no key besides them.
fn served(table: &PlannedTable) -> Option<Bucketing> {
    let (first, last) = (table.clustering.first()?, table.clustering.last()?);
    let time = table.bucket.time.map(|grain| TimeBuckets {
        by: first.0.clone(),
        every: every(grain).into(),
        days: grain.days().unwrap_or(1.0),
        spill: None,
    });
    let hash = table.bucket.hash.map(|into| HashBuckets { by: last.0.clone(), into });
    let is_needed = time.is_some() || hash.is_some();
    (is_needed && !table.partition.is_empty()).then_some(Bucketing { time, hash, column: None })
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

pub(super) fn is_tenant(name: &str) -> bool {
    any_word(&words(name), &["tenant", "org", "organization", "organisation", "workspace"])
}

fn name(entity: &Entity, pattern: &Pattern, partition: &[String], bucket: Bucket) -> String {
    let state = pattern.filter.as_deref().and_then(|filter| {
        let value = filter.split('\'').nth(1)?.to_lowercase();
        let value: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
        value.starts_with(|c: char| c.is_ascii_lowercase()).then(|| format!("{value}_"))
    });
    let others = || partition.iter().filter(|name| !is_tenant(name));
    let by = if partition.is_empty() {
        String::new()
    } else if others().next().is_none() {
        "_by_tenant".to_string()
    } else if others().all(|column| entity.key.contains(column)) && others().count() == entity_keys(entity) {
        "_by_id".to_string()
    } else {
        let names: Vec<&str> = others().map(|name| name.strip_suffix("_id").unwrap_or(name)).collect();
        format!("_by_{}", names.join("_and_"))
    };
    let time = bucket.time.map_or(String::new(), |grain| format!("_{}", grain.word()));
    let hash = if bucket.hash.is_some() { "_bucket" } else { "" };
    format!("{}{}{by}{time}{hash}", state.unwrap_or_default(), plural(&entity.name))
}

/// Columns of the key that are not the tenant.
fn entity_keys(entity: &Entity) -> usize {
    entity.key.iter().filter(|name| !is_tenant(name)).count()
}

fn plural(name: &str) -> String {
    let one = singular(name);
    match one.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if one.ends_with(['s', 'x']) => format!("{one}es"),
        _ => format!("{one}s"),
    }
}
