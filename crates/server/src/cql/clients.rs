//! Who is connected: what `system_views.clients` and `system.prepared_statements` show.
//!
//! A connection enters itself once and leaves when it ends; between, it only counts its requests in a counter that it
//! alone writes. Reading the table walks all connections under their locks, which no request path takes.

use crate::audit::{self, Outcome};
use crate::metrics::Counter;
use crate::shard::Shared;
use cql::roles::without_secrets;
use cql::system::{AuditInfo, ClientInfo, Live, PreparedInfo, Standing};
use database::traffic::Seen;
use observe::{Slot, TableSize, Window};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options of STARTUP that are kept, and bytes of all of them together: a client decides what it sends, and some send their whole configuration.
const OPTIONS_MAX: usize = 32;
const OPTION_BYTES_MAX: usize = 16 << 10;

/// Everybody who is connected to this server.
#[derive(Default)]
pub struct Clients {
    inner: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    next: u64,
    by_number: HashMap<u64, Arc<Client>>,
}

/// One connection, as others may see it.
pub struct Client {
    pub requests: Counter,
    known: Mutex<ClientInfo>,
}

/// A connection's place in the list; dropping it leaves.
pub struct Entry {
    pub client: Arc<Client>,
    number: u64,
    shared: Arc<Shared>,
}

impl Clients {
    pub fn enter(shared: &Arc<Shared>, address: SocketAddr, tls: Option<(String, String)>) -> Entry {
        let known = ClientInfo {
            address: address.ip(),
            port: address.port(),
            options: BTreeMap::new(),
            stage: "startup".into(),
            keyspace: None,
            protocol_version: 0,
            requests: 0,
            username: "anonymous".into(),
            tls,
        };
        let client = Arc::new(Client { requests: Counter::default(), known: Mutex::new(known) });
        let mut entries = lock(&shared.cql.clients.inner);
        let number = entries.next;
        entries.next += 1;
        entries.by_number.insert(number, client.clone());
        Entry { client, number, shared: shared.clone() }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.shared.cql.clients.inner).by_number.remove(&self.number);
    }
}

impl Client {
    /// STARTUP was accepted.
    pub fn started(&self, version: u8, authenticating: bool) {
        let mut known = lock(&self.known);
        known.protocol_version = version.into();
        known.stage = if authenticating { "authenticating" } else { "ready" }.into();
    }

    pub fn logged_in(&self, user: &str) {
        let mut known = lock(&self.known);
        known.username = user.into();
        known.stage = "ready".into();
    }

    pub fn set_keyspace(&self, keyspace: &str) {
        lock(&self.known).keyspace = Some(keyspace.into());
    }

    pub fn set_options<'a>(&self, options: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut left = OPTION_BYTES_MAX;
        let mut cut = |text: &str| {
            let kept = &text[..text.floor_char_boundary(left)];
            left -= kept.len();
            kept.to_string()
        };
        lock(&self.known).options = options.take(OPTIONS_MAX).map(|(k, v)| (cut(k), cut(v))).collect();
    }
}

/// What the system tables ask while the server runs.
pub struct LiveTables(pub Arc<Shared>);

impl Live for LiveTables {
    fn clients(&self) -> Vec<ClientInfo> {
        let clients: Vec<Arc<Client>> = lock(&self.0.cql.clients.inner).by_number.values().cloned().collect();
        let shown = clients.iter().map(|client| {
            let requests = client.requests.get() as i64;
            ClientInfo { requests, ..lock(&client.known).clone() }
        });
        shown.collect()
    }

    fn prepared(&self) -> Vec<PreparedInfo> {
        let (_, catalogue) = self.0.catalogue.load();
        let statements =
            self.0.cql.registry.all().into_iter().filter(|(_, source)| source.is_alive(&catalogue));
        let shown = statements.map(|(id, source)| PreparedInfo {
            id,
            keyspace: source.keyspace.as_deref().map(Into::into),
            query: without_secrets(&source.text).into(),
        });
        shown.collect()
    }

    fn traffic(&self) -> Vec<Seen> {
        self.0.traffic.all()
    }

    fn breached_since(&self, keyspace: &str, pattern: &str, number: Option<&str>) -> Option<i64> {
        self.0.findings.breached_since(keyspace, pattern, number)
    }

    fn findings(&self) -> Vec<Standing> {
        self.0.findings.now()
    }

    fn table_sizes(&self) -> BTreeMap<u32, TableSize> {
        self.0.engine.table_sizes()
    }

    fn lag(&self, pending: u32) -> Option<store::Lag> {
        self.0.engine.lag(pending)
    }

    fn partition_bytes(&self) -> u64 {
        self.0.config.partition_bytes.unwrap_or(u64::MAX)
    }

    fn heat_map(&self) -> Vec<Slot> {
        self.0.engine.heat_map()
    }

    fn hot_partitions(&self, window: Window) -> Slot {
        self.0.engine.hot_partitions(window)
    }

    fn audit(&self) -> Vec<AuditInfo> {
        self.0.audit.recent().iter().map(|entry| shown(entry)).collect()
    }
}

/// An entry as the table shows it.
fn shown(entry: &audit::Entry) -> AuditInfo {
    let (outcome, error, message) = match &entry.outcome {
        Outcome::Done => ("done", None, None),
        Outcome::Refused { code, message } => {
            ("refused", Some(format!("0x{code:04X}")), Some(message.clone()))
        }
    };
    AuditInfo {
        number: entry.number as i64,
        at_millis: entry.at_micros / 1000,
        event: entry.event.into(),
        outcome: outcome.into(),
        role: entry.role.as_deref().map(Into::into),
        address: entry.address.ip(),
        port: entry.address.port(),
        keyspace: entry.keyspace.as_deref().map(Into::into),
        table: entry.table.as_deref().map(Into::into),
        statement: entry.statement.clone(),
        error,
        message,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
