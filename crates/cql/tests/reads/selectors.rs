//! Selectors: aliases, names of result columns, parts of values, cell properties, JSON.

use crate::harness::{Bench, check};

#[test]
fn names_of_result_columns() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int PRIMARY KEY, v int, m map<text, int>, \"Q\" int, ts timestamp)");
    let mut names = |statement: &str| bench.columns(statement).join(" | ");
    assert_eq!(names("SELECT * FROM t"), "k int | Q int | m map<text, int> | ts timestamp | v int");
    assert_eq!(names("SELECT v AS value, k FROM t"), "value int | k int");
    assert_eq!(names("SELECT count(*) FROM t"), "count bigint");
    assert_eq!(names("SELECT count(v), max(v) FROM t"), "system.count(v) bigint | system.max(v) int");
    assert_eq!(names("SELECT now() FROM t"), "system.now() timeuuid");
    assert_eq!(names("SELECT writetime(v), ttl(v) FROM t"), "writetime(v) bigint | ttl(v) int");
    assert_eq!(names("SELECT writetime(m) FROM t"), "writetime(m) list<bigint>");
    assert_eq!(names("SELECT cast(v as text) FROM t"), "cast(v as text) text");
    assert_eq!(names("SELECT token(k) FROM t"), "system.token(k) bigint");
    assert_eq!(names("SELECT v + 1, -v FROM t"), "v + 1 int | -v int");
    assert_eq!(names("SELECT m['a'] FROM t"), "m['a'] int");
    assert_eq!(names("SELECT to_json(m) FROM t"), "system.to_json(m) text");
    assert_eq!(names("SELECT (bigint) 7 FROM t"), "(bigint)7 bigint");
    assert_eq!(names("SELECT JSON * FROM t"), "[json] text");
}

#[test]
fn parts_of_values() {
    let mut bench = Bench::new("CREATE TYPE pt (x int, y int)");
    bench.run(
        "CREATE TABLE t (k int PRIMARY KEY, m map<text, int>, s set<int>, l list<text>, f frozen<map<int, int>>, \
         u pt, fu frozen<pt>, ve vector<float, 2>)",
    )
    .unwrap();
    check(
        &mut bench,
        "
        INSERT INTO t (k, m, s, l, f, u, fu, ve) VALUES (1, {'a': 1, 'b': 2, 'c': 3}, {1, 2, 3}, ['x', 'y'], {1: 2}, {x: 1}, {x: 1, y: 2}, [1, 2])
        SELECT m['a'], m['z'], s[2], s[9], f[1] FROM t
          1 | null | 2 | null | 2
        SELECT m['a'..'b'], m['b'..], s[..2] FROM t
          {'a': 1, 'b': 2} | {'b': 2, 'c': 3} | {1, 2}
        SELECT u.x, u.y, fu.y FROM t
          1 | null | 2
        SELECT ve, m FROM t
          [1.0, 2.0] | {'a': 1, 'b': 2, 'c': 3}
        SELECT [k, 5], (k, 'a'), {k} FROM t
          invalid: Cannot infer type for term (k, 'a') in selection clause (try using a cast to force a type)
        SELECT [k, 5], {k} FROM t
          [1, 5] | {1}
    ",
    );
}

#[test]
fn write_times_and_ttls() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int, c int, s int static, v int, m map<text, int>, f frozen<list<int>>, PRIMARY KEY (k, c))",
    );
    check(
        &mut bench,
        "
        INSERT INTO t (k, c, v, f) VALUES (1, 1, 1, [1, 2]) USING TIMESTAMP 1000 AND TTL 100
        UPDATE t USING TIMESTAMP 2000 SET m['a'] = 1 WHERE k = 1 AND c = 1
        UPDATE t USING TIMESTAMP 3000 AND TTL 50 SET m['b'] = 2 WHERE k = 1 AND c = 1
        UPDATE t USING TIMESTAMP 4000 SET s = 4 WHERE k = 1
        SELECT writetime(v), ttl(v), writetime(f), writetime(s), ttl(s) FROM t
          1000 | 100 | 1000 | 4000 | null
        SELECT writetime(m), maxwritetime(m), ttl(m) FROM t
          [2000, 3000] | 3000 | [null, 50]
        SELECT writetime(m['b']), ttl(m['a']), writetime(m['z']), writetime(m['a'..'a']) FROM t
          3000 | null | null | [2000]
        INSERT INTO t (k, c) VALUES (2, 2)
        SELECT writetime(v), ttl(v), writetime(m), maxwritetime(m) FROM t WHERE k = 2
          null | null | null | null
    ",
    );
    bench.pass_seconds(50);
    check(
        &mut bench,
        "
        SELECT v, ttl(v), m, ttl(m) FROM t WHERE k = 1
          1 | 50 | {'a': 1} | [null]
    ",
    );
    bench.pass_seconds(50);
    check(
        &mut bench,
        "
        SELECT v, ttl(v), m FROM t WHERE k = 1
          null | null | {'a': 1}
    ",
    );
}

#[test]
fn json_rows() {
    let mut bench =
        Bench::new("CREATE TABLE t (k int PRIMARY KEY, v text, s set<int>, \"Q\" double, b blob)");
    check(
        &mut bench,
        r#"
        INSERT INTO t (k, v, s, "Q", b) VALUES (1, 'a"b', {2, 1}, 1.5, 0xff)
        SELECT JSON * FROM t
          '{"k": 1, "\"Q\"": 1.5, "b": "0xff", "s": [1, 2], "v": "a\"b"}'
        SELECT JSON k, v AS "Label", count(*) FROM t
          '{"k": 1, "\"Label\"": "a\"b", "count": 1}'
        SELECT to_json(s), toJson(v) FROM t
          '[1, 2]' | '"a\"b"'
        INSERT INTO t (k, s) VALUES (2, from_json('[3, 4]'))
        SELECT s FROM t WHERE k = 2
          {3, 4}
    "#,
    );
}
