//! The audit log: who logged in, who changed roles, permissions and the schema, and by option who read and wrote what.
//!
//! Entries go through a bounded queue to a thread that writes them as JSON lines to a rotated file; the latest are kept
//! for `system_views.audit`. Guarantees: a request never waits for the file; an entry that finds the queue full or the disk
//! failing is counted, warned of, and told of in the file as soon as there is room, so none is lost silently. Statements
//! are recorded without passwords and without bound values, and cut.
//!
//! Deciding whether a statement is recorded is done once, when it is bound ([`Rules::records`]).

mod entry;
mod file;
mod rules;

pub use entry::{Entry, Outcome, cut};
pub use rules::{Category, Rules};

use crate::seldom::Seldom;
use file::Files;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Entries that may wait for the file: at their longest some 32 MiB.
const QUEUE_MAX: usize = 8192;
/// Entries that `system_views.audit` shows.
const RECENT_MAX: usize = 1000;

/// Where entries go, and which.
#[derive(Clone, Debug)]
pub struct Settings {
    pub dir: PathBuf,
    pub rules: Rules,
    /// A file that has grown to this is followed by another.
    pub file_bytes_max: u64,
    /// Older files are deleted.
    pub files_max: usize,
}

/// The log of a running server, for all threads; without settings it takes nothing.
pub struct Audit {
    rules: Rules,
    queue: Mutex<Option<SyncSender<Arc<Entry>>>>,
    recent: Mutex<VecDeque<Arc<Entry>>>,
    recorded: AtomicU64,
    lost: Arc<AtomicU64>,
}

impl Audit {
    /// Opens the folder and starts the thread.
    pub fn start(settings: Option<&Settings>) -> io::Result<(Audit, Option<JoinHandle<()>>)> {
        let lost = Arc::new(AtomicU64::new(0));
        let Some(settings) = settings else {
            return Ok((Audit::with(Rules::default(), None, lost), None));
        };
        let files = Files::open(&settings.dir, settings.file_bytes_max, settings.files_max)?;
        let (queue, entries) = sync_channel(QUEUE_MAX);
        let writer = Writer { files, lost: lost.clone(), told: 0 };
        let thread = std::thread::Builder::new().name("audit".into()).spawn(move || writer.run(entries))?;
        Ok((Audit::with(settings.rules.clone(), Some(queue), lost), Some(thread)))
    }

    fn with(rules: Rules, queue: Option<SyncSender<Arc<Entry>>>, lost: Arc<AtomicU64>) -> Audit {
        let recent = Mutex::new(VecDeque::new());
        Audit { rules, queue: Mutex::new(queue), recent, recorded: AtomicU64::new(0), lost }
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes an entry; the caller has asked the rules.
    pub fn record(&self, mut entry: Entry) {
        entry.number = self.recorded.fetch_add(1, Relaxed) + 1;
        let entry = Arc::new(entry);
        {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            if recent.len() >= RECENT_MAX {
                recent.pop_front();
            }
            recent.push_back(entry.clone());
        }
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = queue.as_ref().map(|queue| queue.try_send(entry));
        if let Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) = sent {
            lose(&self.lost, "the queue of the audit log is full");
        }
    }

    /// The latest entries, oldest first.
    pub fn recent(&self) -> Vec<Arc<Entry>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// (entries ever, entries that are not in the file), for metrics.
    pub fn counts(&self) -> (u64, u64) {
        (self.recorded.load(Relaxed), self.lost.load(Relaxed))
    }

    /// No more entries: the thread writes what waits and ends.
    pub fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn lose(lost: &AtomicU64, why: &str) {
    static LOST: Seldom = Seldom::new();
    let lost = lost.fetch_add(1, Relaxed) + 1;
    if LOST.now().is_some() {
        tracing::warn!(lost, "AUDIT: {why}; entries are missing from the file, and are counted");
    }
}

/// The thread's part.
struct Writer {
    files: Files,
    lost: Arc<AtomicU64>,
    /// Of the lost ones, those that the file tells of.
    told: u64,
}

impl Writer {
    fn run(mut self, entries: Receiver<Arc<Entry>>) {
        while let Ok(first) = entries.recv() {
            self.write(&first);
            // Whatever else waits goes with the same write to the kernel.
            while let Ok(entry) = entries.try_recv() {
                self.write(&entry);
            }
            self.tell_of_losses();
            // What could not be written yet is kept and tried again with the next.
            if let Err(error) = self.files.flush() {
                tracing::warn!(%error, "AUDIT: the file cannot be written for now");
            }
        }
        self.tell_of_losses();
        if let Err(error) = self.files.finish() {
            tracing::warn!(%error, "AUDIT: the end of the file may be missing");
        }
    }

    fn write(&mut self, entry: &Entry) {
        if let Err(error) = self.files.line(&entry.to_json()) {
            lose(&self.lost, &format!("its file cannot be written ({error})"));
        }
    }

    fn tell_of_losses(&mut self) {
        let lost = self.lost.load(Relaxed);
        if lost > self.told && self.files.line(&entry::losses(lost - self.told)).is_ok() {
            self.told = lost;
        }
    }
}

#[cfg(test)]
mod tests;
