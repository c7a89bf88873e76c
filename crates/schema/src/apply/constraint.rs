//! Constraints of columns: which a table may have, and ALTER TABLE … ALTER … CHECK.

use crate::column::{Column, ColumnKind};
use crate::error::SchemaError;
use crate::table::Table;
use model::constraint::{Constraint, check_constraints};
use model::types::DataType;

/// What cannot be asked of this column.
pub(super) fn check_column(place: &str, column: &Column) -> Result<(), SchemaError> {
    if column.checks.is_empty() {
        return Ok(());
    }
    let (name, data_type) = (&column.name, &column.data_type);
    if data_type.is_multi_cell() {
        let kind = if matches!(data_type, DataType::Udt(_)) { "user-defined types" } else { "collections" };
        return Err(SchemaError::Invalid(format!(
            "Constraint cannot be defined on the column {name} of type {data_type} for the table {place}. When using \
             {kind}, constraints can be used only of frozen {kind}."
        )));
    }
    let key = match column.kind {
        ColumnKind::PartitionKey => Some("partition"),
        ColumnKind::Clustering => Some("clustering"),
        ColumnKind::Static | ColumnKind::Regular => None,
    };
    if let Some(key) = key.filter(|_| column.checks.contains(&Constraint::NotNull)) {
        return Err(SchemaError::Invalid(format!(
            "NOT_NULL constraint can not be specified on a {key} key column '{name}'"
        )));
    }
    if *data_type == DataType::Counter {
        let text = match column.checks.first() {
            Some(Constraint::Value { term, .. }) => {
                format!("Cannot parse constraint value from {term} for column '{name}'")
            }
            _ => format!("Constraints are not supported on the counter column '{name}'"),
        };
        return Err(SchemaError::Invalid(text));
    }
    check_constraints(name, data_type, &column.checks).map_err(|fault| SchemaError::Invalid(fault.0))
}

/// The same for all columns of a new table.
pub(super) fn check_table(table: &Table) -> Result<(), SchemaError> {
    let place = format!("{}.{}", table.keyspace, table.name);
    table.columns().try_for_each(|column| check_column(&place, column))
}

pub(super) fn set(
    table: &mut Table,
    if_exists: bool,
    name: &str,
    checks: &[Constraint],
) -> Result<(), SchemaError> {
    let place = format!("{}.{}", table.keyspace, table.name);
    let Some(column) = table.columns_mut().find(|column| *column.name == *name) else {
        return match if_exists {
            true => Ok(()),
            false => Err(SchemaError::Invalid(format!("Column '{name}' doesn't exist"))),
        };
    };
    column.checks = checks.to_vec();
    check_column(&place, column)
}
