//! Copies of a database, for backup and restore: equal to the source, or nothing at all.

use crate::crash::{contents, expected, history, open_small, run_steps};
use crate::harness::*;
use engine::{Copied, CopyError, copy_database};
use rt::{CrashImage, Disk, Fault, SimDisk};
use std::path::Path;
use std::sync::Arc;

const STEPS: usize = 50;

/// A database that was killed: files, and a log with commits that are in no file.
fn source(seed: u64) -> (SimDisk, Vec<String>) {
    let disk = SimDisk::new();
    let history = history(seed, STEPS);
    let all = run(async {
        let harness = open_small(&disk, 2).unwrap();
        assert_eq!(run_steps(&harness, &history).await, history.len());
        expected(&history, history.len()).await
    });
    (disk.image(CrashImage::DropUnsynced), all)
}

fn copy(disk: &SimDisk, to: &str) -> Result<Copied, CopyError> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    copy_database(&shared, Path::new("/db"), Path::new(to), &mut |_| {})
}

fn contents_at(disk: &SimDisk, dir: &str) -> Vec<String> {
    run(async {
        let mut options = options(3);
        options.dir = dir.into();
        let harness = open_with(disk, options).unwrap_or_else(|error| panic!("{error}: {:?}", disk.files()));
        contents(harness.store()).await.unwrap()
    })
}

fn files_in(disk: &SimDisk, dir: &str) -> Vec<String> {
    let inside = |path: &Path| path.starts_with(dir);
    disk.files().iter().filter(|(path, _)| inside(path)).map(|(path, _)| path.display().to_string()).collect()
}

#[test]
fn a_copy_holds_everything_and_its_source_is_only_read() {
    let (disk, all) = source(31);
    let before = disk.files();
    let mut steps = Vec::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let copied =
        copy_database(&shared, Path::new("/db"), Path::new("/copy"), &mut |now| steps.push(now)).unwrap();
    assert!(copied.entries > 0 && copied.log_records > 0, "{copied:?}");
    assert!(steps.windows(2).all(|pair| pair[0].bytes_done <= pair[1].bytes_done));
    assert_eq!(
        steps.last().map(|last| (last.files_done, last.bytes_done)),
        steps.last().map(|l| (l.files, l.bytes))
    );
    let kept = |files: Vec<(std::path::PathBuf, u64)>| {
        files.into_iter().filter(|(path, _)| !path.starts_with("/copy")).collect::<Vec<_>>()
    };
    assert_eq!(kept(disk.files()), before);
    let report = engine::verify(&disk, Path::new("/copy"), &mut |_| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(contents_at(&disk.image(CrashImage::DropUnsynced), "/copy"), all);
}

#[test]
fn nothing_is_overwritten() {
    let (disk, _) = source(32);
    copy(&disk, "/copy").unwrap();
    let again = copy(&disk, "/copy").unwrap_err().to_string();
    assert!(again.contains("/copy already holds a database"), "{again}");
    disk.create_dir_all(Path::new("/home")).unwrap();
    disk.create(Path::new("/home/letter.txt")).unwrap();
    let foreign = copy(&disk, "/home").unwrap_err().to_string();
    assert!(foreign.contains("/home is not empty"), "{foreign}");
    assert_eq!(files_in(&disk, "/home"), ["/home/letter.txt"]);
    disk.create_dir_all(Path::new("/empty")).unwrap();
    copy(&disk, "/empty").unwrap();
}

#[test]
fn a_failure_at_any_io_leaves_nothing_and_the_next_attempt_works() {
    let (clean, all) = source(33);
    for fault in [Fault::Full, Fault::Error] {
        for k in 1.. {
            let disk = clean.image(CrashImage::KeepAll);
            disk.fault_at(k, fault);
            match copy(&disk, "/copy") {
                Err(error) => {
                    let text = error.to_string();
                    assert!(matches!(error, CopyError::Io { .. } | CopyError::Source(_)), "k {k}: {text}");
                    assert_eq!(files_in(&disk, "/copy"), [""; 0], "{fault:?} k {k}: {text}");
                    disk.make_room();
                    copy(&disk, "/copy").unwrap_or_else(|error| panic!("{fault:?} k {k}: {error}"));
                }
                Ok(_) => {
                    assert!(k > 20, "{k}");
                    break;
                }
            }
            assert_eq!(contents_at(&disk.image(CrashImage::DropUnsynced), "/copy"), all, "{fault:?} k {k}");
        }
    }
}

#[test]
fn a_crash_at_any_io_leaves_no_database_or_a_whole_one() {
    let (clean, all) = source(34);
    for k in 1.. {
        let disk = clean.image(CrashImage::KeepAll);
        disk.fault_at(k, Fault::Crash);
        let done = copy(&disk, "/copy").is_ok();
        for image in [CrashImage::DropUnsynced, CrashImage::KeepAll, CrashImage::Random { seed: k }] {
            let disk = disk.image(image);
            if !disk.exists(Path::new("/copy/MANIFEST")).unwrap() {
                assert!(!done, "k {k} {image:?}");
                // The same command again clears what the first left.
                copy(&disk, "/copy").unwrap_or_else(|error| panic!("k {k} {image:?}: {error}"));
            }
            assert_eq!(contents_at(&disk, "/copy"), all, "k {k} {image:?}");
        }
        if done {
            assert!(k > 20, "{k}");
            return;
        }
    }
}

#[test]
fn damage_in_the_source_is_named_and_nothing_is_copied() {
    let (clean, _) = source(35);
    let mut refused = 0;
    // Files that an interrupted job left are no part of the database.
    let whole = clean.image(CrashImage::KeepAll);
    copy(&whole, "/copy").unwrap();
    let copied = files_in(&whole, "/copy");
    let belongs = |path: &Path| copied.contains(&path.display().to_string().replace("/db", "/copy"));
    for (path, len) in clean.files().into_iter().filter(|(path, _)| belongs(path)) {
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let step = if kind == "log" { 509 } else { 11 };
        for offset in (0..len).step_by(step) {
            let disk = clean.image(CrashImage::KeepAll);
            disk.flip(&path, offset, 0x10);
            let Err(error) = copy(&disk, "/copy") else {
                assert!(kind == "log" || path.ends_with("MANIFEST"), "{} at {offset}", path.display());
                continue;
            };
            let text = error.to_string();
            assert!(matches!(error, CopyError::Source(_)), "{text}");
            assert!(text.contains(&path.display().to_string()) && text.contains("offset"), "{text}");
            assert_eq!(files_in(&disk, "/copy"), [""; 0], "{text}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_log_without_its_catalogue_is_not_copied() {
    let disk = SimDisk::new();
    run(async {
        let harness = open(&disk, 1);
        harness.create_tables().await.unwrap();
        harness.put("p", "r", "v", 1).await.unwrap();
    });
    let image = disk.image(CrashImage::KeepAll);
    image.remove(Path::new("/db/CATALOGUE")).unwrap();
    // A manifest of before the catalogue was named in it.
    let state = engine::manifest::Manifest::peek(&image, Path::new("/db")).unwrap().state;
    let state = engine::manifest::ManifestState { catalogues: Vec::new(), ..state };
    engine::manifest::Manifest::write_copy(Arc::new(image.clone()), Path::new("/db"), state).unwrap();
    let text = copy(&image, "/copy").expect_err("rows without tables").to_string();
    assert!(text.contains("CATALOGUE") && files_in(&image, "/copy").is_empty(), "{text}");
}
