//! The store contract on one thread: routing, batches, conditions, counters, changes of tables, reopening.

use crate::harness::*;
use rt::{CrashImage, SimDisk};
use store::{Partitions, ReadEnd, Slice, Store, StoreError, TableConfig};

async fn fill(harness: &Harness, partitions: usize, rows: usize) {
    for p in 0..partitions {
        for r in 0..rows {
            harness.put(&format!("p{p}"), &format!("r{r:04}"), &format!("{p}/{r}"), 10).await.unwrap();
        }
    }
}

#[test]
fn rows_are_read_back_from_every_shard_and_after_reopening_with_other_shards() {
    let disk = SimDisk::new();
    let mut expected = None;
    for shards in [3, 1, 4, 2] {
        let image = disk.image(CrashImage::DropUnsynced);
        let disk = if expected.is_none() { &disk } else { &image };
        run(async {
            let harness = open(disk, shards);
            if expected.is_none() {
                harness.create_tables().await.unwrap();
                fill(&harness, 20, 5).await;
            } else {
                assert_eq!(harness.opened.catalogue.as_deref(), Some(&b"catalogue"[..]));
            }
            for store in &harness.stores {
                let mut rows = Rows::default();
                let outcome =
                    store.read(&read(TABLE, Partitions::all(), vec![Slice::all()]), &mut rows).await;
                assert_eq!(outcome.unwrap().end, ReadEnd::Complete);
                assert_eq!(rows.ended, 20);
                let tokens: Vec<_> = rows.partitions.iter().map(|p| partition(p).token()).collect();
                assert!(tokens.is_sorted());
                assert_eq!(rows.rows.len(), 100);
                assert_eq!(*expected.get_or_insert(rows.rows.clone()), rows.rows);
            }
            assert_eq!(harness.get("p7", "r0003").await.as_deref(), Some("7/3"));
            assert_eq!(harness.get("p7", "r0009").await, None);
        });
    }
}

#[test]
fn remote_reads_come_in_pieces_and_obey_the_sink() {
    run(async {
        let harness = open(&SimDisk::new(), 2);
        harness.create_tables().await.unwrap();
        let value = "v".repeat(1000);
        let (local, remote) = (key_of_shard(0), key_of_shard(1));
        for key in [&local, &remote] {
            for r in 0..300 {
                harness.put(key, &format!("r{r:04}"), &value, 10).await.unwrap();
            }
        }
        // 300 rows of 1 kB do not fit into the first piece.
        for key in [&local, &remote] {
            let rows = harness.rows(TABLE, Partitions::One(partition(key)), vec![Slice::all()]).await;
            assert_eq!(rows.len(), 300);
            assert!(rows.iter().enumerate().all(|(i, row)| row.1 == format!("r{i:04}")));
        }
        let all = read(TABLE, Partitions::all(), vec![Slice::all()]);
        let mut limited = Rows { limit: Some(350), ..Rows::default() };
        assert_eq!(harness.store().read(&all, &mut limited).await.unwrap().end, ReadEnd::Stopped);
        assert_eq!((limited.rows.len(), limited.partitions.len()), (350, 2));
        let mut few = Rows { per_partition: Some(40), ..Rows::default() };
        assert_eq!(harness.store().read(&all, &mut few).await.unwrap().end, ReadEnd::Complete);
        assert_eq!((few.rows.len(), few.partitions.len(), few.ended), (80, 2, 2));
        // Resuming behind any row gives the rest.
        let mut resumed = all.clone();
        resumed.after = limited.last.clone();
        let mut rest = Rows::default();
        harness.store().read(&resumed, &mut rest).await.unwrap();
        assert_eq!(limited.rows.len() + rest.rows.len(), 600);
        assert!(harness.engine.metrics().requests_remote.get() > 0);
    });
}

/// A key whose partition the shard (of two) owns.
fn key_of_shard(shard: u32) -> String {
    (0..).map(|n| format!("key{n}")).find(|key| partition(key).token().shard(2) == shard).unwrap()
}

#[test]
fn batches_span_tables_and_shards() {
    let disk = SimDisk::new();
    run(async {
        let harness = open(&disk, 3);
        harness.create_tables().await.unwrap();
        let batch = (0..30).map(|n| put([TABLE, OTHER][n % 2], &format!("p{n}"), "r", "v", 7)).collect();
        harness.stores[1].commit(commit(batch)).await.unwrap();
        assert_eq!((harness.all(TABLE).await.len(), harness.all(OTHER).await.len()), (15, 15));
        // One record in the log, and nothing lost by a restart.
        assert_eq!(harness.engine.metrics().log_records.get(), 1);
    });
    run(async {
        let harness = open(&disk.image(CrashImage::DropUnsynced), 2);
        assert_eq!((harness.all(TABLE).await.len(), harness.all(OTHER).await.len()), (15, 15));
    });
}

#[test]
fn conditions_are_decided_by_the_owning_shard_with_growing_ballots() {
    let disk = SimDisk::new();
    for (round, shards) in [(0, 3), (1, 2)] {
        let image = disk.image(CrashImage::DropUnsynced);
        let disk = if round == 0 { &disk } else { &image };
        run(async {
            let harness = open(disk, shards);
            if round == 0 {
                harness.create_tables().await.unwrap();
            }
            for n in 0..10 {
                let key = format!("p{n}");
                let store = &harness.stores[n % shards];
                let outcome = store.commit_if(insert_if_absent(&key, "r", "first")).await.unwrap();
                assert_eq!(outcome.applied, round == 0);
                let outcome = store.commit_if(insert_if_absent(&key, "r", "second")).await.unwrap();
                assert!(!outcome.applied && outcome.rows[0].row.is_some() && outcome.key == partition(&key));
            }
            assert!(harness.all(TABLE).await.iter().all(|row| row.2 == "first"));
            if round == 1 {
                // The clock went back by a day: a conditional commit still wins over the earlier one.
                harness.clock.set_micros(5);
                let mut swap = insert_if_absent("p1", "r", "after");
                swap.checks[0].exists = Some(true);
                assert!(harness.store().commit_if(swap).await.unwrap().applied);
                assert_eq!(harness.get("p1", "r").await.as_deref(), Some("after"));
            }
        });
    }
}

#[test]
fn only_one_of_many_concurrent_conditional_commits_wins() {
    run(async {
        let harness = open(&SimDisk::new(), 2);
        harness.create_tables().await.unwrap();
        let mut tasks = Vec::new();
        for n in 0..50 {
            let store = harness.stores[n % 2].clone();
            tasks.push(tokio::task::spawn_local(async move {
                store.commit_if(insert_if_absent("contended", "r", &n.to_string())).await.unwrap().applied
            }));
        }
        let mut winners = 0;
        for task in tasks {
            winners += u32::from(task.await.unwrap());
        }
        assert_eq!(winners, 1);
    });
}

#[test]
fn counters_add_up_within_a_batch_across_shards_and_after_replay() {
    let disk = SimDisk::new();
    run(async {
        let harness = open(&disk, 3);
        harness.create_tables().await.unwrap();
        let mut tasks = Vec::new();
        for n in 0..20usize {
            let store = harness.stores[n % 3].clone();
            // Two increments of one counter and one each of two others, on whatever shards they are.
            let batch = [("a", 1), ("b", 2), ("a", 3), ("c", 4)];
            let mutations = batch.iter().map(|(key, delta)| add(TABLE, key, "r", *delta, 100)).collect();
            tasks.push(tokio::task::spawn_local(async move { store.commit(commit(mutations)).await }));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        for (key, total) in [("a", "80"), ("b", "40"), ("c", "80")] {
            assert_eq!(harness.get(key, "r").await.as_deref(), Some(total), "{key}");
        }
    });
    run(async {
        let harness = open(&disk.image(CrashImage::DropUnsynced), 1);
        assert_eq!(harness.get("a", "r").await.as_deref(), Some("80"));
        assert_eq!(harness.get("b", "r").await.as_deref(), Some("40"));
    });
}

#[test]
fn dropped_and_truncated_tables_stay_empty() {
    let disk = SimDisk::new();
    run(async {
        let harness = open(&disk, 2);
        harness.create_tables().await.unwrap();
        fill(&harness, 5, 2).await;
        harness.store().commit(commit(vec![put(OTHER, "p", "r", "v", 1)])).await.unwrap();
        let mut truncated = TableConfig::new(TABLE);
        truncated.incarnation = 1;
        harness.stores[1].alter(b"second".to_vec(), vec![truncated]).await.unwrap();
        assert_eq!(harness.all(TABLE).await, []);
        let gone = harness.store().commit(commit(vec![put(OTHER, "p", "r", "v", 1)])).await;
        assert_eq!(gone, Err(StoreError::UnknownTable(OTHER)));
        harness.put("p0", "new", "kept", 3).await.unwrap();
    });
    run(async {
        let harness = open(&disk.image(CrashImage::DropUnsynced), 3);
        assert_eq!(harness.opened.catalogue.as_deref(), Some(&b"second"[..]));
        assert_eq!(harness.opened.skipped, 11);
        assert_eq!(harness.all(TABLE).await, [("p0".into(), "new".into(), "kept".into())]);
    });
}

#[test]
fn a_second_engine_is_kept_out_until_the_first_is_closed() {
    run(async {
        let disk = SimDisk::new();
        let harness = open(&disk, 1);
        let error = open_with(&disk, options(1)).err().unwrap().to_string();
        assert!(error.contains("another process") && error.contains("/db"), "{error}");
        harness.engine.close().await;
        open_with(&disk, options(1)).map(|_| ()).unwrap();
    });
}

#[test]
fn after_a_failed_sync_writes_are_refused_and_reads_go_on() {
    run(async {
        let disk = SimDisk::new();
        let harness = open(&disk, 2);
        harness.create_tables().await.unwrap();
        harness.put("p", "r", "safe", 1).await.unwrap();
        disk.fault_at(disk.io_count() + 2, rt::Fault::Error);
        let refused = harness.put("p", "r", "lost", 2).await.unwrap_err();
        assert!(
            matches!(&refused, StoreError::ReadOnly { reason } if reason.contains("syncing")),
            "{refused}"
        );
        for n in 0..5 {
            assert!(matches!(
                harness.put(&format!("p{n}"), "r", "v", 3).await,
                Err(StoreError::ReadOnly { .. })
            ));
        }
        assert!(harness.engine.read_only().is_some());
        assert_eq!(harness.get("p", "r").await.as_deref(), Some("safe"));
    });
}

#[test]
fn too_large_commits_are_refused_before_anything_happens() {
    run(async {
        let harness = open(&SimDisk::new(), 1);
        harness.create_tables().await.unwrap();
        let error = harness.put("p", "r", &"x".repeat(9000), 1).await.unwrap_err();
        assert!(matches!(error, StoreError::Refused(_)), "{error}");
        harness.put("p", "r", "small", 1).await.unwrap();
        assert_eq!(harness.get("p", "r").await.as_deref(), Some("small"));
    });
}

#[test]
fn shards_that_end_without_closing_keep_their_log() {
    let disk = SimDisk::new();
    let (engine, rows) = run(async {
        let mut options = options(2);
        options.memtable_bytes_max = 128 << 10;
        // One segment, so that the flush is the only job.
        options.log_segment_bytes = 1 << 20;
        let harness = open_with(&disk, options).unwrap();
        harness.create_tables().await.unwrap();
        let (first, second) = (key_of_shard(0), key_of_shard(1));
        harness.put(&second, "r", "only in the log", 1).await.unwrap();
        // Fills the memtable of shard 0 until it is sealed; its flush waits.
        let mut rows = 1;
        while harness.engine.metrics().jobs_waiting.get() == 0 {
            harness.put(&first, &format!("r{rows}"), &"x".repeat(1000), 1).await.unwrap();
            rows += 1;
        }
        (harness.engine, rows)
    });
    // Both shards are gone with their memtables. The flush goes on, and may give up only its own part of the log.
    assert!(engine.run_jobs());
    assert_eq!(engine.metrics().flushes.get(), 1);
    drop(engine);
    run(async {
        let harness = open(&disk.image(CrashImage::DropUnsynced), 2);
        assert_eq!(harness.get(&key_of_shard(1), "r").await.as_deref(), Some("only in the log"));
        assert_eq!(harness.all(TABLE).await.len(), rows);
    });
}
