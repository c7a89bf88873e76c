//! Options that mean something on other servers: accepted, so that schemas load, and answered with what they do here.

use super::older;
use crate::fault::{NoEffect, PropertyFault, Warning};
use crate::properties::Properties;

/// Name, and why it has no effect; `None` where what the option asks for is so anyway. Nothing is kept of them.
pub(crate) const TABLE: [(&str, Option<NoEffect>); 15] = [
    // Cassandra 1.2 to 3.x
    ("dclocal_read_repair_chance", Some(NoEffect::LocalReadRepair)),
    ("index_interval", Some(NoEffect::IndexInterval)),
    ("populate_io_cache_on_flush", Some(NoEffect::CacheOnFlush)),
    ("read_repair_chance", Some(NoEffect::ReadRepair)),
    ("replicate_on_write", Some(NoEffect::ReplicateOnWrite)),
    // Cassandra 6.0
    ("fast_path", None),
    ("transactional_migration_from", None),
    ("transactional_mode", None),
    // ScyllaDB
    ("in_memory", Some(NoEffect::InMemory)),
    ("paxos_grace_seconds", Some(NoEffect::PaxosGrace)),
    ("per_partition_rate_limit", Some(NoEffect::PartitionRate)),
    ("storage_engine", Some(NoEffect::StorageEngine)),
    ("synchronous_updates", Some(NoEffect::SynchronousUpdates)),
    ("tablets", Some(NoEffect::Tablets)),
    ("tombstone_gc", Some(NoEffect::TombstoneGc)),
];

/// The names alone.
pub(crate) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(name, _)| *name).collect()
}

/// What to tell about those that were given.
pub(crate) fn warnings(properties: &Properties) -> Vec<Warning> {
    let given = TABLE.iter().filter(|(name, _)| properties.has(name)).filter_map(|(_, why)| *why);
    let cdc = properties.map("cdc").is_ok_and(|map| map.is_some()).then_some(NoEffect::Cdc);
    let without = given.chain(cdc).map(Warning::NoEffect);
    without.chain(older::warning(properties)).collect()
}

/// Cassandra's `cdc = true`, or ScyllaDB's `cdc = {'enabled': 'true', …}`.
pub(crate) fn cdc(properties: &Properties) -> Result<Option<bool>, PropertyFault> {
    match properties.map("cdc") {
        Ok(Some(map)) => Ok(map.get("enabled").map(|value| value.eq_ignore_ascii_case("true"))),
        Ok(None) => Ok(None),
        Err(_) => properties.boolean("cdc"),
    }
}
