//! Columns of a table.

use model::constraint::Constraint;
use model::row::ColumnId;
use model::types::DataType;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    PartitionKey,
    Clustering,
    Static,
    Regular,
}

impl ColumnKind {
    /// As `system_schema.columns.kind` says it.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::PartitionKey => "partition_key",
            ColumnKind::Clustering => "clustering",
            ColumnKind::Static => "static",
            ColumnKind::Regular => "regular",
        }
    }

    pub fn is_primary_key(self) -> bool {
        matches!(self, ColumnKind::PartitionKey | ColumnKind::Clustering)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Names the column in row images for ever; key columns have one too but images never hold it.
    pub id: ColumnId,
    pub name: Arc<str>,
    pub data_type: DataType,
    pub kind: ColumnKind,
    /// Place among the key columns of its kind; 0 for others.
    pub position: usize,
    /// Clustering column stored in descending order.
    pub descending: bool,
    /// Masking function call as CQL text, if the column is masked.
    pub mask: Option<String>,
    /// What its values must satisfy.
    pub checks: Vec<Constraint>,
}

/// What is left of a dropped column: its name and type, so that re-adding can be checked.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppedColumn {
    pub name: Arc<str>,
    pub data_type: DataType,
    pub is_static: bool,
    /// Microseconds.
    pub dropped_at: i64,
}
