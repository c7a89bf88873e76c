//! Plain counters of the engine, readable from any thread while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that grows, or (for the ones said to be a level) goes up and down.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub fn subtract(&self, n: u64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    pub fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One per engine.
#[derive(Debug, Default)]
pub struct Metrics {
    pub log_records: Counter,
    pub log_bytes: Counter,
    /// Groups of records written together.
    pub log_groups: Counter,
    pub log_syncs: Counter,
    pub log_segments_created: Counter,
    pub log_segments_retired: Counter,
    pub flushes: Counter,
    pub flush_bytes: Counter,
    pub compactions: Counter,
    pub compaction_bytes_read: Counter,
    pub compaction_bytes_written: Counter,
    /// Flushes or compactions that failed and will be tried again.
    pub background_failures: Counter,
    /// Level: bytes in memtables, active and sealed.
    pub memtable_bytes: Counter,
    /// Level: jobs waiting or running.
    pub jobs_waiting: Counter,
    /// Requests that found their partition on the asking shard.
    pub requests_local: Counter,
    pub requests_remote: Counter,
    pub commits: Counter,
    pub conditional_commits: Counter,
    pub commits_overloaded: Counter,
    pub reads: Counter,
}
