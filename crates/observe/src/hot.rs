//! Which partitions work goes to, always on: Filtered Space-Saving, after Homem and Carvalho.
//!
//! Why this one: nearly every operation touches a key that is not hot, and for those this costs one counter. A cell counts
//! what the keys of its token range weigh together; a key is watched by name once its cell has seen more than the lightest
//! watched key weighs. Plain Space-Saving replaces a watched key with every cold one, which is a hash table's insertion and
//! removal per operation; HeavyKeeper and count-min with decay need several hashes per operation, and the token is one that
//! exists already. The heat map of the ring is counted beside it: reads, writes and bytes of 128 ranges of tokens.
//!
//! What is counted of a watched key is never too high; it is too low by at most `missed`, what its cell had seen before.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What operations did to a partition, or to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub reads: u64,
    pub writes: u64,
    /// Of rows that reads delivered and of mutations.
    pub bytes: u64,
    /// That reads delivered.
    pub rows: u64,
    /// Dead rows and range tombstones that reads met.
    pub tombstones: u64,
    /// Conditions that did not hold.
    pub refused: u64,
}

impl Load {
    pub fn add(&mut self, other: &Load) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes += other.bytes;
        self.rows += other.rows;
        self.tombstones += other.tombstones;
        self.refused += other.refused;
    }

    /// Reads and writes.
    pub fn operations(&self) -> u64 {
        self.reads + self.writes
    }

    /// One number for how much work it was: an operation, 32 rows and 4 KiB weigh the same.
    pub fn weight(&self) -> u64 {
        self.operations() + self.refused + ((self.rows + self.tombstones) >> 5) + (self.bytes >> 12)
    }
}

/// A partition that weighs much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotKey {
    pub table: u32,
    pub token: i64,
    /// The partition key as it is stored, cut at [`KEY_BYTES_MAX`].
    pub key: Box<[u8]>,
    pub load: Load,
    /// Of all its operations, see [`Load::weight`].
    pub weight: u64,
    /// The key may have weighed this much more before it was watched.
    pub missed: u64,
}

/// A stretch of time: who was hot, and what all did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    pub millis: u64,
    /// The heaviest first.
    pub keys: Vec<HotKey>,
    /// What each table had to do, hot or not; by table.
    pub tables: Vec<(u32, Load)>,
    /// Work by range of tokens, [`HEAT_RANGES`] of them; empty where nothing was done.
    pub heat: Vec<Heat>,
}

/// What was done in a range of tokens: a cell of the heat map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    pub reads: u64,
    pub writes: u64,
    pub bytes: u64,
}

impl Heat {
    fn add(&mut self, other: Heat) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes += other.bytes;
    }

    /// One number for how much work it was: an operation and 4 KiB weigh the same.
    pub fn weight(&self) -> u64 {
        self.reads + self.writes + (self.bytes >> 12)
    }
}

/// Adds range by range; either may be empty.
pub fn add_heat(sum: &mut Vec<Heat>, other: &[Heat]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), Heat::default());
    }
    sum.iter_mut().zip(other).for_each(|(sum, part)| sum.add(*part));
}

/// The range of the heat map that a token lies in.
pub fn range_of(token: i64) -> usize {
    cell_of(token) / (CELLS / HEAT_RANGES)
}

impl Slot {
    /// Adds what another shard has counted meanwhile. No partition is on both.
    pub fn join(&mut self, other: Slot) {
        self.millis = self.millis.max(other.millis);
        self.keys.extend(other.keys);
        self.keys.sort_by_key(|key| std::cmp::Reverse(key.weight));
        for (table, load) in other.tables {
            match self.tables.iter_mut().find(|(known, _)| *known == table) {
                Some((_, sum)) => sum.add(&load),
                None => self.tables.push((table, load)),
            }
        }
        add_heat(&mut self.heat, &other.heat);
    }
}

/// Longer keys are told apart by their hash, and shown cut.
pub const KEY_BYTES_MAX: usize = 1024;
/// Equal parts of the ring.
pub const HEAT_RANGES: usize = 128;

const CELLS: usize = 1 << 16;
const WATCHED: u32 = 1 << 31;
const COUNT: u32 = WATCHED - 1;

/// See the module. Belongs to one shard.
pub struct HotKeys {
    /// What unwatched keys of a token range weigh; the highest bit says that a key of the range is watched.
    cells: Box<[u32]>,
    places: HashMap<u64, usize, BuildHasherDefault<Identity>>,
    watched: Vec<Watched>,
    watched_max: usize,
    /// No watched key ranks below this; kept until a cell passes it.
    floor: u64,
    tables: Vec<(u32, Load)>,
    /// Where in `tables` the last operation was.
    last: usize,
    /// Where the search for a light key goes on, like the hand of a clock: many keys are as light as the floor, and a search from the
    /// beginning for each of them would cost more than the counting.
    hand: usize,
    ranges: Box<[Heat]>,
}

struct Watched {
    hash: u64,
    hot: HotKey,
    /// From the last stretch of time: who was hot stays for a while.
    prior: u64,
}

impl Watched {
    fn rank(&self) -> u64 {
        self.hot.weight + self.hot.missed + self.prior
    }
}

/// Hashes of keys are tokens, which are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn cell_of(token: i64) -> usize {
    // In the order of tokens, which are signed.
    (((token as u64) ^ (1 << 63)) >> 48) as usize
}

impl HotKeys {
    /// Watches so many keys, at least one.
    pub fn new(watched_max: usize) -> HotKeys {
        HotKeys {
            cells: vec![0; CELLS].into(),
            places: HashMap::default(),
            watched: Vec::new(),
            watched_max: watched_max.max(1),
            floor: 0,
            tables: Vec::new(),
            last: 0,
            hand: 0,
            ranges: vec![Heat::default(); HEAT_RANGES].into(),
        }
    }

    /// An operation on the partition with this key.
    #[inline]
    pub fn add(&mut self, table: u32, token: i64, key: &[u8], load: Load) {
        self.table(table).add(&load);
        let heat = Heat { reads: load.reads, writes: load.writes, bytes: load.bytes };
        self.ranges[range_of(token)].add(heat);
        let hash = (token as u64) ^ u64::from(table).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let cell = &mut self.cells[cell_of(token)];
        if *cell & WATCHED != 0
            && let Some(at) = self.places.get(&hash)
        {
            let hot = &mut self.watched[*at].hot;
            hot.load.add(&load);
            hot.weight += load.weight();
            return;
        }
        let weight = u32::try_from(load.weight()).unwrap_or(COUNT);
        let before = *cell & COUNT;
        let seen = before.saturating_add(weight).min(COUNT);
        if u64::from(seen) <= self.floor && self.watched.len() == self.watched_max {
            *cell = (*cell & WATCHED) | seen;
            return;
        }
        let (weight, missed) = (load.weight(), before.into());
        self.consider(HotKey { table, token, key: Box::default(), load, weight, missed }, key, hash);
    }

    /// A key whose cell has passed the floor: it is watched from now on, or the floor rises.
    #[cold]
    fn consider(&mut self, hot: HotKey, key: &[u8], hash: u64) {
        let new = Watched { hash, hot, prior: 0 };
        let at = if self.watched.len() < self.watched_max {
            self.watched.len()
        } else {
            let at = self.lightest();
            let lightest = self.watched[at].rank();
            if new.rank() <= lightest {
                let cell = &mut self.cells[cell_of(new.hot.token)];
                *cell = (*cell & WATCHED) | (new.rank().min(COUNT.into()) as u32);
                return;
            }
            self.forget(at);
            at
        };
        self.cells[cell_of(new.hot.token)] |= WATCHED;
        self.places.insert(hash, at);
        let key = key[..key.len().min(KEY_BYTES_MAX)].into();
        let new = Watched { hot: HotKey { key, ..new.hot }, ..new };
        match self.watched.get_mut(at) {
            Some(place) => *place = new,
            None => self.watched.push(new),
        }
    }

    /// A watched key that none is lighter than; there is one.
    fn lightest(&mut self) -> usize {
        for _ in 0..self.watched.len() {
            let at = self.hand % self.watched.len();
            if self.watched[at].rank() <= self.floor {
                self.hand = at;
                return at;
            }
            self.hand = at + 1;
        }
        // Nobody is as light as the floor any more: it rises.
        let ranks = self.watched.iter().map(Watched::rank).enumerate();
        let (at, lightest) = ranks.min_by_key(|(_, rank)| *rank).unwrap_or_default();
        (self.floor, self.hand) = (lightest, at);
        at
    }

    /// The key at this place is not watched any more: what it weighed counts for its cell again. The cell keeps its mark until the
    /// next stretch of time, which costs a look-up now and then.
    fn forget(&mut self, at: usize) {
        let Watched { hash, hot, .. } = &self.watched[at];
        self.places.remove(hash);
        let cell = &mut self.cells[cell_of(hot.token)];
        let weight = u32::try_from(hot.weight).unwrap_or(COUNT);
        *cell = (*cell & WATCHED) | (*cell & COUNT).saturating_add(weight).min(COUNT);
    }

    fn table(&mut self, table: u32) -> &mut Load {
        if self.tables.get(self.last).is_none_or(|(known, _)| *known != table) {
            self.last = match self.tables.binary_search_by_key(&table, |(known, _)| *known) {
                Ok(at) => at,
                Err(at) => {
                    self.tables.insert(at, (table, Load::default()));
                    at
                }
            };
        }
        &mut self.tables[self.last].1
    }

    /// Whether there was nothing to do since [`HotKeys::take`].
    pub fn is_idle(&self) -> bool {
        self.tables.is_empty()
    }

    /// What was counted since the last [`HotKeys::take`], and goes on.
    pub fn look(&self, millis: u64, keys_max: usize) -> Slot {
        let mut keys: Vec<&Watched> = self.watched.iter().filter(|w| w.hot.weight > 0).collect();
        keys.sort_by_key(|watched| (std::cmp::Reverse(watched.hot.weight), watched.hash));
        keys.truncate(keys_max);
        let heat = if self.is_idle() { Vec::new() } else { self.ranges.to_vec() };
        let keys = keys.into_iter().map(|watched| watched.hot.clone()).collect();
        Slot { millis, keys, tables: self.tables.clone(), heat }
    }

    /// What was counted since the last call. Counting begins anew; hot keys stay watched.
    pub fn take(&mut self, millis: u64, keys_max: usize) -> Slot {
        let slot = self.look(millis, keys_max);
        if self.is_idle() && self.watched.is_empty() {
            return slot;
        }
        self.tables.clear();
        self.ranges.fill(Heat::default());
        self.cells.fill(0);
        for watched in &self.watched {
            self.cells[cell_of(watched.hot.token)] = WATCHED;
        }
        for watched in &mut self.watched {
            watched.prior = watched.rank() / 4;
            watched.hot.load = Load::default();
            watched.hot.weight = 0;
            watched.hot.missed = 0;
        }
        self.floor = 0;
        self.hand = 0;
        slot
    }
}

#[cfg(test)]
mod tests;
