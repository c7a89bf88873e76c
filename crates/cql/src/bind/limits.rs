//! How many clauses a statement may have. Rules between clauses compare them with each other, so their number is bounded;
//! lists of values are not clauses.

use crate::CqlError;
use cql_syntax::ast::{Condition, Modification, Relation, Selection, Statement, Subject};

/// Relations of a WHERE or IF clause, columns of ORDER BY and GROUP BY, columns of a tuple.
const RELATIONS_MAX: usize = 512;

/// Selectors of a SELECT, items of a SET clause or of a DELETE.
const ITEMS_MAX: usize = 10_000;

/// Statements of a batch.
const STATEMENTS_MAX: usize = 10_000;

/// Refuses a statement with too many clauses.
pub fn check(statement: &Statement) -> Result<(), CqlError> {
    match statement {
        Statement::Select(select) => {
            relations(&select.relations)?;
            at_most(select.order_by.len(), RELATIONS_MAX, "columns in its ORDER BY")?;
            at_most(select.group_by.len(), RELATIONS_MAX, "columns in its GROUP BY")?;
            match &select.selection {
                Selection::All(_) => Ok(()),
                Selection::Items(items) => at_most(items.len(), ITEMS_MAX, "selected columns"),
            }
        }
        Statement::Update(update) => {
            writes(update.assignments.len(), &update.relations, update.condition.as_ref())
        }
        Statement::Delete(delete) => {
            writes(delete.targets.len(), &delete.relations, delete.condition.as_ref())
        }
        Statement::Batch(batch) => {
            at_most(batch.statements.len(), STATEMENTS_MAX, "statements")?;
            batch.statements.iter().try_for_each(modification)
        }
        Statement::Transaction(transaction) => {
            at_most(transaction.lets.len() + transaction.writes.len(), STATEMENTS_MAX, "statements")?;
            transaction.writes.iter().try_for_each(modification)
        }
        Statement::CreateView(view) => relations(&view.relations),
        _ => Ok(()),
    }
}

fn modification(statement: &Modification) -> Result<(), CqlError> {
    match statement {
        Modification::Insert(_) => Ok(()),
        Modification::Update(update) => {
            writes(update.assignments.len(), &update.relations, update.condition.as_ref())
        }
        Modification::Delete(delete) => {
            writes(delete.targets.len(), &delete.relations, delete.condition.as_ref())
        }
    }
}

fn writes(items: usize, wheres: &[Relation], condition: Option<&Condition>) -> Result<(), CqlError> {
    at_most(items, ITEMS_MAX, "columns to write")?;
    relations(wheres)?;
    match condition {
        Some(Condition::Relations(conditions)) => relations(conditions),
        Some(Condition::Exists(_)) | None => Ok(()),
    }
}

fn relations(relations: &[Relation]) -> Result<(), CqlError> {
    at_most(relations.len(), RELATIONS_MAX, "relations")?;
    relations.iter().try_for_each(|relation| match &relation.subject {
        Subject::Columns(columns) | Subject::Token(columns) => {
            at_most(columns.len(), RELATIONS_MAX, "columns in a tuple")
        }
        _ => Ok(()),
    })
}

fn at_most(count: usize, max: usize, what: &str) -> Result<(), CqlError> {
    if count <= max {
        return Ok(());
    }
    Err(CqlError::invalid(format!("The statement has {count} {what}, at most {max} are possible")))
}
