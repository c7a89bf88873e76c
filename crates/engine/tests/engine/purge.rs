//! A merge purges tombstones by what it saw when it began; what arrives while it runs must not come back to life.

use crate::harness::*;
use engine::{Engine, EngineOptions};
use model::deletion::Deletion;
use model::row::RowWriter;
use rt::{ManualClock, SimDisk};
use std::sync::Arc;
use store::{Mutation, Store, TableConfig};

fn delete(key: &str, row: &str, at: i64) -> Mutation {
    let mut mutation = Mutation::new(TABLE, partition(key));
    let mut writer = RowWriter::new();
    writer.begin(at, None, Deletion { timestamp: at, local_seconds: NOW_SECONDS });
    mutation.row(row.as_bytes(), writer.view());
    mutation
}

/// A file with many tombstones, one live row and nothing beneath: rewritten alone as soon as it is found.
async fn write_tombstones(disk: &SimDisk, grace: u32) {
    let harness = open(disk, 1);
    let mut table = TableConfig::new(TABLE);
    table.gc_grace_seconds = grace;
    harness.store().alter(b"catalogue".to_vec(), vec![table]).await.unwrap();
    harness.put("p", "live", "v", 200).await.unwrap();
    for n in 0..20 {
        harness.store().commit(commit(vec![delete("p", &format!("r{n:02}"), 200)])).await.unwrap();
    }
    harness.engine.close().await;
}

/// Opens, writes while the merge is held up, and returns what is there afterwards.
async fn rows_after_merge(disk: &SimDisk, write: Option<Mutation>) -> Vec<(String, String, String)> {
    let merge = disk.hold_create(".table");
    // Later than the grace period of anything.
    let clock = Arc::new(ManualClock::at_micros(i64::from(NOW_SECONDS + 10) * 1_000_000));
    let (engine, _) = Engine::open(Arc::new(disk.clone()), clock, EngineOptions::new("/db")).unwrap();
    let store = engine.store(0).unwrap();
    while !merge.is_reached() {
        tokio::task::yield_now().await;
    }
    if let Some(mutation) = write {
        store.commit(commit(vec![mutation])).await.unwrap();
    }
    drop(merge);
    while engine.metrics().compactions.get() == 0 {
        tokio::task::yield_now().await;
    }
    engine.close().await;
    drop((store, engine));
    // What the manifest names now is what counts.
    open(disk, 1).all(TABLE).await
}

fn live() -> (String, String, String) {
    ("p".into(), "live".into(), "v".into())
}

#[test]
fn what_arrives_during_a_merge_stays_under_the_tombstones_it_found() {
    for (older, expected) in
        [(100, vec![live()]), (300, vec![live(), ("p".into(), "r07".into(), "w".into())])]
    {
        let disk = SimDisk::new();
        run(write_tombstones(&disk, 0));
        let found = run(rows_after_merge(&disk, Some(put(TABLE, "p", "r07", "w", older))));
        assert_eq!(found, expected, "written at {older}, deleted at 200");
    }
}

#[test]
fn a_merge_beside_which_nothing_arrives_purges() {
    let disk = SimDisk::new();
    run(write_tombstones(&disk, 0));
    assert_eq!(run(rows_after_merge(&disk, None)), [live()]);
    run(async {
        let harness = open(&disk, 1);
        // With the tombstones gone, an older write is seen: this is what the check above protects from.
        harness.put("p", "r07", "w", 100).await.unwrap();
        assert_eq!(harness.get("p", "r07").await.as_deref(), Some("w"));
    });
}

/// What a migration relies on: a table that holds its tombstones (a grace period that never ends) keeps a deletion through merges
/// and starts, so that what the backfill brings later stays deleted. Released, it purges as ever.
#[test]
fn held_tombstones_hide_what_comes_later_than_any_grace() {
    for (grace, comes_back) in [(0, true), (u32::MAX, false)] {
        let disk = SimDisk::new();
        run(write_tombstones(&disk, grace));
        let found = run(async {
            // Inline, merges that are due happen at once: when the engine opens and when files arrive.
            let harness = open(&disk, 1);
            for n in 0..4 {
                harness.put("q", "other", &format!("v{n}"), 300 + n).await.unwrap();
                assert!(harness.engine.flush().await);
            }
            harness.engine.close().await;
            let harness = open(&disk, 1);
            harness.put("p", "r07", "w", 100).await.unwrap();
            let found = harness.get("p", "r07").await;
            // The migration is over.
            let mut table = TableConfig::new(TABLE);
            table.gc_grace_seconds = 0;
            harness.store().alter(b"catalogue".to_vec(), vec![table]).await.unwrap();
            assert_eq!(harness.get("p", "r07").await, found, "letting go brings nothing back");
            found
        });
        assert_eq!(found.is_some(), comes_back, "grace {grace}");
    }
}
