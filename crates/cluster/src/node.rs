//! The nodes of a cluster and which of them owns a token.

use std::fmt;
use std::net::SocketAddr;

/// One node, as the cluster's own tables tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub address: SocketAddr,
    pub host_id: [u8; 16],
    pub data_center: String,
    pub rack: String,
    pub release_version: String,
    pub schema_version: [u8; 16],
    pub tokens: Vec<i64>,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.address, self.data_center, self.rack)
    }
}

/// What is known of a cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    pub cluster_name: String,
    pub partitioner: String,
    pub cql_version: String,
    /// As SUPPORTED lists them: `4/v4`.
    pub protocol_versions: Vec<String>,
    /// Requests go to nodes of this one only.
    pub data_center: String,
    /// Every node of the cluster, in the order of their addresses.
    pub all: Vec<Node>,
    /// Those of the data center; what [`Topology::owner`] numbers.
    pub nodes: Vec<Node>,
    /// Token and the number of its node, in the order of tokens; empty if keys cannot be hashed here.
    ring: Vec<(i64, u16)>,
}

impl Topology {
    /// `all` may be in any order. Without a node in `data_center`, all nodes are used.
    pub fn new(mut all: Vec<Node>, data_center: &str, partitioner: &str) -> Topology {
        all.sort_by_key(|node| node.address);
        all.dedup_by_key(|node| node.address);
        let mut nodes: Vec<Node> = all.iter().filter(|n| n.data_center == data_center).cloned().collect();
        if nodes.is_empty() {
            nodes.clone_from(&all);
        }
        let mut ring = Vec::new();
        if partitioner.ends_with("Murmur3Partitioner") {
            for (index, node) in nodes.iter().enumerate() {
                let index = u16::try_from(index).unwrap_or(u16::MAX);
                ring.extend(node.tokens.iter().map(|token| (*token, index)));
            }
            ring.sort_unstable();
        }
        Topology {
            partitioner: partitioner.to_owned(),
            data_center: data_center.to_owned(),
            all,
            nodes,
            ring,
            ..Topology::default()
        }
    }

    /// The node of this data center that owns the token: the first one clockwise. With every replication strategy it is
    /// a replica, if the keyspace has any here, so no schema is needed to find it.
    pub fn owner(&self, token: i64) -> Option<usize> {
        let at = self.ring.partition_point(|(start, _)| *start < token);
        let (_, node) = self.ring.get(at).or_else(|| self.ring.first())?;
        Some(usize::from(*node))
    }

    /// The lowest version that any node runs: what all of them understand.
    pub fn release_version(&self) -> &str {
        let numbers =
            |text: &str| -> Vec<u32> { text.split(['.', '-']).map_while(|part| part.parse().ok()).collect() };
        let versions = self.all.iter().map(|node| node.release_version.as_str());
        versions.min_by_key(|version| numbers(version)).unwrap_or_default()
    }

    /// Whether every node has the same schema.
    pub fn agrees(&self) -> bool {
        self.all.windows(2).all(|pair| pair[0].schema_version == pair[1].schema_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8, data_center: &str, version: &str, tokens: &[i64]) -> Node {
        Node {
            address: SocketAddr::from(([127, 0, 0, number], 9042)),
            host_id: [number; 16],
            data_center: data_center.into(),
            rack: "r".into(),
            release_version: version.into(),
            schema_version: [1; 16],
            tokens: tokens.to_vec(),
        }
    }

    const MURMUR: &str = "org.apache.cassandra.dht.Murmur3Partitioner";

    #[test]
    fn a_token_belongs_to_the_next_one_clockwise_in_this_data_center() {
        let all = vec![
            node(2, "a", "5.0.6", &[0]),
            node(1, "a", "5.0.6", &[-100, 100]),
            node(3, "b", "4.1.9", &[-50]),
        ];
        let topology = Topology::new(all, "a", MURMUR);
        let owner = |token| topology.nodes[topology.owner(token).unwrap()].address.to_string();
        assert_eq!(owner(-100), "127.0.0.1:9042");
        assert_eq!(owner(-99), "127.0.0.2:9042");
        assert_eq!(owner(1), "127.0.0.1:9042");
        assert_eq!(owner(101), "127.0.0.1:9042");
        assert_eq!((topology.nodes.len(), topology.all.len()), (2, 3));
        assert_eq!(topology.release_version(), "4.1.9");
    }

    #[test]
    fn without_murmur3_nobody_owns_a_token() {
        let topology = Topology::new(vec![node(1, "a", "5", &[0])], "a", "RandomPartitioner");
        assert_eq!(topology.owner(3), None);
    }
}
