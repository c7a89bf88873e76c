//! The audit log as an auditor meets it: the file, the table, and who may read it.

use crate::bench::{Answer, Bench, Client};
use cql_wire::{Batch, BatchList, BatchQuery, BatchType, Consistency, QueryParams, Request, ValueList};
use server::audit::{Category, Rules, Settings};
use server::config::Auth;
use std::path::Path;

fn audited(rules: Rules, dir: &Path) -> Bench {
    let settings = Settings { dir: dir.to_owned(), rules, file_bytes_max: 1 << 20, files_max: 4 };
    Bench::start(|config| {
        config.auth = Auth::Password;
        config.audit = Some(settings);
    })
}

fn log_in(bench: &Bench, token: &[u8]) -> (Client, Answer) {
    let mut client = Client::connect(bench);
    let answer = client.ask(&Request::AuthResponse(Some(token))).answer;
    (client, answer)
}

/// The lines, after the server has stopped.
fn lines(dir: &Path) -> Vec<serde_json::Value> {
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const KEYSPACE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

#[test]
fn logins_roles_and_schema_are_recorded_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let bench = audited(Rules::usual(), dir.path());
    let (_, refused) = log_in(&bench, b"\0cassandra\0wrong-secret");
    assert!(matches!(refused, Answer::Error(0x0100, _)));
    let (mut admin, _) = log_in(&bench, b"\0cassandra\0cassandra");
    admin.run(KEYSPACE);
    admin.run("CREATE TABLE k.t (k int PRIMARY KEY, v int)");
    admin.run("CREATE ROLE bob WITH PASSWORD = 'bobs-secret' AND LOGIN = true");
    admin.run("GRANT SELECT ON k.t TO bob");
    admin.query("CREATE ROLE eve WITH PASWORD = 'eves-secret'");
    admin.run("INSERT INTO k.t (k, v) VALUES (1, 1)");
    admin.run("LIST ROLES");
    let (mut bob, _) = log_in(&bench, b"\0bob\0bobs-secret");
    assert!(matches!(bob.query("DROP TABLE k.t"), Answer::Error(0x2100, _)));
    bob.rows("SELECT * FROM k.t");
    // Another way to change a role.
    admin.run("UPDATE system_auth.roles SET can_login = false WHERE role = 'bob'");
    // The latest first; not for everybody.
    let text = "SELECT role, outcome FROM system_views.audit WHERE event = 'login'";
    assert_eq!(admin.rows(text).texts(), ["bob", "done", "cassandra", "done", "cassandra", "refused"]);
    assert!(matches!(bob.query(text), Answer::Error(0x2100, _)));
    assert_eq!(bench.metric("partita_audit_lost_total"), 0.0);
    drop(bench);
    let lines = lines(dir.path());
    let seen: Vec<(&str, &str, &str)> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            (text("event"), text("outcome"), text("role"))
        })
        .collect();
    let expected = [
        ("login", "refused", "cassandra"),
        ("login", "done", "cassandra"),
        ("schema", "done", "cassandra"),
        ("schema", "done", "cassandra"),
        ("role", "done", "cassandra"),
        ("role", "done", "cassandra"),
        ("role", "refused", "cassandra"),
        ("login", "done", "bob"),
        ("schema", "refused", "bob"),
        ("role", "done", "cassandra"),
    ];
    assert_eq!(seen, expected);
    assert!(lines.iter().all(|line| !line.to_string().contains("secret")), "{lines:?}");
    assert_eq!(lines[4]["statement"], "CREATE ROLE bob WITH PASSWORD *******");
    assert_eq!((&lines[8]["error"], &lines[8]["keyspace"]), (&"0x2100".into(), &"k".into()));
    assert_eq!(lines[8]["address"], "127.0.0.1");
}

#[test]
fn reads_and_writes_are_recorded_by_option_however_they_come() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Rules {
        categories: [Category::Reads, Category::Writes].into(),
        tables: ["k.watched".to_string()].into(),
        ..Rules::default()
    };
    let bench = audited(rules, dir.path());
    let (mut client, _) = log_in(&bench, b"\0cassandra\0cassandra");
    client.run(KEYSPACE);
    for table in ["watched", "other"] {
        client.run(&format!("CREATE TABLE k.{table} (k int PRIMARY KEY, v int)"));
        client.run(&format!("INSERT INTO k.{table} (k, v) VALUES (1, 1)"));
        client.run(&format!("SELECT * FROM k.{table} WHERE k = 1"));
        client.execute(&format!("SELECT v FROM k.{table} WHERE k = 1"), &ValueList::new());
        client.execute(&format!("UPDATE k.{table} SET v = 2 WHERE k = 1"), &ValueList::new());
        let prepared = client
            .ask(&Request::Prepare { query: &format!("DELETE FROM k.{table} WHERE k = 1"), keyspace: None });
        let mut list = BatchList::new();
        assert!(list.push(BatchQuery::Prepared(&prepared.prepared_id), ValueList::new().as_values()));
        let statements = list.as_statements();
        let params = QueryParams::new(Consistency::One);
        let batch = client.batch(Batch { batch_type: BatchType::Unlogged, statements, params });
        assert_eq!(batch.answer, Answer::Other);
    }
    drop(bench);
    let lines = lines(dir.path());
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["write", "read", "read", "write", "write"]);
    assert!(lines.iter().all(|line| line["table"] == "watched" && line["outcome"] == "done"), "{lines:?}");
}
