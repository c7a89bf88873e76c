//! Fills a naive store with the rows of one table, from values by column name.

use super::cells::Cell;
use model::comparable;
use model::deletion::{Deletion, Marker};
use model::row::{self, CellState, ColumnId, RowWriter};
use model::types::DataType;
use model::value::ValueError;
use model::value::elements::{elements, map_entries};
use query::QueryError;
use query::key::{partition_key, put_clustering};
use schema::{Damage, SchemaError, Table};
use store::naive::NaiveStore;
use store::{Mutation, TableId};

/// All rows carry this timestamp: nobody wrote them.
const TIMESTAMP: i64 = 0;

pub(super) struct Filler<'t> {
    table: &'t Table,
    store: NaiveStore,
    fault: Option<QueryError>,
}

impl<'t> Filler<'t> {
    pub(super) fn new(table: &'t Table) -> Filler<'t> {
        let store = NaiveStore::new();
        store.create(TableId(table.id));
        Filler { table, store, fault: None }
    }

    /// Adds a row. Columns that are not named are null; a name that the table does not have is a bug, and told.
    pub(super) fn row(&mut self, values: &[(&str, Cell)]) {
        if self.fault.is_none()
            && let Err(fault) = self.put(values)
        {
            self.fault = Some(fault);
        }
    }

    pub(super) fn finish(self) -> Result<NaiveStore, QueryError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.store),
        }
    }

    fn put(&self, values: &[(&str, Cell)]) -> Result<(), QueryError> {
        let table = self.table;
        let place = format!("{}.{}", table.keyspace, table.name);
        if let Some((name, _)) = values.iter().find(|(name, _)| table.column(name).is_none()) {
            return Err(damaged(format!("{place} has no column {name}")));
        }
        let value =
            |name: &str| values.iter().find(|(n, _)| *n == name).and_then(|(_, cell)| cell.as_deref());
        let key_value =
            |name: &str| value(name).ok_or_else(|| damaged(format!("{place}: key column {name} is null")));
        let keys: Result<Vec<&[u8]>, QueryError> =
            table.partition_key.iter().map(|column| key_value(&column.name)).collect();
        let mut clustering = Vec::new();
        for column in &table.clustering {
            put_clustering(column, key_value(&column.name)?, &mut clustering)?;
        }
        let mut cells: Vec<OwnedCell> = Vec::new();
        for column in &table.regulars {
            if let Some(bytes) = value(&column.name) {
                put_cells(column.id, &column.data_type, bytes, &mut cells)
                    .map_err(|fault| damaged(format!("{place}.{}: {fault}", column.name)))?;
            }
        }
        cells.sort_by(|a, b| (a.column, &a.path).cmp(&(b.column, &b.path)));
        let mut writer = RowWriter::new();
        writer.begin(TIMESTAMP, Some(Marker::new(TIMESTAMP)), Deletion::NONE);
        for cell in &cells {
            let (path, state) = (cell.path.as_deref(), CellState::Live(&cell.value));
            writer.cell(&row::Cell { column: cell.column, path, timestamp: TIMESTAMP, state });
        }
        let mut mutation = Mutation::new(TableId(table.id), partition_key(table, &keys?)?);
        mutation.row(&clustering, writer.view());
        Ok(self.store.apply(&mutation, 0)?)
    }
}

struct OwnedCell {
    column: ColumnId,
    path: Option<Vec<u8>>,
    value: Vec<u8>,
}

/// One cell, or one per element of a collection that is not frozen. System tables have no lists that are not frozen.
fn put_cells(
    column: ColumnId,
    data_type: &DataType,
    bytes: &[u8],
    out: &mut Vec<OwnedCell>,
) -> Result<(), ValueError> {
    let path = |element: &DataType, value: &[u8]| {
        let mut path = Vec::new();
        comparable::encode(element, false, value, &mut path).map(|()| Some(path))
    };
    match data_type {
        DataType::Set { element, frozen: false } => {
            for part in elements(bytes).into_iter().flatten().flatten().flatten() {
                out.push(OwnedCell { column, path: path(element, part)?, value: Vec::new() });
            }
        }
        DataType::Map { key, frozen: false, .. } => {
            for (part, value) in map_entries(bytes).into_iter().flatten().flatten() {
                if let (Some(part), Some(value)) = (part, value) {
                    out.push(OwnedCell { column, path: path(key, part)?, value: value.to_vec() });
                }
            }
        }
        _ => out.push(OwnedCell { column, path: None, value: bytes.to_vec() }),
    }
    Ok(())
}

/// Tables of the system are made by this server, so what is wrong with them is a fault of its own.
fn damaged(what: String) -> QueryError {
    SchemaError::from(Damage::new(what)).into()
}
