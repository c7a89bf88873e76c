//! A disk in memory that knows what is durable, and can crash, fail, fill up and rot. Deterministic.
//!
//! Every call that changes something (write, resize, sync, create, rename, remove, link) has a number,
//! starting at 1. [`SimDisk::fault_at`] makes the k-th of them fail or crash the disk; after a crash every call
//! fails, and [`SimDisk::image`] builds the disk that a restarted machine would find.

mod state;
#[cfg(test)]
mod tests;

use super::{Disk, DiskFile, DiskLock, LockError};
use crate::random::Random;
use state::State;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// What happens at a chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Power is cut during the call: it may have happened in part; every later call fails.
    Crash,
    /// The call fails once; a failed sync loses the data it should have saved.
    Error,
    /// From this call on, whatever needs space (create, link, writes that grow a file) fails with `StorageFull`.
    Full,
    /// The call fails once with this error of the operating system and changes nothing. A sync is not hit: no error
    /// of a sync passes.
    Os(i32),
}

/// How much of the unsynced state survives a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashImage {
    /// Only what was synced.
    DropUnsynced,
    /// Everything, as after a crash of the process alone.
    KeepAll,
    /// Everything, but the last write keeps only its first `bytes` bytes.
    TornLast { bytes: usize },
    /// A random subset of unsynced writes and names, the last write torn at a random byte.
    Random { seed: u64 },
}

/// Cheap to clone; clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
    gate: Arc<Mutex<Option<Gate>>>,
}

/// Where the next creation of a file whose name contains `part` waits.
struct Gate {
    part: String,
    reached: mpsc::Sender<()>,
    opened: mpsc::Receiver<()>,
}

/// A creation that is held up, or will be: see [`SimDisk::hold_create`]. Dropped, it lets it through.
pub struct Held {
    reached: mpsc::Receiver<()>,
    _open: mpsc::Sender<()>,
}

impl Held {
    /// Whether somebody waits there; says so once.
    pub fn is_reached(&self) -> bool {
        self.reached.try_recv().is_ok()
    }
}

impl SimDisk {
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// Numbered calls so far.
    pub fn io_count(&self) -> u64 {
        self.state().io_count
    }

    /// Makes call number `k` (counted from the disk's creation) meet `fault`.
    pub fn fault_at(&self, k: u64, fault: Fault) {
        self.state().faults.insert(k, fault);
    }

    /// Fails every write to a file whose name contains `part`, from now on; `None` ends that.
    pub fn refuse_writes(&self, part: Option<&str>) {
        self.state().refused = part.map(str::to_owned);
    }

    /// Holds up the next creation of a file whose name contains `part`, so that a test can act meanwhile.
    pub fn hold_create(&self, part: &str) -> Held {
        let ((reach, reached), (open, opened)) = (mpsc::channel(), mpsc::channel());
        *self.gate() = Some(Gate { part: part.to_owned(), reached: reach, opened });
        Held { reached, _open: open }
    }

    fn gate(&self) -> MutexGuard<'_, Option<Gate>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on whatever needs a descriptor (opening, creating, listing, syncing a directory) fails with this error of
    /// the operating system; `None` ends that.
    pub fn starve(&self, error: Option<i32>) {
        self.state().starved = error;
    }

    /// Ends the state "disk full".
    pub fn make_room(&self) {
        self.state().full = false;
    }

    pub fn is_crashed(&self) -> bool {
        self.state().crashed
    }

    /// The disk that a restart would find if power failed now. Locks are free on it.
    pub fn image(&self, image: CrashImage) -> SimDisk {
        let state = self.state();
        let survivors = match image {
            CrashImage::DropUnsynced => state.survivors(|_| false, None),
            CrashImage::KeepAll => state.survivors(|_| true, None),
            CrashImage::TornLast { bytes } => state.survivors(|_| true, Some(bytes)),
            CrashImage::Random { seed } => {
                let mut random = Random::seeded(seed);
                let last_len = state.last_write_len() as u64;
                let torn = random.one_in(2).then(|| random.below(last_len + 1) as usize);
                // How eager this machine was to write back: from hardly anything to nearly everything.
                let eagerness = random.below(5);
                state.survivors(|_| random.below(4) < eagerness, torn)
            }
        };
        SimDisk { state: Arc::new(Mutex::new(survivors)), gate: Arc::default() }
    }

    /// Length of the last write that is not durable; the number of ways to tear it.
    pub fn last_write_len(&self) -> usize {
        self.state().last_write_len()
    }

    /// Changes one stored byte behind everybody's back; `false` when there is no such byte.
    pub fn flip(&self, path: &Path, offset: u64, mask: u8) -> bool {
        self.state().flip(path, offset, mask)
    }

    /// Every file with its length, sorted by path.
    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        self.state().files()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let inode = self.state().open(path)?;
        Ok(Arc::new(SimFile { disk: self.clone(), inode, path: path.to_owned() }))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let gate = self.gate().take_if(|gate| path.to_string_lossy().contains(&gate.part));
        if let Some(gate) = gate {
            let _ = gate.reached.send(());
            // Ends when the test drops its side.
            let _ = gate.opened.recv();
        }
        let inode = self.state().create(path)?;
        Ok(Arc::new(SimFile { disk: self.clone(), inode, path: path.to_owned() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().remove(path)
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        self.state().remove_dir(dir)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().link(from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.state().list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.state().create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.state().sync_dir(dir)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.state().exists(path)
    }

    fn len_of(&self, path: &Path) -> io::Result<u64> {
        let mut state = self.state();
        let inode = state.lookup(path)?;
        state.len(inode)
    }

    fn is_plain(&self, path: &Path) -> io::Result<bool> {
        self.state().lookup(path).map(|_| true)
    }

    fn is_open_to_others(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DiskLock>, LockError> {
        if !self.state().take_lock(path)? {
            return Err(LockError::Held);
        }
        Ok(Box::new(SimLock { disk: self.clone(), path: path.to_owned() }))
    }
}

struct SimFile {
    disk: SimDisk,
    inode: u64,
    path: PathBuf,
}

impl std::fmt::Debug for SimFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimFile({})", self.path.display())
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.disk.state().read(self.inode, offset, buf)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.state().write(self.inode, &self.path, offset, bytes)
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.state().len(self.inode)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.state().set_len(self.inode, len)
    }

    fn preallocate(&self, len: u64) -> io::Result<()> {
        let at = self.len()?;
        let zeros = vec![0; usize::try_from(len.saturating_sub(at)).unwrap_or(0)];
        if zeros.is_empty() { Ok(()) } else { self.write_at(at, &zeros) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.state().sync_data(self.inode)
    }
}

struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl std::fmt::Debug for SimLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimLock({})", self.path.display())
    }
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.state().release_lock(&self.path);
    }
}
