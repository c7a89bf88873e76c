//! Spans and metrics at a collector: a small one that takes what comes and reads enough of it to know what it is.

use crate::bench::{Bench, Client, PATIENCE};
use cql_wire::{Consistency, QueryParams, Request};
use server::otlp::{Settings, Target};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

/// Fields of a protobuf message: number and content of those that are bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
            shift += 7;
        }
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        match tag & 7 {
            0 => {
                varint(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            2 => {
                let length = varint(&mut bytes) as usize;
                found.push((tag >> 3, bytes[..length].to_vec()));
                bytes = &bytes[length..];
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

fn inside(bytes: &[u8], path: &[u64]) -> Vec<Vec<u8>> {
    let Some((first, rest)) = path.split_first() else { return vec![bytes.to_vec()] };
    let of = |(number, content): &(u64, Vec<u8>)| (number == first).then(|| inside(content, rest));
    fields(bytes).iter().filter_map(of).flatten().collect()
}

/// The next request: its path and body.
fn take(listener: &TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut got = Vec::new();
    let mut chunk = [0; 64 << 10];
    loop {
        if let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&got[..end]).into_owned();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            if got.len() >= end + 4 + length.parse::<usize>().unwrap() {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                assert!(head.contains("Content-Type: application/x-protobuf"), "{head}");
                return (head.split(' ').nth(1).unwrap().to_string(), got[end + 4..].to_vec());
            }
        }
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "half a request");
        got.extend_from_slice(&chunk[..count]);
    }
}

#[test]
fn a_collector_gets_spans_and_metrics_and_no_values() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let bench = Bench::start(|config| {
        config.otlp = Some(Settings { target: Target::parse(&url).unwrap(), sample_every: 1 });
    });
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE app.t (k text PRIMARY KEY, v text)");
    client.run("INSERT INTO app.t (k, v) VALUES ('a-secret-key', 'a-secret-value')");
    client.rows("SELECT v FROM app.t WHERE k = 'a-secret-key'");
    let query = "SELECT v FROM app.t WHERE k = 'a-secret-key'";
    client.traced(&Request::Query { query, params: QueryParams::new(Consistency::One) });
    let (mut spans, mut metrics) = (Vec::new(), Vec::new());
    let patience = Instant::now() + PATIENCE;
    while spans.is_empty() || metrics.is_empty() {
        assert!(Instant::now() < patience, "{} spans, {} metrics", spans.len(), metrics.len());
        let (path, body) = take(&listener);
        assert!(!body.windows(8).any(|window| window == b"a-secret"), "a value was sent");
        match path.as_str() {
            "/v1/traces" => spans.extend(inside(&body, &[1, 2, 2])),
            "/v1/metrics" => metrics.extend(inside(&body, &[1, 2, 2])),
            other => panic!("{other}"),
        }
    }
    let texts = |span: &[u8]| -> Vec<String> {
        inside(span, &[9, 2, 1]).iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
    };
    assert!(spans.iter().all(|span| inside(span, &[1])[0].len() == 16 && inside(span, &[2])[0].len() == 8));
    let select = spans
        .iter()
        .find(|span| texts(span).iter().any(|text| text.contains("SELECT") && text.contains("app.t")));
    assert!(select.is_some(), "{:?}", spans.iter().map(|span| texts(span)).collect::<Vec<_>>());
    let names: Vec<String> = metrics
        .iter()
        .flat_map(|metric| inside(metric, &[1]))
        .map(|name| String::from_utf8(name).unwrap())
        .collect();
    for wanted in ["partita_request_seconds", "partita_commits_total", "partita_memory_bytes"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted}: {names:?}");
    }
    // The trace that the client asked for is the example of its bucket.
    let page = bench.get_as("/metrics", "application/openmetrics-text");
    let exemplar = page.lines().find(|line| line.contains("# {trace_id=\""));
    assert!(
        exemplar.is_some_and(|line| line.starts_with("partita_request_seconds_bucket{operation=\"read\"")),
        "{exemplar:?}"
    );
    assert!(bench.metric("partita_otlp_spans_total") > 0.0);
}

#[test]
fn a_collector_that_is_away_costs_nothing_but_the_spans() {
    // A port that nobody listens on: it was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::start(|config| {
        let target = Target::parse(&format!("http://{free}/otlp")).unwrap();
        config.otlp = Some(Settings { target, sample_every: 1 });
    });
    let mut client = Client::connect(&bench);
    let patience = Instant::now() + PATIENCE;
    while bench.metric("partita_otlp_dropped_total") == 0.0 {
        assert!(Instant::now() < patience, "nobody says that spans are lost");
        client.rows("SELECT key FROM system.local");
    }
    assert!(Target::parse("ftp://x").unwrap_err().contains("--otlp-endpoint"));
}
