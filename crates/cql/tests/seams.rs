//! SPIKE, not kept: the two seams of ADR 20 on one read, one write and one conditional write. Ignored by the suite's intent: it prints
//! and is run under callgrind.

mod harness;
use cql::prepared::Plan;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{RowView, RowWriter};
use query::expr::{Evaluated, Expr};
use query::restrict::{PartitionRestriction, Terms};
use query::select::SelectPlan;
use query::write::{AssignmentKind, ConditionPlan, Keys, WritePlan};
use query::{Bound, Request, Values};
use schema::Table;
use std::hint::black_box;
use std::sync::Arc;
use store::naive::NaiveStore;
use store::*;

/// Seam A: shapes in the store contract. Slots are asked for when the statement runs.
type Slot = usize;
trait SlotValues {
    fn value(&self, slot: Slot) -> Evaluated<'_>;
}
struct ReadShape {
    table: Arc<Table>,
    partition: Vec<Slot>,
    clustering: Vec<Slot>,
}
struct WriteShape {
    table: Arc<Table>,
    partition: Vec<Slot>,
    clustering: Vec<Slot>,
    cells: Vec<(u32, Slot)>,
}
struct Conditional {
    write: WriteShape,
    column: u32,
    data_type: model::types::DataType,
    wanted: Slot,
}

/// What a dialect hands over: expressions by slot, evaluated when asked.
struct Asked<'a> {
    slots: Vec<&'a Expr>,
    request: &'a Request<'a>,
    ids: &'a dyn query::Ids,
}
impl SlotValues for Asked<'_> {
    fn value(&self, slot: Slot) -> Evaluated<'_> {
        self.slots[slot].evaluate(self.request, self.ids).unwrap()
    }
}

/// The engine's renderer: from slots to bytes.
fn keyed(table: &Table, partition: &[Slot], clustering: &[Slot], values: &dyn SlotValues) -> (PartitionKey, Vec<u8>) {
    let mut parts = query::key::KeyValues::default();
    for slot in partition {
        if let Evaluated::Value(bytes) = values.value(*slot) {
            parts.push(bytes);
        }
    }
    let key = query::key::partition_key(table, parts.as_slice()).unwrap();
    let mut bytes = Vec::with_capacity(16);
    for (slot, column) in clustering.iter().zip(&table.clustering) {
        if let Evaluated::Value(value) = values.value(*slot) {
            query::key::put_clustering(column, &value, &mut bytes).unwrap();
        }
    }
    (key, bytes)
}

fn mutation(shape: &WriteShape, values: &dyn SlotValues, now: i64) -> (Mutation, Vec<u8>) {
    let (key, clustering) = keyed(&shape.table, &shape.partition, &shape.clustering, values);
    let mut row = RowWriter::new();
    row.begin(now, Some(Marker::new(now)), Deletion::NONE);
    for (column, slot) in &shape.cells {
        if let Evaluated::Value(bytes) = values.value(*slot) {
            row.live(*column as _, &bytes);
        }
    }
    let mut mutation = Mutation::new(TableId(shape.table.id), key);
    mutation.row(&clustering, row.view());
    (mutation, clustering)
}

#[inline(never)]
fn shapes_read(shape: &ReadShape, values: &dyn SlotValues, now: u32) -> Read {
    let (key, clustering) = keyed(&shape.table, &shape.partition, &shape.clustering, values);
    Read {
        table: TableId(shape.table.id),
        partitions: Partitions::One(key),
        slices: vec![Slice::one(&clustering)],
        reverse: false,
        statics: false,
        after: None,
        now_seconds: now,
        scan_limit: u64::MAX,
        tombstone_limit: u64::MAX,
        account: Default::default(),
    }
}

#[inline(never)]
fn shapes_write(shape: &WriteShape, values: &dyn SlotValues, now: i64) -> Commit {
    let (mutation, _) = mutation(shape, values, now);
    Commit { mutations: vec![mutation], now_seconds: (now / 1_000_000) as u32 }
}

#[inline(never)]
fn shapes_if(shape: &Conditional, values: &dyn SlotValues, now: i64) -> ConditionalCommit {
    let (mutation, clustering) = mutation(&shape.write, values, now);
    let wanted = match values.value(shape.wanted) {
        Evaluated::Value(bytes) => Some(bytes.into_owned()),
        _ => None,
    };
    let condition = CellCondition {
        column: shape.column as _,
        is_static: false,
        data_type: shape.data_type.clone(),
        path: vec![],
        subject: Subject::Value,
        comparison: Comparison::Equal,
        values: vec![wanted],
    };
    let check = RowCheck {
        position: RowPosition::Row(clustering),
        exists: None,
        conditions: vec![Tree::Cell(condition)],
        columns: None,
    };
    ConditionalCommit {
        table: mutation.table,
        key: mutation.key.clone(),
        checks: vec![check],
        further: vec![],
        mutations: vec![mutation],
        provisional_timestamp: now,
        now_seconds: (now / 1_000_000) as u32,
    }
}

#[inline(never)]
fn today_read(plan: &SelectPlan, request: &Request<'_>, ids: &dyn query::Ids, now: u32) -> Read {
    let mut keys = plan.restrictions.keys(request, ids).unwrap();
    Read {
        table: TableId(plan.table.id),
        partitions: Partitions::One(keys.pop().unwrap()),
        slices: plan.restrictions.slices(request, ids).unwrap(),
        reverse: false,
        statics: false,
        after: None,
        now_seconds: now,
        scan_limit: u64::MAX,
        tombstone_limit: u64::MAX,
        account: Default::default(),
    }
}

#[inline(never)]
fn today_write(plan: &WritePlan, ctx: &query::Context<'_, NaiveStore>) -> Commit {
    query::write::commit(ctx, plan).unwrap().unwrap()
}

#[inline(never)]
fn today_if(plan: &WritePlan, ctx: &query::Context<'_, NaiveStore>) -> ConditionalCommit {
    query::write::conditional_commit(ctx, &[plan], &[ctx.request.values]).unwrap()
}

/// Seam B: a plan as CQL for another executor, once per statement; expressions become markers in this order.
struct Rendered<'p> {
    text: String,
    values: Vec<&'p Expr>,
}
fn single<'p>(terms: &'p Terms) -> Option<&'p Expr> {
    terms.as_single()
}
fn place(table: &Table) -> String {
    format!("{}.{}", table.keyspace, table.name)
}
fn where_of<'p>(r: &'p query::restrict::Restrictions, out: &mut Rendered<'p>) -> Option<()> {
    let PartitionRestriction::Keys { columns, .. } = &r.partitions else { return None };
    let mut parts = Vec::new();
    for (column, terms) in r.table.partition_key.iter().zip(columns) {
        parts.push(format!("{} = ?", column.name));
        out.values.push(single(terms)?);
    }
    if r.clustering.range.is_some() {
        return None;
    }
    for (column, step) in r.table.clustering.iter().zip(&r.clustering.steps) {
        parts.push(format!("{} = ?", column.name));
        out.values.push(single(&step.terms)?);
    }
    out.text.push_str(&format!(" WHERE {}", parts.join(" AND ")));
    Some(())
}
fn render_read(plan: &SelectPlan) -> Option<Rendered<'_>> {
    if !plan.filters.is_empty() || plan.index.is_some() || plan.grouping.is_some() || plan.ann.is_some() {
        return None;
    }
    let names: Vec<String> = plan.columns.iter().map(|c| c.name.to_string()).collect();
    let text = format!("SELECT {} FROM {}", names.join(", "), place(&plan.table));
    let mut out = Rendered { text, values: Vec::new() };
    where_of(&plan.restrictions, &mut out)?;
    Some(out)
}
fn render_write(plan: &WritePlan) -> Option<Rendered<'_>> {
    let mut out = Rendered { text: String::new(), values: Vec::new() };
    match &plan.keys {
        Keys::Values { partition, clustering } => {
            let keys = plan.table.partition_key.iter().chain(&plan.table.clustering);
            let mut names: Vec<String> = keys.map(|c| c.name.to_string()).collect();
            out.values.extend(partition.iter().chain(clustering));
            for assignment in &plan.assignments {
                let AssignmentKind::Set(value) = &assignment.kind else { return None };
                names.push(assignment.name.to_string());
                out.values.push(value);
            }
            let marks = vec!["?"; names.len()].join(", ");
            out.text = format!("INSERT INTO {} ({}) VALUES ({marks})", place(&plan.table), names.join(", "));
        }
        Keys::Where(restrictions) => {
            let mut sets = Vec::new();
            for assignment in &plan.assignments {
                let AssignmentKind::Set(value) = &assignment.kind else { return None };
                sets.push(format!("{} = ?", assignment.name));
                out.values.push(value);
            }
            out.text = format!("UPDATE {} SET {}", place(&plan.table), sets.join(", "));
            where_of(restrictions, &mut out)?;
            let Some(ConditionPlan::Columns(list)) = &plan.condition else { return Some(out) };
            let mut conditions = Vec::new();
            for c in list {
                let query::write::OperandExpr::One(value) = &c.operand else { return None };
                conditions.push(format!("{} {} ?", c.name, c.comparison.symbol()));
                out.values.push(value);
            }
            out.text.push_str(&format!(" IF {}", conditions.join(" AND ")));
        }
    }
    Some(out)
}

#[inline(never)]
fn above_values(rendered: &Rendered<'_>, request: &Request<'_>, ids: &dyn query::Ids) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    for value in &rendered.values {
        query::spec::put_value(&mut out, value.evaluate(request, ids).unwrap().bytes());
    }
    out
}

#[test]
fn measure() {
    let mut bench = harness::Bench::new("CREATE TABLE t (k int, c int, v text, n int, PRIMARY KEY (k, c))");
    let dialect = bench.dialect();
    let session = cql::session::Session { keyspace: Some("ks".into()), role: None };
    let prepare = |text: &str| dialect.prepare(&session, None, text).unwrap();
    let read = prepare("SELECT v, n FROM t WHERE k = ? AND c = ?");
    let write = prepare("INSERT INTO t (k, c, v, n) VALUES (?, ?, ?, ?)");
    let conditional = prepare("UPDATE t SET v = ? WHERE k = ? AND c = ? IF n = ?");
    let (Plan::Select(select), Plan::Write(insert), Plan::Write(update)) =
        (&read.plan, &write.plan, &conditional.plan)
    else {
        panic!()
    };
    for rendered in [render_read(select), render_write(insert), render_write(update)] {
        let rendered = rendered.unwrap();
        println!("{} [{} values]", rendered.text, rendered.values.len());
        // What was rendered means the same: it binds to a plan of the same form.
        let again = prepare(&rendered.text);
        assert_eq!(again.markers.len(), rendered.values.len());
    }
    let one = 1i32.to_be_bytes();
    let read_values = [Bound::Value(&one), Bound::Value(&one)];
    let write_values = [Bound::Value(&one), Bound::Value(&one), Bound::Value(b"text"), Bound::Value(&one)];
    let if_values = [Bound::Value(b"text"), Bound::Value(&one), Bound::Value(&one), Bound::Value(&one)];
    let now = 1_700_000_000_000_000;
    let ids = &*dialect.ids;
    let r = Request::new(Values(&read_values), now);
    let w = Request::new(Values(&write_values), now);
    let c = Request::new(Values(&if_values), now);
    let (rr, wr, cr) = (render_read(select).unwrap(), render_write(insert).unwrap(), render_write(update).unwrap());
    let column = |name: &str| insert.table.column(name).unwrap().clone();
    let cells = vec![(column("v").id as u32, 2), (column("n").id as u32, 3)];
    let read_shape = ReadShape { table: select.table.clone(), partition: vec![0], clustering: vec![1] };
    let write_shape = WriteShape { table: insert.table.clone(), partition: vec![0], clustering: vec![1], cells };
    let if_shape = Conditional {
        write: WriteShape {
            table: insert.table.clone(),
            partition: vec![1],
            clustering: vec![2],
            cells: vec![(column("v").id as u32, 0)],
        },
        column: column("n").id as u32,
        data_type: column("n").data_type,
        wanted: 3,
    };
    let which = std::env::var("SPIKE").unwrap_or_default();
    let times: usize = std::env::var("TIMES").map_or(1, |n| n.parse().unwrap());
    let (ra, wa, ca) = (
        Asked { slots: rr.values.clone(), request: &r, ids },
        Asked { slots: wr.values.clone(), request: &w, ids },
        Asked { slots: cr.values.clone(), request: &c, ids },
    );
    let (wc, cc) = (dialect.context(w), dialect.context(c));
    for _ in 0..times {
        match &*which {
            "today_read" => drop(black_box(today_read(select, &r, ids, 1))),
            "shapes_read" => drop(black_box(shapes_read(&read_shape, &ra, 1))),
            "above_read" => drop(black_box(above_values(&rr, &r, ids))),
            "today_write" => drop(black_box(today_write(insert, &wc))),
            "shapes_write" => drop(black_box(shapes_write(&write_shape, &wa, now))),
            "above_write" => drop(black_box(above_values(&wr, &w, ids))),
            "today_if" => drop(black_box(today_if(update, &cc))),
            "shapes_if" => drop(black_box(shapes_if(&if_shape, &ca, now))),
            "above_if" => drop(black_box(above_values(&cr, &c, ids))),
            _ => {}
        }
    }
    let _ = RowView::from_payload;
    let _ = &mut bench;
}
