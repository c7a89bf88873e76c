//! CHECK and NOT NULL: what a statement writes itself, and what needs the row as it will be.

use super::harness::{Bench, check};

#[test]
fn partial_updates_are_judged_by_the_row_as_it_will_be() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, c int, a int NOT NULL, b int CHECK b < 10, s int static, PRIMARY KEY (k, c))",
    );
    check(
        &mut bench,
        "
        UPDATE t SET b = 1 WHERE k = 1 AND c = 1
          invalid: Column 'a' has to be specified as part of this query.
        INSERT INTO t (k, c, a) VALUES (1, 1, 1)
        UPDATE t SET b = 2 WHERE k = 1 AND c = 1
        INSERT INTO t (k, c, b) VALUES (1, 1, 3)
        DELETE b FROM t WHERE k = 1 AND c = 1
        DELETE a FROM t WHERE k = 1 AND c = 1
          invalid: Column 'a' can not be set to null.
        UPDATE t SET s = 5 WHERE k = 1
        SELECT * FROM t
          1 | 1 | 5 | 1 | null
        BEGIN BATCH INSERT INTO t (k, c, a) VALUES (2, 2, 2); UPDATE t SET b = 4 WHERE k = 2 AND c = 2; APPLY BATCH
        SELECT a, b FROM t WHERE k = 2
          2 | 4
        BEGIN BATCH DELETE FROM t USING TIMESTAMP 4102444800000000 WHERE k = 2 AND c = 2; UPDATE t USING TIMESTAMP 4102444800000001 SET b = 5 WHERE k = 2 AND c = 2; APPLY BATCH
          invalid: Column 'a' has to be specified as part of this query.
        DELETE FROM t WHERE k = 1 AND c = 1
        UPDATE t SET b = 6 WHERE k = 1 AND c = 1
          invalid: Column 'a' has to be specified as part of this query.
        UPDATE t SET b = 60 WHERE k = 2 AND c = 2 IF a = 2
          invalid: Column value does not satisfy value constraint for column 'b'. It should be b < 10
    ",
    );
}

#[test]
fn numbers_are_added_to_in_the_same_commit() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, n int CHECK n <= 3, w text)");
    check(
        &mut bench,
        "
        INSERT INTO t (k, n, w) VALUES (1, 1, 'a')
        UPDATE t SET n = n + 1, w = w + 'b' WHERE k = 1
        UPDATE t SET n += 1 WHERE k = 1
        SELECT n, w FROM t
          3 | 'ab'
        UPDATE t SET n = n + 1 WHERE k = 1
          invalid: Column value does not satisfy value constraint for column 'n'. It should be n <= 3
        UPDATE t SET n = n - 3 WHERE k = 1
        SELECT n FROM t
          0
        UPDATE t SET n = n + 1 WHERE k = 2
        SELECT * FROM t WHERE k = 2
    ",
    );
}

#[test]
fn a_table_with_constraints_is_described_so_that_it_can_be_made_again() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int CHECK k > 0 PRIMARY KEY, a text NOT NULL CHECK LENGTH(a) < 5 AND REGEXP() != 'it''s', \
         j text CHECK JSON(), \"V\" decimal CHECK \"V\" >= 1.5 AND \"V\" < 9)",
    );
    let text = bench.page("DESCRIBE TABLE t", 10, None).0.join("\n");
    let create = text.split(" | '").last().unwrap().replace("''", "'").replace("\\n", " ");
    for part in [
        "k int CHECK k > 0 PRIMARY KEY",
        "a text CHECK LENGTH() < 5 AND REGEXP() != 'it''s' AND NOT NULL",
        "j text CHECK JSON()",
        "\"V\" decimal CHECK \"V\" >= 1.5 AND \"V\" < 9",
    ] {
        assert!(create.contains(part), "{part} is not in {create}");
    }
    bench.run("DROP TABLE t").unwrap();
    bench.run(create.trim_end_matches('\'')).unwrap();
    assert_eq!(bench.page("DESCRIBE TABLE t", 10, None).0.join("\n"), text);
}
