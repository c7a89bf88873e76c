//! A keyspace: replication settings, tables, user-defined types.

use crate::index::Index;
use crate::pattern::AccessPattern;
use crate::table::Table;
use model::types::{DataType, UdtType};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Keyspace {
    pub name: Arc<str>,
    /// `class` (full name) and its options, as `system_schema.keyspaces.replication` shows them.
    pub replication: BTreeMap<String, String>,
    pub durable_writes: bool,
    /// Ours: `'enforce' | 'warn' | 'off'`; empty means the default.
    pub review: String,
    pub tables: BTreeMap<Arc<str>, Arc<Table>>,
    pub types: BTreeMap<Arc<str>, Arc<UdtType>>,
    pub patterns: BTreeMap<Arc<str>, Arc<AccessPattern>>,
}

impl Keyspace {
    /// A keyspace without anything in it.
    pub fn new(name: &str, replication: BTreeMap<String, String>) -> Keyspace {
        Keyspace {
            name: name.into(),
            replication,
            durable_writes: true,
            review: String::new(),
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
            patterns: BTreeMap::new(),
        }
    }

    pub fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    /// The index of this name, and the table that it belongs to.
    pub fn index(&self, name: &str) -> Option<(&Arc<Table>, &Index)> {
        self.tables.values().find_map(|table| Some((table, table.index(name)?)))
    }

    /// The materialized views of a table, by name.
    pub fn views_of<'k>(&'k self, base: &Table) -> impl Iterator<Item = &'k Arc<Table>> {
        let id = base.id;
        self.tables.values().filter(move |table| table.view.as_ref().is_some_and(|view| view.base_id == id))
    }

    /// Whether users must not change it: `system`, `system_schema`, ...
    pub fn is_system(&self) -> bool {
        is_system_name(&self.name)
    }

    /// The user-defined types, each after those it is made of: the order in which they can be created.
    pub fn types_by_dependency(&self) -> Vec<&Arc<UdtType>> {
        let mut left: Vec<&Arc<UdtType>> = self.types.values().collect();
        let mut ordered: Vec<&Arc<UdtType>> = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let names: Vec<Arc<str>> = left.iter().map(|udt| udt.name.clone()).collect();
            let waits = |udt: &UdtType| {
                let inside = |field: &DataType| names.iter().any(|n| field.references_udt(&self.name, n));
                udt.fields.iter().any(|field| inside(&field.data_type))
            };
            let (ready, waiting): (Vec<_>, Vec<_>) = left.iter().partition(|udt| !waits(udt));
            // Types cannot refer to each other in a circle; if they did, the rest comes as it is.
            let stuck = ready.is_empty();
            ordered.extend(if stuck { &waiting } else { &ready });
            left = if stuck { Vec::new() } else { waiting };
        }
        ordered
    }
}

/// Keyspaces that belong to the server and that nobody changes.
pub fn is_local_system_name(name: &str) -> bool {
    matches!(name, "system" | "system_schema" | "system_views" | "system_virtual_schema")
}

/// Keyspaces that belong to the server and whose replication an operator may change.
pub fn is_replicated_system_name(name: &str) -> bool {
    matches!(name, "system_auth" | "system_traces" | "system_distributed")
}

/// Keyspaces that belong to the server.
pub fn is_system_name(name: &str) -> bool {
    is_local_system_name(name) || is_replicated_system_name(name)
}
