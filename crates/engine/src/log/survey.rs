//! Which segments there are, and what each must be like. Only reads; recovery, verification and copying
//! all begin here, so they agree about what is damage.
//!
//! Segments are numbered without gaps. Records go to one segment at a time; the next one exists before that one is
//! sealed, and no segment exists after the next one. So a segment was sealed if there is a segment after its next one, or if
//! the next one has records; a sealed segment has a next one; and a header can be unreadable only in the last segment, if nothing
//! proves that it was once whole. Version 1 made the next segment after the seal.

use super::format::read_header;
use super::recovery::{LogBounds, LogOpenError};
use super::scan::{Expected, LogDamage, SegmentEnd, has_records, note_in, scan_segment};
use super::segment::{SEGMENT_BYTES_MAX, is_spare_name, parse_segment_name, segment_name};
use rt::Disk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A segment that must be read.
#[derive(Clone, Debug)]
pub struct Needed {
    pub id: u64,
    pub path: PathBuf,
    pub expected: Expected,
}

#[derive(Debug)]
pub struct Survey {
    /// In order, without gaps.
    pub segments: Vec<Needed>,
    /// Where the log continues.
    pub next_segment: u64,
    /// Files that nobody needs: older segments, and one that was made and never used.
    pub unneeded: Vec<PathBuf>,
}

impl Needed {
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub fn read(&self, disk: &dyn Disk) -> Result<Vec<u8>, LogOpenError> {
        let bytes = disk.open(&self.path).and_then(|file| file.read_all_up_to(u64::from(SEGMENT_BYTES_MAX)));
        bytes.map_err(|error| LogOpenError::Io { file: self.name(), error })
    }

    fn damage(&self, what: &str) -> LogOpenError {
        LogOpenError::Damage(LogDamage { file: self.name(), offset: 0, what: what.to_owned() })
    }
}

/// The segments that the log in `dir` must have, or which one is missing.
pub fn survey(disk: &dyn Disk, dir: &Path, bounds: LogBounds) -> Result<Survey, LogOpenError> {
    let (ids, unneeded) = find_segments(disk, dir, bounds.oldest)?;
    let missing =
        |id| LogOpenError::MissingSegment { file: dir.join(segment_name(id)).display().to_string() };
    if let Some((expected, _)) = (bounds.oldest..).zip(&ids).find(|(expected, id)| expected != *id) {
        return Err(missing(expected));
    }
    let needed = |&id| {
        let expected = Expected { sealed: true, ..Expected::default() };
        Needed { id, path: dir.join(segment_name(id)), expected }
    };
    let mut survey = Survey {
        segments: ids.iter().map(needed).collect(),
        next_segment: ids.last().map_or(bounds.oldest, |last| last + 1),
        unneeded,
    };
    let Some(mut last) = survey.segments.pop() else {
        return if bounds.closed { Ok(survey) } else { Err(missing(bounds.oldest)) };
    };
    let bytes = last.read(disk)?;
    let whole = read_header(&bytes, last.id);
    if has_records(&bytes, last.id) {
        last.expected = Expected { sealed: false, durable: 0 };
        if whole.is_some_and(|header| header.next_comes_first) && is_sealed(&last, &bytes)? {
            return Err(missing(last.id + 1));
        }
        survey.segments.push(last);
        return Ok(survey);
    }
    // Nothing was written to the last one. Whether it was begun depends on the one before it.
    let Some(previous) = survey.segments.last_mut() else {
        return match whole {
            Some(_) => Ok(survey.ends_with(last)),
            None if bounds.closed => Ok(survey.goes_on_at(last)),
            None => Err(last.damage("the segment's header is unreadable, and the log began here")),
        };
    };
    previous.expected = Expected { sealed: false, durable: note_in(&bytes, last.id) };
    let previous_bytes = previous.read(disk)?;
    let sealed = is_sealed(previous, &previous_bytes)?;
    previous.expected.sealed = sealed;
    let old = read_header(&previous_bytes, previous.id).is_some_and(|header| !header.next_comes_first);
    match (sealed, whole) {
        (true, Some(_)) => Ok(survey.ends_with(last)),
        (true, None) if !old => {
            Err(last.damage("the segment's header is unreadable, and the segment before it is complete"))
        }
        _ => Ok(survey.goes_on_at(last)),
    }
}

impl Survey {
    /// The last segment was begun and has no records.
    fn ends_with(mut self, mut last: Needed) -> Survey {
        last.expected = Expected { sealed: false, durable: 0 };
        self.segments.push(last);
        self
    }

    /// The last segment was never used.
    fn goes_on_at(mut self, last: Needed) -> Survey {
        self.next_segment = last.id;
        self.unneeded.push(last.path);
        self
    }
}

fn is_sealed(segment: &Needed, bytes: &[u8]) -> Result<bool, LogOpenError> {
    let end = scan_segment(bytes, segment.id, &segment.name(), segment.expected, |_, _| {});
    end.map(|end| end == SegmentEnd::Sealed).map_err(LogOpenError::Damage)
}

/// The segments from `oldest` on, in order, and the files of older ones.
fn find_segments(
    disk: &dyn Disk,
    dir: &Path,
    oldest: u64,
) -> Result<(BTreeSet<u64>, Vec<PathBuf>), LogOpenError> {
    let io = |error| LogOpenError::Io { file: dir.display().to_string(), error };
    let (mut segments, mut older) = (BTreeSet::new(), Vec::new());
    for name in disk.list(dir).map_err(io)? {
        match parse_segment_name(&name) {
            Some(id) if id >= oldest => {
                segments.insert(id);
            }
            Some(_) => older.push(dir.join(&name)),
            None if is_spare_name(&name) => {}
            None => {
                tracing::warn!(file = %dir.join(&name).display(), "not a file of the commit log; left alone")
            }
        }
    }
    Ok((segments, older))
}
