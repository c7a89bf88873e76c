//! Roles and permissions end to end on the naive store, against what a Cassandra 5.0.6 answered.
//!
//! The scenarios in `roles/` were recorded by `roles/record` from a real server with authentication; the same script
//! compares them with a running Partita.

mod harness;

use harness::{Bench, show_rows};
use query::QueryError;

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
        Err(QueryError::Unauthorized(text)) => return vec![format!("unauthorized: {text}")],
        Err(QueryError::Invalid(text)) => return vec![format!("invalid: {text}")],
        Err(QueryError::Syntax(_)) => return vec!["syntax".into()],
        Err(QueryError::AlreadyExists { keyspace, table, .. }) => {
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
