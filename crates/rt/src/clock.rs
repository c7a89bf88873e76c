//! Time: the system's, or one that a test moves by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock time. May step backwards; whoever needs monotony keeps its own maximum.
pub trait Clock: Send + Sync + 'static {
    /// Microseconds since 1970.
    fn micros(&self) -> i64;

    /// Seconds since 1970, for liveness decisions.
    fn seconds(&self) -> u32 {
        u32::try_from(self.micros() / 1_000_000).unwrap_or(if self.micros() < 0 { 0 } else { u32::MAX })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn micros(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(_) => 0,
        }
    }
}

/// Stands still until it is moved.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at_micros(micros: i64) -> ManualClock {
        ManualClock(AtomicI64::new(micros))
    }

    pub fn advance_micros(&self, by: i64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }

    pub fn set_micros(&self, micros: i64) {
        self.0.store(micros, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn micros(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_clamped_to_their_width() {
        for (micros, seconds) in [(-5_000_000, 0), (0, 0), (1_999_999, 1), (i64::MAX, u32::MAX)] {
            assert_eq!(ManualClock::at_micros(micros).seconds(), seconds);
        }
        assert!(SystemClock.micros() > 1_600_000_000_000_000);
    }
}
