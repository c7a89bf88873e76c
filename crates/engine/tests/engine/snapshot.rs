//! Snapshots are consistent databases of their own; verification finds every damage.

use crate::crash::{contents, expected, history, open_small, run_steps};
use crate::harness::*;
use rt::{CrashImage, Disk, Fault, SimDisk};
use std::path::Path;
use store::{Store, StoreError};

fn open_at(disk: &SimDisk, dir: &str, shards: usize) -> Result<Harness, engine::OpenError> {
    let mut options = options(shards);
    options.dir = dir.into();
    open_with(disk, options)
}

#[test]
fn a_snapshot_is_a_database_of_its_own_that_later_writes_do_not_change() {
    let disk = SimDisk::new();
    let history = history(21, 80);
    run(async {
        let harness = open_small(&disk, 2).unwrap();
        assert_eq!(run_steps(&harness, &history).await, history.len());
        let taken = harness.engine.snapshot(Path::new("/copy")).await.unwrap();
        assert!(taken.files > 0 && taken.bytes > 0);
        for n in 0..50 {
            harness.put(&format!("later{n}"), "r", "v", 5).await.unwrap();
        }
        harness.engine.flush().await;
        harness.engine.run_jobs();
        let again = harness.engine.snapshot(Path::new("/copy")).await;
        assert!(matches!(again, Err(StoreError::Refused(_))), "{again:?}");
    });
    for shards in [1, 3] {
        let disk = disk.image(CrashImage::DropUnsynced);
        run(async {
            let copy = open_at(&disk, "/copy", shards).unwrap();
            assert_eq!(contents(copy.store()).await.unwrap(), expected(&history, history.len()).await);
            copy.put("new", "r", "v", 5).await.unwrap();
        });
    }
}

#[test]
fn a_snapshot_holds_whole_batches_only() {
    let disk = SimDisk::new();
    run(async {
        let harness = open(&disk, 3);
        harness.create_tables().await.unwrap();
        let mut tasks = Vec::new();
        for n in 0..200usize {
            let store = harness.stores[n % 3].clone();
            tasks.push(tokio::task::spawn_local(async move {
                let batch = (0..5).map(|part| put(TABLE, &format!("p{part}"), &format!("r{n:03}"), "v", 5));
                store.commit(commit(batch.collect())).await
            }));
            if n == 100 {
                let engine = harness.engine.clone();
                tasks.push(tokio::task::spawn_local(async move {
                    engine.snapshot(Path::new("/copy")).await.map(|_| ())
                }));
            }
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(harness.all(TABLE).await.len(), 1000);
        let copy = open_at(&disk, "/copy", 2).unwrap();
        let rows = copy.all(TABLE).await;
        assert!(!rows.is_empty() && rows.len().is_multiple_of(5), "{}", rows.len());
        for row in &rows {
            assert_eq!(rows.iter().filter(|other| other.1 == row.1).count(), 5, "{row:?}");
        }
    });
}

#[test]
fn a_snapshot_that_is_cut_off_is_no_database_and_hurts_nothing() {
    let history = history(22, 40);
    for ahead in (1..40).step_by(3) {
        let disk = SimDisk::new();
        run(async {
            let harness = open_small(&disk, 2).unwrap();
            run_steps(&harness, &history).await;
            disk.fault_at(disk.io_count() + ahead, Fault::Crash);
            let _ = harness.engine.snapshot(Path::new("/copy")).await;
        });
        let disk = disk.image(CrashImage::Random { seed: ahead });
        run(async {
            let harness = open_small(&disk, 2).unwrap();
            let all = expected(&history, history.len()).await;
            assert_eq!(contents(harness.store()).await.unwrap(), all);
            if disk.exists(Path::new("/copy/MANIFEST")).unwrap() {
                let copy = open_at(&disk, "/copy", 1).unwrap();
                assert_eq!(contents(copy.store()).await.unwrap(), all);
            }
        });
    }
}

#[test]
fn verification_names_every_damaged_file() {
    let disk = SimDisk::new();
    run(async {
        let harness = open_small(&disk, 2).unwrap();
        run_steps(&harness, &history(23, 60)).await;
        harness.engine.flush().await;
        harness.put("p", "r", "in the log", 5).await.unwrap();
        harness.put("p", "r", "in the log too", 6).await.unwrap();
        let open = engine::verify(&disk, Path::new("/db"), &mut |_| {});
        assert!(matches!(open, Err(engine::OpenError::Locked { .. })));
    });
    let disk = disk.image(CrashImage::KeepAll);
    let mut last = engine::VerifyProgress::default();
    let report = engine::verify(&disk, Path::new("/db"), &mut |progress| last = progress).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.files > 0 && report.entries > 0 && report.log_records >= 2);
    assert_eq!((last.files_done, last.bytes_done), (last.files, last.bytes));
    let before = disk.files();
    for (path, len) in disk.files() {
        if path.extension().is_none_or(|extension| extension != "table") {
            continue;
        }
        for offset in (0..len).step_by(7) {
            let image = disk.image(CrashImage::KeepAll);
            image.flip(&path, offset, 0x80);
            let report = engine::verify(&image, Path::new("/db"), &mut |_| {}).unwrap();
            let text: Vec<String> = report.problems.iter().map(|problem| problem.to_string()).collect();
            let named = text.len() == 1 && text[0].contains(&path.display().to_string());
            assert!(named, "{} flipped at {offset}: {text:?}", path.display());
        }
    }
    assert_eq!(disk.files(), before, "verification changes nothing");
}
