//! Failing calls, a full disk, damaged and missing files: clear errors, no loss, never wrong data.

use crate::crash::{Step, contents, expected, history, open_small, run_steps};
use crate::harness::*;
use rt::{CrashImage, Disk, Fault, SimDisk};
use std::path::Path;
use store::{Store, StoreError};

#[test]
fn any_single_failing_call_loses_nothing() {
    let history = history(7, 50);
    for k in 1.. {
        let disk = SimDisk::new();
        disk.fault_at(k, Fault::Error);
        let (done, met) = run(async {
            let Ok(harness) = open_small(&disk, 2) else { return (0, true) };
            let done = run_steps(&harness, &history).await;
            (done, disk.io_count() >= k)
        });
        if !met {
            assert!(k > 100 && done == history.len(), "{k} {done}");
            return;
        }
        for image in [CrashImage::DropUnsynced, CrashImage::KeepAll] {
            let image = disk.image(image);
            run(async {
                let harness = open_small(&image, 3).unwrap_or_else(|error| panic!("k {k}: {error}"));
                let found = contents(harness.store()).await.unwrap();
                let (before, after) = (expected(&history, done).await, expected(&history, done + 1).await);
                assert!(found == before || found == after, "k {k} {done}: {found:#?}\n{before:#?}");
            });
        }
    }
}

#[test]
fn a_full_disk_stops_writes_and_loses_nothing() {
    let history = history(8, 50);
    for k in (1..).step_by(3) {
        let disk = SimDisk::new();
        disk.fault_at(k, Fault::Full);
        let (done, met) = run(async {
            let Ok(harness) = open_small(&disk, 2) else { return (0, true) };
            let done = run_steps(&harness, &history).await;
            (done, disk.io_count() >= k)
        });
        if !met {
            assert!(k > 100, "{k}");
            return;
        }
        let image = disk.image(CrashImage::DropUnsynced);
        run(async {
            let harness = open_small(&image, 1).unwrap_or_else(|error| panic!("k {k}: {error}"));
            let found = contents(harness.store()).await.unwrap();
            let (before, after) = (expected(&history, done).await, expected(&history, done + 1).await);
            assert!(found == before || found == after, "k {k} {done}: {found:#?}\n{before:#?}");
        });
    }
}

/// A small database in files, closed, with the state it must show.
fn closed_database() -> (SimDisk, Vec<String>) {
    let disk = SimDisk::new();
    let history: Vec<Step> = history(11, 40);
    let all = run(async {
        let harness = open_small(&disk, 1).unwrap();
        assert_eq!(run_steps(&harness, &history).await, history.len());
        harness.engine.close().await;
        expected(&history, history.len()).await
    });
    (disk, all)
}

#[test]
fn any_flipped_byte_is_reported_or_harmless() {
    let (disk, all) = closed_database();
    let (mut refused, mut harmless) = (0u32, 0u32);
    for (path, len) in disk.files() {
        // Log segments are mostly unused space; their own test flips every byte of them.
        let step = if path.extension().is_some_and(|e| e == "log") { 97 } else { 3 };
        for offset in (0..len).step_by(step) {
            let image = disk.image(CrashImage::KeepAll);
            image.flip(&path, offset, 1 << (offset % 8));
            let outcome = run(async {
                let harness = open_small(&image, 1).map_err(|error| error.to_string())?;
                contents(harness.store()).await.map_err(|error| error.to_string())
            });
            match outcome {
                Ok(found) => {
                    assert_eq!(found, all, "{} flipped at {offset}", path.display());
                    harmless += 1;
                }
                Err(text) => {
                    assert!(text.contains("/db/"), "the file is named: {text}");
                    refused += 1;
                }
            }
        }
    }
    println!("{refused} refused, {harmless} harmless");
    assert!(refused > 100, "{refused} refused, {harmless} harmless");
}

#[test]
fn a_missing_file_is_named_and_foreign_files_are_left_alone() {
    let (disk, all) = closed_database();
    for (path, _) in disk.files() {
        let image = disk.image(CrashImage::KeepAll);
        image.remove(&path).unwrap();
        let outcome = run(async {
            match open_small(&image, 1) {
                Ok(harness) => Ok(contents(harness.store()).await.unwrap()),
                Err(error) => Err(error.to_string()),
            }
        });
        match outcome {
            Err(text) => assert!(text.contains("/db"), "{text}"),
            // A spare log segment.
            Ok(found) => assert_eq!(found, all, "{}", path.display()),
        }
    }
    for dir in ["/db/tables", "/db/log"] {
        let image = disk.image(CrashImage::KeepAll);
        let foreign = Path::new(dir).join("notes.txt");
        image.create(&foreign).unwrap();
        run(async {
            let harness = open_small(&image, 1).unwrap();
            assert_eq!(contents(harness.store()).await.unwrap(), all);
        });
        assert!(image.exists(&foreign).unwrap());
    }
}

#[test]
fn memory_stays_within_its_budget_and_overload_passes() {
    run(async {
        let disk = SimDisk::new();
        let mut options = options(1);
        options.memtable_bytes_max = 256 << 10;
        options.log_segment_bytes = 64 << 10;
        let harness = open_with(&disk, options).unwrap();
        harness.create_tables().await.unwrap();
        let value = "v".repeat(1000);
        for n in 0..2000 {
            harness.put(&format!("p{}", n % 50), &format!("r{n:05}"), &value, 10).await.unwrap();
            assert!(harness.engine.metrics().memtable_bytes.get() <= 512 << 10);
        }
        assert!(harness.engine.metrics().flushes.get() > 3);
        // The log is given up as memtables reach the disk.
        let segments =
            disk.files().iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "log")).count();
        assert!(segments < 16, "{segments} segments");

        disk.refuse_writes(Some(".table"));
        let mut refused = None;
        for n in 0..2000 {
            if let Err(error) = harness.put("p", &format!("s{n:05}"), &value, 10).await {
                refused = Some(error);
                break;
            }
        }
        assert!(matches!(refused, Some(StoreError::Overloaded(_))), "{refused:?}");
        assert!(harness.get("p0", "r00000").await.is_some());
        disk.refuse_writes(None);
        for _ in 0..4 {
            harness.engine.run_jobs();
            tokio::task::yield_now().await;
        }
        harness.put("p", "again", &value, 10).await.unwrap();
        assert_eq!(harness.get("p0", "r01950").await, Some(value));
    });
}

#[test]
fn a_failed_change_of_tables_leaves_the_old_ones() {
    for ahead in 1..8 {
        let disk = SimDisk::new();
        run(async {
            let harness = open(&disk, 2);
            harness.create_tables().await.unwrap();
            harness.put("p", "r", "v", 1).await.unwrap();
            disk.fault_at(disk.io_count() + ahead, Fault::Error);
            let failed = harness.store().alter(b"none".to_vec(), Vec::new()).await.is_err();
            if failed {
                harness.put("p", "r2", "v", 1).await.unwrap();
                assert_eq!(harness.all(TABLE).await.len(), 2);
            }
        });
        run(async {
            let harness = open(&disk.image(CrashImage::DropUnsynced), 2);
            match harness.opened.catalogue.as_deref() {
                Some(b"catalogue") => assert_eq!(harness.all(TABLE).await.len(), 2, "{ahead}"),
                other => assert_eq!(other, Some(&b"none"[..])),
            }
        });
    }
}
