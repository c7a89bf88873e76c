//! The column that says when a row expires: which it may be, and what a table with one cannot have.

use crate::change::NewColumn;
use crate::column::{Column, ColumnKind};
use crate::error::SchemaError;
use crate::keyspace::Keyspace;
use crate::table::Table;
use model::types::DataType;

/// Takes the column that is declared `TTL`, if there is one.
pub(super) fn adopt(table: &mut Table, declared: &[NewColumn]) -> Result<(), SchemaError> {
    let mut declared = declared.iter().filter(|column| column.is_ttl);
    let Some(column) = declared.next() else { return Ok(()) };
    if let Some(other) = declared.next() {
        return Err(SchemaError::Invalid(format!(
            "Only one column of a table can say when its rows expire; {} and {} are declared TTL",
            column.name, other.name
        )));
    }
    check_place(table)?;
    if table.row_ttl_column().is_none_or(|known| *known.name != *column.name) {
        set(table, Some(&column.name))?;
    }
    Ok(())
}

/// `ALTER TABLE … TTL column`, or `TTL NULL`.
pub(super) fn set(table: &mut Table, name: Option<&str>) -> Result<(), SchemaError> {
    let place = format!("{}.{}", table.keyspace, table.name);
    let Some(name) = name else {
        return match table.row_ttl.take() {
            Some(_) => Ok(()),
            None => Err(SchemaError::Invalid(format!(
                "No column of {place} says when its rows expire, so there is nothing to turn off"
            ))),
        };
    };
    if let Some(known) = table.row_ttl_column() {
        return Err(SchemaError::Invalid(format!(
            "Rows of {place} expire when {} says already. Say ALTER TABLE {place} TTL NULL first",
            known.name
        )));
    }
    let column = table
        .column(name)
        .ok_or_else(|| SchemaError::Invalid(format!("Column '{name}' doesn't exist in table {place}")))?;
    check_column(column)?;
    table.row_ttl = Some(column.id);
    Ok(())
}

fn check_column(column: &Column) -> Result<(), SchemaError> {
    let Column { name, data_type, kind, .. } = column;
    let kind = match kind {
        ColumnKind::PartitionKey | ColumnKind::Clustering => Some("part of the primary key"),
        ColumnKind::Static => Some("static, so that it belongs to no row"),
        ColumnKind::Regular => None,
    };
    if let Some(kind) = kind {
        return Err(SchemaError::Invalid(format!(
            "Column {name} cannot say when a row expires: it is {kind}. Use a regular column"
        )));
    }
    match data_type {
        DataType::Timestamp | DataType::BigInt | DataType::Int => Ok(()),
        other => Err(SchemaError::Invalid(format!(
            "Column {name} of type {other} cannot say when a row expires. It needs the type timestamp, or bigint or int for \
             seconds since 1970"
        ))),
    }
}

/// What a table whose rows expire as a whole cannot have. Copies of such rows would outlive them.
pub(super) fn check_altered(keyspace: &Keyspace, table: &Table) -> Result<(), SchemaError> {
    if table.row_ttl.is_none() {
        return Ok(());
    }
    if let Some(view) = keyspace.views_of(table).next() {
        return Err(SchemaError::Invalid(format!(
            "Rows of {}.{} cannot expire as a whole while {} is made of it: its rows would outlive them. Drop it first",
            table.keyspace, table.name, view.name
        )));
    }
    check_place(table)
}

fn check_place(table: &Table) -> Result<(), SchemaError> {
    let what = if table.bucketing().is_some() || table.rebucketing().is_some() {
        "it has buckets: give it a retention instead"
    } else if table.compact.is_some() {
        "it has COMPACT STORAGE"
    } else if table.foreign.is_some() {
        "it belongs to the DynamoDB API, which has UpdateTimeToLive"
    } else {
        return Ok(());
    };
    Err(SchemaError::Invalid(format!(
        "Rows of {}.{} cannot expire as a whole: {what}",
        table.keyspace, table.name
    )))
}

/// For CREATE MATERIALIZED VIEW and CREATE PROJECTION.
pub(super) fn refuse_copies(base: &Table) -> Result<(), SchemaError> {
    match base.row_ttl_column() {
        None => Ok(()),
        Some(column) => Err(SchemaError::Invalid(format!(
            "Nothing can be made of {}.{} whose rows expire when {} says: copies would outlive them. An index can be",
            base.keyspace, base.name, column.name
        ))),
    }
}

pub(super) fn check_dropped(table: &Table, column: &Column) -> Result<(), SchemaError> {
    match table.row_ttl == Some(column.id) {
        false => Ok(()),
        true => Err(SchemaError::Invalid(format!(
            "Cannot drop column {}: it says when rows expire. Say ALTER TABLE {}.{} TTL NULL first",
            column.name, table.keyspace, table.name
        ))),
    }
}
