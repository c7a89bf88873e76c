//! The engine with its threads on the real disk.

use crate::harness::*;
use engine::{Durability, Engine, EngineOptions};
use rt::{RealDisk, ShardThreads, SystemClock};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use store::{Partitions, Slice, Store, TableConfig};

const SHARDS: usize = 2;

fn open_real(dir: &Path, durability: Durability) -> Engine {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = durability;
    options.log_segment_bytes = 1 << 20;
    Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap().0
}

/// Each shard writes its own rows, 32 tasks at a time; shard 0 has created the table before.
fn write_on_all_shards(engine: &Engine, rows: u64, close: bool) {
    let ready = Arc::new(tokio::sync::Barrier::new(SHARDS));
    let engine = engine.clone();
    ShardThreads::start(SHARDS, move |index| {
        let (engine, ready) = (engine.clone(), ready.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                store.alter(b"c".to_vec(), vec![TableConfig::new(TABLE)]).await.unwrap();
            }
            ready.wait().await;
            let next = std::rc::Rc::new(std::cell::Cell::new(0));
            let tasks: Vec<_> = (0..32)
                .map(|_| {
                    let (store, next) = (store.clone(), next.clone());
                    tokio::task::spawn_local(async move {
                        loop {
                            let n = next.replace(next.get() + 1);
                            if n >= rows {
                                return;
                            }
                            let mutation = put(TABLE, &format!("s{index}-{n}"), "r", &n.to_string(), 1);
                            store.commit(commit(vec![mutation])).await.unwrap();
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            let mut counter = 0;
            while counter < 10 {
                store.commit(commit(vec![add(TABLE, "shared", "counter", 1, 1)])).await.unwrap();
                counter += 1;
            }
            ready.wait().await;
            if close && index == 0 {
                engine.close().await;
            }
            ready.wait().await;
        }
    })
    .unwrap()
    .join()
    .unwrap();
}

fn count_on_reopen(dir: &Path) -> (u64, String) {
    let engine = open_real(dir, Durability::Sync);
    let counted = Arc::new(AtomicU64::new(0));
    let total = Arc::new(std::sync::Mutex::new(String::new()));
    let (seen, sum, done) = (counted.clone(), total.clone(), Arc::new(tokio::sync::Barrier::new(SHARDS)));
    ShardThreads::start(SHARDS, move |index| {
        let (engine, seen, sum, done) = (engine.clone(), seen.clone(), sum.clone(), done.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                let mut rows = Rows::default();
                store.read(&read(TABLE, Partitions::all(), vec![Slice::all()]), &mut rows).await.unwrap();
                seen.store(rows.rows.len() as u64, Ordering::Relaxed);
                *sum.lock().unwrap() = rows.rows.iter().find(|r| r.0 == "shared").unwrap().2.clone();
            }
            done.wait().await;
        }
    })
    .unwrap()
    .join()
    .unwrap();
    (counted.load(Ordering::Relaxed), total.lock().unwrap().clone())
}

#[test]
fn what_every_shard_wrote_is_there_after_reopening() {
    for durability in [Durability::Sync, Durability::Periodic { interval_ms: 10 }] {
        for close in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let engine = open_real(dir.path(), durability);
            write_on_all_shards(&engine, 500, close);
            // Without fsync a write to the log can be over before the next commit comes: then each is a group.
            let groups = engine.metrics().log_groups.get();
            assert!(durability != Durability::Sync || groups < 1000, "commits are grouped: {groups}");
            drop(engine);
            let (rows, counter) = count_on_reopen(dir.path());
            assert_eq!((rows, counter.as_str()), (1001, "20"), "{durability:?} close {close}");
        }
    }
}

#[test]
fn start_and_stop_without_work() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let engine = open_real(dir.path(), Durability::Sync);
        let started = Arc::new(Barrier::new(1));
        started.wait();
        run(engine.close());
    }
}

#[test]
fn a_full_disk_refuses_writes_serves_reads_and_needs_no_restart() {
    let disk = rt::SimDisk::new();
    let mut options = EngineOptions::new("/db");
    options.shards = SHARDS;
    options.log_segment_bytes = 16 << 10;
    let (engine, _) = Engine::open(Arc::new(disk.clone()), Arc::new(SystemClock), options.clone()).unwrap();
    let acknowledged = Arc::new(AtomicU64::new(0));
    let (shared, counted, full) = (engine.clone(), acknowledged.clone(), disk.clone());
    let ready = Arc::new(tokio::sync::Barrier::new(SHARDS));
    ShardThreads::start(SHARDS, move |index| {
        let (engine, counted, disk, ready) = (shared.clone(), counted.clone(), full.clone(), ready.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 {
                store.alter(b"c".to_vec(), vec![TableConfig::new(TABLE)]).await.unwrap();
                let value = "v".repeat(500);
                let write = |n: u64| {
                    let (store, value) = (store.clone(), value.clone());
                    async move { store.commit(commit(vec![put(TABLE, &format!("k{n}"), "r", &value, 1)])).await }
                };
                for n in 0..20 {
                    write(n).await.unwrap();
                }
                disk.fault_at(disk.io_count() + 1, rt::Fault::Full);
                // Some wait for the log, then others are refused, all while the disk stays full.
                let (mut waiting, mut safe, mut refused) = (Vec::new(), 20, None);
                for n in 20.. {
                    waiting.push(tokio::task::spawn_local(write(n)));
                    tokio::task::yield_now().await;
                    let Some(ended) = waiting.iter().position(|task| task.is_finished()) else { continue };
                    match waiting.swap_remove(ended).await.unwrap() {
                        Ok(()) => safe += 1,
                        Err(error) => {
                            refused = Some(error);
                            break;
                        }
                    }
                }
                let refused = refused.unwrap();
                assert!(matches!(refused, store::StoreError::Overloaded(_)), "{refused}");
                let mut rows = Rows::default();
                store.read(&read(TABLE, Partitions::all(), vec![Slice::all()]), &mut rows).await.unwrap();
                assert!(rows.rows.len() >= 20, "reads go on");
                assert_eq!(engine.read_only(), None);
                disk.make_room();
                for task in waiting {
                    safe += u64::from(task.await.unwrap().is_ok());
                }
                while write(2000).await.is_err() {
                    tokio::task::yield_now().await;
                }
                counted.store(safe + 1, Ordering::Relaxed);
            }
            ready.wait().await;
        }
    })
    .unwrap()
    .join()
    .unwrap();
    drop(engine);
    let image = disk.image(rt::CrashImage::DropUnsynced);
    run(async {
        options.inline = true;
        let harness = open_with(&image, options).unwrap();
        let found = harness.all(TABLE).await.len() as u64;
        assert!(found >= acknowledged.load(Ordering::Relaxed), "{found} rows");
    });
}
