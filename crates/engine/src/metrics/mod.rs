//! What the engine counts, readable from any thread while it runs. Beside each counter stands its name on the metrics page.

pub use observe::Counter;

observe::metrics! {
    /// One per engine.
    pub struct Metrics {
        /// Requests that found their partition on the asking shard.
        pub requests_local: counter("partita_requests_local_shard_total", "Requests that came in on the shard that owns them"),
        pub requests_remote: counter("partita_requests_remote_shard_total", "Requests sent on to another shard"),
        pub log_records: counter("partita_log_records_total", "Records in the commit log"),
        pub log_bytes: counter("partita_log_bytes_total", "Bytes written to the commit log"),
        pub log_groups: counter("partita_log_groups_total", "Groups of records written together"),
        pub log_syncs: counter("partita_log_syncs_total", "fsyncs of the commit log"),
        pub log_segments_created: counter("partita_log_segments_created_total", "Log segments created"),
        pub log_segments_retired: counter("partita_log_segments_retired_total", "Log segments recycled or deleted"),
        /// Opening counts too: what a replay puts into memtables was written once, and is flushed like the rest.
        pub replayed_records: counter("partita_replayed_records_total", "Log records replayed when the database was opened"),
        pub replayed_bytes: counter("partita_replayed_bytes_total", "Bytes that replaying put into memtables"),
        pub flushes: counter("partita_flushes_total", "Memtables flushed"),
        pub flush_bytes: counter("partita_flush_bytes_total", "Bytes written by flushes"),
        pub flush_file_bytes: histogram("partita_flush_file_bytes", "Bytes of the files that flushes wrote"),
        pub compactions: counter("partita_compactions_total", "Compactions finished"),
        pub compaction_bytes_read: counter("partita_compaction_read_bytes_total", "Bytes read by compactions"),
        pub compaction_bytes_written: counter("partita_compaction_written_bytes_total", "Bytes written by compactions"),
        pub background_failures: counter("partita_background_failures_total", "Flushes and compactions that failed and are tried again"),
        /// Active and sealed.
        pub memtable_bytes: level("partita_memtable_bytes", "Bytes in memtables"),
        pub jobs_waiting: level("partita_background_jobs", "Flushes and compactions waiting or running"),
        pub commits: counter("partita_commits_total", "Commits"),
        pub conditional_commits: counter("partita_conditional_commits_total", "Conditional commits"),
        pub conditions_refused: counter("partita_conditional_failures_total", "Conditional commits whose condition did not hold"),
        pub commits_overloaded: counter("partita_commits_overloaded_total", "Commits refused because flushing cannot keep up"),
        pub copies_followed: counter("partita_projection_rows_followed_total", "Rows that projections WITH freshness have followed"),
        pub reads: counter("partita_reads_total", "Reads"),
    }
}
