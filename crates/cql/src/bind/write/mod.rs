//! INSERT, UPDATE, DELETE, BATCH -> `query::write`.

mod assign;
mod batch;
mod condition;
mod delete;
mod insert;
mod masks;
#[cfg(test)]
mod pausing_tests;
mod update;

pub use batch::bind as bind_batch;
pub use delete::bind as bind_delete;
pub use insert::bind as bind_insert;
pub use update::bind as bind_update;

use super::Scope;
use super::expr::bind_term;
use super::markers::Markers;
use crate::CqlError;
use cql_syntax::ast;
use model::types::DataType;
use query::expr::Expr;
use query::write::{ConditionPlan, WritePlan};
use schema::{Column, Table};
use std::sync::Arc;

/// Binds whichever write statement it is.
pub fn bind(
    scope: Scope<'_>,
    statement: &ast::Modification,
    markers: &mut Markers,
) -> Result<WritePlan, CqlError> {
    match statement {
        ast::Modification::Insert(insert) => bind_insert(scope, insert, markers),
        ast::Modification::Update(update) => bind_update(scope, update, markers),
        ast::Modification::Delete(delete) => bind_delete(scope, delete, markers),
    }
}

/// The table to write to; system tables that are made up cannot be written.
fn target<'a>(scope: Scope<'a>, name: &ast::QualifiedName) -> Result<&'a Arc<Table>, CqlError> {
    let table = scope.table(name)?;
    if table.is_virtual() {
        let text = format!("Modification is not supported by table {}.{}", table.keyspace, table.name);
        return Err(CqlError::invalid(text));
    }
    if table.foreign.is_some() {
        return Err(CqlError::invalid(format!(
            "Table {}.{} belongs to the DynamoDB API: CQL can read it, but writing it would bypass its indexes, its stream and its \
             limits. Use PutItem, UpdateItem or DeleteItem",
            table.keyspace, table.name
        )));
    }
    Ok(table)
}

fn column<'t>(table: &'t Table, name: &ast::Ident) -> Result<&'t Column, CqlError> {
    table.column(name.as_str()).ok_or_else(|| undefined(table, name.as_str()))
}

fn undefined(table: &Table, name: &str) -> CqlError {
    let mut text = format!("Undefined column name {name} in table {}.{}", table.keyspace, table.name);
    if let Some(near) = nearest(table, name) {
        text.push_str(&format!(". Did you mean {near}?"));
    }
    CqlError::invalid(text)
}

/// A column whose name differs by one edit, for the message.
fn nearest<'t>(table: &'t Table, name: &str) -> Option<&'t str> {
    table.columns().map(|c| &*c.name).find(|candidate| one_edit_apart(candidate, name))
}

fn one_edit_apart(a: &str, b: &str) -> bool {
    let (a, b) = if a.len() >= b.len() { (a.as_bytes(), b.as_bytes()) } else { (b.as_bytes(), a.as_bytes()) };
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    match a.len() - b.len() {
        0 => a.len() > 2 && a.get(same + 1..) == b.get(same + 1..),
        1 => a.len() > 2 && a.get(same + 1..) == b.get(same..),
        _ => false,
    }
}

/// The USING clause: (timestamp, ttl).
fn using(
    scope: Scope<'_>,
    using: &ast::Using,
    markers: &mut Markers,
) -> Result<(Option<Expr>, Option<Expr>), CqlError> {
    let mut bind = |expr: Option<&ast::Expr>, data_type: &DataType, name: &str| {
        expr.map(|e| bind_term(scope, e, data_type, name, markers)).transpose()
    };
    let timestamp = bind(using.timestamp(), &DataType::BigInt, "[timestamp]")?;
    let ttl = bind(using.ttl(), &DataType::Int, "[ttl]")?;
    // Accepted for ScyllaDB's drivers; the server's own limits apply.
    bind(using.timeout().filter(|e| e.as_marker().is_some()), &DataType::Duration, "[timeout]")?;
    Ok((timestamp, ttl))
}

/// Rules that hold for every kind of write once it is bound.
fn check(plan: &WritePlan) -> Result<(), CqlError> {
    let refuse = |text: &str| Err(CqlError::invalid(text));
    if plan.table.view.is_some() {
        return refuse("Cannot directly modify a materialized view");
    }
    if plan.is_counter() {
        if plan.ttl.is_some() {
            return refuse("Cannot provide custom TTL for counter updates");
        }
        if plan.timestamp.is_some() {
            return refuse("Cannot provide custom timestamp for counter updates");
        }
        match &plan.condition {
            Some(ConditionPlan::Columns(_)) => return refuse("Conditions on counters are not supported"),
            Some(_) => return refuse("Conditional updates are not supported on counter tables"),
            None => {}
        }
    }
    if plan.is_conditional() && plan.timestamp.is_some() {
        return refuse("Cannot provide custom timestamp for conditional updates");
    }
    Ok(())
}

/// In column order, unless something must be read: then as written, because that is the order in which errors are told.
fn by_column(mut assignments: Vec<query::write::Assignment>) -> Vec<query::write::Assignment> {
    use query::write::AssignmentKind::{DeleteIndex, Remove, SetIndex};
    let reads =
        |kind: &query::write::AssignmentKind| matches!(kind, SetIndex { .. } | DeleteIndex(_) | Remove(_));
    if !assignments.iter().any(|a| reads(&a.kind)) {
        assignments.sort_by_key(|a| a.column);
    }
    assignments
}

#[cfg(test)]
mod tests {
    use super::one_edit_apart;

    #[test]
    fn near_names_are_found() {
        assert!(one_edit_apart("sensor", "sensr"));
        assert!(one_edit_apart("sensor", "sensot"));
        assert!(!one_edit_apart("a", "b"));
        assert!(!one_edit_apart("sensor", "day"));
    }
}
