//! One request: the checks that come before the operation, in the service's order, then the operation.

use super::connection::Peer;
use super::head::Head;
use super::reply::{Content, Reply};
use super::{signature, watch};
use crate::audit::{Category, Entry, Outcome};
use crate::metrics;
use crate::otlp::Span;
use crate::shard::Shard;
use dynamo::json::well_formed;
use dynamo::run::{Caller, KEYSPACE};
use dynamo::{ApiError, ErrorName, Operation};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Of an error message in the audit log.
const MESSAGE_BYTES_MAX: usize = 512;

/// Counts a request while it is under way.
struct InFlight<'s>(&'s Shard, u64);

impl<'s> InFlight<'s> {
    fn enter(shard: &'s Shard, bytes: usize) -> InFlight<'s> {
        shard.metrics().in_flight.add(1);
        shard.metrics().in_flight_bytes.add(bytes as u64);
        InFlight(shard, bytes as u64)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.metrics().in_flight.sub(1);
        self.0.metrics().in_flight_bytes.sub(self.1);
    }
}

/// Answers a request; `true`: the client is known now and keeps its place.
pub async fn answer(shard: &Rc<Shard>, peer: &Peer, head: &Head<'_>, body: &[u8]) -> (Reply, bool) {
    let (mut reply, known) = answer_any(shard, peer, head, body).await;
    if head.header("origin").is_some() {
        reply.headers.push_str("Access-Control-Allow-Origin: *\r\n");
    }
    (reply, known)
}

async fn answer_any(shard: &Rc<Shard>, peer: &Peer, head: &Head<'_>, body: &[u8]) -> (Reply, bool) {
    let stranger = !shard.authentication();
    if head.method == "OPTIONS" && head.header("origin").is_some() {
        return (preflight(head), false);
    }
    if head.method == "GET" {
        let region = shard.shared.config.dynamo.as_ref().map_or("us-east-1", |dynamo| &dynamo.region);
        let text = format!("healthy: dynamodb.{region}.amazonaws.com ");
        return (Reply::new(200, Content::Text, text), false);
    }
    let path = head.target.split('?').next().unwrap_or_default();
    let content = content(head.text("content-type"));
    let (true, "/", Some(content)) =
        (head.method == "POST", path, content.or(body.is_empty().then_some(Content::AmzJson)))
    else {
        return (Reply::new(404, Content::None, "<UnknownOperationException/>\n"), false);
    };
    let started = Instant::now();
    let operation = head.text("x-amz-target").and_then(Operation::of_target);
    let _in_flight = InFlight::enter(shard, body.len());
    let mut headers = String::new();
    let outcome = serve(shard, peer, head, operation, body, started, &mut headers).await;
    if let Some(operation) = operation {
        let micros = started.elapsed().as_micros() as u64;
        shard.metrics().record(kind(operation), micros);
        if let Some(export) = shard.shared.otlp.as_ref().filter(|export| export.is_due()) {
            let mut span = Span::ended(operation.name(), micros, None);
            span.failed = outcome.is_err();
            export.send(span);
        }
    }
    match outcome {
        Ok(body) => (Reply { headers, ..Reply::new(200, content, body) }, true),
        Err(error) => {
            shard.metrics().error(class(error.name()));
            let unknown = matches!(
                error.name(),
                ErrorName::MissingAuthenticationToken
                    | ErrorName::IncompleteSignature
                    | ErrorName::InvalidSignature
                    | ErrorName::UnrecognizedClient
                    | ErrorName::Serialization
            );
            (Reply::new(error.status(), content, error.body()), stranger && !unknown)
        }
    }
}

async fn serve(
    shard: &Rc<Shard>,
    peer: &Peer,
    head: &Head<'_>,
    operation: Option<Operation>,
    body: &[u8],
    started: Instant,
    headers: &mut String,
) -> Result<Vec<u8>, ApiError> {
    // A body that is no JSON is told before anything else; one that is empty, last.
    let malformed =
        || (!body.is_empty() && !well_formed(body)).then(|| ApiError::bare(ErrorName::Serialization));
    let Some(operation) = operation else {
        return Err(malformed().unwrap_or_else(|| ApiError::bare(ErrorName::UnknownOperation)));
    };
    if shard.metrics().in_flight_bytes.get() > shard.shared.config.limits.in_flight_bytes_max as u64 {
        shard.metrics().overloaded.add(1);
        let text = "Too many requests are under way; try again later";
        return Err(ApiError::new(ErrorName::Throttling, text));
    }
    let now_micros = shard.ids.now_micros();
    let role = match shard.authentication() {
        false => {
            let wanted = shard.shared.config.dynamo.as_ref().is_some_and(|dynamo| dynamo.wants_credentials);
            if wanted && let Err(error) = signature::parts(head) {
                return Err(malformed().unwrap_or(error));
            }
            None
        }
        true => match super::keys::authenticate(shard, head, body, now_micros).await {
            Ok(role) => Some(role),
            Err(error) => {
                let error = malformed().unwrap_or(error);
                audit(shard, peer, operation, None, body, Some(&error), true);
                return Err(error);
            }
        },
    };
    let grants = match &role {
        None => None,
        Some(role) => {
            let grants = shard.dialect.grants(role, now_micros).await;
            Some(grants.map_err(super::keys::unreadable)?)
        }
    };
    let host = head.text("host").unwrap_or_default();
    let caller = Caller::new(grants.as_deref(), now_micros, host);
    let outcome = shard.dynamo.execute(&caller, operation, body).await;
    let failed = outcome.as_ref().err().map(|error| class(error.name()) == 0x1001);
    let bytes = outcome.as_ref().map_or(0, Vec::len);
    watch::count(&caller, failed, bytes, started.elapsed().as_micros() as u64);
    watch::warn(&caller, headers);
    if head.header("x-partita-explain").is_some() {
        watch::explain(&caller, headers);
    }
    audit(shard, peer, operation, role.as_ref(), body, outcome.as_ref().err(), false);
    outcome
}

fn preflight(head: &Head<'_>) -> Reply {
    let mut reply = Reply::new(200, Content::None, "");
    for (asked, allowed) in [
        ("access-control-request-headers", "Access-Control-Allow-Headers"),
        ("access-control-request-method", "Access-Control-Allow-Methods"),
    ] {
        // The parser lets no line ends into values.
        if let Some(value) = head.text(asked) {
            reply.headers.push_str(&format!("{allowed}: {value}\r\n"));
        }
    }
    reply.headers.push_str("Access-Control-Max-Age: 172800\r\n");
    reply
}

fn content(content_type: Option<&str>) -> Option<Content> {
    match content_type?.split(';').next()?.trim() {
        "application/x-amz-json-1.0" => Some(Content::AmzJson),
        "application/json" => Some(Content::Json),
        _ => None,
    }
}

/// Which latency a request counts for.
fn kind(operation: Operation) -> metrics::Operation {
    use Operation::*;
    match operation {
        GetItem | Query | Scan | SearchVectors | GetRecords => metrics::Operation::Read,
        PutItem | DeleteItem => metrics::Operation::Write,
        UpdateItem | TransactWriteItems | TransactGetItems | ExecuteTransaction => {
            metrics::Operation::Conditional
        }
        BatchGetItem | BatchWriteItem | BatchExecuteStatement => metrics::Operation::Batch,
        CreateTable | UpdateTable | DeleteTable | UpdateTimeToLive => metrics::Operation::Schema,
        _ => metrics::Operation::Other,
    }
}

/// The protocol error of CQL that comes nearest: both dialects are counted together.
fn class(name: ErrorName) -> i32 {
    match name {
        ErrorName::InternalServer => 0x0000,
        ErrorName::Serialization | ErrorName::UnknownOperation => 0x000A,
        ErrorName::MissingAuthenticationToken
        | ErrorName::IncompleteSignature
        | ErrorName::InvalidSignature
        | ErrorName::UnrecognizedClient => 0x0100,
        ErrorName::AccessDenied => 0x2100,
        ErrorName::Throttling | ErrorName::ProvisionedThroughputExceeded => 0x1001,
        ErrorName::ResourceInUse | ErrorName::TableAlreadyExists => 0x2400,
        _ => 0x2200,
    }
}

/// As what an operation is recorded.
fn category(operation: Operation) -> Option<Category> {
    use Operation::*;
    Some(match operation {
        GetItem | Query | Scan | BatchGetItem | TransactGetItems | SearchVectors | GetRecords => {
            Category::Reads
        }
        PutItem
        | UpdateItem
        | DeleteItem
        | BatchWriteItem
        | TransactWriteItems
        | ExecuteStatement
        | BatchExecuteStatement
        | ExecuteTransaction => Category::Writes,
        CreateTable
        | UpdateTable
        | DeleteTable
        | UpdateTimeToLive
        | TagResource
        | UntagResource
        | CreateBackup
        | DeleteBackup
        | RestoreTableFromBackup
        | ImportTable
        | ExportTableToPointInTime => Category::Schema,
        _ => return None,
    })
}

/// Tells the audit log, if it wants to know.
fn audit(
    shard: &Shard,
    peer: &Peer,
    operation: Operation,
    role: Option<&Arc<str>>,
    body: &[u8],
    error: Option<&ApiError>,
    login: bool,
) {
    let rules = shard.shared.audit.rules();
    let category = if login { Some(Category::Logins) } else { category(operation) };
    let Some(category) = category.filter(|category| rules.records(*category, std::iter::empty())) else {
        return;
    };
    let table = table_name(body);
    let concerned = table.as_deref().map(|table| (KEYSPACE, table));
    if !rules.records(category, concerned.into_iter()) || !rules.concerns(category, role.map(|role| &**role))
    {
        return;
    }
    let outcome = match error {
        None => Outcome::Done,
        Some(error) => {
            let message = error.to_string();
            let message = message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)].to_string();
            Outcome::Refused { code: class(error.name()), message }
        }
    };
    shard.shared.audit.record(Entry {
        number: 0,
        at_micros: shard.ids.now_micros(),
        event: category.event(),
        role: role.cloned(),
        address: peer.address,
        keyspace: Some(KEYSPACE.into()),
        table: table.map(Into::into),
        // The operation says what was done; values are nobody's business.
        statement: Some(operation.name().to_string()),
        outcome,
    });
}

/// The table that a request names, for the audit log only.
fn table_name(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "TableName")]
        table: Option<String>,
    }
    serde_json::from_slice::<Named>(body).ok()?.table
}
