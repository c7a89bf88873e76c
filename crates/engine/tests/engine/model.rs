//! Random histories on the engine and on the naive store: every read must answer the same.
//!
//! Writes with arbitrary timestamps, TTL under a clock that moves, every kind of deletion, multi-cell columns,
//! statics, counters, conditional commits, batches, flushes, compactions, restarts with other numbers of shards;
//! reads of any slices, in both directions, in pages of any size. `PARTITA_MODEL_STEPS` makes it longer.

use crate::harness::{Harness, add, open_with, options, partition, run};
use engine::{EmbeddedStore, EngineOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowView, RowWriter};
use rt::{Random, SimDisk};
use store::naive::NaiveStore;
use store::{
    Commit, ConditionalCommit, Flow, Mutation, Partitions, Position, Read, ReadEnd, RowCheck, RowPosition,
    Sink, Slice, Store, TableConfig, TableId,
};

/// Arbitrary timestamps; tombstones are kept.
const ANY_TIME: TableId = TableId(1);
const COUNTERS: TableId = TableId(2);
/// Timestamps only grow; tombstones go as soon as they can.
const PURGED: TableId = TableId(3);
const STEPS: usize = 12_000;

fn tables(counters_incarnation: u32) -> Vec<TableConfig> {
    let mut tables = [ANY_TIME, COUNTERS, PURGED].map(TableConfig::new).to_vec();
    tables[1].incarnation = counters_incarnation;
    tables[2].gc_grace_seconds = 0;
    tables
}

fn small(shards: usize) -> EngineOptions {
    let mut options = options(shards);
    options.log_segment_bytes = 16 << 10;
    options.memtable_bytes_max = 256 << 10;
    options
}

struct World {
    disk: SimDisk,
    harness: Option<Harness>,
    naive: NaiveStore,
    random: Random,
    /// Microseconds; grows with every step.
    now: i64,
    incarnation: u32,
    reads: u64,
}

impl World {
    async fn begin(seed: u64) -> World {
        let disk = SimDisk::new();
        let harness = open_with(&disk, small(2)).unwrap();
        let naive = NaiveStore::new();
        for store in [&harness.stores[0]] {
            store.alter(vec![], tables(0)).await.unwrap();
        }
        naive.alter(vec![], tables(0)).await.unwrap();
        let random = Random::seeded(seed);
        World { disk, harness: Some(harness), naive, random, now: 1_000_000_000, incarnation: 0, reads: 0 }
    }

    fn now_seconds(&self) -> u32 {
        (self.now / 1_000_000) as u32
    }

    fn harness(&self) -> &Harness {
        self.harness.as_ref().unwrap()
    }

    fn store(&mut self) -> EmbeddedStore {
        let shard = self.random.below(self.harness().stores.len() as u64) as usize;
        self.harness().stores[shard].clone()
    }

    fn key(&mut self) -> String {
        format!("k{}", self.random.below(8))
    }

    fn clustering(&mut self) -> Vec<u8> {
        format!("{:02}", self.random.below(30)).into_bytes()
    }

    fn timestamp(&mut self, table: TableId) -> i64 {
        if table == PURGED {
            self.now
        } else {
            self.now - self.random.below(40_000_000) as i64 / 1_000_000 * 1_000_000
        }
    }

    async fn step(&mut self) {
        // A quarter of a second passes on average; sometimes much more.
        self.now += 1 + self.random.below(500_000) as i64;
        if self.random.one_in(50) {
            self.now += 20_000_000;
        }
        self.harness().clock.set_micros(self.now);
        match self.random.below(100) {
            0 => {
                self.harness().engine.flush().await;
            }
            1..=3 => {
                self.harness().engine.run_jobs();
                tokio::task::yield_now().await;
            }
            4 if self.random.one_in(8) => self.reopen().await,
            5 if self.random.one_in(8) => self.alter().await,
            6..=15 => self.conditional().await,
            16..=22 => {
                let now = self.now;
                let mutations =
                    (0..1 + self.random.below(3)).map(|_| add(COUNTERS, &self.key(), "c", 3, now));
                let mutations: Vec<Mutation> = mutations.collect();
                self.commit(together(mutations)).await;
            }
            23..=30 => {
                let count = 2 + self.random.below(5);
                let mutations = (0..count).map(|_| self.mutation()).collect();
                self.commit(mutations).await;
            }
            31..=70 => {
                let mutation = self.mutation();
                self.commit(vec![mutation]).await;
            }
            _ => self.compare_read().await,
        }
    }

    async fn commit(&mut self, mutations: Vec<Mutation>) {
        let commit = Commit { mutations, now_seconds: self.now_seconds() };
        self.store().commit(commit.clone()).await.unwrap();
        self.naive.commit(commit).await.unwrap();
    }

    fn mutation(&mut self) -> Mutation {
        let table = if self.random.one_in(2) { ANY_TIME } else { PURGED };
        let timestamp = self.timestamp(table);
        let deletion = Deletion { timestamp, local_seconds: self.now_seconds() };
        let mut mutation = Mutation::new(table, partition(&self.key()));
        match self.random.below(20) {
            0 => mutation.delete_partition(deletion),
            1 | 2 => {
                let (start, end) = (self.clustering(), self.clustering());
                mutation.delete_range(&start, &end, deletion);
            }
            3 => {
                let mut writer = RowWriter::new();
                writer.begin(timestamp, None, deletion);
                mutation.row(&self.clustering(), writer.view());
            }
            4 | 5 => {
                let mut writer = RowWriter::new();
                writer.begin(timestamp, None, Deletion::NONE);
                self.put_cells(&mut writer, timestamp, 10);
                mutation.static_row(writer.view());
            }
            _ => {
                let mut writer = RowWriter::new();
                let marker = self.random.one_in(2).then(|| self.marker(timestamp));
                writer.begin(timestamp, marker, Deletion::NONE);
                self.put_cells(&mut writer, timestamp, 1);
                mutation.row(&self.clustering(), writer.view());
            }
        }
        mutation
    }

    fn ttl(&mut self) -> u32 {
        if self.random.one_in(3) { 1 + self.random.below(40) as u32 } else { 0 }
    }

    fn marker(&mut self, timestamp: i64) -> Marker {
        match self.ttl() {
            0 => Marker::new(timestamp),
            ttl => Marker { timestamp, ttl, expiry: self.now_seconds() + ttl },
        }
    }

    /// Cells of two simple columns and a multi-cell one.
    fn put_cells(&mut self, writer: &mut RowWriter, timestamp: i64, first: u32) {
        for column in [first, first + 1] {
            if self.random.one_in(2) {
                let state = self.random.below(256) as u8;
                self.put_cell(writer, timestamp, column, None, state);
            }
        }
        let column = first + 2;
        if self.random.one_in(6) {
            let local_seconds = self.now_seconds();
            let state = CellState::ComplexDeletion { local_seconds };
            writer.cell(&Cell { column, path: None, timestamp: timestamp - 1, state });
        }
        for path in 0..3u8 {
            if self.random.one_in(4) {
                let state = self.random.below(256) as u8;
                self.put_cell(writer, timestamp, column, Some(&[path]), state);
            }
        }
    }

    fn put_cell(
        &mut self,
        writer: &mut RowWriter,
        timestamp: i64,
        column: u32,
        path: Option<&[u8]>,
        value: u8,
    ) {
        let value = [value; 9];
        let state = match self.ttl() {
            _ if value[0] < 40 => CellState::Tombstone { local_seconds: self.now_seconds() },
            0 => CellState::Live(&value),
            ttl => CellState::Expiring { value: &value, ttl, expiry: self.now_seconds() + ttl },
        };
        writer.cell(&Cell { column, path, timestamp, state });
    }

    async fn conditional(&mut self) {
        let (key, row) = (self.key(), self.clustering());
        let mut writer = RowWriter::new();
        writer.begin(self.now, Some(Marker::new(self.now)), Deletion::NONE);
        writer.live(1, b"swapped");
        let mut mutation = Mutation::new(PURGED, partition(&key));
        mutation.row(&row, writer.view());
        let exists = Some(self.random.one_in(2));
        let commit = ConditionalCommit {
            table: PURGED,
            key: partition(&key),
            checks: vec![RowCheck {
                position: RowPosition::Row(row),
                exists,
                conditions: vec![],
                columns: None,
            }],
            mutations: vec![mutation],
            provisional_timestamp: self.now,
            now_seconds: self.now_seconds(),
        };
        let ours = self.store().commit_if(commit.clone()).await.unwrap();
        let theirs = self.naive.commit_if(commit).await.unwrap();
        assert_eq!(ours.applied, theirs.applied);
    }

    async fn reopen(&mut self) {
        let harness = self.harness.take().unwrap();
        if self.random.one_in(2) {
            harness.engine.close().await;
        }
        drop(harness);
        // Without a close the old tasks still hold the lock: continue on what a crash of the process leaves.
        self.disk = self.disk.image(rt::CrashImage::KeepAll);
        let harness = open_with(&self.disk, small(1 + self.random.below(3) as usize)).unwrap();
        harness.clock.set_micros(self.now);
        self.harness = Some(harness);
    }

    async fn alter(&mut self) {
        self.incarnation += 1;
        let tables = tables(self.incarnation);
        self.store().alter(vec![], tables.clone()).await.unwrap();
        self.naive.alter(vec![], tables).await.unwrap();
    }

    fn random_read(&mut self) -> Read {
        let partitions = match self.random.below(4) {
            0 => Partitions::all(),
            1 => {
                let (a, b) = (partition(&self.key()), partition(&self.key()));
                Partitions::Range { start: a.prefix().to_vec(), end: b.prefix().to_vec() }
            }
            _ => Partitions::One(partition(&self.key())),
        };
        let mut bounds: Vec<Vec<u8>> = (0..2 * self.random.below(4)).map(|_| self.clustering()).collect();
        bounds.sort();
        bounds.dedup();
        let slices = match bounds.len() {
            0 => vec![Slice::all()],
            _ => bounds.chunks_exact(2).map(|b| Slice { start: b[0].clone(), end: b[1].clone() }).collect(),
        };
        Read {
            table: [ANY_TIME, COUNTERS, PURGED][self.random.below(3) as usize],
            partitions,
            slices,
            reverse: self.random.one_in(2),
            statics: self.random.one_in(2),
            after: None,
            now_seconds: self.now_seconds(),
            scan_limit: if self.random.one_in(2) { u64::MAX } else { 1 + self.random.below(20) },
            tombstone_limit: u64::MAX,
        }
    }

    async fn compare_read(&mut self) {
        let read = self.random_read();
        let page = if self.random.one_in(2) { usize::MAX } else { 1 + self.random.below(7) as usize };
        let ours = read_pages(&self.store(), read.clone(), page).await;
        let whole = Read { scan_limit: u64::MAX, ..read.clone() };
        let theirs = read_pages(&self.naive, whole, usize::MAX).await;
        assert_eq!(ours, theirs, "{read:#?} in pages of {page}");
        self.reads += 1;
    }
}

/// Operations that need the current value, together per partition: the naive store resolves each mutation alone.
fn together(mutations: Vec<Mutation>) -> Vec<Mutation> {
    let mut kept: Vec<Mutation> = Vec::new();
    for mutation in mutations {
        if kept.iter().all(|other| other.key != mutation.key) {
            kept.push(mutation);
        }
    }
    kept
}

/// Reads everything in pages; statics and rows as text.
async fn read_pages<S: Store>(store: &S, mut read: Read, page: usize) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut sink = Page { now_seconds: read.now_seconds, left: page, ..Page::default() };
        let end = store.read(&read, &mut sink).await.unwrap().end;
        for line in sink.lines {
            // A page begins with its partition's static row, which the page before may have had too.
            if !line.contains("static") || !lines.contains(&line) {
                lines.push(line);
            }
        }
        read.after = match end {
            ReadEnd::Complete => return lines,
            ReadEnd::Paused(position) => Some(position),
            ReadEnd::Stopped => sink.last,
        };
    }
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
    key: Option<PartitionKey>,
    last: Option<Position>,
    left: usize,
    now_seconds: u32,
}

impl Page {
    /// What a client can see of a row.
    fn live(&self, row: RowView<'_>) -> String {
        let marker = row.marker().filter(|marker| marker.is_live(self.now_seconds));
        let live = |cell: &Cell<'_>| cell.live_value(self.now_seconds).is_some();
        let cells: Vec<Cell<'_>> = row.cells().filter(live).collect();
        format!("{marker:?} {cells:?}")
    }
}

impl Sink for Page {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.lines.push(format!("{:?} static {}", self.key, self.live(row)));
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.lines.push(format!("{:?} {clustering:?} {}", self.key, self.live(row)));
        self.last = self.key.clone().map(|key| Position { key, clustering: Some(clustering.to_vec()) });
        self.left -= 1;
        if self.left == 0 { Flow::Stop } else { Flow::Continue }
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

#[test]
fn random_histories_answer_as_the_naive_store_does() {
    let steps = std::env::var("PARTITA_MODEL_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(STEPS);
    let seed = std::env::var("PARTITA_MODEL_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    // Histories are cut in pieces, because the naive store keeps everything and gets slow.
    for piece in 0..steps.div_ceil(4000) as u64 {
        println!("seed {}", seed + piece);
        run(async {
            let mut world = World::begin(seed + piece).await;
            for _ in 0..4000.min(steps) {
                world.step().await;
            }
            assert!(world.reads > 500, "{} reads", world.reads);
        });
    }
}
