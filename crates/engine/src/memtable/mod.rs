//! The memtable: recent writes of one table on one shard, as one sorted run in memory.
//!
//! Guarantees: applying mutations commutes and repeats safely; within the memtable range tombstones
//! are disjoint; what a partition's deletion hides is dropped where that is cheap (readers apply
//! deletions anyway). A memtable is owned by its shard while it takes writes. To freeze it, move it
//! into an `Arc`: everything but [`Memtable::apply`] works on a shared reference from any thread.
//! Does not flush itself and does not know budgets: see [`Memtable::bytes`] and [`Memtable::is_full`].

mod arena;
mod cursor;
mod partition;
mod ranges;
mod rows;
#[cfg(test)]
mod tests;

pub use cursor::MemtableCursor;
pub use partition::Partition;

use arena::Arena;
use model::deletion::Timestamp;
use model::key::token_of;
use partition::{Change, Scratch};
use std::collections::BTreeMap;
use store::Mutation;
use store::mutation::Entries;

/// Estimated cost of a partition besides its bytes: the struct, its map entry, allocator rounding.
const PARTITION_OVERHEAD_BYTES: usize = size_of::<Partition>() + 64;

#[derive(Default)]
pub struct Memtable {
    arena: Arena,
    partitions: Vec<Partition>,
    /// Ring position to partitions. Tokens are hashes, so nearly every bucket holds one.
    by_token: BTreeMap<u64, Bucket>,
    scratch: Scratch,
    index_bytes: usize,
    timestamps: Option<(Timestamp, Timestamp)>,
    segments: Option<(u64, u64)>,
    mutations: u64,
    /// The partition of the mutation before: batches stay in one.
    latest: usize,
    /// Partitions that have grown to [`LARGE_BYTES`] or [`LARGE_ROWS`].
    large: Vec<u32>,
}

/// A partition that is worth naming among many: see `statistics::Floor`.
const LARGE_BYTES: u64 = 64 << 10;
const LARGE_ROWS: u64 = 1 << 10;

/// Partitions with one token, in storage order: indices into `partitions`.
enum Bucket {
    One(u32),
    Many(Vec<u32>),
}

impl Bucket {
    fn as_slice(&self) -> &[u32] {
        match self {
            Bucket::One(index) => std::slice::from_ref(index),
            Bucket::Many(indices) => indices,
        }
    }
}

fn ring_position(prefix: &[u8]) -> u64 {
    token_of(prefix).ring_position()
}

impl Memtable {
    pub fn new() -> Memtable {
        Memtable::default()
    }

    /// Merges a mutation, which came from the log segment `segment`, into what is there.
    /// The caller has checked the mutation; its deferred operations are not looked at.
    pub fn apply(&mut self, mutation: &Mutation, segment: u64) {
        self.apply_entries(mutation.key.prefix(), mutation.entries(), segment);
    }

    /// The same, of a mutation that lies in a log record: its partition and its entries.
    pub fn apply_entries(&mut self, prefix: &[u8], entries: Entries<'_>, segment: u64) {
        let index = self.partition_index(prefix);
        let partition = &mut self.partitions[index];
        let was_large = partition.is_large();
        for entry in entries {
            let Change { grown_bytes, timestamps } =
                partition.apply(&mut self.arena, &mut self.scratch, entry);
            self.index_bytes += grown_bytes;
            if let Some((low, high)) = timestamps {
                let (min, max) = self.timestamps.unwrap_or((low, high));
                self.timestamps = Some((min.min(low), max.max(high)));
            }
        }
        if !was_large && partition.is_large() {
            self.large.push(index as u32);
        }
        let (first, last) = self.segments.unwrap_or((segment, segment));
        self.segments = Some((first.min(segment), last.max(segment)));
        self.mutations += 1;
    }

    #[inline]
    fn partition_index(&mut self, prefix: &[u8]) -> usize {
        if self.partitions.get(self.latest).is_none_or(|p| p.prefix() != prefix) {
            self.latest = self.find_or_add(prefix);
        }
        self.latest
    }

    fn find_or_add(&mut self, prefix: &[u8]) -> usize {
        let token = ring_position(prefix);
        let next = self.partitions.len() as u32;
        let partitions = &self.partitions;
        let bucket = self.by_token.entry(token).or_insert(Bucket::One(next));
        let place = match bucket.as_slice() {
            [index] if *index == next => Err(0),
            indices => indices.binary_search_by(|&i| partitions[i as usize].prefix().cmp(prefix)),
        };
        match (place, &mut *bucket) {
            (Ok(place), bucket) => return bucket.as_slice()[place] as usize,
            (Err(_), Bucket::One(index)) if *index == next => {}
            (Err(place), Bucket::One(index)) => {
                let mut indices = vec![*index];
                indices.insert(place, next);
                *bucket = Bucket::Many(indices);
            }
            (Err(place), Bucket::Many(indices)) => indices.insert(place, next),
        }
        self.index_bytes += prefix.len() + PARTITION_OVERHEAD_BYTES;
        self.partitions.push(Partition::new(prefix));
        next as usize
    }

    pub fn is_empty(&self) -> bool {
        self.mutations == 0
    }

    /// Memory held: what the shard's budget counts.
    pub fn bytes(&self) -> usize {
        self.arena.bytes() + self.index_bytes
    }

    /// Whether the memtable must be sealed whatever the budget says: its addresses run out.
    pub fn is_full(&self) -> bool {
        self.arena.is_full() || self.partitions.len() > (u32::MAX / 2) as usize
    }

    /// Lowest and highest log segment of the mutations applied.
    pub fn log_segments(&self) -> Option<(u64, u64)> {
        self.segments
    }

    /// Smallest and largest timestamp of anything applied (bounds: some of it may be dropped since).
    pub fn timestamps(&self) -> Option<(Timestamp, Timestamp)> {
        self.timestamps
    }

    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// The partition with this storage prefix.
    #[inline]
    pub fn partition(&self, prefix: &[u8]) -> Option<&Partition> {
        let indices = self.by_token.get(&ring_position(prefix))?.as_slice();
        let mut found = indices.iter().map(|&i| &self.partitions[i as usize]);
        found.find(|p| p.prefix() == prefix)
    }

    /// The partition at this place of the ring: the first of those that share it.
    pub fn partition_at(&self, ring_position: u64) -> Option<&Partition> {
        let first = *self.by_token.get(&ring_position)?.as_slice().first()?;
        self.partitions.get(first as usize)
    }

    /// Clustering bytes of the first and the last row of one of its partitions.
    pub fn row_bounds<'a>(&'a self, partition: &'a Partition) -> Option<(&'a [u8], &'a [u8])> {
        let clustering = |place| {
            let position = partition.rows.get(place)?.position(&self.arena);
            position.get(1..)
        };
        Some((clustering(partition.rows.first()?)?, clustering(partition.rows.last()?)?))
    }

    /// Every partition, in no particular order: for statistics.
    pub fn each_partition(&self) -> impl Iterator<Item = &Partition> {
        self.partitions.iter()
    }

    /// Every partition that has grown large; some may have been deleted since, or are named again.
    pub fn large_partitions(&self) -> impl Iterator<Item = &Partition> {
        let mut places = self.large.clone();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| self.partitions.get(place as usize)).filter(|p| p.is_large())
    }

    /// The first partition at or behind `prefix` (behind only, if `excluded`).
    fn partition_from(&self, prefix: &[u8], excluded: bool) -> Option<&Partition> {
        let admitted = |p: &&Partition| if excluded { p.prefix() > prefix } else { p.prefix() >= prefix };
        let buckets = self.by_token.range(ring_position(prefix)..);
        buckets.flat_map(|(_, b)| b.as_slice()).map(|&i| &self.partitions[i as usize]).find(admitted)
    }

    pub fn cursor(&self) -> MemtableCursor<'_> {
        MemtableCursor::new(self)
    }
}
