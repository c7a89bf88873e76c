//! The embedded store: commit log, memtables, tables on disk, compaction, recovery.

pub mod cache;
pub mod compaction;
pub mod cursor;
pub mod memtable;
pub mod merge;
pub mod statistics;
pub mod table;
