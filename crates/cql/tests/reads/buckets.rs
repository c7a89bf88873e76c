//! Bucketed tables: statements as if there were no buckets.

use crate::harness::{Bench, check};

const EVENTS: &str = "CREATE TABLE e (tenant text, case_id int, event_time timestamp, id int, what text, \
     PRIMARY KEY ((tenant, case_id), event_time, id)) \
     WITH CLUSTERING ORDER BY (event_time DESC, id ASC) AND bucketing = {'by': 'event_time', 'every': '1d'}";

#[test]
fn time_buckets_are_walked_as_if_there_were_none() {
    let mut bench = Bench::new(EVENTS);
    check(
        &mut bench,
        "
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-01-01 10:00:00+0000', 1, 'first')
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-01-01 23:59:59+0000', 2, 'late')
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-01-02 00:00:00+0000', 3, 'next day')
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-03-05 00:00:00+0000', 4, 'spring')
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('b', 1, '2026-01-02 00:00:00+0000', 9, 'another')
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1
            4
            3
            2
            1
        SELECT id, bucket FROM e WHERE tenant = 'a' AND case_id = 1 ORDER BY event_time ASC LIMIT 3
            1 | '2026-01-01T00:00:00.000Z'
            2 | '2026-01-01T00:00:00.000Z'
            3 | '2026-01-02T00:00:00.000Z'
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time >= '2026-01-01 12:00:00+0000' AND event_time < '2026-02-01 00:00:00+0000'
            3
            2
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time IN ('2026-01-01 10:00:00+0000', '2026-03-05 00:00:00+0000', '2027-01-01 00:00:00+0000')
            4
            1
        SELECT what FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time = '2026-01-02 00:00:00+0000' AND id = 3
            'next day'
        SELECT count(*) FROM e WHERE tenant = 'a' AND case_id = 1
            4
        SELECT id FROM e WHERE tenant IN ('b', 'a') AND case_id = 1 ORDER BY event_time DESC
            4
            3
            9
            2
            1
        SELECT id FROM e WHERE tenant IN ('b', 'a') AND case_id = 1
            4
            3
            2
            1
            9
        SELECT id FROM e WHERE tenant IN ('b', 'a') AND case_id = 1 PER PARTITION LIMIT 2
            4
            3
            9
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1 PER PARTITION LIMIT 2
            4
            3
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1 AND what = 'late' ALLOW FILTERING
            2
        SELECT DISTINCT tenant, case_id, bucket FROM e WHERE tenant = 'a' AND case_id = 1
            'a' | 1 | '2026-01-01T00:00:00.000Z'
            'a' | 1 | '2026-01-02T00:00:00.000Z'
            'a' | 1 | '2026-03-05T00:00:00.000Z'
        SELECT id FROM e WHERE tenant = 'a' AND case_id = 1 AND bucket = '2026-01-01 00:00:00+0000'
            2
            1
        ",
    );
}

#[test]
fn writes_find_the_bucket_of_their_rows() {
    let mut bench = Bench::new(EVENTS);
    check(
        &mut bench,
        "
        UPDATE e SET what = 'x' WHERE tenant = 'a' AND case_id = 1 AND event_time IN ('2026-01-01 10:00:00+0000', '2026-01-02 10:00:00+0000', '2026-01-01 11:00:00+0000') AND id = 1
        SELECT DISTINCT tenant, case_id, bucket FROM e WHERE tenant = 'a' AND case_id = 1
            'a' | 1 | '2026-01-01T00:00:00.000Z'
            'a' | 1 | '2026-01-02T00:00:00.000Z'
        SELECT event_time, what FROM e WHERE tenant = 'a' AND case_id = 1
            '2026-01-02T10:00:00.000Z' | 'x'
            '2026-01-01T11:00:00.000Z' | 'x'
            '2026-01-01T10:00:00.000Z' | 'x'
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-01-03 10:00:00+0000', 1, 'new') IF NOT EXISTS
            true
        INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', 1, '2026-01-03 10:00:00+0000', 1, 'again') IF NOT EXISTS
            false | 'a' | 1 | '2026-01-03T00:00:00.000Z' | '2026-01-03T10:00:00.000Z' | 1 | 'new'
        UPDATE e SET what = 'newer' WHERE tenant = 'a' AND case_id = 1 AND event_time = '2026-01-03 10:00:00+0000' AND id = 1 IF what = 'new'
            true
        INSERT INTO e (tenant, case_id, bucket, event_time, id) VALUES ('a', 1, '2026-01-03 00:00:00+0000', '2026-01-03 12:00:00+0000', 2)
        INSERT INTO e (tenant, case_id, bucket, event_time, id) VALUES ('a', 1, '2026-01-04 00:00:00+0000', '2026-01-03 12:00:00+0000', 3)
            invalid: bucket is '2026-01-04T00:00:00.000Z', but the row belongs to '2026-01-03T00:00:00.000Z'. Leave bucket out: it is computed
        UPDATE e SET what = 'q' WHERE tenant = 'a' AND case_id = 1 AND bucket = '2026-01-04 00:00:00+0000' AND event_time = '2026-01-03 12:00:00+0000' AND id = 3
            invalid: bucket is '2026-01-04T00:00:00.000Z', but the row belongs to '2026-01-03T00:00:00.000Z'. Leave bucket out: it is computed
        INSERT INTO e JSON '{\"tenant\": \"a\", \"case_id\": 1, \"event_time\": \"2026-01-05 00:00:00+0000\", \"id\": 5}'
        DELETE FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time = '2026-01-03 10:00:00+0000' AND id = 1
        SELECT event_time, id FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time > '2026-01-02 10:00:00+0000'
            '2026-01-05T00:00:00.000Z' | 5
            '2026-01-03T12:00:00.000Z' | 2
        DELETE FROM e WHERE tenant = 'a' AND case_id = 1 AND event_time >= '2026-01-01 11:00:00+0000' AND event_time < '2026-01-05 00:00:00+0000'
        SELECT event_time FROM e WHERE tenant = 'a' AND case_id = 1
            '2026-01-05T00:00:00.000Z'
            '2026-01-01T10:00:00.000Z'
        BEGIN BATCH INSERT INTO e (tenant, case_id, event_time, id) VALUES ('a', 2, '2026-01-01 10:00:00+0000', 1); DELETE FROM e WHERE tenant = 'a' AND case_id = 1; APPLY BATCH
        SELECT event_time FROM e WHERE tenant = 'a' AND case_id IN (1, 2)
            '2026-01-01T10:00:00.000Z'
        INSERT INTO e (tenant, case_id, id) VALUES ('a', 2, 1)
            invalid: Some clustering keys are missing: event_time
        INSERT INTO e (case_id, event_time, id) VALUES (1, 0, 1)
            invalid: Some partition key parts are missing: tenant
        ",
    );
}

/// `now()` is evaluated once: the row is in the bucket of the value that is stored.
#[test]
fn functions_give_the_value_that_decides_the_bucket() {
    let mut bench = Bench::new(
        "CREATE TABLE chat (room text, at timeuuid, body text, PRIMARY KEY (room, at)) \
         WITH CLUSTERING ORDER BY (at DESC) AND bucketing = {'by': 'at', 'every': '1d', 'hash': 'at', 'into': 7}",
    );
    for n in 0..40 {
        bench.run(&format!("INSERT INTO chat (room, at, body) VALUES ('r', now(), '{n}')")).unwrap();
        bench.pass_seconds(20_000);
    }
    let rows = bench.run_with("SELECT body FROM chat WHERE room = 'r'", &[]);
    let expected: Vec<String> = (0..40).rev().map(|n| format!("'{n}'")).collect();
    assert_eq!(rows, expected);
    let batch = "BEGIN BATCH INSERT INTO chat (room, at, body) VALUES ('b', now(), 'x'); APPLY BATCH";
    bench.run(batch).unwrap();
    assert_eq!(bench.run_with("SELECT body FROM chat WHERE room = 'b'", &[]), ["'x'"]);
    for size in [1, 3, 100] {
        assert_eq!(bench.pages("SELECT body FROM chat WHERE room = 'r'", size).concat(), expected);
    }
}

#[test]
fn hash_buckets_are_merged() {
    let mut bench = Bench::new(
        "CREATE TABLE tasks (assignee text, priority int, task_id text, PRIMARY KEY (assignee, priority, task_id)) \
         WITH bucketing = {'by': 'task_id', 'into': 5}",
    );
    let mut expected = Vec::new();
    for n in 0..60 {
        let (priority, task) = (n % 4, format!("task {n:02}"));
        bench
            .run(&format!(
                "INSERT INTO tasks (assignee, priority, task_id) VALUES ('ann', {priority}, '{task}')"
            ))
            .unwrap();
        expected.push((priority, task));
    }
    expected.sort();
    let shown: Vec<String> = expected.iter().map(|(p, t)| format!("{p} | '{t}'")).collect();
    let all = "SELECT priority, task_id FROM tasks WHERE assignee = 'ann'";
    assert_eq!(bench.run_with(all, &[]), shown);
    let buckets = bench.run_with("SELECT DISTINCT assignee, bucket FROM tasks WHERE assignee = 'ann'", &[]);
    assert_eq!(buckets.len(), 5, "{buckets:?}");
    let reversed: Vec<String> = shown.iter().rev().cloned().collect();
    for size in [1, 7, 59, 60, 61] {
        assert_eq!(bench.pages(all, size).concat(), shown, "{size}");
        assert_eq!(bench.pages(&format!("{all} ORDER BY priority DESC"), size).concat(), reversed, "{size}");
    }
    assert_eq!(bench.run_with(&format!("{all} LIMIT 3"), &[]), shown[..3]);
    let one = "SELECT priority FROM tasks WHERE assignee = 'ann' AND priority = 2 AND task_id = 'task 06'";
    assert_eq!(bench.run_with(one, &[]), ["2"]);
    bench.run("DELETE FROM tasks WHERE assignee = 'ann' AND priority = 2").unwrap();
    assert_eq!(bench.run_with("SELECT count(*) FROM tasks WHERE assignee = 'ann'", &[]), ["45"]);
    bench.run("DELETE FROM tasks WHERE assignee = 'ann'").unwrap();
    assert_eq!(bench.run_with(all, &[]), Vec::<String>::new());
}

#[test]
fn a_column_before_the_time_makes_buckets_merge_unless_it_is_given() {
    let mut bench = Bench::new(
        "CREATE TABLE r (sensor int, kind text, at timestamp, v int, PRIMARY KEY (sensor, kind, at)) \
         WITH bucketing = {'by': 'at', 'every': 'month'}",
    );
    for (n, kind) in ["b", "a", "b", "a"].iter().enumerate() {
        for month in 1..4 {
            let text = format!(
                "INSERT INTO r (sensor, kind, at, v) VALUES (1, '{kind}', '2026-0{month}-0{} 00:00:00+0000', {})",
                n + 1,
                month * 10 + n
            );
            bench.run(&text).unwrap();
        }
    }
    let all = ["11", "13", "21", "23", "31", "33", "10", "12", "20", "22", "30", "32"];
    assert_eq!(bench.pages("SELECT v FROM r WHERE sensor = 1", 5).concat(), all);
    assert_eq!(bench.pages("SELECT v FROM r WHERE sensor = 1 AND kind = 'a'", 2).concat(), all[..6]);
    let newest = "SELECT v FROM r WHERE sensor = 1 AND kind = 'b' ORDER BY kind DESC, at DESC LIMIT 2";
    assert_eq!(bench.run_with(newest, &[]), ["32", "30"]);
}

#[test]
fn counters_ttl_and_timestamps_work_in_buckets() {
    let mut bench = Bench::new(
        "CREATE TABLE hits (page text, day date, n counter, PRIMARY KEY (page, day)) \
         WITH bucketing = {'by': 'day', 'every': 'month'}",
    );
    check(
        &mut bench,
        "
        UPDATE hits SET n = n + 2 WHERE page = 'p' AND day = '2026-01-31'
        UPDATE hits SET n = n + 3 WHERE page = 'p' AND day = '2026-02-01'
        UPDATE hits SET n = n + 1 WHERE page = 'p' AND day = '2026-01-31'
        SELECT day, n, bucket FROM hits WHERE page = 'p'
            '2026-01-31' | 3 | '2026-01-01T00:00:00.000Z'
            '2026-02-01' | 3 | '2026-02-01T00:00:00.000Z'
        CREATE TABLE t (k int, at timestamp, v int, PRIMARY KEY (k, at)) WITH bucketing = {'by': 'at', 'every': '1h'}
        INSERT INTO t (k, at, v) VALUES (1, 0, 1) USING TTL 100
        INSERT INTO t (k, at, v) VALUES (1, 3600000, 2) USING TIMESTAMP 1
        SELECT v FROM t WHERE k = 1
            1
            2
        ",
    );
    bench.pass_seconds(200);
    check(
        &mut bench,
        "
        SELECT v FROM t WHERE k = 1
            2
        TRUNCATE t
        SELECT v FROM t WHERE k = 1
        INSERT INTO t (k, at, v) VALUES (1, 0, 7)
        SELECT v FROM t WHERE k = 1
            7
        ",
    );
}

#[test]
fn retention_hides_old_buckets_and_refuses_rows_for_them() {
    // The clock of the bench stands on 2023-11-14.
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, at timestamp, PRIMARY KEY (k, at)) \
         WITH bucketing = {'by': 'at', 'every': '1d'} AND retention = '30d'",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, at) VALUES (1, '2023-10-15 00:00:00+0000')
        INSERT INTO t (k, at) VALUES (1, '2023-11-01 00:00:00+0000')
        INSERT INTO t (k, at) VALUES (1, '2023-10-14 23:00:00+0000')
            invalid: The row belongs to the bucket '2023-10-14T00:00:00.000Z' of ks.t, which is kept no longer: its retention ends at '2023-10-15T00:00:00.000Z'
        SELECT at FROM t WHERE k = 1
            '2023-10-15T00:00:00.000Z'
            '2023-11-01T00:00:00.000Z'
        ",
    );
    bench.pass_seconds(86_400);
    check(
        &mut bench,
        "
        SELECT at FROM t WHERE k = 1
            '2023-11-01T00:00:00.000Z'
        SELECT at FROM t
            '2023-11-01T00:00:00.000Z'
        SELECT at FROM t WHERE k = 1 AND bucket = '2023-10-15 00:00:00+0000'
        ALTER TABLE t WITH retention = '90d'
        SELECT at FROM t WHERE k = 1
            '2023-10-15T00:00:00.000Z'
            '2023-11-01T00:00:00.000Z'
        ",
    );
    assert_eq!(bench.drop_expired(), 0);
    bench.run("ALTER TABLE t WITH retention = '20d'").unwrap();
    assert_eq!(bench.drop_expired(), 1);
    assert_eq!(bench.drop_expired(), 0);
    // What was dropped does not come back, and its bucket can be used again.
    bench.run("ALTER TABLE t WITH retention = '90d'").unwrap();
    assert_eq!(bench.run_with("SELECT at FROM t WHERE k = 1", &[]), ["'2023-11-01T00:00:00.000Z'"]);
    bench.run("INSERT INTO t (k, at) VALUES (1, '2023-10-15 01:00:00+0000')").unwrap();
    assert_eq!(bench.run_with("SELECT at FROM t WHERE k = 1 LIMIT 1", &[]), ["'2023-10-15T01:00:00.000Z'"]);
    let error = format!("{:?}", bench.run("ALTER TABLE t WITH retention = '1m'").unwrap_err());
    assert!(error.contains("'1m' is shorter than a bucket ('every' is 1d)"), "{error}");
}

#[test]
fn plans_that_cannot_be_are_refused_with_the_reason() {
    let mut bench = Bench::new("CREATE TABLE plain (k int, c int, PRIMARY KEY (k, c))");
    let mut refused = |table: &str, plan: &str| {
        let text = format!("CREATE TABLE t ({table}) WITH {plan}");
        format!("{:?}", bench.run(&text).unwrap_err())
    };
    let key = "k int, at timestamp, v int, PRIMARY KEY (k, at)";
    for (table, plan, words) in [
        (key, "bucketing = {'by': 'v', 'every': '1d'}", "v is not in the PRIMARY KEY"),
        (key, "bucketing = {'by': 'k', 'into': 4}", "k is in the partition key"),
        (key, "bucketing = {'by': 'w', 'into': 4}", "there is no column w"),
        (key, "bucketing = {'by': 'at', 'every': '1 parsec'}", "'every' is '1 parsec'"),
        (key, "bucketing = {'by': 'at', 'into': 1}", "'into' is 1"),
        (key, "bucketing = {'by': 'at'}", "'every' or 'into' is missing"),
        (key, "bucketing = {'every': '1d'}", "'by' is missing"),
        (key, "bucketing = {'by': 'at', 'every': '1d', 'colour': 'red'}", "'colour' is unknown"),
        (key, "bucketing = 'by day'", "It should be a map"),
        (key, "retention = '90d'", "this table has none"),
        (key, "bucketing = {'by': 'at', 'into': 4} AND retention = '90d'", "this table has none"),
        ("k int, c int, PRIMARY KEY (k, c)", "bucketing = {'by': 'c', 'every': '1d'}", "c is none"),
        (
            "k int, at timestamp, s int static, PRIMARY KEY (k, at)",
            "bucketing = {'by': 'at', 'every': '1d'}",
            "s is static",
        ),
        (
            "k int, at timestamp, bucket text, PRIMARY KEY (k, at)",
            "bucketing = {'by': 'at', 'every': '1d'}",
            "of its own",
        ),
    ] {
        let error = refused(table, plan);
        assert!(error.contains(words), "{plan}: {error}");
    }
    let view = "CREATE MATERIALIZED VIEW v AS SELECT * FROM plain WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k) WITH \
                bucketing = {'by': 'k', 'into': 4}";
    assert!(bench.run(view).is_err(), "{view}");
}

/// What DESCRIBE prints makes the same table again; Cassandra would make the table that its columns say.
#[test]
fn a_description_makes_the_same_table() {
    for plan in [
        "bucketing = {'by': 'at', 'every': 'week'} AND retention = '52w'",
        "bucketing = {'by': 'id', 'into': 16, 'column': 'slot'}",
        "bucketing = {'by': 'at', 'every': '90m', 'hash': 'id', 'into': 3}",
    ] {
        let mut bench = Bench::new(&format!(
            "CREATE TABLE t (k text, at timestamp, id uuid, v int, PRIMARY KEY (k, at, id)) WITH {plan}"
        ));
        let describe = |bench: &mut Bench| bench.run_with("DESCRIBE TABLE t", &[]).concat();
        let first = describe(&mut bench);
        let text = first.rsplit(" | ").next().unwrap().trim_matches('\'').replace("\'\'", "'");
        assert!(text.contains("extensions = {'partita.bucketing': 'by="), "{text}");
        assert!(text.contains("PRIMARY KEY ((k, "), "{text}");
        bench.run("DROP TABLE t").unwrap();
        bench.run(text.trim_end_matches(';')).unwrap();
        assert_eq!(describe(&mut bench), first);
        bench.run("INSERT INTO t (k, at, id, v) VALUES ('k', 1700000000000, uuid(), 1)").unwrap();
        assert_eq!(bench.run_with("SELECT v FROM t WHERE k = 'k'", &[]), ["1"]);
    }
}

#[test]
fn explain_says_how_many_partitions_at_most() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k text, at timestamp, id int, PRIMARY KEY (k, at, id)) \
         WITH bucketing = {'by': 'at', 'every': '1d', 'hash': 'id', 'into': 16}",
    );
    let mut partitions = |statement: &str| {
        let rows = bench.run_with(&format!("EXPLAIN {statement}"), &[]);
        rows.iter().find(|row| row.contains("partitions")).cloned().unwrap_or_default()
    };
    for (statement, words) in [
        ("SELECT * FROM t WHERE k = 'a'", "16 for each bucket of 1d of at that the entity has, at most"),
        (
            "SELECT * FROM t WHERE k IN ('a', 'b') AND at > 0",
            "32 for each bucket of 1d of at that the entity has that the restrictions leave, at most",
        ),
        ("SELECT * FROM t WHERE k = 'a' AND at = 0", "16 at most"),
        ("SELECT * FROM t WHERE k = 'a' AND at = 0 AND id = 1", "1 at most"),
        ("DELETE FROM t WHERE k = 'a'", "16 for each bucket of 1d of at that the entity has, at most"),
    ] {
        let shown = partitions(statement);
        assert!(shown.contains(words), "{statement}: {shown}");
    }
}

/// An index and a view see the rows of all buckets.
#[test]
fn indexes_and_views_work_on_bucketed_tables() {
    let mut bench = Bench::new(EVENTS);
    bench.run("CREATE INDEX ON e (what)").unwrap();
    bench
        .run(
            "CREATE MATERIALIZED VIEW by_id AS SELECT * FROM e WHERE id IS NOT NULL AND tenant IS NOT NULL AND case_id IS NOT \
             NULL AND bucket IS NOT NULL AND event_time IS NOT NULL PRIMARY KEY (id, tenant, case_id, bucket, event_time)",
        )
        .unwrap();
    for day in 1..6 {
        let what = if day % 2 == 0 { "even" } else { "odd" };
        let text = format!(
            "INSERT INTO e (tenant, case_id, event_time, id, what) VALUES ('a', {}, '2026-01-0{day} 10:00:00+0000', 7, '{what}')",
            day / 3
        );
        bench.run(&text).unwrap();
    }
    check(
        &mut bench,
        "
        SELECT count(*) FROM e WHERE what = 'odd'
            3
        SELECT event_time FROM e WHERE tenant = 'a' AND case_id = 1 AND what = 'odd'
            '2026-01-05T10:00:00.000Z'
            '2026-01-03T10:00:00.000Z'
        SELECT event_time FROM by_id WHERE id = 7 AND tenant = 'a' AND case_id = 0
            '2026-01-01T10:00:00.000Z'
            '2026-01-02T10:00:00.000Z'
        SELECT count(*) FROM by_id WHERE id = 7
            5
        ",
    );
}

/// The scripts in docs/examples/bucketing: comments behind a statement are its answer.
#[test]
fn the_examples_of_the_document_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/bucketing");
    let mut statements = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut bench = Bench::new("CREATE TABLE unused (k int PRIMARY KEY)");
        let mut rest = text.lines().skip_while(|line| line.starts_with("--")).peekable();
        while rest.peek().is_some() {
            let mut statement = String::new();
            while !statement.ends_with(';') {
                statement += rest.next().unwrap();
            }
            let mut answer = Vec::new();
            while let Some(line) = rest.next_if(|line| line.starts_with("-- ")) {
                answer.push(line.trim_start_matches("-- ").to_string());
            }
            let given = bench.run_with(statement.trim_end_matches(';'), &[]);
            match answer.first().and_then(|line| line.strip_prefix("refused: ")) {
                Some(words) => assert!(given.concat().contains(words), "{path:?}: {statement}: {given:?}"),
                None => assert_eq!(given, answer, "{path:?}: {statement}"),
            }
            bench.pass_seconds(1);
            statements += 1;
        }
    }
    assert!(statements > 20, "{statements}");
}
