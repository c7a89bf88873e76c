//! OpenTelemetry as an option: a sample of requests as spans and all metrics, to a collector (`--otlp-endpoint`).
//!
//! OTLP over HTTP or HTTPS with protobuf bodies, to `/v1/traces` and `/v1/metrics`. Nothing waits for the collector: the queue of spans is bounded, and what does not fit or is
//! not taken is counted and dropped. Spans hold the statement without its values, never keys.
//!
//! [`Exemplars`] are there without a collector too: the last trace of each latency bucket, which `/metrics` shows in OpenMetrics form.

mod encode;
mod exemplars;
mod metrics;
mod send;

pub use exemplars::{Exemplar, Exemplars};
pub use send::Target;

use crate::shard::Shared;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// Spans that wait to be sent; each takes a few hundred bytes.
const QUEUE_MAX: usize = 4096;
/// Spans of one request to the collector.
const BATCH_MAX: usize = 512;
/// Between two looks at the queue, and how many of them pass between two reports of the metrics.
const PERIOD: Duration = Duration::from_secs(1);
const METRICS_PERIODS: u32 = 10;

/// What the server is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub target: Target,
    /// One request in so many becomes a span.
    pub sample_every: u64,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub name: String,
    pub start_nanos: u64,
    pub end_nanos: u64,
    pub attributes: Vec<(&'static str, String)>,
    pub failed: bool,
}

impl Span {
    /// A span that ends now.
    pub fn ended(name: &str, micros: u64, trace_id: Option<[u8; 16]>) -> Span {
        let end_nanos = now_nanos();
        Span {
            trace_id: trace_id.unwrap_or_else(fresh_id),
            name: name.into(),
            start_nanos: end_nanos.saturating_sub(micros * 1000),
            end_nanos,
            attributes: vec![("db.system.name", "partita".into())],
            failed: false,
        }
    }
}

pub fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Nobody has to be unable to guess it; it has to be another one each time.
fn fresh_id() -> [u8; 16] {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let half = |n: u64| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(n);
        hasher.finish().to_be_bytes()
    };
    let n = COUNT.fetch_add(1, Relaxed);
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(n));
    id[8..].copy_from_slice(&half(!n));
    id
}

/// Takes spans; a task sends them.
pub struct Export {
    settings: Settings,
    requests: AtomicU64,
    queue: mpsc::Sender<Span>,
    waiting: Mutex<Option<mpsc::Receiver<Span>>>,
    pub sent: AtomicU64,
    pub dropped: AtomicU64,
}

impl Export {
    pub fn to(settings: Settings) -> Export {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        Export {
            settings,
            requests: AtomicU64::new(0),
            queue,
            waiting: Mutex::new(Some(waiting)),
            sent: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Whether this request is one of the sample.
    pub fn is_due(&self) -> bool {
        self.requests.fetch_add(1, Relaxed).is_multiple_of(self.settings.sample_every)
    }

    pub fn send(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Sends what comes and how the server is, until it ends. Once only.
    pub async fn deliver(&self, shared: &Arc<Shared>) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut waiting) = waiting else { return };
        let start_nanos = now_nanos();
        let mut told = false;
        for beat in 1u32.. {
            tokio::time::sleep(PERIOD).await;
            let mut outcome = Ok(());
            while outcome.is_ok() && !waiting.is_empty() {
                let mut spans = Vec::new();
                waiting.recv_many(&mut spans, BATCH_MAX).await;
                let body = encode::spans(&spans);
                outcome = send::post(&self.settings.target, "/v1/traces", &body).await;
                let counter = if outcome.is_ok() { &self.sent } else { &self.dropped };
                counter.fetch_add(spans.len() as u64, Relaxed);
            }
            if outcome.is_ok() && beat.is_multiple_of(METRICS_PERIODS) {
                let shared = shared.clone();
                let body = rt::aside(move || {
                    metrics::encode(&crate::http::metrics_text(&shared), start_nanos, now_nanos())
                });
                outcome = send::post(&self.settings.target, "/v1/metrics", &body.await).await;
            }
            // Once, until it works again: a collector that is away is away for long.
            match &outcome {
                Err(error) if !told => {
                    tracing::warn!(to = %self.settings.target, error, "the collector of --otlp-endpoint does not take what is sent");
                }
                _ => {}
            }
            told = outcome.is_err();
        }
    }
}
