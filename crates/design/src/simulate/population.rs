//! The keys of one table: the heavy ones one by one, the light ones in strata.
//!
//! Weights add up to 1. A key is exact when it is named, when there are few keys, or when it weighs more than an even
//! share of the exact ones; so what can be hot is always looked at by itself.

use super::skew::{STRATUM_SPREAD, Stratum, Zipf};
use std::collections::BTreeMap;

/// The keys of a table.
#[derive(Debug, Default)]
pub struct Population {
    pub exact: Vec<Key>,
    pub tail: Vec<Stratum>,
}

/// One key: which tenant (or first part), and which of its keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    pub outer: Outer,
    /// From 1; always 1 where a tenant has one key.
    pub inner: u64,
    pub weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outer {
    /// Index of a named key.
    Named(usize),
    /// Rank, from 1.
    Rank(u64),
}

/// How many keys there are and how they nest.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Shares of the named keys.
    pub named: Vec<f64>,
    /// Further first-level keys, by Zipf.
    pub outer: u64,
    /// Keys in all, when a first-level key has several; they are spread in proportion to weight.
    pub inner: Inner,
    pub exponent: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inner {
    /// The first level is all there is.
    One,
    /// So many keys in all, more of them where there is more weight.
    Total(u64),
    /// So many keys under each first-level key.
    Each(u64),
}

impl Shape {
    /// Keys under a first-level key of this weight.
    fn inner_keys(&self, weight: f64) -> u64 {
        match self.inner {
            Inner::One => 1,
            Inner::Each(keys) => keys.max(1),
            Inner::Total(keys) => ((keys as f64 * weight).round() as u64).max(1),
        }
    }

    /// All keys, `exact_max` of them at most one by one (named ones apart).
    pub fn populate(&self, exact_max: u64) -> Population {
        let mut population = Population::default();
        let threshold = if self.keys() <= exact_max as f64 { 0.0 } else { 1.0 / exact_max as f64 };
        let left = 1.0 - self.named.iter().sum::<f64>();
        for (at, share) in self.named.iter().enumerate() {
            self.add(&mut population, Outer::Named(at), *share, threshold);
        }
        let zipf = Zipf::new(self.outer, self.exponent);
        let mut rank = 1;
        while rank <= zipf.keys() && left * zipf.weight(rank) >= threshold {
            self.add(&mut population, Outer::Rank(rank), left * zipf.weight(rank), threshold);
            rank += 1;
        }
        for stratum in zipf.tail(rank - 1) {
            let weight = left * stratum.weight;
            for inner in Zipf::new(self.inner_keys(weight), self.exponent).tail(0) {
                population
                    .tail
                    .push(Stratum { count: stratum.count * inner.count, weight: weight * inner.weight });
            }
        }
        population.tail = merged(population.tail);
        population
    }

    fn add(&self, population: &mut Population, outer: Outer, weight: f64, threshold: f64) {
        let zipf = Zipf::new(self.inner_keys(weight), self.exponent);
        let mut rank = 1;
        // The heaviest key of whoever comes here is always exact.
        while rank <= zipf.keys() && (rank == 1 || weight * zipf.weight(rank) >= threshold) {
            population.exact.push(Key { outer, inner: rank, weight: weight * zipf.weight(rank) });
            rank += 1;
        }
        let tail = zipf.tail(rank - 1);
        population.tail.extend(tail.iter().map(|s| Stratum { count: s.count, weight: weight * s.weight }));
    }

    /// About how many keys there are.
    pub fn keys(&self) -> f64 {
        let outer = self.outer as f64 + self.named.len() as f64;
        match self.inner {
            Inner::One => outer,
            Inner::Each(keys) => outer * keys as f64,
            Inner::Total(keys) => (keys as f64).max(outer),
        }
    }
}

/// Strata of nearly equal weight as one, whoever they came from; counts and the sum of weights stay.
fn merged(tail: Vec<Stratum>) -> Vec<Stratum> {
    let mut by_weight: BTreeMap<i64, (u64, f64)> = BTreeMap::new();
    for stratum in tail {
        let class = (stratum.weight.max(1e-300).ln() / STRATUM_SPREAD.ln()).floor() as i64;
        let (count, sum) = by_weight.entry(class).or_default();
        *count += stratum.count;
        *sum += stratum.weight * stratum.count as f64;
    }
    by_weight.into_values().map(|(count, sum)| Stratum { count, weight: sum / count as f64 }).collect()
}

impl Population {
    /// The weight of the key at this quantile, heaviest last.
    pub fn weight_at(&self, quantile: f64) -> f64 {
        let mut weights: Vec<(f64, f64)> = self.exact.iter().map(|key| (key.weight, 1.0)).collect();
        weights.extend(self.tail.iter().map(|s| (s.weight, s.count as f64)));
        super::sizes::quantile(&mut weights, quantile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_adds_up_to_one_and_keeps_what_is_heavy() {
        for inner in [Inner::One, Inner::Total(50_000), Inner::Total(3_000_000), Inner::Each(4)] {
            for named in [vec![], vec![0.4, 0.01]] {
                for exponent in [0.0, 0.9, 1.4] {
                    let shape = Shape { named: named.clone(), outer: 2_000, inner, exponent };
                    let population = shape.populate(10_000);
                    let sum: f64 = population.exact.iter().map(|k| k.weight).sum::<f64>()
                        + population.tail.iter().map(|s| s.weight * s.count as f64).sum::<f64>();
                    assert!((sum - 1.0).abs() < 1e-6, "{inner:?} {named:?} {exponent}: {sum}");
                    assert!(population.exact.len() <= 14_000, "{}", population.exact.len());
                    let heaviest = population.tail.iter().map(|s| s.weight).fold(0.0, f64::max);
                    assert!(heaviest <= 1.1e-4, "a key of {heaviest} is not looked at by itself");
                }
            }
        }
    }
}
