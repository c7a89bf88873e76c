//! Group commit: shards queue encoded records, one driver writes them together and says how far it came.
//!
//! A shard numbers its records 1, 2, 3 ...; the driver takes the queues of all shards, writes one group,
//! makes it durable, and publishes per shard the last number that is safe, with the segment that holds it. A shard is
//! woken once per group. In production the driver is the log thread; in inline mode every submission drives.
//!
//! Guarantees: progress is published only after the promise of the [`Durability`] holds; after a failure nothing
//! is published any more and every submission is refused with the reason.

use super::pins::{Pin, Pins};
use super::segment::SegmentFiles;
use super::writer::LogWriter;
use crate::metrics::Metrics;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use tokio::sync::Notify;

/// Records of one shard that wait for the driver; beyond this, commits are refused as overload.
/// One segment's worth: the driver empties all queues in each group, so more means the disk is far behind.
const QUEUE_BYTES_MAX: usize = 32 << 20;

/// How often the log thread looks whether a full disk has room again.
const FULL_RETRY: std::time::Duration = std::time::Duration::from_millis(100);

/// What "acknowledged" means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On disk: the record was synced.
    Sync,
    /// With the operating system; synced at the latest this much later. Survives a crash of the process.
    Periodic { interval_ms: u64 },
}

/// Everything up to number `last` of a shard is safe, and not in an older segment than the pin's.
#[derive(Debug)]
pub struct Progress {
    pub last: u64,
    pub pin: Pin,
}

#[derive(Debug, PartialEq, Eq)]
pub enum SubmitError {
    QueueFull,
    /// The disk is full; nothing was queued.
    DiskFull,
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    Failed(String),
}

pub struct Log {
    queues: Vec<Mutex<Queue>>,
    progress: Vec<Lane>,
    durability: Durability,
    files: Arc<SegmentFiles>,
    pins: Pins,
    failed: OnceLock<String>,
    /// The disk is full: the log waits.
    stalled: AtomicBool,
    metrics: Arc<Metrics>,
    /// Set by whoever has work for the log thread; cleared by it before it looks.
    signalled: AtomicBool,
    thread: OnceLock<Thread>,
    barrier: Mutex<Barrier>,
    barrier_passed: Condvar,
    /// The first segment that has not been given up.
    first_live: Mutex<u64>,
    inline: Option<Mutex<Driver>>,
    /// Called by the driver when it has taken a segment: another spare one is wanted.
    want_spare: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct Queue {
    /// `(length u32, crc32c u32, payload)*`
    records: Vec<u8>,
    last: u64,
    taken: u64,
}

#[derive(Default)]
struct Lane {
    published: Mutex<VecDeque<Progress>>,
    wake: Notify,
}

#[derive(Default)]
struct Barrier {
    requested: u64,
    passed: u64,
    closing: bool,
}

/// The writer and what only the driving thread needs.
pub struct Driver {
    writer: LogWriter,
    /// Keeps the current segment.
    pin: Pin,
    taken: Vec<u8>,
    /// Per shard: the last number appended to the current segment and not yet published.
    appended: Vec<Option<u64>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// Begins a log at `segment`. Segments from `first_live` on exist and hold data that is still needed.
    /// With `inline`, submissions are written by the caller; else pass the driver to [`Log::run`] in a thread.
    pub fn begin(
        files: Arc<SegmentFiles>,
        pins: Pins,
        metrics: Arc<Metrics>,
        options: LogOptions,
    ) -> io::Result<(Arc<Log>, Option<Driver>)> {
        let pin = pins.pin(options.segment);
        let writer = LogWriter::begin(files.clone(), options.segment)?;
        metrics.log_segments_created.add(1);
        let driver = Driver { writer, pin, taken: Vec::new(), appended: vec![None; options.shards] };
        let (inline, driver) = if options.inline { (Some(driver), None) } else { (None, Some(driver)) };
        let log = Log {
            queues: (0..options.shards).map(|_| Mutex::default()).collect(),
            progress: (0..options.shards).map(|_| Lane::default()).collect(),
            durability: options.durability,
            files,
            pins,
            failed: OnceLock::new(),
            stalled: AtomicBool::new(false),
            metrics,
            signalled: AtomicBool::new(false),
            thread: OnceLock::new(),
            barrier: Mutex::default(),
            barrier_passed: Condvar::new(),
            first_live: Mutex::new(options.first_live),
            inline: inline.map(Mutex::new),
            want_spare: OnceLock::new(),
        };
        Ok((Arc::new(log), driver))
    }

    /// Queues a record that `encode` appends to the buffer; returns its number in the shard's sequence.
    pub fn submit(&self, shard: usize, encode: impl FnOnce(&mut Vec<u8>)) -> Result<u64, SubmitError> {
        if let Some(reason) = self.failed.get() {
            return Err(SubmitError::Failed(reason.clone()));
        }
        if self.stalled.load(Ordering::Acquire) {
            return Err(SubmitError::DiskFull);
        }
        let number = {
            let mut queue = lock(&self.queues[shard]);
            if queue.records.len() > QUEUE_BYTES_MAX {
                return Err(SubmitError::QueueFull);
            }
            queue.push(encode, LogWriter::payload_bytes_max(self.files.segment_bytes()))?
        };
        match &self.inline {
            Some(driver) => {
                self.drive(&mut lock(driver), false);
            }
            None => self.signal(),
        }
        Ok(number)
    }

    fn signal(&self) {
        if !self.signalled.swap(true, Ordering::AcqRel)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Takes what was published for the shard since the last call.
    pub fn take_progress(&self, shard: usize) -> VecDeque<Progress> {
        std::mem::take(&mut *lock(&self.progress[shard].published))
    }

    /// Resolves when something was published for the shard, or the log failed.
    pub async fn progressed(&self, shard: usize) {
        self.progress[shard].wake.notified().await;
    }

    /// Why the log stopped, if it did.
    pub fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    /// The oldest segment that anybody still needs.
    pub fn oldest_needed(&self) -> u64 {
        let live = *lock(&self.first_live);
        self.pins.oldest().map_or(live, |pinned| pinned.max(live))
    }

    /// The oldest segment that anybody needs but the holder of this pin.
    pub fn oldest_needed_without(&self, pin: &Pin) -> u64 {
        let live = *lock(&self.first_live);
        self.pins.oldest_without(pin).map_or(live, |pinned| pinned.max(live))
    }

    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Gives up segments older than `oldest`; the manifest must have recorded that they are not needed.
    pub fn retire_before(&self, oldest: u64) {
        let mut first_live = lock(&self.first_live);
        while *first_live < oldest {
            if let Err(error) = self.files.retire(*first_live) {
                tracing::warn!(segment = *first_live, %error, "a finished log segment could not be removed");
            }
            self.metrics.log_segments_retired.add(1);
            *first_live += 1;
        }
    }

    /// Blocks until everything submitted before the call is synced, whatever the durability.
    pub fn sync(&self) -> Result<(), String> {
        if let Some(driver) = &self.inline {
            self.drive(&mut lock(driver), true);
            return self.failed.get().map_or(Ok(()), |reason| Err(reason.clone()));
        }
        let mut barrier = lock(&self.barrier);
        barrier.requested += 1;
        let mine = barrier.requested;
        self.signal();
        loop {
            if let Some(reason) = self.failed.get() {
                return Err(reason.clone());
            }
            if barrier.passed >= mine {
                return Ok(());
            }
            if barrier.closing {
                return Err("the commit log is closed".to_owned());
            }
            barrier = self.barrier_passed.wait(barrier).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Tells the log thread to write what is queued, sync and end.
    pub fn close(&self) {
        lock(&self.barrier).closing = true;
        self.signal();
    }

    /// Body of the log thread.
    pub fn run(&self, mut driver: Driver) {
        let _ = self.thread.set(std::thread::current());
        let mut last_sync = std::time::Instant::now();
        loop {
            self.signalled.store(false, Ordering::Release);
            let (requested, passed, closing) = {
                let barrier = lock(&self.barrier);
                (barrier.requested, barrier.passed, barrier.closing)
            };
            let due = match self.durability {
                Durability::Sync => false,
                Durability::Periodic { interval_ms } => last_sync.elapsed().as_millis() as u64 >= interval_ms,
            };
            let force = requested > passed || closing || due;
            let worked = self.drive(&mut driver, force);
            if force {
                last_sync = std::time::Instant::now();
                lock(&self.barrier).passed = requested;
                self.barrier_passed.notify_all();
            }
            if self.failed.get().is_some() {
                self.barrier_passed.notify_all();
                return;
            }
            if worked {
                continue;
            }
            if closing {
                return;
            }
            match self.durability {
                Durability::Periodic { interval_ms } if driver.writer.has_unsynced() => {
                    std::thread::park_timeout(std::time::Duration::from_millis(interval_ms));
                }
                _ => std::thread::park(),
            }
        }
    }

    /// Writes one group; `true` when there was something to write.
    fn drive(&self, driver: &mut Driver, force_sync: bool) -> bool {
        if self.failed.get().is_some() {
            return false;
        }
        match self.write_group(driver, force_sync) {
            Ok(worked) => worked,
            Err(error) => {
                self.fail(error.to_string());
                false
            }
        }
    }

    /// Stops the log for good and wakes everybody who waits for it.
    pub fn fail(&self, reason: String) {
        tracing::error!(%reason, "the commit log stopped; writes are refused from now on");
        let _ = self.failed.set(reason);
        self.progress.iter().for_each(|lane| lane.wake.notify_one());
        let _barrier = lock(&self.barrier);
        self.barrier_passed.notify_all();
    }

    fn write_group(&self, driver: &mut Driver, force_sync: bool) -> io::Result<bool> {
        let mut worked = false;
        for shard in 0..self.queues.len() {
            let last = {
                let mut queue = lock(&self.queues[shard]);
                if queue.records.is_empty() {
                    continue;
                }
                driver.taken.clear();
                std::mem::swap(&mut queue.records, &mut driver.taken);
                let before = queue.taken;
                queue.taken = queue.last;
                before
            };
            worked = true;
            self.append_taken(driver, shard, last)?;
        }
        driver.writer.write()?;
        let sync = force_sync || self.durability == Durability::Sync;
        if sync && driver.writer.has_unsynced() {
            driver.writer.sync()?;
            self.metrics.log_syncs.add(1);
        }
        if worked {
            self.metrics.log_groups.add(1);
            self.publish(driver);
        }
        Ok(worked)
    }

    /// Appends the records taken from a shard's queue, going to the next segment when one is full.
    fn append_taken(&self, driver: &mut Driver, shard: usize, mut number: u64) -> io::Result<()> {
        let taken = std::mem::take(&mut driver.taken);
        let mut rest = taken.as_slice();
        while let Some((length, crc, tail)) = split_queued(rest) {
            let (payload, next) = tail.split_at(length.min(tail.len()));
            if !driver.writer.fits(payload.len()) {
                self.next_segment(driver)?;
            }
            driver.writer.append(payload, crc);
            number += 1;
            driver.appended[shard] = Some(number);
            self.metrics.log_records.add(1);
            self.metrics.log_bytes.add(payload.len() as u64);
            rest = next;
        }
        driver.taken = taken;
        Ok(())
    }

    fn next_segment(&self, driver: &mut Driver) -> io::Result<()> {
        driver.writer.seal()?;
        self.metrics.log_syncs.add(1);
        self.publish(driver);
        self.begin_segment(driver)?;
        self.metrics.log_segments_created.add(1);
        driver.pin = self.pins.pin(driver.writer.segment());
        if let Some(want_spare) = self.want_spare.get() {
            want_spare();
        }
        Ok(())
    }

    /// A full disk is no failure: nothing has been written to the new segment yet, so the log thread waits for
    /// room while new commits are refused as overload.
    fn begin_segment(&self, driver: &mut Driver) -> io::Result<()> {
        loop {
            match driver.writer.next_segment() {
                Err(error) if error.kind() == io::ErrorKind::StorageFull && self.inline.is_none() => {
                    if !self.stalled.swap(true, Ordering::AcqRel) {
                        tracing::error!(%error, "the disk is full; commits wait for room");
                    }
                    if lock(&self.barrier).closing {
                        return Err(error);
                    }
                    std::thread::sleep(FULL_RETRY);
                }
                outcome => {
                    self.stalled.store(false, Ordering::Release);
                    return outcome;
                }
            }
        }
    }

    fn publish(&self, driver: &mut Driver) {
        for (lane, appended) in self.progress.iter().zip(&mut driver.appended) {
            if let Some(last) = appended.take() {
                lock(&lane.published).push_back(Progress { last, pin: driver.pin.clone() });
                lane.wake.notify_one();
            }
        }
    }

    /// Who prepares spare segments in the background; without it a new segment is made when it is needed.
    pub fn on_want_spare(&self, want_spare: impl Fn() + Send + Sync + 'static) {
        let _ = self.want_spare.set(Box::new(want_spare));
    }

    /// Prepares a spare segment; for a background thread.
    pub fn prepare_spare(&self) {
        if let Err(error) = self.files.prepare_spare() {
            tracing::warn!(%error, "no spare log segment could be prepared");
        }
    }
}

/// How a log begins.
pub struct LogOptions {
    pub shards: usize,
    pub durability: Durability,
    /// The first segment to write.
    pub segment: u64,
    /// The oldest segment that exists and is still needed; `segment` when there is none.
    pub first_live: u64,
    pub inline: bool,
}

impl Queue {
    fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>), limit: usize) -> Result<u64, SubmitError> {
        let at = self.records.len();
        self.records.extend_from_slice(&[0; 8]);
        encode(&mut self.records);
        let payload = &self.records[at + 8..];
        let bytes = payload.len();
        if bytes > limit || bytes == 0 {
            self.records.truncate(at);
            return Err(SubmitError::TooLarge { bytes, limit });
        }
        let crc = crc32c::crc32c(payload);
        self.records[at..at + 4].copy_from_slice(&(bytes as u32).to_le_bytes());
        self.records[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
        self.last += 1;
        Ok(self.last)
    }
}

fn split_queued(bytes: &[u8]) -> Option<(usize, u32, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*length) as usize, u32::from_le_bytes(*crc), rest))
}
