//! What traces may cost: anybody who may connect may ask for them, and they are rows on disk.
//!
//! A budget of bytes that fills again slowly, for all clients together. Texts are cut before they are stored.
//! A request that finds the budget empty is served without a trace; the client sees that by the missing id.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Of a statement, or of all of a batch.
pub const TEXT_BYTES_MAX: usize = 4 << 10;
/// What a trace costs besides the text: a session and two events, with their keys.
const ROW_BYTES: u64 = 1 << 10;
/// At once: some four thousand traces of short statements.
const BURST_BYTES: u64 = 4 << 20;
/// In the day that traces live, this adds up to some 350 MB.
const BYTES_PER_SECOND: u64 = 4 << 10;

pub struct Traces {
    filled: Mutex<(u64, Instant)>,
    refused: AtomicU64,
}

impl Default for Traces {
    fn default() -> Traces {
        Traces { filled: Mutex::new((BURST_BYTES, Instant::now())), refused: AtomicU64::new(0) }
    }
}

impl Traces {
    /// Whether a request with a text of this length may be traced.
    pub fn may(&self, text_bytes: usize) -> bool {
        self.may_at(text_bytes, Instant::now())
    }

    fn may_at(&self, text_bytes: usize, now: Instant) -> bool {
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        let (bytes, since) = *filled;
        let more = now.saturating_duration_since(since).as_millis() as u64 * BYTES_PER_SECOND / 1000;
        // Less than a byte has come: the time counts until it is one.
        let since = if more > 0 { now } else { since };
        let bytes = bytes.saturating_add(more).min(BURST_BYTES);
        let cost = ROW_BYTES + text_bytes.min(TEXT_BYTES_MAX) as u64;
        let left = bytes.checked_sub(cost);
        *filled = (left.unwrap_or(bytes), since);
        if left.is_none() {
            self.refused.fetch_add(1, Relaxed);
        }
        left.is_some()
    }

    /// Requests that were not traced although their clients asked, for metrics.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn traces_are_many_at_once_and_few_for_ever() {
        let traces = Traces::default();
        let start = Instant::now();
        let at_once = (0..100_000).filter(|_| traces.may_at(16 << 20, start)).count() as u64;
        assert_eq!(at_once, BURST_BYTES / (ROW_BYTES + TEXT_BYTES_MAX as u64));
        let hour = start + Duration::from_secs(3600);
        let later =
            (0..100_000u32).filter(|i| traces.may_at(0, start + (hour - start) * *i / 100_000)).count();
        let expected = 3600 * BYTES_PER_SECOND / ROW_BYTES;
        assert!((later as u64).abs_diff(expected) <= expected / 10, "{later} of {expected}");
        assert_eq!(traces.refused(), 200_000 - at_once - later as u64);
    }
}
