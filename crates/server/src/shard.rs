//! What one shard of the server owns: the dialect on its store, its statements, its counters.

use crate::answers::Answers;
use crate::clients::Clients;
use crate::config::{Auth, Config};
use crate::metrics::ShardMetrics;
use crate::statements::{Bound, Registry, Source, Statement};
use cql::catalogue::SharedCatalogue;
use cql::ids::ShardIds;
use cql::session::{Dialect, Session};
use cql_wire::Event;
use engine::{EmbeddedStore, Engine};
use query::QueryError;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::broadcast;

/// Shared by all shards.
pub struct Shared {
    pub config: Config,
    pub catalogue: Arc<SharedCatalogue>,
    pub registry: Registry,
    pub clients: Clients,
    pub metrics: Vec<ShardMetrics>,
    /// By shard.
    pub answers: Vec<Answers>,
    /// Topology, status and schema events for clients that registered.
    pub events: broadcast::Sender<Event>,
    /// The SUPPORTED answer, without the per-shard key.
    pub supported: Vec<(String, Vec<String>)>,
    pub refused_connections: AtomicU64,
    pub engine: Engine,
}

/// See the module.
pub struct Shard {
    pub index: usize,
    pub dialect: Dialect<EmbeddedStore>,
    pub ids: Rc<ShardIds>,
    pub bound: Bound,
    pub shared: Arc<Shared>,
}

impl Shard {
    pub fn metrics(&self) -> &ShardMetrics {
        &self.shared.metrics[self.index]
    }

    pub fn answers(&self) -> &Answers {
        &self.shared.answers[self.index]
    }

    pub fn authentication(&self) -> bool {
        self.shared.config.auth == Auth::Password
    }

    /// Parses and binds a text that will be executed once.
    pub fn parse(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Rc<Statement>, QueryError> {
        Ok(Rc::new(Statement::new(self.dialect.prepare(session, keyspace, text)?)))
    }

    /// Prepares a statement and makes it known to every shard.
    pub fn prepare(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Rc<Statement>, QueryError> {
        let statement = self.parse(session, keyspace, text)?;
        let id = statement.prepared.id;
        let keyspace = statement.prepared.keyspace.clone();
        let tables: BTreeSet<u32> = statement.prepared.tables.iter().map(|table| table.id).collect();
        let tables = tables.into_iter().collect();
        let source = Source { keyspace, text: text.into(), described: statement.described(), tables };
        // Both ids that Cassandra would accept for a qualified statement lead to it.
        let other = cql::prepared::statement_id(source.keyspace.as_deref(), text);
        for id in [id, other] {
            self.shared.registry.remember(id, source.clone());
            self.bound.put(id, statement.clone());
        }
        Ok(statement)
    }

    /// The statement with this id, bound against the current catalogue; `None`: the client must
    /// prepare it again.
    pub fn statement(&self, id: &[u8]) -> Option<Rc<Statement>> {
        if let Some(statement) = self.bound.get(id) {
            if statement.current_at.get() == self.shared.catalogue.version() {
                return Some(statement);
            }
            let (version, catalogue) = self.dialect.catalogue();
            if statement.prepared.is_current(&catalogue) {
                statement.current_at.set(version);
                return Some(statement);
            }
            // The schema it was prepared against is gone: the client's metadata is stale.
            self.bound.forget(id);
            self.shared.registry.forget(id, &statement.described());
            return None;
        }
        let source = self.shared.registry.find(id)?;
        let session = Session { keyspace: source.keyspace.clone(), role: None };
        let prepared = self.dialect.prepare(&session, None, &source.text).ok()?;
        let statement = Rc::new(Statement::new(prepared));
        // Prepared on another shard and changed since: a client that skips metadata would misread the rows.
        if statement.described() != source.described || !source.is_alive(&self.dialect.catalogue().1) {
            self.shared.registry.forget(id, &source.described);
            return None;
        }
        self.bound.put(id.try_into().ok()?, statement.clone());
        Some(statement)
    }
}
