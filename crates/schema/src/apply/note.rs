//! COMMENT ON and SECURITY LABEL ON.

use super::{changed, existing_keyspace, guard};
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewNote, TargetKind};
use crate::fault::{NoteFault, Resource, SchemaError, Warning};
use crate::keyspace::Keyspace;
use crate::name::FullName;
use crate::note::{NoteKind, NoteTarget};
use crate::table::Table;
use std::sync::Arc;

pub(super) fn set(catalogue: &Catalogue, note: &NewNote) -> Result<Applied, SchemaError> {
    let place = note.keyspace.as_str();
    guard(place, "ALTER", || Resource::Keyspace)?;
    let before = existing_keyspace(catalogue, place)?;
    if note.text.as_deref() == Some("") {
        return Err(NoteFault::Empty { kind: note.kind }.into());
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
        applied.warnings.push(Warning::ProviderNotLoaded { provider: provider.clone() });
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
    let full_name = |name: &str| FullName::new(place, name);
    let (keyspace, text) = (place.to_string(), str::to_string);
    Err(match target {
        NoteTarget::Keyspace => SchemaError::KeyspaceMissing(keyspace),
        NoteTarget::Column(table, column) if has_table(table) => {
            NoteFault::ColumnMissing { column: text(column), table: full_name(table) }.into()
        }
        NoteTarget::Field(name, field) if has_type(name) => {
            NoteFault::FieldMissing { field: text(field), name: full_name(name) }.into()
        }
        NoteTarget::Table(name) | NoteTarget::Column(name, _) => {
            SchemaError::TableMissing { keyspace, table: text(name) }
        }
        NoteTarget::Type(name) | NoteTarget::Field(name, _) => {
            SchemaError::TypeMissing { keyspace, name: text(name) }
        }
    })
}
