//! `partita serve` as an operator meets it: where options come from, exit codes, a clean stop.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Nothing here may take longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that sees none of our own variables, in an empty folder.
fn serve(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARTITA_")) {
        command.env_remove(name);
    }
    command.arg("serve").current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Running {
    child: Child,
    cql: SocketAddr,
    http: SocketAddr,
}

impl Running {
    /// Starts and reads the lines that say where it listens.
    fn start(command: &mut Command) -> Running {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut cql, mut http) = (None, None);
        while cql.is_none() || http.is_none() {
            let Some(line) = lines.next() else {
                let mut log = String::new();
                let _ = child.stderr.take().unwrap().read_to_string(&mut log);
                panic!("the server did not start: {log}");
            };
            let line = line.unwrap();
            let mut words = line.split(' ');
            assert_eq!(words.next(), Some("listening"), "{line}");
            match (words.next(), words.next()) {
                (Some("cql"), Some(address)) => cql = address.parse().ok(),
                (Some("http"), Some(address)) => http = address.parse().ok(),
                _ => {}
            }
        }
        Running { child, cql: cql.unwrap(), http: http.unwrap() }
    }

    /// Answers OPTIONS.
    fn assert_serves(&self) {
        let mut stream = TcpStream::connect(self.cql).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&[4, 0, 0, 1, 5, 0, 0, 0, 0]).unwrap();
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        assert_eq!((head[0], head[4]), (0x84, 0x06));
    }

    fn signal(mut self, name: &str) -> (ExitStatus, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (status, log)
    }
}

fn refused(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const FREE: [&str; 4] = ["--cql", "127.0.0.1:0", "--http", "127.0.0.1:0"];

#[test]
fn bad_usage_exits_2_and_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.toml"), "shard = 3").unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["--no-such-option"], "unexpected argument"),
        (&["--shards", "many"], "invalid value"),
        (&["--shards", "0"], "between 1 and 256"),
        (&["--durability", "maybe"], "possible values: sync, periodic"),
        (&["--cql", "0.0.0.0:0"], "--auth password"),
        (&["--cql-shard-aware", "0.0.0.0:0"], "--allow-anybody-on-the-network"),
        (&["--http", "0.0.0.0:0"], "asks nobody for a password"),
        (&["--http", "0.0.0.0:0", "--auth", "password"], "asks nobody for a password"),
        (&["--http", "[::]:0"], "--allow-anybody-on-the-network"),
        (&["--tls-cert", "x.pem"], "--tls-key"),
        (&["--config", "bad.toml"], "shard"),
        (&["--log", "shouting=loud"], "--log"),
    ];
    for (arguments, part) in cases {
        let (code, text) = refused(serve(dir.path()).args(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    assert!(!dir.path().join("partita-data").exists(), "a refused start leaves nothing behind");
}

#[test]
fn failures_exit_1_and_name_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, text) = refused(serve(dir.path()).args(["--cql", &address, "--http", "127.0.0.1:0"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(&address) && text.contains("Choose another port"), "{text}");
    std::fs::write(dir.path().join("file"), "x").unwrap();
    let (code, text) = refused(serve(dir.path()).args(FREE).args(["--data", "file"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("file"), "{text}");
    let (code, text) =
        refused(serve(dir.path()).args(FREE).args(["--tls-cert", "a.pem", "--tls-key", "b.pem"]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a.pem"), "{text}");
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let first = Running::start(serve(dir.path()).args(FREE));
    let (code, text) = refused(serve(dir.path()).args(FREE));
    assert_eq!(code, Some(1), "{text}");
    first.assert_serves();
    assert!(first.signal("-TERM").0.success());
}

#[test]
fn a_signal_stops_cleanly_and_the_folder_opens_again() {
    let dir = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-INT"] {
        let server = Running::start(serve(dir.path()).args(FREE));
        server.assert_serves();
        // A client that stays connected does not keep the server.
        let _idle = TcpStream::connect(server.cql).unwrap();
        let (status, log) = server.signal(signal);
        assert_eq!(status.code(), Some(0), "{signal}: {log}");
        assert!(log.contains("stopping"), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}

#[test]
fn options_come_from_flags_then_variables_then_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file =
        "cql = \"127.0.0.1:0\"\nhttp = \"127.0.0.1:0\"\nshards = 3\ndata = \"from-file\"\nlog-json = true\n";
    std::fs::write(dir.path().join("partita.toml"), file).unwrap();
    let shards = |running: &Running| {
        let mut stream = TcpStream::connect(running.http).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.lines().filter(|l| l.starts_with("partita_shard_queue_depth{")).count()
    };
    // The file in the current folder is read without being named.
    let server = Running::start(&mut serve(dir.path()));
    assert_eq!(shards(&server), 3);
    let (_, log) = server.signal("-TERM");
    assert!(dir.path().join("from-file").is_dir());
    assert!(log.lines().all(|line| line.starts_with('{')), "{log}");
    // A variable wins over the file, a flag over both.
    let server =
        Running::start(serve(dir.path()).env("PARTITA_SHARDS", "1").env("PARTITA_DATA", "from-variable"));
    assert_eq!(shards(&server), 1);
    assert!(dir.path().join("from-variable").is_dir());
    server.signal("-TERM");
    let flags = ["--shards", "2", "--data", "from-flag"];
    let server = Running::start(serve(dir.path()).env("PARTITA_SHARDS", "1").args(flags));
    assert_eq!(shards(&server), 2);
    assert!(dir.path().join("from-flag").is_dir());
    server.signal("-TERM");
}

#[test]
fn security_is_loud_where_it_must_be() {
    let dir = tempfile::tempdir().unwrap();
    let server = Running::start(serve(dir.path()).args(FREE).args(["--auth", "password"]));
    server.assert_serves();
    let mut log = String::new();
    // The check of the default password runs beside the first requests.
    let mut server = server;
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    while !log.contains("SECURITY") {
        log.push_str(&lines.next().expect("a warning about the default password").unwrap());
    }
    assert!(log.contains("ALTER ROLE cassandra WITH PASSWORD"), "{log}");
    assert!(!log.contains("salted_hash") && !log.contains("$2a$"), "{log}");
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    // Reading on lets the server write its last words.
    lines.for_each(drop);
    assert!(server.child.wait().unwrap().success());
    // In plain words, an open server starts.
    let open =
        ["--cql", "0.0.0.0:0", "--allow-anybody-on-the-network", "--http", "127.0.0.1:0", "--data", "open"];
    let server = Running::start(serve(dir.path()).args(open));
    let (status, _) = server.signal("-TERM");
    assert!(status.success());
}

/// One request and its answer's opcode and body, in version 4 of the protocol.
fn ask(stream: &mut TcpStream, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
    let mut frame = vec![4, 0, 0, 1, opcode];
    frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
    frame.extend_from_slice(body);
    stream.write_all(&frame).unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    let mut answer = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
    stream.read_exact(&mut answer).unwrap();
    (head[4], answer)
}

/// A connection that has started up.
fn client(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (opcode, body) = ask(&mut stream, 0x01, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0");
    assert!(matches!(opcode, 0x02 | 0x03), "{opcode}: {}", String::from_utf8_lossy(&body));
    stream
}

/// Runs a statement that must succeed.
fn run(stream: &mut TcpStream, text: &str) -> Vec<u8> {
    let mut body = (text.len() as u32).to_be_bytes().to_vec();
    body.extend_from_slice(text.as_bytes());
    body.extend_from_slice(&[0, 1, 0]);
    let (opcode, answer) = ask(stream, 0x07, &body);
    assert_eq!(opcode, 0x08, "{text}: {}", String::from_utf8_lossy(&answer));
    answer
}

#[test]
fn silent_connections_leave_the_engine_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_partita");
    // The soft limit would not even do for the start; the hard one is far below the connections that come.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -Sn 40 && ulimit -Hn 256 && exec \"$0\" \"$@\"", program, "serve"]);
    limited.args(FREE).args(["--shards", "2"]).current_dir(dir.path());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARTITA_")) {
        limited.env_remove(name);
    }
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Running::start(&mut limited);
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(server.cql).unwrap()).collect();
    let pages: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(server.http).unwrap()).collect();
    let mut client = client(server.cql);
    run(
        &mut client,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    for table in 0..5 {
        run(&mut client, &format!("CREATE TABLE k.t{table} (k int PRIMARY KEY, v text)"));
        run(&mut client, &format!("INSERT INTO k.t{table} (k, v) VALUES (1, 'x')"));
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap().count();
    assert!(open <= 256 - 64, "{open} files are open: too few are left for data");
    drop((silent, pages));
    let (status, log) = server.signal("-TERM");
    assert!(status.success(), "{log}");
    assert!(log.contains("may open only 256 files") && log.contains("ulimit -Hn"), "{log}");
    assert!(!log.contains("ERROR"), "{log}");
    let floods = log.lines().filter(|line| line.contains("connection refused")).count();
    assert!(floods <= 3, "{floods} lines about refused connections");
}

#[test]
fn half_requests_do_not_hold_up_a_stop() {
    let dir = tempfile::tempdir().unwrap();
    let server = Running::start(serve(dir.path()).args(FREE));
    let mut page = TcpStream::connect(server.http).unwrap();
    page.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n").unwrap();
    let mut half = client(server.cql);
    half.write_all(&[4, 0, 0, 1, 7, 0, 1, 0, 0]).unwrap();
    server.assert_serves();
    let begun = std::time::Instant::now();
    let (status, log) = server.signal("-TERM");
    assert!(status.success(), "{log}");
    assert!(begun.elapsed() < Duration::from_secs(12), "stopping took {:?}", begun.elapsed());
}

#[test]
fn a_hang_up_reloads_and_never_kills() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("partita.toml"), "log = \"warn\"\n").unwrap();
    let mut server = Running::start(serve(dir.path()).args(FREE));
    let mut client = client(server.cql);
    let id = server.child.id().to_string();
    let hang_up = || assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    std::fs::write(dir.path().join("partita.toml"), "log = \"loud=shouting\"\n").unwrap();
    hang_up();
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let refused = lines.next().unwrap();
    assert!(refused.contains("the log level was not reloaded"), "{refused}");
    std::fs::write(dir.path().join("partita.toml"), "log = \"info\"\n").unwrap();
    hang_up();
    let reloaded = lines.next().unwrap();
    assert!(reloaded.contains("reloaded: roles and permissions are read again"), "{reloaded}");
    // Who was connected still is.
    run(&mut client, "SELECT key FROM system.local");
    server.assert_serves();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    lines.for_each(drop);
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn a_collector_is_reached_over_tls_if_this_machine_trusts_it() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).unwrap();
    let authorities = dir.path().join("authorities.pem");
    std::fs::write(&authorities, made.cert.pem()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    // Without a file of authorities it says so at once.
    let missing = dir.path().join("missing.pem");
    let mut command = serve(dir.path());
    let refused = command.args(["--otlp-endpoint", &url]).env("SSL_CERT_FILE", &missing).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("--otlp-endpoint") && said.contains("missing.pem"), "{said}");
    assert_eq!(refused.status.code(), Some(2), "{said}");

    let mut command = serve(dir.path());
    command.args(["--cql", "127.0.0.1:0", "--http", "127.0.0.1:0", "--no-dynamo", "--otlp-endpoint", &url]);
    let mut running = Running::start(command.env("SSL_CERT_FILE", &authorities));
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut tls = rustls::ServerConnection::new(std::sync::Arc::new(config)).unwrap();
    let mut stream = rustls::Stream::new(&mut tls, &mut socket);
    let mut head = [0; 16];
    stream.read_exact(&mut head).unwrap();
    assert!(head.starts_with(b"POST /v1/"), "{}", String::from_utf8_lossy(&head));
    let _ = running.child.kill();
    let _ = running.child.wait();
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for option in ["cluster-tls-cert", "cluster-tls-key", "mirror-state", "mirror-password-file"] {
        let (code, text) = refused(serve(dir.path()).args([&format!("--{option}"), "x"]));
        assert!(code == Some(2) && text.contains(option) && text.contains("--engine"), "{option}: {text}");
    }
    let front = ["--engine", "cassandra://127.0.0.1:1"];
    for options in [&["--functions"][..], &["--act-as", "scylla"], &["--audit-record", "reads"]] {
        let (code, text) = refused(serve(dir.path()).args(front).args(options));
        assert!(code == Some(2) && text.contains(options[0]), "{options:?}: {text}");
    }
}
