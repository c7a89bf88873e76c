//! The largest partitions of a run, exactly, and of several runs together, tightly bounded.

use super::ledger::{Held, Ledger};
use model::deletion::Timestamp;
use model::key::token_of;
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
    /// The smallest timestamp in it; [`NEVER_WRITTEN`] when it is not known.
    pub oldest: Timestamp,
}

pub const NEVER_WRITTEN: Timestamp = Timestamp::MAX;

/// Keeps the [`LARGEST_KEPT`] largest by bytes, in descending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    sizes: Vec<PartitionSize>,
}

impl Largest {
    pub fn add(&mut self, prefix: &[u8], bytes: u64, rows: u64, oldest: Timestamp) {
        if self.sizes.len() == LARGEST_KEPT && self.sizes.last().is_some_and(|last| last.bytes >= bytes) {
            return;
        }
        let at = self.sizes.partition_point(|size| size.bytes >= bytes);
        self.sizes.insert(at, PartitionSize { prefix: prefix.into(), bytes, rows, oldest });
        self.sizes.truncate(LARGEST_KEPT);
    }

    pub fn sizes(&self) -> &[PartitionSize] {
        &self.sizes
    }

    pub(super) fn sizes_mut(&mut self) -> &mut [PartitionSize] {
        &mut self.sizes
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
            let (bytes, rows) = (vint::take(bytes)?, vint::take(bytes)?);
            sizes.push(PartitionSize { prefix, bytes, rows, oldest: NEVER_WRITTEN });
        }
        Some(Largest { sizes })
    }
}

/// A run whose large partitions are known.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub largest: &'a Largest,
    /// `None` for files of versions that kept none.
    pub ledger: Option<&'a Ledger>,
}

impl Run<'_> {
    /// What the run holds of a partition, if it says.
    pub fn find(&self, ring_position: u64) -> Option<Held> {
        let noted = self.ledger.and_then(|ledger| ledger.find(ring_position));
        noted.or_else(|| self.named().find(|(place, _)| *place == ring_position).map(|(_, held)| held))
    }

    fn named(&self) -> impl Iterator<Item = (u64, Held)> {
        let sizes = self.largest.sizes.iter();
        sizes
            .map(|size| (token_of(&size.prefix).ring_position(), Held { bytes: size.bytes, rows: size.rows }))
    }

    /// Every partition that is named or noted, some of them twice: its place on the ring and what the run holds of it.
    pub fn each(&self) -> impl Iterator<Item = (u64, Held)> {
        self.named().chain(self.ledger.into_iter().flat_map(Ledger::iter))
    }

    /// What it may hold of a partition that it does not name.
    fn unnamed_bytes_max(&self) -> u64 {
        let unnoted = self.ledger.map_or(u64::MAX, Ledger::unnoted_bytes_max);
        self.largest.unnamed_bytes_max().min(unnoted)
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
    /// The smallest timestamp that is known of it, if any is.
    pub oldest: Timestamp,
    /// Bytes per day over the last day and the last week; filled in by the watcher of growth.
    pub growth_day: Option<i64>,
    pub growth_week: Option<i64>,
}

/// The largest partitions over several runs, descending by lower bound, at most `count`.
pub fn largest_over<'a>(runs: impl Iterator<Item = Run<'a>>, count: usize) -> Vec<BoundedSize> {
    let runs: Vec<Run<'a>> = runs.collect();
    let mut named: HashMap<&[u8], (BoundedSize, Vec<usize>)> = HashMap::new();
    for (place, run) in runs.iter().enumerate() {
        for size in &run.largest.sizes {
            let (sum, places) =
                named.entry(&size.prefix).or_insert_with(|| (BoundedSize::none(&size.prefix), Vec::new()));
            sum.add(size.bytes, size.rows, size.oldest);
            places.push(place);
        }
    }
    let rest = |(mut sum, places): (BoundedSize, Vec<usize>)| {
        let ring_position = token_of(&sum.prefix).ring_position();
        for (_, run) in runs.iter().enumerate().filter(|(place, _)| !places.contains(place)) {
            match run.ledger.and_then(|ledger| ledger.find(ring_position)) {
                Some(held) => sum.add(held.bytes, held.rows, NEVER_WRITTEN),
                None => sum.bytes_max += run.unnamed_bytes_max(),
            }
        }
        sum
    };
    let mut sizes: Vec<BoundedSize> = named.into_values().map(rest).collect();
    sizes.sort_by(|a, b| b.bytes_min.cmp(&a.bytes_min).then_with(|| a.prefix.cmp(&b.prefix)));
    sizes.truncate(count);
    sizes
}

impl BoundedSize {
    fn none(prefix: &[u8]) -> BoundedSize {
        BoundedSize {
            prefix: prefix.into(),
            bytes_min: 0,
            bytes_max: 0,
            rows_min: 0,
            oldest: NEVER_WRITTEN,
            growth_day: None,
            growth_week: None,
        }
    }

    fn add(&mut self, bytes: u64, rows: u64, oldest: Timestamp) {
        self.bytes_min += bytes;
        self.bytes_max += bytes;
        self.rows_min += rows;
        self.oldest = self.oldest.min(oldest);
    }
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
                run.add(&partition.to_be_bytes(), bytes, 1, NEVER_WRITTEN);
                *truth.entry(partition.to_be_bytes().into()).or_default() += bytes;
            }
            let mut encoded = vec![];
            run.encode(&mut encoded);
            assert_eq!(Largest::decode(&mut encoded.as_slice()).as_ref(), Some(&run));
            runs.push(run);
        }
        let largest = largest_over(runs.iter().map(|largest| Run { largest, ledger: None }), 10);
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
