//! Functions and aggregates of users, where functions run and where they do not.

use crate::harness::{Bench, check};
use cql::CqlError;

fn bench() -> Bench {
    let mut bench = Bench::running_functions();
    for ddl in [
        "CREATE TYPE point (x int, y int)",
        "CREATE TABLE t (p int, c int, v int, s text, m map<text, int>, l list<int>, pt frozen<point>, PRIMARY KEY (p, c))",
        "CREATE FUNCTION twice (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a * 2'",
        "CREATE FUNCTION twice (a text) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE lua AS 'return a .. a'",
        "CREATE FUNCTION seen (a int) CALLED ON NULL INPUT RETURNS text LANGUAGE lua AS 'return a == nil and ''none'' or ''a '' .. a'",
        "CREATE FUNCTION seven () CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return 7'",
        "CREATE FUNCTION keys (m map<text, int>) CALLED ON NULL INPUT RETURNS set<text> LANGUAGE lua AS \
         'local s = {} for k in pairs(m or {}) do s[k] = true end return s'",
        "CREATE FUNCTION mirror (p point) RETURNS NULL ON NULL INPUT RETURNS point LANGUAGE lua AS 'return {x = p.y, y = p.x}'",
        "CREATE FUNCTION pair (a int, b text) CALLED ON NULL INPUT RETURNS tuple<int, text> LANGUAGE lua AS 'return {a, b}'",
        "INSERT INTO t (p, c, v, s, m, l, pt) VALUES (1, 1, 10, 'a', {'x': 1, 'y': 2}, [3, 1, 2], {x: 1, y: 2})",
        "INSERT INTO t (p, c, v, s) VALUES (1, 2, 20, 'b')",
        "INSERT INTO t (p, c) VALUES (1, 3)",
        "INSERT INTO t (p, c, v) VALUES (2, 1, 5)",
    ] {
        bench.run(ddl).unwrap_or_else(|error| panic!("{ddl}: {error}"));
    }
    bench
}

#[test]
fn functions_are_called_wherever_values_stand() {
    let mut bench = bench();
    check(
        &mut bench,
        "
        SELECT c, twice(v), twice(s), seen(v) FROM t WHERE p = 1
            1 | 20 | 'aa' | 'a 10'
            2 | 40 | 'bb' | 'a 20'
            3 | null | null | 'none'
        SELECT twice(twice(v)), ks.twice(c) FROM t WHERE p = 2
            20 | 2
        SELECT keys(m), mirror(pt), pair(v, s) FROM t WHERE p = 1 AND c = 1
            {'x', 'y'} | {x: 2, y: 1} | (10, 'a')
        SELECT c FROM t WHERE p = 1 AND c = twice(1)
            2
        SELECT c FROM t WHERE p = twice(1) AND c IN (twice(0), 1)
            1
        INSERT INTO t (p, c, v, s) VALUES (twice(2), seven(), twice(21), twice('z'))
        SELECT * FROM t WHERE p = 4
            4 | 7 | null | null | null | 'zz' | 42
        UPDATE t SET v = twice(3), l = [seven(), 1] WHERE p = 4 AND c = 7 IF v = twice(21)
            true
        SELECT v, l FROM t WHERE p = 4
            6 | [7, 1]
        DELETE FROM t WHERE p = twice(2)
        SELECT v FROM t WHERE p = 4
        SELECT count(v), max(twice(v)), sum(twice(c)) FROM t WHERE p = 1
            2 | 40 | 12
        SELECT JSON twice(v) FROM t WHERE p = 2
            '{\"ks.twice(v)\": 10}'
        SELECT c FROM t WHERE v = twice(5) ALLOW FILTERING
            1
        SELECT seven() FROM t LIMIT 1
            7
        ",
    );
    assert_eq!(bench.run_with("SELECT twice(?) FROM t WHERE p = 2", &[Some(&4i32.to_be_bytes())]).len(), 1);
}

#[test]
fn failures_are_function_failures() {
    let mut bench = bench();
    bench.run("CREATE FUNCTION bad (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'error(''no luck'')'").unwrap();
    bench
        .run(
            "CREATE FUNCTION endless () CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'while true do end'",
        )
        .unwrap();
    let failed = |bench: &mut Bench, text: &str| match bench.run(text) {
        Err(CqlError::FunctionFailure { keyspace, function, arguments, message }) => {
            assert_eq!(keyspace, "ks");
            (function, arguments, message)
        }
        other => panic!("{text}: {other:?}"),
    };
    let (function, arguments, message) = failed(&mut bench, "SELECT bad(v) FROM t");
    assert_eq!((function.as_str(), arguments), ("bad", vec!["int".to_string()]));
    assert_eq!(message, "execution of 'ks.bad[int]' failed: bad:1: no luck");
    assert!(failed(&mut bench, "SELECT endless() FROM t").2.contains("stopped"));
    assert!(failed(&mut bench, "INSERT INTO t (p, c, v) VALUES (9, 9, endless())").2.contains("stopped"));
    check(&mut bench, "SELECT v FROM t WHERE p = 9");
    check(&mut bench, "SELECT seven() FROM t LIMIT 1\n 7");
    let refused =
        bench.run("CREATE FUNCTION f () CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return +'");
    let Err(CqlError::Invalid(text)) = refused else { panic!("{refused:?}") };
    assert!(text.starts_with("Function ks.f is refused: it cannot be compiled: f:1:"), "{text}");
    bench
        .run("CREATE FUNCTION j (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'")
        .unwrap();
    assert!(matches!(bench.run("SELECT j(v) FROM t"), Err(CqlError::Invalid(text)) if text.contains("Java")));
}

#[test]
fn without_the_option_they_are_kept_and_not_called() {
    let mut bench = Bench::new("CREATE TABLE t (p int PRIMARY KEY, v int)");
    bench
        .run("CREATE FUNCTION twice (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'no lua at all'")
        .unwrap();
    bench.run("CREATE AGGREGATE total (int) SFUNC plus STYPE int INITCOND 0").unwrap_err();
    // Refused when it is called, and without rows it is not.
    check(&mut bench, "SELECT twice(v) FROM t");
    bench.run("INSERT INTO t (p, v) VALUES (1, 1)").unwrap();
    for call in [
        "SELECT twice(v) FROM t",
        "INSERT INTO t (p, v) VALUES (1, twice(1))",
        "SELECT v FROM t WHERE p = twice(1)",
    ] {
        let Err(CqlError::Invalid(text)) = bench.run(call) else { panic!("{call}") };
        assert!(text.contains("--functions") && text.contains("ks.twice"), "{text}");
    }
    let described = bench.run("DESCRIBE FUNCTION ks.twice");
    assert!(described.is_ok());
}

#[test]
fn aggregates_of_users() {
    let mut bench = bench();
    for ddl in [
        "CREATE FUNCTION plus (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return s + (a or 0)'",
        "CREATE FUNCTION plus_strict (s int, a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return s + a'",
        "CREATE FUNCTION first (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return s or a'",
        "CREATE FUNCTION step (s tuple<bigint, bigint>, a int) RETURNS NULL ON NULL INPUT RETURNS tuple<bigint, bigint> LANGUAGE lua \
         AS 'return {s[1] + 1, s[2] + a}'",
        "CREATE FUNCTION mean (s tuple<bigint, bigint>) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE lua AS \
         'return ''mean '' .. s[2] / s[1]'",
        "CREATE FUNCTION join (s text, a text, b int) CALLED ON NULL INPUT RETURNS text LANGUAGE lua AS \
         'return s .. (a or ''-'') .. (b or 0)'",
        "CREATE AGGREGATE total (int) SFUNC plus STYPE int INITCOND 0",
        "CREATE AGGREGATE total_strict (int) SFUNC plus_strict STYPE int INITCOND 100",
        "CREATE AGGREGATE any_value (int) SFUNC first STYPE int",
        "CREATE AGGREGATE average (int) SFUNC step STYPE tuple<bigint, bigint> FINALFUNC mean INITCOND (0, 0)",
        "CREATE AGGREGATE joined (text, int) SFUNC join STYPE text INITCOND 'it''s '",
    ] {
        bench.run(ddl).unwrap_or_else(|error| panic!("{ddl}: {error}"));
    }
    check(
        &mut bench,
        "
        SELECT total(v), total_strict(v), any_value(v), average(v) FROM t WHERE p = 1
            30 | 130 | 10 | 'mean 15.0'
        SELECT joined(s, v) FROM t WHERE p = 1
            'it''s a10b20-0'
        SELECT p, total(v), count(*) FROM t GROUP BY p
            1 | 30 | 3
            2 | 5 | 1
        SELECT total(v), any_value(v) FROM t WHERE p = 77
            0 | null
        SELECT total(twice(v)), ks.total(c) FROM t WHERE p = 1
            60 | 6
        SELECT twice(total(v)) FROM t WHERE p = 1
            60
        SELECT total(total(v)) FROM t
            invalid: aggregate functions cannot be used as arguments of aggregate functions
        SELECT v FROM t WHERE p = total(1)
            invalid: Aggregation function are not supported in the where clause
        SELECT total(s) FROM t
            invalid: Type error: s cannot be passed as argument 0 of function ks.total of type int
        ",
    );
    assert_eq!(
        bench.pages("SELECT p, total(v) FROM t GROUP BY p", 1),
        [vec!["1 | 30".to_string()], vec!["2 | 5".to_string()], vec![]]
    );
    assert_eq!(
        bench.columns("SELECT total(v), average(v) FROM t"),
        ["ks.total(v) int", "ks.average(v) text"]
    );
}

#[test]
fn plans_follow_their_functions() {
    let mut bench = bench();
    let call = "SELECT twice(v) FROM t";
    assert!(bench.is_current_after(call, "CREATE TABLE other (p int PRIMARY KEY)"));
    assert!(!bench.is_current_after(
        call,
        "CREATE OR REPLACE FUNCTION twice (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a + a'"
    ));
    check(&mut bench, "SELECT twice(v) FROM t WHERE p = 2\n    10");
    assert!(!bench.is_current_after(
        "SELECT twice(c) FROM t",
        "CREATE FUNCTION twice (a bigint) RETURNS NULL ON NULL INPUT RETURNS bigint LANGUAGE lua AS 'return a'"
    ));
    assert!(!bench.is_current_after("SELECT mirror(pt) FROM t", "ALTER TYPE point ADD z int"));
    bench.run("CREATE FUNCTION plus (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return s + a'").unwrap();
    bench.run("CREATE AGGREGATE total (int) SFUNC plus STYPE int INITCOND 0").unwrap();
    assert!(!bench.is_current_after(
        "SELECT total(v) FROM t",
        "CREATE OR REPLACE FUNCTION plus (s int, a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a'"
    ));
    assert!(!bench.is_current_after("UPDATE t SET v = seven() WHERE p = 1 AND c = 1", "DROP FUNCTION seven"));
    assert!(!bench.is_current_after(
        "BEGIN BATCH INSERT INTO t (p, c, v) VALUES (1, 1, twice(1)) APPLY BATCH",
        "DROP FUNCTION twice (int)"
    ));
}

/// WebAssembly through the whole statement, compiled aside.
#[test]
fn web_assembly() {
    let mut bench = bench();
    bench
        .run(
            "CREATE FUNCTION plus (a bigint, b bigint) RETURNS NULL ON NULL INPUT RETURNS bigint LANGUAGE wasm AS '\
             (module (memory (export \"memory\") 1) (global (export \"_scylla_abi\") i32 (i32.const 8)) (data (i32.const 8) \"\\01\") \
             (func (export \"plus\") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))'",
        )
        .unwrap();
    check(&mut bench, "SELECT plus(40, 2) FROM t LIMIT 1\n    42");
    let refused = bench.run(
        "CREATE FUNCTION minus (a bigint) RETURNS NULL ON NULL INPUT RETURNS bigint LANGUAGE wasm AS '(module)'",
    );
    let Err(CqlError::Invalid(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("does not export a function minus"), "{text}");
}
