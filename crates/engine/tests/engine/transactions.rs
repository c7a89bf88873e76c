//! Transactions over partitions of several shards, on real threads: money moves between accounts, and no reader that looks at all
//! accounts at one moment ever sees more or less of it. Serializable, so nobody's check is overtaken by somebody's write.

use crate::harness::*;
use engine::{Durability, EmbeddedStore, Engine, EngineOptions};
use rt::{Random, RealDisk, ShardThreads, SystemClock};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{
    CasOutcome, CellCondition, Comparison, ConditionalCommit, CurrentRow, PartitionCheck, RowCheck,
    RowPosition, Store, Subject, TableConfig, Tree,
};

const SHARDS: usize = 2;
const ACCOUNTS: u64 = 12;
const START: u64 = 1_000;
const TASKS: u64 = 6;
const TRANSFERS: u64 = 60;

fn open_real(dir: &Path) -> Engine {
    let mut options = EngineOptions::new(dir);
    options.shards = SHARDS;
    options.durability = Durability::Sync;
    options.log_segment_bytes = 128 << 10;
    Engine::open(Arc::new(RealDisk), Arc::new(SystemClock), options).unwrap().0
}

fn account(n: u64) -> String {
    format!("account{n}")
}

fn position() -> RowPosition {
    RowPosition::Row(b"balance".to_vec())
}

/// The balance is still this much; `None`: whatever it is.
fn check(n: u64, balance: Option<u64>) -> PartitionCheck {
    let conditions = balance.map(|balance| {
        Tree::Cell(CellCondition {
            column: 1,
            is_static: false,
            data_type: model::types::DataType::Text,
            path: Vec::new(),
            subject: Subject::Value,
            comparison: Comparison::Equal,
            values: vec![Some(format!("{balance:010}").into_bytes())],
        })
    });
    let row = RowCheck {
        position: position(),
        exists: None,
        conditions: conditions.into_iter().collect(),
        columns: None,
    };
    PartitionCheck { table: TABLE, key: partition(&account(n)), checks: vec![row] }
}

fn transaction(checks: Vec<PartitionCheck>, writes: &[(u64, u64)]) -> ConditionalCommit {
    let mut checks = checks.into_iter();
    let first = checks.next().unwrap();
    let put = |(n, balance): &(u64, u64)| put(TABLE, &account(*n), "balance", &format!("{balance:010}"), 5);
    ConditionalCommit {
        table: first.table,
        key: first.key,
        checks: first.checks,
        further: checks.collect(),
        mutations: writes.iter().map(put).collect(),
        provisional_timestamp: 5,
        now_seconds: NOW_SECONDS,
    }
}

fn balances(outcome: &CasOutcome) -> Vec<u64> {
    let balance = |rows: &[CurrentRow]| {
        let row = rows
            .first()
            .and_then(|row| row.row.as_deref())
            .and_then(model::row::RowView::from_payload)
            .unwrap();
        let value = row.cells().next().unwrap().live_value(NOW_SECONDS).unwrap().to_vec();
        String::from_utf8(value).unwrap().parse().unwrap()
    };
    let further = outcome.further.iter().map(|partition| balance(&partition.rows));
    std::iter::once(balance(&outcome.rows)).chain(further).collect()
}

/// Everything at one moment.
async fn audit(store: &EmbeddedStore) {
    let all = transaction((0..ACCOUNTS).map(|n| check(n, None)).collect(), &[]);
    let seen = balances(&store.commit_if(all).await.unwrap());
    assert_eq!(seen.iter().sum::<u64>(), ACCOUNTS * START, "{seen:?}");
}

async fn transfer(store: &EmbeddedStore, random: &mut Random, applied: &AtomicU64) {
    let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
    if from == to {
        return;
    }
    let looked = transaction(vec![check(from, None), check(to, None)], &[]);
    let seen = balances(&store.commit_if(looked).await.unwrap());
    let amount = random.below(seen[0] + 1);
    let checks = vec![check(from, Some(seen[0])), check(to, Some(seen[1]))];
    let moved = transaction(checks, &[(from, seen[0] - amount), (to, seen[1] + amount)]);
    let outcome = store.commit_if(moved).await.unwrap();
    applied.fetch_add(u64::from(outcome.applied), Ordering::Relaxed);
}

async fn work(store: EmbeddedStore, id: u64, applied: Arc<AtomicU64>) {
    let mut random = Random::seeded(id);
    for n in 0..TRANSFERS {
        transfer(&store, &mut random, &applied).await;
        if n.is_multiple_of(7) {
            audit(&store).await;
        }
    }
}

fn on_threads(dir: &Path, create: bool, applied: &Arc<AtomicU64>) {
    let engine = open_real(dir);
    let (applied, ready) = (applied.clone(), Arc::new(tokio::sync::Barrier::new(SHARDS)));
    let main = move |index: usize| {
        let (engine, applied, ready) = (engine.clone(), applied.clone(), ready.clone());
        async move {
            let store = engine.store(index).unwrap();
            if index == 0 && create {
                store.alter(b"c".to_vec(), vec![TableConfig::new(TABLE)]).await.unwrap();
                let all: Vec<_> = (0..ACCOUNTS)
                    .map(|n| put(TABLE, &account(n), "balance", &format!("{START:010}"), 1))
                    .collect();
                store.commit(commit(all)).await.unwrap();
            }
            ready.wait().await;
            audit(&store).await;
            if create {
                let task = |n| {
                    let id = index as u64 * TASKS + n;
                    tokio::task::spawn_local(work(store.clone(), id, applied.clone()))
                };
                for task in (0..TASKS).map(task).collect::<Vec<_>>() {
                    task.await.unwrap();
                }
                audit(&store).await;
            }
            // Both, before either thread ends: a shard that is gone cannot answer the other.
            ready.wait().await;
        }
    };
    ShardThreads::start(SHARDS, main).unwrap().join().unwrap();
}

#[test]
fn money_is_neither_made_nor_lost() {
    let dir = tempfile::tempdir().unwrap();
    let applied = Arc::new(AtomicU64::new(0));
    on_threads(dir.path(), true, &applied);
    let applied_before = applied.load(Ordering::Relaxed);
    assert!(applied_before > TRANSFERS, "hardly a transfer applied: {applied_before}");
    // Without a clean close: the log has it all.
    on_threads(dir.path(), false, &applied);
}
