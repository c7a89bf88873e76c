//! Snapshots: a second database directory that shares the table files by hard links.
//!
//! The manifest of the snapshot is written last and says "closed", so an interrupted snapshot has no manifest
//! and is not a database, and a complete one needs no log.

use super::catalogue::{Catalogue, fingerprint, write_catalogue};
use super::layout::Layout;
use super::shared::Shared;
use crate::manifest::{FileId, Manifest, ManifestState};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use store::{Refused, StoreError};

/// Compactions may remove files between looking and linking; then the links are brought up to date. Each attempt
/// fails only if another compaction ended meanwhile.
const ATTEMPTS_MAX: usize = 100;

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub files: u64,
    pub bytes: u64,
}

/// Commits are paused and memtables are in files.
pub(super) fn write_snapshot(
    shared: &Shared,
    target: &Path,
    catalogue: &Catalogue,
) -> Result<Snapshot, StoreError> {
    let io =
        |error: io::Error| StoreError::Io { context: format!("snapshot in {}: {error}", target.display()) };
    let layout = Layout::new(target);
    for dir in [&layout.dir, &layout.log, &layout.tables] {
        shared.disk.create_dir_all(dir).map_err(io)?;
    }
    if Manifest::exists(&*shared.disk, target).map_err(io)? {
        return Err(Refused::Occupied { place: target.display().to_string() }.into());
    }
    let state = link_files(shared, &layout).map_err(io)?;
    shared.disk.sync_dir(&layout.tables).map_err(io)?;
    write_catalogue(&*shared.disk, target, catalogue).map_err(|failed| io(failed.error))?;
    let files = state.files.len() as u64;
    let bytes = state.files.values().map(|file| file.bytes).sum();
    let ballot = shared.ballot.load(Ordering::Acquire).max(state.ballot);
    let catalogues = vec![fingerprint(Some(catalogue))];
    let state = ManifestState { log_begins: 1, ballot, closed: true, catalogues, ..state };
    Manifest::write_copy(shared.disk.clone(), target, state)
        .map_err(|error| StoreError::Io { context: error.to_string() })?;
    Ok(Snapshot { files, bytes })
}

/// Links every file of the manifest; returns the state that the links are.
fn link_files(shared: &Shared, layout: &Layout) -> io::Result<ManifestState> {
    let mut linked: BTreeSet<FileId> = BTreeSet::new();
    for _ in 0..ATTEMPTS_MAX {
        let state = shared.manifest.state();
        let mut complete = true;
        for id in state.files.keys().filter(|id| !linked.contains(id)).copied().collect::<Vec<_>>() {
            match shared.disk.link(&shared.layout.table(id), &layout.table(id)) {
                Ok(()) => {
                    linked.insert(id);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => complete = false,
                Err(error) => return Err(error),
            }
        }
        if complete {
            for id in linked.iter().filter(|id| !state.files.contains_key(id)) {
                shared.disk.remove(&layout.table(*id))?;
            }
            assert!(
                state.files.keys().all(|id| linked.contains(id)),
                "a snapshot has every file that it names"
            );
            return Ok(state);
        }
    }
    Err(io::Error::other("files kept changing"))
}
