//! The invariants of a catalogue, checked after loading and in tests.

use crate::catalogue::Catalogue;
use crate::column::{Column, ColumnKind};
use crate::index::{Index, IndexKind};
use crate::keyspace::Keyspace;
use crate::table::Table;
use crate::totals::Totals;
use crate::view::View;
use model::types::DataType;
use std::collections::BTreeSet;

impl Catalogue {
    /// What is wrong with this catalogue, if anything: the place and the fault.
    pub fn check(&self) -> Result<(), String> {
        let mut ids = BTreeSet::new();
        for (name, keyspace) in &self.keyspaces {
            if *name != keyspace.name {
                return Err(format!("keyspace {name}: is called {} inside", keyspace.name));
            }
            check_types(keyspace)?;
            let mut index_names = BTreeSet::new();
            for (table_name, table) in &keyspace.tables {
                let place = format!("keyspace {name}, table {table_name}");
                if *table_name != table.name || *name != table.keyspace {
                    return Err(format!("{place}: is called {}.{} inside", table.keyspace, table.name));
                }
                if !ids.insert(table.id) {
                    return Err(format!("{place}: table id {} is used twice", table.id));
                }
                if table.id >= self.next_table_id {
                    return Err(format!(
                        "{place}: table id {} is not below {}",
                        table.id, self.next_table_id
                    ));
                }
                check_table(keyspace, table).map_err(|fault| format!("{place}: {fault}"))?;
                if let Some(view) = &table.view {
                    check_view(keyspace, table, view).map_err(|fault| format!("{place}: {fault}"))?;
                }
                for store in table.foreign.iter().flat_map(|foreign| &foreign.stores) {
                    if !ids.insert(store.id) || store.id >= self.next_table_id {
                        return Err(format!(
                            "{place}, store {}: id {} is taken or too large",
                            store.name, store.id
                        ));
                    }
                }
                if let Some(totals) = table.totals()
                    && (!ids.insert(totals.members) || totals.members >= self.next_table_id)
                {
                    return Err(format!("{place}, members: id {} is taken or too large", totals.members));
                }
                let later = table.later().into_iter().flat_map(|later| [later.pending, later.places]);
                for id in later {
                    if !ids.insert(id) || id >= self.next_table_id {
                        return Err(format!("{place}, what follows later: id {id} is taken or too large"));
                    }
                }
                for id in table.bucketing().into_iter().flat_map(|plan| plan.ids()) {
                    if !ids.insert(id) || id >= self.next_table_id {
                        return Err(format!("{place}, records of buckets: id {id} is taken or too large"));
                    }
                }
                for id in table.rebucketing().iter().flat_map(|next| next.ids()) {
                    if !ids.insert(id) || id >= self.next_table_id {
                        return Err(format!("{place}, next generation: id {id} is taken or too large"));
                    }
                }
                for index in &table.indexes {
                    let place = format!("{place}, index {}", index.name);
                    if !index_names.insert(&index.name) {
                        return Err(format!("{place}: another index of the keyspace has this name"));
                    }
                    if !ids.insert(index.id) || index.id >= self.next_table_id {
                        return Err(format!("{place}: id {} is taken or too large", index.id));
                    }
                    check_index(table, index).map_err(|fault| format!("{place}: {fault}"))?;
                }
            }
        }
        Ok(())
    }
}

fn check_types(keyspace: &Keyspace) -> Result<(), String> {
    for (name, udt) in &keyspace.types {
        let place = format!("keyspace {}, type {name}", keyspace.name);
        if *name != udt.name || udt.keyspace != keyspace.name {
            return Err(format!("{place}: is called {}.{} inside", udt.keyspace, udt.name));
        }
        for field in udt.fields.iter() {
            check_type(keyspace, &field.data_type)
                .map_err(|fault| format!("{place}, field {}: {fault}", field.name))?;
        }
    }
    Ok(())
}

/// Every user-defined type inside is the one that the keyspace holds, or the name of one that is too large to be used.
fn check_type(keyspace: &Keyspace, data_type: &DataType) -> Result<(), String> {
    let mut fault = None;
    data_type.for_each_named_udt(&mut |used| {
        let known = keyspace.types.get(&used.name).filter(|_| used.keyspace == keyspace.name);
        if !known.is_some_and(|known| known.fields == used.fields || used.is_unusable()) {
            fault = Some(format!("type {} is not the keyspace's type of that name", used.name));
        }
    });
    fault.map_or(Ok(()), Err)
}

fn check_table(keyspace: &Keyspace, table: &Table) -> Result<(), String> {
    if table.partition_key.is_empty() {
        return Err("there is no partition key".into());
    }
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for column in table.all_columns() {
        if !names.insert(&column.name) {
            return Err(format!("column {} is there twice", column.name));
        }
        if !ids.insert(column.id) || column.id >= table.next_column_id {
            return Err(format!("column {}: id {} is taken or too large", column.name, column.id));
        }
        check_type(keyspace, &column.data_type)
            .map_err(|fault| format!("column {}: {fault}", column.name))?;
    }
    let kinds = [ColumnKind::PartitionKey, ColumnKind::Clustering, ColumnKind::Static, ColumnKind::Regular];
    for kind in kinds {
        let columns = table.of_kind(kind);
        if columns.iter().any(|column| column.kind != kind) {
            return Err(format!("a column among the {} columns is of another kind", kind.name()));
        }
        let ordered = match kind.is_primary_key() {
            true => columns.iter().enumerate().all(|(place, column)| column.position == place),
            false => columns.is_sorted_by(|a, b| a.name < b.name),
        };
        if !ordered {
            return Err(format!("the {} columns are out of order", kind.name()));
        }
    }
    if let Some(column) = table.primary_key().find(|column| column.data_type.is_multi_cell()) {
        return Err(format!("key column {} is not frozen", column.name));
    }
    if let Some(plan) = table.bucketing() {
        plan.check(table)?;
    }
    let says_when =
        |data_type: &DataType| matches!(data_type, DataType::Timestamp | DataType::BigInt | DataType::Int);
    if table.row_ttl.is_some() && !table.row_ttl_column().is_some_and(|column| says_when(&column.data_type)) {
        return Err("the column that says when rows expire is not there, or cannot say it".into());
    }
    if table.clustering.is_empty() && table.has_statics() {
        return Err("there are static columns but no clustering columns".into());
    }
    if !table.indexes.is_sorted_by(|a, b| a.name < b.name) {
        return Err("the indexes are out of order".into());
    }
    let counter = |column: &Column| column.data_type == DataType::Counter;
    let values = || table.statics.iter().chain(&table.regulars);
    if values().any(counter) && !values().all(counter) {
        return Err("counters are mixed with other columns".into());
    }
    Ok(())
}

/// A view has columns of its base under the same ids, the base's whole key in its own, and nothing that only a table has.
fn check_view(keyspace: &Keyspace, table: &Table, view: &View) -> Result<(), String> {
    let base = keyspace.table(&view.base).filter(|base| base.id == view.base_id && base.view.is_none());
    let Some(base) = base else {
        return Err(format!("there is no base table {} with the id {}", view.base, view.base_id));
    };
    if let Some(totals) = table.totals() {
        return check_totals(base, table, view, totals);
    }
    let same = |a: &Column, b: &Column| a.id == b.id && a.name == b.name && a.data_type == b.data_type;
    if let Some(column) = table.columns().find(|column| !base.columns().any(|other| same(column, other))) {
        return Err(format!("column {} is not one of its base table", column.name));
    }
    let in_view = |column: &Column| table.primary_key().any(|key| key.id == column.id);
    if let Some(column) = base.primary_key().find(|column| !in_view(column)) {
        return Err(format!("key column {} of its base table is not in its key", column.name));
    }
    let in_base = |column: &&Column| base.primary_key().any(|key| key.id == column.id);
    let added = table.primary_key().filter(|column| !in_base(column)).count();
    // A projection may have any columns in its key.
    let is_wide = added > 1 && view.projection.is_none();
    if is_wide || base.is_counter() || table.has_statics() || !table.indexes.is_empty() {
        return Err("a materialized view cannot be made like this".into());
    }
    check_where(base, view)
}

fn check_where(base: &Table, view: &View) -> Result<(), String> {
    let known = |name: &std::sync::Arc<str>| base.column(name).is_some();
    match view.restrictions.iter().flat_map(|restriction| &restriction.columns).find(|name| !known(name)) {
        Some(name) => Err(format!("its WHERE clause names a column {name} that is not there")),
        None => Ok(()),
    }
}

/// A projection with totals has key columns of its base under the same ids, and columns of its own, each made of one of the base's.
fn check_totals(base: &Table, table: &Table, view: &View, totals: &Totals) -> Result<(), String> {
    let same = |a: &Column, b: &Column| a.id == b.id && a.name == b.name && a.data_type == b.data_type;
    if let Some(key) = table.primary_key().find(|key| !base.columns().any(|other| same(key, other))) {
        return Err(format!("key column {} is not one of its base table", key.name));
    }
    if base.is_counter() || table.has_statics() || !table.indexes.is_empty() {
        return Err("a projection cannot be made like this".into());
    }
    for column in &table.regulars {
        let made_of = totals.functions.iter().find(|function| function.column == column.id);
        let made_of = made_of.ok_or_else(|| format!("column {} is made of nothing", column.name))?;
        let source = made_of.source.map(|id| base.columns().find(|other| other.id == id));
        let source = match source {
            Some(None) => return Err(format!("column {} is made of one that is not there", column.name)),
            Some(found) => found,
            None => None,
        };
        if made_of.kind.returns(source.map(|source| &source.data_type)).as_ref() != Some(&column.data_type) {
            return Err(format!("column {} has another type than what it is made of gives", column.name));
        }
    }
    if totals.functions.len() != table.regulars.len() {
        return Err("there is a total without a column".into());
    }
    check_where(base, view)
}

fn check_index(table: &Table, index: &Index) -> Result<(), String> {
    let Some(column) = table.column(&index.column) else {
        return Err(format!("there is no column {}", index.column));
    };
    if !index.part.suits(&column.data_type) {
        return Err(format!("a column of type {} has no such part", column.data_type));
    }
    if index.target().is_empty() || (index.kind == IndexKind::Custom) != index.is_storage_attached() {
        return Err("the options do not say what it is".into());
    }
    Ok(())
}
