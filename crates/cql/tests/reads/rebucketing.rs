//! Changing the buckets of a table that has rows.

use crate::harness::{Bench, check, show_rows};
use cql::session::Response;

const PLAIN: &str =
    "CREATE TABLE e (k int, at timestamp, id int, v int, tags set<text>, PRIMARY KEY (k, at, id))";

fn rows(bench: &mut Bench, text: &str) -> Vec<String> {
    match bench.run(text).unwrap() {
        Response::Rows(rows) => show_rows(&rows),
        other => panic!("{other:?}"),
    }
}

/// Twenty rows in ten days, with timestamps, times to live, deletions and collections.
fn filled(ddl: &str) -> Bench {
    let mut bench = Bench::new(ddl);
    for n in 0..20 {
        let at = 1_700_000_000_000i64 + n / 2 * 86_400_000;
        let insert =
            format!("INSERT INTO e (k, at, id, v, tags) VALUES ({}, {at}, {n}, {n}, {{'a', 't{n}'}})", n % 2);
        let using = if n % 3 == 0 { " USING TIMESTAMP 5000 AND TTL 10000" } else { " USING TIMESTAMP 6000" };
        bench.run(&(insert + using)).unwrap();
    }
    bench
        .run("DELETE tags['a'] FROM e USING TIMESTAMP 7000 WHERE k = 0 AND at = 1700000000000 AND id = 0")
        .unwrap();
    bench.run("DELETE FROM e USING TIMESTAMP 6500 WHERE k = 1 AND at = 1700172800000").unwrap();
    bench
}

const ALL: &str = "SELECT k, at, id, v, writetime(v), ttl(v), tags FROM e WHERE k IN (0, 1)";

#[test]
fn every_plan_leads_to_every_other() {
    let plans = [
        "{'by': 'at', 'every': '1d'}",
        "{'by': 'at', 'every': 'month'}",
        "{'by': 'id', 'into': 4}",
        "{'by': 'at', 'every': 'week', 'hash': 'id', 'into': 3}",
        "{'by': 'id', 'into': 7}",
        "{}",
        "{'by': 'at', 'every': '6h'}",
    ];
    let mut bench = filled(PLAIN);
    let before = rows(&mut bench, ALL);
    assert_eq!(before.len(), 19);
    for plan in plans {
        let warnings = bench.warnings(&format!("ALTER TABLE e WITH bucketing = {plan}"));
        assert!(warnings.iter().any(|text| text.contains("system_views.jobs")), "{warnings:?}");
        assert_eq!(rows(&mut bench, ALL), before, "{plan}, under way");
        bench.work();
        assert_eq!(rows(&mut bench, ALL), before, "{plan}, done");
        assert_eq!(rows(&mut bench, "SELECT count(*) FROM e"), ["19"], "{plan}: nothing is there twice");
    }
    let bucket = rows(&mut bench, "SELECT bucket FROM e WHERE k = 0 LIMIT 1");
    assert_eq!(bucket, ["'2023-11-14T18:00:00.000Z'"]);
}

#[test]
fn what_is_written_while_rows_move_is_in_both() {
    let mut bench = filled(PLAIN);
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'}").unwrap();
    check(
        &mut bench,
        "
        INSERT INTO e (k, at, id, v) VALUES (0, 1700000000000, 100, 100)
        UPDATE e SET v = 1 WHERE k = 0 AND at = 1700000000000 AND id = 0
        UPDATE e SET tags = tags + {'new'} WHERE k = 0 AND at = 1700000000000 AND id = 0
        DELETE v FROM e WHERE k = 0 AND at = 1700086400000 AND id = 2
        DELETE FROM e WHERE k = 1 AND at > 1700200000000 AND at < 1700600000000
        DELETE FROM e WHERE k = 0 AND at = 1700345600000
        INSERT INTO e (k, at, id, v) VALUES (1, 1700300000000, 5, 5) USING TIMESTAMP 9000
        INSERT INTO e (k, at, id, v) VALUES (1, 1700300000000, 6, 6)
        UPDATE e SET v = 7 WHERE k = 1 AND at = 1700300000000 AND id = 6 IF v = 6
            true
        ",
    );
    let before = rows(&mut bench, ALL);
    bench.work();
    assert_eq!(rows(&mut bench, ALL), before);
    assert!(!rows(&mut bench, "SELECT id FROM e WHERE k = 1 AND at = 1700300000000").contains(&"5".into()));
    let later = "SELECT id FROM e WHERE k = 0 AND at = 1700000000000 AND bucket = 1699920000000";
    assert_eq!(rows(&mut bench, later), ["0", "100"]);
}

#[test]
fn a_cursor_goes_on_in_the_new_plan() {
    let orders = ["", " ORDER BY at DESC, id DESC"];
    let plans = [
        "{}",
        "{'by': 'at', 'every': '1d'}",
        "{'by': 'id', 'into': 3}",
        "{'by': 'at', 'every': '1w', 'hash': 'id', 'into': 2}",
    ];
    for (from, to) in plans.iter().flat_map(|from| plans.iter().map(move |to| (from, to))) {
        for keys in ["k = 0", "k IN (0, 1)"] {
            for order in orders {
                let mut bench = filled(PLAIN);
                let text = format!("SELECT k, id FROM e WHERE {keys}{order}");
                bench.run(&format!("ALTER TABLE e WITH bucketing = {from}")).unwrap();
                bench.work();
                let expected = rows(&mut bench, &text);
                let (mut found, mut state) = bench.page(&text, 3, None);
                bench.run(&format!("ALTER TABLE e WITH bucketing = {to}")).unwrap();
                bench.work();
                while let Some(last) = state {
                    let (page, next) = bench.page(&text, 3, Some(&last));
                    found.extend(page);
                    state = next;
                }
                assert_eq!(found, expected, "{text}: {from} to {to}");
            }
        }
    }
    let mut bench = filled(PLAIN);
    let (_, state) = bench.page("SELECT id FROM e", 3, None);
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'id', 'into': 3}").unwrap();
    bench.work();
    let refused = bench.try_page("SELECT id FROM e", 3, state.as_deref());
    assert!(format!("{refused:?}").contains("begin it anew"), "{refused:?}");
}

#[test]
fn a_job_is_cancelled_and_the_table_stays() {
    let mut bench = filled(PLAIN);
    let before = rows(&mut bench, ALL);
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'}").unwrap();
    let job = rows(&mut bench, "SELECT id, kind, state, target FROM system_views.jobs").remove(0);
    let (id, rest) = job.split_once(" | ").unwrap();
    assert_eq!(rest, "'rebucket' | 'waiting' | 'by=at; every=1d'");
    let refused = |bench: &mut Bench, text: &str| format!("{:?}", bench.run(text).unwrap_err());
    for text in [
        "ALTER TABLE e WITH bucketing = {'by': 'id', 'into': 4}",
        "CREATE INDEX ON e (v)",
        "ALTER TABLE e ADD bucket int",
        "ALTER TABLE e ADD s int STATIC",
    ] {
        let error = refused(&mut bench, text);
        assert!(error.contains("job") || error.contains("static"), "{text}: {error}");
    }
    bench.run("ALTER TABLE e ADD more int").unwrap();
    bench.run(&format!("CANCEL JOB {id}")).unwrap();
    bench.work();
    assert_eq!(rows(&mut bench, ALL), before);
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'}").unwrap();
    bench.run("INSERT INTO e (k, at, id, more) VALUES (5, 1700000000000, 1, 8)").unwrap();
    bench.work();
    assert_eq!(rows(&mut bench, ALL), before);
    assert_eq!(rows(&mut bench, "SELECT more FROM e WHERE k = 5"), ["8"]);
    // The plan that it has: nothing to do.
    assert_eq!(bench.warnings("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'}"), [""; 0]);
}

#[test]
fn indexes_lead_to_the_rows_where_they_are() {
    let mut bench = filled(PLAIN);
    bench.run("CREATE INDEX ON e (v)").unwrap();
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d', 'hash': 'id', 'into': 2}").unwrap();
    bench.run("UPDATE e SET v = 77 WHERE k = 0 AND at = 1700000000000 AND id = 0").unwrap();
    assert_eq!(rows(&mut bench, "SELECT id FROM e WHERE v = 77"), ["0"]);
    bench.work();
    assert_eq!(rows(&mut bench, "SELECT id FROM e WHERE v = 77"), ["0"]);
    assert_eq!(rows(&mut bench, "SELECT id FROM e WHERE v = 12"), ["12"]);
    assert_eq!(rows(&mut bench, "SELECT id FROM e WHERE v = 0"), [""; 0]);
}

#[test]
fn counters_and_composite_keys_move_too() {
    let ddl = "CREATE TABLE e (a text, b int, at timestamp, n counter, PRIMARY KEY ((a, b), at))";
    let mut bench = Bench::new(ddl);
    bench.run("UPDATE e SET n = n + 5 WHERE a = 'x' AND b = 1 AND at = 1700000000000").unwrap();
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': 'month', 'column': 'month'}").unwrap();
    bench.run("UPDATE e SET n = n + 2 WHERE a = 'x' AND b = 1 AND at = 1700000000000").unwrap();
    bench.work();
    bench.run("UPDATE e SET n = n - 1 WHERE a = 'x' AND b = 1 AND at = 1700000000000").unwrap();
    assert_eq!(
        rows(&mut bench, "SELECT n, month FROM e WHERE a = 'x' AND b = 1"),
        ["6 | '2023-11-01T00:00:00.000Z'"]
    );
}

#[test]
fn what_cannot_move_is_refused_with_the_reason() {
    let mut bench = filled(PLAIN);
    let refused = |bench: &mut Bench, text: &str| format!("{:?}", bench.run(text).unwrap_err());
    for (text, reason) in [
        ("ALTER TABLE e WITH bucketing = {'by': 'v', 'into': 4}", "not in the PRIMARY KEY"),
        (
            "ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'} AND retention = '1h'",
            "shorter than a bucket",
        ),
        ("ALTER TABLE e WITH retention = '90d'", "has none"),
    ] {
        let error = refused(&mut bench, text);
        assert!(error.contains(reason), "{text}: {error}");
    }
    bench.run("CREATE MATERIALIZED VIEW w AS SELECT * FROM e WHERE k IS NOT NULL AND at IS NOT NULL AND id IS NOT NULL PRIMARY KEY (id, k, at)").unwrap();
    let error = refused(&mut bench, "ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'}");
    assert!(error.contains("Drop the view"), "{error}");
    bench.run("DROP MATERIALIZED VIEW w").unwrap();
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'at', 'every': '1d'} AND retention = '520w'").unwrap();
    bench.work();
    let error = refused(&mut bench, "ALTER TABLE e WITH bucketing = {'by': 'id', 'into': 4}");
    assert!(error.contains("retention"), "{error}");
    bench.run("ALTER TABLE e WITH retention = '0'").unwrap();
    bench.run("ALTER TABLE e WITH bucketing = {'by': 'id', 'into': 4}").unwrap();
    bench.run("TRUNCATE e").unwrap();
    bench.run("INSERT INTO e (k, at, id, v) VALUES (1, 1700000000000, 1, 1)").unwrap();
    bench.work();
    assert_eq!(rows(&mut bench, "SELECT id FROM e"), ["1"]);
}
