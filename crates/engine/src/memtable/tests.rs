//! The memtable as a run: conformance of its cursor, accounting, and order of application.

use super::*;
use crate::cursor::conformance;
use crate::cursor::testing::{Shape, mutation, seeds};
use rt::Random;

#[test]
fn its_cursor_conforms() {
    for seed in seeds(60) {
        let mut random = Random::seeded(seed);
        let mut memtable = Memtable::new();
        for i in 0..80 {
            memtable.apply(&mutation(&mut random, Shape::SMALL), i);
        }
        let run = conformance::Run::read(&mut memtable.cursor());
        assert_eq!(run.partitions(), memtable.partitions());
        conformance::check(&run, &mut memtable.cursor(), &mut random);
    }
}

#[test]
fn order_of_application_does_not_matter() {
    for seed in seeds(60) {
        let mut random = Random::seeded(100 + seed);
        let mutations: Vec<_> = (0..40).map(|_| mutation(&mut random, Shape::SMALL)).collect();
        let (mut forward, mut backward) = (Memtable::new(), Memtable::new());
        for (i, m) in mutations.iter().enumerate() {
            forward.apply(m, i as u64);
        }
        for (i, m) in mutations.iter().enumerate().rev() {
            backward.apply(m, i as u64);
            backward.apply(m, i as u64);
        }
        assert_eq!(forward.log_segments(), Some((0, 39)));
        assert_eq!(backward.log_segments(), Some((0, 39)));
        let read = crate::cursor::testing::read_all(30);
        let answer = |memtable: &Memtable| {
            let memtables = [memtable];
            let sources = crate::merge::Sources { memtables: &memtables, tables: &[], cache: None };
            let mut seen = crate::cursor::testing::Collector::new(30, None);
            crate::merge::read(&sources, &read, &mut seen).unwrap();
            crate::cursor::testing::without_empty(seen.seen)
        };
        assert_eq!(answer(&forward), answer(&backward), "seed {seed}");
    }
}

#[test]
fn memory_is_counted_and_rewriting_a_row_of_one_size_needs_none() {
    let mut memtable = Memtable::new();
    let mut random = Random::seeded(1);
    let shape = Shape { partitions: 100, clusterings: 800, deletions_one_in: 10, ..Shape::SMALL };
    for i in 0..3000 {
        memtable.apply(&mutation(&mut random, shape), i);
    }
    let stored: u64 = memtable.each_partition().map(|p| p.data_bytes()).sum();
    assert!(memtable.bytes() as u64 > stored, "{} {stored}", memtable.bytes());
    let mut writer = model::row::RowWriter::new();
    let mut counter = Memtable::new();
    for i in 0..100_000i64 {
        writer.begin(i, None, model::deletion::Deletion::NONE);
        writer.live(1, &i.to_be_bytes());
        let mut mutation = Mutation::new(store::TableId(1), crate::cursor::testing::key(1));
        mutation.row(b"\x20c", writer.view());
        counter.apply(&mutation, 0);
    }
    assert!(counter.bytes() < 16_384, "{}", counter.bytes());
    assert_eq!(counter.timestamps(), Some((0, 99_999)));
}

#[test]
fn a_frozen_memtable_crosses_threads() {
    fn assert_shared<T: Send + Sync>(_: &T) {}
    let frozen = std::sync::Arc::new(Memtable::new());
    assert_shared(&frozen);
    assert!(frozen.is_empty() && frozen.bytes() == 0);
}
