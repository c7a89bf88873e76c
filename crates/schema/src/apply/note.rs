//! COMMENT ON and SECURITY LABEL ON.

use super::{changed, guard};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewNote, TargetKind};
use crate::error::SchemaError;
use crate::keyspace::Keyspace;
use crate::note::{NoteKind, NoteTarget};
use crate::table::Table;
use std::sync::Arc;

pub(super) fn set(catalogue: &Catalogue, note: &NewNote) -> Result<Applied, SchemaError> {
    let place = note.keyspace.as_str();
    guard(place, "ALTER", || format!("keyspace {place}"))?;
    let missing = |what: &str, name: &str| SchemaError::Invalid(format!("{what} '{name}' doesn't exist"));
    let before = catalogue.keyspace(place).ok_or_else(|| missing("Keyspace", place))?;
    if note.text.as_deref() == Some("") {
        let what = if note.kind == NoteKind::Comment { "comment" } else { "security label" };
        return Err(SchemaError::Invalid(format!("Cannot set {what} to empty string")));
    }
    check_target(before, &note.target)?;
    let mut keyspace = Keyspace::clone(before);
    match (&note.target, note.kind) {
        (NoteTarget::Table(name), NoteKind::Comment) => {
            if let Some(table) = keyspace.tables.get_mut(name.as_str()) {
                let mut changed = Table::clone(table);
                changed.options.comment = note.text.clone().unwrap_or_default();
                *table = Arc::new(changed);
            }
        }
        (target, kind) => keyspace.set_note(target, kind, note.text.as_deref()),
    }
    let (kind, name) = match &note.target {
        NoteTarget::Keyspace => (TargetKind::Keyspace, ""),
        NoteTarget::Table(name) | NoteTarget::Column(name, _) => (TargetKind::Table, name.as_str()),
        NoteTarget::Type(name) | NoteTarget::Field(name, _) => (TargetKind::Type, name.as_str()),
    };
    let mut applied = changed(catalogue.with_keyspace(keyspace), EffectKind::Updated, kind, place, name);
    if let Some(provider) = &note.provider {
        applied.warnings.push(format!(
            "Provider functionality not implemented. Provider '{provider}' will not be loaded or invoked."
        ));
    }
    Ok(applied)
}

fn check_target(keyspace: &Keyspace, target: &NoteTarget) -> Result<(), SchemaError> {
    if target.is_in(keyspace) {
        return Ok(());
    }
    let place = &keyspace.name;
    let has_table = |name: &str| keyspace.table(name).is_some();
    let has_type = |name: &str| keyspace.types.contains_key(name);
    Err(SchemaError::Invalid(match target {
        NoteTarget::Keyspace => format!("Keyspace '{place}' doesn't exist"),
        NoteTarget::Column(table, column) if has_table(table) => {
            format!("Column '{column}' doesn't exist in table '{place}.{table}'")
        }
        NoteTarget::Field(name, field) if has_type(name) => {
            format!("Field '{field}' doesn't exist in type '{place}.{name}'")
        }
        NoteTarget::Table(name) | NoteTarget::Column(name, _) => {
            format!("Table '{place}.{name}' doesn't exist")
        }
        NoteTarget::Type(name) | NoteTarget::Field(name, _) => format!("Type '{place}.{name}' doesn't exist"),
    }))
}
