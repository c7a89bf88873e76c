//! How an engine is opened.

use crate::log::Durability;
use std::path::PathBuf;

/// Everything an operator can turn. The rest is decided by the engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The database's directory; created when absent.
    pub dir: PathBuf,
    /// Shards, one thread each. May differ from the last run.
    pub shards: usize,
    pub durability: Durability,
    /// Memory for memtables, all shards together. Half of it fills up while the other half is flushed.
    pub memtable_bytes_max: usize,
    /// Memory for the block cache, all shards together.
    pub cache_bytes_max: usize,
    /// Bytes of one log segment; also bounds the size of a commit.
    pub log_segment_bytes: u32,
    /// Memtables are flushed when they hold back more log than this.
    pub log_bytes_max: u64,
    /// Compaction reads no faster than this; zero means no limit.
    pub compaction_bytes_per_second: u64,
    /// From here on writers to a partition are warned, where its table has no limit of its own; `None`: never.
    pub partition_bytes_warn: Option<u64>,
    /// Rows that copies which follow later follow in one commit.
    pub follow_rows_max: usize,
    /// No threads: the caller's thread does everything, in a repeatable order. For tests.
    pub inline: bool,
}

impl EngineOptions {
    pub fn new(dir: impl Into<PathBuf>) -> EngineOptions {
        EngineOptions {
            dir: dir.into(),
            shards: 1,
            durability: Durability::Sync,
            memtable_bytes_max: 256 << 20,
            cache_bytes_max: 256 << 20,
            log_segment_bytes: 32 << 20,
            log_bytes_max: 1 << 30,
            compaction_bytes_per_second: 256 << 20,
            partition_bytes_warn: None,
            follow_rows_max: 500,
            inline: false,
        }
    }
}
