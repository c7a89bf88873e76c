//! Work beside requests: filling indexes, expiring items.

use crate::shard::Shard;
use dynamo::run::Caller;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Expired items are looked for this often at most ...
const SWEEP_PAUSE_MIN: Duration = Duration::from_secs(2);
/// ... and so many times as long as looking for them took passes before the next time.
const SWEEP_PAUSE_FACTOR: u32 = 20;

fn caller(shard: &Shard) -> Caller<'static> {
    Caller::new(None, shard.ids.now_micros(), "")
}

/// What must be done before the first request.
pub async fn tidy(shard: &Rc<Shard>) {
    shard.dynamo.remove_unfinished(&caller(shard)).await;
    shard.dynamo.recall_transfers(&caller(shard)).await;
}

/// Fills indexes when there are new ones, and those that were not filled when the server ended.
pub async fn keep_indexes(shard: Rc<Shard>) {
    loop {
        shard.dynamo.build_indexes(&caller(&shard)).await;
        shard.shared.dynamo.builds_due.notified().await;
    }
}

/// Deletes items that have expired.
pub async fn keep_swept(shard: Rc<Shard>) {
    loop {
        let begun = Instant::now();
        shard.dynamo.sweep_streams(&caller(&shard)).await;
        let swept = shard.dynamo.sweep(&caller(&shard)).await;
        if swept > 0 {
            tracing::debug!(swept, "expired items were deleted");
        }
        tokio::time::sleep(SWEEP_PAUSE_MIN.max(begun.elapsed() * SWEEP_PAUSE_FACTOR)).await;
    }
}
