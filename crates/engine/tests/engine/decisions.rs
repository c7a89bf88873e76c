//! Transactions that decide what they write, on real threads: rows on two shards are counted up, one or two at a time, and each time
//! a record says so in a journal on whichever shard. Nothing is lost, nothing is done twice, each row's records are in order, and a
//! reader that goes by the horizon misses none.

use crate::harness::*;
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use rt::{Random, RealDisk, ShardThreads, SystemClock};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{
    Decide, Flow, Moment, Mutation, Partitions, Read, ReadEnd, Sink, Slice, Store, StoreError, TableConfig,
    Transaction, WantedRow,
};

const SHARDS: usize = 2;
const COUNTERS: u64 = 8;
const TASKS: u64 = 6;
const TURNS: u64 = 80;
const JOURNAL: store::TableId = OTHER;

/// Adds one to each of the rows.
struct CountUp {
    rows: Vec<WantedRow>,
    refuse_odd: bool,
}

impl Decide for CountUp {
    type Outcome = Option<Vec<u64>>;

    fn decide(
        self,
        rows: &[Option<RowView<'_>>],
        moment: Moment,
    ) -> Result<(Option<Vec<u64>>, Vec<Mutation>), StoreError> {
        let counts: Vec<u64> = rows.iter().map(|row| row.map_or(0, |row| number(&row)) + 1).collect();
        if self.refuse_odd && counts.iter().any(|count| count % 5 == 0) {
            return Ok((None, Vec::new()));
        }
        let mut mutations = Vec::new();
        for (place, (row, count)) in self.rows.iter().zip(&counts).enumerate() {
            let name = String::from_utf8_lossy(row.key.bytes()).into_owned();
            let mut mutation = Mutation::new(row.table, row.key.clone());
            mutation.row(&row.clustering, image(moment.ballot, &count.to_string()).view());
            mutations.push(mutation);
            let mut journal = Mutation::new(JOURNAL, partition("journal"));
            let mut clustering = moment.ballot.to_be_bytes().to_vec();
            clustering.extend_from_slice(&moment.place.to_be_bytes());
            clustering.push(place as u8);
            journal.row(&clustering, image(moment.ballot, &format!("{name}={count}")).view());
            mutations.push(journal);
        }
        Ok((Some(counts), mutations))
    }
}

fn image(ballot: i64, value: &str) -> RowWriter {
    let mut writer = RowWriter::new();
    writer.begin(ballot, Some(Marker::new(ballot)), Deletion::NONE);
    writer.live(1, value.as_bytes());
    writer
}

fn number(row: &RowView<'_>) -> u64 {
    text(row).parse().unwrap()
}

fn text(row: &RowView<'_>) -> String {
    String::from_utf8(row.cells().next().unwrap().live_value(NOW_SECONDS).unwrap().to_vec()).unwrap()
}

fn counter(n: u64) -> WantedRow {
    WantedRow { table: TABLE, key: partition(&format!("counter{n}")), clustering: b"row".to_vec() }
}

/// The journal's records by their place, up to a ballot.
#[derive(Default)]
struct Records {
    up_to: i64,
    found: BTreeMap<Vec<u8>, String>,
}

impl Sink for Records {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        if i64::from_be_bytes(*clustering.first_chunk().unwrap()) <= self.up_to {
            self.found.insert(clustering.to_vec(), text(&row));
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

async fn journal(store: &EmbeddedStore, up_to: i64) -> BTreeMap<Vec<u8>, String> {
    let mut records = Records { up_to, found: BTreeMap::new() };
    let mut read = Read {
        scan_limit: 100,
        ..Read::of(JOURNAL, Partitions::One(partition("journal")), vec![Slice::all()], NOW_SECONDS)
    };
    while let ReadEnd::Paused(position) = store.read(&read, &mut records).await.unwrap().end {
        read.after = Some(position);
    }
    records.found
}

async fn work(store: EmbeddedStore, id: u64, done: Arc<AtomicU64>) {
    let mut random = Random::seeded(id);
    let mut seen: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    for turn in 0..TURNS {
        let mut rows = vec![counter(random.below(COUNTERS))];
        let other = counter(random.below(COUNTERS));
        if other != rows[0] {
            rows.push(other);
        }
        let count_up = CountUp { rows: rows.clone(), refuse_odd: turn.is_multiple_of(3) };
        let transaction = Transaction { rows, decide: count_up, now_seconds: NOW_SECONDS };
        if let Some(counts) = store.transact(transaction).await.unwrap() {
            done.fetch_add(counts.len() as u64, Ordering::Relaxed);
        }
        if turn.is_multiple_of(10) {
            let settled = store.horizon().await.unwrap().settled;
            let records = journal(&store, settled).await;
            // What a reader was shown up to its horizon is all there ever is up to it.
            let end = seen.keys().next_back().cloned();
            let again: BTreeMap<_, _> = records
                .iter()
                .filter(|(at, _)| end.as_ref().is_some_and(|end| *at <= end))
                .map(|(at, text)| (at.clone(), text.clone()))
                .collect();
            assert_eq!(again, seen, "a record appeared behind the horizon");
            seen = records;
        }
    }
}

async fn check(store: &EmbeddedStore, done: u64) {
    let horizon = store.horizon().await.unwrap();
    let records = journal(store, horizon.settled).await;
    assert_eq!(records.len() as u64, done);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records.values() {
        let (name, count) = record.split_once('=').unwrap();
        let last = counts.entry(name).or_default();
        assert_eq!(count.parse::<u64>().unwrap(), *last + 1, "{name} is out of order");
        *last += 1;
    }
    for n in 0..COUNTERS {
        let rows = vec![counter(n)];
        let count_up = CountUp { rows: rows.clone(), refuse_odd: false };
        let counts_now =
            store.transact(Transaction { rows, decide: count_up, now_seconds: NOW_SECONDS }).await;
        let name = format!("counter{n}");
        let expect = counts.get(name.as_str()).copied().unwrap_or(0) + 1;
        assert_eq!(counts_now.unwrap(), Some(vec![expect]));
    }
}

fn on_threads(dir: &Path, create: bool, done: &Arc<AtomicU64>) {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = Durability::Sync;
    options.log_segment_bytes = 128 << 10;
    let engine = Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap().0;
    let (done, ready) = (done.clone(), Arc::new(tokio::sync::Barrier::new(SHARDS)));
    let main = move |index: usize| {
        let (engine, done, ready) = (engine.clone(), done.clone(), ready.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 && create {
                let tables = vec![TableConfig::new(TABLE), TableConfig::new(OTHER)];
                store.alter(b"c".to_vec(), tables).await.unwrap();
            }
            ready.wait().await;
            if create {
                let task = |n| {
                    let id = index as u64 * TASKS + n;
                    tokio::task::spawn_local(work(store.clone(), id, done.clone()))
                };
                for task in (0..TASKS).map(task).collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            }
            ready.wait().await;
            if index == 0 {
                let so_far = done.load(Ordering::Relaxed);
                check(&store, so_far).await;
                done.fetch_add(COUNTERS, Ordering::Relaxed);
            }
            // Both, before either thread ends: a shard that is gone cannot answer the other.
            ready.wait().await;
        }
    };
    ShardThreads::start(SHARDS, main).unwrap().join().unwrap();
}

#[test]
fn decisions_are_serializable_and_readers_by_the_horizon_miss_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let done = Arc::new(AtomicU64::new(0));
    on_threads(dir.path(), true, &done);
    assert!(done.load(Ordering::Relaxed) > TASKS * TURNS, "hardly anything was decided");
    // Without a clean close: the log has it all.
    on_threads(dir.path(), false, &done);
}
