//! From a materialized view as the catalogue has it to what a store must know of it.

use schema::{Column, ColumnKind, Table};
use store::TableId;
use store::view::{ColumnSource, ViewColumn, ViewCondition, ViewConfig};

/// How the store keeps a view in step with its base; `None` when the view names columns that the base does not have, which
/// [`schema::Catalogue::check`] does not allow.
pub fn config(base: &Table, view: &Table, conditions: Vec<ViewCondition>) -> Option<ViewConfig> {
    let columns =
        |of: &[Column]| of.iter().map(|column| key_column(base, column)).collect::<Option<Vec<_>>>();
    Some(ViewConfig {
        table: TableId(view.id),
        partition: columns(&view.partition_key)?,
        clustering: columns(&view.clustering)?,
        columns: view.regulars.iter().map(|column| column.id).collect(),
        living: base.living_columns().map(|ids| ids.to_vec()),
        conditions,
    })
}

/// Where the base has the value of a column of the view's key, and how the view sorts it.
pub fn key_column(base: &Table, column: &Column) -> Option<ViewColumn> {
    let found = base.columns().find(|other| other.id == column.id)?;
    let source = match found.kind {
        ColumnKind::PartitionKey => {
            ColumnSource::Partition { position: found.position, count: base.partition_key.len() }
        }
        ColumnKind::Clustering => {
            let columns = base.clustering.get(..=found.position)?;
            ColumnSource::Clustering {
                columns: columns.iter().map(|c| (c.data_type.clone(), c.descending)).collect(),
            }
        }
        ColumnKind::Regular => ColumnSource::Cell(found.id),
        ColumnKind::Static => return None,
    };
    Some(ViewColumn { source, data_type: found.data_type.clone(), descending: column.descending })
}
