//! Writes end to end on the naive store: statements in, rows (or the error) out, as text.

#[path = "writes/constraints.rs"]
mod constraints;
#[path = "writes/dumps.rs"]
mod dumps;
mod harness;
#[path = "writes/row_ttl.rs"]
mod row_ttl;
#[path = "writes/views.rs"]
mod views;

use harness::{Bench, check};

#[test]
fn inserts_updates_and_deletes() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int, c int, s text static, v text, n int, PRIMARY KEY (k, c))");
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, s, v) VALUES (1, 1, 'shared', 'a')
        INSERT INTO t (k, c, v, n) VALUES (1, 2, 'b', 7)
        SELECT * FROM t
          1 | 1 | 'shared' | null | 'a'
          1 | 2 | 'shared' | 7 | 'b'
        UPDATE t SET v = 'c', n = 8 WHERE k = 1 AND c = 1
        SELECT v, n FROM t WHERE k = 1 AND c = 1
          'c' | 8
        DELETE n FROM t WHERE k = 1 AND c = 1
        SELECT v, n FROM t WHERE k = 1 AND c = 1
          'c' | null
        DELETE FROM t WHERE k = 1 AND c = 2
        SELECT c FROM t WHERE k = 1
          1
        UPDATE t SET s = 'other' WHERE k = 2
        SELECT k, c, s FROM t WHERE k = 2
          2 | null | 'other'
        DELETE FROM t WHERE k = 1
        SELECT * FROM t WHERE k = 1
        INSERT INTO t (k, c) VALUES (3, 3)
        UPDATE t SET v = null WHERE k = 3 AND c = 3
        SELECT * FROM t WHERE k = 3
          3 | 3 | null | null | null
        UPDATE t SET v = 'only cell' WHERE k = 4 AND c = 4
        UPDATE t SET v = null WHERE k = 4 AND c = 4
        SELECT * FROM t WHERE k = 4
    ",
    );
}

#[test]
fn ranges_and_partitions_are_deleted_by_time() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, d, v) VALUES (1, 1, 1, 11) USING TIMESTAMP 10
        INSERT INTO t (k, c, d, v) VALUES (1, 1, 2, 12) USING TIMESTAMP 10
        INSERT INTO t (k, c, d, v) VALUES (1, 2, 1, 21) USING TIMESTAMP 10
        INSERT INTO t (k, c, d, v) VALUES (1, 3, 1, 31) USING TIMESTAMP 30
        DELETE FROM t USING TIMESTAMP 20 WHERE k = 1 AND c = 1 AND d >= 2
        SELECT v FROM t WHERE k = 1
          11
          21
          31
        DELETE FROM t USING TIMESTAMP 20 WHERE k = 1 AND c > 1 AND c <= 3
        SELECT v FROM t WHERE k = 1
          11
          31
        DELETE FROM t USING TIMESTAMP 25 WHERE k = 1
        SELECT v FROM t WHERE k = 1
          31
        INSERT INTO t (k, c, d, v) VALUES (1, 1, 1, 99) USING TIMESTAMP 24
        SELECT v FROM t WHERE k = 1
          31
        INSERT INTO t (k, c, d, v) VALUES (1, 1, 1, 99) USING TIMESTAMP 26
        SELECT v FROM t WHERE k = 1
          99
          31
    ",
    );
}

#[test]
fn collections_change_by_element() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int PRIMARY KEY, s set<int>, m map<text, int>, l list<text>)");
    check(
        &mut bench,
        "
        INSERT INTO t (k, s, m, l) VALUES (1, {3, 1}, {'b': 2, 'a': 1}, ['x', 'y'])
        SELECT s, m, l FROM t
          {1, 3} | {'a': 1, 'b': 2} | ['x', 'y']
        UPDATE t SET s = s + {2}, m['c'] = 3, l = l + ['z'] WHERE k = 1
        SELECT s, m, l FROM t
          {1, 2, 3} | {'a': 1, 'b': 2, 'c': 3} | ['x', 'y', 'z']
        UPDATE t SET s = s - {1}, m = m - {'a'}, l = ['u', 'v'] + l WHERE k = 1
        SELECT s, m, l FROM t
          {2, 3} | {'b': 2, 'c': 3} | ['u', 'v', 'x', 'y', 'z']
        UPDATE t SET l[1] = 'V' WHERE k = 1
        DELETE l[0], m['b'] FROM t WHERE k = 1
        SELECT m, l FROM t
          {'c': 3} | ['V', 'x', 'y', 'z']
        UPDATE t SET l = l - ['x', 'z'] WHERE k = 1
        SELECT l FROM t
          ['V', 'y']
        UPDATE t SET l[5] = 'q' WHERE k = 1
          invalid: List index 5 out of bound, list has size 2
        UPDATE t SET s = {9}, m = null, l = [] WHERE k = 1
        SELECT s, m, l FROM t
          {9} | null | null
        UPDATE t SET l[0] = 'q' WHERE k = 1
          invalid: Attempted to set an element on a list which is null
    ",
    );
}

#[test]
fn user_types_change_by_field() {
    let mut bench = Bench::new("CREATE TYPE address (street text, zip int)");
    bench.run("CREATE TABLE t (k int PRIMARY KEY, a address, f frozen<address>)").unwrap();
    check(
        &mut bench,
        "
        INSERT INTO t (k, a, f) VALUES (1, {street: 's', zip: 5}, {street: 'f'})
        SELECT a, f FROM t
          {street: 's', zip: 5} | {street: 'f', zip: null}
        UPDATE t SET a.zip = 6 WHERE k = 1
        DELETE a.street FROM t WHERE k = 1
        SELECT a FROM t
          {street: null, zip: 6}
        UPDATE t SET f.zip = 6 WHERE k = 1
          invalid: Invalid operation (f.zip = 6) for frozen UDT column f
    ",
    );
}

#[test]
fn counters_count() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, n counter, m counter)");
    check(&mut bench, "
        UPDATE t SET n = n + 5 WHERE k = 1
        UPDATE t SET n = n - 2, m += 1 WHERE k = 1
        SELECT n, m FROM t WHERE k = 1
          3 | 1
        INSERT INTO t (k, n) VALUES (1, 1)
          invalid: INSERT statements are not allowed on counter tables, use UPDATE instead
        UPDATE t SET n = 3 WHERE k = 1
          invalid: Cannot set the value of counter column n (counters can only be incremented/decremented, not set)
        UPDATE t USING TTL 3 SET n = n + 1 WHERE k = 1
          invalid: Cannot provide custom TTL for counter updates
        BEGIN COUNTER BATCH UPDATE t SET n = n + 1 WHERE k = 1; UPDATE t SET n = n + 1 WHERE k = 2; APPLY BATCH
        SELECT k, n FROM t
          1 | 4
          2 | 1
        DELETE n FROM t WHERE k = 1
        SELECT n, m FROM t WHERE k = 1
          null | 1
    ");
}

#[test]
fn conditions_decide() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, v text, n int, PRIMARY KEY (k, c))");
    check(&mut bench, "
        INSERT INTO t (k, c, v, n) VALUES (1, 1, 'a', 10) IF NOT EXISTS
          true
        INSERT INTO t (k, c, v) VALUES (1, 1, 'b') IF NOT EXISTS
          false | 1 | 1 | 10 | 'a'
        UPDATE t SET v = 'b' WHERE k = 1 AND c = 1 IF v = 'x'
          false | 'a'
        UPDATE t SET v = 'b' WHERE k = 1 AND c = 1 IF v = 'a' AND n > 5
          true
        UPDATE t SET v = 'z' WHERE k = 1 AND c = 9 IF EXISTS
          false
        UPDATE t SET v = 'z' WHERE k = 1 AND c = 9 IF v = null
          true
        SELECT c, v FROM t WHERE k = 1
          1 | 'b'
          9 | 'z'
        DELETE FROM t WHERE k = 1 AND c = 9 IF v IN ('y', 'z')
          true
        UPDATE t SET n = n - 1 WHERE k = 1 AND c = 1 IF n >= 1
          true
        SELECT n FROM t WHERE k = 1
          9
        BEGIN BATCH INSERT INTO t (k, c, v) VALUES (1, 2, 'x') IF NOT EXISTS; UPDATE t SET v = 'y' WHERE k = 1 AND c = 1; APPLY BATCH
          true
        SELECT c, v FROM t WHERE k = 1
          1 | 'y'
          2 | 'x'
        UPDATE t USING TIMESTAMP 5 SET v = 'y' WHERE k = 1 AND c = 1 IF EXISTS
          invalid: Cannot provide custom timestamp for conditional updates
        UPDATE t SET v = 'y' WHERE k = 1 AND c = 1 IF c = 1
          invalid: PRIMARY KEY column 'c' cannot have IF conditions
    ");
}

#[test]
fn batches_are_one_commit_and_keep_their_rules() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int)");
    bench.run("CREATE TABLE n (k int PRIMARY KEY, c counter)").unwrap();
    check(&mut bench, "
        BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1); INSERT INTO t (k, v) VALUES (2, 2) APPLY BATCH
        SELECT * FROM t
          1 | 1
          2 | 2
        BEGIN BATCH UPDATE n SET c = c + 1 WHERE k = 1; APPLY BATCH
          invalid: Cannot include a counter statement in a logged batch
        BEGIN COUNTER BATCH INSERT INTO t (k, v) VALUES (1, 1); APPLY BATCH
          invalid: Cannot include non-counter statement in a counter batch
        BEGIN BATCH USING TTL 5 INSERT INTO t (k, v) VALUES (1, 1); APPLY BATCH
          invalid: Global TTL on the BATCH statement is not supported.
        BEGIN BATCH USING TIMESTAMP 5 INSERT INTO t (k, v) VALUES (1, 1) USING TIMESTAMP 6; APPLY BATCH
          invalid: Timestamp must be set either on BATCH or individual statements
        BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS; INSERT INTO t (k, v) VALUES (2, 1) IF NOT EXISTS; APPLY BATCH
          invalid: Batch with conditions cannot span multiple partitions
    ");
}

#[test]
fn time_to_live_and_timestamps() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int) WITH default_time_to_live = 100");
    check(
        &mut bench,
        "
        INSERT INTO t (k, v) VALUES (1, 1)
        SELECT ttl(v) FROM t WHERE k = 1
          100
        INSERT INTO t (k, v) VALUES (1, 1) USING TTL 0
        SELECT ttl(v) FROM t WHERE k = 1
          null
        INSERT INTO t (k, v) VALUES (2, 1) USING TTL 50 AND TIMESTAMP 77
        SELECT ttl(v), writetime(v) FROM t WHERE k = 2
          50 | 77
        INSERT INTO t (k, v) VALUES (2, 1) USING TTL -1
          invalid: A TTL must be greater or equal to 0, but was -1
        INSERT INTO t (k, v) VALUES (2, 1) USING TTL 630720001
          invalid: ttl is too large. requested (630720001) maximum (630720000)
    ",
    );
    bench.pass_seconds(51);
    check(
        &mut bench,
        "
        SELECT k FROM t WHERE k = 2
        SELECT k FROM t WHERE k = 1
          1
    ",
    );
}

#[test]
fn wrong_statements_are_refused_in_cassandras_words() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, c int, s int static, v int, l frozen<list<int>>, PRIMARY KEY (k, c))",
    );
    check(&mut bench, "
        INSERT INTO t (k, v) VALUES (1, 1)
          invalid: Some clustering keys are missing: c
        INSERT INTO t (c, v) VALUES (1, 1)
          invalid: Some partition key parts are missing: k
        INSERT INTO t (k, c, v) VALUES (1, 1)
          invalid: Unmatched column names/values
        INSERT INTO t (k, c, c) VALUES (1, 1, 1)
          invalid: The column names contains duplicates
        INSERT INTO t (k, c, x) VALUES (1, 1, 1)
          invalid: Undefined column name x in table ks.t
        INSERT INTO t (k, c) VALUES (null, 1)
          invalid: Invalid null value in condition for column k
        UPDATE t SET v = 1 WHERE k = 1
          invalid: Some clustering keys are missing: c
        UPDATE t SET k = 2 WHERE k = 1 AND c = 1
          invalid: PRIMARY KEY part k found in SET part
        UPDATE t SET s = 1 WHERE k = 1 AND c = 1
          invalid: Invalid restrictions on clustering columns since the UPDATE statement modifies only static columns
        UPDATE t SET v = 1, v = 2 WHERE k = 1 AND c = 1
          syntax: Multiple incompatible setting of column v
        UPDATE t SET l = l + [1] WHERE k = 1 AND c = 1
          invalid: Invalid operation (l = l + [1]) for frozen collection column l
        DELETE v FROM t WHERE k = 1 AND c > 1
          invalid: Range deletions are not supported for specific columns
        DELETE k FROM t WHERE k = 1
          invalid: Invalid identifier k for deletion (should not be a PRIMARY KEY part)
        DELETE FROM t WHERE c = 1
          invalid: Some partition key parts are missing: k
    ");
}

#[test]
fn json_in() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v text, \"Mixed\" int, l list<int>)");
    check(
        &mut bench,
        r#"
        INSERT INTO t JSON '{"k": 1, "v": "x", "\"Mixed\"": 5, "l": [1, 2]}'
        SELECT * FROM t
          1 | 5 | [1, 2] | 'x'
        INSERT INTO t JSON '{"k": 1, "v": "y"}' DEFAULT UNSET
        SELECT * FROM t
          1 | 5 | [1, 2] | 'y'
        INSERT INTO t JSON '{"k": 1}'
        SELECT * FROM t
          1 | null | null | null
        INSERT INTO t JSON '{"k": 1, "nope": 2}'
          invalid: JSON values map contains unrecognized column: nope
    "#,
    );
}

#[test]
fn decimals_keep_their_scale_in_keys_and_elements() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, d decimal, c int, v int, s set<decimal>, m map<decimal, int>, f set<frozen<tuple<decimal, int>>>, \
         PRIMARY KEY (k, d, c)) WITH CLUSTERING ORDER BY (d DESC, c ASC)",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, d, c, v) VALUES (1, 19.90, 1, 1)
        INSERT INTO t (k, d, c, v) VALUES (1, 19.9, 2, 2)
        INSERT INTO t (k, d, c, v) VALUES (1, 7.00, 1, 3)
        SELECT d, c, v FROM t WHERE k = 1
          19.90 | 1 | 1
          19.9 | 2 | 2
          7.00 | 1 | 3
        SELECT d, c FROM t WHERE k = 1 AND d = 19.900
          19.90 | 1
          19.9 | 2
        SELECT d, count(*) FROM t WHERE k = 1 GROUP BY k, d
          19.90 | 2
          7.00 | 1
        INSERT INTO t (k, d, c, v) VALUES (1, 7.0, 1, 4) IF NOT EXISTS
          false | 1 | 7.00 | 1 | null | null | null | 3
        UPDATE t SET v = 5 WHERE k = 1 AND d = 7.000 AND c = 1
        SELECT d, v FROM t WHERE k = 1 AND d < 10
          7.000 | 5
        UPDATE t SET v = 6 WHERE k = 2 AND d = 1.10 AND c = 1
        SELECT d, v FROM t WHERE k = 2
          1.10 | 6
        DELETE v FROM t WHERE k = 2 AND d = 1.1 AND c = 1
        SELECT d, v FROM t WHERE k = 2
        UPDATE t SET v = 7 WHERE k = 2 AND d = 1.10 AND c = 1 IF EXISTS
          false
        SELECT d FROM t WHERE k = 1 AND d = 7 AND c = 1
          7.000
        DELETE FROM t WHERE k = 1 AND d = 7 AND c = 1
        INSERT INTO t (k, d, c) VALUES (1, 7, 1)
        SELECT d FROM t WHERE k = 1 AND d = 7.00
          7
        UPDATE t SET s = {1.50, 1.5, 1E+2, 100, 0.00}, m = {2.50: 1, 3: 2}, f = {(4.0, 1)} WHERE k = 3 AND d = 1 AND c = 1
        SELECT s, m, f FROM t WHERE k = 3
          {0.00, 1.50, 1E+2} | {2.50: 1, 3: 2} | {(4.0, 1)}
        UPDATE t SET m[2.500] = 7, m[3.0] = 8, s = s + {6.00} WHERE k = 3 AND d = 1 AND c = 1
        SELECT s, m, m[2.5], m[3] FROM t WHERE k = 3
          {0.00, 1.50, 6.00, 1E+2} | {2.500: 7, 3.0: 8} | 7 | 8
        UPDATE t SET s = s - {1.5, 6}, m = m - {2.5} WHERE k = 3 AND d = 1 AND c = 1
        SELECT s, m FROM t WHERE k = 3
          {0.00, 1E+2} | {3.0: 8}
        UPDATE t SET v = 1 WHERE k = 3 AND d = 1 AND c = 1 IF m[3.000] = 8 AND s = {0, 100}
          true
    ",
    );
}

#[test]
fn counters_beside_a_decimal_keep_its_scale() {
    let mut bench = Bench::new("CREATE TABLE t (k int, d decimal, n counter, PRIMARY KEY (k, d))");
    check(
        &mut bench,
        "
        UPDATE t SET n = n + 1 WHERE k = 1 AND d = 1.50
        UPDATE t SET n = n + 2 WHERE k = 1 AND d = 1.5
        SELECT d, n FROM t
          1.50 | 3
        DELETE n FROM t WHERE k = 1 AND d = 1.5
        SELECT d, n FROM t
    ",
    );
}
