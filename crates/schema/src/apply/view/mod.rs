//! CREATE, ALTER and DROP MATERIALIZED VIEW, the word that a view has been built, and what happens to the views of a table
//! that changes.
//!
//! The order of the checks is Cassandra's: of several errors in a statement, the one that Cassandra would report is reported.

mod definition;
mod projection;
mod replace;
#[cfg(test)]
mod tests;
mod totals;

pub(super) use replace::replace;

use super::table_create::{check_name, table_uuid};
use super::{changed, existing_keyspace, foreign, guard, unchanged, with_table};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewView, Setting, TargetKind};
use crate::column::Column;
use crate::fault::{Resource, SchemaError, SystemFault, TableFault, ViewFault};
use crate::keyspace::{Keyspace, is_local_system_name};
use crate::name::FullName;
use crate::options::TableOptions;
use crate::properties::Properties;
use crate::table::Table;
use crate::tenant;
use std::sync::Arc;

pub(super) fn create(
    catalogue: &Catalogue,
    new: &NewView,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    let NewView { keyspace: place, name, base, .. } = new;
    guard(place, "ALTER", || Resource::Table(base.to_string()))?;
    let keyspace = existing_keyspace(catalogue, place)?;
    if new.base_keyspace != *place {
        return Err(ViewFault::OtherKeyspace.into());
    }
    let base = keyspace
        .table(base)
        .filter(|base| base.view.is_none())
        .ok_or_else(|| ViewFault::BaseMissing { base: base.to_string() })?;
    match keyspace.table(name) {
        Some(taken) if taken.view.is_none() => {
            return Err(ViewFault::NameOfTable { view: name.to_string() }.into());
        }
        Some(_) if new.if_not_exists => return Ok(unchanged(catalogue)),
        Some(_) => return Err(SchemaError::TableExists { keyspace: place.clone(), table: name.clone() }),
        None => {}
    }
    foreign::refuse(base)?;
    crate::bucketing::refuse_under_way(base)?;
    super::row_ttl::refuse_copies(base)?;
    if base.is_counter() {
        return Err(ViewFault::OfCounters.into());
    }
    if base.options.gc_grace_seconds == 0 {
        return Err(ViewFault::NoGrace { view: name.to_string(), base: base.name.to_string() }.into());
    }
    crate::bucketing::refuse_on_view(&new.properties)?;
    tenant::refuse_on_view(&new.properties)?;
    let projection = if new.is_projection { Some(projection::read(&new.properties)?) } else { None };
    let mut table = definition::table(base, new, projection)?;
    let options = TableOptions::read_new(&match new.is_projection {
        true => new.properties.without(&projection::NAMES),
        false => new.properties.clone(),
    })?;
    if options.default_time_to_live != 0 {
        return Err(ViewFault::Ttl.into());
    }
    table.options = options.checked()?;
    table.options.tenant = base.options.tenant.clone();
    projection::check_later(base, &table)?;
    let mut next_id = catalogue.next_table_id;
    let projection = table.view.as_mut().and_then(|view| view.projection.as_mut());
    if let Some(later) = projection.and_then(|projection| projection.later.as_mut()) {
        (later.pending, later.places) = (next_id, next_id + 1);
        next_id += 2;
    }
    if let Some(totals) = totals::of_mut(&mut table) {
        totals.members = next_id;
        next_id += 1;
    }
    table.id = next_id;
    table.uuid = table_uuid(catalogue, &new.properties, table.id, setting)?;
    check_name(place, name)?;
    let mut next = with_table(catalogue, keyspace, table);
    next.next_table_id = next_id + 1;
    Ok(changed(next, EffectKind::Created, TargetKind::Table, place, name))
}

pub(super) fn alter(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
    properties: &Properties,
) -> Result<Applied, SchemaError> {
    check_place(place)?;
    let Some((keyspace, before)) = find(catalogue, place, name) else {
        return if if_exists { Ok(unchanged(catalogue)) } else { Err(missing(place, name)) };
    };
    if properties.has("id") {
        return Err(TableFault::IdAltered.into());
    }
    let mut table = Table::clone(before);
    crate::bucketing::refuse_on_view(properties)?;
    tenant::refuse_on_view(properties)?;
    table.options = table.options.with(properties)?;
    if table.options.gc_grace_seconds == 0 {
        return Err(ViewFault::GraceAltered.into());
    }
    if table.options.default_time_to_live > 0 {
        return Err(ViewFault::TtlAltered.into());
    }
    projection::check_limit(&table)?;
    if table == **before {
        return Ok(unchanged(catalogue));
    }
    let next = with_table(catalogue, keyspace, table);
    Ok(changed(next, EffectKind::Updated, TargetKind::Table, place, name))
}

pub(super) fn drop(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
) -> Result<Applied, SchemaError> {
    check_place(place)?;
    let Some((keyspace, _)) = find(catalogue, place, name) else {
        return if if_exists { Ok(unchanged(catalogue)) } else { Err(missing(place, name)) };
    };
    let mut keyspace = keyspace.clone();
    keyspace.tables.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Table, place, name))
}

pub(super) fn built(catalogue: &Catalogue, place: &str, id: u32) -> Applied {
    let unbuilt = |table: &&Arc<Table>| table.id == id && table.view.as_ref().is_some_and(|view| !view.built);
    let found = catalogue
        .keyspace(place)
        .and_then(|keyspace| Some((keyspace, keyspace.tables.values().find(unbuilt)?)));
    let Some((keyspace, table)) = found else { return unchanged(catalogue) };
    let mut next = Table::clone(table);
    next.view.iter_mut().for_each(|view| view.built = true);
    // What drivers know of a view does not tell whether it is built, so the version stays.
    Applied { catalogue: with_table(catalogue, keyspace, next), effect: None, warnings: Vec::new() }
}

fn find<'c>(catalogue: &'c Catalogue, place: &str, name: &str) -> Option<(&'c Keyspace, &'c Arc<Table>)> {
    let keyspace = catalogue.keyspace(place)?;
    Some((keyspace, keyspace.table(name).filter(|table| table.view.is_some())?))
}

/// Refuses to look for views where only the server's tables are.
fn check_place(place: &str) -> Result<(), SchemaError> {
    match is_local_system_name(place) {
        true => Err(SystemFault::Keyspace { keyspace: place.to_string() }.into()),
        false => Ok(()),
    }
}

fn missing(place: &str, name: &str) -> SchemaError {
    ViewFault::Missing { view: FullName::new(place, name) }.into()
}

/// What ALTER TABLE must not do to a table with views.
pub(super) fn check_altered(keyspace: &Keyspace, before: &Table, after: &Table) -> Result<(), SchemaError> {
    if keyspace.views_of(before).next().is_none() {
        return Ok(());
    }
    let gone = |column: &&Column| !after.columns().any(|other| other.id == column.id);
    if let Some(column) = before.columns().find(gone) {
        return Err(ViewFault::ColumnDropped {
            column: column.name.to_string(),
            base: before.name.to_string(),
        }
        .into());
    }
    if after.options.gc_grace_seconds == 0 {
        return Err(ViewFault::GraceOfBase.into());
    }
    keyspace.views_of(before).try_for_each(|view| totals::check_altered(view, before, after))
}

/// The views of a table after it has changed: columns have the names and masks of the base, and those that select all have
/// its new columns.
pub(super) fn follow(keyspace: &Keyspace, before: &Table, after: &Table) -> Vec<Table> {
    keyspace.views_of(before).map(|view| follow_one(view, before, after)).collect()
}

fn follow_one(view: &Table, before: &Table, after: &Table) -> Table {
    let mut next = view.clone();
    if next.totals().is_none() {
        next.next_column_id = after.next_column_id;
    }
    next.options.tenant = after.options.tenant.clone();
    let has_totals = next.totals().is_some();
    let Table { partition_key, clustering, regulars, .. } = &mut next;
    // Totals are columns of their own, with numbers of their own.
    let regulars = regulars.iter_mut().filter(|_| !has_totals);
    for column in partition_key.iter_mut().chain(clustering).chain(regulars) {
        if let Some(base) = after.columns().find(|base| base.id == column.id) {
            column.name = base.name.clone();
            column.mask = base.mask.clone();
        }
    }
    let Some(definition) = &mut next.view else { return next };
    for name in definition.restrictions.iter_mut().flat_map(|restriction| &mut restriction.columns) {
        let id = before.column(name).map(|column| column.id);
        if let Some(renamed) = after.columns().find(|column| Some(column.id) == id) {
            *name = renamed.name.clone();
        }
    }
    if definition.include_all_columns {
        let new = after.regulars.iter().filter(|column| column.id >= before.next_column_id);
        next.regulars.extend(new.cloned());
        next.regulars.sort_by(|a, b| a.name.cmp(&b.name));
    }
    next
}
