//! Reading plain columns allocates nothing per row or cell: stored bytes go straight into the body.

use crate::fixture::{context, table};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use model::types::DataType;
use query::expr::{Expr, Node};
use query::restrict::{ClusteringRestriction, PartitionRestriction, Restrictions, Step, Terms, TokenRange};
use query::select::{self, CellPlace, Input, Output, SelectParts, SelectPlan, Source};
use query::{Bound, Values};
use schema::{Column, ColumnKind};
use store::{
    CasOutcome, Commit, ConditionalCommit, Flow, Read, ReadEnd, ReadOutcome, Sink, Store, StoreError,
    TableConfig,
};

/// Delivers prepared rows and allocates nothing itself.
struct Prepared {
    key: PartitionKey,
    rows: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Store for Prepared {
    type Prompt = store::NoPrompt;

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        sink.partition(&self.key);
        let behind = read.after.as_ref().and_then(|after| after.clustering.as_ref());
        let start =
            behind.map_or(0, |after| self.rows.partition_point(|(clustering, _)| clustering <= after));
        for (clustering, payload) in &self.rows[start..] {
            let Some(row) = RowView::from_payload(payload) else { continue };
            if sink.row(clustering, row) != Flow::Continue {
                return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones: 0 });
            }
        }
        sink.partition_end();
        Ok(ReadOutcome { end: ReadEnd::Complete, tombstones: 0 })
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

/// `SELECT * FROM t WHERE k = ?`, or with `AND c = ?`.
fn plan(point: bool) -> SelectPlan {
    let table = table(2..10, DataType::Text, false);
    let marker = |index| Terms::one(Expr::new(DataType::Int, Node::Marker(index)));
    let input = |c: &Column| Input {
        data_type: c.data_type.clone(),
        source: match c.kind {
            ColumnKind::PartitionKey => Source::PartitionKey(0),
            ColumnKind::Clustering => Source::Clustering(0),
            _ => Source::Cell(CellPlace { column: c.id, is_static: false, data_type: c.data_type.clone() }),
        },
    };
    let inputs: Vec<Input> = table.columns().map(input).collect();
    let output = Output::Slots((0..inputs.len()).collect());
    let steps = if point { vec![Step { columns: 1, terms: marker(1) }] } else { Vec::new() };
    let partitions = PartitionRestriction::Keys { columns: vec![marker(0)], tokens: TokenRange::default() };
    let clustering = ClusteringRestriction { steps, range: None };
    SelectPlan::new(SelectParts {
        columns: Vec::new(),
        restrictions: Restrictions { table, partitions, clustering },
        filters: Vec::new(),
        inputs,
        output,
    })
}

fn store(rows: i32) -> Prepared {
    let mut writer = RowWriter::new();
    let row = |c: i32| {
        writer.begin(1, None, model::deletion::Deletion::NONE);
        (2..10).for_each(|id| writer.live(id, b"some bytes of a value"));
        let mut clustering = Vec::new();
        model::comparable::encode(&DataType::Int, false, &c.to_be_bytes(), &mut clustering).unwrap();
        (clustering, writer.view().to_payload())
    };
    Prepared { key: PartitionKey::of(&1i32.to_be_bytes()).unwrap(), rows: (0..rows).map(row).collect() }
}

/// Allocations of one execution; checks that all rows came.
fn allocations(plan: &SelectPlan, store: &Prepared) -> u64 {
    let key = 1i32.to_be_bytes();
    let values = [Bound::Value(&key[..]), Bound::Value(&key[..])];
    let mut context = context(store, Values(&values));
    context.request.page_size = Some(100_000);
    let mut count = 0;
    let info = allocation_counter::measure(|| {
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        let mut future = std::pin::pin!(select::execute(plan, &context));
        // A long page gives way to others a few times.
        let page =
            std::iter::from_fn(|| Some(future.as_mut().poll(&mut task))).find(std::task::Poll::is_ready);
        if let Some(std::task::Poll::Ready(Ok(rows))) = page {
            count = rows.count;
        }
    });
    assert_eq!(count as usize, store.rows.len());
    info.count_total
}

#[test]
fn rows_and_cells_allocate_nothing() {
    let plan = plan(false);
    let (few, many) = (allocations(&plan, &store(100)), allocations(&plan, &store(10_000)));
    // The body grows by doubling: a hundred times the rows are at most seven more steps. Giving way twice takes a few.
    assert!(many <= few + 7 + 8, "{few} allocations for 100 rows, {many} for 10000");
}

#[test]
fn a_point_read_allocates_a_handful() {
    let count = allocations(&plan(true), &store(1));
    assert!(count <= 16, "{count} allocations for a point read of 10 columns");
}
