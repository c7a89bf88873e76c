//! Packed blocks come back byte for byte, whatever rows they hold, and damage does not panic.
//! (Everything else a file can hold goes through the tests of `table`, with every compression.)

use crate::cursor::Entry;
use crate::table::block::Block;
use crate::table::block_builder::BlockBuilder;
use model::deletion::{Deletion, Marker};
use model::row::RowWriter;
use rt::Random;

type Row = (Vec<u8>, i64, Vec<u8>);

/// Rows of one shape, with a few others among them.
fn rows(random: &mut Random) -> Vec<Row> {
    let mut writer = RowWriter::new();
    let kinds: Vec<u64> = (0..1 + random.below(5)).map(|_| random.below(6)).collect();
    let (ttl, odd) = (random.below(3) == 0, random.below(3) == 0);
    let step = 1 + random.below(1000);
    let mut at = random.below(1 << 40);
    let mut rows = vec![];
    for i in 0..1 + random.below(120) {
        at += step + if odd { random.below(9) } else { 0 };
        let timestamp = 1_000_000 + (i * 1000 + random.below(1 << 20)) as i64;
        let marker = Marker {
            timestamp,
            ttl: if ttl { 60 } else { 0 },
            expiry: if ttl { 5000 + i as u32 } else { 0 },
        };
        let marker = if ttl || random.below(30) > 0 { Some(marker) } else { None };
        writer.begin(timestamp, marker, Deletion::NONE);
        for (column, kind) in kinds.iter().enumerate() {
            let value = match kind {
                0 => random.below(1024).to_be_bytes()[4..].to_vec(),
                1 => (15.0 + random.below(2000) as f64 / 100.0).to_be_bytes().to_vec(),
                2 => [&b"ok"[..], b"warning", b""][random.below(3) as usize].to_vec(),
                3 => format!("{:016x}{:015x}", random.next_u64(), random.next_u64() >> 4).into_bytes(),
                4 => (0..random.below(40)).map(|_| random.below(256) as u8).collect(),
                _ => format!("{}", random.below(1 << 30)).into_bytes(),
            };
            writer.live(column as u32 + 1, &value);
        }
        let clustering = [&[3, 0x20][..], &at.to_be_bytes()].concat();
        rows.push((clustering, timestamp, writer.view().body().to_vec()));
    }
    rows
}

fn packed(rows: &[Row]) -> Vec<u8> {
    let mut builder = BlockBuilder::packed();
    builder.begin_partition(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 5]);
    for (i, (position, timestamp, rest)) in rows.iter().enumerate() {
        if i > 0 && i == rows.len() / 2 {
            builder.begin_partition(&[0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 5]);
        }
        builder.add(Entry { position, timestamp: *timestamp, rest });
    }
    builder.finish().to_vec()
}

fn unpacked(block: &Block) -> Vec<Row> {
    let entry = |i: usize| {
        let position = [block.common(block.partition_of(i)), block.suffix(i)].concat();
        let (timestamp, start, end) = block.payload(i).unwrap();
        (position, timestamp, block.raw()[start as usize..end as usize].to_vec())
    };
    (0..block.entries()).map(entry).collect()
}

#[test]
fn rows_of_any_kind_come_back() {
    for seed in 0..400 {
        let rows = rows(&mut Random::seeded(seed));
        let block = Block::decode(packed(&rows)).unwrap_or_else(|| panic!("seed {seed}"));
        assert!(block.check());
        assert_eq!(unpacked(&block), rows, "seed {seed}");
    }
}

#[test]
fn even_rows_take_little_more_than_their_values() {
    let mut writer = RowWriter::new();
    let row = |i: u64| {
        writer.begin(1000 * i as i64, Some(Marker::new(1000 * i as i64)), Deletion::NONE);
        writer.live(1, &(i as u32 * 7919 % 1000).to_be_bytes());
        writer.live(2, if i.is_multiple_of(3) { b"status=ok" } else { b"status=no" });
        (vec![3, 0x20, 0, (i >> 8) as u8, i as u8], 1000 * i as i64, writer.view().body().to_vec())
    };
    let rows: Vec<Row> = (0..100).map(row).collect();
    assert!(packed(&rows).len() < 100 * 4 + 150, "{}", packed(&rows).len());
}

#[test]
fn damaged_blocks_do_not_panic() {
    for seed in 0..8 {
        let mut rows = rows(&mut Random::seeded(seed));
        rows.truncate(10);
        let good = packed(&rows);
        for at in 1..good.len() {
            for value in [0, 1, 2, 3, 0x7f, 0x80, 0xff] {
                let mut damaged = good.clone();
                damaged[at] = value;
                let Some(block) = Block::decode(damaged) else { continue };
                block.check();
                for i in 0..=block.entries() {
                    std::hint::black_box((block.suffix(i), block.payload(i), block.partition_of(i)));
                }
                block.lower_bound(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 5], &[3, 0x20, 4]);
            }
            assert!(Block::decode(good[..at].to_vec()).is_none(), "cut at {at}");
        }
    }
}
