//! UPDATE.

use super::super::Scope;
use super::super::markers::Markers;
use super::super::restrictions::{StatementKind, bind_write_where};
use super::{assign, by_column, check, condition, masks, target, using};
use crate::CqlError;
use cql_syntax::ast;
use query::write::{Assignment, ConditionPlan, Keys, Masks, WriteKind, WritePlan};

pub fn bind(scope: Scope<'_>, update: &ast::Update, markers: &mut Markers) -> Result<WritePlan, CqlError> {
    let table = target(scope, &update.table)?;
    markers.enter(table);
    let (timestamp, ttl) = using(scope, &update.using, markers)?;
    // Conditions are looked at first: what is wrong with them is said before anything else, as Cassandra does.
    let condition = update
        .condition
        .as_ref()
        .map(|c| condition::bind(scope, table, c, &timestamp, markers))
        .transpose()?;
    let mut assignments: Vec<Assignment> = Vec::with_capacity(update.assignments.len());
    for item in &update.assignments {
        assignments.push(assign::set(scope, table, item, markers)?);
    }
    let on_rows = condition.as_ref().is_some_and(ConditionPlan::is_on_rows);
    // A condition on the row makes its key necessary, whatever is written.
    let statics_only = !on_rows && assignments.iter().all(|a| a.is_static);
    let kind = StatementKind::Update;
    let clause = bind_write_where(scope, table, &update.relations, kind, statics_only, markers)?;
    let plan = WritePlan {
        table: table.clone(),
        kind: WriteKind::Update,
        keys: Keys::Where(Box::new(clause.restrictions)),
        assignments: by_column(assignments),
        statics_only,
        timestamp,
        ttl,
        condition,
        masks: Masks::default(),
        checked: table.is_looked_at(),
        json: None,
        calls: markers.take_calls(),
    };
    check(&plan)?;
    masks::with_masks(scope, plan)
}
