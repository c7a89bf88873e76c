//! Runs scenarios on a server: to record what it answers, or to compare with what was recorded.

use crate::compare;
use crate::connections::Connections;
use crate::scenario::{File, Item, Step};
pub use crate::step::run_step;
use client::{Client, ClientError};
use model::literal::format_literal;
use model::types::DataType;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

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
    let mut current: Option<(String, Connections)> = None;
    let mut scenarios = 0;
    for item in &mut file.items {
        match item {
            Item::Note(_) => {}
            Item::Scenario(name) => {
                if let Some((_, connections)) = current.take() {
                    connections.end();
                }
                scenarios += 1;
                current = Some((name.clone(), Connections::begin(address, keyspace_name(name))?));
            }
            Item::Step(step) => {
                let Some((name, connections)) = &mut current else {
                    return Err(ClientError(format!("{}: no scenario begun", step.title())));
                };
                let lines = answer_of(connections, step)?;
                visit(name, step, lines);
            }
        }
    }
    if let Some((_, connections)) = current.take() {
        connections.end();
    }
    Ok(scenarios)
}

/// How long a statement that reads a trace is repeated.
const TRACE_PATIENCE: Duration = Duration::from_secs(10);

fn answer_of(connections: &mut Connections, step: &Step) -> Result<Vec<String>, ClientError> {
    let trace = connections.trace.clone();
    let text = step.text().replace("{ks}", connections.keyspace());
    let reads_trace = text.contains("{trace}");
    let text = text.replace("{trace}", trace.as_deref().unwrap_or("null"));
    let begun = Instant::now();
    loop {
        let client = match connections.get(&step.options.connection)? {
            Ok(client) => client,
            Err(refusal) => return Ok(refusal),
        };
        let lines = match run_step(client, &text, &step.options) {
            Ok(lines) => lines,
            Err(error) => {
                connections.lose(&step.options.connection);
                return Ok(vec![format!("lost connection: {error}")]);
            }
        };
        if let Some(id) = client.traced.take() {
            connections.trace = Some(format_literal(&DataType::Uuid, Some(&id)));
        }
        if reads_trace && lines.len() < 2 && begun.elapsed() < TRACE_PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        }
        return Ok(lines);
    }
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
