//! Replays all recorded scenarios on servers in this process: what `./test unit` checks without Java.

use conformance::known::{self, Entry};
use conformance::run;
use conformance::scenario::{File, Item};
use server::Server;
use server::config::{Auth, Config, Durability};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Scenarios that exist at least; the issue asks for as many.
const SCENARIOS_MIN: usize = 400;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn files(kind: &str) -> Vec<File> {
    let entries = std::fs::read_dir(folder().join(kind)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    paths.iter().map(|path| File::parse(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn names(files: &[File]) -> Vec<String> {
    let name = |item: &Item| match item {
        Item::Scenario(name) => Some(name.clone()),
        _ => None,
    };
    files.iter().flat_map(|file| file.items.iter().filter_map(name)).collect()
}

fn entries() -> Vec<Entry> {
    known::parse(&std::fs::read_to_string(folder().join("known.txt")).unwrap()).unwrap()
}

fn start(data: &Path, auth: Auth) -> (Server, SocketAddr) {
    let loopback = Config::loopback(data, 2);
    let config = Config {
        shard_aware: None,
        http: None,
        durability: Durability::Periodic,
        auth,
        functions: true,
        ..loopback
    };
    let server = Server::start(config).unwrap();
    let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
    (server, address)
}

fn replay(kind: &str, auth: Auth) {
    let data = tempfile::tempdir().unwrap();
    let (server, address) = start(data.path(), auth);
    let mut files = files(kind);
    assert!(!files.is_empty());
    let (mut statements, mut differences) = (0, Vec::new());
    for file in &mut files {
        let outcome = run::replay(address, file).unwrap();
        statements += outcome.statements;
        differences.extend(outcome.differences);
    }
    server.stop().unwrap();
    let names = names(&files);
    let entries: Vec<Entry> = entries().into_iter().filter(|e| names.contains(&e.scenario)).collect();
    let (unknown, passing) = known::judge(&entries, &differences);
    for d in &unknown {
        println!("{}: {}\n  cassandra {:?}\n  partita   {:?}", d.scenario, d.statement, d.expected, d.actual);
    }
    assert!(
        unknown.is_empty(),
        "{} of {statements} statements differ and are not in known.txt",
        unknown.len()
    );
    assert!(passing.is_empty(), "entries of known.txt that no longer differ: {passing:#?}");
}

#[test]
fn partita_answers_as_cassandra_did() {
    replay("scenarios", Auth::None);
}

#[test]
fn partita_answers_as_cassandra_6_did() {
    replay("six", Auth::None);
}

/// What no Cassandra has; the answers are ours.
#[test]
fn partita_answers_what_no_cassandra_has() {
    replay("ours", Auth::None);
}

#[test]
fn partita_answers_as_cassandra_did_where_roles_log_in() {
    replay("roles", Auth::Password);
}

/// Keyspaces are named after scenarios, so two of one name would see each other's tables.
#[test]
fn scenarios_are_many_and_have_names_of_their_own() {
    let mut names = names(&files("scenarios"));
    names.extend(self::names(&files("roles")));
    names.extend(self::names(&files("six")));
    names.extend(self::names(&files("ours")));
    assert!(names.len() >= SCENARIOS_MIN, "{} scenarios", names.len());
    let mut keyspaces: Vec<String> = names.iter().map(|name| run::keyspace_name(name)).collect();
    keyspaces.sort();
    let twice = keyspaces.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
    let lost: Vec<Entry> = entries().into_iter().filter(|e| !names.contains(&e.scenario)).collect();
    assert!(lost.is_empty(), "entries of known.txt without a scenario: {lost:#?}");
}
