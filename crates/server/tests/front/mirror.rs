//! A front end of two servers of ours: what goes to both, what is marked instead, and what must not happen.

use crate::bench::{Bench, Talk, until};
use cql_wire::{Consistency, Opcode, QueryParams, Request, Version};
use serde_json::{Value, json};
use server::Server;
use server::config::{Config, Contact, Mirror};
use std::net::SocketAddr;
use std::path::Path;

fn server(dir: &Path) -> (Server, SocketAddr) {
    let server = Server::start(Config::loopback(dir, 1)).unwrap();
    let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
    (server, address)
}

fn front(source: SocketAddr, target: SocketAddr, state: &Path) -> Bench {
    Bench::at(&[source], |_, cluster| {
        cluster.writes = true;
        let contacts = vec![Contact { host: target.ip().to_string(), port: target.port() }];
        cluster.mirror = Some(Mirror { contacts, login: None, tls: None, state: state.to_owned() });
    })
    .unwrap()
}

fn ask(state: &Path, request: Value) -> Value {
    let answer = server::control::request_line(state, &request.to_string()).unwrap().expect("it runs");
    serde_json::from_str(&answer).unwrap()
}

fn status(state: &Path, name: &str) -> Value {
    ask(state, json!({ "do": "status" }))[name].clone()
}

const SCHEMA: [&str; 3] = [
    "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE app.t (k int, c int, v text, l list<int>, PRIMARY KEY (k, c))",
    "CREATE TABLE app.stays (k int PRIMARY KEY)",
];

fn begin_dual(state: &Path) {
    let column = |name: &str| json!({ "name": name, "type": "int" });
    let table = json!({ "keyspace": "app", "name": "t", "partition": [column("k")], "clustering": [column("c")], "lists": ["l"] });
    assert_eq!(ask(state, json!({ "do": "dual", "tables": [table] })), json!({}));
}

/// The bytes of the cells of a row, or nothing.
fn cells(at: SocketAddr, query: &str) -> Vec<Option<Vec<u8>>> {
    Talk::connect(at, Version::V5).query(query).read(|response| match response {
        cql_wire::Response::Rows(rows) => rows.iter_cells().map(|cell| cell.map(<[u8]>::to_vec)).collect(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn both_sides_get_the_same_cells_and_what_cannot_be_repeated_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let ((one, source), (two, target)) = (server(&dir.path().join("one")), server(&dir.path().join("two")));
    for at in [source, target] {
        let mut talk = Talk::connect(at, Version::V5);
        SCHEMA.iter().for_each(|statement| assert_eq!(talk.query(statement).opcode, Opcode::Result));
    }
    let state = dir.path().join("state");
    let bench = front(source, target, &state);
    for version in [Version::V3, Version::V4, Version::V5] {
        let mut client = Talk::connect(bench.address, version);
        if version == Version::V3 {
            assert!(client.query("INSERT INTO app.t (k, c) VALUES (0, 0)").is_void());
            assert!(
                cells(target, "SELECT k FROM app.t").is_empty(),
                "it hears of nothing before it is told to"
            );
            begin_dual(&state);
        }
        // As a text, as text after USE, prepared, in a batch; with the client's time and without.
        assert!(client.query("INSERT INTO app.t (k, c, v) VALUES (1, 1, 'a')").is_void());
        client.query("USE app");
        assert!(client.query("UPDATE t SET v = 'b' WHERE k = 1 AND c = 2").is_void());
        let id = client.prepare("INSERT INTO t (k, c, v) VALUES (?, 3, 'p') USING TTL 1000");
        assert!(client.execute_with(&id, 1).is_void());
        assert!(client.query("BEGIN BATCH DELETE FROM t WHERE k = 1 AND c = 1; UPDATE t SET v = 'd' WHERE k = 1 AND c = 4 APPLY BATCH").is_void());
        let params = QueryParams { timestamp: Some(77), ..QueryParams::new(Consistency::One) };
        assert!(
            client
                .ask(&Request::Query { query: "INSERT INTO t (k, c, v) VALUES (1, 5, 'e')", params })
                .is_void()
        );
        let all = "SELECT c, v, WRITETIME(v) FROM app.t WHERE k = 1";
        assert_eq!(cells(source, all), cells(target, all), "{version}");
        assert_eq!(cells(target, all).len(), 4 * 3, "{version}");
        let ttl = |at| {
            i32::from_be_bytes(
                cells(at, "SELECT TTL(v) FROM app.t WHERE k = 1 AND c = 3")[0]
                    .clone()
                    .unwrap()
                    .try_into()
                    .unwrap(),
            )
        };
        assert!((ttl(source) - ttl(target)).abs() <= 1);
    }
    assert_eq!((status(&state, "marks"), status(&state, "both")), (json!(0), json!(3 * 5)));
    // Done on the side that answers, and marked.
    let mut client = bench.client();
    for text in [
        "INSERT INTO app.t (k, c, v) VALUES (2, 1, 'x') IF NOT EXISTS",
        "UPDATE app.t SET l = l + [1] WHERE k = 2 AND c = 2",
        "UPDATE app.t SET v = toJson(now()) WHERE k = 2 AND c = 3",
        "UPDATE app.t SET l = l + [2] WHERE k = 2 AND c = 2",
    ] {
        assert_eq!(client.query(text).opcode, Opcode::Result, "{text}");
    }
    assert_eq!(
        (cells(source, "SELECT c FROM app.t WHERE k = 2").len(), status(&state, "marks")),
        (3, json!(3))
    );
    assert!(cells(target, "SELECT c FROM app.t WHERE k = 2").is_empty());
    let marks = ask(&state, json!({ "do": "marks", "worker": "test" }));
    assert_eq!(marks["marks"][0]["partition"], json!(["00000002"]));
    assert_eq!(marks["marks"][0]["clustering"], json!(["00000001"]));
    // Tables that stay are nobody's business; schema and emptying are refused.
    assert!(client.query("INSERT INTO app.stays (k) VALUES (1)").is_void());
    assert!(cells(target, "SELECT k FROM app.stays").is_empty());
    for text in ["TRUNCATE app.t", "ALTER TABLE app.t ADD x int", "CREATE ROLE r"] {
        assert!(client.query(text).error().message.contains("while a migration runs"), "{text}");
    }
    // The write that fails everywhere is marked nowhere.
    assert!(
        client
            .query("INSERT INTO app.t (k, c, nothing) VALUES (1, 1, 1)")
            .error()
            .message
            .contains("nothing")
    );
    assert_eq!(status(&state, "marks"), json!(3));
    drop(bench);
    one.stop().unwrap();
    two.stop().unwrap();
}

#[test]
fn what_one_side_lacks_is_known_after_a_restart_and_nobody_cuts_over_before_it_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let ((one, source), (two, target)) = (server(&dir.path().join("one")), server(&dir.path().join("two")));
    for at in [source, target] {
        let mut talk = Talk::connect(at, Version::V5);
        SCHEMA.iter().for_each(|statement| assert_eq!(talk.query(statement).opcode, Opcode::Result));
    }
    let state = dir.path().join("state");
    let bench = front(source, target, &state);
    begin_dual(&state);
    let mut client = bench.client();
    assert!(client.query("INSERT INTO app.t (k, c, v) VALUES (1, 1, 'a')").is_void());
    two.stop().unwrap();
    assert!(
        client.query("INSERT INTO app.t (k, c, v) VALUES (1, 2, 'b')").is_void(),
        "the side that answers is enough"
    );
    assert_eq!(status(&state, "marks"), json!(1));
    drop((client, bench));
    // Its own end was orderly: nothing was interrupted, and the mark is still there.
    let bench = front(source, target, &state);
    assert_eq!((status(&state, "marks"), status(&state, "interruptions")), (json!(1), json!([])));
    let began = ask(&state, json!({ "do": "verifying" }))["began"].clone();
    assert_eq!(
        ask(&state, json!({ "do": "switch", "to": "target" }))["error"],
        json!("writes are not held (any more); begin again")
    );
    assert_eq!(ask(&state, json!({ "do": "hold", "millis": 60000 })), json!({}));
    let error = |request: Value| ask(&state, request)["error"].as_str().unwrap_or_default().to_string();
    assert!(error(json!({ "do": "switch", "to": "target" })).contains("1 keys wait"));
    // A write waits as long as writes are held.
    let address = bench.address;
    let waiting = std::thread::spawn(move || {
        Talk::connect(address, Version::V5)
            .query("INSERT INTO app.t (k, c, v) VALUES (3, 3, 'late')")
            .is_void()
    });
    let mark = ask(&state, json!({ "do": "marks", "worker": "test" }))["marks"][0]["number"].clone();
    assert_eq!(ask(&state, json!({ "do": "mended", "numbers": [mark] })), json!({}));
    assert!(error(json!({ "do": "switch", "to": "target" })).contains("were not compared"));
    assert_eq!(ask(&state, json!({ "do": "verified", "began": began })), json!({}));
    assert_eq!(ask(&state, json!({ "do": "switch", "to": "target" })), json!({}));
    assert!(!waiting.is_finished() && cells(source, "SELECT v FROM app.t WHERE k = 3").is_empty());
    assert_eq!(ask(&state, json!({ "do": "release" })), json!({}));
    until("the write is answered", || waiting.is_finished());
    // The side that answers is away: it was not done, and the other side does not have it either.
    assert!(!waiting.join().unwrap());
    assert!(cells(source, "SELECT v FROM app.t WHERE k = 3").is_empty());
    drop(bench);
    one.stop().unwrap();
}
