//! Every byte of every file of a small database flipped, files removed, foreign files added.
//!
//! A flip is either refused, by opening or by the read that meets it, with file and offset; or it hit a byte that
//! means nothing (space behind the end of a log, a spare segment) and every answer is right. Never a wrong answer,
//! never a panic. `verify` finds the same flips without opening.

use crate::crash::{contents, expected, history, open_small, run_steps};
use crate::harness::*;
use rt::{CrashImage, Disk, SimDisk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const STEPS: usize = 40;

/// A small database and the state it must show. Closed, or killed while idle: then the log holds commits that are in no
/// file, and the manifest several records.
pub fn database(seed: u64, close: bool) -> (SimDisk, Vec<String>) {
    let disk = SimDisk::new();
    let history = history(seed, STEPS);
    let all = run(async {
        let harness = open_small(&disk, 1).unwrap();
        assert_eq!(run_steps(&harness, &history).await, history.len());
        match close {
            true => harness.engine.close().await,
            // The log tells what is durable when there is nothing else to do.
            false => {
                harness.engine.warm_up();
                while harness.engine.run_jobs() {}
            }
        }
        expected(&history, history.len()).await
    });
    (disk.image(CrashImage::KeepAll), all)
}

pub fn kind(path: &Path) -> &'static str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        "MANIFEST" => "manifest",
        "CATALOGUE" => "catalogue",
        _ if name.starts_with("spare-") => "spare segment",
        _ if name.ends_with(".log") => "log",
        _ if name.ends_with(".table") => "table",
        other => panic!("a file nobody thought of: {other}"),
    }
}

/// The numbers behind "offset" in a message.
fn offsets(text: &str) -> Vec<u64> {
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.split("offset ").skip(1).filter_map(number).collect()
}

/// Whether the message names the file and an offset that is not behind the flip.
fn names_it(text: &str, path: &Path, offset: u64) -> bool {
    text.contains(&path.display().to_string()) && offsets(text).iter().any(|found| *found <= offset)
}

/// Flips one byte, then opens and reads everything.
fn read_flipped(disk: &SimDisk, path: &Path, offset: u64) -> Result<Vec<String>, String> {
    let image = disk.image(CrashImage::KeepAll);
    assert!(image.flip(path, offset, 1 << (offset % 8)));
    run(async {
        let harness = open_small(&image, 1).map_err(|error| error.to_string())?;
        contents(harness.store()).await.map_err(|error| error.to_string())
    })
}

/// What verification says of a flipped byte: lines about that file.
fn verify_flipped(disk: &SimDisk, path: &Path, offset: u64) -> Vec<String> {
    let image = disk.image(CrashImage::KeepAll);
    image.flip(path, offset, 1 << (offset % 8));
    match engine::verify(&image, Path::new("/db"), &mut |_| {}) {
        Err(error) => vec![error.to_string()],
        Ok(report) => {
            let torn = report.torn.iter().map(|end| format!("{} torn at offset {}", end.file, end.offset));
            report.problems.iter().map(ToString::to_string).chain(torn).collect()
        }
    }
}

/// Flips every byte of every file; per kind of file how many were refused and how many meant nothing.
fn flip_everything(disk: &SimDisk, all: &[String]) -> BTreeMap<&'static str, (u32, u32)> {
    let mut counts: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    for (path, len) in disk.files() {
        for offset in 0..len {
            let place = format!("{} flipped at {offset}", path.display());
            let count = counts.entry(kind(&path)).or_default();
            let found = verify_flipped(disk, &path, offset);
            match read_flipped(disk, &path, offset) {
                Ok(answer) => {
                    assert_eq!(answer, all, "{place}");
                    let meant_something = matches!(kind(&path), "table" | "catalogue");
                    assert!(!meant_something, "{place}: nobody noticed");
                    count.1 += 1;
                }
                Err(text) => {
                    assert!(names_it(&text, &path, offset), "{place}: {text}");
                    let verified = found.iter().any(|line| names_it(line, &path, offset));
                    assert!(verified, "{place}: refused with {text}, but verification says {found:?}");
                    count.0 += 1;
                }
            }
        }
    }
    counts
}

#[test]
fn any_flipped_byte_of_a_closed_database_is_refused_or_meant_nothing() {
    let (disk, all) = database(11, true);
    assert!(verify_flipped(&disk, Path::new("/nowhere"), 0).is_empty(), "sound before");
    let counts = flip_everything(&disk, &all);
    println!("closed: {counts:?} (refused, meant nothing)");
    let (refused, ignored) = counts["manifest"];
    assert!(refused > 0 && counts["catalogue"].0 > 50 && counts["table"].0 > 500, "{counts:?}");
    assert_eq!(ignored, 0, "a closed database needs every byte of its manifest");
}

#[test]
fn any_flipped_byte_of_a_killed_database_is_refused_or_meant_nothing() {
    let (disk, all) = database(14, false);
    let counts = flip_everything(&disk, &all);
    println!("killed: {counts:?} (refused, meant nothing)");
    for kind in ["manifest", "catalogue", "log", "table"] {
        assert!(counts[kind].0 > 20, "{kind}: {counts:?}");
    }
}

#[test]
fn a_missing_file_is_named_and_nothing_is_changed() {
    for close in [true, false] {
        let (disk, all) = database(13, close);
        for (path, _) in disk.files() {
            let image = disk.image(CrashImage::KeepAll);
            image.remove(&path).unwrap();
            let before: Vec<(PathBuf, u64)> = image.files();
            let outcome = run(async {
                match open_small(&image, 1) {
                    Ok(harness) => Ok(contents(harness.store()).await.unwrap()),
                    Err(error) => Err(error.to_string()),
                }
            });
            match outcome {
                Err(text) => {
                    let folder =
                        if kind(&path) == "manifest" { "/db".into() } else { path.display().to_string() };
                    assert!(text.contains(&folder) && text.contains("restore"), "{text}");
                    let kept = image.files().iter().filter(|file| before.contains(file)).count();
                    assert_eq!(kept, before.len(), "refusing removed something: {text}");
                }
                Ok(found) => {
                    // Nothing was ever written to a spare segment and to the one ahead, which is the last.
                    let last = disk.files().iter().rfind(|(path, _)| kind(path) == "log").cloned();
                    let unused = kind(&path) == "spare segment" || last.is_some_and(|(last, _)| last == path);
                    assert!(unused, "{} is missing and nobody minds", path.display());
                    assert_eq!(found, all);
                }
            }
        }
    }
}

#[test]
fn foreign_files_are_left_alone() {
    let (disk, all) = database(14, false);
    for place in ["/db/notes.txt", "/db/tables/notes.txt", "/db/log/notes.txt", "/db/tables/1.table.bak"] {
        let image = disk.image(CrashImage::KeepAll);
        let file = image.create(Path::new(place)).unwrap();
        file.write_at(0, b"not ours").unwrap();
        run(async {
            let harness = open_small(&image, 1).unwrap();
            assert_eq!(contents(harness.store()).await.unwrap(), all);
            harness.engine.close().await;
        });
        assert_eq!(image.open(Path::new(place)).unwrap().read_all().unwrap(), b"not ours");
    }
}

#[test]
fn a_file_of_another_database_is_refused() {
    let ((disk, _), (other, _)) = (database(15, true), database(16, true));
    let table =
        |disk: &SimDisk| disk.files().into_iter().map(|file| file.0).find(|path| kind(path) == "table");
    let (mine, theirs) = (table(&disk).unwrap(), table(&other).unwrap());
    let bytes = other.open(&theirs).unwrap().read_all().unwrap();
    disk.remove(&mine).unwrap();
    disk.create(&mine).unwrap().write_at(0, &bytes).unwrap();
    let report = engine::verify(&disk, Path::new("/db"), &mut |_| {}).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    let text = run(async { open_small(&disk, 1).err().unwrap().to_string() });
    assert!(text.contains(&mine.display().to_string()), "{text}");
}
