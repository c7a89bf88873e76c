//! Finishes the builds of indexes and views that nobody works on: those that a stop cut short, and those whose client has gone away.

use super::{a_build_was_left, resume_builds};
use crate::catalogue::SharedCatalogue;
use crate::ids::ShardIds;
use query::QueryError;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::{Store, StoreError};

/// What kept a build from going on (a full disk, mostly) does not end in less.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Runs until the store closes; for one task of one shard, started after [`SharedCatalogue::bootstrap`].
pub async fn keep_built<S: Store>(catalogue: Arc<SharedCatalogue>, store: S, ids: Rc<ShardIds>) {
    loop {
        match resume_builds(&catalogue, &store, ids.now_micros()).await {
            Ok(()) => a_build_was_left(&catalogue).await,
            Err(QueryError::Store(StoreError::Closed)) => return,
            Err(error) => {
                tracing::warn!(%error, "an index or view cannot be built for now; trying again");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}
