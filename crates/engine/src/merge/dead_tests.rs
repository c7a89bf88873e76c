//! Stretches of dead rows are passed at once, and nobody can tell: rows, counts, limits and pauses are those of a
//! reader that looks at every row.

use super::*;
use crate::cursor::testing::*;
use model::deletion::{Deletion, Marker};
use model::row::{NEVER, RowWriter};
use rt::Random;
use store::{Compression, Mutation, Position, Slice};

const ROWS: u16 = 700;

fn position(n: u16) -> Vec<u8> {
    [&[0x20][..], &n.to_be_bytes()].concat()
}

/// From when on each row is dead, in long runs of the same kind: 0 is deleted, `NEVER` lives.
fn fates(random: &mut Random) -> Vec<u32> {
    let mut fates = Vec::new();
    while fates.len() < usize::from(ROWS) {
        let fate = [0, 5, 9, NEVER][random.below(4) as usize];
        let most = if random.one_in(2) { 150 } else { 6 };
        let run = 1 + random.below(most) as usize;
        fates.extend(std::iter::repeat_n(fate, run));
    }
    fates.truncate(usize::from(ROWS));
    fates
}

/// Rows in any order, some of them written with another fate first.
fn memtable_of(random: &mut Random, fates: &[u32]) -> Memtable {
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    let mut write = |memtable: &mut Memtable, n: u16, fate: u32, timestamp: i64| {
        let marker = match fate {
            NEVER => Some(Marker::new(timestamp)),
            0 => None,
            expiry => Some(Marker { timestamp, ttl: 3, expiry }),
        };
        let deletion = Deletion { timestamp: timestamp - i64::from(marker.is_some()), local_seconds: 1 };
        writer.begin(timestamp, marker, deletion);
        let mut mutation = Mutation::new(TABLE, key(1));
        mutation.row(&position(n), writer.view());
        memtable.apply(&mutation, 0);
    };
    let mut order: Vec<u16> = (0..ROWS).collect();
    if random.one_in(2) {
        (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    }
    for n in order {
        if random.one_in(4) {
            write(&mut memtable, n, [0, 7, NEVER][random.below(3) as usize], 10);
        }
        write(&mut memtable, n, fates[usize::from(n)], 20);
    }
    memtable
}

/// What a reader sees that looks at every row: how many live rows, dead rows, and where it pauses.
fn walked(fates: &[u32], wanted: &Read, (start, end): (u16, u16)) -> (usize, u64, Option<u16>) {
    let mut rows: Vec<u16> = (start..end).collect();
    if wanted.reverse {
        rows.reverse();
    }
    let (mut live, mut dead) = (0, 0);
    for (looked_at, n) in rows.into_iter().enumerate() {
        if fates[usize::from(n)] > wanted.now_seconds {
            live += 1;
        } else {
            dead += 1;
        }
        if looked_at as u64 + 1 >= wanted.scan_limit || dead > wanted.tombstone_limit {
            return (live, dead, Some(n));
        }
    }
    (live, dead, None)
}

#[test]
fn dead_rows_are_passed_as_if_each_were_looked_at() {
    for seed in seeds(30) {
        let mut random = Random::seeded(3_000_000 + seed);
        let fates = fates(&mut random);
        let memtable = memtable_of(&mut random, &fates);
        let (disk, cache) = (test_disk(), BlockCache::new(1 << 20));
        let options = writer_options(100 + random.below(6000) as usize, Compression::Lz4);
        let table: Vec<Arc<Table>> = flushed(&disk, 1, &memtable, options).into_iter().collect();
        let (in_memory, none) = ([&memtable], []);
        for _ in 0..60 {
            let on_disk = random.one_in(2);
            let sources = match on_disk {
                true => Sources { memtables: &none, tables: &table, cache: Some(&cache) },
                false => Sources { memtables: &in_memory, tables: &[], cache: None },
            };
            let start = random.below(u64::from(ROWS)) as u16;
            let end = start + random.below(u64::from(ROWS - start) + 1) as u16;
            let mut wanted = read_all([0, 5, 6, 9][random.below(4) as usize]);
            wanted.partitions = Partitions::One(key(1));
            wanted.slices = vec![Slice { start: position(start), end: position(end) }];
            wanted.reverse = random.one_in(2);
            if random.one_in(3) {
                wanted.scan_limit = 1 + random.below(400);
            }
            if random.one_in(3) {
                wanted.tombstone_limit = random.below(400);
            }
            let (live, dead, pause) = walked(&fates, &wanted, (start, end));
            let mut collector = Collector::new(wanted.now_seconds, None);
            let outcome = read(&sources, &wanted, &mut collector);
            let label = format!("seed {seed}, on disk {on_disk}, {wanted:?}");
            assert_eq!(collector.rows, live, "{label}");
            let limit = wanted.tombstone_limit;
            if dead > limit {
                assert_eq!(outcome, Err(StoreError::TooManyTombstones { scanned: dead, limit }), "{label}");
                continue;
            }
            let paused = |n| ReadEnd::Paused(Position { key: key(1), clustering: Some(position(n)) });
            let expected = ReadOutcome { end: pause.map_or(ReadEnd::Complete, paused), tombstones: dead };
            assert_eq!(outcome, Ok(expected), "{label}");
        }
    }
}

#[test]
fn a_dead_row_still_hides_what_lies_under_it() {
    // Rows that live for ever in a file, under rows of the same positions that have expired or are deleted.
    let disk = test_disk();
    let mut random = Random::seeded(7);
    let lasting = vec![NEVER; usize::from(ROWS)];
    let table =
        flushed(&disk, 1, &memtable_of(&mut random, &lasting), writer_options(2000, Compression::Lz4));
    let tables: Vec<Arc<Table>> = table.into_iter().collect();
    let mut newer = Memtable::new();
    let mut writer = RowWriter::new();
    for n in (0..ROWS).filter(|n| n / 100 % 2 == 0) {
        let deletion = Deletion { timestamp: 30, local_seconds: 1 };
        writer.begin(31, Some(Marker { timestamp: 31, ttl: 3, expiry: 5 }), deletion);
        let mut mutation = Mutation::new(TABLE, key(1));
        mutation.row(&position(n), writer.view());
        newer.apply(&mutation, 0);
    }
    let memtables = [&newer];
    let sources = Sources { memtables: &memtables, tables: &tables, cache: None };
    for reverse in [false, true] {
        let mut wanted = read_all(9);
        wanted.reverse = reverse;
        let mut collector = Collector::new(9, None);
        let outcome = read(&sources, &wanted, &mut collector).unwrap();
        assert_eq!((collector.rows, outcome.tombstones), (300, 400));
    }
}
