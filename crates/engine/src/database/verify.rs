//! Reading a whole database that nobody has open, to see whether every byte is as it was written. Changes nothing.

use super::catalogue::read_catalogue;
use super::error::OpenError;
use super::files::open_file;
use super::layout::Layout;
use super::open::{catalogue_error, check_known, lock_dir, log_bounds};
use crate::log::LogOpenError;
use crate::log::scan::{SegmentEnd, scan_segment};
use crate::log::survey::{Needed, survey};
use crate::manifest::{FileRecord, Manifest, Peeked};
use rt::Disk;
use std::path::Path;

/// How far a verification has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyProgress {
    pub files_done: u64,
    pub files: u64,
    pub bytes_done: u64,
    pub bytes: u64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct VerifyReport {
    pub files: u64,
    pub bytes: u64,
    pub entries: u64,
    pub log_records: u64,
    /// Every file that is damaged, missing or not what the manifest says; empty: all is well.
    pub problems: Vec<OpenError>,
    /// Ends of log or manifest that cannot be read and that opening drops.
    pub torn: Vec<TornEnd>,
}

/// An unreadable end of a file that grows. A crash leaves one, and then nothing in it was acknowledged; after a
/// clean stop there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEnd {
    pub file: String,
    pub offset: u64,
}

/// Checks manifest, catalogue, log and every block of every table file in `dir`. Goes on after a damaged file, so
/// that the report is complete. `Err`: not even the manifest can be read, or the database is open elsewhere.
pub fn verify(
    disk: &dyn Disk,
    dir: &Path,
    progress: &mut dyn FnMut(VerifyProgress),
) -> Result<VerifyReport, OpenError> {
    let layout = Layout::new(dir);
    if !Manifest::exists(disk, dir).map_err(OpenError::io(dir.display()))? {
        return Err(OpenError::ManifestMissing { dir: dir.display().to_string() });
    }
    let _lock = lock_dir(disk, &layout)?;
    let manifest = Manifest::peek(disk, dir)?;
    let state = &manifest.state;
    let mut report = VerifyReport::default();
    if let Some(offset) = manifest.torn {
        let file = dir.join("MANIFEST").display().to_string();
        report.torn.push(TornEnd { file, offset });
    }
    verify_log(disk, &layout, &manifest, &mut report);
    match read_catalogue(disk, dir) {
        Ok(Some(catalogue)) => {
            report.files += 1;
            report.problems.extend(check_known(&layout, &manifest, Some(&catalogue)).err());
        }
        Ok(None) if state.files.is_empty() && report.log_records == 0 => {
            report.problems.extend(check_known(&layout, &manifest, None).err());
        }
        Ok(None) => {
            let file = dir.join("CATALOGUE").display().to_string();
            report.problems.push(OpenError::CatalogueMissing { file });
        }
        Err(error) => report.problems.push(catalogue_error(&layout, error)),
    }
    let bytes = state.files.values().map(|file| file.bytes).fold(0, u64::saturating_add);
    let mut now = VerifyProgress { files: state.files.len() as u64, bytes, ..VerifyProgress::default() };
    for record in state.files.values() {
        let before = now.bytes_done;
        let mut done = |bytes| progress(VerifyProgress { bytes_done: before.saturating_add(bytes), ..now });
        match verify_table(disk, &layout, record, &mut done) {
            Ok(entries) => report.entries += entries,
            Err(OpenError::FileMissing { file }) => {
                let blamed = manifest.blame(dir, &file).map(OpenError::from);
                report.problems.push(blamed.unwrap_or(OpenError::FileMissing { file }));
            }
            Err(problem) => report.problems.push(problem),
        }
        report.files += 1;
        report.bytes = report.bytes.saturating_add(record.bytes);
        now.files_done += 1;
        now.bytes_done = now.bytes_done.saturating_add(record.bytes);
        progress(now);
    }
    // The manifest itself.
    report.files += 1;
    Ok(report)
}

/// Reads all of one table file; how many entries it has.
pub(super) fn verify_table(
    disk: &dyn Disk,
    layout: &Layout,
    record: &FileRecord,
    done: &mut dyn FnMut(u64),
) -> Result<u64, OpenError> {
    let table = open_file(disk, layout, record)?;
    let verified = table.verify(done);
    let file = || layout.table(record.id).display().to_string();
    verified.map(|verified| verified.entries).map_err(|error| OpenError::Table { file: file(), error })
}

/// The log segments that the manifest needs, and what they must be like.
pub(super) fn needed_segments(
    disk: &dyn Disk,
    layout: &Layout,
    manifest: &Peeked,
) -> Result<Vec<Needed>, OpenError> {
    match survey(disk, &layout.log, log_bounds(&manifest.state)) {
        Ok(survey) => Ok(survey.segments),
        Err(LogOpenError::MissingSegment { file }) => {
            let blamed = manifest.blame(&layout.dir, &file).map(OpenError::from);
            Err(blamed.unwrap_or_else(|| LogOpenError::MissingSegment { file }.into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads one log segment; how many records it has, and where it is torn.
pub(super) fn verify_segment(disk: &dyn Disk, segment: &Needed) -> Result<(u64, Option<TornEnd>), OpenError> {
    let bytes = segment.read(disk)?;
    let (file, mut records) = (segment.name(), 0);
    let end = scan_segment(&bytes, segment.id, &file, segment.expected, |_, record| {
        records += u64::from(!record.is_mark());
    })
    .map_err(LogOpenError::Damage)?;
    let torn = match end {
        SegmentEnd::Open { at, torn: true } => Some(TornEnd { file, offset: u64::from(at) }),
        _ => None,
    };
    Ok((records, torn))
}

fn verify_log(disk: &dyn Disk, layout: &Layout, manifest: &Peeked, report: &mut VerifyReport) {
    let segments = match needed_segments(disk, layout, manifest) {
        Ok(segments) => segments,
        Err(error) => return report.problems.push(error),
    };
    for segment in &segments {
        report.files += 1;
        match verify_segment(disk, segment) {
            Ok((records, torn)) => {
                report.log_records += records;
                report.torn.extend(torn);
            }
            Err(error) => report.problems.push(error),
        }
    }
}
