//! One statement of a scenario as messages to a server, and the answer as lines.

use crate::answer;
use crate::compare;
use crate::scenario::Options;
use client::column_type::data_type;
use client::{Client, ClientError, Statement};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, QueryParams, Request, Response, Value, ValueList,
    flags,
};
use model::json::{JsonValue, from_json};
use model::types::DataType;

/// More pages than any scenario has: a server that never ends a result must not hang the run.
const PAGES_MAX: usize = 10_000;

/// Runs one statement, all its pages, and gives the answer as lines.
pub fn run_step(client: &mut Client, text: &str, options: &Options) -> Result<Vec<String>, ClientError> {
    if options.message {
        return run_batch(client, text, options);
    }
    let mut lines = Vec::new();
    let mut statement = None;
    if options.prepare || !options.bind.is_empty() {
        match prepare(client, text, options)? {
            Ok(prepared) => {
                if options.prepare {
                    lines
                        .push(format!("markers: {}", answer::columns(&prepared.bind)).trim_end().to_string());
                    lines.push(format!("key markers: {:?}", prepared.partition_key));
                    lines.push(
                        format!("result: {}", answer::columns(&prepared.result)).trim_end().to_string(),
                    );
                    if options.bind.is_empty() && !prepared.bind.is_empty() {
                        return Ok(lines);
                    }
                }
                statement = Some(prepared);
            }
            Err(refused) => return Ok(refused),
        }
    }
    let values = bound_values(&options.bind, statement.as_ref()).map_err(ClientError)?;
    if options.query {
        statement = None;
    }
    let header = if options.trace { flags::TRACING } else { 0 };
    let mut state: Option<Vec<u8>> = None;
    for _ in 0..PAGES_MAX {
        let params = QueryParams {
            values: values.as_values(),
            page_size: options.page,
            paging_state: state.as_deref(),
            ..params(options)
        };
        let request = match &statement {
            Some(s) => {
                Request::Execute { id: &s.id, result_metadata_id: Some(&s.result_metadata_id), params }
            }
            None => Request::Query { query: text, params },
        };
        let (more, traced) = client.call_with(&request, header, |prefix, response| {
            lines.extend(answer::lines(prefix, response));
            let more = match response {
                Response::Rows(rows) => rows.paging_state.map(<[u8]>::to_vec),
                _ => None,
            };
            (more, prefix.tracing_id)
        })?;
        client.traced = traced.or(client.traced);
        let Some(more) = more else { return Ok(lines) };
        lines.push(compare::NEXT_PAGE.into());
        state = Some(more);
    }
    Err(ClientError(format!("{text}: more than {PAGES_MAX} pages")))
}

/// What the options say of every request.
fn params(options: &Options) -> QueryParams<'_> {
    QueryParams {
        timestamp: options.timestamp,
        now_in_seconds: options.now,
        serial_consistency: options.serial,
        keyspace: options.keyspace.as_deref(),
        ..QueryParams::new(options.consistency.unwrap_or(Consistency::One))
    }
}

/// Sends `BEGIN … APPLY BATCH` as a BATCH message: each line between is a statement, prepared if it has markers.
fn run_batch(client: &mut Client, text: &str, options: &Options) -> Result<Vec<String>, ClientError> {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_ascii_uppercase();
    let batch_type = match first.split_whitespace().nth(1) {
        Some("UNLOGGED") => BatchType::Unlogged,
        Some("COUNTER") => BatchType::Counter,
        _ => BatchType::Logged,
    };
    let mut statements = BatchList::new();
    let mut given = options.bind.iter();
    for line in lines.filter(|line| !line.is_empty() && !line.eq_ignore_ascii_case("APPLY BATCH;")) {
        if !line.contains('?') {
            statements.push(BatchQuery::Text(line), ValueList::new().as_values());
            continue;
        }
        let prepared = match prepare(client, line, options)? {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(refused),
        };
        let bind: Vec<String> = given.by_ref().take(prepared.bind.len()).cloned().collect();
        let values = bound_values(&bind, Some(&prepared)).map_err(ClientError)?;
        let query = if options.query { BatchQuery::Text(line) } else { BatchQuery::Prepared(&prepared.id) };
        statements.push(query, values.as_values());
    }
    let batch = Batch { batch_type, statements: statements.as_statements(), params: params(options) };
    client.call(&Request::Batch(batch), answer::lines)
}

fn prepare(
    client: &mut Client,
    query: &str,
    options: &Options,
) -> Result<Result<Statement, Vec<String>>, ClientError> {
    let keyspace = options.keyspace.as_deref();
    client.call(&Request::Prepare { query, keyspace }, |prefix, response| match response {
        Response::Prepared(prepared) => Ok(Statement {
            id: prepared.id.to_vec(),
            result_metadata_id: prepared.result_metadata_id.to_vec(),
            bind: prepared.bind.to_vec(),
            partition_key: prepared.partition_key.to_vec(),
            result: prepared.result.to_vec(),
        }),
        other => Err(answer::lines(prefix, other)),
    })
}

/// Values as the types of the markers want them; past the last marker a value is sent as text.
fn bound_values(bind: &[String], statement: Option<&Statement>) -> Result<ValueList, String> {
    let mut values = ValueList::new();
    for (index, text) in bind.iter().enumerate() {
        let named = text.strip_prefix(':').and_then(|rest| rest.split_once(' '));
        let (name, text) = named.map_or((None, text.as_str()), |(name, text)| (Some(name), text));
        let markers = statement.map_or(&[][..], |s| &s.bind);
        let marker = match name {
            Some(name) => markers.iter().find(|m| &*m.name == name),
            None => markers.get(index),
        };
        let bytes;
        let value = match text {
            "unset" => Value::Unset,
            "null" => Value::Null,
            text => {
                bytes = encoded(text, marker.map(|m| data_type(&m.column_type)))?;
                Value::Bytes(&bytes)
            }
        };
        match name {
            Some(name) => values.push_named(name, value),
            None => values.push(value),
        };
    }
    Ok(values)
}

/// `0x…` as bytes, JSON as the type wants it, and text where there is no type.
pub fn encoded(text: &str, kind: Option<DataType>) -> Result<Vec<u8>, String> {
    if let Some(hex) = text.strip_prefix("0x") {
        return bytes_of(hex);
    }
    let kind = match kind {
        None => return Ok(text.as_bytes().to_vec()),
        // JSON has no text form for counters, but increments are bound as one.
        Some(DataType::Counter) => DataType::BigInt,
        Some(kind) => kind,
    };
    let json = JsonValue::parse(text).map_err(|e| format!("@bind {text}: {e:?}"))?;
    from_json(&kind, &json, 0).map_err(|e| format!("@bind {text}: {e:?}"))
}

fn bytes_of(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> =
        hex.chars().map(|c| c.to_digit(16)).collect::<Option<_>>().ok_or("not hexadecimal")?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).map_err(|e| e.to_string()),
        _ => Err("an odd number of digits".to_string()),
    };
    digits.chunks(2).map(byte).collect()
}
