//! Copying a database that nobody has open into a new directory: backup and restore both do this.
//!
//! Guarantees: the source is only read; the target must be new or empty; every copied file is read back and every
//! checksum in it checked before the copy counts; the manifest comes last, so an interrupted copy is not a
//! database, and a failed copy leaves nothing. Does not link: a copy shares nothing with its source.

use super::catalogue::read_catalogue;
use super::error::OpenError;
use super::layout::Layout;
use super::open::{catalogue_error, check_known, lock_dir};
use super::verify::{VerifyProgress, needed_segments, verify_segment, verify_table};
use crate::log::segment;
use crate::log::survey::Needed;
use crate::manifest::{FileRecord, Manifest, Peeked};
use rt::Disk;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stands in a target from the first to the last step. A run that finds it without a manifest may clear the directory.
const UNFINISHED: &str = "UNFINISHED";
const CATALOGUE: &str = "CATALOGUE";
const MANIFEST: &str = "MANIFEST";
/// What lies in a data folder besides and is not copied.
const NOT_COPIED: [&str; 5] = ["LOCK", "MANIFEST.tmp", "CATALOGUE.tmp", UNFINISHED, "control"];
/// At most this many names of files that were left out are reported.
const NAMES_TOLD: usize = 10;
const CHUNK_BYTES: usize = 1 << 20;

/// What was copied and checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: u64,
    pub bytes: u64,
    pub entries: u64,
    pub log_records: u64,
    /// Names in the source that are no part of a database and were left out: the first few, and how many.
    pub left_out: Vec<String>,
    pub left_out_count: u64,
}

#[derive(Debug)]
pub enum CopyError {
    /// The source does not open, or is damaged.
    Source(OpenError),
    /// The target holds a database or other files.
    Occupied { dir: String, what: &'static str },
    /// Something in the source is no file of a database.
    Strange { file: String, what: String },
    /// Reading back what was written failed although the source is sound.
    Differs { file: String, error: Box<OpenError> },
    /// A call failed: no room, no permission, a broken disk.
    Io { file: String, error: io::Error },
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::Source(error) => error.fmt(f),
            CopyError::Occupied { dir, what } => {
                write!(f, "{dir} {what}. Name a directory that does not exist yet, or an empty one")
            }
            CopyError::Strange { file, what } => {
                write!(
                    f,
                    "{file} is not copied: {what}. Whoever made this folder did not make it with Partita alone"
                )
            }
            CopyError::Differs { file, error } => write!(
                f,
                "{file} reads back differently from what was written, so its disk cannot be trusted ({error}). Use another one"
            ),
            CopyError::Io { file, error } => write!(f, "{file}: {error}"),
        }
    }
}

impl std::error::Error for CopyError {}

impl From<OpenError> for CopyError {
    fn from(error: OpenError) -> CopyError {
        CopyError::Source(error)
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    move |error| CopyError::Io { file: path.display().to_string(), error }
}

/// Copies the database in `source`, which nobody may have open, to `target`, which must be new or empty.
pub fn copy_database(
    disk: &Arc<dyn Disk>,
    source: &Path,
    target: &Path,
    progress: &mut dyn FnMut(VerifyProgress),
) -> Result<Copied, CopyError> {
    let plan = Plan::make(&**disk, source)?;
    let to = Layout::new(target);
    let existed = disk.exists(target).map_err(io_at(target))?;
    if existed {
        make_empty(&**disk, &to)?;
    }
    let copied = plan.execute(disk, &to, progress);
    if copied.is_err() && clear(&**disk, &to).is_ok() && !existed {
        // What is left is an empty directory that was not there before; harmless if it stays.
        let _ = disk.remove_dir(target);
    }
    copied
}

/// What a source consists of, found under its lock.
struct Plan {
    from: Layout,
    manifest: Peeked,
    segments: Vec<(Needed, u64)>,
    has_catalogue: bool,
    total: VerifyProgress,
    left_out: Vec<String>,
    left_out_count: u64,
    _lock: Box<dyn rt::DiskLock>,
}

impl Plan {
    fn make(disk: &dyn Disk, source: &Path) -> Result<Plan, CopyError> {
        let from = Layout::new(source);
        if !Manifest::exists(disk, source).map_err(OpenError::io(source.display()))? {
            return Err(OpenError::ManifestMissing { dir: source.display().to_string() }.into());
        }
        let lock = lock_dir(disk, &from)?;
        for name in [MANIFEST, CATALOGUE] {
            check_plain(disk, &source.join(name))?;
        }
        let manifest = Manifest::peek(disk, source).map_err(OpenError::from)?;
        let catalogue = read_catalogue(disk, source).map_err(|error| catalogue_error(&from, error))?;
        if catalogue.is_none() && !manifest.state.files.is_empty() {
            let file = source.join(CATALOGUE).display().to_string();
            return Err(OpenError::CatalogueMissing { file }.into());
        }
        check_known(&from, &manifest, catalogue.as_ref())?;
        let mut segments = Vec::new();
        for name in disk.list(&from.log).map_err(io_at(&from.log))? {
            if segment::parse_segment_name(&name).is_some() {
                check_plain(disk, &from.log.join(name))?;
            }
        }
        for segment in needed_segments(disk, &from, &manifest)? {
            let bytes = disk.len_of(&segment.path).map_err(io_at(&segment.path))?;
            segments.push((segment, bytes));
        }
        let lengths = manifest.state.files.values().map(|file| file.bytes);
        let lengths = lengths.chain(segments.iter().map(|(_, bytes)| *bytes));
        let bytes = lengths.fold(0, u64::saturating_add);
        let files = (manifest.state.files.len() + segments.len()) as u64;
        let total = VerifyProgress { files, bytes, ..VerifyProgress::default() };
        let (left_out, left_out_count) = strangers(disk, &from)?;
        let has_catalogue = catalogue.is_some();
        Ok(Plan { from, manifest, segments, has_catalogue, total, left_out, left_out_count, _lock: lock })
    }

    fn execute(
        &self,
        disk: &Arc<dyn Disk>,
        to: &Layout,
        progress: &mut dyn FnMut(VerifyProgress),
    ) -> Result<Copied, CopyError> {
        disk.create_dir_all(&to.dir).map_err(io_at(&to.dir))?;
        let marker = to.dir.join(UNFINISHED);
        disk.create(&marker).map_err(io_at(&marker))?;
        disk.sync_dir(&to.dir).map_err(io_at(&to.dir))?;
        for dir in [&to.log, &to.tables] {
            disk.create_dir_all(dir).map_err(io_at(dir))?;
        }
        let mut now = self.total;
        let mut copied = Copied {
            left_out: self.left_out.clone(),
            left_out_count: self.left_out_count,
            ..Copied::default()
        };
        for record in self.manifest.state.files.values() {
            copied.entries += self.copy_table(&**disk, to, record, now, progress)?;
            now.files_done += 1;
            now.bytes_done = now.bytes_done.saturating_add(record.bytes);
            progress(now);
        }
        for (segment, bytes) in &self.segments {
            copied.log_records += copy_segment(&**disk, to, segment)?;
            now.files_done += 1;
            now.bytes_done = now.bytes_done.saturating_add(*bytes);
            progress(now);
        }
        if !self.has_catalogue && copied.log_records > 0 {
            let file = self.from.dir.join(CATALOGUE).display().to_string();
            return Err(OpenError::CatalogueMissing { file }.into());
        }
        if self.has_catalogue {
            let path = to.dir.join(CATALOGUE);
            copy_file(&**disk, &self.from.dir.join(CATALOGUE), &path, &mut |_| {})?;
            read_catalogue(&**disk, &to.dir).map_err(|error| differs(&path, catalogue_error(to, error)))?;
        }
        for dir in [&to.log, &to.tables] {
            disk.sync_dir(dir).map_err(io_at(dir))?;
        }
        assert_eq!(now.files_done, now.files, "every file is copied before the manifest names it");
        // From here on it is a database.
        Manifest::write_copy(disk.clone(), &to.dir, self.manifest.state.clone()).map_err(OpenError::from)?;
        disk.remove(&marker).map_err(io_at(&marker))?;
        disk.sync_dir(&to.dir).map_err(io_at(&to.dir))?;
        Ok(Copied { files: now.files + 1 + u64::from(self.has_catalogue), bytes: now.bytes, ..copied })
    }

    /// Copies a table file and reads the copy back; how many entries it has.
    fn copy_table(
        &self,
        disk: &dyn Disk,
        to: &Layout,
        record: &FileRecord,
        now: VerifyProgress,
        progress: &mut dyn FnMut(VerifyProgress),
    ) -> Result<u64, CopyError> {
        let (source, target) = (self.from.table(record.id), to.table(record.id));
        if !disk.exists(&source).map_err(io_at(&source))? {
            let file = source.display().to_string();
            return Err(OpenError::FileMissing { file }.into());
        }
        check_plain(disk, &source)?;
        // Before it is copied: what pretends to be a table may be as long as it likes and cost nothing where it lies.
        verify_table(disk, &self.from, record, &mut |_| {})?;
        copy_file(disk, &source, &target, &mut |bytes| {
            progress(VerifyProgress { bytes_done: now.bytes_done.saturating_add(bytes), ..now })
        })?;
        verify_table(disk, to, record, &mut |_| {}).map_err(|error| differs(&target, error))
    }
}

/// A link in somebody else's backup may lead anywhere, a pipe or a device to no end.
fn check_plain(disk: &dyn Disk, path: &Path) -> Result<(), CopyError> {
    match disk.is_plain(path) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let what = "it is a link, a folder, a pipe or a device, and no backup has these".to_owned();
            Err(CopyError::Strange { file: path.display().to_string(), what })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_at(path)(error)),
    }
}

/// Names that are no part of a database: the first few, and how many there are.
fn strangers(disk: &dyn Disk, from: &Layout) -> Result<(Vec<String>, u64), CopyError> {
    let mut found = (Vec::new(), 0);
    for dir in [&from.dir, &from.log, &from.tables] {
        if !disk.exists(dir).map_err(io_at(dir))? {
            continue;
        }
        for name in disk.list(dir).map_err(io_at(dir))? {
            let path = dir.join(&name);
            let known = match dir {
                dir if *dir == from.log => {
                    segment::parse_segment_name(&name).is_some() || segment::is_spare_name(&name)
                }
                dir if *dir == from.tables => Layout::parse_table_name(&name).is_some(),
                _ => {
                    let parts = [&from.log, &from.tables].contains(&&path);
                    let named = |known: &&str| name.as_os_str() == *known;
                    parts || NOT_COPIED.iter().chain(&[MANIFEST, CATALOGUE]).any(named)
                }
            };
            if !known {
                found.1 += 1;
                if found.0.len() < NAMES_TOLD {
                    found.0.push(path.display().to_string());
                }
            }
        }
    }
    Ok(found)
}

fn copy_segment(disk: &dyn Disk, to: &Layout, source: &Needed) -> Result<u64, CopyError> {
    let target = Needed { path: to.log.join(segment::segment_name(source.id)), ..source.clone() };
    let (records, torn) = verify_segment(disk, source)?;
    copy_file(disk, &source.path, &target.path, &mut |_| {})?;
    match verify_segment(disk, &target) {
        Ok((again, cut)) if again == records && cut.is_some() == torn.is_some() => Ok(records),
        Ok(_) => {
            let error = io::Error::other("the copy of a log segment has other records");
            Err(differs(&target.path, OpenError::Io { context: target.name(), error }))
        }
        Err(error) => Err(differs(&target.path, error)),
    }
}

fn differs(file: &Path, error: OpenError) -> CopyError {
    CopyError::Differs { file: file.display().to_string(), error: Box::new(error) }
}

/// Copies the bytes of one file and syncs them; `done` gets the number of bytes so far.
fn copy_file(
    disk: &dyn Disk,
    source: &Path,
    target: &Path,
    done: &mut dyn FnMut(u64),
) -> Result<(), CopyError> {
    let from = disk.open(source).map_err(io_at(source))?;
    let to = disk.create(target).map_err(io_at(target))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = 0;
    loop {
        let count = from.read_at(at, &mut chunk).map_err(io_at(source))?;
        if count == 0 {
            break;
        }
        to.write_at(at, &chunk[..count]).map_err(io_at(target))?;
        at += count as u64;
        done(at);
    }
    to.sync_data().map_err(io_at(target))
}

/// Refuses a directory that holds anything but the remains of a copy that was cut off; removes those.
fn make_empty(disk: &dyn Disk, target: &Layout) -> Result<(), CopyError> {
    let occupied = |what| CopyError::Occupied { dir: target.dir.display().to_string(), what };
    if Manifest::exists(disk, &target.dir).map_err(io_at(&target.dir))? {
        return Err(occupied("already holds a database"));
    }
    let names = disk.list(&target.dir).map_err(io_at(&target.dir))?;
    if names.is_empty() {
        return Ok(());
    }
    if !names.contains(&PathBuf::from(UNFINISHED)) {
        return Err(occupied("is not empty"));
    }
    clear(disk, target).map_err(io_at(&target.dir))
}

/// Removes what a copy makes, the manifest first and the marker last. Files that are not ours stay, and then so does the
/// marker. The caller knows that what is there was made by a copy.
fn clear(disk: &dyn Disk, target: &Layout) -> io::Result<()> {
    if Manifest::exists(disk, &target.dir)? {
        disk.remove(&target.dir.join("MANIFEST"))?;
    }
    for dir in [&target.tables, &target.log] {
        if !disk.exists(dir)? {
            continue;
        }
        for name in disk.list(dir)? {
            let ours =
                Layout::parse_table_name(&name).is_some() || segment::parse_segment_name(&name).is_some();
            if ours {
                disk.remove(&dir.join(name))?;
            }
        }
        disk.remove_dir(dir)?;
    }
    for name in [CATALOGUE, "MANIFEST.tmp", UNFINISHED] {
        let path = target.dir.join(name);
        if disk.exists(&path)? {
            disk.remove(&path)?;
        }
    }
    Ok(())
}
