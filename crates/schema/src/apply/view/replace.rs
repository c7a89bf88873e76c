//! REPLACE PROJECTION: a projection that is ready takes the name of another, in one change. Readers notice nothing but other rows in
//! another order.

use super::check_place;
use crate::apply::{changed, existing_keyspace};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, TargetKind};
use crate::fault::{ProjectionFault, SchemaError};
use crate::keyspace::Keyspace;
use crate::table::Table;
use std::sync::Arc;

pub(in crate::apply) fn replace(
    catalogue: &Catalogue,
    place: &str,
    base: &str,
    old: &str,
    new: &str,
) -> Result<Applied, SchemaError> {
    check_place(place)?;
    let keyspace = existing_keyspace(catalogue, place)?;
    let base = keyspace.table(base).filter(|table| table.view.is_none());
    let base = base.ok_or_else(|| ProjectionFault::ReplacedBaseMissing { place: place.to_string() })?;
    let (before, after) = (find(keyspace, base, old)?, find(keyspace, base, new)?);
    if before.id == after.id {
        return Err(ProjectionFault::ReplacesItself { projection: old.to_string() }.into());
    }
    let is_ready = after.view.as_ref().is_some_and(|view| view.built && view.disabled.is_none());
    if !is_ready {
        return Err(ProjectionFault::NotReady { new: new.to_string(), old: old.to_string() }.into());
    }
    let same =
        |a: &crate::column::Column, b: &crate::column::Column| a.name == b.name && a.data_type == b.data_type;
    if let Some(column) = before.columns().find(|column| !after.columns().any(|other| same(column, other))) {
        return Err(ProjectionFault::LacksColumn {
            new: new.to_string(),
            old: old.to_string(),
            column: column.name.to_string(),
            data_type: column.data_type.clone(),
        }
        .into());
    }
    let mut next = Keyspace::clone(keyspace);
    let taken = Table { name: before.name.clone(), ..Table::clone(after) };
    next.tables.remove(&after.name);
    next.tables.insert(taken.name.clone(), Arc::new(taken));
    let next = catalogue.with_keyspace(next);
    Ok(changed(next, EffectKind::Updated, TargetKind::Table, place, old))
}

fn find<'k>(keyspace: &'k Keyspace, base: &Table, name: &str) -> Result<&'k Arc<Table>, SchemaError> {
    let found = keyspace.views_of(base).find(|view| *view.name == *name);
    let found = found.filter(|view| view.view.as_ref().is_some_and(|view| view.projection.is_some()));
    found.ok_or_else(|| {
        ProjectionFault::Missing { table: base.name.to_string(), projection: name.to_string() }.into()
    })
}
