//! Prepared statements across connections, shards and schema changes.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{Consistency, QueryParams, Request, Version};

/// A client that skips metadata would misread rows of another shape: whichever shard it asks, it must prepare again.
#[test]
fn a_statement_whose_columns_changed_is_unprepared_on_every_shard() {
    for version in Version::ALL {
        let bench = Bench::start(|_| {});
        // Connections are dealt out in turn, so these are on both shards.
        let mut clients: Vec<Client> = (0..4).map(|_| Client::with(&bench, version, &[])).collect();
        let first = &mut clients[0];
        first
            .run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        first.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
        first.run("INSERT INTO k.t (k, v) VALUES (1, 2)");
        let query = "SELECT * FROM k.t";
        let prepared = first.ask(&Request::Prepare { query, keyspace: None });
        let execute = |client: &mut Client, metadata_id: &[u8]| {
            let id = &prepared.prepared_id[..];
            let result_metadata_id = (version >= Version::V5).then_some(metadata_id);
            let params = QueryParams { skip_metadata: true, ..QueryParams::new(Consistency::One) };
            client.ask(&Request::Execute { id, result_metadata_id, params })
        };
        // The first shard knows the statement, the second may not have met it yet.
        assert_eq!(execute(&mut clients[0], &prepared.result_metadata_id).answer, Answer::Rows(1));
        clients[2].run("ALTER TABLE k.t ADD a int");
        for client in &mut clients {
            for _ in 0..2 {
                let reply = execute(client, &prepared.result_metadata_id);
                assert!(matches!(reply.answer, Answer::Error(0x2500, _)), "{version}: {:?}", reply.answer);
            }
        }
        let again = clients[3].ask(&Request::Prepare { query, keyspace: None });
        assert_eq!(again.prepared_id, prepared.prepared_id);
        for client in &mut clients {
            let reply = execute(client, &again.result_metadata_id);
            assert_eq!((reply.answer, reply.cells.len()), (Answer::Rows(1), 3), "{version}");
        }
    }
}
