//! The largest partitions of a run, exactly, and of several runs together, tightly bounded.

use model::vint;
use std::collections::HashMap;

/// How many partitions a file names. A partition among the ten largest of a table is then named by
/// every file that holds a noticeable part of it.
pub const LARGEST_KEPT: usize = 64;

/// Rows and stored bytes of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSize {
    /// Storage prefix (`model::key`).
    pub prefix: Box<[u8]>,
    pub bytes: u64,
    pub rows: u64,
}

/// Keeps the [`LARGEST_KEPT`] largest by bytes, in descending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    sizes: Vec<PartitionSize>,
}

impl Largest {
    pub fn add(&mut self, prefix: &[u8], bytes: u64, rows: u64) {
        if self.sizes.len() == LARGEST_KEPT && self.sizes.last().is_some_and(|last| last.bytes >= bytes) {
            return;
        }
        let at = self.sizes.partition_point(|size| size.bytes >= bytes);
        self.sizes.insert(at, PartitionSize { prefix: prefix.into(), bytes, rows });
        self.sizes.truncate(LARGEST_KEPT);
    }

    pub fn sizes(&self) -> &[PartitionSize] {
        &self.sizes
    }

    /// No partition that is not named is larger than this.
    pub fn unnamed_bytes_max(&self) -> u64 {
        if self.sizes.len() < LARGEST_KEPT { 0 } else { self.sizes.last().map_or(0, |last| last.bytes) }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        vint::put(out, self.sizes.len() as u64);
        for size in &self.sizes {
            vint::put_slice(out, &size.prefix);
            vint::put(out, size.bytes);
            vint::put(out, size.rows);
        }
    }

    pub fn decode(bytes: &mut &[u8]) -> Option<Largest> {
        let count = vint::take(bytes).filter(|n| *n <= LARGEST_KEPT as u64)?;
        let mut sizes = vec![];
        for _ in 0..count {
            let prefix = vint::take_slice(bytes)?.into();
            sizes.push(PartitionSize { prefix, bytes: vint::take(bytes)?, rows: vint::take(bytes)? });
        }
        Some(Largest { sizes })
    }
}

/// A partition over several runs: the true size lies between the bounds. Rows that several runs hold
/// are counted once per run, so the numbers shrink as files are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedSize {
    pub prefix: Box<[u8]>,
    pub bytes_min: u64,
    pub bytes_max: u64,
    pub rows_min: u64,
}

/// The largest partitions over several runs, descending by lower bound, at most `count`.
pub fn largest_over<'a>(runs: impl Iterator<Item = &'a Largest>, count: usize) -> Vec<BoundedSize> {
    let runs: Vec<&Largest> = runs.collect();
    let unnamed_everywhere: u64 = runs.iter().map(|run| run.unnamed_bytes_max()).sum();
    let mut named: HashMap<&[u8], (u64, u64, u64)> = HashMap::new();
    for run in &runs {
        for size in &run.sizes {
            let (bytes, rows, bounded_elsewhere) = named.entry(&size.prefix).or_default();
            *bytes += size.bytes;
            *rows += size.rows;
            *bounded_elsewhere += run.unnamed_bytes_max();
        }
    }
    let mut sizes: Vec<BoundedSize> = named
        .into_iter()
        .map(|(prefix, (bytes, rows, named_bound))| BoundedSize {
            prefix: prefix.into(),
            bytes_min: bytes,
            bytes_max: bytes + (unnamed_everywhere - named_bound),
            rows_min: rows,
        })
        .collect();
    sizes.sort_by(|a, b| b.bytes_min.cmp(&a.bytes_min).then_with(|| a.prefix.cmp(&b.prefix)));
    sizes.truncate(count);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::Random;

    #[test]
    fn bounds_hold_over_runs() {
        let mut random = Random::seeded(3);
        let mut truth: HashMap<Box<[u8]>, u64> = HashMap::new();
        let mut runs = vec![];
        for _ in 0..5 {
            let mut run = Largest::default();
            for partition in 0..300u16 {
                let bytes = random.below(100) + u64::from(partition == 7) * 10_000;
                run.add(&partition.to_be_bytes(), bytes, 1);
                *truth.entry(partition.to_be_bytes().into()).or_default() += bytes;
            }
            let mut encoded = vec![];
            run.encode(&mut encoded);
            assert_eq!(Largest::decode(&mut encoded.as_slice()).as_ref(), Some(&run));
            runs.push(run);
        }
        let largest = largest_over(runs.iter(), 10);
        assert_eq!(largest.len(), 10);
        assert_eq!(*largest[0].prefix, 7u16.to_be_bytes());
        assert_eq!(
            (largest[0].bytes_min, largest[0].bytes_max),
            (truth[&largest[0].prefix], truth[&largest[0].prefix])
        );
        for size in largest {
            let exact = truth[&size.prefix];
            assert!(size.bytes_min <= exact && exact <= size.bytes_max, "{size:?} {exact}");
        }
    }
}
