//! Declared access patterns beside what is really asked: which statements are instances of which pattern, whether the
//! declared numbers hold, and which statements nobody has declared.

use super::cells::*;
use super::node::Live;
use super::rows::Filler;
use crate::bind::Scope;
use crate::ddl::bind_fault;
use crate::describe::pattern_text;
use crate::prepared::Prepared;
use database::shape::{Shape, Verb};
use database::traffic::{Seen, quantile_millis};
use model::types::quote_identifier;
use observe::Snapshot;
use schema::{AccessPattern, Catalogue};
use std::collections::HashSet;
use std::sync::Arc;

/// This close to a declared number is near it.
const NEAR: f64 = 0.8;

/// How a pattern stands.
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

/// A pattern with all that was seen of it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub keyspace: Arc<str>,
    pub name: Arc<str>,
    pub status: Status,
    /// Each declared number beside the one that was seen.
    pub detail: Vec<String>,
    pub calls: u64,
    pub errors: u64,
    pub throttled: u64,
    pub rows: u64,
    pub bytes: u64,
    pub rate: f64,
    pub peak: f64,
    pub p99_millis: f64,
}

/// The shape that a pattern declares; `None` while the schema does not serve it.
fn shape_of(catalogue: &Catalogue, keyspace: &str, pattern: &AccessPattern) -> Option<Shape> {
    let scope = Scope { catalogue, keyspace: Some(keyspace) };
    let prepared = Prepared::new(scope, &pattern.statement, 0).ok()?;
    prepared.shapes.into_iter().next().map(|shaped| shaped.shape)
}

/// The patterns of the catalogue, each with the traffic that is an instance of it.
pub fn judge(catalogue: &Catalogue, traffic: &[Seen]) -> Vec<Judged> {
    let mut found = Vec::new();
    for keyspace in catalogue.keyspaces.values() {
        for pattern in keyspace.patterns.values() {
            let shape = shape_of(catalogue, &keyspace.name, pattern);
            let is_instance = |seen: &&Seen| {
                seen.shape
                    .as_ref()
                    .zip(shape.as_ref())
                    .is_some_and(|(seen, shape)| seen.is_instance_of(shape))
            };
            found.push(judged(&keyspace.name, pattern, traffic.iter().filter(is_instance)));
        }
    }
    found
}

fn judged<'s>(
    keyspace: &Arc<str>,
    pattern: &AccessPattern,
    traffic: impl Iterator<Item = &'s Seen>,
) -> Judged {
    let mut sum = Judged {
        keyspace: keyspace.clone(),
        name: pattern.name.clone(),
        status: Status::Unseen,
        detail: Vec::new(),
        calls: 0,
        errors: 0,
        throttled: 0,
        rows: 0,
        bytes: 0,
        rate: 0.0,
        peak: 0.0,
        p99_millis: 0.0,
    };
    let mut micros: Vec<Snapshot> = Vec::new();
    for seen in traffic {
        sum.calls += seen.calls;
        sum.errors += seen.errors;
        sum.throttled += seen.refused;
        sum.rows += seen.rows;
        sum.bytes += seen.bytes;
        sum.rate += seen.rate;
        sum.peak += seen.peak;
        micros.extend(seen.micros.iter().cloned());
    }
    if sum.calls == 0 {
        return sum;
    }
    sum.p99_millis = quantile_millis(&micros, 0.99);
    sum.status = Status::Within;
    let observed =
        [("peak_rate", Some(sum.peak)), ("p99_ms", Some(sum.p99_millis)), ("row_bytes", sum.row_bytes())];
    for (name, observed) in observed {
        let declared = pattern.settings.get(name).and_then(|declared| declared.parse::<f64>().ok());
        let (Some(declared), Some(observed)) = (declared, observed) else { continue };
        let status = match observed {
            observed if observed > declared => Status::Breached,
            observed if observed > declared * NEAR => Status::Near,
            _ => Status::Within,
        };
        sum.status = sum.status.max(status);
        sum.detail.push(format!("{name} {observed:.1} of {declared}: {}", status.word()));
    }
    sum
}

impl Judged {
    fn row_bytes(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.bytes as f64 / self.rows as f64)
    }
}

/// The declared patterns and how they stand; `problem` says why the schema does not serve one, and is null where it does.
pub(super) fn access_patterns(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let traffic = live.as_ref().map(|live| live.traffic()).unwrap_or_default();
    for judged in judge(catalogue, &traffic) {
        let keyspace = catalogue.keyspace(&judged.keyspace);
        let Some(pattern) = keyspace.and_then(|keyspace| keyspace.patterns.get(&*judged.name)) else {
            continue;
        };
        let problem = bind_fault(catalogue, &judged.keyspace, &pattern.statement);
        let since = live.as_ref().and_then(|live| live.breached_since(&judged.keyspace, &judged.name));
        let detail = (!judged.detail.is_empty()).then(|| judged.detail.join("; "));
        filler.row(&[
            ("keyspace_name", text(&judged.keyspace)),
            ("pattern_name", text(&judged.name)),
            ("breached_since", since.and_then(timestamp)),
            ("calls", bigint(judged.calls as i64)),
            ("create_statement", text(pattern_text(&judged.keyspace, pattern))),
            ("detail", detail.and_then(text)),
            ("errors", bigint(judged.errors as i64)),
            ("p99_ms_observed", double(judged.p99_millis)),
            ("peak_rate_observed", double(judged.peak)),
            ("problem", problem.and_then(|fault| text(fault.to_string()))),
            ("rate", double(judged.rate)),
            ("row_bytes_observed", judged.row_bytes().and_then(double)),
            ("rows_per_call", double(per_call(judged.rows, judged.calls))),
            ("settings", text_map(&pattern.settings)),
            ("statement", text(&pattern.statement)),
            ("status", text(judged.status.word())),
            ("throttled", bigint(judged.throttled as i64)),
        ]);
    }
}

/// Statements that are an instance of no pattern, with the one that would declare them.
pub(super) fn unmatched(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let mut patterns: Vec<Shape> = Vec::new();
    let mut names = Names::default();
    for keyspace in catalogue.keyspaces.values() {
        let taken = keyspace.patterns.keys().map(|name| (keyspace.name.to_string(), name.to_string()));
        names.0.extend(taken);
        patterns.extend(keyspace.patterns.values().filter_map(|p| shape_of(catalogue, &keyspace.name, p)));
    }
    for seen in live.map(|live| live.traffic()).unwrap_or_default() {
        let shape = seen.shape.as_ref();
        let (keyspace, table) = shape.map_or(("", ""), |shape| (&*shape.keyspace, &*shape.table));
        let of_system =
            catalogue.table(keyspace, table).is_some_and(|table| table.kind != schema::TableKind::Stored);
        let matched = shape.is_some_and(|shape| patterns.iter().any(|pattern| shape.is_instance_of(pattern)));
        if matched || of_system || keyspace.starts_with("system") {
            continue;
        }
        filler.row(&[
            ("keyspace_name", text(keyspace)),
            ("table_name", text(table)),
            ("statement", text(&seen.statement)),
            ("calls", bigint(seen.calls as i64)),
            ("class", text(seen.class.word())),
            ("declare", shape.and_then(|shape| text(declaration(shape, &seen, &mut names)))),
            ("errors", bigint(seen.errors as i64)),
            ("p99_ms", double(seen.p99_millis())),
            ("peak_rate", double(seen.peak)),
            ("rate", double(seen.rate)),
            ("rows_per_call", double(per_call(seen.rows, seen.calls))),
        ]);
    }
}

fn per_call(count: u64, calls: u64) -> f64 {
    count as f64 / calls.max(1) as f64
}

/// Names of patterns that are taken, by keyspace.
#[derive(Default)]
struct Names(HashSet<(String, String)>);

impl Names {
    /// This name, or with a number if it is taken.
    fn free(&mut self, keyspace: &str, name: String) -> String {
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|name| self.0.insert((keyspace.to_string(), name.clone())));
        free.unwrap_or(name)
    }
}

/// The statement that declares a pattern of this shape, with the numbers that were seen.
fn declaration(shape: &Shape, seen: &Seen, names: &mut Names) -> String {
    let verb = match shape.verb {
        Verb::Select => "read",
        Verb::Insert => "insert",
        Verb::Update => "update",
        Verb::Delete => "delete",
    };
    let mut name = format!("{verb}_{}", shape.table);
    for (at, (column, _)) in shape.restricted.iter().enumerate() {
        name += if at == 0 { "_by_" } else { "_" };
        name.extend(column.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_'));
    }
    name.truncate(48);
    let rate = seen.peak.max(1.0).ceil();
    let name = names.free(&shape.keyspace, name);
    let (keyspace, name) = (quote_identifier(&shape.keyspace), quote_identifier(&name));
    let p99 = seen.p99_millis().max(1.0).ceil();
    format!(
        "CREATE ACCESS PATTERN {keyspace}.{name} AS {} WITH peak_rate = {rate} AND p99_ms = {p99};",
        seen.statement
    )
}
