//! What a conditional statement shows of masked columns, and which of them it asks about.
//!
//! An answer to a failed condition shows rows, and whether a condition holds tells what a row has: both are reads. Cassandra 5.0
//! shows clear values here (COMPAT.md); we hold to the rules of SELECT.

use super::super::Scope;
use super::super::expr::{Binder, RowScope};
use super::super::markers::Markers;
use crate::CqlError;
use query::write::{ConditionPlan, Masks, WritePlan};

/// The plan with what it needs for readers who may not see clear values.
pub(super) fn with_masks(scope: Scope<'_>, mut plan: WritePlan) -> Result<WritePlan, CqlError> {
    if plan.condition.is_none() || plan.table.columns().all(|column| column.mask.is_none()) {
        return Ok(plan);
    }
    let mut masks = Masks::default();
    for column in plan.table.columns().filter(|column| column.mask.is_some()) {
        // A row of its own for each: its value is the only input.
        let mut row = RowScope::new(plan.table.clone());
        row.masked = true;
        let mut markers = Markers::new(0);
        let mut binder = Binder::new(scope, &mut markers, Some(&mut row), None);
        masks.shown.push((column.name.clone(), binder.shown(column)?));
        // Every conditional statement names a key, and tells whether there is a row.
        if column.kind.is_primary_key() || is_asked(&plan.condition, &column.name) {
            masks.queried.push(column.name.clone());
        }
    }
    plan.masks = masks;
    Ok(plan)
}

fn is_asked(condition: &Option<ConditionPlan>, column: &str) -> bool {
    match condition {
        Some(ConditionPlan::Columns(conditions)) => conditions.iter().any(|c| *c.name == *column),
        _ => false,
    }
}
