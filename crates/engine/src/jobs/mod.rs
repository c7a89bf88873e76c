//! Background work: a thread per lane, or, in inline mode, a queue that the test empties when it wants to.
//!
//! Guarantees: jobs of one lane run one after the other, in order; closing runs what is queued, then ends.
//! A job that panics is logged and does not take its lane down.

use crate::metrics::Metrics;
use rt::Moment;
use rt::threads::{self, JoinHandle};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Work of different urgency does not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Memtables to files: frees memory, so it must not wait for anything.
    Flush,
    /// Merging files.
    Compaction,
    /// Short tasks: catalogue, removing files, spare log segments.
    Chores,
}

const LANES: [Lane; 3] = [Lane::Flush, Lane::Compaction, Lane::Chores];

type Job = Box<dyn FnOnce() + Send>;

pub struct Jobs {
    lanes: Vec<Arc<Queue>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    inline: bool,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    ready: VecDeque<Job>,
    /// Jobs that wait for a moment (retries). Few, so a list will do.
    delayed: Vec<(Moment, Job)>,
    closing: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(job: Job) {
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a background job panicked; see the message above");
    }
}

impl Jobs {
    pub fn start(inline: bool, metrics: Arc<Metrics>) -> std::io::Result<Jobs> {
        let lanes: Vec<Arc<Queue>> = LANES.iter().map(|_| Arc::default()).collect();
        let mut threads = Vec::new();
        for (lane, queue) in LANES.iter().zip(&lanes).filter(|_| !inline) {
            let name = format!("{lane:?}").to_lowercase();
            let queue = queue.clone();
            threads.push(threads::start(&name, move || queue.work())?);
        }
        Ok(Jobs { lanes, threads: Mutex::new(threads), inline, metrics })
    }

    pub fn is_inline(&self) -> bool {
        self.inline
    }

    pub fn submit(&self, lane: Lane, job: impl FnOnce() + Send + 'static) {
        let job = self.counted(job);
        let queue = &self.lanes[lane as usize];
        lock(&queue.state).ready.push_back(job);
        queue.changed.notify_one();
    }

    /// Runs the job after a while; in inline mode with the next `run_pending`.
    pub fn submit_after(&self, lane: Lane, delay: Duration, job: impl FnOnce() + Send + 'static) {
        if self.inline {
            return self.submit(lane, job);
        }
        let job = self.counted(job);
        let queue = &self.lanes[lane as usize];
        lock(&queue.state).delayed.push((Moment::now() + delay, job));
        queue.changed.notify_one();
    }

    fn counted(&self, job: impl FnOnce() + Send + 'static) -> Job {
        self.metrics.jobs_waiting.add(1);
        let metrics = self.metrics.clone();
        Box::new(move || {
            job();
            metrics.jobs_waiting.subtract(1);
        })
    }

    /// Runs a blocking task off the shard and gives back its result; `None` when it panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.inline {
            return Some(task());
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.submit(lane, move || {
            let _ = sender.send(task());
        });
        receiver.await.ok()
    }

    /// Inline mode: runs what is queued now (not what these jobs queue); whether there was anything.
    pub fn run_pending(&self) -> bool {
        let jobs: Vec<Job> =
            self.lanes.iter().flat_map(|queue| std::mem::take(&mut lock(&queue.state).ready)).collect();
        let any = !jobs.is_empty();
        jobs.into_iter().for_each(run);
        any
    }

    /// Lets every lane finish what is ready, drops retries, and waits for the threads.
    pub fn close(&self) {
        for queue in &self.lanes {
            lock(&queue.state).closing = true;
            queue.changed.notify_all();
        }
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            if thread.join().is_err() {
                tracing::error!("a background thread panicked");
            }
        }
    }
}

impl Queue {
    fn work(&self) {
        while let Some(job) = self.next() {
            run(job);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = lock(&self.state);
        loop {
            let now = Moment::now();
            if let Some(due) = state.delayed.iter().position(|(at, _)| *at <= now) {
                let (_, job) = state.delayed.swap_remove(due);
                return Some(job);
            }
            if let Some(job) = state.ready.pop_front() {
                return Some(job);
            }
            if state.closing {
                return None;
            }
            let next_due = state.delayed.iter().map(|(at, _)| at.since(now)).min();
            state = match next_due {
                Some(wait) => {
                    self.changed.wait_timeout(state, wait).map_or_else(|e| e.into_inner().0, |(s, _)| s)
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lanes_run_in_order_survive_panics_and_finish_on_close() {
        let jobs = Jobs::start(false, Arc::default()).unwrap();
        let (sender, receiver) = mpsc::channel();
        for n in 0..3 {
            let sender = sender.clone();
            jobs.submit(Lane::Flush, move || {
                assert!(n != 1, "job 1 fails on purpose");
                sender.send(n).unwrap();
            });
        }
        jobs.submit_after(Lane::Chores, Duration::from_millis(1), move || sender.send(9).unwrap());
        let mut seen: Vec<i32> = receiver.iter().take(3).collect();
        seen.sort();
        assert_eq!(seen, [0, 2, 9]);
        jobs.close();
    }

    #[test]
    fn inline_jobs_wait_until_they_are_run() {
        let jobs = Jobs::start(true, Arc::default()).unwrap();
        let (sender, receiver) = mpsc::channel();
        jobs.submit(Lane::Compaction, move || sender.send(1).unwrap());
        assert!(receiver.try_recv().is_err());
        assert!(jobs.run_pending() && !jobs.run_pending());
        assert_eq!(receiver.try_recv(), Ok(1));
    }
}
