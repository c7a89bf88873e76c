//! The operating system's file system.

use super::{Disk, DiskFile, DiskLock, LockError};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Zeros are written in pieces of this size when a file is preallocated.
const ZERO_CHUNK_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

#[derive(Debug)]
struct RealLock(#[expect(dead_code, reason = "the lock lives as long as the open file")] Option<File>);

fn not_writable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

impl DiskLock for RealLock {}

impl Disk for RealDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if not_writable(&error) => File::open(path)?,
            opened => opened?,
        };
        Ok(Arc::new(RealFile(file)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(OpenOptions::new().read(true).write(true).create_new(true).open(path)?)))
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
        let mut names = fs::read_dir(dir)?
            .map(|entry| entry.map(|e| PathBuf::from(e.file_name())))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let created: Vec<&Path> = dir.ancestors().take_while(|d| !d.exists()).collect();
        fs::create_dir_all(dir)?;
        // A new directory's name is in its parent; from the outermost in.
        for parent in created.iter().rev().filter_map(|d| d.parent()) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            self.sync_dir(parent)?;
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn DiskLock>, LockError> {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = match opened {
            Err(error) if not_writable(&error) => match File::open(path) {
                Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                    return Ok(Box::new(RealLock(None)));
                }
                opened => opened?,
            },
            opened => opened?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Box::new(RealLock(Some(file)))),
            Err(TryLockError::WouldBlock) => Err(LockError::Held),
            Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
        }
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
        drop(held);
        RealDisk.lock(&path).unwrap();
    }
}
