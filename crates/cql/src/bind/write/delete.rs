//! DELETE: of columns, rows, ranges, partitions.

use super::super::Scope;
use super::super::markers::Markers;
use super::super::restrictions::{StatementKind, bind_write_where};
use super::{assign, by_column, check, condition, masks, target, using};
use crate::CqlError;
use cql_syntax::ast;
use query::write::{ConditionPlan, Keys, Masks, WriteKind, WritePlan};

pub fn bind(scope: Scope<'_>, delete: &ast::Delete, markers: &mut Markers) -> Result<WritePlan, CqlError> {
    let table = target(scope, &delete.table)?;
    markers.enter(table);
    let (timestamp, ttl) = using(scope, &delete.using, markers)?;
    if ttl.is_some() {
        return Err(CqlError::invalid("TTL is not supported in DELETE statements"));
    }
    // Conditions are looked at first: what is wrong with them is said before anything else, as Cassandra does.
    let condition = delete
        .condition
        .as_ref()
        .map(|c| condition::bind(scope, table, c, &timestamp, markers))
        .transpose()?;
    let mut assignments = Vec::with_capacity(delete.targets.len());
    for target in &delete.targets {
        assignments.push(assign::delete(scope, table, target, markers)?);
    }
    let columns = !assignments.is_empty();
    let on_rows = condition.as_ref().is_some_and(ConditionPlan::is_on_rows);
    let only_statics = columns && assignments.iter().all(|a| a.is_static);
    let statics_only = only_statics && !on_rows;
    let kind = StatementKind::Delete;
    let clause = bind_write_where(scope, table, &delete.relations, kind, statics_only, markers)?;
    let restrictions = clause.restrictions;
    let names_rows = restrictions.names_rows();
    // A static column may be deleted through a row's full key too: the row itself is not touched.
    if columns && !only_statics && !names_rows && delete.condition.is_some() {
        return Err(CqlError::invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns",
        ));
    }
    if columns && !only_statics && !names_rows {
        return Err(CqlError::invalid("Range deletions are not supported for specific columns"));
    }
    if only_statics && on_rows && !names_rows {
        return Err(CqlError::invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF condition on non static columns",
        ));
    }
    if condition.is_some() && !names_rows && !statics_only {
        return Err(CqlError::invalid(
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns or to use IF conditions on non static columns",
        ));
    }
    let plan = WritePlan {
        table: table.clone(),
        kind: WriteKind::Delete,
        keys: Keys::Where(Box::new(restrictions)),
        assignments: by_column(assignments),
        statics_only,
        timestamp,
        ttl: None,
        condition,
        masks: Masks::default(),
        checked: table.is_looked_at(),
        json: None,
        calls: markers.take_calls(),
    };
    check(&plan)?;
    masks::with_masks(scope, plan)
}
