//! Reading through an index gives what reading everything gives: for every kind of index, whatever its entries lead to besides,
//! page by page, with limits, groups, token ranges and named partitions.

use crate::fixture::context;
use crate::indexed_data::{Random, history, key, table};
use crate::pausing::{Pausing, run};
use model::token::Token;
use model::types::DataType;
use query::context::IndexLimits;
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
use schema::{Column, ColumnKind, Index, IndexPart, Table};
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
    Filter {
        subjects: vec![subject],
        op,
        terms: Terms::one(int(value)),
        column: column.into(),
        change: Default::default(),
    }
}

/// What is asked of one index.
struct Condition {
    filters: Vec<Filter>,
    /// Instead of filters: the first clustering column has this value.
    first: Option<i32>,
    lookup: Lookup,
}

/// A random condition that an index serves.
fn condition(random: &mut Random, table: &Table, index: &Index) -> Condition {
    let column = table.column(&index.column).unwrap();
    let value = random.below(4);
    let lookup = Lookup::Value { terms: Terms::one(int(value)), at: 0 };
    let subject = input(table, &column.name);
    let one = |op| vec![filter(subject.clone(), op, value, &column.name)];
    let with = |filters, lookup| Condition { filters, first: None, lookup };
    if index.sorted && random.one_in(2) {
        let (start, end) = (random.one_in(2), random.one_in(2));
        return range(random, (start || !end, end), subject, &column.name);
    }
    match (column.kind, index.part) {
        (ColumnKind::Clustering, _) if column.position == 0 => {
            Condition { filters: Vec::new(), first: Some(value), lookup }
        }
        (_, IndexPart::Whole) => with(one(Comparison::Equal), lookup),
        (_, IndexPart::Keys) => with(one(Comparison::ContainsKey), lookup),
        (_, IndexPart::Entries) => {
            let key = int(random.below(3));
            let part = Node::Element(Box::new(subject), Box::new(key.clone()));
            let part = Expr::new(DataType::Int, part);
            with(
                vec![filter(part, Comparison::Equal, value, &column.name)],
                Lookup::Entry { key, terms: Terms::one(int(value)) },
            )
        }
        _ => with(one(Comparison::Contains), lookup),
    }
}

/// Values on one side of a bound, or between two.
fn range(random: &mut Random, (start, end): (bool, bool), subject: Expr, column: &str) -> Condition {
    let mut filters = Vec::new();
    let mut bound = |is_there: bool, strict, inclusive_op| {
        let (value, inclusive) = (random.below(9) - 1, random.one_in(2));
        is_there.then(|| {
            let op = if inclusive { inclusive_op } else { strict };
            filters.push(filter(subject.clone(), op, value, column));
            RangeBound { columns: 1, item: Item::Parts(vec![int(value)]), inclusive, null_is_least: false }
        })
    };
    let start = bound(start, Comparison::Greater, Comparison::GreaterOrEqual);
    let end = bound(end, Comparison::Less, Comparison::LessOrEqual);
    Condition { filters, first: None, lookup: Lookup::Range { start, end } }
}

/// A random statement through the index, and perhaps some others beside it; without its `index` it reads everything.
fn statement(random: &mut Random, number: usize) -> SelectPlan {
    let table = table();
    let index = &table.indexes[number];
    let column = table.column(&index.column).unwrap();
    let mut clustering = ClusteringRestriction::default();
    let Condition { mut filters, first, lookup } = condition(random, &table, index);
    if let Some(value) = first {
        clustering.steps.push(Step { columns: 1, terms: Terms::one(int(value)) });
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
    let mut path = IndexPath::new(&table, index, lookup).unwrap();
    while !distinct && random.one_in(2) {
        let another = &table.indexes[random.below(table.indexes.len() as u64) as usize];
        let Condition { filters, first, lookup } = condition(random, &table, another);
        let beside = IndexPath::new(&table, another, lookup).unwrap();
        if first.is_none() && beside.whole_partitions == path.whole_partitions {
            plan.filters.extend(filters);
            path.beside.push(beside);
        }
    }
    plan.index = Some(path);
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
    index: IndexLimits,
}

/// The rows of all pages, and how many pages there were.
fn pages(plan: &SelectPlan, store: &Pausing, manner: Manner) -> (u32, Vec<u8>, u32) {
    let (mut count, mut body, mut pages) = (0, Vec::new(), 0);
    let mut state: Option<Vec<u8>> = None;
    loop {
        let mut context = context(store, Values::NONE);
        context.limits.scan_entries = manner.scan_entries;
        context.limits.index = manner.index;
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

/// Random statements for each index and history.
const STATEMENTS: usize = 6;

#[test]
fn the_answer_is_that_of_reading_everything() {
    let mut statements_with_rows = 0;
    let mut short_pages = 0;
    for seed in 0..24 {
        let mut random = Random(seed);
        let steps = [60, 250][seed as usize % 2];
        let mut store = Pausing { store: history(&mut random, steps), entries: 0 };
        for number in 0..table().indexes.len() {
            for _ in 0..STATEMENTS {
                let through = statement(&mut random, number);
                let mut plain = through.clone();
                plain.index = None;
                store.entries = 0;
                let whole = Manner { page_size: 0, scan_entries: 10_000, index: IndexLimits::default() };
                let (count, body, _) = pages(&plain, &store, whole);
                statements_with_rows += u32::from(count > 1);
                for _ in 0..4 {
                    store.entries = [0, 1, 7][random.below(3) as usize] as u32;
                    let page_size = [0, 1, 2, 5, 100][random.below(5) as usize];
                    // Every page finds its way anew; hundreds of them show no more than twenty.
                    let page_size = if page_size > 0 { page_size.max(count / 20) } else { 0 };
                    let scan_entries = [2, 30, 10_000][random.below(3) as usize];
                    let index = IndexLimits {
                        turn: [1, 3, 64][random.below(3) as usize],
                        range_entries: [4, 20, 10_000][random.below(3) as usize],
                        places_bytes: [1, 500, 1 << 20][random.below(3) as usize],
                    };
                    let manner = Manner { page_size, scan_entries, index };
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
