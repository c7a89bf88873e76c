//! Deletions (tombstones) of partitions, ranges, rows and multi-cell columns, and row markers.
//!
//! Guarantees: ordering of two deletions is total and independent of the clock (PROTOCOL 5.2),
//! encodings are fixed width. Does not decide what is visible: see `merge`.

use std::cmp::Ordering;

/// Microseconds since 1970, as clients send them. `NO_TIMESTAMP` means "never written".
pub type Timestamp = i64;

/// Smaller than every timestamp a client may use; marks the absence of a deletion or a marker.
pub const NO_TIMESTAMP: Timestamp = i64::MIN;

/// Hides everything it covers whose timestamp is at most its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deletion {
    pub timestamp: Timestamp,
    /// When the deletion was made, in seconds since 1970, by the server's clock; only purging looks at it.
    pub local_seconds: u32,
}

impl Deletion {
    /// The absence of a deletion: covers nothing.
    pub const NONE: Deletion = Deletion { timestamp: NO_TIMESTAMP, local_seconds: 0 };

    pub const ENCODED_LEN: usize = 12;

    pub fn is_none(&self) -> bool {
        self.timestamp == NO_TIMESTAMP
    }

    /// Whether data written at `timestamp` is hidden by this deletion.
    #[inline]
    pub fn covers(&self, timestamp: Timestamp) -> bool {
        !self.is_none() && timestamp <= self.timestamp
    }

    /// The stronger of two deletions: higher timestamp, then later local time.
    #[inline]
    pub fn max(self, other: Deletion) -> Deletion {
        if self.cmp(&other) == Ordering::Less { other } else { self }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.extend_from_slice(&self.local_seconds.to_be_bytes());
    }

    /// Reads a deletion from the front of `bytes` and returns the rest.
    pub fn decode(bytes: &[u8]) -> Option<(Deletion, &[u8])> {
        let (timestamp, rest) = bytes.split_first_chunk::<8>()?;
        let (local_seconds, rest) = rest.split_first_chunk::<4>()?;
        let deletion = Deletion {
            timestamp: i64::from_be_bytes(*timestamp),
            local_seconds: u32::from_be_bytes(*local_seconds),
        };
        Some((deletion, rest))
    }
}

impl Ord for Deletion {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.timestamp, self.local_seconds).cmp(&(other.timestamp, other.local_seconds))
    }
}

impl PartialOrd for Deletion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The row marker an INSERT leaves: the row exists although it may have no cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    pub timestamp: Timestamp,
    /// Seconds; zero means that the marker does not expire.
    pub ttl: u32,
    /// Seconds since 1970; meaningful when `ttl > 0`.
    pub expiry: u32,
}

impl Marker {
    pub fn new(timestamp: Timestamp) -> Marker {
        Marker { timestamp, ttl: 0, expiry: 0 }
    }

    pub fn is_live(&self, now_seconds: u32) -> bool {
        self.ttl == 0 || now_seconds < self.expiry
    }

    /// PROTOCOL 5.3: higher timestamp, then expiring over non-expiring, then later expiry.
    pub fn max(self, other: Marker) -> Marker {
        let rank = |m: &Marker| (m.timestamp, m.ttl > 0, m.expiry, m.ttl);
        if rank(&self) < rank(&other) { other } else { self }
    }
}
