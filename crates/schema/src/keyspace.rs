//! A keyspace: replication settings, tables, user-defined types.

use crate::function::{UserAggregate, UserFunction};
use crate::index::Index;
use crate::note::Note;
use crate::pattern::AccessPattern;
use crate::table::Table;
use model::types::UdtType;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Keyspace {
    pub name: Arc<str>,
    /// `class` (full name) and its options, as `system_schema.keyspaces.replication` shows them.
    pub replication: BTreeMap<String, String>,
    pub durable_writes: bool,
    /// Ours: `'enforce' | 'warn' | 'off'`; empty means the default.
    pub review: String,
    /// Ours: what happens to statements of no declared access pattern, `'enforce' | 'warn' | 'off'`; empty means off.
    pub patterns_mode: String,
    /// Roles that the mode does not concern, in order.
    pub patterns_allow: Vec<String>,
    /// Ours: the column that says whose a row is, in every table; empty means that each table says it for itself.
    pub tenant: String,
    /// What a tenant may use of all tables together.
    pub tenant_limits: BTreeMap<String, String>,
    pub tables: BTreeMap<Arc<str>, Arc<Table>>,
    pub types: BTreeMap<Arc<str>, Arc<UdtType>>,
    pub patterns: BTreeMap<Arc<str>, Arc<AccessPattern>>,
    /// By name, then by the types of the arguments.
    pub functions: Vec<Arc<UserFunction>>,
    pub aggregates: Vec<Arc<UserAggregate>>,
    /// In the order in which they were made.
    pub notes: Vec<Note>,
}

impl Keyspace {
    /// A keyspace without anything in it.
    pub fn new(name: &str, replication: BTreeMap<String, String>) -> Keyspace {
        Keyspace {
            name: name.into(),
            replication,
            durable_writes: true,
            review: String::new(),
            patterns_mode: String::new(),
            patterns_allow: Vec::new(),
            tenant: String::new(),
            tenant_limits: BTreeMap::new(),
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
            patterns: BTreeMap::new(),
            functions: Vec::new(),
            aggregates: Vec::new(),
            notes: Vec::new(),
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
        // The level of a type is one above the highest of those it names; types of one level come by name.
        let mut levels: HashMap<&str, usize> = HashMap::with_capacity(self.types.len());
        let mut open: Vec<&Arc<UdtType>> = Vec::new();
        let mut entered: HashSet<&str> = HashSet::new();
        for udt in self.types.values() {
            open.push(udt);
            while let Some(&udt) = open.last() {
                if levels.contains_key(&*udt.name) {
                    open.pop();
                    continue;
                }
                let parts = self.named_types(udt);
                let missing = parts.iter().filter(|part| !levels.contains_key(&*part.name));
                // Types cannot refer to each other in a circle; if they did, they come as they are.
                if entered.insert(&udt.name) {
                    open.extend(missing.filter(|part| !entered.contains(&*part.name)).copied());
                    continue;
                }
                let highest = parts.iter().filter_map(|part| levels.get(&*part.name)).max();
                levels.insert(&udt.name, highest.map_or(0, |level| level + 1));
                open.pop();
            }
        }
        let mut ordered: Vec<&Arc<UdtType>> = self.types.values().collect();
        ordered.sort_by_key(|udt| levels.get(&*udt.name).copied().unwrap_or_default());
        ordered
    }

    /// The types of this keyspace that the fields of a type name.
    fn named_types(&self, udt: &UdtType) -> Vec<&Arc<UdtType>> {
        let mut named = Vec::new();
        for field in udt.fields.iter() {
            field.data_type.for_each_named_udt(&mut |part| named.extend(self.types.get(&part.name)));
        }
        named
    }
}

/// Keyspaces that belong to the server and that nobody changes.
pub fn is_local_system_name(name: &str) -> bool {
    matches!(name, "system" | "system_schema" | "system_views" | "system_virtual_schema")
}

/// Keyspaces that Cassandra calls virtual: not in `system_schema` but in `system_virtual_schema`.
pub fn is_virtual_system_name(name: &str) -> bool {
    matches!(name, "system_views" | "system_virtual_schema")
}

/// Keyspaces that belong to the server and whose replication an operator may change.
pub fn is_replicated_system_name(name: &str) -> bool {
    matches!(name, "system_auth" | "system_traces" | "system_distributed")
}

/// Keyspaces that belong to the server.
pub fn is_system_name(name: &str) -> bool {
    is_local_system_name(name) || is_replicated_system_name(name)
}
