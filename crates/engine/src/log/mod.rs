//! The commit log: one per database, one record per commit, written in groups (docs/format/log.md).
//!
//! Reading order: `format` and `record` (bytes), `segment` (files), `writer` (append and sync), `group`
//! (many shards, one writer), `scan`, `survey` and `recovery` (reading back), `pins` (when a segment may go).

mod drive;
pub mod format;
pub mod group;
pub mod pins;
pub mod record;
pub mod recovery;
pub mod scan;
pub mod segment;
pub mod survey;
pub mod writer;

#[cfg(test)]
mod tests;

pub use group::{Durability, Log, LogOptions, Progress, SubmitError};
pub use pins::{Pin, Pins};
pub use record::{LoggedMutation, NO_BALLOT, Record};
pub use recovery::{LogBounds, LogOpenError, LogRecovery, recover_log};
pub use scan::LogDamage;
pub use segment::SegmentFiles;
