//! Many requests on one connection at once, sent with one write: each gets its own answer, whatever way it was served.

use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, ClientCodec, Consistency, Protocol, QueryParams, Request,
    Response, StartupOptions, Value, ValueList, Version,
};
use server::Server;
use server::config::{Config, Durability};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

struct Client {
    stream: TcpStream,
    codec: ClientCodec,
}

const PROTOCOL: Version = Version::V4;

impl Client {
    fn connect(server: &Server) -> Client {
        let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let codec = ClientCodec::new(Protocol::new(PROTOCOL), None, 64 << 20);
        let mut client = Client { stream, codec };
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0");
        client.ask(&Request::Startup(options.as_startup()), |_| ());
        client
    }

    fn ask<T>(&mut self, request: &Request<'_>, read: impl Fn(Response<'_>) -> T) -> T {
        let mut bytes = Vec::new();
        request.encode(Protocol::new(PROTOCOL), 1, 0, &mut bytes);
        self.stream.write_all(&bytes).unwrap();
        self.answer(|_, response| read(response))
    }

    fn query(&mut self, text: &str) {
        let request = Request::Query { query: text, params: QueryParams::new(Consistency::One) };
        self.ask(&request, |response| {
            assert!(!matches!(response, Response::Error(_)), "{text}: {response:?}")
        });
    }

    fn prepare(&mut self, text: &str) -> Vec<u8> {
        self.ask(&Request::Prepare { query: text, keyspace: None }, |response| match response {
            Response::Prepared(prepared) => prepared.id.to_vec(),
            other => panic!("{text}: {other:?}"),
        })
    }

    fn answer<T>(&mut self, read: impl Fn(i16, Response<'_>) -> T) -> T {
        let mut chunk = [0; 65536];
        loop {
            if let Some(envelope) = self.codec.next_envelope().unwrap() {
                let (_, response) = Response::decode(Protocol::new(PROTOCOL), &envelope).unwrap();
                return read(envelope.stream, response);
            }
            let count = self.stream.read(&mut chunk).unwrap();
            assert!(count > 0, "the server closed the connection");
            self.codec.receive_buffer().extend_from_slice(&chunk[..count]);
        }
    }

    /// Sends all requests with one write, on streams 0, 1, 2 …; what `read` makes of the answers, by stream.
    fn pipeline<T>(
        &mut self,
        requests: impl Iterator<Item = Vec<u8>>,
        read: impl Fn(Response<'_>) -> T,
    ) -> HashMap<i16, T> {
        let frames: Vec<Vec<u8>> = requests.collect();
        let mut writer = self.stream.try_clone().unwrap();
        let count = frames.len();
        // From another thread: the server may stop reading until its answers are taken.
        let sending = std::thread::spawn(move || writer.write_all(&frames.concat()).unwrap());
        let answers = (0..count).map(|_| self.answer(|stream, response| (stream, read(response)))).collect();
        sending.join().unwrap();
        answers
    }
}

fn execute(stream: i16, id: &[u8], values: &[Value<'_>]) -> Vec<u8> {
    let mut list = ValueList::new();
    values.iter().for_each(|value| assert!(list.push(*value)));
    let params = QueryParams { values: list.as_values(), ..QueryParams::new(Consistency::One) };
    let mut bytes = Vec::new();
    let request = Request::Execute { id, result_metadata_id: None, params };
    request.encode(Protocol::new(PROTOCOL), stream, 0, &mut bytes);
    bytes
}

fn start(shards: usize, durability: Durability, dir: &tempfile::TempDir) -> Server {
    let mut config = Config::loopback(dir.path(), shards);
    config.durability = durability;
    Server::start(config).unwrap()
}

fn first_cell(response: Response<'_>) -> Option<Vec<u8>> {
    match response {
        Response::Rows(rows) => rows.iter_cells().next().flatten().map(<[u8]>::to_vec),
        other => panic!("{other:?}"),
    }
}

fn is_void(response: Response<'_>) -> bool {
    response == Response::Void
}

fn setup(client: &mut Client) {
    client.query("CREATE KEYSPACE p WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.query("CREATE TABLE p.t (k int PRIMARY KEY, v blob)");
    client.query("CREATE TABLE p.u (k int PRIMARY KEY, v int)");
}

/// On one shard everything is served in place, on two half of it goes to the other one.
#[test]
fn every_request_gets_its_own_answer() {
    for (shards, durability) in [(1, Durability::Periodic), (2, Durability::Periodic), (2, Durability::Sync)]
    {
        let dir = tempfile::tempdir().unwrap();
        let server = start(shards, durability, &dir);
        let mut client = Client::connect(&server);
        setup(&mut client);
        let insert = client.prepare("INSERT INTO p.t (k, v) VALUES (?, ?)");
        let select = client.prepare("SELECT v FROM p.t WHERE k = ?");
        let claim = client.prepare("INSERT INTO p.u (k, v) VALUES (?, ?) IF NOT EXISTS");
        let key = |n: i16| i32::from(n).to_be_bytes();
        let written = client.pipeline(
            (0..500).map(|n| execute(n, &insert, &[Value::Bytes(&key(n)), Value::Bytes(&key(n))])),
            is_void,
        );
        assert!(written.len() == 500 && written.values().all(|void| *void));
        let read =
            client.pipeline((0..500).map(|n| execute(n, &select, &[Value::Bytes(&key(n))])), first_cell);
        assert!(read.len() == 500 && read.iter().all(|(n, v)| v.as_deref() == Some(&key(*n)[..])));
        // Ten claims for each key: exactly one of them wins.
        let claimed = client.pipeline(
            (0..500).map(|n| execute(n, &claim, &[Value::Bytes(&key(n % 50)), Value::Bytes(&key(n))])),
            first_cell,
        );
        let mut wins = [0; 50];
        for (n, applied) in &claimed {
            wins[(n % 50) as usize] += u32::from(applied.as_deref() == Some(&[1]));
        }
        assert_eq!((claimed.len(), wins), (500, [1; 50]), "{shards} shards");
        server.stop().unwrap();
    }
}

/// A scan gives way to others after 10,000 entries, so it cannot be served in place.
#[test]
fn a_scan_that_gives_way_is_answered_in_full() {
    for shards in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let server = start(shards, Durability::Periodic, &dir);
        let mut client = Client::connect(&server);
        setup(&mut client);
        let insert = client.prepare("INSERT INTO p.u (k, v) VALUES (?, ?)");
        for round in 0..24i32 {
            let row = |n: i16| {
                let key = (round * 500 + i32::from(n)).to_be_bytes();
                execute(n, &insert, &[Value::Bytes(&key), Value::Bytes(&key)])
            };
            assert_eq!(client.pipeline((0..500).map(row), is_void).len(), 500);
        }
        let count = client.prepare("SELECT count(*) FROM p.u");
        let counted = client.pipeline(std::iter::once(execute(0, &count, &[])), first_cell);
        assert_eq!(counted.get(&0), Some(&Some(12_000i64.to_be_bytes().to_vec())), "{shards} shards");
        server.stop().unwrap();
    }
}

#[test]
fn answers_that_fill_every_buffer_all_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(1, Durability::Periodic, &dir);
    let mut client = Client::connect(&server);
    setup(&mut client);
    let insert = client.prepare("INSERT INTO p.t (k, v) VALUES (?, ?)");
    let select = client.prepare("SELECT v FROM p.t WHERE k = ?");
    let big = vec![7; 100_000];
    let key = 1i32.to_be_bytes();
    client.pipeline(std::iter::once(execute(0, &insert, &[Value::Bytes(&key), Value::Bytes(&big)])), is_void);
    let read = client.pipeline((0..300).map(|n| execute(n, &select, &[Value::Bytes(&key)])), first_cell);
    assert!(read.len() == 300 && read.values().all(|v| v.as_ref() == Some(&big)));
    server.stop().unwrap();
}

#[test]
fn batches_and_mistakes_are_answered_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(1, Durability::Periodic, &dir);
    let mut client = Client::connect(&server);
    setup(&mut client);
    let (left, right) = (
        client.prepare("INSERT INTO p.t (k, v) VALUES (?, ?)"),
        client.prepare("INSERT INTO p.u (k, v) VALUES (?, ?)"),
    );
    let key = 5i32.to_be_bytes();
    let mut values = ValueList::new();
    assert!(values.push(Value::Bytes(&key)) && values.push(Value::Bytes(&key)));
    let batch = |right_values: &ValueList| {
        let mut statements = BatchList::new();
        assert!(statements.push(BatchQuery::Prepared(&left), values.as_values()));
        assert!(statements.push(BatchQuery::Prepared(&right), right_values.as_values()));
        let params = QueryParams::new(Consistency::One);
        let batch = Batch { batch_type: BatchType::Logged, statements: statements.as_statements(), params };
        let mut bytes = Vec::new();
        Request::Batch(batch).encode(Protocol::new(PROTOCOL), 0, 0, &mut bytes);
        bytes
    };
    let good = client.pipeline(std::iter::once(batch(&values)), is_void);
    assert_eq!(good.get(&0), Some(&true));
    let mut wrong = ValueList::new();
    assert!(wrong.push(Value::Bytes(&key)) && wrong.push(Value::Bytes(b"not an int")));
    let code = |response: Response<'_>| match response {
        Response::Error(error) => error.kind.code(),
        _ => 0,
    };
    assert_eq!(client.pipeline(std::iter::once(batch(&wrong)), code).get(&0), Some(&0x2200));
    let short = client.pipeline(std::iter::once(execute(0, &right, &[Value::Bytes(&key)])), code);
    assert_eq!(short.get(&0), Some(&0x2200));
    server.stop().unwrap();
}

/// Reads that another shard executes: mistakes, rows of every size, and a table that changes between two of them.
#[test]
fn reads_of_other_shards_are_answered_like_those_at_home() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(3, Durability::Periodic, &dir);
    let mut client = Client::connect(&server);
    setup(&mut client);
    client.query("CREATE TABLE p.w (a int, b text, c int, v blob, PRIMARY KEY ((a, b), c))");
    let insert = client.prepare("INSERT INTO p.w (a, b, c, v) VALUES (?, ?, ?, ?)");
    let key = |n: i16| i32::from(n).to_be_bytes();
    // Some are far larger than what a parcel of answers may hold.
    let value = |n: i16| vec![n as u8; if n % 20 == 7 { 100_000 } else { usize::from(n.unsigned_abs()) + 1 }];
    let rows = (0..200).map(|n| {
        let (key, value) = (key(n), value(n));
        execute(
            n,
            &insert,
            &[Value::Bytes(&key), Value::Bytes(b"b"), Value::Bytes(&key), Value::Bytes(&value)],
        )
    });
    assert!(client.pipeline(rows, is_void).values().all(|void| *void));
    let select = client.prepare("SELECT v FROM p.w WHERE a = ? AND b = ? AND c = ?");
    let reads = |id: &[u8]| -> Vec<Vec<u8>> {
        let values = |n| [key(n).to_vec(), b"b".to_vec(), key(n).to_vec()];
        let frame = |n| execute(n, id, &values(n).each_ref().map(|value| Value::Bytes(value)));
        (0..200).map(frame).collect()
    };
    // The first round finds out how large answers are; the others travel.
    for _ in 0..3 {
        let read = client.pipeline(reads(&select).into_iter(), first_cell);
        assert!(read.len() == 200 && read.iter().all(|(n, v)| v.as_ref() == Some(&value(*n))));
    }
    // Rows that are not there, values of the wrong type, too few of them, no key.
    let seen = |response: Response<'_>| match response {
        Response::Error(error) => i64::from(error.kind.code()),
        Response::Rows(rows) => rows.iter_cells().count() as i64,
        other => panic!("{other:?}"),
    };
    let mistakes = (0..200).map(|n| {
        let (good, missing) = (key(n), key(n + 1));
        let (good, missing, text) = (Value::Bytes(&good), Value::Bytes(&missing), Value::Bytes(b"b"));
        match n % 5 {
            0 => execute(n, &select, &[good, text, missing]),
            1 => execute(n, &select, &[good, text, Value::Bytes(b"not an int")]),
            2 => execute(n, &select, &[good, text]),
            3 => execute(n, &select, &[good, Value::Null, good]),
            _ => execute(n, &select, &[Value::Bytes(b"no"), text, good]),
        }
    });
    let expected = [0, 0x2200, 0x2200, 0x2200, 0x2200];
    for (n, seen) in client.pipeline(mistakes, seen) {
        assert_eq!(seen, expected[usize::from(n.unsigned_abs()) % 5], "{n}");
    }
    client.query("ALTER TABLE p.w ADD extra int");
    let codes = client.pipeline(reads(&select).into_iter(), seen);
    assert!(codes.values().all(|code| *code == 0x2500), "all are to be prepared again");
    let select = client.prepare("SELECT v FROM p.w WHERE a = ? AND b = ? AND c = ?");
    let read = client.pipeline(reads(&select).into_iter(), first_cell);
    assert!(read.iter().all(|(n, v)| v.as_ref() == Some(&value(*n))));
    client.query("DROP TABLE p.w");
    let codes = client.pipeline(reads(&select).into_iter(), seen);
    assert!(codes.values().all(|code| *code == 0x2500), "all are to be prepared again");
    server.stop().unwrap();
}
