//! The log's writer: appends records to the current segment, writes them, syncs them. Synchronous.
//!
//! Guarantees: `synced()` never covers a byte that `sync_data` has not confirmed; after any failed write or
//! sync the writer refuses everything, because nobody can know what reached the disk.
//! Does not decide when to sync and does not know who waits: see `group`.

use super::format::{FRAME_LEN, Frame, RECORDS_AT};
use super::record;
use super::segment::SegmentFiles;
use rt::DiskFile;
use std::io;
use std::sync::Arc;

/// Bytes of the record that closes a segment.
const SEAL_LEN: u32 = FRAME_LEN + 1;

/// A commit without mutations: a byte and a vint.
const MARK_LEN: usize = 11;

pub struct LogWriter {
    files: Arc<SegmentFiles>,
    segment: u64,
    file: Arc<dyn DiskFile>,
    capacity: u32,
    /// Records not yet handed to the file, and where they begin.
    buffer: Vec<u8>,
    written: u32,
    synced: u32,
    /// How much is known to be durable to somebody who reads the segment: the `synced` of its last record.
    told: u32,
    failed: Option<String>,
}

impl LogWriter {
    /// Begins the log at a new segment.
    pub fn begin(files: Arc<SegmentFiles>, segment: u64) -> io::Result<LogWriter> {
        let (file, capacity) = files.create(segment, true)?;
        Ok(LogWriter {
            files,
            segment,
            file,
            capacity,
            buffer: Vec::new(),
            written: RECORDS_AT,
            synced: RECORDS_AT,
            told: RECORDS_AT,
            failed: None,
        })
    }

    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// The longest payload a segment of `segment_bytes` can hold.
    pub fn payload_bytes_max(segment_bytes: u32) -> usize {
        segment_bytes.saturating_sub(RECORDS_AT + FRAME_LEN + SEAL_LEN) as usize
    }

    /// Whether a payload of this length still fits into the current segment.
    pub fn fits(&self, payload_len: usize) -> bool {
        let needed = payload_len + FRAME_LEN as usize + SEAL_LEN as usize;
        self.at() as usize + needed <= self.capacity as usize
    }

    /// Whether this many records, of this many payload bytes together, still fit.
    pub fn fits_records(&self, records: usize, payload_bytes: usize) -> bool {
        let needed = payload_bytes + records * FRAME_LEN as usize + SEAL_LEN as usize;
        self.at() as usize + needed <= self.capacity as usize
    }

    /// Adds a record to the buffer. The caller has made sure that it fits.
    pub fn append(&mut self, payload: &[u8], payload_crc: u32) {
        debug_assert!(self.fits(payload.len()) && !payload.is_empty());
        self.put(payload, payload_crc);
    }

    fn put(&mut self, payload: &[u8], payload_crc: u32) {
        let frame = Frame { length: payload.len() as u32, synced: self.synced, payload_crc };
        self.told = self.synced;
        frame.encode(self.segment, self.at(), &mut self.buffer);
        self.buffer.extend_from_slice(payload);
    }

    fn at(&self) -> u32 {
        self.written + self.buffer.len() as u32
    }

    pub fn has_unsynced(&self) -> bool {
        self.synced < self.at()
    }

    /// Hands the buffered records to the operating system.
    pub fn write(&mut self) -> io::Result<()> {
        self.check()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        let outcome = self.file.write_at(u64::from(self.written), &self.buffer);
        self.guard("writing", outcome)?;
        self.written += self.buffer.len() as u32;
        self.buffer.clear();
        Ok(())
    }

    /// Makes everything written durable.
    pub fn sync(&mut self) -> io::Result<()> {
        self.check()?;
        if self.synced < self.written {
            let outcome = self.file.sync_data();
            self.guard("syncing", outcome)?;
            self.synced = self.written;
        }
        Ok(())
    }

    /// Whether records were synced that no later record tells of.
    pub fn wants_mark(&self) -> bool {
        self.told < self.synced && !self.has_unsynced() && self.fits(MARK_LEN)
    }

    /// Writes an empty commit, unsynced, behind a group that was synced: with it, damage to that group cannot be taken
    /// for a tail that a crash tore off.
    pub fn mark(&mut self) -> io::Result<()> {
        let mut mark = Vec::with_capacity(MARK_LEN);
        record::begin_commit(&mut mark, record::NO_BALLOT);
        debug_assert!(mark.len() <= MARK_LEN);
        self.put(&mark, crc32c::crc32c(&mark));
        self.write()?;
        // A mark needs no mark.
        self.told = self.written;
        Ok(())
    }

    /// For a sync without the writer: the segment, its file, and how much of it the sync will cover.
    pub fn begin_sync(&self) -> (u64, Arc<dyn DiskFile>, u32) {
        (self.segment, self.file.clone(), self.written)
    }

    /// The sync that `begin_sync` prepared has ended. If another segment was begun meanwhile, this one was synced
    /// when it was sealed.
    pub fn finish_sync(&mut self, segment: u64, written: u32, outcome: io::Result<()>) -> io::Result<()> {
        self.guard("syncing", outcome)?;
        if segment == self.segment {
            self.synced = self.synced.max(written);
        }
        Ok(())
    }

    /// Completes the current segment, durably.
    pub fn seal(&mut self) -> io::Result<()> {
        let seal = record::seal();
        self.put(&seal, crc32c::crc32c(&seal));
        self.write()?;
        self.sync()
    }

    /// Begins the next segment; the current one must be sealed.
    pub fn next_segment(&mut self) -> io::Result<()> {
        self.check()?;
        debug_assert!(!self.has_unsynced());
        let created = self.files.create(self.segment + 1, false);
        if let Err(error) = &created
            && error.kind() == io::ErrorKind::StorageFull
        {
            // Nothing was written to it: the caller may try again.
            return Err(io::Error::new(error.kind(), format!("creating the next log segment: {error}")));
        }
        (self.file, self.capacity) = self.guard("creating the segment after", created)?;
        self.segment += 1;
        self.written = RECORDS_AT;
        self.synced = RECORDS_AT;
        self.told = RECORDS_AT;
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        match &self.failed {
            Some(reason) => Err(io::Error::other(reason.clone())),
            None => Ok(()),
        }
    }

    fn guard<T>(&mut self, doing: &str, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| {
            let path = self.files.path(self.segment);
            let reason = format!("{doing} the commit log {} failed: {error}", path.display());
            self.failed = Some(reason.clone());
            io::Error::new(error.kind(), reason)
        })
    }
}
