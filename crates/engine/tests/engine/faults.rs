//! Failing calls and a full disk: clear errors, no loss. Damaged and missing files are in `damage`.

use crate::crash::{contents, expected, history, open_small, run_steps};
use crate::harness::*;
use rt::{CrashImage, Fault, SimDisk};
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

#[test]
fn a_flush_that_was_given_up_does_not_keep_the_engine_from_closing() {
    run(async {
        let disk = SimDisk::new();
        let harness = open(&disk, 1);
        harness.create_tables().await.unwrap();
        harness.put("p", "r", "v", 1).await.unwrap();
        // The log fails, then a flush fails, and with the log gone nobody tries it again.
        disk.refuse_writes(Some(""));
        assert!(harness.put("p", "r2", "v", 1).await.is_err());
        assert!(harness.engine.read_only().is_some());
        assert!(!harness.engine.flush().await);
        assert!(!harness.engine.flush().await, "asked again, it answers again");
        assert_eq!(harness.get("p", "r").await.as_deref(), Some("v"), "reads go on");
        harness.engine.close().await;
        let harness = open(&disk.image(CrashImage::DropUnsynced), 1);
        assert_eq!(harness.get("p", "r").await.as_deref(), Some("v"));
    });
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

/// EINTR, EMFILE, ENFILE, ENOSPC, EDQUOT, ENOMEM.
const PASSING: [i32; 6] = [4, 24, 23, 28, 122, 12];

#[test]
fn an_error_that_passes_at_any_call_never_stops_writes_for_good() {
    let history = history(9, 40);
    for k in 1.. {
        let disk = SimDisk::new();
        let done = run(async {
            let harness = open_small(&disk, 2).unwrap();
            let at = disk.io_count() + k;
            disk.fault_at(at, Fault::Os(PASSING[k as usize % PASSING.len()]));
            // A change of tables may be refused; then nothing after it can be compared.
            run_steps(&harness, &history).await;
            assert_eq!(harness.engine.read_only(), None, "k {k}");
            if harness.create_tables().await.is_err() {
                // The error came just now; it has passed.
                harness.create_tables().await.unwrap();
            }
            harness.put("after", "r", "v", 1).await.unwrap();
            while harness.engine.run_jobs() {
                tokio::task::yield_now().await;
            }
            assert_eq!(harness.get("after", "r").await.as_deref(), Some("v"), "k {k}");
            disk.io_count() < at
        });
        run(async {
            let harness = open_small(&disk.image(CrashImage::DropUnsynced), 1).unwrap();
            assert_eq!(harness.get("after", "r").await.as_deref(), Some("v"), "k {k}");
        });
        if done {
            assert!(k > 100, "{k}");
            return;
        }
    }
}

#[test]
fn a_process_without_descriptors_refuses_what_needs_them_and_goes_on_later() {
    run(async {
        let disk = SimDisk::new();
        let harness = open_small(&disk, 1).unwrap();
        harness.create_tables().await.unwrap();
        harness.put("p", "before", "v", 1).await.unwrap();
        disk.starve(Some(rt::disk::EMFILE));
        // Nothing that is opened: a change of tables and a flush fail, reads and writes do not.
        assert!(harness.store().alter(b"none".to_vec(), Vec::new()).await.is_err());
        assert_eq!(harness.engine.read_only(), None);
        harness.put("p", "during", "v", 1).await.unwrap();
        assert_eq!(harness.get("p", "before").await.as_deref(), Some("v"));
        assert!(harness.engine.snapshot(std::path::Path::new("/copy")).await.is_err());
        disk.starve(None);
        harness.put("p", "after", "v", 1).await.unwrap();
        assert!(harness.engine.flush().await);
        assert_eq!(harness.all(TABLE).await.len(), 3);
        harness.engine.snapshot(std::path::Path::new("/copy")).await.unwrap();
        harness.engine.close().await;
        let again = open_small(&disk.image(CrashImage::DropUnsynced), 1).unwrap();
        assert_eq!(again.all(TABLE).await.len(), 3);
    });
}
