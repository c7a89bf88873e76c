//! Flushing one sealed memtable.

use super::publish::{JobError, file_record, open_outputs};
use crate::compaction::{Others, Pace, Work, run};
use crate::database::shared::Shared;
use crate::jobs::Lane;
use crate::log::Durability;
use crate::manifest::Edit;
use crate::shard::Sealed;
use crate::table::{Table, WriterOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::TableConfig;

/// A failed flush is tried again after this long.
const RETRY: Duration = Duration::from_secs(1);

pub(crate) struct FlushJob {
    shared: Arc<Shared>,
    shard: usize,
    config: TableConfig,
    sealed: Arc<Sealed>,
}

impl FlushJob {
    pub fn new(shared: Arc<Shared>, shard: usize, config: TableConfig, sealed: Arc<Sealed>) -> FlushJob {
        FlushJob { shared, shard, config, sealed }
    }

    pub fn run(self) {
        match self.flush() {
            Ok(files) => {
                let metrics = &self.shared.metrics;
                metrics.flushes.add(1);
                metrics.flush_bytes.add(files.iter().map(|file| file.bytes()).sum());
                files.iter().for_each(|file| metrics.flush_file_bytes.record(file.bytes()));
                let FlushJob { shared, shard, config, sealed } = self;
                let _ = shared.mail.send(
                    shard,
                    Box::new(move |shard| shard.flushed(config.id, config.incarnation, &sealed, files)),
                );
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(self, error: &JobError) {
        tracing::error!(table = self.config.id.0, %error, "a memtable could not be written to disk");
        self.shared.metrics.background_failures.add(1);
        let again = !self.shared.stopping.load(Ordering::Acquire) && self.shared.log.failure().is_none();
        let _ = self.shared.mail.send(self.shard, Box::new(move |shard| shard.flush_failed(again)));
        if again {
            let shared = self.shared.clone();
            shared.jobs.submit_after(Lane::Flush, RETRY, move || self.run());
        }
    }

    fn flush(&self) -> Result<Vec<Arc<Table>>, JobError> {
        let shared = &self.shared;
        // A file must not hold half of a commit whose record could still be lost with the log's tail.
        if shared.options.durability != Durability::Sync {
            shared.log.sync().map_err(JobError::Log)?;
        }
        let config = &self.config;
        let work = Work {
            memtables: &[&self.sealed.memtable],
            tables: &[],
            others: Others { tables: &[], memtables_min_timestamp: None },
            purge: None,
            options: WriterOptions::new(config),
            output_bytes: u64::MAX,
        };
        let outputs = run(&*shared.disk, &work, &mut || shared.new_file(), &mut |_| Pace::Continue)
            .map_err(JobError::Compaction)?;
        let files = open_outputs(shared, &outputs)?;
        let segments = self.sealed.memtable.log_segments();
        assert!(
            segments.is_none_or(|(first, _)| first >= self.sealed.pin.segment()),
            "the pin covers the memtable"
        );
        let log_begins = shared.log.oldest_needed_without(&self.sealed.pin);
        let mut edits: Vec<Edit> = files.iter().map(|file| Edit::Add(file_record(config, file))).collect();
        edits.push(Edit::LogBegins(log_begins));
        edits.push(Edit::Ballot(shared.ballot.load(Ordering::Acquire)));
        shared.manifest.publish(&edits).map_err(JobError::Manifest)?;
        self.sealed.pin.release();
        shared.log_may_begin(log_begins);
        Ok(files)
    }
}
