//! Building blocks from entries in storage order (layout: docs/format/table.md).

use super::block::ENTRIES_MAX;
use crate::cursor::Entry;
use model::deletion::Timestamp;
use model::vint;

/// Most position bytes that entries can share, as the layout has it.
const COMMON_BYTES_MAX: usize = u16::MAX as usize;

/// Collects entries until `finish` lays them out. Keeps its buffers between blocks.
#[derive(Default)]
pub struct BlockBuilder {
    partitions: Vec<PartitionPart>,
    prefixes: Vec<u8>,
    entries: Vec<EntryPart>,
    /// Whole positions, one after the other.
    positions: Vec<u8>,
    payloads: Vec<u8>,
    base: Timestamp,
    raw: Vec<u8>,
}

struct PartitionPart {
    prefix_end: usize,
    first: usize,
    /// Bytes that all its positions share.
    common: usize,
}

struct EntryPart {
    position_end: usize,
    payload_end: usize,
    timestamp: Timestamp,
}

impl BlockBuilder {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// About how long the block is, before compression.
    pub fn bytes(&self) -> usize {
        self.prefixes.len() + self.positions.len() + self.payloads.len() + 6 * self.entries.len()
    }

    /// Whether no further entry fits, whatever its size.
    pub fn is_full(&self, target: usize) -> bool {
        // Starts of entries must fit in sixteen bits; see `block`.
        self.bytes() >= target.min(ENTRIES_MAX / 2) || self.entries.len() >= ENTRIES_MAX / 2
    }

    /// Begins the next partition; entries without a partition before them are a mistake of the caller.
    pub fn begin_partition(&mut self, prefix: &[u8]) {
        self.prefixes.extend_from_slice(prefix);
        let (prefix_end, first) = (self.prefixes.len(), self.entries.len());
        self.partitions.push(PartitionPart { prefix_end, first, common: usize::MAX });
    }

    pub fn add(&mut self, entry: Entry<'_>) {
        let start = self.positions.len();
        if let Some(partition) = self.partitions.last_mut() {
            let previous_start = match self.entries.len() {
                n if n > partition.first + 1 => self.entries[n - 2].position_end,
                n if n > partition.first => {
                    partition.first.checked_sub(1).map_or(0, |last| self.entries[last].position_end)
                }
                _ => start,
            };
            partition.common = if self.entries.len() == partition.first {
                entry.position.len().min(COMMON_BYTES_MAX)
            } else {
                let previous = &self.positions[previous_start..start];
                partition.common.min(common_prefix(previous, entry.position))
            };
        }
        self.positions.extend_from_slice(entry.position);
        self.payloads.extend_from_slice(entry.rest);
        self.base = if self.entries.is_empty() { entry.timestamp } else { self.base.min(entry.timestamp) };
        self.entries.push(EntryPart {
            position_end: self.positions.len(),
            payload_end: self.payloads.len(),
            timestamp: entry.timestamp,
        });
    }

    /// Position of the last entry.
    pub fn last_position(&self) -> &[u8] {
        let start = self.entries.len().checked_sub(2).map_or(0, |i| self.entries[i].position_end);
        &self.positions[start..]
    }

    /// Lays the block out; the builder is empty afterwards.
    pub fn finish(&mut self) -> &[u8] {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        vint::put(&mut raw, self.entries.len() as u64);
        vint::put(&mut raw, self.partitions.len() as u64);
        vint::put_signed(&mut raw, self.base);
        self.put_partitions(&mut raw);
        for (common, start, i) in self.each_entry() {
            vint::put(&mut raw, (self.entries[i].position_end - start - common) as u64);
        }
        let mut start = 0;
        for entry in &self.entries {
            vint::put(&mut raw, (entry.payload_end - start) as u64);
            start = entry.payload_end;
        }
        let largest = self.entries.iter().map(|entry| self.delta(entry.timestamp)).max().unwrap_or(0);
        let width = (64 - largest.leading_zeros() as usize).div_ceil(8);
        raw.push(width as u8);
        for entry in &self.entries {
            raw.extend_from_slice(&self.delta(entry.timestamp).to_le_bytes()[..width]);
        }
        for (common, start, i) in self.each_entry() {
            raw.extend_from_slice(&self.positions[start + common..self.entries[i].position_end]);
        }
        raw.extend_from_slice(&self.payloads);
        self.clear();
        self.raw = raw;
        &self.raw
    }

    fn put_partitions(&self, raw: &mut Vec<u8>) {
        let mut prefix_start = 0;
        for (i, partition) in self.partitions.iter().enumerate() {
            let end = self.partitions.get(i + 1).map_or(self.entries.len(), |next| next.first);
            debug_assert!(end > partition.first, "a partition without entries");
            vint::put(raw, (end - partition.first) as u64);
            vint::put(raw, partition.common as u64);
            raw.extend_from_slice(&self.prefixes[prefix_start..partition.prefix_end]);
            let start = partition.first.checked_sub(1).map_or(0, |last| self.entries[last].position_end);
            raw.extend_from_slice(&self.positions[start..start + partition.common]);
            prefix_start = partition.prefix_end;
        }
    }

    /// (shared bytes, start of position, index) of every entry.
    fn each_entry(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut partition = 0;
        let mut start = 0;
        self.entries.iter().enumerate().map(move |(i, entry)| {
            while self.partitions.get(partition + 1).is_some_and(|next| next.first <= i) {
                partition += 1;
            }
            let item = (self.partitions[partition].common, start, i);
            start = entry.position_end;
            item
        })
    }

    fn delta(&self, timestamp: Timestamp) -> u64 {
        timestamp.wrapping_sub(self.base) as u64
    }

    fn clear(&mut self) {
        self.partitions.clear();
        self.prefixes.clear();
        self.entries.clear();
        self.positions.clear();
        self.payloads.clear();
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::block::{Block, Place};
    use rt::Random;

    #[test]
    fn entries_come_back_and_are_found() {
        for seed in 0..200 {
            let mut random = Random::seeded(seed);
            let mut builder = BlockBuilder::default();
            let mut expected = vec![];
            for p in 0..1 + random.below(4) {
                let prefix = crate::cursor::testing::key(0).prefix()[..8]
                    .iter()
                    .copied()
                    .chain([0, 2, p as u8, 7])
                    .collect::<Vec<u8>>();
                builder.begin_partition(&prefix);
                let mut n = random.below(5);
                for _ in 0..1 + random.below(20) {
                    n += 1 + random.below(300);
                    let position = [&[3, 9, 9][..], &n.to_be_bytes()[5..]].concat();
                    let timestamp = random.next_u64() as i64 >> random.below(64);
                    let rest = vec![n as u8; random.below(9) as usize];
                    builder.add(Entry { position: &position, timestamp, rest: &rest });
                    assert_eq!(builder.last_position(), position);
                    expected.push((prefix.clone(), position, timestamp, rest));
                }
            }
            let block = Block::decode(builder.finish().to_vec()).unwrap();
            assert!(block.check() && builder.is_empty());
            assert_eq!(block.entries(), expected.len());
            for (i, (prefix, position, timestamp, rest)) in expected.iter().enumerate() {
                let p = block.partition_of(i);
                assert_eq!(block.prefix(p), prefix);
                assert_eq!([block.common(p), block.suffix(i)].concat(), *position);
                let (ts, start, end) = block.payload(i).unwrap();
                assert_eq!((ts, &block.raw()[start as usize..end as usize]), (*timestamp, rest.as_slice()));
                assert_eq!(block.lower_bound(prefix, position), Place { partition: p, entry: i });
                let behind = [position, &[0][..]].concat();
                assert_eq!(block.lower_bound(prefix, &behind).entry, i + 1);
            }
        }
    }

    #[test]
    fn damaged_blocks_do_not_panic() {
        let mut builder = BlockBuilder::default();
        builder.begin_partition(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 5]);
        for n in 0..20u8 {
            builder.add(Entry { position: &[3, n], timestamp: n as i64, rest: b"abc" });
        }
        let raw = builder.finish().to_vec();
        for at in 0..raw.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = raw.clone();
                damaged[at] = value;
                let Some(block) = Block::decode(damaged) else { continue };
                block.check();
                for i in 0..=block.entries() {
                    std::hint::black_box((block.suffix(i), block.payload(i), block.partition_of(i)));
                }
                block.lower_bound(&[9; 12], &[3, 4]);
                block.lower_bound(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 5], &[3, 4]);
            }
            assert!(Block::decode(raw[..at].to_vec()).is_none_or(|b| b.entries() == 0));
        }
    }
}
