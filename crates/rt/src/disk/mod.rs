//! What the engine may ask of a disk. Calls are synchronous; handles are shared freely between threads.
//!
//! What we assume about the medium, and what [`sim::SimDisk`] therefore does not promise on a crash:
//! data is durable only after `sync_data` of its file returned `Ok`; a file's name is durable only after
//! `sync_dir` of its directory returned `Ok`; unsynced writes may each be lost, kept or (the last one) torn
//! at any byte, in any combination; a rename is atomic. After a failed `sync_data` the unsynced data of that
//! file must be considered lost for good, whatever a later sync says.

pub mod real;
mod reserve;
pub mod sim;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a failed call may succeed later although nobody repairs the disk: there was no room, no quota, no
/// descriptor or no memory, or a signal came. A caller that gets such an error has changed nothing that it cannot do again; a
/// failed `sync_data` is the exception, whatever its error.
pub fn may_pass(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | Interrupted | OutOfMemory)
        || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// The system, or this process, has too many open files; Rust has no kind for these.
pub const ENFILE: i32 = 23;
pub const EMFILE: i32 = 24;

/// A directory tree of files.
pub trait Disk: Send + Sync + 'static {
    /// Opens an existing file for reading and writing; where writing is not permitted (a backup on read-only
    /// media), for reading.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates a file that must not exist yet. Its name is durable after `sync_dir` of the parent.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Atomically gives `from` the name `to`, replacing a file of that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_dir(&self, dir: &Path) -> io::Result<()>;

    /// A second name for the same file (hard link); `to` must not exist.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Names of the files and directories directly inside `dir`, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Creates the directory and its parents where they are missing, durably.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes the names inside `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Length of the file with this name. Needs no descriptor.
    fn len_of(&self, path: &Path) -> io::Result<u64>;

    /// Whether the name is a plain file's: not a link, a directory, a pipe or a device.
    fn is_plain(&self, path: &Path) -> io::Result<bool>;

    /// Whether users other than the owner may look into the directory.
    fn is_open_to_others(&self, dir: &Path) -> io::Result<bool>;

    /// Takes the lock that keeps a second process out: on the file `path`, which is made if it is missing, and on the
    /// directory it lies in, which stays locked when somebody deletes the file. Held until the value is dropped. Where
    /// nothing can be written and nobody ever locked, there is nothing to keep out.
    fn lock(&self, path: &Path) -> Result<Box<dyn DiskLock>, LockError>;
}

/// An open file. Reads and writes name their offset, so one handle serves many threads.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Reads up to `buf.len()` bytes; less only at the end of the file.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes`, growing the file when needed. A failure may leave a part written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    fn len(&self) -> io::Result<u64>;

    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file or extends it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Fills the file from its end to `len` with written zeros, so that later overwrites change data
    /// only (no allocation, no growth) and sync faster.
    fn preallocate(&self, len: u64) -> io::Result<()>;

    /// Makes everything written so far, and the length, durable.
    fn sync_data(&self) -> io::Result<()>;

    /// Fills `buf` or fails with `UnexpectedEof`.
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self.read_at(offset, buf)? {
            n if n == buf.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The whole file.
    fn read_all(&self) -> io::Result<Vec<u8>> {
        self.read_all_up_to(u64::MAX)
    }

    /// The whole file, if it is not longer than it can rightly be: a file of somebody else's making may be a sparse giant.
    fn read_all_up_to(&self, most: u64) -> io::Result<Vec<u8>> {
        let len = self.len()?;
        if len > most {
            let text = format!("the file is {len} bytes long; more than {most} cannot be right");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        self.read_exact_at(0, &mut bytes)?;
        Ok(bytes)
    }
}

/// Holds a lock file until it is dropped.
pub trait DiskLock: Send + Sync + fmt::Debug {}

#[derive(Debug)]
pub enum LockError {
    /// Another process (or another database in this one) holds it.
    Held,
    Io(io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Held => f.write_str("the lock is held by another process"),
            LockError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LockError {}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockError::Io(error)
    }
}
