//! Answers: from the dialect's words to envelopes in the outbox.

use super::Peer;
use super::handle::{Failure, Head};
use super::long::{LONG_BYTES, Long};
use crate::cql::errors::error_message;
use crate::cql::statements::Statement;
use crate::cql::wire_type::column_specs;
use crate::shard::Shard;
use cql::CqlError;
use cql::ddl::{ChangeKind, ChangeTarget, SchemaChange};
use cql::session::{Answer, Response as Outcome};
use cql_wire::{
    ErrorKind, ErrorMessage, Event, Prepared, Reply, Response, RowsMetadata, RowsWriter, WireError,
};
use query::Rows;
use query::full::Crowded;
use store::StoreError;

/// Where the stream stands in an envelope.
const STREAM_AT: usize = 2;

/// How much the client knows about the columns already.
pub enum Metadata<'a> {
    Full,
    /// `known_id`: the metadata id the client sent (v5); `skip`: it wants none if unchanged.
    Prepared {
        known_id: Option<&'a [u8]>,
        skip: bool,
    },
}

fn reply<'a>(head: Head, trace_id: Option<[u8; 16]>, warnings: &'a [String]) -> Reply<'a> {
    Reply { tracing_id: trace_id, warnings, ..Reply::new(head.protocol, head.stream) }
}

pub fn ready(peer: &Peer, head: Head) {
    Response::Ready.encode(&reply(head, None, &[]), &mut peer.outbox.borrow_mut());
}

/// The answer to a write.
pub fn void(peer: &Peer, head: Head) {
    Response::Void.encode(&reply(head, None, &[]), &mut peer.outbox.borrow_mut());
}

/// An answer that was encoded before, on this request's stream.
pub fn again(peer: &Peer, head: Head, answer: &[u8]) {
    let mut outbox = peer.outbox.borrow_mut();
    let start = outbox.len();
    outbox.extend_from_slice(answer);
    if let Some(stream) = outbox.get_mut(start + STREAM_AT..start + STREAM_AT + 2) {
        stream.copy_from_slice(&head.stream.to_be_bytes());
    }
}

/// A message that does not decode.
pub fn refuse(shard: &Shard, peer: &Peer, head: Head, error: &WireError) {
    let error = ErrorMessage::new(ErrorKind::Protocol, error.to_string());
    failure(shard, peer, head, Failure::Wire(error), None);
}

pub fn failure(shard: &Shard, peer: &Peer, head: Head, failure: Failure, trace_id: Option<[u8; 16]>) {
    let error = match failure {
        Failure::Wire(error) => error,
        Failure::Query(error, attempt) => error_message(&told(shard, error), attempt),
    };
    shard.metrics().error(error.kind.code());
    Response::Error(error).encode(&reply(head, trace_id, &[]), &mut peer.outbox.borrow_mut());
}

/// A full partition is told by the name of its table and by its key, which need the catalogue.
fn told(shard: &Shard, error: CqlError) -> CqlError {
    let CqlError::Store(StoreError::PartitionFull(full)) = &error else { return error };
    let (_, catalogue) = shard.dialect.catalogue();
    let Some(table) = catalogue.table_by_id(full.table.0) else { return error };
    let (key, bytes, rows, limit) = (full.key.bytes(), full.bytes, full.rows, full.limit);
    CqlError::Invalid(Crowded { table, key, bytes, rows, limit }.refusal())
}

/// The answer to PREPARE.
pub fn prepared(shard: &Shard, peer: &Peer, head: Head, trace_id: Option<[u8; 16]>, statement: &Statement) {
    let _ = shard;
    let prepared = &statement.prepared;
    let response = Response::Prepared(Prepared {
        id: prepared.id.as_slice().into(),
        result_metadata_id: prepared.result_id.as_slice().into(),
        bind: statement.bind.as_slice().into(),
        partition_key: prepared.partition_markers.as_slice().into(),
        lwt_mark: peer.lwt_mark.get() && prepared.is_conditional(),
        result: statement.result.as_slice().into(),
    });
    response.encode(&reply(head, trace_id, &[]), &mut peer.outbox.borrow_mut());
}

/// The answer to QUERY and EXECUTE.
pub fn answer(
    shard: &Shard,
    peer: &Peer,
    head: Head,
    trace_id: Option<[u8; 16]>,
    statement: &Statement,
    answer: Answer,
    metadata: Metadata<'_>,
) {
    let Answer { response, warnings } = answer;
    match response {
        // A SELECT's columns are known since it was bound.
        Outcome::Rows(rows) if !statement.result.is_empty() => {
            let id = statement.prepared.result_id;
            let (skip, changed_id) = match metadata {
                Metadata::Full => (false, None),
                Metadata::Prepared { known_id: Some(known), skip } if head.protocol.has_metadata_id() => {
                    let changed = known != id;
                    (skip && !changed, changed.then_some(&id[..]))
                }
                Metadata::Prepared { skip, .. } => (skip, None),
            };
            let written = statement.written_result(head.protocol.version);
            let metadata =
                RowsMetadata { columns: &statement.result, skip, changed_id, written: Some(&written) };
            put_rows(peer, &reply(head, trace_id, &warnings), metadata, rows);
        }
        response => unprepared_answer(shard, peer, head, trace_id, Answer { response, warnings }),
    }
}

/// An answer whose columns, if it has any, are described in full.
pub fn unprepared_answer(shard: &Shard, peer: &Peer, head: Head, trace_id: Option<[u8; 16]>, answer: Answer) {
    let reply = reply(head, trace_id, &answer.warnings);
    match answer.response {
        Outcome::Rows(rows) => {
            let columns = column_specs(&rows.columns);
            put_rows(peer, &reply, RowsMetadata::full(&columns), rows);
        }
        Outcome::Void => Response::Void.encode(&reply, &mut peer.outbox.borrow_mut()),
        Outcome::SetKeyspace(name) => {
            Response::SetKeyspace(&name).encode(&reply, &mut peer.outbox.borrow_mut());
            peer.entry.client.set_keyspace(&name);
            peer.session.borrow_mut().keyspace = Some(name);
        }
        Outcome::SchemaChange(change) => {
            let change = wire_change(change);
            // Nobody listening is no error.
            let _ = shard.shared.cql.events.send(Event::Schema(change.clone()));
            tell_of_views(shard, &change);
            Response::SchemaChange(change).encode(&reply, &mut peer.outbox.borrow_mut());
        }
    }
}

/// A table that was altered takes its views along, and drivers keep what they know of each by its own name.
fn tell_of_views(shard: &Shard, change: &cql_wire::SchemaChange) {
    let (cql_wire::ChangeKind::Updated, cql_wire::ChangeTarget::Table { name }) =
        (change.kind, &change.target)
    else {
        return;
    };
    let (_, catalogue) = shard.dialect.catalogue();
    let Some(keyspace) = catalogue.keyspace(&change.keyspace) else { return };
    for view in keyspace.table(name).into_iter().flat_map(|table| keyspace.views_of(table)) {
        let target = cql_wire::ChangeTarget::Table { name: view.name.to_string() };
        let _ =
            shard.shared.cql.events.send(Event::Schema(cql_wire::SchemaChange { target, ..change.clone() }));
    }
}

fn put_rows(peer: &Peer, reply: &Reply<'_>, metadata: RowsMetadata<'_>, rows: Rows) {
    if rows.body.len() > LONG_BYTES {
        return put_long(peer, reply, metadata, rows);
    }
    let mut outbox = peer.outbox.borrow_mut();
    let mut writer = RowsWriter::begin(&mut outbox, reply, metadata);
    writer.buffer().extend_from_slice(&rows.body);
    writer.finish(rows.count, rows.paging_state.as_deref());
}

/// Rows that are too many to be copied in one go.
fn put_long(peer: &Peer, reply: &Reply<'_>, metadata: RowsMetadata<'_>, rows: Rows) {
    let mut head = Vec::new();
    let writer = RowsWriter::begin(&mut head, reply, metadata);
    match writer.finish_before(rows.count, rows.paging_state.as_deref(), rows.body.len()) {
        true => peer.long.put(Long { head, rows: rows.body }),
        false => peer.outbox.borrow_mut().append(&mut head),
    }
}

fn wire_change(change: SchemaChange) -> cql_wire::SchemaChange {
    cql_wire::SchemaChange {
        kind: match change.kind {
            ChangeKind::Created => cql_wire::ChangeKind::Created,
            ChangeKind::Updated => cql_wire::ChangeKind::Updated,
            ChangeKind::Dropped => cql_wire::ChangeKind::Dropped,
        },
        keyspace: change.keyspace,
        target: match change.target {
            ChangeTarget::Keyspace => cql_wire::ChangeTarget::Keyspace,
            ChangeTarget::Table(name) => cql_wire::ChangeTarget::Table { name },
            ChangeTarget::Type(name) => cql_wire::ChangeTarget::Type { name },
            ChangeTarget::Function(name, argument_types) => {
                cql_wire::ChangeTarget::Function { name, argument_types }
            }
            ChangeTarget::Aggregate(name, argument_types) => {
                cql_wire::ChangeTarget::Aggregate { name, argument_types }
            }
        },
    }
}
