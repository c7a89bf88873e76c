//! Byte storage of a memtable: records are appended to large chunks and addressed by 32 bits.
//!
//! Nothing is freed before the whole arena goes. Records that change in place keep their length.

/// log2 of the chunk size: 1 MiB, so that 2^12 chunks make the 4 GiB that an address can name.
const CHUNK_BITS: u32 = 20;
const CHUNK_BYTES: usize = 1 << CHUNK_BITS;
/// Larger records get a chunk of their own, so that little of a shared chunk is lost at its end.
const SHARED_RECORD_BYTES_MAX: usize = CHUNK_BYTES / 8;
/// More chunks than this cannot be addressed; a memtable must be sealed before (see `is_full`).
const CHUNKS_MAX: usize = 1 << (32 - CHUNK_BITS);
/// The first chunk starts small: most tables hold little.
const FIRST_CHUNK_BYTES: usize = 4096;

/// Where a record lies: chunk number and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(u32);

#[derive(Default)]
pub struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The chunk that takes the next small record.
    open: usize,
    bytes: usize,
}

impl Arena {
    /// Appends the concatenation of `parts`.
    ///
    /// # Panics
    /// When 4 GiB are used up: callers seal at `is_full`, long before.
    pub fn push(&mut self, parts: [&[u8]; 2]) -> Address {
        let len = parts[0].len() + parts[1].len();
        let chunk = if len > SHARED_RECORD_BYTES_MAX { self.own_chunk(len) } else { self.shared_chunk(len) };
        let buffer = &mut self.chunks[chunk];
        let offset = buffer.len();
        buffer.extend_from_slice(parts[0]);
        buffer.extend_from_slice(parts[1]);
        Address((chunk as u32) << CHUNK_BITS | offset as u32)
    }

    fn own_chunk(&mut self, len: usize) -> usize {
        self.add_chunk(len)
    }

    fn shared_chunk(&mut self, len: usize) -> usize {
        match self.chunks.get_mut(self.open) {
            Some(chunk) if chunk.len() + len <= chunk.capacity() && chunk.capacity() <= CHUNK_BYTES => {
                self.open
            }
            Some(chunk) if chunk.capacity() < CHUNK_BYTES && chunk.len() + len <= CHUNK_BYTES => {
                let before = chunk.capacity();
                chunk.reserve_exact((before * 4).min(CHUNK_BYTES).max(chunk.len() + len) - chunk.len());
                self.bytes += chunk.capacity() - before;
                self.open
            }
            Some(_) => {
                self.open = self.add_chunk(CHUNK_BYTES);
                self.open
            }
            None => {
                self.open = self.add_chunk(FIRST_CHUNK_BYTES.max(len));
                self.open
            }
        }
    }

    fn add_chunk(&mut self, capacity: usize) -> usize {
        assert!(self.chunks.len() < CHUNKS_MAX, "a memtable outgrew its arena");
        self.chunks.push(Vec::with_capacity(capacity));
        self.bytes += capacity;
        self.chunks.len() - 1
    }

    #[inline]
    pub fn get(&self, at: Address, len: usize) -> &[u8] {
        let offset = at.0 as usize & (CHUNK_BYTES - 1);
        &self.chunks[(at.0 >> CHUNK_BITS) as usize][offset..offset + len]
    }

    #[inline]
    pub fn get_mut(&mut self, at: Address, len: usize) -> &mut [u8] {
        let offset = at.0 as usize & (CHUNK_BYTES - 1);
        &mut self.chunks[(at.0 >> CHUNK_BITS) as usize][offset..offset + len]
    }

    /// Memory held, used or not.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether three quarters of the addresses are used up.
    pub fn is_full(&self) -> bool {
        self.chunks.len() >= CHUNKS_MAX / 4 * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_every_size_come_back() {
        let mut arena = Arena::default();
        let lengths = [0, 1, 100, 4096, 70_000, CHUNK_BYTES / 8, CHUNK_BYTES / 8 + 1, 3 * CHUNK_BYTES];
        let mut stored = vec![];
        for round in 0..40 {
            for &len in &lengths {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + round) as u8).collect();
                let (left, right) = bytes.split_at(len / 3);
                stored.push((arena.push([left, right]), bytes.clone()));
            }
        }
        for (at, bytes) in &stored {
            assert_eq!(arena.get(*at, bytes.len()), bytes.as_slice());
        }
        let used: usize = stored.iter().map(|(_, b)| b.len()).sum();
        assert!(arena.bytes() >= used && arena.bytes() < used + used / 4 + CHUNK_BYTES, "{}", arena.bytes());
        arena.get_mut(stored[3].0, 4).copy_from_slice(b"abcd");
        assert_eq!(arena.get(stored[3].0, 4), b"abcd");
        assert!(!arena.is_full());
    }
}
