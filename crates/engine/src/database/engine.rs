//! The engine as the rest of the process sees it: opened once, a store handle per shard, closed once.

use super::error::OpenError;
use super::open;
use super::options::EngineOptions;
use super::shared::Shared;
use super::snapshot::{Snapshot, write_snapshot};
use crate::cache::CacheCounts;
use crate::embedded::EmbeddedStore;
use crate::jobs::Lane;
use crate::log::LogRecovery;
use crate::manifest::Edit;
use crate::metrics::Metrics;
use crate::shard::{Seed, Shard};
use observe::{Load, Slot, Window, Windows};
use rt::threads::{self, JoinHandle};
use rt::{Clock, Disk, DiskLock};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Lag, StoreError, TableId};
use tokio::sync::oneshot;

/// A running engine. Cheap to clone, usable from any thread.
#[derive(Clone)]
pub struct Engine {
    pub(super) shared: Arc<Shared>,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    shared: Arc<Shared>,
    /// What each shard's thread takes with it; `None` once taken.
    seeds: Vec<Option<Seed>>,
    log_thread: Option<JoinHandle<()>>,
    lock: Option<Box<dyn DiskLock>>,
}

impl Inner {
    /// Writes and syncs what is queued in the log, ends the threads, lets other processes in.
    fn end_threads(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.end_log_thread();
        self.shared.jobs.close();
        self.lock = None;
    }
}

impl Inner {
    fn end_log_thread(&mut self) {
        self.shared.log.close();
        if let Some(thread) = self.log_thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the log thread panicked");
        }
    }
}

/// The last handle went without `close`: memtables stay in the log only.
impl Drop for Inner {
    fn drop(&mut self) {
        self.end_threads();
    }
}

/// Lets commits in again when it is dropped, however the snapshot ended.
struct Paused<'e>(&'e Engine);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        for shard in 0..self.0.shards() {
            let _ = self.0.shared.mail.send(shard, Box::new(|shard| shard.resume()));
        }
    }
}

/// What opening found.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The catalogue as the last `alter` left it; `None` in a new database.
    pub catalogue: Option<Vec<u8>>,
    pub recovery: LogRecovery,
    /// Logged mutations that were not wanted any more (dropped tables, older incarnations).
    pub skipped: u64,
}

impl Engine {
    /// Opens or creates the database in `options.dir`, replays its log, starts the background threads.
    /// Shard threads are the caller's: each calls [`Engine::store`] with its index, inside a `LocalSet`.
    pub fn open(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        options: EngineOptions,
    ) -> Result<(Engine, Opened), OpenError> {
        open::open(disk, clock, options)
    }

    pub(super) fn start(
        shared: Arc<Shared>,
        seeds: Vec<Option<Seed>>,
        lock: Box<dyn DiskLock>,
    ) -> Result<Engine, OpenError> {
        let mut log_thread = None;
        if !shared.options.inline {
            let log = shared.log.clone();
            let spawned = threads::start("log", move || log.run());
            log_thread = Some(spawned.map_err(OpenError::io("starting the log thread"))?);
        }
        let waiting = Arc::downgrade(&shared);
        shared.log.on_want_next(move || {
            if let Some(shared) = waiting.upgrade() {
                let log = shared.log.clone();
                shared.jobs.submit(Lane::Chores, move || log.prepare_next());
            }
        });
        let inner = Inner { shared: shared.clone(), seeds, log_thread, lock: Some(lock) };
        Ok(Engine { shared, inner: Arc::new(Mutex::new(inner)) })
    }

    /// The store handle of shard `index`; call it once per shard, on the shard's thread, inside a `LocalSet`, and
    /// clone the handle there. `None` when there is no such shard or its handle was taken before.
    pub fn store(&self, index: usize) -> Option<EmbeddedStore> {
        let seed = self.lock().seeds.get_mut(index)?.take()?;
        Some(EmbeddedStore::new(Shard::start(self.shared.clone(), seed)))
    }

    /// Prepares what heavy writing will need soon (the next log segment), in the background. Opening does not do it, so
    /// that the first request need not wait behind it; call it when the rush of starting is over.
    pub fn warm_up(&self) {
        let log = self.shared.log.clone();
        self.shared.jobs.submit(Lane::Chores, move || log.prepare_next());
    }

    pub fn shards(&self) -> usize {
        self.shared.options.shards
    }

    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// How far the copy is behind whose pending entries the table with this number holds.
    pub fn lag(&self, pending: u32) -> Option<Lag> {
        self.shared.late.lag(TableId(pending), self.shared.clock.micros())
    }

    /// What every table was asked to do since the start, by its id: up to the last slot of ten seconds.
    pub fn table_loads(&self) -> BTreeMap<u32, Load> {
        self.shared.loads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Messages that wait for a shard.
    pub fn queue_depth(&self, shard: usize) -> usize {
        self.shared.mail.depth(shard)
    }

    /// Why writes are refused, if they are.
    pub fn read_only(&self) -> Option<&str> {
        self.shared.log.failure()
    }

    /// Inline mode: does the background work that is due now; whether there was any.
    pub fn run_jobs(&self) -> bool {
        let worked = self.shared.jobs.run_pending();
        if !worked {
            // Idle: what the log thread does when it has had nothing to do for a while.
            self.shared.log.mark();
        }
        worked
    }

    /// Stops accepting work, puts every memtable into a file and ends the background threads. The shard threads
    /// must still run. Without it nothing is lost, but the next open has more to replay.
    pub async fn close(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        let all = self.ask_shards(|shard, done| shard.close(done)).await;
        let mut inner = self.lock();
        inner.end_log_thread();
        let end = if all { self.shared.log.finish() } else { None };
        if let Some(begins) = end {
            self.record_end(begins);
        }
        // Behind the background threads, which may be preparing one; before anybody else is let in.
        self.shared.jobs.close();
        if end.is_some() {
            self.shared.log.remove_spares();
        }
        inner.end_threads();
    }

    /// Puts every memtable into a file; `false` when that failed (see the log of the process).
    pub async fn flush(&self) -> bool {
        self.ask_shards(|shard, done| shard.flush_all(done)).await
    }

    /// Makes a consistent copy of the database in `target`, which must be an empty or new directory on the same
    /// file system: table files are linked, not copied. The result can be opened, or copied elsewhere, as a database
    /// of its own. Commits wait while memtables are flushed and the links are made.
    pub async fn snapshot(&self, target: &Path) -> Result<Snapshot, StoreError> {
        let catalogue = self.shared.catalogue.lock().await;
        // Most of the flushing before commits wait. If it fails, it fails again below.
        self.flush().await;
        let _paused = Paused(self);
        if !self.ask_shards(|shard, done| shard.pause(done)).await {
            return Err(StoreError::Closed);
        }
        if !self.flush().await {
            return Err(StoreError::Io { context: "memtables could not be flushed".into() });
        }
        let (shared, target, catalogue) = (self.shared.clone(), target.to_owned(), catalogue.clone());
        let job = move || write_snapshot(&shared, &target, &catalogue);
        self.shared.jobs.run(Lane::Chores, job).await.ok_or(StoreError::Closed)?
    }

    /// Asks every shard that has started; the others have nothing that the log has not.
    async fn ask_shards(&self, ask: fn(&Rc<Shard>, oneshot::Sender<bool>)) -> bool {
        let started: Vec<usize> = {
            let inner = self.lock();
            inner.seeds.iter().enumerate().filter(|(_, seed)| seed.is_none()).map(|(i, _)| i).collect()
        };
        let mut waiting = Vec::new();
        for index in started {
            let (sender, receiver) = oneshot::channel();
            if self.shared.mail.send(index, Box::new(move |shard| ask(shard, sender))).is_ok() {
                waiting.push(receiver);
            }
        }
        let mut all = true;
        for mut receiver in waiting {
            all &= match self.shared.options.inline {
                true => self.drive_until(&mut receiver).await,
                false => receiver.await.unwrap_or(false),
            };
        }
        all
    }

    /// Inline mode: does background work until the answer is there.
    async fn drive_until(&self, receiver: &mut oneshot::Receiver<bool>) -> bool {
        loop {
            match receiver.try_recv() {
                Ok(all) => return all,
                Err(oneshot::error::TryRecvError::Closed) => return false,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            self.shared.jobs.run_pending();
            tokio::task::yield_now().await;
        }
    }

    /// Everything is in files: the manifest says so, and the log is given up.
    fn record_end(&self, log_begins: u64) {
        let ballot = self.shared.ballot.load(Ordering::Acquire);
        let edits = [Edit::LogBegins(log_begins), Edit::Ballot(ballot), Edit::Closed(true)];
        match self.shared.manifest.publish(&edits) {
            Ok(()) => self.shared.log_may_begin(log_begins),
            Err(error) => {
                tracing::warn!(%error, "the end of the log was not recorded; the next open replays it")
            }
        }
    }

    /// Which partitions the work went to, as of the last [`EmbeddedStore::show_heat`] of each shard.
    pub fn hot_partitions(&self, window: Window) -> Slot {
        self.heat_of(|windows| windows.over(window))
            .reduce(|mut sum, shard| {
                sum.join(shard);
                sum
            })
            .unwrap_or_default()
    }

    /// What went where in each minute of the last hour, the oldest first.
    pub fn heat_map(&self) -> Vec<Slot> {
        let mut sum: Vec<Slot> = Vec::new();
        for mut shard in self.heat_of(Windows::minutes) {
            // Shards begin at the same time, but for moments: their newest minutes belong together.
            let (longer, shorter) =
                if shard.len() > sum.len() { (&mut shard, &mut sum) } else { (&mut sum, &mut shard) };
            let offset = longer.len() - shorter.len();
            for (minute, part) in longer[offset..].iter_mut().zip(shorter.drain(..)) {
                minute.join(part);
            }
            sum = std::mem::take(longer);
        }
        sum
    }

    fn heat_of<T>(&self, look: impl Fn(&Windows) -> T) -> impl Iterator<Item = T> {
        self.shared
            .heat
            .iter()
            .map(move |windows| look(&windows.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What the block caches of all shards have counted, as of a moment ago.
    pub fn cache_counts(&self) -> CacheCounts {
        let mut sum = CacheCounts::default();
        for counts in &self.shared.cache_counts {
            let counts = *counts.lock().unwrap_or_else(PoisonError::into_inner);
            sum.hits += counts.hits;
            sum.misses += counts.misses;
            sum.bytes += counts.bytes;
            sum.blocks += counts.blocks;
        }
        sum
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
