//! A snapshot of the whole schema.

use crate::keyspace::Keyspace;
use crate::table::Table;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Table ids below this belong to system tables and are fixed in code.
pub const FIRST_USER_TABLE_ID: u32 = 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    /// Changes with every change of the schema: `system.local.schema_version`.
    pub version: [u8; 16],
    /// The next table gets this id; never decreases.
    pub next_table_id: u32,
    pub keyspaces: BTreeMap<Arc<str>, Arc<Keyspace>>,
}

impl Catalogue {
    /// No keyspaces at all; the dialect adds the system ones.
    pub fn empty() -> Catalogue {
        Catalogue { version: [0; 16], next_table_id: FIRST_USER_TABLE_ID, keyspaces: BTreeMap::new() }
    }

    pub fn keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspaces.get(name)
    }

    pub fn table(&self, keyspace: &str, table: &str) -> Option<&Arc<Table>> {
        self.keyspace(keyspace)?.table(table)
    }
}
