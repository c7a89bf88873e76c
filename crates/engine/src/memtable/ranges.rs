//! Range tombstones of one partition in a memtable: always disjoint, the newer splits the older.

use model::deletion::Deletion;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// What a stored range tombstone holds besides its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    deletion: Deletion,
    /// Local seconds (4 bytes) and the end of the range: the payload behind the timestamp.
    rest: Box<[u8]>,
}

impl Tombstone {
    fn new(end: &[u8], deletion: Deletion) -> Tombstone {
        let mut rest = Vec::with_capacity(4 + end.len());
        rest.extend_from_slice(&deletion.local_seconds.to_be_bytes());
        rest.extend_from_slice(end);
        Tombstone { deletion, rest: rest.into() }
    }

    pub fn deletion(&self) -> Deletion {
        self.deletion
    }

    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    pub fn end(&self) -> &[u8] {
        self.rest.get(4..).unwrap_or_default()
    }
}

/// Keyed by position: the kind byte, then the start of the range.
#[derive(Default)]
pub struct Ranges {
    map: BTreeMap<Box<[u8]>, Tombstone>,
    bytes: usize,
}

/// Map node, two boxes and their allocations.
const OVERHEAD_BYTES: usize = 96;

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    pub fn clear(&mut self) {
        *self = Ranges::default();
    }

    /// Memory held, estimated.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds `[start, end)`; `start` is a position. Where ranges overlap, the stronger deletion stays.
    pub fn insert(&mut self, start: &[u8], end: &[u8], deletion: Deletion) {
        let kind = start.first().copied().unwrap_or_default();
        let mut from = start.to_vec();
        for (old_start, old) in self.take_overlapping(start, end) {
            if old.deletion >= deletion {
                if from.get(1..) < old_start.get(1..) {
                    let cut = old_start.get(1..).unwrap_or_default().to_vec();
                    self.put(&from, &cut, deletion);
                }
                from.truncate(1);
                from.extend_from_slice(old.end());
                self.put(&old_start, old.end(), old.deletion);
                continue;
            }
            if *old_start < *start {
                self.put(&old_start, start.get(1..).unwrap_or_default(), old.deletion);
            }
            if old.end() > end {
                let right = [&[kind], end].concat();
                self.put(&right, old.end(), old.deletion);
            }
        }
        if from.get(1..).is_some_and(|from| from < end) {
            self.put(&from, end, deletion);
        }
    }

    fn take_overlapping(&mut self, start: &[u8], end: &[u8]) -> Vec<(Box<[u8]>, Tombstone)> {
        let before = self.last_at_or_before(start).filter(|(_, old)| Some(old.end()) > start.get(1..));
        let mut keys: Vec<Box<[u8]>> = before.map(|(key, _)| key.into()).into_iter().collect();
        let behind = self.map.range::<[u8], _>((Excluded(start), Unbounded));
        keys.extend(behind.map(|(key, _)| key).take_while(|key| key.get(1..) < Some(end)).cloned());
        keys.into_iter().filter_map(|key| self.remove(key)).collect()
    }

    fn remove(&mut self, key: Box<[u8]>) -> Option<(Box<[u8]>, Tombstone)> {
        let old = self.map.remove(&key)?;
        self.bytes -= key.len() + old.rest.len() + OVERHEAD_BYTES;
        Some((key, old))
    }

    fn put(&mut self, start: &[u8], end: &[u8], deletion: Deletion) {
        let tombstone = Tombstone::new(end, deletion);
        self.bytes += start.len() + tombstone.rest.len() + OVERHEAD_BYTES;
        let replaced = self.map.insert(start.into(), tombstone);
        debug_assert!(replaced.is_none(), "range tombstones overlap");
    }

    fn last_at_or_before(&self, position: &[u8]) -> Option<(&[u8], &Tombstone)> {
        let mut before = self.map.range::<[u8], _>((Unbounded, Included(position)));
        before.next_back().map(|(key, value)| (&**key, value))
    }

    pub fn at_or_behind(&self, position: &[u8]) -> Option<(&[u8], &Tombstone)> {
        self.map.range::<[u8], _>((Included(position), Unbounded)).next().map(|(key, value)| (&**key, value))
    }

    pub fn behind(&self, position: &[u8]) -> Option<(&[u8], &Tombstone)> {
        self.map.range::<[u8], _>((Excluded(position), Unbounded)).next().map(|(key, value)| (&**key, value))
    }

    pub fn before(&self, position: &[u8]) -> Option<(&[u8], &Tombstone)> {
        let mut before = self.map.range::<[u8], _>((Unbounded, Excluded(position)));
        before.next_back().map(|(key, value)| (&**key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::Random;

    #[test]
    fn any_insertion_order_gives_the_strongest_deletion_everywhere() {
        for seed in 0..300 {
            let mut random = Random::seeded(seed);
            let mut ranges = Ranges::default();
            let mut strongest = [Deletion::NONE; 32];
            for _ in 0..20 {
                let (a, b) = (random.below(32) as u8, random.below(32) as u8);
                let (start, end) = (a.min(b), a.max(b) + 1);
                let deletion =
                    Deletion { timestamp: random.below(6) as i64, local_seconds: random.below(3) as u32 };
                ranges.insert(&[2, start], &[end], deletion);
                for slot in &mut strongest[start as usize..(end as usize).min(32)] {
                    *slot = Deletion::max(*slot, deletion);
                }
                let mut seen = [Deletion::NONE; 32];
                let mut last_end = 0;
                for (start, tombstone) in &ranges.map {
                    assert!(start[1] >= last_end && tombstone.end()[0] > start[1], "disjoint and not empty");
                    last_end = tombstone.end()[0];
                    seen[start[1] as usize..(last_end as usize).min(32)].fill(tombstone.deletion);
                }
                assert_eq!(seen, strongest, "seed {seed}");
            }
            for (key, _) in ranges.map.clone() {
                ranges.remove(key);
            }
            assert_eq!(ranges.bytes(), 0);
        }
    }
}
