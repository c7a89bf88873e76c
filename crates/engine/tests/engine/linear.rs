//! Conditional commits and reads are linearizable, under concurrency and across crashes: histories are recorded
//! and a checker looks for an order of the operations, within the times each was under way, that explains them.

use crate::harness::*;
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use rt::{CrashImage, Fault, Random, RealDisk, ShardThreads, SimDisk, SystemClock};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store::{
    CellCondition, Comparison, ConditionalCommit, Partitions, RowCheck, RowPosition, Slice, Store, Subject,
    TableConfig,
};

/// Bits of a checker's state: operations per key must fit.
const OPERATIONS_MAX: usize = 64;
const KEYS: u64 = 6;

#[derive(Clone, Debug)]
enum Operation {
    Read {
        seen: Option<u64>,
    },
    Swap {
        expected: Option<u64>,
        new: u64,
        applied: bool,
    },
    /// Its answer never came: it may have happened or not.
    LostSwap {
        expected: Option<u64>,
        new: u64,
    },
}

#[derive(Clone, Debug)]
struct Event {
    key: u64,
    operation: Operation,
    begin: u64,
    end: u64,
}

/// Collects events; its counter orders their beginnings and ends.
#[derive(Clone, Default)]
struct Recorder {
    clock: Arc<AtomicU64>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Recorder {
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn record(&self, key: u64, begin: u64, operation: Operation) {
        let end = match operation {
            Operation::LostSwap { .. } => u64::MAX,
            _ => self.tick(),
        };
        self.events.lock().unwrap().push(Event { key, operation, begin, end });
    }

    fn check(&self) {
        let events = self.events.lock().unwrap();
        for key in 0..KEYS {
            let mine: Vec<Event> = events.iter().filter(|event| event.key == key).cloned().collect();
            assert!(mine.len() <= OPERATIONS_MAX, "{} operations on key {key}", mine.len());
            assert!(is_linearizable(&mine), "key {key}: {mine:#?}");
        }
    }
}

/// Whether some order of the events, in which none comes before one that ended before it began, explains them.
fn is_linearizable(events: &[Event]) -> bool {
    let mut tried: HashSet<(u64, Option<u64>)> = HashSet::new();
    let mut open: Vec<(u64, Option<u64>)> = vec![(0, None)];
    let required = events.iter().enumerate().filter(|(_, event)| event.end != u64::MAX);
    let required = required.fold(0u64, |mask, (i, _)| mask | 1 << i);
    while let Some((done, value)) = open.pop() {
        if done & required == required {
            return true;
        }
        if !tried.insert((done, value)) {
            continue;
        }
        let left = |i: &usize| done & (1 << i) == 0;
        let deadline = (0..events.len()).filter(left).map(|i| events[i].end).min().unwrap_or(u64::MAX);
        for i in (0..events.len()).filter(left).filter(|i| events[*i].begin < deadline) {
            let next = match events[i].operation {
                Operation::Read { seen } => (seen == value).then_some(value),
                Operation::Swap { expected, new, applied: true } => (expected == value).then_some(Some(new)),
                Operation::Swap { expected, applied: false, .. } => (expected != value).then_some(value),
                Operation::LostSwap { expected, new } => {
                    Some(if expected == value { Some(new) } else { value })
                }
            };
            if let Some(next) = next {
                open.push((done | 1 << i, next));
            }
        }
    }
    false
}

async fn read_register(store: &EmbeddedStore, key: u64) -> Option<Option<u64>> {
    let mut rows = Rows::default();
    let wanted = read(TABLE, Partitions::One(partition(&format!("key{key}"))), vec![Slice::one(b"r")]);
    store.read(&wanted, &mut rows).await.ok()?;
    Some(rows.rows.first().map(|row| row.2.parse().unwrap()))
}

fn swap(key: u64, expected: Option<u64>, new: u64) -> ConditionalCommit {
    let key = format!("key{key}");
    let condition = CellCondition {
        column: 1,
        is_static: false,
        data_type: model::types::DataType::Text,
        path: Vec::new(),
        subject: Subject::Value,
        comparison: Comparison::Equal,
        values: vec![expected.map(|value| format!("{value:010}").into_bytes())],
    };
    let position = RowPosition::Row(b"r".to_vec());
    ConditionalCommit {
        table: TABLE,
        key: partition(&key),
        checks: vec![RowCheck { position, exists: None, conditions: vec![condition.into()], columns: None }],
        further: Vec::new(),
        mutations: vec![put(TABLE, &key, "r", &format!("{new:010}"), 5)],
        provisional_timestamp: 5,
        now_seconds: NOW_SECONDS,
    }
}

/// Reads and swaps keys at random, with what it saw last as the expectation; ends at the first error.
async fn client(store: EmbeddedStore, recorder: Recorder, id: u64, operations: u64) {
    let mut random = Random::seeded(id);
    let mut known = [None; KEYS as usize];
    for n in 0..operations {
        let key = random.below(KEYS);
        let begin = recorder.tick();
        if random.one_in(3) {
            let Some(seen) = read_register(&store, key).await else { return };
            known[key as usize] = seen;
            recorder.record(key, begin, Operation::Read { seen });
            continue;
        }
        let (expected, new) = (known[key as usize], id * 1000 + n);
        let operation = match commit_if_either_way(&store, swap(key, expected, new)).await {
            Ok(outcome) => Operation::Swap { expected, new, applied: outcome.applied },
            Err(_) => Operation::LostSwap { expected, new },
        };
        let lost = matches!(operation, Operation::LostSwap { .. });
        if matches!(operation, Operation::Swap { applied: true, .. }) {
            known[key as usize] = Some(new);
        }
        recorder.record(key, begin, operation);
        if lost {
            return;
        }
    }
}

#[test]
fn the_checker_tells_right_from_wrong() {
    let event = |operation, begin, end| Event { key: 0, operation, begin, end };
    let won = |expected, new| Operation::Swap { expected, new, applied: true };
    let seen = |seen| Operation::Read { seen };
    let good = [event(won(None, 1), 0, 5), event(seen(None), 1, 2), event(seen(Some(1)), 3, 4)];
    assert!(is_linearizable(&good));
    // The new value was seen, and then the old one again.
    let bad = [event(won(None, 1), 0, 9), event(seen(Some(1)), 1, 2), event(seen(None), 3, 4)];
    assert!(!is_linearizable(&bad));
    let both_won = [event(won(None, 1), 0, 5), event(won(None, 2), 1, 4)];
    assert!(!is_linearizable(&both_won));
    let lost = Operation::LostSwap { expected: None, new: 3 };
    assert!(is_linearizable(&[event(lost.clone(), 0, u64::MAX), event(seen(Some(3)), 5, 6)]));
    assert!(is_linearizable(&[event(lost, 0, u64::MAX), event(seen(None), 5, 6)]));
}

#[test]
fn conditional_commits_are_linearizable_on_threads() {
    for round in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let mut options = EngineOptions::new(dir.path());
        options.shards = 2;
        options.durability =
            if round % 2 == 0 { Durability::Sync } else { Durability::Periodic { interval_ms: 2 } };
        options.log_segment_bytes = 64 << 10;
        let (engine, _) = Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap();
        let recorder = Recorder::default();
        let (shared, ready) = (recorder.clone(), Arc::new(tokio::sync::Barrier::new(2)));
        ShardThreads::start(2, move |index| {
            let (engine, recorder, ready) = (engine.clone(), shared.clone(), ready.clone());
            async move {
                let store = engine.store(index).unwrap();
                if index == 0 {
                    store.alter(vec![], vec![TableConfig::new(TABLE)]).await.unwrap();
                }
                ready.wait().await;
                let client =
                    |n| client(store.clone(), recorder.clone(), round * 100 + index as u64 * 10 + n, 28);
                let tasks: Vec<_> = (0..4).map(|n| tokio::task::spawn_local(client(n))).collect();
                for task in tasks {
                    task.await.unwrap();
                }
                ready.wait().await;
            }
        })
        .unwrap()
        .join()
        .unwrap();
        recorder.check();
    }
}

#[test]
fn conditional_commits_are_linearizable_across_crashes() {
    for k in (5..200).step_by(3) {
        let disk = SimDisk::new();
        let recorder = Recorder::default();
        disk.fault_at(k, Fault::Crash);
        run(async {
            let Ok(harness) = open_with(&disk, options(2)) else { return };
            if harness.create_tables().await.is_err() {
                return;
            }
            let client =
                |n: u64| client(harness.stores[n as usize % 2].clone(), recorder.clone(), k * 10 + n, 10);
            let tasks: Vec<_> = (0..6).map(|n| tokio::task::spawn_local(client(n))).collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let disk = disk.image(CrashImage::Random { seed: k });
        run(async {
            let harness = open_with(&disk, options(1 + k as usize % 3)).unwrap();
            let _ = harness.create_tables().await;
            for key in 0..KEYS {
                let begin = recorder.tick();
                let seen = read_register(harness.store(), key).await.unwrap();
                recorder.record(key, begin, Operation::Read { seen });
            }
        });
        recorder.check();
    }
}
