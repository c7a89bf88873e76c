//! The receive buffer: bytes from the socket, consumed from the front.

/// Spare room offered to each read.
const READ_BYTES_MIN: usize = 8 * 1024;
/// Spare room while a long message arrives, so that it does not take thousands of reads.
const READ_BYTES_LONG: usize = 64 * 1024;
/// An empty buffer larger than this is given back.
pub(super) const RETAIN_BYTES_MAX: usize = 64 * 1024;

/// Grows with what arrives (at most twice that, plus the spare room), never with what a header declares.
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

    /// The buffer with room for the next read.
    pub(super) fn spare(&mut self) -> &mut Vec<u8> {
        if self.bytes.is_empty() && self.bytes.capacity() > RETAIN_BYTES_MAX {
            self.bytes = Vec::new();
        }
        let long = self.bytes.len() >= READ_BYTES_LONG;
        self.bytes.reserve(if long { READ_BYTES_LONG } else { READ_BYTES_MIN });
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

    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
