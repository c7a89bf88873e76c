//! Options that mean something on other servers: accepted, so that schemas load, and answered with what they do here.

use super::older;
use crate::error::SchemaError;
use crate::properties::Properties;

/// Name, and what a client is told; nothing where what the option asks for is so anyway. Nothing is kept of them.
pub(crate) const TABLE: [(&str, &str); 15] = [
    // Cassandra 1.2 to 3.x
    ("dclocal_read_repair_chance", "there is one copy, so there is nothing to repair"),
    ("index_interval", "files find their rows by blocks; min_index_interval and max_index_interval are kept"),
    ("populate_io_cache_on_flush", "the block cache takes what is read"),
    ("read_repair_chance", "there is one copy, so there is nothing to repair"),
    ("replicate_on_write", "counters are in the commit that changes them, always"),
    // Cassandra 6.0
    ("fast_path", ""),
    ("transactional_migration_from", ""),
    ("transactional_mode", ""),
    // ScyllaDB
    ("in_memory", "what is read often is in memory anyway"),
    ("paxos_grace_seconds", "conditional writes keep no state beside the rows here"),
    (
        "per_partition_rate_limit",
        "partitions have no rates here; hot ones are in system_views.hot_partitions",
    ),
    ("storage_engine", "there is one storage engine here"),
    ("synchronous_updates", "views are in the commit of their table here, always"),
    ("tablets", "there are no tablets here; shards divide the token range"),
    ("tombstone_gc", "tombstones go when nothing older can be beneath them"),
];

/// The names alone.
pub(crate) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(name, _)| *name).collect()
}

/// What to tell about those that were given.
pub(crate) fn warnings(properties: &Properties) -> Vec<String> {
    let given = TABLE.iter().filter(|(name, what)| !what.is_empty() && properties.has(name));
    let mut warnings: Vec<String> =
        given.map(|(name, what)| format!("The option {name} has no effect: {what}")).collect();
    warnings.extend(older::warnings(properties));
    if properties.map("cdc").is_ok_and(|map| map.is_some()) {
        warnings.push(
            "The option cdc is kept and has no effect: there is no log of changes for CQL tables".to_string(),
        );
    }
    warnings
}

/// Cassandra's `cdc = true`, or ScyllaDB's `cdc = {'enabled': 'true', …}`.
pub(crate) fn cdc(properties: &Properties) -> Result<Option<bool>, SchemaError> {
    match properties.map("cdc") {
        Ok(Some(map)) => Ok(map.get("enabled").map(|value| value.eq_ignore_ascii_case("true"))),
        Ok(None) => Ok(None),
        Err(_) => properties.boolean("cdc"),
    }
}
