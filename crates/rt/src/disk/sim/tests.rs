//! The simulated disk keeps exactly the promises that `disk` lists, and no more.

use super::*;

fn disk() -> (SimDisk, PathBuf) {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    (disk, PathBuf::from("/d/a"))
}

fn content(disk: &SimDisk, path: &Path) -> Option<Vec<u8>> {
    disk.open(path).ok().map(|file| file.read_all().unwrap())
}

#[test]
fn only_synced_data_under_a_synced_name_survives() {
    let (disk, path) = disk();
    let file = disk.create(&path).unwrap();
    file.write_at(0, b"one").unwrap();
    file.sync_data().unwrap();
    assert_eq!(content(&disk.image(CrashImage::DropUnsynced), &path), None);
    disk.sync_dir(Path::new("/d")).unwrap();
    file.write_at(3, b"two").unwrap();
    assert_eq!(content(&disk.image(CrashImage::DropUnsynced), &path).unwrap(), b"one");
    assert_eq!(content(&disk.image(CrashImage::KeepAll), &path).unwrap(), b"onetwo");
    assert_eq!(content(&disk.image(CrashImage::TornLast { bytes: 1 }), &path).unwrap(), b"onet");
}

#[test]
fn random_images_cover_reordering_and_repeat_from_their_seed() {
    let (disk, path) = disk();
    let file = disk.create(&path).unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    for at in 0..3 {
        file.write_at(at, &[at as u8 + 1]).unwrap();
    }
    let image = |seed| content(&disk.image(CrashImage::Random { seed }), &path).unwrap();
    let images: std::collections::BTreeSet<Vec<u8>> = (0..200).map(image).collect();
    assert!(images.contains(&vec![]) && images.contains(&vec![1, 2, 3]));
    assert!(images.contains(&vec![0, 0, 3]), "a later write kept without the earlier ones");
    assert!((0..200).all(|seed| image(seed) == image(seed)));
}

#[test]
fn a_crash_happens_at_its_number_and_stops_everything() {
    let (disk, path) = disk();
    let file = disk.create(&path).unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    file.write_at(0, b"a").unwrap();
    disk.fault_at(disk.io_count() + 1, Fault::Crash);
    assert!(file.sync_data().is_err() && disk.is_crashed());
    assert!(file.write_at(1, b"b").is_err() && disk.open(&path).is_err());
    assert_eq!(content(&disk.image(CrashImage::DropUnsynced), &path).unwrap(), b"");
    assert_eq!(content(&disk.image(CrashImage::KeepAll), &path).unwrap(), b"a");
}

#[test]
fn a_failed_sync_loses_the_data_for_good() {
    let (disk, path) = disk();
    let file = disk.create(&path).unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    file.write_at(0, b"a").unwrap();
    disk.fault_at(disk.io_count() + 1, Fault::Error);
    assert!(file.sync_data().is_err());
    file.sync_data().unwrap();
    assert_eq!(file.read_all().unwrap(), b"a");
    assert_eq!(content(&disk.image(CrashImage::KeepAll), &path).unwrap(), b"");
}

#[test]
fn renames_are_atomic_and_last_after_the_directory_is_synced() {
    let (disk, path) = disk();
    let other = PathBuf::from("/d/b");
    for (p, byte) in [(&path, b"a"), (&other, b"b")] {
        let file = disk.create(p).unwrap();
        file.write_at(0, byte).unwrap();
        file.sync_data().unwrap();
    }
    disk.sync_dir(Path::new("/d")).unwrap();
    disk.rename(&path, &other).unwrap();
    for seed in 0..50 {
        let image = disk.image(CrashImage::Random { seed });
        let seen = (content(&image, &path), content(&image, &other));
        let before = (Some(b"a".to_vec()), Some(b"b".to_vec()));
        assert!(seen == before || seen == (None, Some(b"a".to_vec())), "{seen:?}");
    }
    disk.sync_dir(Path::new("/d")).unwrap();
    assert_eq!(content(&disk.image(CrashImage::DropUnsynced), &other).unwrap(), b"a");
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let (disk, path) = disk();
    let file = disk.create(&path).unwrap();
    disk.fault_at(disk.io_count() + 1, Fault::Full);
    assert_eq!(file.write_at(0, b"a").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.write_at(0, b"a").unwrap_err().kind(), io::ErrorKind::StorageFull);
    file.sync_data().unwrap();
    disk.make_room();
    file.write_at(0, b"a").unwrap();
    disk.fault_at(disk.io_count() + 1, Fault::Full);
    file.write_at(0, b"a").unwrap();
    assert!(file.write_at(1, b"b").is_err() && disk.create(Path::new("/d/b")).is_err());
    assert!(disk.flip(&path, 0, 1) && !disk.flip(&path, 1, 1));
    assert_eq!(file.read_all().unwrap(), b"`");
}

#[test]
fn locks_are_exclusive_and_free_after_a_crash() {
    let (disk, _) = disk();
    let lock = Path::new("/d/LOCK");
    let held = disk.lock(lock).unwrap();
    assert!(matches!(disk.lock(lock), Err(LockError::Held)));
    disk.image(CrashImage::KeepAll).lock(lock).unwrap();
    drop(held);
    disk.lock(lock).unwrap();
}

#[test]
fn a_held_creation_waits_until_it_is_let_through() {
    let (disk, path) = disk();
    let held = disk.hold_create("/a");
    disk.create(Path::new("/d/b")).unwrap();
    assert!(!held.is_reached(), "other names pass");
    std::thread::scope(|scope| {
        scope.spawn(|| disk.create(&path).unwrap());
        while !held.is_reached() {
            std::thread::yield_now();
        }
        assert!(!disk.exists(&path).unwrap());
        drop(held);
    });
    assert!(disk.exists(&path).unwrap());
}

#[test]
fn a_passing_error_changes_nothing_and_starving_ends() {
    use crate::disk::{EMFILE, may_pass};
    let disk = SimDisk::new();
    let dir = Path::new("/d");
    disk.create_dir_all(dir).unwrap();
    disk.fault_at(1, Fault::Os(EMFILE));
    disk.fault_at(4, Fault::Os(EMFILE));
    let path = dir.join("a");
    assert!(may_pass(&disk.create(&path).unwrap_err()));
    let file = disk.create(&path).unwrap();
    file.write_at(0, b"kept").unwrap();
    file.sync_data().unwrap();
    disk.fault_at(5, Fault::Os(EMFILE));
    assert!(may_pass(&disk.sync_dir(dir).unwrap_err()));
    disk.sync_dir(dir).unwrap();
    let image = disk.image(CrashImage::DropUnsynced);
    assert_eq!(image.open(&path).unwrap().read_all().unwrap(), b"kept");
    disk.starve(Some(EMFILE));
    assert!(disk.open(&path).is_err() && disk.sync_dir(dir).is_err() && disk.list(dir).is_err());
    assert_eq!(disk.len_of(&path).unwrap(), 4);
    disk.starve(None);
    assert!(disk.open(&path).is_ok());
}
