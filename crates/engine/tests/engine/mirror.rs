//! The next generation of a table while commits are under way: nothing comes between reading a row and writing its copy, and
//! generations begin and end between commits.

use crate::harness::*;
use engine::EmbeddedStore;
use model::deletion::Deletion;
use model::key::PartitionKey;
use rt::SimDisk;
use std::sync::Arc;
use store::{Homes, MirrorConfig, Mutation, Slice, Store, StoreError, TableConfig};

/// Every partition is divided in three.
#[derive(Debug)]
struct Thirds;

impl Homes for Thirds {
    fn home(&self, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
        let third = clustering.iter().map(|byte| u32::from(*byte)).sum::<u32>() % 3;
        PartitionKey::of(&[key.bytes(), format!("/{third}").as_bytes()].concat())
    }
}

fn tables(with_mirror: bool) -> Vec<TableConfig> {
    let mirror = MirrorConfig { table: OTHER, homes: Arc::new(Thirds), buckets: None, indexes: Vec::new() };
    let table = TableConfig { mirror: with_mirror.then_some(mirror), ..TableConfig::new(TABLE) };
    vec![table, TableConfig::new(OTHER)]
}

fn delete_all(key: &str, timestamp: i64) -> Mutation {
    let mut mutation = Mutation::new(TABLE, partition(key));
    mutation.delete_range(b"\0", b"\xff", Deletion { timestamp, local_seconds: NOW_SECONDS });
    mutation
}

/// Rows without their partitions, which differ.
async fn rows_of(harness: &Harness, table: store::TableId) -> Vec<(String, String)> {
    let mut rows: Vec<_> = harness.all(table).await.into_iter().map(|(_, row, value)| (row, value)).collect();
    rows.sort();
    rows
}

#[test]
fn a_range_that_is_deleted_while_rows_are_on_their_way_takes_them_in_both() {
    run(async {
        let mut waiting = options(1);
        waiting.inline = false;
        let harness = open_with(&SimDisk::new(), waiting).unwrap_or_else(|error| panic!("{error}"));
        harness.store().alter(b"c".to_vec(), tables(true)).await.unwrap();
        for round in 0..20 {
            let (store, key) = (harness.store(), format!("k{round}"));
            let insert = store.commit(commit(vec![put(TABLE, &key, &format!("r{round}"), "v", 90)]));
            let delete = store.commit(commit(vec![delete_all(&key, 100)]));
            let (insert, delete) = tokio::join!(insert, delete);
            insert.and(delete).unwrap();
        }
        assert_eq!(rows_of(&harness, TABLE).await, []);
        assert_eq!(rows_of(&harness, OTHER).await, []);
    });
}

async fn write(store: EmbeddedStore, number: usize) -> Result<(), StoreError> {
    // Some give the change of the tables time to begin.
    for _ in 0..number % 11 {
        tokio::task::yield_now().await;
    }
    // Partitions of several shards, so that one shard has to ask another what the commit does to the mirror.
    let rows = ["a", "b", "c"]
        .map(|part| put(TABLE, &format!("{part}{number}"), &format!("{part}{number}"), "v", 5));
    store.commit(commit(rows.to_vec())).await
}

#[test]
fn a_turn_loses_no_commit_that_was_acknowledged_and_takes_none_too_late() {
    for shards in [1, 3] {
        run(async {
            let harness = open(&SimDisk::new(), shards);
            harness.store().alter(b"c".to_vec(), tables(true)).await.unwrap();
            let commits: Vec<_> = (0..60)
                .map(|n| tokio::task::spawn_local(write(harness.stores[n % shards].clone(), n)))
                .collect();
            tokio::task::yield_now().await;
            harness.store().alter(b"c".to_vec(), vec![TableConfig::new(OTHER)]).await.unwrap();
            let mut expected = Vec::new();
            for (number, outcome) in commits.into_iter().enumerate() {
                match outcome.await.unwrap() {
                    Ok(()) => expected
                        .extend(["a", "b", "c"].map(|part| (format!("{part}{number}"), "v".to_string()))),
                    Err(error) => assert_eq!(error, StoreError::UnknownTable(TABLE)),
                }
            }
            expected.sort();
            assert_eq!(rows_of(&harness, OTHER).await, expected);
        });
    }
}

#[test]
fn what_was_on_its_way_when_a_generation_began_is_copied_by_touching() {
    for shards in [1, 3] {
        run(async {
            let harness = open(&SimDisk::new(), shards);
            harness.store().alter(b"c".to_vec(), tables(false)).await.unwrap();
            let commits: Vec<_> = (0..60)
                .map(|n| tokio::task::spawn_local(write(harness.stores[n % shards].clone(), n)))
                .collect();
            tokio::task::yield_now().await;
            harness.store().alter(b"c".to_vec(), tables(true)).await.unwrap();
            // Those that the alteration let pass are there; the others are doubled from now on.
            for (key, _, _) in harness.all(TABLE).await {
                let mut touching = Mutation::new(TABLE, partition(&key));
                touching.touch(Slice::all());
                harness.store().commit(commit(vec![touching])).await.unwrap();
            }
            for outcome in commits {
                outcome.await.unwrap().unwrap();
            }
            let rows = rows_of(&harness, TABLE).await;
            assert_eq!(rows.len(), 180);
            assert_eq!(rows_of(&harness, OTHER).await, rows);
        });
    }
}
