//! Segment files: their names, and how one comes into being, is reused and goes.

use super::format::{RECORDS_AT, segment_header};
use rt::{Disk, DiskFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Spare files kept for reuse; more than this many free segments are deleted instead.
const SPARES_MAX: usize = 3;

/// A segment made while the database is opened; the next one is prepared in the background meanwhile.
const FIRST_SEGMENT_BYTES: u32 = 1 << 20;

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
    spare_number(name).is_some()
}

fn spare_number(name: &Path) -> Option<u64> {
    name.to_str()?.strip_prefix("spare-")?.strip_suffix(".log")?.parse().ok()
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

    /// A new segment, its header and its name durable, and how many bytes it can hold. Old bytes may follow the
    /// header. `first`: the database is being opened, and a small segment now is better than a full one later.
    pub fn create(&self, id: u64, first: bool) -> io::Result<(Arc<dyn DiskFile>, u32)> {
        let path = self.path(id);
        let mut capacity = self.segment_bytes;
        let spare = self.spares().ready.pop();
        let file = match spare {
            Some(spare) => {
                self.disk.rename(&spare, &path)?;
                self.disk.open(&path)?
            }
            None => {
                if first {
                    capacity = capacity.min(FIRST_SEGMENT_BYTES);
                }
                self.allocate(&path, capacity)?
            }
        };
        file.write_at(0, &segment_header(id))?;
        file.sync_data()?;
        self.disk.sync_dir(&self.dir)?;
        debug_assert!(capacity > RECORDS_AT);
        Ok((file, capacity))
    }

    /// A file filled with zeros; when that fails, nothing is left behind.
    fn allocate(&self, path: &Path, bytes: u32) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.create(path)?;
        let filled = file.preallocate(u64::from(bytes)).and_then(|()| file.sync_data());
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
        self.allocate(&path, self.segment_bytes)?;
        self.keep_spare(path)
    }

    /// Takes a segment out of the log; its file becomes a spare or goes.
    pub fn retire(&self, id: u64) -> io::Result<()> {
        if self.spares().ready.len() >= SPARES_MAX || !self.is_full_size(&self.path(id))? {
            return self.disk.remove(&self.path(id));
        }
        let spare = self.next_spare_path();
        self.disk.rename(&self.path(id), &spare)?;
        self.keep_spare(spare)
    }

    /// Takes over the spare files that an earlier run left; removes those that do not fit.
    pub fn adopt_spares(&self) -> io::Result<()> {
        for name in self.disk.list(&self.dir)?.into_iter().filter(|name| is_spare_name(name)) {
            let path = self.dir.join(&name);
            let mut spares = self.spares();
            spares.next_name = spares.next_name.max(spare_number(&name).unwrap_or(0));
            if spares.ready.len() < SPARES_MAX && self.is_full_size(&path)? {
                spares.ready.push(path);
            } else {
                self.disk.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the spare files: the database is closed, and an idle one should not occupy what only writing needs.
    pub fn remove_spares(&self) -> io::Result<()> {
        let spares = std::mem::take(&mut self.spares().ready);
        spares.iter().try_for_each(|path| self.disk.remove(path))
    }

    fn is_full_size(&self, path: &Path) -> io::Result<bool> {
        Ok(self.disk.open(path)?.len()? == u64::from(self.segment_bytes))
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
