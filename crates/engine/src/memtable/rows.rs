//! The rows of one partition in a memtable: slots sorted by clustering, in short chunks.
//!
//! A chunked sorted list instead of a tree: appending at either end (time series, both clustering
//! orders) moves nothing, inserting in the middle moves at most one chunk of slots, and reading in
//! both directions walks an array. The first clustering bytes lie in the slot, so most comparisons
//! touch no record. A chunk knows from when on all of its rows are dead, so that a reader skips the
//! remains of a queue, or expired rows, a chunk at a time.

use super::arena::{Address, Arena};
use model::row::{NEVER, RowView};
use std::cmp::Ordering;

/// Slots in a chunk: 64 of 24 bytes, about the cost of one cache-missing record to move.
const CHUNK_SLOTS_MAX: usize = 64;

/// One row: where its position and payload lie.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The first eight clustering bytes as a number, padded with zeros: orders as the bytes do.
    head: u64,
    at: Address,
    position_len: u32,
    payload_len: u32,
    /// Bytes reserved for the payload; at least `payload_len`.
    payload_room: u32,
}

/// The place of a row: chunk and index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    chunk: usize,
    index: usize,
}

#[derive(Default)]
pub struct Rows {
    chunks: Vec<Chunk>,
    len: usize,
}

#[derive(Default)]
struct Chunk {
    slots: Vec<Slot>,
    /// Rows with something that does not expire.
    lasting: u32,
    /// None of the other rows is live from this second on.
    others_dead_from: u32,
}

impl Chunk {
    fn with_room() -> Chunk {
        Chunk { slots: Vec::with_capacity(CHUNK_SLOTS_MAX), ..Chunk::default() }
    }

    /// From this second on no row of it is live.
    #[inline]
    fn dead_from(&self) -> u32 {
        if self.lasting > 0 { NEVER } else { self.others_dead_from }
    }

    /// Counts a row that is dead from that second on.
    #[inline]
    fn count(&mut self, dead_from: u32) {
        match dead_from {
            NEVER => self.lasting += 1,
            _ => self.others_dead_from = self.others_dead_from.max(dead_from),
        }
    }

    /// The upper half, as a chunk of its own.
    fn split(&mut self, arena: &Arena) -> Chunk {
        let mut tail = Chunk::with_room();
        tail.slots.extend(self.slots.drain(CHUNK_SLOTS_MAX / 2..));
        for i in 0..tail.slots.len() {
            let row = RowView::from_payload(tail.slots[i].record(arena).1);
            tail.count(row.map_or(0, |row| row.dead_from()));
        }
        self.lasting = self.lasting.saturating_sub(tail.lasting);
        tail
    }
}

#[inline]
fn head_of(position: &[u8]) -> u64 {
    match position.get(1..9) {
        Some(bytes) => u64::from_be_bytes(bytes.try_into().unwrap_or_default()),
        None => {
            let tail = position.get(1..).unwrap_or_default();
            tail.iter().enumerate().fold(0, |head, (i, &b)| head | u64::from(b) << (56 - 8 * i))
        }
    }
}

impl Slot {
    #[inline]
    pub fn position<'a>(&self, arena: &'a Arena) -> &'a [u8] {
        arena.get(self.at, self.position_len as usize)
    }

    /// Position and payload.
    #[inline]
    pub fn record<'a>(&self, arena: &'a Arena) -> (&'a [u8], &'a [u8]) {
        let len = (self.position_len + self.payload_len) as usize;
        arena.get(self.at, len).split_at(self.position_len as usize)
    }

    #[inline]
    fn compare(&self, arena: &Arena, head: u64, position: &[u8]) -> Ordering {
        self.head.cmp(&head).then_with(|| self.position(arena).cmp(position))
    }

    /// A record for a new row.
    pub fn store(arena: &mut Arena, position: &[u8], payload: &[u8]) -> Slot {
        Slot {
            head: head_of(position),
            at: arena.push([position, payload]),
            position_len: position.len() as u32,
            payload_len: payload.len() as u32,
            payload_room: payload.len() as u32,
        }
    }

    /// Gives the row another payload: in place when it fits, else in a new record.
    pub fn replace(&mut self, arena: &mut Arena, payload: &[u8]) {
        if payload.len() <= self.payload_room as usize {
            let start = self.position_len as usize;
            let record = arena.get_mut(self.at, start + payload.len());
            record[start..].copy_from_slice(payload);
        } else {
            let position = self.position(arena).to_vec();
            self.at = arena.push([&position, payload]);
            self.payload_room = payload.len() as u32;
        }
        self.payload_len = payload.len() as u32;
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn clear(&mut self) {
        *self = Rows::default();
    }

    #[inline]
    pub fn get(&self, place: Place) -> Option<&Slot> {
        self.chunks.get(place.chunk)?.slots.get(place.index)
    }

    pub fn get_mut(&mut self, place: Place) -> Option<&mut Slot> {
        self.chunks.get_mut(place.chunk)?.slots.get_mut(place.index)
    }

    /// The row there was dead from `before` on and is dead from `after` on since its payload was replaced.
    pub fn replaced(&mut self, place: Place, before: u32, after: u32) {
        let Some(chunk) = self.chunks.get_mut(place.chunk) else { return };
        if before == NEVER {
            chunk.lasting = chunk.lasting.saturating_sub(1);
        }
        chunk.count(after);
    }

    /// If every row of the chunk is dead at that second: the chunk's last row (its first, in reverse) and how many
    /// rows lie between, that one counted.
    #[inline]
    pub fn dead_stretch(&self, place: Place, now_seconds: u32, reverse: bool) -> Option<(Place, usize)> {
        let chunk = self.chunks.get(place.chunk).filter(|chunk| chunk.dead_from() <= now_seconds)?;
        let index = if reverse { 0 } else { chunk.slots.len().checked_sub(1)? };
        Some((Place { chunk: place.chunk, index }, index.abs_diff(place.index)))
    }

    /// The row at `position` (of kind row: the kind byte is not compared), or the place where it would be inserted.
    #[inline]
    pub fn find(&self, arena: &Arena, position: &[u8]) -> Result<Place, Place> {
        let head = head_of(position);
        let Some((last_chunk, last)) = self.chunks.len().checked_sub(1).zip(self.chunks.last()) else {
            return Err(Place { chunk: 0, index: 0 });
        };
        // Appending is the common case: look at the last row first.
        let last = &last.slots;
        match last.last().map(|slot| slot.compare(arena, head, position)) {
            Some(Ordering::Less) => return Err(Place { chunk: last_chunk, index: last.len() }),
            Some(Ordering::Equal) => return Ok(Place { chunk: last_chunk, index: last.len() - 1 }),
            _ => {}
        }
        let starts_at_or_before =
            |chunk: &Chunk| chunk.slots.first().is_some_and(|s| s.compare(arena, head, position).is_le());
        let chunk = self.chunks.partition_point(starts_at_or_before).saturating_sub(1);
        let slots = &self.chunks[chunk].slots;
        match slots.binary_search_by(|slot| slot.compare(arena, head, position)) {
            Ok(index) => Ok(Place { chunk, index }),
            Err(index) => Err(Place { chunk, index }),
        }
    }

    /// Inserts, at a place that `find` returned, a row that is dead from that second on; returns by how many bytes
    /// the list grew.
    pub fn insert(&mut self, arena: &Arena, place: Place, slot: Slot, dead_from: u32) -> usize {
        self.len += 1;
        let Place { mut chunk, mut index } = place;
        let mut grown = 0;
        if chunk == self.chunks.len() {
            self.chunks.push(Chunk::default());
            grown += size_of::<Chunk>();
        }
        if self.chunks[chunk].slots.len() >= CHUNK_SLOTS_MAX {
            grown += size_of::<Chunk>() + CHUNK_SLOTS_MAX * size_of::<Slot>();
            if index == self.chunks[chunk].slots.len() && chunk + 1 == self.chunks.len() {
                self.chunks.push(Chunk::with_room());
                (chunk, index) = (chunk + 1, 0);
            } else if index == 0 && chunk == 0 {
                self.chunks.insert(0, Chunk::with_room());
            } else {
                let tail = self.chunks[chunk].split(arena);
                self.chunks.insert(chunk + 1, tail);
                if index > CHUNK_SLOTS_MAX / 2 {
                    (chunk, index) = (chunk + 1, index - CHUNK_SLOTS_MAX / 2);
                }
            }
        }
        let chunk = &mut self.chunks[chunk];
        chunk.count(dead_from);
        let slots = &mut chunk.slots;
        let before = slots.capacity();
        slots.insert(index, slot);
        grown + (slots.capacity() - before) * size_of::<Slot>()
    }

    /// The first row at or behind `position`.
    pub fn at_or_behind(&self, arena: &Arena, position: &[u8]) -> Option<Place> {
        match self.find(arena, position) {
            Ok(place) => Some(place),
            Err(place) if self.get(place).is_some() => Some(place),
            Err(place) => self.first_of(place.chunk + 1),
        }
    }

    /// The last row before `position`.
    pub fn before(&self, arena: &Arena, position: &[u8]) -> Option<Place> {
        let (Ok(place) | Err(place)) = self.find(arena, position);
        self.previous(place)
    }

    fn first_of(&self, chunk: usize) -> Option<Place> {
        self.chunks.get(chunk).filter(|c| !c.slots.is_empty()).map(|_| Place { chunk, index: 0 })
    }

    pub fn first(&self) -> Option<Place> {
        self.first_of(0)
    }

    pub fn last(&self) -> Option<Place> {
        let slots = &self.chunks.last()?.slots;
        Some(Place { chunk: self.chunks.len() - 1, index: slots.len().checked_sub(1)? })
    }

    #[inline]
    pub fn next(&self, place: Place) -> Option<Place> {
        let index = place.index + 1;
        if index < self.chunks.get(place.chunk)?.slots.len() {
            return Some(Place { chunk: place.chunk, index });
        }
        self.first_of(place.chunk + 1)
    }

    #[inline]
    pub fn previous(&self, place: Place) -> Option<Place> {
        if let Some(index) = place.index.checked_sub(1) {
            return Some(Place { chunk: place.chunk, index });
        }
        let chunk = place.chunk.checked_sub(1)?;
        Some(Place { chunk, index: self.chunks.get(chunk)?.slots.len().checked_sub(1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::Random;
    use std::collections::BTreeMap;

    fn position(n: u64, random: &mut Random) -> Vec<u8> {
        let mut bytes = vec![3];
        bytes.extend_from_slice(&n.to_be_bytes()[8 - (1 + random.below(4) as usize)..]);
        bytes
    }

    #[test]
    fn orders_and_finds_as_a_tree_does() {
        for seed in 0..20 {
            let mut random = Random::seeded(seed);
            let (mut arena, mut rows, mut model) = (Arena::default(), Rows::default(), BTreeMap::new());
            for i in 0..1500u64 {
                let n = match seed % 3 {
                    0 => i,
                    1 => 2000 - i,
                    _ => random.below(3000),
                };
                let key = position(n, &mut random);
                let payload = i.to_be_bytes()[..1 + random.below(8) as usize].to_vec();
                match rows.find(&arena, &key) {
                    Ok(place) => {
                        let mut slot = *rows.get(place).unwrap();
                        slot.replace(&mut arena, &payload);
                        *rows.get_mut(place).unwrap() = slot;
                    }
                    Err(place) => {
                        let slot = Slot::store(&mut arena, &key, &payload);
                        rows.insert(&arena, place, slot, NEVER);
                    }
                }
                model.insert(key, payload);
            }
            let collect = |start: Option<Place>, step: &dyn Fn(Place) -> Option<Place>| {
                let mut seen = vec![];
                let mut at = start;
                while let Some(place) = at {
                    let (key, payload) = rows.get(place).unwrap().record(&arena);
                    seen.push((key.to_vec(), payload.to_vec()));
                    at = step(place);
                }
                seen
            };
            let expected: Vec<_> = model.clone().into_iter().collect();
            assert_eq!(rows.len(), expected.len());
            assert_eq!(collect(rows.first(), &|p| rows.next(p)), expected);
            let mut backwards = collect(rows.last(), &|p| rows.previous(p));
            backwards.reverse();
            assert_eq!(backwards, expected);
            for _ in 0..300 {
                let key = position(random.below(3100), &mut random);
                let name =
                    |place: Option<Place>| place.map(|p| rows.get(p).unwrap().position(&arena).to_vec());
                assert_eq!(
                    name(rows.at_or_behind(&arena, &key)).as_ref(),
                    model.range(key.clone()..).next().map(|e| e.0)
                );
                assert_eq!(
                    name(rows.before(&arena, &key)).as_ref(),
                    model.range(..key.clone()).next_back().map(|e| e.0)
                );
            }
        }
    }
}
