//! What the simulated disk holds: for every file what is durable and what was written since, for every
//! directory the names that are durable and the changes since.

use super::Fault;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct State {
    pub io_count: u64,
    pub faults: BTreeMap<u64, Fault>,
    pub refused: Option<String>,
    pub crashed: bool,
    pub full: bool,
    pub starved: Option<i32>,
    inodes: HashMap<u64, Inode>,
    next_inode: u64,
    /// Names as running programs see them, and as a restart would.
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    pending_names: Vec<NameChange>,
    dirs: BTreeSet<PathBuf>,
    locks: HashSet<PathBuf>,
    last_writer: Option<u64>,
}

#[derive(Clone, Default)]
struct Inode {
    current: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<DataChange>,
}

#[derive(Clone)]
enum DataChange {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

#[derive(Clone)]
enum NameChange {
    Add { path: PathBuf, inode: u64 },
    Remove { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf, inode: u64 },
}

/// What the caller of a numbered call must do.
enum Verdict {
    Proceed,
    /// Record the change as pending, then fail: power went out meanwhile.
    Crash,
    Fail(io::Error),
}

impl NameChange {
    fn dir(&self) -> Option<&Path> {
        match self {
            NameChange::Add { path, .. } | NameChange::Remove { path } => path.parent(),
            NameChange::Rename { to, .. } => to.parent(),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            NameChange::Add { path, inode } => {
                names.insert(path.clone(), *inode);
            }
            NameChange::Remove { path } => {
                names.remove(path);
            }
            NameChange::Rename { from, to, inode } => {
                names.remove(from);
                names.insert(to.clone(), *inode);
            }
        }
    }
}

impl DataChange {
    fn apply(&self, data: &mut Vec<u8>, torn: Option<usize>) {
        match self {
            DataChange::SetLen(len) => data.resize(*len, 0),
            DataChange::Write { offset, bytes } => {
                let bytes = &bytes[..torn.unwrap_or(bytes.len()).min(bytes.len())];
                if bytes.is_empty() {
                    return;
                }
                if data.len() < offset + bytes.len() {
                    data.resize(offset + bytes.len(), 0);
                }
                data[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}

impl Inode {
    fn change(&mut self, change: DataChange) {
        change.apply(&mut self.current, None);
        self.pending.push(change);
    }
}

fn power_cut() -> io::Error {
    io::Error::other("the simulated machine has lost power")
}

impl State {
    fn alive(&self) -> io::Result<()> {
        if self.crashed { Err(power_cut()) } else { Ok(()) }
    }

    fn begin(&mut self, needs_room: bool) -> io::Result<Verdict> {
        self.alive()?;
        self.io_count += 1;
        match self.faults.get(&self.io_count) {
            Some(Fault::Crash) => {
                self.crashed = true;
                return Ok(Verdict::Crash);
            }
            Some(Fault::Error) => return Ok(Verdict::Fail(io::Error::other("simulated failure"))),
            Some(Fault::Full) => self.full = true,
            Some(Fault::Os(error)) => return Ok(Verdict::Fail(io::Error::from_raw_os_error(*error))),
            None => {}
        }
        if self.full && needs_room {
            return Ok(Verdict::Fail(io::ErrorKind::StorageFull.into()));
        }
        Ok(Verdict::Proceed)
    }

    fn change_name(&mut self, needs_room: bool, change: NameChange) -> io::Result<()> {
        let verdict = self.begin(needs_room)?;
        if let Verdict::Fail(error) = verdict {
            return Err(error);
        }
        change.apply(&mut self.names);
        self.pending_names.push(change);
        if self.crashed { Err(power_cut()) } else { Ok(()) }
    }

    pub fn lookup(&self, path: &Path) -> io::Result<u64> {
        self.alive()?;
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Fails while there are no descriptors.
    fn take_descriptor(&self) -> io::Result<()> {
        self.alive()?;
        self.starved.map_or(Ok(()), |error| Err(io::Error::from_raw_os_error(error)))
    }

    pub fn open(&self, path: &Path) -> io::Result<u64> {
        self.take_descriptor()?;
        self.lookup(path)
    }

    pub fn create(&mut self, path: &Path) -> io::Result<u64> {
        self.take_descriptor()?;
        if self.exists(path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !path.parent().is_some_and(|dir| self.dirs.contains(dir)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.next_inode += 1;
        let inode = self.next_inode;
        self.inodes.insert(inode, Inode::default());
        self.change_name(true, NameChange::Add { path: path.to_owned(), inode })?;
        Ok(inode)
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let inode = self.lookup(from)?;
        self.change_name(false, NameChange::Rename { from: from.to_owned(), to: to.to_owned(), inode })
    }

    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.lookup(path)?;
        self.change_name(false, NameChange::Remove { path: path.to_owned() })
    }

    pub fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let inode = self.lookup(from)?;
        if self.exists(to)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change_name(true, NameChange::Add { path: to.to_owned(), inode })
    }

    pub fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.take_descriptor()?;
        if !self.dirs.contains(dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = |path: &PathBuf| path.parent() == Some(dir);
        let all = self.names.keys().chain(&self.dirs).filter(|path| inside(path));
        let mut names: Vec<PathBuf> = all.filter_map(|path| path.file_name()).map(PathBuf::from).collect();
        names.sort();
        Ok(names)
    }

    /// Directories are durable at once: the engine makes them only when a database is created.
    pub fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.alive()?;
        self.dirs.extend(dir.ancestors().map(Path::to_owned));
        Ok(())
    }

    /// Removing a folder is durable at the same moment as creating one.
    pub fn remove_dir(&mut self, dir: &Path) -> io::Result<()> {
        if !self.list(dir)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.dirs.remove(dir);
        Ok(())
    }

    pub fn exists(&self, path: &Path) -> io::Result<bool> {
        self.alive()?;
        Ok(self.names.contains_key(path) || self.dirs.contains(path))
    }

    pub fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.take_descriptor()?;
        match self.begin(false)? {
            Verdict::Proceed => {}
            Verdict::Crash => return Err(power_cut()),
            // Not even opened.
            Verdict::Fail(error) if error.raw_os_error().is_some() => return Err(error),
            Verdict::Fail(error) => {
                self.pending_names.retain(|change| change.dir() != Some(dir));
                return Err(error);
            }
        }
        let State { pending_names, durable_names, .. } = self;
        pending_names.retain(|change| {
            let synced = change.dir() == Some(dir);
            if synced {
                change.apply(durable_names);
            }
            !synced
        });
        Ok(())
    }

    fn inode(&mut self, inode: u64) -> io::Result<&mut Inode> {
        self.inodes.get_mut(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub fn read(&mut self, inode: u64, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.alive()?;
        let data = &self.inode(inode)?.current;
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
        let len = buf.len().min(data.len() - from);
        buf[..len].copy_from_slice(&data[from..from + len]);
        Ok(len)
    }

    pub fn write(&mut self, inode: u64, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.refused.as_ref().is_some_and(|part| path.to_string_lossy().contains(part.as_str())) {
            self.alive()?;
            return Err(io::Error::other("simulated failure of this file"));
        }
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let grows = offset + bytes.len() > self.inode(inode)?.current.len();
        if let Verdict::Fail(error) = self.begin(grows)? {
            return Err(error);
        }
        self.inode(inode)?.change(DataChange::Write { offset, bytes: bytes.to_vec() });
        self.last_writer = Some(inode);
        if self.crashed { Err(power_cut()) } else { Ok(()) }
    }

    pub fn set_len(&mut self, inode: u64, len: u64) -> io::Result<()> {
        if let Verdict::Fail(error) = self.begin(true)? {
            return Err(error);
        }
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.inode(inode)?.change(DataChange::SetLen(len));
        if self.crashed { Err(power_cut()) } else { Ok(()) }
    }

    pub fn len(&mut self, inode: u64) -> io::Result<u64> {
        self.alive()?;
        Ok(self.inode(inode)?.current.len() as u64)
    }

    pub fn sync_data(&mut self, inode: u64) -> io::Result<()> {
        if let Some(Fault::Os(_)) = self.faults.get(&(self.io_count + 1)) {
            self.faults.remove(&(self.io_count + 1));
        }
        let verdict = self.begin(false)?;
        let file = self.inode(inode)?;
        match verdict {
            Verdict::Proceed => {
                let Inode { durable, pending, .. } = file;
                pending.drain(..).for_each(|change| change.apply(durable, None));
                Ok(())
            }
            Verdict::Crash => Err(power_cut()),
            // As Linux does it: the dirty pages are forgotten, readers still see them until the restart.
            Verdict::Fail(error) => {
                file.pending.clear();
                Err(error)
            }
        }
    }

    pub fn take_lock(&mut self, path: &Path) -> io::Result<bool> {
        self.alive()?;
        Ok(self.locks.insert(path.to_owned()))
    }

    pub fn release_lock(&mut self, path: &Path) {
        self.locks.remove(path);
    }

    pub fn last_write_len(&self) -> usize {
        let last = self.last_writer.and_then(|inode| self.inodes.get(&inode)).and_then(|i| i.pending.last());
        match last {
            Some(DataChange::Write { bytes, .. }) => bytes.len(),
            _ => 0,
        }
    }

    /// The state after a power cut: durable data and names plus the pending changes that `keep` chooses
    /// (it is asked once per change, in a fixed order); the last write is cut to `torn` bytes.
    pub fn survivors(&self, mut keep: impl FnMut(()) -> bool, torn: Option<usize>) -> State {
        let mut names = self.durable_names.clone();
        for change in &self.pending_names {
            if keep(()) {
                change.apply(&mut names);
            }
        }
        let mut numbers: Vec<u64> = self.inodes.keys().copied().collect();
        numbers.sort();
        let mut inodes = HashMap::new();
        for number in numbers {
            let file = &self.inodes[&number];
            let mut data = file.durable.clone();
            for (i, change) in file.pending.iter().enumerate() {
                let last = self.last_writer == Some(number) && i + 1 == file.pending.len();
                if keep(()) || (last && torn.is_some()) {
                    change.apply(&mut data, torn.filter(|_| last));
                }
            }
            if names.values().any(|n| *n == number) {
                inodes.insert(number, Inode { current: data.clone(), durable: data, pending: vec![] });
            }
        }
        State {
            inodes,
            next_inode: self.next_inode,
            durable_names: names.clone(),
            names,
            dirs: self.dirs.clone(),
            ..State::default()
        }
    }

    pub fn flip(&mut self, path: &Path, offset: u64, mask: u8) -> bool {
        let Some(inode) = self.names.get(path) else { return false };
        let Some(file) = self.inodes.get_mut(inode) else { return false };
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut hit = false;
        for data in [&mut file.current, &mut file.durable] {
            if let Some(byte) = data.get_mut(at) {
                *byte ^= mask;
                hit = true;
            }
        }
        hit
    }

    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        let len = |inode: &u64| self.inodes.get(inode).map_or(0, |file| file.current.len() as u64);
        self.names.iter().map(|(path, inode)| (path.clone(), len(inode))).collect()
    }
}
