//! Opening the log after a stop of any kind: find the segments, read every record, settle the tail.
//!
//! Guarantees: every record that was acknowledged is visited, in order; a missing or damaged segment is refused, and
//! refusing changes nothing. After [`Tail::settle`], everything visited is durable, even records that the last process had
//! only handed to the operating system, so nothing that a client reads from now on can vanish.

use super::format::{Frame, RECORDS_AT};
use super::record::{self, Record};
use super::scan::{LogDamage, SegmentEnd, scan_segment};
use super::survey::{Survey, survey};
use rt::Disk;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
                "the commit log segment {file} is missing. It may hold acknowledged commits that are in no other file. \
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
    /// Where the log continues.
    pub next_segment: u64,
    pub records: u64,
    pub segments: u64,
    /// A tail that a crash tore off: file and offset.
    pub torn: Option<(String, u64)>,
    /// What is left to do when the next segment exists.
    pub tail: Option<Tail>,
}

/// The end of the segment that took records last, as it must become before anybody relies on what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    path: PathBuf,
    at: u64,
    /// What may so far have been in memory only, and a seal.
    bytes: Vec<u8>,
}

impl Tail {
    /// Makes what was read durable and seals the segment. The next one must exist, or the seal would look like a loss.
    pub fn settle(&self, disk: &dyn Disk) -> io::Result<()> {
        let file = disk.open(&self.path)?;
        file.write_at(self.at, &self.bytes)?;
        file.sync_data()
    }
}

/// What the manifest says about the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// The first segment that is needed.
    pub oldest: u64,
    /// The database was closed: no log is needed, not even an empty one.
    pub closed: bool,
}

/// Reads the log in `dir`. `visit` gets the segment's id and each commit record. What is no longer needed is removed
/// when all is read.
pub fn recover_log(
    disk: &dyn Disk,
    dir: &Path,
    bounds: LogBounds,
    mut visit: impl FnMut(u64, Record<'_>),
) -> Result<LogRecovery, LogOpenError> {
    let survey = survey(disk, dir, bounds)?;
    let mut found = LogRecovery {
        first_live: bounds.oldest,
        next_segment: survey.next_segment,
        ..LogRecovery::default()
    };
    for segment in &survey.segments {
        let bytes = segment.read(disk)?;
        let mut synced = RECORDS_AT;
        let end = scan_segment(&bytes, segment.id, &segment.name(), segment.expected, |frame, record| {
            synced = synced.max(frame.synced);
            // An empty commit only tells what was durable before it.
            if record.is_mark() {
                return;
            }
            found.records += 1;
            visit(segment.id, record);
        })
        .map_err(LogOpenError::Damage)?;
        if let SegmentEnd::Open { at, torn } = end {
            let synced = synced.max(segment.expected.durable).min(at);
            found.tail = Some(tail_of(&bytes, segment.id, &segment.path, synced, at));
            found.torn = torn.then(|| (segment.name(), u64::from(at)));
        }
        found.segments += 1;
    }
    assert!(found.next_segment >= found.first_live + found.segments, "the log goes on behind what was read");
    remove_unneeded(disk, &survey)?;
    Ok(found)
}

fn tail_of(bytes: &[u8], segment: u64, path: &Path, synced: u32, at: u32) -> Tail {
    assert!(RECORDS_AT <= synced && synced <= at && at as usize <= bytes.len());
    let mut tail = bytes.get(synced as usize..at as usize).unwrap_or_default().to_vec();
    let seal = record::seal();
    let frame = Frame { length: 1, synced, payload_crc: crc32c::crc32c(&seal) };
    frame.encode(segment, at, &mut tail);
    tail.extend_from_slice(&seal);
    Tail { path: path.to_owned(), at: u64::from(synced), bytes: tail }
}

/// Old segments, and one that was made and never used.
fn remove_unneeded(disk: &dyn Disk, survey: &Survey) -> Result<(), LogOpenError> {
    for path in &survey.unneeded {
        disk.remove(path).map_err(|error| LogOpenError::Io { file: path.display().to_string(), error })?;
    }
    Ok(())
}
