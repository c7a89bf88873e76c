//! Options of `partita serve`: from flags, then `PARTITA_…` variables, then `partita.toml`, then defaults.

mod cluster;

use clap::{Args, ValueEnum};
use cql::system::{PARTITION_BYTES, size_in_bytes};
use design::act_as::Profile;
use serde::Deserialize;
use server::audit::{Category, Rules, Settings};
use server::config::{Auth, Config, Durability, Dynamo, Limits, Tls};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file that is read when it exists and no other is named.
const DEFAULT_FILE: &str = "partita.toml";

/// Copies are compared with their tables once a week unless somebody says otherwise.
const CHECK_COPIES_DAYS: u32 = 7;

/// Where data lives unless somebody says otherwise.
const DEFAULT_DATA: &str = "partita-data";

#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ServeOptions {
    /// Configuration file; it may hold every option below as `name = value` [default: partita.toml if present]
    #[arg(long, env = "PARTITA_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Where data lives; created if absent [default: ./partita-data]
    #[arg(long, env = "PARTITA_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address for CQL clients; port 0 picks a free one [default: 127.0.0.1:9042]
    #[arg(long, env = "PARTITA_CQL", value_name = "ADDR")]
    cql: Option<SocketAddr>,
    /// Address that clients are told to connect to, without port [default: the CQL address; if that is 0.0.0.0 or [::], this machine's]
    #[arg(long, env = "PARTITA_ADVERTISE", value_name = "IP")]
    advertise: Option<IpAddr>,
    /// Address for shard-aware CQL drivers; port 0 picks a free one [default: the CQL address, port 19042 (a free one if --cql has another port than 9042)]
    #[arg(long, env = "PARTITA_CQL_SHARD_AWARE", value_name = "ADDR")]
    cql_shard_aware: Option<SocketAddr>,
    /// Do not offer ScyllaDB's sharding extension
    #[arg(long, env = "PARTITA_NO_SHARD_AWARE")]
    no_shard_aware: bool,
    /// Address for the console, /health and /metrics; the last two never ask for a password [default: 127.0.0.1:9180]
    #[arg(long, env = "PARTITA_HTTP", value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Address for clients of the DynamoDB API; port 0 picks a free one [default: the CQL address, port 8000 (a free one if --cql has another port than 9042)]
    #[arg(long, env = "PARTITA_DYNAMO", value_name = "ADDR")]
    dynamo: Option<SocketAddr>,
    /// Do not serve the DynamoDB API
    #[arg(long, env = "PARTITA_NO_DYNAMO")]
    no_dynamo: bool,
    /// Region in the names of DynamoDB tables (ARNs); requests may be signed for any [default: us-east-1]
    #[arg(long, env = "PARTITA_DYNAMO_REGION", value_name = "NAME")]
    dynamo_region: Option<String>,
    /// Hold DynamoDB tables to their provisioned throughput, so that you can test your retries
    #[arg(long, env = "PARTITA_DYNAMO_THROTTLE")]
    dynamo_throttle: bool,
    /// Allow what DynamoDB itself refuses: consistent reads of global secondary indexes
    #[arg(long, env = "PARTITA_DYNAMO_EXTENSIONS")]
    dynamo_extensions: bool,
    /// Word refusals as DynamoDB does since 2026, where that differs from what clients and their tests know
    #[arg(long, env = "PARTITA_DYNAMO_NEWER_TEXTS")]
    dynamo_newer_texts: bool,
    /// Also serve DynamoDB requests without credentials, which DynamoDB refuses (without --auth, any credentials will do)
    #[arg(long, env = "PARTITA_DYNAMO_ANONYMOUS")]
    dynamo_anonymous: bool,
    /// A folder that stands for a bucket in exports and imports of DynamoDB tables: name=DIR; may be given several times
    #[arg(long, env = "PARTITA_BUCKET", value_name = "NAME=DIR", value_delimiter = ',')]
    bucket: Vec<String>,
    /// Number of shards, one thread each [default: the number of cores]
    #[arg(long, env = "PARTITA_SHARDS", value_name = "N")]
    shards: Option<usize>,
    /// When a write is acknowledged: `sync` after fsync, `periodic` once the kernel has it [default: sync]
    #[arg(long, env = "PARTITA_DURABILITY", value_enum)]
    durability: Option<DurabilityOption>,
    /// Who may connect: anybody, or roles with a password [default: none]
    #[arg(long, env = "PARTITA_AUTH", value_enum)]
    auth: Option<AuthOption>,
    /// Folder for the audit log, or `off` [default: with --auth password the folder `audit` in --data, else off]
    #[arg(long, env = "PARTITA_AUDIT", value_name = "DIR|off")]
    audit: Option<PathBuf>,
    /// What is recorded there: some of logins,roles,schema,reads,writes [default: logins,roles,schema]
    #[arg(long, env = "PARTITA_AUDIT_RECORD", value_name = "LIST")]
    audit_record: Option<String>,
    /// Record reads and writes of these tables only: keyspaces or keyspace.table, with commas [default: all]
    #[arg(long, env = "PARTITA_AUDIT_TABLES", value_name = "LIST")]
    audit_tables: Option<String>,
    /// Record reads and writes by these roles only, with commas [default: all]
    #[arg(long, env = "PARTITA_AUDIT_ROLES", value_name = "LIST")]
    audit_roles: Option<String>,
    /// Longest file of the audit log, in MiB; then another begins [default: 64]
    #[arg(long, env = "PARTITA_AUDIT_FILE_MIB", value_name = "MIB")]
    audit_file_mib: Option<usize>,
    /// Files of the audit log that are kept; older ones are deleted [default: 16]
    #[arg(long, env = "PARTITA_AUDIT_FILES", value_name = "N")]
    audit_files: Option<usize>,
    /// Where new findings are sent, as a POST of JSON: http://host:port/path, or https [default: nowhere]
    #[arg(long, env = "PARTITA_ALERTS_URL", value_name = "URL")]
    alerts_url: Option<String>,
    /// How often every index, view and projection is compared with its table, in days; 0: only by CHECK PROJECTION [default: 7]
    #[arg(long, env = "PARTITA_CHECK_COPIES_DAYS", value_name = "DAYS")]
    check_copies_days: Option<u32>,
    /// A partition of this size (100MB, 1GiB, …) is a finding and its writers are warned, unless its table has a partition_limit; off: never [default: 100MB]
    #[arg(long, env = "PARTITA_PARTITION_LIMIT", value_name = "SIZE")]
    partition_limit: Option<String>,
    /// An OpenTelemetry collector, http://host:port or https, that gets metrics and a sample of requests [default: none]
    #[arg(long, env = "PARTITA_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// With --otlp-endpoint, one request in N becomes a span [default: 1000]
    #[arg(long, env = "PARTITA_OTLP_SAMPLE_EVERY", value_name = "N")]
    otlp_sample_every: Option<u64>,
    /// Certificate chain (PEM); with --tls-key, CQL clients must use TLS
    #[arg(long, env = "PARTITA_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key (PEM)
    #[arg(long, env = "PARTITA_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Authorities (PEM): clients must show a certificate that one of them signed
    #[arg(long, env = "PARTITA_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Where the data is: `embedded`, or a Cassandra cluster that this server is a front end of, `cassandra://host1[:port],host2` [default: embedded]
    #[arg(long, env = "PARTITA_ENGINE", value_name = "ENGINE")]
    engine: Option<String>,
    /// Let writes and schema changes through to the cluster; without it a front end is read-only
    #[arg(long, env = "PARTITA_CLUSTER_WRITES")]
    cluster_writes: bool,
    /// The front end's account on the cluster; without --auth password every client uses it
    #[arg(long, env = "PARTITA_CLUSTER_USER", value_name = "ROLE")]
    cluster_user: Option<String>,
    /// File that holds the password of --cluster-user
    #[arg(long, env = "PARTITA_CLUSTER_PASSWORD_FILE", value_name = "FILE")]
    cluster_password_file: Option<PathBuf>,
    /// Authorities (PEM) that sign the certificates of the cluster's nodes; with it, nodes are reached over TLS
    #[arg(long, env = "PARTITA_CLUSTER_TLS_CA", value_name = "FILE")]
    cluster_tls_ca: Option<PathBuf>,
    /// Certificate chain (PEM) that the front end shows to nodes
    #[arg(long, env = "PARTITA_CLUSTER_TLS_CERT", value_name = "FILE")]
    cluster_tls_cert: Option<PathBuf>,
    /// Private key (PEM) of --cluster-tls-cert
    #[arg(long, env = "PARTITA_CLUSTER_TLS_KEY", value_name = "FILE")]
    cluster_tls_key: Option<PathBuf>,
    /// A second cluster that a database is moved to (docs/moving-data.md): `cassandra://host1[:port],host2`
    #[arg(long, env = "PARTITA_MIRROR", value_name = "CLUSTER")]
    mirror: Option<String>,
    /// Folder that remembers how far the migration is; `partita migrate` finds the front end by it
    #[arg(long, env = "PARTITA_MIRROR_STATE", value_name = "DIR")]
    mirror_state: Option<PathBuf>,
    /// The front end's account on the second cluster
    #[arg(long, env = "PARTITA_MIRROR_USER", value_name = "ROLE")]
    mirror_user: Option<String>,
    /// File that holds the password of --mirror-user
    #[arg(long, env = "PARTITA_MIRROR_PASSWORD_FILE", value_name = "FILE")]
    mirror_password_file: Option<PathBuf>,
    /// Authorities (PEM) that sign the certificates of the second cluster's nodes
    #[arg(long, env = "PARTITA_MIRROR_TLS_CA", value_name = "FILE")]
    mirror_tls_ca: Option<PathBuf>,
    /// Name of the cluster that clients see [default: Partita]
    #[arg(long, env = "PARTITA_CLUSTER_NAME", value_name = "NAME")]
    cluster_name: Option<String>,
    /// Data center that clients see and `NetworkTopologyStrategy` names; on a front end, the one whose nodes are asked [default: datacenter1; on a front end, that of the first node that answers]
    #[arg(long, env = "PARTITA_DATACENTER", value_name = "NAME")]
    datacenter: Option<String>,
    /// Rack that clients see [default: rack1]
    #[arg(long, env = "PARTITA_RACK", value_name = "NAME")]
    rack: Option<String>,
    /// Serve on addresses that other machines can reach although anybody may connect (no authentication; --http never has any)
    #[arg(long, env = "PARTITA_ALLOW_ANYBODY_ON_THE_NETWORK")]
    allow_anybody_on_the_network: bool,
    /// All memory that data and clients may take, in MiB; the other limits are parts of it [default: three quarters of the machine's]
    #[arg(long, env = "PARTITA_MEMORY_MIB", value_name = "MIB")]
    memory_mib: Option<usize>,
    /// Memory for recent writes before they are flushed, in MiB [default: 128]
    #[arg(long, env = "PARTITA_MEMTABLE_MIB", value_name = "MIB")]
    memtable_mib: Option<usize>,
    /// Memory for cached blocks, in MiB [default: 256]
    #[arg(long, env = "PARTITA_CACHE_MIB", value_name = "MIB")]
    cache_mib: Option<usize>,
    /// Most client connections at once; fewer if the process may not open so many files [default: 4096]
    #[arg(long, env = "PARTITA_CONNECTIONS_MAX", value_name = "N")]
    connections_max: Option<usize>,
    /// Most client connections from one address [default: half of --connections-max, and no limit for this machine]
    #[arg(long, env = "PARTITA_CONNECTIONS_PER_ADDRESS_MAX", value_name = "N")]
    connections_per_address_max: Option<usize>,
    /// Most connections to the HTTP listener at once [default: 64]
    #[arg(long, env = "PARTITA_HTTP_CONNECTIONS_MAX", value_name = "N")]
    http_connections_max: Option<usize>,
    /// Longest request, in MiB [default: 16]
    #[arg(long, env = "PARTITA_FRAME_MIB_MAX", value_name = "MIB")]
    frame_mib_max: Option<usize>,
    /// Requests of one connection under way at once; more wait in the socket [default: 1024]
    #[arg(long, env = "PARTITA_IN_FLIGHT_MAX", value_name = "N")]
    in_flight_max: Option<usize>,
    /// Bytes of requests under way on one shard, in MiB; more are refused as overloaded [default: 256]
    #[arg(long, env = "PARTITA_IN_FLIGHT_MIB_MAX", value_name = "MIB")]
    in_flight_mib_max: Option<usize>,
    /// Bytes of answers under way or not taken yet on one shard, in MiB; further answers wait for room, then are refused as overloaded [default: 256]
    #[arg(long, env = "PARTITA_ANSWERS_MIB_MAX", value_name = "MIB")]
    answers_mib_max: Option<usize>,
    /// Memory for the texts of prepared statements, in MiB [default: 16]
    #[arg(long, env = "PARTITA_STATEMENTS_MIB_MAX", value_name = "MIB")]
    statements_mib_max: Option<usize>,
    /// Longest text of a statement, in KiB; bound values do not count [default: 1024]
    #[arg(long, env = "PARTITA_STATEMENT_TEXT_KIB_MAX", value_name = "KIB")]
    statement_text_kib_max: Option<usize>,
    /// Longest page of a result, in MiB [default: 8]
    #[arg(long, env = "PARTITA_PAGE_MIB_MAX", value_name = "MIB")]
    page_mib_max: Option<usize>,
    /// Allow clustering keys and indexed values above 64 KiB, which Cassandra refuses
    #[arg(long, env = "PARTITA_ALLOW_LARGE_KEYS")]
    allow_large_keys: bool,
    /// Run functions that users write in Lua and WebAssembly, in a sandbox; without it they are stored but cannot be called
    #[arg(long, env = "PARTITA_FUNCTIONS")]
    functions: bool,
    /// Refuse what the named server refuses, so that what works here works there: cassandra-4, cassandra-5, keyspaces or scylla
    #[arg(long, env = "PARTITA_ACT_AS", value_name = "SERVER")]
    act_as: Option<ActAs>,
    /// Log level: error, warn, info, debug, trace, or per module [default: info]
    #[arg(long, env = "PARTITA_LOG", value_name = "LEVEL")]
    log: Option<String>,
    /// Write the log as JSON lines
    #[arg(long, env = "PARTITA_LOG_JSON")]
    log_json: bool,
}

/// Servers whose refusals can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
pub enum ActAs {
    #[value(name = "cassandra-4")]
    #[serde(rename = "cassandra-4")]
    Cassandra4,
    #[value(name = "cassandra-5")]
    #[serde(rename = "cassandra-5")]
    Cassandra5,
    #[serde(rename = "keyspaces")]
    Keyspaces,
    #[serde(rename = "scylla")]
    Scylla,
}

impl From<ActAs> for Profile {
    fn from(server: ActAs) -> Profile {
        match server {
            ActAs::Cassandra4 => Profile::Cassandra4,
            ActAs::Cassandra5 => Profile::Cassandra5,
            ActAs::Keyspaces => Profile::Keyspaces,
            ActAs::Scylla => Profile::Scylla,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DurabilityOption {
    Sync,
    Periodic,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AuthOption {
    None,
    Password,
}

/// Options with every default filled in.
pub struct ServeSettings {
    pub server: Config,
    pub log: String,
    pub log_json: bool,
}

impl ServeOptions {
    /// Fills in the file and the defaults; the error is for the person at the terminal.
    pub fn resolve(self) -> Result<ServeSettings, String> {
        let file = self.read_file()?;
        let merged = self.over(file);
        merged.check()?;
        let cql = merged.cql.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 9042)));
        let shard_aware = merged
            .cql_shard_aware
            .unwrap_or_else(|| SocketAddr::new(cql.ip(), if cql.port() == 9042 { 19042 } else { 0 }));
        let http = merged.http.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 9180)));
        let auth = match merged.auth.unwrap_or(AuthOption::None) {
            AuthOption::None => Auth::None,
            AuthOption::Password => Auth::Password,
        };
        let dynamo = (!merged.no_dynamo).then(|| {
            let port = if cql.port() == 9042 { 8000 } else { 0 };
            merged.dynamo.unwrap_or_else(|| SocketAddr::new(cql.ip(), port))
        });
        let guarded = auth == Auth::Password || merged.tls_client_ca.is_some();
        let cluster = merged.cluster()?;
        let served: Vec<SocketAddr> = match cluster {
            Some(_) => vec![cql],
            None => [cql, shard_aware].into_iter().chain(dynamo).collect(),
        };
        check_exposure(&served, http, guarded, merged.allow_anybody_on_the_network)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let server = Config {
            data: merged.data.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_DATA)),
            cql,
            advertise: merged.advertise,
            shard_aware: (!merged.no_shard_aware).then_some(shard_aware),
            http: Some(http),
            dynamo: merged.dynamo_settings(dynamo)?,
            shards: merged.shards.unwrap_or(cores),
            durability: match merged.durability.unwrap_or(DurabilityOption::Sync) {
                DurabilityOption::Sync => Durability::Sync,
                DurabilityOption::Periodic => Durability::Periodic,
            },
            auth,
            functions: merged.functions,
            act_as: merged.act_as.map(Into::into),
            tls: merged.tls(),
            audit: merged.audit(auth)?,
            alerts: merged.alerts()?,
            check_copies_every: match merged.check_copies_days.unwrap_or(CHECK_COPIES_DAYS) {
                0 => None,
                days => Some(Duration::from_secs(u64::from(days) * 86_400)),
            },
            partition_bytes: merged.partition_bytes()?,
            otlp: merged.otlp()?,
            cluster_name: merged.cluster_name.clone().unwrap_or_else(|| "Partita".into()),
            data_center: merged.datacenter.clone().unwrap_or_else(|| "datacenter1".into()),
            rack: merged.rack.clone().unwrap_or_else(|| "rack1".into()),
            limits: merged.limits(),
            cluster,
        };
        let log = merged.log.unwrap_or_else(|| "info".into());
        Ok(ServeSettings { server, log, log_json: merged.log_json })
    }

    fn dynamo_settings(&self, address: Option<SocketAddr>) -> Result<Option<Dynamo>, String> {
        let Some(address) = address else { return Ok(None) };
        let mut buckets = Vec::with_capacity(self.bucket.len());
        for bucket in &self.bucket {
            let (name, dir) = bucket.split_once('=').filter(|(name, dir)| !name.is_empty() && !dir.is_empty()).ok_or_else(
                || format!("--bucket {bucket}: write it as name=DIR, for example --bucket exports=/var/lib/exports"),
            )?;
            buckets.push((name.to_string(), PathBuf::from(dir)));
        }
        Ok(Some(Dynamo {
            address,
            // A port that everybody uses for something may be taken: only who asked for it must have it.
            is_wanted: self.dynamo.is_some(),
            region: self.dynamo_region.clone().unwrap_or_else(|| "us-east-1".into()),
            throttle: self.dynamo_throttle,
            extensions: self.dynamo_extensions,
            newer_texts: self.dynamo_newer_texts,
            wants_credentials: !self.dynamo_anonymous,
            buckets,
        }))
    }

    /// From which size on a partition is too large; `None`: never.
    fn partition_bytes(&self) -> Result<Option<u64>, String> {
        match self.partition_limit.as_deref() {
            None => Ok(Some(PARTITION_BYTES)),
            Some("off") => Ok(None),
            Some(text) => match size_in_bytes(text).filter(|bytes| *bytes > 0) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(format!("--partition-limit is {text}; use a size such as 100MB or 1GiB, or off")),
            },
        }
    }

    /// Where findings are sent.
    fn alerts(&self) -> Result<Option<server::post::Target>, String> {
        self.alerts_url.as_deref().map(|url| server::post::Target::parse("--alerts-url", url)).transpose()
    }

    fn otlp(&self) -> Result<Option<server::otlp::Settings>, String> {
        let Some(url) = &self.otlp_endpoint else { return Ok(None) };
        let sample_every = self.otlp_sample_every.unwrap_or(1000);
        if sample_every == 0 {
            return Err(
                "--otlp-sample-every must be at least 1: one request in so many becomes a span".into()
            );
        }
        Ok(Some(server::otlp::Settings { target: server::otlp::Target::parse(url)?, sample_every }))
    }

    fn tls(&self) -> Option<Tls> {
        let files = self.tls_cert.clone().zip(self.tls_key.clone());
        files.map(|(cert, key)| Tls { cert, key, client_ca: self.tls_client_ca.clone() })
    }

    /// Where there are roles, what they do to each other and to the schema is recorded unless somebody says otherwise.
    fn audit(&self, auth: Auth) -> Result<Option<Settings>, String> {
        let dir = match &self.audit {
            Some(dir) if dir.as_os_str() == "off" => return Ok(None),
            Some(dir) => dir.clone(),
            None if auth == Auth::Password => {
                self.data.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_DATA)).join("audit")
            }
            None => return Ok(None),
        };
        let list = |names: &Option<String>| -> BTreeSet<String> {
            let names = names.as_deref().unwrap_or_default().split(',').map(str::trim);
            names.filter(|name| !name.is_empty()).map(str::to_string).collect()
        };
        let mut rules =
            Rules { tables: list(&self.audit_tables), roles: list(&self.audit_roles), ..Rules::usual() };
        if self.audit_record.is_some() {
            let named = |name: &String| {
                Category::named(name).ok_or_else(|| {
                    format!("--audit-record {name}: unknown; use some of logins,roles,schema,reads,writes")
                })
            };
            rules.categories = list(&self.audit_record).iter().map(named).collect::<Result<_, _>>()?;
        }
        let file_bytes_max = (self.audit_file_mib.unwrap_or(64) as u64).saturating_mul(1 << 20);
        Ok(Some(Settings { dir, rules, file_bytes_max, files_max: self.audit_files.unwrap_or(16) }))
    }

    fn limits(&self) -> Limits {
        let defaults = Limits::default();
        let mib = |value: Option<usize>, default: usize| value.map_or(default, |m| m.saturating_mul(1 << 20));
        Limits {
            memtable_bytes_max: mib(self.memtable_mib, defaults.memtable_bytes_max),
            cache_bytes_max: mib(self.cache_mib, defaults.cache_bytes_max),
            memory_bytes_max: self.memory_mib.map(|m| m.saturating_mul(1 << 20)),
            connections_max: self.connections_max.unwrap_or(defaults.connections_max),
            connections_per_address_max: self.connections_per_address_max,
            http_connections_max: self.http_connections_max.unwrap_or(defaults.http_connections_max),
            frame_bytes_max: mib(self.frame_mib_max, defaults.frame_bytes_max),
            in_flight_per_connection_max: self.in_flight_max.unwrap_or(defaults.in_flight_per_connection_max),
            in_flight_bytes_max: mib(self.in_flight_mib_max, defaults.in_flight_bytes_max),
            answer_bytes_max: mib(self.answers_mib_max, defaults.answer_bytes_max),
            statement_bytes_max: mib(self.statements_mib_max, defaults.statement_bytes_max),
            statement_text_bytes_max: self
                .statement_text_kib_max
                .map_or(defaults.statement_text_bytes_max, |kib| kib.saturating_mul(1 << 10)),
            page_bytes_max: mib(self.page_mib_max, defaults.page_bytes_max),
            large_keys: self.allow_large_keys,
            ..defaults
        }
    }

    fn read_file(&self) -> Result<ServeOptions, String> {
        let path = match &self.config {
            Some(path) => path.clone(),
            None if Path::new(DEFAULT_FILE).exists() => PathBuf::from(DEFAULT_FILE),
            None => return Ok(ServeOptions::default()),
        };
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// What the command line and environment say wins over the file.
    fn over(self, file: ServeOptions) -> ServeOptions {
        ServeOptions {
            config: self.config,
            data: self.data.or(file.data),
            cql: self.cql.or(file.cql),
            advertise: self.advertise.or(file.advertise),
            cql_shard_aware: self.cql_shard_aware.or(file.cql_shard_aware),
            no_shard_aware: self.no_shard_aware || file.no_shard_aware,
            http: self.http.or(file.http),
            dynamo: self.dynamo.or(file.dynamo),
            no_dynamo: self.no_dynamo || file.no_dynamo,
            dynamo_region: self.dynamo_region.or(file.dynamo_region),
            dynamo_throttle: self.dynamo_throttle || file.dynamo_throttle,
            dynamo_extensions: self.dynamo_extensions || file.dynamo_extensions,
            dynamo_newer_texts: self.dynamo_newer_texts || file.dynamo_newer_texts,
            dynamo_anonymous: self.dynamo_anonymous || file.dynamo_anonymous,
            bucket: if self.bucket.is_empty() { file.bucket } else { self.bucket },
            shards: self.shards.or(file.shards),
            durability: self.durability.or(file.durability),
            auth: self.auth.or(file.auth),
            audit: self.audit.or(file.audit),
            audit_record: self.audit_record.or(file.audit_record),
            audit_tables: self.audit_tables.or(file.audit_tables),
            audit_roles: self.audit_roles.or(file.audit_roles),
            audit_file_mib: self.audit_file_mib.or(file.audit_file_mib),
            audit_files: self.audit_files.or(file.audit_files),
            alerts_url: self.alerts_url.or(file.alerts_url),
            check_copies_days: self.check_copies_days.or(file.check_copies_days),
            partition_limit: self.partition_limit.or(file.partition_limit),
            otlp_endpoint: self.otlp_endpoint.or(file.otlp_endpoint),
            otlp_sample_every: self.otlp_sample_every.or(file.otlp_sample_every),
            tls_cert: self.tls_cert.or(file.tls_cert),
            tls_key: self.tls_key.or(file.tls_key),
            tls_client_ca: self.tls_client_ca.or(file.tls_client_ca),
            engine: self.engine.or(file.engine),
            cluster_writes: self.cluster_writes || file.cluster_writes,
            cluster_user: self.cluster_user.or(file.cluster_user),
            cluster_password_file: self.cluster_password_file.or(file.cluster_password_file),
            cluster_tls_ca: self.cluster_tls_ca.or(file.cluster_tls_ca),
            cluster_tls_cert: self.cluster_tls_cert.or(file.cluster_tls_cert),
            cluster_tls_key: self.cluster_tls_key.or(file.cluster_tls_key),
            mirror: self.mirror.or(file.mirror),
            mirror_state: self.mirror_state.or(file.mirror_state),
            mirror_user: self.mirror_user.or(file.mirror_user),
            mirror_password_file: self.mirror_password_file.or(file.mirror_password_file),
            mirror_tls_ca: self.mirror_tls_ca.or(file.mirror_tls_ca),
            cluster_name: self.cluster_name.or(file.cluster_name),
            datacenter: self.datacenter.or(file.datacenter),
            rack: self.rack.or(file.rack),
            allow_anybody_on_the_network: self.allow_anybody_on_the_network
                || file.allow_anybody_on_the_network,
            memory_mib: self.memory_mib.or(file.memory_mib),
            memtable_mib: self.memtable_mib.or(file.memtable_mib),
            cache_mib: self.cache_mib.or(file.cache_mib),
            connections_max: self.connections_max.or(file.connections_max),
            connections_per_address_max: self
                .connections_per_address_max
                .or(file.connections_per_address_max),
            http_connections_max: self.http_connections_max.or(file.http_connections_max),
            frame_mib_max: self.frame_mib_max.or(file.frame_mib_max),
            in_flight_max: self.in_flight_max.or(file.in_flight_max),
            in_flight_mib_max: self.in_flight_mib_max.or(file.in_flight_mib_max),
            answers_mib_max: self.answers_mib_max.or(file.answers_mib_max),
            statements_mib_max: self.statements_mib_max.or(file.statements_mib_max),
            statement_text_kib_max: self.statement_text_kib_max.or(file.statement_text_kib_max),
            page_mib_max: self.page_mib_max.or(file.page_mib_max),
            allow_large_keys: self.allow_large_keys || file.allow_large_keys,
            functions: self.functions || file.functions,
            act_as: self.act_as.or(file.act_as),
            log: self.log.or(file.log),
            log_json: self.log_json || file.log_json,
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.shards == Some(0) || self.shards.is_some_and(|n| n > 256) {
            return Err("--shards must be between 1 and 256".into());
        }
        if self.advertise.is_some_and(|address| address.is_unspecified()) {
            return Err("--advertise must be an address that clients can connect to".into());
        }
        let positive = [
            ("connections-max", self.connections_max),
            ("connections-per-address-max", self.connections_per_address_max),
            ("http-connections-max", self.http_connections_max),
            ("frame-mib-max", self.frame_mib_max),
            ("in-flight-max", self.in_flight_max),
            ("in-flight-mib-max", self.in_flight_mib_max),
            ("answers-mib-max", self.answers_mib_max),
            ("statements-mib-max", self.statements_mib_max),
            ("statement-text-kib-max", self.statement_text_kib_max),
            ("page-mib-max", self.page_mib_max),
            ("memory-mib", self.memory_mib),
            ("memtable-mib", self.memtable_mib),
            ("audit-file-mib", self.audit_file_mib),
            ("audit-files", self.audit_files),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == Some(0)) {
            return Err(format!("--{name} must be at least 1: with 0 nothing could be served"));
        }
        if self.frame_mib_max.is_some_and(|mib| mib > 256) {
            return Err("--frame-mib-max must be at most 256, the longest message of the protocol".into());
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err("TLS needs both tls-cert and tls-key".into());
        }
        if self.tls_client_ca.is_some() && self.tls_cert.is_none() {
            return Err(
                "tls-client-ca asks clients for certificates, which takes TLS: add tls-cert and tls-key"
                    .into(),
            );
        }
        Ok(())
    }
}

/// Anybody on the network could read and delete everything, or watch the metrics: that takes more than a typo.
/// `--auth password` and `--tls-client-ca` guard CQL only; the HTTP listener never asks for a password.
fn check_exposure(cql: &[SocketAddr], http: SocketAddr, guarded: bool, allowed: bool) -> Result<(), String> {
    let exposed = |address: &&SocketAddr| !allowed && !address.ip().is_loopback();
    if let Some(address) = cql.iter().find(exposed).filter(|_| !guarded) {
        return Err(format!(
            "{address} can be reached from other machines, and without authentication anybody there could read and \
             delete all data. Use --auth password or --tls-client-ca, or say --allow-anybody-on-the-network if that is what you want"
        ));
    }
    match Some(&http).filter(exposed) {
        Some(address) => Err(format!(
            "--http {address} can be reached from other machines, and it asks nobody for a password: anybody there \
             could read /metrics. Use a loopback address (127.0.0.1), or say --allow-anybody-on-the-network if that \
             is what you want; with --auth password CQL still asks"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(toml_text: &str) -> ServeOptions {
        toml::from_str(toml_text).unwrap()
    }

    #[test]
    fn defaults_are_loopback_only_and_durable() {
        let settings = ServeOptions::default().over(ServeOptions::default()).resolve().ok().unwrap();
        assert!(settings.server.cql.ip().is_loopback());
        assert_eq!(settings.server.durability, Durability::Sync);
        assert_eq!(settings.server.shard_aware.unwrap().port(), 19042);
    }

    #[test]
    fn the_network_needs_authentication_or_plain_words() {
        let open = "cql = \"0.0.0.0:9042\"\n";
        let refused = options(open).resolve().err().unwrap();
        assert!(refused.contains("--auth password"), "{refused}");
        assert!(options(&format!("{open}auth = \"password\"")).resolve().is_ok());
        assert!(options(&format!("{open}allow-anybody-on-the-network = true")).resolve().is_ok());
        let open = "http = \"0.0.0.0:9180\"\n";
        for guarded in ["", "auth = \"password\""] {
            let refused = options(&format!("{open}{guarded}")).resolve().err().unwrap();
            assert!(refused.contains("0.0.0.0:9180") && refused.contains("/metrics"), "{refused}");
        }
        assert!(options(&format!("{open}allow-anybody-on-the-network = true")).resolve().is_ok());
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = options("shards = 3\nlog = \"debug\"");
        let merged = options("shards = 5").over(file);
        assert_eq!(merged.shards, Some(5));
        assert_eq!(merged.log.as_deref(), Some("debug"));
    }

    /// Every option has its variable and its line in the file, and neither is lost when they are merged.
    #[test]
    fn every_option_is_also_a_variable_and_a_line_in_the_file() {
        let command = ServeOptions::augment_args(clap::Command::new("serve"));
        let values = [
            "3",
            "\"127.0.0.1:3\"",
            "\"127.0.0.3\"",
            "\"periodic\"",
            "\"password\"",
            "\"cassandra-5\"",
            "\"text\"",
            "true",
            "[\"text\"]",
        ];
        let mut seen = 0;
        for argument in command.get_arguments().filter(|a| a.get_id() != "config") {
            let name = argument.get_long().unwrap();
            let variable = format!("PARTITA_{}", name.replace('-', "_").to_uppercase());
            assert_eq!(argument.get_env().and_then(|e| e.to_str()), Some(&variable[..]), "{name}");
            let lines = values.iter().map(|value| format!("{name} = {value}"));
            let file: ServeOptions = lines.flat_map(|line| toml::from_str(&line).ok()).next().expect(name);
            assert_ne!(file, ServeOptions::default(), "{name}");
            assert_eq!(ServeOptions::default().over(file.clone()), file, "{name} of the file is lost");
            assert_eq!(file.clone().over(ServeOptions::default()), file, "--{name} is lost");
            seen += 1;
        }
        assert!(seen > 20, "{seen} options");
    }

    /// The README tells of every option that a user needs.
    #[test]
    fn the_readme_names_every_option() {
        let readme = include_str!("../../../README.md");
        let command = ServeOptions::augment_args(clap::Command::new("serve"));
        for argument in command.get_arguments().filter(|a| a.get_id() != "engine") {
            let name = argument.get_long().unwrap();
            assert!(
                readme.contains(&format!("`--{name}")) || readme.contains(&format!(" --{name} ")),
                "--{name}"
            );
        }
    }

    #[test]
    fn limits_that_would_serve_nobody_are_refused() {
        for name in ["connections-max", "frame-mib-max", "in-flight-max", "in-flight-mib-max", "page-mib-max"]
        {
            let refused = options(&format!("{name} = 0")).resolve().err().unwrap();
            assert!(refused.contains(name), "{refused}");
        }
        assert!(options("frame-mib-max = 257").resolve().is_err());
        assert!(options("shards = 0").resolve().is_err());
        assert!(options("tls-cert = \"x\"").resolve().err().unwrap().contains("tls-key"));
        assert!(options("tls-client-ca = \"x\"").resolve().err().unwrap().contains("tls-cert"));
    }

    #[test]
    fn the_audit_log_is_on_where_there_are_roles() {
        let audit = |text: &str| options(text).resolve().map(|settings| settings.server.audit);
        assert!(audit("").unwrap().is_none());
        let usual = audit("auth = \"password\"\ndata = \"d\"").unwrap().unwrap();
        assert_eq!(usual.dir, PathBuf::from("d/audit"));
        assert_eq!(usual.rules.categories.len(), 3);
        assert!(audit("auth = \"password\"\naudit = \"off\"").unwrap().is_none());
        let wide = "audit = \"a\"\naudit-record = \"reads, writes\"\naudit-tables = \"hr,shop.orders\"";
        let wide = audit(wide).unwrap().unwrap();
        assert_eq!(wide.rules.categories, [Category::Reads, Category::Writes].into());
        assert!(wide.rules.tables.contains("shop.orders"));
        assert!(
            audit("audit = \"a\"\naudit-record = \"everything\"").err().unwrap().contains("logins,roles")
        );
    }

    #[test]
    fn unknown_names_in_the_file_are_refused() {
        assert!(toml::from_str::<ServeOptions>("shard = 3").is_err());
    }

    #[test]
    fn engines_that_do_not_exist_are_refused() {
        assert!(options("engine = \"rocks\"").resolve().err().unwrap().contains("cassandra://"));
        assert!(options("engine = \"cassandra://\"").resolve().err().unwrap().contains("names no host"));
    }

    #[test]
    fn a_front_end_is_read_only_unless_told_otherwise_and_knows_its_account() {
        let cluster = |text: &str| {
            let text = format!("engine = \"cassandra://a,b:19042\"\n{text}");
            options(&text).resolve().map(|settings| settings.server.cluster.unwrap())
        };
        let plain = cluster("").unwrap();
        assert!(!plain.writes && plain.login.is_none() && plain.tls.is_none());
        assert_eq!(plain.contacts.len(), 2);
        assert!(cluster("cluster-writes = true").unwrap().writes);
        assert!(cluster("cluster-user = \"u\"").err().unwrap().contains("--cluster-password-file"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret\n").unwrap();
        let text = format!("cluster-user = \"u\"\ncluster-password-file = {:?}", file.path());
        let login = cluster(&text).unwrap().login.unwrap();
        assert_eq!(login.password, b"secret");
        assert!(!format!("{login:?}").contains("secret"), "passwords are not shown");
        assert!(cluster("data = \"d\"").err().unwrap().contains("--data"));
        assert!(cluster("cluster-tls-cert = \"c\"").err().unwrap().contains("--cluster-tls-key"));
        assert!(options("cluster-writes = true").resolve().err().unwrap().contains("--engine"));
    }
}
