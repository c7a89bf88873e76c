//! How fast a job may go: rows and bytes per second, and slower while the requests of clients take long.

use super::{Job, NAP, Turn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Rows of a page of a job that watches how long requests take: it looks around often.
const WATCHFUL_ROWS: usize = 100;

/// Pauses between two pages while requests take too long: doubled each time, halved when they do not.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// How fast a job may go; `None`: as fast as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub rows_per_second: Option<u32>,
    pub mb_per_second: Option<u32>,
    /// Slower while one request in a hundred takes longer than this many milliseconds.
    pub p99_millis: Option<u32>,
}

/// New limits: those that are not named stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLimits {
    pub rows_per_second: Option<Option<u32>>,
    pub mb_per_second: Option<Option<u32>>,
    pub p99_millis: Option<Option<u32>>,
}

impl NewLimits {
    pub fn rows(limit: Option<u32>) -> NewLimits {
        NewLimits { rows_per_second: Some(limit), ..NewLimits::default() }
    }

    pub(super) fn change(&self, limits: &mut Limits) {
        limits.rows_per_second = self.rows_per_second.unwrap_or(limits.rows_per_second);
        limits.mb_per_second = self.mb_per_second.unwrap_or(limits.mb_per_second);
        limits.p99_millis = self.p99_millis.unwrap_or(limits.p99_millis);
    }
}

impl Limits {
    /// What a page may take by the limits on rows and bytes.
    fn page_takes(&self, rows: u64, bytes: u64) -> Duration {
        let at = |amount: f64, limit: Option<u32>| {
            limit.filter(|limit| *limit > 0).map_or(0.0, |limit| amount / f64::from(limit))
        };
        let seconds = at(rows as f64, self.rows_per_second).max(at(bytes as f64 / 1e6, self.mb_per_second));
        Duration::from_secs_f64(seconds)
    }
}

/// How long the requests of clients take at present, in microseconds; 0 while there are no requests.
#[derive(Clone, Debug, Default)]
pub struct P99(Arc<AtomicU64>);

impl P99 {
    pub fn note(&self, micros: u64) {
        self.0.store(micros, Ordering::Release);
    }

    fn is_above(&self, limit: Option<u32>) -> bool {
        limit.is_some_and(|millis| self.0.load(Ordering::Acquire) > u64::from(millis) * 1_000)
    }
}

impl Job {
    /// Waits as long as a page with this many rows and bytes should take, and longer while requests suffer. Ends early when somebody pauses or
    /// cancels the job.
    pub async fn pace(&self, rows: u64, bytes: u64) {
        // The part of the page that is still owed: the limit may change meanwhile.
        let mut owed = 1.0_f64;
        loop {
            let takes = self.limits().page_takes(rows, bytes);
            if takes.mul_f64(owed) < Duration::from_millis(1) || self.turn() != Turn::GoOn {
                break;
            }
            let wait = takes.mul_f64(owed).min(NAP);
            tokio::select! {
                () = tokio::time::sleep(wait) => owed = (owed - wait.as_secs_f64() / takes.as_secs_f64()).max(0.0),
                // Perhaps another limit.
                () = self.changed.notified() => {}
            }
        }
        let mut pause = self.next_pause();
        while pause > Duration::ZERO && self.turn() == Turn::GoOn {
            let nap = pause.min(NAP);
            tokio::select! {
                () = tokio::time::sleep(nap) => pause -= nap,
                () = self.changed.notified() => return,
            }
        }
    }

    /// How long to wait for the sake of requests.
    fn next_pause(&self) -> Duration {
        let mut standing = self.standing();
        let pause = match self.p99.is_above(standing.limits.p99_millis) {
            true => (standing.pause * 2).clamp(PAUSE_MIN, PAUSE_MAX),
            false if standing.pause <= PAUSE_MIN => Duration::ZERO,
            false => standing.pause / 2,
        };
        standing.pause = pause;
        pause
    }

    /// Rows that a page may have at most, so that a slow job looks around often.
    pub fn rows_max(&self) -> Option<usize> {
        let limits = self.limits();
        let paced = limits.rows_per_second.map(|limit| (limit as usize / 4).max(1));
        let watchful = limits.p99_millis.map(|_| WATCHFUL_ROWS);
        paced.into_iter().chain(watchful).chain(self.page_rows).min()
    }

    /// Goes no faster than this from now on.
    pub(crate) fn limit(&self, limits: Limits) {
        self.standing().limits = limits;
    }

    fn limits(&self) -> Limits {
        self.standing().limits
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Jobs, Kind, Order, Subject};
    use super::*;

    fn subject() -> Subject {
        Subject { kind: Kind::BuildIndex, keyspace: "k".into(), table: "t".into(), target: "i".into() }
    }

    #[tokio::test]
    async fn a_throttled_job_takes_its_time() {
        let jobs = Jobs::default();
        let job = jobs.begin(subject());
        job.pace(1_000_000, 1 << 30).await;
        job.obey(Order::Limit(NewLimits::rows(Some(1_000)))).unwrap();
        let before = tokio::time::Instant::now();
        job.pace(400, 0).await;
        assert!(before.elapsed() >= Duration::from_millis(390), "{:?}", before.elapsed());
        let bytes =
            NewLimits { mb_per_second: Some(Some(10)), rows_per_second: Some(None), ..NewLimits::default() };
        job.obey(Order::Limit(bytes)).unwrap();
        let before = tokio::time::Instant::now();
        job.pace(1_000_000, 3_000_000).await;
        assert!(before.elapsed() >= Duration::from_millis(290), "{:?}", before.elapsed());
    }

    #[test]
    fn a_job_pauses_longer_and_longer_while_requests_suffer() {
        let jobs = Jobs::default();
        let job = jobs.begin(subject());
        jobs.p99().note(50_000);
        assert!(job.next_pause().is_zero(), "nobody has asked it to");
        let limit = NewLimits { p99_millis: Some(Some(20)), ..NewLimits::default() };
        job.obey(Order::Limit(limit)).unwrap();
        assert!(jobs.wants_p99());
        let pauses: Vec<u128> = (0..9).map(|_| job.next_pause().as_millis()).collect();
        assert_eq!(pauses, [20, 40, 80, 160, 320, 640, 1280, 2000, 2000]);
        jobs.p99().note(19_000);
        let pauses: Vec<u128> = (0..9).map(|_| job.next_pause().as_millis()).collect();
        assert_eq!(pauses, [1000, 500, 250, 125, 62, 31, 15, 0, 0]);
        assert_eq!(job.rows_max(), Some(WATCHFUL_ROWS));
        job.end(super::super::State::Done, None);
        assert!(!jobs.wants_p99());
    }
}
