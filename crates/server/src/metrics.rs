//! Counters and latency histograms, per shard, read by the metrics page from another thread.
//!
//! A shard owns its cache lines and is the only writer of its counters, so counting is a relaxed
//! add without contention. Histograms have fixed exponential buckets: counting allocates nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter with one writer.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub fn add(&self, n: u64) {
        // One writer: a load and a store are cheaper than a locked add.
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    #[inline]
    pub fn sub(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).saturating_sub(n), Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What a request does; one histogram each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Write,
    Conditional,
    Batch,
    Prepare,
    Schema,
    Other,
}

impl Operation {
    pub const ALL: [(Operation, &'static str); 7] = [
        (Operation::Read, "read"),
        (Operation::Write, "write"),
        (Operation::Conditional, "conditional"),
        (Operation::Batch, "batch"),
        (Operation::Prepare, "prepare"),
        (Operation::Schema, "schema"),
        (Operation::Other, "other"),
    ];
}

/// Upper bounds of the buckets: 16 us doubling up to about 8.4 s.
pub const BUCKETS: usize = 20;

pub fn bucket_bound_micros(index: usize) -> u64 {
    16 << index
}

#[derive(Default)]
pub struct Histogram {
    buckets: [Counter; BUCKETS + 1],
    sum_micros: Counter,
}

impl Histogram {
    #[inline]
    pub fn record(&self, micros: u64) {
        self.record_many(micros, 1);
    }

    #[inline]
    pub fn record_many(&self, micros: u64, count: u64) {
        let index = (64 - (micros.max(1) - 1).leading_zeros()).saturating_sub(4).min(BUCKETS as u32);
        self.buckets[index as usize].add(count);
        self.sum_micros.add(micros.saturating_mul(count));
    }

    /// Cumulative counts per bucket, then the total; and the sum of all values.
    pub fn cumulative(&self) -> ([u64; BUCKETS + 1], u64) {
        let mut total = 0;
        let counts = std::array::from_fn(|i| {
            total += self.buckets[i].get();
            total
        });
        (counts, self.sum_micros.get())
    }
}

/// Everything one shard counts.
#[derive(Default)]
pub struct ShardMetrics {
    pub latency: [Histogram; Operation::ALL.len()],
    /// By error class, see [`ERROR_CLASSES`].
    pub errors: [Counter; ERROR_CLASSES.len()],
    /// Turns that held the shard longer than they should, as far as they were noticed.
    pub held: Histogram,
    pub connections: Counter,
    pub connections_total: Counter,
    pub in_flight: Counter,
    pub in_flight_bytes: Counter,
    pub bytes_read: Counter,
    pub bytes_written: Counter,
    pub overloaded: Counter,
}

/// Protocol error codes with their label.
pub const ERROR_CLASSES: [(i32, &str); 14] = [
    (0x0000, "server"),
    (0x000A, "protocol"),
    (0x0100, "bad_credentials"),
    (0x1001, "overloaded"),
    (0x1100, "write_timeout"),
    (0x1200, "read_timeout"),
    (0x1300, "read_failure"),
    (0x1500, "write_failure"),
    (0x2000, "syntax"),
    (0x2100, "unauthorized"),
    (0x2200, "invalid"),
    (0x2300, "config"),
    (0x2400, "already_exists"),
    (0x2500, "unprepared"),
];

impl ShardMetrics {
    pub fn record(&self, operation: Operation, micros: u64) {
        self.latency[operation as usize].record(micros);
    }

    /// Several requests that took the same time.
    pub fn record_many(&self, operation: Operation, micros: u64, count: u64) {
        if count > 0 {
            self.latency[operation as usize].record_many(micros, count);
        }
    }

    pub fn error(&self, code: i32) {
        let index = ERROR_CLASSES.iter().position(|(c, _)| *c == code).unwrap_or(0);
        self.errors[index].add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_the_bucket_that_bounds_them() {
        for micros in [0, 1, 16, 17, 32, 33, 1000, 8_388_608, 9_000_000, u64::MAX / 2] {
            let histogram = Histogram::default();
            histogram.record(micros);
            let (counts, sum) = histogram.cumulative();
            assert_eq!(sum, micros);
            let first = counts.iter().position(|&c| c == 1).unwrap();
            if first < BUCKETS {
                assert!(micros <= bucket_bound_micros(first), "{micros} in {first}");
            }
            if first > 0 {
                assert!(micros > bucket_bound_micros(first - 1), "{micros} in {first}");
            }
        }
    }
}
