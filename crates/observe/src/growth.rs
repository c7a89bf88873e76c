//! How fast partitions grow: a size an hour of the last week, for the partitions that are among the largest.
//!
//! Whoever keeps it over a restart writes down its partitions now and then. Where nothing is known for an hour yet, a partition's age and
//! size say what it grew by on average.

use std::collections::{HashMap, VecDeque};

/// Between two samples of a partition, and the least time that tells a growth.
const SAMPLE_MILLIS: u64 = 3_600_000;
/// Partitions that are followed: 5 MB when all of them are followed for a week.
const PARTITIONS_MAX: usize = 2000;

pub const DAY_MILLIS: u64 = 24 * 3_600_000;
pub const WEEK_MILLIS: u64 = 7 * DAY_MILLIS;

/// A moment, in milliseconds of the caller's clock, and bytes.
type Sample = (u64, u64);
pub type Samples = VecDeque<Sample>;

#[derive(Default)]
pub struct Growth {
    partitions: HashMap<(u32, Box<[u8]>), Samples>,
    /// Samples were taken since somebody asked.
    changed: bool,
}

impl Growth {
    /// The partition has this many bytes now.
    pub fn note(&mut self, table: u32, key: &[u8], now_millis: u64, bytes: u64) {
        let name = (table, Box::from(key));
        if self.partitions.len() >= PARTITIONS_MAX && !self.partitions.contains_key(&name) {
            // Whoever was not among the largest for two samples has lost its place.
            let is_late = |at: u64| at + 2 * SAMPLE_MILLIS < now_millis;
            self.partitions.retain(|_, samples| samples.back().is_some_and(|(at, _)| !is_late(*at)));
            if self.partitions.len() >= PARTITIONS_MAX {
                return;
            }
        }
        let samples = self.partitions.entry(name).or_default();
        if samples.back().is_some_and(|(at, _)| now_millis < at + SAMPLE_MILLIS) {
            return;
        }
        samples.push_back((now_millis, bytes));
        self.changed = true;
        while samples.front().is_some_and(|(at, _)| at + WEEK_MILLIS + SAMPLE_MILLIS < now_millis) {
            samples.pop_front();
        }
    }

    /// Whether anything is new since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Table, key and samples of every partition.
    pub fn partitions(&self) -> impl Iterator<Item = (u32, &[u8], &Samples)> {
        self.partitions.iter().map(|((table, key), samples)| (*table, &**key, samples))
    }

    /// Takes the samples of an earlier run; of two that know a partition those that go further.
    pub fn restore(&mut self, table: u32, key: &[u8], samples: Samples) {
        let name = (table, Box::from(key));
        let is_known = self.partitions.contains_key(&name);
        if samples.iter().zip(samples.iter().skip(1)).any(|(a, b)| a.0 > b.0)
            || (!is_known && self.partitions.len() >= PARTITIONS_MAX)
        {
            return;
        }
        let known = self.partitions.entry(name).or_default();
        if known.back().is_none_or(|(at, _)| samples.back().is_some_and(|(new, _)| new > at)) {
            *known = samples;
        }
    }

    /// Bytes per day over the last `span_millis`, or as much of it as is known; `None` before an hour has passed.
    pub fn per_day(
        &self,
        table: u32,
        key: &[u8],
        now_millis: u64,
        bytes: u64,
        span_millis: u64,
    ) -> Option<i64> {
        let samples = self.partitions.get(&(table, Box::from(key)))?;
        let begin = now_millis.saturating_sub(span_millis);
        let (at, before) = samples.iter().find(|(at, _)| *at >= begin)?;
        let elapsed = now_millis.saturating_sub(*at);
        if elapsed < SAMPLE_MILLIS {
            return None;
        }
        let grown = bytes as f64 - *before as f64;
        Some((grown * DAY_MILLIS as f64 / elapsed as f64) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_the_day_and_of_the_week_are_told_apart() {
        let mut growth = Growth::default();
        let hour = SAMPLE_MILLIS;
        // A thousand bytes an hour for five days, then ten thousand.
        let size = |hours: u64| hours * 1000 + hours.saturating_sub(120) * 9000;
        for hours in 0..=168 {
            growth.note(1, b"k", hours * hour, size(hours));
            growth.note(1, b"k", hours * hour + 5, 0);
        }
        let now = 168 * hour;
        assert_eq!(growth.per_day(1, b"k", now, size(168), DAY_MILLIS), Some(240_000));
        assert_eq!(growth.per_day(1, b"k", now, size(168), WEEK_MILLIS), Some(size(168) as i64 / 7));
        assert_eq!(growth.per_day(1, b"other", now, 5, DAY_MILLIS), None);
        growth.note(1, b"new", now, 7);
        assert_eq!(growth.per_day(1, b"new", now + 5, 9, DAY_MILLIS), None);
    }

    #[test]
    fn the_number_of_partitions_is_bounded() {
        let mut growth = Growth::default();
        (0..5000u32).for_each(|n| growth.note(1, &n.to_be_bytes(), 0, 1));
        assert_eq!(growth.partitions.len(), PARTITIONS_MAX);
        (0..10u32).for_each(|n| growth.note(2, &n.to_be_bytes(), 3 * SAMPLE_MILLIS, 1));
        assert_eq!(growth.partitions.len(), 10);
    }
}
