//! CREATE, ALTER and DROP TYPE, and what they mean for the tables and types that use the type.

use super::{changed, existing_keyspace, guard, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, TargetKind, TypeAlteration};
use crate::column::Column;
use crate::error::SchemaError;
use crate::keyspace::Keyspace;
use crate::table::Table;
use model::types::{DataType, UdtField, UdtType};
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
        return Err(SchemaError::Syntax(format!("Invalid (reserved) user type name {name}")));
    }
    guard(place, "CREATE", || format!("keyspace {place}"))?;
    let before = existing_keyspace(catalogue, place)?;
    if before.types.contains_key(name) {
        return match if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TypeExists { keyspace: place.into(), name: name.into() }),
        };
    }
    for (at, (field, data_type)) in fields.iter().enumerate() {
        if fields[..at].iter().any(|(earlier, _)| earlier == field) {
            return Err(SchemaError::Invalid(format!("Duplicate field name '{field}' in type '{name}'")));
        }
        check_field(data_type)?;
    }
    let fields =
        fields.iter().map(|(n, t)| UdtField { name: n.as_str().into(), data_type: t.clone() }).collect();
    let udt = UdtType { keyspace: place.into(), name: name.into(), fields, frozen: false };
    let mut keyspace = Keyspace::clone(before);
    keyspace.types.insert(udt.name.clone(), Arc::new(udt));
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Created, TargetKind::Type, place, name))
}

fn check_field(data_type: &DataType) -> Result<(), SchemaError> {
    match data_type {
        DataType::Counter => Err(SchemaError::invalid("A user type cannot contain counters")),
        DataType::Udt(udt) if !udt.frozen => {
            Err(SchemaError::invalid("A user type cannot contain non-frozen UDTs"))
        }
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
    guard(place, "ALTER", || format!("keyspace {place}"))?;
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.types.get(name)?)));
    let Some((keyspace, before)) = found else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            // Without quotes, unlike DROP TYPE.
            false => Err(SchemaError::Invalid(format!("Type {place}.{name} doesn't exist"))),
        };
    };
    let fields = match alteration {
        TypeAlteration::Add { if_not_exists, field, data_type } => {
            if before.field_index(field).is_some() {
                if *if_not_exists {
                    return Ok(unchanged(catalogue));
                }
                return Err(SchemaError::Invalid(format!(
                    "Cannot add field {field} to type {place}.{name}: a field with name {field} already exists"
                )));
            }
            added(keyspace, before, field, data_type)?
        }
        TypeAlteration::Rename { if_exists, renames } => renamed(before, *if_exists, renames)?,
    };
    if fields == *before.fields {
        return Ok(unchanged(catalogue));
    }
    let updated = UdtType { fields: fields.into(), ..UdtType::clone(before) };
    let next = catalogue.with_keyspace(propagate(keyspace, updated));
    Ok(changed(next, EffectKind::Updated, TargetKind::Type, place, name))
}

fn added(
    keyspace: &Keyspace,
    before: &UdtType,
    field: &str,
    data_type: &DataType,
) -> Result<Vec<UdtField>, SchemaError> {
    check_field(data_type)?;
    let (place, name) = (&before.keyspace, &before.name);
    let refusal = |reason: &str| {
        let written = qualified(data_type);
        SchemaError::Invalid(format!(
            "Cannot add new field {field} of type {written} to user type {place}.{name} as {reason}"
        ))
    };
    if data_type.references_udt(place, name) {
        return Err(refusal("it would create a circular reference"));
    }
    let in_key = |table: &&Arc<Table>| {
        table.partition_key.iter().any(|column| column.data_type.references_udt(place, name))
    };
    let users: Vec<String> =
        keyspace.tables.values().filter(in_key).map(|table| format!("{place}.{}", table.name)).collect();
    if !users.is_empty() {
        return Err(refusal(&format!(
            "the type is being used in partition key by the following tables: {}",
            users.join(", ")
        )));
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
    for (from, to) in renames {
        match before.field_index(from).and_then(|at| fields.get_mut(at)) {
            Some(field) => field.name = to.as_str().into(),
            None if if_exists => {}
            None => {
                return Err(SchemaError::Invalid(format!(
                    "Unkown field {from} in user type {}.{}",
                    before.keyspace, before.name
                )));
            }
        }
    }
    for (at, field) in fields.iter().enumerate() {
        if fields[..at].iter().any(|earlier| earlier.name == field.name) {
            // Cassandra names the keyspace here, not the type.
            return Err(SchemaError::Invalid(format!(
                "Duplicate field name {} in type {}",
                field.name, before.keyspace
            )));
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
    guard(place, "DROP", || format!("keyspace {place}"))?;
    let Some(before) = catalogue.keyspace(place).filter(|keyspace| keyspace.types.contains_key(name)) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::TypeMissing { keyspace: place.into(), name: name.into() }),
        };
    };
    let refusal = |users: &str, names: Vec<String>| match names.is_empty() {
        true => Ok(()),
        false => Err(SchemaError::Invalid(format!(
            "Cannot drop user type '{place}.{name}' as it is still used by {users} {}",
            names.join(", ")
        ))),
    };
    let in_type = |udt: &&Arc<UdtType>| udt.fields.iter().any(|f| f.data_type.references_udt(place, name));
    let types = before.types.values().filter(in_type).map(|udt| udt.name.to_string());
    refusal("user types", types.collect())?;
    let in_table = |table: &&Arc<Table>| table.columns().any(|c| c.data_type.references_udt(place, name));
    let tables = before
        .tables
        .values()
        .filter(|table| table.view.is_none())
        .filter(in_table)
        .map(|table| table.name.to_string());
    refusal("tables", tables.collect())?;
    let mut keyspace = Keyspace::clone(before);
    keyspace.types.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Type, place, name))
}

/// The keyspace with every use of a type brought up to date.
fn propagate(keyspace: &Keyspace, updated: UdtType) -> Keyspace {
    let mut next = keyspace.clone();
    next.types.insert(updated.name.clone(), Arc::new(updated.clone()));
    for udt in next.types.values_mut() {
        let uses = udt.fields.iter().any(|f| f.data_type.references_udt(&updated.keyspace, &updated.name));
        if uses {
            let fresh = |field: &UdtField| UdtField {
                name: field.name.clone(),
                data_type: field.data_type.with_updated_udt(&updated),
            };
            *udt =
                Arc::new(UdtType { fields: udt.fields.iter().map(fresh).collect(), ..UdtType::clone(udt) });
        }
    }
    for table in next.tables.values_mut() {
        if table.columns().any(|c| c.data_type.references_udt(&updated.keyspace, &updated.name)) {
            let mut fresh = Table::clone(table);
            let renew = |column: &mut Column| column.data_type = column.data_type.with_updated_udt(&updated);
            fresh.partition_key.iter_mut().for_each(renew);
            fresh.clustering.iter_mut().for_each(renew);
            fresh.statics.iter_mut().for_each(renew);
            fresh.regulars.iter_mut().for_each(renew);
            *table = Arc::new(fresh);
        }
    }
    next
}

/// The type's text with user-defined types named in full, as ALTER TYPE says it.
fn qualified(data_type: &DataType) -> String {
    let frozen = |frozen: bool, text: String| if frozen { format!("frozen<{text}>") } else { text };
    match data_type {
        DataType::Udt(udt) => frozen(udt.frozen, format!("{}.{}", udt.keyspace, udt.name)),
        DataType::List { element, frozen: flag } => frozen(*flag, format!("list<{}>", qualified(element))),
        DataType::Set { element, frozen: flag } => frozen(*flag, format!("set<{}>", qualified(element))),
        DataType::Map { key, value, frozen: flag } => {
            frozen(*flag, format!("map<{}, {}>", qualified(key), qualified(value)))
        }
        DataType::Tuple(components) => {
            let inside: Vec<String> = components.iter().map(qualified).collect();
            format!("frozen<tuple<{}>>", inside.join(", "))
        }
        DataType::Vector { element, dimensions } => format!("vector<{}, {dimensions}>", qualified(element)),
        other => other.to_string(),
    }
}
