//! Lets time buckets that have grown too large continue in finer ones (ADR 20), within about a second.

use std::time::Duration;
use store::{Store, StoreError};

/// A bucket can exceed its threshold by what is written in this time. Looking costs nothing while no bucket has.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until the store closes; for one task of one shard.
pub async fn keep_spilling<S: Store>(store: S) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        match store.spill().await {
            Ok(0) => {}
            Ok(buckets) => tracing::info!(buckets, "time buckets go on in finer ones"),
            Err(StoreError::Closed) => return,
            Err(error) => tracing::warn!(%error, "time buckets that are too large cannot spill for now"),
        }
    }
}
