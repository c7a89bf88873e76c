//! From a JSON document to the catalogue. The document comes from disk: every name in it is checked.

use super::document::*;
use crate::catalogue::Catalogue;
use crate::column::{Column, ColumnKind, DroppedColumn};
use crate::index::{Index, IndexKind, IndexPart};
use crate::keyspace::Keyspace;
use crate::pattern::AccessPattern;
use crate::table::{Table, TableKind};
use crate::view::{View, ViewRestriction};
use model::types::{DataType, UdtField, UdtType};
use std::collections::BTreeMap;
use std::sync::Arc;

type Types = BTreeMap<Arc<str>, Arc<UdtType>>;

pub(super) fn catalogue(document: Document) -> Result<Catalogue, String> {
    let mut catalogue = Catalogue::empty();
    catalogue.next_table_id = catalogue.next_table_id.max(document.next_table_id);
    for entry in document.keyspaces {
        let place = format!("keyspace {}", entry.name);
        let keyspace = keyspace(entry).map_err(|fault| format!("{place}{fault}"))?;
        if catalogue.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace)).is_some() {
            return Err(format!("{place}: is there twice"));
        }
    }
    Ok(catalogue.versioned())
}

fn keyspace(entry: KeyspaceEntry) -> Result<Keyspace, String> {
    let mut keyspace = Keyspace::new(&entry.name, entry.replication);
    keyspace.durable_writes = entry.durable_writes;
    keyspace.review = entry.review;
    keyspace.types = types(&entry.name, &entry.types)?;
    for table_entry in entry.tables {
        let place = format!(", table {}", table_entry.name);
        let table =
            table(&entry.name, table_entry, &keyspace.types).map_err(|fault| format!("{place}{fault}"))?;
        if keyspace.tables.insert(table.name.clone(), Arc::new(table)).is_some() {
            return Err(format!("{place}: is there twice"));
        }
    }
    for pattern in entry.patterns {
        let pattern = AccessPattern {
            name: pattern.name.into(),
            statement: pattern.statement,
            settings: pattern.settings,
        };
        keyspace.patterns.insert(pattern.name.clone(), Arc::new(pattern));
    }
    Ok(keyspace)
}

/// Types may be written in any order; those whose parts are known are read first, until none is left.
fn types(keyspace: &str, entries: &[TypeEntry]) -> Result<Types, String> {
    let mut known = Types::new();
    let mut left: Vec<&TypeEntry> = entries.iter().collect();
    while !left.is_empty() {
        let mut waiting = Vec::new();
        let mut fault = String::new();
        for entry in &left {
            match fields(entry, &known) {
                Ok(fields) => {
                    let name: Arc<str> = entry.name.as_str().into();
                    let udt =
                        UdtType { keyspace: keyspace.into(), name: name.clone(), fields, frozen: false };
                    if known.insert(name, Arc::new(udt)).is_some() {
                        return Err(format!(", type {}: is there twice", entry.name));
                    }
                }
                Err(reason) => {
                    fault = format!(", type {}{reason}", entry.name);
                    waiting.push(*entry);
                }
            }
        }
        if waiting.len() == left.len() {
            return Err(fault);
        }
        left = waiting;
    }
    Ok(known)
}

fn fields(entry: &TypeEntry, known: &Types) -> Result<Arc<[UdtField]>, String> {
    let read = |(name, text): &(String, String)| {
        let data_type = data_type(text, known).map_err(|fault| format!(", field {name}: {fault}"))?;
        Ok(UdtField { name: name.as_str().into(), data_type })
    };
    entry.fields.iter().map(read).collect()
}

fn data_type(text: &str, known: &Types) -> Result<DataType, String> {
    DataType::parse(text, &|_, name| known.get(name).cloned()).map_err(|fault| fault.to_string())
}

fn table(keyspace: &str, entry: TableEntry, types: &Types) -> Result<Table, String> {
    let uuid =
        model::timeuuid::parse(&entry.uuid).ok_or_else(|| format!(": {} is not a uuid", entry.uuid))?;
    let mut table = Table {
        id: entry.id,
        uuid,
        keyspace: keyspace.into(),
        name: entry.name.into(),
        kind: TableKind::Stored,
        partition_key: Vec::new(),
        clustering: Vec::new(),
        statics: Vec::new(),
        regulars: Vec::new(),
        options: entry.options,
        dropped: Vec::new(),
        next_column_id: entry.next_column_id,
        incarnation: entry.incarnation,
        indexes: Vec::new(),
        view: entry.view.map(view),
    };
    for column in entry.columns {
        let place = format!(", column {}", column.name);
        let data_type = data_type(&column.data_type, types).map_err(|fault| format!("{place}: {fault}"))?;
        let (kind, columns) = match column.kind {
            KindEntry::PartitionKey => (ColumnKind::PartitionKey, &mut table.partition_key),
            KindEntry::Clustering => (ColumnKind::Clustering, &mut table.clustering),
            KindEntry::Static => (ColumnKind::Static, &mut table.statics),
            KindEntry::Regular => (ColumnKind::Regular, &mut table.regulars),
        };
        let position = if kind.is_primary_key() { columns.len() } else { 0 };
        let (name, mask) = (column.name.into(), column.mask);
        columns.push(Column {
            id: column.id,
            name,
            data_type,
            kind,
            position,
            descending: column.descending,
            mask,
        });
    }
    for column in entry.dropped {
        let data_type = data_type(&column.data_type, types)
            .map_err(|f| format!(", dropped column {}: {f}", column.name))?;
        let (name, is_static, dropped_at) = (column.name.into(), column.is_static, column.dropped_at);
        table.dropped.push(DroppedColumn { name, data_type, is_static, dropped_at });
    }
    table.indexes = entry.indexes.into_iter().map(index).collect();
    Ok(table)
}

fn view(entry: ViewEntry) -> View {
    let restrictions = entry.restrictions.into_iter().map(|restriction| ViewRestriction {
        columns: restriction.columns.into_iter().map(Arc::from).collect(),
        is_tuple: restriction.is_tuple,
        condition: restriction.condition,
    });
    View {
        base: entry.base.into(),
        base_id: entry.base_id,
        include_all_columns: entry.include_all_columns,
        restrictions: restrictions.collect(),
        built: entry.built,
    }
}

fn index(entry: IndexEntry) -> Index {
    Index {
        name: entry.name.into(),
        id: entry.id,
        column: entry.column.into(),
        part: match entry.part {
            PartEntry::Whole => IndexPart::Whole,
            PartEntry::Keys => IndexPart::Keys,
            PartEntry::Values => IndexPart::Values,
            PartEntry::Entries => IndexPart::Entries,
            PartEntry::Full => IndexPart::Full,
        },
        kind: match entry.kind {
            IndexKindEntry::Composites => IndexKind::Composites,
            IndexKindEntry::Custom => IndexKind::Custom,
        },
        options: entry.options,
        built: entry.built,
    }
}
