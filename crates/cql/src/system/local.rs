//! `system.local` and what else describes this one node.

use super::cells::*;
use super::node::NodeInfo;
use super::rows::Filler;
use schema::Catalogue;

pub(super) fn local(filler: &mut Filler<'_>, node: &NodeInfo, catalogue: &Catalogue) {
    filler.row(&[
        ("key", text("local")),
        ("bootstrapped", text("COMPLETED")),
        ("broadcast_address", inet(node.address)),
        ("broadcast_port", int(node.storage_port.into())),
        ("cluster_name", text(&node.cluster_name)),
        ("cql_version", text(&node.cql_version)),
        ("data_center", text(&node.data_center)),
        ("gossip_generation", int(node.gossip_generation)),
        ("host_id", uuid(&node.host_id)),
        ("listen_address", inet(node.address)),
        ("listen_port", int(node.storage_port.into())),
        ("native_protocol_version", text(&node.native_protocol_version)),
        ("partitioner", text(&node.partitioner)),
        ("rack", text(&node.rack)),
        ("release_version", text(&node.release_version)),
        ("rpc_address", inet(node.address)),
        ("rpc_port", int(node.port.into())),
        ("schema_version", uuid(&catalogue.version)),
        ("tokens", text_set(node.tokens.iter().map(i64::to_string))),
    ]);
}

/// One range per token and user table, so that clients that split scans by it find the whole ring. The sizes are not
/// known here and say zero, which such clients take as "small".
pub(super) fn size_estimates(filler: &mut Filler<'_>, node: &NodeInfo, catalogue: &Catalogue) {
    let mut tokens = node.tokens.clone();
    tokens.sort_unstable();
    let user = catalogue.keyspaces.values().filter(|keyspace| !keyspace.is_system());
    for table in user.flat_map(|keyspace| keyspace.tables.values()) {
        let starts = tokens.iter().cycle().skip(tokens.len().saturating_sub(1));
        for (start, end) in starts.zip(&tokens) {
            filler.row(&[
                ("keyspace_name", text(&table.keyspace)),
                ("table_name", text(&table.name)),
                ("range_start", text(start.to_string())),
                ("range_end", text(end.to_string())),
                ("mean_partition_size", bigint(0)),
                ("partitions_count", bigint(0)),
            ]);
        }
    }
}
