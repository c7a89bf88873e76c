//! From an index in the catalogue to what a store must know of it.

use model::types::DataType;
use schema::{Column, ColumnKind, Index, IndexPart, Table};
use store::TableId;
use store::index::{IndexConfig, Source};

/// How the store keeps an index in step. `None` when there is nothing to keep: the index is on a vector and has no lists (yet). Also when the
/// column cannot be indexed that way, which DDL does not allow.
pub fn config(table: &Table, index: &Index) -> Option<IndexConfig> {
    let column = table.column(&index.column)?;
    let (table_id, change) = (TableId(index.id), index.in_force());
    if matches!(column.data_type, DataType::Vector { .. }) && index.is_storage_attached() {
        let lists = index.lists.clone().filter(|_| !column.kind.is_primary_key())?;
        let source = Source::Near { column: column.id, lists };
        // In the slice of the source, so that a write and its entry are on one shard.
        return Some(IndexConfig { table: table_id, sorted: true, change, source });
    }
    let source = source(table, column, index.part)?;
    Some(IndexConfig { table: table_id, sorted: index.sorted, change, source })
}

fn source(table: &Table, column: &Column, part: IndexPart) -> Option<Source> {
    let data_type = column.data_type.clone();
    match column.kind {
        ColumnKind::PartitionKey => return Some(Source::Partition { position: column.position, data_type }),
        ColumnKind::Clustering => {
            let columns = table.clustering.get(..=column.position)?;
            let columns = columns.iter().map(|c| (c.data_type.clone(), c.descending)).collect();
            return Some(Source::Clustering { columns });
        }
        ColumnKind::Static | ColumnKind::Regular => {}
    }
    let id = column.id;
    Some(match (&data_type, part) {
        (whole, _) if !whole.is_multi_cell() => Source::Cell { column: id, data_type },
        (DataType::Set { element, .. }, _) => Source::Path { column: id, data_type: (**element).clone() },
        (DataType::List { element, .. }, _) => {
            Source::Value { column: id, data_type: (**element).clone(), map_key: None }
        }
        (DataType::Map { key, .. }, IndexPart::Keys) => {
            Source::Path { column: id, data_type: (**key).clone() }
        }
        (DataType::Map { key, value, .. }, IndexPart::Entries) => {
            Source::Entry { column: id, key: (**key).clone(), value: (**value).clone() }
        }
        (DataType::Map { key, value, .. }, _) => {
            Source::Value { column: id, data_type: (**value).clone(), map_key: Some((**key).clone()) }
        }
        _ => return None,
    })
}
