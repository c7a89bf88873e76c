//! Drops time buckets that are past their retention: one deletion for each of their partitions, nothing per row.
//!
//! Reads do not show such buckets whether they are dropped or not, and writes into them are refused; this gives the space back. They are
//! found in the record of buckets, and a bucket leaves the record in the commit that deletes its partitions.

use crate::catalogue::SharedCatalogue;
use crate::ids::ShardIds;
use model::deletion::Deletion;
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use query::QueryError;
use query::buckets::Bucket;
use schema::{Bucketing, Table};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::buckets::{bucket_at, clustering};
use store::{
    Commit, Flow, Mutation, Partitions, Position, Read, ReadEnd, Sink, Slice, Store, StoreError, TableId,
};

/// Buckets are minutes long at least, so looking more often would find nothing.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// A bucket is dropped this long after it has disappeared: a write that was let in just before must have been applied.
const GRACE_SECONDS: i64 = 600;
/// Buckets that one commit drops.
const BUCKETS_PER_COMMIT: usize = 16;
/// Stored entries that are examined before others have their turn.
const SCAN_ENTRIES: u64 = 10_000;

/// Runs until the store closes; for one task of one shard, started after [`SharedCatalogue::bootstrap`].
pub async fn keep_dropping<S: Store>(catalogue: Arc<SharedCatalogue>, store: S, ids: Rc<ShardIds>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (_, snapshot) = catalogue.load();
        for table in snapshot.tables() {
            match drop_expired(&store, table, ids.now_micros()).await {
                Ok(0) => {}
                Ok(buckets) => {
                    let (keyspace, table) = (&*table.keyspace, &*table.name);
                    tracing::info!(keyspace, table, buckets, "dropped time buckets that are kept no longer");
                }
                Err(QueryError::Store(StoreError::Closed)) => return,
                Err(error) => {
                    tracing::warn!(%error, "expired buckets cannot be dropped for now; trying again")
                }
            }
        }
    }
}

/// Drops the expired buckets of a table, and says how many there were.
pub async fn drop_expired<S: Store>(store: &S, table: &Table, now_micros: i64) -> Result<usize, QueryError> {
    let now_seconds = now_micros / 1_000_000;
    // While rows are copied each deletion would have to look at every row; rows past their retention are not copied either.
    if table.rebucketing().is_some() {
        return Ok(0);
    }
    let Some(plan) = table.bucketing() else { return Ok(0) };
    let Some(oldest) = plan.oldest_kept(now_seconds - GRACE_SECONDS) else { return Ok(0) };
    let Some(end) = clustering(&oldest.to_be_bytes()) else { return Ok(0) };
    let mut read = Read {
        scan_limit: SCAN_ENTRIES,
        ..Read::of(
            TableId(plan.record),
            Partitions::all(),
            vec![Slice { start: Vec::new(), end }],
            now_seconds as u32,
        )
    };
    let mut dropped = 0;
    loop {
        let mut found = Found::default();
        let end = store.read(&read, &mut found).await?.end;
        dropped += found.buckets.len();
        if let Some((entity, place)) = found.buckets.last() {
            read.after = Some(Position { key: entity.clone(), clustering: Some(place.clone()) });
            let mutations = deletions(plan, table, &found.buckets, now_micros)?;
            store.commit(Commit { mutations, now_seconds: now_seconds as u32 }).await?;
        }
        match end {
            ReadEnd::Complete => return Ok(dropped),
            ReadEnd::Stopped => {}
            ReadEnd::Paused(position) => read.after = Some(position),
        }
        rt::turn::give_way().await;
    }
}

/// The partitions of some buckets, and their entries.
fn deletions(
    plan: &Bucketing,
    table: &Table,
    buckets: &[(PartitionKey, Vec<u8>)],
    now_micros: i64,
) -> Result<Vec<Mutation>, QueryError> {
    let deletion = Deletion { timestamp: now_micros, local_seconds: (now_micros / 1_000_000) as u32 };
    let mut mutations = Vec::new();
    let mut writer = RowWriter::new();
    for (entity, place) in buckets {
        let Some(time) = bucket_at(place) else { continue };
        let hashes = plan.hash.as_ref().map_or(0..1, |hash| 0..hash.into as i32);
        for hash in hashes {
            let hash = plan.hash.as_ref().map(|_| hash);
            let key = Bucket { time: Some(time), hash }.key(entity)?;
            let mut mutation = Mutation::new(TableId(table.id), key);
            mutation.delete_partition(deletion);
            mutations.push(mutation);
        }
        let mut entry = Mutation::new(TableId(plan.record), entity.clone());
        writer.begin(deletion.timestamp, None, deletion);
        entry.row(place, writer.view());
        mutations.push(entry);
    }
    Ok(mutations)
}

/// Takes entries of the record until there are enough for a commit.
#[derive(Default)]
struct Found {
    entity: Option<PartitionKey>,
    buckets: Vec<(PartitionKey, Vec<u8>)>,
}

impl Sink for Found {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.entity = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.buckets.extend(self.entity.clone().map(|entity| (entity, clustering.to_vec())));
        if self.buckets.len() >= BUCKETS_PER_COMMIT { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
