//! The column that says when a row expires: which it may be, and what a table with one cannot have.

use crate::change::NewColumn;
use crate::column::{Column, ColumnKind};
use crate::fault::{RowTtlFault, SchemaError};
use crate::keyspace::Keyspace;
use crate::table::Table;
use model::types::DataType;

/// Takes the column that is declared `TTL`, if there is one.
pub(super) fn adopt(table: &mut Table, declared: &[NewColumn]) -> Result<(), SchemaError> {
    let mut declared = declared.iter().filter(|column| column.is_ttl);
    let Some(column) = declared.next() else { return Ok(()) };
    if let Some(other) = declared.next() {
        let (first, second) = (column.name.to_string(), other.name.to_string());
        return Err(RowTtlFault::TwoColumns { first, second }.into());
    }
    check_place(table)?;
    if table.row_ttl_column().is_none_or(|known| *known.name != *column.name) {
        set(table, Some(&column.name))?;
    }
    Ok(())
}

/// `ALTER TABLE … TTL column`, or `TTL NULL`.
pub(super) fn set(table: &mut Table, name: Option<&str>) -> Result<(), SchemaError> {
    let Some(name) = name else {
        return match table.row_ttl.take() {
            Some(_) => Ok(()),
            None => Err(RowTtlFault::NothingToTurnOff { table: table.full_name() }.into()),
        };
    };
    if let Some(known) = table.row_ttl_column() {
        let column = known.name.to_string();
        return Err(RowTtlFault::SaidAlready { table: table.full_name(), column }.into());
    }
    let missing = || RowTtlFault::NoSuchColumn { column: name.to_string(), table: table.full_name() };
    let column = table.column(name).ok_or_else(missing)?;
    check_column(column)?;
    table.row_ttl = Some(column.id);
    Ok(())
}

fn check_column(column: &Column) -> Result<(), RowTtlFault> {
    let Column { name, data_type, kind, .. } = column;
    let column = name.to_string();
    if *kind != ColumnKind::Regular {
        return Err(RowTtlFault::OfKind { column, kind: *kind });
    }
    match data_type {
        DataType::Timestamp | DataType::BigInt | DataType::Int => Ok(()),
        other => Err(RowTtlFault::OfType { column, data_type: other.clone() }),
    }
}

/// What a table whose rows expire as a whole cannot have. Copies of such rows would outlive them.
pub(super) fn check_altered(keyspace: &Keyspace, table: &Table) -> Result<(), SchemaError> {
    if table.row_ttl.is_none() {
        return Ok(());
    }
    if let Some(view) = keyspace.views_of(table).next() {
        let view = view.name.to_string();
        return Err(RowTtlFault::HasViews { table: table.full_name(), view }.into());
    }
    Ok(check_place(table)?)
}

fn check_place(table: &Table) -> Result<(), RowTtlFault> {
    let name = table.full_name();
    if table.bucketing().is_some() || table.rebucketing().is_some() {
        Err(RowTtlFault::HasBuckets { table: name })
    } else if table.compact.is_some() {
        Err(RowTtlFault::IsCompact { table: name })
    } else if table.foreign.is_some() {
        Err(RowTtlFault::IsForeign { table: name })
    } else {
        Ok(())
    }
}

/// For CREATE MATERIALIZED VIEW and CREATE PROJECTION.
pub(super) fn refuse_copies(base: &Table) -> Result<(), RowTtlFault> {
    match base.row_ttl_column() {
        None => Ok(()),
        Some(column) => {
            Err(RowTtlFault::CopiesOutlive { table: base.full_name(), column: column.name.to_string() })
        }
    }
}

pub(super) fn check_dropped(table: &Table, column: &Column) -> Result<(), RowTtlFault> {
    match table.row_ttl == Some(column.id) {
        false => Ok(()),
        true => Err(RowTtlFault::Dropped { column: column.name.to_string(), table: table.full_name() }),
    }
}
