//! CREATE, ALTER and DROP KEYSPACE.

use super::{changed, foreign, guard, is_word, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, Setting, TargetKind};
use crate::fault::{KeyspaceFault, NoEffect, ReplicationFault, Resource, SchemaError, SystemFault, Warning};
use crate::keyspace::{Keyspace, is_local_system_name};
use crate::options::{patterns, review, tenant::normalise};
use crate::properties::Properties;
use crate::replication;
use crate::tenant;

const KNOWN: [&str; 8] = [
    "durable_writes",
    "patterns",
    "patterns_allow",
    "replication",
    "review",
    "tablets",
    "tenant",
    "tenant_limits",
];
const NAME_CHARACTERS_MAX: usize = 48;

pub(super) fn create(
    catalogue: &Catalogue,
    name: &str,
    if_not_exists: bool,
    properties: &Properties,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    if is_local_system_name(name) {
        return Err(SystemFault::Keyspace { keyspace: name.to_string() }.into());
    }
    check_properties(properties)?;
    let missing = || KeyspaceFault::ReplicationMissing;
    let asked = properties.map("replication")?.ok_or_else(missing)?;
    check_name(name)?;
    if catalogue.keyspace(name).is_some() {
        return match if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::KeyspaceExists(name.into())),
        };
    }
    if asked.is_empty() {
        return Err(missing().into());
    }
    let (replication, mut warnings) = replication::normalise(name, asked, None, &setting.data_center)?;
    warnings.extend(tablets_warning(properties));
    let mut keyspace = Keyspace::new(name, replication);
    set_plain(&mut keyspace, properties)?;
    let next = catalogue.with_keyspace(keyspace);
    Ok(Applied { warnings, ..changed(next, EffectKind::Created, TargetKind::Keyspace, name, "") })
}

pub(super) fn alter(
    catalogue: &Catalogue,
    name: &str,
    if_exists: bool,
    properties: &Properties,
    setting: &Setting,
) -> Result<Applied, SchemaError> {
    if is_local_system_name(name) {
        return Err(SystemFault::Unmodifiable { keyspace: name.to_string() }.into());
    }
    check_properties(properties)?;
    let Some(before) = catalogue.keyspace(name) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::KeyspaceMissing(name.into())),
        };
    };
    let mut keyspace = Keyspace::clone(before);
    if let Some(asked) = properties.map("replication")?.filter(|map| !map.is_empty()) {
        let previous = Some(&before.replication);
        keyspace.replication = replication::normalise(name, asked, previous, &setting.data_center)?.0;
    }
    set_plain(&mut keyspace, properties)?;
    let mut warnings = replication::warnings(name, &keyspace.replication);
    warnings.extend(tablets_warning(properties));
    if keyspace == **before {
        return Ok(Applied { warnings, ..unchanged(catalogue) });
    }
    let next = catalogue.with_keyspace(keyspace);
    Ok(Applied { warnings, ..changed(next, EffectKind::Updated, TargetKind::Keyspace, name, "") })
}

pub(super) fn drop(catalogue: &Catalogue, name: &str, if_exists: bool) -> Result<Applied, SchemaError> {
    guard(name, "DROP", || Resource::Keyspace)?;
    if let Some(keyspace) = catalogue.keyspace(name) {
        keyspace.tables.values().try_for_each(|table| foreign::refuse(table))?;
    }
    let mut next = catalogue.clone();
    match next.keyspaces.remove(name) {
        Some(_) => Ok(changed(next, EffectKind::Dropped, TargetKind::Keyspace, name, "")),
        None if if_exists => Ok(unchanged(catalogue)),
        None => Err(SchemaError::KeyspaceMissing(name.into())),
    }
}

/// Everything about the properties that can be said without looking at the catalogue.
fn check_properties(properties: &Properties) -> Result<(), SchemaError> {
    properties.only(&KNOWN)?;
    // ScyllaDB's words for how rows are placed; nothing is kept of them.
    properties.map("tablets")?;
    match properties.map("replication")? {
        Some(map) if !map.is_empty() && !map.contains_key("class") => {
            Err(ReplicationFault::ClassMissing.into())
        }
        _ => Ok(()),
    }
}

/// What to tell about ScyllaDB's tablets, unless they are not wanted: then all is as asked.
fn tablets_warning(properties: &Properties) -> Option<Warning> {
    let tablets = properties.map("tablets").ok().flatten()?;
    let unwanted = tablets.get("enabled").is_some_and(|value| value.eq_ignore_ascii_case("false"));
    (!unwanted).then_some(Warning::NoEffect(NoEffect::Tablets))
}

fn set_plain(keyspace: &mut Keyspace, properties: &Properties) -> Result<(), SchemaError> {
    if let Some(durable) = properties.boolean("durable_writes")? {
        keyspace.durable_writes = durable;
    }
    if let Some(text) = properties.text("review")? {
        keyspace.review = review(text)?;
    }
    if let Some(text) = properties.text("patterns")? {
        keyspace.patterns_mode = patterns(text)?;
    }
    if let Some(text) = properties.text("patterns_allow")? {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        keyspace.patterns_allow = names.map(str::to_string).collect();
    }
    if let Some(map) = properties.map("tenant_limits")? {
        keyspace.tenant_limits = normalise(map)?;
    }
    if let Some(text) = properties.text(tenant::PROPERTY)? {
        let before = std::mem::replace(&mut keyspace.tenant, text.to_string());
        tenant::follow(keyspace, &before)?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), SchemaError> {
    if !is_word(name) {
        return Err(KeyspaceFault::NotAWord { keyspace: name.to_string() }.into());
    }
    if name.len() > NAME_CHARACTERS_MAX {
        return Err(KeyspaceFault::NameTooLong {
            characters_max: NAME_CHARACTERS_MAX,
            characters: name.len(),
            keyspace: name.to_string(),
        }
        .into());
    }
    Ok(())
}
