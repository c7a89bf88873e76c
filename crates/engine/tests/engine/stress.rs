//! Everything at once on real threads and the real disk: batches over shards, counters, conditional commits,
//! flushes, compactions and changes of tables; then a restart without a clean close.

use crate::harness::*;
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use rt::{RealDisk, ShardThreads, SystemClock};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store::{
    CellCondition, Comparison, ConditionalCommit, Partitions, RowCheck, RowPosition, Slice, Store,
    StoreError, Subject, TableConfig, TableId, Tree,
};

const SHARDS: usize = 2;
const TASKS: u64 = 8;
const ROUNDS: u64 = 60;
const THIRD: TableId = TableId(3);

fn open_real(dir: &Path, durability: Durability) -> Engine {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = durability;
    options.log_segment_bytes = 128 << 10;
    options.log_bytes_max = 1 << 20;
    options.memtable_bytes_max = 1 << 20;
    Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap().0
}

fn tables(incarnation: u32) -> Vec<TableConfig> {
    let mut third = TableConfig::new(THIRD);
    third.incarnation = incarnation;
    vec![TableConfig::new(TABLE), TableConfig::new(OTHER), third]
}

/// Adds one to a register by compare and set, as often as it takes.
async fn increment(store: &EmbeddedStore, key: &str, applied: &AtomicU64) {
    loop {
        let mut rows = Rows::default();
        let whole = read(TABLE, Partitions::One(partition(key)), vec![Slice::one(b"register")]);
        store.read(&whole, &mut rows).await.unwrap();
        let current = rows.rows.first().map(|row| row.2.clone());
        let next = current.as_ref().map_or(0, |value| value.parse::<u64>().unwrap()) + 1;
        let check = RowCheck {
            position: RowPosition::Row(b"register".to_vec()),
            columns: None,
            exists: None,
            conditions: vec![Tree::Cell(CellCondition {
                column: 1,
                is_static: false,
                data_type: model::types::DataType::Text,
                path: Vec::new(),
                subject: Subject::Value,
                comparison: Comparison::Equal,
                values: vec![current.map(String::into_bytes)],
            })],
        };
        let swap = ConditionalCommit {
            table: TABLE,
            key: partition(key),
            checks: vec![check],
            // Padded, so that the text is never taken for a counter's eight bytes.
            further: Vec::new(),
            mutations: vec![put(TABLE, key, "register", &format!("{next:010}"), 5)],
            provisional_timestamp: 5,
            now_seconds: NOW_SECONDS,
        };
        if commit_if_either_way(store, swap).await.unwrap().applied {
            applied.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
}

async fn work(store: EmbeddedStore, id: u64, applied: Arc<AtomicU64>) {
    let filler = "x".repeat(300);
    for round in 0..ROUNDS {
        let mark = format!("{id}-{round}-{filler}");
        // One batch over both tables and probably both shards: all of it or nothing.
        let batch = (0..4).map(|part| {
            let table = [TABLE, OTHER][part % 2];
            put(
                table,
                &format!("b{}", (round + part as u64 * 7) % 23),
                &format!("{id:02}-{round:03}-{part}"),
                &mark,
                5,
            )
        });
        commit_either_way(&store, commit(batch.collect())).await.unwrap();
        let counters = ["left", "right", "left"].map(|name| add(OTHER, name, "counter", 1, 5));
        store.commit(commit(counters.to_vec())).await.unwrap();
        increment(&store, &format!("register{}", round % 2), &applied).await;
        match commit_either_way(&store, commit(vec![put(THIRD, &format!("t{round}"), "r", &mark, 5)])).await {
            Ok(()) | Err(StoreError::UnknownTable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

async fn alter_now_and_then(store: EmbeddedStore) {
    for incarnation in 1..6 {
        store.alter(vec![incarnation as u8], tables(incarnation)).await.unwrap();
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

fn run_stress(dir: &Path, durability: Durability) -> (u64, u64, u64) {
    let engine = open_real(dir, durability);
    let applied = Arc::new(AtomicU64::new(0));
    let ready = Arc::new(tokio::sync::Barrier::new(SHARDS));
    let (shared, counted) = (engine.clone(), applied.clone());
    let threads = ShardThreads::start(SHARDS, move |index| {
        let (engine, applied, ready) = (shared.clone(), counted.clone(), ready.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                store.alter(vec![0], tables(0)).await.unwrap();
            }
            ready.wait().await;
            let mut tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let id = index as u64 * TASKS + task;
                    tokio::task::spawn_local(work(store.clone(), id, applied.clone()))
                })
                .collect();
            if index == 1 {
                tasks.push(tokio::task::spawn_local(alter_now_and_then(store.clone())));
            }
            for task in tasks {
                task.await.unwrap();
            }
            ready.wait().await;
        }
    });
    threads.unwrap().join().unwrap();
    let metrics = engine.metrics();
    (applied.load(Ordering::Relaxed), metrics.flushes.get(), metrics.compactions.get())
}

fn check_after_restart(dir: &Path) {
    let engine = open_real(dir, Durability::Sync);
    let done = Arc::new(tokio::sync::Barrier::new(SHARDS));
    let found: Arc<Mutex<Vec<(String, String, String)>>> = Arc::default();
    let seen = found.clone();
    ShardThreads::start(SHARDS, move |index| {
        let (engine, done, seen) = (engine.clone(), done.clone(), seen.clone());
        async move {
            let store = Rc::new(engine.store(index).unwrap());
            if index == 0 {
                for table in [TABLE, OTHER] {
                    let mut rows = Rows::default();
                    let all = read(table, Partitions::all(), vec![Slice::all()]);
                    store.read(&all, &mut rows).await.unwrap();
                    seen.lock().unwrap().extend(rows.rows);
                }
            }
            done.wait().await;
        }
    })
    .unwrap()
    .join()
    .unwrap();
    let found = found.lock().unwrap();
    let workers = SHARDS as u64 * TASKS;
    let value = |key: &str| found.iter().find(|row| row.0 == key).map(|row| row.2.clone()).unwrap();
    assert_eq!(value("left"), (2 * workers * ROUNDS).to_string());
    assert_eq!(value("right"), (workers * ROUNDS).to_string());
    let registers = value("register0").parse::<u64>().unwrap() + value("register1").parse::<u64>().unwrap();
    assert_eq!(registers, workers * ROUNDS);
    let batched = found.iter().filter(|row| row.0.starts_with('b')).count() as u64;
    assert_eq!(batched, 4 * workers * ROUNDS);
}

#[test]
fn nothing_is_lost_under_concurrency() {
    for durability in [Durability::Sync, Durability::Periodic { interval_ms: 5 }] {
        let dir = tempfile::tempdir().unwrap();
        let (applied, flushes, compactions) = run_stress(dir.path(), durability);
        assert_eq!(applied, SHARDS as u64 * TASKS * ROUNDS);
        assert!(flushes > 2, "{flushes} flushes, {compactions} compactions");
        check_after_restart(dir.path());
    }
}
