//! The log's writer: appends records to the current segment, writes them, syncs them. Synchronous.
//!
//! Guarantees: `synced()` never covers a byte that `sync_data` has not confirmed; a segment is sealed only when the
//! next one exists. After a failed sync the writer refuses everything, because nobody can know what reached the disk.
//! It does the same after a failed write or creation, unless the reason may pass (`rt::may_pass`): then nothing is lost, and
//! the same call can be made again. Does not decide when to sync and does not know who waits: see `group`.

use super::format::{FRAME_LEN, Frame, RECORDS_AT};
use super::record;
use super::segment::{Fresh, SegmentFiles};
use rt::{DiskFile, may_pass};
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
    /// The next segment, once this one is about to be sealed.
    next: Option<Fresh>,
    /// The seal is in the buffer or written.
    sealed: bool,
    failed: Option<String>,
}

impl LogWriter {
    /// Begins the log at a new segment.
    pub fn begin(files: Arc<SegmentFiles>, segment: u64) -> io::Result<LogWriter> {
        let fresh = files.begin(segment)?;
        Ok(LogWriter {
            files,
            segment,
            file: fresh.file,
            capacity: fresh.capacity,
            buffer: Vec::new(),
            written: RECORDS_AT,
            synced: RECORDS_AT,
            told: RECORDS_AT,
            next: None,
            sealed: false,
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
        assert!(self.fits(payload.len()) && !payload.is_empty() && !self.sealed);
        debug_assert_eq!(crc32c::crc32c(payload), payload_crc);
        self.put(payload, payload_crc);
    }

    fn put(&mut self, payload: &[u8], payload_crc: u32) {
        let frame = Frame { length: payload.len() as u32, synced: self.synced, payload_crc };
        self.told = self.synced;
        assert!(self.synced <= self.written, "only what was written is durable");
        frame.encode(self.segment, self.at(), &mut self.buffer);
        self.buffer.extend_from_slice(payload);
    }

    fn at(&self) -> u32 {
        self.written + self.buffer.len() as u32
    }

    pub fn has_unsynced(&self) -> bool {
        self.synced < self.at()
    }

    /// Hands the buffered records to the operating system. If that fails for a reason that may pass, they stay in the
    /// buffer.
    pub fn write(&mut self) -> io::Result<()> {
        self.check()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        let end = u64::from(self.written) + self.buffer.len() as u64;
        assert!(end <= u64::from(self.capacity), "records stay within their segment");
        match self.file.write_at(u64::from(self.written), &self.buffer) {
            // What was written in part is written again.
            Err(error) if may_pass(&error) => return Err(error),
            outcome => self.guard("writing", outcome)?,
        }
        self.written = end as u32;
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
        self.told < self.synced && !self.has_unsynced() && !self.sealed && self.fits(MARK_LEN)
    }

    /// Writes an empty commit, unsynced, behind a group that was synced: with it, damage to that group cannot be taken
    /// for a tail that a crash tore off. The segment ahead gets a note too.
    pub fn mark(&mut self) -> io::Result<()> {
        let mut mark = Vec::with_capacity(MARK_LEN);
        record::begin_commit(&mut mark, record::NO_BALLOT);
        assert!(mark.len() <= MARK_LEN);
        self.put(&mark, crc32c::crc32c(&mark));
        self.write()?;
        self.files.note(self.segment, self.synced);
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
        assert!(segment <= self.segment, "no segment is synced before it is begun");
        if segment == self.segment {
            assert!(written <= self.written, "a sync covers what was written when it began");
            self.synced = self.synced.max(written);
        }
        Ok(())
    }

    /// Makes sure that the next segment exists. Nothing has been written to it, so after a failure that may pass the
    /// caller may try again.
    pub fn prepare_next(&mut self) -> io::Result<()> {
        self.check()?;
        if self.next.is_none() {
            let fresh = match self.files.next() {
                Err(error) if may_pass(&error) => return Err(error),
                made => self.guard("creating the segment after", made)?,
            };
            assert_eq!(fresh.id, self.segment + 1);
            self.next = Some(fresh);
        }
        Ok(())
    }

    /// Completes the current segment, durably. The next one must exist: a sealed segment without a next one has lost it.
    pub fn seal(&mut self) -> io::Result<()> {
        assert!(self.next.is_some(), "the next segment exists before this one is sealed");
        if !self.sealed {
            let seal = record::seal();
            self.put(&seal, crc32c::crc32c(&seal));
            self.sealed = true;
        }
        self.write()?;
        self.sync()
    }

    /// Goes to the next segment; the current one must be sealed.
    pub fn next_segment(&mut self) -> io::Result<()> {
        self.check()?;
        assert!(
            self.sealed && !self.has_unsynced(),
            "everything in a segment is durable before the next one begins"
        );
        let Some(fresh) = self.next.take() else {
            return Err(io::Error::other("the next log segment was not prepared"));
        };
        self.files.begun(fresh.id);
        self.segment = fresh.id;
        self.file = fresh.file;
        self.capacity = fresh.capacity;
        self.written = RECORDS_AT;
        self.synced = RECORDS_AT;
        self.told = RECORDS_AT;
        self.sealed = false;
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
