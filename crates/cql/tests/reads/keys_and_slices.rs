//! Partition keys, token ranges, clustering slices, ORDER BY, limits, DISTINCT, static rows.

use crate::harness::{Bench, check};

fn rows(bench: &mut Bench, table: &str, columns: &str, values: &[&str]) {
    for value in values {
        bench.run(&format!("INSERT INTO {table} ({columns}) VALUES ({value})")).unwrap();
    }
}

fn two_clustering() -> Bench {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
    let values: Vec<String> = (0..3)
        .flat_map(|c| (0..3).map(move |d| format!("1, {c}, {d}, {}", c * 10 + d)))
        .chain(["2, 0, 0, 200".to_string(), "3, 5, 5, 355".to_string()])
        .collect();
    rows(&mut bench, "t", "k, c, d, v", &values.iter().map(String::as_str).collect::<Vec<_>>());
    bench
}

#[test]
fn points_prefixes_and_ranges() {
    check(
        &mut two_clustering(),
        "
        SELECT v FROM t WHERE k = 1 AND c = 1 AND d = 2
          12
        SELECT v FROM t WHERE k = 1 AND c = 1
          10
          11
          12
        SELECT v FROM t WHERE k = 1 AND c > 1
          20
          21
          22
        SELECT v FROM t WHERE k = 1 AND c >= 1 AND c < 2
          10
          11
          12
        SELECT v FROM t WHERE k = 1 AND c = 0 AND d > 0 AND d <= 2
          1
          2
        SELECT v FROM t WHERE k = 1 AND c = 0 AND d > 2
        SELECT v FROM t WHERE k = 1 AND c BETWEEN 1 AND 2 LIMIT 4
          10
          11
          12
          20
        SELECT v FROM t WHERE k = 1 AND c > 2 AND c < 1
        SELECT v FROM t WHERE k = 7
    ",
    );
}

#[test]
fn tuples_of_clustering_columns() {
    check(
        &mut two_clustering(),
        "
        SELECT v FROM t WHERE k = 1 AND (c, d) = (1, 1)
          11
        SELECT v FROM t WHERE k = 1 AND (c, d) > (1, 1)
          12
          20
          21
          22
        SELECT v FROM t WHERE k = 1 AND (c, d) >= (1, 1) AND (c, d) < (2, 1)
          11
          12
          20
        SELECT v FROM t WHERE k = 1 AND (c) >= (1) AND (c, d) < (1, 1)
          10
        SELECT v FROM t WHERE k = 1 AND (c, d) IN ((2, 2), (0, 0), (2, 2), (9, 9))
          0
          22
        SELECT v FROM t WHERE k = 1 AND c IN (2, 0) AND d IN (1, 0)
          0
          1
          20
          21
        SELECT v FROM t WHERE k = 1 AND c IN (2, 0) AND d > 1
          2
          22
        SELECT v FROM t WHERE k = 1 AND c IN ()
        SELECT v FROM t WHERE k = 1 AND c IN (1, null) AND d = 0
          invalid: Invalid null value in condition for column c
        SELECT v FROM t WHERE k = 1 AND c = 2 AND d > null
          20
          21
          22
        SELECT v FROM t WHERE k = 1 AND c = 2 AND d < null
        SELECT v FROM t WHERE k = 1 AND (c, d) > (0, 1) AND c < 2
          2
          10
          11
          12
    ",
    );
}

#[test]
fn mixed_directions() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, c int, d int, PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC)",
    );
    let values: Vec<String> = (0..3).flat_map(|c| (0..3).map(move |d| format!("1, {c}, {d}"))).collect();
    rows(&mut bench, "t", "k, c, d", &values.iter().map(String::as_str).collect::<Vec<_>>());
    check(
        &mut bench,
        "
        SELECT c, d FROM t WHERE k = 1 AND c = 1
          1 | 2
          1 | 1
          1 | 0
        SELECT c, d FROM t WHERE k = 1 AND (c, d) > (1, 1)
          1 | 2
          2 | 2
          2 | 1
          2 | 0
        SELECT c, d FROM t WHERE k = 1 AND (c, d) > (0, 1) AND (c, d) <= (1, 1)
          0 | 2
          1 | 1
          1 | 0
        SELECT c, d FROM t WHERE k = 1 AND (c, d) > (1, 1) ORDER BY c DESC, d ASC
          2 | 0
          2 | 1
          2 | 2
          1 | 2
        SELECT c, d FROM t WHERE k = 1 ORDER BY c DESC, d DESC
          invalid: Unsupported order by relation
        SELECT d FROM t WHERE k = 1 AND c = 1 ORDER BY d ASC
          0
          1
          2
        SELECT d FROM t WHERE k = 1 AND c = 1 AND d >= 1 ORDER BY c DESC
          1
          2
    ",
    );
}

#[test]
fn several_partitions_come_in_key_order() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))");
    rows(
        &mut bench,
        "t",
        "k, c, v",
        &["1, 1, 11", "1, 4, 14", "2, 2, 22", "2, 3, 23", "3, 0, 30", "3, 4, 34"],
    );
    check(
        &mut bench,
        "
        SELECT v FROM t WHERE k IN (3, 1, 2, 1, 9)
          11
          14
          22
          23
          30
          34
        SELECT v FROM t WHERE k IN (3, 1) AND c = 4
          14
          34
        SELECT v FROM t WHERE k IN (3, 1, 2) ORDER BY c
          30
          11
          22
          23
          14
          34
        SELECT v FROM t WHERE k IN (3, 1, 2) ORDER BY c DESC LIMIT 3
          14
          34
          23
        SELECT v FROM t WHERE k IN (3, 1, 2) ORDER BY c ASC PER PARTITION LIMIT 1
          30
          11
          22
        SELECT v FROM t WHERE k IN (1, 2, 3) PER PARTITION LIMIT 1 LIMIT 2
          11
          22
        SELECT k, v FROM t
          1 | 11
          1 | 14
          2 | 22
          2 | 23
          3 | 30
          3 | 34
        SELECT k, v FROM t PER PARTITION LIMIT 1
          1 | 11
          2 | 22
          3 | 30
        SELECT DISTINCT k FROM t
          1
          2
          3
        SELECT DISTINCT k FROM t LIMIT 2
          1
          2
        SELECT DISTINCT k FROM t WHERE k IN (2, 3)
          2
          3
    ",
    );
}

#[test]
fn composite_partition_keys() {
    let mut bench = Bench::new("CREATE TABLE t (a int, b text, v int, PRIMARY KEY ((a, b)))");
    rows(&mut bench, "t", "a, b, v", &["1, 'x', 1", "1, 'y', 2", "2, 'x', 3"]);
    check(
        &mut bench,
        "
        SELECT v FROM t WHERE a = 1 AND b = 'y'
          2
        SELECT a, b FROM t WHERE a IN (2, 1) AND b IN ('y', 'x')
          1 | 'x'
          1 | 'y'
          2 | 'x'
        SELECT b, v FROM t WHERE a = 1 ALLOW FILTERING
          'x' | 1
          'y' | 2
        SELECT v FROM t WHERE b >= 'y' ALLOW FILTERING
          2
        SELECT v FROM t WHERE a = 1 AND b = ''
    ",
    );
}

#[test]
fn token_ranges() {
    // Tokens: 1 -> -4069959284402364209, 2 -> -3248873570005575792, 3 -> 9010454139840013625.
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int)");
    rows(&mut bench, "t", "k, v", &["1, 10", "2, 20", "3, 30"]);
    check(
        &mut bench,
        "
        SELECT k, token(k) FROM t
          1 | -4069959284402364209
          2 | -3248873570005575792
          3 | 9010454139840013625
        SELECT k FROM t WHERE token(k) > -4069959284402364209
          2
          3
        SELECT k FROM t WHERE token(k) >= token(1) AND token(k) < token(3)
          1
          2
        SELECT k FROM t WHERE token(k) = token(2)
          2
        SELECT k FROM t WHERE token(k) > 5 AND token(k) < 4
        SELECT k FROM t WHERE token(k) > 0 AND token(k) <= -9223372036854775808
          3
        SELECT k FROM t WHERE token(k) > 9223372036854775807
        SELECT k FROM t WHERE token(k) <= 9223372036854775807 LIMIT 1
          1
        SELECT k FROM t WHERE k IN (1, 2, 3) AND token(k) > token(1)
          2
          3
    ",
    );
}

#[test]
fn static_rows() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))");
    check(
        &mut bench,
        "
        INSERT INTO t (k, s) VALUES (1, 100)
        INSERT INTO t (k, c, v) VALUES (2, 1, 21)
        INSERT INTO t (k, c, s, v) VALUES (3, 1, 300, 31)
        INSERT INTO t (k, c, v) VALUES (3, 2, 32)
        SELECT * FROM t
          1 | null | 100 | null
          2 | 1 | null | 21
          3 | 1 | 300 | 31
          3 | 2 | 300 | 32
        SELECT DISTINCT k, s FROM t
          1 | 100
          2 | null
          3 | 300
        SELECT s FROM t WHERE k = 1
          100
        SELECT * FROM t WHERE k = 1 AND c = 0
        SELECT * FROM t WHERE k = 1 AND c > 0
        SELECT k, s FROM t WHERE s > 200 ALLOW FILTERING
          3 | 300
          3 | 300
        SELECT DISTINCT k FROM t WHERE s = 100 ALLOW FILTERING
          1
        SELECT s FROM t WHERE k = 3 AND c = 1
          invalid: Cannot restrict clustering columns when selecting only static columns
        SELECT s, v FROM t WHERE k = 3 ORDER BY c DESC
          300 | 32
          300 | 31
        SELECT count(*) FROM t
          4
    ",
    );
}

#[test]
fn lists_of_values_may_be_one_marker() {
    let mut bench = two_clustering();
    let list = |values: &[i32]| {
        model::value::encode_elements(values.iter().map(|v| v.to_be_bytes()).collect::<Vec<_>>())
    };
    let bytes = list(&[2, 1]);
    let got = bench.run_with("SELECT k, v FROM t WHERE k IN ? AND c = 0 AND d = 0", &[Some(&bytes)]);
    assert_eq!(got, ["1 | 0", "2 | 200"]);
    let pair = |a: i32, b: i32| model::value::encode_fields([Some(a.to_be_bytes()), Some(b.to_be_bytes())]);
    let pairs = model::value::encode_elements([pair(2, 2), pair(0, 1)]);
    let got = bench.run_with("SELECT v FROM t WHERE k = 1 AND (c, d) IN ?", &[Some(&pairs)]);
    assert_eq!(got, ["1", "22"]);
    let tuple = pair(2, 1);
    let got = bench.run_with("SELECT v FROM t WHERE k = 1 AND (c, d) >= ?", &[Some(&tuple)]);
    assert_eq!(got, ["21", "22"]);
    let three = 3i32.to_be_bytes();
    let got = bench.run_with("SELECT v FROM t WHERE k = 1 LIMIT ?", &[Some(&three)]);
    assert_eq!(got, ["0", "1", "2"]);
    let got = bench.run_with("SELECT v FROM t WHERE k = ?", &[None]);
    assert_eq!(got, ["invalid: Invalid null value in condition for column k"]);
    let got = bench.run_with("SELECT v FROM t WHERE k = ?", &[Some(b"abc")]);
    assert_eq!(got, ["invalid: Expected 4 or 0 byte int (3)"]);
}
