//! Declared access patterns beside what is really asked, as tables: how each pattern stands, number by number, and the statements
//! that nobody has declared.

use super::cells::*;
use super::judge::{Evidence, Judged, judge};
use super::node::Live;
use super::rows::Filler;
use crate::ddl::bind_fault;
use crate::declared::{declaration, name_for, pattern_shape};
use crate::describe::pattern_text;
use database::shape::Shape;
use database::traffic::Seen;
use rt::{Clock, SystemClock};
use schema::Catalogue;
use std::collections::HashSet;
use std::sync::Arc;

/// Every pattern as it stands now.
fn standing(catalogue: &Catalogue, live: &dyn Live) -> Vec<Judged> {
    let (traffic, sizes) = (live.traffic(), live.table_sizes());
    judge(&Evidence {
        catalogue,
        traffic: &traffic,
        sizes: &sizes,
        partition_bytes: live.partition_bytes(),
        usages: None,
        now_micros: SystemClock.micros(),
    })
}

struct Nobody;

impl Live for Nobody {
    fn clients(&self) -> Vec<super::ClientInfo> {
        Vec::new()
    }

    fn prepared(&self) -> Vec<super::PreparedInfo> {
        Vec::new()
    }
}

/// The declared patterns and how they stand; `problem` says why the schema does not serve one, and is null where it does.
pub(super) fn access_patterns(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let live = live.unwrap_or_else(|| Arc::new(Nobody));
    for judged in standing(catalogue, &*live) {
        let keyspace = catalogue.keyspace(&judged.keyspace);
        let Some(pattern) = keyspace.and_then(|keyspace| keyspace.patterns.get(&*judged.name)) else {
            continue;
        };
        let problem = bind_fault(catalogue, &judged.keyspace, &pattern.statement);
        let since = live.breached_since(&judged.keyspace, &judged.name, None);
        let texts: Vec<String> = judged.numbers.iter().map(|number| number.text()).collect();
        let observed = |name: &str| {
            let number = judged.numbers.iter().find(|number| number.name == name);
            number.and_then(|number| number.observed).and_then(double)
        };
        let each = |count: u64| double(per_call(count, judged.calls));
        let row_bytes = (judged.rows > 0).then(|| judged.bytes as f64 / judged.rows as f64);
        filler.row(&[
            ("keyspace_name", text(&judged.keyspace)),
            ("pattern_name", text(&judged.name)),
            ("breached_since", since.and_then(timestamp)),
            ("bytes_per_call", each(judged.bytes)),
            ("cache_misses_per_call", each(judged.work.blocks_read)),
            ("calls", bigint(judged.calls as i64)),
            ("create_statement", text(pattern_text(&judged.keyspace, pattern))),
            ("detail", (!texts.is_empty()).then(|| texts.join("; ")).and_then(text)),
            ("errors", bigint(judged.errors as i64)),
            ("freshness_s_observed", observed("freshness")),
            ("p50_ms_observed", double(judged.p50_millis)),
            ("p99_ms_observed", double(judged.p99_millis)),
            ("partitions_per_call", judged.partitions.and_then(each)),
            ("peak_rate_observed", double(judged.peak)),
            ("problem", problem.and_then(|fault| text(fault.to_string()))),
            ("rate", double(judged.rate)),
            ("retention_days_observed", observed("retention")),
            ("row_bytes_observed", row_bytes.and_then(double)),
            ("rows_examined_per_call", each(judged.work.rows)),
            ("rows_per_call", each(judged.rows)),
            ("rows_per_partition_observed", observed("rows_per_partition")),
            ("settings", text_map(&pattern.settings)),
            ("statement", text(&pattern.statement)),
            ("status", text(judged.status.word())),
            ("table_name", judged.table.as_ref().and_then(text)),
            ("throttled", bigint(judged.throttled as i64)),
            ("tombstones_per_call", each(judged.work.tombstones)),
        ]);
    }
}

/// Each declared number beside what was seen.
pub(super) fn pattern_numbers(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let live = live.unwrap_or_else(|| Arc::new(Nobody));
    for judged in standing(catalogue, &*live) {
        for number in &judged.numbers {
            let since = live.breached_since(&judged.keyspace, &judged.name, Some(number.name));
            filler.row(&[
                ("keyspace_name", text(&judged.keyspace)),
                ("pattern_name", text(&judged.name)),
                ("number", text(number.name)),
                ("breached_since", since.and_then(timestamp)),
                ("declared", double(number.declared)),
                ("observed", number.observed.and_then(double)),
                ("status", text(number.status.word())),
                ("unit", text(number.unit)),
            ]);
        }
    }
}

/// Statements of clients that are an instance of no pattern.
pub(super) fn strangers(catalogue: &Catalogue, traffic: Vec<Seen>) -> Vec<Seen> {
    let mut patterns: Vec<Shape> = Vec::new();
    for keyspace in catalogue.keyspaces.values() {
        let shapes = keyspace.patterns.values().filter_map(|p| pattern_shape(catalogue, &keyspace.name, p));
        patterns.extend(shapes);
    }
    let is_stranger = |seen: &Seen| {
        let Some(shape) = &seen.shape else { return true };
        let of_system = shape.keyspace.starts_with("system")
            || catalogue
                .table(&shape.keyspace, &shape.table)
                .is_some_and(|table| table.kind != schema::TableKind::Stored);
        !of_system && !patterns.iter().any(|pattern| shape.is_instance_of(pattern))
    };
    traffic.into_iter().filter(is_stranger).collect()
}

/// Where statements stand that are counted together, because there are too many to tell apart. A key cannot be empty.
const OTHERS: &str = "(others)";

/// Statements that are an instance of no pattern, with the one that would declare them.
pub(super) fn unmatched(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let mut names = Names::default();
    for keyspace in catalogue.keyspaces.values() {
        let taken = keyspace.patterns.keys().map(|name| (keyspace.name.to_string(), name.to_string()));
        names.0.extend(taken);
    }
    let traffic = live.map(|live| live.traffic()).unwrap_or_default();
    for seen in strangers(catalogue, traffic) {
        let shape = seen.shape.as_ref();
        let (keyspace, table) = shape.map_or((OTHERS, OTHERS), |shape| (&*shape.keyspace, &*shape.table));
        filler.row(&[
            ("keyspace_name", text(keyspace)),
            ("table_name", text(table)),
            ("statement", text(&seen.statement)),
            ("bytes_per_call", double(per_call(seen.bytes, seen.calls))),
            ("calls", bigint(seen.calls as i64)),
            ("class", text(seen.class.bound())),
            ("declare", shape.and_then(|shape| text(declared_as(shape, &seen, &mut names)))),
            ("errors", bigint(seen.errors as i64)),
            ("example", text(&seen.example)),
            ("p99_ms", double(seen.p99_millis())),
            ("partitions_per_call", double(per_call(seen.work.partitions, seen.calls))),
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
fn declared_as(shape: &Shape, seen: &Seen, names: &mut Names) -> String {
    let name = names.free(&shape.keyspace, name_for(shape));
    let (rate, p99) = (seen.peak.max(1.0).ceil(), seen.p99_millis().max(1.0).ceil());
    let mut numbers = format!(" WITH peak_rate = {rate} AND p99_ms = {p99}");
    if let Some(row_bytes) = seen.bytes.checked_div(seen.rows) {
        numbers += &format!(" AND row_bytes = {}", row_bytes.max(1));
    }
    declaration(shape, &name, &seen.statement, &numbers)
}
