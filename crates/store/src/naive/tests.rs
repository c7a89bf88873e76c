//! The model itself, by example: it must be simple enough to be believed.

use super::*;
use crate::read::{Position, Slice};
use model::deletion::Marker;
use model::row::RowWriter;

/// Collects what a read delivers as readable lines.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    stop_after: Option<usize>,
}

impl Sink for Lines {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.lines.push(format!("partition {}", String::from_utf8_lossy(key.bytes())));
        Flow::Continue
    }
    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        self.lines.push("static".into());
        Flow::Continue
    }
    fn row(&mut self, clustering: &[u8], _: RowView<'_>) -> Flow {
        self.lines.push(format!("row {}", String::from_utf8_lossy(clustering)));
        let rows = self.lines.iter().filter(|l| l.starts_with("row")).count();
        if self.stop_after == Some(rows) { Flow::Stop } else { Flow::Continue }
    }
    fn partition_end(&mut self) -> Flow {
        self.lines.push("end".into());
        Flow::Continue
    }
}

const TABLE: TableId = TableId(1);

fn row_at(timestamp: i64) -> RowWriter {
    let mut writer = RowWriter::new();
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    writer.live(1, b"v");
    writer
}

fn store_with(rows: &[(&str, i64)]) -> (NaiveStore, PartitionKey) {
    let store = NaiveStore::new();
    store.create(TABLE);
    let key = PartitionKey::of(b"p").unwrap();
    let mut mutation = Mutation::new(TABLE, key.clone());
    rows.iter().for_each(|(c, t)| mutation.row(c.as_bytes(), row_at(*t).view()));
    store.apply(&mutation, 0).unwrap();
    (store, key)
}

fn read_of(key: &PartitionKey) -> Read {
    Read { statics: true, ..Read::of(TABLE, Partitions::One(key.clone()), vec![Slice::all()], 0) }
}

fn lines(store: &NaiveStore, read: &Read) -> Vec<String> {
    let mut sink = Lines::default();
    store.read_now(read, &mut sink).unwrap();
    sink.lines
}

#[test]
fn rows_come_in_order_in_slices_and_reversed() {
    let (store, key) = store_with(&[("b", 1), ("a", 1), ("c", 1)]);
    let mut read = read_of(&key);
    assert_eq!(lines(&store, &read), ["partition p", "row a", "row b", "row c", "end"]);
    read.reverse = true;
    assert_eq!(lines(&store, &read), ["partition p", "row c", "row b", "row a", "end"]);
    read.slices = vec![Slice { start: b"a".to_vec(), end: b"c".to_vec() }];
    read.after = Some(Position { key: key.clone(), clustering: Some(b"b".to_vec()) });
    assert_eq!(lines(&store, &read), ["partition p", "row a", "end"]);
    read.after = Some(Position { key, clustering: None });
    assert!(lines(&store, &read).is_empty());
}

#[test]
fn deletions_hide_what_is_not_newer() {
    let (store, key) = store_with(&[("a", 1), ("b", 5), ("c", 9)]);
    let mut mutation = Mutation::new(TABLE, key.clone());
    mutation.delete_range(b"a", b"c", Deletion { timestamp: 4, local_seconds: 0 });
    store.apply(&mutation, 0).unwrap();
    assert_eq!(lines(&store, &read_of(&key)), ["partition p", "row b", "row c", "end"]);
    let mut mutation = Mutation::new(TABLE, key.clone());
    mutation.delete_partition(Deletion { timestamp: 5, local_seconds: 0 });
    store.apply(&mutation, 0).unwrap();
    assert_eq!(lines(&store, &read_of(&key)), ["partition p", "row c", "end"]);
}

#[test]
fn a_conditional_commit_applies_once() {
    let (store, key) = store_with(&[]);
    let mut mutation = Mutation::new(TABLE, key.clone());
    mutation.row(b"x", row_at(100).view());
    let commit = ConditionalCommit {
        table: TABLE,
        key: key.clone(),
        checks: vec![crate::RowCheck {
            position: RowPosition::Row(b"x".to_vec()),
            columns: None,
            exists: Some(false),
            conditions: vec![],
        }],
        further: Vec::new(),
        mutations: vec![mutation],
        provisional_timestamp: 100,
        now_seconds: 0,
    };
    let run = || {
        let future = std::pin::pin!(store.commit_if(commit.clone()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::future::Future::poll(future, &mut context) {
            std::task::Poll::Ready(outcome) => outcome.unwrap(),
            std::task::Poll::Pending => panic!("the naive store never waits"),
        }
    };
    assert!(run().applied);
    let second = run();
    assert!(!second.applied);
    assert!(second.rows[0].row.is_some());
    assert_eq!(lines(&store, &read_of(&key)), ["partition p", "row x", "end"]);
}

#[test]
fn counters_add_up_and_lists_change_by_index() {
    let (store, key) = store_with(&[]);
    let add = |delta| crate::Deferred {
        position: RowPosition::Row(b"x".to_vec()),
        column: 1,
        column_name: "c".into(),
        timestamp: 5,
        ttl: 0,
        statement: 0,
        op: crate::DeferredOp::CounterAdd(delta),
    };
    for delta in [3, -1, 40] {
        let mut mutation = Mutation::new(TABLE, key.clone());
        mutation.deferred.push(add(delta));
        store.apply(&mutation, 0).unwrap();
    }
    let payload = store.current(TABLE, &key, &RowPosition::Row(b"x".to_vec()), 0).unwrap();
    let cell = RowView::from_payload(&payload).unwrap().cells().next().unwrap();
    assert_eq!(cell.live_value(0), Some(&42i64.to_be_bytes()[..]));
    assert_eq!(cell.timestamp, 7);
}
