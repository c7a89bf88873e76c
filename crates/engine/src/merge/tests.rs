//! Merged reads equal one naive merge: any split over sources, any slice, direction and resume point.

use super::*;
use crate::cursor::testing::*;
use rt::Random;
use store::{Compression, Position, Slice};

fn check(seed: u64, shape: Shape, mutations: usize) {
    let mut random = Random::seeded(seed);
    let mutations: Vec<_> = (0..mutations).map(|_| mutation(&mut random, shape)).collect();
    assert!(mutations.iter().all(|m| m.check()));
    let naive = naive_of(&mutations);
    let count = 1 + random.below(5);
    let memtables = dealt(&mut random, &mutations, count);
    // Any of the memtables may have been flushed, with any block size.
    let disk = test_disk();
    let cache = BlockCache::new(random.below(30_000));
    let (mut kept, mut tables): (Vec<&Memtable>, Vec<Arc<Table>>) = (vec![], vec![]);
    for (number, memtable) in memtables.iter().enumerate() {
        if random.one_in(2) {
            kept.push(memtable);
            continue;
        }
        let options = writer_options(1 + random.below(1000) as usize, Compression::Lz4);
        tables.extend(flushed(&disk, number as u64, memtable, options));
    }
    let sources = Sources { memtables: &kept, tables: &tables, cache: Some(&cache) };
    for _ in 0..60 {
        let read = random_read(&mut random, shape);
        let expected = naive_answer(&naive, &read);
        let got = paged_answer(&sources, &read, &mut random).unwrap();
        assert_eq!(got, expected, "seed {seed}, {read:?}");
    }
}

#[test]
fn memtables_and_files_answer_as_the_naive_store() {
    for seed in seeds(100) {
        check(seed, Shape::SMALL, 60);
    }
}

#[test]
fn crowded_partitions_answer_as_the_naive_store() {
    let shape =
        Shape { partitions: 1, clusterings: 400, deletions_one_in: 20, timestamps: 1000, ..Shape::SMALL };
    for seed in seeds(20) {
        check(1_000_000 + seed, shape, 600);
    }
}

#[test]
fn many_partitions_answer_as_the_naive_store() {
    let shape = Shape { partitions: 50, clusterings: 6, ..Shape::SMALL };
    for seed in seeds(30) {
        check(2_000_000 + seed, shape, 200);
    }
}

#[test]
fn dead_rows_are_limited_and_counted() {
    let mut memtable = Memtable::new();
    let mut mutation = store::Mutation::new(TABLE, key(1));
    let deletion = model::deletion::Deletion { timestamp: 5, local_seconds: 0 };
    let mut writer = model::row::RowWriter::new();
    writer.begin(5, None, deletion);
    for n in 0..20 {
        mutation.row(&clustering(n), writer.view());
    }
    memtable.apply(&mutation, 0);
    let memtables = [&memtable];
    let sources = Sources { memtables: &memtables, tables: &[], cache: None };
    let mut wanted = read_all(0);
    wanted.tombstone_limit = 20;
    let outcome = read(&sources, &wanted, &mut Collector::new(0, None)).unwrap();
    assert_eq!((outcome.tombstones, outcome.end), (20, ReadEnd::Complete));
    wanted.tombstone_limit = 19;
    let error = read(&sources, &wanted, &mut Collector::new(0, None)).unwrap_err();
    assert_eq!(error, StoreError::TooManyTombstones { scanned: 20, limit: 19 });
    wanted.scan_limit = 7;
    let outcome = read(&sources, &wanted, &mut Collector::new(0, None)).unwrap();
    let last = Position { key: key(1), clustering: Some(clustering(6)) };
    assert_eq!(outcome, ReadOutcome { end: ReadEnd::Paused(last), tombstones: 7 });
}

#[test]
fn a_wide_range_tombstone_is_skipped_not_scanned() {
    let mut old = Memtable::new();
    let mut rows = store::Mutation::new(TABLE, key(1));
    let mut writer = model::row::RowWriter::new();
    writer.begin(5, Some(model::deletion::Marker::new(5)), model::deletion::Deletion::NONE);
    for n in 0..1000u16 {
        rows.row(&[&[0x20][..], &n.to_be_bytes()].concat(), writer.view());
    }
    old.apply(&rows, 0);
    let mut new = Memtable::new();
    let mut deletion = store::Mutation::new(TABLE, key(1));
    let range = model::deletion::Deletion { timestamp: 9, local_seconds: 0 };
    deletion.delete_range(&[0x20, 0, 10], &[0x20, 3, 0], range);
    new.apply(&deletion, 1);
    let memtables = [&old, &new];
    let sources = Sources { memtables: &memtables, tables: &[], cache: None };
    for reverse in [false, true] {
        let mut wanted = read_all(0);
        wanted.reverse = reverse;
        wanted.slices = vec![Slice::all()];
        let mut collector = Collector::new(0, None);
        let outcome = read(&sources, &wanted, &mut collector).unwrap();
        assert_eq!(collector.rows, 10 + 1000 - 0x300);
        assert!(outcome.tombstones <= 3, "{outcome:?}");
    }
}

#[test]
fn files_whose_rows_lie_elsewhere_are_not_touched() {
    // Time series: each file holds a later stretch of every partition.
    let disk = test_disk();
    let mut writer = model::row::RowWriter::new();
    let stretch = |from: u16| {
        let mut memtable = Memtable::new();
        for n in from..from + 1000 {
            writer.begin(
                i64::from(n),
                Some(model::deletion::Marker::new(i64::from(n))),
                model::deletion::Deletion::NONE,
            );
            writer.live(1, &n.to_be_bytes());
            for partition in 0..3 {
                let mut mutation = store::Mutation::new(TABLE, key(partition));
                mutation.row(&[&[0x20][..], &n.to_be_bytes()].concat(), writer.view());
                memtable.apply(&mutation, 0);
            }
        }
        memtable
    };
    let memtables: Vec<Memtable> = [0, 1000, 2000, 3000].map(stretch).into_iter().collect();
    let options = || writer_options(1000, Compression::None);
    let flush = |(n, memtable)| flushed(&disk, n as u64, memtable, options());
    let tables: Vec<Arc<Table>> = memtables[..3].iter().enumerate().filter_map(flush).collect();
    let newest = [&memtables[3]];
    // (slice, reverse, rows wanted, blocks touched)
    let at = |n: u16| [&[0x20][..], &n.to_be_bytes()].concat();
    let cases = [
        (Slice::all(), true, 100, 0..=0),
        (Slice::all(), false, 10, 1..=2),
        (Slice { start: at(1100), end: at(1105) }, false, 10, 1..=2),
        (Slice::one(&at(2500)), false, 1, 1..=1),
        (Slice::one(&at(3500)), false, 1, 0..=0),
        (Slice { start: at(990), end: at(1010) }, true, 30, 2..=4),
    ];
    for (slice, reverse, rows, touched) in cases {
        let cache = BlockCache::new(1 << 20);
        let mut wanted = read_all(0);
        wanted.partitions = Partitions::One(key(1));
        wanted.reverse = reverse;
        wanted.slices = vec![slice.clone()];
        let mut collector = Collector::new(0, Some(rows));
        let sources = Sources { memtables: &newest, tables: &tables, cache: Some(&cache) };
        read(&sources, &wanted, &mut collector).unwrap();
        let count = cache.counts();
        assert!(touched.contains(&count.misses), "{slice:?} {reverse}: {count:?}");
    }
}
