//! A read gives way to others by the work it does with rows, not by their number alone.

use crate::fixture::{context, table};
use crate::pausing::{Pausing, plan};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::RowWriter;
use model::types::DataType;
use query::expr::{Expr, Node};
use query::restrict::{Item, Terms};
use query::select::{self, Filter, Output, SelectPlan};
use query::{Rows, Values};
use std::task::{Poll, Waker};
use store::Comparison;
use store::naive::NaiveStore;
use store::{Mutation, TableId};

const ROWS: i32 = 400;

/// One partition of rows with a value of so many bytes.
fn data(bytes: usize) -> Pausing {
    let store = NaiveStore::new();
    store.create(TableId(1000));
    let mut writer = RowWriter::new();
    let mut mutation = Mutation::new(TableId(1000), PartitionKey::of(&1i32.to_be_bytes()).unwrap());
    for c in 0..ROWS {
        writer.begin(1, Some(Marker::new(1)), Deletion::NONE);
        writer.live(2, &vec![b'x'; bytes]);
        let mut clustering = Vec::new();
        model::comparable::encode(&DataType::Int, false, &c.to_be_bytes(), &mut clustering).unwrap();
        mutation.row(&clustering, writer.view());
    }
    store.apply(&mutation, 1).unwrap();
    Pausing { store, entries: 0 }
}

/// One page, and how often the read gave way.
fn run(plan: &SelectPlan, store: &Pausing) -> (Rows, usize) {
    let mut context = context(store, Values::NONE);
    context.request.page_size = Some(100_000);
    context.limits.page_bytes_max = 1 << 30;
    let mut task = std::task::Context::from_waker(Waker::noop());
    let mut future = std::pin::pin!(select::execute(plan, &context));
    for turns in 0.. {
        if let Poll::Ready(page) = future.as_mut().poll(&mut task) {
            return (page.unwrap(), turns);
        }
    }
    unreachable!()
}

fn base() -> SelectPlan {
    plan(&table(2..3, DataType::Text, true))
}

#[test]
fn small_rows_are_read_at_once() {
    let (rows, turns) = run(&base(), &data(10));
    assert_eq!((rows.count, turns), (400, 0));
}

#[test]
fn large_rows_give_way() {
    let (rows, turns) = run(&base(), &data(100_000));
    assert_eq!(rows.count, 400);
    // 40 MB are copied: about five times what fits a turn.
    assert!((3..50).contains(&turns), "{turns} turns");
}

#[test]
fn a_column_that_is_selected_often_gives_way() {
    let mut plan = base();
    plan.output = Output::Slots(vec![3; 2000]);
    let (rows, turns) = run(&plan, &data(1));
    assert_eq!(rows.count, 400);
    assert!((3..50).contains(&turns), "{turns} turns");
}

#[test]
fn a_long_list_of_alternatives_gives_way() {
    let mut plan = base();
    let value = |n: usize| Item::Parts(vec![Expr::constant(DataType::Text, n.to_string().into_bytes())]);
    plan.filters.push(Filter {
        subjects: vec![Expr::new(DataType::Text, Node::Input(3))],
        op: Comparison::NotIn,
        terms: Terms::List((0..2000).map(value).collect()),
        column: "v2".into(),
        change: Default::default(),
    });
    plan.static_rows = false;
    let (rows, turns) = run(&plan, &data(1));
    assert_eq!(rows.count, 400);
    assert!((3..50).contains(&turns), "{turns} turns");
}
