//! A front end on a free port, and a client that controls every byte.

use crate::fake::Fake;
use cql_wire::{
    ClientCodec, Consistency, Envelope, ErrorMessage, HEADER_BYTES, Opcode, Protocol, QueryParams, Request,
    Response, StartupOptions, Value, ValueList, Version,
};
use server::FrontEnd;
use server::config::{Cluster, Config, Contact};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Nothing here may take longer.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Bench {
    front: Option<FrontEnd>,
    pub address: SocketAddr,
    pub http: SocketAddr,
}

impl Bench {
    /// Before these nodes, letting writes through.
    pub fn before(nodes: &[&Fake]) -> Bench {
        Bench::start(nodes, |_, cluster| cluster.writes = true)
    }

    pub fn start(nodes: &[&Fake], change: impl FnOnce(&mut Config, &mut Cluster)) -> Bench {
        Fake::join(nodes);
        let contacts: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
        Bench::at(&contacts, change).unwrap()
    }

    pub fn at(
        contacts: &[SocketAddr],
        change: impl FnOnce(&mut Config, &mut Cluster),
    ) -> Result<Bench, server::StartError> {
        let contact = |address: &SocketAddr| Contact { host: address.ip().to_string(), port: address.port() };
        let mut cluster = Cluster {
            contacts: contacts.iter().map(contact).collect(),
            login: None,
            writes: false,
            data_center: None,
            tls: None,
            mirror: None,
        };
        // One thread, so that a test knows which node is next.
        let mut config = Config::loopback("no data here", 1);
        change(&mut config, &mut cluster);
        let front = FrontEnd::start(config, cluster)?;
        let named = |wanted: &str| front.listeners().iter().find(|(name, _)| *name == wanted).unwrap().1;
        let (address, http) = (named("cql"), named("http"));
        Ok(Bench { front: Some(front), address, http })
    }

    pub fn client(&self) -> Talk {
        Talk::connect(self.address, Version::V5)
    }

    /// The value of a line of /metrics.
    pub fn metric(&self, name: &str) -> u64 {
        let mut stream = TcpStream::connect(self.http).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let name = format!("partita_front_{name} ");
        text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(front) = self.front.take() {
            front.stop().unwrap();
        }
    }
}

/// Waits for something that other threads do.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An answer as it came.
#[derive(Debug, Clone)]
pub struct Raw {
    pub flags: u8,
    pub opcode: Opcode,
    pub stream: i16,
    pub body: Vec<u8>,
    version: Version,
}

impl Raw {
    pub fn read<T>(&self, read: impl FnOnce(&Response<'_>) -> T) -> T {
        let Raw { flags, opcode, stream, body, version } = self;
        let envelope = Envelope { version: *version, flags: *flags, stream: *stream, opcode: *opcode, body };
        let (_, response) = Response::decode(Protocol::new(*version), &envelope).unwrap();
        read(&response)
    }

    pub fn error(&self) -> ErrorMessage {
        self.read(|response| match response {
            Response::Error(error) => error.clone(),
            other => panic!("no error: {other:?}"),
        })
    }

    /// The only cell of the only row.
    pub fn cell(&self) -> Vec<u8> {
        self.read(|response| match response {
            Response::Rows(rows) => rows.iter_cells().next().flatten().unwrap().to_vec(),
            other => panic!("no rows: {other:?}"),
        })
    }

    pub fn is_void(&self) -> bool {
        self.read(|response| matches!(response, Response::Void))
    }
}

/// A connection of a client.
pub struct Talk {
    socket: TcpStream,
    codec: ClientCodec,
    version: Version,
}

impl Talk {
    pub fn connect(address: SocketAddr, version: Version) -> Talk {
        let mut talk = Talk::open(address, version);
        let answer = talk.startup();
        assert_eq!(answer.opcode, Opcode::Ready, "{answer:?}");
        talk
    }

    pub fn open(address: SocketAddr, version: Version) -> Talk {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_nodelay(true).unwrap();
        Talk { socket, codec: ClientCodec::new(Protocol::new(version), None, 64 << 20), version }
    }

    pub fn startup(&mut self) -> Raw {
        let mut options = StartupOptions::new();
        options.set("CQL_VERSION", "3.0.0");
        self.ask(&Request::Startup(options.as_startup()))
    }

    pub fn log_in(&mut self, user: &str, password: &str) -> Raw {
        let token = format!("\0{user}\0{password}");
        self.ask(&Request::AuthResponse(Some(token.as_bytes())))
    }

    pub fn send(&mut self, stream: i16, request: &Request<'_>) {
        self.send_flagged(stream, 0, request);
    }

    pub fn send_flagged(&mut self, stream: i16, flags: u8, request: &Request<'_>) {
        let (mut plain, mut framed) = (Vec::new(), Vec::new());
        request.encode(self.codec.protocol(), stream, flags, &mut plain);
        assert!(plain.len() >= HEADER_BYTES);
        self.codec.framing().frame(&plain, &mut framed);
        self.socket.write_all(&framed).unwrap();
    }

    /// The next answer or event; `None` if the server has closed the connection.
    pub fn next(&mut self) -> Option<Raw> {
        let mut chunk = vec![0; 64 << 10];
        loop {
            if let Some(envelope) = self.codec.next_envelope().unwrap() {
                let Envelope { flags, opcode, stream, body, .. } = envelope;
                return Some(Raw { flags, opcode, stream, body: body.to_vec(), version: self.version });
            }
            let count = self.socket.read(&mut chunk).unwrap();
            if count == 0 {
                return None;
            }
            self.codec.receive_buffer().extend_from_slice(&chunk[..count]);
        }
    }

    pub fn ask(&mut self, request: &Request<'_>) -> Raw {
        self.send(1, request);
        let answer = self.next().expect("an answer");
        assert_eq!(answer.stream, 1);
        answer
    }

    pub fn query(&mut self, query: &str) -> Raw {
        self.ask(&Request::Query { query, params: QueryParams::new(Consistency::Quorum) })
    }

    pub fn prepare(&mut self, query: &str) -> Vec<u8> {
        self.ask(&Request::Prepare { query, keyspace: None }).read(|response| match response {
            Response::Prepared(prepared) => prepared.id.to_vec(),
            other => panic!("not prepared: {other:?}"),
        })
    }

    pub fn execute(&mut self, id: &[u8]) -> Raw {
        let params = QueryParams::new(Consistency::Quorum);
        self.ask(&Request::Execute { id, result_metadata_id: Some(&[9; 16]), params })
    }

    pub fn execute_with(&mut self, id: &[u8], key: i32) -> Raw {
        let mut values = ValueList::new();
        values.push(Value::Bytes(&key.to_be_bytes()));
        let params = QueryParams { values: values.as_values(), ..QueryParams::new(Consistency::One) };
        self.ask(&Request::Execute { id, result_metadata_id: Some(&[9; 16]), params })
    }
}
