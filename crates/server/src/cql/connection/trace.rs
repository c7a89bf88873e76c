//! Tracing of one request into `system_traces`.
//!
//! The rows are written before the request is answered, so that a client that asks right away finds
//! them. They expire after a day, as in Cassandra. How much may be stored is bounded (see `traces`); passwords are never stored.

use super::Peer;
use super::handle::Failure;
use super::long::Long;
use crate::cql::traces::TEXT_BYTES_MAX;
use crate::metrics::Operation;
use crate::otlp::{self, Exemplar, Span};
use crate::shard::Shard;
use cql::roles::{without_secrets, without_values};
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
    settings: Vec<(&'static str, String)>,
    client: std::net::IpAddr,
    started_millis: i64,
}

impl Trace {
    /// `None`: there have been too many traces already.
    pub fn begin(shard: &Rc<Shard>, peer: &Peer, request: &Request<'_>) -> Option<Trace> {
        let (name, query) = described(shard, request);
        if !shard.shared.cql.traces.may(query.len()) {
            return None;
        }
        let id = shard.ids.timeuuid();
        if let Some(role) = &peer.session.borrow().role {
            shard.shared.catalogue.tenants.traced(id, role);
        }
        Some(Trace {
            settings: settings(request),
            id,
            request: name,
            query,
            client: peer.address.ip(),
            started_millis: shard.ids.now_micros() / 1000,
        })
    }

    /// Writes what happened. A trace that cannot be written is not worth failing the request for.
    pub async fn finish(&self, shard: &Rc<Shard>, elapsed: Duration, failure: Option<&Failure>) {
        if let Err(error) = self.write(shard, elapsed, failure).await {
            tracing::warn!(%error, "a trace could not be written");
        }
    }

    /// The same for the collector and for the histogram of latencies.
    pub fn tell(&self, shard: &Shard, operation: Operation, elapsed: Duration, failed: bool) {
        let micros = elapsed.as_micros() as u64;
        let exemplar = Exemplar { trace_id: self.id, micros, at_millis: otlp::now_nanos() / 1_000_000 };
        shard.shared.exemplars.note(operation, exemplar);
        if let Some(export) = &shard.shared.otlp {
            let mut span = Span::ended(self.request, micros, Some(self.id));
            span.attributes.push(("db.query.text", without_values(&self.query).into_owned()));
            span.attributes.push(("partita.shard", shard.index.to_string()));
            span.failed = failed;
            export.send(span);
        }
    }

    async fn write(
        &self,
        shard: &Rc<Shard>,
        elapsed: Duration,
        failure: Option<&Failure>,
    ) -> Result<(), cql::CqlError> {
        let id = model::timeuuid::format(&self.id);
        let text = |s: &str| format!("'{}'", s.replace('\'', "''"));
        let micros = elapsed.as_micros();
        // A text that is no statement may hold a password anywhere.
        let shown = match failure {
            Some(Failure::Query(cql::CqlError::Syntax(_), _)) => without_values(&self.query),
            _ => without_secrets(&self.query),
        };
        let settings: String =
            self.settings.iter().map(|(name, value)| format!("'{name}': '{value}', ")).collect();
        let session = format!(
            "INSERT INTO system_traces.sessions (session_id, client, command, coordinator, coordinator_port, duration, parameters, request, started_at) \
             VALUES ({id}, '{}', 'QUERY', '{}', {}, {micros}, {{{settings}'query': {}}}, {}, {}) USING TTL {TTL_SECONDS}",
            self.client,
            shard.shared.config.cql.ip(),
            shard.shared.config.cql.port(),
            text(&shown),
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

/// What the request is called, and its text, no longer than a trace keeps.
fn described(shard: &Rc<Shard>, request: &Request<'_>) -> (&'static str, String) {
    let cut = |text: &str| text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_string();
    let of_id = |id: &[u8]| shard.statement(id).map(|s| cut(&s.prepared.text)).unwrap_or_default();
    match request {
        Request::Query { query, .. } => ("Execute CQL3 query", cut(query)),
        Request::Execute { id, .. } => ("Execute CQL3 prepared query", of_id(id)),
        Request::Batch(batch) => {
            let mut texts = String::new();
            for statement in batch.statements.iter() {
                if texts.len() >= TEXT_BYTES_MAX {
                    break;
                }
                if !texts.is_empty() {
                    texts.push_str("; ");
                }
                match statement.query {
                    BatchQuery::Text(text) => texts.push_str(&cut(text)),
                    BatchQuery::Prepared(id) => texts.push_str(&of_id(id)),
                }
            }
            ("Execute batch of CQL3 queries", cut(&texts))
        }
        Request::Prepare { query, .. } => ("Preparing CQL3 query", cut(query)),
        _ => ("Other", String::new()),
    }
}

/// An answer that has yet to go to the outbox.
#[derive(Default)]
pub struct Apart {
    short: Vec<u8>,
    long: Vec<Long>,
}

impl Apart {
    pub fn leave(self, peer: &Peer) {
        peer.outbox.borrow_mut().extend_from_slice(&self.short);
        peer.long.put_all(self.long);
    }
}

/// Does `work` with an outbox of its own: its answer must not leave before the trace is written.
pub async fn answered_apart<T>(peer: &Peer, work: impl Future<Output = T>) -> (T, Apart) {
    let mut work = std::pin::pin!(work);
    let mut answer = Apart::default();
    std::future::poll_fn(move |context| {
        let others = peer.long.count();
        std::mem::swap(&mut answer.short, &mut *peer.outbox.borrow_mut());
        let polled = work.as_mut().poll(context);
        std::mem::swap(&mut answer.short, &mut *peer.outbox.borrow_mut());
        answer.long.extend(peer.long.take_after(others));
        polled.map(|outcome| (outcome, std::mem::take(&mut answer)))
    })
    .await
}

/// What the client chose for the request, under the names that Cassandra's traces use.
fn settings(request: &Request<'_>) -> Vec<(&'static str, String)> {
    let (consistency, serial, page_size) = match request {
        Request::Query { params, .. } | Request::Execute { params, .. } => {
            (params.consistency, params.serial_consistency, params.page_size)
        }
        Request::Batch(batch) => (batch.params.consistency, batch.params.serial_consistency, None),
        _ => return Vec::new(),
    };
    let serial = serial.unwrap_or(Consistency::Serial);
    let mut settings = vec![
        ("consistency_level", consistency.to_string()),
        ("serial_consistency_level", serial.to_string()),
    ];
    settings.extend(page_size.map(|rows| ("page_size", rows.to_string())));
    settings
}
