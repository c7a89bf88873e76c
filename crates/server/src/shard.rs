//! What one shard of the server owns: the dialect on its store, its statements, its counters.

use crate::accept::Inside;
use crate::alerts::Alerts;
use crate::audit::Audit;
use crate::auth::Pool;
use crate::config::{Auth, Config};
use crate::findings::Findings;
use crate::metrics::ShardMetrics;
use crate::otlp::{Exemplars, Export};
use cql::session::Dialect;
use database::catalogue::SharedCatalogue;
use database::ids::ShardIds;
use database::traffic::Traffic;
use engine::{EmbeddedStore, Engine};
use rt::Budget;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// Shared by all shards.
pub struct Shared {
    pub config: Config,
    pub catalogue: Arc<SharedCatalogue>,
    pub metrics: Vec<ShardMetrics>,
    pub cql: crate::cql::AllShards,
    pub dynamo: Arc<dynamo::run::AllShards>,
    /// Where requests about access keys go, and where the first shard takes them from.
    pub keys_desk: (crate::dynamo::KeysDesk, crate::dynamo::KeysRequests),
    pub refused_connections: AtomicU64,
    /// For work: long messages, parsing, plans, sorts, batches. See [`crate::memory`].
    pub memory: Budget,
    pub audit: Audit,
    /// What statements do, by shape.
    pub traffic: Traffic,
    /// What is wrong, and since when.
    pub findings: Findings,
    /// Where findings are sent, if anywhere.
    pub alerts: Option<Alerts>,
    /// Where spans and metrics are sent, if anywhere.
    pub otlp: Option<Arc<Export>>,
    /// The last trace of each latency bucket.
    pub exemplars: Exemplars,
    /// Threads for hashing and checking passwords.
    pub passwords: Pool,
    /// Connections of the server to itself; there once the shards are.
    pub inside: OnceLock<Inside<Shard>>,
    pub engine: Engine,
}

/// Where refused connections are counted.
impl AsRef<AtomicU64> for Refusals {
    fn as_ref(&self) -> &AtomicU64 {
        &self.0.refused_connections
    }
}

/// See [`crate::accept::accept_forever`].
pub struct Refusals(pub Arc<Shared>);

/// A start that fails leaves no threads behind.
impl Drop for Shared {
    fn drop(&mut self) {
        self.passwords.close();
        self.audit.close();
    }
}

/// See the module.
pub struct Shard {
    pub index: usize,
    pub dialect: Dialect<EmbeddedStore>,
    pub ids: Rc<ShardIds>,
    pub cql: crate::cql::OneShard,
    pub dynamo: dynamo::run::Dynamo<EmbeddedStore>,
    pub dynamo_keys: crate::dynamo::Known,
    pub shared: Arc<Shared>,
}

impl Shard {
    pub fn metrics(&self) -> &ShardMetrics {
        &self.shared.metrics[self.index]
    }

    pub fn authentication(&self) -> bool {
        self.shared.config.auth == Auth::Password
    }
}

pub fn query_limits(config: &Config) -> query::context::Limits {
    query::context::Limits {
        page_bytes_max: config.limits.page_bytes_max,
        tombstones_warn: config.limits.tombstones_warn,
        tombstones_fail: config.limits.tombstones_fail,
        key_bytes_max: match config.limits.large_keys {
            true => usize::MAX,
            false => query::context::Limits::default().key_bytes_max,
        },
        ..Default::default()
    }
}
