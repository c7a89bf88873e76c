//! Merged reads: what a reader sees of a table, over memtables and files.
//!
//! Guarantees: rows are merged by `model::merge` under every partition, range and row deletion of any
//! source, delivered in order, each once; a paused read resumes exactly behind where it stopped. A
//! row that only one source holds, under no deletion, reaches the sink as the stored bytes.
//! Does not cache rows and does not keep a snapshot: the caller lends sources for one call.

#[cfg(test)]
mod dead_tests;
pub mod fragments;
mod inputs;
mod partition;
mod ranges;
mod select;
mod sweep;
#[cfg(test)]
mod tests;

use crate::cache::BlockCache;
use crate::cursor::{AT_ROWS, Cursor};
use crate::memtable::Memtable;
use crate::table::Table;
use inputs::Walk;
use model::key::{KIND_ROW, PartitionKey};
use observe::Load;
use partition::{PartitionReader, Step};
use std::sync::Arc;
use store::{Partitions, Read, ReadEnd, ReadOutcome, Sink, StoreError};

/// The sorted runs that together hold a table (on one shard).
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub memtables: &'a [&'a Memtable],
    pub tables: &'a [Arc<Table>],
    pub cache: Option<&'a BlockCache>,
}

/// Executes a read. When it pauses inside a partition, `partition_end` is not called: the partition
/// has not ended, and resuming announces it again.
pub fn read(sources: &Sources<'_>, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
    read_counted(sources, read, sink).map(|(outcome, ..)| outcome)
}

/// The same, with how much work it was and how many partitions were looked at.
pub fn read_counted(
    sources: &Sources<'_>,
    read: &Read,
    sink: &mut dyn Sink,
) -> Result<(ReadOutcome, Load, u64), StoreError> {
    let mut reader = PartitionReader::new(read, sink);
    let end = match &read.partitions {
        Partitions::One(key) => read_one(sources, key, &mut reader)?,
        Partitions::Range { start, end } => read_range(sources, start, end, &mut reader)?,
    };
    let ((rows, bytes), tombstones) = (reader.work(), reader.tombstones());
    let load = Load { reads: 1, rows, bytes, tombstones, ..Load::default() };
    Ok((ReadOutcome { end, tombstones }, load, reader.partitions()))
}

/// The clustering of the last row of a partition (or the first), whether it is alive or not; `None` if it has no rows.
pub fn outermost_row(
    sources: &Sources<'_>,
    prefix: &[u8],
    last: bool,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut found: Option<Vec<u8>> = None;
    for mut input in inputs::of_partition(sources, prefix) {
        match last {
            true => input.rows.seek_before(&[KIND_ROW + 1])?,
            false => input.rows.seek(AT_ROWS)?,
        }
        let Some(entry) = input.rows.entry().filter(|entry| entry.is_row()) else { continue };
        let clustering = entry.clustering();
        let is_further =
            |known: &Vec<u8>| if last { clustering > &known[..] } else { clustering < &known[..] };
        if found.as_ref().is_none_or(is_further) {
            found = Some(clustering.to_vec());
        }
    }
    Ok(found)
}

fn read_one(
    sources: &Sources<'_>,
    key: &PartitionKey,
    reader: &mut PartitionReader<'_>,
) -> Result<ReadEnd, StoreError> {
    if reader.is_behind(key) {
        return Ok(ReadEnd::Complete);
    }
    let mut inputs = inputs::of_partition(sources, key.prefix());
    if inputs.is_empty() {
        return Ok(ReadEnd::Complete);
    }
    Ok(match reader.deliver(key, &mut inputs)? {
        Step::Continue => ReadEnd::Complete,
        Step::Stop => ReadEnd::Stopped,
        Step::Pause(position) if position.clustering.is_none() => ReadEnd::Complete,
        Step::Pause(position) => ReadEnd::Paused(position),
    })
}

fn read_range(
    sources: &Sources<'_>,
    start: &[u8],
    end: &[u8],
    reader: &mut PartitionReader<'_>,
) -> Result<ReadEnd, StoreError> {
    let start = reader.resume_prefix().filter(|resume| resume.as_slice() > start).unwrap_or(start.to_vec());
    let mut walk = Walk::new(inputs::of_range(sources, &start, end)?);
    while let Some(key) = walk.next(end)? {
        if reader.is_behind(&key) {
            continue;
        }
        match reader.deliver(&key, walk.inputs())? {
            Step::Continue => {}
            Step::Stop => return Ok(ReadEnd::Stopped),
            Step::Pause(position) => return Ok(ReadEnd::Paused(position)),
        }
    }
    Ok(ReadEnd::Complete)
}
