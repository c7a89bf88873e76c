//! Tables that another dialect than CQL defines: how they change, and what is refused to everybody else.

use super::{changed, unchanged, with_table};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, TableAlteration, TargetKind};
use crate::fault::{ForeignFault, SchemaError};
use crate::foreign::{Foreign, ForeignStore, NewForeign};
use crate::name::FullName;
use crate::table::Table;
use std::sync::Arc;

/// The longest name that the DynamoDB API allows.
const NAME_CHARACTERS_MAX: usize = 255;

/// Gives ids to stores that are new; those that are not named any more are gone.
pub(super) fn adopt(new: &NewForeign, before: Option<&Foreign>, next_id: &mut u32) -> Foreign {
    let mut stores: Vec<ForeignStore> = Vec::with_capacity(new.stores.len());
    for store in &new.stores {
        let id = before.and_then(|before| before.store(&store.name)).map(|store| store.id);
        let id = id.unwrap_or_else(|| {
            *next_id += 1;
            *next_id - 1
        });
        stores.push(ForeignStore { name: store.name.clone(), id, window_seconds: store.window_seconds });
    }
    stores.sort_by(|a, b| a.name.cmp(&b.name));
    Foreign { definition: new.definition.clone(), stores }
}

pub(super) fn alter(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    new: &NewForeign,
) -> Result<Applied, SchemaError> {
    let missing = || SchemaError::TableMissing { keyspace: place.into(), table: name.into() };
    let keyspace = catalogue.keyspace(place).ok_or_else(missing)?;
    let before = keyspace.table(name).filter(|table| table.foreign.is_some()).ok_or_else(missing)?;
    let mut next_id = catalogue.next_table_id;
    let foreign = adopt(new, before.foreign.as_deref(), &mut next_id);
    let table = Table { foreign: Some(Arc::new(foreign)), ..Table::clone(before) };
    if table == **before {
        return Ok(unchanged(catalogue));
    }
    let mut next = with_table(catalogue, keyspace, table);
    next.next_table_id = next_id;
    Ok(changed(next, EffectKind::Updated, TargetKind::Table, place, name))
}

pub(super) fn drop(catalogue: &Catalogue, place: &str, name: &str) -> Result<Applied, SchemaError> {
    let missing = || SchemaError::TableMissing { keyspace: place.into(), table: name.into() };
    let keyspace = catalogue.keyspace(place).ok_or_else(missing)?;
    keyspace.table(name).filter(|table| table.foreign.is_some()).ok_or_else(missing)?;
    let mut keyspace = crate::keyspace::Keyspace::clone(keyspace);
    keyspace.tables.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Table, place, name))
}

pub(super) fn rename(
    catalogue: &Catalogue,
    place: &str,
    from: &str,
    to: &str,
) -> Result<Applied, SchemaError> {
    check_name(place, to)?;
    let missing = || SchemaError::TableMissing { keyspace: place.into(), table: from.into() };
    let keyspace = catalogue.keyspace(place).ok_or_else(missing)?;
    let table = keyspace.table(from).filter(|table| table.foreign.is_some()).ok_or_else(missing)?;
    if keyspace.table(to).is_some() {
        return Err(SchemaError::TableExists { keyspace: place.into(), table: to.into() });
    }
    let table = Table { name: to.into(), ..Table::clone(table) };
    let mut keyspace = crate::keyspace::Keyspace::clone(keyspace);
    keyspace.tables.remove(from);
    keyspace.tables.insert(table.name.clone(), Arc::new(table));
    let next = catalogue.with_keyspace(keyspace);
    // To drivers the new name is a new table; nobody has seen the old one.
    Ok(changed(next, EffectKind::Created, TargetKind::Table, place, to))
}

pub(super) fn take_stores(
    catalogue: &Catalogue,
    from: &(String, String),
    to: &(String, String),
    names: &[String],
) -> Result<Applied, SchemaError> {
    let find = |(place, name): &(String, String)| {
        let keyspace = catalogue.keyspace(place);
        let table =
            keyspace.and_then(|keyspace| keyspace.table(name)).filter(|table| table.foreign.is_some());
        table
            .cloned()
            .ok_or_else(|| SchemaError::TableMissing { keyspace: place.clone(), table: name.clone() })
    };
    let (giver, taker) = (find(from)?, find(to)?);
    let (Some(given), Some(taken)) = (&giver.foreign, &taker.foreign) else {
        return Err(ForeignFault::NoStores.into());
    };
    let (mut rest, mut more) = (Foreign::clone(given), Foreign::clone(taken));
    let (moved, kept): (Vec<_>, Vec<_>) =
        rest.stores.into_iter().partition(|store| names.contains(&store.name));
    rest.stores = kept;
    more.stores.extend(moved);
    more.stores.sort_by(|a, b| a.name.cmp(&b.name));
    let put = |catalogue: &Catalogue, table: &Table, foreign: Foreign| {
        let missing = || SchemaError::TableMissing {
            keyspace: table.keyspace.to_string(),
            table: table.name.to_string(),
        };
        let keyspace = catalogue.keyspace(&table.keyspace).ok_or_else(missing)?;
        let table = Table { foreign: Some(Arc::new(foreign)), ..table.clone() };
        Ok::<_, SchemaError>(with_table(catalogue, keyspace, table))
    };
    let next = put(catalogue, &giver, rest)?;
    let next = put(&next, &taker, more)?;
    Ok(changed(next, EffectKind::Updated, TargetKind::Table, &to.0, &to.1))
}

pub(super) fn check_name(place: &str, name: &str) -> Result<(), SchemaError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > NAME_CHARACTERS_MAX || !name.bytes().all(plain) {
        return Err(ForeignFault::NotAName { table: FullName::new(place, name) }.into());
    }
    Ok(())
}

/// ALTER TABLE may say whose rows are, and nothing else.
pub(super) fn refuse_alteration(table: &Table, alteration: &TableAlteration) -> Result<(), SchemaError> {
    match alteration {
        TableAlteration::With(properties) if properties.only(&["tenant", "tenant_limits"]).is_ok() => Ok(()),
        _ => refuse(table),
    }
}

/// Statements of CQL that would change such a table.
pub(super) fn refuse(table: &Table) -> Result<(), SchemaError> {
    match &table.foreign {
        None => Ok(()),
        Some(_) => Err(ForeignFault::OfDynamo { table: table.full_name() }.into()),
    }
}
