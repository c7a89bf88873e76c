//! Building blocks from entries in storage order (layout: docs/format/table.md).

use super::block::ENTRIES_MAX;
use super::pack::{Packer, Parts};
use crate::cursor::Entry;
use model::deletion::Timestamp;
use model::vint;

/// Most position bytes that entries can share, as the layout has it.
const COMMON_BYTES_MAX: usize = u16::MAX as usize;

/// Collects entries until `finish` lays them out. Keeps its buffers between blocks.
#[derive(Default)]
pub struct BlockBuilder {
    /// Makes blocks of the packed layout.
    packer: Option<Packer>,
    partitions: Vec<PartitionPart>,
    prefixes: Vec<u8>,
    timestamps: Vec<Timestamp>,
    /// Whole positions, one after the other, and where each ends.
    positions: Vec<u8>,
    position_ends: Vec<usize>,
    payloads: Vec<u8>,
    payload_ends: Vec<usize>,
    raw: Vec<u8>,
}

struct PartitionPart {
    prefix_end: usize,
    first: usize,
    /// Bytes that all its positions share.
    common: usize,
}

impl BlockBuilder {
    /// A builder of packed blocks.
    pub fn packed() -> BlockBuilder {
        BlockBuilder { packer: Some(Packer::default()), ..BlockBuilder::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.timestamps.is_empty()
    }

    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    fn entries(&self) -> usize {
        self.timestamps.len()
    }

    /// Where the positions of entry `i` begin.
    fn position_start(&self, i: usize) -> usize {
        i.checked_sub(1).map_or(0, |before| self.position_ends[before])
    }

    /// About how long the block is, before compression.
    pub fn bytes(&self) -> usize {
        self.prefixes.len() + self.positions.len() + self.payloads.len() + 6 * self.entries()
    }

    /// Whether no further entry fits, whatever its size.
    pub fn is_full(&self, target: usize) -> bool {
        // Starts of entries must fit in sixteen bits; see `block`.
        self.bytes() >= target.min(ENTRIES_MAX / 2) || self.entries() >= ENTRIES_MAX / 2
    }

    /// Begins the next partition; entries without a partition before them are a mistake of the caller.
    pub fn begin_partition(&mut self, prefix: &[u8]) {
        self.prefixes.extend_from_slice(prefix);
        let (prefix_end, first) = (self.prefixes.len(), self.entries());
        self.partitions.push(PartitionPart { prefix_end, first, common: usize::MAX });
    }

    pub fn add(&mut self, entry: Entry<'_>) {
        let start = self.positions.len();
        let count = self.entries();
        let previous = count.checked_sub(1).map_or(0, |last| self.position_start(last));
        if let Some(partition) = self.partitions.last_mut() {
            partition.common = if count == partition.first {
                entry.position.len().min(COMMON_BYTES_MAX)
            } else {
                let shared = common_prefix(&self.positions[previous..start], entry.position);
                partition.common.min(shared)
            };
        }
        self.positions.extend_from_slice(entry.position);
        self.position_ends.push(self.positions.len());
        self.payloads.extend_from_slice(entry.rest);
        self.payload_ends.push(self.payloads.len());
        self.timestamps.push(entry.timestamp);
    }

    /// Position of the last entry.
    pub fn last_position(&self) -> &[u8] {
        let start = self.entries().checked_sub(1).map_or(0, |last| self.position_start(last));
        &self.positions[start..]
    }

    /// Lays the block out; the builder is empty afterwards.
    pub fn finish(&mut self) -> &[u8] {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        match self.packer.take() {
            Some(mut packer) => {
                self.pack(&mut packer, &mut raw);
                self.packer = Some(packer);
            }
            None => self.put_plain(&mut raw),
        }
        self.clear();
        self.raw = raw;
        &self.raw
    }

    fn pack(&self, packer: &mut Packer, raw: &mut Vec<u8>) {
        let mut partition_list = Vec::new();
        self.put_partitions(&mut partition_list);
        let count = |(i, part): (usize, &PartitionPart)| (self.end_of(i) - part.first, part.common);
        let counts: Vec<(usize, usize)> = self.partitions.iter().enumerate().map(count).collect();
        let parts = Parts {
            partitions: self.partitions.len(),
            partition_list: &partition_list,
            counts: &counts,
            timestamps: &self.timestamps,
            position_ends: &self.position_ends,
            positions: &self.positions,
            payload_ends: &self.payload_ends,
            payloads: &self.payloads,
        };
        packer.pack(&parts, raw);
    }

    fn put_plain(&self, raw: &mut Vec<u8>) {
        let base = self.timestamps.iter().copied().min().unwrap_or(0);
        let delta = |timestamp: Timestamp| timestamp.wrapping_sub(base).cast_unsigned();
        vint::put(raw, self.entries() as u64);
        vint::put(raw, self.partitions.len() as u64);
        vint::put_signed(raw, base);
        self.put_partitions(raw);
        for (start, end) in self.each_suffix() {
            vint::put(raw, (end - start) as u64);
        }
        let mut start = 0;
        for end in &self.payload_ends {
            vint::put(raw, (end - start) as u64);
            start = *end;
        }
        let largest = self.timestamps.iter().map(|timestamp| delta(*timestamp)).max().unwrap_or(0);
        let width = (64 - largest.leading_zeros() as usize).div_ceil(8);
        raw.push(width as u8);
        for timestamp in &self.timestamps {
            raw.extend_from_slice(&delta(*timestamp).to_le_bytes()[..width]);
        }
        for (start, end) in self.each_suffix() {
            raw.extend_from_slice(&self.positions[start..end]);
        }
        raw.extend_from_slice(&self.payloads);
    }

    /// Index of the first entry behind partition `i`.
    fn end_of(&self, i: usize) -> usize {
        self.partitions.get(i + 1).map_or(self.entries(), |next| next.first)
    }

    fn put_partitions(&self, raw: &mut Vec<u8>) {
        let mut prefix_start = 0;
        for (i, partition) in self.partitions.iter().enumerate() {
            let end = self.end_of(i);
            debug_assert!(end > partition.first, "a partition without entries");
            vint::put(raw, (end - partition.first) as u64);
            vint::put(raw, partition.common as u64);
            raw.extend_from_slice(&self.prefixes[prefix_start..partition.prefix_end]);
            let start = self.position_start(partition.first);
            raw.extend_from_slice(&self.positions[start..start + partition.common]);
            prefix_start = partition.prefix_end;
        }
    }

    /// Where the position bytes of every entry behind the shared ones lie.
    fn each_suffix(&self) -> impl Iterator<Item = (usize, usize)> {
        self.partitions.iter().enumerate().flat_map(move |(i, partition)| {
            let entries = partition.first..self.end_of(i);
            entries
                .map(move |entry| (self.position_start(entry) + partition.common, self.position_ends[entry]))
        })
    }

    fn clear(&mut self) {
        self.partitions.clear();
        self.prefixes.clear();
        self.timestamps.clear();
        self.positions.clear();
        self.position_ends.clear();
        self.payloads.clear();
        self.payload_ends.clear();
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
