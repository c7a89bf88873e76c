//! Traces: bounded in number and length, and without passwords.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{Consistency, QueryParams, Request};

fn query(text: &str) -> Request<'_> {
    Request::Query { query: text, params: QueryParams::new(Consistency::One) }
}

#[test]
fn no_password_is_in_traces_or_in_the_list_of_prepared_statements() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let secret = "Tr0ub4dor";
    let statements = [
        format!("CREATE ROLE r WITH PASSWORD = '{secret}'"),
        format!("CRAETE ROLE r WITH PASSWORD = '{secret}'"),
        format!("CREATE ROLE r WITH PASWORD = '{secret}'"),
        format!("CREATE ROLE r WITH PASSWORD = {secret}"),
        format!("/* x */ ALTER USER r WITH PASSWORD '{secret}'"),
        format!("INSERT INTO system_auth.roles (role, salted_hash) VALUES ('r', '{secret}')"),
    ];
    for text in &statements {
        client.traced(&query(text));
        client.traced(&Request::Prepare { query: text, keyspace: None });
    }
    let sessions = client.rows("SELECT parameters FROM system_traces.sessions");
    assert_eq!(sessions.cells.len(), 2 * statements.len());
    let prepared = client.rows("SELECT query_string FROM system.prepared_statements");
    assert!(prepared.cells.len() >= 3, "{:?}", prepared.texts());
    for text in sessions.texts().iter().chain(&prepared.texts()) {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(sessions.texts().iter().any(|text| text.contains("CREATE ROLE r WITH PASSWORD")));
}

#[test]
fn traces_do_not_fill_the_disk() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    // 30 statements of 1 MiB; then so many that the budget is used up. They are served all the same.
    let long = format!("SELECT key FROM system.local -- {}", "x".repeat((1 << 20) - 64));
    for _ in 0..30 {
        assert_eq!(client.traced(&query(&long)).answer, Answer::Rows(1));
    }
    let logged = bench.metric("partita_log_bytes_total");
    assert!(logged < 1e6, "{logged} bytes for 30 traces");
    let middling = format!("SELECT key FROM system.local -- {}", "x".repeat(8 << 10));
    for _ in 0..1000 {
        assert_eq!(client.traced(&query(&middling)).answer, Answer::Rows(1));
    }
    assert!(bench.metric("partita_traces_refused_total") > 0.0);
    let stored = bench.metric("partita_log_bytes_total");
    assert!(stored < 8e6, "{stored} bytes for 1,030 traces");
}
