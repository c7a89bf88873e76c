//! What all threads of an engine share.

use super::catalogue::Catalogue;
use super::layout::Layout;
use super::options::EngineOptions;
use crate::jobs::Jobs;
use crate::log::Log;
use crate::manifest::Manifest;
use crate::metrics::Metrics;
use crate::shard::Errand;
use crate::table::Table;
use rt::{Clock, Disk, Mail};
use std::sync::Arc;

pub(crate) struct Shared {
    pub options: EngineOptions,
    pub layout: Layout,
    pub disk: Arc<dyn Disk>,
    pub clock: Arc<dyn Clock>,
    pub log: Arc<Log>,
    pub manifest: Manifest,
    pub metrics: Arc<Metrics>,
    pub mail: Mail<Errand>,
    pub jobs: Jobs,
    /// Held while a change of the tables is under way.
    pub catalogue: tokio::sync::Mutex<Catalogue>,
}

impl Shared {
    /// Removes files of tables that are gone.
    pub fn drop_tables(&self, tables: Vec<Arc<Table>>) {
        for table in tables {
            if let Err(error) = self.disk.remove(table.path()) {
                tracing::warn!(file = table.name(), %error, "a file of a dropped table stays behind");
            }
        }
    }
}
