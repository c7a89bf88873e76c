//! Jobs: long work in the background that a person can watch, slow down, pause, resume and cancel.
//!
//! One list for all shards. A job works in pages; between two pages it asks here whether it may continue, and how fast. The progress
//! of a build is stored in the commit of the page it describes ([`checkpoint`]), so after a crash it continues from there.
//!
//! Does not run anything itself: [`crate::builds`] and [`crate::check`] do the work.

pub mod checkpoint;
mod pace;

pub use pace::{Limits, NewLimits, P99};

use query::QueryError;
use rt::{Clock, SystemClock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Finished jobs that are still listed; older ones are forgotten.
const FINISHED_MAX: usize = 64;

/// Jobs that are not builds are numbered from here; a build has the number of what it fills, which is the same after a restart.
const FIRST_OTHER_ID: u64 = 1 << 32;

/// A throttled job sleeps at most so long before it looks around again.
const NAP: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    BuildIndex,
    BuildView,
    Rebucket,
    Check,
    Repair,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::BuildIndex => "build index",
            Kind::BuildView => "build view",
            Kind::Rebucket => "rebucket",
            Kind::Check => "check projection",
            Kind::Repair => "repair projection",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody works on it yet, or not any more.
    Waiting,
    Running,
    Paused,
    /// It met an error. A build is tried again by itself.
    Failed,
    Done,
    Cancelled,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Paused => "paused",
            State::Failed => "failed",
            State::Done => "done",
            State::Cancelled => "cancelled",
        }
    }

    fn is_over(self) -> bool {
        matches!(self, State::Done | State::Cancelled)
    }
}

/// What a job is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: Kind,
    pub keyspace: Arc<str>,
    /// The table that is read.
    pub table: Arc<str>,
    /// The index or view, or the plan that rows are moved to.
    pub target: Arc<str>,
}

/// A job as it stands.
#[derive(Clone, Debug)]
pub struct Report {
    pub id: u64,
    pub subject: Subject,
    pub state: State,
    /// Rows of the table that were worked on.
    pub rows: u64,
    /// From 0 to 1, by the tokens that were passed.
    pub progress: f64,
    /// The limits that were set.
    pub limits: Limits,
    /// Since it was last started.
    pub rate: f64,
    pub started_micros: i64,
    /// When it will be done at the present rate.
    pub end_micros: Option<i64>,
    pub error: Option<QueryError>,
}

struct Standing {
    state: State,
    rows: u64,
    progress: f64,
    limits: Limits,
    /// How long it waited last for the sake of requests.
    pause: Duration,
    started_micros: i64,
    /// When, and with how many rows and how much progress, the current run began.
    run: (i64, u64, f64),
    error: Option<QueryError>,
    /// The timestamp of the last stored checkpoint.
    stamp: i64,
    /// The stored checkpoint was read.
    loaded: bool,
}

/// One job; see the module.
pub struct Job {
    pub id: u64,
    pub subject: Subject,
    standing: Mutex<Standing>,
    changed: Notify,
    page_rows: Option<usize>,
    p99: P99,
}

/// Whether a job may do its next page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    GoOn,
    Paused,
    Cancelled,
}

impl Job {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn state(&self) -> State {
        self.standing().state
    }

    /// Somebody works on it from now on.
    pub fn start(&self) {
        let now = SystemClock.micros();
        let mut standing = self.standing();
        if matches!(standing.state, State::Waiting | State::Failed) {
            standing.run = (now, standing.rows, standing.progress);
            standing.state = State::Running;
            standing.error = None;
        }
    }

    pub fn turn(&self) -> Turn {
        match self.state() {
            State::Paused => Turn::Paused,
            State::Cancelled => Turn::Cancelled,
            _ => Turn::GoOn,
        }
    }

    /// Waits while the job is paused; false: it was cancelled. For jobs that keep what they have in memory.
    pub(crate) async fn may_go_on(&self) -> bool {
        loop {
            match self.turn() {
                Turn::GoOn => {
                    self.start();
                    return true;
                }
                Turn::Cancelled => return false,
                Turn::Paused => {
                    tokio::select! {
                        () = tokio::time::sleep(NAP) => {}
                        () = self.changed.notified() => {}
                    }
                }
            }
        }
    }

    /// Notes a page with this many rows that ended at a key with this token; `None`: the end.
    pub fn page(&self, rows: u64, token: Option<i64>) {
        let mut standing = self.standing();
        standing.rows += rows;
        standing.progress = token.map_or(1.0, passed);
    }

    pub fn end(&self, state: State, error: Option<QueryError>) {
        let mut standing = self.standing();
        if standing.state.is_over() || (standing.state == State::Paused && state != State::Done) {
            return;
        }
        if state == State::Done {
            standing.progress = 1.0;
        }
        (standing.state, standing.error) = (state, error);
    }

    /// A timestamp for the next checkpoint, above that of the last one.
    pub(crate) fn next_stamp(&self) -> i64 {
        let mut standing = self.standing();
        standing.stamp = SystemClock.micros().max(standing.stamp + 1);
        standing.stamp
    }

    pub(crate) fn saved(&self) -> checkpoint::Saved {
        let standing = self.standing();
        checkpoint::Saved {
            after: None,
            rows: standing.rows,
            is_paused: standing.state == State::Paused,
            limits: standing.limits,
        }
    }

    /// Takes over what was stored before the server ended, once.
    pub(crate) fn load(&self, stored: Option<(checkpoint::Saved, i64)>) {
        let mut standing = self.standing();
        if std::mem::replace(&mut standing.loaded, true) {
            return;
        }
        let Some((saved, stamp)) = stored else { return };
        standing.rows = standing.rows.max(saved.rows);
        standing.progress = saved.after.as_ref().map_or(0.0, |after| passed(after.key.token().0));
        standing.stamp = standing.stamp.max(stamp);
        let Limits { rows_per_second, mb_per_second, p99_millis } = saved.limits;
        standing.limits.rows_per_second = rows_per_second.or(standing.limits.rows_per_second);
        standing.limits.mb_per_second = mb_per_second.or(standing.limits.mb_per_second);
        standing.limits.p99_millis = p99_millis.or(standing.limits.p99_millis);
        if saved.is_paused && !standing.state.is_over() {
            standing.state = State::Paused;
        }
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.standing().loaded
    }

    fn report(&self) -> Report {
        let now = SystemClock.micros();
        let standing = self.standing();
        let (since, rows_before, progress_before) = standing.run;
        let seconds = (now - since).max(1) as f64 / 1e6;
        let is_running = standing.state == State::Running;
        let gained = standing.progress - progress_before;
        let end_micros = (is_running && gained > 0.0).then(|| {
            let left = (1.0 - standing.progress) / gained * seconds;
            now.saturating_add((left * 1e6) as i64)
        });
        Report {
            id: self.id,
            subject: self.subject.clone(),
            state: standing.state,
            rows: standing.rows,
            progress: standing.progress,
            limits: standing.limits,
            rate: if is_running { (standing.rows - rows_before) as f64 / seconds } else { 0.0 },
            started_micros: standing.started_micros,
            end_micros,
            error: standing.error.clone(),
        }
    }
}

/// Which part of all tokens lies up to this one.
fn passed(token: i64) -> f64 {
    (token as f64 - i64::MIN as f64) / (u64::MAX as f64)
}

/// The jobs of a server.
#[derive(Default)]
pub struct Jobs {
    all: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    jobs: BTreeMap<u64, Arc<Job>>,
    others: u64,
    page_rows: Option<usize>,
    p99: P99,
    /// The last check of each index and view, by its id.
    checks: BTreeMap<u32, LastCheck>,
}

/// What the last check of a copy has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCheck {
    pub at_micros: i64,
    pub missing: u64,
    pub extra: u64,
    pub stale: u64,
}

impl Jobs {
    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job that fills an index or view; made when it is met first.
    pub fn of_build(&self, id: u32, limits: Limits, subject: impl FnOnce() -> Subject) -> Arc<Job> {
        let mut listed = self.listed();
        if let Some(job) = listed.jobs.get(&u64::from(id)).filter(|job| !job.state().is_over()) {
            return job.clone();
        }
        let job = listed.add(id.into(), subject());
        job.standing().limits = limits;
        job
    }

    /// From now on jobs work in pages of so few rows; for tests that look between pages.
    pub fn work_in_pages_of(&self, rows: usize) {
        self.listed().page_rows = Some(rows);
    }

    /// A job that nothing is stored of.
    pub fn begin(&self, subject: Subject) -> Arc<Job> {
        let mut listed = self.listed();
        let id = FIRST_OTHER_ID + listed.others;
        listed.others += 1;
        let job = listed.add(id, subject);
        drop(listed);
        job.start();
        job
    }

    /// How long requests take: to be set about once a second while a job wants to know.
    pub fn p99(&self) -> P99 {
        self.listed().p99.clone()
    }

    /// Whether a job that is not over watches how long requests take.
    pub fn wants_p99(&self) -> bool {
        let wants = |job: &Arc<Job>| {
            let standing = job.standing();
            !standing.state.is_over() && standing.limits.p99_millis.is_some()
        };
        self.listed().jobs.values().any(wants)
    }

    pub fn find(&self, id: u64) -> Option<Arc<Job>> {
        self.listed().jobs.get(&id).cloned()
    }

    pub fn list(&self) -> Vec<Report> {
        self.listed().jobs.values().map(|job| job.report()).collect()
    }

    pub(crate) fn checked(&self, id: u32, check: LastCheck) {
        self.listed().checks.insert(id, check);
    }

    pub fn last_check(&self, id: u32) -> Option<LastCheck> {
        self.listed().checks.get(&id).copied()
    }

    /// Whether somebody has paused the build of this.
    pub(crate) fn is_paused(&self, id: u32) -> bool {
        self.find(id.into()).is_some_and(|job| job.state() == State::Paused)
    }
}

impl Listed {
    fn add(&mut self, id: u64, subject: Subject) -> Arc<Job> {
        let now = SystemClock.micros();
        let standing = Standing {
            state: State::Waiting,
            rows: 0,
            progress: 0.0,
            limits: Limits::default(),
            pause: Duration::ZERO,
            started_micros: now,
            run: (now, 0, 0.0),
            error: None,
            stamp: 0,
            loaded: false,
        };
        let (standing, page_rows, p99) = (Mutex::new(standing), self.page_rows, self.p99.clone());
        let job = Arc::new(Job { id, subject, standing, changed: Notify::new(), page_rows, p99 });
        self.jobs.insert(id, job.clone());
        let over: Vec<u64> =
            self.jobs.values().filter(|job| job.state().is_over()).map(|job| job.id).collect();
        for id in over.iter().take(over.len().saturating_sub(FINISHED_MAX)) {
            self.jobs.remove(id);
        }
        job
    }
}

/// An order to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Pause,
    Resume,
    Cancel,
    Limit(NewLimits),
}

impl Job {
    /// Follows an order; the error says why it cannot be followed.
    pub fn obey(&self, order: Order) -> Result<(), String> {
        let mut standing = self.standing();
        let state = standing.state;
        match order {
            _ if state.is_over() => return Err(format!("the job is {} already", state.word())),
            Order::Pause => standing.state = State::Paused,
            Order::Resume if state != State::Paused => return Err(format!("the job is {}", state.word())),
            Order::Resume => standing.state = State::Waiting,
            Order::Cancel => standing.state = State::Cancelled,
            Order::Limit(limits) => limits.change(&mut standing.limits),
        }
        drop(standing);
        self.changed.notify_waiters();
        self.changed.notify_one();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        Subject { kind: Kind::BuildIndex, keyspace: "k".into(), table: "t".into(), target: "i".into() }
    }

    #[test]
    fn orders_are_followed_until_the_job_is_over() {
        let jobs = Jobs::default();
        let job = jobs.of_build(7, Limits::default(), subject);
        job.start();
        assert_eq!(job.turn(), Turn::GoOn);
        assert!(job.obey(Order::Resume).is_err());
        job.obey(Order::Pause).unwrap();
        assert_eq!(job.turn(), Turn::Paused);
        assert!(jobs.is_paused(7));
        // What a paused run reports when it stops does not undo the pause.
        job.end(State::Waiting, None);
        assert_eq!(job.state(), State::Paused);
        job.obey(Order::Resume).unwrap();
        job.start();
        job.page(10, Some(0));
        let report = &jobs.list()[0];
        assert_eq!((report.rows, report.state), (10, State::Running));
        assert!((report.progress - 0.5).abs() < 0.01);
        job.end(State::Done, None);
        assert!(job.obey(Order::Cancel).is_err());
        assert!((jobs.list()[0].progress - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn finished_jobs_are_forgotten_after_a_while() {
        let jobs = Jobs::default();
        for _ in 0..3 * FINISHED_MAX {
            jobs.begin(subject()).end(State::Done, None);
        }
        assert!(jobs.list().len() <= FINISHED_MAX + 1);
        let other = jobs.begin(subject());
        assert_eq!(other.state(), State::Running);
        assert!(jobs.find(other.id).is_some());
    }
}
