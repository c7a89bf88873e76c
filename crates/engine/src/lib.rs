//! The embedded store: commit log, memtables, tables on disk, compaction, recovery.
