//! What all threads of an engine share.

use super::catalogue::Catalogue;
use super::late::Late;
use super::layout::Layout;
use super::limits::Limits;
use super::options::EngineOptions;
use super::points::Points;
use crate::cache::CacheCounts;
use crate::jobs::{Jobs, Lane};
use crate::log::Log;
use crate::manifest::{FileId, Manifest};
use crate::metrics::Metrics;
use crate::shard::Errand;
use crate::statistics::TableStatistics;
use crate::table::Table;
use observe::{Load, Windows};
use rt::{Clock, Disk, Mail};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct Shared {
    pub options: EngineOptions,
    pub layout: Layout,
    pub disk: Arc<dyn Disk>,
    pub clock: Arc<dyn Clock>,
    pub log: Arc<Log>,
    pub manifest: Arc<Manifest>,
    pub metrics: Arc<Metrics>,
    pub mail: Mail<Errand>,
    pub jobs: Arc<Jobs>,
    /// Held while a change of the tables is under way.
    pub catalogue: tokio::sync::Mutex<Catalogue>,
    /// The largest ballot any shard has given.
    pub ballot: AtomicI64,
    /// Where the log begins, as the manifest has it: nothing older can be replayed.
    pub log_begins: AtomicU64,
    /// Set when the engine closes: long jobs end early.
    pub stopping: AtomicBool,
    /// What each shard's cache has counted, as of some moment ago.
    pub cache_counts: Vec<Mutex<CacheCounts>>,
    /// Which partitions were hot on each shard, as of some moment ago.
    pub heat: Vec<Mutex<Windows>>,
    /// What every table was asked to do since the start, by its id, as of the last slot.
    pub loads: Mutex<BTreeMap<u32, Load>>,
    /// Partitions near or at their limit.
    pub limits: Limits,
    pub points: Points,
    /// How far copies are behind that follow later.
    pub late: Late,
    /// How large the tables of each shard were, likewise.
    pub sizes: Vec<Mutex<Vec<(u32, TableStatistics)>>>,
}

impl Shared {
    /// Number and path of a new table file.
    pub fn new_file(&self) -> (u64, PathBuf) {
        let id = self.manifest.next_file();
        (id.0, self.layout.table(id))
    }

    /// The manifest says that the log begins here: older segments can go.
    pub fn log_may_begin(&self, segment: u64) {
        assert!(segment <= self.manifest.log_begins(), "segments go when the manifest says so, not before");
        self.log_begins.fetch_max(segment, Ordering::AcqRel);
        self.log.retire_before(segment);
    }

    /// Files that the manifest may still name, of tables that are gone: out of the manifest, then off the disk.
    pub fn drop_files(&self, files: Vec<Arc<Table>>) {
        if files.is_empty() {
            return;
        }
        let (manifest, disk) = (self.manifest.clone(), self.disk.clone());
        self.jobs.submit(Lane::Chores, move || {
            let ids: Vec<FileId> = files.iter().map(|file| FileId(file.number())).collect();
            match manifest.remove_files(&ids) {
                Ok(()) => remove_from_disk(&*disk, &files),
                // They stay until the next open, which drops files of unknown tables.
                Err(error) => tracing::warn!(%error, "files of a dropped table stay behind for now"),
            }
        });
    }

    /// Files that the manifest does not name any more.
    pub fn remove_files(&self, files: Vec<Arc<Table>>) {
        if files.is_empty() {
            return;
        }
        let disk = self.disk.clone();
        self.jobs.submit(Lane::Chores, move || remove_from_disk(&*disk, &files));
    }
}

fn remove_from_disk(disk: &dyn Disk, files: &[Arc<Table>]) {
    for file in files {
        if let Err(error) = disk.remove(file.path()) {
            tracing::warn!(file = file.name(), %error, "a file that is not needed any more stays behind");
        }
    }
}
