//! CREATE TABLE … LIKE: a table with the columns, constraints, masks and options of another, and none of its rows.

use super::table_create::{check_counter_ttl, check_name, table_uuid};
use super::{changed, foreign, guard, unchanged, with_table};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, Setting, TableLike, TargetKind};
use crate::fault::{Resource, SchemaError, TableFault};
use crate::index::Index;
use crate::keyspace::{Keyspace, is_system_name};
use crate::name::FullName;
use crate::table::Table;
use crate::tenant;

pub(super) fn create(
    catalogue: &Catalogue,
    like: &TableLike,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    guard(&like.keyspace, "CREATE", || Resource::AllTables)?;
    let into = catalogue
        .keyspace(&like.keyspace)
        .ok_or_else(|| TableFault::LikeTargetMissing { keyspace: like.keyspace.clone() })?;
    let from = catalogue.keyspace(&like.source_keyspace).filter(|_| !is_system_name(&like.source_keyspace));
    let from =
        from.ok_or_else(|| TableFault::LikeSourceKeyspaceMissing { keyspace: like.source_keyspace.clone() })?;
    let source = from.table(&like.source).ok_or_else(|| TableFault::LikeSourceMissing {
        table: FullName::new(&like.source_keyspace, &like.source),
    })?;
    if into.table(&like.name).is_some() {
        return match like.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => {
                Err(SchemaError::TableExists { keyspace: like.keyspace.clone(), table: like.name.clone() })
            }
        };
    }
    if source.view.is_some() {
        return Err(TableFault::LikeView.into());
    }
    foreign::refuse(source)?;
    check_types(from, into, source)?;
    check_name(&like.keyspace, &like.name)?;
    let id = catalogue.next_table_id;
    let mut table = Table {
        id,
        uuid: table_uuid(catalogue, &like.properties, id, setting)?,
        keyspace: like.keyspace.as_str().into(),
        name: like.name.as_str().into(),
        options: source.options.with(&like.properties)?,
        dropped: Vec::new(),
        incarnation: 0,
        indexes: Vec::new(),
        ..Table::clone(source)
    };
    check_counter_ttl(&table)?;
    tenant::adopt(into, &mut table)?;
    let mut next_id = id + 1;
    // Where the rows of the source have been, or are going, means nothing to a table without rows.
    (table.options.rebucketing, table.options.former) = (None, Vec::new());
    // Nobody brings older rows to the new table.
    table.options.hold_tombstones.clear();
    // Which buckets there are is recorded for each table by itself.
    if let Some(plan) = &mut table.options.bucketing {
        next_id = plan.number(next_id);
    }
    if like.with_indexes {
        for index in &source.indexes {
            let name = free_name(into, &table, &index.name);
            let column = source.column(&index.column);
            let sorted = column.is_some_and(|column| index.answers_ranges(&column.data_type));
            // There are no rows that it could lack.
            table.indexes.push(Index {
                name: name.into(),
                id: next_id,
                sorted,
                built: true,
                lists: None,
                ..index.clone()
            });
            next_id += 1;
        }
        table.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    }
    let mut next = with_table(catalogue, into, table);
    next.next_table_id = next_id;
    Ok(changed(next, EffectKind::Created, TargetKind::Table, &like.keyspace, &like.name))
}

/// User-defined types belong to a keyspace: a copy in another one could not name them.
fn check_types(from: &Keyspace, into: &Keyspace, source: &Table) -> Result<(), SchemaError> {
    if from.name == into.name {
        return Ok(());
    }
    let uses_types = |text: String| from.types.keys().any(|name| text.contains(&**name));
    match source.columns().find(|column| uses_types(column.data_type.to_string())) {
        None => Ok(()),
        Some(column) => Err(TableFault::LikeTypeElsewhere {
            column: column.name.to_string(),
            data_type: column.data_type.clone(),
            of: from.name.to_string(),
            into: into.name.to_string(),
        }
        .into()),
    }
}

/// The name with the first number that is free.
fn free_name(keyspace: &Keyspace, table: &Table, name: &str) -> String {
    let is_free = |name: &String| keyspace.index(name).is_none() && table.index(name).is_none();
    (1u32..).map(|n| format!("{name}_{n}")).find(is_free).unwrap_or_else(|| name.to_string())
}
