//! How fast rows are copied: not above a rate, and slower while the clients of the front end wait too long.

use super::record;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// However long clients wait, it goes on.
const RATE_MIN: u64 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Fewer writes in a look say nothing.
const WRITES_MIN: u64 = 20;

/// What was known at the last look: when it was, rows copied, and how long writes took.
struct Seen {
    at: Instant,
    rows: u64,
    micros: Vec<(u64, u64)>,
}

pub struct Pace {
    folder: PathBuf,
    /// Rows per second that the operator allows.
    limit: Option<u64>,
    p99: Option<Duration>,
    /// Rows per second now; 0: as fast as it goes.
    rate: AtomicU64,
    next: Mutex<Instant>,
    rows: AtomicU64,
    pub stopping: AtomicBool,
    seen: Mutex<Seen>,
}

impl Pace {
    pub fn new(folder: PathBuf, limit: Option<u64>, p99: Option<Duration>) -> Pace {
        Pace {
            folder,
            limit,
            p99,
            rate: AtomicU64::new(limit.unwrap_or(0)),
            next: Mutex::new(Instant::now()),
            rows: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            seen: Mutex::new(Seen { at: Instant::now(), rows: 0, micros: Vec::new() }),
        }
    }

    /// Waits as long as so many rows take, and while the migration is paused. `false`: the end.
    pub fn passed(&self, rows: u64) -> bool {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        let due = {
            let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let now = Instant::now();
            let rate = self.rate.load(Ordering::Relaxed);
            let takes =
                if rate == 0 { Duration::ZERO } else { Duration::from_secs_f64(rows as f64 / rate as f64) };
            *next = (*next).max(now) + takes;
            *next - now
        };
        let until = Instant::now() + due;
        while !self.stopping.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && !record::is_paused(&self.folder) {
                return true;
            }
            std::thread::sleep(if left.is_zero() { LOOK_EVERY } else { left.min(LOOK_EVERY) });
        }
        false
    }

    /// Adapts to how long the front end's clients wait for their writes: all of them so far, by how long they took.
    pub fn heard(&self, micros: &[(u64, u64)]) {
        let Some(limit) = self.p99 else { return };
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rows = self.rows.load(Ordering::Relaxed);
        let Some(p99) = p99_since(&seen.micros, micros) else { return };
        let went =
            (rows.saturating_sub(seen.rows) as f64 / seen.at.elapsed().as_secs_f64().max(0.001)) as u64;
        let now = self.rate.load(Ordering::Relaxed);
        self.rate.store(next_rate(now, went, p99 > limit, self.limit), Ordering::Relaxed);
        *seen = Seen { at: Instant::now(), rows, micros: micros.to_vec() };
    }
}

/// What 99 of 100 writes took at most that came after the first count; `None`: there were too few.
fn p99_since(before: &[(u64, u64)], now: &[(u64, u64)]) -> Option<Duration> {
    let earlier =
        |bound: u64| before.iter().rev().find(|(at, _)| *at <= bound).map_or(0, |(_, count)| *count);
    let all = now.last()?.1.saturating_sub(before.last().map_or(0, |(_, count)| *count));
    if all < WRITES_MIN {
        return None;
    }
    let wanted = all - all / 100;
    let bucket = now.iter().find(|(bound, count)| count.saturating_sub(earlier(*bound)) >= wanted)?;
    Some(Duration::from_micros(bucket.0))
}

/// Half as fast when clients wait too long, a tenth faster when they do not.
fn next_rate(now: u64, went: u64, is_late: bool, limit: Option<u64>) -> u64 {
    match (is_late, now) {
        (true, 0) => (went / 2).max(RATE_MIN),
        (true, rate) => (rate.min(went.max(RATE_MIN)) / 2).max(RATE_MIN),
        (false, 0) => limit.unwrap_or(0),
        (false, rate) => (rate + rate / 10 + 1).min(limit.unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_clients_slow_it_down_and_others_let_it_grow_to_its_limit() {
        assert_eq!(next_rate(0, 10_000, true, None), 5_000);
        assert_eq!(next_rate(5_000, 4_000, true, None), 2_000);
        assert_eq!(next_rate(120, 90, true, None), RATE_MIN);
        assert_eq!(next_rate(1_000, 1_000, false, Some(1_050)), 1_050);
        assert_eq!(next_rate(0, 1_000, false, None), 0);
    }

    #[test]
    fn only_writes_since_the_last_look_count() {
        let before = [(100, 1000), (900, 1010)];
        let now = [(100, 1050), (500, 1090), (900, 1110)];
        // Of 100 new ones, 50 took up to 100, 90 up to 500 and all up to 900 microseconds.
        assert_eq!(p99_since(&before, &now), Some(Duration::from_micros(900)));
        assert_eq!(p99_since(&now, &now), None);
        assert_eq!(p99_since(&[], &[(7, 100)]), Some(Duration::from_micros(7)));
    }
}
