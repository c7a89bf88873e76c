//! Reading through an index gives what reading everything gives: for every kind of index, whatever its entries lead to besides,
//! page by page, with limits, groups, token ranges and named partitions.

use crate::fixture::context;
use crate::indexed_data::{Random, history, key, table};
use crate::pausing::{Pausing, run};
use model::token::Token;
use model::types::DataType;
use query::expr::{Expr, Node};
use query::restrict::{
    ClusteringRestriction, Item, PartitionRestriction, RangeBound, Restrictions, Step, Terms, TokenRange,
    TupleRange,
};
use query::select::{
    Aggregate, AggregateKind, CellPlace, Filter, IndexPath, Input, Lookup, Output, SelectParts, SelectPlan,
    Source,
};
use query::{Rows, Values};
use schema::{Column, ColumnKind, IndexPart, Table};
use store::Comparison;

fn int(value: i32) -> Expr {
    Expr::constant(DataType::Int, value.to_be_bytes().to_vec())
}

/// Every column of the table, in its order, then one aggregate.
fn inputs(table: &Table) -> Vec<Input> {
    let source = |c: &Column| match c.kind {
        ColumnKind::PartitionKey => Source::PartitionKey(c.position),
        ColumnKind::Clustering => Source::Clustering(c.position),
        kind => Source::Cell(CellPlace {
            column: c.id,
            is_static: kind == ColumnKind::Static,
            data_type: c.data_type.clone(),
        }),
    };
    let columns = table.columns().map(|c| Input { source: source(c), data_type: c.data_type.clone() });
    columns.chain([Input { source: Source::Aggregate(0), data_type: DataType::BigInt }]).collect()
}

fn input(table: &Table, name: &str) -> Expr {
    let slot = table.columns().position(|c| *c.name == *name).unwrap();
    Expr::new(table.column(name).unwrap().data_type.clone(), Node::Input(slot))
}

fn filter(subject: Expr, op: Comparison, value: i32, column: &str) -> Filter {
    Filter { subjects: vec![subject], op, terms: Terms::one(int(value)), column: column.into() }
}

/// A random statement through the index; without its `index` it reads everything.
fn statement(random: &mut Random, number: usize) -> SelectPlan {
    let table = table();
    let index = &table.indexes[number];
    let column = table.column(&index.column).unwrap();
    let value = random.below(4);
    let mut filters = Vec::new();
    let mut clustering = ClusteringRestriction::default();
    let mut lookup = Lookup::Value { terms: Terms::one(int(value)), at: 0 };
    let subject = input(&table, &column.name);
    match (column.kind, index.part) {
        (ColumnKind::Clustering, _) if column.position == 0 => {
            clustering.steps.push(Step { columns: 1, terms: Terms::one(int(value)) });
        }
        (_, IndexPart::Whole) => filters.push(filter(subject, Comparison::Equal, value, &column.name)),
        (_, IndexPart::Keys) => filters.push(filter(subject, Comparison::ContainsKey, value, &column.name)),
        (_, IndexPart::Entries) => {
            let key = int(random.below(3));
            let part = Node::Element(Box::new(subject), Box::new(key.clone()));
            filters.push(filter(Expr::new(DataType::Int, part), Comparison::Equal, value, &column.name));
            lookup = Lookup::Entry { key, terms: Terms::one(int(value)) };
        }
        _ => filters.push(filter(subject, Comparison::Contains, value, &column.name)),
    }
    let whole_partitions = matches!(column.kind, ColumnKind::Static | ColumnKind::PartitionKey);
    let mut static_rows = whole_partitions;
    let distinct = whole_partitions && random.one_in(3);
    if !distinct && clustering.is_empty() && random.one_in(3) {
        let bound = |value| RangeBound {
            columns: 1,
            item: Item::Parts(vec![int(value)]),
            inclusive: true,
            null_is_least: false,
        };
        clustering.range =
            Some(TupleRange { start: Some(bound(random.below(3))), end: Some(bound(3)), except: Vec::new() });
        static_rows = false;
    }
    if !distinct && random.one_in(3) {
        filters.push(filter(input(&table, "v"), Comparison::LessOrEqual, random.below(3), "v"));
        static_rows = false;
    }
    let restrictions = Restrictions { table: table.clone(), partitions: partitions(random), clustering };
    let mut plan = SelectPlan::new(SelectParts {
        columns: Vec::new(),
        restrictions,
        filters,
        inputs: inputs(&table),
        output: Output::Slots((0..table.columns().count()).collect()),
    });
    plan.static_rows = static_rows;
    plan.distinct = distinct;
    plan.limit = random.one_in(3).then(|| int(1 + random.below(30)));
    if !distinct {
        plan.per_partition_limit = random.one_in(3).then(|| int(1 + random.below(20)));
    }
    if random.one_in(4) {
        let count = Aggregate { kind: AggregateKind::CountRows, argument: None, user: None };
        let names = ["a", "b", "c"];
        let keys = if distinct { 2 } else { random.below(3) as usize + 1 };
        let keys = if keys == 1 { 0 } else { keys };
        let keys = names.iter().take(keys).map(|name| input(&table, name)).collect();
        plan.group_by(vec![count], keys);
        plan.output = Output::Slots(vec![0, 1, 2, 9]);
    }
    plan.index = IndexPath::new(&table, index, lookup);
    assert!(plan.index.is_some());
    plan
}

/// All partitions, a range of tokens, or some by name.
fn partitions(random: &mut Random) -> PartitionRestriction {
    let bigint = |token: Token| Expr::constant(DataType::BigInt, token.0.to_be_bytes().to_vec());
    match random.below(3) {
        0 => PartitionRestriction::all(),
        1 => {
            let mut token = || key(random.below(2), random.below(2)).token();
            let (start, end) = (token(), token());
            PartitionRestriction::Range(TokenRange {
                start: Some((bigint(start.min(end)), start.0 % 2 == 0)),
                end: Some((bigint(start.max(end)), true)).filter(|_| end.0 % 3 != 0),
            })
        }
        _ => {
            let mut some = || {
                let items = (0..=random.below(3)).map(|_| Item::Parts(vec![int(random.below(3))]));
                Terms::List(items.collect())
            };
            PartitionRestriction::Keys { columns: vec![some(), some()], tokens: TokenRange::default() }
        }
    }
}

/// How a statement is executed.
#[derive(Clone, Copy, Debug)]
struct Manner {
    page_size: u32,
    scan_entries: u64,
}

/// The rows of all pages, and how many pages there were.
fn pages(plan: &SelectPlan, store: &Pausing, manner: Manner) -> (u32, Vec<u8>, u32) {
    let (mut count, mut body, mut pages) = (0, Vec::new(), 0);
    let mut state: Option<Vec<u8>> = None;
    loop {
        let mut context = context(store, Values::NONE);
        context.limits.scan_entries = manner.scan_entries;
        context.request.page_size = (manner.page_size > 0).then_some(manner.page_size);
        context.request.paging_state = state.as_deref();
        let Rows { count: rows, body: part, paging_state, .. } = run(plan, &context).unwrap();
        assert!(manner.page_size == 0 || rows <= manner.page_size);
        count += rows;
        body.extend_from_slice(&part);
        pages += 1;
        assert!(pages < 10_000, "pages without end");
        match paging_state {
            Some(next) => state = Some(next),
            None => return (count, body, pages),
        }
    }
}

#[test]
fn the_answer_is_that_of_reading_everything() {
    let mut statements_with_rows = 0;
    let mut short_pages = 0;
    for seed in 0..24 {
        let mut random = Random(seed);
        let steps = [60, 400][seed as usize % 2];
        let mut store = Pausing { store: history(&mut random, steps), entries: 0 };
        for number in 0..10 {
            for _ in 0..6 {
                let through = statement(&mut random, number);
                let mut plain = through.clone();
                plain.index = None;
                store.entries = 0;
                let whole = Manner { page_size: 0, scan_entries: 10_000 };
                let (count, body, _) = pages(&plain, &store, whole);
                statements_with_rows += u32::from(count > 1);
                for _ in 0..4 {
                    store.entries = [0, 1, 7][random.below(3) as usize] as u32;
                    let page_size = [0, 1, 2, 5, 100][random.below(5) as usize];
                    let scan_entries = [2, 30, 10_000][random.below(3) as usize];
                    let manner = Manner { page_size, scan_entries };
                    let found = pages(&through, &store, manner);
                    assert_eq!(
                        (found.0, &found.1),
                        (count, &body),
                        "seed {seed}, {}, {manner:?}, pause after {}: {through:#?}",
                        table().indexes[number].name,
                        store.entries
                    );
                    let needed = count.checked_div(page_size).map_or(1, |full| full + 1);
                    short_pages += u32::from(found.2 > needed);
                }
            }
        }
    }
    // Neither is the test about nothing.
    assert!(statements_with_rows > 500, "{statements_with_rows} statements with rows");
    assert!(short_pages > 20, "{short_pages} statements with pages cut short");
}
