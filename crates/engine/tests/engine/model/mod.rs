//! Random histories on a store and on the naive one: every read must answer the same. The store is the engine, or the remote-shaped one:
//! both run the same histories, less what only an engine does (flushes, compactions, restarts).
//!
//! Writes with arbitrary timestamps, TTL under a clock that moves, every kind of deletion, multi-cell columns,
//! statics, counters, operations on the current value, conditional commits, batches, flushes, compactions, restarts
//! clean and not, with other numbers of shards; reads of any slices, in both directions, in pages of any size, with
//! flushes, compactions and restarts between pages. In every fourth history the tables have indexes, which must lead to
//! whatever there is, and views, which must be what their definition makes of it. At least a million operations; each kind is counted and must occur.
//! `PARTITA_MODEL_STEPS` makes it longer, `PARTITA_MODEL_SEED` begins elsewhere.

mod indexes;
mod reads;
mod subject;
mod views;
mod writes;

use crate::harness::{Harness, open_with, options, run};
use engine::EngineOptions;
use rt::{Random, SimDisk};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use store::naive::NaiveStore;
use store::remote::{Faults, RemoteStore};
use store::{Commit, Mutation, Store, TableConfig, TableId};
use subject::Subject;

/// Arbitrary timestamps; tombstones are kept.
const ANY_TIME: TableId = TableId(1);
const COUNTERS: TableId = TableId(2);
/// Timestamps only grow; tombstones go as soon as they can.
const PURGED: TableId = TableId(3);

const STEPS: u64 = 1_000_000;
/// Histories are cut in pieces, because the naive store keeps everything and gets slow.
const PIECE: u64 = 4_000;
const THREADS: usize = 2;

/// What a run must contain, each at least once in every thousand pieces' worth; most occur thousands of times.
const KINDS: &[&str] = &[
    "batch",
    "clock jump",
    "compaction",
    "condition applied",
    "condition refused",
    "counter add",
    "delete cell",
    "delete collection",
    "delete element",
    "delete partition",
    "delete range",
    "delete row",
    "expiring cell",
    "expiring row",
    "flush",
    "flush between pages",
    "index",
    "list operation",
    "arithmetic",
    "operation refused",
    "read",
    "read backwards",
    "read in pages",
    "read of all partitions",
    "read of one partition",
    "read of some partitions",
    "read of slices",
    "restart between pages",
    "restart clean",
    "restart killed",
    "static row",
    "truncate",
    "timestamp from the past",
    "timestamp from the future",
    "write",
    "view",
    "write element",
];

type Counts = BTreeMap<&'static str, u64>;

fn tables(counters_incarnation: u32) -> Vec<TableConfig> {
    let mut tables = [ANY_TIME, COUNTERS, PURGED].map(TableConfig::new).to_vec();
    tables[1].incarnation = counters_incarnation;
    tables[2].gc_grace_seconds = 0;
    tables
}

fn projected(tables: Vec<TableConfig>) -> Vec<TableConfig> {
    views::viewed(indexes::indexed(tables))
}

fn small(shards: usize) -> EngineOptions {
    let mut options = options(shards);
    options.log_segment_bytes = 16 << 10;
    options.memtable_bytes_max = 256 << 10;
    options
}

struct World {
    disk: SimDisk,
    /// `None` while it restarts, and where the store is not the engine.
    harness: Option<Harness>,
    remote: Option<RemoteStore>,
    naive: NaiveStore,
    random: Random,
    /// Microseconds; grows with every step.
    now: i64,
    incarnation: u32,
    /// The tables have indexes and views.
    projected: bool,
    counts: Counts,
}

impl World {
    async fn begin(seed: u64, remote: Option<RemoteStore>) -> World {
        let disk = SimDisk::new();
        let harness = remote.is_none().then(|| open_with(&disk, small(2)).unwrap());
        let naive = NaiveStore::new();
        let projecting = seed.is_multiple_of(4);
        let tables = if projecting { projected(tables(0)) } else { tables(0) };
        naive.alter(vec![], tables.clone()).await.unwrap();
        let mut world = World {
            disk,
            harness,
            remote,
            naive,
            random: Random::seeded(seed),
            now: 1_000_000_000,
            incarnation: 0,
            projected: projecting,
            counts: Counts::new(),
        };
        world.store().alter(vec![], tables).await.unwrap();
        world
    }

    fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    fn now_seconds(&self) -> u32 {
        (self.now / 1_000_000) as u32
    }

    fn store(&mut self) -> Subject {
        if let Some(remote) = &self.remote {
            return Subject::Remote(remote.clone());
        }
        let stores = &self.harness.as_ref().unwrap().stores;
        Subject::Engine(stores[self.random.below(stores.len() as u64) as usize].clone())
    }

    fn key(&mut self) -> String {
        format!("k{}", self.random.below(8))
    }

    fn clustering(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = format!("{:02}", self.random.below(30));
        model::comparable::encode(&model::types::DataType::Blob, false, text.as_bytes(), &mut bytes).unwrap();
        bytes
    }

    async fn step(&mut self) {
        // A quarter of a second passes on average; sometimes much more.
        self.now += 1 + self.random.below(500_000) as i64;
        if self.random.one_in(50) {
            self.count("clock jump");
            self.now += 20_000_000;
        }
        if let Some(harness) = &self.harness {
            harness.clock.set_micros(self.now);
        }
        match self.random.below(100) {
            0 => self.flush().await,
            1..=3 => self.background().await,
            4 if self.random.one_in(8) => self.reopen().await,
            5 if self.random.one_in(8) => self.truncate().await,
            6..=15 => self.conditional().await,
            16..=22 => self.add_to_counters().await,
            23..=30 => {
                self.count("batch");
                let count = 2 + self.random.below(5);
                let mutations = (0..count).map(|_| self.mutation()).collect();
                self.commit(mutations).await;
            }
            31..=66 => {
                self.count("write");
                let mutation = self.mutation();
                self.commit(vec![mutation]).await;
            }
            67..=70 => self.operate_on_current_value().await,
            71..=73 if self.projected => self.check_index().await,
            74..=76 if self.projected => self.check_view().await,
            _ => self.compare_read().await,
        }
    }

    /// On both; both accept it or both refuse it.
    async fn commit(&mut self, mutations: Vec<Mutation>) {
        let commit = Commit { mutations, now_seconds: self.now_seconds() };
        let ours = self.store().commit_either_way(commit.clone()).await;
        let theirs = self.naive.commit(commit.clone()).await;
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{ours:?} {theirs:?} {commit:?}");
        if ours.is_err() {
            self.count("operation refused");
        }
    }

    async fn flush(&mut self) {
        if let Some(harness) = &self.harness {
            harness.engine.flush().await;
            self.count("flush");
        }
    }

    async fn background(&mut self) {
        if let Some(harness) = &self.harness {
            harness.engine.run_jobs();
        }
        tokio::task::yield_now().await;
    }

    async fn reopen(&mut self) {
        let Some(harness) = self.harness.take() else { return };
        if self.random.one_in(2) {
            self.count("restart clean");
            harness.engine.close().await;
        } else {
            self.count("restart killed");
        }
        self.count_work(&harness);
        drop(harness);
        // Without a close the old tasks still hold the lock: continue on what a crash of the process leaves.
        self.disk = self.disk.image(rt::CrashImage::KeepAll);
        let harness = open_with(&self.disk, small(1 + self.random.below(3) as usize)).unwrap();
        harness.clock.set_micros(self.now);
        self.harness = Some(harness);
        if self.projected {
            // The engine does not keep them.
            let tables = self.tables();
            self.store().alter(vec![], tables).await.unwrap();
        }
    }

    fn tables(&self) -> Vec<TableConfig> {
        let tables = tables(self.incarnation);
        if self.projected { projected(tables) } else { tables }
    }

    fn count_work(&mut self, harness: &Harness) {
        *self.counts.entry("compaction").or_default() += harness.engine.metrics().compactions.get();
    }

    async fn truncate(&mut self) {
        self.count("truncate");
        self.incarnation += 1;
        let tables = self.tables();
        self.store().alter(vec![], tables.clone()).await.unwrap();
        self.naive.alter(vec![], tables).await.unwrap();
    }
}

/// Runs the history of one seed; what it consisted of.
fn run_piece(seed: u64, steps: u64, remote: Option<RemoteStore>) -> Counts {
    run(async {
        let mut world = World::begin(seed, remote).await;
        for _ in 0..steps {
            world.step().await;
        }
        if let Some(harness) = world.harness.take() {
            world.count_work(&harness);
        }
        world.counts
    })
}

/// The contract holds behind a message boundary too: the engine's histories, indexes and views included, on a store that gets nothing
/// but bytes and answers late. Every answer arrives here; `store::remote` has the tests of those that do not.
#[test]
fn random_histories_on_the_remote_store_answer_the_same() {
    let mut total = Counts::new();
    for seed in 1..=12 {
        let remote = RemoteStore::new(Faults { seed, delay_turns_max: 2, ..Faults::default() });
        let counts = run_piece(seed, 1_500, Some(remote.clone()));
        let (messages, bytes) = remote.traffic();
        assert!(messages > 1_500 && bytes > 100 * messages / 2, "{messages} messages, {bytes} bytes");
        counts.into_iter().for_each(|(kind, n)| *total.entry(kind).or_default() += n);
    }
    for kind in KINDS.iter().filter(|kind| !subject::ONLY_OF_ENGINES.contains(kind)) {
        assert!(total.contains_key(kind), "no {kind}");
    }
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

#[test]
fn random_histories_answer_as_the_naive_store_does() {
    let steps = from_environment("PARTITA_MODEL_STEPS").unwrap_or(STEPS);
    let first = from_environment("PARTITA_MODEL_SEED").unwrap_or(1);
    let pieces = steps.div_ceil(PIECE);
    let (next, total) = (AtomicU64::new(0), Mutex::new(Counts::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let seed = first + next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + pieces {
                        return;
                    }
                    let outcome = std::panic::catch_unwind(|| run_piece(seed, PIECE.min(steps), None));
                    let Ok(counts) = outcome else { panic!("PARTITA_MODEL_SEED={seed} shows it at once") };
                    let mut total = total.lock().unwrap();
                    counts.into_iter().for_each(|(kind, n)| *total.entry(kind).or_default() += n);
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    println!("{} operations, seeds {first} to {}:", pieces * PIECE.min(steps), first + pieces - 1);
    total.iter().for_each(|(kind, n)| println!("{n:>9} {kind}"));
    if pieces >= 50 {
        let missing: Vec<_> = KINDS.iter().filter(|kind| !total.contains_key(*kind)).collect();
        assert!(missing.is_empty(), "no {missing:?}");
    }
}
