//! Every file of small databases cut, zeroed, deleted, exchanged with another one, replaced by another database's.
//!
//! Whatever is done to them: where opening refuses, or something acknowledged is not there any more, `verify` says so.

use crate::crash::{contents, open_small};
use crate::damage::{database, kind};
use crate::harness::*;
use rt::{CrashImage, Disk, SimDisk};
use std::path::{Path, PathBuf};
use store::{Store, TableConfig};

fn bytes_of(disk: &SimDisk, path: &Path) -> Vec<u8> {
    disk.open(path).unwrap().read_all().unwrap()
}

fn replace(disk: &SimDisk, path: &Path, bytes: &[u8]) {
    disk.remove(path).unwrap();
    disk.create(path).unwrap().write_at(0, bytes).unwrap();
}

/// Verifies, then opens and reads; whether there was damage.
fn judge(disk: &SimDisk, all: &[String], what: &str) -> bool {
    let verified = match engine::verify(&disk.image(CrashImage::KeepAll), Path::new("/db"), &mut |_| {}) {
        Err(error) => vec![error.to_string()],
        Ok(report) => report.problems.iter().map(ToString::to_string).collect(),
    };
    let read = run(async {
        let harness = open_small(disk, 1).map_err(|error| error.to_string())?;
        contents(harness.store()).await.map_err(|error| error.to_string())
    });
    match &read {
        Ok(found) if found == all => {}
        Ok(_) => assert!(!verified.is_empty(), "{what}: rows are missing, and verify says all is well"),
        Err(error) => assert!(!verified.is_empty(), "{what}: verify says all is well, opening says {error}"),
    }
    !verified.is_empty()
}

/// Files that mean something, and other databases' files of the same kind.
fn files(disk: &SimDisk) -> Vec<(PathBuf, u64)> {
    disk.files().into_iter().filter(|(path, _)| kind(path) != "spare segment").collect()
}

fn damage_in_every_form(seed: u64, close: bool) -> (u32, u32) {
    let (disk, all) = database(seed, close);
    let (other, _) = database(seed + 100, close);
    let (mut forms, mut damaged) = (0, 0);
    let mut tried = |image: SimDisk, what: String| {
        forms += 1;
        damaged += u32::from(judge(&image, &all, &what));
    };
    let files = files(&disk);
    for (path, len) in &files {
        let name = path.display();
        let image = disk.image(CrashImage::KeepAll);
        image.remove(path).unwrap();
        tried(image, format!("{name} deleted"));
        for at in (0..*len).step_by((len / 40 + 1) as usize) {
            let image = disk.image(CrashImage::KeepAll);
            image.open(path).unwrap().set_len(at).unwrap();
            tried(image, format!("{name} cut at {at}"));
            for count in [1, 64, len - at] {
                let image = disk.image(CrashImage::KeepAll);
                let count = count.min(len - at);
                image.open(path).unwrap().write_at(at, &vec![0; count as usize]).unwrap();
                tried(image, format!("{name} zeroed from {at} for {count}"));
            }
        }
        for (second, _) in files.iter().filter(|(second, _)| second > path && kind(second) == kind(path)) {
            let image = disk.image(CrashImage::KeepAll);
            let (one, two) = (bytes_of(&image, path), bytes_of(&image, second));
            replace(&image, path, &two);
            replace(&image, second, &one);
            tried(image, format!("{name} exchanged with {}", second.display()));
        }
        if other.exists(path).unwrap() {
            let image = disk.image(CrashImage::KeepAll);
            replace(&image, path, &bytes_of(&other, path));
            // A whole manifest of another database names files and segments that may all be there by chance, and a
            // segment does not say whose it is.
            if !matches!(kind(path), "manifest" | "log") {
                tried(image, format!("{name} of another database"));
            }
        }
    }
    (forms, damaged)
}

#[test]
fn whatever_keeps_a_database_from_opening_or_costs_rows_is_found_by_verify() {
    for (seed, close) in [(21, true), (22, false), (23, false)] {
        let (forms, damaged) = damage_in_every_form(seed, close);
        println!("seed {seed}, closed {close}: {forms} damaged folders, {damaged} found bad");
        assert!(forms > 200 && damaged > forms / 3, "{forms} {damaged}");
    }
}

#[test]
fn an_older_catalogue_is_refused() {
    let disk = SimDisk::new();
    let old = run(async {
        let harness = open_small(&disk, 1).unwrap();
        harness.store().alter(b"one".to_vec(), vec![TableConfig::new(OTHER)]).await.unwrap();
        let old = bytes_of(&disk, Path::new("/db/CATALOGUE"));
        harness.create_tables().await.unwrap();
        harness.put("p", "r", "v", 1).await.unwrap();
        old
    });
    let image = disk.image(CrashImage::KeepAll);
    replace(&image, Path::new("/db/CATALOGUE"), &old);
    let report = engine::verify(&image, Path::new("/db"), &mut |_| {}).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    let error = run(async { open_small(&image, 1).err().unwrap().to_string() });
    assert!(error.contains("CATALOGUE") && error.contains("older"), "{error}");
}
