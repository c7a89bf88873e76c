//! ALTER TABLE, DROP TABLE and TRUNCATE.

use super::compatible::{expand_udts, is_readable_as};
use super::index::check_unindexed;
use super::table_create::{
    check_column_count, check_counter_ttl, is_unsupported_udt, push_column, sort_columns,
    statics_need_clustering,
};
use super::types::check_type_size;
use super::{changed, constraint, foreign, guard, row_ttl, unchanged, view};
use crate::bucketing;
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewColumn, Setting, TableAlteration, TargetKind};
use crate::column::{ColumnKind, DroppedColumn};
use crate::compact::Compact;
use crate::fault::{
    BucketingFault, ColumnFault, CompactFault, IndexFault, Resource, SchemaError, TableFault, ViewFault,
};
use crate::keyspace::Keyspace;
use crate::options::elsewhere;
use crate::properties::Properties;
use crate::table::Table;
use crate::tenant;
use model::types::DataType;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) fn alter(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
    alteration: &TableAlteration,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    guard(place, "ALTER", || Resource::Table(name.to_string()))?;
    let Some((keyspace, before)) = find(catalogue, place, name) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TableMissing { keyspace: place.into(), table: name.into() }),
        };
    };
    if before.view.is_some() {
        return Err(ViewFault::AlteredAsTable.into());
    }
    foreign::refuse_alteration(before, alteration)?;
    let mut table = Table::clone(before);
    let mut next_id = catalogue.next_table_id;
    match alteration {
        TableAlteration::Add { if_not_exists, columns } => {
            add(&mut table, *if_not_exists, columns)?;
            row_ttl::adopt(&mut table, columns)?;
            constraint::check_table(&table)?;
        }
        TableAlteration::Drop { if_exists, columns, timestamp } => {
            drop_columns(&mut table, *if_exists, columns, timestamp.unwrap_or(setting.now_micros))?
        }
        TableAlteration::Rename { renames } => rename(&mut table, renames)?,
        TableAlteration::RowTtl(column) => row_ttl::set(&mut table, column.as_deref())?,
        TableAlteration::DropCompactStorage if before.compact.is_none() => {
            return Err(CompactFault::NotCompact.into());
        }
        // What was hidden is seen from now on; nothing that is stored changes.
        TableAlteration::DropCompactStorage => table.compact = None,
        TableAlteration::Mask { if_exists, column, mask } => set_mask(&mut table, *if_exists, column, mask)?,
        TableAlteration::Check { if_exists, column, checks } => {
            constraint::set(&mut table, *if_exists, column, checks)?
        }
        TableAlteration::With(properties) => {
            if properties.has("id") {
                return Err(TableFault::IdAltered.into());
            }
            table.options = table.options.with(properties)?;
            match properties.has("bucketing") {
                true => next_id = rebucket(keyspace, &mut table, properties, next_id)?,
                false => set_retention(&mut table, properties)?,
            }
            check_counter_ttl(&table)?;
            bucketing::check_limit(&table)?;
        }
    }
    tenant::adopt(keyspace, &mut table)?;
    let (warnings, foreign_words) = match alteration {
        TableAlteration::With(properties) => {
            (elsewhere::warnings(properties), elsewhere::names().iter().any(|name| properties.has(name)))
        }
        _ => (Vec::new(), false),
    };
    bucketing::check_under_way(&table)?;
    row_ttl::check_altered(keyspace, &table)?;
    if table == *before && !foreign_words {
        return Ok(unchanged(catalogue));
    }
    view::check_altered(keyspace, before, &table)?;
    let views = view::follow(keyspace, before, &table);
    let noted = match alteration {
        TableAlteration::Rename { renames } => keyspace.with_renamed_columns(name, renames),
        _ => keyspace.clone(),
    };
    let mut next = with_tables(catalogue, &noted, views.into_iter().chain([table]));
    next.next_table_id = next_id;
    Ok(Applied { warnings, ..changed(next, EffectKind::Updated, TargetKind::Table, place, name) })
}

/// Puts a table on its way to another plan; the next free id.
fn rebucket(
    keyspace: &Keyspace,
    table: &mut Table,
    properties: &Properties,
    next_id: u32,
) -> Result<u32, SchemaError> {
    if let Some(view) = keyspace.views_of(table).next() {
        return Err(BucketingFault::HasView { table: table.full_name(), view: view.name.to_string() }.into());
    }
    match bucketing::begin(table, properties, next_id)? {
        Some(next_id) if table.rebucketing().is_some() => Ok(next_id),
        next => set_retention(table, properties).map(|()| next.unwrap_or(next_id)),
    }
}

fn set_retention(table: &mut Table, properties: &Properties) -> Result<(), SchemaError> {
    let Some(text) = properties.text("retention")? else { return Ok(()) };
    let time = table.bucketing().and_then(|plan| plan.time.as_ref());
    let seconds = bucketing::retention(text, time)?;
    let next = table.rebucketing().and_then(|next| next.plan.as_ref());
    if let Some(plan) = next {
        bucketing::retention(text, plan.time.as_ref())?;
    }
    let next = table.options.rebucketing.as_mut().and_then(|next| next.plan.as_mut());
    for plan in table.options.bucketing.iter_mut().chain(next) {
        plan.retention_seconds = seconds;
    }
    Ok(())
}

/// The rows of a table have moved: from now on it is its next generation.
pub(super) fn rebucketed(catalogue: &Catalogue, place: &str, name: &str, id: u32) -> Applied {
    let found = find(catalogue, place, name);
    let found = found.filter(|(_, table)| table.rebucketing().is_some_and(|next| next.id == id));
    let next = found.and_then(|(keyspace, table)| Some((keyspace, table.next_generation()?)));
    let Some((keyspace, table)) = next else { return unchanged(catalogue) };
    let next = with_tables(catalogue, keyspace, std::iter::once(table));
    changed(next, EffectKind::Updated, TargetKind::Table, place, name)
}

/// The table stays as it is. Clients have never seen what it was on its way to.
pub(super) fn stop_rebucketing(catalogue: &Catalogue, place: &str, name: &str, id: u32) -> Applied {
    let found = find(catalogue, place, name);
    let found = found.filter(|(_, table)| table.rebucketing().is_some_and(|next| next.id == id));
    let Some((keyspace, table)) = found else { return unchanged(catalogue) };
    let mut table = Table::clone(table);
    table.options.rebucketing = None;
    let catalogue = with_tables(catalogue, keyspace, std::iter::once(table));
    Applied { catalogue, effect: None, warnings: Vec::new() }
}

pub(super) fn drop_table(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
) -> Result<Applied, SchemaError> {
    guard(place, "DROP", || Resource::Table(name.to_string()))?;
    let Some((keyspace, table)) = find(catalogue, place, name) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TableMissing { keyspace: place.into(), table: name.into() }),
        };
    };
    if table.view.is_some() {
        return Err(ViewFault::DroppedAsTable.into());
    }
    foreign::refuse(table)?;
    let views: Vec<String> = keyspace.views_of(table).map(|view| view.name.to_string()).collect();
    if !views.is_empty() {
        // Cassandra shows the keyspace where it means the views.
        return Err(ViewFault::StillThere { keyspace: place.to_string(), views }.into());
    }
    let mut keyspace = keyspace.clone();
    keyspace.tables.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Table, place, name))
}

/// The next incarnation of a table; nobody needs to be told.
pub(super) fn truncate(catalogue: &Catalogue, place: &str, name: &str) -> Result<Applied, SchemaError> {
    if catalogue.keyspace(place).is_none() {
        return Err(TableFault::TruncatedKeyspaceMissing { keyspace: place.to_string() }.into());
    }
    let (keyspace, before) = find(catalogue, place, name)
        .ok_or_else(|| TableFault::TruncatedMissing { table: name.to_string() })?;
    if before.is_virtual() {
        return Err(TableFault::NotTruncatable { table: before.full_name() }.into());
    }
    if before.view.is_some() {
        return Err(ViewFault::Truncated.into());
    }
    foreign::refuse(before)?;
    let views = keyspace.views_of(before).map(|view| Table::clone(view));
    let truncated = views.chain([before.clone()]).map(|mut table| {
        table.incarnation += 1;
        table
    });
    let next = with_tables(catalogue, keyspace, truncated);
    Ok(Applied { catalogue: next, effect: None, warnings: Vec::new() })
}

/// The catalogue with these tables of the keyspace put in place of their namesakes.
fn with_tables(catalogue: &Catalogue, keyspace: &Keyspace, tables: impl Iterator<Item = Table>) -> Catalogue {
    let mut keyspace = keyspace.clone();
    for table in tables {
        keyspace.tables.insert(table.name.clone(), Arc::new(table));
    }
    catalogue.with_keyspace(keyspace)
}

fn find<'a>(catalogue: &'a Catalogue, place: &str, name: &str) -> Option<(&'a Keyspace, &'a Table)> {
    let keyspace = catalogue.keyspace(place)?;
    Some((keyspace, keyspace.table(name)?))
}

fn add(table: &mut Table, if_not_exists: bool, columns: &[NewColumn]) -> Result<(), SchemaError> {
    if table.compact.is_some() {
        return Err(CompactFault::ColumnAdded.into());
    }
    let was_counter = table.is_counter();
    let was_empty = table.statics.is_empty() && table.regulars.is_empty();
    let mut is_counter = was_counter;
    let mut new: Vec<&NewColumn> = Vec::with_capacity(columns.len());
    let mut names: HashSet<&str> = HashSet::with_capacity(columns.len());
    let dropped: HashMap<Arc<str>, DroppedColumn> =
        table.dropped.iter().map(|dropped| (dropped.name.clone(), dropped.clone())).collect();
    let mut count = table.columns().count();
    for column in columns {
        let name = &column.name;
        if table.column(name).is_some() || names.contains(name.as_str()) {
            if if_not_exists {
                continue;
            }
            return Err(ColumnFault::Exists { column: name.to_string() }.into());
        }
        if column.is_static && table.clustering.is_empty() {
            return Err(statics_need_clustering());
        }
        if column.is_static && table.bucketing().is_some() {
            return Err(bucketing::static_in_buckets(name));
        }
        if let Some(dropped) = dropped.get(name.as_str()) {
            check_returning(dropped, column)?;
        }
        if is_unsupported_udt(&column.data_type) {
            return Err(ColumnFault::NestedCollections { column: name.to_string() }.into());
        }
        let counter = column.data_type == DataType::Counter;
        if counter && !was_counter && !was_empty {
            return Err(ColumnFault::CounterAmongOthers {
                table: table.full_name(),
                column: name.to_string(),
            }
            .into());
        }
        if !counter && is_counter {
            return Err(ColumnFault::OtherAmongCounters {
                table: table.full_name(),
                column: name.to_string(),
            }
            .into());
        }
        check_type_size(name, &column.data_type)?;
        count += 1;
        check_column_count(&table.name, count)?;
        is_counter |= counter;
        names.insert(name);
        new.push(column);
    }
    for column in new {
        let kind = if column.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        push_column(table, column, kind);
    }
    sort_columns(table);
    // A table whose only columns were key columns may just have become one that mixes counters with others.
    let counters = table.statics.iter().chain(&table.regulars).filter(|c| c.data_type == DataType::Counter);
    let count = counters.count();
    if count != 0 && count != table.statics.len() + table.regulars.len() {
        return Err(ColumnFault::CounterAmongOthers {
            table: table.full_name(),
            column: columns.first().map_or("", |column| &column.name).to_string(),
        }
        .into());
    }
    check_counter_ttl(table)
}

/// A column may come back under its old name only if old cells would have been readable. (Ours would not see them in
/// any case: the column gets a new id. The rule is kept so that a schema that works here works on Cassandra.)
fn check_returning(dropped: &DroppedColumn, new: &NewColumn) -> Result<(), SchemaError> {
    let name = &new.name;
    let kind = |is_static: bool| if is_static { "STATIC" } else { "REGULAR" };
    if dropped.data_type == DataType::Counter {
        return Err(ColumnFault::CounterReturns { column: name.to_string() }.into());
    }
    if !is_readable_as(&dropped.data_type, &new.data_type) {
        return Err(ColumnFault::ReturnsAsType {
            column: name.to_string(),
            data_type: new.data_type.clone(),
            before: dropped.data_type.clone(),
        }
        .into());
    }
    if dropped.is_static != new.is_static {
        return Err(ColumnFault::ReturnsAsKind {
            column: name.to_string(),
            kind: kind(new.is_static),
            before: kind(dropped.is_static),
        }
        .into());
    }
    Ok(())
}

fn drop_columns(
    table: &mut Table,
    if_exists: bool,
    names: &[String],
    dropped_at: i64,
) -> Result<(), SchemaError> {
    let mut gone: HashMap<Arc<str>, DroppedColumn> = HashMap::with_capacity(names.len());
    for name in names {
        let hidden_key = table.clustering.iter().find(|column| *column.name == **name);
        let Some(column) = table.column(name).or(hidden_key) else {
            if if_exists {
                continue;
            }
            return Err(ColumnFault::NotFound { column: name.to_string(), table: table.full_name() }.into());
        };
        if column.kind.is_primary_key() {
            return Err(ColumnFault::KeyDropped { column: name.to_string() }.into());
        }
        if let DataType::Udt(udt) = &column.data_type
            && !udt.frozen
        {
            return Err(
                ColumnFault::UdtDropped { column: name.to_string(), udt: udt.name.to_string() }.into()
            );
        }
        if matches!(table.compact, Some(Compact::Dense | Compact::Keys)) {
            return Err(
                CompactFault::ColumnDropped { column: name.to_string(), table: table.full_name() }.into()
            );
        }
        row_ttl::check_dropped(table, column)?;
        check_unindexed(table, name, |column, indexes| IndexFault::DropsColumn { column, indexes })?;
        let dropped = DroppedColumn {
            name: column.name.clone(),
            data_type: expand_udts(&column.data_type),
            is_static: column.kind == ColumnKind::Static,
            dropped_at,
        };
        gone.insert(column.name.clone(), dropped);
    }
    table.statics.retain(|column| !gone.contains_key(&column.name));
    table.regulars.retain(|column| !gone.contains_key(&column.name));
    table.dropped.retain(|earlier| !gone.contains_key(&earlier.name));
    // In the order of the statement.
    table.dropped.extend(names.iter().filter_map(|name| gone.remove(name.as_str())));
    Ok(())
}

fn rename(table: &mut Table, renames: &[(String, String)]) -> Result<(), SchemaError> {
    for (from, to) in renames {
        let column = table
            .column(from)
            .ok_or_else(|| ColumnFault::Undefined { column: from.to_string(), table: table.full_name() })?;
        let kind = column.kind;
        if !kind.is_primary_key() {
            return Err(ColumnFault::OtherRenamed { column: from.to_string() }.into());
        }
        if table.all_columns().any(|column| *column.name == **to) {
            return Err(ColumnFault::RenameTaken {
                from: from.to_string(),
                to: to.to_string(),
                table: table.full_name(),
            }
            .into());
        }
        check_unindexed(table, from, |column, indexes| IndexFault::RenamesColumn { column, indexes })?;
        let columns =
            if kind == ColumnKind::PartitionKey { &mut table.partition_key } else { &mut table.clustering };
        for column in columns.iter_mut().filter(|column| *column.name == **from) {
            column.name = to.as_str().into();
        }
        if table.options.tenant == *from {
            table.options.tenant = to.clone();
        }
    }
    Ok(())
}

fn set_mask(
    table: &mut Table,
    if_exists: bool,
    name: &str,
    mask: &Option<String>,
) -> Result<(), SchemaError> {
    if let Some(column) = table.columns_mut().find(|column| *column.name == *name) {
        column.mask = mask.clone();
        return Ok(());
    }
    if if_exists {
        return Ok(());
    }
    Err(ColumnFault::MaskedMissing { column: name.to_string(), table: table.name.to_string() }.into())
}
