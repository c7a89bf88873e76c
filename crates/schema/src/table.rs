//! A table: key columns, other columns, options. The shape that plans are made from.

use crate::column::{Column, ColumnKind, DroppedColumn};
use crate::compact::Compact;
use crate::foreign::Foreign;
use crate::index::Index;
use crate::options::TableOptions;
use crate::view::View;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Rows live in the store.
    Stored,
    /// Rows are made up when somebody reads (system tables).
    Virtual,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names the table in the log and in files for ever.
    pub id: u32,
    /// What clients see in `system_schema.tables.id`.
    pub uuid: [u8; 16],
    pub keyspace: Arc<str>,
    pub name: Arc<str>,
    pub kind: TableKind,
    pub partition_key: Vec<Column>,
    pub clustering: Vec<Column>,
    /// Sorted by name, as `SELECT *` lists them.
    pub statics: Vec<Column>,
    /// Sorted by name, as `SELECT *` lists them.
    pub regulars: Vec<Column>,
    pub options: TableOptions,
    pub dropped: Vec<DroppedColumn>,
    pub next_column_id: u32,
    /// Grows with TRUNCATE.
    pub incarnation: u32,
    /// Sorted by name.
    pub indexes: Vec<Index>,
    /// What it is made of, if it is a materialized view. Its columns have the ids of the base's.
    pub view: Option<View>,
    /// What makes it a table of another dialect: CQL reads it and leaves it alone.
    pub foreign: Option<Arc<Foreign>>,
    /// How it lies if it was made WITH COMPACT STORAGE.
    pub compact: Option<Compact>,
    /// The column that says when a row expires.
    pub row_ttl: Option<u32>,
}

impl Table {
    /// Columns in the order of `SELECT *`: partition key, clustering, static, regular. Without those that are hidden.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.all_columns().filter(|column| !self.hides(column))
    }

    /// The same with those that are hidden.
    pub fn all_columns(&self) -> impl Iterator<Item = &Column> {
        self.partition_key.iter().chain(&self.clustering).chain(&self.statics).chain(&self.regulars)
    }

    /// The same, to be changed. Names of columns outside the key must keep their order.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut Column> {
        let Table { partition_key, clustering, statics, regulars, .. } = self;
        partition_key
            .iter_mut()
            .chain(clustering.iter_mut())
            .chain(statics.iter_mut())
            .chain(regulars.iter_mut())
    }

    pub fn column(&self, name: &str) -> Option<&Column> {
        // Keys are short; what is outside them is sorted, and may be thousands.
        let sorted = |columns: &'_ [Column]| columns.binary_search_by(|c| (*c.name).cmp(name)).ok();
        let key = self.primary_key().find(|c| &*c.name == name);
        key.or_else(|| sorted(&self.statics).map(|at| &self.statics[at]))
            .or_else(|| sorted(&self.regulars).map(|at| &self.regulars[at]))
            .filter(|column| !self.hides(column))
    }

    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| *index.name == *name)
    }

    /// The indexes on a column.
    pub fn indexes_on<'t>(&'t self, column: &'t str) -> impl Iterator<Item = &'t Index> {
        self.indexes.iter().filter(move |index| *index.column == *column)
    }

    pub fn is_counter(&self) -> bool {
        // Asked several times per write: in a table with a counter, every column outside the key is one.
        let any = self.regulars.first().or(self.statics.first());
        any.is_some_and(|column| matches!(column.data_type, model::types::DataType::Counter))
    }

    pub fn has_statics(&self) -> bool {
        !self.statics.is_empty()
    }

    /// Whether some column has constraints.
    pub fn is_checked(&self) -> bool {
        self.columns().any(|column| !column.checks.is_empty())
    }

    /// Whether a write must look at what is there: columns have constraints, or rows expire as a whole.
    pub fn is_looked_at(&self) -> bool {
        self.is_checked() || self.row_ttl.is_some()
    }

    /// The column that says when a row expires.
    pub fn row_ttl_column(&self) -> Option<&Column> {
        let id = self.row_ttl?;
        self.regulars.iter().find(|column| column.id == id)
    }

    pub fn is_virtual(&self) -> bool {
        self.kind == TableKind::Virtual
    }

    /// Whether clustering keys do not give back all that was written: the scale of decimals is no part of them.
    pub fn loses_scale(&self) -> bool {
        self.clustering.iter().any(|c| c.data_type.has_decimal())
    }

    /// The ids of the columns outside the key if rows may have cells that are of none of them, which count for
    /// nothing: those of dropped columns, and the one that keeps a key as it was written.
    pub fn living_columns(&self) -> Option<Arc<[u32]>> {
        if self.dropped.is_empty() && !self.loses_scale() {
            return None;
        }
        Some(self.statics.iter().chain(&self.regulars).map(|c| c.id).collect())
    }

    pub fn primary_key(&self) -> impl Iterator<Item = &Column> {
        self.partition_key.iter().chain(&self.clustering)
    }

    /// The column list of one kind.
    pub fn of_kind(&self, kind: ColumnKind) -> &[Column] {
        match kind {
            ColumnKind::PartitionKey => &self.partition_key,
            ColumnKind::Clustering => &self.clustering,
            ColumnKind::Static => &self.statics,
            ColumnKind::Regular => &self.regulars,
        }
    }
}
