//! Segment files: their names, and how one is made, reused and removed.
//!
//! The segment after the current one, the one *ahead*, is made in the background and kept open: a commit rarely waits
//! for a file to be filled with zeros, and a process without free descriptors can still go to its next segment.

use super::format::{Frame, RECORDS_AT, segment_header};
use super::record;
use crate::manifest::COUNT_MAX;
use rt::{Disk, DiskFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Spare files kept for reuse; more than this many free segments are deleted instead.
const SPARES_MAX: usize = 3;

/// No segment is longer; a commit fits into one.
pub const SEGMENT_BYTES_MAX: u32 = 256 << 20;

/// A segment made while the database is opened; the next one is prepared in the background meanwhile.
const FIRST_SEGMENT_BYTES: u32 = 1 << 20;

pub fn segment_name(id: u64) -> String {
    format!("{id:016x}.log")
}

/// The id in a segment's file name; `None` for any other file.
pub fn parse_segment_name(name: &Path) -> Option<u64> {
    let hex = name.to_str()?.strip_suffix(".log")?;
    let id = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())??;
    (segment_name(id) == name.to_str()? && id <= COUNT_MAX).then_some(id)
}

pub fn is_spare_name(name: &Path) -> bool {
    spare_number(name).is_some()
}

fn spare_number(name: &Path) -> Option<u64> {
    name.to_str()?.strip_prefix("spare-")?.strip_suffix(".log")?.parse().ok()
}

/// A segment that exists, durably, and has no records yet.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub id: u64,
    pub file: Arc<dyn DiskFile>,
    /// How many bytes it can hold.
    pub capacity: u32,
}

/// Makes segment files, from spare ones where possible. Shared by the log's driver and the background thread.
pub struct SegmentFiles {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    segment_bytes: u32,
    spares: Mutex<Spares>,
    /// Locked while a segment is made, so that only one at a time is.
    ahead: Mutex<Ahead>,
}

#[derive(Default)]
struct Spares {
    ready: Vec<PathBuf>,
    next_name: u64,
}

#[derive(Default)]
struct Ahead {
    /// The segment that takes records now; every earlier one is sealed.
    current: u64,
    next: Option<Fresh>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SegmentFiles {
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, segment_bytes: u32) -> SegmentFiles {
        SegmentFiles { disk, dir, segment_bytes, spares: Mutex::default(), ahead: Mutex::default() }
    }

    pub fn path(&self, id: u64) -> PathBuf {
        self.dir.join(segment_name(id))
    }

    pub fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// The segment that the log begins with: a small one now is better than a full one later.
    pub fn begin(&self, id: u64) -> io::Result<Fresh> {
        let mut ahead = lock(&self.ahead);
        let fresh = self.create(id, self.segment_bytes.min(FIRST_SEGMENT_BYTES))?;
        ahead.current = id;
        Ok(fresh)
    }

    /// The segment behind the current one, made now if it was not made ahead. It stays the next one until it is
    /// `begun`, so a caller that fails in between may ask again.
    pub fn next(&self) -> io::Result<Fresh> {
        let mut ahead = lock(&self.ahead);
        self.make_next(&mut ahead)
    }

    fn make_next(&self, ahead: &mut Ahead) -> io::Result<Fresh> {
        assert!(ahead.current > 0, "a log has a first segment before it has a next one");
        if let Some(fresh) = &ahead.next {
            return Ok(fresh.clone());
        }
        let fresh = self.create(ahead.current + 1, self.segment_bytes)?;
        ahead.next = Some(fresh.clone());
        Ok(fresh)
    }

    /// The current segment is sealed, and records go to this one from now on.
    pub fn begun(&self, id: u64) {
        let mut ahead = lock(&self.ahead);
        assert_eq!(id, ahead.current + 1, "segments follow each other");
        ahead.current = id;
        ahead.next = None;
    }

    /// Makes the next segment if there is none; meant for a background thread.
    pub fn prepare_next(&self) -> io::Result<()> {
        let mut ahead = lock(&self.ahead);
        // The log may have closed before it began, or not begun yet.
        if ahead.current > 0 { self.make_next(&mut ahead).map(|_| ()) } else { Ok(()) }
    }

    /// Notes in the segment ahead how much of the current one is durable. Not synced, and nobody relies on it: with the
    /// note, damage to the end of the current segment cannot be taken for a tail that a crash tore off.
    pub fn note(&self, current: u64, synced: u32) {
        // The holder of the lock makes a segment, and that takes long.
        let Ok(ahead) = self.ahead.try_lock() else { return };
        let Some(fresh) = ahead.next.as_ref().filter(|_| ahead.current == current) else { return };
        let payload = record::note(synced);
        let frame =
            Frame { length: payload.len() as u32, synced: RECORDS_AT, payload_crc: crc32c::crc32c(&payload) };
        let mut bytes = Vec::new();
        frame.encode(fresh.id, RECORDS_AT, &mut bytes);
        bytes.extend_from_slice(&payload);
        if let Err(error) = fresh.file.write_at(u64::from(RECORDS_AT), &bytes) {
            tracing::debug!(%error, "the segment ahead could not be written to");
        }
    }

    /// A new segment, its header and its name durable. Old bytes may follow the header. A failure leaves nothing that
    /// keeps the next attempt from succeeding.
    fn create(&self, id: u64, capacity: u32) -> io::Result<Fresh> {
        assert!(capacity > RECORDS_AT, "a segment has room for records");
        let path = self.path(id);
        if self.disk.exists(&path)? {
            // What an attempt that failed left behind, or recovery found unused.
            self.disk.remove(&path)?;
        }
        let spare = lock(&self.spares).ready.pop();
        let (file, capacity) = match spare {
            Some(spare) => {
                // Opened before it changes its name: without a descriptor it stays a spare.
                let file = self.disk.open(&spare).and_then(|file| {
                    self.disk.rename(&spare, &path)?;
                    Ok(file)
                });
                match file {
                    Ok(file) => (file, self.segment_bytes),
                    Err(error) => {
                        lock(&self.spares).ready.push(spare);
                        return Err(error);
                    }
                }
            }
            None => (self.allocate(&path, capacity)?, capacity),
        };
        file.write_at(0, &segment_header(id, capacity))?;
        file.sync_data()?;
        self.disk.sync_dir(&self.dir)?;
        Ok(Fresh { id, file, capacity })
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

    /// Takes a segment out of the log; its file becomes a spare or goes.
    pub fn retire(&self, id: u64) -> io::Result<()> {
        assert!(id > 0, "segments are counted from 1");
        if lock(&self.spares).ready.len() >= SPARES_MAX || !self.is_full_size(&self.path(id))? {
            return self.disk.remove(&self.path(id));
        }
        let spare = self.next_spare_path();
        self.disk.rename(&self.path(id), &spare)?;
        // The directory is synced first: a file must never be reachable as two segments after a crash.
        self.disk.sync_dir(&self.dir)?;
        lock(&self.spares).ready.push(spare);
        Ok(())
    }

    /// Takes over the spare files that an earlier run left; removes those that do not fit.
    pub fn adopt_spares(&self) -> io::Result<()> {
        for name in self.disk.list(&self.dir)?.into_iter().filter(|name| is_spare_name(name)) {
            let path = self.dir.join(&name);
            let mut spares = lock(&self.spares);
            spares.next_name = spares.next_name.max(spare_number(&name).unwrap_or(0));
            if spares.ready.len() < SPARES_MAX && self.is_full_size(&path)? {
                spares.ready.push(path);
            } else {
                self.disk.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the spare files and the segment ahead: the database is closed and needs no log, and an idle one should
    /// not occupy what only writing needs.
    pub fn remove_spares(&self) -> io::Result<()> {
        let ahead = lock(&self.ahead).next.take().map(|fresh| self.path(fresh.id));
        let spares = std::mem::take(&mut lock(&self.spares).ready);
        spares.iter().chain(&ahead).try_for_each(|path| self.disk.remove(path))
    }

    fn is_full_size(&self, path: &Path) -> io::Result<bool> {
        Ok(self.disk.len_of(path)? == u64::from(self.segment_bytes))
    }

    fn next_spare_path(&self) -> PathBuf {
        let mut spares = lock(&self.spares);
        spares.next_name += 1;
        self.dir.join(format!("spare-{}.log", spares.next_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_foreign_names_do_not() {
        assert_eq!(parse_segment_name(Path::new(&segment_name(0xabc))), Some(0xabc));
        for foreign in [
            "abc.log",
            "00000000000000AB.log",
            "spare-1.log",
            "0000000000000001.tmp",
            "ffffffffffffffff.log",
            "",
        ] {
            assert_eq!(parse_segment_name(Path::new(foreign)), None, "{foreign}");
        }
        assert!(is_spare_name(Path::new("spare-12.log")) && !is_spare_name(Path::new("x.log")));
    }
}
