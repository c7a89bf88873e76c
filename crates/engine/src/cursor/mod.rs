//! Cursors over sorted runs: the one way the engine looks into a memtable or a file.
//!
//! A run is a set of partitions in storage order, each a sorted list of entries (docs/format/row.md).
//! A [`Cursor`] stands in at most one partition and on at most one entry of it; it moves in both
//! directions inside the partition and forward between partitions. What it lends lives until it moves.
//! Does not merge runs and does not decide what is visible: see `merge`.

use model::deletion::{Deletion, Timestamp};
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW, KIND_STATIC};
use model::row::RowView;
use store::StoreError;

#[cfg(test)]
pub(crate) mod conformance;
pub mod run;
#[cfg(test)]
pub(crate) mod testing;

pub use run::RunCursor;

/// The position of a partition's deletion.
pub const AT_DELETION: &[u8] = &[KIND_PARTITION_DELETION];
/// The position of the static row.
pub const AT_STATIC: &[u8] = &[KIND_STATIC];
/// Sorts before every range tombstone.
pub const AT_RANGES: &[u8] = &[KIND_RANGE];
/// Sorts before every row (or is the row of a table without clustering columns).
pub const AT_ROWS: &[u8] = &[KIND_ROW];

/// One stored entry. Every payload starts with a timestamp; `rest` is what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Kind byte and, for rows and range tombstones, clustering bytes.
    pub position: &'a [u8],
    pub timestamp: Timestamp,
    pub rest: &'a [u8],
}

impl<'a> Entry<'a> {
    #[inline]
    pub fn kind(&self) -> u8 {
        self.position.first().copied().unwrap_or(KIND_PARTITION_DELETION)
    }

    #[inline]
    pub fn is_row(&self) -> bool {
        self.position.first() == Some(&KIND_ROW)
    }

    #[inline]
    pub fn is_range(&self) -> bool {
        self.position.first() == Some(&KIND_RANGE)
    }

    /// Clustering bytes of a row; the start of a range tombstone.
    #[inline]
    pub fn clustering(&self) -> &'a [u8] {
        self.position.get(1..).unwrap_or_default()
    }

    /// The image of a row or static row.
    #[inline]
    pub fn row(&self) -> RowView<'a> {
        RowView::from_parts(self.timestamp, self.rest)
    }

    /// The deletion of a partition or range tombstone entry.
    pub fn deletion(&self) -> Deletion {
        match self.rest.first_chunk::<4>() {
            Some(local) => Deletion { timestamp: self.timestamp, local_seconds: u32::from_be_bytes(*local) },
            None => Deletion::NONE,
        }
    }

    /// Where a range tombstone ends (exclusive).
    #[inline]
    pub fn range_end(&self) -> &'a [u8] {
        self.rest.get(4..).unwrap_or_default()
    }
}

/// Whether a row that was reached from the near end of the slice lies before its far end.
#[inline]
pub(crate) fn is_inside(clustering: &[u8], (start, end): (&[u8], &[u8]), reverse: bool) -> bool {
    // Open ends are the common case, and their first byte decides.
    match reverse {
        true => start.is_empty() || clustering >= start,
        false => clustering.first() < end.first() || clustering < end,
    }
}

/// A place in a sorted run. Errors are damage or failed input; a cursor that failed may be moved again.
pub trait Cursor {
    /// Stands in the partition `prefix` without looking whether it exists and without any I/O; on no
    /// entry until a seek.
    fn enter(&mut self, prefix: &[u8]);

    /// Stands on the first entry of the first partition at or behind `prefix`.
    fn seek_partition(&mut self, prefix: &[u8]) -> Result<(), StoreError>;

    /// Stands on the first entry of the next partition, wherever in the current one it was.
    fn next_partition(&mut self) -> Result<(), StoreError>;

    /// Storage prefix of the partition it stands in; `None` behind the last one.
    fn partition(&self) -> Option<&[u8]>;

    /// The first entry of the partition at or behind `position`; none if there is none.
    fn seek(&mut self, position: &[u8]) -> Result<(), StoreError>;

    /// The last entry of the partition before `position`; none if there is none.
    fn seek_before(&mut self, position: &[u8]) -> Result<(), StoreError>;

    /// The next entry of the partition; none behind the last. Without an entry it stays without one.
    fn next(&mut self) -> Result<(), StoreError>;

    /// The previous entry of the partition; none before the first. Without an entry it stays without one.
    fn prev(&mut self) -> Result<(), StoreError>;

    /// On a row: if it knows that this row and those behind it (before it, in reverse) are dead at that second, goes on
    /// to the last of them that it knows about, at most so many rows and never beyond the far end of `bounds`.
    /// Returns how many rows it went on.
    fn pass_dead(&mut self, now_seconds: u32, reverse: bool, bounds: (&[u8], &[u8]), at_most: u64) -> u64;

    /// The entry it stands on.
    fn entry(&self) -> Option<Entry<'_>>;
}
