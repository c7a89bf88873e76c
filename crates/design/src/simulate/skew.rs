//! Skew: how unequal keys are. Zipf weights over any number of ranks, with named keys that take a fixed share.
//!
//! A rank is never stored unless somebody asks for it: ranks beyond the exact ones are strata of nearly equal weight,
//! so a billion keys cost as much as a million.

/// Ranks up to here are added up term by term; beyond, an integral is exact to 1e-9.
const EXACT_RANKS: u64 = 100;
/// Within a stratum weights differ by this factor at most.
pub const STRATUM_SPREAD: f64 = 1.15;

/// Zipf's law: the key of rank r has a weight in proportion to `r^-exponent`. Exponent 0 makes all equal.
#[derive(Debug, Clone, Copy)]
pub struct Zipf {
    keys: u64,
    exponent: f64,
    sum: f64,
}

/// Ranks of nearly equal weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    pub count: u64,
    /// The weight of each; all strata and exact ranks add up to 1.
    pub weight: f64,
}

impl Zipf {
    pub fn new(keys: u64, exponent: f64) -> Zipf {
        let keys = keys.max(1);
        Zipf { keys, exponent, sum: power_sum(1, keys, exponent) }
    }

    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The share of rank `rank`, counted from 1.
    pub fn weight(&self, rank: u64) -> f64 {
        (rank.max(1) as f64).powf(-self.exponent) / self.sum
    }

    /// The ranks after `exact`, grouped.
    pub fn tail(&self, exact: u64) -> Vec<Stratum> {
        let mut strata = Vec::new();
        let factor =
            if self.exponent > 0.0 { STRATUM_SPREAD.powf(1.0 / self.exponent) } else { f64::INFINITY };
        let mut from = exact + 1;
        while from <= self.keys {
            let until = (from as f64 * factor).min(self.keys as f64) as u64;
            let until = until.clamp(from, self.keys);
            let count = until - from + 1;
            let weight = power_sum(from, until, self.exponent) / self.sum / count as f64;
            strata.push(Stratum { count, weight });
            from = until + 1;
        }
        strata
    }
}

/// The sum of `r^-s` for `r` from `from` to `until`.
fn power_sum(from: u64, until: u64, s: f64) -> f64 {
    let exact_until = until.min(from.max(EXACT_RANKS));
    let mut sum = 0.0;
    for rank in (from..=exact_until).rev() {
        sum += (rank as f64).powf(-s);
    }
    if exact_until < until {
        // Euler-Maclaurin over the rest.
        let (a, b) = (exact_until as f64, until as f64);
        let integral = if (s - 1.0).abs() < 1e-9 {
            (b / a).ln()
        } else {
            (b.powf(1.0 - s) - a.powf(1.0 - s)) / (1.0 - s)
        };
        let slope = |x: f64| -s * x.powf(-s - 1.0);
        sum += integral + (b.powf(-s) - a.powf(-s)) / 2.0 + (slope(b) - slope(a)) / 12.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_many_ranks_are_what_adding_them_up_gives() {
        for s in [0.0, 0.5, 1.0, 1.3] {
            let direct: f64 = (1..=300_000u64).rev().map(|r| (r as f64).powf(-s)).sum();
            let quick = power_sum(1, 300_000, s);
            assert!((quick / direct - 1.0).abs() < 1e-9, "exponent {s}: {quick} and {direct}");
        }
    }

    #[test]
    fn exact_ranks_and_strata_make_one() {
        for (keys, exponent, exact) in
            [(1u64, 1.0, 1u64), (1_000, 0.0, 10), (5_000_000, 1.1, 1_000), (100, 2.0, 100)]
        {
            let zipf = Zipf::new(keys, exponent);
            let head: f64 = (1..=exact.min(keys)).map(|r| zipf.weight(r)).sum();
            let tail = zipf.tail(exact);
            let sum: f64 = head + tail.iter().map(|s| s.weight * s.count as f64).sum::<f64>();
            assert!((sum - 1.0).abs() < 1e-7, "{keys} keys, exponent {exponent}: {sum}");
            assert_eq!(exact.min(keys) + tail.iter().map(|s| s.count).sum::<u64>(), keys);
            assert!(tail.len() < 2_000);
        }
    }
}
