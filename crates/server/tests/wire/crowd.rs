//! Many connections that want nothing: they keep nobody out, cost the engine no file, and do not hold up a stop.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use cql_wire::Opcode;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn is_closed(mut stream: &TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn silent_connections_give_way_to_those_who_speak() {
    let bench = Bench::start(|config| config.limits.connections_max = 16);
    let mut known: Vec<Client> = (0..4).map(|_| Client::connect(&bench)).collect();
    let silent: Vec<TcpStream> = (0..12).map(|_| bench.connect()).collect();
    // All places are taken; each newcomer gets that of the stranger who has waited longest.
    let mut late: Vec<Client> = (0..4).map(|_| Client::connect(&bench)).collect();
    for client in known.iter_mut().chain(&mut late) {
        assert_eq!(client.query("SELECT key FROM system.local"), Answer::Rows(1));
    }
    assert!(silent[..4].iter().all(is_closed));
    // Those that finish their handshake have their place for good.
    for mut stream in &silent[4..] {
        stream.write_all(&[4, 0, 0, 1, Opcode::Options as u8, 0, 0, 0, 0]).unwrap();
        assert_eq!(stream.read(&mut [0; 9]).unwrap(), 9);
    }
}

#[test]
fn one_address_has_a_limit() {
    let bench = Bench::start(|config| config.limits.connections_per_address_max = Some(3));
    let mut kept: Vec<Client> = (0..3).map(|_| Client::connect(&bench)).collect();
    assert!(is_closed(&bench.connect()));
    assert_eq!(kept[0].query("SELECT key FROM system.local"), Answer::Rows(1));
    assert_eq!(bench.metric("partita_connections_refused_total"), 1.0);
}

#[test]
fn half_http_requests_are_cut_off_and_keep_nobody_from_reading_metrics() {
    let bench = Bench::start(|config| {
        config.limits.http_connections_max = 8;
        config.limits.http_head_timeout = Duration::from_millis(300);
    });
    let half = |text: &str| {
        let mut stream = TcpStream::connect(bench.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    // More than there are places, and nobody is kept out.
    let halves: Vec<TcpStream> = (0..40).map(|_| half("GET /metrics HTTP/1.1\r\nHost: x\r\nX-")).collect();
    assert!(bench.get("/health").contains("200 OK"));
    for mut stream in halves {
        let mut rest = String::new();
        // Closed, with or without a word.
        let _ = stream.read_to_string(&mut rest);
        assert!(!rest.contains("200 OK"), "{rest}");
    }
    let answered = |mut stream: TcpStream| {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    };
    let body = "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nxxx";
    assert!(answered(half(body)).starts_with("HTTP/1.1 413"));
    let long = format!("GET /metrics HTTP/1.1\r\nHost: {}", "x".repeat(1 << 20));
    let mut stream = half("");
    let _ = stream.write_all(long.as_bytes());
    assert!(!answered(stream).contains("200 OK"));
    assert!(bench.get("/health").contains("200 OK"));
}

#[test]
fn a_half_http_request_does_not_hold_up_a_stop() {
    let bench = Bench::start(|_| {});
    let mut stream = TcpStream::connect(bench.http).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n").unwrap();
    let mut body = TcpStream::connect(bench.http).unwrap();
    body.write_all(b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n").unwrap();
    bench.assert_alive();
    let begun = Instant::now();
    drop(bench);
    assert!(begun.elapsed() < Duration::from_secs(10), "stopping took {:?}", begun.elapsed());
}
