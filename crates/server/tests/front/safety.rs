//! Read-only unless told otherwise, what only the embedded engine has, and logins.

use crate::bench::{Bench, Talk};
use crate::fake::{Asked, Fake};
use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Consistency, ErrorKind, Opcode, QueryParams, Request, Values,
    Version,
};
use server::config::{Auth, Login};

#[test]
fn nothing_that_changes_anything_passes_a_read_only_front_end() {
    let node = Fake::start(0);
    let bench = Bench::start(&[&node], |_, _| {});
    let mut client = bench.client();
    let refused = [
        "INSERT INTO t (k) VALUES (1)",
        "/* SELECT */ UPDATE t SET v = 1 WHERE k = 1",
        "DELETE FROM t WHERE k = 1",
        "BEGIN BATCH INSERT INTO t (k) VALUES (1) APPLY BATCH",
        "TRUNCATE t",
        "CREATE TABLE t (k int PRIMARY KEY)",
        "DROP KEYSPACE ks",
        "GRANT ALL ON ALL KEYSPACES TO me",
        "ALTER ROLE me WITH SUPERUSER = true",
        "something nobody knows yet",
        "",
    ];
    for text in refused {
        for answer in [client.query(text), client.ask(&Request::Prepare { query: text, keyspace: None })] {
            let error = answer.error();
            assert_eq!(error.kind, ErrorKind::Unauthorized, "{text}");
            assert!(error.message.contains("--cluster-writes"), "{}", error.message);
        }
    }
    let mut list = BatchList::new();
    list.push(BatchQuery::Text("INSERT INTO t (k) VALUES (1)"), Values::EMPTY);
    let params = QueryParams::new(Consistency::One);
    let batch = Batch { batch_type: BatchType::Logged, statements: list.as_statements(), params };
    assert_eq!(client.ask(&Request::Batch(batch)).error().kind, ErrorKind::Unauthorized);
    assert_eq!(node.asked(), [], "the node has heard of none of them");
    assert_eq!(client.query("SELECT * FROM t").opcode, Opcode::Result);
    let id = client.prepare("SELECT v FROM t");
    assert!(client.execute(&id).is_void());
    assert_eq!(node.asked().len(), 3);
    assert_eq!(bench.metric("refused_total"), 2 * refused.len() as u64 + 1);
}

#[test]
fn a_statement_that_was_prepared_where_writes_pass_does_not_pass_elsewhere() {
    let node = Fake::start(0);
    let (open, closed) = (Bench::before(&[&node]), Bench::start(&[&node], |_, _| {}));
    let id = open.client().prepare("INSERT one");
    let error = closed.client().execute(&id).error();
    assert!(matches!(error.kind, ErrorKind::Unprepared { .. }), "{error:?}");
    assert!(!node.asked().contains(&Asked::Execute("INSERT one".into())));
}

#[test]
fn what_only_the_embedded_engine_has_is_refused_with_the_reason() {
    let node = Fake::start(0);
    let bench = Bench::before(&[&node]);
    let mut client = bench.client();
    for text in [
        "EXPLAIN SELECT * FROM t",
        "CREATE ACCESS PATTERN p ON t AS SELECT * FROM t",
        "CHECK PROJECTION p",
        "SELECT * FROM system_views.hot_partitions",
    ] {
        let error = client.query(text).error();
        assert_eq!(error.kind, ErrorKind::Invalid, "{text}");
        assert!(error.message.contains("front end of a cluster"), "{}", error.message);
    }
    assert_eq!(node.asked(), []);
}

#[test]
fn a_front_end_logs_in_with_its_account_and_says_so_when_it_has_none() {
    let node = Fake::start(0);
    node.role("service", "secret");
    let refused = Bench::at(&[node.address], |_, _| {}).err().unwrap().to_string();
    assert!(refused.contains("--cluster-user"), "{refused}");
    let login = |password: &[u8]| Some(Login { user: "service".into(), password: password.to_vec() });
    let wrong = Bench::at(&[node.address], |_, cluster| cluster.login = login(b"wrong")).err().unwrap();
    assert!(wrong.to_string().contains("incorrect") && !wrong.to_string().contains("wrong "), "{wrong}");
    let bench = Bench::at(&[node.address], |_, cluster| cluster.login = login(b"secret")).unwrap();
    bench.client().query("SELECT 1");
    assert_eq!(node.users(), [Some("service".to_string())].into());
}

#[test]
fn with_logins_a_client_is_on_the_cluster_who_it_is_here() {
    let node = Fake::start(0);
    node.role("service", "secret");
    node.role("ann", "a");
    let bench = Bench::start(&[&node], |config, cluster| {
        config.auth = Auth::Password;
        cluster.login = Some(Login { user: "service".into(), password: b"secret".to_vec() });
    });
    for version in [Version::V4, Version::V5] {
        let mut client = Talk::open(bench.address, version);
        assert_eq!(client.startup().opcode, Opcode::Authenticate);
        let error = client.log_in("ann", "guess").error();
        assert_eq!(error.kind, ErrorKind::BadCredentials);
        let error = client.query("SELECT 1").error();
        assert_eq!(error.kind, ErrorKind::Protocol, "nothing before the login");
        assert_eq!(client.log_in("ann", "a").opcode, Opcode::AuthSuccess);
        assert_eq!(client.query("SELECT 1").opcode, Opcode::Result);
    }
    assert_eq!(
        node.users(),
        [Some("ann".to_string())].into(),
        "requests go as the client, never as the account"
    );
    // A connection of ann's is open already; that is no way in for somebody else.
    let mut client = Talk::open(bench.address, Version::V5);
    client.startup();
    assert_eq!(client.log_in("ann", "guess").error().kind, ErrorKind::BadCredentials);
    assert_eq!(client.log_in("ann", "").error().kind, ErrorKind::BadCredentials);
}

#[test]
fn a_cluster_that_is_not_there_is_told_at_the_start() {
    let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let error = Bench::at(&[nobody], |_, _| {}).err().unwrap().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
}
