//! Reading a segment back, and telling a torn tail from damage.
//!
//! A segment that was completed ends with a seal; everything before it was durable, so anything
//! unreadable before the seal is damage. The last segment may end anywhere: the first unreadable record is a
//! torn tail, unless a readable record further on says (`Frame::synced`) that this place was already durable
//! when it was written; then it is damage. Damage is refused, a torn tail was never acknowledged.
//! What cannot be told apart: damage to the very last group of records, which nothing was written after.

use super::format::{FRAME_LEN, Frame, RECORDS_AT, is_segment_header};
use super::record::Record;
use std::fmt;

/// Bytes of the log that were durable once and cannot be read now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDamage {
    pub file: String,
    pub offset: u64,
    pub what: String,
}

impl fmt::Display for LogDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the commit log is damaged: {} at offset {}: {}. Nothing was changed. Restore this file from a copy, or \
             restore the database from a backup; moving this segment and all later ones away makes the database open \
             without the commits in them",
            self.file, self.offset, self.what
        )
    }
}

impl std::error::Error for LogDamage {}

/// How a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentEnd {
    Sealed,
    /// Valid up to `at`; the rest is free space or was torn off by a crash. `torn`: there are bytes that look
    /// like the beginning of a record.
    Open {
        at: u32,
        torn: bool,
    },
    /// Not even the header was finished, and no record follows: nothing was ever written here.
    Unused,
}

/// Visits every record of the segment in order. `last`: no later segment exists.
pub fn scan_segment(
    bytes: &[u8],
    segment: u64,
    file: &str,
    last: bool,
    mut visit: impl FnMut(&Frame, Record<'_>),
) -> Result<SegmentEnd, LogDamage> {
    let damage = |offset: u32, what: &str| LogDamage {
        file: file.to_owned(),
        offset: u64::from(offset),
        what: what.to_owned(),
    };
    if !is_segment_header(bytes, segment) {
        let record_follows = later_record(bytes, segment, RECORDS_AT, |_| true).is_some();
        return match last && !record_follows {
            true => Ok(SegmentEnd::Unused),
            false => Err(damage(0, "the segment's header is unreadable")),
        };
    }
    let mut at = RECORDS_AT;
    while let Some((frame, payload)) = Frame::decode(bytes, segment, at) {
        match Record::decode(payload) {
            Some(Record::Seal) => return Ok(SegmentEnd::Sealed),
            Some(record) => visit(&frame, record),
            None => return Err(damage(at, "a record with a right checksum is not understood")),
        }
        at += FRAME_LEN + frame.length;
    }
    if !last {
        return Err(damage(at, "a record is unreadable, and the segment was complete once"));
    }
    if later_record(bytes, segment, at + 1, |frame| frame.synced > at).is_some() {
        return Err(damage(at, "a record is unreadable that was durable before later ones were written"));
    }
    let torn = bytes.get(at as usize..).and_then(|b| b.first_chunk::<16>()).is_some_and(|b| *b != [0; 16]);
    Ok(SegmentEnd::Open { at, torn })
}

/// The first intact record at or behind `from` whose frame satisfies `wanted`.
fn later_record(bytes: &[u8], segment: u64, from: u32, wanted: impl Fn(&Frame) -> bool) -> Option<u32> {
    let end = u32::try_from(bytes.len()).ok()?.saturating_sub(FRAME_LEN);
    let mut at = from;
    while at < end {
        let rest = bytes.get(at as usize..)?;
        if rest.starts_with(&[0; 4]) {
            // No record has length zero, and most of a tail is zeros: skip them in blocks. A length whose last byte
            // lies behind the block may begin in the block's last three bytes.
            let zeros = rest.get(..ZERO_BLOCK).is_some_and(|block| block.iter().all(|byte| *byte == 0));
            at += if zeros { ZERO_BLOCK as u32 - 3 } else { 1 };
            continue;
        }
        if Frame::decode(bytes, segment, at).is_some_and(|(frame, _)| wanted(&frame)) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Zeros are skipped in blocks of this size.
const ZERO_BLOCK: usize = 256;
