//! Partitions at their limit: what adds to them is refused on every way in, whatever happened in between.

use crate::harness::*;
use model::deletion::Deletion;
use rt::{Random, SimDisk};
use std::collections::BTreeMap;
use store::{Mutation, PartitionLimit, Store, StoreError, TableConfig};

fn limited(bytes: u64, rows: u64) -> Vec<TableConfig> {
    let mut table = TableConfig::new(TABLE);
    let part = |limit: u64| if limit == u64::MAX { limit } else { limit / 2 };
    table.limit =
        Some(PartitionLimit { bytes, rows, warn_bytes: part(bytes), warn_rows: part(rows), refuse: true });
    vec![table, TableConfig::new(OTHER)]
}

async fn limit_rows(harness: &Harness, rows: u64) {
    harness.store().alter(b"catalogue".to_vec(), limited(u64::MAX, rows)).await.unwrap();
}

fn is_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> bool {
    match outcome {
        Err(StoreError::PartitionFull(full)) => {
            assert!(full.rows >= full.limit.rows || full.bytes >= full.limit.bytes, "{full:?}");
            true
        }
        Ok(_) => false,
        other => panic!("{other:?}"),
    }
}

fn delete_partition(key: &str, at: i64) -> Mutation {
    let mut mutation = Mutation::new(TABLE, partition(key));
    mutation.delete_partition(Deletion { timestamp: at, local_seconds: NOW_SECONDS });
    mutation
}

#[test]
fn a_full_partition_takes_deletions_only() {
    run(async {
        let disk = SimDisk::new();
        let harness = open(&disk, 2);
        limit_rows(&harness, 10).await;
        for n in 0..10 {
            assert!(harness.store().crowding(TABLE, &partition("p")).is_none() || n >= 5);
            harness.put("p", &format!("r{n}"), "v", 100).await.unwrap();
        }
        // On every way in: begun, waited for, from the other shard, beside others.
        for store in &harness.stores {
            for promptly in [true, false] {
                let more = commit(vec![put(TABLE, "p", "r10", "v", 100)]);
                assert!(is_full(commit_one_way(store, promptly, more).await));
                let both = commit(vec![put(TABLE, "q", "r", "v", 100), put(TABLE, "p", "r10", "v", 100)]);
                assert!(is_full(commit_one_way(store, promptly, both).await));
            }
        }
        assert_eq!(harness.get("q", "r").await, None, "all or nothing");
        harness.put("q", "r", "v", 100).await.unwrap();
        let elsewhere = commit(vec![put(OTHER, "p", "r10", "v", 100)]);
        harness.store().commit(elsewhere).await.unwrap();
        // A deletion of the whole partition makes room at once, and that survives a flush.
        harness.store().commit(commit(vec![delete_partition("p", 200)])).await.unwrap();
        harness.put("p", "r10", "v", 300).await.unwrap();
        harness.engine.flush().await;
        harness.put("p", "r11", "v", 300).await.unwrap();
        assert_eq!(harness.all(TABLE).await.len(), 3);
    });
}

#[test]
fn a_limit_holds_after_restarts_and_when_it_is_changed() {
    run(async {
        let disk = SimDisk::new();
        let harness = open(&disk, 2);
        limit_rows(&harness, 10).await;
        for n in 0..10 {
            harness.put("p", &format!("r{n}"), "v", 100).await.unwrap();
        }
        drop(harness);
        for flushed in [false, true, false] {
            let harness = open(&disk, 2);
            limit_rows(&harness, 10).await;
            assert!(is_full(harness.put("p", "more", "v", 100).await), "after a restart");
            limit_rows(&harness, 11).await;
            assert_eq!(harness.store().crowding(TABLE, &partition("p")).map(|(_, rows, _)| rows), Some(10));
            limit_rows(&harness, 9).await;
            assert!(is_full(harness.put("p", "more", "v", 100).await), "below what is there");
            harness.store().alter(b"catalogue".to_vec(), vec![TableConfig::new(TABLE)]).await.unwrap();
            assert!(!harness.store().is_crowded(), "without a limit nothing is marked");
            if flushed {
                harness.engine.close().await;
            }
        }
        let harness = open(&disk, 2);
        limit_rows(&harness, 10).await;
        let mut emptied = limited(u64::MAX, 10);
        emptied[0].incarnation = 1;
        harness.store().alter(b"catalogue".to_vec(), emptied).await.unwrap();
        harness.put("p", "more", "v", 100).await.unwrap();
    });
}

/// Random writes of new rows: the ledger counts exactly what is there, however it is spread over memtables and files, and no
/// partition passes its limit by more than the row that reached it.
#[test]
fn the_ledger_counts_exactly_what_is_there() {
    for seed in 0..20 {
        run(async {
            let mut random = Random::seeded(seed);
            let disk = SimDisk::new();
            let mut harness = open(&disk, 2);
            limit_rows(&harness, 40).await;
            let mut truth: BTreeMap<String, u64> = BTreeMap::new();
            for n in 0..600 {
                let key = format!("p{}", random.below(8).min(random.below(8)));
                let outcome = harness.put(&key, &format!("r{n}"), "v", 100).await;
                let rows = truth.entry(key.clone()).or_default();
                assert_eq!(is_full(outcome), *rows >= 40, "seed {seed}, {key} with {rows} rows");
                *rows = 40.min(*rows + 1);
                if *rows >= 20 {
                    let found = harness.store().crowding(TABLE, &partition(&key));
                    let counted = found.map_or(0, |(_, counted, _)| counted);
                    // Between the warning and the limit the number in the mark may be an earlier one.
                    assert!((20..=*rows).contains(&counted), "seed {seed}: {counted} of {rows}");
                }
                match random.below(60) {
                    0 => drop(harness.engine.flush().await),
                    1 => {
                        harness.engine.close().await;
                        drop(harness);
                        harness = open(&disk, 2);
                        limit_rows(&harness, 40).await;
                    }
                    _ => {}
                }
            }
            // Another limit has everything counted again.
            limit_rows(&harness, 30).await;
            for (key, rows) in truth.iter().filter(|(_, rows)| **rows >= 15) {
                let found = harness.store().crowding(TABLE, &partition(key));
                assert_eq!(found.map(|(_, counted, _)| counted), Some(*rows), "seed {seed}, {key}");
            }
        });
    }
}
