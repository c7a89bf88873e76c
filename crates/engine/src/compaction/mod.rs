//! Compaction: which files to merge, and merging them.
//!
//! `strategy` is a pure function from a description of the files to a choice; `worker` executes a choice,
//! and flushes memtables, without publishing anything: that is the manifest's. What may be purged is
//! decided in `purge`, and only there.

pub mod purge;
pub mod strategy;
#[cfg(test)]
mod tests;
pub mod worker;

pub use purge::{Others, PurgeTerms};
pub use strategy::{Choice, FileFacts, Situation, choose};
pub use worker::{CompactionError, Output, Pace, Work, run};
