//! Opening the log after a stop of any kind: find the segments, read every record, settle the tail.
//!
//! Guarantees: every record that was acknowledged is visited, in order; a missing or damaged segment is refused.
//! After it returned, everything it visited is durable, even what the last process had only handed to
//! the operating system, so nothing that a client reads from now on can vanish.

use super::format::{Frame, RECORDS_AT};
use super::record::{self, Record};
use super::scan::{LogDamage, SegmentEnd, scan_segment};
use super::segment::{is_spare_name, parse_segment_name, segment_name};
use rt::Disk;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub enum LogOpenError {
    Damage(LogDamage),
    /// A segment that the database needs is not there.
    MissingSegment {
        file: String,
    },
    Io {
        file: String,
        error: io::Error,
    },
}

impl fmt::Display for LogOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogOpenError::Damage(damage) => damage.fmt(f),
            LogOpenError::MissingSegment { file } => write!(
                f,
                "the commit log segment {file} is missing. It holds acknowledged commits that are in no other file. \
                 Put it back, or restore the database from a backup"
            ),
            LogOpenError::Io { file, error } => write!(f, "the commit log {file} cannot be read: {error}"),
        }
    }
}

impl std::error::Error for LogOpenError {}

/// What recovery found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRecovery {
    /// The oldest segment that is still needed; equal to `next_segment` when the log is empty.
    pub first_live: u64,
    /// Where the log goes on.
    pub next_segment: u64,
    pub records: u64,
    pub segments: u64,
    /// A tail that a crash tore off: file and offset.
    pub torn: Option<(String, u64)>,
}

/// Reads the log in `dir` from segment `oldest` on; older segments are removed.
/// `visit` gets the segment's id and each commit record.
pub fn recover_log(
    disk: &dyn Disk,
    dir: &Path,
    oldest: u64,
    mut visit: impl FnMut(u64, Record<'_>),
) -> Result<LogRecovery, LogOpenError> {
    let segments = find_segments(disk, dir, oldest)?;
    let mut found = LogRecovery { first_live: oldest, next_segment: oldest, ..LogRecovery::default() };
    let last = segments.last().copied();
    for (expected, &segment) in (oldest..).zip(&segments) {
        if segment != expected {
            return Err(LogOpenError::MissingSegment { file: file_of(dir, expected) });
        }
        let path = dir.join(segment_name(segment));
        let name = path.display().to_string();
        let io = |error| LogOpenError::Io { file: name.clone(), error };
        let file = disk.open(&path).map_err(io)?;
        let bytes = file.read_all().map_err(io)?;
        let mut synced = RECORDS_AT;
        let end = scan_segment(&bytes, segment, &name, Some(segment) == last, |frame, record| {
            synced = synced.max(frame.synced);
            // An empty commit only tells what was durable before it.
            if record.is_mark() {
                return;
            }
            found.records += 1;
            visit(segment, record);
        })
        .map_err(LogOpenError::Damage)?;
        match end {
            SegmentEnd::Sealed => found.next_segment = segment + 1,
            SegmentEnd::Unused => {
                disk.remove(&path).map_err(io)?;
                break;
            }
            SegmentEnd::Open { at, torn } => {
                let mut tail = bytes.get(synced as usize..at as usize).unwrap_or_default().to_vec();
                let seal = record::seal();
                let frame = Frame { length: 1, synced, payload_crc: crc32c::crc32c(&seal) };
                frame.encode(segment, at, &mut tail);
                tail.extend_from_slice(&seal);
                file.write_at(u64::from(synced), &tail).map_err(io)?;
                file.sync_data().map_err(io)?;
                found.next_segment = segment + 1;
                found.torn = torn.then(|| (name.clone(), u64::from(at)));
            }
        }
        found.segments += 1;
    }
    Ok(found)
}

/// The segments from `oldest` on, in order. Removes what is no longer needed, leaves what is not ours.
fn find_segments(disk: &dyn Disk, dir: &Path, oldest: u64) -> Result<BTreeSet<u64>, LogOpenError> {
    let io = |error| LogOpenError::Io { file: dir.display().to_string(), error };
    let mut segments = BTreeSet::new();
    for name in disk.list(dir).map_err(io)? {
        match parse_segment_name(&name) {
            Some(id) if id >= oldest => {
                segments.insert(id);
            }
            Some(_) => disk.remove(&dir.join(&name)).map_err(io)?,
            None if is_spare_name(&name) => {}
            None => {
                tracing::warn!(file = %dir.join(&name).display(), "not a file of the commit log; left alone")
            }
        }
    }
    Ok(segments)
}

fn file_of(dir: &Path, segment: u64) -> String {
    dir.join(segment_name(segment)).display().to_string()
}
