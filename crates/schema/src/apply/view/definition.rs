//! The table that a view's definition makes of its base: columns, key, order, restrictions.

use super::totals;
use crate::change::NewView;
use crate::column::{Column, ColumnKind};
use crate::fault::{KeyFault, ProjectionFault, SchemaError, ViewFault};
use crate::options::TableOptions;
use crate::table::{Table, TableKind};
use crate::view::{Projection, View, ViewRestriction};
use model::types::DataType;

/// The view as a table without id and options.
pub(super) fn table(
    base: &Table,
    new: &NewView,
    projection: Option<Projection>,
) -> Result<Table, SchemaError> {
    let has_totals = !new.totals.is_empty();
    let selected = selected(base, new)?;
    let mut table = Table {
        id: 0,
        uuid: [0; 16],
        keyspace: base.keyspace.clone(),
        name: new.name.as_str().into(),
        kind: TableKind::Stored,
        partition_key: key_columns(&selected, new, ColumnKind::PartitionKey)?,
        clustering: key_columns(&selected, new, ColumnKind::Clustering)?,
        statics: Vec::new(),
        regulars: Vec::new(),
        options: TableOptions::default(),
        dropped: Vec::new(),
        next_column_id: base.next_column_id,
        incarnation: 0,
        indexes: Vec::new(),
        view: None,
        foreign: None,
        compact: None,
        row_ttl: None,
    };
    apply_order(new, &mut table)?;
    if has_totals {
        check_scale(base, &table)?;
    } else {
        check_key(base, new, &table)?;
    }
    let in_key = |column: &&Column| table.primary_key().any(|key| key.id == column.id);
    let mut regulars: Vec<Column> = selected.into_iter().filter(|column| !in_key(column)).cloned().collect();
    regulars.sort_by(|a, b| a.name.cmp(&b.name));
    regulars.dedup_by_key(|column| column.id);
    if has_totals && let Some(column) = regulars.first() {
        return Err(totals::neither(&column.name));
    }
    table.regulars = regulars;
    table.view = Some(View {
        base: base.name.clone(),
        base_id: base.id,
        include_all_columns: matches!(new.selected, Ok(None)),
        restrictions: new.restrictions.clone().map_err(ViewFault::Written)?,
        built: false,
        disabled: None,
        projection,
    });
    check_restrictions(base, &table)?;
    if has_totals {
        totals::add(base, new, &mut table)?;
    }
    Ok(table)
}

/// The columns of the base that the view has.
fn selected<'b>(base: &'b Table, new: &NewView) -> Result<Vec<&'b Column>, SchemaError> {
    let columns: Vec<&Column> = match new.selected.as_ref().map_err(|why| ViewFault::Written(why.clone()))? {
        None => base.columns().collect(),
        Some(names) => {
            let find = |name: &String| {
                base.column(name).ok_or_else(|| ViewFault::UndefinedColumn {
                    column: name.to_string(),
                    table: base.full_name(),
                })
            };
            // The columns of a projection's key need not be named twice.
            let key = new.partition_key.iter().chain(&new.clustering).filter(|_| new.is_projection);
            names.iter().chain(key).map(find).collect::<Result<_, _>>()?
        }
    };
    match columns.iter().find(|column| column.kind == ColumnKind::Static) {
        None => Ok(columns),
        Some(column) => {
            Err(ViewFault::StaticColumn { column: column.name.to_string(), view: new.name.to_string() }
                .into())
        }
    }
}

fn key_columns(selected: &[&Column], new: &NewView, kind: ColumnKind) -> Result<Vec<Column>, SchemaError> {
    let names = if kind == ColumnKind::Clustering { &new.clustering } else { &new.partition_key };
    // A column that the key names twice is told where the second one stands.
    let earlier = if kind == ColumnKind::Clustering { new.partition_key.as_slice() } else { &[] };
    let column = |(position, name): (usize, &String)| {
        let Some(column) = selected.iter().find(|column| *column.name == **name) else {
            return Err(ViewFault::KeyUnknown { column: name.to_string(), view: new.name.to_string() }.into());
        };
        if earlier.contains(name) || names[..position].contains(name) {
            return Err(ViewFault::KeyTwice { column: name.to_string(), view: new.name.to_string() }.into());
        }
        check_type(column)?;
        // A clustering column of the base keeps its direction where nothing else is said.
        let descending = kind == ColumnKind::Clustering && column.descending;
        Ok(Column { kind, position, descending, ..Column::clone(column) })
    };
    names.iter().enumerate().map(column).collect()
}

fn check_type(column: &Column) -> Result<(), SchemaError> {
    let Column { name, data_type, .. } = column;
    let column = name.to_string();
    match data_type {
        DataType::Udt(udt) if !udt.frozen => {
            Err(ViewFault::KeyUdt { data_type: data_type.clone(), column }.into())
        }
        other if other.is_multi_cell() => {
            Err(ViewFault::KeyCollection { data_type: other.clone(), column }.into())
        }
        other if other.references_duration() => Err(KeyFault::Duration { column }.into()),
        _ => Ok(()),
    }
}

/// CLUSTERING ORDER BY, if there is one, names all clustering columns in their order.
fn apply_order(new: &NewView, table: &mut Table) -> Result<(), SchemaError> {
    if new.clustering_order.is_empty() {
        return Ok(());
    }
    if !new.clustering_order.iter().map(|(name, _)| name).eq(&new.clustering) {
        return Err(ViewFault::OrderDiffers.into());
    }
    for (column, (_, descending)) in table.clustering.iter_mut().zip(&new.clustering_order) {
        column.descending = *descending;
    }
    Ok(())
}

/// A view has the base's whole key in its own, and at most one column more (a projection any number): so a row of the base is at most one of the view.
fn check_key(base: &Table, new: &NewView, table: &Table) -> Result<(), SchemaError> {
    let in_view = |column: &&Column| table.primary_key().any(|key| key.id == column.id);
    let missing: Vec<String> =
        base.primary_key().filter(|column| !in_view(column)).map(|column| column.name.to_string()).collect();
    if !missing.is_empty() {
        return Err(ViewFault::KeyLacks {
            view: new.name.to_string(),
            columns: missing,
            table: base.name.to_string(),
        }
        .into());
    }
    let in_base = |column: &&Column| base.primary_key().any(|key| key.id == column.id);
    let added: Vec<String> =
        table.primary_key().filter(|column| !in_base(column)).map(|column| column.name.to_string()).collect();
    if added.len() > 1 && !new.is_projection {
        return Err(ViewFault::KeyAddsSeveral { columns: added }.into());
    }
    check_scale(base, table)
}

fn check_scale(base: &Table, table: &Table) -> Result<(), SchemaError> {
    if let Some(column) = lost_scale(base, table) {
        return Err(ViewFault::ScaleLost { column: column.name.to_string() }.into());
    }
    Ok(())
}

/// A column of the view's partition key that could not be found by what was written: ours, because the bytes of a partition
/// key tell `1.0` from `1.00`, and those of a clustering key do not.
fn lost_scale<'t>(base: &Table, table: &'t Table) -> Option<&'t Column> {
    let clusters = |column: &Column| base.clustering.iter().any(|other| other.id == column.id);
    table.partition_key.iter().find(|column| column.data_type.has_decimal() && clusters(column))
}

fn check_restrictions(base: &Table, table: &Table) -> Result<(), SchemaError> {
    let restrictions = table.view.as_ref().map_or(&[][..], |view| &view.restrictions);
    if table.view.as_ref().is_some_and(|view| view.projection.is_some()) {
        return check_projected(base, restrictions);
    }
    let is_restricted = |column: &&Column| restrictions.iter().any(|r| r.columns.contains(&column.name));
    let mut free: Vec<String> = table
        .primary_key()
        .filter(|column| !is_restricted(column))
        .map(|column| column.name.to_string())
        .collect();
    if !free.is_empty() {
        free.sort_unstable();
        return Err(ViewFault::KeyNullable { columns: free }.into());
    }
    let in_base = |name: &str| base.primary_key().any(|key| *key.name == *name);
    let mut illegal: Vec<String> = restrictions
        .iter()
        .filter(|restriction| !restriction.is_not_null())
        .flat_map(|restriction| restriction.columns.iter())
        .filter(|name| !in_base(name))
        .map(|name| name.to_string())
        .collect();
    if !illegal.is_empty() {
        illegal.sort_unstable();
        illegal.dedup();
        return Err(ViewFault::OthersRestricted { columns: illegal }.into());
    }
    Ok(())
}

/// A projection needs no IS NOT NULL: a row without a column of the key has no place in it anyway. It may be about any column that is
/// one value.
fn check_projected(base: &Table, restrictions: &[ViewRestriction]) -> Result<(), SchemaError> {
    let names = restrictions.iter().flat_map(|restriction| &restriction.columns);
    let mut columns = names.filter_map(|name| base.column(name));
    let unfit = |column: &&Column| column.kind == ColumnKind::Static || column.data_type.is_multi_cell();
    match columns.find(unfit) {
        None => Ok(()),
        Some(column) => Err(ProjectionFault::Condition { column: column.name.to_string() }.into()),
    }
}
