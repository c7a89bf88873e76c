//! The operating system's file system. What we create is for its owner alone: files 0600, directories 0700.

use super::reserve::with_descriptor;
use super::{Disk, DiskFile, DiskLock, LockError};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Zeros are written in pieces of this size when a file is preallocated.
const ZERO_CHUNK_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

/// Permissions of what we create.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

#[derive(Debug)]
struct RealLock(#[expect(dead_code, reason = "a lock lives as long as its open file")] Vec<File>);

fn not_writable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

impl DiskLock for RealLock {}

impl Disk for RealDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let open = || match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if not_writable(&error) => File::open(path),
            opened => opened,
        };
        let file = with_descriptor(open)?;
        // A pipe or a device would have us wait or read for ever.
        if !file.metadata()?.is_file() {
            return Err(not_plain(path));
        }
        Ok(Arc::new(RealFile(file)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(FILE_MODE);
        Ok(Arc::new(RealFile(with_descriptor(|| options.open(path))?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir(dir)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = with_descriptor(|| fs::read_dir(dir))?
            .map(|entry| entry.map(|e| PathBuf::from(e.file_name())))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let created: Vec<&Path> = dir.ancestors().take_while(|d| !d.exists()).collect();
        DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir)?;
        // A new directory's name is in its parent; from the outermost in.
        for parent in created.iter().rev().filter_map(|d| d.parent()) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            self.sync_dir(parent)?;
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        with_descriptor(|| File::open(dir))?.sync_all()
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn len_of(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn is_plain(&self, path: &Path) -> io::Result<bool> {
        Ok(fs::symlink_metadata(path)?.is_file())
    }

    fn is_open_to_others(&self, dir: &Path) -> io::Result<bool> {
        Ok(fs::metadata(dir)?.mode() & 0o077 != 0)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DiskLock>, LockError> {
        let mut held = Vec::new();
        if let Some(file) = open_lock(path)? {
            held.push(locked(file)?);
        }
        if let Some(dir) = path.parent() {
            let dir = with_descriptor(|| File::open(dir))?;
            match locked(dir) {
                Ok(dir) => held.push(dir),
                Err(LockError::Held) => return Err(LockError::Held),
                // Some network file systems lock files only.
                Err(LockError::Io(_)) => {}
            }
        }
        Ok(Box::new(RealLock(held)))
    }
}

fn not_plain(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not a plain file", path.display()))
}

/// The lock file; `None` where there is none and none can be made. A link would have us make a file elsewhere.
fn open_lock(path: &Path) -> io::Result<Option<File>> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(not_plain(path));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    match with_descriptor(|| options.open(path)) {
        Err(error) if not_writable(&error) => match with_descriptor(|| File::open(path)) {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        },
        opened => opened.map(Some),
    }
}

fn locked(file: File) -> Result<File, LockError> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LockError::Held),
        Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.0.read_at(&mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn preallocate(&self, len: u64) -> io::Result<()> {
        let zeros = vec![0; ZERO_CHUNK_BYTES];
        let mut at = self.len()?;
        while at < len {
            let step = (len - at).min(ZERO_CHUNK_BYTES as u64) as usize;
            self.write_at(at, &zeros[..step])?;
            at += step as u64;
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_what_is_written_at_each_offset() {
        let dir = tempfile::tempdir().unwrap();
        RealDisk.create_dir_all(&dir.path().join("x/y/z")).unwrap();
        assert_eq!(RealDisk.list(&dir.path().join("x/y")).unwrap(), [PathBuf::from("z")]);
        fs::remove_dir_all(dir.path().join("x")).unwrap();
        let path = dir.path().join("a");
        let file = RealDisk.create(&path).unwrap();
        assert_eq!(RealDisk.create(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        file.preallocate(3 << 20).unwrap();
        file.write_at(5, b"hello").unwrap();
        file.sync_data().unwrap();
        let mut buf = [1; 8];
        RealDisk.open(&path).unwrap().read_exact_at(4, &mut buf).unwrap();
        assert_eq!(&buf, b"\0hello\0\0");
        assert_eq!(file.len().unwrap(), 3 << 20);
        RealDisk.link(&path, &dir.path().join("b")).unwrap();
        RealDisk.rename(&path, &dir.path().join("c")).unwrap();
        RealDisk.sync_dir(dir.path()).unwrap();
        assert_eq!(RealDisk.list(dir.path()).unwrap(), [PathBuf::from("b"), PathBuf::from("c")]);
    }

    #[test]
    fn the_lock_keeps_a_second_holder_out_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("LOCK");
        let held = RealDisk.lock(&path).unwrap();
        assert!(matches!(RealDisk.lock(&path), Err(LockError::Held)));
        fs::remove_file(&path).unwrap();
        assert!(matches!(RealDisk.lock(&path), Err(LockError::Held)), "deleting the file lets nobody in");
        drop(held);
        RealDisk.lock(&path).unwrap();
    }

    #[test]
    fn what_is_created_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        RealDisk.create_dir_all(&inner).unwrap();
        RealDisk.create(&inner.join("file")).unwrap();
        drop(RealDisk.lock(&inner.join("LOCK")).unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!([mode(&dir.path().join("a")), mode(&inner)], [0o700; 2]);
        assert_eq!([mode(&inner.join("file")), mode(&inner.join("LOCK"))], [0o600; 2]);
        assert!(!RealDisk.is_open_to_others(&inner).unwrap());
        fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o750)).unwrap();
        assert!(RealDisk.is_open_to_others(&inner).unwrap());
    }
}
