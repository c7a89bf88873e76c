//! Files as runs: conformance of the cursor, blocks touched, damage of every byte.

use super::*;
use crate::cursor::testing::{
    Collector, Shape, clustering, copied, flushed, key, mutation, read_all, writer_options,
};
use crate::cursor::testing::{seeds, test_disk};
use crate::cursor::{AT_ROWS, Cursor, conformance};
use crate::memtable::Memtable;
use crate::merge::{self, Sources};
use model::deletion::{Deletion, Marker};
use model::row::RowWriter;
use rt::{Random, SimDisk};
use store::{Compression, Mutation, Partitions, Slice};

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd];

fn memtable(random: &mut Random, shape: Shape, mutations: u64) -> Memtable {
    let mut memtable = Memtable::new();
    for i in 0..mutations {
        memtable.apply(&mutation(random, shape), i);
    }
    memtable
}

#[test]
fn its_cursor_conforms_at_every_block_size() {
    for seed in seeds(80) {
        let mut random = Random::seeded(seed);
        let shape =
            Shape { partitions: 1 + random.below(30), clusterings: 1 + random.below(200), ..Shape::SMALL };
        let mutations = 1 + random.below(300);
        let memtable = memtable(&mut random, shape, mutations);
        let run = conformance::Run::read(&mut memtable.cursor()).without_empty();
        let block_bytes = [1, 60, 200, 1000, BLOCK_BYTES][seed as usize % 5];
        let options = writer_options(block_bytes, COMPRESSIONS[seed as usize % 3]);
        let disk = test_disk();
        let table = copied(&disk, 1, &mut memtable.cursor(), options);
        assert_eq!(conformance::Run::read(&mut table.cursor(None)), run, "seed {seed}");
        conformance::check(&run, &mut table.cursor(None), &mut random);
        let cache = BlockCache::new([0, 500, 100_000][seed as usize % 3]);
        conformance::check(&run, &mut table.cursor(Some(&cache)), &mut random);
        let verified = table.verify(&mut |_| {}).unwrap();
        assert_eq!(verified.bytes, table.bytes());
        assert!(run.prefixes().all(|prefix| table.may_contain(prefix)));
        assert!(memtable.each_partition().all(|p| !p.has_special() || table.may_have_special(p.prefix())));
    }
}

#[test]
fn large_entries_and_keys_fit() {
    let disk = test_disk();
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    for (i, len) in [0usize, 40_000, 70_000, 300_000, 10, 20].into_iter().enumerate() {
        let partition = model::key::PartitionKey::of(&vec![i as u8; 1 + len.min(65_535 - 1)]).unwrap();
        let mut mutation = Mutation::new(store::TableId(1), partition);
        for n in 0..3u8 {
            writer.begin(9, Some(Marker::new(9)), Deletion::NONE);
            writer.live(1, &vec![n; len]);
            let mut clustering = vec![0x20; 1 + len.min(60_000)];
            clustering.push(n);
            mutation.row(&clustering, writer.view());
        }
        memtable.apply(&mutation, 0);
    }
    let run = conformance::Run::read(&mut memtable.cursor());
    for compression in COMPRESSIONS {
        let number = compression as u64;
        let table = copied(&disk, number, &mut memtable.cursor(), writer_options(BLOCK_BYTES, compression));
        conformance::check(&run, &mut table.cursor(None), &mut Random::seeded(5));
        table.verify(&mut |_| {}).unwrap();
    }
}

/// A partition of `rows` rows between two others.
fn wide(rows: u32) -> (SimDisk, Arc<Table>) {
    let disk = test_disk();
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    for (partition, rows) in [(0, 700), (1, rows), (2, 700)] {
        for n in 0..rows {
            writer.begin(
                1_700_000_000_000_000 + i64::from(n),
                Some(Marker::new(1_700_000_000_000_000 + i64::from(n))),
                Deletion::NONE,
            );
            writer.live(1, &n.wrapping_mul(2_654_435_761).to_be_bytes());
            let mut mutation = Mutation::new(store::TableId(1), key(partition));
            mutation.row(&[&[0x20][..], &n.to_be_bytes()].concat(), writer.view());
            memtable.apply(&mutation, 0);
        }
    }
    let options = writer_options(BLOCK_BYTES, Compression::Lz4);
    let table = flushed(&disk, 7, &memtable, options).unwrap();
    (disk, table)
}

#[test]
fn the_last_hundred_rows_touch_as_few_blocks_as_the_first() {
    let (_disk, table) = wide(1_000_000);
    let tables = [table];
    let touched = |reverse: bool, partition: u64| {
        let cache = BlockCache::new(1 << 20);
        let sources = Sources { memtables: &[], tables: &tables, cache: Some(&cache) };
        let mut read = read_all(0);
        read.partitions = Partitions::One(key(partition));
        read.reverse = reverse;
        let mut collector = Collector::new(0, Some(100));
        merge::read(&sources, &read, &mut collector).unwrap();
        assert_eq!(collector.rows, 100);
        cache.counts().misses
    };
    let (first, last) = (touched(false, 1), touched(true, 1));
    assert!(first <= 2 && last <= 2, "a hundred rows lie in at most two blocks: {first} {last}");
    assert!(first.abs_diff(last) <= 1, "the only difference is where block borders fall");
    // A point read: one block; none when the file can have no such row.
    for n in [0u32, 5, 500_000, 999_999, 1_000_000] {
        let cache = BlockCache::new(1 << 20);
        let sources = Sources { memtables: &[], tables: &tables, cache: Some(&cache) };
        let mut read = read_all(0);
        read.partitions = Partitions::One(key(1));
        read.slices = vec![Slice::one(&[&[0x20][..], &n.to_be_bytes()].concat())];
        let mut collector = Collector::new(0, None);
        merge::read(&sources, &read, &mut collector).unwrap();
        let there = n < 1_000_000;
        assert_eq!((collector.rows, cache.counts().misses), (usize::from(there), u64::from(there)));
    }
}

#[test]
fn every_flipped_bit_is_detected_or_harmless() {
    let mut random = Random::seeded(4);
    let shape = Shape { partitions: 3, clusterings: 30, ..Shape::SMALL };
    let memtable = memtable(&mut random, shape, 40);
    let disk = test_disk();
    let table = copied(&disk, 1, &mut memtable.cursor(), writer_options(150, Compression::Lz4));
    let run = conformance::Run::read(&mut table.cursor(None));
    let path = table.path().to_path_buf();
    let bytes = table.bytes();
    drop(table);
    for at in 0..bytes * 8 {
        assert!(disk.flip(&path, at / 8, 1 << (at % 8)));
        // Every byte is under some checksum: opening or verifying must say so.
        match Table::open(&disk, &path, 1) {
            Err(StoreError::Corrupt { file, offset, .. }) => {
                assert!(file.contains("1.table") && offset < bytes);
            }
            Err(other) => panic!("bit {at}: {other:?}"),
            Ok(table) => {
                let found = table.verify(&mut |_| {});
                assert!(matches!(found, Err(StoreError::Corrupt { .. })), "bit {at}: {found:?}");
                read_whatever_is_left(&table, &run);
            }
        }
        assert!(disk.flip(&path, at / 8, 1 << (at % 8)));
    }
    Table::open(&disk, &path, 1).unwrap().verify(&mut |_| {}).unwrap();
}

/// Reads as far as the damage lets us: what comes back must be right.
fn read_whatever_is_left(table: &Table, run: &conformance::Run) {
    let mut cursor = table.cursor(None);
    let mut walk = || -> Result<(), StoreError> {
        cursor.seek_partition(&[])?;
        while let Some(prefix) = cursor.partition().map(<[u8]>::to_vec) {
            while let Some(entry) = cursor.entry() {
                assert!(run.holds(&prefix, entry), "wrong data");
                cursor.next()?;
            }
            cursor.seek_before(AT_ROWS)?;
            cursor.next_partition()?;
        }
        Ok(())
    };
    if let Err(error) = walk() {
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }
}

#[test]
fn cut_and_foreign_files_are_refused() {
    let mut random = Random::seeded(9);
    let memtable = memtable(&mut random, Shape::SMALL, 60);
    let disk = test_disk();
    let table = copied(&disk, 1, &mut memtable.cursor(), writer_options(150, Compression::None));
    let file = rt::Disk::open(&disk, table.path()).unwrap();
    let whole = file.read_all().unwrap();
    for len in 0..whole.len() {
        let path = std::path::PathBuf::from(format!("/t/cut-{len}"));
        let cut = rt::Disk::create(&disk, &path).unwrap();
        cut.write_at(0, &whole[..len]).unwrap();
        let error = Table::open(&disk, &path, 2).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    }
    let path = std::path::PathBuf::from("/t/foreign");
    rt::Disk::create(&disk, &path).unwrap().write_at(0, &[7; 4096]).unwrap();
    let error = Table::open(&disk, &path, 3).unwrap_err().to_string();
    assert!(error.contains("not a table file") && error.contains("foreign"), "{error}");
    // The file shrinks under an open table.
    file.set_len(whole.len() as u64 / 2).unwrap();
    let error = table.verify(&mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(matches!(Table::open(&disk, std::path::Path::new("/t/gone"), 4), Err(StoreError::Io { .. })));
}

#[test]
fn one_block_of_one_row_partitions_is_found() {
    let disk = test_disk();
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    for n in 0..5000 {
        writer.begin(5, Some(Marker::new(5)), Deletion::NONE);
        let mut mutation = Mutation::new(store::TableId(1), key(n));
        mutation.row(&clustering(n), writer.view());
        memtable.apply(&mutation, 0);
    }
    let table = flushed(&disk, 1, &memtable, writer_options(BLOCK_BYTES, Compression::Lz4)).unwrap();
    let tables = [table];
    let cache = BlockCache::new(1 << 20);
    let sources = Sources { memtables: &[], tables: &tables, cache: Some(&cache) };
    for n in (0..5000).step_by(37) {
        let mut read = read_all(0);
        read.partitions = Partitions::One(key(n));
        let mut collector = Collector::new(0, None);
        merge::read(&sources, &read, &mut collector).unwrap();
        assert_eq!(collector.rows, 1);
    }
    assert_eq!(tables[0].statistics().partition_rows.quantile(0.99), 1);
}
