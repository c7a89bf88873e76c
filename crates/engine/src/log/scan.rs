//! Reading a segment back, and telling a torn tail from damage.
//!
//! A segment that was completed ends with a seal; everything before it was durable, so anything
//! unreadable before the seal is damage. The segment that took records last may end anywhere: the first unreadable record
//! is a torn tail, unless a readable record further on (`Frame::synced`) or the segment ahead (`Record::Note`) says that
//! this place was already durable; then it is damage. Damage is refused, a torn tail was never acknowledged.
//! A file shorter than its header says was cut: it was filled before the header was written.
//! One case cannot be distinguished from a torn tail: damage to the very last group of records, after which nothing was written.

use super::format::{FRAME_LEN, Frame, Header, RECORDS_AT, read_header};
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
}

/// What the other segments and the manifest say about one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Records were written behind it, so it was sealed.
    pub sealed: bool,
    /// So many bytes were durable, says the segment ahead.
    pub durable: u32,
}

/// Whether the segment has any record but a note, whatever precedes it.
pub fn has_records(bytes: &[u8], segment: u64) -> bool {
    later_record(bytes, segment, RECORDS_AT, |_, payload| {
        !matches!(Record::decode(payload), Some(Record::Note { .. }))
    })
    .is_some()
}

/// What a segment without records says about the one before it: how many bytes were durable.
pub fn note_in(bytes: &[u8], segment: u64) -> u32 {
    match Frame::decode(bytes, segment, RECORDS_AT).and_then(|(_, payload)| Record::decode(payload)) {
        Some(Record::Note { synced }) => synced,
        _ => 0,
    }
}

/// The header of a segment that was begun: it and the file's full length were durable before anything else.
pub fn check_header(bytes: &[u8], segment: u64, file: &str) -> Result<Header, LogDamage> {
    let damage = |offset: u64, what: String| LogDamage { file: file.to_owned(), offset, what };
    let header = read_header(bytes, segment)
        .ok_or_else(|| damage(0, "the segment's header is unreadable".to_owned()))?;
    if (bytes.len() as u64) < u64::from(header.capacity) {
        let what = format!("the file ends here; it was {} bytes long", header.capacity);
        return Err(damage(bytes.len() as u64, what));
    }
    Ok(header)
}

/// Visits every record of the segment in order.
pub fn scan_segment(
    bytes: &[u8],
    segment: u64,
    file: &str,
    expected: Expected,
    mut visit: impl FnMut(&Frame, Record<'_>),
) -> Result<SegmentEnd, LogDamage> {
    let damage = |offset: u32, what: &str| LogDamage {
        file: file.to_owned(),
        offset: u64::from(offset),
        what: what.to_owned(),
    };
    check_header(bytes, segment, file)?;
    let mut at = RECORDS_AT;
    while let Some((frame, payload)) = Frame::decode(bytes, segment, at) {
        match Record::decode(payload) {
            Some(Record::Seal) => return Ok(SegmentEnd::Sealed),
            // Written while the segment was ahead, and overwritten by its first record.
            Some(Record::Note { .. }) => break,
            Some(record) => visit(&frame, record),
            None => return Err(damage(at, "a record with a right checksum is not understood")),
        }
        at += FRAME_LEN + frame.length;
    }
    if expected.sealed {
        return Err(damage(at, "a record is unreadable, and the segment was complete once"));
    }
    if at < expected.durable || later_record(bytes, segment, at + 1, |frame, _| frame.synced > at).is_some() {
        return Err(damage(at, "a record is unreadable that was durable before later ones were written"));
    }
    let head = bytes.get(at as usize..).and_then(|b| b.first_chunk::<16>());
    let torn = head.is_some_and(|b| *b != [0; 16]) && note_in(bytes, segment) == 0;
    Ok(SegmentEnd::Open { at, torn })
}

/// The first intact record at or behind `from` whose frame satisfies `wanted`.
fn later_record(
    bytes: &[u8],
    segment: u64,
    from: u32,
    wanted: impl Fn(&Frame, &[u8]) -> bool,
) -> Option<u32> {
    let end = u32::try_from(bytes.len()).ok()?.saturating_sub(FRAME_LEN);
    let mut budget = (bytes.len() as u64).saturating_mul(SEARCH_FACTOR);
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
        if let Some(length) = Frame::peek(bytes, segment, at) {
            // A segment that was made to look full of records: whatever it is, it is not a tail that a crash tore off.
            let Some(left) = budget.checked_sub(u64::from(length)) else { return Some(at) };
            budget = left;
            if Frame::decode(bytes, segment, at).is_some_and(|(frame, payload)| wanted(&frame, payload)) {
                return Some(at);
            }
        }
        at += 1;
    }
    None
}

/// Looking for an intact record may hash at most this many times the segment's length.
const SEARCH_FACTOR: u64 = 64;

/// Zeros are skipped in blocks of this size.
const ZERO_BLOCK: usize = 256;
