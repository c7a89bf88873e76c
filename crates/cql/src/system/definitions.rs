//! The definitions of the system tables, and how they join what users own.

use crate::CqlError;
use crate::bind::Scope;
use crate::ddl::new_table;
use cql_syntax::ast::Statement;
use schema::{Catalogue, Damage, Keyspace, Table, TableKind, is_replicated_system_name};
use std::collections::BTreeMap;
use std::sync::Arc;

const TABLES: &str = include_str!("tables.cql");

/// Tables that are stored, with the ids that name them in log and files for ever. Never change one, never reuse one.
const STORED: [(&str, &str, u32); 12] = [
    ("system_auth", "roles", 101),
    ("system_auth", "role_members", 102),
    ("system_auth", "role_permissions", 103),
    ("system_auth", "resource_role_permissons_index", 104),
    ("system_auth", "network_permissions", 105),
    ("system_auth", "cidr_permissions", 106),
    ("system_auth", "cidr_groups", 107),
    ("system_auth", "identity_to_role", 108),
    ("system_auth", "access_keys", 109),
    ("system_traces", "sessions", 201),
    ("system_traces", "events", 202),
    ("system_distributed", "jobs", 301),
];

/// Virtual tables are numbered from here, in the order of the file; nothing on disk names them.
const FIRST_VIRTUAL_ID: u32 = 500;

/// `user` with the system keyspaces beside. Of a system keyspace that an operator may change (`system_auth`, ...) the
/// settings, and of its tables the options and incarnations, are taken from `user`; the columns never are.
pub fn with_system_keyspaces(user: &Catalogue) -> Result<Catalogue, Damage> {
    let mut merged = user.clone();
    for mut keyspace in system_keyspaces()? {
        if let Some(kept) = user.keyspace(&keyspace.name) {
            keyspace.replication = kept.replication.clone();
            keyspace.durable_writes = kept.durable_writes;
            for table in keyspace.tables.values_mut().filter(|table| !table.is_virtual()) {
                if let Some(old) = kept.table(&table.name).filter(|old| old.id == table.id) {
                    let mut fresh = Table::clone(table);
                    fresh.options = old.options.clone();
                    fresh.incarnation = old.incarnation;
                    *table = Arc::new(fresh);
                }
            }
        }
        merged.keyspaces.insert(keyspace.name.clone(), Arc::new(keyspace));
    }
    merged.version = merged.content_version();
    merged.check().map_err(|fault| Damage::new(format!("system tables: {fault}")))?;
    Ok(merged)
}

fn system_keyspaces() -> Result<Vec<Keyspace>, Damage> {
    let mut keyspaces: BTreeMap<String, Keyspace> = BTreeMap::new();
    let nothing = Catalogue::empty();
    let scope = Scope { catalogue: &nothing, keyspace: None };
    let script = cql_syntax::parse_script(TABLES);
    let broken = |fault: String| Damage::new(format!("system tables: {fault}"));
    if let Some(error) = script.errors.first() {
        return Err(broken(error.to_string()));
    }
    for (parsed, virtual_id) in script.statements.iter().zip(FIRST_VIRTUAL_ID..) {
        let Statement::CreateTable(create) = &parsed.statement else {
            return Err(broken("only CREATE TABLE is expected".into()));
        };
        let place = create.name.keyspace_str().unwrap_or_default();
        let new = new_table(scope, place, create, true).map_err(|error| broken(error.to_string()))?;
        let stored = STORED.iter().find(|(keyspace, table, _)| *keyspace == place && *table == new.name);
        let (id, kind) = match stored {
            Some((_, _, id)) => (*id, TableKind::Stored),
            None => (virtual_id, TableKind::Virtual),
        };
        let table =
            Table::system(id, kind, &new).map_err(|error| broken(CqlError::from(error).to_string()))?;
        let keyspace =
            keyspaces.entry(place.to_string()).or_insert_with(|| Keyspace::new(place, replication(place)));
        keyspace.tables.insert(table.name.clone(), Arc::new(table));
    }
    Ok(keyspaces.into_values().collect())
}

fn replication(keyspace: &str) -> BTreeMap<String, String> {
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    if is_replicated_system_name(keyspace) {
        let class = pair("class", "org.apache.cassandra.locator.SimpleStrategy");
        return BTreeMap::from([class, pair("replication_factor", "1")]);
    }
    BTreeMap::from([pair("class", "org.apache.cassandra.locator.LocalStrategy")])
}
