//! What the server knows about itself and its clients, as the system tables need it.

use super::findings::Standing;
use database::traffic::Seen;
use observe::{Slot, TableSize, Window};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use store::Lag;

/// Facts about this node that do not change while it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeInfo {
    pub cluster_name: String,
    pub data_center: String,
    pub rack: String,
    pub host_id: [u8; 16],
    /// Where clients connect; never the unspecified address, which clients could not use.
    pub address: IpAddr,
    pub port: u16,
    /// Cassandra's port between nodes; nobody listens there.
    pub storage_port: u16,
    pub tokens: Vec<i64>,
    pub release_version: String,
    pub cql_version: String,
    pub native_protocol_version: String,
    pub partitioner: String,
    pub snitch: String,
    /// Seconds; when the server started.
    pub gossip_generation: i32,
    pub shards: u32,
    /// Shown in `system_views.settings`.
    pub settings: BTreeMap<String, String>,
}

impl Default for NodeInfo {
    fn default() -> NodeInfo {
        NodeInfo {
            cluster_name: "Partita".into(),
            data_center: database::catalogue::DATA_CENTER.into(),
            rack: "rack1".into(),
            host_id: [0; 16],
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 9042,
            storage_port: 7000,
            tokens: spread_tokens(16),
            release_version: "5.0.0".into(),
            cql_version: "3.4.7".into(),
            native_protocol_version: "5".into(),
            partitioner: "org.apache.cassandra.dht.Murmur3Partitioner".into(),
            snitch: "SimpleSnitch".into(),
            gossip_generation: 0,
            shards: 1,
            settings: BTreeMap::new(),
        }
    }
}

/// Tokens at equal distances. The node owns the whole ring whatever they are; some clients split scans by them.
fn spread_tokens(count: u64) -> Vec<i64> {
    let step = u64::MAX / count;
    (0..count).map(|n| ((n * step) ^ (1 << 63)) as i64).map(|token| token.max(i64::MIN + 1)).collect()
}

/// One client connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    pub address: IpAddr,
    pub port: u16,
    /// The map of STARTUP.
    pub options: BTreeMap<String, String>,
    /// `startup`, `authentication` or `ready`.
    pub stage: String,
    pub keyspace: Option<String>,
    pub protocol_version: i32,
    pub requests: i64,
    pub username: String,
    /// Protocol and cipher suite of a TLS connection.
    pub tls: Option<(String, String)>,
}

/// One prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedInfo {
    pub id: [u8; 16],
    pub keyspace: Option<String>,
    pub query: String,
}

/// One entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditInfo {
    pub number: i64,
    pub at_millis: i64,
    pub event: String,
    pub outcome: String,
    pub role: Option<String>,
    pub address: IpAddr,
    pub port: u16,
    pub keyspace: Option<String>,
    pub table: Option<String>,
    pub statement: Option<String>,
    pub error: Option<String>,
    pub message: Option<String>,
}

/// What changes while the server runs; asked on every read.
/// What the review and Cassandra's guardrails call a large partition.
pub const PARTITION_BYTES: u64 = 100_000_000;

pub trait Live: Send + Sync {
    fn clients(&self) -> Vec<ClientInfo>;
    fn prepared(&self) -> Vec<PreparedInfo>;
    /// The latest entries of the audit log.
    fn audit(&self) -> Vec<AuditInfo> {
        Vec::new()
    }
    /// What statements did, by shape.
    fn traffic(&self) -> Vec<Seen> {
        Vec::new()
    }
    /// Since when (milliseconds) this number of a pattern is exceeded, or any.
    fn breached_since(&self, _keyspace: &str, _pattern: &str, _number: Option<&str>) -> Option<i64> {
        None
    }
    /// What is wrong now.
    fn findings(&self) -> Vec<Standing> {
        Vec::new()
    }
    /// How large tables are, by id.
    fn table_sizes(&self) -> BTreeMap<u32, TableSize> {
        BTreeMap::new()
    }
    /// How far a copy is behind whose pending entries this table holds.
    fn lag(&self, _pending: u32) -> Option<Lag> {
        None
    }
    /// From how many bytes on a partition is too large where its table says nothing; `u64::MAX`: never.
    fn partition_bytes(&self) -> u64 {
        PARTITION_BYTES
    }
    /// What went where in each minute of the last hour, the oldest first.
    fn heat_map(&self) -> Vec<Slot> {
        Vec::new()
    }
    /// Which partitions the work went to.
    fn hot_partitions(&self, _: Window) -> Slot {
        Slot::default()
    }
}
