//! The cache keeps to its budget and gives back what was put in.

use super::*;
use crate::cursor::Cursor;
use crate::cursor::testing::{Shape, copied, mutation, test_disk, writer_options};
use crate::memtable::Memtable;
use rt::Random;
use store::Compression;

/// Reads a file of many blocks through a cache of `budget` bytes, twice.
fn read_through(budget: u64) -> (CacheCounts, BlockCache) {
    let mut random = Random::seeded(1);
    let mut memtable = Memtable::new();
    let shape = Shape { partitions: 50, clusterings: 800, ..Shape::SMALL };
    (0..3000).for_each(|n| memtable.apply(&mutation(&mut random, shape), n));
    let disk = test_disk();
    let table = copied(&disk, 9, &mut memtable.cursor(), writer_options(2000, Compression::Lz4));
    let cache = BlockCache::new(budget);
    for _ in 0..2 {
        let mut cursor = table.cursor(Some(&cache));
        cursor.seek_partition(&[]).unwrap();
        while cursor.partition().is_some() {
            while cursor.entry().is_some() {
                cursor.next().unwrap();
            }
            assert!(cache.counts().bytes <= budget, "{:?}", cache.counts());
            cursor.next_partition().unwrap();
        }
    }
    (cache.counts(), cache)
}

#[test]
fn the_budget_holds_and_what_fits_is_read_once() {
    let (all, cache) = read_through(10 << 20);
    assert_eq!(all.misses, all.blocks);
    assert!(all.hits >= all.misses && all.blocks > 50, "{all:?}");
    let (some, _) = read_through(all.bytes / 4);
    assert!(some.blocks > 0 && some.misses > all.misses, "{some:?}");
    let (none, _) = read_through(0);
    assert_eq!((none.blocks, none.bytes), (0, 0));
    cache.forget_file(8);
    assert_eq!(cache.counts().blocks, all.blocks);
    cache.forget_file(9);
    assert_eq!((cache.counts().blocks, cache.counts().bytes), (0, 0));
}

#[test]
fn keys_of_neighbouring_blocks_are_spread() {
    use std::hash::BuildHasher;
    let hasher = BuildHasherDefault::<KeyHasher>::default();
    let hash = |file, offset| hasher.hash_one(BlockKey { file, offset });
    let mut buckets = [0u32; 256];
    for n in 0..25_600u64 {
        buckets[(hash(n % 7, n * 11_003) & 255) as usize] += 1;
        buckets[(hash(n % 7, n * 11_003) >> 57) as usize] += 1;
    }
    assert!(buckets.iter().all(|n| *n < 1000), "{buckets:?}");
}
