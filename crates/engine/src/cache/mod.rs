//! The block cache of a shard: decoded blocks within a budget of bytes.
//!
//! One cache per shard and not one for all: files belong to one shard, so no two shards want the same block,
//! and a cache without locks or atomic counters costs less than a shared one. The price is that the
//! budget is divided evenly, whatever the load; shards are cut evenly too. Eviction is quick_cache's
//! (CLOCK with a ghost list), which a scan does not flush. Compaction does not go through it.

#[cfg(test)]
mod tests;

use crate::table::block::Block;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use std::cell::{Cell, RefCell};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A block: the number of its file, unique in the database, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    pub file: u64,
    pub offset: u64,
}

pub struct BlockCache {
    blocks: RefCell<Cache<BlockKey, Arc<Block>, BlockWeight, BuildHasherDefault<KeyHasher>>>,
    hits: Cell<u64>,
    misses: Cell<u64>,
}

#[derive(Clone)]
struct BlockWeight;

/// Besides the block itself: its entry in the map and the counters of its `Arc`.
const ENTRY_BYTES: u64 = 64;

impl Weighter<BlockKey, Arc<Block>> for BlockWeight {
    fn weight(&self, _: &BlockKey, block: &Arc<Block>) -> u64 {
        block.bytes() as u64 + ENTRY_BYTES
    }
}

/// Two multiplications: the keys are small numbers that nobody chooses maliciously.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// How a cache has served since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    pub hits: u64,
    pub misses: u64,
    pub bytes: u64,
    pub blocks: u64,
}

impl BlockCache {
    /// Holds at most `budget_bytes` of blocks; nothing at all when that is zero.
    pub fn new(budget_bytes: u64) -> BlockCache {
        // Decoded blocks are about this large; only sizes the first allocation.
        const TYPICAL_BLOCK_BYTES: u64 = 17 << 10;
        let expected = (budget_bytes / TYPICAL_BLOCK_BYTES).clamp(16, 1 << 20) as usize;
        let hasher = BuildHasherDefault::default();
        let blocks = Cache::with(expected, budget_bytes, BlockWeight, hasher, Default::default());
        BlockCache { blocks: RefCell::new(blocks), hits: Cell::new(0), misses: Cell::new(0) }
    }

    #[inline]
    pub fn get(&self, key: BlockKey) -> Option<Arc<Block>> {
        let found = self.blocks.borrow().get(&key).cloned();
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.set(counter.get() + 1);
        found
    }

    pub fn insert(&self, key: BlockKey, block: Arc<Block>) {
        self.blocks.borrow_mut().insert(key, block);
    }

    /// Forgets the blocks of a file that is gone.
    pub fn forget_file(&self, file: u64) {
        self.blocks.borrow_mut().retain(|key, _| key.file != file);
    }

    /// (hits, misses) so far.
    #[inline]
    pub fn looked_up(&self) -> (u64, u64) {
        (self.hits.get(), self.misses.get())
    }

    pub fn counts(&self) -> CacheCounts {
        let blocks = self.blocks.borrow();
        CacheCounts {
            hits: self.hits.get(),
            misses: self.misses.get(),
            bytes: blocks.weight(),
            blocks: blocks.len() as u64,
        }
    }
}
