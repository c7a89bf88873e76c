//! Group commit: shards queue encoded records, one driver writes them together and reports its progress.
//!
//! A shard numbers its records 1, 2, 3 ...; the driver takes the queues of all shards, writes one group,
//! keeps the promise of the [`Durability`], and publishes per shard the last number that is safe, with the segment
//! that holds it. A shard is woken once per group. `drive` says who drives.
//!
//! Guarantees: progress is published only after the promise holds; after a failure nothing is published any more
//! and every submission is refused with the reason.

use super::drive::{Driver, Mode};
use super::pins::{Pin, Pins};
use super::segment::SegmentFiles;
use super::writer::LogWriter;
use crate::metrics::Metrics;
use rt::threads::Thread;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Records of one shard that wait for the driver; beyond this, commits are refused as overload.
/// One segment's worth: the driver empties all queues in each group, so more means the disk is far behind.
const QUEUE_BYTES_MAX: usize = 32 << 20;

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
    /// The log waits for something that may pass, which is named; nothing was queued.
    Stalled(&'static str),
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    Failed(String),
}

pub struct Log {
    pub(super) queues: Vec<Mutex<Queue>>,
    pub(super) progress: Vec<Lane>,
    pub(super) durability: Durability,
    pub(super) files: Arc<SegmentFiles>,
    pub(super) pins: Pins,
    pub(super) failed: OnceLock<String>,
    /// What the log waits for: a [`Stall`] or [`NOT_STALLED`].
    pub(super) stalled: AtomicU8,
    pub(super) metrics: Arc<Metrics>,
    /// Set by a caller that has work for the log thread; the thread clears it before it looks.
    pub(super) signalled: AtomicBool,
    pub(super) thread: OnceLock<Thread>,
    pub(super) barrier: Mutex<Barrier>,
    pub(super) barrier_passed: Condvar,
    /// The first segment that has not been given up.
    first_live: Mutex<u64>,
    pub(super) mode: Mode,
    pub(super) driver: Mutex<Driver>,
    /// Called by the driver when it has begun a segment: the next one is wanted.
    pub(super) want_next: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
pub(super) struct Queue {
    /// `(length u32, crc32c u32, payload)*`
    pub records: Vec<u8>,
    /// Number of the last record queued, and of the last one a driver took.
    pub last: u64,
    pub taken: u64,
}

#[derive(Default)]
pub(super) struct Lane {
    pub published: Mutex<VecDeque<Progress>>,
    pub wake: Notify,
}

#[derive(Default)]
pub(super) struct Barrier {
    pub requested: u64,
    pub passed: u64,
    pub closing: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// Begins a log at `segment`. Segments from `first_live` on exist and hold data that is still needed.
    /// Unless `inline`, [`Log::run`] must run in a thread of its own.
    pub fn begin(
        files: Arc<SegmentFiles>,
        pins: Pins,
        metrics: Arc<Metrics>,
        options: LogOptions,
    ) -> io::Result<Arc<Log>> {
        assert!(options.segment >= options.first_live, "a log goes on behind what it has");
        let pin = pins.pin(options.segment);
        let writer = LogWriter::begin(files.clone(), options.segment)?;
        metrics.log_segments_created.add(1);
        let mode = match options.durability {
            _ if options.inline => Mode::Inline,
            Durability::Sync => Mode::Thread,
            Durability::Periodic { .. } => Mode::Helping,
        };
        let log = Log {
            queues: (0..options.shards).map(|_| Mutex::default()).collect(),
            progress: (0..options.shards).map(|_| Lane::default()).collect(),
            durability: options.durability,
            files,
            pins,
            failed: OnceLock::new(),
            stalled: AtomicU8::new(NOT_STALLED),
            metrics,
            signalled: AtomicBool::new(false),
            thread: OnceLock::new(),
            barrier: Mutex::default(),
            barrier_passed: Condvar::new(),
            first_live: Mutex::new(options.first_live),
            mode,
            driver: Mutex::new(Driver::new(writer, pin, options.shards)),
            want_next: OnceLock::new(),
        };
        Ok(Arc::new(log))
    }

    /// Queues a record that `encode` appends to the buffer; returns its number in the shard's sequence. With durability
    /// `periodic` the caller continues with [`Log::help`].
    pub fn submit(&self, shard: usize, encode: impl FnOnce(&mut Vec<u8>)) -> Result<u64, SubmitError> {
        if let Some(reason) = self.failed.get() {
            return Err(SubmitError::Failed(reason.clone()));
        }
        let stalled = self.stalled.load(Ordering::Acquire);
        if stalled != NOT_STALLED {
            return Err(SubmitError::Stalled(Stall::from_u8(stalled).reason()));
        }
        let number = {
            let mut queue = lock(&self.queues[shard]);
            if queue.records.len() > QUEUE_BYTES_MAX {
                return Err(SubmitError::QueueFull);
            }
            queue.push(encode, LogWriter::payload_bytes_max(self.files.segment_bytes()))?
        };
        match self.mode {
            Mode::Inline => {
                self.drive(&mut lock(&self.driver), false);
            }
            Mode::Thread => self.signal(),
            // The shard writes it itself, with `help`.
            Mode::Helping => {}
        }
        Ok(number)
    }

    /// Makes the shard come back and write what is queued, after it has queued everything else that it has at the moment.
    pub fn help_soon(&self, shard: usize) {
        if self.mode == Mode::Helping {
            self.progress[shard].wake.notify_one();
        }
    }

    pub(super) fn signal(&self) {
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
        if self.mode == Mode::Inline {
            self.drive(&mut lock(&self.driver), true);
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

    /// Stops the log for good and wakes everybody who waits for it.
    pub fn fail(&self, reason: String) {
        tracing::error!(%reason, "the commit log stopped; writes are refused from now on");
        let _ = self.failed.set(reason);
        self.progress.iter().for_each(|lane| lane.wake.notify_one());
        let _barrier = lock(&self.barrier);
        self.barrier_passed.notify_all();
    }

    /// Who prepares the next segment in the background; without it, it is made when it is needed.
    pub fn on_want_next(&self, want_next: impl Fn() + Send + Sync + 'static) {
        let _ = self.want_next.set(Box::new(want_next));
    }

    /// The log has ended in good order: its spare segments go too.
    pub fn remove_spares(&self) {
        if let Err(error) = self.files.remove_spares() {
            tracing::warn!(%error, "a spare log segment could not be removed");
        }
    }

    /// Prepares the next segment; for a background thread.
    pub fn prepare_next(&self) {
        if let Err(error) = self.files.prepare_next() {
            tracing::warn!(%error, "the next log segment could not be prepared ahead");
        }
    }
}

/// The log does not wait for anything.
pub(super) const NOT_STALLED: u8 = 0;

/// What a log waits for that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stall {
    Room = 1,
    Descriptors = 2,
    Other = 3,
}

impl Stall {
    pub fn of(error: &io::Error) -> Stall {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Stall::Room,
            _ if error.raw_os_error().is_some() && error.kind() != io::ErrorKind::Interrupted => {
                Stall::Descriptors
            }
            _ => Stall::Other,
        }
    }

    pub fn from_u8(stall: u8) -> Stall {
        let known = [Stall::Room, Stall::Descriptors].into_iter().find(|known| *known as u8 == stall);
        known.unwrap_or(Stall::Other)
    }

    pub fn reason(self) -> &'static str {
        match self {
            Stall::Room => "the disk is full",
            Stall::Descriptors => "the process has no file descriptors left",
            Stall::Other => "the disk does not answer",
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
