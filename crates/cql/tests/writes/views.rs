//! Materialized views end to end on the naive store: writes to the base, reads of the view.

use crate::harness::{Bench, check};
use cql::CqlError;

const BASE: &str = "CREATE TABLE t (k int, c int, s text static, v text, n int, PRIMARY KEY (k, c))";

fn view(name: &str, extra: &str) -> String {
    format!(
        "CREATE MATERIALIZED VIEW {name} AS SELECT k, c, v, n FROM t WHERE v IS NOT NULL AND k IS NOT NULL AND c IS NOT \
         NULL{extra} PRIMARY KEY (v, k, c)"
    )
}

#[test]
fn a_view_follows_every_write() {
    let mut bench = Bench::new(BASE);
    bench.run(&view("by_v", "")).unwrap();
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, s, v, n) VALUES (1, 1, 'shared', 'a', 7)
        INSERT INTO t (k, c, v) VALUES (1, 2, 'a')
        INSERT INTO t (k, c, n) VALUES (1, 3, 9)
        SELECT * FROM by_v WHERE v = 'a'
          'a' | 1 | 1 | 7
          'a' | 1 | 2 | null
        UPDATE t SET v = 'b' WHERE k = 1 AND c = 1
        SELECT * FROM by_v WHERE v = 'a'
          'a' | 1 | 2 | null
        SELECT n, c FROM by_v WHERE v = 'b' AND k = 1
          7 | 1
        UPDATE t SET n = 8 WHERE k = 1 AND c = 1 IF n = 7
          true
        SELECT n FROM by_v WHERE v = 'b'
          8
        DELETE v FROM t WHERE k = 1 AND c = 1
        SELECT * FROM by_v WHERE v = 'b'
        BEGIN BATCH INSERT INTO t (k, c, v) VALUES (2, 1, 'x'); INSERT INTO t (k, c, v) VALUES (3, 1, 'x'); APPLY BATCH
        SELECT k FROM by_v WHERE v = 'x'
          2
          3
        DELETE FROM t WHERE k = 2
        SELECT k FROM by_v WHERE v = 'x'
          3
        DELETE FROM t WHERE k = 1 AND c > 1
        SELECT k FROM by_v WHERE v = 'a'
        TRUNCATE t
        SELECT * FROM by_v
    ",
    );
}

#[test]
fn a_row_of_a_view_lives_as_long_as_what_it_is_made_of() {
    let mut bench = Bench::new(BASE);
    bench.run(&view("by_v", "")).unwrap();
    bench.run("INSERT INTO t (k, c, v) VALUES (1, 1, 'a') USING TTL 100").unwrap();
    bench.run("INSERT INTO t (k, c, n) VALUES (2, 2, 5)").unwrap();
    bench.run("UPDATE t USING TTL 50 SET v = 'a' WHERE k = 2 AND c = 2").unwrap();
    check(
        &mut bench,
        "
        SELECT k, n FROM by_v WHERE v = 'a'
          1 | null
          2 | 5
    ",
    );
    bench.pass_seconds(60);
    check(
        &mut bench,
        "
        SELECT k, n FROM by_v WHERE v = 'a'
          1 | null
        SELECT k, n, v FROM t WHERE k = 2
          2 | 5 | null
    ",
    );
    bench.pass_seconds(60);
    check(&mut bench, "SELECT * FROM by_v");
}

#[test]
fn the_where_clause_decides_which_rows_a_view_has() {
    let mut bench = Bench::new(BASE);
    bench.run(&view("some", " AND c > 1 AND k IN (1, 2)")).unwrap();
    bench.run(&view("one", " AND (c) = (2) AND k = abs(-1)")).unwrap();
    bench.run("CREATE TABLE u (k int, c int, d int, PRIMARY KEY (k, c, d))").unwrap();
    for (name, clause) in
        [("later", "> (1, 2)"), ("these", "IN ((1, 3), (2, 1))"), ("none", "IN ((1, null))")]
    {
        bench
            .run(&format!(
                "CREATE MATERIALIZED VIEW {name} AS SELECT * FROM u WHERE k IS NOT NULL AND (c, d) {clause} PRIMARY KEY (d, k, c)"
            ))
            .unwrap();
    }
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, v) VALUES (1, 1, 'a')
        INSERT INTO t (k, c, v) VALUES (1, 2, 'a')
        INSERT INTO t (k, c, v) VALUES (3, 2, 'a')
        INSERT INTO t (k, c, v) VALUES (2, 9, 'a')
        SELECT k, c FROM some WHERE v = 'a'
          1 | 2
          2 | 9
        SELECT k, c FROM one
          1 | 2
        INSERT INTO u (k, c, d) VALUES (1, 1, 2)
        INSERT INTO u (k, c, d) VALUES (1, 1, 3)
        INSERT INTO u (k, c, d) VALUES (1, 2, 1)
        SELECT c, d FROM later WHERE d IN (1, 2, 3)
          2 | 1
          1 | 3
        SELECT c, d FROM these WHERE d IN (1, 2, 3)
          2 | 1
          1 | 3
        SELECT c, d FROM none
        DROP MATERIALIZED VIEW later
        DROP MATERIALIZED VIEW these
        DROP MATERIALIZED VIEW none
        SELECT view_name, where_clause FROM system_schema.views
          'one' | 'v IS NOT NULL AND k IS NOT NULL AND c IS NOT NULL AND (c) = (2) AND k = abs(-1)'
          'some' | 'v IS NOT NULL AND k IS NOT NULL AND c IS NOT NULL AND c > 1 AND k IN (1, 2)'
        ALTER TABLE t RENAME c TO \"Place\" AND k TO id
        SELECT view_name, where_clause FROM system_schema.views WHERE keyspace_name = 'ks' AND view_name = 'some'
          'some' | 'v IS NOT NULL AND id IS NOT NULL AND \"Place\" IS NOT NULL AND \"Place\" > 1 AND id IN (1, 2)'
        INSERT INTO t (id, \"Place\", v) VALUES (1, 0, 'a')
        INSERT INTO t (id, \"Place\", v) VALUES (1, 5, 'a')
        SELECT id, \"Place\" FROM some WHERE v = 'a'
          1 | 2
          1 | 5
          2 | 9
    ",
    );
}

#[test]
fn a_view_has_the_rows_that_were_there_before_it() {
    let mut bench = Bench::new(BASE);
    for at in 0..2_500 {
        bench
            .run(&format!("INSERT INTO t (k, c, v, n) VALUES ({}, {at}, 'v{}', {at})", at % 7, at % 3))
            .unwrap();
    }
    bench.run("INSERT INTO t (k, c, v) VALUES (1, 9999, 'v0') USING TTL 10").unwrap();
    bench.run("UPDATE t SET s = 'no row' WHERE k = 99").unwrap();
    bench.run(&view("by_v", " AND c >= 10")).unwrap();
    check(
        &mut bench,
        "
        SELECT count(*) FROM by_v
          2491
        SELECT k, c, n FROM by_v WHERE v = 'v1' LIMIT 2
          0 | 28 | 28
          0 | 49 | 49
        SELECT * FROM system.built_views
          'ks' | 'by_v' | true
        DELETE FROM t WHERE k = 0
        UPDATE t SET v = 'moved' WHERE k = 1 AND c = 22
        SELECT k, c, n FROM by_v WHERE v = 'v1' LIMIT 1
          1 | 43 | 43
        SELECT c FROM by_v WHERE v = 'moved'
          22
    ",
    );
    bench.pass_seconds(20);
    check(&mut bench, "SELECT c FROM by_v WHERE v = 'v0' AND k = 1 AND c = 9999");
}

#[test]
fn a_view_takes_no_writes_of_its_own() {
    let mut bench = Bench::new(BASE);
    bench.run(&view("by_v", "")).unwrap();
    check(
        &mut bench,
        "
        INSERT INTO by_v (v, k, c) VALUES ('a', 1, 1)
          invalid: Cannot directly modify a materialized view
        INSERT INTO by_v (v, k, c, nope) VALUES ('a', 1, 1, 1)
          invalid: Undefined column name nope in table ks.by_v
        UPDATE by_v SET n = 1 WHERE v = 'a' AND k = 1 AND c = 1
          invalid: Cannot directly modify a materialized view
        DELETE FROM by_v WHERE v = 'a'
          invalid: Cannot directly modify a materialized view
        TRUNCATE by_v
          invalid: Cannot TRUNCATE materialized view directly; must truncate base table instead
        ALTER TABLE by_v ADD x int
          invalid: Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead
        DROP TABLE by_v
          invalid: Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.
        CREATE INDEX ON by_v (n)
          invalid: Secondary indexes on materialized views aren't supported
        ALTER TABLE t DROP n
          invalid: Cannot drop column n on base table t with materialized views
    ",
    );
    let taken = bench.run("CREATE TABLE by_v (k int PRIMARY KEY)").err().unwrap();
    assert!(matches!(taken, CqlError::AlreadyExists { .. }), "{taken}");
    assert!(bench.run("CREATE MATERIALIZED VIEW x AS SELECT * FROM t WHERE c > toTimestamp(now()) AND k IS NOT NULL PRIMARY KEY (c, k)").is_err());
}

#[test]
fn prepared_statements_see_what_a_base_has_gained() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int)");
    bench.run("CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k)").unwrap();
    check(
        &mut bench,
        "
        INSERT INTO t (k, v) VALUES (1, 2)
        SELECT * FROM m
          2 | 1
        ALTER TABLE t ADD extra text
        INSERT INTO t (k, v, extra) VALUES (2, 2, 'x')
        SELECT * FROM m
          2 | 1 | null
          2 | 2 | 'x'
        DROP TABLE t
          invalid: Cannot drop a table when materialized views still depend on it (ks): m
        DROP MATERIALIZED VIEW m
        DROP TABLE t
    ",
    );
}

#[test]
fn decimals_in_the_key_of_a_view_keep_their_scale() {
    let mut bench = Bench::new("CREATE TABLE t (k int, d decimal, e decimal, PRIMARY KEY (k, d))");
    bench
        .run("CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE k IS NOT NULL AND d IS NOT NULL AND e IS NOT NULL PRIMARY KEY (k, e, d)")
        .unwrap();
    check(
        &mut bench,
        "
        INSERT INTO t (k, d, e) VALUES (1, 1.50, 2.00)
        INSERT INTO t (k, d, e) VALUES (1, 2.5, 2)
        SELECT e, d FROM m WHERE k = 1
          2.00 | 1.50
          2 | 2.5
        SELECT e, d FROM m WHERE k = 1 AND e = 2.0 AND d = 1.5
          2.00 | 1.50
        UPDATE t SET e = 2.0 WHERE k = 1 AND d = 1.5
        SELECT e, d FROM m WHERE k = 1 AND d < 2 ALLOW FILTERING
          2.0 | 1.50
    ",
    );
    let refused = "CREATE MATERIALIZED VIEW n AS SELECT * FROM t WHERE k IS NOT NULL AND d IS NOT NULL PRIMARY KEY (d, k)";
    assert!(bench.run(refused).is_err());
}
