//! The manifest on the simulated disk: cut at every I/O, torn and flipped at every byte.

use super::*;
use model::token::Token;
use rt::{CrashImage, Fault, SimDisk};
use store::TableId;

const DIR: &str = "/db";

fn new_disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new(DIR)).unwrap();
    disk
}

fn open(disk: &SimDisk) -> Result<Manifest, ManifestError> {
    match Manifest::exists(disk, Path::new(DIR)) {
        Ok(false) => Manifest::create(Arc::new(disk.clone()), Path::new(DIR)),
        _ => Manifest::open(Arc::new(disk.clone()), Path::new(DIR)),
    }
}

fn file(id: u64) -> FileRecord {
    FileRecord {
        id: FileId(id),
        table: TableId(3),
        incarnation: 1,
        first_token: Token(-7),
        last_token: Token(id as i64),
        bytes: 1000 + id,
        log_max: id,
        details: vec![id as u8; 3],
    }
}

/// Step `n` of a history in which files are replaced by others.
fn step(n: u64) -> Vec<Edit> {
    let mut edits = vec![Edit::Add(file(n)), Edit::LogBegins(n), Edit::Ballot(n as i64)];
    if n > 2 {
        edits.push(Edit::Remove(FileId(n - 2)));
    }
    edits
}

fn state_after(steps: u64) -> ManifestState {
    let mut state = ManifestState::default();
    (1..=steps).flat_map(step).for_each(|edit| state.apply(&edit).unwrap());
    state
}

#[test]
fn published_edits_are_there_after_reopening() {
    let disk = new_disk();
    let manifest = open(&disk).unwrap();
    for n in 1..=5 {
        manifest.publish(&step(n)).unwrap();
    }
    assert_eq!(manifest.state(), state_after(5));
    let reopened = open(&disk.image(CrashImage::DropUnsynced)).unwrap();
    assert_eq!(reopened.state(), state_after(5));
    assert_eq!(reopened.next_file(), FileId(6));
}

#[test]
fn a_crash_at_every_io_leaves_a_published_state() {
    for k in 1.. {
        let disk = new_disk();
        disk.fault_at(k, Fault::Crash);
        let mut published = 0;
        for _ in 0..2 {
            let Ok(manifest) = open(&disk) else { break };
            while published < 8 && manifest.publish(&step(published + 1)).is_ok() {
                published += 1;
                if published == 4 {
                    break;
                }
            }
        }
        let images =
            [CrashImage::DropUnsynced, CrashImage::KeepAll, CrashImage::TornLast { bytes: 5 }].into_iter();
        for image in images.chain((0..8).map(|seed| CrashImage::Random { seed: seed + k * 100 })) {
            let disk = disk.image(image);
            let state = open(&disk).unwrap_or_else(|error| panic!("k {k} {image:?}: {error}")).state();
            let good = state == state_after(published) || state == state_after(published + 1);
            assert!(good, "k {k} {image:?}: {published} published, found {state:?}");
        }
        if !disk.is_crashed() {
            assert!(k > 20 && published == 8);
            return;
        }
    }
}

#[test]
fn any_flipped_byte_is_refused_or_costs_only_the_last_edit() {
    let disk = new_disk();
    let manifest = open(&disk).unwrap();
    for n in 1..=4 {
        manifest.publish(&step(n)).unwrap();
    }
    let path = Path::new(DIR).join(NAME);
    let len = disk.open(&path).unwrap().len().unwrap();
    let mut shortened = 0;
    for offset in 0..len {
        let image = disk.image(CrashImage::KeepAll);
        image.flip(&path, offset, 1);
        match open(&image) {
            Err(ManifestError::Damage { file, offset: found, .. }) => {
                assert!(file.ends_with(NAME) && found <= offset, "{found} for a flip at {offset}");
            }
            Err(other) => panic!("{other}"),
            Ok(manifest) => {
                assert_eq!(manifest.state(), state_after(3), "flip at {offset}");
                shortened += 1;
            }
        }
    }
    assert!(shortened > 0 && shortened < len / 3);
}

#[test]
fn a_failed_publish_is_followed_by_a_clean_one() {
    let disk = new_disk();
    let manifest = open(&disk).unwrap();
    manifest.publish(&step(1)).unwrap();
    for fault in [Fault::Error, Fault::Full] {
        for ahead in 1..=2 {
            disk.fault_at(disk.io_count() + ahead, fault);
            let before = manifest.state();
            let failed = manifest.publish(&[Edit::Ballot(50)]).is_err();
            disk.make_room();
            assert!(!failed || manifest.state() == before);
        }
    }
    manifest.publish(&step(2)).unwrap();
    let found = open(&disk.image(CrashImage::DropUnsynced)).unwrap().state();
    assert_eq!(found.files, state_after(2).files);
}

#[test]
fn impossible_edits_are_refused_and_change_nothing() {
    let disk = new_disk();
    let manifest = open(&disk).unwrap();
    manifest.publish(&step(1)).unwrap();
    assert!(manifest.publish(&[Edit::Remove(FileId(99))]).is_err());
    assert!(manifest.publish(&[Edit::Add(file(1))]).is_err());
    assert_eq!(manifest.state(), state_after(1));
    manifest.publish(&step(2)).unwrap();
}

#[test]
fn a_manifest_made_to_be_searched_for_ever_is_refused() {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&encode_record(MAGIC.len() as u64, &[Edit::NextFile(7)]));
    let offset = bytes.len() as u64;
    // Wherever one looks, a record of 2 MiB seems to begin.
    bytes.extend(std::iter::repeat_n(0x0020_0020_u32.to_le_bytes(), 1 << 20).flatten());
    match replay(&bytes, "m") {
        Err(ManifestError::Damage { offset: at, what, .. }) => {
            assert_eq!(at, offset);
            assert!(what.contains("looks like"), "{what}");
        }
        _ => panic!("it was taken for a manifest"),
    }
}

#[test]
fn a_manifest_that_grew_is_written_anew_while_it_is_used() {
    let disk = SimDisk::new();
    let dir = Path::new("/db");
    disk.create_dir_all(dir).unwrap();
    let mut manifest = Manifest::create(Arc::new(disk.clone()), dir).unwrap();
    manifest.rewrite_bytes = 1000;
    for segment in 1..=1000 {
        manifest.publish(&[Edit::LogBegins(segment)]).unwrap();
        let length = disk.len_of(&dir.join(NAME)).unwrap();
        assert!(length < 1100, "{length} bytes after {segment} edits");
        let state = Manifest::peek(&disk.image(CrashImage::DropUnsynced), dir).unwrap().state;
        assert_eq!(state.log_begins, segment);
    }
}

#[test]
fn numbers_that_nobody_gave_are_refused() {
    for edit in [Edit::LogBegins(u64::MAX), Edit::NextFile(u64::MAX), Edit::Remove(FileId(COUNT_MAX + 1))] {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&encode_record(MAGIC.len() as u64, &[edit]));
        assert!(
            matches!(replay(&bytes, "m"), Err(ManifestError::Damage { what, .. }) if what.contains("number"))
        );
    }
}
