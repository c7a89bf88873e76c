//! A histogram of sizes in powers of two: small, mergeable, good enough to see the shape.

use model::vint;

const BUCKETS: usize = 64;

/// Bucket `i` counts values in `[2^(i-1), 2^i)`; bucket 0 counts zeros; the last has no upper bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: [0; BUCKETS], max: 0 }
    }
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let bucket = (u64::BITS - value.leading_zeros()) as usize;
        self.counts[bucket.min(BUCKETS - 1)] += 1;
        self.max = self.max.max(value);
    }

    pub fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.max = self.max.max(other.max);
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The largest value, exactly.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// An upper bound, within a factor of two, of the value below which `fraction` of all lie.
    pub fn quantile(&self, fraction: f64) -> u64 {
        let wanted = (self.count() as f64 * fraction).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                let bound = if bucket + 1 == BUCKETS { u64::MAX } else { (1u64 << bucket) - 1 };
                return bound.min(self.max);
            }
        }
        self.max
    }

    /// (exclusive upper bound, count) of every bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(i, n)| (1u64.checked_shl(i as u32).unwrap_or(u64::MAX), *n))
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        vint::put(out, self.max);
        let used = self.counts.iter().rposition(|n| *n > 0).map_or(0, |i| i + 1);
        vint::put(out, used as u64);
        self.counts.iter().take(used).for_each(|n| vint::put(out, *n));
    }

    pub fn decode(bytes: &mut &[u8]) -> Option<Histogram> {
        let mut histogram = Histogram { max: vint::take(bytes)?, ..Histogram::default() };
        let used = vint::take(bytes).filter(|n| *n <= BUCKETS as u64)? as usize;
        for count in histogram.counts.iter_mut().take(used) {
            *count = vint::take(bytes)?;
        }
        Some(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_bound_and_encoding_comes_back() {
        let mut histogram = Histogram::default();
        (0..1000u64).for_each(|n| histogram.add(n));
        histogram.add(u64::MAX);
        for (fraction, exact) in [(0.1, 100), (0.5, 500), (0.9, 900)] {
            let bound = histogram.quantile(fraction);
            assert!(bound >= exact && bound < exact * 2, "{fraction}: {bound}");
        }
        assert_eq!((histogram.quantile(1.0), histogram.max(), histogram.count()), (u64::MAX, u64::MAX, 1001));
        let mut bytes = vec![];
        histogram.encode(&mut bytes);
        assert_eq!(Histogram::decode(&mut bytes.as_slice()).as_ref(), Some(&histogram));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!(twice.count(), 2002);
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }
}
