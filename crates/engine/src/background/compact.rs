//! Merging files, or dropping those in which everything has expired.

use super::publish::{JobError, file_record, open_outputs};
use crate::compaction::{CompactionError, Others, Output, Pace, PurgeTerms, Situation, Work, run};
use crate::database::shared::Shared;
use crate::jobs::Lane;
use crate::manifest::{Edit, FileId};
use crate::shard::Shard;
use crate::table::{Table, WriterOptions};
use rt::{Moment, threads};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use store::{StoreError, TableConfig};

/// A merge that failed for want of space is tried again after this long.
const RETRY: Duration = Duration::from_secs(10);

/// Outputs are cut at about this size, so that the next merge can work on a part of the ring.
const OUTPUT_BYTES: u64 = 1 << 30;

/// How often a job that waits for its shard looks whether the engine is closing.
const ANSWER_WAIT: Duration = Duration::from_millis(100);

pub(crate) struct CompactJob {
    pub shared: Arc<Shared>,
    pub shard: usize,
    pub config: TableConfig,
    pub inputs: Vec<Arc<Table>>,
    /// The table's other files on the shard.
    pub others: Vec<Arc<Table>>,
    pub situation: Situation,
    /// `false`: the inputs are dropped without being read.
    pub merge: bool,
}

impl CompactJob {
    pub fn run(self) {
        match self.compact() {
            Ok(outputs) => {
                let CompactJob { shared, shard, config, inputs, .. } = self;
                shared.metrics.compactions.add(1);
                shared.metrics.compaction_bytes_read.add(inputs.iter().map(|file| file.bytes()).sum());
                shared.metrics.compaction_bytes_written.add(outputs.iter().map(|file| file.bytes()).sum());
                let _ = shared.mail.send(
                    shard,
                    Box::new(move |shard| shard.compacted(config.id, config.incarnation, inputs, outputs)),
                );
            }
            Err(error) => self.fail(&error),
        }
    }

    fn fail(self, error: &JobError) {
        let stopping = self.shared.stopping.load(Ordering::Acquire);
        if !stopping {
            tracing::warn!(table = self.config.id.0, %error, "a compaction did not finish; it will be tried again");
            self.shared.metrics.background_failures.add(1);
        }
        let full = matches!(error, JobError::Compaction(CompactionError::Write { .. }) | JobError::Io(_));
        if full && !stopping && !self.shared.options.inline {
            let shared = self.shared.clone();
            return shared.jobs.submit_after(Lane::Compaction, RETRY, move || self.run());
        }
        let (id, incarnation, again) = (self.config.id, self.config.incarnation, error.may_pass());
        let _ = self
            .shared
            .mail
            .send(self.shard, Box::new(move |shard| shard.compaction_failed(id, incarnation, again)));
    }

    fn compact(&self) -> Result<Vec<Arc<Table>>, JobError> {
        let shared = &self.shared;
        let outputs = if self.merge { self.merged()? } else { Vec::new() };
        let files = open_outputs(shared, &outputs)?;
        self.check_within_inputs(&files)?;
        let mut edits: Vec<Edit> =
            files.iter().map(|file| Edit::Add(file_record(&self.config, file))).collect();
        edits.extend(self.inputs.iter().map(|input| Edit::Remove(FileId(input.number()))));
        shared.manifest.publish(&edits).map_err(JobError::Manifest)?;
        Ok(files)
    }

    /// A merge makes nothing up: its outputs lie within its inputs, one behind the other, with no more rows. If not, an
    /// input says what is not so, and replaces nothing.
    fn check_within_inputs(&self, outputs: &[Arc<Table>]) -> Result<(), JobError> {
        let rows = |files: &[Arc<Table>]| {
            files.iter().map(|file| file.statistics().rows).fold(0, u64::saturating_add)
        };
        let first = self.inputs.iter().map(|file| &file.properties().first_prefix).min();
        let last = self.inputs.iter().map(|file| &file.properties().last_prefix).max();
        let within = |file: &Arc<Table>| {
            Some(&file.properties().first_prefix) >= first && Some(&file.properties().last_prefix) <= last
        };
        let apart = |two: &[Arc<Table>]| two[0].properties().last_prefix < two[1].properties().first_prefix;
        if rows(outputs) <= rows(&self.inputs) && outputs.iter().all(within) && outputs.windows(2).all(apart)
        {
            return Ok(());
        }
        let file = self.inputs.first().map_or_else(String::new, |file| file.name().to_owned());
        let what = "a merge has rows that its inputs do not tell of; `partita verify` says more".to_owned();
        Err(JobError::Open(StoreError::Corrupt { file, offset: 0, what }))
    }

    /// Writes the outputs. If anything that a purged tombstone should have hidden arrived meanwhile, writes them again
    /// without purging.
    fn merged(&self) -> Result<Vec<Output>, JobError> {
        let outputs = self.write(true)?;
        let tombstones = self.inputs.iter().any(|input| input.statistics().tombstones() > 0);
        if !tombstones || self.nothing_older_arrived()? {
            return Ok(outputs);
        }
        tracing::info!(
            table = self.config.id.0,
            "old timestamps arrived during a merge; it keeps its tombstones"
        );
        for output in &outputs {
            self.shared.disk.remove(&output.path).map_err(JobError::Io)?;
        }
        self.write(false)
    }

    /// Asks the shard, which sees every write. Inline, nothing runs beside the merge.
    fn nothing_older_arrived(&self) -> Result<bool, JobError> {
        if self.shared.options.inline {
            return Ok(true);
        }
        let purged_up_to = self.inputs.iter().map(|input| input.max_timestamp()).max();
        let known: Vec<u64> = self.inputs.iter().chain(&self.others).map(|file| file.number()).collect();
        let (id, before) = (self.config.id, self.situation.memtables_min_timestamp);
        let (sender, receiver) = mpsc::channel();
        let ask = Box::new(move |shard: &Rc<Shard>| {
            let arrived = shard.oldest_unknown(id, &known);
            let older = arrived.filter(|arrived| before.is_none_or(|before| *arrived < before));
            let _ = sender.send(older.is_none_or(|older| Some(older) > purged_up_to));
        });
        let sent = self.shared.mail.send(self.shard, ask);
        while sent.is_ok() && !self.shared.stopping.load(Ordering::Acquire) {
            match receiver.recv_timeout(ANSWER_WAIT) {
                Ok(answer) => return Ok(answer),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        Err(JobError::Compaction(CompactionError::Cancelled))
    }

    fn write(&self, purge: bool) -> Result<Vec<Output>, JobError> {
        let (shared, config, situation) = (&self.shared, &self.config, &self.situation);
        let terms = PurgeTerms {
            now_seconds: situation.now_seconds,
            grace_seconds: situation.grace_seconds,
            oldest_live_segment: situation.oldest_live_segment,
        };
        let work = Work {
            memtables: &[],
            tables: &self.inputs,
            others: Others {
                tables: &self.others,
                memtables_min_timestamp: situation.memtables_min_timestamp,
            },
            purge: purge.then_some(terms),
            options: WriterOptions::new(config),
            output_bytes: OUTPUT_BYTES,
        };
        let mut throttle = Throttle::new(shared);
        run(&*shared.disk, &work, &mut || shared.new_file(), &mut |bytes| throttle.passed(bytes))
            .map_err(JobError::Compaction)
    }
}

/// Keeps a job below the allowed rate, and ends it when the engine stops.
struct Throttle<'a> {
    shared: &'a Shared,
    begun: Moment,
    bytes: u64,
}

impl Throttle<'_> {
    fn new(shared: &Shared) -> Throttle<'_> {
        Throttle { shared, begun: Moment::now(), bytes: 0 }
    }

    fn passed(&mut self, bytes: u64) -> Pace {
        if self.shared.stopping.load(Ordering::Acquire) {
            return Pace::Cancel;
        }
        self.bytes += bytes;
        let rate = self.shared.options.compaction_bytes_per_second;
        if rate > 0 && !self.shared.options.inline {
            let due = Duration::from_secs_f64(self.bytes as f64 / rate as f64);
            threads::pause(due.saturating_sub(self.begun.elapsed()));
        }
        Pace::Continue
    }
}
