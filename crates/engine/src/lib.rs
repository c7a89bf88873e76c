//! The embedded store: commit log, memtables, tables on disk, compaction, recovery.
//!
//! ```no_run
//! # use std::sync::Arc;
//! use engine::{Engine, EngineOptions};
//! let mut options = EngineOptions::new("/var/lib/partita");
//! options.shards = 2;
//! let (engine, opened) = Engine::open(Arc::new(rt::RealDisk), Arc::new(rt::SystemClock), options)?;
//! // `opened.catalogue` is what the last `alter` stored. Then, on each shard's thread, inside a LocalSet:
//! let store = engine.store(0); // implements `store::Store`; clone it on that thread
//! // At the end, while the shard threads still run: engine.close().await
//! # Ok::<(), engine::OpenError>(())
//! ```
//!
//! A commit travels `embedded` (routing) -> `shard` (locks, admission) -> `log` (durable) -> `memtable`; a read
//! `embedded` -> `shard` -> `merge` over `memtable` and `table`. `database` opens and closes it all, `manifest` says
//! which files count, `compaction` merges them in `jobs`.

mod background;
pub mod cache;
pub mod compaction;
pub mod cursor;
pub mod database;
pub mod embedded;
pub mod jobs;
pub mod log;
pub mod manifest;
pub mod memtable;
pub mod merge;
pub mod metrics;
mod shard;
pub mod statistics;
pub mod table;

pub use database::{Copied, CopyError, copy_database};
pub use database::{Engine, EngineOptions, OpenError, Opened, Snapshot};
pub use database::{TornEnd, VerifyProgress, VerifyReport, verify};
pub use embedded::EmbeddedStore;
pub use log::Durability;
pub use metrics::Metrics;
