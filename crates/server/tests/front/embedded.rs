//! Our own server as the cluster: the whole path with real rows, without Java.

use crate::bench::{Bench, Talk};
use cql_wire::{Consistency, Opcode, QueryParams, Request, Response, Version};
use server::Server;
use server::config::Config;

#[test]
fn a_front_end_before_our_own_server_answers_as_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(Config::loopback(dir.path(), 2)).unwrap();
    let address = server.listeners().iter().find(|(name, _)| *name == "cql").unwrap().1;
    let bench = Bench::at(&[address], |config, cluster| {
        config.shards = 2;
        cluster.writes = true;
    })
    .unwrap();
    for version in [Version::V3, Version::V4, Version::V5] {
        let mut through = Talk::connect(bench.address, version);
        let mut direct = Talk::connect(address, version);
        let keyspace = format!("ks{}", version.number());
        let ddl = [
            format!(
                "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
            ),
            format!("USE {keyspace}"),
            "CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))".into(),
        ];
        for statement in &ddl {
            assert_eq!(through.query(statement).opcode, Opcode::Result, "{statement}");
        }
        direct.query(&ddl[1]);
        for c in 0..10 {
            assert!(through.query(&format!("INSERT INTO t (k, c, v) VALUES (1, {c}, 'x{c}')")).is_void());
        }
        // Page by page, half through one and half through the other: states are valid at both.
        let mut state: Option<Vec<u8>> = None;
        let mut seen = 0;
        for turn in 0.. {
            let talk = if turn % 2 == 0 { &mut through } else { &mut direct };
            let params = QueryParams {
                page_size: Some(3),
                paging_state: state.as_deref(),
                ..QueryParams::new(Consistency::One)
            };
            let answer = talk.ask(&Request::Query { query: "SELECT v FROM t WHERE k = 1", params });
            state = answer.read(|response| match response {
                Response::Rows(rows) => {
                    seen += rows.row_count;
                    rows.paging_state.map(<[u8]>::to_vec)
                }
                other => panic!("{other:?}"),
            });
            if state.is_none() {
                break;
            }
        }
        assert_eq!(seen, 10, "{version}");
        for text in [
            "SELECT * FROM t",
            "SELECT count(*) FROM t WHERE k = 1 GROUP BY k",
            "SELECT nothing FROM t",
            "SELEC",
            "UPDATE t SET v = 'y' WHERE k = 1 AND c = 1 IF v = 'z'",
            "SELECT * FROM t WHERE v = 'x1' ALLOW FILTERING",
            "DESCRIBE TABLE t",
        ] {
            let (a, b) = (through.query(text), direct.query(text));
            assert_eq!((a.flags, a.opcode, &a.body), (b.flags, b.opcode, &b.body), "{version} {text}");
        }
    }
    drop(bench);
    server.stop().unwrap();
}
