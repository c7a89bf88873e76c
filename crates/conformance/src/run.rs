//! Runs scenarios on a server: to record what it answers, or to compare with what was recorded.

use crate::answer;
use crate::client::{Client, ClientError, Statement};
use crate::column_type::data_type;
use crate::compare;
use crate::scenario::{File, Item, Options, Step};
use cql_wire::{Consistency, QueryParams, Request, Response, Value, ValueList};
use model::json::{JsonValue, from_json};
use model::types::DataType;
use std::net::SocketAddr;

/// More pages than any scenario has: a server that never ends a result must not hang the run.
const PAGES_MAX: usize = 10_000;

/// A statement that was not answered as Cassandra answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub scenario: String,
    pub statement: String,
    pub expected: Vec<String>,
    pub actual: Vec<String>,
}

/// What a run over a file did.
#[derive(Debug, Default)]
pub struct Outcome {
    pub scenarios: usize,
    pub statements: usize,
    pub differences: Vec<Difference>,
}

/// Runs every scenario of the file; `visit` gets each statement with its answer.
pub fn run_file(
    address: SocketAddr,
    file: &mut File,
    mut visit: impl FnMut(&str, &mut Step, Vec<String>),
) -> Result<usize, ClientError> {
    let mut current: Option<(String, String, Client)> = None;
    let mut scenarios = 0;
    for item in &mut file.items {
        match item {
            Item::Note(_) => {}
            Item::Scenario(name) => {
                finish(current.take());
                scenarios += 1;
                let keyspace = keyspace_name(name);
                current = Some((name.clone(), keyspace.clone(), open(address, &keyspace)?));
            }
            Item::Step(step) => {
                let Some((name, keyspace, client)) = &mut current else {
                    return Err(ClientError(format!("{}: no scenario begun", step.title())));
                };
                let text = step.text().replace("{ks}", keyspace);
                let lines = match run_step(client, &text, &step.options) {
                    Ok(lines) => lines,
                    Err(error) => {
                        *client = reopen(address, keyspace)?;
                        vec![format!("lost connection: {error}")]
                    }
                };
                visit(name, step, lines);
            }
        }
    }
    finish(current.take());
    Ok(scenarios)
}

/// Compares every answer with the recorded one.
pub fn replay(address: SocketAddr, file: &mut File) -> Result<Outcome, ClientError> {
    let mut outcome = Outcome::default();
    let (mut statements, mut differences) = (0, Vec::new());
    outcome.scenarios = run_file(address, file, |scenario, step, actual| {
        statements += 1;
        if !compare::agrees(&step.options, &step.expected, &actual) {
            differences.push(Difference {
                scenario: scenario.into(),
                statement: step.title(),
                expected: step.expected.clone(),
                actual,
            });
        }
    })?;
    outcome.statements = statements;
    outcome.differences = differences;
    Ok(outcome)
}

/// The keyspace of a scenario: the same on every server, because answers name it.
pub fn keyspace_name(scenario: &str) -> String {
    let word: String = scenario
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    format!("c_{word}").chars().take(48).collect()
}

/// A connection in a fresh keyspace.
pub fn open(address: SocketAddr, keyspace: &str) -> Result<Client, ClientError> {
    let mut client = Client::connect(address)?;
    client.must(&format!("DROP KEYSPACE IF EXISTS {keyspace}"))?;
    client.must(&format!(
        "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
    ))?;
    client.must(&format!("USE {keyspace}"))?;
    Ok(client)
}

fn reopen(address: SocketAddr, keyspace: &str) -> Result<Client, ClientError> {
    let mut client = Client::connect(address)?;
    client.must(&format!("USE {keyspace}"))?;
    Ok(client)
}

fn finish(current: Option<(String, String, Client)>) {
    if let Some((_, keyspace, mut client)) = current {
        // A scenario may have dropped it, or left it unusable; the next run drops it again anyway.
        let _ = client.must(&format!("DROP KEYSPACE IF EXISTS {keyspace}"));
    }
}

/// Runs one statement, all its pages, and gives the answer as lines.
pub fn run_step(client: &mut Client, text: &str, options: &Options) -> Result<Vec<String>, ClientError> {
    let mut lines = Vec::new();
    let mut statement = None;
    if options.prepare || !options.bind.is_empty() {
        match prepare(client, text)? {
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
    let values = bound_values(options, statement.as_ref()).map_err(ClientError)?;
    let mut state: Option<Vec<u8>> = None;
    for _ in 0..PAGES_MAX {
        let params = QueryParams {
            values: values.as_values(),
            page_size: options.page,
            paging_state: state.as_deref(),
            timestamp: options.timestamp,
            now_in_seconds: options.now,
            ..QueryParams::new(Consistency::One)
        };
        let request = match &statement {
            Some(s) => {
                Request::Execute { id: &s.id, result_metadata_id: Some(&s.result_metadata_id), params }
            }
            None => Request::Query { query: text, params },
        };
        let more = client.call(&request, |prefix, response| {
            lines.extend(answer::lines(prefix, response));
            match response {
                Response::Rows(rows) => rows.paging_state.map(<[u8]>::to_vec),
                _ => None,
            }
        })?;
        let Some(more) = more else { return Ok(lines) };
        lines.push(compare::NEXT_PAGE.into());
        state = Some(more);
    }
    Err(ClientError(format!("{text}: more than {PAGES_MAX} pages")))
}

fn prepare(client: &mut Client, query: &str) -> Result<Result<Statement, Vec<String>>, ClientError> {
    client.call(&Request::Prepare { query, keyspace: None }, |prefix, response| match response {
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
fn bound_values(options: &Options, statement: Option<&Statement>) -> Result<ValueList, String> {
    let mut values = ValueList::new();
    for (index, text) in options.bind.iter().enumerate() {
        let marker = statement.and_then(|s| s.bind.get(index));
        if text == "unset" {
            values.push(Value::Unset);
        } else if text == "null" {
            values.push(Value::Null);
        } else if let Some(hex) = text.strip_prefix("0x") {
            values.push(Value::Bytes(&bytes_of(hex)?));
        } else if let Some(marker) = marker {
            let json = JsonValue::parse(text).map_err(|e| format!("@bind {text}: {e:?}"))?;
            let kind = match data_type(&marker.column_type) {
                // JSON has no text form for counters, but increments are bound as one.
                DataType::Counter => DataType::BigInt,
                kind => kind,
            };
            let bytes = from_json(&kind, &json, 0).map_err(|e| format!("@bind {text}: {e:?}"))?;
            values.push(Value::Bytes(&bytes));
        } else {
            values.push(Value::Bytes(text.as_bytes()));
        }
    }
    Ok(values)
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
