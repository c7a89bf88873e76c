//! Reading a whole database, open nowhere, to see whether every byte is as it was written. Changes nothing.

use super::catalogue::read_catalogue;
use super::error::OpenError;
use super::layout::Layout;
use super::open::{catalogue_error, lock_dir};
use crate::log::scan::scan_segment;
use crate::log::{LogOpenError, segment};
use crate::manifest::Manifest;
use crate::table::Table;
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
    let state = Manifest::peek(disk, dir)?;
    let mut report = VerifyReport::default();
    if let Err(error) = read_catalogue(disk, dir) {
        report.problems.push(catalogue_error(&layout, error));
    }
    verify_log(disk, &layout, state.log_begins, state.closed, &mut report);
    let bytes = state.files.values().map(|file| file.bytes).sum();
    let mut now = VerifyProgress { files: state.files.len() as u64, bytes, ..VerifyProgress::default() };
    for record in state.files.values() {
        let path = layout.table(record.id);
        let file = path.display().to_string();
        let before = now.bytes_done;
        let outcome = match disk.exists(&path) {
            Ok(true) => Table::open(disk, &path, record.id.0)
                .and_then(|table| {
                    table.verify(&mut |bytes| progress(VerifyProgress { bytes_done: before + bytes, ..now }))
                })
                .map_err(|error| OpenError::Table { file, error }),
            Ok(false) => Err(OpenError::FileMissing { file }),
            Err(error) => Err(OpenError::Io { context: file, error }),
        };
        match outcome {
            Ok(verified) => report.entries += verified.entries,
            Err(problem) => report.problems.push(problem),
        }
        report.files += 1;
        report.bytes += record.bytes;
        now.files_done += 1;
        now.bytes_done += record.bytes;
        progress(now);
    }
    Ok(report)
}

fn verify_log(disk: &dyn Disk, layout: &Layout, oldest: u64, closed: bool, report: &mut VerifyReport) {
    let names = match disk.list(&layout.log) {
        Ok(names) => names,
        Err(error) => {
            return report.problems.push(OpenError::Io { context: layout.log.display().to_string(), error });
        }
    };
    let mut ids: Vec<u64> = names.iter().filter_map(|name| segment::parse_segment_name(name)).collect();
    ids.retain(|id| *id >= oldest);
    ids.sort();
    if ids.is_empty() && !closed {
        let file = layout.log.join(segment::segment_name(oldest)).display().to_string();
        report.problems.push(LogOpenError::MissingSegment { file }.into());
    }
    for (expected, &id) in (oldest..).zip(&ids) {
        let path = layout.log.join(segment::segment_name(id));
        let file = path.display().to_string();
        if expected != id {
            let file = layout.log.join(segment::segment_name(expected)).display().to_string();
            return report.problems.push(LogOpenError::MissingSegment { file }.into());
        }
        let last = ids.last() == Some(&id);
        let outcome = disk.open(&path).and_then(|open| open.read_all());
        let outcome =
            outcome.map_err(|error| LogOpenError::Io { file: file.clone(), error }).and_then(|bytes| {
                scan_segment(&bytes, id, &file, last, |_, _| report.log_records += 1)
                    .map_err(LogOpenError::Damage)
            });
        if let Err(error) = outcome {
            report.problems.push(error.into());
        }
    }
}
