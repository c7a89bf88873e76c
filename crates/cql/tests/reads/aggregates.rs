//! Aggregates and GROUP BY.

use crate::harness::{Bench, check};

fn table() -> Bench {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, c int, d int, v int, x double, ts timestamp, PRIMARY KEY (k, c, d))",
    );
    for (k, c, d, v) in [(1, 1, 1, 10), (1, 1, 2, 20), (1, 2, 1, 5), (2, 1, 1, 7), (2, 3, 1, 100)] {
        bench.run(&format!("INSERT INTO t (k, c, d, v, x) VALUES ({k}, {c}, {d}, {v}, {v}.5)")).unwrap();
    }
    bench
}

#[test]
fn whole_results() {
    check(
        &mut table(),
        "
        SELECT count(*), count(v), count(ts), min(v), max(v), sum(v), avg(v) FROM t
          5 | 5 | 0 | 5 | 100 | 142 | 28
        SELECT avg(x), sum(x), max(x) FROM t WHERE k = 1
          12.166666666666666 | 36.5 | 20.5
        SELECT count(*), min(v), sum(v), avg(v) FROM t WHERE k = 99
          0 | null | 0 | 0
        SELECT k, max(v) FROM t WHERE k = 2
          2 | 100
        SELECT max(v) + 1, abs(min(v) - 10) FROM t
          101 | 5
        SELECT sum(v + d) FROM t WHERE k = 1
          39
        SELECT count(*) FROM t LIMIT 1
          5
        SELECT countRows() FROM t WHERE k = 2
          2
        SELECT count(1) FROM t
          5
    ",
    );
}

#[test]
fn groups() {
    check(
        &mut table(),
        "
        SELECT k, count(*), sum(v) FROM t GROUP BY k
          1 | 3 | 35
          2 | 2 | 107
        SELECT k, c, sum(v) FROM t GROUP BY k, c
          1 | 1 | 30
          1 | 2 | 5
          2 | 1 | 7
          2 | 3 | 100
        SELECT c, max(v) FROM t WHERE k = 1 GROUP BY c
          1 | 20
          2 | 5
        SELECT k, c, sum(v) FROM t GROUP BY k, c LIMIT 3
          1 | 1 | 30
          1 | 2 | 5
          2 | 1 | 7
        SELECT k, c, sum(v) FROM t GROUP BY k, c PER PARTITION LIMIT 1
          1 | 1 | 30
          2 | 1 | 7
        SELECT k, c, v FROM t GROUP BY k, c
          1 | 1 | 10
          1 | 2 | 5
          2 | 1 | 7
          2 | 3 | 100
        SELECT k, sum(v) FROM t WHERE k = 42 GROUP BY k
        SELECT c, sum(v) FROM t WHERE k = 1 GROUP BY c ORDER BY c DESC
          2 | 5
          1 | 30
        SELECT k, c, sum(v) FROM t WHERE k IN (1, 2) GROUP BY k, c ORDER BY c DESC
          2 | 3 | 100
          1 | 2 | 5
          1 | 1 | 30
          2 | 1 | 7
        SELECT k, c, sum(v) FROM t WHERE k IN (1, 2) GROUP BY k, c ORDER BY c ASC LIMIT 3
          1 | 1 | 30
          2 | 1 | 7
          1 | 2 | 5
        SELECT d, sum(v) FROM t WHERE k = 1 AND c = 1 GROUP BY d
          1 | 10
          2 | 20
    ",
    );
}

#[test]
fn groups_by_time() {
    let mut bench = Bench::new("CREATE TABLE m (k int, t timestamp, v int, PRIMARY KEY (k, t))");
    check(
        &mut bench,
        "
        INSERT INTO m (k, t, v) VALUES (1, '2023-01-01 10:05:00+0000', 1)
        INSERT INTO m (k, t, v) VALUES (1, '2023-01-01 10:55:00+0000', 2)
        INSERT INTO m (k, t, v) VALUES (1, '2023-01-01 11:00:00+0000', 4)
        SELECT floor(t, 1h), sum(v) FROM m WHERE k = 1 GROUP BY floor(t, 1h)
          '2023-01-01T10:00:00.000Z' | 3
          '2023-01-01T11:00:00.000Z' | 4
    ",
    );
}
