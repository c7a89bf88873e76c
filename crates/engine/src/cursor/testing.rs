//! For tests: random mutations, readers that remember, and the comparison with the naive store.

use crate::compaction::{self, Others, Pace, Work};
use crate::cursor::Cursor;
use crate::memtable::Memtable;
use crate::merge::{self, Sources};
use crate::table::{Table, TableWriter, WriterOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowView, RowWriter};
use rt::{Disk, Random, SimDisk};
use std::path::PathBuf;
use std::sync::Arc;
use store::naive::NaiveStore;
use store::{
    Flow, Mutation, Partitions, Position, Read, ReadEnd, ReadOutcome, Sink, Slice, StoreError, TableId,
};

pub const TABLE: TableId = TableId(1);

/// The seeds of a random test: `count` of them, or that many times `PARTITA_SEEDS` for a long run.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let factor = std::env::var("PARTITA_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    0..count * factor
}

pub fn key(n: u64) -> PartitionKey {
    PartitionKey::of(format!("partition {n}").as_bytes()).unwrap()
}

/// Clustering bytes: a few prefixes of each other, as real ones are not, to be harsh on bounds.
pub fn clustering(n: u64) -> Vec<u8> {
    match n % 8 {
        0 => vec![0x20, (n / 8) as u8],
        r => vec![0x20, (n / 8) as u8, 0x10 + r as u8],
    }
}

/// How large the space of keys, timestamps and times is.
#[derive(Clone, Copy)]
pub struct Shape {
    pub partitions: u64,
    pub clusterings: u64,
    pub timestamps: u64,
    pub seconds: u64,
    /// One entry in this many is a deletion of a partition or a range.
    pub deletions_one_in: u64,
}

impl Shape {
    pub const SMALL: Shape =
        Shape { partitions: 4, clusterings: 40, timestamps: 30, seconds: 60, deletions_one_in: 6 };
}

/// A mutation of one partition with one to four entries.
pub fn mutation(random: &mut Random, shape: Shape) -> Mutation {
    let mut mutation = Mutation::new(TABLE, key(random.below(shape.partitions)));
    for _ in 0..1 + random.below(4) {
        let deletion = Deletion {
            timestamp: random.below(shape.timestamps) as i64,
            local_seconds: random.below(shape.seconds) as u32,
        };
        if random.one_in(shape.deletions_one_in) {
            if random.one_in(4) {
                mutation.delete_partition(Deletion { timestamp: deletion.timestamp / 2, ..deletion });
            } else {
                let (a, b) = (random.below(shape.clusterings), random.below(shape.clusterings));
                let mut end = clustering(a.max(b));
                if random.one_in(2) {
                    end.push(0xff);
                }
                mutation.delete_range(&clustering(a.min(b)), &end, deletion);
            }
            continue;
        }
        let row = row(random, shape, deletion);
        if random.one_in(8) {
            mutation.static_row(row.view());
        } else {
            mutation.row(&clustering(random.below(shape.clusterings)), row.view());
        }
    }
    mutation
}

fn row(random: &mut Random, shape: Shape, deletion: Deletion) -> RowWriter {
    let base = random.below(shape.timestamps) as i64;
    let mut writer = RowWriter::new();
    let lifetime = |random: &mut Random| {
        let ttl = 1 + random.below(shape.seconds / 2 + 1) as u32;
        (ttl, ttl + random.below(shape.seconds) as u32)
    };
    let marker = random.one_in(2).then(|| {
        let (ttl, expiry) = if random.one_in(3) { lifetime(random) } else { (0, 0) };
        Marker { timestamp: base, ttl, expiry }
    });
    writer.begin(base, marker, if random.one_in(6) { deletion } else { Deletion::NONE });
    for column in 1..5 {
        if random.one_in(2) {
            let at = if random.one_in(3) { random.below(shape.timestamps) as i64 } else { base };
            let value = random.below(1000).to_be_bytes();
            let state = cell_state(random, shape, &value, lifetime);
            writer.cell(&Cell { column, path: None, timestamp: at, state });
        }
    }
    if random.one_in(4) {
        if random.one_in(2) {
            let state = CellState::ComplexDeletion { local_seconds: random.below(shape.seconds) as u32 };
            writer.cell(&Cell { column: 6, path: None, timestamp: base - 1, state });
        }
        for path in [b"a", b"b", b"c"] {
            if random.one_in(2) {
                let timestamp = random.below(shape.timestamps) as i64;
                let value = [random.below(250) as u8];
                let state = cell_state(random, shape, &value, lifetime);
                writer.cell(&Cell { column: 6, path: Some(path), timestamp, state });
            }
        }
    }
    writer
}

fn cell_state<'v>(
    random: &mut Random,
    shape: Shape,
    value: &'v [u8],
    lifetime: impl Fn(&mut Random) -> (u32, u32),
) -> CellState<'v> {
    match random.below(6) {
        0 => CellState::Tombstone { local_seconds: random.below(shape.seconds) as u32 },
        1 => {
            let (ttl, expiry) = lifetime(random);
            CellState::Expiring { value, ttl, expiry }
        }
        _ => CellState::Live(value),
    }
}

/// What a reader saw, as text: partitions, static rows and rows with what is live in them.
#[derive(Default)]
pub struct Collector {
    pub seen: Vec<String>,
    pub rows: usize,
    pub last: Option<Position>,
    key: Option<PartitionKey>,
    now_seconds: u32,
    /// Stop after this many rows.
    stop_after: Option<usize>,
    pub inside: bool,
}

impl Collector {
    pub fn new(now_seconds: u32, stop_after: Option<usize>) -> Collector {
        Collector { now_seconds, stop_after, ..Collector::default() }
    }

    fn show(&self, row: RowView<'_>) -> String {
        let now = self.now_seconds;
        let marker = row.marker().filter(|m| m.is_live(now));
        let cells = row.cells().filter(|cell| cell.live_value(now).is_some());
        let cells: Vec<String> = cells.map(|c| format!("{c:?}")).collect();
        format!("{marker:?} {}", cells.join(" "))
    }
}

impl Sink for Collector {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        self.inside = true;
        self.seen.push(format!("{key:?}"));
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        assert!(self.inside && self.seen.last().unwrap().starts_with("PartitionKey"));
        self.seen.push(format!("static {}", self.show(row)));
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        assert!(self.inside && row.check());
        self.seen.push(format!("{clustering:02x?} {}", self.show(row)));
        self.last = self.key.clone().map(|key| Position { key, clustering: Some(clustering.to_vec()) });
        self.rows += 1;
        if Some(self.rows) == self.stop_after { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        assert!(std::mem::replace(&mut self.inside, false));
        Flow::Continue
    }
}

/// Drops announcements of partitions in which nothing was delivered: a store may make them or not.
pub fn without_empty(seen: Vec<String>) -> Vec<String> {
    let starts = |s: &String| s.starts_with("PartitionKey");
    let keep: Vec<bool> =
        (0..seen.len()).map(|i| !starts(&seen[i]) || seen.get(i + 1).is_some_and(|s| !starts(s))).collect();
    seen.into_iter().zip(keep).filter_map(|(s, keep)| keep.then_some(s)).collect()
}

pub fn read_all(now_seconds: u32) -> Read {
    Read { statics: true, ..Read::of(TABLE, Partitions::all(), vec![Slice::all()], now_seconds) }
}

/// A random read: one partition or a range, up to three slices, either direction, any resume point.
pub fn random_read(random: &mut Random, shape: Shape) -> Read {
    let mut read = read_all(random.below(shape.seconds * 2) as u32);
    let mut keys: Vec<PartitionKey> = (0..shape.partitions).map(key).collect();
    keys.sort();
    let pick = |random: &mut Random| keys[random.below(shape.partitions) as usize].clone();
    read.partitions = match random.below(4) {
        0 => Partitions::all(),
        1 => {
            let (a, b) = (pick(random), pick(random));
            let (start, end) = if a < b { (a, b) } else { (b, a) };
            Partitions::Range { start: start.prefix().to_vec(), end: end.prefix().to_vec() }
        }
        _ => Partitions::One(pick(random)),
    };
    read.reverse = random.one_in(2);
    read.statics = random.one_in(2);
    if !random.one_in(3) {
        let mut bounds: Vec<Vec<u8>> =
            (0..2 * random.below(4)).map(|_| clustering(random.below(shape.clusterings + 2))).collect();
        bounds.sort();
        bounds.dedup();
        read.slices =
            bounds.chunks_exact(2).map(|b| Slice { start: b[0].clone(), end: b[1].clone() }).collect();
        if random.one_in(4) {
            read.slices = vec![Slice::one(&clustering(random.below(shape.clusterings)))];
        }
    }
    if random.one_in(3) {
        let at = clustering(random.below(shape.clusterings));
        read.after = Some(Position { key: pick(random), clustering: (!random.one_in(5)).then_some(at) });
    }
    read
}

/// What the naive store answers, with announcements of empty partitions left out.
pub fn naive_answer(naive: &NaiveStore, read: &Read) -> Vec<String> {
    let mut collector = Collector::new(read.now_seconds, None);
    naive.read_now(read, &mut collector).unwrap();
    without_empty(collector.seen)
}

/// The same read over `sources`, in pages that end by the sink's word or by the scan limit.
pub fn paged_answer(
    sources: &Sources<'_>,
    read: &Read,
    random: &mut Random,
) -> Result<Vec<String>, StoreError> {
    let mut seen: Vec<String> = vec![];
    let mut read = read.clone();
    loop {
        read.scan_limit = if random.one_in(2) { u64::MAX } else { 1 + random.below(20) };
        let stop_after = random.one_in(2).then(|| 1 + random.below(5) as usize);
        let mut collector = Collector::new(read.now_seconds, stop_after);
        let ReadOutcome { end, .. } = merge::read(sources, &read, &mut collector)?;
        // A resumed partition is announced again, with its static row.
        let repeated = read.after.as_ref().map(|after| format!("{:?}", after.key));
        let mut page = collector.seen.into_iter().peekable();
        if repeated.is_some() && page.peek() == repeated.as_ref() && seen.contains(repeated.as_ref().unwrap())
        {
            page.next();
            page.next_if(|line| line.starts_with("static"));
        }
        seen.extend(page);
        match end {
            ReadEnd::Complete => {
                assert!(!collector.inside);
                return Ok(without_empty(seen));
            }
            ReadEnd::Stopped => read.after = Some(collector.last.unwrap()),
            ReadEnd::Paused(position) => {
                assert_eq!(collector.inside, position.clustering.is_some());
                read.after = Some(position);
            }
        }
    }
}

/// `mutations` in a naive store.
pub fn naive_of(mutations: &[Mutation]) -> NaiveStore {
    let naive = NaiveStore::new();
    naive.create(TABLE);
    mutations.iter().for_each(|m| naive.apply(m, 0).unwrap());
    naive
}

/// `mutations` dealt to `count` memtables, some of them to two.
pub fn dealt(random: &mut Random, mutations: &[Mutation], count: u64) -> Vec<Memtable> {
    let mut memtables: Vec<Memtable> = (0..count).map(|_| Memtable::new()).collect();
    for (i, mutation) in mutations.iter().enumerate() {
        for _ in 0..1 + u64::from(random.one_in(5)) {
            memtables[random.below(count) as usize].apply(mutation, i as u64);
        }
    }
    memtables
}

/// A simulated disk with the directory that the files of a test lie in.
pub fn test_disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(std::path::Path::new("/t")).unwrap();
    disk
}

/// Small blocks, so that few rows make many of them.
pub fn writer_options(block_bytes: usize, compression: store::Compression) -> WriterOptions {
    let config = store::TableConfig { compression, ..store::TableConfig::new(TABLE) };
    WriterOptions { block_bytes, ..WriterOptions::new(&config) }
}

/// Copies a run into a file as it is, entry by entry.
pub fn copied(disk: &dyn Disk, number: u64, cursor: &mut impl Cursor, options: WriterOptions) -> Arc<Table> {
    let path = PathBuf::from(format!("/t/{number}.table"));
    let mut writer = TableWriter::create(disk, &path, options).unwrap();
    cursor.seek_partition(&[]).unwrap();
    while let Some(prefix) = cursor.partition() {
        writer.begin_partition(prefix);
        while let Some(entry) = cursor.entry() {
            writer.add(entry).unwrap();
            cursor.next().unwrap();
        }
        cursor.next_partition().unwrap();
    }
    let finished = writer.finish().unwrap();
    let table = Table::open(disk, &path, number).unwrap();
    assert_eq!((table.bytes(), table.statistics()), (finished.bytes, &finished.statistics));
    Arc::new(table)
}

/// Flushes a memtable to one file; `None` when that leaves nothing.
pub fn flushed(
    disk: &dyn Disk,
    number: u64,
    memtable: &Memtable,
    options: WriterOptions,
) -> Option<Arc<Table>> {
    let memtables = [memtable];
    let work = Work {
        memtables: &memtables,
        tables: &[],
        others: Others { tables: &[], memtables_min_timestamp: None },
        purge: None,
        options,
        output_bytes: u64::MAX,
    };
    let mut name = || (number, PathBuf::from(format!("/t/{number}.table")));
    let outputs = compaction::run(disk, &work, &mut name, &mut |_| Pace::Continue).unwrap();
    outputs.first().map(|output| Arc::new(Table::open(disk, &output.path, output.number).unwrap()))
}
