//! A keyspace: replication settings, tables, user-defined types.

use crate::pattern::AccessPattern;
use crate::table::Table;
use model::types::UdtType;
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
    pub fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    /// Whether users must not change it: `system`, `system_schema`, ...
    pub fn is_system(&self) -> bool {
        is_system_name(&self.name)
    }
}

/// Keyspaces that belong to the server.
pub fn is_system_name(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "system_schema"
            | "system_auth"
            | "system_traces"
            | "system_distributed"
            | "system_views"
            | "system_virtual_schema"
    )
}
