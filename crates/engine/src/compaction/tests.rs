//! Compaction never changes what a reader sees, purges what it may and keeps what it must.

use super::*;
use crate::cursor::testing::*;
use crate::memtable::Memtable;
use crate::merge::Sources;
use crate::table::Table;
use model::deletion::{Deletion, Marker};
use model::row::{Cell, CellState, RowWriter};
use rt::{Disk, Fault, Random, SimDisk};
use std::path::PathBuf;
use std::sync::Arc;
use store::{Compression, Mutation};

fn compact(disk: &SimDisk, work: &Work<'_>, first_number: u64) -> Result<Vec<Output>, CompactionError> {
    let mut number = first_number;
    let mut name = || {
        number += 1;
        (number, PathBuf::from(format!("/t/{number}.table")))
    };
    run(disk, work, &mut name, &mut |_| Pace::Continue)
}

fn opened(disk: &SimDisk, outputs: &[Output]) -> Vec<Arc<Table>> {
    outputs.iter().map(|o| Arc::new(Table::open(disk, &o.path, o.number).unwrap())).collect()
}

/// Answers to random reads at or after `now`, in order.
fn answers(sources: &Sources<'_>, shape: Shape, now: u32, seed: u64) -> Vec<Vec<String>> {
    let mut random = Random::seeded(seed);
    let reads = (0..30).map(|_| {
        let mut read = random_read(&mut random, shape);
        read.now_seconds = read.now_seconds.max(now);
        read
    });
    let reads: Vec<_> = reads.collect();
    reads.iter().map(|read| paged_answer(sources, read, &mut random).unwrap()).collect()
}

#[test]
fn a_reader_sees_the_same_before_and_after_and_after_replay() {
    for seed in seeds(100) {
        let mut random = Random::seeded(seed);
        let shape = Shape { partitions: 1 + random.below(6), ..Shape::SMALL };
        let mutations: Vec<_> = (0..120).map(|_| mutation(&mut random, shape)).collect();
        let naive = naive_of(&mutations);
        let disk = test_disk();
        let mut memtables = dealt(&mut random, &mutations, 6);
        // Half of the time nothing lies beneath the inputs, so that much can be purged.
        let all = random.one_in(2);
        if all {
            memtables.insert(0, Memtable::new());
        }
        let options = || writer_options(200, Compression::Lz4);
        let tables: Vec<Arc<Table>> = memtables[1..]
            .iter()
            .enumerate()
            .filter_map(|(n, memtable)| flushed(&disk, n as u64, memtable, options()))
            .collect();
        let (inputs, others): (Vec<_>, Vec<_>) =
            tables.iter().cloned().partition(|_| all || !random.one_in(3));
        let now = random.below(shape.seconds) as u32;
        // Everything from this segment on would be replayed after a crash.
        let oldest_live_segment = random.below(200);
        let grace_seconds = random.below(20) as u32;
        let work = Work {
            memtables: &[],
            tables: &inputs,
            others: Others {
                tables: &others,
                memtables_min_timestamp: memtables[0].timestamps().map(|(min, _)| min),
            },
            purge: Some(PurgeTerms { now_seconds: now, grace_seconds, oldest_live_segment }),
            options: options(),
            output_bytes: if random.one_in(2) { 1 } else { u64::MAX },
        };
        let outputs = opened(&disk, &compact(&disk, &work, 100).unwrap());
        for pair in outputs.windows(2) {
            assert!(pair[0].properties().last_prefix < pair[1].properties().first_prefix);
        }
        let after: Vec<Arc<Table>> = outputs.iter().chain(&others).cloned().collect();
        let sources = Sources { memtables: &[&memtables[0]], tables: &after, cache: None };
        let mut reads = Random::seeded(seed);
        for _ in 0..30 {
            let mut read = random_read(&mut reads, shape);
            read.now_seconds = read.now_seconds.max(now);
            let expected = naive_answer(&naive, &read);
            assert_eq!(paged_answer(&sources, &read, &mut reads).unwrap(), expected, "seed {seed} {read:?}");
        }
        let mut replayed = Memtable::new();
        for (segment, mutation) in mutations.iter().enumerate().skip(oldest_live_segment as usize) {
            replayed.apply(mutation, segment as u64);
        }
        let before = answers(&sources, shape, now, seed);
        let sources = Sources { memtables: &[&memtables[0], &replayed], tables: &after, cache: None };
        assert_eq!(answers(&sources, shape, now, seed), before, "seed {seed}: replay brought something back");
    }
}

#[test]
fn everything_dead_goes_when_nothing_holds_it_back() {
    for seed in seeds(30) {
        let mut random = Random::seeded(seed);
        let mutations: Vec<_> = (0..100).map(|_| mutation(&mut random, Shape::SMALL)).collect();
        let disk = test_disk();
        let memtables = dealt(&mut random, &mutations, 3);
        let tables: Vec<Arc<Table>> = memtables
            .iter()
            .enumerate()
            .filter_map(|(n, m)| flushed(&disk, n as u64, m, writer_options(300, Compression::None)))
            .collect();
        let now = 10_000;
        let work = Work {
            memtables: &[],
            tables: &tables,
            others: Others { tables: &[], memtables_min_timestamp: None },
            purge: Some(PurgeTerms { now_seconds: now, grace_seconds: 0, oldest_live_segment: 1000 }),
            options: writer_options(300, Compression::None),
            output_bytes: u64::MAX,
        };
        let outputs = opened(&disk, &compact(&disk, &work, 100).unwrap());
        for table in &outputs {
            assert_eq!(table.statistics().tombstones(), 0, "seed {seed}");
        }
        let before = Sources { memtables: &[], tables: &tables, cache: None };
        let after = Sources { memtables: &[], tables: &outputs, cache: None };
        assert_eq!(answers(&before, Shape::SMALL, now, seed), answers(&after, Shape::SMALL, now, seed));
    }
}

/// One row deletion at timestamp 50, made at second 100, from segment 5; what remains of it.
fn tombstones_left(purge: Option<PurgeTerms>, beneath: Option<(i64, u64)>, memtable: Option<i64>) -> u64 {
    let disk = test_disk();
    let mut deletion = RowWriter::new();
    deletion.begin(50, None, Deletion { timestamp: 50, local_seconds: 100 });
    let table_of = |number: u64, segment: u64, partition: u64, row: &RowWriter| {
        let mut mutation = Mutation::new(TABLE, key(partition));
        mutation.row(&clustering(1), row.view());
        let mut memtable = Memtable::new();
        memtable.apply(&mutation, segment);
        flushed(&disk, number, &memtable, writer_options(300, Compression::None)).unwrap()
    };
    let inputs = [table_of(1, 5, 1, &deletion)];
    let others: Vec<Arc<Table>> = beneath
        .into_iter()
        .map(|(timestamp, partition)| {
            let mut row = RowWriter::new();
            row.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
            table_of(2, 1, partition, &row)
        })
        .collect();
    let work = Work {
        memtables: &[],
        tables: &inputs,
        others: Others { tables: &others, memtables_min_timestamp: memtable },
        purge,
        options: writer_options(300, Compression::None),
        output_bytes: u64::MAX,
    };
    let outputs = compact(&disk, &work, 100).unwrap();
    outputs.iter().map(|output| output.finished.statistics.tombstones()).sum()
}

#[test]
fn a_tombstone_stays_while_anything_holds_it_back() {
    let terms = |now_seconds, grace_seconds, oldest_live_segment| {
        Some(PurgeTerms { now_seconds, grace_seconds, oldest_live_segment })
    };
    let cases = [
        ("nothing holds it", terms(200, 100, 6), None, None, 0),
        ("no purging asked for", None, None, None, 1),
        ("grace is not over", terms(199, 100, 6), None, None, 1),
        ("its segment could be replayed", terms(200, 100, 5), None, None, 1),
        ("older data beneath", terms(200, 100, 6), Some((49, 1)), None, 1),
        ("data of the same timestamp beneath", terms(200, 100, 6), Some((50, 1)), None, 1),
        ("only newer data elsewhere", terms(200, 100, 6), Some((51, 1)), None, 0),
        ("older data of another partition", terms(200, 100, 6), Some((49, 2)), None, 0),
        ("a memtable with older data", terms(200, 100, 6), None, Some(50), 1),
        ("a memtable with newer data", terms(200, 100, 6), None, Some(51), 0),
    ];
    for (name, purge, beneath, memtable, left) in cases {
        assert_eq!(tombstones_left(purge, beneath, memtable), left, "{name}");
    }
}

#[test]
fn failure_at_any_write_and_cancelling_leave_no_file() {
    let mut random = Random::seeded(3);
    let mutations: Vec<_> = (0..80).map(|_| mutation(&mut random, Shape::SMALL)).collect();
    let memtables = dealt(&mut random, &mutations, 2);
    for fault in [Fault::Error, Fault::Full] {
        let mut failures = 0;
        for step in 1.. {
            let disk = test_disk();
            let tables: Vec<Arc<Table>> = memtables
                .iter()
                .enumerate()
                .filter_map(|(n, m)| flushed(&disk, n as u64, m, writer_options(300, Compression::None)))
                .collect();
            let files = disk.files();
            let work = Work {
                memtables: &[],
                tables: &tables,
                others: Others { tables: &[], memtables_min_timestamp: None },
                purge: None,
                options: writer_options(300, Compression::None),
                output_bytes: 1,
            };
            disk.fault_at(disk.io_count() + step, fault);
            match compact(&disk, &work, 100) {
                Err(CompactionError::Write { error, .. }) => {
                    assert_eq!(error.kind() == std::io::ErrorKind::StorageFull, fault == Fault::Full);
                    disk.make_room();
                    assert_eq!(disk.files(), files, "{fault:?} at {step}");
                    failures += 1;
                }
                Err(other) => panic!("{other}"),
                Ok(_) => break,
            }
        }
        assert!(failures > 8, "{failures}");
    }
    let disk = test_disk();
    let big: Vec<Mutation> = (0..4000).map(|_| mutation(&mut random, Shape::SMALL)).collect();
    let memtable = &dealt(&mut random, &big, 1)[0];
    let files = disk.files();
    let wide = Shape { partitions: 4000, ..Shape::SMALL };
    let mut many = Memtable::new();
    (0..4000).for_each(|n| many.apply(&mutation(&mut random, wide), n));
    let memtables = [memtable, &many];
    let work = Work {
        memtables: &memtables,
        tables: &[],
        others: Others { tables: &[], memtables_min_timestamp: None },
        purge: None,
        options: writer_options(1000, Compression::Lz4),
        output_bytes: 20_000,
    };
    let mut number = 0;
    let mut name = || {
        number += 1;
        (number, PathBuf::from(format!("/t/{number}.table")))
    };
    let mut calls = 0;
    let result = run(&disk, &work, &mut name, &mut |bytes| {
        assert!(bytes > 0);
        calls += 1;
        if calls == 3 { Pace::Cancel } else { Pace::Continue }
    });
    assert!(matches!(result, Err(CompactionError::Cancelled)) && number > 1);
    assert_eq!(disk.files(), files);
    assert!(disk.exists(std::path::Path::new("/t")).unwrap());
}

#[test]
fn a_damaged_input_is_reported_not_merged() {
    let mut random = Random::seeded(8);
    let mutations: Vec<_> = (0..80).map(|_| mutation(&mut random, Shape::SMALL)).collect();
    let memtables = dealt(&mut random, &mutations, 1);
    let disk = test_disk();
    let table = flushed(&disk, 1, &memtables[0], writer_options(300, Compression::None)).unwrap();
    disk.flip(table.path(), 60, 1);
    let tables = [table];
    let work = Work {
        memtables: &[],
        tables: &tables,
        others: Others { tables: &[], memtables_min_timestamp: None },
        purge: None,
        options: writer_options(300, Compression::None),
        output_bytes: u64::MAX,
    };
    let error = compact(&disk, &work, 100).unwrap_err();
    assert!(matches!(&error, CompactionError::Read(store::StoreError::Corrupt { .. })), "{error}");
    assert_eq!(disk.files().len(), 1);
}

#[test]
fn expired_cells_shrink_a_row_and_its_marker_outlives_them() {
    let disk = test_disk();
    let mut row = RowWriter::new();
    row.begin(50, Some(Marker::new(50)), Deletion::NONE);
    let state = CellState::Expiring { value: b"gone", ttl: 10, expiry: 110 };
    row.cell(&Cell { column: 1, path: None, timestamp: 50, state });
    let mut mutation = Mutation::new(TABLE, key(1));
    mutation.row(&clustering(1), row.view());
    let mut memtable = Memtable::new();
    memtable.apply(&mutation, 1);
    let tables = [flushed(&disk, 1, &memtable, writer_options(300, Compression::None)).unwrap()];
    for (now, expiring) in [(109, 1), (110, 0)] {
        let work = Work {
            memtables: &[],
            tables: &tables,
            others: Others { tables: &[], memtables_min_timestamp: None },
            purge: Some(PurgeTerms { now_seconds: now, grace_seconds: 0, oldest_live_segment: 9 }),
            options: writer_options(300, Compression::None),
            output_bytes: u64::MAX,
        };
        let outputs = compact(&disk, &work, 100 + u64::from(now)).unwrap();
        let statistics = &outputs[0].finished.statistics;
        assert_eq!((statistics.rows, statistics.expiring), (1, expiring), "at {now}");
    }
}
