//! The error classes and texts that clients meet (PROTOCOL.md sections 1.5, 3.2 and 3.5), as a golden file.
//!
//! `errors.txt` holds cases: a line `> statement` (or `execute statement | values`, `batch TYPE | statement | ...`,
//! `level LEVEL statement`), then the answer: the code and the text, or `ok`. `UPDATE_GOLDEN=1` writes the answers
//! anew; read the difference before you commit it.

use crate::bench::{Answer, Bench, Client, Reply};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, ErrorKind, Opcode, QueryParams, Request, Value,
    ValueList, Version,
};
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/errors.txt");

#[test]
fn every_refusal_has_its_class_and_text() {
    let bench = Bench::start(|config| {
        config.limits.tombstones_fail = 50;
        config.limits.tombstones_warn = 20;
    });
    let mut client = Client::connect(&bench);
    for c in 0..60 {
        if c == 0 {
            setup(&mut client);
        }
        client.run(&format!("DELETE FROM k.graves WHERE k = 1 AND c = {c}"));
    }
    let golden = std::fs::read_to_string(PATH).unwrap();
    let mut answers = String::new();
    let mut cases = 0;
    for line in golden.lines() {
        if is_case(line) {
            cases += 1;
            let _ = writeln!(answers, "{line}\n{}", shown(&run(&mut client, line)));
        } else if line.is_empty() || line.starts_with('#') {
            let _ = writeln!(answers, "{line}");
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(PATH, &answers).unwrap();
    }
    for (expected, found) in golden.lines().zip(answers.lines()) {
        assert_eq!(expected, found);
    }
    assert_eq!(golden, answers);
    assert!(cases > 100, "only {cases} cases");
}

fn setup(client: &mut Client) {
    let replication = "replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    client.run(&format!("CREATE KEYSPACE k WITH {replication}"));
    for text in [
        "CREATE TYPE k.address (street text, number int)",
        "CREATE TABLE k.t (k int, c1 int, c2 int, c3 int, s int STATIC, v int, w text, PRIMARY KEY (k, c1, c2, c3))",
        "CREATE TABLE k.two (a int, b int, v int, PRIMARY KEY ((a, b)))",
        "CREATE TABLE k.plain (k text PRIMARY KEY, v int, u k.address, l list<int>, s set<int>, m map<text, int>, \
         fl frozen<list<int>>)",
        "CREATE TABLE k.counters (k int PRIMARY KEY, n counter)",
        "CREATE TABLE k.graves (k int, c int, v int, PRIMARY KEY (k, c))",
        "INSERT INTO k.plain (k, l) VALUES ('a', [1, 2])",
    ] {
        client.run(text);
    }
    client.run("USE k");
}

fn is_case(line: &str) -> bool {
    ["> ", "execute ", "batch ", "level "].iter().any(|start| line.starts_with(start))
}

fn run(client: &mut Client, line: &str) -> Reply {
    if let Some(text) = line.strip_prefix("> ") {
        return client.query_with(text, &ValueList::new());
    }
    if let Some(rest) = line.strip_prefix("level ") {
        let (level, query) = rest.split_once(' ').unwrap();
        let level = Consistency::ALL.into_iter().find(|l| l.to_string() == level).unwrap();
        return client.ask(&Request::Query { query, params: QueryParams::new(level) });
    }
    let (what, rest) = line.split_once(' ').unwrap();
    let mut parts = rest.split(" | ");
    let first = parts.next().unwrap();
    if what == "execute" {
        let mut values = ValueList::new();
        for value in parts {
            push(&mut values, value);
        }
        return client.execute(first, &values);
    }
    let batch_type = match first {
        "LOGGED" => BatchType::Logged,
        "UNLOGGED" => BatchType::Unlogged,
        "COUNTER" => BatchType::Counter,
        other => panic!("unknown batch type {other}"),
    };
    let mut list = BatchList::new();
    for text in parts {
        assert!(list.push(BatchQuery::Text(text), ValueList::new().as_values()));
    }
    let params = QueryParams::new(Consistency::One);
    client.batch(Batch { batch_type, statements: list.as_statements(), params })
}

fn push(values: &mut ValueList, value: &str) {
    let bytes;
    let value = match value.split_once(' ').unwrap_or((value, "")) {
        ("null", _) => Value::Null,
        ("unset", _) => Value::Unset,
        ("empty", _) => Value::Bytes(&[]),
        ("int", number) => {
            bytes = number.parse::<i32>().unwrap().to_be_bytes().to_vec();
            Value::Bytes(&bytes)
        }
        ("text", text) => Value::Bytes(text.as_bytes()),
        ("long", count) => {
            bytes = vec![b'x'; count.parse().unwrap()];
            Value::Bytes(&bytes)
        }
        other => panic!("unknown value {other:?}"),
    };
    assert!(values.push(value));
}

/// The code, what the class carries besides, and the text.
fn shown(reply: &Reply) -> String {
    let Answer::Error(code, text) = &reply.answer else { return "ok".into() };
    let extra = match reply.error.as_ref().unwrap() {
        ErrorKind::AlreadyExists { keyspace, table } => format!(" [{keyspace}][{table}]"),
        ErrorKind::ReadFailure { acknowledgements: a, failures, data_present } => {
            let (level, failures) = (a.consistency, failures.len());
            format!(" [{level} {}/{} {failures} {data_present}]", a.received, a.required)
        }
        ErrorKind::FunctionFailure { keyspace, function, argument_types } => {
            format!(" [{keyspace}.{function} {argument_types:?}]")
        }
        _ => String::new(),
    };
    format!("{code:04X}{extra} {}", text.replace('\n', "\\n"))
}

fn error(reply: &Reply) -> (i32, &str) {
    match &reply.answer {
        Answer::Error(code, text) => (*code, text),
        other => panic!("{other:?}"),
    }
}

/// Classes that no statement of the file reaches.
#[test]
fn protocol_errors_have_cassandras_texts() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let mut params = QueryParams::new(Consistency::One);
    params.paging_state = Some(b"nonsense");
    params.page_size = Some(10);
    let reply = client.ask(&Request::Query { query: "SELECT * FROM system.local", params });
    assert_eq!(error(&reply), (0x000A, "Invalid value for the paging state"));
    let id = [9; 16];
    let params = QueryParams::new(Consistency::One);
    let reply = client.ask(&Request::Execute { id: &id, result_metadata_id: None, params });
    assert_eq!(error(&reply).0, 0x2500);
    assert_eq!(reply.error, Some(ErrorKind::Unprepared { id: id.to_vec() }));
    let unstarted = bench.throw(&[4, 0, 0, 1, Opcode::Query as u8, 0, 0, 0, 0]);
    let text = String::from_utf8_lossy(&unstarted[13..]).into_owned();
    assert!(text.contains("Unexpected message QUERY, expecting STARTUP or OPTIONS"), "{text}");
    let beta = bench.throw(&[6, 0, 0, 0, Opcode::Options as u8, 0, 0, 0, 0]);
    let text = String::from_utf8_lossy(&beta).into_owned();
    assert!(text.contains("USE_BETA flag is unset"), "{text}");
}

#[test]
fn credentials_and_permissions_have_their_classes() {
    let bench = Bench::start(|config| config.auth = server::config::Auth::Password);
    let login = |token: &[u8]| {
        let mut client = Client::connect(&bench);
        let reply = client.ask(&Request::AuthResponse(Some(token)));
        (client, reply)
    };
    let (_, reply) = login(b"\0nobody\0secret");
    assert_eq!(error(&reply), (0x0100, "Provided username nobody and/or password are incorrect"));
    let mut early = Client::connect(&bench);
    let (code, text) = match early.query("SELECT * FROM system.local") {
        Answer::Error(code, text) => (code, text),
        other => panic!("{other:?}"),
    };
    assert_eq!((code, text.as_str()), (0x000A, "Unexpected message QUERY, expecting AUTH_RESPONSE"));
    let (mut admin, _) = login(b"\0cassandra\0cassandra");
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (k int PRIMARY KEY, v int)",
        "CREATE ROLE bob WITH PASSWORD = 'b' AND LOGIN = true",
        "CREATE ROLE ghost WITH PASSWORD = 'g'",
    ] {
        admin.run(text);
    }
    let (_, reply) = login(b"\0ghost\0g");
    assert_eq!(error(&reply), (0x0100, "ghost is not permitted to log in"));
    let (mut bob, _) = login(b"\0bob\0b");
    for (statement, text) in [
        ("SELECT * FROM k.t", "User bob has no SELECT permission on <table k.t> or any of its parents"),
        (
            "INSERT INTO k.t (k) VALUES (1)",
            "User bob has no MODIFY permission on <table k.t> or any of its parents",
        ),
        ("DROP TABLE k.t", "User bob has no DROP permission on <table k.t> or any of its parents"),
        ("DROP KEYSPACE k", "User bob has no DROP permission on <keyspace k> or any of its parents"),
    ] {
        match bob.query(statement) {
            Answer::Error(0x2100, found) => assert_eq!(found, text),
            other => panic!("{statement}: {other:?}"),
        }
    }
    // v5 answers the same.
    let mut newer = Client::with(&bench, Version::V5, &[]);
    let reply = newer.ask(&Request::AuthResponse(Some(b"\0nobody\0secret")));
    assert_eq!(error(&reply).0, 0x0100);
}

/// What works but deserves a word.
#[test]
fn warnings_say_what_to_know() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let warned = |client: &mut Client, text: &str, part: &str| {
        let reply = client.run(text);
        assert!(reply.warnings.iter().any(|w| w.contains(part)), "{text}: {:?}", reply.warnings);
    };
    let three = "{'class': 'SimpleStrategy', 'replication_factor': 3}";
    warned(&mut client, &format!("CREATE KEYSPACE k WITH replication = {three}"), "one copy");
    warned(&mut client, &format!("ALTER KEYSPACE k WITH replication = {three}"), "one copy");
    client.run("CREATE TABLE k.t (k int, c int, v int, PRIMARY KEY (k, c))");
    warned(&mut client, "SELECT * FROM k.t WHERE v = 1 ALLOW FILTERING", "v");
    warned(&mut client, "SELECT count(*) FROM k.t", "Aggregation query used without partition key");
    let one = client
        .run("ALTER KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    assert!(one.warnings.is_empty(), "{:?}", one.warnings);
    for level in Consistency::ALL.into_iter().filter(|l| !l.is_serial()) {
        let query = "INSERT INTO k.t (k, c, v) VALUES (1, 1, 1)";
        let reply = client.ask(&Request::Query { query, params: QueryParams::new(level) });
        assert_eq!(reply.answer, Answer::Other, "{level}");
    }
    for level in Consistency::ALL.into_iter().filter(|l| *l != Consistency::Any) {
        let query = "SELECT v FROM k.t WHERE k = 1";
        let reply = client.ask(&Request::Query { query, params: QueryParams::new(level) });
        assert_eq!(reply.answer, Answer::Rows(1), "{level}");
    }
}
