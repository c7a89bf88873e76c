//! Tracing of one request into `system_traces`.
//!
//! The rows are written before the request is answered, so that a client that asks right away finds
//! them. They expire after a day, as in Cassandra.

use super::Peer;
use super::handle::Failure;
use crate::shard::Shard;
use cql::session::Session;
use cql_wire::{BatchQuery, Consistency, Request};
use query::Ids;
use std::rc::Rc;
use std::time::Duration;

const TTL_SECONDS: u32 = 24 * 60 * 60;

pub struct Trace {
    pub id: [u8; 16],
    request: &'static str,
    query: String,
    consistency: Option<Consistency>,
    client: std::net::IpAddr,
    started_millis: i64,
}

impl Trace {
    pub fn begin(shard: &Rc<Shard>, peer: &Peer, request: &Request<'_>) -> Trace {
        let (name, query) = match request {
            Request::Query { query, .. } => ("Execute CQL3 query", (*query).to_string()),
            Request::Execute { id, .. } => {
                let text = shard.statement(id).map(|s| s.prepared.text.to_string()).unwrap_or_default();
                ("Execute CQL3 prepared query", text)
            }
            Request::Batch(batch) => {
                let texts = batch.statements.iter().map(|s| match s.query {
                    BatchQuery::Text(text) => text.to_string(),
                    BatchQuery::Prepared(id) => {
                        shard.statement(id).map(|s| s.prepared.text.to_string()).unwrap_or_default()
                    }
                });
                ("Execute batch of CQL3 queries", texts.collect::<Vec<_>>().join("; "))
            }
            Request::Prepare { query, .. } => ("Preparing CQL3 query", (*query).to_string()),
            _ => ("Other", String::new()),
        };
        let consistency = match request {
            Request::Query { params, .. } | Request::Execute { params, .. } => Some(params.consistency),
            Request::Batch(batch) => Some(batch.params.consistency),
            _ => None,
        };
        Trace {
            consistency,
            id: shard.ids.timeuuid(),
            request: name,
            query: cql::roles::without_secrets(&query).into_owned(),
            client: peer.address.ip(),
            started_millis: shard.ids.now_micros() / 1000,
        }
    }

    /// Writes what happened. A trace that cannot be written is not worth failing the request for.
    pub async fn finish(self, shard: &Rc<Shard>, elapsed: Duration, failure: Option<&Failure>) {
        if let Err(error) = self.write(shard, elapsed, failure).await {
            tracing::warn!(%error, "a trace could not be written");
        }
    }

    async fn write(
        &self,
        shard: &Rc<Shard>,
        elapsed: Duration,
        failure: Option<&Failure>,
    ) -> Result<(), query::QueryError> {
        let id = model::timeuuid::format(&self.id);
        let text = |s: &str| format!("'{}'", s.replace('\'', "''"));
        let micros = elapsed.as_micros();
        let level =
            self.consistency.map_or(String::new(), |level| format!("'consistency_level': '{level}', "));
        let session = format!(
            "INSERT INTO system_traces.sessions (session_id, client, command, coordinator, coordinator_port, duration, parameters, request, started_at) \
             VALUES ({id}, '{}', 'QUERY', '{}', {}, {micros}, {{{level}'query': {}}}, {}, {}) USING TTL {TTL_SECONDS}",
            self.client,
            shard.shared.config.cql.ip(),
            shard.shared.config.cql.port(),
            text(&self.query),
            text(self.request),
            self.started_millis,
        );
        let end = match failure {
            None => "Request complete".to_string(),
            Some(_) => "Request failed".to_string(),
        };
        let steps = [(format!("{} on shard {}", self.request, shard.index), 0), (end, micros)];
        let mut statements = vec![session];
        for (activity, at) in steps {
            let event = model::timeuuid::format(&shard.ids.timeuuid());
            statements.push(format!(
                "INSERT INTO system_traces.events (session_id, event_id, activity, source, source_elapsed, source_port, thread) \
                 VALUES ({id}, {event}, {}, '{}', {at}, {}, 'shard-{}') USING TTL {TTL_SECONDS}",
                text(&activity),
                shard.shared.config.cql.ip(),
                shard.shared.config.cql.port(),
                shard.index,
            ));
        }
        for statement in statements {
            let prepared = shard.dialect.prepare(&Session::default(), None, &statement)?;
            let request = query::Request::new(query::Values::NONE, shard.ids.now_micros());
            shard.dialect.execute(&Session::default(), &prepared, request).await?;
        }
        Ok(())
    }
}
