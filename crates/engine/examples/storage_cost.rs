//! What memtables, files and merged reads cost in processor time, without log and server: the rows of the engine comparison
//! (time series, partitions of 1,000 rows), single threaded.
//!
//! `storage_cost DIR PARTITIONS ROWS MODE [REPEAT]`; MODE is `load` (then only loading is done) or one of
//! `point`, `miss`, `slice`, `newest`, `scan`, `all`; or, with data of their own, `expired` and `expired-files` (the newest
//! 100 rows of partitions in which 40 rows live and `ROWS` have expired), `queue` and `queue-files` (the first row behind
//! `ROWS` that are deleted). Run it under callgrind with two values of REPEAT: the
//! difference is the cost of the reads alone.

use engine::cache::BlockCache;
use engine::compaction::{self, Others, Pace, Work};
use engine::memtable::Memtable;
use engine::merge::{self, Sources};
use engine::table::{Table, WriterOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::token::Token;
use rt::{Disk, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Compression, Flow, Mutation, Partitions, Read, Sink, Slice, TableConfig, TableId};

const TABLE: TableId = TableId(1);
const MEMTABLE_BYTES: usize = 64 << 20;
const CACHE_BYTES: u64 = 1 << 30;

fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn partition(p: u64) -> PartitionKey {
    let a = mix(p ^ 0xA5A5_0000);
    let b = mix(a ^ p);
    let token = mix(a.rotate_left(17) ^ b);
    let bytes = [a.to_be_bytes(), b.to_be_bytes()].concat();
    PartitionKey::new(Token::from_ring_position(token), &bytes).expect("a short key")
}

fn clustering(c: u64) -> [u8; 9] {
    let at = (1_700_000_000_000u64 + c * 1_000) ^ 1 << 63;
    let mut bytes = [0x20; 9];
    bytes[1..].copy_from_slice(&at.to_be_bytes());
    bytes
}

fn row(writer: &mut RowWriter, p: u64, c: u64) {
    let r = mix(p.wrapping_mul(1_000_003) ^ c);
    let timestamp = (1_700_000_000_000_000u64 + c * 1_000_000 + (r & 0xFFFFF)) as i64;
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    writer.live(1, &(15.0 + (r % 2000) as f64 / 100.0).to_be_bytes());
    writer.live(2, &((r >> 20) as u32 % 1024).to_be_bytes());
    let text = [b"status=ok;site0", b"status=ok;site1", b"status=warn;st2", b"status=fail;st3"];
    writer.live(3, text[(r >> 62) as usize]);
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut blob = [0u8; 62];
    let mut x = r;
    for chunk in blob.chunks_mut(16) {
        x = mix(x);
        let mut y = x;
        for byte in chunk {
            *byte = HEX[(y & 15) as usize];
            y >>= 4;
        }
    }
    writer.live(4, &blob);
}

/// Time this process has had on a processor: what a busy machine leaves alone. Linux only.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

#[derive(Default)]
struct Count {
    rows: u64,
    bytes: u64,
    limit: u64,
}

impl Sink for Count {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }
    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }
    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.rows += 1;
        self.bytes += (clustering.len() + row.body().len()) as u64;
        if self.rows == self.limit { Flow::Stop } else { Flow::Continue }
    }
    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

struct Store {
    dir: PathBuf,
    tables: Vec<Arc<Table>>,
    next: u64,
}

impl Store {
    fn merge(&mut self, memtables: &[&Memtable], tables: Vec<Arc<Table>>) {
        let work = Work {
            memtables,
            tables: &tables,
            others: Others { tables: &[], memtables_min_timestamp: None },
            purge: None,
            options: WriterOptions::new(&TableConfig {
                compression: compression(),
                ..TableConfig::new(TABLE)
            }),
            output_bytes: 1 << 40,
        };
        let (dir, next) = (self.dir.clone(), &mut self.next);
        let mut name = || {
            *next += 1;
            (*next, dir.join(format!("{next}.table")))
        };
        let outputs = compaction::run(&RealDisk, &work, &mut name, &mut |_| Pace::Continue).expect("merge");
        self.tables.retain(|table| !tables.iter().any(|old| old.number() == table.number()));
        for output in outputs {
            self.tables.push(Arc::new(Table::open(&RealDisk, &output.path, output.number).expect("open")));
        }
        for table in tables {
            RealDisk.remove(table.path()).expect("remove");
        }
    }
}

fn compression() -> Compression {
    match std::env::var("COMPRESSION").as_deref() {
        Ok("none") => Compression::None,
        Ok("zstd") => Compression::Zstd,
        _ => Compression::Lz4,
    }
}

fn load(store: &mut Store, partitions: u64, rows: u64) {
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    let keys: Vec<PartitionKey> = (0..partitions).map(partition).collect();
    let (mut applying, mut flushing) = (0.0, 0.0);
    let mut start = cpu_seconds();
    for c in 0..rows {
        for p in 0..partitions {
            row(&mut writer, p, c);
            let mut mutation = Mutation::new(TABLE, keys[p as usize].clone());
            mutation.row(&clustering(c), writer.view());
            memtable.apply(&mutation, c);
            if memtable.bytes() >= MEMTABLE_BYTES {
                applying += cpu_seconds() - start;
                start = cpu_seconds();
                store.merge(&[&memtable], vec![]);
                flushing += cpu_seconds() - start;
                memtable = Memtable::new();
                start = cpu_seconds();
            }
        }
    }
    applying += cpu_seconds() - start;
    if !memtable.is_empty() {
        store.merge(&[&memtable], vec![]);
    }
    let files = store.tables.len();
    let start = cpu_seconds();
    if files > 1 {
        let all = store.tables.clone();
        store.merge(&[], all);
    }
    let count = (partitions * rows) as f64;
    println!(
        "apply {:.2} us/row, flush {:.2} us/row, {files} files, compaction {:.2} us/row, {:.1} bytes/row",
        applying / count * 1e6,
        flushing / count * 1e6,
        (cpu_seconds() - start) / count * 1e6,
        store.tables.iter().map(|t| t.bytes()).sum::<u64>() as f64 / count
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dir, partitions, rows, mode, rest @ ..] = arguments.as_slice() else {
        panic!("usage: storage_cost DIR PARTITIONS ROWS MODE [REPEAT]")
    };
    let (partitions, rows): (u64, u64) = (partitions.parse().expect("number"), rows.parse().expect("number"));
    let repeat: u64 = rest.first().map_or(100_000, |n| n.parse().expect("number"));
    let dir = Path::new(dir);
    RealDisk.create_dir_all(dir).expect("directory");
    let mut store = Store { dir: dir.to_owned(), tables: vec![], next: 0 };
    for path in RealDisk.list(dir).expect("list") {
        store.next += 1;
        store.tables.push(Arc::new(Table::open(&RealDisk, &dir.join(path), store.next).expect("open")));
    }
    if let Some(kind) = DEAD.iter().find(|kind| mode.starts_with(**kind)) {
        return dead_rows(&mut store, kind, mode.ends_with("-files"), (partitions, rows), repeat);
    }
    if store.tables.is_empty() {
        load(&mut store, partitions, rows);
    }
    let modes = if mode == "all" {
        vec!["scan", "scan", "point", "miss", "slice", "newest"]
    } else {
        vec![mode.as_str()]
    };
    let cache = BlockCache::new(CACHE_BYTES);
    for mode in modes.into_iter().filter(|m| *m != "load") {
        reads(&store, &cache, (partitions, rows), mode, repeat);
    }
}

const DEAD: [&str; 2] = ["expired", "queue"];
/// Rows that live, beside those that do not.
const LIVE: u64 = 40;
const NOW: u32 = 1_000;

/// Reads that have to pass dead rows: `rows` of them in each partition, at its far end (`expired`) or its near end (`queue`).
fn dead_rows(store: &mut Store, kind: &str, files: bool, (partitions, rows): (u64, u64), repeat: u64) {
    let mut memtable = Memtable::new();
    let mut writer = RowWriter::new();
    let keys: Vec<PartitionKey> = (0..partitions).map(partition).collect();
    for c in 0..rows + LIVE {
        let (dead, timestamp) = (c < rows, 1_700_000_000_000_000 + c as i64);
        let marker = Marker { ttl: 2, expiry: if dead { NOW } else { NOW + 1 }, timestamp };
        let gone = Deletion { timestamp, local_seconds: NOW };
        match kind {
            "expired" => writer.begin(timestamp, Some(marker), Deletion::NONE),
            _ if dead => writer.begin(timestamp, None, gone),
            _ => writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE),
        }
        for key in &keys {
            let mut mutation = Mutation::new(TABLE, key.clone());
            mutation.row(&clustering(c), writer.view());
            memtable.apply(&mutation, 0);
        }
    }
    if files {
        store.merge(&[&memtable], vec![]);
        memtable = Memtable::new();
    }
    let cache = BlockCache::new(CACHE_BYTES);
    let sources = Sources { memtables: &[&memtable], tables: &store.tables, cache: Some(&cache) };
    let (reverse, limit) = if kind == "expired" { (true, 100) } else { (false, 1) };
    let start = cpu_seconds();
    let mut tombstones = 0;
    for i in 0..repeat {
        let mut read = read_of(Partitions::One(keys[(i % partitions) as usize].clone()));
        (read.reverse, read.now_seconds) = (reverse, NOW);
        let mut count = Count { limit, ..Count::default() };
        tombstones += merge::read(&sources, &read, &mut count).expect("read").tombstones;
        assert_eq!(count.rows, limit.min(LIVE));
    }
    assert_eq!(tombstones, rows * repeat);
    println!("{kind}: {:.2} us/read", (cpu_seconds() - start) / repeat as f64 * 1e6);
}

fn read_of(partitions: Partitions) -> Read {
    Read::of(TABLE, partitions, vec![Slice::all()], 0)
}

fn reads(store: &Store, cache: &BlockCache, (partitions, rows): (u64, u64), mode: &str, repeat: u64) {
    let keys: Vec<PartitionKey> = (0..partitions).map(partition).collect();
    let mut read = read_of(Partitions::all());
    let sources = Sources { memtables: &[], tables: &store.tables, cache: Some(cache) };
    let mut total = Count::default();
    let start = cpu_seconds();
    let repeat = if mode == "scan" { 1 } else { repeat };
    for i in 0..repeat {
        let r = mix(i ^ 0x5eed);
        let (p, c) = (r % partitions, (r >> 32) % rows);
        let mut count = Count { limit: u64::MAX, ..Count::default() };
        if mode != "scan" {
            read.partitions = Partitions::One(keys[p as usize].clone());
        }
        match mode {
            "point" => read.slices = vec![Slice::one(&clustering(c))],
            "miss" => {
                let mut missing = clustering(c);
                missing[8] ^= 1;
                read.slices = vec![Slice::one(&missing)];
            }
            "slice" => {
                read.slices = vec![Slice { start: clustering(c.min(rows - 100)).to_vec(), end: vec![0xff] }];
                count.limit = 100;
            }
            "newest" => {
                read.reverse = true;
                count.limit = 100;
            }
            _ => {}
        }
        merge::read(&sources, &read, &mut count).expect("read");
        total.rows += count.rows;
        total.bytes += count.bytes;
    }
    let seconds = cpu_seconds() - start;
    println!(
        "{mode}: {:.2} us/read, {:.3} M rows/s, {} rows, {} bytes, cache {:?}",
        seconds / repeat as f64 * 1e6,
        total.rows as f64 / seconds / 1e6,
        total.rows,
        total.bytes,
        cache.counts()
    );
}
