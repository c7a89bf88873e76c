//! Hostile bytes over a real socket: an error or a close, never a panic, a hang or unbounded memory,
//! and other clients are served all the while.

use crate::bench::{Answer, Bench, Client, memory_kib};
use cql_wire::{Opcode, Protocol, Request, StartupOptions, ValueList, Version};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// A header with a declared length, and nothing behind it.
fn header(version: u8, opcode: u8, length: i32) -> Vec<u8> {
    let mut bytes = vec![version, 0, 0, 1, opcode];
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes
}

fn error_code(answer: &[u8]) -> Option<i32> {
    let body = answer.get(9..13)?;
    (*answer.get(4)? == Opcode::Error as u8).then(|| i32::from_be_bytes(body.try_into().unwrap()))
}

#[test]
fn versions_we_do_not_speak_get_the_text_drivers_look_for() {
    let bench = Bench::start(|_| {});
    for version in [1, 2, 7, 0x41, 0x42, 0x7f] {
        let answer = bench.throw(&[version, 0, 0, 0, 5, 0, 0, 0, 0]);
        assert_eq!(answer.first(), Some(&0x85), "version {version}");
        assert_eq!(error_code(&answer), Some(0x000A));
        let text = String::from_utf8_lossy(&answer);
        let expected = format!(
            "Invalid or unsupported protocol version ({version}); supported versions are (3/v3, 4/v4, 5/v5, 6/v6-beta)"
        );
        assert!(text.contains(&expected), "{text}");
    }
    bench.assert_alive();
}

#[test]
fn lying_lengths_truncated_frames_and_unknown_opcodes() {
    let bench = Bench::start(|_| {});
    let before = memory_kib();
    for length in [1, 1 << 20, 256 << 20, i32::MAX, -1, i32::MIN] {
        bench.throw(&header(4, Opcode::Query as u8, length));
        bench.throw(&header(4, Opcode::Startup as u8, length));
    }
    for opcode in 0..=255 {
        bench.throw(&header(4, opcode, 0));
    }
    let mut startup = Vec::new();
    let mut options = StartupOptions::new();
    options.set("CQL_VERSION", "3.0.0");
    Request::Startup(options.as_startup()).encode(Protocol::new(Version::V4), 1, 0, &mut startup);
    for end in 0..startup.len() {
        bench.throw(&startup[..end]);
    }
    assert!(memory_kib() < before + (64 << 10), "memory grew with declared lengths");
    bench.assert_alive();
}

#[test]
fn an_oversized_request_is_refused_and_the_connection_goes_on() {
    let bench = Bench::start(|config| config.limits.frame_bytes_max = 1 << 20);
    let mut client = Client::connect(&bench);
    let big = format!("SELECT key FROM system.local -- {}", "x".repeat(2 << 20));
    match client.query(&big) {
        Answer::Error(0x2200, text) => assert!(text.contains("Request is too big"), "{text}"),
        other => panic!("unexpected answer: {other:?}"),
    }
    assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
}

#[test]
fn wrong_checksums_end_a_v5_connection_with_a_protocol_error() {
    let bench = Bench::start(|_| {});
    let protocol = Protocol::new(Version::V5);
    let mut stream = bench.connect();
    let mut options = StartupOptions::new();
    options.set("CQL_VERSION", "3.0.0");
    let mut bytes = Vec::new();
    Request::Startup(options.as_startup()).encode(protocol, 1, 0, &mut bytes);
    stream.write_all(&bytes).unwrap();
    let mut ready = [0; 9];
    stream.read_exact(&mut ready).unwrap();
    assert_eq!(ready[4], Opcode::Ready as u8);
    stream.write_all(&[0x09, 0x00, 0x02, 1, 2, 3]).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(String::from_utf8_lossy(&answer).contains("CRC"), "{answer:?}");
    bench.assert_alive();
}

#[test]
fn random_bytes_never_hang_the_server() {
    let bench = Bench::start(|_| {});
    let mut random = rt::Random::seeded(0x5eed);
    for round in 0..300u64 {
        let mut bytes = vec![0; 1 + (random.next_u64() % 300) as usize];
        random.fill(&mut bytes);
        if round % 2 == 0 {
            bytes[0] = 3 + (round % 3) as u8;
        }
        bench.throw(&bytes);
    }
    bench.assert_alive();
}

#[test]
fn deep_and_endless_statements_are_syntax_errors() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    let deep = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let statements = [
        format!("SELECT {} FROM system.local", deep("(", ")", 50_000)),
        format!("SELECT {} FROM system.local", deep("[", "]", 50_000)),
        format!("INSERT INTO a.b (c) VALUES ({})", deep("{", "}", 50_000)),
        format!("CREATE TABLE a.b (k {} PRIMARY KEY)", deep("frozen<list<", ">>", 20_000)),
        format!("SELECT * FROM a.b WHERE {}", "k = 1 AND ".repeat(50_000)),
        "SELECT ".repeat(100_000),
        "'".into(),
        "/*".into(),
    ];
    for statement in &statements {
        match client.query(statement) {
            Answer::Error(0x2000 | 0x2200, _) => {}
            other => panic!("unexpected answer to {}...: {other:?}", &statement[..60.min(statement.len())]),
        }
    }
    assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
}

#[test]
fn slow_clients_are_closed() {
    let bench = Bench::start(|config| {
        config.limits.handshake_timeout = Duration::from_millis(300);
        config.limits.message_timeout = Duration::from_millis(300);
    });
    // Never says STARTUP; begins a header and stops; is connected and begins a message.
    for bytes in [&b""[..], &[4, 0, 0][..]] {
        let mut stream = bench.connect();
        stream.write_all(bytes).unwrap();
        let started = Instant::now();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(started.elapsed() < Duration::from_secs(10), "the connection was not closed in time");
    }
    let mut client = Client::connect(&bench);
    client.stream.write_all(&header(4, Opcode::Query as u8, 1000)).unwrap();
    let mut answer = Vec::new();
    let _ = client.stream.read_to_end(&mut answer);
    bench.assert_alive();
}

#[test]
fn many_named_values_take_linear_time() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.t (k int PRIMARY KEY, v list<int>)");
    let count = 30_000;
    let markers: Vec<String> = (0..count).map(|n| format!(":a{n}")).collect();
    let query = format!("INSERT INTO k.t (k, v) VALUES (1, [{}])", markers.join(","));
    let mut values = ValueList::new();
    for n in (0..count).rev() {
        assert!(values.push_named(&format!("a{n}"), cql_wire::Value::Bytes(&[0, 0, 0, 7])));
    }
    let begun = Instant::now();
    // Whether so many are allowed is not the question here.
    client.query_with(&query, &values);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    bench.assert_alive();
}
