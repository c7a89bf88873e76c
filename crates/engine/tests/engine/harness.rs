//! An engine in inline mode on a simulated disk, with short ways to write and read.

use engine::{Durability, EmbeddedStore, Engine, EngineOptions, OpenError, Opened};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use rt::{ManualClock, SimDisk};
use std::sync::Arc;
use store::{
    CasOutcome, Commit, ConditionalCommit, Deferred, DeferredOp, Flow, Mutation, Partitions, Position,
    Prompt, Read, ReadEnd, RowCheck, RowPosition, Sink, Slice, Store, StoreError, TableConfig, TableId,
};

pub const NOW_SECONDS: u32 = 1_000;
pub const TABLE: TableId = TableId(1);
pub const OTHER: TableId = TableId(2);

pub fn options(shards: usize) -> EngineOptions {
    let mut options = EngineOptions::new("/db");
    options.shards = shards;
    options.inline = true;
    options.log_segment_bytes = 8192;
    options.durability = Durability::Sync;
    options
}

pub struct Harness {
    pub engine: Engine,
    pub opened: Opened,
    pub stores: Vec<EmbeddedStore>,
    pub clock: Arc<ManualClock>,
}

/// Runs an async test on one thread with a `LocalSet`.
pub fn run<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

/// Must be called inside `run`.
pub fn open_with(disk: &SimDisk, options: EngineOptions) -> Result<Harness, OpenError> {
    let clock = Arc::new(ManualClock::at_micros(i64::from(NOW_SECONDS) * 1_000_000));
    let shards = options.shards;
    let (engine, opened) = Engine::open(Arc::new(disk.clone()), clock.clone(), options)?;
    let stores = (0..shards).map(|i| engine.store(i).unwrap()).collect();
    Ok(Harness { engine, opened, stores, clock })
}

pub fn open(disk: &SimDisk, shards: usize) -> Harness {
    open_with(disk, options(shards)).unwrap_or_else(|error| panic!("{error}"))
}

impl Harness {
    pub fn store(&self) -> &EmbeddedStore {
        &self.stores[0]
    }

    /// Makes the two tables exist.
    pub async fn create_tables(&self) -> Result<(), StoreError> {
        let tables = vec![TableConfig::new(TABLE), TableConfig::new(OTHER)];
        self.store().alter(b"catalogue".to_vec(), tables).await
    }

    pub async fn put(&self, key: &str, row: &str, value: &str, at: i64) -> Result<(), StoreError> {
        self.store().commit(commit(vec![put(TABLE, key, row, value, at)])).await
    }

    pub async fn get(&self, key: &str, row: &str) -> Option<String> {
        let rows = self.rows(TABLE, Partitions::One(partition(key)), vec![Slice::one(row.as_bytes())]).await;
        rows.into_iter().next().map(|(_, _, value)| value)
    }

    /// Every row of a table.
    pub async fn all(&self, table: TableId) -> Vec<(String, String, String)> {
        self.rows(table, Partitions::all(), vec![Slice::all()]).await
    }

    pub async fn rows(
        &self,
        table: TableId,
        partitions: Partitions,
        slices: Vec<Slice>,
    ) -> Vec<(String, String, String)> {
        let mut read = read(table, partitions, slices);
        let mut rows = Rows::default();
        loop {
            match self.store().read(&read, &mut rows).await.unwrap().end {
                ReadEnd::Paused(position) => read.after = Some(position),
                ReadEnd::Complete | ReadEnd::Stopped => return rows.rows,
            }
        }
    }
}

thread_local! {
    static TURN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Every other time. Not by chance: a history takes the same ways whenever it is run on a fresh thread.
fn promptly() -> bool {
    TURN.with(|turn| turn.replace(turn.get() + 1).is_multiple_of(2))
}

/// Commits by either way: begun by a plain call and waited for by its number, as the server does it, or by a future. What cannot
/// be begun takes the other way.
pub async fn commit_either_way(store: &EmbeddedStore, commit: Commit) -> Result<(), StoreError> {
    commit_one_way(store, promptly(), commit).await
}

pub async fn commit_one_way(
    store: &EmbeddedStore,
    promptly: bool,
    mut commit: Commit,
) -> Result<(), StoreError> {
    if promptly && let Some(begun) = store.begin(&mut commit) {
        let number = begun?;
        return std::future::poll_fn(|context| store.poll_outcome(number, context)).await;
    }
    store.commit(commit).await
}

/// The same with conditions.
pub async fn commit_if_either_way(
    store: &EmbeddedStore,
    commit: ConditionalCommit,
) -> Result<CasOutcome, StoreError> {
    commit_if_one_way(store, promptly(), commit).await
}

pub async fn commit_if_one_way(
    store: &EmbeddedStore,
    promptly: bool,
    mut commit: ConditionalCommit,
) -> Result<CasOutcome, StoreError> {
    if promptly && let Some(begun) = store.begin_if(&mut commit) {
        let (outcome, number) = begun?;
        if let Some(number) = number {
            std::future::poll_fn(|context| store.poll_outcome(number, context)).await?;
        }
        return Ok(outcome);
    }
    store.commit_if(commit).await
}

pub fn partition(key: &str) -> PartitionKey {
    PartitionKey::of(key.as_bytes()).unwrap()
}

pub fn commit(mutations: Vec<Mutation>) -> Commit {
    Commit { mutations, now_seconds: NOW_SECONDS }
}

pub fn put(table: TableId, key: &str, row: &str, value: &str, at: i64) -> Mutation {
    let mut mutation = Mutation::new(table, partition(key));
    let mut writer = RowWriter::new();
    writer.begin(at, Some(Marker::new(at)), Deletion::NONE);
    writer.live(1, value.as_bytes());
    mutation.row(row.as_bytes(), writer.view());
    mutation
}

pub fn add(table: TableId, key: &str, row: &str, delta: i64, at: i64) -> Mutation {
    let mut mutation = Mutation::new(table, partition(key));
    mutation.deferred.push(Deferred {
        position: RowPosition::Row(row.as_bytes().to_vec()),
        column: 1,
        column_name: "c".into(),
        timestamp: at,
        ttl: 0,
        statement: 0,
        op: DeferredOp::CounterAdd(delta),
    });
    mutation
}

pub fn insert_if_absent(key: &str, row: &str, value: &str) -> ConditionalCommit {
    let check = RowCheck {
        position: RowPosition::Row(row.as_bytes().to_vec()),
        columns: None,
        exists: Some(false),
        conditions: Vec::new(),
    };
    ConditionalCommit {
        table: TABLE,
        key: partition(key),
        checks: vec![check],
        further: Vec::new(),
        mutations: vec![put(TABLE, key, row, value, 5)],
        provisional_timestamp: 5,
        now_seconds: NOW_SECONDS,
    }
}

pub fn read(table: TableId, partitions: Partitions, slices: Vec<Slice>) -> Read {
    Read { statics: true, ..Read::of(table, partitions, slices, NOW_SECONDS) }
}

/// Collects (partition, row, value of column 1); stops after `limit` rows if there is one.
#[derive(Default)]
pub struct Rows {
    pub rows: Vec<(String, String, String)>,
    pub limit: Option<usize>,
    pub per_partition: Option<usize>,
    /// What a page would be resumed from.
    pub last: Option<Position>,
    /// Announced and ended partitions.
    pub partitions: Vec<String>,
    pub ended: usize,
    pub in_partition: usize,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Sink for Rows {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.partitions.push(text(key.bytes()));
        self.in_partition = 0;
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let value = row.cells().find(|c| c.column == 1).and_then(|c| c.live_value(NOW_SECONDS));
        let value = value.map_or_else(String::new, |v| match v.try_into() {
            Ok(bytes) if v.len() == 8 => i64::from_be_bytes(bytes).to_string(),
            _ => text(v),
        });
        let key = self.partitions.last().cloned().unwrap_or_default();
        self.last = Some(Position { key: partition(&key), clustering: Some(clustering.to_vec()) });
        self.rows.push((key, text(clustering), value));
        self.in_partition += 1;
        if self.limit.is_some_and(|limit| self.rows.len() >= limit) {
            return Flow::Stop;
        }
        if self.per_partition.is_some_and(|limit| self.in_partition >= limit) {
            return Flow::NextPartition;
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        self.ended += 1;
        Flow::Continue
    }
}
