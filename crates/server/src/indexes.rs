//! Finishes the builds of indexes and views that nobody works on: those that a stop cut short, and those whose client has gone away.

use cql::catalogue::SharedCatalogue;
use cql::ids::ShardIds;
use cql::index_build::{an_index_build_was_left, resume_index_builds};
use query::QueryError;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::{Store, StoreError};

/// What kept a build from going on (a full disk, mostly) does not end in less.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Runs until the store closes; for one task of one shard, started after [`SharedCatalogue::bootstrap`].
pub async fn keep_indexes_built<S: Store>(catalogue: Arc<SharedCatalogue>, store: S, ids: Rc<ShardIds>) {
    loop {
        match resume_index_builds(&catalogue, &store, ids.now_micros()).await {
            Ok(()) => an_index_build_was_left(&catalogue).await,
            Err(QueryError::Store(StoreError::Closed)) => return,
            Err(error) => {
                tracing::warn!(%error, "an index or view cannot be built for now; trying again");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}
