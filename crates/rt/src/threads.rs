//! Threads and the time they wait for: the only place below the server that starts a thread, sleeps or reads a
//! steady clock, so that everything that is not repeatable is found here.

use std::io;
use std::ops::Add;
use std::time::{Duration, Instant};

pub use std::thread::{JoinHandle, ScopedJoinHandle, Thread, current, park, park_timeout, scope};

/// A point of time that only moves forward; for pauses and rates, never for what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Instant);

impl Moment {
    pub fn now() -> Moment {
        Moment(Instant::now())
    }

    /// How long ago it was.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// How long after `earlier` it is; nothing if it is not.
    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, later: Duration) -> Moment {
        Moment(self.0 + later)
    }
}

/// Starts a thread with a name that debuggers and `top` show.
pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Stops this thread for a while. Never on a shard's thread.
pub fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// How long this thread has worked since it began: what others took of the processor meanwhile does not count.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_ordered_and_threads_have_their_name() {
        let before = Moment::now();
        let later = before + Duration::from_secs(5);
        assert!(later > before && later.since(before) == Duration::from_secs(5));
        assert_eq!(before.since(later), Duration::ZERO);
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread =
            start("miller", move || sender.send(current().name().map(str::to_owned)).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("miller"));
        thread.join().unwrap();
    }
}
