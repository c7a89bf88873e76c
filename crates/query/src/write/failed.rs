//! What a client sees when conditions did not hold: the rows they looked at, as Cassandra shows them.
//!
//! Conditions on rows show those rows in clustering order; conditions on statics alone show the first live row of the
//! partition. That row is read after the decision, without the partition's lock: it is shown, it decides nothing.

use super::plan::{ConditionPlan, Keys, WritePlan};
use crate::context::Context;
use crate::error::QueryError;
use crate::expr::Env;
use crate::key;
use crate::spec::{ColumnSpec, Rows, put_value};
use model::key::PartitionKey;
use model::row::{ColumnId, RowView};
use model::types::DataType;
use schema::{Column, ColumnKind};
use std::borrow::Cow;
use std::sync::Arc;
use store::assemble::assemble_column;
use store::{CasOutcome, Flow, Partitions, Read, RowCheck, RowPosition, Sink, Slice, Store, TableId};

/// What the conditions of a statement or batch read.
pub(super) struct Looked {
    /// Clustering keys of the rows that conditions are on; none when they are on statics alone.
    rows: Vec<Vec<u8>>,
    /// All regular columns are read: some statement names rows.
    regulars: bool,
    /// All static columns are read: some statement with a condition writes one.
    statics: bool,
}

impl Looked {
    pub fn at(plans: &[&WritePlan], checks: &[RowCheck]) -> Looked {
        let on_row = |check: &&RowCheck| {
            check.exists.is_some() || check.conditions.iter().any(|c| c.any(&|cell| !cell.is_static))
        };
        let clustering = |check: &RowCheck| match &check.position {
            RowPosition::Row(clustering) => Some(clustering.clone()),
            RowPosition::Static => None,
        };
        let mut rows: Vec<Vec<u8>> = checks.iter().filter(on_row).filter_map(clustering).collect();
        rows.sort();
        let writes_statics = |p: &&WritePlan| p.assignments.iter().any(|a| a.is_static);
        let statics = plans.iter().any(|p| p.is_conditional() && writes_statics(p));
        Looked { rows, regulars: plans.iter().any(names_rows), statics }
    }

    /// The rows that were looked at and are there.
    fn shown(&self, outcome: &CasOutcome) -> Vec<Shown> {
        self.rows.iter().filter_map(|clustering| found(outcome, clustering)).collect()
    }
}

/// Whether the answer to a failed condition needs another read: conditions on statics alone do.
pub fn needs_first_row(plan: &WritePlan) -> bool {
    let on_row = match &plan.condition {
        Some(ConditionPlan::Columns(conditions)) => conditions.iter().any(|c| !c.is_static),
        Some(ConditionPlan::Exists | ConditionPlan::NotExists) => names_rows(&plan),
        None => true,
    };
    !on_row
}

fn names_rows(plan: &&WritePlan) -> bool {
    let given = match &plan.keys {
        Keys::Values { clustering, .. } => !clustering.is_empty(),
        Keys::Where(restrictions) => !restrictions.clustering.is_empty(),
    };
    given || plan.table.clustering.is_empty()
}

fn spec(plan: &WritePlan, name: &str, data_type: DataType) -> ColumnSpec {
    let (keyspace, table) = (plan.table.keyspace.clone(), plan.table.name.clone());
    ColumnSpec { keyspace, table, name: name.into(), data_type }
}

fn applied_only(plan: &WritePlan, applied: bool) -> Rows {
    let columns = Arc::new([spec(plan, "[applied]", DataType::Boolean)]);
    let mut body = Vec::with_capacity(5);
    put_value(&mut body, Some(&[applied as u8]));
    Rows { columns, count: 1, body, paging_state: None }
}

/// One row to show: its clustering key and image.
type Shown = (Vec<u8>, Vec<u8>);

/// Rows that live in dropped columns alone are not there.
fn forget_dropped(columns: &[ColumnId], outcome: &mut CasOutcome, now_seconds: u32) {
    let is_dead = |payload: &Vec<u8>| {
        RowView::from_payload(payload).is_none_or(|row| !row.is_live_in(columns, now_seconds))
    };
    outcome.static_row.take_if(|payload| is_dead(payload));
    for current in &mut outcome.rows {
        current.row.take_if(|payload| is_dead(payload));
    }
}

/// The outcome without rows that live in dropped columns alone.
fn living<'o>(plans: &[&WritePlan], outcome: &'o CasOutcome, now_seconds: u32) -> Cow<'o, CasOutcome> {
    let columns = plans.first().filter(|_| !outcome.applied).and_then(|first| first.table.living_columns());
    let Some(columns) = columns else { return Cow::Borrowed(outcome) };
    let mut outcome = outcome.clone();
    forget_dropped(&columns, &mut outcome, now_seconds);
    Cow::Owned(outcome)
}

/// What the client gets as the outcome.
pub(super) async fn answer<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    looked: &Looked,
    outcome: &CasOutcome,
    batch: bool,
) -> Result<Rows, QueryError> {
    let outcome = &*living(plans, outcome, ctx.request.now_seconds);
    let mut shown = looked.shown(outcome);
    if let Some(first) = plans.first()
        && !outcome.applied
        && looked.rows.is_empty()
    {
        shown.extend(first_row(ctx, first, looked, &outcome.key).await?);
    }
    let (request, ids) = (&ctx.request, ctx.ids);
    let sight = ctx.request.masked.then(|| Env::of_request(request, ids));
    rows(plans, looked, outcome, shown, Asked { batch, sight, now_seconds: request.now_seconds })
}

/// The same for one statement that does not need the first row ([`needs_first_row`]), for a reader who sees clear values.
pub fn answer_now(plan: &WritePlan, outcome: &CasOutcome, now_seconds: u32) -> Rows {
    let outcome = &*living(&[plan], outcome, now_seconds);
    let clustering = |position: &RowPosition| match position {
        RowPosition::Row(clustering) => Some(clustering.clone()),
        RowPosition::Static => None,
    };
    let rows_looked_at = outcome.rows.iter().filter_map(|current| clustering(&current.position)).collect();
    let statics = plan.assignments.iter().any(|a| a.is_static);
    let looked = Looked { rows: rows_looked_at, regulars: names_rows(&plan), statics };
    let shown = looked.shown(outcome);
    let asked = Asked { batch: false, sight: None, now_seconds };
    // Only masks can fail, and there are none.
    rows(&[plan], &looked, outcome, shown, asked).unwrap_or_else(|_| applied_only(plan, outcome.applied))
}

/// The caller, and how the answer is wanted.
struct Asked<'v, 'c> {
    batch: bool,
    /// What masks are evaluated in; `None` for readers who see clear values.
    sight: Option<Env<'v, 'c>>,
    now_seconds: u32,
}

fn rows(
    plans: &[&WritePlan],
    looked: &Looked,
    outcome: &CasOutcome,
    shown: Vec<Shown>,
    asked: Asked<'_, '_>,
) -> Result<Rows, QueryError> {
    let Some(&first) = plans.first() else { return Ok(Rows::empty(Arc::new([]))) };
    if outcome.applied {
        return Ok(applied_only(first, true));
    }
    let columns = shown_columns(plans, asked.batch);
    let page = Page { plan: first, plans, outcome, looked, columns: &columns, asked };
    let mut body = Vec::new();
    let mut count = shown.len() as u32;
    for row in &shown {
        page.put(Some(row), &mut body)?;
    }
    if shown.is_empty() {
        if !page.has_statics() {
            return Ok(applied_only(first, false));
        }
        page.put(None, &mut body)?;
        count = 1;
    }
    let mut specs = vec![spec(first, "[applied]", DataType::Boolean)];
    specs.extend(columns.iter().map(|c| spec(first, &c.name, c.data_type.clone())));
    Ok(Rows { columns: specs.into(), count, body, paging_state: None })
}

fn found(outcome: &CasOutcome, clustering: &[u8]) -> Option<Shown> {
    let at = |position: &RowPosition| matches!(position, RowPosition::Row(c) if c == clustering);
    let row = outcome.rows.iter().find(|current| at(&current.position))?;
    Some((clustering.to_vec(), row.row.clone()?))
}

fn tests_existence(plan: &&WritePlan) -> bool {
    matches!(plan.condition, Some(ConditionPlan::NotExists | ConditionPlan::Exists))
}

/// IF NOT EXISTS shows every column; otherwise those the conditions name, after the key in a batch.
fn shown_columns<'p>(plans: &[&'p WritePlan], batch: bool) -> Vec<&'p Column> {
    let Some(first) = plans.first() else { return Vec::new() };
    if plans.iter().any(tests_existence) {
        return first.table.columns().collect();
    }
    let mut shown: Vec<&Column> = if batch { first.table.primary_key().collect() } else { Vec::new() };
    for name in plans.iter().flat_map(condition_columns) {
        if let Some(column) = first.table.column(name)
            && !shown.iter().any(|c| c.name == column.name)
        {
            shown.push(column);
        }
    }
    shown
}

/// Columns that conditions name: regular ones first, as Cassandra keeps them apart.
fn condition_columns<'p>(plan: &&'p WritePlan) -> impl Iterator<Item = &'p str> {
    let conditions = match &plan.condition {
        Some(ConditionPlan::Columns(conditions)) => &conditions[..],
        _ => &[],
    };
    let of = |statics: bool| conditions.iter().filter(move |c| c.is_static == statics).map(|c| &*c.name);
    of(false).chain(of(true))
}

async fn first_row<S: Store>(
    ctx: &Context<'_, S>,
    plan: &WritePlan,
    looked: &Looked,
    key: &PartitionKey,
) -> Result<Option<Shown>, QueryError> {
    // Rows that do not count may be in front of it, more than should be looked at in one turn.
    let read = Read {
        scan_limit: ctx.limits.scan_entries,
        account: ctx.request.account(),
        ..Read::of(
            TableId(plan.table.id),
            Partitions::One(key.clone()),
            vec![Slice::all()],
            ctx.request.now_seconds,
        )
    };
    let columns = plan.table.living_columns();
    let mut first = FirstRow { now_seconds: read.now_seconds, regulars: looked.regulars, columns, row: None };
    read.to_end(ctx.store, &mut first).await?;
    Ok(first.row)
}

/// Keeps the first row that is live by what is read of it.
struct FirstRow {
    now_seconds: u32,
    regulars: bool,
    /// The columns that count, if some were dropped.
    columns: Option<Arc<[ColumnId]>>,
    row: Option<Shown>,
}

impl Sink for FirstRow {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        if !self.regulars && !row.marker().is_some_and(|m| m.is_live(self.now_seconds)) {
            return Flow::Continue;
        }
        if self.columns.as_ref().is_some_and(|columns| !row.is_live_in(columns, self.now_seconds)) {
            return Flow::Continue;
        }
        self.row = Some((clustering.to_vec(), row.to_payload()));
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// Writes rows of the answer.
struct Page<'a> {
    plan: &'a WritePlan,
    plans: &'a [&'a WritePlan],
    outcome: &'a CasOutcome,
    looked: &'a Looked,
    columns: &'a [&'a Column],
    asked: Asked<'a, 'a>,
}

impl Page<'_> {
    fn static_row(&self) -> Option<RowView<'_>> {
        self.outcome.static_row.as_deref().and_then(RowView::from_payload)
    }

    /// Existence reads statics only where some are written; a condition reads the one that it names.
    fn reads(&self, column: &Column) -> bool {
        self.looked.statics || self.plans.iter().flat_map(condition_columns).any(|name| *name == *column.name)
    }

    /// Whether a static column that was read has a value; others do not make the partition visible.
    fn has_statics(&self) -> bool {
        let Some(row) = self.static_row() else { return false };
        let has_value =
            |c: &Column| assemble_column(row, c.id, &c.data_type, self.asked.now_seconds).is_some();
        let mut statics = self.plan.table.columns().filter(|c| c.kind == ColumnKind::Static);
        statics.any(|c| self.reads(c) && has_value(c))
    }

    /// Without a row, what is known is the partition and its static columns.
    fn put(&self, shown: Option<&Shown>, body: &mut Vec<u8>) -> Result<(), QueryError> {
        put_value(body, Some(&[0]));
        let row = shown.and_then(|(_, payload)| RowView::from_payload(payload));
        let partition = key::partition_values(&self.plan.table, self.outcome.key.bytes());
        let mut clustering = Vec::new();
        let ends = match shown {
            Some((bytes, _)) => {
                let table = &self.plan.table;
                let kept = row.and_then(|row| key::kept_values(table, row, self.asked.now_seconds));
                key::clustering_values(table, bytes, kept, &mut clustering)
            }
            None => Vec::new(),
        };
        for column in self.columns {
            match column.kind {
                ColumnKind::PartitionKey => {
                    self.show(column, partition.get(column.position).copied(), body)?;
                }
                ColumnKind::Clustering => {
                    let end = ends.get(column.position).copied();
                    let start =
                        column.position.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(0);
                    self.show(column, end.and_then(|end| clustering.get(start..end)), body)?;
                }
                ColumnKind::Static | ColumnKind::Regular => {
                    let source = self.source(column, row);
                    let value = source.and_then(|r| {
                        assemble_column(r, column.id, &column.data_type, self.asked.now_seconds)
                    });
                    self.show(column, value.as_deref(), body)?;
                }
            }
        }
        Ok(())
    }

    /// A value as the reader may see it.
    fn show(&self, column: &Column, value: Option<&[u8]>, body: &mut Vec<u8>) -> Result<(), QueryError> {
        let mask = self.asked.sight.as_ref().and_then(|env| Some((env, self.plan.masks.of(&column.name)?)));
        match mask {
            None => put_value(body, value),
            Some((env, mask)) => {
                let inputs = [value.map(Cow::Borrowed)];
                let env = Env { inputs: &inputs, ..*env };
                put_value(body, mask.evaluate_in(&env)?.bytes());
            }
        }
        Ok(())
    }

    /// Columns that were not read are shown as null.
    fn source<'r>(&'r self, column: &Column, row: Option<RowView<'r>>) -> Option<RowView<'r>> {
        match column.kind {
            ColumnKind::Static => self.static_row().filter(|_| self.reads(column)),
            _ => row.filter(|_| self.looked.regulars),
        }
    }
}
