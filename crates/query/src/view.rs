//! From a materialized view in the catalogue to what a store must know of it.

use model::types::DataType;
use schema::{Column, ColumnKind, LIST_COLUMN, Table, TotalFunction, TotalKind};
use store::TableId;
use store::groups::{ALL_MEMBERS, GroupsConfig, Total, TotalOf};
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
        is_grouped: false,
    })
}

/// How the store keeps the members of a projection with totals: one view per list, all with the same table.
pub fn member_configs(
    base: &Table,
    projection: &Table,
    conditions: &[ViewCondition],
) -> Option<Vec<ViewConfig>> {
    let lists = projection.member_lists(base);
    let config = |(number, list): (u8, Table)| {
        let column = |column: &Column| match column.id {
            LIST_COLUMN => Some(ViewColumn {
                source: ColumnSource::List(number),
                data_type: column.data_type.clone(),
                descending: false,
            }),
            _ => key_column(base, column),
        };
        let columns = |of: &[Column]| of.iter().map(column).collect::<Option<Vec<_>>>();
        Some(ViewConfig {
            table: TableId(list.id),
            partition: columns(&list.partition_key)?,
            clustering: columns(&list.clustering)?,
            columns: list.regulars.iter().map(|column| column.id).collect(),
            living: base.living_columns().map(|ids| ids.to_vec()),
            conditions: conditions.to_vec(),
            is_grouped: true,
        })
    };
    (ALL_MEMBERS..).zip(lists).map(config).collect()
}

/// How the store makes totals of the members of a projection; `None`: it has none, or names columns that its base does not have.
pub fn groups_config(base: &Table, projection: &Table) -> Option<GroupsConfig> {
    let totals = projection.totals()?;
    let sorted = totals.sorted();
    let lists = projection.member_lists(base);
    let all = lists.first()?;
    let total = |function: &TotalFunction| {
        let column = function.column;
        let Some(id) = function.source else { return Some(Total { column, of: TotalOf::Members }) };
        let source = base.columns().find(|other| other.id == id)?;
        let of = key_column(all, source)?;
        let in_list = || {
            let place = sorted.iter().position(|sorted| *sorted == id)?;
            let list = lists.get(place + 1)?;
            // Behind the group and the number of the list.
            let columns = list.clustering.get(..projection.clustering.len() + 2)?;
            let columns = columns.iter().map(|c| (c.data_type.clone(), c.descending)).collect();
            let source = ColumnSource::Clustering { columns };
            let of = ViewColumn { source, data_type: of.data_type.clone(), descending: false };
            Some((u8::try_from(place + 1).ok()?, of))
        };
        let of = match function.kind {
            TotalKind::Count => TotalOf::Values(of),
            TotalKind::Sum => TotalOf::Sum { of, data_type: result_type(projection, column)? },
            TotalKind::Min => in_list().map(|(list, of)| TotalOf::Least { list, of })?,
            TotalKind::Max => in_list().map(|(list, of)| TotalOf::Greatest { list, of })?,
        };
        Some(Total { column, of })
    };
    Some(GroupsConfig {
        table: TableId(projection.id),
        clustering: projection.clustering.iter().map(|c| (c.data_type.clone(), c.descending)).collect(),
        totals: totals.functions.iter().map(total).collect::<Option<Vec<_>>>()?,
    })
}

fn result_type(projection: &Table, column: u32) -> Option<DataType> {
    projection.regulars.iter().find(|other| other.id == column).map(|column| column.data_type.clone())
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
