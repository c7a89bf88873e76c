//! Warnings that a client can cause at will: at most a few a minute, and the next one says how many were left out.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Between two warnings of one kind.
const PAUSE: Duration = Duration::from_secs(5);

/// One kind of warning; a `static`, or a field of what warns.
#[derive(Debug)]
pub struct Seldom {
    /// Milliseconds since the first use of any; 0 before the first warning of this kind.
    next: AtomicU64,
    left_out: AtomicU64,
}

impl Seldom {
    pub const fn new() -> Seldom {
        Seldom { next: AtomicU64::new(0), left_out: AtomicU64::new(0) }
    }

    /// `Some(n)`: warn now, and say that `n` warnings were left out before. `None`: this one is left out too.
    pub fn now(&self) -> Option<u64> {
        static STARTED: OnceLock<Instant> = OnceLock::new();
        let now = STARTED.get_or_init(Instant::now).elapsed().as_millis() as u64;
        self.at(now)
    }

    fn at(&self, now: u64) -> Option<u64> {
        let next = self.next.load(Relaxed);
        let after = now + PAUSE.as_millis() as u64;
        if now < next || self.next.compare_exchange(next, after, Relaxed, Relaxed).is_err() {
            self.left_out.fetch_add(1, Relaxed);
            return None;
        }
        Some(self.left_out.swap(0, Relaxed))
    }
}

impl Default for Seldom {
    fn default() -> Seldom {
        Seldom::new()
    }
}

/// What a client called something, for the log: a part of it says enough.
pub fn shown(name: &str) -> &str {
    const BYTES_MAX: usize = 64;
    &name[..name.floor_char_boundary(BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_and_then_one_in_a_while_with_the_count() {
        let seldom = Seldom::new();
        assert_eq!(seldom.at(0), Some(0));
        assert!((1..5000).all(|ms| seldom.at(ms).is_none()));
        assert_eq!(seldom.at(5000), Some(4999));
        assert_eq!(seldom.at(5001), None);
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(shown("bob"), "bob");
        assert_eq!(shown(&"é".repeat(60_000)).len(), 64);
        assert_eq!(shown(&format!("a{}", "é".repeat(60_000))).len(), 63);
    }
}
