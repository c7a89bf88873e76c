//! What each bind marker stands for: its name and type, learnt while binding.

use cql_syntax::ast::REFERENCE_BASE;
use model::types::DataType;
use query::ColumnSpec;
use query::function::Choice;
use schema::{Catalogue, Table};
use std::sync::Arc;

/// Collects one spec per marker; markers may be visited in any order.
pub struct Markers {
    keyspace: Arc<str>,
    table: Arc<str>,
    specs: Vec<Option<ColumnSpec>>,
    /// Of what terms name of the LETs of a transaction; clients do not bind these.
    references: Vec<Option<ColumnSpec>>,
    /// Functions of users that were chosen since they were last taken.
    calls: Vec<Choice>,
}

impl Markers {
    pub fn new(count: usize) -> Markers {
        Markers {
            keyspace: "".into(),
            table: "".into(),
            specs: vec![None; count],
            references: Vec::new(),
            calls: Vec::new(),
        }
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
            Some(own) if marker.index < REFERENCE_BASE => own.name.as_str().into(),
            _ => name.into(),
        };
        let (keyspace, table) = (self.keyspace.clone(), self.table.clone());
        let slot = match marker.index.checked_sub(REFERENCE_BASE) {
            Some(reference) => self.references.get_mut(reference as usize),
            None => self.specs.get_mut(marker.index as usize),
        };
        if let Some(slot) = slot {
            *slot = Some(ColumnSpec { keyspace, table, name, data_type: data_type.clone() });
        }
    }

    /// A transaction names so many values of its LETs. They stand behind those of the client; where, is the answer.
    pub fn begin_references(&mut self, count: usize) -> usize {
        self.references = vec![None; count];
        self.specs.len()
    }

    /// Where among the values that of a marker stands.
    pub fn slot(&self, marker: &cql_syntax::ast::BindMarker) -> u32 {
        match marker.index.checked_sub(REFERENCE_BASE) {
            Some(reference) => self.specs.len() as u32 + reference,
            None => marker.index,
        }
    }

    /// The place where a reference stands: its type and name.
    pub fn wanted(&self, reference: usize) -> Option<&ColumnSpec> {
        self.references.get(reference)?.as_ref()
    }

    /// A function of a user was chosen.
    pub fn call(&mut self, choice: Choice) {
        self.calls.push(choice);
    }

    /// Functions of users that the statement at hand calls, as far as it is bound.
    pub fn take_calls(&mut self) -> Vec<Choice> {
        std::mem::take(&mut self.calls)
    }

    /// The specs in marker order; `None` where a marker's type was never learnt (a binder's bug or
    /// an ambiguous place: the caller answers with an error).
    pub fn finish(self) -> Option<Vec<ColumnSpec>> {
        self.specs.into_iter().collect()
    }
}
