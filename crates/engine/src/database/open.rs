//! Opening a database: lock, catalogue, manifest, files, log, threads. In this order.

use super::catalogue::{Catalogue, CatalogueError, fingerprint, read_catalogue};
use super::engine::{Engine, Opened};
use super::error::OpenError;
use super::files::{ShardFiles, check_files, open_files};
use super::layout::Layout;
use super::options::EngineOptions;
use super::replay::{ReplayPlan, Replayed, ShardMemtables, pin_of, replay_log};
use super::shared::Shared;
use crate::jobs::Jobs;
use crate::log::segment::SEGMENT_BYTES_MAX;
use crate::log::{Log, LogBounds, LogOptions, LogRecovery, Pins, SegmentFiles, recover_log, segment};
use crate::manifest::{Edit, Manifest, ManifestState, Peeked};
use crate::memtable::Memtable;
use crate::metrics::Metrics;
use crate::shard::{Sealed, Seed, TableSeed};
use rt::{Clock, Disk, DiskLock, LockError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex};
use store::{TableConfig, TableId};

/// Segments smaller than this could not hold a useful commit.
const LOG_SEGMENT_BYTES_MIN: u32 = 4096;

pub(super) fn open(
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    options: EngineOptions,
) -> Result<(Engine, Opened), OpenError> {
    check_options(&options)?;
    let layout = Layout::new(&options.dir);
    let lock = prepare_dir(&*disk, &layout)?;
    let catalogue = load_catalogue(&*disk, &layout)?;
    let metrics = Arc::new(Metrics::default());
    let pins = Pins::new();
    let files = Arc::new(SegmentFiles::new(disk.clone(), layout.log.clone(), options.log_segment_bytes));
    let tables = catalogue.as_ref().map_or(&[][..], |c| &c.tables[..]);

    let existing = Manifest::exists(&*disk, &layout.dir).map_err(OpenError::io(layout.dir.display()))?;
    let (manifest, table_files, replayed) = if existing {
        // Opening rewrites the manifest and removes what it does not name: not before everything it needs is there.
        let peeked = Manifest::peek(&*disk, &layout.dir)?;
        check_catalogue(&layout, catalogue.is_none() && !peeked.state.files.is_empty())?;
        check_known(&layout, &peeked, catalogue.as_ref())?;
        check_files(&*disk, &layout, &peeked, tables)?;
        let manifest = Manifest::open(disk.clone(), &layout.dir)?;
        let table_files = open_files(&*disk, &layout, &manifest, tables, options.shards)?;
        let replayed = replay_log(&ReplayPlan {
            disk: &*disk,
            dir: &layout.log,
            bounds: log_bounds(&peeked.state),
            shards: options.shards,
            seal_bytes: options.memtable_bytes_max / options.shards / 2,
            tables,
            inline: options.inline,
        })?;
        check_catalogue(&layout, catalogue.is_none() && replayed.recovery.records > 0)?;
        (Some(manifest), table_files, replayed)
    } else {
        let table_files = (0..options.shards).map(|_| Default::default()).collect();
        (None, table_files, begin_empty(&*disk, &layout, options.shards)?)
    };
    let Replayed { recovery, memtables, ballot, skipped } = replayed;
    metrics.replayed_records.add(recovery.records);
    let replayed = memtables.iter().flat_map(|tables| tables.values().flatten());
    metrics.replayed_bytes.add(replayed.map(|memtable| memtable.bytes() as u64).sum());
    // Pins first: from the moment the log runs, nothing replayed may be given up.
    let tables_of_shards = table_seeds(memtables, table_files, tables, &pins);
    let log_options = LogOptions {
        shards: options.shards,
        durability: options.durability,
        segment: recovery.next_segment,
        first_live: recovery.first_live,
        inline: options.inline,
    };
    files.adopt_spares().map_err(OpenError::io(layout.log.display()))?;
    let log = Log::begin(files, pins, metrics.clone(), log_options)
        .map_err(OpenError::io(format!("beginning the commit log in {}", layout.log.display())))?;
    // Only now: a sealed segment has a next one.
    if let Some(tail) = &recovery.tail {
        tail.settle(&*disk).map_err(OpenError::io(format!("the commit log in {}", layout.log.display())))?;
    }
    // The first manifest comes after the first log segment, so a manifest without its log is always a loss.
    let manifest = match manifest {
        Some(manifest) => {
            let state = manifest.state();
            let mut edits = Vec::new();
            if state.closed {
                // From here on the log is needed again.
                edits.push(Edit::Closed(false));
            }
            let known = fingerprint(catalogue.as_ref());
            if state.catalogues != [known] {
                edits.push(Edit::Catalogues(vec![known]));
            }
            if !edits.is_empty() {
                manifest.publish(&edits)?;
            }
            manifest
        }
        None => Manifest::create(disk.clone(), &layout.dir)?,
    };
    let state = manifest.state();
    let ballot = state.ballot.max(ballot);
    report(&layout, &recovery, skipped);
    let jobs = Jobs::start(options.inline, metrics.clone()).map_err(OpenError::io("starting threads"))?;
    let (mail, inboxes) = rt::mail(options.shards);
    let version = catalogue.as_ref().map_or(0, |c| c.version);
    let seed = |(index, (tables, inbox))| Some(Seed { index, tables, inbox, version, ballot });
    let seeds = tables_of_shards.into_iter().zip(inboxes).enumerate().map(seed).collect();
    // An empty one was put back when the first change of a new database failed.
    let blob = catalogue.as_ref().map(|c| c.blob.clone()).filter(|blob| !blob.is_empty());
    let shared = Shared {
        layout,
        disk,
        clock,
        log,
        manifest: Arc::new(manifest),
        metrics,
        mail,
        jobs: Arc::new(jobs),
        catalogue: tokio::sync::Mutex::new(catalogue.unwrap_or_default()),
        ballot: AtomicI64::new(ballot),
        log_begins: AtomicU64::new(state.log_begins),
        stopping: AtomicBool::new(false),
        cache_counts: (0..options.shards).map(|_| Mutex::default()).collect(),
        limits: Default::default(),
        points: Default::default(),
        late: Default::default(),
        loads: Default::default(),
        sizes: (0..options.shards).map(|_| Mutex::default()).collect(),
        heat: (0..options.shards).map(|_| Mutex::default()).collect(),
        options,
    };
    let engine = Engine::start(Arc::new(shared), seeds, lock)?;
    Ok((engine, Opened { catalogue: blob, recovery, skipped }))
}

/// What the manifest says about the log.
pub(super) fn log_bounds(state: &ManifestState) -> LogBounds {
    LogBounds { oldest: state.log_begins, closed: state.closed }
}

fn check_options(options: &EngineOptions) -> Result<(), OpenError> {
    if options.shards == 0 || options.shards > 1024 {
        return Err(OpenError::Invalid(format!("{} shards: 1 to 1024 are possible", options.shards)));
    }
    if !(LOG_SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&options.log_segment_bytes) {
        return Err(OpenError::Invalid(format!(
            "log segments of {} bytes: {LOG_SEGMENT_BYTES_MIN} to {SEGMENT_BYTES_MAX} are possible",
            options.log_segment_bytes
        )));
    }
    Ok(())
}

fn prepare_dir(disk: &dyn Disk, layout: &Layout) -> Result<Box<dyn DiskLock>, OpenError> {
    for dir in [&layout.dir, &layout.log, &layout.tables] {
        disk.create_dir_all(dir).map_err(OpenError::io(format!("creating {}", dir.display())))?;
    }
    let lock = lock_dir(disk, layout)?;
    warn_if_loose(disk, layout);
    Ok(lock)
}

/// What we make is for its owner alone; what an operator made is not ours to change.
fn warn_if_loose(disk: &dyn Disk, layout: &Layout) {
    if disk.is_open_to_others(&layout.dir).unwrap_or(false) {
        tracing::warn!(
            dir = %layout.dir.display(),
            "other users of this machine may look into the data folder; `chmod 700` it, and `chmod -R go=` what is in it"
        );
    }
}

pub(super) fn lock_dir(disk: &dyn Disk, layout: &Layout) -> Result<Box<dyn DiskLock>, OpenError> {
    disk.lock(&layout.lock()).map_err(|error| match error {
        LockError::Held => OpenError::Locked { dir: layout.dir.display().to_string() },
        LockError::Io(error) => {
            OpenError::Io { context: format!("locking {}", layout.lock().display()), error }
        }
    })
}

fn load_catalogue(disk: &dyn Disk, layout: &Layout) -> Result<Option<Catalogue>, OpenError> {
    read_catalogue(disk, &layout.dir).map_err(|error| catalogue_error(layout, error))
}

pub(super) fn catalogue_error(layout: &Layout, error: CatalogueError) -> OpenError {
    let file = layout.dir.join("CATALOGUE").display().to_string();
    match error {
        CatalogueError::Damage { offset, what } => OpenError::CatalogueDamaged { file, offset, what },
        CatalogueError::Io(error) => OpenError::Io { context: format!("reading {file}"), error },
    }
}

/// Data without a catalogue would be taken for data of dropped tables and removed.
fn check_catalogue(layout: &Layout, orphaned: bool) -> Result<(), OpenError> {
    let file = layout.dir.join("CATALOGUE").display().to_string();
    if orphaned { Err(OpenError::CatalogueMissing { file }) } else { Ok(()) }
}

/// A catalogue that the manifest does not know is an older one, or another database's: it would have tables dropped.
pub(super) fn check_known(
    layout: &Layout,
    manifest: &Peeked,
    catalogue: Option<&Catalogue>,
) -> Result<(), OpenError> {
    let known = &manifest.state.catalogues;
    if known.is_empty() || known.contains(&fingerprint(catalogue)) {
        return Ok(());
    }
    let file = layout.dir.join("CATALOGUE").display().to_string();
    if let Some(blamed) = manifest.blame(&layout.dir, &file) {
        return Err(blamed.into());
    }
    let what = "it is not the one that the manifest names: it is older, or another database's".to_owned();
    Err(match catalogue {
        Some(_) => OpenError::CatalogueDamaged { file, offset: 0, what },
        None => OpenError::CatalogueMissing { file },
    })
}

/// Makes sure that a directory without a manifest holds no data, and clears what a crashed creation left.
fn begin_empty(disk: &dyn Disk, layout: &Layout, shards: usize) -> Result<Replayed, OpenError> {
    let missing = || OpenError::ManifestMissing { dir: layout.dir.display().to_string() };
    let names = disk.list(&layout.tables).map_err(OpenError::io(layout.tables.display()))?;
    if names.iter().any(|name| Layout::parse_table_name(name).is_some()) {
        return Err(missing());
    }
    let names = disk.list(&layout.log).map_err(OpenError::io(layout.log.display()))?;
    let segments: Vec<u64> = names.iter().filter_map(|name| segment::parse_segment_name(name)).collect();
    if segments.iter().any(|id| *id != 1) {
        return Err(missing());
    }
    let mut records = 0;
    let bounds = LogBounds { oldest: 1, closed: true };
    recover_log(disk, &layout.log, bounds, |_, _| records += 1).map_err(|_| missing())?;
    if records > 0 {
        return Err(missing());
    }
    for id in segments {
        let path = layout.log.join(segment::segment_name(id));
        if disk.exists(&path).map_err(OpenError::io(path.display()))? {
            disk.remove(&path).map_err(OpenError::io(path.display()))?;
        }
    }
    let recovery = LogRecovery { first_live: 1, next_segment: 1, ..LogRecovery::default() };
    let memtables = (0..shards).map(|_| Default::default()).collect();
    Ok(Replayed { recovery, memtables, ballot: crate::log::NO_BALLOT, skipped: 0 })
}

/// Memtables and files of every table, per shard.
fn table_seeds(
    memtables: ShardMemtables,
    files: ShardFiles,
    tables: &[TableConfig],
    pins: &Pins,
) -> Vec<Vec<TableSeed>> {
    let of_shard = |(mut memtables, mut files): (BTreeMap<TableId, Vec<Memtable>>, BTreeMap<TableId, _>)| {
        let seed = |config: &TableConfig| {
            let replayed = memtables.remove(&config.id).unwrap_or_default();
            let pinned = |memtable: Memtable| pin_of(pins, &memtable).map(|pin| Sealed { memtable, pin });
            let memtables = replayed.into_iter().filter_map(pinned).collect();
            TableSeed {
                config: config.clone(),
                memtables,
                files: files.remove(&config.id).unwrap_or_default(),
            }
        };
        tables.iter().map(seed).collect()
    };
    memtables.into_iter().zip(files).map(of_shard).collect()
}

fn report(layout: &Layout, recovery: &LogRecovery, skipped: u64) {
    if let Some((file, offset)) = &recovery.torn {
        tracing::warn!(%file, offset, "the end of the commit log was torn off by a crash; nothing there was acknowledged");
    }
    tracing::info!(
        dir = %layout.dir.display(),
        segments = recovery.segments,
        records = recovery.records,
        skipped,
        "the commit log was replayed"
    );
}
