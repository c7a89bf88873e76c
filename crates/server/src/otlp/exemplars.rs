//! The last trace of each latency bucket: the way from a histogram to a request that was that slow.

use crate::metrics::{BUCKETS, Operation, bucket_bound_micros};
use std::sync::{Mutex, PoisonError};

/// A request that was traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemplar {
    pub trace_id: [u8; 16],
    pub micros: u64,
    pub at_millis: u64,
}

/// See the module. By operation and bucket; the last bucket has no bound.
#[derive(Default)]
pub struct Exemplars(Mutex<[[Option<Exemplar>; BUCKETS + 1]; Operation::ALL.len()]>);

impl Exemplars {
    pub fn note(&self, operation: Operation, exemplar: Exemplar) {
        let bucket =
            (0..BUCKETS).find(|bucket| exemplar.micros <= bucket_bound_micros(*bucket)).unwrap_or(BUCKETS);
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[operation as usize][bucket] = Some(exemplar);
    }

    pub fn of(&self, operation: Operation, bucket: usize) -> Option<Exemplar> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept[operation as usize].get(bucket).copied().flatten()
    }
}

impl Exemplar {
    /// As OpenMetrics writes it behind a sample.
    pub fn text(&self) -> String {
        let id: String = self.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (seconds, at) = (self.micros as f64 / 1e6, self.at_millis as f64 / 1e3);
        format!(" # {{trace_id=\"{id}\"}} {seconds} {at}")
    }
}
