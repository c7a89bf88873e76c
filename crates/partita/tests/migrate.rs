//! `partita migrate run` between two servers of ours, behind a front end, while a client writes: nothing acknowledged is lost, whoever is
//! killed, and the way back works. The same with a real Cassandra: `tests/migrate.py`.

use client::Client;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

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
    fn start(dir: &Path, words: &str) -> Running {
        let mut command = partita(dir);
        let mut child = command.arg("serve").args(words.split(' ')).stderr(Stdio::null()).spawn().unwrap();
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

    fn server(dir: &Path, data: &str) -> Running {
        let words = "--cql 127.0.0.1:0 --http 127.0.0.1:0 --no-dynamo --no-shard-aware --durability periodic --shards 1 --data";
        Running::start(dir, &format!("{words} {data}"))
    }

    fn front(dir: &Path, port: u16, source: SocketAddr, target: SocketAddr) -> Running {
        let words = format!(
            "--cql 127.0.0.1:{port} --http 127.0.0.1:0 --shards 1 --engine cassandra://{source} --cluster-writes --mirror \
             cassandra://{target} --mirror-state state"
        );
        Running::start(dir, &words)
    }

    /// As kill -9 does.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
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
    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{words}: {told} {said}");
    told.into_owned()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const SCHEMA: [&str; 4] = [
    "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE app.t (k int, c int, s int static, v text, m map<text, int>, l list<int>, PRIMARY KEY (k, c)) WITH gc_grace_seconds = 0",
    "CREATE TABLE app.claims (id int PRIMARY KEY, owner int)",
    "CREATE TABLE app.hits (id int PRIMARY KEY, n counter)",
];

const EVERYTHING: [&str; 4] = [
    "SELECT k, c, s, v, m, l FROM app.t",
    "SELECT k, c, WRITETIME(v), WRITETIME(m), WRITETIME(s) FROM app.t",
    "SELECT * FROM app.claims",
    "SELECT * FROM app.hits",
];

fn rows(at: SocketAddr, query: &str) -> Vec<Vec<Option<String>>> {
    let mut client = Client::connect(at).unwrap();
    let mut rows = client.table(query).unwrap().rows;
    rows.sort();
    rows
}

/// One client that writes all the time and knows what must be there: what it was told is done.
struct Load {
    turn: u32,
    /// Value of a row by key; `None`: it is not known which of two, since a write was not answered.
    rows: BTreeMap<(u32, u32), Option<Option<String>>>,
    counted: u32,
    counted_perhaps: u32,
}

impl Load {
    fn run(&mut self, port: u16, stop: &AtomicBool) {
        let mut client: Option<Client> = None;
        while !stop.load(Ordering::Relaxed) {
            let Some(working) = &mut client else {
                client = Client::connect(("127.0.0.1", port)).ok();
                if client.is_none() {
                    std::thread::sleep(Duration::from_millis(20));
                }
                continue;
            };
            if !self.step(working) {
                client = None;
            }
        }
    }

    /// `false`: the connection is broken.
    fn step(&mut self, client: &mut Client) -> bool {
        self.turn += 1;
        let n = self.turn;
        let (k, c) = (n % 13, n * 7 % 11);
        let text = match n % 10 {
            0 | 1 => {
                format!("INSERT INTO app.t (k, c, v, m, l) VALUES ({k}, {c}, 'v{n}', {{'a': {n}}}, [{n}, 1])")
            }
            2 => format!("UPDATE app.t SET v = 'u{n}', m['x'] = {n} WHERE k = {k} AND c = {c}"),
            3 => format!("DELETE FROM app.t WHERE k = {k} AND c = {c}"),
            4 => format!("UPDATE app.t SET l = l + [{n}] WHERE k = {k} AND c = {c}"),
            5 => format!("INSERT INTO app.t (k, c, v) VALUES ({k}, {c}, 'once') IF NOT EXISTS"),
            6 => format!("UPDATE app.t SET s = {n}, v = 's{n}' WHERE k = {k} AND c = {c}"),
            7 => format!(
                "BEGIN BATCH INSERT INTO app.claims (id, owner) VALUES ({k}, {n}); UPDATE app.t SET m = m - {{'a'}} WHERE k = {k} AND c = {c} APPLY BATCH"
            ),
            8 => format!("INSERT INTO app.t (k, c, v) VALUES ({k}, {c}, 'ttl{n}') USING TTL 100000"),
            _ => format!("UPDATE app.hits SET n = n + 1 WHERE id = {}", n % 3),
        };
        let value = match n % 10 {
            0 | 1 => Some(Some(format!("v{n}"))),
            2 => Some(Some(format!("u{n}"))),
            3 => Some(None),
            6 => Some(Some(format!("s{n}"))),
            8 => Some(Some(format!("ttl{n}"))),
            5 => match self.rows.get(&(k, c)) {
                Some(Some(Some(known))) => Some(Some(known.clone())),
                // The row may be there without this value.
                _ => None,
            },
            _ => self.rows.get(&(k, c)).cloned().unwrap_or(Some(None)),
        };
        let outcome = client.must(&text);
        if n % 10 == 9 {
            match outcome {
                Ok(()) => self.counted += 1,
                Err(_) => self.counted_perhaps += 1,
            }
            return outcome.is_ok();
        }
        match &outcome {
            Ok(()) => self.rows.insert((k, c), value),
            Err(_) => self.rows.insert((k, c), None),
        };
        outcome.is_ok()
    }

    fn check(&self, at: SocketAddr) {
        let found: BTreeMap<(u32, u32), Option<String>> = rows(at, "SELECT k, c, v FROM app.t")
            .into_iter()
            .filter_map(|row| {
                Some(((row[0].clone()?.parse().unwrap(), row[1].clone()?.parse().unwrap()), row[2].clone()))
            })
            .collect();
        for (key, value) in &self.rows {
            if let Some(value) = value {
                assert_eq!(found.get(key).cloned().flatten(), *value, "{key:?} on {at}");
            }
        }
        let counted: u32 = rows(at, "SELECT n FROM app.hits")
            .iter()
            .map(|row| row[0].as_ref().unwrap().parse::<u32>().unwrap())
            .sum();
        let possible = self.counted..=self.counted + self.counted_perhaps;
        assert!(possible.contains(&counted), "{counted} counted, {possible:?} possible");
    }
}

/// Runs `migrate run` and kills it some times before it is left alone.
fn migrate_killed(dir: &Path, words: &str, times: u32) -> Child {
    for turn in 0..times {
        let mut child = partita(dir).args(words.split(' ')).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300 + 200 * u64::from(turn)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    partita(dir).args(words.split(' ')).spawn().unwrap()
}

fn is_verified(dir: &Path) -> bool {
    ok(dir, "migrate status --state state").contains("verified: everything was equal")
}

fn both_sides_equal(dir: &Path, source: SocketAddr, target: SocketAddr) {
    for query in EVERYTHING {
        assert_eq!(rows(source, query), rows(target, query), "{query}");
    }
    let same = ok(
        dir,
        &format!(
            "migrate --once --from {source} --to {target} --table app.t --table app.claims --table app.hits --verify-only --live"
        ),
    );
    assert!(same.contains("3 tables are the same on both sides"), "{same}");
}

#[test]
fn a_database_moves_while_it_is_written_and_back_whoever_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (source, target) = (Running::server(dir, "one"), Running::server(dir, "two"));
    let mut client = Client::connect(source.cql).unwrap();
    SCHEMA.iter().for_each(|statement| client.must(statement).unwrap());
    for n in 0..300 {
        client
            .must(&format!("INSERT INTO app.t (k, c, v, l) VALUES ({}, {}, 'old', [1, 2])", 100 + n % 30, n))
            .unwrap();
    }
    client.must("CREATE INDEX by_v ON app.t (v)").unwrap();
    let mut front = Running::front(dir, 0, source.cql, target.cql);
    let port = front.cql.port();
    let (stop, mut load) =
        (AtomicBool::new(false), Load { turn: 0, rows: BTreeMap::new(), counted: 0, counted_perhaps: 0 });
    let mut worker = std::thread::scope(|scope| {
        let writing = scope.spawn(|| load.run(port, &stop));
        let first = format!(
            "migrate run --state state --from {} --to {} --keyspace app --connections 2",
            source.cql, target.cql
        );
        let planned = ok(dir, &format!("{first} --plan"));
        assert!(planned.contains("counters: brought over while writes are held"), "{planned}");
        let refused = run(dir, "migrate cut-over --state state");
        assert_eq!(refused.status.code(), Some(1), "nothing has begun");
        let worker = migrate_killed(dir, &first, 3);
        // The front end dies too, and what it had under way must be found again.
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(700));
            front.kill();
            front = Running::front(dir, port, source.cql, target.cql);
        }
        until("everything is equal", || is_verified(dir));
        let held = Client::connect(target.cql).unwrap().texts("DESCRIBE TABLE app.t").unwrap();
        assert!(held[0]["create_statement"].contains("hold_tombstones = '20"), "{held:?}");
        let ddl = Client::connect(front.cql)
            .unwrap()
            .must("CREATE TABLE app.later (k int PRIMARY KEY)")
            .unwrap_err();
        assert!(ddl.to_string().contains("while a migration runs"), "{ddl}");
        ok(dir, "migrate shadow --state state 100");
        assert!(Client::connect(front.cql).unwrap().table("SELECT * FROM app.claims").is_ok());
        let turned = ok(dir, "migrate cut-over --state state");
        assert!(turned.contains("the target answers since now"), "{turned}");
        std::thread::sleep(Duration::from_millis(500));
        let back = ok(dir, "migrate roll-back --state state");
        assert!(back.contains("the source answers since now"), "{back}");
        std::thread::sleep(Duration::from_millis(300));
        ok(dir, "migrate cut-over --state state");
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        writing.join().unwrap();
        worker
    });
    assert!(load.turn > 200, "{} statements", load.turn);
    until("no key waits", || ok(dir, "migrate status --state state").contains("waiting: 0;"));
    load.check(target.cql);
    // Back once more, so that the counters of the last turn are on both sides.
    ok(dir, "migrate roll-back --state state");
    both_sides_equal(dir, source.cql, target.cql);
    load.check(source.cql);
    let finished = ok(dir, "migrate finish --state state");
    assert!(finished.contains("finished: the source answers"), "{finished}");
    assert!(worker.wait().unwrap().success(), "the worker ends with the migration");
    let held = Client::connect(target.cql).unwrap().texts("DESCRIBE TABLE app.t").unwrap();
    assert!(!held[0]["create_statement"].contains("hold_tombstones"), "{held:?}");
    assert!(
        !rows(target.cql, "SELECT k FROM app.t WHERE v = 'old'").is_empty(),
        "the index was made, and filled"
    );
}
