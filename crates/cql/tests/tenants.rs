//! Tenants: what a bound role may do, and a generator of statements that tries to reach another tenant's rows in every form.
//!
//! Rows of the tenant `beta` hold the word `beta` or numbers above a million in every column, so whatever of them gets out is seen.

mod harness;

use cql::CqlError;
use cql::session::Response;
use harness::{Bench, show_rows};

const SCHEMA: &[&str] = &[
    "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND tenant = 'tenant_id'",
    "CREATE TABLE app.orders (tenant_id text, customer text, id int, note text, status text, total bigint, team text static, tags set<text>, \
     PRIMARY KEY ((tenant_id, customer), id))",
    "CREATE INDEX by_status ON app.orders (status)",
    "CREATE INDEX by_tag ON app.orders (values(tags))",
    "CREATE CUSTOM INDEX by_total ON app.orders (total) USING 'StorageAttachedIndex'",
    "CREATE MATERIALIZED VIEW app.orders_by_status AS SELECT tenant_id, customer, id, note, status, total FROM app.orders WHERE tenant_id IS NOT NULL AND customer IS NOT NULL \
     AND id IS NOT NULL AND status IS NOT NULL PRIMARY KEY (status, tenant_id, customer, id)",
    "CREATE MATERIALIZED VIEW app.orders_by_customer AS SELECT tenant_id, customer, id, note, status, total FROM app.orders WHERE tenant_id IS NOT NULL AND customer IS NOT NULL \
     AND id IS NOT NULL PRIMARY KEY ((customer, tenant_id), id)",
    "CREATE TABLE app.accounts (tenant_id text PRIMARY KEY, note text, total bigint)",
    "CREATE TABLE app.hits (tenant_id text, page text, n counter, PRIMARY KEY (tenant_id, page))",
    "CREATE TABLE app.events (tenant_id text, at timestamp, note text, total bigint, PRIMARY KEY (tenant_id, at)) \
     WITH bucketing = {'by': 'at', 'every': 'day'}",
];

/// The tenants and how many rows each has.
const TENANTS: [(&str, i64); 3] = [("acme", 3), ("beta", 40), ("gamma", 2)];

/// A bench with the schema and rows, a superuser, and the role `app`, which is bound to `acme`.
fn bench() -> Bench {
    let mut bench = Bench::bare();
    bench
        .run("INSERT INTO system_auth.roles (role, can_login, is_superuser) VALUES ('cassandra', true, true)")
        .unwrap();
    bench.log_in(Some("cassandra"));
    for statement in SCHEMA {
        bench.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    fill(&mut bench);
    for statement in [
        "CREATE ROLE tenant_acme",
        "CREATE ROLE app WITH LOGIN = true",
        "GRANT SELECT, MODIFY ON KEYSPACE app FOR TENANT 'acme' TO tenant_acme",
        "GRANT tenant_acme TO app",
        // What somebody forgot: it must open nothing.
        "GRANT ALL ON KEYSPACE app TO app",
        "GRANT SELECT ON KEYSPACE system_views TO app",
    ] {
        bench.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    bench
}

fn fill(bench: &mut Bench) {
    for (tenant, rows) in TENANTS {
        let large = if tenant == "acme" { 0 } else { 1_000_000 };
        for n in 0..rows {
            let total = large + n;
            for text in [
                format!(
                    "INSERT INTO app.orders (tenant_id, customer, id, note, status, total, team, tags) VALUES ('{tenant}', '{tenant}-c{}', {}, \
                     '{tenant}-note', 'open', {total}, '{tenant}-team', {{'x', '{tenant}-tag'}})",
                    n % 4,
                    large + n
                ),
                format!(
                    "INSERT INTO app.events (tenant_id, at, note, total) VALUES ('{tenant}', {}, '{tenant}-event', {total})",
                    1_690_000_000_000 + n * 40_000_000
                ),
                format!(
                    "UPDATE app.hits SET n = n + {} WHERE tenant_id = '{tenant}' AND page = '{tenant}-{n}'",
                    total + 1
                ),
            ] {
                bench.run(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
        let text = format!(
            "INSERT INTO app.accounts (tenant_id, note, total) VALUES ('{tenant}', '{tenant}-account', {large})"
        );
        bench.run(&text).unwrap();
    }
}

/// Everything that other tenants have, as the superuser sees it.
fn others(bench: &mut Bench) -> Vec<String> {
    bench.log_in(Some("cassandra"));
    let mut all = Vec::new();
    for table in ["orders", "accounts", "hits", "events", "orders_by_status", "orders_by_customer"] {
        let Response::Rows(rows) = bench.run(&format!("SELECT * FROM app.{table}")).unwrap() else {
            continue;
        };
        all.extend(show_rows(&rows).into_iter().filter(|row| is_of_others(row)));
    }
    bench.log_in(Some("app"));
    all
}

fn is_of_others(row: &str) -> bool {
    let long =
        |run: &str| run.len() >= 7 && run.parse::<i64>().is_ok_and(|n| (1_000_000..2_000_000).contains(&n));
    row.contains("beta") || row.contains("gamma") || row.split(|c: char| !c.is_ascii_digit()).any(long)
}

/// A small generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len())]
    }
}

const WHERES: &[&str] = &[
    "",
    "WHERE tenant_id = 'beta'",
    "WHERE tenant_id = 'acme'",
    "WHERE tenant_id = 'nobody'",
    "WHERE tenant_id IN ('acme', 'beta')",
    "WHERE tenant_id IN ('acme')",
    "WHERE tenant_id IN ()",
    "WHERE tenant_id = 'beta' AND customer = 'beta-c1'",
    "WHERE tenant_id = 'acme' AND customer = 'acme-c1'",
    "WHERE tenant_id IN ('beta', 'gamma') AND customer IN ('beta-c1', 'gamma-c1')",
    "WHERE (tenant_id) IN (('acme'), ('beta'))",
    "WHERE tenant_id > 'acme'",
    "WHERE tenant_id >= 'acme' AND tenant_id <= 'gamma'",
    "WHERE tenant_id != 'acme'",
    "WHERE tenant_id NOT IN ('acme')",
    "WHERE tenant_id = 'acme' AND tenant_id = 'beta'",
    "WHERE customer = 'beta-c1'",
    "WHERE customer = 'beta-c1' AND tenant_id = 'beta'",
    "WHERE customer = 'beta-c1' AND tenant_id = 'acme'",
    "WHERE token(tenant_id, customer) > -9223372036854775808",
    "WHERE token(tenant_id, customer) >= token('beta', 'beta-c1') AND token(tenant_id, customer) <= token('beta', 'beta-c1')",
    "WHERE token(tenant_id) > -9223372036854775808",
    "WHERE token(tenant_id) = token('beta')",
    "WHERE status = 'open'",
    "WHERE status = 'open' AND tenant_id = 'beta'",
    "WHERE status = 'open' AND tenant_id = 'acme'",
    "WHERE status = 'open' AND tenant_id IN ('acme', 'beta')",
    "WHERE status IN ('open', 'shut') AND tenant_id = 'beta' AND customer = 'beta-c1'",
    "WHERE status = 'open' AND (tenant_id, customer) = ('beta', 'beta-c1')",
    "WHERE status = 'open' AND (tenant_id, customer) > ('acme', 'a')",
    "WHERE status = 'open' AND (tenant_id, customer) IN (('acme', 'acme-c1'), ('beta', 'beta-c1'))",
    "WHERE tags CONTAINS 'x'",
    "WHERE tags CONTAINS 'beta-tag' AND tenant_id = 'beta'",
    "WHERE total > 5",
    "WHERE total >= 1000000 AND tenant_id = 'acme'",
    "WHERE note = 'beta-note'",
    "WHERE id = 1000001",
    "WHERE tenant_id = 'beta' AND at > 0",
    "WHERE tenant_id = 'acme' AND at > 0",
    "WHERE tenant_id = 'beta' AND at_day = '2023-07-22'",
    "WHERE tenant_id = 'beta' AND page > ''",
];

const SELECTED: &[&str] = &[
    "*",
    "JSON *",
    "JSON note, total",
    "count(*)",
    "sum(total)",
    "max(note)",
    "min(total), max(total)",
    "DISTINCT tenant_id, customer",
    "DISTINCT tenant_id",
    "tenant_id",
    "note, writetime(note)",
    "token(tenant_id, customer)",
    "n",
    "tenant_id, count(*)",
    "team",
    "tags, total",
    "CAST(total AS text)",
    "avg(total)",
];

const TABLES: &[&str] = &[
    "app.orders",
    "app.orders",
    "app.orders_by_status",
    "app.orders_by_customer",
    "app.accounts",
    "app.hits",
    "app.events",
];

const ENDS: &[&str] = &[
    "",
    "",
    "LIMIT 10",
    "ALLOW FILTERING",
    "ALLOW FILTERING",
    "PER PARTITION LIMIT 1",
    "LIMIT 3 ALLOW FILTERING",
    "ORDER BY id DESC",
    "GROUP BY tenant_id, customer",
    "GROUP BY tenant_id ALLOW FILTERING",
    "ORDER BY at DESC LIMIT 5",
    "ORDER BY total ANN OF [1] LIMIT 2",
];

/// What came out, as lines; errors have their text.
fn outcome(bench: &mut Bench, text: &str) -> (Vec<String>, bool) {
    match bench.run(text) {
        Ok(Response::Rows(rows)) => (show_rows(&rows), true),
        Ok(_) => (Vec::new(), true),
        Err(error) => (vec![error.to_string()], false),
    }
}

/// An error may repeat what the statement itself said, and nothing else.
fn leaks(statement: &str, lines: &[String], rows: bool) -> bool {
    lines.iter().any(|line| {
        if rows {
            // Of whom there are forty rows is `beta`.
            return is_of_others(line) || line.split(" | ").any(|cell| cell == "40");
        }
        let said = |word: &str| statement.contains(word);
        (line.contains("beta-") && !said("beta")) || line.contains("-note") && !said("-note")
    })
}

#[test]
fn no_select_reaches_another_tenant() {
    let mut bench = bench();
    let before = others(&mut bench);
    assert!(before.len() > 200, "{}", before.len());
    let (mut dice, mut answered, mut refused, mut invalid) = (Dice(17), 0, 0, 0);
    for _ in 0..10_000 {
        let explain = ["", "", "", "EXPLAIN ", "EXPLAIN ANALYZE "][dice.roll(5)];
        let text = format!(
            "{explain}SELECT {} FROM {} {} {}",
            dice.of(SELECTED),
            dice.of(TABLES),
            dice.of(WHERES),
            dice.of(ENDS)
        );
        let plain = explain.is_empty();
        match bench.run(&text) {
            Ok(Response::Rows(rows)) => {
                let lines = show_rows(&rows);
                answered += usize::from(!lines.is_empty());
                // EXPLAIN repeats the statement; what it counts is looked at below.
                assert!(!plain || !leaks(&text, &lines, true), "{text}\n{lines:#?}");
                if explain.contains("ANALYZE") {
                    let examined = lines.iter().find(|line| line.contains("rows examined")).cloned();
                    let own = |line: String| {
                        line.split(|c: char| !c.is_ascii_digit()).all(|n| n.parse().unwrap_or(0) <= 3)
                    };
                    assert!(examined.is_none_or(own), "{text}\n{lines:#?}");
                }
            }
            Ok(other) => panic!("{text}: {other:?}"),
            Err(CqlError::Unauthorized(error)) => {
                assert!(!leaks(&text, std::slice::from_ref(&error), false), "{text}\n{error}");
                refused += 1;
            }
            Err(error) => {
                assert!(!leaks(&text, &[error.to_string()], false), "{text}\n{error}");
                invalid += 1;
            }
        }
    }
    for scan in [
        "app.orders WHERE status = 'open' AND tenant_id = 'acme' ALLOW FILTERING",
        "app.orders_by_status WHERE status = 'open' AND tenant_id = 'acme'",
    ] {
        bench.run(&format!("SELECT note FROM {scan}")).unwrap();
        // How much it looked at is not only about its own tenant.
        let error = bench.run(&format!("EXPLAIN ANALYZE SELECT note FROM {scan}")).unwrap_err();
        assert!(matches!(error, CqlError::Unauthorized(_)), "{scan}: {error:?}");
    }
    println!("{answered} answered with rows, {refused} refused, {invalid} not valid");
    assert!(answered > 100 && refused > 1_000, "{answered} {refused} {invalid}");
}

const WRITES: &[&str] = &[
    "INSERT INTO app.orders (tenant_id, customer, id, note) VALUES ('{t}', '{t}-c1', {i}, 'mine')",
    "INSERT INTO app.orders JSON '{\"tenant_id\": \"{t}\", \"customer\": \"{t}-c1\", \"id\": {i}, \"note\": \"mine\"}'",
    "INSERT INTO app.orders (tenant_id, customer, id, note) VALUES ('{t}', '{t}-c1', {i}, 'mine') IF NOT EXISTS",
    "INSERT INTO app.orders JSON '{\"tenant_id\": \"{t}\", \"customer\": \"{t}-c1\", \"id\": {i}}' IF NOT EXISTS",
    "UPDATE app.orders SET note = 'mine' WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i}",
    "UPDATE app.orders SET note = 'mine' WHERE tenant_id IN ('acme', '{t}') AND customer = '{t}-c1' AND id = {i}",
    "UPDATE app.orders SET note = 'mine' WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i} IF EXISTS",
    "UPDATE app.orders SET note = 'mine' WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i} IF note = 'nothing'",
    "UPDATE app.orders SET team = 'mine' WHERE tenant_id = '{t}' AND customer = '{t}-c1'",
    "UPDATE app.orders SET team = 'mine' WHERE tenant_id = '{t}' AND customer = '{t}-c1' IF team = 'nothing'",
    "UPDATE app.orders SET tags = tags + {'mine'} WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i}",
    "DELETE FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i}",
    "DELETE FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1'",
    "DELETE FROM app.orders WHERE tenant_id IN ('acme', '{t}') AND customer = '{t}-c1'",
    "DELETE FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id > 0",
    "DELETE note FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i}",
    "DELETE FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i} IF EXISTS",
    "DELETE FROM app.orders WHERE tenant_id = '{t}' AND customer = '{t}-c1' AND id = {i} IF total = 5",
    "INSERT INTO app.accounts (tenant_id, note) VALUES ('{t}', 'mine')",
    "UPDATE app.accounts SET note = 'mine' WHERE tenant_id = '{t}'",
    "DELETE FROM app.accounts WHERE tenant_id = '{t}'",
    "UPDATE app.hits SET n = n + 1 WHERE tenant_id = '{t}' AND page = '{t}-1'",
    "DELETE FROM app.hits WHERE tenant_id = '{t}' AND page = '{t}-1'",
    "DELETE FROM app.hits WHERE tenant_id = '{t}'",
    "INSERT INTO app.events (tenant_id, at, note) VALUES ('{t}', 1690000000000, 'mine')",
    "UPDATE app.events SET note = 'mine' WHERE tenant_id = '{t}' AND at = 1690000000000",
    "DELETE FROM app.events WHERE tenant_id = '{t}' AND at = 1690000000000",
    "DELETE FROM app.events WHERE tenant_id = '{t}' AND at > 0",
    "DELETE FROM app.events WHERE tenant_id = '{t}'",
];

fn write(dice: &mut Dice, tenant: &str) -> String {
    let id = if tenant == "acme" { 1 } else { 1_000_001 };
    dice.of(WRITES).replace("{t}", tenant).replace("{i}", &id.to_string())
}

#[test]
fn no_write_reaches_another_tenant() {
    let mut bench = bench();
    let before = others(&mut bench);
    let (mut dice, mut done, mut refused) = (Dice(4), 0, 0);
    for round in 0..2_000 {
        let tenant = ["beta", "beta", "acme", "nobody"][dice.roll(4)];
        let text = match dice.roll(6) {
            0 => {
                let own = write(&mut dice, "acme");
                let other = write(&mut dice, tenant);
                format!("BEGIN {}BATCH {own}; {other}; APPLY BATCH", dice.of(&["", "UNLOGGED "]))
            }
            1 => format!(
                "BEGIN TRANSACTION LET found = (SELECT note, total FROM app.orders WHERE tenant_id = '{tenant}' AND customer = '{tenant}-c1' AND \
                 id = 1000001); SELECT found.note, found.total; COMMIT TRANSACTION"
            ),
            2 => format!(
                "BEGIN TRANSACTION LET found = (SELECT total FROM app.accounts WHERE tenant_id = 'acme'); {}; COMMIT TRANSACTION",
                write(&mut dice, tenant)
            ),
            3 => format!("EXPLAIN ANALYZE {}", write(&mut dice, tenant)),
            _ => write(&mut dice, tenant),
        };
        match bench.run(&text) {
            Ok(Response::Rows(rows)) if !text.starts_with("EXPLAIN") => {
                let lines = show_rows(&rows);
                assert!(!lines.iter().any(|line| is_of_others(line)), "{text}\n{lines:#?}");
                done += 1;
            }
            Ok(_) => done += 1,
            Err(CqlError::Unauthorized(error)) => {
                assert!(!error.contains("beta"), "{text}\n{error}");
                refused += 1;
            }
            Err(_) => {}
        }
        if round % 400 == 0 {
            let same = others(&mut bench) == before;
            assert!(same, "rows of others have changed by the time of {text}");
        }
    }
    for text in [
        "TRUNCATE app.orders",
        "DROP TABLE app.accounts",
        "ALTER TABLE app.accounts WITH tenant = ''",
        "ALTER KEYSPACE app WITH tenant = ''",
        "CREATE INDEX ON app.orders (note)",
        "GRANT SELECT ON KEYSPACE app TO app",
    ] {
        let error = bench.run(text).unwrap_err();
        assert!(matches!(error, CqlError::Unauthorized(_)), "{text}: {error:?}");
    }
    println!("{done} done, {refused} refused");
    assert!(done > 250 && refused > 500, "{done} {refused}");
    assert!(others(&mut bench) == before, "rows of others have changed");
}

/// Paging states that a superuser got, given to a bound role.
#[test]
fn paging_states_of_others_open_nothing() {
    let mut bench = bench();
    bench.log_in(Some("cassandra"));
    let mut states = Vec::new();
    for text in [
        "SELECT * FROM app.orders",
        "SELECT * FROM app.orders WHERE tenant_id IN ('acme', 'beta') AND customer IN ('beta-c0', 'beta-c1', 'acme-c1', 'acme-c2')",
        "SELECT * FROM app.orders WHERE status = 'open'",
        "SELECT * FROM app.orders_by_status WHERE status = 'open'",
        "SELECT * FROM app.orders WHERE tenant_id = 'beta' AND customer = 'beta-c1'",
        "SELECT tenant_id, customer, count(*) FROM app.orders GROUP BY tenant_id, customer",
        "SELECT * FROM app.events WHERE tenant_id = 'beta'",
    ] {
        let mut state: Option<Vec<u8>> = None;
        for _ in 0..6 {
            let (_, next) = bench.page(text, 3, state.as_deref());
            states.extend(next.clone());
            if next.is_none() {
                break;
            }
            state = next;
        }
    }
    assert!(states.len() > 20, "{}", states.len());
    bench.log_in(Some("app"));
    let (mut dice, mut pages) = (Dice(9), 0);
    for _ in 0..8_000 {
        let text = format!(
            "SELECT {} FROM {} {} {}",
            dice.of(SELECTED),
            dice.of(TABLES),
            dice.of(WHERES),
            dice.of(ENDS)
        );
        let state = &states[dice.roll(states.len())];
        if let Ok((lines, _)) = bench.try_page(&text, 1 + dice.roll(50) as u32, Some(state)) {
            pages += 1;
            assert!(!leaks(&text, &lines, true), "{text}\n{lines:#?}");
        }
    }
    assert!(pages > 40, "{pages}");
}

/// A statement that somebody else prepared, with values of one's own.
#[test]
fn prepared_statements_are_checked_with_the_values_of_each_call() {
    let mut bench = bench();
    let text = "SELECT note FROM app.orders WHERE tenant_id = ? AND customer = ?";
    bench.log_in(Some("cassandra"));
    assert_eq!(bench.run_with(text, &[Some(b"beta"), Some(b"beta-c1")]).len(), 10);
    bench.log_in(Some("app"));
    assert_eq!(bench.run_with(text, &[Some(b"acme"), Some(b"acme-c1")]).len(), 1);
    let there = bench.run_with(text, &[Some(b"beta"), Some(b"beta-c1")]);
    let not_there = bench.run_with(text, &[Some(b"zzz"), Some(b"none")]);
    assert_eq!(there, not_there, "what is there is told to nobody");
    assert!(there[0].contains("bound to tenants"), "{there:?}");
}

#[test]
fn grants_bind_and_revoking_frees() {
    let mut bench = bench();
    let run = |bench: &mut Bench, role: &str, text: &str| {
        bench.log_in(Some(role));
        let (lines, ok) = outcome(bench, text);
        (lines.join("\n"), ok)
    };
    let (listed, _) = run(&mut bench, "cassandra", "LIST ALL PERMISSIONS OF app");
    assert!(listed.contains("<keyspace app for tenant acme>"), "{listed}");
    let (listed, _) = run(&mut bench, "cassandra", "LIST ALL PERMISSIONS ON KEYSPACE app");
    assert!(listed.contains("<keyspace app for tenant acme>"), "{listed}");
    for wrong in [
        "GRANT SELECT ON KEYSPACE system FOR TENANT 'a' TO app",
        "GRANT ALTER ON KEYSPACE app FOR TENANT 'a' TO app",
        "GRANT SELECT ON ALL KEYSPACES FOR TENANT 'a' TO app",
        "GRANT SELECT ON ALL ROLES FOR TENANT 'a' TO app",
        "GRANT SELECT ON app.orders_by_status FOR TENANT 'a' TO app",
        "CREATE TABLE app.wrong (id int PRIMARY KEY)",
        "CREATE TABLE app.wrong (id int, tenant_id text, PRIMARY KEY (id, tenant_id))",
        "CREATE TABLE app.wrong (tenant_id text PRIMARY KEY) WITH tenant = 'other'",
        "CREATE TABLE app.wrong (tenant_id double PRIMARY KEY)",
        "ALTER TABLE app.orders RENAME tenant_id TO org",
        "ALTER KEYSPACE app WITH tenant = 'customer'",
        "ALTER KEYSPACE app WITH tenant = ''",
        "ALTER MATERIALIZED VIEW app.orders_by_status WITH tenant = 'status'",
        "ALTER TABLE app.orders WITH tenant_limits = {'rows_per_second': '1'}",
    ] {
        assert!(!run(&mut bench, "cassandra", wrong).1, "{wrong}");
    }
    assert!(run(&mut bench, "cassandra", "REVOKE ALL ON KEYSPACE app FROM app").1);
    assert!(run(&mut bench, "cassandra", "GRANT SELECT ON KEYSPACE app TO app").1);
    // One more tenant, for reading alone.
    assert!(run(&mut bench, "cassandra", "GRANT SELECT ON app.accounts FOR TENANT 'beta' TO app").1);
    assert!(run(&mut bench, "app", "SELECT note FROM app.accounts WHERE tenant_id IN ('acme', 'beta')").1);
    assert!(!run(&mut bench, "app", "UPDATE app.accounts SET note = 'x' WHERE tenant_id = 'beta'").1);
    assert!(
        !run(&mut bench, "app", "UPDATE app.accounts SET note = 'x' WHERE tenant_id = 'beta' IF note = 'y'")
            .1
    );
    assert!(
        !run(
            &mut bench,
            "app",
            "SELECT note FROM app.orders WHERE tenant_id = 'beta' AND customer = 'beta-c1'"
        )
        .1
    );
    assert!(run(&mut bench, "cassandra", "REVOKE SELECT ON app.accounts FOR TENANT 'beta' FROM app").1);
    assert!(!run(&mut bench, "app", "SELECT note FROM app.accounts WHERE tenant_id = 'beta'").1);
    // Without the role that binds it, what else was granted counts again.
    assert!(run(&mut bench, "cassandra", "REVOKE tenant_acme FROM app").1);
    assert!(run(&mut bench, "app", "SELECT note FROM app.accounts WHERE tenant_id = 'beta'").1);
    // What is dropped takes the permissions on it along.
    // A keyspace says which column: it must be of a type whose values have one form.
    let text = "CREATE TABLE app.brief (tenant_id int PRIMARY KEY) WITH tenant_limits = {'requests_per_second': '5'}";
    assert!(run(&mut bench, "cassandra", text).1, "{text}");
    assert!(run(&mut bench, "cassandra", "GRANT SELECT ON app.brief FOR TENANT 42 TO app").1);
    assert!(!run(&mut bench, "cassandra", "GRANT SELECT ON app.brief FOR TENANT 'x' TO app").1);
    assert!(run(&mut bench, "app", "SELECT * FROM app.brief WHERE tenant_id = 42").1);
    assert!(!run(&mut bench, "app", "SELECT * FROM app.brief WHERE tenant_id = 43").1);
    assert!(run(&mut bench, "cassandra", "DROP TABLE app.brief").1);
    let (listed, _) = run(&mut bench, "cassandra", "LIST ALL PERMISSIONS OF app");
    assert!(!listed.contains("brief"), "{listed}");
    let (text, _) = run(&mut bench, "cassandra", "DESCRIBE KEYSPACE app");
    assert!(text.contains("AND tenant = ''tenant_id''"), "{text}");
}

#[test]
fn use_is_counted_and_limited() {
    let mut bench = bench();
    bench.log_in(Some("cassandra"));
    bench
        .run("ALTER KEYSPACE app WITH tenant_limits = {'requests_per_second': '10', 'gamma.requests_per_second': 'unlimited'}")
        .unwrap();
    let read = |tenant: &str| format!("SELECT note FROM app.accounts WHERE tenant_id = '{tenant}'");
    bench.pass_seconds(60);
    let mut over = 0;
    for _ in 0..100 {
        match bench.run(&read("acme")) {
            Ok(_) => {}
            Err(CqlError::Overloaded(text)) => {
                assert!(text.contains("limit of 10 requests per second"), "{text}");
                over += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
        bench.run(&read("gamma")).unwrap();
    }
    assert!((85..=90).contains(&over), "{over}");
    bench.pass_seconds(2);
    bench.run(&read("acme")).unwrap();
    let (rows, _) = outcome(
        &mut bench,
        "SELECT tenant, requests, throttled FROM system_views.tenants WHERE keyspace_name = 'app'",
    );
    let acme = rows.iter().find(|row| row.contains("acme")).unwrap();
    assert!(acme.contains(&format!("{over}")), "{acme}");
    bench.log_in(Some("app"));
    let (rows, _) = outcome(&mut bench, "SELECT tenant FROM system_views.tenants");
    assert_eq!(rows, ["'acme'"], "a bound role sees its own");
    for closed in
        ["system_views.audit", "system_views.findings", "system_views.clients", "system_traces.sessions"]
    {
        let error = bench.run(&format!("SELECT * FROM {closed}")).unwrap_err();
        assert!(matches!(error, CqlError::Unauthorized(_)), "{closed}: {error:?}");
    }
}
