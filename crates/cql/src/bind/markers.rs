//! What each bind marker stands for: its name and type, learnt while binding.

use model::types::DataType;
use query::ColumnSpec;
use schema::{Catalogue, Table};
use std::sync::Arc;

/// Collects one spec per marker; markers may be visited in any order.
pub struct Markers {
    keyspace: Arc<str>,
    table: Arc<str>,
    specs: Vec<Option<ColumnSpec>>,
}

impl Markers {
    pub fn new(count: usize) -> Markers {
        Markers { keyspace: "".into(), table: "".into(), specs: vec![None; count] }
    }

    /// From now on markers belong to this table (a batch changes it per statement).
    pub fn enter(&mut self, table: &Table) {
        self.keyspace = table.keyspace.clone();
        self.table = table.name.clone();
    }

    /// The table that markers belong to now, which is the one that a statement is about.
    pub fn table<'c>(&self, catalogue: &'c Catalogue) -> Option<&'c Arc<Table>> {
        catalogue.keyspace(&self.keyspace)?.table(&self.table)
    }

    /// Says what marker `index` is: `name` is the column or a conventional name such as `[limit]`;
    /// a marker written as `:x` keeps its own name.
    pub fn learn(&mut self, marker: &cql_syntax::ast::BindMarker, name: &str, data_type: &DataType) {
        let name: Arc<str> = match &marker.name {
            Some(own) => own.name.as_str().into(),
            None => name.into(),
        };
        let (keyspace, table) = (self.keyspace.clone(), self.table.clone());
        if let Some(slot) = self.specs.get_mut(marker.index as usize) {
            *slot = Some(ColumnSpec { keyspace, table, name, data_type: data_type.clone() });
        }
    }

    /// The specs in marker order; `None` where a marker's type was never learnt (a binder's bug or
    /// an ambiguous place: the caller answers with an error).
    pub fn finish(self) -> Option<Vec<ColumnSpec>> {
        self.specs.into_iter().collect()
    }
}
