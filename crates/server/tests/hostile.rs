//! Hostile bytes over a real socket: an error or a close, never a panic, a hang or unbounded memory,
//! and other clients are served all the while.

use cql_wire::{
    ClientCodec, Consistency, Opcode, Protocol, QueryParams, Request, Response, StartupOptions, Version,
};
use server::Server;
use server::config::Config;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    server: Option<Server>,
    address: SocketAddr,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start(change: impl FnOnce(&mut Config)) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::loopback(dir.path(), 2);
        change(&mut config);
        let server = Server::start(config).unwrap();
        let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
        Bench { server: Some(server), address, _dir: dir }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes, says that no more come, and reads until the server closes.
    fn throw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may close before it has read everything: that is an answer too.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the server neither answered nor closed: {error}"),
        }
        answer
    }

    /// The server still serves ordinary clients.
    fn assert_alive(&self) {
        let mut client = Client::connect(self);
        match client.query("SELECT key FROM system.local") {
            Answer::Rows(1) => {}
            other => panic!("unexpected answer: {other:?}"),
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().unwrap();
        }
    }
}

#[derive(Debug, PartialEq)]
enum Answer {
    Rows(usize),
    Error(i32, String),
    Other,
}

struct Client {
    stream: TcpStream,
    codec: ClientCodec,
    protocol: Protocol,
}

impl Client {
    fn connect(bench: &Bench) -> Client {
        let protocol = Protocol::new(Version::V4);
        let codec = ClientCodec::new(protocol, None, 64 << 20);
        let mut client = Client { stream: bench.connect(), codec, protocol };
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0");
        client.send(&Request::Startup(options.as_startup()));
        assert_eq!(client.receive(), Answer::Other);
        client
    }

    fn send(&mut self, request: &Request<'_>) {
        let mut bytes = Vec::new();
        request.encode(self.protocol, 1, 0, &mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    fn query(&mut self, text: &str) -> Answer {
        self.send(&Request::Query { query: text, params: QueryParams::new(Consistency::One) });
        self.receive()
    }

    fn receive(&mut self) -> Answer {
        let mut chunk = [0; 4096];
        loop {
            if let Some(envelope) = self.codec.next_envelope().unwrap() {
                let (_, response) = Response::decode(self.protocol, &envelope).unwrap();
                return match response {
                    Response::Error(error) => Answer::Error(error.kind.code(), error.message),
                    Response::Rows(rows) => Answer::Rows(rows.row_count),
                    _ => Answer::Other,
                };
            }
            let count = self.stream.read(&mut chunk).unwrap();
            assert!(count > 0, "the server closed the connection");
            self.codec.receive_buffer().extend_from_slice(&chunk[..count]);
        }
    }
}

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

fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
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
            "Invalid or unsupported protocol version ({version}); supported versions are (3/v3, 4/v4, 5/v5)"
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
fn connections_over_the_limit_are_refused_and_others_served() {
    let bench = Bench::start(|config| config.limits.connections_max = 3);
    let kept: Vec<Client> = (0..3).map(|_| Client::connect(&bench)).collect();
    let mut refused = bench.connect();
    let mut answer = Vec::new();
    let _ = refused.read_to_end(&mut answer);
    assert!(answer.is_empty());
    drop(kept);
    // A place becomes free when the server notices that the client left.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut stream = bench.connect();
        stream.write_all(&header(4, Opcode::Options as u8, 0)).unwrap();
        let mut byte = [0];
        if matches!(stream.read(&mut byte), Ok(1)) {
            break;
        }
        assert!(Instant::now() < deadline, "no place became free");
    }
}
