//! What is known about a run without reading it: kept while it is written, stored in its footer.
//!
//! Guarantees: counts are exact for the run; timestamp and time bounds hold for everything in it. Several
//! runs add up to bounds for the table (a row in two runs is counted twice until they are merged).

mod encoding;
pub mod histogram;
pub mod largest;
pub mod ledger;
mod row;
#[cfg(test)]
mod tests;

pub use histogram::Histogram;
pub use largest::{BoundedSize, LARGEST_KEPT, Largest, NEVER_WRITTEN, PartitionSize, Run, largest_over};
pub use ledger::{Floor, Held, Ledger};
pub use row::RowFacts;

use crate::cursor::Entry;
use crate::memtable::{Memtable, Partition};
use crate::table::Table;
use model::deletion::Timestamp;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW};
use std::sync::Arc;

pub use model::row::NEVER;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub partitions: u64,
    pub rows: u64,
    pub static_rows: u64,
    pub range_tombstones: u64,
    pub partition_deletions: u64,
    /// Rows with a row deletion.
    pub row_deletions: u64,
    /// Cell tombstones and deletions of multi-cell columns.
    pub cell_tombstones: u64,
    /// Cells and markers that expire.
    pub expiring: u64,
    /// Positions and payloads, before compression.
    pub data_bytes: u64,
    pub min_timestamp: Timestamp,
    pub max_timestamp: Timestamp,
    /// When the oldest and newest tombstone was made (expiring data: expiry minus its time to live);
    /// `NEVER` and 0 when there is none.
    pub min_local_seconds: u32,
    pub max_local_seconds: u32,
    /// When the last expiring cell or marker expires; 0 when there is none.
    pub max_expiry: u32,
    /// From this second on nothing in the run is live; `NEVER` when something does not expire.
    pub all_expired_at: u32,
    /// First and last log segment the data came from.
    pub log_min: u64,
    pub log_max: u64,
    pub partition_bytes: Histogram,
    pub partition_rows: Histogram,
    pub row_bytes: Histogram,
    pub largest: Largest,
    /// First and last clustering position of any row, in any partition; `None` when there is no row
    /// or one of them is longer than [`ROW_BOUND_BYTES_MAX`].
    pub row_bounds: Option<(Vec<u8>, Vec<u8>)>,
    /// The partitions that matter; `None` in files of versions that kept none. A section of its own, too.
    pub ledger: Option<Ledger>,
}

/// Longer clustering positions are not kept as bounds.
pub const ROW_BOUND_BYTES_MAX: usize = 256;

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            partitions: 0,
            rows: 0,
            static_rows: 0,
            range_tombstones: 0,
            partition_deletions: 0,
            row_deletions: 0,
            cell_tombstones: 0,
            expiring: 0,
            data_bytes: 0,
            min_timestamp: Timestamp::MAX,
            max_timestamp: Timestamp::MIN,
            min_local_seconds: NEVER,
            max_local_seconds: 0,
            max_expiry: 0,
            all_expired_at: 0,
            log_min: u64::MAX,
            log_max: 0,
            partition_bytes: Histogram::default(),
            partition_rows: Histogram::default(),
            row_bytes: Histogram::default(),
            largest: Largest::default(),
            row_bounds: None,
            ledger: None,
        }
    }
}

impl Statistics {
    /// Entries that delete something, and data that will.
    pub fn tombstones(&self) -> u64 {
        self.range_tombstones
            + self.partition_deletions
            + self.row_deletions
            + self.cell_tombstones
            + self.expiring
    }

    /// Adds what is known about another run of the table.
    pub fn merge(&mut self, other: &Statistics) {
        self.partitions += other.partitions;
        self.rows += other.rows;
        self.static_rows += other.static_rows;
        self.range_tombstones += other.range_tombstones;
        self.partition_deletions += other.partition_deletions;
        self.row_deletions += other.row_deletions;
        self.cell_tombstones += other.cell_tombstones;
        self.expiring += other.expiring;
        self.data_bytes += other.data_bytes;
        self.min_timestamp = self.min_timestamp.min(other.min_timestamp);
        self.max_timestamp = self.max_timestamp.max(other.max_timestamp);
        self.min_local_seconds = self.min_local_seconds.min(other.min_local_seconds);
        self.max_local_seconds = self.max_local_seconds.max(other.max_local_seconds);
        self.max_expiry = self.max_expiry.max(other.max_expiry);
        self.all_expired_at = self.all_expired_at.max(other.all_expired_at);
        self.log_min = self.log_min.min(other.log_min);
        self.log_max = self.log_max.max(other.log_max);
        self.partition_bytes.merge(&other.partition_bytes);
        self.partition_rows.merge(&other.partition_rows);
        self.row_bytes.merge(&other.row_bytes);
    }

    /// What is known of its partitions.
    pub fn as_run(&self) -> Run<'_> {
        Run { largest: &self.largest, ledger: self.ledger.as_ref() }
    }

    fn timestamp(&mut self, min: Timestamp, max: Timestamp) {
        self.min_timestamp = self.min_timestamp.min(min);
        self.max_timestamp = self.max_timestamp.max(max);
    }

    fn tombstone(&mut self, local_seconds: u32) {
        self.min_local_seconds = self.min_local_seconds.min(local_seconds);
        self.max_local_seconds = self.max_local_seconds.max(local_seconds);
    }
}

/// Collects statistics of a run that is written in storage order.
#[derive(Default)]
pub struct Collector {
    statistics: Statistics,
    prefix: Vec<u8>,
    bytes: u64,
    rows: u64,
    /// The smallest timestamp of the partition.
    oldest: Timestamp,
    low: Vec<u8>,
    high: Vec<u8>,
    ledger: Option<Ledger>,
}

impl Collector {
    /// Notes partitions from `floor` on, if there is one.
    pub fn new(floor: Option<Floor>) -> Collector {
        Collector { ledger: floor.map(Ledger::new), oldest: Timestamp::MAX, ..Collector::default() }
    }

    pub fn begin_partition(&mut self, prefix: &[u8]) {
        self.end_partition();
        self.prefix.extend_from_slice(prefix);
        self.statistics.partitions += 1;
    }

    pub fn add(&mut self, entry: Entry<'_>) {
        let statistics = &mut self.statistics;
        let bytes = (entry.position.len() + 8 + entry.rest.len()) as u64;
        self.bytes += bytes;
        statistics.data_bytes += bytes;
        match entry.kind() {
            KIND_PARTITION_DELETION | KIND_RANGE => {
                statistics.timestamp(entry.timestamp, entry.timestamp);
                statistics.tombstone(entry.deletion().local_seconds);
                if entry.kind() == KIND_RANGE {
                    statistics.range_tombstones += 1;
                } else {
                    statistics.partition_deletions += 1;
                }
            }
            kind => {
                if kind == KIND_ROW {
                    let clustering = entry.clustering();
                    // Rows of a partition ascend: only the first can be the lowest.
                    if self.rows == 0 && (statistics.rows == 0 || clustering < self.low.as_slice()) {
                        self.low.clear();
                        self.low.extend_from_slice(clustering);
                    }
                    if clustering > self.high.as_slice() {
                        self.high.clear();
                        self.high.extend_from_slice(clustering);
                    }
                    self.rows += 1;
                    statistics.rows += 1;
                    statistics.row_bytes.add(bytes);
                } else {
                    statistics.static_rows += 1;
                }
                let facts = RowFacts::of(&entry.row());
                self.oldest = self.oldest.min(facts.min_timestamp);
                statistics.timestamp(facts.min_timestamp, facts.max_timestamp);
                statistics.min_local_seconds = statistics.min_local_seconds.min(facts.min_local_seconds);
                statistics.max_local_seconds = statistics.max_local_seconds.max(facts.max_local_seconds);
                statistics.max_expiry = statistics.max_expiry.max(facts.max_expiry);
                statistics.all_expired_at = statistics.all_expired_at.max(facts.expired_at);
                statistics.row_deletions += u64::from(facts.deletes_row);
                statistics.cell_tombstones += u64::from(facts.cell_tombstones);
                statistics.expiring += u64::from(facts.expiring);
            }
        }
    }

    fn end_partition(&mut self) {
        if !self.prefix.is_empty() {
            // Times are stored with the ledger.
            let oldest = if self.ledger.is_some() { self.oldest } else { NEVER_WRITTEN };
            self.statistics.largest.add(&self.prefix, self.bytes, self.rows, oldest);
            if let Some(ledger) = &mut self.ledger {
                ledger.add(&self.prefix, Held { bytes: self.bytes, rows: self.rows });
            }
            self.statistics.partition_bytes.add(self.bytes);
            self.statistics.partition_rows.add(self.rows);
        }
        self.prefix.clear();
        (self.bytes, self.rows, self.oldest) = (0, 0, Timestamp::MAX);
    }

    pub fn finish(mut self, log_segments: Option<(u64, u64)>) -> Statistics {
        self.end_partition();
        let short = self.low.len().max(self.high.len()) <= ROW_BOUND_BYTES_MAX;
        if self.statistics.rows > 0 && short {
            self.statistics.row_bounds = Some((self.low, self.high));
        }
        self.statistics.ledger = self.ledger;
        if let Some((first, last)) = log_segments {
            (self.statistics.log_min, self.statistics.log_max) = (first, last);
        }
        self.statistics
    }
}

/// Partitions of a memtable that are examined: about a millisecond of work. Of larger memtables only those that the memtable
/// has seen grow large.
const PARTITIONS_MAX: usize = 20_000;

/// The largest partitions of a memtable, exactly.
pub fn largest_in_memtable(memtable: &Memtable) -> Largest {
    let mut largest = Largest::default();
    let oldest = memtable.timestamps().map_or(Timestamp::MAX, |(oldest, _)| oldest);
    for partition in looked_at(memtable) {
        largest.add(partition.prefix(), partition.data_bytes(), partition.rows(), oldest);
    }
    largest
}

fn looked_at(memtable: &Memtable) -> Box<dyn Iterator<Item = &Partition> + '_> {
    match memtable.partitions() <= PARTITIONS_MAX {
        true => Box::new(memtable.each_partition()),
        false => Box::new(memtable.large_partitions()),
    }
}

/// What is known about a table (on one shard) without reading it.
#[derive(Clone, Debug)]
pub struct TableStatistics {
    /// Files and memtables added up: a partition or row that several hold is counted in each. Of
    /// memtables only partitions, rows, bytes and timestamps are known; of crowded ones rows and bytes of large partitions only.
    pub total: Statistics,
    pub files: u64,
    pub file_bytes: u64,
    /// The largest partitions, descending by their lower bound.
    pub largest: Vec<BoundedSize>,
}

/// Adds up memtables and files; names at most `count` of the largest partitions.
pub fn of_table(memtables: &[&Memtable], tables: &[Arc<Table>], count: usize) -> TableStatistics {
    let mut total = Statistics::default();
    tables.iter().for_each(|table| total.merge(table.statistics()));
    for memtable in memtables {
        total.partitions += memtable.partitions() as u64;
        for partition in looked_at(memtable) {
            total.rows += partition.rows();
            total.data_bytes += partition.data_bytes();
            total.partition_rows.add(partition.rows());
            total.partition_bytes.add(partition.data_bytes());
        }
        if let Some((min, max)) = memtable.timestamps() {
            total.timestamp(min, max);
        }
    }
    let in_memory: Vec<Largest> = memtables.iter().map(|memtable| largest_in_memtable(memtable)).collect();
    let files = tables.iter().map(|table| table.statistics().as_run());
    let runs = files.chain(in_memory.iter().map(|largest| Run { largest, ledger: None }));
    TableStatistics {
        files: tables.len() as u64,
        file_bytes: tables.iter().map(|table| table.bytes()).sum(),
        largest: largest_over(runs, count),
        total,
    }
}
