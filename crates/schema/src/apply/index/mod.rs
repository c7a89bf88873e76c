//! CREATE INDEX and DROP INDEX, and the word that an index has been built.
//!
//! The order of the checks is Cassandra's: of several errors in a statement, the one that Cassandra would report is reported.

mod storage_attached;
mod target;

use super::{changed, existing_keyspace, foreign, guard, is_word, unchanged, with_table};
use crate::bucketing;
use crate::catalogue::Catalogue;
use crate::change::{Applied, EffectKind, NewIndex, TargetKind};
use crate::fault::{IndexFault, Resource, SchemaError};
use crate::index::{CLASS, Index, IndexKind, TARGET, is_storage_attached};
use crate::keyspace::Keyspace;
use crate::name::FullName;
use crate::table::Table;
use model::lists::Lists;
use model::types::quote_identifier;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What USING says for the kind that needs no class; also what counts when it says nothing.
const PLAIN: &str = "legacy_local_table";

pub(super) fn create(catalogue: &Catalogue, new: &NewIndex) -> Result<Applied, SchemaError> {
    guard(&new.keyspace, "ALTER", || Resource::Table(new.table.clone()))?;
    let kind = kind(new);
    let given = given_options(new, kind)?;
    let keyspace = existing_keyspace(catalogue, &new.keyspace)?;
    let table = keyspace
        .table(&new.table)
        .ok_or_else(|| IndexFault::TableMissing { table: new.table.to_string() })?;
    if let Some(name) = new.name.as_ref().filter(|name| keyspace.index(name).is_some()) {
        return match new.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(IndexFault::Exists { index: name.to_string() }.into()),
        };
    }
    if table.view.is_some() {
        return Err(IndexFault::OfView.into());
    }
    foreign::refuse(table)?;
    bucketing::refuse_under_way(table)?;
    if table.is_counter() {
        return Err(IndexFault::OfCounters.into());
    }
    let targets = target::read(table, new, kind)?;
    let name = new.name.clone().unwrap_or_else(|| free_name(keyspace, table, &targets));
    let options = options(new, kind, given, &targets);
    if let Some(same) = table.indexes.iter().find(|index| index.kind == kind && index.options == options) {
        return match new.if_not_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(IndexFault::Same { index: name.to_string(), same: same.name.to_string() }.into()),
        };
    }
    if !is_word(&name) {
        return Err(IndexFault::NotAWord { index: name.to_string() }.into());
    }
    let mut warnings = Vec::new();
    if kind == IndexKind::Custom {
        check_class(new.class.as_deref().unwrap_or(PLAIN))?;
        storage_attached::check(table, &targets, &options, &mut warnings)?;
    }
    // The classes that may do with another number of columns have been refused.
    let Some(&(part, column)) = targets.first() else {
        return Err(IndexFault::NoColumn.into());
    };
    let id = catalogue.next_table_id;
    let index = Index {
        name: name.as_str().into(),
        id,
        column: column.name.clone(),
        part,
        kind,
        options,
        sorted: false,
        changed: false,
        lists: None,
        built: false,
    };
    let (sorted, is_changed) = (index.answers_ranges(&column.data_type), !index.text_change().is_none());
    let index = Index { sorted, changed: is_changed, ..index };
    let mut next = Table::clone(table);
    let place = next.indexes.partition_point(|other| other.name < index.name);
    next.indexes.insert(place, index);
    let mut next = with_table(catalogue, keyspace, next);
    next.next_table_id = id + 1;
    let applied = changed(next, EffectKind::Updated, TargetKind::Table, &new.keyspace, &new.table);
    Ok(Applied { warnings, ..applied })
}

pub(super) fn drop(
    catalogue: &Catalogue,
    place: &str,
    name: &str,
    if_exists: bool,
) -> Result<Applied, SchemaError> {
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.index(name)?.0)));
    let Some((keyspace, table)) = found else {
        return match if_exists {
            true => Ok(unchanged(catalogue)),
            false => Err(IndexFault::Missing { index: FullName::new(place, name) }.into()),
        };
    };
    guard(place, "ALTER", || Resource::Table(table.name.to_string()))?;
    let mut next = Table::clone(table);
    next.indexes.retain(|index| *index.name != *name);
    let next = with_table(catalogue, keyspace, next);
    Ok(changed(next, EffectKind::Updated, TargetKind::Table, place, &table.name))
}

pub(super) fn built(catalogue: &Catalogue, place: &str, table: &str, id: u32) -> Applied {
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.table(table)?)));
    let Some((keyspace, table)) = found else { return unchanged(catalogue) };
    let mut next = Table::clone(table);
    let Some(index) = next.indexes.iter_mut().find(|index| index.id == id && !index.built) else {
        return unchanged(catalogue);
    };
    index.built = true;
    // What drivers know of an index does not tell whether it is built, so the version stays.
    Applied { catalogue: with_table(catalogue, keyspace, next), effect: None, warnings: Vec::new() }
}

/// Gives an index on a vector the lists that its entries will be in, before it is filled.
pub(super) fn lists(catalogue: &Catalogue, place: &str, table: &str, id: u32, lists: &Arc<Lists>) -> Applied {
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.table(table)?)));
    let Some((keyspace, table)) = found else { return unchanged(catalogue) };
    let mut next = Table::clone(table);
    let suits = |index: &&mut Index| {
        let compares = table.column(&index.column).and_then(|column| index.compares(&column.data_type));
        let is_open = index.id == id && !index.built && index.lists.is_none();
        is_open && compares == Some((lists.similarity(), lists.dimensions()))
    };
    let Some(index) = next.indexes.iter_mut().find(suits) else { return unchanged(catalogue) };
    index.lists = Some(lists.clone());
    Applied { catalogue: with_table(catalogue, keyspace, next), effect: None, warnings: Vec::new() }
}

/// Begins an index anew: under another number, without entries, to be filled. Reads do without it until then.
pub(super) fn begin_anew(catalogue: &Catalogue, place: &str, table: &str, id: u32) -> Applied {
    let found = catalogue.keyspace(place).and_then(|keyspace| Some((keyspace, keyspace.table(table)?)));
    let Some((keyspace, table)) = found else { return unchanged(catalogue) };
    let mut next = Table::clone(table);
    let Some(index) = next.indexes.iter_mut().find(|index| index.id == id && index.built) else {
        return unchanged(catalogue);
    };
    (index.id, index.lists, index.built) = (catalogue.next_table_id, None, false);
    let mut next = with_table(catalogue, keyspace, next);
    next.next_table_id += 1;
    Applied { catalogue: next, effect: None, warnings: Vec::new() }
}

/// Any class but the plain one makes the index a custom one, with or without CUSTOM.
fn kind(new: &NewIndex) -> IndexKind {
    let plain = new.class.as_ref().is_none_or(|class| class.eq_ignore_ascii_case(PLAIN));
    if new.is_custom || !plain { IndexKind::Custom } else { IndexKind::Composites }
}

/// The options after WITH.
fn given_options(new: &NewIndex, kind: IndexKind) -> Result<BTreeMap<String, String>, SchemaError> {
    new.properties.only(&["options"])?;
    if kind == IndexKind::Composites && !new.properties.is_empty() {
        return Err(IndexFault::OptionsOfPlain.into());
    }
    let given = new.properties.map("options")?.cloned().unwrap_or_default();
    match [CLASS, TARGET].into_iter().find(|name| given.contains_key(*name)) {
        Some(name) => Err(IndexFault::OwnOption { option: name.to_string() }.into()),
        None => Ok(given),
    }
}

/// All options, as the system tables show them.
fn options(
    new: &NewIndex,
    kind: IndexKind,
    mut given: BTreeMap<String, String>,
    targets: &[target::Target<'_>],
) -> BTreeMap<String, String> {
    if kind == IndexKind::Custom {
        given.insert(CLASS.into(), new.class.as_deref().unwrap_or(PLAIN).into());
    }
    let text = |&(part, column): &target::Target<'_>| {
        let column = quote_identifier(&column.name);
        part.word().map_or(column.clone(), |word| format!("{word}({column})"))
    };
    given.insert(TARGET.into(), targets.iter().map(text).collect::<Vec<_>>().join(", "));
    given
}

fn check_class(class: &str) -> Result<(), SchemaError> {
    if is_storage_attached(class) {
        return Ok(());
    }
    match class.rsplit('.').next() {
        Some("SASIIndex") => Err(IndexFault::Sasi.into()),
        _ => Err(IndexFault::ClassUnknown { class: class.to_string() }.into()),
    }
}

/// `table_column_idx`, with a number behind it if that is the name of an index of the keyspace already.
fn free_name(keyspace: &Keyspace, table: &Table, targets: &[target::Target<'_>]) -> String {
    let column = match targets {
        [(_, column)] => format!("_{}", column.name),
        _ => String::new(),
    };
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = format!("{}{column}_idx", table.name).chars().filter(is_part).collect();
    let numbered = (1u32..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| keyspace.index(name).is_none()).unwrap_or(name)
}

/// Refuses to take away or rename a column that indexes depend on. `fault` says which of the two.
pub(super) fn check_unindexed(
    table: &Table,
    column: &str,
    fault: fn(String, Vec<String>) -> IndexFault,
) -> Result<(), SchemaError> {
    let names: Vec<String> = table.indexes_on(column).map(|index| index.name.to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(fault(column.to_string(), names).into())
}
