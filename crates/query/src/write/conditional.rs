//! Conditional writes: checks as data to the store, the outcome as rows with `[applied]`.

use super::build::{Builder, RowTargets, Targets};
use super::cells::as_i32;
use super::plan::{ConditionPlan, Conditions, ElementExpr, OperandExpr, WritePlan};
use crate::context::{Context, Request};
use crate::error::QueryError;
use crate::expr::{Evaluated, Expr};
use crate::key;
use crate::spec::{ColumnSpec, Rows, put_value};
use crate::values::Values;
use model::key::PartitionKey;
use model::row::{ColumnId, RowView};
use model::types::DataType;
use schema::{Column, ColumnKind};
use std::sync::Arc;
use store::assemble::assemble_column;
use store::{
    CasOutcome, CellCondition, Comparison, ConditionalCommit, CurrentRow, Element, Mutation, RowCheck,
    RowPosition, Store, TableId,
};

/// Runs statements that share the request's values (one statement, outside a batch).
pub(super) async fn execute<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    batch: bool,
) -> Result<Rows, QueryError> {
    let values = vec![ctx.request.values; plans.len()];
    execute_each(ctx, plans, &values, batch).await
}

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

/// Runs the statements of a conditional batch: all apply, or none.
pub(super) async fn execute_each<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    values: &[Values<'_>],
    batch: bool,
) -> Result<Rows, QueryError> {
    let commit = commit(ctx, plans, values)?;
    let outcome = ctx.store.commit_if(commit).await?;
    Ok(answer(plans, &outcome, batch, ctx.request.now_seconds))
}

/// What the client is told about the outcome.
pub fn answer(plans: &[&WritePlan], outcome: &CasOutcome, batch: bool, now_seconds: u32) -> Rows {
    match plans.first() {
        None => Rows::empty(Arc::new([])),
        Some(first) if outcome.applied => applied_only(first, true),
        Some(first) => match first.table.living_columns() {
            None => failure(plans, outcome, batch, now_seconds),
            Some(columns) => {
                let mut outcome = outcome.clone();
                forget_dropped(&columns, &mut outcome, now_seconds);
                failure(plans, &outcome, batch, now_seconds)
            }
        },
    }
}

/// The statements as one conditional commit; `values[i]` belong to statement `i`.
pub fn commit<S: Store>(
    ctx: &Context<'_, S>,
    plans: &[&WritePlan],
    values: &[Values<'_>],
) -> Result<ConditionalCommit, QueryError> {
    let mut partition: Option<(TableId, PartitionKey)> = None;
    let mut checks: Vec<RowCheck> = Vec::new();
    let mut mutations: Vec<Mutation> = Vec::new();
    for (plan, values) in plans.iter().zip(values) {
        let mut request = ctx.request;
        request.values = *values;
        let document;
        let bound;
        if let Some(source) = &plan.json {
            document = super::json::Document::parse(source, &request, ctx.ids)?;
            bound = document.bound(source);
            request.values = Values(&bound);
        }
        let builder = Builder { request: &request, ids: ctx.ids, batch_timestamp: None, conditional: true };
        let stamp = builder.stamp(plan)?;
        let targets = builder.targets(plan)?;
        check_partition(plan, &targets, &mut partition)?;
        if plan.condition.is_some() {
            add_check(plan, &targets, &request, ctx, &mut checks)?;
        }
        mutations.extend(builder.mutations(plan, targets, &stamp)?);
    }
    checks.iter().flat_map(|check| &check.conditions).try_for_each(refuse_empty)?;
    let Some((table, key)) = partition else {
        return Err(QueryError::invalid("A conditional batch needs at least one statement"));
    };
    let mut merged = Mutation::new(table, key.clone());
    mutations.into_iter().for_each(|m| merged.extend(m));
    Ok(ConditionalCommit {
        table,
        key,
        checks,
        mutations: vec![merged],
        provisional_timestamp: ctx.request.now_micros,
        now_seconds: ctx.request.now_seconds,
    })
}

fn check_partition(
    plan: &WritePlan,
    targets: &Targets,
    partition: &mut Option<(TableId, PartitionKey)>,
) -> Result<(), QueryError> {
    let table = TableId(plan.table.id);
    let [key] = &targets.partitions[..] else {
        return Err(QueryError::invalid("IN on the partition key is not supported with conditional updates"));
    };
    match partition {
        None => *partition = Some((table, key.clone())),
        Some((seen, _)) if *seen != table => {
            return Err(QueryError::invalid("Batch with conditions cannot span multiple tables"));
        }
        Some((_, seen)) if seen != key => {
            return Err(QueryError::invalid("Batch with conditions cannot span multiple partitions"));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Conditions of several statements on one row become one check of that row.
fn add_check<S: Store>(
    plan: &WritePlan,
    targets: &Targets,
    request: &Request<'_>,
    ctx: &Context<'_, S>,
    checks: &mut Vec<RowCheck>,
) -> Result<(), QueryError> {
    let position = match &targets.rows {
        RowTargets::None => RowPosition::Static,
        RowTargets::Rows(rows) => match &rows[..] {
            [row] => RowPosition::Row(row.clone()),
            _ => {
                return Err(QueryError::invalid(
                    "IN on the clustering key columns is not supported with conditional updates",
                ));
            }
        },
        RowTargets::Ranges(_) => {
            return Err(QueryError::invalid(
                "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF conditions",
            ));
        }
    };
    let (exists, conditions) = match &plan.condition {
        Some(ConditionPlan::NotExists) => (Some(false), Vec::new()),
        Some(ConditionPlan::Exists) => (Some(true), Vec::new()),
        Some(ConditionPlan::Columns(list)) => {
            let conditions = list.iter().map(|c| c.evaluate(request, ctx)).collect::<Result<_, _>>()?;
            (None, conditions)
        }
        None => (None, Vec::new()),
    };
    match checks.iter_mut().find(|c| c.position == position) {
        Some(check) if check.exists.is_some() && exists.is_some() && check.exists != exists => {
            return Err(QueryError::invalid(
                "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row",
            ));
        }
        Some(check) if check.exists.is_some() != exists.is_some() => {
            let not = if exists == Some(true) { "" } else { "NOT " };
            return Err(QueryError::invalid(format!(
                "Cannot mix IF conditions and IF {not}EXISTS for the same row"
            )));
        }
        Some(check) => {
            check.exists = check.exists.or(exists);
            check.conditions.extend(conditions);
        }
        None => {
            let columns = plan.table.living_columns();
            checks.push(RowCheck { position, exists, conditions, columns });
        }
    }
    Ok(())
}

impl Conditions {
    fn evaluate<S: Store>(
        &self,
        request: &Request<'_>,
        ctx: &Context<'_, S>,
    ) -> Result<CellCondition, QueryError> {
        let evaluate = |expr: &Expr| -> Result<Option<Vec<u8>>, QueryError> {
            match expr.evaluate(request, ctx.ids)? {
                Evaluated::Value(bytes) => Ok(Some(bytes.into_owned())),
                Evaluated::Null => Ok(None),
                Evaluated::Unset => Err(QueryError::invalid(format!(
                    "Invalid 'unset' value in condition for column {}",
                    self.name
                ))),
            }
        };
        let element = match &self.element {
            None => None,
            Some(ElementExpr::Field(index)) => Some(Element::Field(*index)),
            Some(ElementExpr::MapKey(key)) => {
                let key =
                    evaluate(key)?.ok_or_else(|| QueryError::invalid("Invalid null value for map key"))?;
                Some(Element::MapKey(key))
            }
            Some(ElementExpr::ListIndex(index)) => {
                let index = evaluate(index)?
                    .ok_or_else(|| QueryError::invalid("Invalid null value for list index"))?;
                let index = as_i32(&index)?;
                if index < 0 {
                    return Err(QueryError::invalid(format!("Invalid negative list index {index}")));
                }
                Some(Element::ListIndex(index))
            }
        };
        let values = match &self.operand {
            OperandExpr::One(expr) => vec![evaluate(expr)?],
            OperandExpr::List(exprs) => exprs.iter().map(evaluate).collect::<Result<_, _>>()?,
            OperandExpr::ListValue(expr) => {
                let list = evaluate(expr)?
                    .ok_or_else(|| QueryError::invalid("Invalid null list in IN condition"))?;
                let parts = model::value::elements::elements(&list)
                    .map_err(|_| QueryError::invalid("Not enough bytes to read a list"))?;
                parts.flatten().map(|part| part.map(<[u8]>::to_vec)).collect()
            }
        };
        let needs_value = matches!(self.comparison, Comparison::Contains | Comparison::ContainsKey);
        if needs_value && values.iter().any(Option::is_none) {
            let symbol = self.comparison.symbol();
            return Err(QueryError::invalid(format!(
                "Invalid comparison with null for operator \"{symbol}\""
            )));
        }
        Ok(CellCondition {
            column: self.column,
            is_static: self.is_static,
            data_type: self.data_type.clone(),
            element,
            comparison: self.comparison,
            values,
        })
    }
}

/// A collection of cells cannot be empty, so nothing is less or greater than an empty one.
fn refuse_empty(condition: &CellCondition) -> Result<(), QueryError> {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let ordered = matches!(condition.comparison, Less | LessOrEqual | Greater | GreaterOrEqual);
    if !ordered || condition.element.is_some() || !condition.data_type.is_multi_cell() {
        return Ok(());
    }
    let kind = match &condition.data_type {
        DataType::List { .. } => "list",
        DataType::Set { .. } => "set",
        DataType::Map { .. } => "map",
        _ => return Ok(()),
    };
    let is_empty = |value: &Vec<u8>| value.get(..4).is_none_or(|count| count == [0; 4]);
    if condition.values.iter().flatten().any(is_empty) {
        let symbol = condition.comparison.symbol();
        return Err(QueryError::invalid(format!(
            "Invalid comparison with an empty {kind} for operator \"{symbol}\""
        )));
    }
    Ok(())
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

/// What the client sees when the conditions did not hold: the values they looked at.
fn failure(plans: &[&WritePlan], outcome: &CasOutcome, batch: bool, now_seconds: u32) -> Rows {
    let Some(&first) = plans.first() else { return Rows::empty(Arc::new([])) };
    let shown = shown_columns(plans, batch);
    let statics = reads_statics(plans, &shown) && shows_statics(outcome, &shown, now_seconds);
    let seen: Vec<&CurrentRow> = outcome.rows.iter().filter(|r| r.row.is_some() || statics).collect();
    if seen.is_empty() {
        return applied_only(first, false);
    }
    let mut columns = vec![spec(first, "[applied]", DataType::Boolean)];
    columns.extend(shown.iter().map(|c| spec(first, &c.name, c.data_type.clone())));
    let mut body = Vec::new();
    for current in &seen {
        put_value(&mut body, Some(&[0]));
        put_current(first, outcome, current, &shown, statics, now_seconds, &mut body);
    }
    Rows { columns: columns.into(), count: seen.len() as u32, body, paging_state: None }
}

/// Whether the failed conditions looked at the static row: existence does only where static columns are written.
fn reads_statics(plans: &[&WritePlan], shown: &[&Column]) -> bool {
    if plans.iter().any(tests_existence) {
        return plans.iter().any(|p| p.assignments.iter().any(|a| a.is_static));
    }
    shown.iter().any(|c| c.kind == ColumnKind::Static)
}

/// Whether a static column that is shown has a value; others do not make the partition visible.
fn shows_statics(outcome: &CasOutcome, shown: &[&Column], now_seconds: u32) -> bool {
    let Some(row) = outcome.static_row.as_deref().and_then(RowView::from_payload) else { return false };
    let has_value = |c: &&Column| assemble_column(row, c.id, &c.data_type, now_seconds).is_some();
    shown.iter().filter(|c| c.kind == ColumnKind::Static).any(has_value)
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
    for plan in plans {
        if let Some(ConditionPlan::Columns(conditions)) = &plan.condition {
            for condition in conditions {
                if let Some(column) = plan.table.column(&condition.name)
                    && !shown.iter().any(|c| c.id == column.id && c.name == column.name)
                {
                    shown.push(column);
                }
            }
        }
    }
    shown
}

fn put_current(
    plan: &WritePlan,
    outcome: &CasOutcome,
    current: &CurrentRow,
    shown: &[&Column],
    with_statics: bool,
    now_seconds: u32,
    body: &mut Vec<u8>,
) {
    let row = current.row.as_deref().and_then(RowView::from_payload);
    let statics = outcome.static_row.as_deref().filter(|_| with_statics).and_then(RowView::from_payload);
    let partition = key::partition_values(&plan.table, outcome.key.bytes());
    let mut clustering = Vec::new();
    let ends = match &current.position {
        RowPosition::Row(bytes) if row.is_some() => {
            key::clustering_values(&plan.table, bytes, &mut clustering)
        }
        _ => Vec::new(),
    };
    for column in shown {
        match column.kind {
            ColumnKind::PartitionKey => put_value(body, partition.get(column.position).copied()),
            ColumnKind::Clustering => {
                let end = ends.get(column.position).copied();
                let start = column.position.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(0);
                put_value(body, end.and_then(|end| clustering.get(start..end)));
            }
            ColumnKind::Static | ColumnKind::Regular => {
                let source = if column.kind == ColumnKind::Static { statics } else { row };
                let value =
                    source.and_then(|r| assemble_column(r, column.id, &column.data_type, now_seconds));
                put_value(body, value.as_deref());
            }
        }
    }
}
