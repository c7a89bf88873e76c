//! The whole engine cut at every I/O, and compared with the naive store after recovery.
//!
//! A seeded history of writes, deletions, batches, conditional commits, counters, changes of tables (create, drop,
//! truncate, other options), flushes, compactions and restarts runs on the simulated disk until I/O number k, where the
//! power goes; for every k. Of each cut several images are recovered: nothing unsynced survived, everything did, the
//! last write is torn, and random subsets of what was not synced (so in any order that fsync allows). Whatever the
//! crash left, after recovery the catalogue and the tables hold exactly what was acknowledged, with or without the one
//! operation that was under way: nothing lost, nothing half there, nothing deleted back. In every eighth history the first
//! table has an index, which after recovery leads to every row, and a view, which has exactly the rows it should.
//!
//! `PARTITA_CRASH_SEEDS=first..last` chooses the histories: `100..500` is the size for a night.

use crate::harness::*;
use engine::{Durability, EmbeddedStore};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::types::DataType;
use rt::{CrashImage, Fault, Random, SimDisk};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use store::index::{Candidate, IndexConfig, Place, Source, candidate};
use store::naive::NaiveStore;
use store::view::{ColumnSource, ViewColumn, ViewConfig};
use store::{
    Commit, Compaction, Compression, ConditionalCommit, Flow, Mutation, PartitionCheck, Partitions, Read,
    ReadEnd, RowCheck, RowPosition, Sink, Slice, Store, StoreError, TableConfig, TableId,
};

const MICROS: i64 = 1_000_000_000;
/// Comes and goes.
const THIRD: TableId = TableId(3);
/// Holds the entries of the first table's index, where it has one.
const ENTRIES: TableId = TableId(4);
/// Its view by the same column.
const VIEW: TableId = TableId(5);
const STEPS: usize = 60;
/// Histories that CI cuts.
const SEEDS: std::ops::Range<u64> = 0..32;
const THREADS: usize = 2;

/// One step of a history.
#[derive(Clone, Debug)]
pub enum Step {
    Commit(Commit),
    CommitIf(ConditionalCommit),
    Alter(Vec<TableConfig>),
    Flush,
    Background,
    Reopen { shards: usize },
}

pub fn history(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::seeded(seed);
    let mut tables = first_tables();
    if seed % 8 == 1 {
        index_first(&mut tables);
    }
    let mut history = vec![Step::Alter(tables.clone())];
    for n in 1..=steps as i64 {
        let now = MICROS + n * 10;
        history.push(match random.below(20) {
            0 => Step::Flush,
            1..=3 => Step::Background,
            4 => Step::Reopen { shards: 1 + random.below(3) as usize },
            5 => {
                change_tables(&mut random, &mut tables);
                Step::Alter(tables.clone())
            }
            6 | 7 => Step::CommitIf(conditional(&mut random, now)),
            8 | 9 => Step::Commit(commit_of(vec![add(OTHER, &key(&mut random), "n", 1, now)])),
            10 | 11 => {
                let count = 2 + random.below(4);
                Step::Commit(commit_of((0..count).map(|_| write(&mut random, now)).collect()))
            }
            12 if tables.iter().any(|table| table.id == THIRD) => {
                Step::Commit(commit_of(vec![put(THIRD, &key(&mut random), "r", "third", now)]))
            }
            _ => Step::Commit(commit_of(vec![write(&mut random, now)])),
        });
    }
    history
}

fn first_tables() -> Vec<TableConfig> {
    let mut tables = vec![TableConfig::new(TABLE), TableConfig::new(OTHER)];
    // No grace: what can be purged is purged.
    tables[0].gc_grace_seconds = 0;
    tables
}

/// An index on what rows of the first table hold, and a view by it.
fn index_first(tables: &mut Vec<TableConfig>) {
    let source = Source::Cell { column: 1, data_type: DataType::Blob };
    tables[0].indexes.push(IndexConfig { table: ENTRIES, sorted: true, change: Default::default(), source });
    // Behind the two that are always there, and before the one that comes and goes.
    tables.insert(2, TableConfig { gc_grace_seconds: 0, ..TableConfig::new(ENTRIES) });
    let column = |source| ViewColumn { source, data_type: DataType::Blob, descending: false };
    let clustering = ColumnSource::Clustering { columns: vec![(DataType::Blob, false)] };
    tables[0].views.push(ViewConfig {
        table: VIEW,
        partition: vec![column(ColumnSource::Cell(1))],
        clustering: vec![column(ColumnSource::Partition { position: 0, count: 1 }), column(clustering)],
        columns: vec![],
        living: None,
        conditions: vec![],
        is_grouped: false,
    });
    tables.insert(3, TableConfig { gc_grace_seconds: 0, ..TableConfig::new(VIEW) });
}

/// What DDL does to the tables of the engine.
fn change_tables(random: &mut Random, tables: &mut Vec<TableConfig>) {
    match random.below(6) {
        0 | 1 => tables[1].incarnation += 1,
        2 => tables[0].compaction = Compaction::TimeWindow { window_seconds: 1 + random.below(3) },
        3 => {
            tables[0].compaction = TableConfig::new(TABLE).compaction;
            tables[0].compression =
                [Compression::None, Compression::Lz4, Compression::Zstd][random.below(3) as usize];
        }
        _ if tables.iter().any(|table| table.id == THIRD) => tables.retain(|table| table.id != THIRD),
        _ => {
            // A dropped table's id is never used again; here it comes back as a later incarnation.
            let mut third = TableConfig::new(THIRD);
            third.incarnation = random.below(1 << 30) as u32;
            tables.push(third);
        }
    }
}

fn commit_of(mutations: Vec<Mutation>) -> Commit {
    Commit { mutations, now_seconds: NOW_SECONDS }
}

fn key(random: &mut Random) -> String {
    format!("k{}", random.below(6))
}

fn clustering(random: &mut Random) -> String {
    // In comparable form, so that a view can take it apart.
    format!("\x20r{}\0\0", random.below(8))
}

fn write(random: &mut Random, now: i64) -> Mutation {
    let mut mutation = Mutation::new(TABLE, partition(&key(random)));
    let deletion = Deletion { timestamp: now, local_seconds: NOW_SECONDS };
    let mut writer = RowWriter::new();
    match random.below(10) {
        0 => mutation.delete_partition(deletion),
        1 => {
            let (a, b) = (clustering(random), clustering(random));
            mutation.delete_range(a.as_bytes(), b.as_bytes(), deletion);
        }
        2 => {
            writer.begin(now, None, deletion);
            mutation.row(clustering(random).as_bytes(), writer.view());
        }
        3 => {
            writer.begin(now, None, Deletion::NONE);
            writer.live(9, &now.to_be_bytes());
            mutation.static_row(writer.view());
        }
        _ => {
            writer.begin(now, Some(Marker::new(now)), Deletion::NONE);
            writer.live(1, &vec![b'x'; random.below(60) as usize]);
            mutation.row(clustering(random).as_bytes(), writer.view());
        }
    }
    mutation
}

fn conditional(random: &mut Random, now: i64) -> ConditionalCommit {
    let (key, row) = (key(random), clustering(random));
    let check = RowCheck {
        position: RowPosition::Row(row.clone().into_bytes()),
        columns: None,
        exists: Some(random.one_in(2)),
        conditions: Vec::new(),
    };
    let mut mutations = vec![put(TABLE, &key, &row, "conditional", now)];
    let mut further = Vec::new();
    // A transaction: all of it or nothing, whatever shards it is on.
    while random.one_in(2) && further.len() < 3 {
        let (key, row) = (self::key(random), clustering(random));
        let position = RowPosition::Row(row.clone().into_bytes());
        let exists = random.one_in(4).then_some(false);
        let check = RowCheck { position, columns: None, exists, conditions: Vec::new() };
        further.push(PartitionCheck { table: OTHER, key: partition(&key), checks: vec![check] });
        mutations.push(put(OTHER, &key, &row, "transaction", now));
    }
    ConditionalCommit {
        table: TABLE,
        key: partition(&key),
        checks: vec![check],
        further,
        mutations,
        provisional_timestamp: now,
        now_seconds: NOW_SECONDS,
    }
}

/// Everything visible in both tables, in a form that can be compared.
#[derive(Default, PartialEq, Debug)]
struct Contents {
    lines: Vec<String>,
    partition: String,
}

impl Sink for Contents {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.partition = String::from_utf8_lossy(key.bytes()).into_owned();
        Flow::Continue
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        let line = format!("{} static {:?}", self.partition, row.cells().collect::<Vec<_>>());
        // A read that is resumed delivers it again.
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let clustering = String::from_utf8_lossy(clustering);
        let cells: Vec<_> = row.cells().collect();
        self.lines.push(format!("{} {clustering} {:?} {cells:?}", self.partition, row.marker()));
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

pub async fn contents<S: Store>(store: &S) -> Result<Vec<String>, StoreError> {
    let mut contents = Contents::default();
    for table in [TABLE, OTHER, THIRD] {
        contents.lines.push(format!("{table:?}"));
        let mut read: Read = read(table, Partitions::all(), vec![Slice::all()]);
        read.scan_limit = 7;
        loop {
            match store.read(&read, &mut contents).await {
                Err(StoreError::UnknownTable(_)) => break,
                outcome => match outcome?.end {
                    ReadEnd::Paused(position) => read.after = Some(position),
                    ReadEnd::Complete | ReadEnd::Stopped => break,
                },
            }
        }
    }
    Ok(contents.lines)
}

/// The settings of the tables after so many steps: the engine must be told of projections again when it was opened.
fn tables_after(history: &[Step], count: usize) -> Option<&Vec<TableConfig>> {
    history.iter().take(count).rev().find_map(|step| match step {
        Step::Alter(tables) => Some(tables),
        _ => None,
    })
}

/// Tells an engine that was opened of its projections, if there are any.
async fn tell_projections<S: Store>(store: &S, tables: Option<&Vec<TableConfig>>) -> Result<(), StoreError> {
    match tables.filter(|tables| tables.iter().any(TableConfig::is_projected)) {
        Some(tables) => apply(store, &Step::Alter(tables.clone())).await,
        None => Ok(()),
    }
}

/// The index leads to every row that has a value, and the view has exactly those.
async fn check_projections(store: &EmbeddedStore, label: &str) {
    let source = Source::Cell { column: 1, data_type: DataType::Blob };
    let index = IndexConfig { table: ENTRIES, sorted: true, change: Default::default(), source };
    if !store.tables().iter().any(|table| table.id == ENTRIES) {
        return;
    }
    let mut values = Values::default();
    store.read(&read(TABLE, Partitions::all(), vec![Slice::all()]), &mut values).await.unwrap();
    let mut view = Values::default();
    store.read(&read(VIEW, Partitions::all(), vec![Slice::all()]), &mut view).await.unwrap();
    let mut expected: Vec<(PartitionKey, Vec<u8>)> = Vec::new();
    for (key, clustering, value) in &values.rows {
        let mut place = Vec::new();
        model::comparable::encode(&DataType::Blob, false, key.bytes(), &mut place).unwrap();
        place.extend_from_slice(clustering);
        expected.push((PartitionKey::of(value).unwrap(), place));
    }
    expected.sort();
    assert_eq!(view.keys.into_iter().zip(view.places).collect::<Vec<_>>(), expected, "{label}: the view");
    for (key, clustering, value) in values.rows {
        let partition = index.partition_of(&value, &key).unwrap();
        let mut entries = Values::default();
        store
            .read(&read(ENTRIES, Partitions::One(partition), vec![Slice::all()]), &mut entries)
            .await
            .unwrap();
        let wanted = Candidate { key, place: Place::Row(clustering) };
        let found = entries.places.iter().any(|entry| candidate(entry).as_ref() == Some(&wanted));
        assert!(found, "{label}: no entry leads to {wanted:?}");
    }
}

/// Where rows are, and what they have in the first column.
#[derive(Default)]
struct Values {
    key: Option<PartitionKey>,
    rows: Vec<(PartitionKey, Vec<u8>, Vec<u8>)>,
    keys: Vec<PartitionKey>,
    places: Vec<Vec<u8>>,
}

impl Sink for Values {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.keys.extend(self.key.clone());
        self.places.push(clustering.to_vec());
        let value = row.cells().find(|cell| cell.column == 1).and_then(|cell| cell.live_value(NOW_SECONDS));
        if let (Some(value), Some(key)) = (value, &self.key) {
            self.rows.push((key.clone(), clustering.to_vec(), value.to_vec()));
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// The same on the engine: every other step in the way that a server takes.
async fn apply_on_engine(store: &EmbeddedStore, n: usize, step: &Step) -> Result<(), StoreError> {
    let promptly = (n / 2).is_multiple_of(2);
    match step {
        Step::Commit(commit) => commit_one_way(store, promptly, commit.clone()).await,
        Step::CommitIf(commit) => commit_if_one_way(store, promptly, commit.clone()).await.map(|_| ()),
        other => apply(store, other).await,
    }
}

async fn apply<S: Store>(store: &S, step: &Step) -> Result<(), StoreError> {
    match step {
        Step::Commit(commit) => store.commit(commit.clone()).await,
        Step::CommitIf(commit) => store.commit_if(commit.clone()).await.map(|_| ()),
        Step::Alter(tables) => store.alter(format!("{tables:?}").into_bytes(), tables.clone()).await,
        Step::Flush | Step::Background | Step::Reopen { .. } => Ok(()),
    }
}

/// What a run left: how many steps were acknowledged, and whether the crash came before the end.
#[derive(Default)]
struct Outcome {
    acknowledged: usize,
    crashed: bool,
    /// Background work done on the way.
    flushes: u64,
    compactions: u64,
}

impl Outcome {
    fn count(&mut self, harness: &Harness) {
        self.flushes += harness.engine.metrics().flushes.get();
        self.compactions += harness.engine.metrics().compactions.get();
    }

    fn crashed(mut self) -> Outcome {
        self.crashed = true;
        self
    }
}

fn small(shards: usize, durability: Durability) -> engine::EngineOptions {
    let mut options = options(shards);
    options.log_segment_bytes = 4096;
    options.log_bytes_max = 4 * 4096;
    options.durability = durability;
    options
}

async fn run_history(disk: &SimDisk, history: &[Step], durability: Durability) -> Outcome {
    let mut outcome = Outcome::default();
    let Ok(mut harness) = open_with(disk, small(2, durability)) else { return outcome.crashed() };
    for (n, step) in history.iter().enumerate() {
        harness.clock.set_micros(MICROS + n as i64 * 10);
        match step {
            Step::Flush => {
                harness.engine.flush().await;
            }
            Step::Background => {
                harness.engine.run_jobs();
                tokio::task::yield_now().await;
            }
            Step::Reopen { shards } => {
                harness.engine.close().await;
                outcome.count(&harness);
                drop(harness);
                harness = match open_with(disk, small(*shards, durability)) {
                    Ok(harness) => harness,
                    Err(error) => {
                        assert!(disk.is_crashed(), "step {n}: {error}");
                        return outcome.crashed();
                    }
                };
                if let Err(error) = tell_projections(harness.store(), tables_after(history, n)).await {
                    assert!(disk.is_crashed(), "step {n}: {error}");
                    return outcome.crashed();
                }
            }
            step => {
                let store = &harness.stores[n % harness.stores.len()];
                if let Err(error) = apply_on_engine(store, n, step).await {
                    assert!(disk.is_crashed(), "step {n} {step:?}: {error}");
                    return outcome.crashed();
                }
            }
        }
        outcome.acknowledged = n + 1;
    }
    outcome.count(&harness);
    outcome.crashed = disk.is_crashed();
    outcome
}

pub fn open_small(disk: &SimDisk, shards: usize) -> Result<Harness, engine::OpenError> {
    open_with(disk, small(shards, Durability::Sync))
}

/// Runs the history without its restarts, until a step fails; how many succeeded.
pub async fn run_steps(harness: &Harness, history: &[Step]) -> usize {
    for (n, step) in history.iter().enumerate() {
        harness.clock.set_micros(MICROS + n as i64 * 10);
        match step {
            Step::Flush => {
                harness.engine.flush().await;
            }
            Step::Background => {
                harness.engine.run_jobs();
                tokio::task::yield_now().await;
            }
            Step::Reopen { .. } => {}
            step => {
                if apply_on_engine(&harness.stores[n % harness.stores.len()], n, step).await.is_err() {
                    return n;
                }
            }
        }
    }
    history.len()
}

/// What the tables must hold after the first `count` steps.
pub async fn expected(history: &[Step], count: usize) -> Vec<String> {
    let naive = NaiveStore::new();
    for step in history.iter().take(count) {
        apply(&naive, step).await.unwrap();
    }
    contents(&naive).await.unwrap()
}

/// What must be there after each number of steps: the catalogue and the contents.
struct Expected(Vec<(Option<Vec<u8>>, Vec<String>)>);

impl Expected {
    async fn of(history: &[Step]) -> Expected {
        let naive = NaiveStore::new();
        let mut states = vec![(None, contents(&naive).await.unwrap())];
        for step in history {
            apply(&naive, step).await.unwrap();
            states.push((naive.catalogue(), contents(&naive).await.unwrap()));
        }
        Expected(states)
    }
}

async fn check_image(
    disk: &SimDisk,
    history: &[Step],
    expected: &Expected,
    acknowledged: usize,
    label: &str,
) {
    let shards = 1 + acknowledged % 3;
    let harness = match open_with(disk, small(shards, Durability::Sync)) {
        Ok(harness) => harness,
        Err(error) => panic!("{label}: {error}"),
    };
    let found = contents(harness.store()).await.unwrap_or_else(|error| panic!("{label}: {error}"));
    let found = (harness.opened.catalogue.clone(), found);
    let (before, after) = (&expected.0[acknowledged], expected.0.get(acknowledged + 1));
    if found != *before && Some(&found) != after {
        let step = history.get(acknowledged);
        panic!("{label}: next step {step:?}\nfound {found:#?}\nbefore {before:#?}\nafter {after:#?}");
    }
    check_projections(harness.store(), label).await;
    // Life goes on: a flush, a compaction if one is due, another restart.
    harness.engine.flush().await;
    harness.engine.run_jobs();
    harness.engine.close().await;
    drop(harness);
    let harness =
        open_with(disk, small(2, Durability::Sync)).unwrap_or_else(|error| panic!("{label}: {error}"));
    let again = (harness.opened.catalogue.clone(), contents(harness.store()).await.unwrap());
    assert_eq!(again, found, "{label}: after another restart");
    check_projections(harness.store(), label).await;
}

/// What a crash may have left of cut `k`.
fn images(disk: &SimDisk, seed: u64, k: u64, durability: Durability) -> Vec<CrashImage> {
    if durability != Durability::Sync {
        // Only the process may die without loss.
        return vec![CrashImage::KeepAll];
    }
    let torn = Random::seeded(k * 31 + seed).below(disk.last_write_len() as u64 + 1) as usize;
    vec![
        CrashImage::DropUnsynced,
        CrashImage::KeepAll,
        CrashImage::TornLast { bytes: torn },
        CrashImage::Random { seed: k * 7919 + seed },
        CrashImage::Random { seed: k * 104_729 + seed + 1 },
    ]
}

/// Cuts the history of this seed at every I/O; how many cuts, and how many images were recovered.
fn crash_matrix(seed: u64, steps: usize, durability: Durability) -> (u64, u64) {
    let history = history(seed, steps);
    let expected = run(Expected::of(&history));
    let mut recovered = 0;
    for k in 1.. {
        let disk = SimDisk::new();
        disk.fault_at(k, Fault::Crash);
        let outcome = run(run_history(&disk, &history, durability));
        for image in images(&disk, seed, k, durability) {
            recovered += 1;
            let label = format!("seed {seed} k {k} {image:?}");
            run(check_image(&disk.image(image), &history, &expected, outcome.acknowledged, &label));
        }
        if !outcome.crashed {
            assert_eq!(outcome.acknowledged, history.len());
            return (k - 1, recovered);
        }
    }
    unreachable!("a history has an end")
}

fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("PARTITA_CRASH_SEEDS").ok();
    let range = given.as_deref().and_then(|text| {
        let (first, last) = text.split_once("..")?;
        Some(first.parse().ok()?..last.parse().ok()?)
    });
    range.unwrap_or(SEEDS)
}

#[test]
fn a_crash_at_every_io_of_a_history_loses_nothing() {
    let seeds = seeds();
    let (next, total) = (AtomicU64::new(seeds.start), Mutex::new((0, 0)));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    // Every fourth history without fsync per commit.
                    let periodic = Durability::Periodic { interval_ms: 1000 };
                    let durability = if seed % 4 == 3 { periodic } else { Durability::Sync };
                    let (cuts, recovered) = crash_matrix(seed, STEPS, durability);
                    println!("seed {seed} {durability:?}: {cuts} cuts, {recovered} images recovered");
                    let mut total = total.lock().unwrap();
                    *total = (total.0 + cuts, total.1 + recovered);
                }
            });
        }
    });
    let (cuts, recovered) = total.into_inner().unwrap();
    println!("{cuts} cuts, {recovered} images recovered, seeds {seeds:?}");
    assert!(
        cuts / (seeds.end - seeds.start) > 100 && recovered > 2 * cuts,
        "{cuts} cuts, {recovered} images"
    );
}

#[test]
fn histories_without_crashes_equal_the_naive_store() {
    let (mut flushes, mut compactions) = (0, 0);
    for seed in 1000..1020 {
        let history = history(seed, 300);
        let disk = SimDisk::new();
        let outcome = run(run_history(&disk, &history, Durability::Sync));
        assert_eq!(outcome.acknowledged, history.len());
        flushes += outcome.flushes;
        compactions += outcome.compactions;
        let (image, label) = (disk.image(CrashImage::DropUnsynced), format!("seed {seed}"));
        let expected = run(Expected::of(&history));
        run(check_image(&image, &history, &expected, history.len(), &label));
    }
    println!("{flushes} flushes, {compactions} compactions");
    assert!(flushes > 100 && compactions > 20, "{flushes} flushes, {compactions} compactions");
}
