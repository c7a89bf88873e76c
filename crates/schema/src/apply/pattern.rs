//! CREATE, ALTER and DROP ACCESS PATTERN: stored with the keyspace; judged elsewhere.

use super::{changed, existing_keyspace, guard, unchanged};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewPattern, TargetKind};
use crate::fault::{Resource, SchemaError};
use crate::keyspace::Keyspace;
use crate::pattern::AccessPattern;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn create(catalogue: &Catalogue, new: &NewPattern) -> Result<Applied, SchemaError> {
    let NewPattern { keyspace: place, name, .. } = new;
    guard(place, "CREATE", || Resource::Keyspace)?;
    let before = existing_keyspace(catalogue, place)?;
    if before.patterns.contains_key(name.as_str()) {
        return match new.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::PatternExists { keyspace: place.clone(), name: name.clone() }),
        };
    }
    let pattern = AccessPattern {
        name: name.as_str().into(),
        statement: new.statement.clone(),
        settings: new.settings.clone(),
    };
    let mut keyspace = Keyspace::clone(before);
    keyspace.patterns.insert(pattern.name.clone(), Arc::new(pattern));
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Created, TargetKind::Pattern, place, name))
}

/// Replaces the statement, if one is given, and the named settings.
pub(super) fn alter(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
    (statement, settings): (Option<&String>, &BTreeMap<String, String>),
) -> Result<Applied, SchemaError> {
    guard(place, "ALTER", || Resource::Keyspace)?;
    let found = catalogue.keyspace(place).and_then(|k| k.patterns.get(name).map(|pattern| (k, pattern)));
    let Some((before, pattern)) = found else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::PatternMissing { keyspace: place.into(), name: name.into() }),
        };
    };
    let old = pattern;
    let mut pattern = AccessPattern::clone(old);
    if let Some(statement) = statement {
        pattern.statement.clone_from(statement);
    }
    pattern.settings.extend(settings.iter().map(|(name, value)| (name.clone(), value.clone())));
    if pattern == **old {
        return Ok(unchanged(catalogue));
    }
    let mut keyspace = Keyspace::clone(before);
    keyspace.patterns.insert(pattern.name.clone(), Arc::new(pattern));
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Updated, TargetKind::Pattern, place, name))
}

pub(super) fn drop(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
) -> Result<Applied, SchemaError> {
    guard(place, "DROP", || Resource::Keyspace)?;
    let Some(before) = catalogue.keyspace(place).filter(|k| k.patterns.contains_key(name)) else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(SchemaError::PatternMissing { keyspace: place.into(), name: name.into() }),
        };
    };
    let mut keyspace = Keyspace::clone(before);
    keyspace.patterns.remove(name);
    let next = catalogue.with_keyspace(keyspace);
    Ok(changed(next, EffectKind::Dropped, TargetKind::Pattern, place, name))
}
