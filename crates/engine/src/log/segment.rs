//! Segment files: their names, and how one comes into being, is reused and goes.

use super::format::{RECORDS_AT, segment_header};
use rt::{Disk, DiskFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Spare files kept for reuse; more than this many free segments are deleted instead.
const SPARES_MAX: usize = 3;

pub fn segment_name(id: u64) -> String {
    format!("{id:016x}.log")
}

/// The id in a segment's file name; `None` for any other file.
pub fn parse_segment_name(name: &Path) -> Option<u64> {
    let hex = name.to_str()?.strip_suffix(".log")?;
    let id = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())??;
    (segment_name(id) == name.to_str()?).then_some(id)
}

pub fn is_spare_name(name: &Path) -> bool {
    name.to_str().is_some_and(|n| n.starts_with("spare-") && n.ends_with(".log"))
}

/// Makes segment files, from spare ones where possible. Shared by the log thread and the background
/// thread that prepares spares, so that a commit rarely waits for a file to be filled with zeros.
pub struct SegmentFiles {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    segment_bytes: u32,
    spares: Mutex<Spares>,
}

#[derive(Default)]
struct Spares {
    ready: Vec<PathBuf>,
    next_name: u64,
}

impl SegmentFiles {
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, segment_bytes: u32) -> SegmentFiles {
        SegmentFiles { disk, dir, segment_bytes, spares: Mutex::default() }
    }

    pub fn path(&self, id: u64) -> PathBuf {
        self.dir.join(segment_name(id))
    }

    pub fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// A new segment, its header and its name durable. Old bytes may follow the header.
    pub fn create(&self, id: u64) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.path(id);
        let spare = self.spares().ready.pop();
        let file = match spare {
            Some(spare) => {
                self.disk.rename(&spare, &path)?;
                self.disk.open(&path)?
            }
            None => self.allocate(&path)?,
        };
        file.write_at(0, &segment_header(id))?;
        file.sync_data()?;
        self.disk.sync_dir(&self.dir)?;
        debug_assert!(self.segment_bytes > RECORDS_AT);
        Ok(file)
    }

    /// A file of full size; when that fails, nothing is left behind.
    fn allocate(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.create(path)?;
        let filled = file.preallocate(u64::from(self.segment_bytes)).and_then(|()| file.sync_data());
        match filled {
            Ok(()) => Ok(file),
            Err(error) => {
                let _ = self.disk.remove(path);
                Err(error)
            }
        }
    }

    /// Prepares one spare file if there is none; meant for a background thread.
    pub fn prepare_spare(&self) -> io::Result<()> {
        if !self.spares().ready.is_empty() {
            return Ok(());
        }
        let path = self.next_spare_path();
        self.allocate(&path)?;
        self.keep_spare(path)
    }

    /// Takes a segment out of the log; its file becomes a spare or goes.
    pub fn retire(&self, id: u64) -> io::Result<()> {
        if self.spares().ready.len() >= SPARES_MAX {
            return self.disk.remove(&self.path(id));
        }
        let spare = self.next_spare_path();
        self.disk.rename(&self.path(id), &spare)?;
        self.keep_spare(spare)
    }

    /// The directory is synced first: a file must never be reachable as two segments after a crash.
    fn keep_spare(&self, path: PathBuf) -> io::Result<()> {
        self.disk.sync_dir(&self.dir)?;
        self.spares().ready.push(path);
        Ok(())
    }

    fn next_spare_path(&self) -> PathBuf {
        let mut spares = self.spares();
        spares.next_name += 1;
        self.dir.join(format!("spare-{}.log", spares.next_name))
    }

    fn spares(&self) -> std::sync::MutexGuard<'_, Spares> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_foreign_names_do_not() {
        assert_eq!(parse_segment_name(Path::new(&segment_name(0xabc))), Some(0xabc));
        for foreign in ["abc.log", "00000000000000AB.log", "spare-1.log", "0000000000000001.tmp", ""] {
            assert_eq!(parse_segment_name(Path::new(foreign)), None, "{foreign}");
        }
        assert!(is_spare_name(Path::new("spare-12.log")) && !is_spare_name(Path::new("x.log")));
    }
}
