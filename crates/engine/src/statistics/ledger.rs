//! The ledger of a run: every partition of it that is large enough to matter, with exact bytes and rows.
//!
//! Sixteen bytes a partition, sorted by token, kept in memory while the file is open. Partitions that it leaves out are below its
//! [`Floor`], so the size of a partition over several runs is known to within one floor for each run that does not name it.
//! Two partitions of one token share an entry; that is one in 2^64.

use super::Largest;
use model::deletion::Timestamp;
use model::key::token_of;
use model::vint;
use store::PartitionLimit;

/// A partition is noted from either of these on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    pub bytes: u64,
    pub rows: u64,
}

/// Of tables without a limit: a noted partition costs at most a four-thousandth of what it holds.
impl Default for Floor {
    fn default() -> Floor {
        Floor { bytes: 64 << 10, rows: 1 << 10 }
    }
}

/// What a run leaves unnamed may hide this part of a limit.
const LIMIT_PARTS: u64 = 256;

impl Floor {
    /// Low enough for the table's limit to be noticed.
    pub fn for_limit(limit: Option<&PartitionLimit>) -> Floor {
        let usual = Floor::default();
        limit.map_or(usual, |limit| Floor {
            bytes: (limit.bytes / LIMIT_PARTS).clamp(1, usual.bytes),
            rows: (limit.rows / LIMIT_PARTS).clamp(1, usual.rows),
        })
    }
}

/// Bytes and rows of a partition, as they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: u64,
    pub rows: u64,
}

impl Held {
    pub fn add(&mut self, other: Held) {
        self.bytes += other.bytes;
        self.rows += other.rows;
    }
}

/// One partition of a run. Bytes and rows share a word; both stop counting at their end, far beyond any limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Noted {
    ring_position: u64,
    sizes: u64,
}

const ROWS_BITS: u32 = 28;
const ROWS_MAX: u64 = (1 << ROWS_BITS) - 1;
const BYTES_MAX: u64 = u64::MAX >> ROWS_BITS;

impl Noted {
    fn new(ring_position: u64, held: Held) -> Noted {
        Noted { ring_position, sizes: held.bytes.min(BYTES_MAX) << ROWS_BITS | held.rows.min(ROWS_MAX) }
    }

    fn held(self) -> Held {
        Held { bytes: self.sizes >> ROWS_BITS, rows: self.sizes & ROWS_MAX }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    floor: Floor,
    noted: Vec<Noted>,
}

impl Ledger {
    pub fn new(floor: Floor) -> Ledger {
        Ledger { floor, noted: Vec::new() }
    }

    /// Partitions come in storage order, which is the order of their tokens.
    pub fn add(&mut self, prefix: &[u8], held: Held) {
        if held.bytes < self.floor.bytes && held.rows < self.floor.rows {
            return;
        }
        let ring_position = token_of(prefix).ring_position();
        match self.noted.last_mut() {
            Some(last) if last.ring_position == ring_position => {
                let mut both = last.held();
                both.add(held);
                *last = Noted::new(ring_position, both);
            }
            last => {
                assert!(last.is_none_or(|last| last.ring_position < ring_position), "partitions ascend");
                self.noted.push(Noted::new(ring_position, held));
            }
        }
    }

    /// Of the partition at this place of the ring; `None` when it is below the floor or not there.
    pub fn find(&self, ring_position: u64) -> Option<Held> {
        let found = self.noted.binary_search_by_key(&ring_position, |noted| noted.ring_position).ok()?;
        Some(self.noted[found].held())
    }

    /// What a partition that is not noted may hold at most.
    pub fn unnoted_bytes_max(&self) -> u64 {
        self.floor.bytes - 1
    }

    /// Every noted partition: its place on the ring and what it holds.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Held)> {
        self.noted.iter().map(|noted| (noted.ring_position, noted.held()))
    }

    /// With when the largest partitions were first written, which came later than their own section.
    pub fn encode(&self, largest: &Largest, out: &mut Vec<u8>) {
        vint::put(out, self.floor.bytes);
        vint::put(out, self.floor.rows);
        vint::put(out, self.noted.len() as u64);
        let mut before = 0;
        for (ring_position, held) in self.iter() {
            vint::put(out, ring_position - before);
            vint::put(out, held.bytes);
            vint::put(out, held.rows);
            before = ring_position;
        }
        largest.sizes().iter().for_each(|size| vint::put_signed(out, size.oldest));
    }

    /// The ledger, and when each of the largest partitions was first written.
    pub fn decode(bytes: &mut &[u8]) -> Option<(Ledger, Vec<Timestamp>)> {
        let floor = Floor { bytes: vint::take(bytes)?.max(1), rows: vint::take(bytes)? };
        // Three bytes each at least: no count can make us reserve more than the section holds.
        let count = vint::take(bytes).filter(|n| *n <= bytes.len() as u64 / 3)?;
        let mut noted = Vec::with_capacity(count as usize);
        let mut before = 0u64;
        for n in 0..count {
            let step = vint::take(bytes).filter(|step| n == 0 || *step > 0)?;
            before = before.checked_add(step)?;
            noted.push(Noted::new(before, Held { bytes: vint::take(bytes)?, rows: vint::take(bytes)? }));
        }
        let mut oldest = Vec::new();
        while !bytes.is_empty() {
            oldest.push(vint::take_signed(bytes)?);
        }
        Some((Ledger { floor, noted }, oldest))
    }
}

/// Gives the largest partitions the times that their ledger remembers; older files have none.
pub fn date(largest: &mut Largest, oldest: &[Timestamp]) {
    for (size, oldest) in largest.sizes_mut().iter_mut().zip(oldest) {
        size.oldest = *oldest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::key::PartitionKey;

    #[test]
    fn a_ledger_keeps_what_is_above_its_floor() {
        let mut keys: Vec<PartitionKey> =
            (0..500u32).map(|n| PartitionKey::of(&n.to_be_bytes()).unwrap()).collect();
        keys.sort();
        let floor = Floor { bytes: 1000, rows: 50 };
        let mut ledger = Ledger::new(floor);
        let held = |n: usize| Held { bytes: n as u64 * 7, rows: n as u64 % 60 };
        keys.iter().enumerate().for_each(|(n, key)| ledger.add(key.prefix(), held(n)));
        let mut largest = Largest::default();
        largest.add(keys[3].prefix(), 5, 1, -7);
        let mut bytes = Vec::new();
        ledger.encode(&largest, &mut bytes);
        let (decoded, oldest) = Ledger::decode(&mut bytes.as_slice()).unwrap();
        assert_eq!((&decoded, oldest), (&ledger, vec![-7]));
        for (n, key) in keys.iter().enumerate() {
            let noted = held(n).bytes >= 1000 || held(n).rows >= 50;
            assert_eq!(decoded.find(key.token().ring_position()), noted.then(|| held(n)), "{n}");
        }
    }

    #[test]
    fn the_floor_follows_the_limit() {
        let limit = PartitionLimit { bytes: 2560, rows: u64::MAX, warn_bytes: 0, warn_rows: 0, refuse: true };
        assert_eq!(Floor::for_limit(Some(&limit)), Floor { bytes: 10, rows: 1024 });
        assert_eq!(Floor::for_limit(None), Floor::default());
    }
}
