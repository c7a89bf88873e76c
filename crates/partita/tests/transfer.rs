//! `partita unload`, `load` and `migrate --once` between running servers: rows, times, expiries, faults.

use client::Client;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn partita(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARTITA_")) {
        command.env_remove(name);
    }
    command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Running {
    child: Child,
    cql: SocketAddr,
}

impl Running {
    fn start(dir: &Path, data: &str) -> Running {
        Running::start_with(dir, data, &[])
    }

    fn start_with(dir: &Path, data: &str, more: &[&str]) -> Running {
        let mut command = partita(dir);
        let options = "serve --cql 127.0.0.1:0 --http 127.0.0.1:0 --no-dynamo --no-shard-aware --durability periodic --data";
        let mut child =
            command.args(options.split(' ')).arg(data).args(more).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let cql = loop {
            let line = lines.next().expect("the server says where it listens").unwrap();
            if let Some(address) = line.strip_prefix("listening cql ") {
                break address.parse().unwrap();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Running { child, cql }
    }

    fn client(&self) -> Client {
        Client::connect(self.cql).unwrap()
    }

    /// Rows as texts, sorted.
    fn rows(&self, query: &str) -> Vec<Vec<Option<String>>> {
        let mut rows = self.client().table(query).unwrap().rows;
        rows.sort();
        rows
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(dir: &Path, words: &str) -> Output {
    partita(dir).args(words.split(' ')).output().unwrap()
}

fn ok(dir: &Path, words: &str) -> String {
    let output = run(dir, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const SCHEMA: [&str; 5] = [
    "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TYPE app.address (street text, zip int)",
    "CREATE TABLE app.t (k int, c text, s text static, v decimal, m map<text, int>, l list<int>, a frozen<address>, b blob, PRIMARY KEY (k, c))",
    "CREATE TABLE app.hits (page text PRIMARY KEY, n counter)",
    "CREATE INDEX by_b ON app.t (b)",
];

fn fill(client: &mut Client) {
    for n in 0..300 {
        let text = format!(
            "INSERT INTO app.t (k, c, v, m, l, a, b) VALUES ({}, 'c,\"{n}\"', {n}.123456789012345678901, {{'x': {n}, 'y': 2}}, \
             [{n}, 1], {{street: 'Main', zip: {n}}}, 0x00ff) USING TIMESTAMP {}",
            n % 40,
            1_000_000 + n
        );
        client.must(&text).unwrap();
    }
    // Values of one row with times of their own, values that expire, a row without values, deleted and empty ones.
    client
        .must("UPDATE app.t USING TIMESTAMP 5000000 SET v = 2, m['z'] = 9 WHERE k = 1 AND c = 'c,\"1\"'")
        .unwrap();
    client
        .must("UPDATE app.t USING TIMESTAMP 6000000 AND TTL 86400 SET b = 0x01 WHERE k = 2 AND c = 'c,\"2\"'")
        .unwrap();
    client.must("INSERT INTO app.t (k, c, v) VALUES (900, 'gone', 1) USING TTL 86400").unwrap();
    client.must("INSERT INTO app.t (k, c) VALUES (901, '')").unwrap();
    client.must("DELETE v FROM app.t WHERE k = 3 AND c = 'c,\"3\"'").unwrap();
    client.must("UPDATE app.t USING TIMESTAMP 7000000 SET s = 'shared' WHERE k = 5").unwrap();
    for _ in 0..3 {
        client.must("UPDATE app.hits SET n = n + 7 WHERE page = 'home'").unwrap();
    }
}

const ROWS: &str = "SELECT k, c, s, v, m, l, a, b FROM app.t";
const TIMES: &str = "SELECT k, c, WRITETIME(v), WRITETIME(m), WRITETIME(b), WRITETIME(a), WRITETIME(s) FROM app.t WHERE k IN (1, 2, 3, 4, 5, 39)";

#[test]
fn rows_go_to_files_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let server = Running::start(dir, "one");
    let mut client = server.client();
    SCHEMA.iter().for_each(|statement| client.must(statement).unwrap());
    fill(&mut client);
    let before = server.rows(ROWS);
    assert_eq!(before.len(), 302);
    for (to, more) in [("t.csv", ""), ("t.json", ""), ("folder", " --format json"), ("csvs", "")] {
        let told = ok(dir, &format!("unload --from {} --table app.t --to {to}{more}", server.cql));
        assert!(told.starts_with("unloaded 302 rows"), "{told}");
        let again = run(dir, &format!("unload --from {} --table app.t --to {to}{more}", server.cql));
        assert_eq!(again.status.code(), Some(1), "nobody's files are overwritten");
        client.must("TRUNCATE app.t").unwrap();
        let checked = ok(dir, &format!("load --to {} --table app.t --from {to}{more} --dry-run", server.cql));
        assert!(checked.starts_with("checked 302 rows"), "{checked}");
        assert!(server.rows(ROWS).is_empty());
        let told = ok(dir, &format!("load --to {} --table app.t --from {to}{more}", server.cql));
        assert!(told.starts_with("loaded 302 rows"), "{told}");
        let after = server.rows(ROWS);
        let other = before.iter().zip(&after).find(|(before, after)| before != after);
        assert!(other.is_none() && after.len() == before.len(), "{to}: {other:?}");
    }
    let shown = ok(dir, &format!("unload --from {} --table app.hits --to - --columns page,n", server.cql));
    assert_eq!(shown, "page,n\nhome,21\n");
    std::fs::write(dir.join("hits.csv"), &shown).unwrap();
    ok(dir, &format!("load --to {} --table app.hits --from hits.csv", server.cql));
    assert_eq!(server.rows("SELECT n FROM app.hits")[0][0].as_deref(), Some("42"));
}

#[test]
fn what_is_wrong_in_a_file_is_named_and_the_rest_goes_in() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let server = Running::start(dir, "one");
    let mut client = server.client();
    SCHEMA.iter().for_each(|statement| client.must(statement).unwrap());
    std::fs::write(dir.join("x.csv"), "k,c,v\n1,a,1\nx,b,2\n3,,3\n4,d\n5,\"e\n\",5\n\"\",f,1\n").unwrap();
    let load = |file: &str| run(dir, &format!("load --to {} --table app.t --from {file}", server.cql));
    let output = load("x.csv");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for fault in ["x.csv:3: k: ", "x.csv:4: ", "x.csv:5: 2 fields, the header has 3", "x.csv:8: "] {
        assert!(said.contains(fault), "{fault}: {said}");
    }
    assert!(said.contains("4 rows were refused; the others are in the table"));
    assert_eq!(server.rows("SELECT k, c FROM app.t").len(), 2);
    std::fs::write(dir.join("y.json"), "{\"k\": 1, \"c\": \"a\", \"w\": 1}\n[1]\n{\"k\": 8\n").unwrap();
    let said = String::from_utf8_lossy(&load("y.json").stderr).into_owned();
    for fault in
        ["y.json:1: the table has no column w", "y.json:2: not a JSON object", "y.json:3: not JSON: "]
    {
        assert!(said.contains(fault), "{fault}: {said}");
    }
    for (words, code) in [
        ("load --table t --from x.csv", 2),
        ("load --table app.nothing --from x.csv", 1),
        ("load --table app.t --from nothing.csv", 1),
        ("unload --table app.t --to new.csv --columns nothing", 1),
    ] {
        let at = if words.starts_with("load") { "--to" } else { "--from" };
        let output = run(dir, &format!("{words} {at} {}", server.cql));
        assert_eq!(output.status.code(), Some(code), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(!dir.join("new.csv").exists(), "nothing is made before the statement is known to work");
}

#[test]
fn a_keyspace_moves_with_the_times_of_its_values() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (from, to) = (Running::start(dir, "one"), Running::start(dir, "two"));
    let mut client = from.client();
    SCHEMA.iter().for_each(|statement| client.must(statement).unwrap());
    fill(&mut client);
    let words = format!("migrate --from {} --to {} --keyspace app", from.cql, to.cql);
    assert_eq!(run(dir, &words).status.code(), Some(2), "only --once is there");
    let told = ok(dir, &format!("{words} --once"));
    assert!(
        told.contains("2 tables are the same on both sides") && told.contains("made index app.by_b"),
        "{told}"
    );
    for query in [ROWS, TIMES] {
        let (before, after) = (from.rows(query), to.rows(query));
        let other = before.iter().zip(&after).find(|(before, after)| before != after);
        assert!(other.is_none() && after.len() == before.len(), "{query}: {other:?}");
    }
    assert_eq!(to.rows("SELECT n FROM app.hits"), from.rows("SELECT n FROM app.hits"));
    assert_eq!(to.rows("SELECT k FROM app.t WHERE b = 0x01").len(), 1, "the index is filled");
    let left = |server: &Running, query: &str| -> i64 {
        server.rows(query)[0][0].as_deref().unwrap_or("0").parse().unwrap()
    };
    for query in [
        "SELECT TTL(b) FROM app.t WHERE k = 2 AND c = 'c,\"2\"'",
        "SELECT TTL(v) FROM app.t WHERE k = 900 AND c = 'gone'",
    ] {
        let (ours, theirs) = (left(&from, query), left(&to, query));
        assert!(ours > 0 && (ours - theirs).abs() <= 3, "{query}: {ours} and {theirs}");
    }
    // A second time there are rows; a difference is found.
    let again = run(dir, &format!("{words} --once"));
    assert!(String::from_utf8_lossy(&again.stderr).contains("the target has rows in it already"));
    to.client().must("UPDATE app.t SET v = 3 WHERE k = 7 AND c = 'c,\"7\"'").unwrap();
    let found = run(dir, &format!("{words} --once --verify-only"));
    assert_eq!(found.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&found.stdout).contains("different: \"app\".\"t\" in 1 of "));
    assert!(String::from_utf8_lossy(&found.stderr).contains("1 of 2 tables differ"));
}

/// A certificate for 127.0.0.1 and its key, made for this test alone: nobody else trusts it.
fn certificate(dir: &Path) {
    let made =
        rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_string(), "localhost".to_string()]).unwrap();
    std::fs::write(dir.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(dir.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(dir.join("key.pem"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
}

#[test]
fn rows_go_over_tls_to_servers_that_the_authorities_vouch_for() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    certificate(dir);
    let source = Running::start_with(dir, "one", &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let target = Running::start(dir, "two");
    let mut client = target.client();
    SCHEMA.iter().for_each(|statement| client.must(statement).unwrap());
    client.must("INSERT INTO app.t (k, c, v) VALUES (1, 'a', 2)").unwrap();
    ok(
        dir,
        &format!(
            "migrate --once --from {} --to {} --to-tls-ca cert.pem --keyspace app",
            target.cql, source.cql
        ),
    );
    let shown = ok(
        dir,
        &format!("unload --from {} --tls-ca cert.pem --table app.t --to - --columns k,c,v", source.cql),
    );
    assert_eq!(shown, "k,c,v\n1,a,2\n");
    let plain = run(dir, &format!("unload --from {} --table app.t --to -", source.cql));
    assert_eq!(plain.status.code(), Some(1), "it speaks TLS only");
    certificate(dir);
    let stranger = run(dir, &format!("unload --from {} --tls-ca cert.pem --table app.t --to -", source.cql));
    assert_eq!(stranger.status.code(), Some(1));
    let said = String::from_utf8_lossy(&stranger.stderr).into_owned();
    assert!(said.contains("do the authorities of --tls-ca sign"), "{said}");
}
