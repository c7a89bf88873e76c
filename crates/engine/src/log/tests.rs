//! The log on the simulated disk: torn at every byte, flipped at every byte, cut at every I/O, reused.

use super::*;
use crate::metrics::Metrics;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use rt::{CrashImage, Disk, Fault, SimDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::mutation::Entries;
use store::{Mutation, TableId};

const DIR: &str = "/db/log";
const SEGMENT_BYTES: u32 = 1024;

fn new_disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new(DIR)).unwrap();
    disk
}

/// A commit that can be told from every other one by its timestamp.
fn put_commit(out: &mut Vec<u8>, number: i64) {
    let mut mutation = Mutation::new(TableId(1), PartitionKey::of(b"partition").unwrap());
    let mut row = RowWriter::new();
    row.begin(number, Some(Marker::new(number)), Deletion::NONE);
    row.live(1, &vec![b'v'; (number % 50) as usize]);
    mutation.row(b"\x20row", row.view());
    record::begin_commit(out, NO_BALLOT);
    record::put_mutation(out, 0, &mutation);
}

fn number_of(record: Record<'_>) -> i64 {
    let Record::Commit { mut mutations, .. } = record else { panic!("seals are not visited") };
    let entry = mutations.next().and_then(|mutation| Entries::new(mutation.entries).next()).unwrap();
    RowView::from_payload(entry.payload).unwrap().base()
}

fn recover(disk: &SimDisk, oldest: u64) -> Result<(LogRecovery, Vec<i64>), LogOpenError> {
    let mut seen = Vec::new();
    // No manifest here says that a first segment must be there.
    let bounds = LogBounds { oldest, closed: true };
    let found = recover_log(disk, Path::new(DIR), bounds, |_, record| seen.push(number_of(record)))?;
    Ok((found, seen))
}

fn begin(disk: &SimDisk, durability: Durability, found: &LogRecovery) -> std::io::Result<Arc<Log>> {
    let files = SegmentFiles::new(Arc::new(disk.clone()), PathBuf::from(DIR), SEGMENT_BYTES);
    let options = LogOptions {
        shards: 2,
        durability,
        segment: found.next_segment,
        first_live: found.first_live,
        inline: true,
    };
    let log = Log::begin(Arc::new(files), Pins::new(), Arc::new(Metrics::default()), options)?;
    found.tail.as_ref().map_or(Ok(()), |tail| tail.settle(disk))?;
    Ok(log)
}

/// Submits a commit on shard `number % 2`; whether it was acknowledged.
fn commit(log: &Log, number: i64) -> bool {
    let shard = (number % 2) as usize;
    let Ok(mine) = log.submit(shard, |out| put_commit(out, number)) else { return false };
    // As a shard does whose memtables are flushed at once.
    let progress = log.take_progress(shard);
    progress.iter().for_each(|progress| progress.pin.release());
    progress.iter().any(|progress| progress.last >= mine)
}

fn open_fresh(disk: &SimDisk, durability: Durability) -> Arc<Log> {
    let found = LogRecovery { first_live: 1, next_segment: 1, ..LogRecovery::default() };
    begin(disk, durability, &found).unwrap()
}

fn segment_path(id: u64) -> PathBuf {
    Path::new(DIR).join(segment::segment_name(id))
}

#[test]
fn everything_committed_is_read_back_over_several_segments() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    assert!((1..=60).all(|n| commit(&log, n)));
    let (found, seen) = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap();
    assert_eq!(seen, (1..=60).collect::<Vec<_>>());
    assert!(found.segments > 3 && found.torn.is_none(), "{found:?}");
}

#[test]
fn a_tail_torn_at_any_byte_loses_only_the_unacknowledged_record() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Periodic { interval_ms: 1000 });
    assert!((1..=5).all(|n| commit(&log, n)));
    log.sync().unwrap();
    commit(&log, 6);
    let len = disk.last_write_len();
    assert!(len > 20);
    for bytes in 0..=len {
        let image = disk.image(CrashImage::TornLast { bytes });
        let (found, seen) = recover(&image, 1).unwrap();
        let expected = if bytes == len { 6 } else { 5 };
        assert_eq!(seen, (1..=expected).collect::<Vec<_>>(), "torn at {bytes}");
        assert_eq!(found.torn.is_some(), bytes != 0 && bytes != len, "torn at {bytes}");
        // Opening settles the tail: a second recovery, from what is durable, sees the same and no tear.
        begin(&image, Durability::Sync, &found).unwrap();
        let (again, seen_again) = recover(&image.image(CrashImage::DropUnsynced), 1).unwrap();
        assert_eq!((again.torn, seen_again), (None, seen));
    }
}

#[test]
fn any_flipped_byte_is_refused_or_costs_only_the_last_group() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    assert!((1..=30).all(|n| commit(&log, n)));
    let all: Vec<i64> = (1..=30).collect();
    let last_segment = recover(&disk.image(CrashImage::KeepAll), 1).unwrap().0.next_segment - 1;
    assert!(last_segment > 1);
    let (mut refused, mut shortened) = (0, 0);
    for segment in 1..=last_segment {
        for offset in 0..u64::from(SEGMENT_BYTES) {
            let image = disk.image(CrashImage::KeepAll);
            assert!(image.flip(&segment_path(segment), offset, 0x10));
            match recover(&image, 1) {
                Err(LogOpenError::Damage(damage)) => {
                    assert_eq!(damage.file, segment_path(segment).display().to_string());
                    assert!(damage.offset <= offset, "{damage:?} for a flip at {offset}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
                // A record is never altered; only the last one, which nothing was written after, may be missing.
                Ok((_, seen)) => {
                    assert!(
                        seen == all || (segment == last_segment && seen == all[..29]),
                        "{segment} {offset}: {seen:?}"
                    );
                    shortened += u32::from(seen != all);
                }
            }
        }
    }
    assert!(refused > 1000 && shortened < 100, "{refused} {shortened}");
}

/// Flips every byte of the last segment; how many flips cost a record without being noticed.
fn flips_that_cost_a_record(disk: &SimDisk, segment: u64, all: &[i64]) -> u32 {
    let mut costly = 0;
    for offset in 0..u64::from(SEGMENT_BYTES) {
        let image = disk.image(CrashImage::KeepAll);
        assert!(image.flip(&segment_path(segment), offset, 0x04));
        if let Ok((_, seen)) = recover(&image, 1) {
            costly += u32::from(seen != all);
        }
    }
    costly
}

#[test]
fn behind_a_mark_no_flipped_byte_costs_anything_unnoticed() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    assert!((1..=5).all(|n| commit(&log, n)));
    assert!(flips_that_cost_a_record(&disk, 1, &[1, 2, 3, 4, 5]) > 0, "the last group has nothing behind it");
    log.mark();
    let marked = disk.io_count();
    log.mark();
    assert_eq!(disk.io_count(), marked, "one mark is enough");
    assert_eq!(flips_that_cost_a_record(&disk, 1, &[1, 2, 3, 4, 5]), 0);
    // Marks count as nothing, survive being synced, and records go on behind them.
    assert!((6..=7).all(|n| commit(&log, n)));
    let (found, seen) = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap();
    assert_eq!((found.records, seen), (7, (1..=7).collect()));
}

/// A log with its thread, on segments of this size.
fn with_thread(disk: &SimDisk, segment_bytes: u32) -> (Arc<Log>, std::thread::JoinHandle<()>) {
    let files = SegmentFiles::new(Arc::new(disk.clone()), PathBuf::from(DIR), segment_bytes);
    let options =
        LogOptions { shards: 1, durability: Durability::Sync, segment: 1, first_live: 1, inline: false };
    let log = Log::begin(Arc::new(files), Pins::new(), Arc::new(Metrics::default()), options).unwrap();
    let thread = std::thread::spawn({
        let log = log.clone();
        move || log.run()
    });
    (log, thread)
}

/// Waits for something another thread does.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !done() {
        assert!(std::time::Instant::now() < patience, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn an_idle_log_thread_marks_what_is_durable() {
    let disk = new_disk();
    let (log, thread) = with_thread(&disk, SEGMENT_BYTES);
    log.submit(0, |out| put_commit(out, 1)).unwrap();
    until("no mark", || flips_that_cost_a_record(&disk, 1, &[1]) == 0);
    log.close();
    thread.join().unwrap();
    assert_eq!(recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1, [1]);
}

#[test]
fn a_full_disk_makes_the_log_thread_wait_and_loses_nothing() {
    let disk = new_disk();
    let (log, thread) = with_thread(&disk, SEGMENT_BYTES);
    let (mut accepted, mut last) = (0, 0);
    let mut progress = || {
        let published = log.take_progress(0);
        last = published.back().map_or(last, |progress| progress.last);
        last
    };
    disk.fault_at(disk.io_count() + 1, Fault::Full);
    until("the disk never filled up", || match log.submit(0, |out| put_commit(out, accepted + 1)) {
        Ok(_) => {
            accepted += 1;
            false
        }
        Err(SubmitError::Stalled(reason)) => {
            assert_eq!(reason, "the disk is full");
            true
        }
        Err(other) => panic!("{other:?}"),
    });
    assert!(progress() < accepted as u64, "what does not fit any more is not acknowledged");
    assert_eq!(log.failure(), None);
    disk.make_room();
    until("what waited was not written", || progress() == accepted as u64);
    until("new commits are still refused", || log.submit(0, |out| put_commit(out, accepted + 1)).is_ok());
    log.sync().unwrap();
    log.close();
    thread.join().unwrap();
    let seen = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1;
    assert_eq!(seen, (1..=accepted + 1).collect::<Vec<_>>());
}

#[test]
fn a_full_disk_does_not_keep_the_log_from_closing() {
    let disk = new_disk();
    let (log, thread) = with_thread(&disk, SEGMENT_BYTES);
    disk.fault_at(disk.io_count() + 1, Fault::Full);
    let mut n = 0;
    until("the disk never filled up", || {
        n += 1;
        log.submit(0, |out| put_commit(out, n)).is_err()
    });
    log.close();
    thread.join().unwrap();
    let seen = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1;
    let acknowledged = log.take_progress(0).back().map_or(0, |progress| progress.last);
    assert!(seen.len() as u64 >= acknowledged && seen == (1..=seen.len() as i64).collect::<Vec<_>>());
}

#[test]
fn a_missing_segment_is_named() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    assert!((1..=30).all(|n| commit(&log, n)));
    for missing in [1, 2] {
        let image = disk.image(CrashImage::KeepAll);
        image.remove(&segment_path(missing)).unwrap();
        let error = recover(&image, 1).unwrap_err().to_string();
        assert!(error.contains(&segment::segment_name(missing)), "{error}");
    }
}

/// Commits, retires, crashes at I/O number `k`, recovers, goes on; returns whether the crash came.
fn crash_run(k: u64, seed: u64, durability: Durability) -> bool {
    let disk = new_disk();
    disk.fault_at(k, Fault::Crash);
    let mut oldest = 1;
    let mut acknowledged = Vec::new();
    let mut submitted = Vec::new();
    let found = LogRecovery { first_live: 1, next_segment: 1, ..LogRecovery::default() };
    if let Ok(log) = begin(&disk, durability, &found) {
        for n in 1..=40 {
            submitted.push(n);
            if !commit(&log, n) {
                break;
            }
            if n % 7 == 0 && durability != Durability::Sync && log.sync().is_err() {
                break;
            }
            acknowledged.push(n);
            if n % 10 == 0 && log.sync().is_ok() {
                // As if everything had been flushed and the manifest said so.
                oldest = log.oldest_needed();
                acknowledged.clear();
                submitted.clear();
                log.retire_before(oldest);
            }
        }
    }
    let crashed = disk.is_crashed();
    for image in [CrashImage::DropUnsynced, CrashImage::KeepAll, CrashImage::Random { seed }] {
        // Periodic durability promises nothing about power cuts, only about the process.
        let promised = image == CrashImage::KeepAll || durability == Durability::Sync;
        let expected = if promised { &acknowledged[..] } else { &[] };
        check_image(&disk.image(image), oldest, durability, expected, &submitted, k);
    }
    crashed
}

fn check_image(
    disk: &SimDisk,
    oldest: u64,
    durability: Durability,
    acknowledged: &[i64],
    submitted: &[i64],
    k: u64,
) {
    let (found, seen) = recover(disk, oldest).unwrap_or_else(|error| panic!("k {k}: {error}"));
    assert!(acknowledged.iter().all(|n| seen.contains(n)), "k {k}: {acknowledged:?} but {seen:?}");
    // Flushed records of a segment that is still needed may come back; what was never submitted may not.
    assert!(seen.is_sorted() && seen.iter().all(|n| *n <= 40), "k {k}: {seen:?}");
    if let Some(last) = submitted.last() {
        assert!(seen.iter().all(|n| n <= last));
    }
    // The log goes on, and after another crash both the old and the new records are there.
    let log = begin(disk, durability, &found).unwrap();
    assert!(commit(&log, 100) && log.sync().is_ok());
    let (_, again) = recover(&disk.image(CrashImage::DropUnsynced), oldest).unwrap();
    assert_eq!(again, [&seen[..], &[100]].concat(), "k {k}");
}

#[test]
fn a_crash_at_every_io_loses_nothing_acknowledged() {
    for durability in [Durability::Sync, Durability::Periodic { interval_ms: 1000 }] {
        let mut k = 1;
        while crash_run(k, k * 31 + 7, durability) {
            k += 1;
        }
        assert!(k > 40, "only {k} I/Os");
    }
}

#[test]
fn recycled_segments_never_bring_old_records_back() {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    for n in 1..=200 {
        assert!(commit(&log, n));
        log.retire_before(log.oldest_needed());
    }
    let oldest = log.oldest_needed();
    assert!(oldest > 8);
    // Files are reused, not made anew: the current segment, and at most the spares.
    assert!(disk.files().len() <= 4, "{:?}", disk.files());
    let (found, seen) = recover(&disk.image(CrashImage::KeepAll), oldest).unwrap();
    assert_eq!(found.segments, 1);
    assert!(seen.is_sorted() && seen.last() == Some(&200) && seen[0] > 150, "{seen:?}");
}

#[test]
fn after_a_failed_write_or_sync_nothing_is_acknowledged() {
    let disk = new_disk();
    let begun = {
        open_fresh(&disk, Durability::Sync);
        disk.io_count()
    };
    for k in begun + 1..begun + 20 {
        let disk = new_disk();
        let log = open_fresh(&disk, Durability::Sync);
        disk.fault_at(k, Fault::Error);
        let acknowledged: Vec<i64> = (1..=30).filter(|n| commit(&log, *n)).collect();
        let failure = log.failure().expect("the fault was met").to_owned();
        assert!(failure.contains("log"), "{failure}");
        assert!(matches!(log.submit(0, |out| put_commit(out, 99)), Err(SubmitError::Failed(_))));
        assert_eq!(acknowledged, (1..=acknowledged.len() as i64).collect::<Vec<_>>());
        let (_, seen) = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap();
        assert_eq!(seen, acknowledged, "k {k}");
    }
}

#[test]
fn the_log_thread_groups_and_wakes() {
    let disk = new_disk();
    let files = SegmentFiles::new(Arc::new(disk.clone()), PathBuf::from(DIR), 1 << 20);
    let metrics = Arc::new(Metrics::default());
    let options =
        LogOptions { shards: 2, durability: Durability::Sync, segment: 1, first_live: 1, inline: false };
    let log = Log::begin(Arc::new(files), Pins::new(), metrics.clone(), options).unwrap();
    // Queued before the thread starts: one group, one sync.
    for n in 1..=100 {
        log.submit((n % 2) as usize, |out| put_commit(out, n)).unwrap();
    }
    let thread = std::thread::spawn({
        let log = log.clone();
        move || log.run()
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for shard in 0..2 {
        runtime.block_on(log.progressed(shard));
        let progress = log.take_progress(shard);
        assert_eq!(progress.len(), 1);
        assert_eq!((progress[0].last, progress[0].pin.segment()), (50, 1));
    }
    assert_eq!((metrics.log_groups.get(), metrics.log_syncs.get()), (1, 1));
    log.sync().unwrap();
    log.close();
    thread.join().unwrap();
    assert!(log.sync().is_err());
    assert_eq!(recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1.len(), 100);
}

#[test]
fn the_first_segment_is_small_and_spares_are_used_again() {
    let disk = new_disk();
    let bytes = 2 << 20;
    let options = |segment| LogOptions {
        shards: 1,
        durability: Durability::Sync,
        segment,
        first_live: segment,
        inline: true,
    };
    let files = || Arc::new(SegmentFiles::new(Arc::new(disk.clone()), PathBuf::from(DIR), bytes));
    let log = Log::begin(files(), Pins::new(), Arc::default(), options(1)).unwrap();
    // Larger than the first segment, which is made quickly while a database opens.
    let large = vec![7; (bytes as usize) * 3 / 4];
    assert!(disk.files()[0].1 < large.len() as u64);
    log.submit(0, |out| out.extend_from_slice(&large)).unwrap();
    assert_eq!(log.take_progress(0)[0].pin.segment(), 2);
    log.retire_before(3);
    let lengths: Vec<u64> = disk.files().iter().map(|(_, len)| *len).collect();
    assert_eq!(
        lengths,
        [u64::from(bytes)],
        "the small one is gone, the full one is kept: {:?}",
        disk.files()
    );
    let again = files();
    again.adopt_spares().unwrap();
    Log::begin(again, Pins::new(), Arc::default(), options(3)).unwrap();
    assert_eq!(disk.files(), [(segment_path(3), u64::from(bytes))]);
}

#[test]
fn without_descriptors_the_log_thread_waits_and_goes_on() {
    for error in [rt::disk::EMFILE, rt::disk::ENFILE] {
        let disk = new_disk();
        let (log, thread) = with_thread(&disk, SEGMENT_BYTES);
        disk.starve(Some(error));
        let mut accepted = 0;
        until("the segment never filled up", || match log.submit(0, |out| put_commit(out, accepted + 1)) {
            Ok(_) => {
                accepted += 1;
                false
            }
            Err(SubmitError::Stalled(reason)) => reason.contains("descriptors"),
            Err(other) => panic!("{other:?}"),
        });
        disk.starve(None);
        until("new commits are still refused", || log.submit(0, |out| put_commit(out, accepted + 1)).is_ok());
        log.sync().unwrap();
        assert_eq!(log.failure(), None);
        log.close();
        thread.join().unwrap();
        let seen = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1;
        assert_eq!(seen, (1..=accepted + 1).collect::<Vec<_>>());
    }
}

/// EINTR, EMFILE, ENFILE, ENOSPC, EDQUOT, ENOMEM.
const PASSING: [i32; 6] = [4, 24, 23, 28, 122, 12];

#[test]
fn an_error_that_passes_at_any_io_neither_stops_the_log_nor_loses_anything() {
    for durability in [Durability::Sync, Durability::Periodic { interval_ms: 1000 }] {
        for k in 1.. {
            let disk = new_disk();
            let log = open_fresh(&disk, durability);
            let at = disk.io_count() + k;
            disk.fault_at(at, Fault::Os(PASSING[k as usize % PASSING.len()]));
            for n in 1..=40 {
                assert!(commit(&log, n), "k {k} commit {n}: {:?}", log.failure());
                if n % 5 == 0 {
                    log.mark();
                    log.prepare_next();
                }
            }
            log.sync().unwrap();
            let seen = recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1;
            assert_eq!(seen, (1..=40).collect::<Vec<_>>(), "k {k}");
            if disk.io_count() < at {
                assert!(k > 50, "{k}");
                break;
            }
        }
    }
}

/// A log of several segments: sealed ones, the current one and, if `ahead`, the next one with its note.
fn several_segments(ahead: bool) -> (SimDisk, Vec<i64>, u64) {
    let disk = new_disk();
    let log = open_fresh(&disk, Durability::Sync);
    assert!((1..=30).all(|n| commit(&log, n)));
    let current = recover(&disk.image(CrashImage::KeepAll), 1).unwrap().0.next_segment - 1;
    if ahead {
        log.prepare_next();
    }
    log.mark();
    assert!(current > 2);
    (disk.image(CrashImage::KeepAll), (1..=30).collect(), current)
}

#[test]
fn every_segment_that_is_deleted_is_missed_even_the_last() {
    for ahead in [false, true] {
        let (disk, all, current) = several_segments(ahead);
        for first in 1..=current {
            // This one; and this one with all that follow.
            for last in [first, current + 1] {
                let image = disk.image(CrashImage::KeepAll);
                for id in first..=last {
                    let _ = image.remove(&segment_path(id));
                }
                // Without a manifest, a log without any segment is an empty one.
                if image.files().is_empty() {
                    continue;
                }
                let error = recover(&image, 1).expect_err("nobody missed it").to_string();
                assert!(error.contains(&segment::segment_name(first)), "{first}..={last}: {error}");
            }
        }
        let image = disk.image(CrashImage::KeepAll);
        let _ = image.remove(&segment_path(current + 1));
        assert_eq!(recover(&image, 1).unwrap().1, all, "nothing was in the one ahead");
    }
}

#[test]
fn a_segment_that_is_cut_or_zeroed_anywhere_is_refused_or_meant_nothing() {
    let (disk, all, current) = several_segments(true);
    let (mut cuts, mut zeroed) = (0, 0);
    for segment in 1..=current {
        for at in (0..u64::from(SEGMENT_BYTES)).step_by(7) {
            let image = disk.image(CrashImage::KeepAll);
            image.open(&segment_path(segment)).unwrap().set_len(at).unwrap();
            assert!(matches!(recover(&image, 1), Err(LogOpenError::Damage(_))), "{segment} cut at {at}");
            cuts += 1;
            for len in [3, 40, u64::from(SEGMENT_BYTES)] {
                let image = disk.image(CrashImage::KeepAll);
                let len = len.min(u64::from(SEGMENT_BYTES) - at);
                let file = image.open(&segment_path(segment)).unwrap();
                file.write_at(at, &vec![0; len as usize]).unwrap();
                match recover(&image, 1) {
                    Err(LogOpenError::Damage(_)) => zeroed += 1,
                    Err(other) => panic!("{other}"),
                    Ok((_, seen)) => assert_eq!(seen, all, "{segment} zeroed at {at} for {len}"),
                }
            }
        }
    }
    assert!(cuts > 300 && zeroed > 300, "{cuts} {zeroed}");
}

#[test]
fn segments_of_version_1_are_read_and_need_no_next_one() {
    let header = |id: u64| {
        let mut header = vec![0; 32];
        header[..8].copy_from_slice(b"PRTALOG\x01");
        header[8..16].copy_from_slice(&id.to_le_bytes());
        let crc = crc32c::crc32c(&header[..16]);
        header[16..20].copy_from_slice(&crc.to_le_bytes());
        header
    };
    let (disk, all, current) = several_segments(false);
    for id in 1..=current {
        disk.open(&segment_path(id)).unwrap().write_at(0, &header(id)).unwrap();
    }
    let (found, seen) = recover(&disk.image(CrashImage::KeepAll), 1).unwrap();
    assert_eq!((seen, found.next_segment), (all, current + 1));
    // The last one was sealed, and the crash came before the next one, or in the middle of making it.
    disk.remove(&segment_path(current)).unwrap();
    assert_eq!(recover(&disk.image(CrashImage::KeepAll), 1).unwrap().0.next_segment, current);
    disk.create(&segment_path(current)).unwrap().write_at(0, &[0; 40]).unwrap();
    let (found, seen) = recover(&disk, 1).unwrap();
    assert_eq!(found.next_segment, current);
    let log = begin(&disk, Durability::Sync, &found).unwrap();
    assert!(commit(&log, 31));
    assert_eq!(recover(&disk.image(CrashImage::DropUnsynced), 1).unwrap().1, [&seen[..], &[31]].concat());
}

#[test]
fn a_segment_made_to_be_searched_for_ever_is_refused() {
    use super::format::{FRAME_LEN, Frame, RECORDS_AT, segment_header};
    let capacity = 1 << 20;
    let mut bytes = segment_header(1, capacity).to_vec();
    // Behind a record that is none: frames that are right, of payloads that are not, each to the end of the file.
    bytes.resize(RECORDS_AT as usize + FRAME_LEN as usize, 1);
    while bytes.len() < capacity as usize {
        let at = bytes.len() as u32;
        let length = (capacity - at).saturating_sub(FRAME_LEN).max(1);
        Frame { length, synced: RECORDS_AT, payload_crc: 1 }.encode(1, at, &mut bytes);
    }
    let disk = new_disk();
    disk.create(&segment_path(1)).unwrap().write_at(0, &bytes).unwrap();
    assert!(matches!(recover(&disk, 1), Err(LogOpenError::Damage(_))));
}
