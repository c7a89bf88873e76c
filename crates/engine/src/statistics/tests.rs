//! Statistics of runs and tables add up.

use super::*;
use model::deletion::{Deletion, Marker};
use model::row::{Cell, CellState, RowWriter};

#[test]
fn entries_are_counted_and_bounded() {
    let mut collector = Collector::new(Some(Floor::default()));
    let first = crate::cursor::testing::key(1);
    collector.begin_partition(first.prefix());
    collector.add(Entry { position: &[0], timestamp: 5, rest: &7u32.to_be_bytes() });
    collector.add(Entry { position: &[2, 1], timestamp: 90, rest: &[0, 0, 0, 9, 2] });
    let mut writer = RowWriter::new();
    writer.begin(50, Some(Marker { timestamp: 50, ttl: 10, expiry: 110 }), Deletion::NONE);
    let state = CellState::Tombstone { local_seconds: 20 };
    writer.cell(&Cell { column: 1, path: None, timestamp: 40, state });
    let view = writer.view();
    collector.add(Entry { position: &[3, 1], timestamp: view.base(), rest: view.body() });
    collector.begin_partition(crate::cursor::testing::key(2).prefix());
    writer.begin(60, None, Deletion { timestamp: 61, local_seconds: 3 });
    let view = writer.view();
    collector.add(Entry { position: &[3, 2], timestamp: view.base(), rest: view.body() });
    let statistics = collector.finish(Some((4, 8)));
    let counts =
        (statistics.partitions, statistics.rows, statistics.range_tombstones, statistics.tombstones());
    assert_eq!(counts, (2, 2, 1, 5));
    assert_eq!((statistics.min_timestamp, statistics.max_timestamp), (5, 90));
    assert_eq!((statistics.min_local_seconds, statistics.max_local_seconds), (3, 100));
    assert_eq!(statistics.all_expired_at, 110);
    assert_eq!((statistics.log_min, statistics.log_max), (4, 8));
    assert_eq!(&*statistics.largest.sizes()[0].prefix, first.prefix());
    assert_eq!(statistics.row_bounds, Some((vec![1], vec![2])));
    let mut bytes = vec![];
    statistics.encode(&mut bytes);
    let decoded = Statistics::decode(&bytes).unwrap();
    assert_eq!(
        Statistics {
            row_bounds: statistics.row_bounds.clone(),
            ledger: statistics.ledger.clone(),
            largest: statistics.largest.clone(),
            ..decoded
        },
        statistics
    );
    for cut in 0..bytes.len() {
        assert_eq!(Statistics::decode(&bytes[..cut]), None);
    }
    let mut both = Statistics::default();
    both.merge(&statistics);
    both.merge(&statistics);
    assert_eq!((both.rows, both.log_min, both.min_timestamp), (4, 4, 5));
}

#[test]
fn a_table_is_the_sum_of_its_runs() {
    use crate::cursor::testing::{Shape, dealt, flushed, mutation, test_disk, writer_options};
    let mut random = rt::Random::seeded(2);
    // No deletions of partitions and ranges, so that every run keeps what it was given.
    let shape = Shape { partitions: 200, clusterings: 2000, deletions_one_in: u64::MAX, ..Shape::SMALL };
    let mutations: Vec<_> = (0..4000).map(|_| mutation(&mut random, shape)).collect();
    let memtables = dealt(&mut random, &mutations, 4);
    let disk = test_disk();
    let options = || writer_options(4000, store::Compression::Lz4);
    let flush = |(n, memtable)| flushed(&disk, n as u64, memtable, options());
    let tables: Vec<Arc<Table>> = memtables[1..].iter().enumerate().filter_map(flush).collect();
    let statistics = of_table(&[&memtables[0]], &tables, 10);
    assert_eq!((statistics.files, statistics.largest.len()), (3, 10));
    let rows: u64 = memtables.iter().flat_map(|m| m.each_partition()).map(|p| p.rows()).sum();
    assert_eq!(statistics.total.rows, rows);
    for size in &statistics.largest {
        let sizes = memtables.iter().filter_map(|m| m.partition(&size.prefix)).map(|p| p.data_bytes());
        let exact: u64 = sizes.sum();
        // Some rows are empty images, which a memtable counts and a flush drops.
        assert!(
            size.bytes_min <= exact + exact / 20 && exact <= size.bytes_max + exact / 20,
            "{size:?} {exact}"
        );
    }
}
