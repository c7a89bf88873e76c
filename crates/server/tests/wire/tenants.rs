//! Tenants over real sockets: the ways that only a server has (statements executed at once, the protocol's batches, traces, tables
//! that show keys), and what it counts.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, QueryParams, Request, Value, ValueList,
};
use server::config::Auth;

const ADMIN: &[u8] = b"\0cassandra\0cassandra";
const APP: &[u8] = b"\0app\0app";

fn login(bench: &Bench, with: &[u8]) -> Client {
    let mut client = Client::connect(bench);
    assert_eq!(client.ask(&Request::AuthResponse(Some(with))).answer, Answer::Other);
    client
}

fn start() -> (Bench, Client, Client) {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    let mut admin = login(&bench, ADMIN);
    for statement in [
        "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND tenant = 'org'",
        "CREATE TABLE app.notes (org text, id text, note text, PRIMARY KEY ((org, id)))",
        "CREATE ROLE app WITH LOGIN = true AND PASSWORD = 'app'",
        "GRANT SELECT, MODIFY ON KEYSPACE app FOR TENANT 'acme' TO app",
        "GRANT SELECT ON KEYSPACE system_views TO app",
    ] {
        admin.run(statement);
    }
    for org in ["acme", "beta"] {
        for id in 0..20 {
            admin.run(&format!(
                "INSERT INTO app.notes (org, id, note) VALUES ('{org}', '{org}-{id}', '{org}-note')"
            ));
        }
    }
    let app = login(&bench, APP);
    (bench, admin, app)
}

fn values(texts: &[&str]) -> ValueList {
    let mut values = ValueList::new();
    assert!(texts.iter().all(|text| values.push(Value::Bytes(text.as_bytes()))));
    values
}

fn is_refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(0x2100, text) if text.contains("bound to tenants"))
}

#[test]
fn prepared_statements_and_batches_are_checked_on_every_way() {
    let (_bench, mut admin, mut app) = start();
    let read = "SELECT note FROM app.notes WHERE org = ? AND id = ?";
    let write = "INSERT INTO app.notes (org, id, note) VALUES (?, ?, ?)";
    let conditional = "UPDATE app.notes SET note = 'x' WHERE org = ? AND id = ? IF note = 'y'";
    // On whichever shard the partition is, and whoever has prepared the statement before.
    for id in 0..20 {
        let (own, other) = (format!("acme-{id}"), format!("beta-{id}"));
        assert_eq!(admin.execute(read, &values(&["beta", &other])).answer, Answer::Rows(1));
        assert_eq!(app.execute(read, &values(&["acme", &own])).answer, Answer::Rows(1));
        assert!(is_refused(&app.execute(read, &values(&["beta", &other])).answer));
        assert!(is_refused(&app.execute(write, &values(&["beta", &other, "mine"])).answer));
        assert!(is_refused(&app.execute(conditional, &values(&["beta", &other])).answer));
        assert_eq!(app.execute(conditional, &values(&["acme", &own])).answer, Answer::Rows(1));
    }
    let id = app.ask(&Request::Prepare { query: write, keyspace: None }).prepared_id;
    for org in ["acme", "beta"] {
        let (own, other) = (values(&["acme", "1", "a"]), values(&[org, "2", "b"]));
        let mut list = BatchList::new();
        for values in [&own, &other] {
            assert!(list.push(BatchQuery::Prepared(&id), values.as_values()));
        }
        let params = QueryParams::new(Consistency::One);
        let reply =
            app.batch(Batch { batch_type: BatchType::Unlogged, statements: list.as_statements(), params });
        match org {
            "acme" => assert_eq!(reply.answer, Answer::Other),
            _ => assert!(is_refused(&reply.answer), "{:?}", reply.answer),
        }
    }
    assert_eq!(admin.query("SELECT * FROM app.notes WHERE org = 'beta' AND id = '2'"), Answer::Rows(0));
}

#[test]
fn tables_of_the_server_show_a_bound_role_its_own() {
    let (bench, mut admin, mut app) = start();
    let query =
        |text: &'static str| Request::Query { query: text, params: QueryParams::new(Consistency::One) };
    admin.traced(&query("SELECT note FROM app.notes WHERE org = 'beta' AND id = 'beta-1'"));
    app.traced(&query("SELECT note FROM app.notes WHERE org = 'acme' AND id = 'acme-1'"));
    let ids = admin.rows("SELECT session_id, parameters FROM system_traces.sessions");
    let mut own = 0;
    for pair in ids.cells.chunks(2) {
        let id = model::timeuuid::format(&pair[0].as_deref().unwrap().try_into().unwrap());
        for table in ["sessions", "events"] {
            match app.query(&format!("SELECT * FROM system_traces.{table} WHERE session_id = {id}")) {
                Answer::Rows(_) => own += 1,
                other => assert!(matches!(other, Answer::Error(0x2100, _)), "{other:?}"),
            }
        }
    }
    assert_eq!(own, 2, "its own trace and no other");
    assert!(matches!(app.query("SELECT * FROM system_traces.sessions"), Answer::Error(0x2100, _)));
    // Keys are shown a second after they were counted.
    let shown = || bench.metric("partita_table_top_keys_share") > 0.0;
    let patience = std::time::Instant::now() + crate::bench::PATIENCE;
    while !shown() && std::time::Instant::now() < patience {
        admin.query("SELECT note FROM app.notes WHERE org = 'beta' AND id = 'beta-1'");
        app.query("SELECT note FROM app.notes WHERE org = 'acme' AND id = 'acme-1'");
    }
    for table in [
        "hot_partitions",
        "largest_partitions",
        "partition_sizes",
        "hot_history",
        "heat_map",
        "table_load",
        "tenants",
    ] {
        let all = admin.rows(&format!("SELECT * FROM system_views.{table}")).texts();
        let seen = app.rows(&format!("SELECT * FROM system_views.{table}")).texts();
        assert!(!seen.iter().any(|text| text.contains("beta")), "{table}: {seen:?}");
        if ["hot_partitions", "largest_partitions", "tenants"].contains(&table) {
            assert!(all.iter().any(|text| text.contains("beta")), "{table}: {all:?}");
            assert!(seen.iter().any(|text| text.contains("acme")), "{table}: {seen:?}");
        }
    }
}

#[test]
fn use_is_counted_and_what_is_over_a_limit_is_overloaded() {
    let (bench, mut admin, mut app) = start();
    admin.run("ALTER TABLE app.notes WITH tenant_limits = {'acme.requests_per_second': '20'}");
    let read = "SELECT note FROM app.notes WHERE org = ? AND id = ?";
    let (mut done, mut over) = (0, 0);
    for _ in 0..200 {
        match app.execute(read, &values(&["acme", "acme-1"])).answer {
            Answer::Rows(1) => done += 1,
            Answer::Error(0x1001, text) => {
                assert!(text.contains("limit of 20 requests per second in app.notes"), "{text}");
                over += 1;
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(admin.execute(read, &values(&["beta", "beta-1"])).answer, Answer::Rows(1));
    }
    assert!(done >= 20 && over > 0, "{done} done, {over} over");
    let metric =
        |name: &str, tenant: &str| bench.series(&format!("{name}{{keyspace=\"app\",tenant=\"{tenant}\"}}"));
    assert_eq!(metric("partita_tenant_throttled_total", "acme"), f64::from(over));
    assert_eq!(metric("partita_tenant_requests_total", "beta"), 220.0, "20 written, 200 read");
    assert_eq!(metric("partita_tenant_rows_read_total", "beta"), 200.0);
    assert!(metric("partita_tenant_bytes_read_total", "beta") > 0.0);
    assert!(metric("partita_tenant_bytes_written_total", "beta") > 0.0);
    assert!(metric("partita_tenant_shard_seconds_total", "beta") > 0.0);
    assert_eq!(bench.series("partita_throttled_requests_total{reason=\"tenant\"}"), f64::from(over));
    // What is stored is counted some seconds after the start.
    let patience = std::time::Instant::now() + crate::bench::PATIENCE;
    while metric("partita_tenant_stored_bytes", "beta") == 0.0 {
        assert!(std::time::Instant::now() < patience, "nobody counted what is stored");
        admin.query("SELECT key FROM system.local");
    }
    let rows = admin
        .rows("SELECT stored_rows FROM system_views.tenants WHERE keyspace_name = 'app' AND tenant = 'beta'");
    assert_eq!(rows.cells, [Some(20i64.to_be_bytes().to_vec())]);
}
