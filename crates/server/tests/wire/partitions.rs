//! Partitions with a limit, as clients meet them: the warning, the refusal, and the ledger.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use std::time::Instant;

fn with_table(bench: &Bench, limit: &str) -> Client {
    let mut client = Client::connect(bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run(&format!(
        "CREATE TABLE k.t (a text, b int, c int, v text, PRIMARY KEY ((a, b), c)) WITH {limit}"
    ));
    client
}

#[test]
fn a_full_partition_is_refused_by_name_and_deletes_go_on() {
    let bench = Bench::start(|config| config.shards = 2);
    let mut client = with_table(
        &bench,
        "partition_limit = {'rows': 10, 'warn': 0.5, 'action': 'refuse'} AND review = 'off'",
    );
    for c in 0..10 {
        let reply = client.run(&format!("INSERT INTO k.t (a, b, c, v) VALUES ('x', 1, {c}, 'v')"));
        let warned = reply.warnings.iter().any(|text| text.contains("Partition x:1 of k.t holds"));
        assert_eq!(warned, c >= 5, "{c}: {:?}", reply.warnings);
    }
    for text in [
        "INSERT INTO k.t (a, b, c, v) VALUES ('x', 1, 10, 'v')",
        "UPDATE k.t SET v = 'w' WHERE a = 'x' AND b = 1 AND c = 3",
        "INSERT INTO k.t (a, b, c, v) VALUES ('x', 1, 10, 'v') IF NOT EXISTS",
        "BEGIN BATCH INSERT INTO k.t (a, b, c) VALUES ('y', 1, 1); INSERT INTO k.t (a, b, c) VALUES ('x', 1, 11); APPLY BATCH",
    ] {
        let Answer::Error(0x2200, message) = client.query(text) else { panic!("{text}") };
        for part in ["Partition x:1 of k.t holds", "in 10 rows", "its limit is 10 rows", "ALTER TABLE k.t"] {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
    assert_eq!(client.query("SELECT * FROM k.t"), Answer::Rows(10));
    client.run("DELETE v FROM k.t WHERE a = 'x' AND b = 1 AND c = 3");
    client.run("DELETE FROM k.t WHERE a = 'x' AND b = 1 AND c > 7");
    client.run("INSERT INTO k.t (a, b, c, v) VALUES ('y', 1, 1, 'v')");
    client.run("DELETE FROM k.t WHERE a = 'x' AND b = 1");
    client.run("INSERT INTO k.t (a, b, c, v) VALUES ('x', 1, 10, 'v')");
    client.run("ALTER TABLE k.t WITH partition_limit = {}");
    (0..20).for_each(|c| {
        client.run(&format!("INSERT INTO k.t (a, b, c, v) VALUES ('x', 1, {c}, 'v')"));
    });
}

#[test]
fn the_ledger_names_partitions_sizes_and_limits() {
    let bench = Bench::start(|config| config.shards = 2);
    let mut client = with_table(&bench, "partition_limit = {'bytes': '1MB'} AND review = 'off'");
    let value = "v".repeat(1000);
    for (a, rows) in [("large", 300), ("small", 20)] {
        for c in 0..rows {
            client.run(&format!("INSERT INTO k.t (a, b, c, v) VALUES ('{a}', 1, {c}, '{value}')"));
        }
    }
    let text = "SELECT partition_key, rows, bytes, limit_bytes, growth_bytes_per_day, status FROM system_views.partition_sizes \
                WHERE keyspace_name = 'k' AND table_name = 't'";
    let number = |cell: &Option<Vec<u8>>| i64::from_be_bytes(cell.as_deref().unwrap().try_into().unwrap());
    let deadline = Instant::now() + PATIENCE;
    loop {
        let shown = client.rows(text);
        if shown.cells.len() == 12 && number(&shown.cells[1]) == 300 && number(&shown.cells[7]) == 20 {
            assert_eq!(shown.cells[0].as_deref(), Some(&b"large:1"[..]));
            assert_eq!(shown.cells[6].as_deref(), Some(&b"small:1"[..]));
            assert!((300_000..330_000).contains(&number(&shown.cells[2])), "{:?}", shown.cells[2]);
            assert_eq!(number(&shown.cells[3]), 1_000_000);
            assert!(number(&shown.cells[4]) > 0);
            assert_eq!(shown.cells[5].as_deref(), Some(&b"within"[..]));
            return;
        }
        assert!(Instant::now() < deadline, "{:?}", shown.cells);
    }
}

#[test]
fn the_server_warns_of_large_partitions_of_tables_that_say_nothing() {
    let bench = Bench::start(|config| (config.shards, config.partition_bytes) = (2, Some(20_000)));
    let mut client = with_table(&bench, "review = 'off'");
    let value = "v".repeat(1000);
    let mut write = |a: &str, c: usize| {
        let reply = client.run(&format!("INSERT INTO k.t (a, b, c, v) VALUES ('{a}', 1, {c}, '{value}')"));
        reply.warnings.iter().any(|text| {
            text.contains("Partition large:1 of k.t holds") && text.contains("limit is 20000 bytes")
        })
    };
    assert!((0..15).all(|c| !write("large", c)), "it is not large yet");
    let deadline = Instant::now() + PATIENCE;
    // It is known within about a second.
    for c in 15.. {
        if write("large", c.min(40)) {
            break;
        }
        assert!(Instant::now() < deadline);
    }
    assert!(!write("small", 1));
    let shown = client.rows("SELECT limit_bytes, status FROM system_views.partition_sizes WHERE keyspace_name = 'k' AND table_name = 't'");
    assert_eq!(shown.cells[0].as_deref(), Some(&20_000i64.to_be_bytes()[..]));
    assert_eq!(shown.cells[1].as_deref(), Some(&b"breached"[..]));
    // A limit of its own takes its place.
    client.run("ALTER TABLE k.t WITH partition_limit = {'bytes': '1GB'}");
    let reply = client.run("INSERT INTO k.t (a, b, c, v) VALUES ('large', 1, 1, 'v')");
    assert!(reply.warnings.is_empty(), "{:?}", reply.warnings);
}

#[test]
fn the_sixth_copy_of_a_table_is_warned_of() {
    let bench = Bench::start(|_| {});
    let mut client = Client::connect(&bench);
    client.run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE k.wide (id int PRIMARY KEY, a int, b int, c int, d int, e int, f int)");
    for (n, column) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
        let reply = client.run(&format!("CREATE INDEX ON k.wide ({column})"));
        let warned = reply.warnings.iter().any(|text| text.contains("every write to k.wide now keeps"));
        assert_eq!(warned, n == 5, "{column}: {:?}", reply.warnings);
    }
}
