//! Backups that somebody made to hurt whoever restores them: bounded, and refused in words.

use crate::harness::*;
use engine::manifest::{FileId, FileRecord, Manifest, ManifestState};
use engine::{CopyError, Engine, copy_database};
use rt::{Disk, RealDisk, SystemClock};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Longer than any disk here.
const GIANT: u64 = 1 << 40;

/// A small database on the real disk, not closed, so that it has a log too.
fn backup() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    run(async {
        let mut options = options(1);
        options.dir = dir.path().join("backup");
        let (engine, opened) = Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap();
        let stores = vec![engine.store(0).unwrap()];
        let harness = Harness { engine, opened, stores, clock: Arc::default() };
        harness.create_tables().await.unwrap();
        harness.put("p", "flushed", "v", 1).await.unwrap();
        assert!(harness.engine.flush().await);
        harness.put("p", "logged", "v", 1).await.unwrap();
    });
    dir
}

fn first_in(dir: &Path) -> PathBuf {
    let mut names: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names[0].clone()
}

/// The files of a database, one of each kind.
fn parts(dir: &TempDir) -> [PathBuf; 4] {
    let backup = dir.path().join("backup");
    let (table, segment) = (first_in(&backup.join("tables")), first_in(&backup.join("log")));
    [backup.join("MANIFEST"), backup.join("CATALOGUE"), table, segment]
}

fn restore(dir: &TempDir) -> Result<engine::Copied, CopyError> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    copy_database(&disk, &dir.path().join("backup"), &dir.path().join("restored"), &mut |_| {})
}

/// Refused, with the file's name and something to read; nothing stays.
fn assert_refused(dir: &TempDir, path: &Path) -> String {
    let text = restore(dir).expect_err("it was restored").to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    assert!(!dir.path().join("restored").exists(), "{text}");
    text
}

#[test]
fn sparse_giants_are_refused_without_being_read_or_copied() {
    for part in 0..4 {
        let dir = backup();
        let path = &parts(&dir)[part];
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(GIANT).unwrap();
        let text = assert_refused(&dir, path);
        let worded = text.contains("cannot be right") || text.contains("footer is damaged");
        assert!(worded, "{text}");
        let verified = engine::verify(&RealDisk, &dir.path().join("backup"), &mut |_| {});
        assert!(verified.is_err() || !verified.unwrap().problems.is_empty());
    }
}

#[test]
fn links_and_pipes_are_refused_and_lead_nowhere() {
    for part in 0..4 {
        let dir = backup();
        let path = &parts(&dir)[part];
        let elsewhere = dir.path().join("elsewhere");
        fs::rename(path, &elsewhere).unwrap();
        symlink(&elsewhere, path).unwrap();
        assert!(assert_refused(&dir, path).contains("link"));
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        assert!(assert_refused(&dir, path).contains("pipe"));
        let verified = engine::verify(&RealDisk, &dir.path().join("backup"), &mut |_| {});
        assert!(verified.is_err() || !verified.unwrap().problems.is_empty(), "and nobody waits for the pipe");
    }
    // A lock that would be made somewhere else.
    let dir = backup();
    let (lock, made) = (dir.path().join("backup/LOCK"), dir.path().join("made"));
    fs::remove_file(&lock).unwrap();
    symlink(&made, &lock).unwrap();
    assert!(assert_refused(&dir, &lock).contains("plain file"));
    assert!(!made.exists());
}

#[test]
fn what_is_no_part_of_a_database_is_left_out_and_told() {
    let dir = backup();
    let backup = dir.path().join("backup");
    let names = ["notes.txt", "log/..%2f..%2fetc", "tables/x.table", "tables/00000000000000ZZ.table"];
    for name in names {
        fs::write(backup.join(name), "not ours").unwrap();
    }
    symlink("/etc", backup.join("tables/etc")).unwrap();
    for n in 0..30 {
        fs::write(backup.join(format!("more-{n}")), "").unwrap();
    }
    let copied = restore(&dir).unwrap();
    assert_eq!((copied.left_out.len(), copied.left_out_count), (10, 35));
    let restored = dir.path().join("restored");
    let mut found: Vec<String> = Vec::new();
    for part in [restored.clone(), restored.join("log"), restored.join("tables")] {
        for entry in fs::read_dir(part).unwrap() {
            found.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    found.sort();
    let expected =
        ["0000000000000001.log", "0000000000000001.table", "CATALOGUE", "MANIFEST", "log", "tables"];
    assert_eq!(found, expected);
}

#[test]
fn absurd_lengths_in_a_manifest_are_refused() {
    let (dir, disk) = (backup(), RealDisk);
    let backup = dir.path().join("backup");
    let state = Manifest::peek(&disk, &backup).unwrap().state;
    let record = state.files.values().next().unwrap().clone();
    for bytes in [0, u64::MAX, u64::MAX - 1] {
        let mut state = ManifestState { next_file: 10, ..state.clone() };
        state.files.insert(record.id, FileRecord { bytes, ..record.clone() });
        // A second one that is not there, so that the sum of all lengths is too large.
        state.files.insert(FileId(9), FileRecord { id: FileId(9), bytes, ..record.clone() });
        Manifest::write_copy(Arc::new(RealDisk), &backup, state).unwrap();
        let text = restore(&dir).expect_err("it was restored").to_string();
        assert!(text.contains(".table"), "{text}");
        assert!(!dir.path().join("restored").exists());
    }
}
