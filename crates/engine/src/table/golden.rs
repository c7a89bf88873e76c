//! Golden files: what versions 1 and 2 wrote must stay readable, byte for byte the same answers.
//!
//! `PARTITA_WRITE_GOLDEN=1 cargo test -p engine golden` writes files that are missing; existing ones are never
//! replaced, because users have such files.

use super::{Table, TableWriter};
use crate::cursor::conformance::Run;
use crate::cursor::testing::{TABLE, copied, test_disk, writer_options};
use crate::memtable::Memtable;
use crate::statistics::Floor;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowWriter};
use rt::Disk;
use std::path::{Path, PathBuf};
use store::{Compression, Mutation};

const FILES: [(&str, Compression); 6] = [
    ("v1-none.table", Compression::None),
    ("v1-lz4.table", Compression::Lz4),
    ("v1-zstd.table", Compression::Zstd),
    ("v2-lz4.table", Compression::Lz4),
    ("v2-zstd.table", Compression::Zstd),
    ("v1-ledger.table", Compression::None),
];

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table/golden").join(name)
}

/// A little of everything that a file can hold. Must never change.
fn content() -> Memtable {
    let mut memtable = Memtable::new();
    let mut row = RowWriter::new();
    for partition in 0..12u32 {
        let mut mutation = Mutation::new(TABLE, PartitionKey::of(&partition.to_be_bytes()).unwrap());
        if partition % 3 == 0 {
            mutation.delete_partition(Deletion { timestamp: 1000, local_seconds: 77 });
        }
        if partition % 4 == 1 {
            row.begin(2000, None, Deletion::NONE);
            row.live(9, b"static");
            mutation.static_row(row.view());
        }
        if partition % 5 == 2 {
            mutation.delete_range(
                &[0x20, 0x10],
                &[0x20, 0x30],
                Deletion { timestamp: 1500, local_seconds: 78 },
            );
            mutation.delete_range(
                &[0x20, 0x40],
                &[0x20, 0x50, 0xff],
                Deletion { timestamp: 1600, local_seconds: 79 },
            );
        }
        for n in 0..40u8 {
            let timestamp = 3000 + i64::from(n) * 1000;
            let marker = match n % 4 {
                0 => None,
                1 => Some(Marker { timestamp, ttl: 60, expiry: 5000 }),
                _ => Some(Marker::new(timestamp)),
            };
            let deletion = Deletion { timestamp: timestamp - 1, local_seconds: 80 };
            row.begin(timestamp, marker, if n % 7 == 3 { deletion } else { Deletion::NONE });
            row.live(1, &[n; 20]);
            let state = CellState::Tombstone { local_seconds: 81 };
            row.cell(&Cell { column: 2, path: None, timestamp: timestamp + 5, state });
            let state = CellState::Expiring { value: b"soon gone", ttl: 60, expiry: 5000 };
            row.cell(&Cell { column: 3, path: None, timestamp, state });
            let state = CellState::ComplexDeletion { local_seconds: 82 };
            row.cell(&Cell { column: 4, path: None, timestamp: timestamp - 1, state });
            row.cell(&Cell { column: 4, path: Some(b"a"), timestamp, state: CellState::Live(b"1") });
            row.cell(&Cell { column: 4, path: Some(b"b"), timestamp, state: CellState::Live(b"") });
            mutation.row(&[0x20, n * 3], row.view());
        }
        memtable.apply(&mutation, 40 + u64::from(partition));
    }
    memtable
}

/// The same, and rows that version 2 takes apart. Must never change.
fn content_with_even_rows() -> Memtable {
    let mut memtable = content();
    let mut row = RowWriter::new();
    for partition in 100..104u32 {
        let mut mutation = Mutation::new(TABLE, PartitionKey::of(&partition.to_be_bytes()).unwrap());
        for n in 0..60u32 {
            let timestamp = 1_000_000 * i64::from(n) + i64::from(n * 7919 % 1000);
            let marker = match partition % 2 {
                0 => Marker::new(timestamp),
                _ => Marker { timestamp, ttl: 86_400, expiry: 1_700_000_000 + n },
            };
            row.begin(timestamp, Some(marker), Deletion::NONE);
            row.live(1, &(f64::from(n * 31 % 47) / 8.0).to_be_bytes());
            row.live(2, if n.is_multiple_of(3) { b"status=ok" } else { b"warning" });
            row.live(3, format!("{:08x}", n.wrapping_mul(2_654_435_761)).as_bytes());
            row.live(4, &vec![n as u8; n as usize % 13]);
            mutation.row(&[&[0x20][..], &(1_000 + n * 10).to_be_bytes()].concat(), row.view());
        }
        memtable.apply(&mutation, 60);
    }
    memtable
}

#[test]
fn files_of_every_version_are_read_and_written_as_ever() {
    for (name, compression) in FILES {
        let memtable = if name.starts_with("v1") { content() } else { content_with_even_rows() };
        let expected = Run::read(&mut memtable.cursor());
        let disk = test_disk();
        let mut options = writer_options(512, compression);
        options.log_segments = memtable.log_segments();
        // Low enough for some of the partitions to be named.
        options.floor = name.contains("ledger").then_some(Floor { bytes: 2761, rows: 1 << 20 });
        let written = copied(&disk, 1, &mut memtable.cursor(), options);
        let bytes = disk.open(written.path()).unwrap().read_all().unwrap();
        let path = golden_path(name);
        if std::env::var_os("PARTITA_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let table = Table::open(&rt::RealDisk, &path, 1).unwrap();
        table.verify(&mut |_| {}).unwrap();
        assert_eq!(Run::read(&mut table.cursor(None)), expected, "{name}");
        assert_eq!(table.properties().statistics, written.properties().statistics, "{name}");
        // Compressors may change from version to version; our own layout may not.
        if compression == Compression::None {
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
        }
    }
}

#[test]
fn an_unknown_version_is_refused_by_name() {
    let disk = test_disk();
    let path = Path::new("/t/future.table");
    let mut writer = TableWriter::create(&disk, path, writer_options(512, Compression::None)).unwrap();
    writer.begin_partition(PartitionKey::of(b"k").unwrap().prefix());
    writer.add(crate::cursor::Entry { position: &[0], timestamp: 1, rest: &[0; 4] }).unwrap();
    writer.finish().unwrap();
    let mut header = super::file::header(1);
    header[8] = 3;
    let sum = xxhash_rust::xxh3::xxh3_64(&header[..16]);
    header[16..].copy_from_slice(&sum.to_le_bytes());
    disk.open(path).unwrap().write_at(0, &header).unwrap();
    let error = Table::open(&disk, path, 1).unwrap_err().to_string();
    assert!(error.contains("format version 3"), "{error}");
}
