//! Which segments are still needed: a pin per memtable and per commit under way.
//!
//! Segments are given up in order, so a memtable pins only the oldest segment it has data from.
//! A pin ends only when it is released, never by being dropped: a shard that dies takes its memtables with it,
//! and then the log is all that is left of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Default)]
pub struct Pins {
    counts: Arc<Mutex<BTreeMap<u64, usize>>>,
}

/// Keeps a segment, and all later ones, from being given up until it is released.
pub struct Pin {
    segment: u64,
    pins: Pins,
    released: AtomicBool,
}

impl Pins {
    pub fn new() -> Pins {
        Pins::default()
    }

    pub fn pin(&self, segment: u64) -> Pin {
        *self.counts().entry(segment).or_insert(0) += 1;
        Pin { segment, pins: self.clone(), released: AtomicBool::new(false) }
    }

    /// The oldest pinned segment.
    pub fn oldest(&self) -> Option<u64> {
        self.counts().keys().next().copied()
    }

    /// The oldest segment that is pinned by anybody but this pin, which is not released.
    pub fn oldest_without(&self, pin: &Pin) -> Option<u64> {
        let counts = self.counts();
        let own = |segment: &u64, count: &usize| *segment == pin.segment && *count == 1;
        counts.iter().find(|(segment, count)| !own(segment, count)).map(|(segment, _)| *segment)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pin {
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// The data is safe without the log, or not wanted any more. A second call does nothing.
    pub fn release(&self) {
        if self.released.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut counts = self.pins.counts();
        assert!(counts.contains_key(&self.segment), "a pin that holds is counted");
        if let Some(count) = counts.get_mut(&self.segment) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.segment);
            }
        }
    }
}

/// A second pin on the same segment, with a life of its own.
impl Clone for Pin {
    fn clone(&self) -> Pin {
        self.pins.pin(self.segment)
    }
}

impl std::fmt::Debug for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pin({})", self.segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_unreleased_pin_decides() {
        let pins = Pins::new();
        let five = pins.pin(5);
        let three = pins.pin(3);
        let again = three.clone();
        assert_eq!((pins.oldest_without(&three), pins.oldest_without(&five)), (Some(3), Some(3)));
        three.release();
        three.release();
        assert_eq!(pins.oldest(), Some(3));
        assert_eq!(pins.oldest_without(&again), Some(5));
        again.release();
        assert_eq!((pins.oldest(), pins.oldest_without(&five)), (Some(5), None));
        drop(five);
        assert_eq!(pins.oldest(), Some(5), "dropping is not releasing");
    }
}
