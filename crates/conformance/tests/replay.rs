//! Replays all recorded scenarios on a server in this process: what `./test unit` checks without Java.

use conformance::known;
use conformance::run;
use conformance::scenario::File;
use server::Server;
use server::config::{Auth, Config, Durability, Limits};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn start(data: &Path) -> (Server, SocketAddr) {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(Config {
        data: data.into(),
        cql: any,
        shard_aware: None,
        http: None,
        shards: 2,
        durability: Durability::Periodic,
        auth: Auth::None,
        tls: None,
        cluster_name: "Partita".into(),
        data_center: "datacenter1".into(),
        rack: "rack1".into(),
        limits: Limits::default(),
    })
    .unwrap();
    let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
    (server, address)
}

#[test]
fn partita_answers_as_cassandra_did() {
    let data = tempfile::tempdir().unwrap();
    let (server, address) = start(data.path());
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder().join("scenarios")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "txt"));
    paths.sort();
    assert!(!paths.is_empty());
    let (mut statements, mut differences) = (0, Vec::new());
    for path in &paths {
        let mut file = File::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let outcome = run::replay(address, &mut file).unwrap();
        statements += outcome.statements;
        differences.extend(outcome.differences);
    }
    server.stop().unwrap();
    let entries = known::parse(&std::fs::read_to_string(folder().join("known.txt")).unwrap()).unwrap();
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
