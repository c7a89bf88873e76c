//! Statements through indexes answer what they answer with ALLOW FILTERING on the same table without indexes.

use super::index_tests::{index, plan, sorted, table};
use super::tests::{Nothing, show};
use model::comparable;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{Cell, CellState, RowWriter};
use model::types::DataType;
use query::context::Limits;
use query::{Context, Request, Values};
use schema::Table;
use std::cell::RefCell;
use std::task::{Poll, Waker};
use store::index::{IndexConfig, additions};
use store::naive::NaiveStore;
use store::{Mutation, TableId};

fn form(data_type: &DataType, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparable::encode(data_type, false, value, &mut bytes).unwrap();
    bytes
}

/// Writes one row over and over: of its entries only the last ones are true.
fn write(table: &Table, store: &NaiveStore, configs: &[IndexConfig], row: i32, round: i64) {
    let wire = |value: i32| value.to_be_bytes();
    let some = |step: i32| ((row * 7 + step * 13 + round as i32 * 5) * 31 / 4) % 3;
    let key = [wire(row % 2), wire(row % 3)];
    let key = match table.partition_key.len() {
        1 => PartitionKey::of(&key[0]).unwrap(),
        _ => PartitionKey::composite(&key).unwrap(),
    };
    let mut mutation = Mutation::new(TableId(table.id), key);
    let mut writer = RowWriter::new();
    writer.begin(round, None, Deletion::NONE);
    writer.live(1, &wire((row + round as i32) % 2));
    mutation.static_row(writer.view());
    writer.begin(round, Some(Marker::new(round)), Deletion::NONE);
    for column in &table.regulars {
        let mut put = |path: Option<&[u8]>, value: &[u8]| {
            let state = CellState::Live(value);
            writer.cell(&Cell { column: column.id, path, timestamp: round, state });
        };
        match &column.data_type {
            DataType::Int => put(None, &wire(some(column.id as i32))),
            DataType::Text => put(None, ["a", "b", "c"][some(4) as usize].as_bytes()),
            DataType::List { frozen: true, .. } => {
                put(None, &[&1u32.to_be_bytes()[..], &4u32.to_be_bytes(), &wire(some(5))].concat());
            }
            DataType::List { .. } => {
                put(Some(&form(&DataType::Int, &wire(0))), &wire(some(6)));
                put(Some(&form(&DataType::Int, &wire(1))), &wire(some(7)));
            }
            DataType::Map { key, .. } => {
                put(Some(&form(key, b"a")), &wire(some(8)));
                put(Some(&form(key, b"b")), &wire(some(9)));
            }
            _ => {}
        }
    }
    let clustering = [row % 3, row / 3 % 3, row].map(|value| form(&DataType::Int, &wire(value))).concat();
    mutation.row(&clustering, writer.view());
    store.apply(&mutation, 1).unwrap();
    additions(configs, &mutation).iter().for_each(|entries| store.apply(entries, 1).unwrap());
}

fn filled(table: &Table) -> NaiveStore {
    let configs: Vec<IndexConfig> =
        table.indexes.iter().map(|index| query::index::config(table, index).unwrap()).collect();
    let store = NaiveStore::new();
    store.create(TableId(table.id));
    configs.iter().for_each(|config| store.create(config.table));
    for round in 1..4 {
        (0..40).for_each(|row| write(table, &store, &configs, row, round));
    }
    store
}

fn answer(table: &Table, store: &NaiveStore, statement: &str) -> (bool, Vec<String>) {
    let plan = plan(table, statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    let context = Context {
        store,
        virtuals: &Nothing,
        ids: &Nothing,
        limits: Limits::default(),
        memory: None,
        request: Request::new(Values::NONE, 1),
        warnings: RefCell::new(Vec::new()),
    };
    let mut task = std::task::Context::from_waker(Waker::noop());
    let mut future = std::pin::pin!(query::select::execute(&plan, &context));
    loop {
        if let Poll::Ready(rows) = future.as_mut().poll(&mut task) {
            return (plan.index.is_some(), show(&rows.unwrap()));
        }
    }
}

#[track_caller]
fn check(table: &Table, clauses: &[&str]) {
    let store = filled(table);
    let mut plain = table.clone();
    plain.indexes.clear();
    for clause in clauses {
        let through = format!("SELECT * FROM t {clause}");
        let filtering = match clause.contains("ALLOW FILTERING") {
            true => through.clone(),
            false => format!("{through} ALLOW FILTERING"),
        };
        let (is_indexed, rows) = answer(table, &store, &through);
        assert!(is_indexed, "{clause} has no index");
        let (was_indexed, expected) = answer(&plain, &store, &filtering);
        assert!(!was_indexed);
        assert!(!expected.is_empty(), "{clause} has no rows");
        assert_eq!(rows, expected, "{clause}");
    }
}

#[test]
fn by_columns_and_collections() {
    let targets = ["v", "t", "full(f)", "values(l)", "keys(m)", "values(m)", "entries(n)", "s"];
    for attached in [false, true] {
        let table = table(&["k"], targets.map(|target| index(target, attached)).to_vec());
        check(
            &table,
            &[
                "WHERE v = 1",
                "WHERE v IN (1)",
                "WHERE v = 2 LIMIT 3",
                "WHERE v = 1 PER PARTITION LIMIT 2",
                "WHERE t = 'b'",
                "WHERE f = [1]",
                "WHERE l CONTAINS 2",
                "WHERE m CONTAINS KEY 'a'",
                "WHERE m CONTAINS 1",
                "WHERE n['b'] = 1",
                "WHERE s = 1",
                "WHERE k = 1 AND v = 1",
                "WHERE k = 1 AND c >= 1 AND v = 1",
                "WHERE k = 0 AND c IN (0, 2) AND n['a'] = 0",
                "WHERE k IN (1, 0) AND v = 1 ALLOW FILTERING",
                "WHERE token(k) > token(1) AND v = 1",
                "WHERE x = 1 AND v = 1 ALLOW FILTERING",
                "WHERE d = 1 AND t = 'a' ALLOW FILTERING",
            ],
        );
    }
}

#[test]
fn by_ranges_and_several_columns() {
    let targets = ["v", "w", "s", "c", "d"].map(sorted).into_iter().chain([index("t", true)]);
    let table = table(&["k"], targets.collect());
    check(
        &table,
        &[
            "WHERE v > 0",
            "WHERE v >= 1 LIMIT 3",
            "WHERE v BETWEEN 1 AND 2 PER PARTITION LIMIT 2",
            "WHERE v = 1",
            "WHERE v > 0 AND w < 2",
            "WHERE v = 1 AND w = 1",
            "WHERE v > 0 AND t = 'b'",
            "WHERE v > 0 AND s = 1",
            "WHERE s > 0",
            "WHERE c > 0 AND d < 2 AND v >= 0",
            "WHERE k = 1 AND v = 1 AND w = 1",
            "WHERE token(k) > token(1) AND v > 0",
            "WHERE x = 1 AND v > 0 ALLOW FILTERING",
        ],
    );
}

/// More entries lead to one row than are read at a time: they are passed, not read for ever.
#[test]
fn many_equal_elements_of_one_row() {
    let table = table(&["k"], vec![sorted("v"), index("values(l)", true)]);
    let store = filled(&table);
    let configs: Vec<IndexConfig> =
        table.indexes.iter().map(|index| query::index::config(&table, index).unwrap()).collect();
    for row in [1, 2] {
        let mut mutation = Mutation::new(TableId(table.id), PartitionKey::of(&7i32.to_be_bytes()).unwrap());
        let mut writer = RowWriter::new();
        writer.begin(9, Some(Marker::new(9)), Deletion::NONE);
        for column in &table.regulars {
            let mut put = |path: Option<&[u8]>| {
                let state = CellState::Live(&[0, 0, 0, 1]);
                writer.cell(&Cell { column: column.id, path, timestamp: 9, state });
            };
            match (&*column.name, &column.data_type) {
                ("v", _) => put(None),
                ("l", _) => {
                    (0..300i32).for_each(|at| put(Some(&form(&DataType::Int, &at.to_be_bytes()))));
                }
                _ => {}
            }
        }
        let clustering = [0, 0, row].map(|value: i32| form(&DataType::Int, &value.to_be_bytes())).concat();
        mutation.row(&clustering, writer.view());
        store.apply(&mutation, 1).unwrap();
        additions(&configs, &mutation).iter().for_each(|entries| store.apply(entries, 1).unwrap());
    }
    let mut plain = table.clone();
    plain.indexes.clear();
    for clause in ["l CONTAINS 1 AND v = 1", "l CONTAINS 1 AND v > 0", "l CONTAINS 1 AND l CONTAINS 2"] {
        let (is_indexed, rows) = answer(&table, &store, &format!("SELECT * FROM t WHERE {clause}"));
        let (_, expected) =
            answer(&plain, &store, &format!("SELECT * FROM t WHERE {clause} ALLOW FILTERING"));
        assert!(is_indexed);
        assert_eq!(rows, expected, "{clause}");
    }
}

#[test]
fn by_columns_of_the_key() {
    let targets = ["a", "c", "d"];
    for attached in [false, true] {
        let table = table(&["a", "b"], targets.map(|target| index(target, attached)).to_vec());
        check(
            &table,
            &[
                "WHERE a = 1",
                "WHERE a = 1 PER PARTITION LIMIT 1",
                "WHERE c = 1",
                "WHERE d = 1",
                "WHERE (d) = (2)",
                "WHERE (d, e) = (1, 4) ALLOW FILTERING",
                "WHERE (c, d) = (1, 2) ALLOW FILTERING",
                "WHERE a = 0 AND d = 1 ALLOW FILTERING",
                "WHERE a = 1 AND b = 1 AND d = 1",
                "WHERE token(a, b) > 0 AND d = 1",
            ],
        );
    }
}
