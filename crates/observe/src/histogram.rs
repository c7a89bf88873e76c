//! A histogram that any thread may feed: four buckets per doubling, so a quantile is at most a fourth too high.
//!
//! Recording is two relaxed adds and no allocation; it covers all of `u64` in 2 KiB.

use crate::counter::Reading;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of a value below its highest one that choose the bucket.
const FINE_BITS: u32 = 2;
const FINE: usize = 1 << FINE_BITS;
/// Values below `FINE` have a bucket each; above, each power of two has `FINE`.
const BUCKETS: usize = FINE + (64 - FINE_BITS as usize) * FINE;

#[derive(Debug)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: std::array::from_fn(|_| AtomicU64::new(0)), sum: AtomicU64::new(0) }
    }
}

fn bucket_of(value: u64) -> usize {
    if value < FINE as u64 {
        return value as usize;
    }
    let power = 63 - value.leading_zeros();
    let fine = (value >> (power - FINE_BITS)) as usize & (FINE - 1);
    FINE + (power - FINE_BITS) as usize * FINE + fine
}

/// The largest value in a bucket.
fn bound_of(bucket: usize) -> u64 {
    if bucket < FINE {
        return bucket as u64;
    }
    let (step, fine) = ((bucket - FINE) / FINE, (bucket - FINE) % FINE);
    let above = ((FINE + fine + 1) as u128) << step;
    u64::try_from(above - 1).unwrap_or(u64::MAX)
}

impl Histogram {
    #[inline]
    pub fn record(&self, value: u64) {
        self.record_many(value, 1);
    }

    /// The same value several times.
    #[inline]
    pub fn record_many(&self, value: u64, count: u64) {
        self.counts[bucket_of(value)].fetch_add(count, Ordering::Relaxed);
        self.sum.fetch_add(value.saturating_mul(count), Ordering::Relaxed);
    }

    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            counts: std::array::from_fn(|i| self.counts[i].load(Ordering::Relaxed)),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }

    pub fn reading(&self) -> Reading {
        Reading::Histogram(Box::new(self.snapshot()))
    }
}

/// A histogram at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    counts: [u64; BUCKETS],
    sum: u64,
}

impl Snapshot {
    /// Adds what another histogram has counted.
    pub fn add(&mut self, other: &Snapshot) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.sum = self.sum.wrapping_add(other.sum);
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all values; wraps where `u64` ends.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// A value that `fraction` of all values do not exceed, at most a fourth too high; zero where there are none.
    pub fn quantile(&self, fraction: f64) -> u64 {
        let wanted = ((self.count() as f64 * fraction).ceil() as u64).max(1);
        self.buckets().find(|(_, so_far)| *so_far >= wanted).map_or(0, |(bound, _)| bound)
    }

    /// (largest value, count of all values up to it) of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut so_far = 0;
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(bucket, count)| {
            so_far += count;
            (bound_of(bucket), so_far)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_bounds_are_tight() {
        let edges = (0..64).flat_map(|power| [1u64 << power, (1 << power) - 1, (1 << power) + 1]);
        for value in edges.chain([u64::MAX, 5, 100, 12_345_678]) {
            let bucket = bucket_of(value);
            assert!(bucket < BUCKETS && value <= bound_of(bucket), "{value}");
            assert!(bucket == 0 || value > bound_of(bucket - 1), "{value}");
            assert!(bound_of(bucket) - value <= value / 4, "{value} {}", bound_of(bucket));
        }
        assert_eq!(bound_of(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn quantiles_are_at_most_a_fourth_too_high() {
        let histogram = Histogram::default();
        assert_eq!(histogram.snapshot().quantile(0.5), 0);
        (1..=1000).for_each(|value| histogram.record(value));
        let snapshot = histogram.snapshot();
        for (fraction, exact) in [(0.01, 10), (0.5, 500), (0.99, 990), (1.0, 1000)] {
            let found = snapshot.quantile(fraction);
            assert!(exact <= found && found <= exact + exact / 4, "{fraction}: {found}");
        }
        assert_eq!((snapshot.count(), snapshot.sum()), (1000, 500_500));
        assert_eq!(snapshot.buckets().last().map(|(_, count)| count), Some(1000));
    }
}
