//! The receive buffer: bytes from the socket, consumed from the front.

/// Spare room offered to each read.
const READ_BYTES_MIN: usize = 8 * 1024;
/// Spare room while a long message arrives, so that it does not take thousands of reads.
const READ_BYTES_LONG: usize = 64 * 1024;
/// From here on the buffer of a long message grows by more than doubling: each growth copies what is there.
pub(super) const GROWS_FASTER_BYTES: usize = 1 << 20;
const GROWTH: usize = 4;
/// An empty buffer larger than this is given back.
pub(super) const RETAIN_BYTES_MAX: usize = 64 * 1024;

/// Grows with what arrives (at most [`GROWTH`] times that, plus the spare room), never with what a header declares.
#[derive(Debug, Default)]
pub(super) struct Received {
    bytes: Vec<u8>,
    /// How far the front has been consumed.
    at: usize,
}

impl Received {
    /// Drops what was consumed, but nothing from `keep_from` on; says how many bytes went.
    pub(super) fn compact(&mut self, keep_from: Option<usize>) -> usize {
        let dropped = self.at.min(keep_from.unwrap_or(usize::MAX)).min(self.bytes.len());
        self.bytes.drain(..dropped);
        self.at -= dropped;
        dropped
    }

    /// The buffer with room for the next read; no message is longer than `bytes_max`.
    pub(super) fn spare(&mut self, bytes_max: usize) -> &mut Vec<u8> {
        if self.bytes.is_empty() && self.bytes.capacity() > RETAIN_BYTES_MAX {
            self.bytes = Vec::new();
        }
        let long = self.bytes.len() >= READ_BYTES_LONG;
        let spare = if long { READ_BYTES_LONG } else { READ_BYTES_MIN };
        let length = self.bytes.len();
        if length >= GROWS_FASTER_BYTES && self.bytes.capacity() - length < spare {
            let more = ((GROWTH - 1) * length).min(bytes_max.saturating_sub(length));
            self.bytes.reserve_exact(more + spare);
        }
        self.bytes.reserve(spare);
        &mut self.bytes
    }

    /// What has not been consumed.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Consumes `count` bytes and says where they are; they stay until the next [`Received::compact`].
    pub(super) fn consume(&mut self, count: usize) -> std::ops::Range<usize> {
        let start = self.at;
        self.at = self.bytes.len().min(start + count);
        start..self.at
    }

    pub(super) fn get(&self, range: std::ops::Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The buffer, if everything in it has been consumed up to `end` and nothing follows.
    pub(super) fn take(&mut self, end: usize) -> Option<Vec<u8>> {
        if self.at != end || self.bytes.len() != end {
            return None;
        }
        self.at = 0;
        Some(std::mem::take(&mut self.bytes))
    }

    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
