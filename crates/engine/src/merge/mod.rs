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
use crate::cursor::Cursor;
use crate::memtable::Memtable;
use crate::table::Table;
use inputs::Input;
use model::key::PartitionKey;
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
    let mut reader = PartitionReader::new(read, sink);
    let end = match &read.partitions {
        Partitions::One(key) => read_one(sources, key, &mut reader)?,
        Partitions::Range { start, end } => read_range(sources, start, end, &mut reader)?,
    };
    Ok(ReadOutcome { end, tombstones: reader.tombstones() })
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
    let mut waiting = inputs::of_range(sources, &start, end)?;
    let mut current: Vec<Input<'_>> = Vec::with_capacity(waiting.len());
    loop {
        let next = waiting.iter().filter_map(|input| input.rows.partition()).min();
        let Some(prefix) = next.filter(|prefix| end.is_empty() || *prefix < end) else {
            return Ok(ReadEnd::Complete);
        };
        let key = inputs::partition_key(prefix)?;
        // The inputs that hold the partition are lent to the reader as one slice.
        for i in (0..waiting.len()).rev() {
            if waiting[i].rows.partition() == Some(key.prefix()) {
                let mut input = waiting.swap_remove(i);
                input.begin(key.prefix());
                current.push(input);
            }
        }
        if !reader.is_behind(&key) {
            match reader.deliver(&key, &mut current)? {
                Step::Continue => {}
                Step::Stop => return Ok(ReadEnd::Stopped),
                Step::Pause(position) => return Ok(ReadEnd::Paused(position)),
            }
        }
        for mut input in current.drain(..) {
            input.rows.next_partition()?;
            if input.rows.partition().is_some() {
                waiting.push(input);
            }
        }
    }
}
