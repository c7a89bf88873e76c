//! Who writes the log, and how.
//!
//! With durability `sync` the log thread does everything: while it waits for the disk, shards queue the next group.
//! With `periodic`, handing a commit to another thread would cost more than writing it, so the shard that queued
//! something writes what all shards have queued, unless another shard is doing it (the holder of the driver looks again
//! before it leaves, so nothing stays behind). The log thread only syncs and goes to the next segment.
//! Inline, every submission drives: for tests.

use super::group::{Durability, Log, NOT_STALLED, Progress, Stall, lock};
use super::pins::Pin;
use super::writer::LogWriter;
use rt::{Moment, threads};
use std::io;
use std::sync::TryLockError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the log thread tries again what failed for a reason that may pass: a full disk, no descriptors.
const RETRY: Duration = Duration::from_millis(100);

/// Attempts without a thread that could wait.
const INLINE_ATTEMPTS: u32 = 4;

/// A log that has had nothing to do for this long records what is durable (see [`LogWriter::mark`]).
const MARK_AFTER: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Inline,
    Thread,
    /// Shards write, the log thread syncs.
    Helping,
}

/// The writer, and what else only the driver needs.
pub(super) struct Driver {
    writer: LogWriter,
    /// Keeps the current segment.
    pin: Pin,
    taken: Vec<u8>,
    /// Per shard: the last number appended to the current segment and not yet published.
    appended: Vec<Option<u64>>,
    /// Records are in the writer's buffer because writing them failed for a reason that may pass.
    held_up: bool,
}

impl Driver {
    pub fn new(writer: LogWriter, pin: Pin, shards: usize) -> Driver {
        Driver { writer, pin, taken: Vec::new(), appended: vec![None; shards], held_up: false }
    }
}

impl Log {
    /// Body of the log thread.
    pub fn run(&self) {
        let _ = self.thread.set(threads::current());
        let interval = match self.durability {
            Durability::Sync => None,
            Durability::Periodic { interval_ms } => Some(Duration::from_millis(interval_ms.max(1))),
        };
        let mut last_sync = Moment::now();
        loop {
            self.signalled.store(false, Ordering::Release);
            let (requested, passed, closing) = {
                let barrier = lock(&self.barrier);
                (barrier.requested, barrier.passed, barrier.closing)
            };
            let due = interval.is_some_and(|interval| last_sync.elapsed() >= interval);
            let (worked, held_up) = {
                let mut driver = lock(&self.driver);
                (self.drive(&mut driver, false), driver.held_up)
            };
            if held_up && self.failed.get().is_none() {
                match closing {
                    true => self.fail("closed while the commit log waited to be written".to_owned()),
                    // Nobody who waits for a sync may go on yet.
                    false => threads::park_timeout(RETRY),
                }
                continue;
            }
            if requested > passed || closing || due {
                self.sync_written();
                last_sync = Moment::now();
                lock(&self.barrier).passed = requested;
                self.barrier_passed.notify_all();
            }
            if self.failed.get().is_some() {
                self.barrier_passed.notify_all();
                return;
            }
            if worked || self.has_queued() {
                continue;
            }
            match interval {
                _ if closing => return,
                Some(interval) => threads::park_timeout(interval),
                None if lock(&self.driver).writer.wants_mark() => threads::park_timeout(MARK_AFTER),
                None => threads::park(),
            }
            if !self.signalled.load(Ordering::Acquire) {
                self.mark();
            }
        }
    }

    /// Nothing has happened for a while.
    pub fn mark(&self) {
        let mut driver = lock(&self.driver);
        if !driver.writer.wants_mark() {
            return;
        }
        match driver.writer.mark() {
            Ok(()) => {}
            // It is in the buffer and goes with the next group.
            Err(error) if rt::may_pass(&error) => {}
            Err(error) => self.fail(error.to_string()),
        }
    }

    /// Ends the log after its thread. If nothing in it is needed any more, returns where a next log begins.
    pub fn finish(&self) -> Option<u64> {
        let mut driver = lock(&self.driver);
        self.drive(&mut driver, true);
        let idle = self.failed.get().is_none() && self.pins.oldest_without(&driver.pin).is_none();
        let _ = self.failed.set("the engine is closed".to_owned());
        idle.then(|| driver.writer.segment() + 1)
    }

    /// Writes what is queued, if this log is written by its shards and nobody else is doing it.
    pub fn help(&self) {
        if self.mode != Mode::Helping {
            return;
        }
        loop {
            let mut driver = match self.driver.try_lock() {
                Ok(driver) => driver,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            if !self.all_fits(&driver) {
                // The segment is full: the next one is the log thread's to make.
                return self.signal();
            }
            self.drive(&mut driver, false);
            drop(driver);
            if self.failed.get().is_some() || !self.has_queued() {
                return;
            }
        }
    }

    fn has_queued(&self) -> bool {
        self.queues.iter().any(|queue| !lock(queue).records.is_empty())
    }

    /// Whether everything queued fits into the current segment.
    fn all_fits(&self, driver: &Driver) -> bool {
        let mut records = 0;
        let mut bytes = 0;
        for queue in &self.queues {
            let queue = lock(queue);
            records += queue.last - queue.taken;
            bytes += queue.records.len();
        }
        driver.writer.fits_records(records as usize, bytes)
    }

    /// Syncs what was written, without keeping others from writing meanwhile.
    fn sync_written(&self) {
        let (segment, file, written) = {
            let driver = lock(&self.driver);
            if !driver.writer.has_unsynced() {
                return;
            }
            driver.writer.begin_sync()
        };
        let outcome = file.sync_data();
        self.metrics.log_syncs.add(1);
        let finished = lock(&self.driver).writer.finish_sync(segment, written, outcome);
        if let Err(error) = finished {
            self.fail(error.to_string());
        }
    }

    /// Writes one group; `true` when there was something to write.
    pub(super) fn drive(&self, driver: &mut Driver, force_sync: bool) -> bool {
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

    fn write_group(&self, driver: &mut Driver, force_sync: bool) -> io::Result<bool> {
        let mut worked = false;
        for shard in 0..self.queues.len() {
            let before = {
                let mut queue = lock(&self.queues[shard]);
                if queue.records.is_empty() {
                    continue;
                }
                driver.taken.clear();
                std::mem::swap(&mut queue.records, &mut driver.taken);
                let last = queue.last;
                std::mem::replace(&mut queue.taken, last)
            };
            worked = true;
            self.append_taken(driver, shard, before)?;
        }
        if !self.write_buffer(driver)? {
            return Ok(false);
        }
        let sync = force_sync || self.durability == Durability::Sync;
        if sync && driver.writer.has_unsynced() {
            driver.writer.sync()?;
            self.metrics.log_syncs.add(1);
        }
        if worked || driver.held_up {
            driver.held_up = false;
            self.metrics.log_groups.add(1);
            self.publish(driver);
        }
        Ok(worked)
    }

    /// Hands what is buffered to the file. `false`: not now. It stays in the buffer, the log thread tries again, and new
    /// commits are refused as overload meanwhile.
    fn write_buffer(&self, driver: &mut Driver) -> io::Result<bool> {
        if self.mode == Mode::Inline {
            return self.patiently(|| driver.writer.write()).map(|()| true);
        }
        match driver.writer.write() {
            Err(error) if rt::may_pass(&error) => {
                driver.held_up = true;
                self.stall(&error);
                self.signal();
                Ok(false)
            }
            outcome => {
                if driver.held_up {
                    self.stalled.store(NOT_STALLED, Ordering::Release);
                }
                outcome.map(|()| true)
            }
        }
    }

    /// Appends the records taken from a shard's queue, going to the next segment when one is full.
    fn append_taken(&self, driver: &mut Driver, shard: usize, mut number: u64) -> io::Result<()> {
        let taken = std::mem::take(&mut driver.taken);
        let (mut rest, before) = (taken.as_slice(), number);
        while let Some((length, crc, tail)) = split_queued(rest) {
            let (payload, next) = tail.split_at(length.min(tail.len()));
            if !driver.writer.fits(payload.len()) {
                self.next_segment(driver)?;
            }
            driver.writer.append(payload, crc);
            number += 1;
            driver.appended[shard] = Some(number);
            rest = next;
        }
        assert!(rest.is_empty(), "everything that was queued is appended");
        self.metrics.log_records.add(number - before);
        self.metrics.log_bytes.add(taken.len() as u64);
        driver.taken = taken;
        Ok(())
    }

    /// Goes to the next segment, which is there before the full one is sealed. Only the log thread comes here (or, inline,
    /// the caller), so it may wait.
    fn next_segment(&self, driver: &mut Driver) -> io::Result<()> {
        self.patiently(|| driver.writer.prepare_next())?;
        self.patiently(|| driver.writer.seal())?;
        self.metrics.log_syncs.add(1);
        self.publish(driver);
        driver.writer.next_segment()?;
        self.metrics.log_segments_created.add(1);
        let pin = self.pins.pin(driver.writer.segment());
        std::mem::replace(&mut driver.pin, pin).release();
        if let Some(want_next) = self.want_next.get() {
            want_next();
        }
        Ok(())
    }

    /// Tries until it succeeds or fails for good; new commits are refused as overload meanwhile. Gives up when the log is
    /// closed.
    fn patiently(&self, mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match attempt() {
                Err(error) if rt::may_pass(&error) => {
                    let give_up = match self.mode {
                        Mode::Inline => attempts == INLINE_ATTEMPTS,
                        Mode::Thread | Mode::Helping => lock(&self.barrier).closing,
                    };
                    if give_up {
                        return Err(error);
                    }
                    if self.mode != Mode::Inline {
                        self.stall(&error);
                        threads::pause(RETRY);
                    }
                }
                outcome => {
                    self.stalled.store(NOT_STALLED, Ordering::Release);
                    return outcome;
                }
            }
        }
    }

    /// Has new commits refused until what failed succeeds.
    fn stall(&self, error: &io::Error) {
        let stall = Stall::of(error);
        if self.stalled.swap(stall as u8, Ordering::AcqRel) != stall as u8 {
            tracing::error!(%error, "{}; commits wait until that has passed", stall.reason());
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
}

fn split_queued(bytes: &[u8]) -> Option<(usize, u32, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*length) as usize, u32::from_le_bytes(*crc), rest))
}
