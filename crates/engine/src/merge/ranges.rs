//! The range tombstones that cover a row, found as a reader moves along.
//!
//! Rows drive: a source's range cursor is moved only when a row is looked at, by a few steps or, when
//! the row is far away, by a seek. So ranges that cover nothing cost nothing, however many there are.

use crate::cursor::{AT_RANGES, Cursor, RunCursor};
use model::deletion::Deletion;
use model::key::KIND_RANGE;
use store::StoreError;

/// Steps to try before a seek: a seek costs about as much as this many.
const STEPS_BEFORE_SEEK: usize = 8;

/// The range tombstones of one source in the current partition.
pub(super) struct SourceRanges<'a> {
    cursor: RunCursor<'a>,
    located: bool,
    /// Scratch for positions to seek.
    target: Vec<u8>,
}

impl<'a> SourceRanges<'a> {
    /// `cursor` stands in the partition.
    pub fn new(cursor: RunCursor<'a>) -> SourceRanges<'a> {
        SourceRanges { cursor, located: false, target: Vec::new() }
    }

    /// The deletion of the range over `clustering`, which moves in one direction between calls.
    /// Ranges passed on the way are added to `met`.
    pub fn covering(
        &mut self,
        clustering: &[u8],
        reverse: bool,
        met: &mut u64,
    ) -> Result<Deletion, StoreError> {
        if !self.located {
            self.locate(clustering)?;
        }
        for step in 0.. {
            let Some(entry) = self.cursor.entry().filter(|e| e.is_range()) else { return Ok(Deletion::NONE) };
            let (start, end) = (entry.clustering(), entry.range_end());
            let passed = if reverse { clustering < start } else { end <= clustering };
            if !passed {
                let inside = start <= clustering && clustering < end;
                return Ok(if inside { entry.deletion() } else { Deletion::NONE });
            }
            if step == STEPS_BEFORE_SEEK {
                self.locate(clustering)?;
                continue;
            }
            *met += 1;
            if reverse { self.cursor.prev()? } else { self.cursor.next()? }
        }
        Ok(Deletion::NONE)
    }

    /// Moves to the last range that starts at or before `clustering`, else to the first one.
    fn locate(&mut self, clustering: &[u8]) -> Result<(), StoreError> {
        self.target.clear();
        self.target.push(KIND_RANGE);
        self.target.extend_from_slice(clustering);
        self.target.push(0);
        self.cursor.seek_before(&self.target)?;
        if self.cursor.entry().is_none_or(|e| !e.is_range()) {
            self.cursor.seek(AT_RANGES)?;
        }
        self.located = true;
        Ok(())
    }

    /// Start and end of the range it stands on, if that covers `clustering` with `deletion`.
    pub fn bounds_of(&self, clustering: &[u8], deletion: Deletion) -> Option<(&[u8], &[u8])> {
        let entry = self.cursor.entry().filter(|e| e.is_range() && e.deletion() == deletion)?;
        let (start, end) = (entry.clustering(), entry.range_end());
        (start <= clustering && clustering < end).then_some((start, end))
    }

    /// Forgets the place: the next slice may begin anywhere.
    pub fn reset(&mut self) {
        self.located = false;
    }
}
