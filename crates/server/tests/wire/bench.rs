//! A server on a free port and a small client, so that tests control every byte.

use cql_wire::{
    Batch, ClientCodec, Compression, Consistency, ErrorKind, Protocol, QueryParams, Request, Response,
    StartupOptions, ValueList, Version,
};
use server::Server;
use server::config::Config;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Nothing here may take longer.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Bench {
    server: Option<Server>,
    pub address: SocketAddr,
    pub http: SocketAddr,
    _dir: tempfile::TempDir,
}

impl Bench {
    pub fn start(change: impl FnOnce(&mut Config)) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::loopback(dir.path(), 2);
        change(&mut config);
        let server = Server::start(config).unwrap();
        let named = |wanted: &str| server.listeners().iter().find(|(name, _)| *name == wanted).unwrap().1;
        let (address, http) = (named("cql"), named("http"));
        Bench { server: Some(server), address, http, _dir: dir }
    }

    /// Where the listener of this name is.
    pub fn listener(&self, wanted: &str) -> SocketAddr {
        let listeners = self.server.as_ref().unwrap().listeners();
        listeners.iter().find(|(name, _)| *name == wanted).unwrap().1
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes, says that no more come, and reads until the server closes.
    pub fn throw(&self, bytes: &[u8]) -> Vec<u8> {
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
    pub fn assert_alive(&self) {
        let mut client = Client::connect(self);
        match client.query("SELECT key FROM system.local") {
            Answer::Rows(1) => {}
            other => panic!("unexpected answer: {other:?}"),
        }
    }

    /// A page of the http listener.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// The same in a form that is asked for.
    pub fn get_as(&self, path: &str, accept: &str) -> String {
        let mut stream = TcpStream::connect(self.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// One value of /metrics, with its labels.
    pub fn series(&self, series: &str) -> f64 {
        let text = self.get("/metrics");
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map_or(0.0, |value| value.parse().unwrap())
    }

    /// One value of /metrics, added up over its labels.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics");
        let lines = text.lines().filter(|l| !l.starts_with('#'));
        let named = lines.filter(|l| l.split(['{', ' ']).next() == Some(name));
        named.map(|l| l.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
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
pub enum Answer {
    Rows(usize),
    Error(i32, String),
    Other,
}

/// An answer with what tests look at.
#[derive(Debug)]
pub struct Reply {
    pub answer: Answer,
    pub error: Option<ErrorKind>,
    pub warnings: Vec<String>,
    pub cells: Vec<Option<Vec<u8>>>,
    pub paging_state: Option<Vec<u8>>,
    pub prepared_id: Vec<u8>,
    pub result_metadata_id: Vec<u8>,
    pub bytes: usize,
}

impl Reply {
    /// The cells as texts; for columns of type text.
    pub fn texts(&self) -> Vec<String> {
        let text =
            |cell: &Option<Vec<u8>>| String::from_utf8_lossy(cell.as_deref().unwrap_or(b"null")).into();
        self.cells.iter().map(text).collect()
    }
}

pub struct Client {
    pub stream: TcpStream,
    codec: ClientCodec,
    protocol: Protocol,
}

impl Client {
    pub fn connect(bench: &Bench) -> Client {
        Client::with(bench, Version::V4, &[])
    }

    /// Connects and starts up; the connection is ready, or waits for credentials.
    pub fn with(bench: &Bench, version: Version, options: &[(&str, &str)]) -> Client {
        let protocol = Protocol::new(version);
        let compression =
            options.iter().find(|(key, _)| *key == "COMPRESSION").map(|(_, name)| match *name {
                "lz4" => Compression::Lz4,
                "snappy" => Compression::Snappy,
                other => panic!("no compression is called {other}"),
            });
        let mut stream = bench.connect();
        let mut startup = StartupOptions::new();
        startup.set("CQL_VERSION", "3.0.0");
        for (key, value) in options {
            startup.set(key, value);
        }
        let mut bytes = Vec::new();
        Request::Startup(startup.as_startup()).encode(protocol, 1, 0, &mut bytes);
        stream.write_all(&bytes).unwrap();
        let codec = ClientCodec::new(protocol, compression, 64 << 20);
        let mut client = Client { stream, codec, protocol };
        assert_eq!(client.receive().answer, Answer::Other);
        client
    }

    pub fn send(&mut self, request: &Request<'_>) {
        self.send_flagged(request, 0);
    }

    /// Asks with the flag that wants a trace.
    pub fn traced(&mut self, request: &Request<'_>) -> Reply {
        self.send_flagged(request, cql_wire::flags::TRACING);
        self.receive()
    }

    fn send_flagged(&mut self, request: &Request<'_>, flags: u8) {
        let (mut plain, mut framed) = (Vec::new(), Vec::new());
        request.encode(self.protocol, 1, flags, &mut plain);
        self.codec.framing().frame(&plain, &mut framed);
        self.stream.write_all(&framed).unwrap();
    }

    pub fn ask(&mut self, request: &Request<'_>) -> Reply {
        self.send(request);
        self.receive()
    }

    pub fn query(&mut self, text: &str) -> Answer {
        self.query_with(text, &ValueList::new()).answer
    }

    /// Rows of a query, which must succeed.
    pub fn rows(&mut self, text: &str) -> Reply {
        let reply = self.query_with(text, &ValueList::new());
        assert!(matches!(reply.answer, Answer::Rows(_)), "{text}: {:?}", reply.answer);
        reply
    }

    /// Runs a statement that must succeed.
    pub fn run(&mut self, text: &str) -> Reply {
        let reply = self.query_with(text, &ValueList::new());
        assert!(!matches!(reply.answer, Answer::Error(..)), "{text}: {:?}", reply.answer);
        reply
    }

    pub fn query_with(&mut self, query: &str, values: &ValueList) -> Reply {
        let params = QueryParams { values: values.as_values(), ..QueryParams::new(Consistency::One) };
        self.ask(&Request::Query { query, params })
    }

    pub fn execute(&mut self, query: &str, values: &ValueList) -> Reply {
        let prepared = self.ask(&Request::Prepare { query, keyspace: None });
        if let Answer::Error(..) = prepared.answer {
            return prepared;
        }
        let params = QueryParams { values: values.as_values(), ..QueryParams::new(Consistency::One) };
        let metadata_id = &prepared.result_metadata_id;
        self.ask(&Request::Execute {
            id: &prepared.prepared_id,
            result_metadata_id: self.protocol.has_metadata_id().then_some(&metadata_id[..]),
            params,
        })
    }

    pub fn batch(&mut self, batch: Batch<'_>) -> Reply {
        self.ask(&Request::Batch(batch))
    }

    pub fn receive(&mut self) -> Reply {
        let mut chunk = [0; 64 << 10];
        loop {
            if let Some(envelope) = self.codec.next_envelope().unwrap() {
                let bytes = envelope.body.len();
                let (prefix, response) = Response::decode(self.protocol, &envelope).unwrap();
                return reply(prefix.warnings, response, bytes);
            }
            let count = self.stream.read(&mut chunk).unwrap();
            assert!(count > 0, "the server closed the connection");
            self.codec.receive_buffer().extend_from_slice(&chunk[..count]);
        }
    }
}

fn reply(warnings: Vec<String>, response: Response<'_>, bytes: usize) -> Reply {
    let mut reply = Reply {
        answer: Answer::Other,
        error: None,
        warnings,
        cells: Vec::new(),
        paging_state: None,
        prepared_id: Vec::new(),
        result_metadata_id: Vec::new(),
        bytes,
    };
    match response {
        Response::Error(error) => {
            reply.answer = Answer::Error(error.kind.code(), error.message);
            reply.error = Some(error.kind);
        }
        Response::Rows(rows) => {
            reply.answer = Answer::Rows(rows.row_count);
            reply.cells = rows.iter_cells().map(|cell| cell.map(<[u8]>::to_vec)).collect();
            reply.paging_state = rows.paging_state.map(<[u8]>::to_vec);
        }
        Response::Prepared(prepared) => {
            reply.prepared_id = prepared.id.to_vec();
            reply.result_metadata_id = prepared.result_metadata_id.to_vec();
        }
        _ => {}
    }
    reply
}

pub fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
