//! Words: what was accepted and does less than it says.

use model::lists::VECTORS_MIN;
use schema::fault::{NoEffect, Warning};

pub(crate) fn warning(warning: Warning) -> String {
    match warning {
        Warning::NoEffect(option) => no_effect(option),
        Warning::DateTiered => "DateTieredCompactionStrategy is gone since Cassandra 4: the table has TimeWindowCompactionStrategy with windows of a \
             day. Say another window WITH compaction if rows are kept much longer or shorter"
            .into(),
        Warning::Written(text) => text,
        Warning::FactorAboveNodes { factor, keyspace, data_center } => {
            let place =
                data_center.as_ref().map_or_else(String::new, |name| format!(" for datacenter {name}"));
            format!(
                "Your replication factor {factor} for keyspace {keyspace} is higher than the number of nodes 1{place}. \
                 Partita keeps one copy of the data and serves every consistency level from it."
            )
        }
        Warning::ProviderNotLoaded { provider } => format!(
            "Provider functionality not implemented. Provider '{provider}' will not be loaded or invoked."
        ),
        Warning::VectorsNearly { column } => format!(
            "The index on {column} finds nearly all of the nearest rows once its table has {VECTORS_MIN} vectors, without looking at every \
             one. Until then, and where a statement names partitions, ANN OF compares with every row and is exact. EXPLAIN tells \
             which way a statement goes"
        ),
    }
}

fn no_effect(option: NoEffect) -> String {
    let (name, why) = match option {
        NoEffect::CacheOnFlush => ("populate_io_cache_on_flush", "the block cache takes what is read"),
        NoEffect::IndexInterval => (
            "index_interval",
            "files find their rows by blocks; min_index_interval and max_index_interval are kept",
        ),
        NoEffect::LocalReadRepair => {
            ("dclocal_read_repair_chance", "there is one copy, so there is nothing to repair")
        }
        NoEffect::ReadRepair => ("read_repair_chance", "there is one copy, so there is nothing to repair"),
        NoEffect::ReplicateOnWrite => {
            ("replicate_on_write", "counters are in the commit that changes them, always")
        }
        NoEffect::InMemory => ("in_memory", "what is read often is in memory anyway"),
        NoEffect::PaxosGrace => {
            ("paxos_grace_seconds", "conditional writes keep no state beside the rows here")
        }
        NoEffect::PartitionRate => (
            "per_partition_rate_limit",
            "partitions have no rates here; hot ones are in system_views.hot_partitions",
        ),
        NoEffect::StorageEngine => ("storage_engine", "there is one storage engine here"),
        NoEffect::SynchronousUpdates => {
            ("synchronous_updates", "views are in the commit of their table here, always")
        }
        NoEffect::Tablets => ("tablets", "there are no tablets here; shards divide the token range"),
        NoEffect::TombstoneGc => ("tombstone_gc", "tombstones go when nothing older can be beneath them"),
        NoEffect::Cdc => {
            return "The option cdc is kept and has no effect: there is no log of changes for CQL tables"
                .into();
        }
    };
    format!("The option {name} has no effect: {why}")
}
