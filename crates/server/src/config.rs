//! The server's settings: addresses, limits, security. Only the binary reads flags and files.

pub use cluster::{Contact, ContactError, Login, parse_contacts};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub data: PathBuf,
    pub cql: SocketAddr,
    /// The address that clients are told to connect to; `None`: that of `cql`, or the machine's if that is all addresses.
    pub advertise: Option<IpAddr>,
    /// Where shard-aware drivers connect; `None` offers no sharding extension.
    pub shard_aware: Option<SocketAddr>,
    pub http: Option<SocketAddr>,
    /// `None`: the DynamoDB API is not served.
    pub dynamo: Option<Dynamo>,
    pub shards: usize,
    pub durability: Durability,
    pub auth: Auth,
    pub tls: Option<Tls>,
    /// `None`: nothing is recorded.
    pub audit: Option<crate::audit::Settings>,
    /// Where findings are sent.
    pub alerts: Option<crate::post::Target>,
    /// How often indexes, views and projections are compared with their tables; `None`: when somebody asks.
    pub check_copies_every: Option<Duration>,
    /// From how many bytes on a partition is too large where its table says nothing: its writers are warned; `None`: never.
    pub partition_bytes: Option<u64>,
    /// Where spans and metrics are sent.
    pub otlp: Option<crate::otlp::Settings>,
    pub cluster_name: String,
    /// What clients see as this node's place; keyspaces with `NetworkTopologyStrategy` name the data center.
    pub data_center: String,
    pub rack: String,
    pub limits: Limits,
    /// Functions in Lua and WebAssembly run; else they are only kept.
    pub functions: bool,
    /// What this server refuses is refused here as well.
    pub act_as: Option<design::act_as::Profile>,
    /// The data is in a cluster, and this is a front end of it; `None`: it is in the embedded engine.
    pub cluster: Option<Cluster>,
}

impl Config {
    /// Durable, without authentication, on free loopback ports.
    pub fn loopback(data: impl Into<PathBuf>, shards: usize) -> Config {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Config {
            data: data.into(),
            cql: any,
            advertise: None,
            shard_aware: Some(any),
            http: Some(any),
            dynamo: Some(Dynamo::at(any)),
            shards,
            durability: Durability::Sync,
            auth: Auth::None,
            tls: None,
            audit: None,
            alerts: None,
            check_copies_every: None,
            partition_bytes: Some(cql::system::PARTITION_BYTES),
            otlp: None,
            cluster_name: "Partita".into(),
            data_center: "datacenter1".into(),
            rack: "rack1".into(),
            limits: Limits::default(),
            functions: false,
            act_as: None,
            cluster: None,
        }
    }
}

/// A Cassandra cluster behind a front end.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub contacts: Vec<Contact>,
    /// The front end's own account. With [`Auth::None`] it is everybody's.
    pub login: Option<Login>,
    /// Writes and schema changes go through; otherwise they are refused.
    pub writes: bool,
    /// Requests go to this one only; `None`: that of the node that answers first.
    pub data_center: Option<String>,
    pub tls: Option<ClusterTls>,
    /// The second cluster of a migration.
    pub mirror: Option<Mirror>,
}

/// A second cluster, which a database moves to.
#[derive(Clone, Debug)]
pub struct Mirror {
    pub contacts: Vec<Contact>,
    pub login: Option<Login>,
    pub tls: Option<ClusterTls>,
    /// The folder that remembers how far the migration is.
    pub state: PathBuf,
}

/// TLS towards the cluster.
#[derive(Clone, Debug)]
pub struct ClusterTls {
    /// Authorities that sign the nodes' certificates.
    pub ca: PathBuf,
    /// What the front end shows, if nodes ask: certificate chain and key.
    pub own: Option<(PathBuf, PathBuf)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Acknowledged means fsynced.
    Sync,
    /// Acknowledged means handed to the kernel; fsync in the background.
    Periodic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    None,
    Password,
}

/// The DynamoDB API.
#[derive(Clone, Debug)]
pub struct Dynamo {
    pub address: SocketAddr,
    /// The server does not start if the address cannot be had; otherwise it serves without the API and says so.
    pub is_wanted: bool,
    /// In the names of tables.
    pub region: String,
    /// Tables are kept to their provisioned throughput.
    pub throttle: bool,
    /// What the service refuses and this server can do is allowed.
    pub extensions: bool,
    /// Refusals are worded as the service words them since 2026.
    pub newer_texts: bool,
    /// Requests must carry credentials, whatever they are; with authentication they are verified anyway.
    pub wants_credentials: bool,
    /// Folders that stand for buckets.
    pub buckets: Vec<(String, PathBuf)>,
}

impl Dynamo {
    pub fn at(address: SocketAddr) -> Dynamo {
        Dynamo {
            address,
            is_wanted: true,
            region: "us-east-1".into(),
            throttle: false,
            extensions: false,
            newer_texts: false,
            wants_credentials: false,
            buckets: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// Clients must show a certificate that one of these authorities signed.
    pub client_ca: Option<PathBuf>,
}

/// Limits that somebody may need to change.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections of clients on all ports where shards serve; less if the process may not open so many files.
    pub connections_max: usize,
    /// Of these, from one address; `None`: half, and all from this machine.
    pub connections_per_address_max: Option<usize>,
    pub http_connections_max: usize,
    /// All memory that clients can make the server use, data included; `None`: three quarters of the machine's.
    pub memory_bytes_max: Option<usize>,
    /// Longest request body.
    pub frame_bytes_max: usize,
    /// Requests of one connection under way at once; more are not read until some are answered.
    pub in_flight_per_connection_max: usize,
    /// Bytes of requests under way on one shard; more are answered with "overloaded".
    pub in_flight_bytes_max: usize,
    /// Bytes of answers to reads that are under way or not taken yet, on one shard; more wait for room.
    pub answer_bytes_max: usize,
    pub statement_bytes_max: usize,
    /// Longest text of a statement; values that are bound do not count.
    pub statement_text_bytes_max: usize,
    pub page_bytes_max: usize,
    pub memtable_bytes_max: usize,
    pub cache_bytes_max: usize,
    /// A connection that has not finished STARTUP and authentication by then is closed.
    pub handshake_timeout: Duration,
    /// A message that has begun must arrive whole within this time.
    pub message_timeout: Duration,
    /// The head of an HTTP request must be there within this time.
    pub http_head_timeout: Duration,
    /// An HTTP connection ends after this time.
    pub http_connection_timeout: Duration,
    pub tombstones_warn: u64,
    pub tombstones_fail: u64,
    /// Clustering keys and indexed values may be longer than 64 KiB, which no Cassandra could take.
    pub large_keys: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 4096,
            connections_per_address_max: None,
            http_connections_max: 64,
            memory_bytes_max: None,
            frame_bytes_max: 16 << 20,
            in_flight_per_connection_max: 1024,
            in_flight_bytes_max: 256 << 20,
            answer_bytes_max: 256 << 20,
            statement_bytes_max: 16 << 20,
            statement_text_bytes_max: 1 << 20,
            page_bytes_max: 8 << 20,
            memtable_bytes_max: 128 << 20,
            cache_bytes_max: 256 << 20,
            handshake_timeout: Duration::from_secs(10),
            message_timeout: Duration::from_secs(30),
            http_head_timeout: Duration::from_secs(10),
            http_connection_timeout: Duration::from_secs(120),
            tombstones_warn: 1_000,
            tombstones_fail: 100_000,
            large_keys: false,
        }
    }
}
