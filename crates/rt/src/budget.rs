//! Memory that is promised before it is used: a budget is a number of bytes, a share is some of them.
//!
//! A server has one budget; everything a client can make it hold takes a share first and is refused when there is none.
//! A part is a budget within a budget: what it gives is taken from both, so that no one kind of use can have it all.
//! Shares come back when they are dropped. Nothing is allocated here: a budget counts, its users keep to it.
//!
//! Taking a share is one atomic exchange per level. Use it for what may grow large (a parsed statement, a sort, a batch),
//! not for every cell.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Bytes that may be taken; cheap to clone, all clones count together.
#[derive(Clone)]
pub struct Budget {
    level: Arc<Level>,
}

struct Level {
    taken: AtomicUsize,
    max: usize,
    refused: AtomicU64,
    parent: Option<Arc<Level>>,
}

impl Level {
    /// All levels or none.
    fn take(&self, bytes: usize) -> bool {
        let more = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= self.max);
        let fits = self.taken.fetch_update(Relaxed, Relaxed, more).is_ok();
        if fits && self.parent.as_ref().is_none_or(|parent| parent.take(bytes)) {
            return true;
        }
        if fits {
            self.taken.fetch_sub(bytes, Relaxed);
        }
        self.refused.fetch_add(1, Relaxed);
        false
    }

    fn give_back(&self, bytes: usize) {
        let before = self.taken.fetch_sub(bytes, Relaxed);
        debug_assert!(before >= bytes, "more came back than was taken");
        if let Some(parent) = &self.parent {
            parent.give_back(bytes);
        }
    }
}

impl Budget {
    pub fn new(bytes_max: usize) -> Budget {
        Budget::with(bytes_max, None)
    }

    /// For where nobody limits anything: tests, the embedding library.
    pub fn unlimited() -> Budget {
        Budget::new(usize::MAX)
    }

    /// A budget within this one.
    pub fn part(&self, bytes_max: usize) -> Budget {
        Budget::with(bytes_max, Some(self.level.clone()))
    }

    fn with(max: usize, parent: Option<Arc<Level>>) -> Budget {
        Budget {
            level: Arc::new(Level { taken: AtomicUsize::new(0), max, refused: AtomicU64::new(0), parent }),
        }
    }

    /// So many bytes, or `None`: the caller answers with its protocol's error for overload.
    #[must_use]
    pub fn take(&self, bytes: usize) -> Option<Share> {
        self.level.take(bytes).then(|| Share { budget: self.clone(), bytes })
    }

    /// Nothing yet; for work that does not know its size and grows its share as it goes.
    pub fn nothing(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }

    pub fn bytes_taken(&self) -> usize {
        self.level.taken.load(Relaxed)
    }

    pub fn bytes_max(&self) -> usize {
        self.level.max
    }

    /// How often there was not enough, for metrics.
    pub fn refused(&self) -> u64 {
        self.level.refused.load(Relaxed)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {})", self.bytes_taken(), self.bytes_max())
    }
}

/// Bytes that were taken; dropping it gives them back.
#[derive(Debug)]
pub struct Share {
    budget: Budget,
    bytes: usize,
}

impl Share {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes more; `false`: there is not so much, and the share is as it was.
    #[must_use]
    pub fn grow(&mut self, by: usize) -> bool {
        let fits = self.budget.level.take(by);
        if fits {
            self.bytes += by;
        }
        fits
    }

    /// Gives back what is above `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(over) = self.bytes.checked_sub(bytes) {
            self.budget.level.give_back(over);
            self.bytes = bytes;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.level.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded_and_come_back() {
        let budget = Budget::new(100);
        let mut one = budget.take(60).unwrap();
        assert!(budget.take(41).is_none());
        assert!(one.grow(40) && !one.grow(1));
        assert_eq!((one.bytes(), budget.bytes_taken(), budget.refused()), (100, 100, 2));
        one.shrink_to(30);
        one.shrink_to(90);
        assert_eq!((one.bytes(), budget.bytes_taken()), (30, 30));
        let other = budget.take(70).unwrap();
        drop((one, other));
        assert_eq!(budget.bytes_taken(), 0);
        // A length that a client made up does not wrap around.
        let _some = budget.take(1).unwrap();
        assert!(budget.take(usize::MAX).is_none());
        assert_eq!(budget.bytes_taken(), 1);
    }

    #[test]
    fn a_part_counts_for_the_whole_and_takes_nothing_when_either_is_full() {
        let whole = Budget::new(100);
        let (sorts, batches) = (whole.part(50), whole.part(80));
        let sorting = sorts.take(50).unwrap();
        assert!(sorts.take(1).is_none(), "the part is full");
        assert_eq!(whole.refused(), 0);
        assert!(batches.take(51).is_none(), "the whole is full");
        assert_eq!((batches.bytes_taken(), whole.bytes_taken()), (0, 50));
        let batch = batches.take(50).unwrap();
        drop(sorting);
        assert_eq!((sorts.bytes_taken(), whole.bytes_taken()), (0, 50));
        drop(batch);
        assert_eq!(whole.bytes_taken(), 0);
    }

    #[test]
    fn threads_never_hold_more_than_there_is() {
        let budget = Budget::new(1000);
        let (held, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let (budget, held, most) = (&budget, &held, &most);
                scope.spawn(move || {
                    for round in 0..5_000usize {
                        let bytes = 1 + (round * 7 + thread * 131) % 400;
                        let Some(_share) = budget.take(bytes) else { continue };
                        most.fetch_max(held.fetch_add(bytes, Relaxed) + bytes, Relaxed);
                        held.fetch_sub(bytes, Relaxed);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 1000);
        assert_eq!(budget.bytes_taken(), 0);
    }
}
