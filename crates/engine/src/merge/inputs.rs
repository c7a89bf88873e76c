//! The sources that take part in a read of one partition.

use super::Sources;
use super::ranges::SourceRanges;
use crate::cache::BlockCache;
use crate::cursor::{Cursor, RunCursor};
use crate::memtable::{Memtable, MemtableCursor, Partition};
use crate::table::Table;
use model::deletion::{NO_TIMESTAMP, Timestamp};
use model::key::PartitionKey;
use store::StoreError;

/// One source, standing in the partition that is being read.
pub(super) struct Input<'a> {
    pub rows: RunCursor<'a>,
    origin: Origin<'a>,
    /// Whether the partition may have a deletion, a static row or range tombstones here.
    pub special: bool,
    /// No row, static row or range tombstone of the source is newer.
    pub max_timestamp: Timestamp,
    /// Takes part in the rows (false: everything in it is hidden by the partition's deletion).
    pub active: bool,
    /// Between which clustering positions its rows lie.
    bounds: RowBounds<'a>,
    /// Has rows to offer in the current slice.
    pub wanted: bool,
    /// Stands on a row of the current slice, or behind the last.
    pub open: bool,
}

/// Lower and upper bound (both inclusive) of the clustering positions of a source's rows.
#[derive(Clone, Copy)]
enum RowBounds<'a> {
    NoRows,
    Within(&'a [u8], &'a [u8]),
    Unknown,
}

#[derive(Clone, Copy)]
enum Origin<'a> {
    Memtable(&'a Memtable),
    Table(&'a Table, Option<&'a BlockCache>),
}

impl<'a> Input<'a> {
    #[inline]
    fn new(rows: RunCursor<'a>, origin: Origin<'a>) -> Input<'a> {
        Input {
            rows,
            origin,
            special: false,
            max_timestamp: NO_TIMESTAMP,
            active: true,
            bounds: RowBounds::Unknown,
            wanted: false,
            open: false,
        }
    }

    /// Looks up what is known about the partition, in which `rows` stands already.
    pub fn begin(&mut self, prefix: &[u8]) {
        self.active = true;
        match self.origin {
            Origin::Memtable(memtable) => {
                if let Some(partition) = memtable.partition(prefix) {
                    self.begin_memtable(memtable, partition);
                }
            }
            Origin::Table(table, _) => {
                self.special = table.may_have_special(prefix);
                self.max_timestamp = table.max_timestamp();
                self.bounds = match table.row_bounds() {
                    _ if table.statistics().rows == 0 => RowBounds::NoRows,
                    Some((low, high)) => RowBounds::Within(low, high),
                    None => RowBounds::Unknown,
                };
            }
        }
    }

    fn begin_memtable(&mut self, memtable: &'a Memtable, partition: &'a Partition) {
        self.special = partition.has_special();
        self.max_timestamp = partition.max_timestamp();
        self.bounds = match memtable.row_bounds(partition) {
            Some((low, high)) => RowBounds::Within(low, high),
            None => RowBounds::NoRows,
        };
    }

    /// Decides whether the input may have rows in the slice; it is not moved yet.
    pub fn begin_slice(&mut self, (start, end): (&[u8], &[u8])) {
        self.open = false;
        self.wanted = self.active
            && match self.bounds {
                RowBounds::NoRows => false,
                RowBounds::Within(low, high) => low < end && start <= high,
                RowBounds::Unknown => true,
            };
    }

    /// Of a slice that wants one row: leaves the input out if it certainly has not got it. `position` is the row's.
    pub fn ask_for_row(&mut self, position: &[u8]) -> Result<(), StoreError> {
        // A scan stands on its row already.
        if let RunCursor::Table(cursor) = &mut self.rows
            && self.wanted
            && cursor.entry().is_none_or(|entry| !entry.is_row())
        {
            self.wanted = cursor.may_hold(position)?;
        }
        Ok(())
    }

    /// No row of it comes before this, in the direction of the read.
    pub fn nearest(&self, reverse: bool) -> Option<&'a [u8]> {
        match self.bounds {
            RowBounds::Within(low, high) => Some(if reverse { high } else { low }),
            RowBounds::NoRows | RowBounds::Unknown => None,
        }
    }

    /// A second cursor, for the range tombstones of the partition.
    pub fn ranges(&self, prefix: &[u8]) -> SourceRanges<'a> {
        let mut cursor = match self.origin {
            Origin::Memtable(memtable) => RunCursor::Memtable(memtable.cursor()),
            Origin::Table(table, cache) => RunCursor::Table(table.cursor(cache)),
        };
        cursor.enter(prefix);
        SourceRanges::new(cursor)
    }
}

/// The sources that may hold the partition, none of them read yet.
pub(super) fn of_partition<'a>(sources: &Sources<'a>, prefix: &[u8]) -> Vec<Input<'a>> {
    let mut inputs = Vec::with_capacity(sources.memtables.len() + sources.tables.len());
    // Each is completed where it stays: a cursor is large, and moving it costs more than what it is asked for.
    for memtable in sources.memtables {
        if let Some(partition) = memtable.partition(prefix) {
            let cursor = RunCursor::Memtable(MemtableCursor::in_partition(memtable, partition));
            inputs.push(Input::new(cursor, Origin::Memtable(memtable)));
            if let Some(input) = inputs.last_mut() {
                input.begin_memtable(memtable, partition);
            }
        }
    }
    for table in sources.tables {
        if table.may_contain(prefix) {
            let cursor = RunCursor::Table(table.cursor(sources.cache));
            inputs.push(Input::new(cursor, Origin::Table(table, sources.cache)));
            if let Some(input) = inputs.last_mut() {
                input.rows.enter(prefix);
                input.begin(prefix);
            }
        }
    }
    inputs
}

/// Every source with a partition in `[start, end)` (empty `end`: no bound), each on its first one.
pub(super) fn of_range<'a>(
    sources: &Sources<'a>,
    start: &[u8],
    end: &[u8],
) -> Result<Vec<Input<'a>>, StoreError> {
    let mut inputs = Vec::with_capacity(sources.memtables.len() + sources.tables.len());
    for memtable in sources.memtables {
        inputs.push(Input::new(RunCursor::Memtable(memtable.cursor()), Origin::Memtable(memtable)));
    }
    for table in sources.tables.iter().filter(|table| table.overlaps(start, end)) {
        inputs.push(Input::new(
            RunCursor::Table(table.cursor(sources.cache)),
            Origin::Table(table, sources.cache),
        ));
    }
    for input in &mut inputs {
        input.rows.seek_partition(start)?;
    }
    inputs.retain(|input| input.rows.partition().is_some());
    Ok(inputs)
}

/// A prefix that a cursor lent. Cursors check prefixes, so a malformed one is a fault of ours.
pub(super) fn partition_key(prefix: &[u8]) -> Result<PartitionKey, StoreError> {
    PartitionKey::from_prefix(prefix).ok_or_else(|| StoreError::Corrupt {
        file: String::new(),
        offset: 0,
        what: "a cursor stands in a partition with a malformed prefix".into(),
    })
}

/// Partitions in order, each with the inputs that hold it, lent as one slice.
pub struct Walk<'a> {
    waiting: Vec<Input<'a>>,
    current: Vec<Input<'a>>,
}

impl<'a> Walk<'a> {
    pub fn new(inputs: Vec<Input<'a>>) -> Walk<'a> {
        let current = Vec::with_capacity(inputs.len());
        Walk { waiting: inputs, current }
    }

    /// Goes to the next partition before `end` (empty: of all), if there is one.
    pub fn next(&mut self, end: &[u8]) -> Result<Option<PartitionKey>, StoreError> {
        for mut input in self.current.drain(..) {
            input.rows.next_partition()?;
            if input.rows.partition().is_some() {
                self.waiting.push(input);
            }
        }
        let next = self.waiting.iter().filter_map(|input| input.rows.partition()).min();
        let Some(prefix) = next.filter(|prefix| end.is_empty() || *prefix < end) else { return Ok(None) };
        let key = partition_key(prefix)?;
        for i in (0..self.waiting.len()).rev() {
            if self.waiting[i].rows.partition() == Some(key.prefix()) {
                let mut input = self.waiting.swap_remove(i);
                input.begin(key.prefix());
                self.current.push(input);
            }
        }
        assert!(!self.current.is_empty(), "a partition is in some input");
        Ok(Some(key))
    }

    /// The inputs that hold the partition.
    pub fn inputs(&mut self) -> &mut [Input<'a>] {
        &mut self.current
    }
}
