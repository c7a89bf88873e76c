//! EXPLAIN tells class, partitions, path and advice.

use crate::harness::{Bench, check};

#[test]
fn selects_and_writes() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
    check(
        &mut bench,
        "
        EXPLAIN SELECT * FROM t WHERE k = 1 AND c = 2 AND d > 3 ORDER BY c DESC
          'statement' | 'SELECT'
          'table' | 'ks.t'
          'class' | 'single partition'
          'partitions' | '1'
          'path' | 'key: a slice of rows by c, d of each partition'
          'order' | 'reversed clustering order (as cheap as forwards)'
        EXPLAIN SELECT * FROM t WHERE k IN (1, 2, 3) ORDER BY c
          'statement' | 'SELECT'
          'table' | 'ks.t'
          'class' | 'bounded'
          'partitions' | '3'
          'path' | 'key: every row of each partition'
          'order' | 'partitions merged by clustering order'
        EXPLAIN SELECT v FROM t WHERE v = 5
          'statement' | 'SELECT'
          'table' | 'ks.t'
          'class' | 'unbounded'
          'partitions' | 'all'
          'path' | 'scan: every row of every partition, in token order'
          'filter' | 'rows are read and then tested on v'
          'order' | 'as stored'
          'refused' | 'without ALLOW FILTERING this statement is refused'
          'advice' | 'ALLOW FILTERING: this query reads every partition of ks.t and returns only rows where v = 5; its cost grows with the data read, not with the result. A table that serves it: CREATE TABLE ks.t_by_v (v int, k int, c int, d int, PRIMARY KEY ((v), k, c, d));'
        EXPLAIN SELECT count(*) FROM t
          'statement' | 'SELECT'
          'table' | 'ks.t'
          'class' | 'unbounded'
          'partitions' | 'all'
          'path' | 'scan: every row of every partition, in token order'
          'order' | 'as stored'
          'aggregation' | 'every row read becomes part of one result row'
          'advice' | 'name the partition (k = ?), or read token ranges in pages'
        EXPLAIN DELETE FROM t WHERE k IN (1, 2) AND c > 3
          'statement' | 'DELETE'
          'table' | 'ks.t'
          'class' | 'bounded'
          'partitions' | '2'
          'path' | 'deletes ranges of rows with one marker each'
        EXPLAIN UPDATE t SET v = 1 WHERE k = 1 AND c = 1 AND d = 1 IF v = 2
          'statement' | 'UPDATE'
          'table' | 'ks.t'
          'class' | 'single partition'
          'partitions' | '1'
          'path' | 'writes the rows its key names'
          'condition' | 'IF conditions: one read and one write under the partition''s lock'
        EXPLAIN SELECT * FROM t WHERE k = ? AND c > ?
          'statement' | 'SELECT'
          'table' | 'ks.t'
          'class' | 'single partition'
          'partitions' | '1'
          'path' | 'key: a slice of rows by c of each partition'
          'order' | 'as stored'
        EXPLAIN SELECT x FROM t
          invalid: Undefined column name x in table ks.t
        EXPLAIN TRUNCATE t
          invalid: EXPLAIN takes SELECT, INSERT, UPDATE, DELETE or BATCH
    ",
    );
}
