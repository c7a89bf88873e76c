//! A store that pauses gives the same rows as one that does not, at every pause length and page size.

use crate::fixture::{context, table};
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::restrict::{ClusteringRestriction, PartitionRestriction, Restrictions, Terms};
use query::select::{
    self, Aggregate, AggregateKind, CellPlace, Filter, Input, Output, SelectParts, SelectPlan, Source,
};
use query::{Context, QueryError, Rows, Values};
use schema::Table;
use std::sync::Arc;
use std::task::{Poll, Waker};
use store::naive::NaiveStore;
use store::{
    CasOutcome, Commit, Comparison, ConditionalCommit, Flow, Mutation, Position, Read, ReadEnd, ReadOutcome,
    Sink, Store, StoreError, TableConfig, TableId,
};

/// Pauses after every `entries` rows and partition ends.
pub struct Pausing {
    pub store: NaiveStore,
    pub entries: u32,
}

/// Passes everything on and stops when its count is used up.
struct Counter<'s> {
    sink: &'s mut dyn Sink,
    left: u32,
    key: Option<PartitionKey>,
    paused: Option<Position>,
}

impl Counter<'_> {
    fn counted(&mut self, flow: Flow, clustering: Option<&[u8]>) -> Flow {
        self.left -= 1;
        if flow == Flow::Stop || self.left > 0 {
            return flow;
        }
        // A partition the reader has left is behind it as a whole.
        let clustering = clustering.filter(|_| flow == Flow::Continue).map(<[u8]>::to_vec);
        self.paused = self.key.clone().map(|key| Position { key, clustering });
        Flow::Stop
    }
}

impl Sink for Counter<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        self.sink.partition(key)
    }

    fn static_row(&mut self, row: RowView<'_>) -> Flow {
        self.sink.static_row(row)
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        let flow = self.sink.row(clustering, row);
        // Leaving the partition is said by `partition_end`, where the pause may then fall.
        if flow == Flow::NextPartition { flow } else { self.counted(flow, Some(clustering)) }
    }

    fn partition_end(&mut self) -> Flow {
        let flow = self.sink.partition_end();
        self.counted(flow, None)
    }
}

impl Store for Pausing {
    type Prompt = store::NoPrompt;

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        let left = if self.entries == 0 { u32::MAX } else { self.entries };
        let mut counter = Counter { sink, left, key: None, paused: None };
        let outcome = self.store.read_now(read, &mut counter)?;
        let end = counter.paused.map_or(outcome.end, ReadEnd::Paused);
        Ok(ReadOutcome { end, ..outcome })
    }

    async fn commit(&self, _: Commit) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }

    async fn commit_if(&self, _: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        Err(StoreError::Closed)
    }

    async fn alter(&self, _: Vec<u8>, _: Vec<TableConfig>) -> Result<(), StoreError> {
        Err(StoreError::Closed)
    }
}

/// Partitions 0..6 with as many rows as their number; some have a static row, 0 has only that.
pub fn data(entries: u32) -> Pausing {
    let store = NaiveStore::new();
    store.create(TableId(1000));
    let mut writer = RowWriter::new();
    for k in 0..6i32 {
        let mut mutation = Mutation::new(TableId(1000), PartitionKey::of(&k.to_be_bytes()).unwrap());
        if k % 2 == 0 {
            writer.begin(1, None, Deletion::NONE);
            writer.live(20, &k.to_be_bytes());
            mutation.static_row(writer.view());
        }
        for c in 0..k {
            writer.begin(1, Some(Marker::new(1)), Deletion::NONE);
            writer.live(2, &(k * 10 + c).to_be_bytes());
            let mut clustering = Vec::new();
            model::comparable::encode(&DataType::Int, false, &c.to_be_bytes(), &mut clustering).unwrap();
            mutation.row(&clustering, writer.view());
        }
        store.apply(&mutation, 1).unwrap();
    }
    Pausing { store, entries }
}

/// `SELECT k, c, s, v2 FROM t`.
pub fn plan(table: &Arc<Table>) -> SelectPlan {
    let cell = |column, is_static| Source::Cell(CellPlace { column, is_static, data_type: DataType::Int });
    let sources = [Source::PartitionKey(0), Source::Clustering(0), cell(20, true), cell(2, false)];
    let inputs: Vec<Input> =
        sources.into_iter().map(|source| Input { source, data_type: DataType::Int }).collect();
    SelectPlan::new(SelectParts {
        columns: Vec::new(),
        restrictions: Restrictions {
            table: table.clone(),
            partitions: PartitionRestriction::all(),
            clustering: ClusteringRestriction::default(),
        },
        filters: Vec::new(),
        inputs,
        output: Output::Slots(vec![0, 1, 2, 3]),
    })
}

fn int(value: i32) -> Expr {
    Expr::constant(DataType::Int, value.to_be_bytes().to_vec())
}

/// Plans of every shape that keeps state between rows.
fn plans() -> Vec<(&'static str, SelectPlan)> {
    let table = table(2..3, DataType::Int, true);
    let base = || plan(&table);
    let mut limited = base();
    limited.limit = Some(int(7));
    let mut per_partition = base();
    per_partition.per_partition_limit = Some(int(2));
    let mut reversed = base();
    reversed.reverse = true;
    let mut distinct = base();
    distinct.distinct = true;
    let mut filtered = base();
    filtered.filters.push(Filter {
        subjects: vec![Expr::new(DataType::Int, Node::Input(3))],
        op: Comparison::Greater,
        terms: Terms::one(int(31)),
        column: "v2".into(),
    });
    filtered.static_rows = false;
    let count = Aggregate { kind: AggregateKind::CountRows, argument: None, user: None };
    let aggregated = |keys: Vec<Expr>| {
        let mut plan = base();
        plan.inputs.push(Input { source: Source::Aggregate(0), data_type: DataType::BigInt });
        let output = Output::Slots(vec![0, 4]);
        let mut plan = SelectPlan::new(SelectParts {
            columns: Vec::new(),
            restrictions: plan.restrictions,
            filters: Vec::new(),
            inputs: plan.inputs,
            output,
        });
        plan.group_by(vec![count.clone()], keys);
        plan
    };
    let by_key = vec![Expr::new(DataType::Int, Node::Input(0))];
    vec![
        ("all", base()),
        ("limit", limited),
        ("per partition limit", per_partition),
        ("reversed", reversed),
        ("distinct", distinct),
        ("filtered", filtered),
        ("count", aggregated(Vec::new())),
        ("group", aggregated(by_key)),
    ]
}

/// One page; polls through the pauses.
pub fn run(plan: &SelectPlan, context: &Context<'_, Pausing>) -> Result<Rows, QueryError> {
    let mut task = std::task::Context::from_waker(Waker::noop());
    let mut future = std::pin::pin!(select::execute(plan, context));
    loop {
        if let Poll::Ready(page) = future.as_mut().poll(&mut task) {
            return page;
        }
    }
}

/// All pages.
fn pages(plan: &SelectPlan, store: &Pausing, size: u32) -> Vec<Rows> {
    let mut pages: Vec<Rows> = Vec::new();
    loop {
        let state = pages.last().and_then(|page| page.paging_state.clone());
        let mut context = context(store, Values::NONE);
        context.request.page_size = (size > 0).then_some(size);
        context.request.paging_state = state.as_deref();
        let page = run(plan, &context).unwrap();
        let more = page.paging_state.is_some();
        pages.push(page);
        assert!(pages.len() < 100, "pages without end");
        if !more {
            return pages;
        }
    }
}

#[test]
fn pauses_change_nothing() {
    for (name, plan) in plans() {
        let whole = pages(&plan, &data(0), 0);
        assert_eq!(whole.len(), 1);
        assert!(whole[0].count > 0, "{name}");
        for entries in 1..6 {
            let store = data(entries);
            for size in 0..5 {
                let parts = pages(&plan, &store, size);
                let body: Vec<u8> = parts.iter().flat_map(|page| page.body.clone()).collect();
                let count: u32 = parts.iter().map(|page| page.count).sum();
                assert_eq!(
                    (count, &body),
                    (whole[0].count, &whole[0].body),
                    "{name}: pause after {entries}, pages of {size}"
                );
                // Only a page that gave up filtering may be empty.
                let full = |page: &Rows| page.count > 0 || page.paging_state.is_none();
                assert!(name == "filtered" || parts.iter().all(full), "{name}");
            }
        }
    }
}
