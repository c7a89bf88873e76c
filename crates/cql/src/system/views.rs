//! What the running server tells: connected clients, prepared statements, settings.

use super::cells::*;
use super::node::{Live, NodeInfo};
use super::rows::Filler;
use crate::CqlError;
use database::jobs::Jobs;
use schema::Catalogue;
use std::sync::Arc;

/// No job has a number so high.
const FOLLOWED_FROM: i64 = 1 << 48;

pub(super) fn audit(filler: &mut Filler<'_>, live: Option<Arc<dyn Live>>) {
    for entry in live.map(|live| live.audit()).unwrap_or_default() {
        let optional = |value: &Option<String>| value.as_ref().and_then(text);
        filler.row(&[
            ("event", text(&entry.event)),
            ("number", bigint(entry.number)),
            ("address", inet(entry.address)),
            ("at", timestamp(entry.at_millis)),
            ("error", optional(&entry.error)),
            ("keyspace_name", optional(&entry.keyspace)),
            ("message", optional(&entry.message)),
            ("outcome", text(&entry.outcome)),
            ("port", int(entry.port.into())),
            ("role", optional(&entry.role)),
            ("statement", optional(&entry.statement)),
            ("table_name", optional(&entry.table)),
        ]);
    }
}

pub(super) fn clients(filler: &mut Filler<'_>, live: Option<Arc<dyn Live>>) {
    for client in live.map(|live| live.clients()).unwrap_or_default() {
        let option = |name: &str| client.options.get(name).map(|value| value.as_bytes().to_vec());
        let (protocol, cipher) = client.tls.clone().unzip();
        filler.row(&[
            ("address", inet(client.address)),
            ("port", int(client.port.into())),
            ("client_options", text_map(&client.options)),
            ("connection_stage", text(&client.stage)),
            ("driver_name", option("DRIVER_NAME")),
            ("driver_version", option("DRIVER_VERSION")),
            ("hostname", text(client.address.to_string())),
            ("keyspace_name", client.keyspace.as_ref().and_then(text)),
            ("protocol_version", int(client.protocol_version)),
            ("request_count", bigint(client.requests)),
            ("ssl_cipher_suite", cipher.and_then(text)),
            ("ssl_enabled", boolean(client.tls.is_some())),
            ("ssl_protocol", protocol.and_then(text)),
            ("username", text(&client.username)),
        ]);
    }
}

pub(super) fn jobs(filler: &mut Filler<'_>, jobs: &Jobs) {
    for job in jobs.list() {
        let limit = |limit: Option<u32>| limit.and_then(|limit| int(limit as i32));
        filler.row(&[
            ("id", bigint(job.id as i64)),
            ("ends_at", job.end_micros.and_then(|micros| timestamp(micros / 1_000))),
            ("error", job.error.and_then(|error| text(CqlError::from(error).to_string()))),
            ("keyspace_name", text(&job.subject.keyspace)),
            ("kind", text(job.subject.kind.word())),
            ("mb_per_second", limit(job.limits.mb_per_second)),
            ("p99_ms", limit(job.limits.p99_millis)),
            ("progress", double(job.progress)),
            ("rate", double(job.rate)),
            ("rows", bigint(job.rows as i64)),
            ("rows_per_second", limit(job.limits.rows_per_second)),
            ("started_at", timestamp(job.started_micros / 1_000)),
            ("state", text(job.state.word())),
            ("table_name", text(&job.subject.table)),
            ("target", text(&job.subject.target)),
        ]);
    }
}

/// Changes of many rows that projections go on to follow: work like that of a job, which nobody has to start and nobody can stop.
pub(super) fn followed(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    let Some(live) = live else { return };
    for table in catalogue.tables() {
        let Some((later, view)) = table.later().zip(table.view.as_ref()) else { continue };
        let Some(lag) = live.lag(later.pending).filter(|lag| lag.continued > 0) else { continue };
        filler.row(&[
            ("id", bigint(FOLLOWED_FROM + i64::from(table.id))),
            ("keyspace_name", text(&table.keyspace)),
            ("kind", text("follow large change")),
            ("rows", bigint(lag.rows as i64)),
            ("state", text("running")),
            ("table_name", text(&view.base)),
            ("target", text(&table.name)),
        ]);
    }
}

pub(super) fn prepared(filler: &mut Filler<'_>, live: Option<Arc<dyn Live>>) {
    for statement in live.map(|live| live.prepared()).unwrap_or_default() {
        filler.row(&[
            ("prepared_id", blob(&statement.id)),
            ("logged_keyspace", statement.keyspace.as_ref().and_then(text)),
            ("query_string", text(&statement.query)),
        ]);
    }
}

pub(super) fn settings(filler: &mut Filler<'_>, node: &NodeInfo) {
    let fixed = [
        ("cluster_name", node.cluster_name.clone()),
        ("endpoint_snitch", node.snitch.clone()),
        ("native_transport_port", node.port.to_string()),
        ("num_tokens", node.tokens.len().to_string()),
        ("partitioner", node.partitioner.clone()),
        ("rpc_address", node.address.to_string()),
        ("shards", node.shards.to_string()),
    ];
    for (name, value) in fixed.iter().filter(|(name, _)| !node.settings.contains_key(*name)) {
        filler.row(&[("name", text(name)), ("value", text(value))]);
    }
    for (name, value) in &node.settings {
        filler.row(&[("name", text(name)), ("value", text(value))]);
    }
}
