//! A node that does what a test says: a tiny CQL server on a thread per connection.

use cql_wire::{
    BatchQuery, ColumnSpec, ErrorKind, ErrorMessage, Event, EventKind, Negotiated, Opcode, Prepared, Reply,
    Request, Response, RowsMetadata, RowsWriter, ServerCodec, Version, WireType, put_bytes,
};
use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// What the node is asked, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Asked {
    Query(String),
    Prepare(String),
    Execute(String),
    Batch(usize),
}

#[derive(Default)]
struct State {
    peers: Vec<Fake>,
    token: i64,
    /// The statements that it knows, by id.
    prepared: BTreeMap<Vec<u8>, String>,
    asked: Vec<Asked>,
    /// The keyspace of each connection that asked, as `asked`.
    keyspaces: Vec<Option<String>>,
    users: Vec<Option<String>>,
    connections: Vec<TcpStream>,
    listeners: Vec<(TcpStream, Version)>,
    /// Names and passwords; empty: nobody is asked.
    roles: BTreeMap<String, String>,
    /// It takes no more connections.
    down: bool,
    schema_version: u8,
}

/// A node.
#[derive(Clone)]
pub struct Fake {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// The raw answer to `SELECT raw`: header flags, opcode and body.
pub fn raw_answer(version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    let warnings = ["the node warns".to_string()];
    let payload = [("key".to_string(), vec![1, 2, 3])];
    let reply = Reply {
        tracing_id: Some([7; 16]),
        warnings: &warnings,
        custom_payload: &payload,
        ..Reply::new(version, 0)
    };
    let acknowledgements =
        cql_wire::Acknowledgements { consistency: cql_wire::Consistency::Quorum, received: 1, required: 2 };
    let kind = ErrorKind::ReadTimeout { acknowledgements, data_present: true };
    Response::Error(ErrorMessage::new(kind, "Operation timed out - received only 1 responses."))
        .encode(&reply, &mut out);
    out
}

impl Fake {
    pub fn start(token: i64) -> Fake {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let fake = Fake {
            address,
            state: Arc::new(Mutex::new(State { token, schema_version: 1, ..State::default() })),
        };
        let serving = fake.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.state().down {
                    continue;
                }
                let fake = serving.clone();
                fake.state().connections.push(stream.try_clone().unwrap());
                std::thread::spawn(move || {
                    // A connection that ends is what some tests are about.
                    let _ = fake.serve(stream);
                });
            }
        });
        fake
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Makes them one cluster.
    pub fn join(nodes: &[&Fake]) {
        for node in nodes {
            node.state().peers = nodes
                .iter()
                .filter(|other| other.address != node.address)
                .map(|other| (*other).clone())
                .collect();
        }
    }

    pub fn role(&self, name: &str, password: &str) {
        self.state().roles.insert(name.into(), password.into());
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    pub fn users(&self) -> HashSet<Option<String>> {
        self.state().users.iter().cloned().collect()
    }

    /// The keyspace of the connection that brought the last request.
    pub fn last_keyspace(&self) -> Option<String> {
        self.state().keyspaces.last().cloned().flatten()
    }

    /// As after a restart of a node.
    pub fn forget(&self) {
        self.state().prepared.clear();
    }

    pub fn schema_is(&self, version: u8) {
        self.state().schema_version = version;
    }

    /// Cuts all connections; takes no new ones until it is up again.
    pub fn go_down(&self) {
        let mut state = self.state();
        state.down = true;
        state.listeners.clear();
        for connection in state.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    pub fn come_up(&self) {
        self.state().down = false;
    }

    /// Cuts connections, and takes new ones.
    pub fn stumble(&self) {
        self.go_down();
        self.come_up();
    }

    /// Tells whoever has registered.
    pub fn tell(&self, event: &Event) {
        for (stream, version) in &mut self.state().listeners {
            let mut plain = Vec::new();
            Response::Event(event.clone()).encode(&Reply::new(*version, -1), &mut plain);
            let mut framed = Vec::new();
            cql_wire::Framing::negotiated(*version, None).frame(&plain, &mut framed);
            let _ = stream.write_all(&framed);
        }
    }

    pub fn has_listeners(&self) -> bool {
        !self.state().listeners.is_empty()
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut codec = ServerCodec::new(16 << 20);
        let (mut keyspace, mut user) = (None, None);
        let mut chunk = vec![0; 64 << 10];
        loop {
            let mut out = Vec::new();
            let mut framed = Vec::new();
            while let Ok(Some(received)) = codec.next_envelope() {
                let (opcode, stream_id, version) = (received.opcode, received.stream, received.version);
                let body = received.body.to_vec();
                let envelope =
                    cql_wire::Envelope { version, flags: 0, stream: stream_id, opcode, body: &body };
                let reply = Reply::new(version, stream_id);
                match opcode {
                    Opcode::Startup => {
                        let class = "org.apache.cassandra.auth.PasswordAuthenticator";
                        let asks = (!self.state().roles.is_empty()).then_some(class);
                        codec.framing().frame(&out, &mut framed);
                        out.clear();
                        codec.accept_startup(stream_id, Negotiated::default(), asks, &mut framed);
                    }
                    Opcode::Register => {
                        self.state().listeners.push((stream.try_clone()?, version));
                        Response::Ready.encode(&reply, &mut out);
                    }
                    _ => {
                        let request = Request::decode(version.into(), &envelope).unwrap();
                        if let Request::AuthResponse(token) = request {
                            let token = String::from_utf8(token.unwrap().to_vec()).unwrap();
                            let parts: Vec<&str> = token.split('\0').collect();
                            if self.state().roles.get(parts[1]).map(String::as_str) == Some(parts[2]) {
                                user = Some(parts[1].to_string());
                                codec.authenticated();
                                Response::AuthSuccess(None).encode(&reply, &mut out);
                            } else {
                                let text = "Provided username and/or password are incorrect";
                                let error = ErrorMessage::new(ErrorKind::BadCredentials, text);
                                Response::Error(error).encode(&reply, &mut out);
                            }
                            continue;
                        }
                        self.answer(&request, &reply, &mut keyspace, &user, &mut out);
                    }
                }
            }
            codec.framing().frame(&out, &mut framed);
            stream.write_all(&framed)?;
            let count = stream.read(&mut chunk)?;
            if count == 0 {
                return Ok(());
            }
            codec.receive_buffer().extend_from_slice(&chunk[..count]);
        }
    }

    fn note(&self, asked: Asked, keyspace: &Option<String>, user: &Option<String>) {
        let mut state = self.state();
        state.asked.push(asked);
        state.keyspaces.push(keyspace.clone());
        state.users.push(user.clone());
    }

    fn answer(
        &self,
        request: &Request<'_>,
        reply: &Reply<'_>,
        keyspace: &mut Option<String>,
        user: &Option<String>,
        out: &mut Vec<u8>,
    ) {
        let error = |kind, text: &str| Response::Error(ErrorMessage::new(kind, text));
        match request {
            Request::Options => {
                let versions = ["3/v3", "4/v4", "5/v5"].map(String::from).to_vec();
                let options = vec![
                    ("CQL_VERSION".to_string(), vec!["3.4.7".to_string()]),
                    ("PROTOCOL_VERSIONS".to_string(), versions),
                ];
                Response::Supported(options.into()).encode(reply, out);
            }
            Request::Query { query, .. } if query.contains("system.") => self.system(query, reply, out),
            Request::Query { query, .. } => {
                if let Some(name) = query.strip_prefix("USE ") {
                    let name = name.trim_matches('"').to_string();
                    if name == "nowhere" {
                        error(ErrorKind::Invalid, "Keyspace 'nowhere' does not exist").encode(reply, out);
                        return;
                    }
                    *keyspace = Some(name.clone());
                    Response::SetKeyspace(&name).encode(reply, out);
                    return;
                }
                self.note(Asked::Query((*query).into()), keyspace, user);
                if query.contains("hang") {
                } else if query.contains("raw") {
                    let mut raw = raw_answer(reply.protocol.version);
                    raw[2..4].copy_from_slice(&reply.stream.to_be_bytes());
                    out.extend_from_slice(&raw);
                } else if query.starts_with("SELECT") {
                    let row = vec![(
                        "who",
                        WireType::Int,
                        Some(i32::from(self.address.port()).to_be_bytes().to_vec()),
                    )];
                    rows(&[row], reply, out);
                } else {
                    Response::Void.encode(reply, out);
                }
            }
            Request::Prepare { query, keyspace: named } => {
                let of = named.map(String::from).or_else(|| keyspace.clone()).unwrap_or_default();
                self.note(Asked::Prepare((*query).into()), keyspace, user);
                let id = format!("{of}/{query}").into_bytes();
                self.state().prepared.insert(id.clone(), (*query).into());
                let marker = |name: &str| ColumnSpec {
                    keyspace: "ks".into(),
                    table: "t".into(),
                    name: name.into(),
                    column_type: WireType::Int,
                };
                let keyed = query.contains('?');
                let prepared = Prepared {
                    id: id.into(),
                    result_metadata_id: vec![9; 16].into(),
                    bind: if keyed { vec![marker("k")] } else { vec![] }.into(),
                    partition_key: if keyed { vec![0] } else { vec![] }.into(),
                    lwt_mark: false,
                    result: vec![].into(),
                };
                Response::Prepared(prepared).encode(reply, out);
            }
            Request::Execute { id, .. } => {
                let known = self.state().prepared.get(*id).cloned();
                let Some(text) = known else {
                    error(ErrorKind::Unprepared { id: id.to_vec() }, "unknown").encode(reply, out);
                    return;
                };
                self.note(Asked::Execute(text.clone()), keyspace, user);
                if !text.contains("hang") {
                    Response::Void.encode(reply, out);
                }
            }
            Request::Batch(batch) => {
                for item in batch.statements.iter() {
                    let BatchQuery::Prepared(id) = item.query else { continue };
                    if !self.state().prepared.contains_key(id) {
                        error(ErrorKind::Unprepared { id: id.to_vec() }, "unknown").encode(reply, out);
                        return;
                    }
                }
                self.note(Asked::Batch(batch.statements.len()), keyspace, user);
                Response::Void.encode(reply, out);
            }
            other => panic!("a node is asked {other:?}"),
        }
    }

    /// What a driver, and so a front end, looks at first.
    fn system(&self, query: &str, reply: &Reply<'_>, out: &mut Vec<u8>) {
        let describe = |node: &Fake, own: bool| {
            let state = node.state();
            let mut tokens = vec![0, 0, 0, 1];
            put_bytes(&mut tokens, Some(state.token.to_string().as_bytes()));
            let IpAddr::V4(ip) = node.address.ip() else { unreachable!() };
            let port = i32::from(node.address.port()).to_be_bytes().to_vec();
            let text = |text: &str| Some(text.as_bytes().to_vec());
            let (address, port_name) =
                if own { ("rpc_address", "rpc_port") } else { ("native_address", "native_port") };
            vec![
                (address, WireType::Inet, Some(ip.octets().to_vec())),
                (port_name, WireType::Int, Some(port)),
                ("cluster_name", WireType::Text, text("Fake")),
                ("partitioner", WireType::Text, text("org.apache.cassandra.dht.Murmur3Partitioner")),
                ("cql_version", WireType::Text, text("3.4.7")),
                ("data_center", WireType::Text, text("dc1")),
                ("rack", WireType::Text, text("r1")),
                ("release_version", WireType::Text, text("5.0.6")),
                ("schema_version", WireType::Uuid, Some(vec![state.schema_version; 16])),
                ("host_id", WireType::Uuid, Some(vec![1; 16])),
                ("tokens", WireType::Set(Box::new(WireType::Text)), Some(tokens)),
            ]
        };
        if query.contains("system.local") {
            let row = describe(self, true);
            return rows(&[row], reply, out);
        }
        let peers = self.state().peers.clone();
        let described: Vec<Row> = peers.iter().map(|peer| describe(peer, false)).collect();
        rows(&described, reply, out);
    }
}

type Row = Vec<(&'static str, WireType, Option<Vec<u8>>)>;

fn rows(found: &[Row], reply: &Reply<'_>, out: &mut Vec<u8>) {
    let columns: Vec<ColumnSpec> = found.first().map_or(Vec::new(), |row| {
        let spec = |(name, column_type, _): &(&str, WireType, Option<Vec<u8>>)| ColumnSpec {
            keyspace: "ks".into(),
            table: "t".into(),
            name: (*name).into(),
            column_type: column_type.clone(),
        };
        row.iter().map(spec).collect()
    });
    let mut writer = RowsWriter::begin(out, reply, RowsMetadata::full(&columns));
    for (_, _, cell) in found.iter().flatten() {
        put_bytes(writer.buffer(), cell.as_deref());
    }
    writer.finish(found.len() as u32, None);
}

/// A change for tests to tell.
pub fn a_change() -> Event {
    let event = Event::Schema(cql_wire::SchemaChange {
        kind: cql_wire::ChangeKind::Created,
        keyspace: "ks".into(),
        target: cql_wire::ChangeTarget::Table { name: "t".into() },
    });
    assert_eq!(event.kind(), EventKind::SchemaChange);
    event
}
