//! A shard's way from a text or an id to a bound statement.

use super::answers::Answers;
use super::statements::{Source, Statement};
use crate::shard::Shard;
use cql::CqlError;
use cql::prepared::Prepared;
use cql::session::Session;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Texts above this are parsed beside the shard: they take hundreds of microseconds, and there may be hundreds of them.
const TEXT_BYTES_HERE_MAX: usize = 4 << 10;

/// Of a text that is shown as an example.
const EXAMPLE_BYTES_MAX: usize = 500;

fn example(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(2 * EXAMPLE_BYTES_MAX)];
    let mut shown = cql::shape::without_literals(cut);
    shown.truncate(shown.floor_char_boundary(EXAMPLE_BYTES_MAX));
    shown
}

impl Shard {
    pub fn answers(&self) -> &Answers {
        &self.shared.cql.answers[self.index]
    }

    /// Parses and binds a text that will be executed once.
    pub async fn parse(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Rc<Statement>, CqlError> {
        let bytes_max = self.shared.config.limits.statement_text_bytes_max;
        if text.len() > bytes_max {
            return Err(CqlError::invalid(format!(
                "The text of the statement has {} bytes, the limit is {bytes_max} (--statement-text-kib-max). Bind values \
                 instead of writing them out, or send several statements",
                text.len()
            )));
        }
        let prepared = match text.len() <= TEXT_BYTES_HERE_MAX {
            true => self.dialect.prepare(session, keyspace, text)?,
            false => self.parse_aside(session, keyspace, text).await?,
        };
        Ok(Rc::new(self.bound(prepared)))
    }

    /// The same for a text that would keep the shard from others for too long.
    async fn parse_aside(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Prepared, CqlError> {
        let scope = self.dialect.scope(session, keyspace)?;
        let text: Arc<str> = text.into();
        rt::aside(move || scope.prepare(&text)).await
    }

    fn bound(&self, prepared: Prepared) -> Statement {
        let traffic = &self.shared.traffic;
        let counters = prepared.shapes.iter().filter_map(|shaped| {
            let texts = || (shaped.statement.clone(), example(&prepared.text));
            traffic.of(self.index, &shaped.shape, shaped.class, texts)
        });
        let observed = counters.collect();
        let mut statement = Statement::new(prepared, self.shared.audit.rules(), observed);
        statement.export = self.shared.otlp.clone();
        statement
    }

    /// Prepares a statement and makes it known to every shard.
    pub async fn prepare(
        &self,
        session: &Session,
        keyspace: Option<&str>,
        text: &str,
    ) -> Result<Rc<Statement>, CqlError> {
        let statement = self.parse(session, keyspace, text).await?;
        let id = statement.prepared.id;
        let keyspace = statement.prepared.keyspace.clone();
        let tables: BTreeSet<u32> = statement.prepared.tables.iter().map(|table| table.id).collect();
        let tables = tables.into_iter().collect();
        let source = Source { keyspace, text: text.into(), described: statement.described(), tables };
        // Both ids that Cassandra would accept for a qualified statement lead to it.
        let other = cql::prepared::statement_id(source.keyspace.as_deref(), text);
        for id in [id, other] {
            self.shared.cql.registry.remember(id, source.clone());
            self.cql.bound.put(id, statement.clone());
        }
        Ok(statement)
    }

    /// The statement with this id, bound against the current catalogue; `None`: the client must prepare it again, unless
    /// [`Shard::statement_of`] knows it.
    pub fn statement(&self, id: &[u8]) -> Option<Rc<Statement>> {
        if let Some(statement) = self.cql.bound.get(id) {
            if statement.current_at.get() == self.shared.catalogue.version() {
                return Some(statement);
            }
            let (version, catalogue) = self.dialect.catalogue();
            if statement.prepared.is_current(&catalogue) {
                statement.current_at.set(version);
                return Some(statement);
            }
            // The schema it was prepared against is gone: the client's metadata is stale.
            self.cql.bound.forget(id);
            self.shared.cql.registry.forget(id, &statement.described());
            return None;
        }
        let source = self.shared.cql.registry.find(id)?;
        if source.text.len() > TEXT_BYTES_HERE_MAX {
            return None;
        }
        let session = Session { keyspace: source.keyspace.clone(), role: None };
        let prepared = self.dialect.prepare(&session, None, &source.text).ok()?;
        self.known(id, &source, self.bound(prepared))
    }

    /// The same, also for a text that is too long to be bound in passing.
    pub async fn statement_of(&self, id: &[u8]) -> Option<Rc<Statement>> {
        if let Some(statement) = self.statement(id) {
            return Some(statement);
        }
        let source = self.shared.cql.registry.find(id)?;
        let session = Session { keyspace: source.keyspace.clone(), role: None };
        let prepared = self.parse_aside(&session, None, &source.text).await.ok()?;
        self.known(id, &source, self.bound(prepared))
    }

    /// A statement that was prepared on another shard, if it still is what its clients were told.
    fn known(&self, id: &[u8], source: &Source, statement: Statement) -> Option<Rc<Statement>> {
        let statement = Rc::new(statement);
        // Prepared on another shard and changed since: a client that skips metadata would misread the rows.
        if statement.described() != source.described || !source.is_alive(&self.dialect.catalogue().1) {
            self.shared.cql.registry.forget(id, &source.described);
            return None;
        }
        self.cql.bound.put(id.try_into().ok()?, statement.clone());
        Some(statement)
    }
}
