//! Masked columns: readers without the right to see clear values get the mask, conditions do not.

use super::bind;
use crate::bind::Scope;
use crate::bind::markers::Markers;
use cql_syntax::ast::Statement;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::literal::format_literal;
use model::row::RowWriter;
use model::types::DataType;
use query::context::Limits;
use query::{Context, Ids, Request, Rows, Values, VirtualTables};
use schema::{Catalogue, Column, ColumnKind, Keyspace, Table, TableKind, TableOptions};
use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Poll, Waker};
use store::naive::NaiveStore;
use store::{Mutation, TableId};

pub(super) struct Nothing;

impl Ids for Nothing {
    fn timeuuid(&self) -> [u8; 16] {
        [0; 16]
    }
    fn uuid(&self) -> [u8; 16] {
        [0; 16]
    }
}

impl VirtualTables for Nothing {
    fn rows(&self, _: &Table, _: Option<&dyn query::tenant::Gate>) -> Result<NaiveStore, query::QueryError> {
        Ok(NaiveStore::new())
    }
}

fn column(id: u32, name: &str, data_type: DataType, kind: ColumnKind, mask: Option<&str>) -> Column {
    let mask = mask.map(str::to_string);
    Column {
        id,
        name: name.into(),
        data_type,
        kind,
        position: 0,
        descending: false,
        mask,
        checks: Vec::new(),
    }
}

/// `k int PRIMARY KEY, n int MASKED WITH DEFAULT, name text MASKED WITH mask_inner(1, null), v int`
fn catalogue() -> Catalogue {
    let table = Table {
        id: 1000,
        uuid: [0; 16],
        keyspace: "ks".into(),
        name: "t".into(),
        kind: TableKind::Stored,
        partition_key: vec![column(0, "k", DataType::Int, ColumnKind::PartitionKey, None)],
        clustering: Vec::new(),
        statics: Vec::new(),
        regulars: vec![
            column(1, "n", DataType::Int, ColumnKind::Regular, Some("system.mask_default()")),
            column(2, "name", DataType::Text, ColumnKind::Regular, Some("system.mask_inner(1, null)")),
            column(3, "v", DataType::Int, ColumnKind::Regular, None),
        ],
        options: TableOptions::default(),
        dropped: Vec::new(),
        next_column_id: 4,
        incarnation: 0,
        indexes: Vec::new(),
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    };
    let keyspace = Keyspace {
        name: "ks".into(),
        replication: Default::default(),
        durable_writes: true,
        review: String::new(),
        patterns_mode: String::new(),
        patterns_allow: Vec::new(),
        tenant: String::new(),
        tenant_limits: Default::default(),
        tables: [(table.name.clone(), Arc::new(table))].into(),
        types: Default::default(),
        patterns: Default::default(),
        functions: Vec::new(),
        aggregates: Vec::new(),
        notes: Vec::new(),
    };
    let mut catalogue = Catalogue::empty();
    catalogue.keyspaces.insert("ks".into(), Arc::new(keyspace));
    catalogue
}

/// One row: 1, 7, 'Alice', 9.
fn store() -> NaiveStore {
    let store = NaiveStore::new();
    store.create(TableId(1000));
    let mut mutation = Mutation::new(TableId(1000), PartitionKey::of(&1i32.to_be_bytes()).unwrap());
    let mut writer = RowWriter::new();
    writer.begin(1, Some(Marker::new(1)), Deletion::NONE);
    writer.live(1, &7i32.to_be_bytes());
    writer.live(2, b"Alice");
    writer.live(3, &9i32.to_be_bytes());
    mutation.row(&[], writer.view());
    store.apply(&mutation, 1).unwrap();
    store
}

fn run(statement: &str, unmasked: bool) -> Vec<String> {
    let (catalogue, store) = (catalogue(), store());
    let parsed = cql_syntax::parse_statement(statement).unwrap();
    let Statement::Select(select) = parsed.statement else { panic!("not a SELECT") };
    let scope = Scope { catalogue: &catalogue, keyspace: Some("ks") };
    let plan = bind(scope, &select, &mut Markers::new(0)).unwrap();
    let context = Context {
        store: &store,
        virtuals: &Nothing,
        ids: &Nothing,
        limits: Limits::default(),
        memory: None,
        request: Request::new(Values::NONE, 1),
        warnings: RefCell::new(Vec::new()),
    };
    let mut task = std::task::Context::from_waker(Waker::noop());
    let future = std::pin::pin!(query::select::execute(plan.for_reader(unmasked), &context));
    let Poll::Ready(Ok(rows)) = future.poll(&mut task) else { panic!("no answer") };
    show(&rows)
}

pub(super) fn show(rows: &Rows) -> Vec<String> {
    let row = |values: Vec<Option<&[u8]>>| {
        let cells = rows.columns.iter().zip(values);
        cells.map(|(spec, value)| format_literal(&spec.data_type, value)).collect::<Vec<_>>().join(" | ")
    };
    rows.values().map(row).collect()
}

#[test]
fn only_what_is_shown_is_masked() {
    for (statement, masked, clear) in [
        ("SELECT * FROM t", "1 | 0 | 'A****' | 9", "1 | 7 | 'Alice' | 9"),
        ("SELECT name, v FROM t WHERE name = 'Alice' ALLOW FILTERING", "'A****' | 9", "'Alice' | 9"),
        ("SELECT n + 1, v + 1 FROM t", "1 | 10", "8 | 10"),
        ("SELECT max(n), count(*) FROM t", "0 | 1", "7 | 1"),
        ("SELECT JSON name FROM t", r#"'{"name": "A****"}'"#, r#"'{"name": "Alice"}'"#),
        ("SELECT k, v FROM t", "1 | 9", "1 | 9"),
    ] {
        assert_eq!(run(statement, false), [masked], "{statement}");
        assert_eq!(run(statement, true), [clear], "{statement}");
    }
}
