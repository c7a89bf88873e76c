//! Merging runs into new files: compaction, and flush, which is the merge of one memtable.
//!
//! Guarantees: a reader sees the same before and after; memory does not depend on the size of the data; when it
//! fails or is cancelled, the files it made are removed and nothing was published. The caller publishes the
//! outputs and removes the inputs in one step of the manifest, after making the names durable.

use super::purge::{Others, PurgeTerms};
use crate::cursor::{AT_DELETION, AT_STATIC, Entry};
use crate::memtable::Memtable;
use crate::merge::Sources;
use crate::merge::fragments::fragments;
use crate::table::{Finished, Table, TableWriter, WriterOptions};
use model::deletion::Deletion;
use model::key::{KIND_RANGE, KIND_ROW, PartitionKey};
use rt::Disk;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use store::{Fragment, StoreError};

/// Asks the pace keeper after about this many bytes of entries.
const PACE_BYTES: u64 = 64 << 10;

/// What to merge, and how.
pub struct Work<'a> {
    pub memtables: &'a [&'a Memtable],
    pub tables: &'a [Arc<Table>],
    pub others: Others<'a>,
    /// `None`: purge nothing.
    pub purge: Option<PurgeTerms>,
    /// The log segments are filled in from the inputs.
    pub options: WriterOptions,
    /// A new output begins, at the next partition, when one has reached this size.
    pub output_bytes: u64,
}

/// Whether a background job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Continue,
    Cancel,
}

/// A file that was written and synced, but whose name is not durable and which counts nowhere yet.
#[derive(Debug)]
pub struct Output {
    pub number: u64,
    pub path: PathBuf,
    pub finished: Finished,
}

#[derive(Debug)]
pub enum CompactionError {
    /// An input is damaged or cannot be read.
    Read(StoreError),
    /// Writing failed: `error.kind()` tells a full disk from worse.
    Write {
        path: PathBuf,
        error: io::Error,
    },
    Cancelled,
}

impl fmt::Display for CompactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompactionError::Read(error) => write!(f, "{error}"),
            CompactionError::Write { path, error } => write!(f, "writing {}: {error}", path.display()),
            CompactionError::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for CompactionError {}

impl From<StoreError> for CompactionError {
    fn from(error: StoreError) -> CompactionError {
        CompactionError::Read(error)
    }
}

/// Merges. `name` gives each output a number and a path; `pace` is told how many bytes went by since
/// the last call, may wait, and may cancel. An empty result is possible: everything was purged.
pub fn run(
    disk: &dyn Disk,
    work: &Work<'_>,
    name: &mut dyn FnMut() -> (u64, PathBuf),
    pace: &mut dyn FnMut(u64) -> Pace,
) -> Result<Vec<Output>, CompactionError> {
    let sources = Sources { memtables: work.memtables, tables: work.tables, cache: None };
    let mut options = work.options.clone();
    options.log_segments = log_segments(work);
    let mut outputs =
        Outputs { disk, options, name, open: None, done: vec![], prefix: vec![], payload: vec![] };
    let terms = work.purge.filter(|_| holds_tombstones(work));
    let log_max = outputs.options.log_segments.map_or(0, |(_, last)| last);
    let mut purge =
        |prefix: &[u8]| terms.and_then(|terms| terms.purge(log_max, work.others.min_timestamp(prefix)));
    let mut passed = 0;
    let result = fragments::<CompactionError>(&sources, &mut purge, &mut |fragment| {
        passed += outputs.add(fragment, work.output_bytes)?;
        if passed >= PACE_BYTES && pace(std::mem::take(&mut passed)) == Pace::Cancel {
            return Err(CompactionError::Cancelled);
        }
        Ok(())
    });
    match result.and_then(|()| outputs.finish_open()) {
        Ok(()) => Ok(outputs.done),
        Err(error) => {
            outputs.remove_all();
            Err(error)
        }
    }
}

/// First and last log segment of all inputs.
fn log_segments(work: &Work<'_>) -> Option<(u64, u64)> {
    let tables = work.tables.iter().map(|t| t.statistics()).map(|s| (s.log_min, s.log_max));
    let memtables = work.memtables.iter().filter_map(|m| m.log_segments());
    tables.chain(memtables).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Whether there is anything that purging could drop. Memtables are not counted, so they may.
fn holds_tombstones(work: &Work<'_>) -> bool {
    !work.memtables.is_empty() || work.tables.iter().any(|table| table.statistics().tombstones() > 0)
}

struct Outputs<'a> {
    disk: &'a dyn Disk,
    options: WriterOptions,
    name: &'a mut dyn FnMut() -> (u64, PathBuf),
    open: Option<(u64, PathBuf, TableWriter)>,
    done: Vec<Output>,
    /// Scratch for positions and payloads.
    prefix: Vec<u8>,
    payload: Vec<u8>,
}

impl Outputs<'_> {
    /// Writes a fragment; returns how many bytes of entries that was.
    fn add(&mut self, fragment: Fragment<'_>, output_bytes: u64) -> Result<u64, CompactionError> {
        match fragment {
            Fragment::Partition { key, deletion } => self.begin(key, deletion, output_bytes),
            Fragment::Static(row) => {
                self.put(Entry { position: AT_STATIC, timestamp: row.base(), rest: row.body() })
            }
            Fragment::Range { start, end, deletion } => {
                let mut position = std::mem::take(&mut self.prefix);
                let mut payload = std::mem::take(&mut self.payload);
                position.clear();
                position.push(KIND_RANGE);
                position.extend_from_slice(start);
                payload.clear();
                payload.extend_from_slice(&deletion.local_seconds.to_be_bytes());
                payload.extend_from_slice(end);
                let entry = Entry { position: &position, timestamp: deletion.timestamp, rest: &payload };
                let result = self.put(entry);
                (self.prefix, self.payload) = (position, payload);
                result
            }
            Fragment::Row { clustering, row } => {
                let mut position = std::mem::take(&mut self.prefix);
                position.clear();
                position.push(KIND_ROW);
                position.extend_from_slice(clustering);
                let result = self.put(Entry { position: &position, timestamp: row.base(), rest: row.body() });
                self.prefix = position;
                result
            }
            Fragment::End => Ok(0),
        }
    }

    fn begin(
        &mut self,
        key: &PartitionKey,
        deletion: Deletion,
        output_bytes: u64,
    ) -> Result<u64, CompactionError> {
        if self
            .open
            .as_ref()
            .is_some_and(|(_, _, writer)| !writer.is_empty() && writer.bytes() >= output_bytes)
        {
            self.finish_open()?;
        }
        if self.open.is_none() {
            let (number, path) = (self.name)();
            let created = TableWriter::create(self.disk, &path, self.options.clone());
            let writer = created.map_err(|error| CompactionError::Write { path: path.clone(), error })?;
            self.open = Some((number, path, writer));
        }
        if let Some((_, _, writer)) = &mut self.open {
            writer.begin_partition(key.prefix());
        }
        if deletion.is_none() {
            return Ok(0);
        }
        let local_seconds = deletion.local_seconds.to_be_bytes();
        self.put(Entry { position: AT_DELETION, timestamp: deletion.timestamp, rest: &local_seconds })
    }

    fn put(&mut self, entry: Entry<'_>) -> Result<u64, CompactionError> {
        let Some((_, path, writer)) = &mut self.open else { return Ok(0) };
        match writer.add(entry) {
            Ok(()) => Ok((entry.position.len() + entry.rest.len()) as u64),
            Err(error) => Err(CompactionError::Write { path: path.clone(), error }),
        }
    }

    fn finish_open(&mut self) -> Result<(), CompactionError> {
        let Some((number, path, writer)) = self.open.take() else { return Ok(()) };
        if writer.is_empty() {
            drop(writer);
            self.remove(&path);
            return Ok(());
        }
        match writer.finish() {
            Ok(finished) => {
                self.done.push(Output { number, path, finished });
                Ok(())
            }
            Err(error) => {
                self.remove(&path);
                Err(CompactionError::Write { path, error })
            }
        }
    }

    /// What cannot be removed now is removed at the next start: no manifest names it.
    fn remove(&self, path: &std::path::Path) {
        if let Err(error) = self.disk.remove(path) {
            tracing::warn!(file = %path.display(), %error, "an unfinished file stays behind");
        }
    }

    fn remove_all(&mut self) {
        if let Some((_, path, writer)) = self.open.take() {
            drop(writer);
            self.remove(&path);
        }
        for output in std::mem::take(&mut self.done) {
            self.remove(&output.path);
        }
    }
}
