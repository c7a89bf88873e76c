//! Row filters: which rows a data block may hold, asked before the block is read (layout: docs/format/table.md).
//!
//! The filter of a block lies in its index entry, so it is in memory with the index. Only blocks of wide
//! partitions have one: for others the partition filter has answered the question already.

use xxhash_rust::xxh3::xxh3_64;

const BITS_PER_ROW: usize = 10;
/// Bits set for each row: close to the best for ten bits.
const PROBES: u64 = 6;
/// Blocks with fewer entries for each partition than this have no filter.
const WIDE: usize = 4;
/// Smaller blocks are not worth asking about.
const ENTRIES_MIN: usize = 8;

/// A row of a partition, as the filter sees it.
#[inline]
pub fn hash_of(prefix_hash: u64, position: &[u8]) -> u64 {
    xxh3_64(position) ^ prefix_hash.rotate_left(32)
}

fn bits(hash: u64, count: usize) -> impl Iterator<Item = usize> {
    let (first, step) = (hash & 0xffff_ffff, hash >> 32 | 1);
    let bit = move |i: u64| ((first.wrapping_add(i.wrapping_mul(step)) & 0xffff_ffff) * count as u64) >> 32;
    (0..PROBES).map(move |i| bit(i) as usize)
}

/// Appends the filter of a block with these entries; nothing when none is worth it.
pub fn put(out: &mut Vec<u8>, hashes: &[u64], partitions: usize) {
    if hashes.len() < ENTRIES_MIN || hashes.len() < partitions * WIDE {
        return;
    }
    let start = out.len();
    out.resize(start + (hashes.len() * BITS_PER_ROW).div_ceil(8), 0);
    let filter = &mut out[start..];
    let count = filter.len() * 8;
    hashes.iter().flat_map(|hash| bits(*hash, count)).for_each(|bit| filter[bit / 8] |= 1 << (bit % 8));
}

/// Whether the block may hold the row; `false` is certain. An empty filter knows nothing.
#[inline]
pub fn may_contain(filter: &[u8], hash: u64) -> bool {
    let set = |bit: usize| filter.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    filter.is_empty() || bits(hash, filter.len() * 8).all(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_block_pass_and_few_others() {
        let hash = |n: u32| hash_of(7, &n.to_be_bytes());
        let mut filter = vec![];
        put(&mut filter, &(0..140).map(hash).collect::<Vec<_>>(), 1);
        assert_eq!(filter.len(), 175);
        assert!((0..140).all(|n| may_contain(&filter, hash(n))));
        let wrong = (140..20_140).filter(|n| may_contain(&filter, hash(*n))).count();
        assert!(wrong < 400, "{wrong} of 20,000");
        assert!(may_contain(&[], 5));
        let mut narrow = vec![];
        put(&mut narrow, &(0..140).map(hash).collect::<Vec<_>>(), 100);
        assert!(narrow.is_empty());
    }
}
