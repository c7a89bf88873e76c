//! What a client may believe when answers are lost, and that nothing but well-formed bytes is taken.

use super::message::Request;
use super::wire::Wire;
use super::*;
use crate::condition::{CellCondition, RowCheck, RowPosition, Subject, Tree};
use crate::deferred::{Deferred, DeferredOp};
use crate::read::{Partitions, Slice};
use model::comparison::Comparison;
use model::deletion::{Deletion, Marker};
use model::row::RowWriter;
use model::types::DataType;
use std::collections::BTreeSet;
use std::task::{Context, Poll, Waker};

const TABLE: TableId = TableId(1);
const NOW: u32 = 1_000;

/// Polls all of them in turn until they are done.
fn run_all(mut tasks: Vec<std::pin::Pin<Box<dyn Future<Output = ()> + '_>>>) {
    let mut context = Context::from_waker(Waker::noop());
    while !tasks.is_empty() {
        tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

fn key(text: &str) -> PartitionKey {
    PartitionKey::of(text.as_bytes()).unwrap()
}

fn write(place: u32, timestamp: i64) -> Mutation {
    let mut row = RowWriter::new();
    row.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    row.live(1, &place.to_be_bytes());
    let mut mutation = Mutation::new(TABLE, key("k"));
    mutation.row(&place.to_be_bytes(), row.view());
    mutation
}

fn add_one() -> Mutation {
    let mut mutation = Mutation::new(TABLE, key("sum"));
    mutation.deferred.push(Deferred {
        position: RowPosition::Row(b"c".to_vec()),
        column: 2,
        column_name: "n".into(),
        timestamp: 5,
        ttl: 0,
        statement: 0,
        op: DeferredOp::Arithmetic {
            data_type: DataType::Int,
            subtract: false,
            operand: 1i32.to_be_bytes().to_vec(),
            steady: true,
        },
    });
    mutation
}

fn all_of(partition: &str) -> Read {
    Read::of(TABLE, Partitions::One(key(partition)), vec![Slice::all()], NOW)
}

#[derive(Default)]
struct Keys(BTreeSet<u32>);

impl Sink for Keys {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.0.insert(u32::from_be_bytes(clustering.try_into().unwrap()));
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

async fn keys(store: &RemoteStore) -> BTreeSet<u32> {
    let (mut read, mut keys) = (all_of("k"), Keys::default());
    loop {
        match store.read(&read, &mut keys).await.unwrap().end {
            ReadEnd::Paused(position) => read.after = Some(position),
            ReadEnd::Complete | ReadEnd::Stopped => return keys.0,
        }
    }
}

async fn with_table(faults: Faults) -> RemoteStore {
    let store = RemoteStore::new(faults);
    store.alter(vec![1, 2, 3], vec![TableConfig::new(TABLE)]).await.unwrap();
    store
}

#[test]
fn what_was_acknowledged_is_there_and_what_was_lost_is_told_as_unknown() {
    let mut unknown_but_there = 0;
    for seed in 0..20 {
        let faults = Faults { seed, delay_turns_max: 3, requests_lost_one_in: 7, answers_lost_one_in: 7 };
        run(async {
            let store = with_table(faults).await;
            let (mut done, mut unknown) = (BTreeSet::new(), BTreeSet::new());
            for place in 0..50 {
                let commit = Commit { mutations: vec![write(place, 10)], now_seconds: NOW };
                match store.commit(commit).await {
                    Ok(()) => done.insert(place),
                    Err(StoreError::Unknown) => unknown.insert(place),
                    Err(other) => panic!("{other}"),
                };
            }
            let found = keys(&store).await;
            assert!(done.is_subset(&found), "acknowledged and missing: {:?}", done.difference(&found));
            assert!(found.iter().all(|place| done.contains(place) || unknown.contains(place)));
            assert!(!unknown.is_empty(), "this link loses messages");
            unknown_but_there += unknown.intersection(&found).count();
        });
    }
    assert!(unknown_but_there > 20, "answers are lost after the work was done: {unknown_but_there}");
}

#[test]
fn an_operation_that_is_not_idempotent_is_never_sent_twice() {
    for seed in 0..20 {
        let faults = Faults { seed, delay_turns_max: 2, requests_lost_one_in: 6, answers_lost_one_in: 6 };
        run(async {
            let store = with_table(faults).await;
            let base = {
                let mut row = RowWriter::new();
                row.begin(1, Some(Marker::new(1)), Deletion::NONE);
                row.live(2, &0i32.to_be_bytes());
                let mut mutation = Mutation::new(TABLE, key("sum"));
                mutation.row(b"c", row.view());
                mutation
            };
            while store.commit(Commit { mutations: vec![base.clone()], now_seconds: NOW }).await.is_err() {}
            let (mut done, mut unknown) = (0, 0);
            for _ in 0..60 {
                match store.commit(Commit { mutations: vec![add_one()], now_seconds: NOW }).await {
                    Ok(()) => done += 1,
                    Err(StoreError::Unknown) => unknown += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            let sum = sum(&store).await;
            assert!((done..=done + unknown).contains(&sum), "{done} done, {unknown} unknown, sum {sum}");
        });
    }
}

async fn sum(store: &RemoteStore) -> i32 {
    let page = store.look(&Request::Read(all_of("sum"))).await.unwrap();
    let Answer::Page(page) = page else { panic!("{page:?}") };
    let payload = page.events.iter().find_map(|event| match event {
        Event::Row(_, payload) => Some(payload.clone()),
        _ => None,
    });
    let payload = payload.unwrap();
    let row = RowView::from_payload(&payload).unwrap();
    let cell = row.cells().find(|cell| cell.column == 2).unwrap();
    i32::from_be_bytes(cell.live_value(NOW).unwrap().try_into().unwrap())
}

#[test]
fn exclusive_work_of_several_clients_is_serial() {
    for seed in 0..10 {
        let faults = Faults { seed, delay_turns_max: 5, ..Faults::default() };
        let store = run(with_table(faults));
        let increment = async |store: RemoteStore| {
            for _ in 0..10 {
                let stamped = Stamped { provisional_timestamp: 100, now_seconds: NOW };
                let work = async || {
                    let count = keys(&store).await.len() as u32;
                    // Others would see the same number if they could read now.
                    link::others_have_their_turn().await;
                    Ok::<_, StoreError>(((), vec![write(count, 100)]))
                };
                store.exclusively(vec![(TABLE, key("k"))], stamped, work).await.unwrap();
            }
        };
        let tasks = (0..4).map(|_| Box::pin(increment(store.clone())) as _).collect();
        run_all(tasks);
        assert_eq!(run(keys(&store)), (0..40).collect(), "each saw what all before it wrote");
    }
}

#[test]
fn a_lock_whose_owner_went_silent_runs_out() {
    let store = run(with_table(Faults::default()));
    let lock = Request::Lock { partitions: vec![(TABLE, key("k"))] };
    assert!(matches!(run(store.change(&lock)), Ok(Answer::Locked(_))));
    let commit = ConditionalCommit {
        table: TABLE,
        key: key("k"),
        checks: vec![],
        further: vec![],
        mutations: vec![write(1, 10)],
        provisional_timestamp: 10,
        now_seconds: NOW,
    };
    assert!(run(store.commit_if(commit)).unwrap().applied);
}

#[test]
fn bytes_that_were_cut_are_no_request() {
    let condition = CellCondition {
        column: 1,
        is_static: false,
        data_type: DataType::map(DataType::Text, DataType::list(DataType::Int)),
        path: vec![],
        subject: Subject::Size,
        comparison: Comparison::Between,
        values: vec![Some(vec![1]), None],
    };
    let check = RowCheck {
        position: RowPosition::Row(b"c".to_vec()),
        exists: Some(true),
        conditions: vec![Tree::Not(Box::new(Tree::Any(vec![Tree::Cell(condition)])))],
        columns: Some([1, 2].into()),
    };
    let commit = ConditionalCommit {
        table: TABLE,
        key: key("k"),
        checks: vec![check],
        further: vec![],
        mutations: vec![write(1, 10), add_one()],
        provisional_timestamp: 10,
        now_seconds: NOW,
    };
    let mut bytes = Vec::new();
    Request::CommitIf(commit.clone()).put(&mut bytes);
    let mut rest = &bytes[..];
    let Some(Request::CommitIf(back)) = Request::take(&mut rest) else { panic!("it is one") };
    assert_eq!((back, rest.is_empty()), (commit, true));
    for end in 0..bytes.len() {
        assert!(Request::take(&mut &bytes[..end]).is_none(), "cut at {end}");
    }
}
