//! CREATE, ALTER and DROP TYPE, and what they mean for the tables and types that use the type.

use super::{changed, existing_keyspace, guard, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, TargetKind, TypeAlteration};
use crate::fault::{ColumnFault, Resource, SchemaError, TypeFault};
use crate::keyspace::Keyspace;
use crate::name::FullName;
use crate::table::Table;
use model::types::{DataType, TypeSizeError, UdtField, UdtType};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Words that Cassandra keeps for types it may have one day.
const RESERVED: [&str; 6] = ["bitstring", "byte", "complex", "enum", "interval", "macaddr"];

pub(super) fn create(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_not_exists: bool,
    fields: &[(String, DataType)],
) -> Result<Applied, SchemaError> {
    if RESERVED.contains(&name) {
        return Err(TypeFault::Reserved { name: name.to_string() }.into());
    }
    guard(place, "CREATE", || Resource::Keyspace)?;
    let before = existing_keyspace(catalogue, place)?;
    if before.types.contains_key(name) {
        return match if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TypeExists { keyspace: place.into(), name: name.into() }),
        };
    }
    let mut seen = HashSet::with_capacity(fields.len());
    for (field, data_type) in fields {
        if !seen.insert(field) {
            return Err(TypeFault::DuplicateField { field: field.to_string(), name: name.to_string() }.into());
        }
        check_field(data_type)?;
    }
    let fields =
        fields.iter().map(|(n, t)| UdtField { name: n.as_str().into(), data_type: t.clone() }).collect();
    let udt = UdtType { keyspace: place.into(), name: name.into(), fields, frozen: false };
    udt.check_size().map_err(|error| too_large(&udt, error))?;
    let mut keyspace = Keyspace::clone(before);
    keyspace.types.insert(udt.name.clone(), Arc::new(udt));
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Created, TargetKind::Type, place, name))
}

fn check_field(data_type: &DataType) -> Result<(), SchemaError> {
    match data_type {
        DataType::Counter => Err(TypeFault::Counter.into()),
        DataType::Udt(udt) if !udt.frozen => Err(TypeFault::NotFrozen.into()),
        _ => Ok(()),
    }
}

pub(super) fn alter(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
    alteration: &TypeAlteration,
) -> Result<Applied, SchemaError> {
    guard(place, "ALTER", || Resource::Keyspace)?;
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.types.get(name)?)));
    let Some((keyspace, before)) = found else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            // Without quotes, unlike DROP TYPE.
            false => Err(TypeFault::AlteredMissing { name: FullName::new(place, name) }.into()),
        };
    };
    let fields = match alteration {
        TypeAlteration::Add { if_not_exists, field, data_type } => {
            if before.field_index(field).is_some() {
                if *if_not_exists {
                    return Ok(unchanged(catalogue));
                }
                return Err(TypeFault::FieldExists {
                    field: field.to_string(),
                    name: FullName::new(place, name),
                }
                .into());
            }
            added(keyspace, before, field, data_type)?
        }
        TypeAlteration::Rename { if_exists, renames } => {
            let fields = renamed(before, *if_exists, renames)?;
            check_first_states(keyspace, name)?;
            fields
        }
    };
    if fields == *before.fields {
        return Ok(unchanged(catalogue));
    }
    let updated = UdtType { fields: fields.into(), ..UdtType::clone(before) };
    let next = catalogue.with_keyspace(propagate(keyspace, updated)?);
    Ok(changed(next, EffectKind::Updated, TargetKind::Type, place, name))
}

/// Refuses to rename fields that the first state of an aggregate names.
fn check_first_states(keyspace: &Keyspace, name: &str) -> Result<(), SchemaError> {
    let users = users_of(keyspace, name);
    let names_it = |text: &str| keyspace.type_named(text).is_some_and(|of| names_any(&of, &users));
    let aggregates = keyspace.aggregates.iter().filter(|a| a.initial.is_some() && names_it(&a.state_type));
    let named: Vec<String> = aggregates.map(|a| format!("{}.{}", keyspace.name, a.name)).collect();
    match named.is_empty() {
        true => Ok(()),
        false => {
            Err(TypeFault::InFirstState { name: FullName::new(&keyspace.name, name), aggregates: named }
                .into())
        }
    }
}

fn added(
    keyspace: &Keyspace,
    before: &UdtType,
    field: &str,
    data_type: &DataType,
) -> Result<Vec<UdtField>, SchemaError> {
    check_field(data_type)?;
    let (place, name) = (&before.keyspace, &before.name);
    let (field_name, full_name) = (field.to_string(), FullName::new(place, name));
    let users = users_of(keyspace, name);
    let uses = |data_type: &DataType| names_any(data_type, &users);
    if uses(data_type) {
        let data_type = data_type.clone();
        return Err(TypeFault::Circular { field: field_name, data_type, name: full_name }.into());
    }
    let in_key = |table: &&Arc<Table>| table.partition_key.iter().any(|column| uses(&column.data_type));
    let users: Vec<String> =
        keyspace.tables.values().filter(in_key).map(|table| format!("{place}.{}", table.name)).collect();
    if !users.is_empty() {
        let data_type = data_type.clone();
        let fault =
            TypeFault::InPartitionKey { field: field_name, data_type, name: full_name, tables: users };
        return Err(fault.into());
    }
    let new = UdtField { name: field.into(), data_type: data_type.clone() };
    Ok(before.fields.iter().cloned().chain([new]).collect())
}

/// All renames happen at once, so two fields can swap their names.
fn renamed(
    before: &UdtType,
    if_exists: bool,
    renames: &[(String, String)],
) -> Result<Vec<UdtField>, SchemaError> {
    let mut fields = before.fields.to_vec();
    let places: HashMap<&str, usize> = before.fields.iter().map(|field| &*field.name).zip(0..).collect();
    for (from, to) in renames {
        match places.get(from.as_str()).and_then(|at| fields.get_mut(*at)) {
            Some(field) => field.name = to.as_str().into(),
            None if if_exists => {}
            None => {
                return Err(TypeFault::FieldMissing {
                    field: from.to_string(),
                    name: FullName::new(&before.keyspace, &before.name),
                }
                .into());
            }
        }
    }
    let mut seen = HashSet::with_capacity(fields.len());
    for field in &fields {
        if !seen.insert(&field.name) {
            // Cassandra names the keyspace here, not the type.
            return Err(TypeFault::RenamedTwice {
                field: field.name.to_string(),
                keyspace: before.keyspace.to_string(),
            }
            .into());
        }
    }
    Ok(fields)
}

pub(super) fn drop(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
) -> Result<Applied, SchemaError> {
    guard(place, "DROP", || Resource::Keyspace)?;
    let Some(before) = catalogue.keyspace(place).filter(|keyspace| keyspace.types.contains_key(name)) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TypeMissing { keyspace: place.into(), name: name.into() }),
        };
    };
    let full_name = || FullName::new(place, name);
    let users = users_of(before, name);
    let types = before.types.keys().filter(|user| ***user != *name && users.contains(&***user));
    let using = |texts: Vec<&str>| {
        texts
            .iter()
            .any(|text| before.type_named(text).is_some_and(|data_type| names_any(&data_type, &users)))
    };
    let functions = before
        .functions
        .iter()
        .filter(|function| using(function.argument_types()) || using(vec![function.returns.as_str()]));
    let aggregates = before
        .aggregates
        .iter()
        .filter(|aggregate| using(aggregate.state_arguments()) || using(vec![aggregate.returns.as_str()]));
    let named = functions.map(|function| &function.name).chain(aggregates.map(|aggregate| &aggregate.name));
    let functions: Vec<String> = named.map(|name| format!("{place}.{name}")).collect();
    if !functions.is_empty() {
        return Err(TypeFault::UsedByFunctions { name: full_name(), functions }.into());
    }
    let types: Vec<String> = types.map(|user| user.to_string()).collect();
    if !types.is_empty() {
        return Err(TypeFault::UsedByTypes { name: full_name(), types }.into());
    }
    let in_table = |table: &&Arc<Table>| table.all_columns().any(|c| names_any(&c.data_type, &users));
    let tables = before.tables.values().filter(|table| table.view.is_none()).filter(in_table);
    let tables: Vec<String> = tables.map(|table| table.name.to_string()).collect();
    if !tables.is_empty() {
        return Err(TypeFault::UsedByTables { name: full_name(), tables }.into());
    }
    let mut keyspace = Keyspace::clone(before);
    keyspace.types.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Type, place, name))
}

fn too_large(udt: &UdtType, error: TypeSizeError) -> SchemaError {
    TypeFault::TooLarge { name: FullName::new(&udt.keyspace, &udt.name), error }.into()
}

/// The type and every type that holds it, directly or inside another.
fn users_of<'k>(keyspace: &'k Keyspace, name: &'k str) -> HashSet<&'k str> {
    let mut users = HashSet::from([name]);
    for udt in keyspace.types_by_dependency() {
        if udt.fields.iter().any(|field| names_any(&field.data_type, &users)) {
            users.insert(&udt.name);
        }
    }
    users
}

/// Whether the text of a type names one of these.
fn names_any(data_type: &DataType, names: &HashSet<&str>) -> bool {
    let mut found = false;
    data_type.for_each_named_udt(&mut |udt| found |= names.contains(&*udt.name));
    found
}

/// The keyspace with every use of a type brought up to date: each type that holds it is made anew once, behind those it is
/// made of.
fn propagate(keyspace: &Keyspace, updated: UdtType) -> Result<Keyspace, SchemaError> {
    let mut next = keyspace.clone();
    let users = users_of(keyspace, &updated.name);
    let mut fresh: HashMap<Arc<str>, Arc<UdtType>> = HashMap::new();
    for before in keyspace.types_by_dependency().into_iter().filter(|udt| users.contains(&*udt.name)) {
        let lookup = |udt: &UdtType| fresh.get(&udt.name).cloned();
        let udt = if before.name == updated.name {
            updated.clone()
        } else {
            let renew = |field: &UdtField| UdtField {
                name: field.name.clone(),
                data_type: field.data_type.with_udts(&lookup),
            };
            UdtType { fields: before.fields.iter().map(renew).collect(), ..UdtType::clone(before) }
        };
        // One that could not be used before, from an older server, is no reason to refuse.
        if before.check_size().is_ok() {
            udt.check_size().map_err(|error| too_large(&udt, error))?;
            let udt = Arc::new(udt);
            fresh.insert(udt.name.clone(), udt.clone());
            next.types.insert(udt.name.clone(), udt);
        } else {
            next.types.insert(udt.name.clone(), Arc::new(udt));
        }
    }
    let lookup = |udt: &UdtType| fresh.get(&udt.name).cloned();
    for table in next.tables.values_mut() {
        if !table.columns().any(|column| names_any(&column.data_type, &users)) {
            continue;
        }
        let mut renewed = Table::clone(table);
        for column in renewed.columns_mut() {
            let before = std::mem::replace(&mut column.data_type, DataType::Empty);
            column.data_type = before.with_udts(&lookup);
            if before.check_size().is_ok() {
                check_type_size(&column.name, &column.data_type)?;
            }
        }
        *table = Arc::new(renewed);
    }
    Ok(next)
}

/// Refuses a column whose type is too deep or too large.
pub(super) fn check_type_size(column: &str, data_type: &DataType) -> Result<(), ColumnFault> {
    data_type.check_size().map_err(|error| ColumnFault::TypeTooLarge { column: column.to_string(), error })
}
