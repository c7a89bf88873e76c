//! Access patterns at run time: enforced, warned of, counted; EXPLAIN ANALYZE; what is wrong.

use crate::bench::{Answer, Bench, Client, PATIENCE};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, QueryParams, Request, Value, ValueList, Version,
};
use server::config::Auth;
use std::time::Instant;

const KEYSPACE: &str =
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

fn values(parts: &[&[u8]]) -> ValueList {
    let mut list = ValueList::new();
    parts.iter().for_each(|part| assert!(list.push(Value::Bytes(part))));
    list
}

fn ready(bench: &Bench) -> Client {
    let mut client = Client::connect(bench);
    client.run(KEYSPACE);
    client.run("CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
    client.run("CREATE ACCESS PATTERN k.by_a AS SELECT * FROM t WHERE a = ? LIMIT 100");
    client.run("CREATE ACCESS PATTERN k.put AS INSERT INTO t (a, b, c) VALUES (?, ?, ?)");
    client
}

fn refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(0x2200, text) if text.contains("no declared access pattern") && text.contains("CREATE ACCESS PATTERN k."))
}

#[test]
fn enforced_patterns_refuse_other_statements_on_every_path() {
    let bench = Bench::start(|_| {});
    let mut client = ready(&bench);
    let one = 1i32.to_be_bytes();
    let scan = "SELECT * FROM k.t";
    assert!(matches!(client.execute(scan, &ValueList::new()).answer, Answer::Rows(0)));
    client.run("ALTER KEYSPACE k WITH patterns = 'enforce'");
    // What is declared passes, in any words.
    client.run("INSERT INTO k.t (a, b, c) VALUES (1, 2, 3)");
    assert_eq!(client.query("SELECT c FROM k.t WHERE a = 1 LIMIT 10"), Answer::Rows(1));
    assert_eq!(
        client.execute("SELECT c FROM k.t WHERE a = ? LIMIT 10", &values(&[&one])).answer,
        Answer::Rows(1)
    );
    // What is not is refused: as text, prepared before, prepared now, in batches, measured.
    let delete = "DELETE FROM k.t WHERE a = 1 AND b = 2";
    for text in [scan, delete, "UPDATE k.t SET c = 1 WHERE a = 1 AND b = 2", "SELECT * FROM k.t WHERE a = 1"]
    {
        assert!(refused(&client.query(text)), "{text}");
        assert!(refused(&client.execute(text, &ValueList::new()).answer), "{text}");
        assert!(refused(&client.query(&format!("EXPLAIN ANALYZE {text}"))), "{text}");
        assert_ne!(client.query(&format!("EXPLAIN {text}")), Answer::Rows(0), "{text}");
    }
    assert!(refused(&client.query(&format!("BEGIN BATCH {delete}; APPLY BATCH"))));
    let prepared = client.ask(&Request::Prepare { query: delete, keyspace: None });
    for query in [BatchQuery::Text(delete), BatchQuery::Prepared(&prepared.prepared_id)] {
        let mut statements = BatchList::new();
        assert!(statements.push(query, ValueList::new().as_values()));
        let params = QueryParams::new(Consistency::One);
        let batch = Batch { batch_type: BatchType::Logged, statements: statements.as_statements(), params };
        assert!(refused(&client.batch(batch).answer));
    }
    assert_eq!(
        client.query("SELECT c FROM k.t WHERE a = 1 LIMIT 10"),
        Answer::Rows(1),
        "nothing was deleted"
    );
    // The server's own tables and other keyspaces are free, and so is the schema.
    client.rows("SELECT * FROM system.local");
    client.run("CREATE TABLE k.u (a int PRIMARY KEY)");
    // Refused statements are listed, and declaring one lets it pass at once, prepared or not.
    let listed = client
        .rows("SELECT statement, class FROM system_views.unmatched_statements WHERE keyspace_name = 'k'")
        .texts();
    assert!(
        listed.chunks(2).any(|row| row[0].starts_with("SELECT * FROM k.t") && row[1] == "unbounded"),
        "{listed:?}"
    );
    client.run("CREATE ACCESS PATTERN k.all_rows AS SELECT * FROM t");
    assert_eq!(client.execute(scan, &ValueList::new()).answer, Answer::Rows(1));
    client.run("DROP ACCESS PATTERN k.all_rows");
    assert!(refused(&client.execute(scan, &ValueList::new()).answer));
    let described = client.rows("DESCRIBE KEYSPACE k").texts().join(" ");
    assert!(described.contains("AND patterns = 'enforce'"), "{described}");
    client.run("ALTER KEYSPACE k WITH patterns = 'off'");
    assert_eq!(client.execute(scan, &ValueList::new()).answer, Answer::Rows(1));
    let wrong = client.query("ALTER KEYSPACE k WITH patterns = 'maybe'");
    assert!(matches!(&wrong, Answer::Error(0x2300, text) if text.contains("'enforce'")), "{wrong:?}");
}

#[test]
fn roles_on_the_list_pass() {
    let bench = Bench::start(|config| config.auth = Auth::Password);
    let login = |role: &str| {
        let mut client = Client::connect(&bench);
        let token = format!("\0{role}\0{role}");
        assert_eq!(client.ask(&Request::AuthResponse(Some(token.as_bytes()))).answer, Answer::Other);
        client
    };
    let mut admin = login("cassandra");
    admin.run(KEYSPACE);
    admin.run("CREATE TABLE k.t (a int PRIMARY KEY)");
    for role in ["ops", "reporting", "app"] {
        admin.run(&format!("CREATE ROLE {role} WITH PASSWORD = '{role}' AND LOGIN = true"));
        admin.run(&format!("GRANT SELECT ON KEYSPACE k TO {role}"));
    }
    admin.run("GRANT ops TO reporting");
    admin.run("ALTER KEYSPACE k WITH patterns = 'enforce' AND patterns_allow = 'ops, nobody'");
    assert_eq!(login("ops").query("SELECT * FROM k.t"), Answer::Rows(0));
    assert_eq!(
        login("reporting").query("SELECT * FROM k.t"),
        Answer::Rows(0),
        "a member of a role on the list"
    );
    for role in ["app", "cassandra"] {
        assert!(refused(&login(role).query("SELECT * FROM k.t")), "{role}");
    }
    let described = admin.rows("DESCRIBE KEYSPACE k").texts().join(" ");
    assert!(described.contains("AND patterns_allow = 'ops, nobody'"), "{described}");
}

#[test]
fn warnings_come_once_per_statement_and_connection() {
    let bench = Bench::start(|_| {});
    let mut client = ready(&bench);
    client.run("ALTER KEYSPACE k WITH patterns = 'warn'");
    let scan = "SELECT * FROM k.t";
    let told = |warnings: &[String]| {
        warnings.iter().filter(|text| text.contains("no declared access pattern")).count()
    };
    for (round, expected) in [1, 0, 0].into_iter().enumerate() {
        assert_eq!(told(&client.execute(scan, &ValueList::new()).warnings), expected, "{round}");
    }
    assert_eq!(told(&client.rows(scan).warnings), 0, "the same statement, not prepared");
    let write = "DELETE FROM k.t WHERE a = 1";
    assert_eq!(told(&client.run(write).warnings), 1);
    assert_eq!(told(&client.run(write).warnings), 0);
    assert_eq!(told(&client.run("INSERT INTO k.t (a, b) VALUES (1, 1)").warnings), 0, "declared");
    let mut other = Client::with(&bench, Version::V5, &[]);
    assert_eq!(told(&other.rows(scan).warnings), 1);
}

#[test]
fn what_patterns_do_is_counted() {
    let bench = Bench::start(|_| {});
    let mut client = ready(&bench);
    client.run("ALTER ACCESS PATTERN k.by_a WITH peak_rate = 1000000 AND row_bytes = 1 AND rows_per_partition = 1000 AND retention = '1 year' AND freshness = '1s'");
    for b in 0..20 {
        client.run(&format!("INSERT INTO k.t (a, b, c) VALUES (1, {b}, 3)"));
    }
    client.run("DELETE FROM k.t WHERE a = 1 AND b = 19");
    let one = 1i32.to_be_bytes();
    for _ in 0..10 {
        client.execute("SELECT * FROM k.t WHERE a = ? LIMIT 100", &values(&[&one]));
    }
    let columns = "calls, errors, throttled, rows_per_call, rows_examined_per_call, partitions_per_call, tombstones_per_call, \
                   bytes_per_call, p50_ms_observed, p99_ms_observed, rate, peak_rate_observed";
    let query = |columns: &str| {
        format!(
            "SELECT {columns} FROM system_views.access_patterns WHERE keyspace_name = 'k' AND pattern_name = 'by_a'"
        )
    };
    let shown = client.rows(&query(columns));
    let double = |cell: usize| f64::from_be_bytes(shown.cells[cell].as_deref().unwrap().try_into().unwrap());
    let bigint = |cell: usize| i64::from_be_bytes(shown.cells[cell].as_deref().unwrap().try_into().unwrap());
    assert_eq!((bigint(0), bigint(1), bigint(2)), (10, 0, 0));
    assert_eq!((double(3), double(5), double(6)), (19.0, 1.0, 1.0));
    assert!(double(4) >= 19.0 && double(7) > 19.0 * 12.0 && double(8) > 0.0 && double(9) >= double(8));
    let numbers = client
        .rows("SELECT number, status FROM system_views.access_pattern_numbers WHERE keyspace_name = 'k' AND pattern_name = 'by_a'")
        .texts();
    let status = |number: &str| numbers.chunks(2).find(|row| row[0] == number).map(|row| row[1].clone());
    assert_eq!(status("row_bytes").as_deref(), Some("breached"));
    assert_eq!(status("freshness").as_deref(), Some("within"));
    assert!(status("rows_per_partition").is_some() && status("retention").is_some(), "{numbers:?}");
    assert_eq!(client.rows(&query("status")).texts(), ["breached"]);
    // The clock that looks every few seconds takes note.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let since = client.rows(&query("breached_since")).cells[0].is_some();
        let found = client.rows("SELECT subject, finding, fix, severity, confidence FROM system_views.findings WHERE keyspace_name = 'k'").texts();
        if since
            && found
                .chunks(5)
                .any(|row| row[0] == "by_a" && row[1].contains("row_bytes") && row[3] == "error")
        {
            break;
        }
        assert!(Instant::now() < deadline, "{found:?}");
    }
    let metrics = bench.get("/metrics");
    for line in [
        "partita_pattern_request_seconds_count{keyspace=\"k\",pattern=\"by_a\"} 10",
        "partita_pattern_breached{keyspace=\"k\",pattern=\"by_a\"} 1",
        "partita_findings{rule=\"pattern-breached\",severity=\"error\"} 1",
        "partita_table_tombstones_met_total{keyspace=\"k\",table=\"t\"} 10",
        "partita_throttled_requests_total{reason=\"requests\"} 0",
        "partita_conditional_failures_total 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
}

#[test]
fn explain_analyze_tells_what_happened() {
    let bench = Bench::start(|_| {});
    let mut client = ready(&bench);
    for a in 0..30 {
        client.run(&format!("INSERT INTO k.t (a, b, c) VALUES ({a}, 1, {})", a % 3));
        client.run(&format!("INSERT INTO k.t (a, b, c) VALUES ({a}, 2, 9)"));
    }
    client.run("DELETE FROM k.t WHERE a = 1 AND b = 2");
    let told = |client: &mut Client, text: &str| {
        let texts = client.rows(text).texts();
        let pairs: Vec<(String, String)> =
            texts.chunks(2).map(|row| (row[0].clone(), row[1].clone())).collect();
        move |name: &str| {
            pairs
                .iter()
                .find(|(property, _)| property == name)
                .map(|(_, value)| value.clone())
                .unwrap_or_else(|| panic!("{name}: {pairs:?}"))
        }
    };
    let scan = told(&mut client, "EXPLAIN ANALYZE SELECT * FROM k.t WHERE c = 0 ALLOW FILTERING");
    assert_eq!((scan("partitions read"), scan("shards")), ("30".into(), "2".into()));
    assert!(scan("rows returned").starts_with("10 ("), "{}", scan("rows returned"));
    assert_eq!((scan("class"), scan("tombstones met")), ("unbounded".into(), "1".into()));
    assert!(scan("rows examined").parse::<u64>().unwrap() >= 59);
    for step in ["bind", "authorize", "reading in shards", "total"] {
        assert!(scan(&format!("time: {step}")).ends_with(" ms"));
    }
    let point = told(&mut client, "EXPLAIN ANALYZE SELECT * FROM k.t WHERE a = 7");
    assert_eq!(
        (point("partitions read"), point("shards"), point("blocks read")),
        ("1".into(), "1".into(), "0".into())
    );
    // A write is executed too.
    let write = told(&mut client, "EXPLAIN ANALYZE INSERT INTO k.t (a, b, c) VALUES (100, 1, 1)");
    assert!(write("time: commit").ends_with(" ms"));
    assert_eq!(client.query("SELECT * FROM k.t WHERE a = 100"), Answer::Rows(1));
    // Values are bound, and nothing else can be analyzed.
    let bound =
        client.execute("EXPLAIN ANALYZE SELECT * FROM k.t WHERE a = ?", &values(&[&7i32.to_be_bytes()]));
    assert!(matches!(bound.answer, Answer::Rows(count) if count > 10), "{:?}", bound.answer);
    for text in ["EXPLAIN ANALYZE DROP TABLE k.t", "EXPLAIN ANALYZE EXPLAIN SELECT * FROM k.t"] {
        assert!(matches!(client.query(text), Answer::Error(0x2000 | 0x2200, _)), "{text}");
    }
}

/// More kinds of statements than are told apart: the rest is counted together, and the list can still be read.
#[test]
fn too_many_kinds_of_statements_are_listed_together() {
    let bench = Bench::start(|config| config.shards = 1);
    let mut client = ready(&bench);
    for limit in 1..=1100 {
        client.query(&format!("SELECT c FROM k.t WHERE a = 1 AND b > 0 LIMIT {limit}"));
    }
    let others = "SELECT calls FROM system_views.unmatched_statements WHERE keyspace_name = '(others)'";
    assert_eq!(client.query(others), Answer::Rows(1));
    assert_eq!(client.query("SELECT count(*) FROM system_views.unmatched_statements"), Answer::Rows(1));
}
