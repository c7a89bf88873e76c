//! How fast something goes, and how fast it may go.
//!
//! One number says at which time everything taken so far will be paid for at the allowed rate. If that time is more than a second
//! ahead, the request has to wait. So a tenant that was quiet may take a second's worth at once, but over a longer time no more than its rate.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// How far ahead of its rate a tenant may be.
const AHEAD_NANOS: i64 = 1_000_000_000;
/// A debt is never longer: a mistake in a limit must be gone soon after the limit is.
const DEBT_NANOS_MAX: i64 = 60 * AHEAD_NANOS;

/// See the module.
#[derive(Debug, Default)]
pub struct Pace {
    paid_until_nanos: AtomicI64,
}

impl Pace {
    /// Takes this much if the rate allows; `false`: not now.
    pub fn take(&self, amount: f64, per_second: f64, now_nanos: i64) -> bool {
        let mut before = self.paid_until_nanos.load(Relaxed);
        loop {
            if before - now_nanos > AHEAD_NANOS {
                return false;
            }
            let after = later(before, amount, per_second, now_nanos);
            match self.paid_until_nanos.compare_exchange_weak(before, after, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(other) => before = other,
            }
        }
    }

    /// Takes this much whatever the rate: it is known only after the work was done.
    pub fn charge(&self, amount: f64, per_second: f64, now_nanos: i64) {
        let moved = |before| Some(later(before, amount, per_second, now_nanos));
        // The closure never says no.
        let _ = self.paid_until_nanos.fetch_update(Relaxed, Relaxed, moved);
    }

    /// Whether nothing more may be taken now.
    pub fn is_ahead(&self, now_nanos: i64) -> bool {
        self.paid_until_nanos.load(Relaxed) - now_nanos > AHEAD_NANOS
    }
}

fn later(before: i64, amount: f64, per_second: f64, now_nanos: i64) -> i64 {
    let nanos = (amount * 1e9 / per_second).min(DEBT_NANOS_MAX as f64) as i64;
    before.clamp(now_nanos, now_nanos + DEBT_NANOS_MAX).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_second_at_once_and_the_rate_for_ever() {
        let (pace, start) = (Pace::default(), 5_000 * SECOND);
        let at_once = (0..1000).filter(|_| pace.take(1.0, 100.0, start)).count();
        assert_eq!(at_once, 101, "a second's worth, and one that was not ahead yet");
        // Ten seconds at a hundred times the rate.
        let later = (0..100_000).filter(|n| pace.take(1.0, 100.0, start + n * SECOND / 10_000)).count();
        assert!((998..=1002).contains(&later), "{later}");
    }

    #[test]
    fn what_was_charged_is_waited_for() {
        let (pace, now) = (Pace::default(), 5_000 * SECOND);
        pace.charge(3000.0, 1000.0, now);
        assert!(pace.is_ahead(now));
        assert!(!pace.take(1.0, 1000.0, now + SECOND));
        assert!(!pace.is_ahead(now + 2 * SECOND));
        pace.charge(1e18, 1.0, now);
        assert!(!pace.is_ahead(now + 2 * DEBT_NANOS_MAX), "no debt is for ever");
    }

    #[test]
    fn a_rate_below_one_holds() {
        let pace = Pace::default();
        let taken = (0..1000).filter(|n| pace.take(1.0, 0.5, 1_000 * SECOND + n * SECOND / 10)).count();
        assert!((50..=52).contains(&taken), "{taken} in 100 seconds");
    }
}
