//! How large a table and its partitions are, as far as it is known without reading them.

/// Middle, tail and largest of a distribution. Middle and tail are upper bounds within a factor of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

/// One of the largest partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargePartition {
    /// As it is stored.
    pub key: Box<[u8]>,
    /// The true size lies between these: files name only their largest partitions.
    pub bytes_min: u64,
    pub bytes_max: u64,
    pub rows: u64,
    /// Microseconds of its oldest write, where it is known.
    pub oldest_micros: Option<i64>,
    /// Bytes per day over the last day and over the last week, where they are known.
    pub growth_day: Option<i64>,
    pub growth_week: Option<i64>,
}

/// A table over all shards. A row or partition that several files hold is counted in each until they are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    pub partitions: u64,
    pub rows: u64,
    /// Before compression.
    pub bytes: u64,
    pub files: u64,
    pub file_bytes: u64,
    /// Entries of files that delete something, and data that will expire.
    pub tombstones: u64,
    /// Microseconds of the oldest and of the newest write; `None` where there is none.
    pub written_micros: Option<(i64, i64)>,
    pub partition_bytes: Spread,
    pub partition_rows: Spread,
    /// Of rows in files.
    pub row_bytes: Spread,
    /// How many partitions are below each bound of bytes, cumulative.
    pub partition_buckets: Vec<(u64, u64)>,
    /// The largest first.
    pub largest: Vec<LargePartition>,
    /// When this was asked for, in microseconds since 1970.
    pub now_micros: i64,
}
