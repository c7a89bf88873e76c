//! Constraints of columns: which a table may have, and ALTER TABLE … ALTER … CHECK.

use crate::column::{Column, ColumnKind};
use crate::fault::{ColumnFault, ConstraintFault, SchemaError};
use crate::name::FullName;
use crate::table::Table;
use model::constraint::{Constraint, check_constraints};
use model::types::DataType;

/// What cannot be asked of this column.
pub(super) fn check_column(table: &FullName, column: &Column) -> Result<(), SchemaError> {
    if column.checks.is_empty() {
        return Ok(());
    }
    let (name, data_type) = (&column.name, &column.data_type);
    if data_type.is_multi_cell() {
        let kind = if matches!(data_type, DataType::Udt(_)) { "user-defined types" } else { "collections" };
        return Err(ConstraintFault::NotFrozen {
            column: name.to_string(),
            data_type: data_type.clone(),
            table: table.clone(),
            kind,
        }
        .into());
    }
    let key = match column.kind {
        ColumnKind::PartitionKey => Some("partition"),
        ColumnKind::Clustering => Some("clustering"),
        ColumnKind::Static | ColumnKind::Regular => None,
    };
    if let Some(key) = key.filter(|_| column.checks.contains(&Constraint::NotNull)) {
        return Err(ConstraintFault::NotNullOfKey { key, column: name.to_string() }.into());
    }
    if *data_type == DataType::Counter {
        let column_name = name.to_string();
        return Err(match column.checks.first() {
            Some(Constraint::Value { term, .. }) => {
                ConstraintFault::CounterValue { term: term.clone(), column: column_name }
            }
            _ => ConstraintFault::Counter { column: column_name },
        }
        .into());
    }
    check_constraints(name, data_type, &column.checks).map_err(|fault| ConstraintFault::Unfit(fault).into())
}

/// The same for all columns of a new table.
pub(super) fn check_table(table: &Table) -> Result<(), SchemaError> {
    let place = table.full_name();
    table.columns().try_for_each(|column| check_column(&place, column))
}

pub(super) fn set(
    table: &mut Table,
    if_exists: bool,
    name: &str,
    checks: &[Constraint],
) -> Result<(), SchemaError> {
    let place = table.full_name();
    let Some(column) = table.columns_mut().find(|column| *column.name == *name) else {
        return match if_exists {
            true => Ok(()),
            false => Err(ColumnFault::Missing { column: name.to_string() }.into()),
        };
    };
    column.checks = checks.to_vec();
    check_column(&place, column)
}
