//! Compares declared access patterns with traffic and stored data: each declared number beside the observed one.

use crate::declared::pattern_shape;
use crate::describe::pattern_text;
use cql_syntax::ast::Statement;
use database::shape::{Class, Shape, Verb};
use database::traffic::{Seen, quantile_millis};
use database::usage::Usages;
use design::numbers::{Numbers, parse_days};
use observe::{Snapshot, TableSize};
use schema::{AccessPattern, Catalogue};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Work;

/// This close to a declared number is near it.
const NEAR: f64 = 0.8;
/// Data goes a little after its time is over: when its file is merged.
const RETENTION_SLACK: f64 = 1.1;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// How a pattern stands, or one of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nobody has asked.
    Unseen,
    Within,
    Near,
    Breached,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Unseen => "unseen",
            Status::Within => "within",
            Status::Near => "near",
            Status::Breached => "breached",
        }
    }
}

/// A declared number beside what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub name: &'static str,
    pub unit: &'static str,
    pub declared: f64,
    /// `None`: nothing was seen yet.
    pub observed: Option<f64>,
    pub status: Status,
}

impl Number {
    /// For a person: `peak_rate 809.2 of 5000: within`.
    pub fn text(&self) -> String {
        match self.observed {
            None => format!("{} of {}: unseen", self.name, self.declared),
            Some(observed) => {
                format!("{} {} of {}: {}", self.name, rounded(observed), self.declared, self.status.word())
            }
        }
    }
}

fn rounded(value: f64) -> f64 {
    if value >= 100.0 { value.round() } else { (value * 100.0).round() / 100.0 }
}

/// A pattern with all that was seen of it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub keyspace: Arc<str>,
    pub name: Arc<str>,
    /// What it reads or writes; `None` while the schema does not serve it.
    pub table: Option<Arc<str>>,
    pub status: Status,
    pub numbers: Vec<Number>,
    pub calls: u64,
    pub errors: u64,
    pub throttled: u64,
    pub rows: u64,
    pub bytes: u64,
    pub rate: f64,
    pub peak: f64,
    pub p50_millis: f64,
    pub p99_millis: f64,
    /// What its reads did in the store.
    pub work: Work,
    /// `None` where it is not known: writes of several partitions.
    pub partitions: Option<u64>,
    pub micros: Vec<Snapshot>,
}

/// What patterns are held against.
pub struct Evidence<'e> {
    pub catalogue: &'e Catalogue,
    pub traffic: &'e [Seen],
    /// By the id of the table.
    pub sizes: &'e BTreeMap<u32, TableSize>,
    /// From how many bytes on a partition is too large where its table says nothing.
    pub partition_bytes: u64,
    /// What copies cost and who reads them; `None`: nobody counts.
    pub usages: Option<&'e Usages>,
    pub now_micros: i64,
}

/// The patterns of the catalogue, each with the traffic that is an instance of it, and of no pattern that is closer to it.
pub fn judge(evidence: &Evidence<'_>) -> Vec<Judged> {
    let mut patterns = Vec::new();
    let mut shapes = Vec::new();
    for keyspace in evidence.catalogue.keyspaces.values() {
        for pattern in keyspace.patterns.values() {
            patterns.push((&keyspace.name, pattern));
            shapes.push(pattern_shape(evidence.catalogue, &keyspace.name, pattern));
        }
    }
    let mut traffic: Vec<Vec<&Seen>> = vec![Vec::new(); patterns.len()];
    for seen in evidence.traffic {
        let closest = seen.shape.as_ref().and_then(|shape| closest(shape, &shapes));
        if let Some(instances) = closest.and_then(|at| traffic.get_mut(at)) {
            instances.push(seen);
        }
    }
    let all = patterns.iter().zip(shapes).zip(traffic);
    all.map(|(((keyspace, pattern), shape), traffic)| judged(evidence, (keyspace, pattern), shape, &traffic))
        .collect()
}

/// The pattern that says the most of what it is an instance of: `LIMIT 10` rather than `LIMIT 100`, `=` rather than `IN`.
fn closest(seen: &Shape, patterns: &[Option<Shape>]) -> Option<usize> {
    let mut best: Option<(usize, &Shape)> = None;
    for (at, pattern) in patterns.iter().enumerate() {
        let Some(pattern) = pattern.as_ref().filter(|pattern| seen.is_instance_of(pattern)) else { continue };
        let is_closer = |known: &Shape| pattern.is_instance_of(known) && !known.is_instance_of(pattern);
        if best.is_none_or(|(_, known)| is_closer(known)) {
            best = Some((at, pattern));
        }
    }
    best.map(|(at, _)| at)
}

fn judged(
    evidence: &Evidence<'_>,
    (keyspace, pattern): (&Arc<str>, &AccessPattern),
    shape: Option<Shape>,
    traffic: &[&Seen],
) -> Judged {
    let mut sum = Judged {
        keyspace: keyspace.clone(),
        name: pattern.name.clone(),
        table: shape.as_ref().map(|shape| shape.table.clone()),
        status: Status::Unseen,
        numbers: Vec::new(),
        calls: 0,
        errors: 0,
        throttled: 0,
        rows: 0,
        bytes: 0,
        rate: 0.0,
        peak: 0.0,
        p50_millis: 0.0,
        p99_millis: 0.0,
        work: Work::default(),
        partitions: Some(0),
        micros: Vec::new(),
    };
    for seen in traffic {
        sum.calls += seen.calls;
        sum.errors += seen.errors;
        sum.throttled += seen.refused;
        sum.rows += seen.rows;
        sum.bytes += seen.bytes;
        sum.rate += seen.rate;
        sum.peak += seen.peak;
        sum.work = sum.work.plus(&seen.work);
        let is_read = seen.shape.as_ref().is_some_and(|shape| shape.verb == Verb::Select);
        let partitions = match (is_read, seen.class) {
            (true, _) => Some(seen.work.partitions),
            (false, Class::Single) => Some(seen.calls),
            (false, _) => None,
        };
        sum.partitions = sum.partitions.zip(partitions).map(|(sum, one)| sum + one);
        sum.micros.extend(seen.micros.iter().cloned());
    }
    sum.p50_millis = quantile_millis(&sum.micros, 0.5);
    sum.p99_millis = quantile_millis(&sum.micros, 0.99);
    sum.numbers = numbers(evidence, &sum, shape.as_ref(), &declared(keyspace, pattern));
    if sum.calls > 0 {
        sum.status = Status::Within;
    }
    sum.status = sum.numbers.iter().map(|number| number.status).fold(sum.status, Status::max);
    sum
}

/// The numbers of a pattern, as the review reads them.
fn declared(keyspace: &str, pattern: &AccessPattern) -> Numbers {
    let parsed = cql_syntax::parse_statement(&pattern_text(keyspace, pattern));
    match parsed.map(|parsed| parsed.statement) {
        Ok(Statement::CreatePattern(create)) => Numbers::read(&create.properties),
        _ => Numbers::default(),
    }
}

fn numbers(evidence: &Evidence<'_>, sum: &Judged, shape: Option<&Shape>, declared: &Numbers) -> Vec<Number> {
    let table = shape.and_then(|shape| evidence.catalogue.table(&shape.keyspace, &shape.table));
    let size = table.and_then(|table| evidence.sizes.get(&table.id));
    let called = |value: f64| (sum.calls > 0).then_some(value);
    // Quantiles of stored partitions are upper bounds within a factor of two: what is certain is the half.
    let certain = |bound: u64| (bound as f64 / 2.0).ceil();
    let rows = size.map(|size| size.partition_rows);
    let row_bytes = match sum.rows {
        0 => size.filter(|size| size.rows > 0).map(|size| size.bytes as f64 / size.rows as f64),
        rows => Some(sum.bytes as f64 / rows as f64),
    };
    let oldest_days = size.and_then(|size| size.written_micros).map(|(oldest, _)| {
        (evidence.now_micros.saturating_sub(oldest)).max(0) as f64 / 1e6 / SECONDS_PER_DAY
    });
    let freshness = declared.freshness.as_deref().and_then(seconds);
    // Indexes and views change in the commit of the row: a reader never sees an older state than the row's.
    let lag_seconds = called(0.0);
    let plain = [
        ("peak_rate", "per second", declared.peak_rate, called(sum.peak)),
        ("p99_ms", "ms", declared.p99_ms, called(sum.p99_millis)),
        ("rows_per_partition_p50", "rows", declared.rows_p50, rows.map(|rows| certain(rows.p50))),
        ("rows_per_partition_p99", "rows", declared.rows_p99, rows.map(|rows| certain(rows.p99))),
        ("rows_per_partition", "rows", declared.rows_max, rows.map(|rows| rows.max as f64)),
        ("row_bytes", "bytes", declared.row_bytes, row_bytes),
        ("freshness", "seconds", freshness, lag_seconds),
    ];
    let mut found: Vec<Number> = Vec::new();
    for (name, unit, declared, observed) in plain {
        let Some(declared) = declared else { continue };
        let status = observed.map_or(Status::Unseen, |observed| status(observed, declared, NEAR, 1.0));
        found.push(Number { name, unit, declared, observed, status });
    }
    if let Some(declared) = declared.retention_days.filter(|days| days.is_finite()) {
        let of = |observed| status(observed, declared, 1.0, RETENTION_SLACK);
        let status = oldest_days.map_or(Status::Unseen, of);
        found.push(Number { name: "retention", unit: "days", declared, observed: oldest_days, status });
    }
    found
}

fn status(observed: f64, declared: f64, near: f64, breached: f64) -> Status {
    match observed {
        observed if observed > declared * breached => Status::Breached,
        observed if observed > declared * near => Status::Near,
        _ => Status::Within,
    }
}

/// A length of time as people write it for freshness: `'5s'`, `'2 minutes'`, `'500ms'`.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(millis) = text.strip_suffix("ms") {
        return millis.trim().parse::<f64>().ok().map(|millis| millis / 1000.0);
    }
    parse_days(text).filter(|days| days.is_finite()).map(|days| days * SECONDS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_within_near_or_breached() {
        for (observed, expected) in
            [(0.0, Status::Within), (80.0, Status::Within), (81.0, Status::Near), (101.0, Status::Breached)]
        {
            assert_eq!(status(observed, 100.0, NEAR, 1.0), expected, "{observed}");
        }
        for (text, expected) in
            [("500ms", Some(0.5)), ("5s", Some(5.0)), ("2 minutes", Some(120.0)), ("soon", None)]
        {
            let found = seconds(text);
            let same = |(a, b): (f64, f64)| (a - b).abs() < 1e-6;
            assert!(found.zip(expected).is_some_and(same) || found == expected, "{text}: {found:?}");
        }
    }

    /// Traffic counts for one pattern, the one that says the most of it, in whatever order they were declared.
    #[test]
    fn traffic_is_of_the_closest_pattern() {
        use database::shape::{How, Limit, Order};
        let shape = |how, limit| Shape {
            keyspace: "k".into(),
            table: "t".into(),
            verb: Verb::Select,
            restricted: vec![("a".to_string(), how)],
            order: Order::Stored,
            limit,
            conditional: false,
            grouped: false,
        };
        let mut patterns = vec![
            Some(shape(How::In, Limit::None)),
            None,
            Some(shape(How::Equal, Limit::Rows(10))),
            Some(shape(How::Equal, Limit::Rows(100))),
            Some(shape(How::Equal, Limit::None)),
        ];
        for _ in 0..2 {
            for (how, limit, expected) in [
                (How::Equal, Limit::Rows(1), (How::Equal, Limit::Rows(10))),
                (How::Equal, Limit::Rows(11), (How::Equal, Limit::Rows(100))),
                (How::Equal, Limit::None, (How::Equal, Limit::None)),
                (How::In, Limit::Rows(5), (How::In, Limit::None)),
            ] {
                let at = closest(&shape(how, limit), &patterns).unwrap();
                let found = patterns[at].as_ref().unwrap();
                assert_eq!((found.restricted[0].1, found.limit), expected, "{how:?} {limit:?}");
            }
            assert_eq!(closest(&shape(How::Range, Limit::None), &patterns), None);
            patterns.reverse();
        }
    }
}
