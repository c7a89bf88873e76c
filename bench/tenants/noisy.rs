//! One tenant sends a hundred times what it may; four others ask at a steady rate. What do the others notice?
//!
//! usage: noisy ADDRESS SECONDS ROUNDS. Only the standard library, so that `rustc -O` builds it in seconds. Latency counts from when a
//! request was due, so a late one counts in full. Prints one JSON object per round and phase:
//! `alone` (the noisy tenant is silent), `limited` (it has its limit), `unlimited` (nobody has one).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const QUIET: usize = 4;
const QUIET_PER_SECOND: u64 = 250;
const LIMIT: u64 = 200;
/// A hundred times the limit, over two connections.
const NOISY_PER_SECOND: u64 = 100 * LIMIT;
const NOISY_CONNECTIONS: u64 = 2;
const ROWS: usize = 1000;

const READ: &str = "SELECT note FROM noisy.notes WHERE org = ? AND id = ?";

struct Connection(TcpStream);

impl Connection {
    fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("the server is there");
        stream.set_nodelay(true).expect("a socket");
        let mut connection = Connection(stream);
        let mut body = vec![0, 1];
        text(&mut body, "CQL_VERSION");
        text(&mut body, "3.0.0");
        connection.ask(1, &body);
        connection
    }

    fn ask(&mut self, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
        self.0.write_all(&frame(0, opcode, body)).expect("the server takes it");
        self.answer()
    }

    fn answer(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).expect("an answer");
        let mut body = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
        self.0.read_exact(&mut body).expect("all of the answer");
        (head[4], body)
    }

    fn query(&mut self, statement: &str) {
        let mut body = (statement.len() as u32).to_be_bytes().to_vec();
        body.extend_from_slice(statement.as_bytes());
        body.extend_from_slice(&[0, 1, 0]);
        let (opcode, answer) = self.ask(7, &body);
        assert_eq!(opcode, 8, "{statement}: {}", String::from_utf8_lossy(&answer));
    }

    fn prepare(&mut self, statement: &str) -> Vec<u8> {
        let mut body = (statement.len() as u32).to_be_bytes().to_vec();
        body.extend_from_slice(statement.as_bytes());
        let (opcode, answer) = self.ask(9, &body);
        assert_eq!(opcode, 8, "{}", String::from_utf8_lossy(&answer));
        answer[6..6 + u16::from_be_bytes([answer[4], answer[5]]) as usize].to_vec()
    }
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.extend_from_slice(&(value.len() as u16).to_be_bytes());
    out.extend_from_slice(value.as_bytes());
}

fn frame(stream: u16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![4, 0];
    out.extend_from_slice(&stream.to_be_bytes());
    out.push(opcode);
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
    out
}

fn execute(id: &[u8], org: &str, row: usize) -> Vec<u8> {
    let mut body = (id.len() as u16).to_be_bytes().to_vec();
    body.extend_from_slice(id);
    body.extend_from_slice(&[0, 1, 1, 0, 2]);
    for value in [org, &format!("{row}")] {
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    body
}

/// Asks at a steady rate until the time is over; gives the latencies in microseconds.
fn quiet(address: &str, org: &str, until: Instant) -> Vec<u64> {
    let mut connection = Connection::open(address);
    let id = connection.prepare(READ);
    let mut latencies = Vec::new();
    let mut due = Instant::now();
    let mut row = 0;
    while due < until {
        if let Some(wait) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        row = (row * 31 + 7) % ROWS;
        let (opcode, answer) = connection.ask(10, &execute(&id, org, row));
        assert_eq!(opcode, 8, "{}", String::from_utf8_lossy(&answer));
        latencies.push(due.elapsed().as_micros() as u64);
        due += Duration::from_nanos(1_000_000_000 / QUIET_PER_SECOND);
    }
    latencies
}

/// Sends a bundle every two milliseconds, whatever comes back; counts answers and refusals.
fn noisy(address: &str, until: Instant, done: &Arc<AtomicU64>, refused: &Arc<AtomicU64>) {
    let mut connection = Connection::open(address);
    let id = connection.prepare(READ);
    let per_bundle = NOISY_PER_SECOND / NOISY_CONNECTIONS / 500;
    let bundle: Vec<u8> =
        (0..per_bundle).flat_map(|n| frame(n as u16, 10, &execute(&id, "noisy", n as usize))).collect();
    let mut answers = Connection(connection.0.try_clone().expect("a socket"));
    let over = Arc::new(AtomicBool::new(false));
    let (done, refused, ended) = (done.clone(), refused.clone(), over.clone());
    let reader = std::thread::spawn(move || {
        let mut waiting = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        while let Ok(count) = answers.0.read(&mut chunk) {
            waiting.extend_from_slice(&chunk[..count]);
            let mut at = 0;
            while waiting.len() >= at + 9 {
                let length = u32::from_be_bytes([waiting[at + 5], waiting[at + 6], waiting[at + 7], waiting[at + 8]]);
                if waiting.len() < at + 9 + length as usize {
                    break;
                }
                let counter = if waiting[at + 4] == 8 { &done } else { &refused };
                counter.fetch_add(1, Relaxed);
                at += 9 + length as usize;
            }
            waiting.drain(..at);
            if count == 0 || ended.load(Relaxed) {
                return;
            }
        }
    });
    let mut due = Instant::now();
    while due < until {
        if let Some(wait) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        if connection.0.write_all(&bundle).is_err() {
            break;
        }
        due += Duration::from_millis(2);
    }
    over.store(true, Relaxed);
    let _ = connection.0.shutdown(std::net::Shutdown::Both);
    let _ = reader.join();
}

fn phase(address: &str, name: &str, round: usize, seconds: u64) {
    let mut admin = Connection::open(address);
    let limits = match name {
        "unlimited" => "{}".to_string(),
        _ => format!("{{'noisy.requests_per_second': '{LIMIT}'}}"),
    };
    admin.query(&format!("ALTER KEYSPACE noisy WITH tenant_limits = {limits}"));
    let until = Instant::now() + Duration::from_secs(seconds);
    let (done, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut latencies: Vec<u64> = std::thread::scope(|scope| {
        if name != "alone" {
            for _ in 0..NOISY_CONNECTIONS {
                let (done, refused) = (&done, &refused);
                scope.spawn(move || noisy(address, until, done, refused));
            }
        }
        let quiet: Vec<_> =
            (0..QUIET).map(|n| scope.spawn(move || quiet(address, &format!("quiet{n}"), until))).collect();
        quiet.into_iter().flat_map(|one| one.join().expect("a quiet tenant")).collect()
    });
    latencies.sort_unstable();
    let quantile = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!(
        "{{\"round\": {round}, \"phase\": \"{name}\", \"requests\": {}, \"p50_us\": {}, \"p90_us\": {}, \"p99_us\": {}, \"p999_us\": {}, \
         \"noisy_done\": {}, \"noisy_refused\": {}}}",
        latencies.len(),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(0.999),
        done.load(Relaxed),
        refused.load(Relaxed)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (address, seconds, rounds) =
        (&arguments[1], arguments[2].parse().expect("seconds"), arguments[3].parse().expect("rounds"));
    let mut admin = Connection::open(address);
    admin.query("CREATE KEYSPACE IF NOT EXISTS noisy WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND tenant = 'org'");
    admin.query("CREATE TABLE IF NOT EXISTS noisy.notes (org text, id text, note text, PRIMARY KEY ((org, id)))");
    for org in (0..QUIET).map(|n| format!("quiet{n}")).chain(["noisy".to_string()]) {
        for row in 0..ROWS {
            let note = "x".repeat(200);
            admin.query(&format!("INSERT INTO noisy.notes (org, id, note) VALUES ('{org}', '{row}', '{note}')"));
        }
    }
    // What is slow for the first time only.
    phase(address, "alone", 0, 2);
    for round in 1..=rounds {
        for name in ["alone", "limited", "unlimited"] {
            phase(address, name, round, seconds);
        }
    }
}
