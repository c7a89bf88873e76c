//! Constraints of columns, when a statement is turned into mutations. Values that the statement writes are checked here; constraints that
//! need the row as it will be go to the store with the mutation.

use super::build::{Builder, RowTargets, Targets};
use super::cells::Stamp;
use super::plan::{AssignmentKind, WriteKind, WritePlan};
use crate::error::QueryError;
use crate::fault::ValueFault;
use model::constraint::{Constraint, Unsatisfied};
use model::key::{KIND_ROW, KIND_STATIC};
use model::row::{CellState, RowView};
use schema::{Column, Table};
use std::collections::BTreeMap;
use store::{Deferred, DeferredOp, Mutation, RowPosition};

impl<'a> Builder<'a, '_> {
    /// Refuses keys that do not satisfy the constraints of their columns.
    pub(super) fn check_keys(&self, plan: &'a WritePlan, targets: &Targets) -> Result<(), QueryError> {
        let key: Vec<&Column> = plan.table.primary_key().filter(|c| !c.checks.is_empty()).collect();
        if key.is_empty() {
            return Ok(());
        }
        for partition in &targets.partitions {
            let values = crate::key::partition_values(&plan.table, partition.bytes());
            for column in plan.table.partition_key.iter().filter(|c| !c.checks.is_empty()) {
                if let Some(value) = values.get(column.position) {
                    check_value(column, value)?;
                }
            }
        }
        let RowTargets::Rows(rows) = &targets.rows else { return Ok(()) };
        for row in rows {
            let mut bytes = Vec::new();
            let ends = crate::key::clustering_values(&plan.table, row, None, &mut bytes);
            for column in plan.table.clustering.iter().filter(|c| !c.checks.is_empty()) {
                let end = ends.get(column.position).copied().unwrap_or(0);
                let start = column.position.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(0);
                if let Some(value) = bytes.get(start..end) {
                    check_value(column, value)?;
                }
            }
        }
        Ok(())
    }
}

fn check_value(column: &Column, value: &[u8]) -> Result<(), QueryError> {
    let mut faults = column.checks.iter().map(|check| check.check(&column.name, &column.data_type, value));
    faults.find_map(Result::err).map_or(Ok(()), |fault| Err(ValueFault::Unsatisfied(fault).into()))
}

/// Judges what the statement writes into one partition, and adds what the store has to look at.
pub(super) fn check_mutation(
    plan: &WritePlan,
    stamp: &Stamp,
    mutation: &mut Mutation,
) -> Result<(), QueryError> {
    let needed = |table: &Table| {
        table.statics.iter().chain(&table.regulars).any(|c| c.checks.contains(&Constraint::NotNull))
    };
    if plan.kind == WriteKind::Delete && plan.assignments.is_empty() {
        // A row must not vanish between the look at it and the write that counts on it.
        if needed(&plan.table) {
            mutation.deferred.push(look(RowPosition::Static, None, stamp));
        }
        return Ok(());
    }
    let mut looks = Vec::new();
    let rows = written_rows(mutation);
    let has_rows = rows.keys().any(|position| *position != RowPosition::Static);
    for column in plan.table.regulars.iter().filter(|c| !c.checks.is_empty()) {
        for (position, row) in rows.iter().filter(|(position, _)| **position != RowPosition::Static) {
            judge(plan, stamp, column, position, *row, &mut looks)?;
        }
    }
    for column in plan.table.statics.iter().filter(|c| !c.checks.is_empty()) {
        let row = rows.get(&RowPosition::Static).copied().flatten();
        if row.is_some() || has_rows {
            judge(plan, stamp, column, &RowPosition::Static, row, &mut looks)?;
        }
    }
    if plan.table.row_ttl.is_some() {
        // A row that has expired must not come back with what is written to it now.
        let positions = rows.into_keys().filter(|position| *position != RowPosition::Static);
        looks.extend(positions.map(|position| look(position, None, stamp)));
    }
    mutation.deferred.extend(looks);
    Ok(())
}

/// The rows that a mutation touches, with what it writes at once; operations may follow for those without.
fn written_rows(mutation: &Mutation) -> BTreeMap<RowPosition, Option<RowView<'_>>> {
    let mut rows = BTreeMap::new();
    for entry in mutation.entries() {
        let position = match entry.position.split_first() {
            Some((&KIND_STATIC, _)) => RowPosition::Static,
            Some((&KIND_ROW, clustering)) => RowPosition::Row(clustering.to_vec()),
            _ => continue,
        };
        rows.insert(position, RowView::from_payload(entry.payload));
    }
    for operation in &mutation.deferred {
        rows.entry(operation.position.clone()).or_insert(None);
    }
    rows
}

fn judge(
    plan: &WritePlan,
    stamp: &Stamp,
    column: &Column,
    position: &RowPosition,
    row: Option<RowView<'_>>,
    looks: &mut Vec<Deferred>,
) -> Result<(), QueryError> {
    let not_null = column.checks.contains(&Constraint::NotNull);
    let cell = row.and_then(|row| row.cells().find(|cell| cell.column == column.id));
    match cell.map(|cell| cell.state) {
        Some(CellState::Live(value) | CellState::Expiring { value, .. }) => check_value(column, value),
        Some(_) if plan.kind != WriteKind::Delete => {
            Err(ValueFault::Unsatisfied(Unsatisfied::Null { column: column.name.to_string() }).into())
        }
        Some(_) if not_null => {
            Err(ValueFault::Unsatisfied(Unsatisfied::Deleted { column: column.name.to_string() }).into())
        }
        Some(_) => Ok(()),
        None => {
            let computes = |kind: &AssignmentKind| matches!(kind, AssignmentKind::Compute { .. });
            let computed = plan.assignments.iter().any(|a| a.column == column.id && computes(&a.kind));
            if computed || (not_null && plan.kind != WriteKind::Delete) {
                looks.push(look(position.clone(), Some(column), stamp));
            }
            Ok(())
        }
    }
}

/// Has the store look at a column of a row as it will be; without a column it only keeps others out meanwhile.
fn look(position: RowPosition, column: Option<&Column>, stamp: &Stamp) -> Deferred {
    Deferred {
        position,
        column: column.map_or(0, |column| column.id),
        column_name: column.map_or(String::new(), |column| column.name.to_string()),
        timestamp: stamp.timestamp,
        ttl: 0,
        statement: stamp.statement,
        op: DeferredOp::Check {
            data_type: column.map_or(model::types::DataType::Blob, |column| column.data_type.clone()),
            constraints: column.map_or(Vec::new(), |column| column.checks.clone()).into(),
        },
    }
}
