//! `BEGIN TRANSACTION … COMMIT TRANSACTION` -> `query::write::TransactionPlan`.
//!
//! The rules are Cassandra's where there is a reason for them (one row per LET, partitions that are named, no conditions or
//! timestamps of single statements), and its sentences. Any table can take part, and aggregates, orders, ranges, counters and times to
//! live are allowed.

use super::Scope;
use super::expr::bind_term;
use super::markers::Markers;
use super::{select, write};
use crate::CqlError;
use crate::bind::comparison::of_values;
use cql_syntax::ast::{self, Expr, ExprKind, Literal, Modification, Place, Reference};
use model::types::java_class_name;
use query::ColumnSpec;
use query::select::SelectPlan;
use query::write::{Found, Returned, TransactionPlan, TransactionTest, WriteKind, WritePlan};
use schema::Table;
use std::sync::Arc;

pub fn bind(
    scope: Scope<'_>,
    transaction: &ast::Transaction,
    markers: &mut Markers,
) -> Result<TransactionPlan, CqlError> {
    if transaction.returning.is_none() && transaction.writes.is_empty() {
        return Err(CqlError::invalid("Transaction contains no reads or writes"));
    }
    let references_at = markers.begin_references(transaction.references.len());
    let mut names = Names { lets: Vec::with_capacity(transaction.lets.len()) };
    let mut lets = Vec::with_capacity(transaction.lets.len());
    for found in &transaction.lets {
        let name = found.name.as_str();
        if names.lets.iter().any(|(earlier, _)| earlier == name) {
            return Err(CqlError::Invalid(format!(
                "The name '{name}' has already been used by a LET assignment."
            )));
        }
        let plan = bind_let(scope, found, markers)?;
        names.lets.push((name.to_string(), plan.columns.clone()));
        lets.push(plan);
    }
    let returning = match &transaction.returning {
        None => Returned::Nothing,
        Some(ast::Returning::Select(select)) => {
            Returned::Rows(Box::new(bind_returned(scope, select, transaction.returning_at, markers)?))
        }
        Some(ast::Returning::References(references)) => names.returned(references)?,
    };
    let mut conditions = Vec::with_capacity(transaction.conditions.len());
    for condition in &transaction.conditions {
        conditions.push(names.test(scope, condition, markers)?);
    }
    let mut writes = Vec::with_capacity(transaction.writes.len());
    for (statement, place) in transaction.writes.iter().zip(&transaction.write_places) {
        writes.push(Arc::new(bind_write(scope, statement, *place, markers)?));
    }
    let references = names.references(transaction, markers)?;
    Ok(TransactionPlan { lets, returning, conditions, writes, references, references_at })
}

/// A LET finds one row: by its whole key, as the first of several, or as an aggregate.
fn bind_let(scope: Scope<'_>, found: &ast::Let, markers: &mut Markers) -> Result<SelectPlan, CqlError> {
    let plan = bind_select(scope, &found.select, markers)?;
    let is_one = |limit: &Expr| matches!(&limit.kind, ExprKind::Literal(Literal::Integer(n)) if n == "1");
    let aggregates = plan.grouping.as_ref().is_some_and(|grouping| grouping.keys.is_empty());
    let one_row =
        plan.restrictions.names_rows() || found.select.limit.as_ref().is_some_and(is_one) || aggregates;
    if !one_row || !plan.restrictions.partitions.names_keys() {
        return Err(CqlError::Invalid(format!(
            "SELECT must specify either all primary key elements or all partition key elements and LIMIT 1. In both cases \
             partition key elements must be always specified with equality operators; LET assignment {} at {}",
            found.name.as_str(),
            found.at
        )));
    }
    Ok(plan)
}

fn bind_returned(
    scope: Scope<'_>,
    select: &ast::Select,
    at: Place,
    markers: &mut Markers,
) -> Result<SelectPlan, CqlError> {
    let plan = bind_select(scope, select, markers)?;
    if !plan.restrictions.partitions.names_keys() {
        return Err(CqlError::Invalid(format!(
            "SELECT must specify either all partition key elements. Partition key elements must be always specified with \
             equality operators; returning select at {at}"
        )));
    }
    Ok(plan)
}

/// Indexes are not used: the partitions are named, and what is read beside them would not be locked.
fn bind_select(
    scope: Scope<'_>,
    written: &ast::Select,
    markers: &mut Markers,
) -> Result<SelectPlan, CqlError> {
    let mut plan = select::bind(scope, written, markers)?;
    if plan.table.is_virtual() || plan.table.foreign.is_some() {
        return Err(CqlError::Invalid(format!(
            "Table {}.{} cannot be read in a transaction: its rows do not change by transactions of CQL",
            plan.table.keyspace, plan.table.name
        )));
    }
    refuse_buckets(&plan.table)?;
    plan.index = None;
    if let Some(masked) = &mut plan.masked {
        masked.index = None;
    }
    Ok(plan)
}

fn bind_write(
    scope: Scope<'_>,
    statement: &Modification,
    at: Place,
    markers: &mut Markers,
) -> Result<WritePlan, CqlError> {
    let plan = write::bind(scope, statement, markers)?;
    let name = match plan.kind {
        WriteKind::Insert => "INSERT",
        WriteKind::Update => "UPDATE",
        WriteKind::Delete => "DELETE",
    };
    let refuse = |what: &str| {
        let text = format!("Updates within transactions may not specify {what}; {name} statement at {at}");
        Err(CqlError::Invalid(text))
    };
    if plan.is_conditional() {
        return refuse("their own conditions");
    }
    if plan.timestamp.is_some() {
        return refuse("custom timestamps");
    }
    refuse_buckets(&plan.table)?;
    Ok(plan)
}

/// Which partitions an entity has is found by reading, and a transaction must name what it locks first.
fn refuse_buckets(table: &Table) -> Result<(), CqlError> {
    match table.bucketing() {
        None => Ok(()),
        Some(_) => Err(CqlError::Invalid(format!(
            "Table {}.{} has buckets and cannot take part in a transaction yet; a conditional statement (IF) can change one of its rows",
            table.keyspace, table.name
        ))),
    }
}

/// What LETs have found, by name.
struct Names {
    lets: Vec<(String, Arc<[ColumnSpec]>)>,
}

impl Names {
    fn row(&self, reference: &Reference) -> Result<(usize, &Arc<[ColumnSpec]>), CqlError> {
        let name = reference.name.as_str();
        let found = self.lets.iter().position(|(known, _)| known == name);
        let found = found.and_then(|at| Some((at, &self.lets.get(at)?.1)));
        found.ok_or_else(|| CqlError::Invalid(format!("Cannot resolve reference to tuple '{name}'.")))
    }

    fn value(&self, reference: &Reference) -> Result<(Found, &ColumnSpec), CqlError> {
        let (found_by, columns) = self.row(reference)?;
        let field = reference.field.as_ref().map(ast::Ident::as_str);
        let field = field.ok_or_else(|| CqlError::invalid("SELECT references must specify a column."))?;
        let column = columns.iter().position(|spec| *spec.name == *field);
        let column = column.ok_or_else(|| {
            let name = reference.name.as_str();
            CqlError::Invalid(format!("Column '{field}' does not exist in tuple '{name}'."))
        })?;
        Ok((Found { found_by, column }, &columns[column]))
    }

    fn returned(&self, references: &[Reference]) -> Result<Returned, CqlError> {
        let mut values = Vec::with_capacity(references.len());
        let mut columns = Vec::with_capacity(references.len());
        for reference in references {
            let (value, spec) = self.value(reference)?;
            values.push(value);
            let name = format!("{}.{}", reference.name.as_str(), spec.name);
            columns.push(ColumnSpec { name: name.into(), ..spec.clone() });
        }
        Ok(Returned::Values(values, columns.into()))
    }

    fn test(
        &self,
        scope: Scope<'_>,
        condition: &ast::TransactionCondition,
        markers: &mut Markers,
    ) -> Result<TransactionTest, CqlError> {
        match condition {
            ast::TransactionCondition::Null { reference, is_null } => match &reference.field {
                None => {
                    Ok(TransactionTest::RowIsNull { found_by: self.row(reference)?.0, is_null: *is_null })
                }
                Some(_) => {
                    Ok(TransactionTest::ValueIsNull { value: self.value(reference)?.0, is_null: *is_null })
                }
            },
            ast::TransactionCondition::Compare { reference, op, value } => {
                let (found, spec) = self.value(reference)?;
                let data_type = spec.data_type.clone();
                let operand = bind_term(scope, value, &data_type, &spec.name, markers)?;
                Ok(TransactionTest::Compare { value: found, data_type, comparison: of_values(*op)?, operand })
            }
        }
    }

    /// What stands for each reference in a term; its type must be that of the place.
    fn references(&self, transaction: &ast::Transaction, markers: &Markers) -> Result<Vec<Found>, CqlError> {
        let mut found = Vec::with_capacity(transaction.references.len());
        for (at, reference) in transaction.references.iter().enumerate() {
            let (value, spec) = self.value(reference)?;
            if let Some(wanted) = markers.wanted(at)
                && wanted.data_type != spec.data_type
            {
                return Err(CqlError::Invalid(format!(
                    "Invalid reference type {} ({}) for \"{}\" of type {}",
                    java_class_name(&spec.data_type),
                    spec.name,
                    wanted.name,
                    wanted.data_type
                )));
            }
            found.push(value);
        }
        Ok(found)
    }
}
