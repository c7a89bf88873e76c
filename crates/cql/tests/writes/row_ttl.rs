//! Rows that expire as a whole: on a store that does everything in the simplest way, and what DESCRIBE says of them.

use super::harness::{Bench, check};

#[test]
fn a_row_is_gone_at_its_moment_and_what_is_written_behind_it_stands_alone() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int, c int, v int, w int, ends bigint TTL, PRIMARY KEY (k, c))");
    // The clock of the bench begins at 1,700,000,000.
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, v, w, ends) VALUES (1, 1, 1, 1, 1700000100)
        INSERT INTO t (k, c, v, w, ends) VALUES (1, 2, 2, 2, 1700000100)
        INSERT INTO t (k, c, v, w) VALUES (1, 3, 3, 3)
        SELECT c FROM t WHERE k = 1
          1
          2
          3
    ",
    );
    bench.pass_seconds(101);
    check(
        &mut bench,
        "
        SELECT c FROM t
          3
        UPDATE t SET v = 10 WHERE k = 1 AND c = 1
        UPDATE t SET ends = 1800000000 WHERE k = 1 AND c = 2 IF v = 2
          false
        SELECT c, v, w, ends FROM t
          1 | 10 | null | null
          3 | 3 | 3 | null
    ",
    );
}

#[test]
fn expired_rows_are_swept_and_others_are_not() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int, ends timestamp TTL)");
    for key in 0..250 {
        bench.run(&format!("INSERT INTO t (k, v, ends) VALUES ({key}, 1, 1700000010000)")).unwrap();
    }
    bench.run("INSERT INTO t (k, v, ends) VALUES (1000, 1, 1700009999000)").unwrap();
    bench.run("INSERT INTO t (k, v) VALUES (1001, 1)").unwrap();
    assert_eq!(bench.sweep_rows(), 0);
    bench.pass_seconds(10);
    assert_eq!(bench.sweep_rows(), 250);
    assert_eq!(bench.sweep_rows(), 0);
    check(
        &mut bench,
        "
        ALTER TABLE t TTL NULL
        SELECT count(*) FROM t
          2
    ",
    );
}

#[test]
fn describe_makes_the_same_table() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int PRIMARY KEY, ends timestamp TTL MASKED WITH DEFAULT, v int)");
    let text = bench.describe_table("t");
    assert!(text.contains("    ends timestamp TTL MASKED WITH "), "{text}");
    bench.run("DROP TABLE t").unwrap();
    bench.run(&text).unwrap();
    assert_eq!(bench.describe_table("t"), text);
    bench.run("ALTER TABLE t TTL NULL").unwrap();
    assert!(!bench.describe_table("t").contains(" TTL"));
    bench.run("ALTER TABLE t ADD later bigint TTL").unwrap();
    assert!(bench.describe_table("t").contains("    later bigint TTL,\n"));
}

/// Copies and buckets would outlive such rows.
#[test]
fn what_cannot_stand_beside_it_is_refused() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, ends timestamp TTL, v int)");
    bench.run("CREATE TABLE u (k int, at timestamp, ends timestamp, v int, PRIMARY KEY (k, at)) WITH bucketing = {'by': 'at', 'every': '1d'}").unwrap();
    bench.run("CREATE TABLE w (k int PRIMARY KEY, ends timestamp, v int)").unwrap();
    bench.run("CREATE MATERIALIZED VIEW m AS SELECT * FROM w WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)").unwrap();
    check(
        &mut bench,
        "
        CREATE PROJECTION p ON t AS SELECT * PRIMARY KEY (v, k)
          invalid: Nothing can be made of ks.t whose rows expire when ends says: copies would outlive them. An index can be
        ALTER TABLE u TTL ends
          invalid: Rows of ks.u cannot expire as a whole: it has buckets: give it a retention instead
        ALTER TABLE w TTL ends
          invalid: Rows of ks.w cannot expire as a whole while m is made of it: its rows would outlive them. Drop it first
    ",
    );
}
