//! The manifest: which files make up the database, and where the log begins (docs/format/manifest.md).
//!
//! Guarantees: a publish is all or nothing and durable when it returns; opening rewrites the manifest compactly
//! under a temporary name and renames it. After a publish that failed, the next one rewrites the whole file first,
//! so that no edit ever follows a torn one. A torn last record is dropped on open: its publish never
//! returned. An unreadable record with a readable one behind it is damage and refused.

mod edit;
#[cfg(test)]
mod tests;

pub use edit::{COUNT_MAX, Edit, FileId, FileRecord, ManifestState};

use rt::{Disk, DiskFile};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const MAGIC: [u8; 8] = *b"PRTAMAN\x01";
const NAME: &str = "MANIFEST";
const TEMPORARY: &str = "MANIFEST.tmp";

/// A manifest longer than this, and twice as long as when it was last rewritten, is rewritten.
const REWRITE_BYTES: u64 = 16 << 20;
/// No manifest is longer: millions of files.
const BYTES_MAX: u64 = 1 << 30;
/// Looking for intact records after a torn one may hash at most this many times the manifest's length.
const SEARCH_FACTOR: u64 = 64;

#[derive(Debug)]
pub enum ManifestError {
    Damage { file: String, offset: u64, what: String },
    Io { file: String, error: io::Error },
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::Damage { file, offset, what } => write!(
                f,
                "the manifest is damaged: {file} at offset {offset}: {what}. Nothing was changed. Restore this file \
                 from a copy, or restore the database from a backup"
            ),
            ManifestError::Io { file, error } => write!(f, "the manifest {file} failed: {error}"),
        }
    }
}

impl std::error::Error for ManifestError {}

impl ManifestError {
    /// Whether a later attempt may succeed although nobody repairs the disk.
    pub fn may_pass(&self) -> bool {
        matches!(self, ManifestError::Io { error, .. } if rt::may_pass(error))
    }
}

/// What a manifest says, before anything is changed.
pub struct Peeked {
    pub state: ManifestState,
    /// Where a last record begins that cannot be read: a publish that never returned, or damage. If it is damage,
    /// something that it made unnecessary is probably missing.
    pub torn: Option<u64>,
}

impl Peeked {
    /// The error for a file that is missing or not the one that the state needs, if the torn record may be the reason.
    pub fn blame(&self, dir: &Path, wrong: &str) -> Option<ManifestError> {
        self.torn.map(|offset| ManifestError::Damage {
            file: dir.join(NAME).display().to_string(),
            offset,
            what: format!(
                "the last record is unreadable, and {wrong} is missing or changed, which it may have been about"
            ),
        })
    }
}

pub struct Manifest {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    next_file: AtomicU64,
    rewrite_bytes: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    state: ManifestState,
    /// `None` after a failure: the file must be rewritten before anything is appended.
    file: Option<Arc<dyn DiskFile>>,
    at: u64,
    /// Its length when it was last rewritten.
    compact: u64,
}

impl Manifest {
    pub fn exists(disk: &dyn Disk, dir: &Path) -> io::Result<bool> {
        disk.exists(&dir.join(NAME))
    }

    /// Writes the first manifest of a new database.
    pub fn create(disk: Arc<dyn Disk>, dir: &Path) -> Result<Manifest, ManifestError> {
        Manifest::begin(disk, dir, ManifestState::default())
    }

    /// Writes a manifest with this state into another directory: the last step of a snapshot.
    pub fn write_copy(disk: Arc<dyn Disk>, dir: &Path, state: ManifestState) -> Result<(), ManifestError> {
        Manifest::begin(disk, dir, state).map(|_| ())
    }

    /// The manifest in `dir`, which is only read.
    pub fn peek(disk: &dyn Disk, dir: &Path) -> Result<Peeked, ManifestError> {
        let path = dir.join(NAME);
        let io = |error| ManifestError::Io { file: path.display().to_string(), error };
        let bytes = disk.open(&path).and_then(|file| file.read_all_up_to(BYTES_MAX)).map_err(io)?;
        replay(&bytes, &path.display().to_string())
    }

    /// Reads the manifest, then rewrites it compactly.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Manifest, ManifestError> {
        let Peeked { state, torn } = Manifest::peek(&*disk, dir)?;
        if let Some(offset) = torn {
            let file = dir.join(NAME);
            tracing::warn!(file = %file.display(), offset, "the manifest's last record was torn off by a crash; what it was about to say did not happen");
        }
        Manifest::begin(disk, dir, state)
    }

    fn begin(disk: Arc<dyn Disk>, dir: &Path, state: ManifestState) -> Result<Manifest, ManifestError> {
        let next_file = AtomicU64::new(state.next_file);
        let inner = Mutex::new(Inner { state, file: None, at: 0, compact: 0 });
        let manifest = Manifest { disk, dir: dir.to_owned(), next_file, rewrite_bytes: REWRITE_BYTES, inner };
        manifest.rewrite(&mut manifest.lock()).map_err(|error| manifest.io(error))?;
        Ok(manifest)
    }

    pub fn state(&self) -> ManifestState {
        self.lock().state.clone()
    }

    /// Where the log begins.
    pub fn log_begins(&self) -> u64 {
        self.lock().state.log_begins
    }

    /// A number for a new file.
    pub fn next_file(&self) -> FileId {
        FileId(self.next_file.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes the edits true, all or none. After an error it is not known which: files that the edits name,
    /// added or removed, must stay until a later publish succeeded or the database was opened again.
    pub fn publish(&self, edits: &[Edit]) -> Result<(), ManifestError> {
        let inner = &mut *self.lock();
        let mut state = inner.state.clone();
        for edit in edits {
            state.apply(edit).map_err(|what| ManifestError::Damage {
                file: self.path(NAME).display().to_string(),
                offset: inner.at,
                what: what.to_owned(),
            })?;
        }
        assert!(
            state.log_begins >= inner.state.log_begins,
            "a segment that was given up is never needed again"
        );
        assert!(state.ballot >= inner.state.ballot && state.next_file >= inner.state.next_file);
        if inner.at > self.rewrite_bytes.max(2 * inner.compact) {
            inner.file = None;
        }
        if inner.file.is_none() {
            self.rewrite(inner).map_err(|error| self.io(error))?;
        }
        let record = encode_record(inner.at, edits);
        assert!(reads_back(&record, edits), "what is published reads back");
        let outcome = match &inner.file {
            Some(file) => file.write_at(inner.at, &record).and_then(|()| file.sync_data()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match outcome {
            Ok(()) => {
                inner.at += record.len() as u64;
                inner.state = state;
                Ok(())
            }
            Err(error) => {
                inner.file = None;
                Err(self.io(error))
            }
        }
    }

    /// Takes those of the files that it names out of the manifest.
    pub fn remove_files(&self, ids: &[FileId]) -> Result<(), ManifestError> {
        let known = self.lock().state.files.clone();
        let edits: Vec<Edit> =
            ids.iter().filter(|id| known.contains_key(id)).map(|id| Edit::Remove(*id)).collect();
        if edits.is_empty() { Ok(()) } else { self.publish(&edits) }
    }

    /// Writes the state as one record under a temporary name and puts it in the place of the manifest.
    fn rewrite(&self, inner: &mut Inner) -> io::Result<()> {
        let temporary = self.path(TEMPORARY);
        if self.disk.exists(&temporary)? {
            self.disk.remove(&temporary)?;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&encode_record(MAGIC.len() as u64, &inner.state.edits()));
        // What cannot be read must not take the place of what can.
        let read = replay(&bytes, NAME).ok();
        assert!(read.is_some_and(|read| read.state == inner.state && read.torn.is_none()));
        let file = self.disk.create(&temporary)?;
        file.write_at(0, &bytes)?;
        file.sync_data()?;
        self.disk.rename(&temporary, &self.path(NAME))?;
        self.disk.sync_dir(&self.dir)?;
        inner.file = Some(file);
        inner.at = bytes.len() as u64;
        inner.compact = inner.at;
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn io(&self, error: io::Error) -> ManifestError {
        ManifestError::Io { file: self.path(NAME).display().to_string(), error }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checksum(at: u64, edits: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&at.to_le_bytes());
    let crc = crc32c::crc32c_append(crc, &(edits.len() as u32).to_le_bytes());
    crc32c::crc32c_append(crc, edits)
}

fn encode_record(at: u64, edits: &[Edit]) -> Vec<u8> {
    let mut record = vec![0; 8];
    edits.iter().for_each(|edit| edit.encode(&mut record));
    let length = (record.len() - 8) as u32;
    let crc = checksum(at, &record[8..]);
    record[..4].copy_from_slice(&length.to_le_bytes());
    record[4..8].copy_from_slice(&crc.to_le_bytes());
    record
}

/// Whether the record holds these edits.
fn reads_back(record: &[u8], edits: &[Edit]) -> bool {
    let mut rest = record.get(8..).unwrap_or_default();
    edits.iter().all(|edit| Edit::take(&mut rest).as_ref() == Some(edit)) && rest.is_empty()
}

/// The edits of the record at `at`, if it is intact.
fn intact(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let edits = rest.get(..u32::from_le_bytes(*length) as usize)?;
    (u32::from_le_bytes(*crc) == checksum(at as u64, edits)).then_some(edits)
}

fn replay(bytes: &[u8], file: &str) -> Result<Peeked, ManifestError> {
    let damage = |at: usize, what: &str| ManifestError::Damage {
        file: file.to_owned(),
        offset: at as u64,
        what: what.to_owned(),
    };
    if !bytes.starts_with(&MAGIC) {
        return Err(damage(0, "the file does not begin as a manifest of this version does"));
    }
    let mut state = ManifestState::default();
    let mut at = MAGIC.len();
    while let Some(mut edits) = intact(bytes, at) {
        let next = at + 8 + edits.len();
        while !edits.is_empty() {
            let edit = Edit::take(&mut edits).ok_or_else(|| damage(at, "an edit is not understood"))?;
            state.apply(&edit).map_err(|what| damage(at, what))?;
        }
        at = next;
    }
    // The first record is written before the file gets its name, so it is never torn.
    if at == MAGIC.len() {
        return Err(damage(at, "the first record is unreadable"));
    }
    if has_later_record(bytes, at + 1).ok_or_else(|| damage(at, "too much behind it looks like a record"))? {
        return Err(damage(at, "a record is unreadable that was durable before later ones were written"));
    }
    Ok(Peeked { state, torn: (at < bytes.len()).then_some(at as u64) })
}

/// Whether an intact record begins at or behind `from`; `None` when finding out takes too long, as it may with a manifest
/// that was made to.
fn has_later_record(bytes: &[u8], from: usize) -> Option<bool> {
    let mut budget = (bytes.len() as u64).saturating_mul(SEARCH_FACTOR);
    for later in from..bytes.len() {
        let length = bytes.get(later..).and_then(|rest| rest.first_chunk::<4>());
        let length = length.map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
        // A record has edits, and ends before the file does.
        if length == 0 || length > (bytes.len() - later) as u64 {
            continue;
        }
        budget = budget.checked_sub(length)?;
        if intact(bytes, later).is_some() {
            return Some(true);
        }
    }
    Some(false)
}
