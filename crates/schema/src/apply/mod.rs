//! Applies changes: a catalogue and a change give the next catalogue or the reason why not.

mod compatible;
mod constraint;
mod foreign;
mod function;
mod index;
mod keyspace;
#[cfg(test)]
mod limit_tests;
mod note;
mod pattern;
mod row_ttl;
mod table_alter;
mod table_create;
mod table_like;
#[cfg(test)]
mod tests;
mod types;
mod view;

use crate::catalogue::Catalogue;
use crate::change::{Applied, Change, Effect, EffectKind, Setting, TargetKind};
use crate::fault::{Resource, SchemaError, SystemFault};
use crate::keyspace::{Keyspace, is_local_system_name, is_replicated_system_name};
use crate::table::Table;
use std::sync::Arc;

impl Catalogue {
    /// The catalogue after `change`; this one is untouched.
    pub fn apply(&self, change: &Change, setting: &Setting) -> Result<Applied, SchemaError> {
        match change {
            Change::CreateKeyspace { name, if_not_exists, properties } => {
                keyspace::create(self, name, *if_not_exists, properties, setting)
            }
            Change::AlterKeyspace { name, if_exists, properties } => {
                keyspace::alter(self, name, *if_exists, properties, setting)
            }
            Change::DropKeyspace { name, if_exists } => keyspace::drop(self, name, *if_exists),
            Change::CreateTable(table) => table_create::create(self, table, setting),
            Change::CopyTable(like) => table_like::create(self, like, setting),
            Change::SetNote(note) => note::set(self, note),
            Change::AlterTable { keyspace, name, if_exists, alteration } => {
                table_alter::alter(self, keyspace, name, *if_exists, alteration, setting)
            }
            Change::DropTable { keyspace, name, if_exists } => {
                table_alter::drop_table(self, keyspace, name, *if_exists)
            }
            Change::Truncate { keyspace, name } => table_alter::truncate(self, keyspace, name),
            Change::CreateType { keyspace, name, if_not_exists, fields } => {
                types::create(self, keyspace, name, *if_not_exists, fields)
            }
            Change::AlterType { keyspace, name, if_exists, alteration } => {
                types::alter(self, keyspace, name, *if_exists, alteration)
            }
            Change::DropType { keyspace, name, if_exists } => types::drop(self, keyspace, name, *if_exists),
            Change::CreateIndex(new) => index::create(self, new),
            Change::DropIndex { keyspace, name, if_exists } => index::drop(self, keyspace, name, *if_exists),
            Change::IndexBuilt { keyspace, table, id } => Ok(index::built(self, keyspace, table, *id)),
            Change::IndexLists { keyspace, table, id, lists } => {
                Ok(index::lists(self, keyspace, table, *id, lists))
            }
            Change::IndexAnew { keyspace, table, id } => Ok(index::begin_anew(self, keyspace, table, *id)),
            Change::CreateView(new) => view::create(self, new, setting),
            Change::AlterView { keyspace, name, if_exists, properties } => {
                view::alter(self, keyspace, name, *if_exists, properties)
            }
            Change::ReplaceView { keyspace, base, old, new } => view::replace(self, keyspace, base, old, new),
            Change::DropView { keyspace, name, if_exists } => view::drop(self, keyspace, name, *if_exists),
            Change::ViewBuilt { keyspace, id } => Ok(view::built(self, keyspace, *id)),
            Change::Rebucketed { keyspace, name, id } => {
                Ok(table_alter::rebucketed(self, keyspace, name, *id))
            }
            Change::StopRebucketing { keyspace, name, id } => {
                Ok(table_alter::stop_rebucketing(self, keyspace, name, *id))
            }
            Change::AlterForeign { keyspace, name, foreign } => foreign::alter(self, keyspace, name, foreign),
            Change::DropForeign { keyspace, name } => foreign::drop(self, keyspace, name),
            Change::RenameForeign { keyspace, from, to } => foreign::rename(self, keyspace, from, to),
            Change::TakeStores { from, to, stores } => foreign::take_stores(self, from, to, stores),
            Change::CreatePattern(pattern) => pattern::create(self, pattern),
            Change::AlterPattern { keyspace, name, if_exists, statement, settings } => {
                pattern::alter(self, keyspace, name, *if_exists, (statement.as_ref(), settings))
            }
            Change::DropPattern { keyspace, name, if_exists } => {
                pattern::drop(self, keyspace, name, *if_exists)
            }
            Change::CreateFunction(new) => function::create(self, new),
            Change::CreateAggregate(new) => function::create_aggregate(self, new),
            Change::DropFunction(dropped) => function::drop(self, dropped),
        }
    }
}

/// An IF clause was met: nothing changes and nobody is told.
fn unchanged(catalogue: &Catalogue) -> Applied {
    Applied { catalogue: catalogue.clone(), effect: None, warnings: Vec::new() }
}

fn changed(next: Catalogue, kind: EffectKind, target: TargetKind, keyspace: &str, name: &str) -> Applied {
    let effect = Effect { kind, target, keyspace: keyspace.into(), name: name.into(), arguments: Vec::new() };
    Applied { catalogue: next.versioned(), effect: Some(effect), warnings: Vec::new() }
}

/// Refuses to touch what belongs to the server. `resource` is what the statement is about.
fn guard(keyspace: &str, verb: &'static str, resource: impl FnOnce() -> Resource) -> Result<(), SchemaError> {
    if is_local_system_name(keyspace) {
        return Err(SystemFault::Unmodifiable { keyspace: keyspace.to_string() }.into());
    }
    if is_replicated_system_name(keyspace) {
        return Err(
            SystemFault::Resource { verb, keyspace: keyspace.to_string(), resource: resource() }.into()
        );
    }
    Ok(())
}

/// The named keyspace, for statements that create something in it.
fn existing_keyspace<'a>(catalogue: &'a Catalogue, name: &str) -> Result<&'a Arc<Keyspace>, SchemaError> {
    catalogue.keyspace(name).ok_or_else(|| SchemaError::KeyspaceMissing(name.to_string()))
}

/// The catalogue with one table put in place of its namesake.
fn with_table(catalogue: &Catalogue, keyspace: &Keyspace, table: Table) -> Catalogue {
    let mut keyspace = keyspace.clone();
    keyspace.tables.insert(table.name.clone(), Arc::new(table));
    catalogue.with_keyspace(keyspace)
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
