//! Functions, casts and arithmetic through SELECT.

use crate::harness::{Bench, check};
use cql::CqlError;

#[test]
fn scalars() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int PRIMARY KEY, i int, b bigint, d double, de decimal, te text, ts timestamp, da date, \
         tu timeuuid, m map<text, int>, l list<int>, v1 vector<float, 2>, v2 vector<float, 2>)",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, i, b, d, de, te, ts, da, tu, m, l, v1, v2) VALUES (1, -7, 5, 2.5, 1.25, 'abc', '2023-05-06 07:08:09+0000', '2023-05-06', 50554d6e-29bb-11e5-b345-feff819cdc9f, {'a': 1, 'b': 2}, [3, 1, 2], [1, 0], [0, 1])
        SELECT abs(i), round(d), exp(d) FROM t
          7 | 3.0 | 12.182493960703473
        SELECT to_date(ts), toTimestamp(da), to_unix_timestamp(ts), toDate(tu), to_timestamp(tu) FROM t
          '2023-05-06' | '2023-05-06T00:00:00.000Z' | 1683356889000 | '2015-07-14' | '2015-07-14T00:00:18.805Z'
        SELECT floor(ts, 1h), floor(da, 1mo) FROM t
          '2023-05-06T07:00:00.000Z' | '2023-05-01'
        SELECT int_as_blob(i), blobAsInt(intAsBlob(i)), text_as_blob(te) FROM t
          0xfffffff9 | -7 | 0x616263
        SELECT map_keys(m), map_values(m), collection_count(m), collection_max(l), collection_sum(l), collection_avg(l) FROM t
          {'a', 'b'} | [1, 2] | 2 | 3 | 6 | 2
        SELECT similarity_cosine(v1, v2), similarity_euclidean(v1, [1, 0]), similarity_dot_product(v1, v1) FROM t
          0.5 | 1.0 | 1.0
        SELECT mask_hash(te, 'MD5'), mask_default(m) FROM t WHERE k = 1
          0x900150983cd24fb0d6963f7d28e17f72 | {}
        SELECT mask_inner(te, 1, 1), mask_outer(te, 1, 1), mask_default(i), mask_null(te), mask_replace(te, 'x') FROM t
          'a*c' | '*b*' | 0 | null | 'x'
    ",
    );
}

#[test]
fn arithmetic_and_casts() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int PRIMARY KEY, i int, b bigint, d double, te text, ts timestamp, da date, du duration)",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, i, b, d, te, ts, da, du) VALUES (1, 7, 5, 2.5, 'abc', '2023-05-06 07:08:09+0000', '2023-05-06', 2d)
        SELECT i + 1, i - 1, i * 2, i / 2, i % 4 FROM t
          8 | 6 | 14 | 3 | 3
        SELECT i + b, i * d, -i, (i + 1) * 2 FROM t
          12 | 17.5 | -7 | 16
        SELECT te + 'def', ts + 1h, da - 2d, da + du FROM t
          'abcdef' | '2023-05-06T08:08:09.000Z' | '2023-05-04' | '2023-05-08'
        SELECT cast(i as text), cast(d as int), cast(ts as date), cast(i as double) FROM t
          '7' | 2 | '2023-05-06' | 7.0
        SELECT i + k FROM t WHERE k = 1 + 0
          8
        SELECT te FROM t WHERE k = (int) 1
          'abc'
        SELECT ts FROM t WHERE k = blob_as_int(0x00000001)
          '2023-05-06T07:08:09.000Z'
    ",
    );
    let failed = bench.run("SELECT i / 0 FROM t");
    let expected = CqlError::FunctionFailure {
        keyspace: "system".into(),
        function: "_divide".into(),
        arguments: vec!["int".into(), "int".into()],
        message: "the operation 'int / int' failed: / by zero".into(),
    };
    assert_eq!(failed.unwrap_err(), expected);
}
