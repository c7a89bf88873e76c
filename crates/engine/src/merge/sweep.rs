//! Several lists of disjoint range tombstones become one: where they overlap, the stronger stays.

use crate::cursor::{Cursor, Entry, RunCursor};
use model::deletion::Deletion;
use store::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub start: Vec<u8>,
    pub end: Vec<u8>,
    pub deletion: Deletion,
}

/// Walks along the boundaries of all lists at once. Equal neighbours are joined.
pub(super) struct RangeSweep<'c, 'a> {
    /// Each stands on its next range tombstone, or behind the last.
    lists: Vec<&'c mut RunCursor<'a>>,
    /// Ranges that this hides are left out.
    partition: Deletion,
    /// Everything before this is done.
    at: Vec<u8>,
    pending: Option<Range>,
}

impl<'c, 'a> RangeSweep<'c, 'a> {
    pub fn new(
        lists: impl Iterator<Item = &'c mut RunCursor<'a>>,
        partition: Deletion,
    ) -> RangeSweep<'c, 'a> {
        RangeSweep { lists: lists.collect(), partition, at: Vec::new(), pending: None }
    }

    /// The next range of the merged list.
    pub fn next(&mut self) -> Result<Option<Range>, StoreError> {
        loop {
            self.drop_passed()?;
            let Some(segment) = self.segment() else { return Ok(self.pending.take()) };
            self.at.clone_from(&segment.end);
            match &mut self.pending {
                Some(last) if last.end == segment.start && last.deletion == segment.deletion => {
                    last.end = segment.end;
                }
                pending => {
                    if let Some(done) = pending.replace(segment) {
                        return Ok(Some(done));
                    }
                }
            }
        }
    }

    /// Moves every list to its first range that counts and does not end before `at`.
    fn drop_passed(&mut self) -> Result<(), StoreError> {
        for list in &mut self.lists {
            while let Some(entry) = current(list) {
                let hidden = self.partition.covers(entry.timestamp);
                if !hidden && entry.range_end() > self.at.as_slice() {
                    break;
                }
                list.next()?;
            }
        }
        Ok(())
    }

    /// The stretch from `at` on over which one deletion is the strongest and no list changes.
    fn segment(&self) -> Option<Range> {
        let heads = || self.lists.iter().filter_map(|list| current(list));
        let start = heads().map(|e| e.clustering().max(&self.at)).min()?;
        let covers = |entry: &Entry<'_>| entry.clustering() <= start;
        let deletion = heads().filter(covers).map(|e| e.deletion()).fold(Deletion::NONE, Deletion::max);
        let boundary =
            |entry: Entry<'_>| if covers(&entry) { None } else { Some(entry.clustering().to_vec()) };
        let starts = heads().filter_map(boundary);
        let ends = heads().filter(covers).map(|e| e.range_end().to_vec());
        let end = starts.chain(ends).min()?;
        Some(Range { start: start.to_vec(), end, deletion })
    }
}

fn current<'e>(list: &'e RunCursor<'_>) -> Option<Entry<'e>> {
    list.entry().filter(|entry| entry.is_range())
}
