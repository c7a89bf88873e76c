//! Deletes rows that have expired as a whole: reads hide them at once, this gives their space back and takes them out of indexes.
//!
//! A row is looked at again while its partition is locked (by the store, which buries what has expired), so one whose moment was put
//! off meanwhile stays.

use crate::catalogue::{SharedCatalogue, row_ttl};
use crate::ids::ShardIds;
use model::key::PartitionKey;
use model::row::RowView;
use model::types::DataType;
use query::QueryError;
use rt::Moment;
use schema::Table;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::row_ttl::{BEFORE_EVERYTHING, RowTtl};
use store::{
    Commit, Deferred, DeferredOp, Flow, Mutation, Partitions, Position, Read, ReadEnd, RowPosition, Sink,
    Slice, Store, StoreError, TableId,
};

/// Expired rows are looked for this often at most ...
const SWEEP_PAUSE_MIN: Duration = Duration::from_secs(2);
/// ... and so many times as long as looking for them took passes before the next time.
const SWEEP_PAUSE_FACTOR: u32 = 20;
/// Rows that one commit deletes.
const ROWS_PER_COMMIT: usize = 100;
/// Stored entries that are examined before others have their turn.
const SCAN_ENTRIES: u64 = 10_000;

/// Runs until the store closes; for one task of one shard, started after [`SharedCatalogue::bootstrap`].
pub async fn keep_swept<S: Store>(catalogue: Arc<SharedCatalogue>, store: S, ids: Rc<ShardIds>) {
    let mut took = Duration::ZERO;
    loop {
        tokio::time::sleep(SWEEP_PAUSE_MIN.max(took * SWEEP_PAUSE_FACTOR)).await;
        let begun = Moment::now();
        let (_, snapshot) = catalogue.load();
        for table in snapshot.tables().filter(|table| table.row_ttl.is_some()) {
            match sweep(&store, table, ids.now_micros()).await {
                Ok(0) => {}
                Ok(rows) => {
                    let (keyspace, table) = (&*table.keyspace, &*table.name);
                    tracing::debug!(keyspace, table, rows, "rows that had expired were deleted");
                }
                Err(QueryError::Store(StoreError::Closed)) => return,
                // Dropped meanwhile.
                Err(QueryError::Store(StoreError::UnknownTable(_))) => {}
                Err(error) => tracing::warn!(%error, "expired rows cannot be deleted for now; trying again"),
            }
        }
        took = begun.elapsed();
    }
}

/// Deletes the expired rows of a table, and says how many were found.
pub async fn sweep<S: Store>(store: &S, table: &Table, now_micros: i64) -> Result<usize, QueryError> {
    let Some(row_ttl) = row_ttl(table) else { return Ok(0) };
    let now_seconds = (now_micros / 1_000_000) as u32;
    let mut read = Read {
        scan_limit: SCAN_ENTRIES,
        ..Read::of(TableId(table.id), Partitions::all(), vec![Slice::all()], BEFORE_EVERYTHING)
    };
    let mut swept = 0;
    loop {
        let mut expired = Expired { row_ttl, now_seconds, key: None, found: Vec::new() };
        let end = store.read(&read, &mut expired).await?.end;
        swept += expired.found.len();
        if let Some((key, clustering)) = expired.found.last() {
            read.after = Some(Position { key: key.clone(), clustering: Some(clustering.clone()) });
            let mutations = looks(table, expired.found, now_micros);
            store.commit(Commit { mutations, now_seconds }).await?;
        }
        match end {
            ReadEnd::Complete => return Ok(swept),
            ReadEnd::Stopped => {}
            ReadEnd::Paused(position) => read.after = Some(position),
        }
        rt::turn::give_way().await;
    }
}

/// Mutations that only have the store look at these rows, which buries those that have expired.
fn looks(table: &Table, rows: Vec<(PartitionKey, Vec<u8>)>, timestamp: i64) -> Vec<Mutation> {
    let mut mutations: Vec<Mutation> = Vec::new();
    for (key, clustering) in rows {
        let look = Deferred {
            position: RowPosition::Row(clustering),
            column: 0,
            column_name: String::new(),
            timestamp,
            ttl: 0,
            statement: 0,
            op: DeferredOp::Check { data_type: DataType::Blob, constraints: Vec::new().into() },
        };
        match mutations.last_mut() {
            Some(last) if last.key == key => last.deferred.push(look),
            _ => {
                let mut mutation = Mutation::new(TableId(table.id), key);
                mutation.deferred.push(look);
                mutations.push(mutation);
            }
        }
    }
    mutations
}

/// Takes expired rows until there are enough for a commit.
struct Expired {
    row_ttl: RowTtl,
    now_seconds: u32,
    key: Option<PartitionKey>,
    found: Vec<(PartitionKey, Vec<u8>)>,
}

impl Sink for Expired {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        if self.row_ttl.is_over(&row, self.now_seconds) {
            self.found.extend(self.key.clone().map(|key| (key, clustering.to_vec())));
        }
        if self.found.len() >= ROWS_PER_COMMIT { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
