//! What the pages say: `/health` and `/metrics`.

use crate::metrics::{BUCKETS, Counter, ERROR_CLASSES, Operation, ShardMetrics, bucket_bound_micros};
use crate::otlp::Exemplars;
use crate::shard::Shared;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use observe::Reading;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub fn router(shared: Arc<Shared>) -> Router {
    let (health, brief) = (shared.clone(), shared.clone());
    let server = get(move || async move {
        let text = render_server(&brief);
        ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
    });
    Router::new()
        .route("/metrics/server", server)
        .route("/health", get(move || async move { health_answer(&health) }))
        .route(
            "/metrics",
            get(move |headers: HeaderMap| async move { metrics_answer(&shared, &headers).await }),
        )
}

fn health_answer(shared: &Shared) -> impl IntoResponse + use<> {
    match shared.engine.read_only() {
        None => (axum::http::StatusCode::OK, "ok\n".to_string()),
        // The reason names files, and anybody may ask; the log has it.
        Some(_) => {
            let text = "read-only: the commit log failed; the server's log says why\n";
            (axum::http::StatusCode::SERVICE_UNAVAILABLE, text.to_string())
        }
    }
}

/// The OpenMetrics form for who asks for it, else the older one of Prometheus.
async fn metrics_answer(shared: &Arc<Shared>, headers: &HeaderMap) -> Response {
    let asked = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_open = asked.contains("application/openmetrics-text");
    let (shared, exemplars) = (shared.clone(), shared.clone());
    let exemplars = &exemplars.exemplars;
    // Patterns are bound and tables added up: other pages are answered meanwhile.
    let text = match tokio::task::spawn_blocking(move || render(&shared)).await {
        Ok(text) => text,
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    match is_open {
        true => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], open_metrics(&text, exemplars)).into_response()
        }
        false => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
    }
}

/// In OpenMetrics a counter's name has no `_total`, only its samples have, and the text has an end.
fn open_metrics(text: &str, exemplars: &Exemplars) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_counter = line.starts_with("# TYPE ") && line.ends_with(" counter")
            || line.starts_with("# HELP ") && lines.peek().is_some_and(|next| next.ends_with(" counter"));
        match is_counter {
            true => out.push_str(&line.replacen("_total ", " ", 1)),
            false => out.push_str(line),
        }
        if let Some(exemplar) = exemplar(line, exemplars) {
            out.push_str(&exemplar);
        }
        out.push('\n');
    }
    out.push_str("# EOF\n");
    out
}

/// The trace that belongs to a bucket of request times.
fn exemplar(line: &str, exemplars: &Exemplars) -> Option<String> {
    let rest = line.strip_prefix("partita_request_seconds_bucket{operation=\"")?;
    let (name, rest) = rest.split_once("\",le=\"")?;
    let bound = rest.split_once('"')?.0;
    let (operation, _) = Operation::ALL.into_iter().find(|(_, label)| *label == name)?;
    let bucket = (0..BUCKETS).find(|index| format!("{}", bucket_bound_micros(*index) as f64 / 1e6) == bound);
    exemplars.of(operation, bucket.unwrap_or(BUCKETS)).map(|exemplar| exemplar.text())
}

/// The Prometheus text format.
pub fn render(shared: &Shared) -> String {
    let mut out = of_server(shared);
    super::shape::render(&mut out, shared);
    out
}

/// What is about the server as a whole, which stays small however many tables there are.
fn render_server(shared: &Shared) -> String {
    let mut out = of_server(shared);
    super::shape::throttled(&mut out, shared);
    out
}

fn of_server(shared: &Shared) -> String {
    let mut out = String::with_capacity(32 << 10);
    latencies(&mut out, shared);
    errors(&mut out, shared);
    shard_counters(&mut out, shared);
    let (statements, bytes) = shared.cql.registry.size();
    simple(&mut out, "partita_prepared_statements", "gauge", "Prepared statements known", statements as u64);
    simple(
        &mut out,
        "partita_prepared_statement_bytes",
        "gauge",
        "Bytes of prepared statements",
        bytes as u64,
    );
    let refused = shared.refused_connections.load(Ordering::Relaxed);
    simple(&mut out, "partita_connections_refused_total", "counter", "Connections over the limit", refused);
    let untraced = shared.cql.traces.refused();
    simple(
        &mut out,
        "partita_traces_refused_total",
        "counter",
        "Traces asked for beyond the budget",
        untraced,
    );
    let (audited, lost) = shared.audit.counts();
    simple(&mut out, "partita_audit_entries_total", "counter", "Entries of the audit log", audited);
    simple(&mut out, "partita_audit_lost_total", "counter", "Entries missing from the audit file", lost);
    if let Some(export) = &shared.otlp {
        let (sent, dropped) = (export.sent.load(Ordering::Relaxed), export.dropped.load(Ordering::Relaxed));
        simple(&mut out, "partita_otlp_spans_total", "counter", "Spans that the collector has taken", sent);
        simple(&mut out, "partita_otlp_dropped_total", "counter", "Spans that it has not", dropped);
    }
    held(&mut out, shared);
    memory(&mut out, shared);
    engine(&mut out, shared);
    let disk = shared.engine.table_sizes().values().map(|size| size.file_bytes).sum();
    simple(&mut out, "partita_disk_bytes", "gauge", "Bytes of the files of all tables", disk);
    out
}

pub(super) fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

fn simple(out: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    head(out, name, kind, help);
    let _ = writeln!(out, "{name} {value}");
}

fn latencies(out: &mut String, shared: &Shared) {
    let name = "partita_request_seconds";
    head(out, name, "histogram", "Time from a decoded request to its answer, by operation");
    for (operation, label) in Operation::ALL {
        let mut counts = [0u64; BUCKETS + 1];
        let mut sum = 0;
        for shard in &shared.metrics {
            let (shard_counts, shard_sum) = shard.latency[operation as usize].cumulative();
            counts.iter_mut().zip(shard_counts).for_each(|(c, s)| *c += s);
            sum += shard_sum;
        }
        for (index, count) in counts.iter().take(BUCKETS).enumerate() {
            let bound = bucket_bound_micros(index) as f64 / 1e6;
            let _ = writeln!(out, "{name}_bucket{{operation=\"{label}\",le=\"{bound}\"}} {count}");
        }
        let total = counts[BUCKETS];
        let _ = writeln!(out, "{name}_bucket{{operation=\"{label}\",le=\"+Inf\"}} {total}");
        let _ = writeln!(out, "{name}_sum{{operation=\"{label}\"}} {}", sum as f64 / 1e6);
        let _ = writeln!(out, "{name}_count{{operation=\"{label}\"}} {total}");
    }
}

/// Turns of shards that took long.
fn held(out: &mut String, shared: &Shared) {
    let name = "partita_shard_held_seconds";
    head(
        out,
        name,
        "histogram",
        "Turns of more than two milliseconds that held a shard's thread, as far as noticed",
    );
    let mut counts = [0u64; BUCKETS + 1];
    let mut sum = 0;
    for shard in &shared.metrics {
        let (shard_counts, shard_sum) = shard.held.cumulative();
        counts.iter_mut().zip(shard_counts).for_each(|(c, s)| *c += s);
        sum += shard_sum;
    }
    for (index, count) in counts.iter().take(BUCKETS).enumerate() {
        let bound = bucket_bound_micros(index) as f64 / 1e6;
        let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {count}");
    }
    let total = counts[BUCKETS];
    let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {total}");
    let _ = writeln!(out, "{name}_sum {}", sum as f64 / 1e6);
    let _ = writeln!(out, "{name}_count {total}");
}

fn errors(out: &mut String, shared: &Shared) {
    let name = "partita_errors_total";
    head(out, name, "counter", "Requests answered with an error, by protocol class");
    for (index, (_, label)) in ERROR_CLASSES.iter().enumerate() {
        let total: u64 = shared.metrics.iter().map(|m| m.errors[index].get()).sum();
        let _ = writeln!(out, "{name}{{class=\"{label}\"}} {total}");
    }
}

fn engine(out: &mut String, shared: &Shared) {
    for sample in shared.engine.metrics().samples() {
        let name = sample.name;
        head(out, name, sample.kind.word(), sample.help);
        match sample.reading {
            Reading::Number(value) => {
                let _ = writeln!(out, "{name} {value}");
            }
            Reading::Histogram(histogram) => {
                for (bound, count) in histogram.buckets() {
                    let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {count}");
                }
                let (count, sum) = (histogram.count(), histogram.sum());
                let _ = writeln!(
                    out,
                    "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}"
                );
            }
        }
    }
    let name = "partita_shard_queue_depth";
    head(out, name, "gauge", "Messages from other shards that wait");
    for shard in 0..shared.config.shards {
        let _ = writeln!(out, "{name}{{shard=\"{shard}\"}} {}", shared.engine.queue_depth(shard));
    }
}

/// What each budget holds and may hold.
fn memory(out: &mut String, shared: &Shared) {
    let limits = &shared.config.limits;
    let cache = shared.engine.cache_counts();
    let requests: u64 = shared.metrics.iter().map(|m| m.in_flight_bytes.get()).sum();
    let answers: usize = shared.cql.answers.iter().map(|a| a.bytes_taken()).sum();
    let work = &shared.memory;
    let budgets = [
        ("memtables", shared.engine.metrics().memtable_bytes.get(), limits.memtable_bytes_max),
        ("cache", cache.bytes, limits.cache_bytes_max),
        ("statements", shared.cql.registry.size().1 as u64, limits.statement_bytes_max),
        ("requests", requests, limits.in_flight_bytes_max.saturating_mul(shared.config.shards)),
        ("work", work.bytes_taken() as u64, work.bytes_max()),
        ("answers", answers as u64, limits.answer_bytes_max.saturating_mul(shared.config.shards)),
    ];
    head(out, "partita_memory_bytes", "gauge", "Bytes held, by budget");
    for (budget, bytes, _) in budgets {
        let _ = writeln!(out, "partita_memory_bytes{{budget=\"{budget}\"}} {bytes}");
    }
    head(out, "partita_memory_bytes_max", "gauge", "Bytes that may be held, by budget");
    for (budget, _, max) in budgets {
        let _ = writeln!(out, "partita_memory_bytes_max{{budget=\"{budget}\"}} {max}");
    }
    let help = "Requests refused because the memory for work was taken";
    simple(out, "partita_memory_refused_total", "counter", help, work.refused());
    if let Some(bytes) = resident_bytes() {
        let help = "Resident memory of the process";
        simple(out, "process_resident_memory_bytes", "gauge", help, bytes);
    }
    simple(out, "partita_cache_hits_total", "counter", "Blocks found in the cache", cache.hits);
    simple(out, "partita_cache_misses_total", "counter", "Blocks read from files", cache.misses);
}

/// `None` where there is no /proc.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

type Pick = fn(&ShardMetrics) -> &Counter;

fn shard_counters(out: &mut String, shared: &Shared) {
    let counters: [(&str, &str, &str, Pick); 7] = [
        ("partita_connections", "gauge", "Open client connections", |m| &m.connections),
        ("partita_connections_opened_total", "counter", "Client connections ever opened", |m| {
            &m.connections_total
        }),
        ("partita_requests_in_flight", "gauge", "Requests under way", |m| &m.in_flight),
        ("partita_request_bytes_in_flight", "gauge", "Bytes of requests under way", |m| &m.in_flight_bytes),
        ("partita_bytes_read_total", "counter", "Bytes read from clients", |m| &m.bytes_read),
        ("partita_bytes_written_total", "counter", "Bytes written to clients", |m| &m.bytes_written),
        ("partita_requests_overloaded_total", "counter", "Requests refused for load", |m| &m.overloaded),
    ];
    for (name, kind, help, pick) in counters {
        head(out, name, kind, help);
        for (index, shard) in shared.metrics.iter().enumerate() {
            let _ = writeln!(out, "{name}{{shard=\"{index}\"}} {}", pick(shard).get());
        }
    }
}
