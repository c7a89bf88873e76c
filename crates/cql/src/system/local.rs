//! `system.local` and what else describes this one node.

use super::cells::*;
use super::node::{Live, NodeInfo};
use super::rows::Filler;
use schema::Catalogue;
use std::sync::Arc;

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

/// One range per token and user table, so that clients that split scans by it find the whole ring. How many partitions a table
/// has and how large they are on the average is known; tokens are spread evenly, so each range has its share of them.
pub(super) fn size_estimates(
    filler: &mut Filler<'_>,
    node: &NodeInfo,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
) {
    let mut tokens = node.tokens.clone();
    tokens.sort_unstable();
    let sizes = live.map(|live| live.table_sizes()).unwrap_or_default();
    let user = catalogue.keyspaces.values().filter(|keyspace| !keyspace.is_system());
    for table in user.flat_map(|keyspace| keyspace.tables.values()) {
        let (partitions, bytes) = sizes.get(&table.id).map_or((0, 0), |size| (size.partitions, size.bytes));
        let mean = i64::try_from(bytes / partitions.max(1)).unwrap_or(i64::MAX);
        let mut before = 0;
        let starts = tokens.iter().cycle().skip(tokens.len().saturating_sub(1));
        for (start, end) in starts.zip(&tokens) {
            // Counted from the first token on, so that the shares add up to all partitions.
            let until = match tokens.last() == Some(end) {
                true => partitions,
                false => share(partitions, width(tokens.last().unwrap_or(end), end)),
            };
            let count = until.saturating_sub(std::mem::replace(&mut before, until));
            filler.row(&[
                ("keyspace_name", text(&table.keyspace)),
                ("table_name", text(&table.name)),
                ("range_start", text(start.to_string())),
                ("range_end", text(end.to_string())),
                ("mean_partition_size", bigint(mean)),
                ("partitions_count", bigint(i64::try_from(count).unwrap_or(i64::MAX))),
            ]);
        }
    }
}

/// How far one token is behind another on the ring.
fn width(start: &i64, end: &i64) -> u64 {
    end.wrapping_sub(*start) as u64
}

/// The part of a count that belongs to so much of the ring.
fn share(count: u64, width: u64) -> u64 {
    ((u128::from(count) * u128::from(width)) >> 64) as u64
}
