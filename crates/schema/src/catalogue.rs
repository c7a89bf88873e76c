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
        let mut empty =
            Catalogue { version: [0; 16], next_table_id: FIRST_USER_TABLE_ID, keyspaces: BTreeMap::new() };
        empty.version = empty.content_version();
        empty
    }

    pub fn keyspace(&self, name: &str) -> Option<&Arc<Keyspace>> {
        self.keyspaces.get(name)
    }

    pub fn table(&self, keyspace: &str, table: &str) -> Option<&Arc<Table>> {
        self.keyspace(keyspace)?.table(table)
    }

    /// Every table, by keyspace and name.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.keyspaces.values().flat_map(|keyspace| keyspace.tables.values())
    }

    /// The table with this id.
    pub fn table_by_id(&self, id: u32) -> Option<&Arc<Table>> {
        self.tables().find(|table| table.id == id)
    }

    /// This catalogue with one keyspace put in place of its namesake.
    pub fn with_keyspace(&self, keyspace: Keyspace) -> Catalogue {
        let mut next = self.clone();
        next.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace.without_stale_notes()));
        next
    }
}
