//! Keys and indexed values that are too long for Cassandra, whose lengths have two bytes.
//!
//! They would work here, but could not be moved to a cluster; a server option allows them.

use crate::error::QueryError;
use crate::fault::KeyFault;
use crate::key;
use model::comparable;
use model::key::KIND_ROW;
use model::row::{Cell, CellState, RowView};
use model::types::DataType;
use schema::{Column, Index, IndexPart, Table};
use store::Mutation;

/// Refuses keys and values longer than `bytes_max`. Called only for mutations that are longer themselves: others cannot hold such a value.
pub(super) fn check(table: &Table, mutation: &Mutation, bytes_max: usize) -> Result<(), QueryError> {
    let mut decoded = Vec::new();
    for entry in mutation.entries() {
        let Some((kind, clustering)) = entry.position.split_first() else { continue };
        if *kind == KIND_ROW && clustering.len() > bytes_max {
            decoded.clear();
            key::clustering_values(table, clustering, None, &mut decoded);
            if decoded.len() > bytes_max {
                return Err(key::too_long(decoded.len(), bytes_max));
            }
        }
        if table.indexes.is_empty() || entry.payload.len() <= bytes_max {
            continue;
        }
        let Some(row) = RowView::from_payload(entry.payload) else { continue };
        for cell in row.cells() {
            let column = table.statics.iter().chain(&table.regulars).find(|column| column.id == cell.column);
            let Some(column) = column else { continue };
            for index in table.indexes_on(&column.name) {
                check_cell(table, column, index, &cell, bytes_max)?;
            }
        }
    }
    Ok(())
}

fn check_cell(
    table: &Table,
    column: &Column,
    index: &Index,
    cell: &Cell<'_>,
    bytes_max: usize,
) -> Result<(), QueryError> {
    let of_path = |data_type: &DataType| {
        let mut decoded = Vec::new();
        let path = cell.path.unwrap_or_default();
        let _ = comparable::decode(data_type, false, path, &mut decoded);
        decoded.len()
    };
    let size = match (&column.data_type, index.part) {
        (DataType::Set { element, frozen: false }, _) => of_path(element),
        (DataType::Map { key, frozen: false, .. }, IndexPart::Keys) => of_path(key),
        _ => match cell.state {
            CellState::Live(value) | CellState::Expiring { value, .. } => value.len(),
            CellState::Tombstone { .. } | CellState::ComplexDeletion { .. } => 0,
        },
    };
    if size <= bytes_max {
        return Ok(());
    }
    Err(KeyFault::NotIndexable {
        bytes: size,
        bytes_max,
        index: index.name.to_string(),
        keyspace: table.keyspace.to_string(),
        table: table.name.to_string(),
        column: column.name.to_string(),
    }
    .into())
}
