//! Metrics about the shape of the data and of the traffic: by table, by access pattern, and what is wrong.
//!
//! Anybody who reaches the listener may read them, so they name tables and patterns, never keys: those are in
//! `system_views.hot_partitions`, behind the login.

use super::pages::head;
use crate::shard::Shared;
use cql::system::{Evidence, Status, judge};
use database::shape::Verb;
use database::tenants::{OTHERS, Used};
use database::traffic::Seen;
use observe::{Snapshot, TableSize, Window};
use rt::{Clock, SystemClock};
use schema::{Catalogue, Table};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use store::Lag;

/// Tables and patterns that are shown, the busiest and largest first come: a scrape must stay small.
const SHOWN_MAX: usize = 1000;
/// Upper bounds of latencies, in microseconds.
const BOUNDS: [u64; 14] = [
    250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];

/// A label's value as the format wants it.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

pub fn render(out: &mut String, shared: &Shared) {
    let (_, catalogue) = shared.catalogue.load();
    let (traffic, sizes) = (shared.traffic.all(), shared.engine.table_sizes());
    table_sizes(out, &catalogue, &sizes);
    hot_keys(out, &catalogue, shared);
    latency_by_table(out, &traffic);
    let evidence = Evidence {
        catalogue: &catalogue,
        traffic: &traffic,
        sizes: &sizes,
        partition_bytes: shared.config.partition_bytes.unwrap_or(u64::MAX),
        usages: None,
        now_micros: SystemClock.micros(),
    };
    patterns(out, &evidence);
    projections(out, &catalogue, shared);
    throttled(out, shared);
    tenants(out, shared);
    findings(out, shared);
}

/// The labels of a table, view or index; `None` of what the server keeps for itself.
fn labels(catalogue: &Catalogue, id: u32) -> Option<String> {
    let of = |table: &Arc<Table>, name: &str| {
        (!table.keyspace.starts_with("system"))
            .then(|| format!("keyspace=\"{}\",table=\"{}\"", label(&table.keyspace), label(name)))
    };
    if let Some(table) = catalogue.table_by_id(id) {
        return of(table, &table.name);
    }
    catalogue.tables().find_map(|table| {
        let index = table.indexes.iter().find(|index| index.id == id)?;
        of(table, &index.name)
    })
}

fn table_sizes(out: &mut String, catalogue: &Catalogue, sizes: &BTreeMap<u32, TableSize>) {
    let shown: Vec<(String, &TableSize)> =
        sizes.iter().filter_map(|(id, size)| Some((labels(catalogue, *id)?, size))).take(SHOWN_MAX).collect();
    let name = "partita_partition_bytes";
    head(
        out,
        name,
        "gauge",
        "Bytes of the partitions of a table: the middle and the tail (upper bounds within a factor of two), the largest",
    );
    for (labels, size) in &shown {
        let of = size.partition_bytes;
        for (of, value) in [("p50", of.p50), ("p99", of.p99), ("max", of.max)] {
            let _ = writeln!(out, "{name}{{{labels},of=\"{of}\"}} {value}");
        }
    }
    type Pick = fn(&TableSize) -> u64;
    let gauges: [(&str, &str, Pick); 5] = [
        (
            "partita_table_partitions",
            "Partitions of a table; one that several files hold is counted in each",
            |s| s.partitions,
        ),
        ("partita_table_rows", "Rows of a table, counted likewise", |s| s.rows),
        ("partita_table_disk_bytes", "Bytes of the files of a table", |s| s.file_bytes),
        ("partita_table_files", "Files of a table: many wait for compaction", |s| s.files),
        (
            "partita_table_tombstones",
            "Entries of a table that delete something, and data that will expire",
            |s| s.tombstones,
        ),
    ];
    for (name, help, pick) in gauges {
        head(out, name, "gauge", help);
        for (labels, size) in &shown {
            let _ = writeln!(out, "{name}{{{labels}}} {}", pick(size));
        }
    }
}

fn hot_keys(out: &mut String, catalogue: &Catalogue, shared: &Shared) {
    let slot = shared.engine.hot_partitions(Window::Minute);
    let name = "partita_table_top_keys_share";
    head(out, name, "gauge", "Share of the last minute's operations on a table that its hottest keys take");
    for (id, load) in slot.tables.iter().take(SHOWN_MAX) {
        let Some(labels) = labels(catalogue, *id) else { continue };
        let mut keys: Vec<u64> =
            slot.keys.iter().filter(|key| key.table == *id).map(|key| key.load.operations()).collect();
        keys.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        for count in [1, 10, 100] {
            let top: u64 = keys.iter().take(count).sum();
            let share = top as f64 / load.operations().max(1) as f64;
            let _ = writeln!(out, "{name}{{{labels},top=\"{count}\"}} {share}");
        }
    }
}

fn histogram(out: &mut String, name: &str, labels: &str, parts: &[Snapshot]) {
    let (mut counts, mut all, mut sum) = ([0u64; BOUNDS.len()], 0, 0);
    for part in parts {
        let mut before = 0;
        for (bound, so_far) in part.buckets() {
            let here = so_far - before;
            before = so_far;
            BOUNDS
                .iter()
                .zip(&mut counts)
                .filter(|(le, _)| bound <= **le)
                .for_each(|(_, count)| *count += here);
        }
        all += part.count();
        sum += part.sum();
    }
    for (le, count) in BOUNDS.iter().zip(counts) {
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{}\"}} {count}", *le as f64 / 1e6);
    }
    let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {all}");
    let _ = writeln!(out, "{name}_sum{{{labels}}} {}", sum as f64 / 1e6);
    let _ = writeln!(out, "{name}_count{{{labels}}} {all}");
}

fn latency_by_table(out: &mut String, traffic: &[Seen]) {
    let mut by_table: BTreeMap<(String, &str), (Vec<Snapshot>, u64)> = BTreeMap::new();
    for seen in traffic {
        let Some(shape) = seen.shape.as_ref().filter(|shape| !shape.keyspace.starts_with("system")) else {
            continue;
        };
        let kind = if shape.verb == Verb::Select { "read" } else { "write" };
        let labels = format!("keyspace=\"{}\",table=\"{}\"", label(&shape.keyspace), label(&shape.table));
        let (micros, tombstones) = by_table.entry((labels, kind)).or_default();
        micros.extend(seen.micros.iter().cloned());
        *tombstones += seen.work.tombstones;
    }
    let name = "partita_table_request_seconds";
    head(out, name, "histogram", "Time of CQL statements on a table, reads and writes");
    for ((labels, kind), (micros, _)) in by_table.iter().take(SHOWN_MAX) {
        histogram(out, name, &format!("{labels},kind=\"{kind}\""), micros);
    }
    let name = "partita_table_tombstones_met_total";
    head(out, name, "counter", "Dead entries that CQL reads of a table met");
    for ((labels, kind), (_, tombstones)) in by_table.iter().take(SHOWN_MAX) {
        if *kind == "read" {
            let _ = writeln!(out, "{name}{{{labels}}} {tombstones}");
        }
    }
}

fn patterns(out: &mut String, evidence: &Evidence<'_>) {
    let judged = judge(evidence);
    let labels =
        |keyspace: &str, name: &str| format!("keyspace=\"{}\",pattern=\"{}\"", label(keyspace), label(name));
    let shown: Vec<_> = judged
        .iter()
        .take(SHOWN_MAX)
        .map(|pattern| (labels(&pattern.keyspace, &pattern.name), pattern))
        .collect();
    let name = "partita_pattern_request_seconds";
    head(out, name, "histogram", "Time of statements that are instances of a declared access pattern");
    for (labels, pattern) in &shown {
        histogram(out, name, labels, &pattern.micros);
    }
    let name = "partita_pattern_errors_total";
    head(out, name, "counter", "Statements of a pattern that were answered with an error");
    for (labels, pattern) in &shown {
        let _ = writeln!(out, "{name}{{{labels}}} {}", pattern.errors);
    }
    let name = "partita_pattern_breached";
    head(out, name, "gauge", "Whether a declared number of a pattern is exceeded");
    for (labels, pattern) in &shown {
        let _ = writeln!(out, "{name}{{{labels}}} {}", u8::from(pattern.status == Status::Breached));
    }
}

/// Copies in the commit of their rows are behind only while they are built; others say how far.
fn projections(out: &mut String, catalogue: &Catalogue, shared: &Shared) {
    let mut found: Vec<(String, u32, bool)> = Vec::new();
    let mut lags: Vec<Lag> = Vec::new();
    let tables = catalogue.tables().filter(|table| !table.keyspace.starts_with("system"));
    for table in tables.take(SHOWN_MAX) {
        let view = table.view.as_ref().map(|view| (&*table.name, table.id, view.built));
        let indexes = table.indexes.iter().map(|index| (&*index.name, index.id, index.built));
        for (projection, id, built) in view.into_iter().chain(indexes) {
            let (keyspace, projection) = (label(&table.keyspace), label(projection));
            found.push((format!("keyspace=\"{keyspace}\",projection=\"{projection}\""), id, built));
            let later = table.later().filter(|_| id == table.id);
            lags.push(later.and_then(|later| shared.engine.lag(later.pending)).unwrap_or_default());
        }
    }
    let checks: Vec<_> = found.iter().map(|(_, id, _)| shared.catalogue.jobs().last_check(*id)).collect();
    let drift = |at: usize| checks[at].map(|check| (check.missing + check.extra + check.stale) as f64);
    let checked = |at: usize| checks[at].map(|check| check.at_micros as f64 / 1e6);
    type Pick<'p> = &'p dyn Fn(usize) -> Option<f64>;
    let usages: Vec<_> = found.iter().map(|(_, id, _)| shared.catalogue.usages.of(*id)).collect();
    let series: [(&str, &str, Pick<'_>); 6] = [
        (
            "partita_projection_building",
            "Whether an index or view is being built; once it is, it is never behind its table",
            &|at| Some(f64::from(u8::from(!found[at].2))),
        ),
        (
            "partita_projection_lag_seconds",
            "How far a built index or view is behind its table: 0 if it is in the commit of its row",
            &|at| found[at].2.then_some(lags[at].millis as f64 / 1e3),
        ),
        (
            "partita_projection_rows_behind",
            "Rows and ranges that were written and are not in the projection yet",
            &|at| found[at].2.then_some(lags[at].rows as f64),
        ),
        (
            "partita_projection_drift_rows",
            "Rows that the last CHECK PROJECTION found missing, extra or stale",
            &drift,
        ),
        ("partita_projection_checked_timestamp_seconds", "When CHECK PROJECTION last looked", &checked),
        (
            "partita_projection_read_timestamp_seconds",
            "When an index, view or projection was last read",
            &|at| usages[at]?.last_read_micros.map(|micros| micros as f64 / 1e6),
        ),
    ];
    let counters: [(&str, &str, Pick<'_>); 3] = [
        (
            "partita_projection_reads_total",
            "Statements that read an index, view or projection, since it was met first",
            &|at| usages[at].map(|usage| usage.reads as f64),
        ),
        (
            "partita_projection_writes_total",
            "Partitions of an index, view or projection that commits wrote to",
            &|at| usages[at].map(|usage| usage.writes as f64),
        ),
        (
            "partita_projection_written_bytes_total",
            "Bytes that commits wrote to an index, view or projection",
            &|at| usages[at].map(|usage| usage.written_bytes as f64),
        ),
    ];
    let kinds =
        series.map(|series| ("gauge", series)).into_iter().chain(counters.map(|series| ("counter", series)));
    for (kind, (name, help, pick)) in kinds {
        head(out, name, kind, help);
        for (at, (labels, ..)) in found.iter().enumerate() {
            if let Some(value) = pick(at) {
                let _ = writeln!(out, "{name}{{{labels}}} {value}");
            }
        }
    }
}

pub(super) fn throttled(out: &mut String, shared: &Shared) {
    let name = "partita_throttled_requests_total";
    head(out, name, "counter", "Requests refused because something was full, by what was");
    let requests: u64 = shared.metrics.iter().map(|shard| shard.overloaded.get()).sum();
    let commits = shared.engine.metrics().commits_overloaded.get();
    let tenants = shared.catalogue.tenants.all().iter().map(|used| used.throttled).sum();
    for (reason, count) in [
        ("requests", requests),
        ("flushing", commits),
        ("memory", shared.memory.refused()),
        ("tenant", tenants),
    ] {
        let _ = writeln!(out, "{name}{{reason=\"{reason}\"}} {count}");
    }
}

/// Tenants by name: the first that came, so that a series stays the same; all others are one.
const TENANTS_MAX: usize = 100;

fn tenants(out: &mut String, shared: &Shared) {
    let mut all = shared.catalogue.tenants.all();
    all.sort_by_key(|used| used.number);
    let mut shown: Vec<Used> = all.drain(..all.len().min(TENANTS_MAX)).collect();
    if let Some(mut rest) = all.pop() {
        all.iter().for_each(|used| rest.add(used));
        shown.push(Used { keyspace: String::new(), tenant: OTHERS.into(), ..rest });
    }
    type Pick = fn(&Used) -> f64;
    let series: [(&str, &str, &str, Pick); 7] = [
        ("partita_tenant_requests_total", "counter", "Requests on rows of a tenant", |u| u.requests as f64),
        ("partita_tenant_throttled_total", "counter", "Of these, over a limit of the tenant", |u| {
            u.throttled as f64
        }),
        ("partita_tenant_rows_read_total", "counter", "Rows of a tenant that were read", |u| {
            u.rows_read as f64
        }),
        ("partita_tenant_bytes_read_total", "counter", "Bytes of a tenant that were read", |u| {
            u.bytes_read as f64
        }),
        ("partita_tenant_bytes_written_total", "counter", "Bytes that were written for a tenant", |u| {
            u.bytes_written as f64
        }),
        ("partita_tenant_shard_seconds_total", "counter", "Time on shards for a tenant", |u| {
            u.nanos as f64 / 1e9
        }),
        (
            "partita_tenant_stored_bytes",
            "gauge",
            "Bytes of a tenant's rows when they were last counted",
            |u| u.stored_bytes as f64,
        ),
    ];
    for (name, kind, help, pick) in series {
        head(out, name, kind, help);
        for used in &shown {
            let (keyspace, tenant) = (label(&used.keyspace), label(&used.tenant));
            let _ = writeln!(out, "{name}{{keyspace=\"{keyspace}\",tenant=\"{tenant}\"}} {}", pick(used));
        }
    }
}

fn findings(out: &mut String, shared: &Shared) {
    let name = "partita_findings";
    head(out, name, "gauge", "What is wrong now, by rule; system_views.findings says it in words");
    let mut by_rule: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for standing in shared.findings.now() {
        *by_rule.entry((standing.finding.rule, standing.finding.severity.name())).or_default() += 1;
    }
    for ((rule, severity), count) in by_rule {
        let _ = writeln!(out, "{name}{{rule=\"{rule}\",severity=\"{severity}\"}} {count}");
    }
}
