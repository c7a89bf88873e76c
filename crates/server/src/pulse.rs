//! How long a shard's thread is held by one piece of work: the account that fairness is judged by.
//!
//! A task wakes up every few milliseconds and looks how late it is. What counts is the processor time that the thread has used
//! meanwhile: a machine that is busy with something else makes the task late too, but that is nobody's long turn.

use crate::shard::Shard;
use rustix::time::{ClockId, clock_gettime};
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Between two beats of a thread that has little to do, and of one that works.
const IDLE_PERIOD: Duration = Duration::from_millis(20);
const BUSY_PERIOD: Duration = Duration::from_millis(2);

/// Timers have milliseconds: less is not lateness.
const GRAIN: Duration = Duration::from_millis(2);

/// Records the turns of others until the shard ends.
pub async fn beat(shard: Rc<Shard>) {
    let mut used = thread_time();
    let mut period = IDLE_PERIOD;
    loop {
        let due = Instant::now() + period;
        tokio::time::sleep_until(due).await;
        let late = Instant::now().saturating_duration_since(due);
        let before = std::mem::replace(&mut used, thread_time());
        let worked = used.saturating_sub(before);
        // What was done in time is not a long turn. In a short period that hardly matters; of a long one, all of it may be.
        let in_time = if period == IDLE_PERIOD { period } else { Duration::ZERO };
        let held = late.min(worked.saturating_sub(in_time));
        if held > GRAIN {
            shard.metrics().held.record(held.as_micros() as u64);
        }
        period = if worked > (period + late) / 4 { BUSY_PERIOD } else { IDLE_PERIOD };
    }
}

/// Between two looks at which partitions are hot.
const HEAT_PERIOD: Duration = Duration::from_secs(1);

/// Lets other threads see which partitions of this shard are hot, until the shard ends.
pub async fn show_heat(shard: Rc<Shard>) {
    let started = Instant::now();
    loop {
        shard.dialect.store.show_heat(started.elapsed().as_millis() as u64);
        tokio::time::sleep(HEAT_PERIOD).await;
    }
}

/// Processor time that this thread has used.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}
