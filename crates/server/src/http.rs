//! `/health` and `/metrics`.

use crate::metrics::{BUCKETS, Counter, ERROR_CLASSES, Operation, ShardMetrics, bucket_bound_micros};
use crate::shard::Shared;
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Serves until `stopping` is done.
pub fn serve(
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router(shared)).with_graceful_shutdown(stopping).await
        })
    });
    if let Err(error) = served {
        tracing::error!(%error, "the http listener failed");
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let health = shared.clone();
    Router::new()
        .route("/health", get(move || async move { health_answer(&health) }))
        .route("/metrics", get(move || async move { metrics_answer(&shared) }))
}

fn health_answer(shared: &Shared) -> impl IntoResponse + use<> {
    match shared.engine.read_only() {
        None => (axum::http::StatusCode::OK, "ok\n".to_string()),
        Some(reason) => (axum::http::StatusCode::SERVICE_UNAVAILABLE, format!("read-only: {reason}\n")),
    }
}

fn metrics_answer(shared: &Shared) -> impl IntoResponse + use<> {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], render(shared))
}

/// The Prometheus text format.
pub fn render(shared: &Shared) -> String {
    let mut out = String::with_capacity(32 << 10);
    latencies(&mut out, shared);
    errors(&mut out, shared);
    shard_counters(&mut out, shared);
    let (statements, bytes) = shared.registry.size();
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
    memory(&mut out, shared);
    engine(&mut out, shared);
    out
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
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

fn errors(out: &mut String, shared: &Shared) {
    let name = "partita_errors_total";
    head(out, name, "counter", "Requests answered with an error, by protocol class");
    for (index, (_, label)) in ERROR_CLASSES.iter().enumerate() {
        let total: u64 = shared.metrics.iter().map(|m| m.errors[index].get()).sum();
        let _ = writeln!(out, "{name}{{class=\"{label}\"}} {total}");
    }
}

fn engine(out: &mut String, shared: &Shared) {
    let m = shared.engine.metrics();
    let values: [(&str, &str, u64); 20] = [
        (
            "partita_requests_local_shard_total",
            "Requests that came in on the shard that owns them",
            m.requests_local.get(),
        ),
        ("partita_requests_remote_shard_total", "Requests sent on to another shard", m.requests_remote.get()),
        ("partita_log_records_total", "Records in the commit log", m.log_records.get()),
        ("partita_log_bytes_total", "Bytes written to the commit log", m.log_bytes.get()),
        ("partita_log_groups_total", "Groups of records written together", m.log_groups.get()),
        ("partita_log_syncs_total", "fsyncs of the commit log", m.log_syncs.get()),
        ("partita_log_segments_created_total", "Log segments created", m.log_segments_created.get()),
        (
            "partita_log_segments_retired_total",
            "Log segments recycled or deleted",
            m.log_segments_retired.get(),
        ),
        ("partita_flushes_total", "Memtables flushed", m.flushes.get()),
        ("partita_flush_bytes_total", "Bytes written by flushes", m.flush_bytes.get()),
        ("partita_compactions_total", "Compactions finished", m.compactions.get()),
        ("partita_compaction_read_bytes_total", "Bytes read by compactions", m.compaction_bytes_read.get()),
        (
            "partita_compaction_written_bytes_total",
            "Bytes written by compactions",
            m.compaction_bytes_written.get(),
        ),
        (
            "partita_background_failures_total",
            "Flushes and compactions that failed and are tried again",
            m.background_failures.get(),
        ),
        ("partita_memtable_bytes", "Bytes in memtables", m.memtable_bytes.get()),
        ("partita_background_jobs", "Flushes and compactions waiting or running", m.jobs_waiting.get()),
        ("partita_commits_total", "Commits", m.commits.get()),
        ("partita_conditional_commits_total", "Conditional commits", m.conditional_commits.get()),
        (
            "partita_commits_overloaded_total",
            "Commits refused because flushing cannot keep up",
            m.commits_overloaded.get(),
        ),
        ("partita_reads_total", "Reads", m.reads.get()),
    ];
    for (name, help, value) in values {
        simple(out, name, if name.ends_with("_total") { "counter" } else { "gauge" }, help, value);
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
    let answers: usize = shared.answers.iter().map(|a| a.bytes_taken()).sum();
    let budgets = [
        ("memtables", shared.engine.metrics().memtable_bytes.get(), limits.memtable_bytes_max),
        ("cache", cache.bytes, limits.cache_bytes_max),
        ("statements", shared.registry.size().1 as u64, limits.statement_bytes_max),
        ("requests", requests, limits.in_flight_bytes_max.saturating_mul(shared.config.shards)),
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
        ("partita_connections_total", "counter", "Client connections ever opened", |m| &m.connections_total),
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
