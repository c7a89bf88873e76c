//! Roles and permissions end to end on the naive store, against what a Cassandra 5.0.6 answered.
//!
//! The scenarios in `roles/` were recorded by `roles/record` from a real server with authentication; the same script
//! compares them with a running Partita.

mod harness;

use cql::CqlError;
use harness::{Bench, show_rows};

/// A bench with the default superuser logged in.
fn bench() -> Bench {
    let mut bench = Bench::bare();
    let text =
        "INSERT INTO system_auth.roles (role, can_login, is_superuser) VALUES ('cassandra', true, true)";
    bench.run(text).unwrap();
    bench.log_in(Some("cassandra"));
    bench
}

/// The answer as the scenarios show it.
fn answer(bench: &mut Bench, statement: &str) -> Vec<String> {
    let answer = match bench.answer(statement) {
        Ok(answer) => answer,
        Err(CqlError::Unauthorized(text)) => return vec![format!("unauthorized: {text}")],
        Err(CqlError::Invalid(text)) => return vec![format!("invalid: {text}")],
        Err(CqlError::Syntax(_)) => return vec!["syntax".into()],
        Err(CqlError::AlreadyExists { keyspace, table, .. }) => {
            return vec![format!("exists: {keyspace} {table}")];
        }
        Err(other) => return vec![format!("{other:?}")],
    };
    let mut lines = Vec::new();
    if let cql::session::Response::Rows(rows) = &answer.response {
        if statement.starts_with("LIST") {
            let columns = rows.columns.iter().map(|c| format!("{} {}", c.name, c.data_type));
            lines.push(columns.collect::<Vec<_>>().join(", "));
        }
        lines.extend(show_rows(rows));
    }
    lines.extend(answer.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines
}

/// Runs a scenario and compares every answer.
fn check(scenario: &str) {
    let mut bench = bench();
    let mut lines =
        scenario.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#')).peekable();
    let mut role = "cassandra";
    let mut wrong = Vec::new();
    while let Some((number, line)) = lines.next() {
        if let Some(name) = line.strip_prefix('@') {
            role = name;
            bench.log_in(Some(name));
            continue;
        }
        let mut expected = Vec::new();
        while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("  ")) {
            expected.push(line[2..].to_string());
        }
        let answered = answer(&mut bench, line);
        if answered != expected {
            wrong.push(format!(
                "line {}: @{role} {line}\n expected {expected:#?}\n answered {answered:#?}",
                number + 1
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn roles_and_users() {
    check(include_str!("roles/roles.txt"));
}

#[test]
fn members() {
    check(include_str!("roles/members.txt"));
}

#[test]
fn permissions() {
    check(include_str!("roles/permissions.txt"));
}

#[test]
fn enforcement() {
    check(include_str!("roles/enforcement.txt"));
}

#[test]
fn creators_and_drops() {
    check(include_str!("roles/creators.txt"));
}

#[test]
fn who_may_alter_a_table_may_index_it() {
    check(include_str!("roles/indexes.txt"));
}

#[test]
fn a_view_is_protected_by_the_permissions_of_its_table() {
    check(include_str!("roles/views.txt"));
}

/// Where the recorded server leaves rows behind that nothing reads.
#[test]
fn a_dropped_role_leaves_nothing_behind() {
    let mut bench = bench();
    let script = [
        "CREATE ROLE parent",
        "CREATE ROLE middle",
        "CREATE ROLE child",
        "GRANT parent TO middle",
        "GRANT middle TO child",
        "GRANT SELECT ON ALL KEYSPACES TO middle",
        "GRANT ALTER ON ROLE middle TO child",
        "ADD IDENTITY 'card' TO ROLE 'middle'",
        "DROP ROLE middle",
    ];
    for statement in script {
        assert_eq!(answer(&mut bench, statement), Vec::<String>::new(), "{statement}");
    }
    assert_eq!(answer(&mut bench, "SELECT * FROM system_auth.role_members"), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "SELECT * FROM system_auth.identity_to_role"), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "SELECT role FROM system_auth.role_permissions"), ["'cassandra'"; 2]);
    let index = answer(&mut bench, "SELECT * FROM system_auth.resource_role_permissons_index");
    assert_eq!(index, ["'roles/parent' | 'cassandra'", "'roles/child' | 'cassandra'"]);
    let members = answer(&mut bench, "SELECT role, member_of FROM system_auth.roles WHERE role = 'child'");
    assert_eq!(members, ["'child' | null"]);
}

#[test]
fn many_permissions_go_with_their_role() {
    let mut bench = bench();
    bench.run("CREATE ROLE rich").unwrap();
    for number in 0..150 {
        bench.run(&format!("CREATE ROLE r{number}")).unwrap();
        bench.run(&format!("GRANT ALTER ON ROLE r{number} TO rich")).unwrap();
    }
    bench.run("DROP ROLE rich").unwrap();
    bench.run("CREATE ROLE rich").unwrap();
    assert_eq!(answer(&mut bench, "LIST ALL OF rich"), Vec::<String>::new());
}

#[test]
fn without_a_login_everything_is_allowed_but_roles() {
    let mut bench = bench();
    bench.log_in(None);
    bench
        .run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .unwrap();
    bench.run("CREATE TABLE ks.t (k int PRIMARY KEY)").unwrap();
    bench.run("INSERT INTO ks.t (k) VALUES (1)").unwrap();
    // Answers of a Cassandra 5.0.6 without authentication.
    let nobody = "unauthorized: You have to be logged in and not anonymous to perform this request";
    let no_passwords = "invalid: org.apache.cassandra.auth.CassandraRoleManager doesn't support PASSWORD";
    let statements = [
        ("CREATE ROLE r", nobody),
        ("CREATE USER u", nobody),
        ("CREATE ROLE ''", "invalid: Role name can't be an empty string"),
        ("CREATE ROLE r WITH PASSWORD = 'x'", no_passwords),
        (
            "CREATE ROLE r WITH SUPERUSER = true",
            "unauthorized: Only superusers can create a role with superuser status",
        ),
        ("CREATE ROLE IF NOT EXISTS cassandra", nobody),
        ("ALTER ROLE cassandra", "invalid: ALTER [ROLE|USER] can't be empty"),
        ("ALTER ROLE cassandra WITH PASSWORD = 'x'", no_passwords),
        (
            "ALTER ROLE cassandra WITH SUPERUSER = false",
            "unauthorized: Only superusers are allowed to alter superuser status",
        ),
        ("ALTER ROLE cassandra WITH LOGIN = true", nobody),
        ("DROP ROLE cassandra", "unauthorized: Only superusers can drop a role with superuser status"),
        ("DROP ROLE absent", nobody),
        ("GRANT a TO b", nobody),
        ("REVOKE a FROM b", nobody),
        ("GRANT SELECT ON ks.t TO cassandra", nobody),
        ("GRANT MODIFY ON KEYSPACE system TO cassandra", nobody),
        ("REVOKE SELECT ON ks.t FROM cassandra", nobody),
        ("LIST ROLES", nobody),
        ("LIST ROLES OF a", nobody),
        ("LIST USERS", nobody),
        ("LIST ALL PERMISSIONS", nobody),
        ("LIST ALL ON ks.absent", nobody),
        ("ADD IDENTITY 'x' TO ROLE 'cassandra'", nobody),
        ("DROP IDENTITY 'x'", nobody),
    ];
    for (statement, expected) in statements {
        assert_eq!(answer(&mut bench, statement), [expected], "{statement}");
    }
    // What was created without a login belongs to nobody.
    bench.log_in(Some("cassandra"));
    assert_eq!(answer(&mut bench, "LIST ALL ON ks.t"), Vec::<String>::new());
}

#[test]
fn superusers_are_listed() {
    let mut bench = bench();
    for statement in [
        "CREATE ROLE admin WITH SUPERUSER = true",
        "CREATE ROLE bob",
        "CREATE ROLE eve",
        "GRANT admin TO bob",
    ] {
        bench.run(statement).unwrap();
    }
    assert_eq!(answer(&mut bench, "LIST SUPERUSERS"), ["role text", "'admin'", "'bob'", "'cassandra'"]);
}

/// Changes by statements are seen at once, changes by writing to the tables within two seconds.
#[test]
fn permissions_are_kept_for_a_moment() {
    let mut bench = bench();
    bench
        .run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .unwrap();
    bench.run("CREATE TABLE ks.t (k int PRIMARY KEY)").unwrap();
    bench.run("CREATE ROLE bob").unwrap();
    let refused = ["unauthorized: User bob has no SELECT permission on <table ks.t> or any of its parents"];
    bench.log_in(Some("bob"));
    assert_eq!(answer(&mut bench, "SELECT * FROM ks.t"), refused);
    bench.log_in(None);
    let text = "UPDATE system_auth.role_permissions SET permissions = {'SELECT'} \
                WHERE role = 'bob' AND resource = 'data/ks'";
    bench.run(text).unwrap();
    bench.log_in(Some("bob"));
    assert_eq!(answer(&mut bench, "SELECT * FROM ks.t"), refused);
    bench.pass_seconds(3);
    assert_eq!(answer(&mut bench, "SELECT * FROM ks.t"), Vec::<String>::new());
    bench.log_in(Some("cassandra"));
    bench.run("REVOKE SELECT ON KEYSPACE ks FROM bob").unwrap();
    bench.log_in(Some("bob"));
    assert_eq!(answer(&mut bench, "SELECT * FROM ks.t"), refused);
}

/// A crash between a drop and the removal of its permissions leaves them to the next of that name; it must not get them.
#[test]
fn permissions_do_not_outlive_what_they_are_about() {
    let mut bench = bench();
    bench.run("CREATE ROLE bob").unwrap();
    bench.log_in(None);
    for (resource, index) in
        [("data/ks", "data/ks"), ("data/ks/t", "data/ks/t"), ("functions/ks", "functions/ks")]
    {
        bench
            .run(&format!(
                "UPDATE system_auth.role_permissions SET permissions = {{'SELECT'}} WHERE role = 'bob' AND resource = '{resource}'"
            ))
            .unwrap();
        bench
            .run(&format!(
                "INSERT INTO system_auth.resource_role_permissons_index (resource, role) VALUES ('{index}', 'bob')"
            ))
            .unwrap();
    }
    bench.log_in(Some("cassandra"));
    bench
        .run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .unwrap();
    bench.run("CREATE TABLE ks.t (k int PRIMARY KEY)").unwrap();
    assert_eq!(answer(&mut bench, "LIST ALL OF bob"), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "LIST SELECT ON ks.t OF cassandra").len(), 3);
}

/// It used to be refused by the second table that is written, and exist all the same.
#[test]
fn a_role_name_that_is_too_long_leaves_nothing_behind() {
    let mut bench = bench();
    let name = "x".repeat(60_000);
    let refused = "invalid: A role name may have at most 255 bytes, this one has 60000";
    assert_eq!(answer(&mut bench, &format!("CREATE ROLE \"{name}\"")), [refused]);
    assert_eq!(answer(&mut bench, "LIST ROLES").len(), 2);
    assert_eq!(answer(&mut bench, &format!("CREATE ROLE \"{}\"", &name[..255])), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "LIST ROLES").len(), 3);
}

/// Conditional statements read: what they show is masked, and what they ask needs the right to ask. Cassandra 5.0.6 shows
/// clear values to everybody here (conformance/roles/masking.txt).
#[test]
fn conditional_statements_keep_masks() {
    let mut bench = bench();
    for statement in [
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TYPE ks.u (f int, g int)",
        "CREATE TABLE ks.t (k int, c int, s int STATIC MASKED WITH DEFAULT, v text MASKED WITH mask_inner(1, 1), w int, \
         m map<text, int> MASKED WITH mask_null(), l list<int> MASKED WITH mask_null(), u ks.u MASKED WITH mask_null(), \
         PRIMARY KEY (k, c))",
        "CREATE TABLE ks.key (k int MASKED WITH DEFAULT, c text MASKED WITH DEFAULT, w int, PRIMARY KEY (k, c))",
        "INSERT INTO ks.t (k, c, s, v, w, m, l, u) VALUES (1, 1, 7, 'secret', 1, {'a': 1}, [1], {f: 1, g: 2})",
        "INSERT INTO ks.key (k, c, w) VALUES (1, 'one', 1)",
        "CREATE ROLE plain",
        "CREATE ROLE ask",
        "CREATE ROLE clear",
    ] {
        bench.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    for role in ["plain", "ask", "clear"] {
        bench.run(&format!("GRANT SELECT ON KEYSPACE ks TO {role}")).unwrap();
        bench.run(&format!("GRANT MODIFY ON KEYSPACE ks TO {role}")).unwrap();
    }
    bench.run("GRANT SELECT_MASKED ON KEYSPACE ks TO ask").unwrap();
    bench.run("GRANT UNMASK ON KEYSPACE ks TO clear").unwrap();
    let asks = [
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF v = 'guess'", "v"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF v > 'a' AND w = 9", "v"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF v IN ('x', 'y')", "v"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF s = 1", "s"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF m['a'] = 9", "m"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF l[0] = 9", "l"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF u.f = 9", "u"),
        ("UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF m CONTAINS 9", "m"),
        ("DELETE FROM ks.t WHERE k = 1 AND c = 1 IF v = 'guess'", "v"),
        ("DELETE w FROM ks.t WHERE k = 1 AND c = 1 IF v = 'guess'", "v"),
        (
            "BEGIN BATCH UPDATE ks.t SET w = 2 WHERE k = 1 AND c = 1 IF v = 'guess'; \
          INSERT INTO ks.t (k, c) VALUES (1, 2) APPLY BATCH",
            "v",
        ),
    ];
    for (statement, column) in asks {
        bench.log_in(Some("plain"));
        let refused = format!(
            "unauthorized: User plain has no UNMASK nor SELECT_MASKED permission on table ks.t, cannot query masked columns [{column}]"
        );
        assert_eq!(answer(&mut bench, statement), [refused], "{statement}");
        bench.log_in(Some("ask"));
        let shown = answer(&mut bench, statement).concat();
        assert!(
            shown.starts_with("false") && !shown.contains("secret") && !shown.contains("{'a'"),
            "{statement}: {shown}"
        );
        bench.log_in(Some("clear"));
        let shown = answer(&mut bench, statement).concat();
        assert!(shown.starts_with("false"), "{statement}: {shown}");
    }
    let insert = "INSERT INTO ks.t (k, c, w) VALUES (1, 1, 5) IF NOT EXISTS";
    for (role, row) in [
        ("plain", "false | 1 | 1 | null | null | null | null | 's****t' | 1"),
        ("ask", "false | 1 | 1 | null | null | null | null | 's****t' | 1"),
        ("clear", "false | 1 | 1 | null | [1] | {'a': 1} | {f: 1, g: 2} | 'secret' | 1"),
    ] {
        bench.log_in(Some(role));
        let shown = answer(&mut bench, insert);
        // A mask may hide that a static column was not read: zero instead of null.
        assert_eq!(shown.concat().replace("| 0 |", "| null |"), row, "{role}");
        let batch = format!("BEGIN BATCH {insert} APPLY BATCH");
        assert_eq!(answer(&mut bench, &batch), shown, "{role}");
        let json = r#"INSERT INTO ks.t JSON '{"k": 1, "c": 1}' IF NOT EXISTS"#;
        assert_eq!(answer(&mut bench, json).concat().contains("secret"), role == "clear");
    }
    bench.log_in(Some("plain"));
    for statement in [
        "INSERT INTO ks.key (k, c, w) VALUES (1, 'one', 5) IF NOT EXISTS",
        "UPDATE ks.key SET w = 2 WHERE k = 1 AND c = 'one' IF w = 9",
        "UPDATE ks.key SET w = 2 WHERE k = 1 AND c = 'one' IF EXISTS",
    ] {
        let refused = "cannot query masked columns [k, c]";
        assert!(answer(&mut bench, statement).concat().contains(refused), "{statement}");
    }
    bench.log_in(Some("ask"));
    let shown = answer(&mut bench, "INSERT INTO ks.key (k, c, w) VALUES (1, 'one', 5) IF NOT EXISTS");
    assert_eq!(shown, ["false | 0 | '****' | 1"]);
    // What asks nothing about masked columns is as before.
    bench.log_in(Some("plain"));
    assert_eq!(answer(&mut bench, "UPDATE ks.t SET w = 3 WHERE k = 1 AND c = 1 IF w = 9"), ["false | 1"]);
    assert_eq!(answer(&mut bench, "UPDATE ks.t SET w = 3 WHERE k = 1 AND c = 1 IF w = 1"), ["true"]);
}

/// Views are their base under another key: they have its masks, also those that come later.
#[test]
fn views_keep_masks() {
    let mut bench = bench();
    for statement in [
        "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE ks.t (k int PRIMARY KEY, a text MASKED WITH DEFAULT, b text, v vector<float, 2> MASKED WITH mask_null())",
        "CREATE MATERIALIZED VIEW ks.by_a AS SELECT * FROM ks.t WHERE a IS NOT NULL AND k IS NOT NULL PRIMARY KEY (a, k)",
        "INSERT INTO ks.t (k, a, b, v) VALUES (1, 'secret', 'later', [1, 2])",
        "CREATE ROLE plain",
        "GRANT SELECT ON KEYSPACE ks TO plain",
    ] {
        bench.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    bench.log_in(Some("plain"));
    assert_eq!(answer(&mut bench, "SELECT a, k, b FROM ks.by_a"), ["'****' | 1 | 'later'"]);
    let asked = answer(&mut bench, "SELECT k FROM ks.by_a WHERE a = 'secret'").concat();
    assert!(asked.contains("cannot query masked columns [a]"), "{asked}");
    bench.log_in(Some("cassandra"));
    bench.run("ALTER TABLE ks.t ALTER b MASKED WITH DEFAULT").unwrap();
    bench.log_in(Some("plain"));
    assert_eq!(answer(&mut bench, "SELECT a, k, b FROM ks.by_a"), ["'****' | 1 | '****'"]);
    // The order by similarity is a question about every value.
    let near = answer(&mut bench, "SELECT k FROM ks.t ORDER BY v ANN OF [1, 2] LIMIT 1").concat();
    assert!(near.contains("cannot query masked columns [v]"), "{near}");
}

/// Ours: who may read a projection need not be allowed to read its table. A materialized view keeps Cassandra's rule.
#[test]
fn reading_can_be_granted_on_a_projection_alone() {
    let mut bench = bench();
    for statement in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.t (id int PRIMARY KEY, owner text, secret text)",
        "CREATE PROJECTION k.p ON k.t AS SELECT id PRIMARY KEY (owner, id) WITH wait = true",
        "CREATE MATERIALIZED VIEW k.v AS SELECT id, owner FROM k.t WHERE owner IS NOT NULL AND id IS NOT NULL PRIMARY KEY (owner, id)",
        "INSERT INTO k.t (id, owner, secret) VALUES (1, 'a', 's')",
        "CREATE ROLE ann WITH PASSWORD = 'x' AND LOGIN = true",
        "GRANT SELECT ON k.p TO ann",
        "GRANT SELECT ON k.v TO ann",
    ] {
        bench.run(statement).unwrap();
    }
    let refused = |bench: &mut Bench, statement: &str| {
        let told = answer(bench, statement).concat();
        assert!(told.starts_with("unauthorized"), "{statement}: {told}");
        told
    };
    bench.log_in(Some("ann"));
    assert_eq!(answer(&mut bench, "SELECT id FROM k.p WHERE owner = 'a'").len(), 1);
    for statement in [
        "SELECT * FROM k.t",
        "SELECT * FROM k.v",
        "UPDATE k.t SET owner = 'b' WHERE id = 1",
        "DROP PROJECTION k.p",
        "CHECK PROJECTION k.p",
    ] {
        assert!(refused(&mut bench, statement).contains("k.t"), "{statement}");
    }
    // The permission goes with the projection, and does not come back with another of its name.
    bench.log_in(Some("cassandra"));
    bench.run("DROP PROJECTION k.p").unwrap();
    bench
        .run("CREATE PROJECTION k.p ON k.t AS SELECT secret PRIMARY KEY (owner, id) WITH wait = true")
        .unwrap();
    bench.log_in(Some("ann"));
    refused(&mut bench, "SELECT secret FROM k.p WHERE owner = 'a'");
}

/// Calling what somebody made needs EXECUTE, of an aggregate on its functions as well.
#[test]
fn calls_need_execute() {
    let mut bench = Bench::running_functions();
    for statement in [
        "INSERT INTO system_auth.roles (role, can_login, is_superuser) VALUES ('cassandra', true, true)",
        "CREATE TABLE t (k int PRIMARY KEY, v int)",
        "INSERT INTO t (k, v) VALUES (1, 20)",
        "CREATE FUNCTION half (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a // 2'",
        "CREATE FUNCTION plus (s int, a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return s + a'",
        "CREATE AGGREGATE total (int) SFUNC plus STYPE int INITCOND 0",
    ] {
        bench.run(statement).unwrap();
    }
    bench.log_in(Some("cassandra"));
    assert_eq!(answer(&mut bench, "CREATE ROLE r WITH LOGIN = true"), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "GRANT SELECT ON ks.t TO r"), Vec::<String>::new());
    assert_eq!(answer(&mut bench, "GRANT MODIFY ON ks.t TO r"), Vec::<String>::new());
    let as_role = |bench: &mut Bench, statement: &str| {
        bench.log_in(Some("r"));
        let shown = answer(bench, statement);
        bench.log_in(Some("cassandra"));
        shown
    };
    let refused = |what: &str| {
        vec![format!(
            "unauthorized: User r has no EXECUTE permission on <function ks.{what}> or any of its parents"
        )]
    };
    for statement in [
        "SELECT half(v) FROM t",
        "SELECT k FROM t WHERE k = half(2)",
        "INSERT INTO t (k, v) VALUES (2, half(4))",
        "BEGIN BATCH UPDATE t SET v = half(2) WHERE k = 3 APPLY BATCH",
    ] {
        assert_eq!(as_role(&mut bench, statement), refused("half(int)"), "{statement}");
    }
    answer(&mut bench, "GRANT EXECUTE ON FUNCTION ks.half(int) TO r");
    assert_eq!(as_role(&mut bench, "SELECT half(v) FROM t"), ["10"]);
    assert_eq!(as_role(&mut bench, "SELECT total(v) FROM t WHERE k = 1"), refused("total(int)"));
    answer(&mut bench, "GRANT EXECUTE ON FUNCTION ks.total(int) TO r");
    assert_eq!(as_role(&mut bench, "SELECT total(v) FROM t WHERE k = 1"), refused("plus(int, int)"));
    answer(&mut bench, "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks TO r");
    assert_eq!(as_role(&mut bench, "SELECT total(half(v)) FROM t WHERE k = 1"), ["10"]);
    answer(&mut bench, "REVOKE EXECUTE ON ALL FUNCTIONS IN KEYSPACE ks FROM r");
    answer(&mut bench, "REVOKE EXECUTE ON FUNCTION ks.half(int) FROM r");
    assert_eq!(as_role(&mut bench, "SELECT half(v) FROM t"), refused("half(int)"));
}

/// The server makes a password, stores its hash, and tells it once.
#[test]
fn passwords_are_generated() {
    let mut bench = bench();
    let made = ["'ABCDEFGHIJKLMNOPQRSTUVWX'"];
    assert_eq!(answer(&mut bench, "CREATE ROLE r WITH GENERATED PASSWORD AND LOGIN = true"), made);
    let stored = "SELECT role, can_login, salted_hash FROM system_auth.roles WHERE role = 'r'";
    assert_eq!(answer(&mut bench, stored), ["'r' | true | 'ABCDEFGHIJKLMNOPQRSTUVWX'"]);
    assert_eq!(
        answer(&mut bench, "CREATE ROLE IF NOT EXISTS r WITH GENERATED PASSWORD"),
        Vec::<String>::new()
    );
    assert_eq!(
        answer(&mut bench, "CREATE ROLE q WITH PASSWORD = 'x' AND LOGIN = true"),
        Vec::<String>::new()
    );
    assert_eq!(answer(&mut bench, "ALTER ROLE q WITH GENERATED PASSWORD"), made);
    assert_eq!(
        answer(&mut bench, "ALTER ROLE IF EXISTS nobody WITH GENERATED PASSWORD"),
        Vec::<String>::new()
    );
    assert_eq!(answer(&mut bench, "CREATE USER u WITH GENERATED PASSWORD"), made);
    assert_eq!(answer(&mut bench, "CREATE ROLE w WITH GENERATED PASSWORD AND PASSWORD = 'x'"), ["syntax"]);
    bench.log_in(Some("q"));
    assert_eq!(answer(&mut bench, "ALTER ROLE q WITH GENERATED PASSWORD"), made);
    assert!(answer(&mut bench, "ALTER ROLE u WITH GENERATED PASSWORD")[0].starts_with("unauthorized"));
}
