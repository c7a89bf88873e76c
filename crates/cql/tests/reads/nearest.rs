//! ORDER BY ... ANN OF: exact search by cosine similarity.

use crate::harness::{Bench, check};

#[test]
fn most_similar_rows_come_first() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int, c int, v vector<float, 2>, n int, PRIMARY KEY (k, c))");
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, v, n) VALUES (1, 1, [1, 0], 1)
        INSERT INTO t (k, c, v, n) VALUES (1, 2, [0, 1], 2)
        INSERT INTO t (k, c, v, n) VALUES (2, 1, [1, 1], 3)
        INSERT INTO t (k, c, v, n) VALUES (3, 1, [-1, 0], 4)
        INSERT INTO t (k, c, n) VALUES (4, 1, 5)
        SELECT n FROM t ORDER BY v ANN OF [1, 0.1] LIMIT 3
          1
          3
          2
        SELECT n, similarity_cosine(v, [1, 0]) FROM t ORDER BY v ANN OF [1, 0] LIMIT 10
          1 | 1.0
          3 | 0.8535534
          2 | 0.5
          4 | 0.0
        SELECT n FROM t WHERE k = 1 ORDER BY v ANN OF [0, 1] LIMIT 1
          2
        SELECT n FROM t WHERE n > 2 ORDER BY v ANN OF [1, 0] LIMIT 1 ALLOW FILTERING
          3
        SELECT n FROM t ORDER BY v ANN OF [1, 0]
          invalid: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was NO LIMIT
        SELECT n FROM t ORDER BY v ANN OF [1, 0] LIMIT 2000
          invalid: Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than 1000. LIMIT was 2000
        SELECT n FROM t ORDER BY v ANN OF [1] LIMIT 2
          invalid: Invalid vector literal for v of type vector<float, 2>; expected 2 elements, but given 1
        SELECT n FROM t ORDER BY n ANN OF [1, 0] LIMIT 2
          invalid: Unexpected receiver type 'int'; only list and vector are expected
    ",
    );
}
