//! Statements that multiply: small texts that would name billions of rows or bytes are refused before anything is built.

mod harness;

use cql::CqlError;
use harness::Bench;

const TABLE: &str = "CREATE TABLE t (a int, b int, c int, d int, e int, v text, l list<int>, m map<text, text>, \
                     PRIMARY KEY ((a, b), c, d, e))";

fn numbers(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    numbers.join(", ")
}

/// The refusal, which must come quickly and say what to do.
fn refused(bench: &mut Bench, text: &str) -> String {
    match bench.run(text) {
        Err(CqlError::Invalid(message)) => message,
        other => panic!("{other:?}: {}", &text[..60]),
    }
}

/// The restrictions of the review's statement: 200 x 200 x 40 x 40 x 40 rows.
fn restrictions() -> String {
    let (many, some) = (numbers(200), numbers(40));
    format!("a IN ({many}) AND b IN ({many}) AND c IN ({some}) AND d IN ({some}) AND e IN ({some})")
}

#[test]
fn products_of_in_lists_are_refused_in_writes_and_reads() {
    let mut bench = Bench::new(TABLE);
    let all = restrictions();
    let (few, some) = (numbers(10), numbers(11));
    // No list alone is too long, nor are partitions or rows alone too many.
    let apart = format!("a IN ({few}) AND b IN ({few}) AND c IN ({few}) AND d IN ({some}) AND e = 1");
    let range = format!("a IN ({few}) AND b IN ({few}) AND c IN ({few}) AND d IN ({some}) AND e > 1");
    let tuples: Vec<String> = (0..101).map(|n| format!("({n}, {n}, {n})")).collect();
    let tuples = format!("a IN ({few}) AND b IN ({few}) AND (c, d, e) IN ({})", tuples.join(", "));
    for restrictions in [&all, &apart, &range, &tuples] {
        let mut texts = vec![
            format!("DELETE FROM t WHERE {restrictions}"),
            format!("SELECT * FROM t WHERE {restrictions}"),
            format!("SELECT sum(c) FROM t WHERE {restrictions}"),
            format!("SELECT * FROM t WHERE {restrictions} AND v = 'a' ALLOW FILTERING"),
            format!("BEGIN BATCH DELETE FROM t WHERE {restrictions} APPLY BATCH"),
        ];
        if *restrictions != range {
            texts.push(format!("UPDATE t SET v = 'x' WHERE {restrictions}"));
            texts.push(format!("UPDATE t SET l = l + [1], m['a'] = 'b' WHERE {restrictions}"));
            texts.push(format!("DELETE v FROM t WHERE {restrictions}"));
        }
        for text in texts {
            let message = refused(&mut bench, &text);
            assert!(message.starts_with("Guardrail in_select_cartesian_product violated: "), "{message}");
            assert!(message.contains("fail threshold of 10000"), "{message}");
        }
    }
    let named = format!("a IN ({few}) AND b IN ({few}) AND c IN ({few}) AND d IN ({few}) AND e = 1");
    bench.run(&format!("UPDATE t SET v = 'x' WHERE {named}")).unwrap();
    assert_eq!(harness_count(&mut bench, &format!("SELECT count(*) FROM t WHERE {named}")), "10000");
}

fn harness_count(bench: &mut Bench, text: &str) -> String {
    bench.run_with(text, &[]).concat()
}

/// Statements of a batch count together.
#[test]
fn a_batch_multiplies_too() {
    let mut bench = Bench::new(TABLE);
    let one = format!(
        "UPDATE t SET v = 'x' WHERE a = 1 AND b = 1 AND c IN ({}) AND d = 1 AND e = 1;",
        numbers(1000)
    );
    let message = refused(&mut bench, &format!("BEGIN BATCH {} APPLY BATCH", one.repeat(11)));
    assert!(message.contains("produces 11000 values"), "{message}");
    bench.run(&format!("BEGIN BATCH {} APPLY BATCH", one.repeat(10))).unwrap();
}

/// Few keys of many bytes, and few rows of large values.
#[test]
fn bytes_multiply_as_rows_do() {
    let mut bench = Bench::new(
        "CREATE TABLE t (a text, b text, c text, d text, v text, l list<text>, PRIMARY KEY ((a, b), c, d))",
    );
    let long = |count: usize| {
        let values: Vec<String> = (0..count).map(|n| format!("'{n}{}'", "x".repeat(10_000))).collect();
        values.join(", ")
    };
    let partitions = format!("a IN ({}) AND b IN ({}) AND c = 'a' AND d = 'b'", long(50), long(50));
    let rows = format!("a = 'a' AND b = 'b' AND c IN ({}) AND d IN ({})", long(50), long(50));
    for restrictions in [partitions, rows] {
        for text in ["UPDATE t SET v = 'x' WHERE", "DELETE FROM t WHERE", "SELECT * FROM t WHERE"] {
            let message = refused(&mut bench, &format!("{text} {restrictions}"));
            assert!(
                message.contains("make keys of") && message.contains("the limit is 16777216"),
                "{message}"
            );
        }
    }
    let value = "y".repeat(1 << 20);
    let keys: Vec<String> = (0..40).map(|n| format!("'{n}'")).collect();
    let keys = keys.join(", ");
    for assignment in [format!("v = '{value}'"), format!("l = ['{value}']")] {
        let text =
            format!("UPDATE t SET {assignment} WHERE a IN ({keys}) AND b = 'b' AND c = 'c' AND d = 'd'");
        let message = refused(&mut bench, &text);
        assert!(message.contains("writes more than 33554432 bytes"), "{message}");
    }
}

/// One column, selected often enough, makes a row of any size.
#[test]
fn a_row_of_an_answer_has_a_bound() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v text)");
    bench.run(&format!("INSERT INTO t (k, v) VALUES (1, '{}')", "x".repeat(1 << 20))).unwrap();
    for selected in ["v", "(text)v", "tojson(v)"] {
        let columns = vec![selected; 20].join(", ");
        for text in [format!("SELECT {columns} FROM t"), format!("SELECT {columns} FROM t WHERE k = 1")] {
            match bench.run(&text) {
                Err(CqlError::Invalid(message)) if message.contains("larger than 8388608 bytes") => {}
                // Functions that are not there are not what this is about.
                Err(CqlError::Invalid(message)) if selected != "v" => {
                    assert!(!message.is_empty());
                }
                other => panic!("{:?}", other.map(|_| "an answer")),
            }
        }
    }
}

/// A row that is as long as that because its columns are can be read.
#[test]
fn a_row_of_long_columns_is_read() {
    let columns: Vec<String> = (0..20).map(|n| format!("v{n} text")).collect();
    let mut bench = Bench::new(&format!("CREATE TABLE t (k int PRIMARY KEY, {})", columns.join(", ")));
    for n in 0..20 {
        bench.run(&format!("UPDATE t SET v{n} = '{}' WHERE k = 1", "x".repeat(1 << 20))).unwrap();
    }
    let rows = bench.run("SELECT * FROM t WHERE k = 1").unwrap();
    assert!(matches!(rows, cql::session::Response::Rows(rows) if rows.body.len() > 20 << 20));
}

/// What calls inside a call give is bounded together: each copies all of it.
#[test]
fn calls_that_nest_do_not_copy_without_bound() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, v text)");
    bench.run(&format!("INSERT INTO t (k, v) VALUES (1, '{}')", "x".repeat(300 << 10))).unwrap();
    let nested = |depth: usize| {
        format!("SELECT {}v{} FROM t", "blob_as_text(text_as_blob(".repeat(depth), "))".repeat(depth))
    };
    bench.run(&nested(2)).unwrap();
    match bench.run(&nested(10)) {
        Err(CqlError::Invalid(message)) => {
            assert!(message.contains("inside another call, is larger than"), "{message}");
        }
        other => panic!("{:?}", other.map(|_| "an answer")),
    }
}

/// Values nest as deep as the parser lets them: what binding tries at each level must not multiply.
#[test]
fn deep_expressions_are_bound_in_linear_time() {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int PRIMARY KEY, v int, w varint, d decimal, s text, l frozen<list<int>>, m frozen<map<int, int>>)",
    );
    bench.run("INSERT INTO t (k, v) VALUES (1, 1)").unwrap();
    let nests = [
        ["SELECT ", "abs(", "v", ")", " FROM t"],
        ["SELECT ", "abs(", "1", ")", " FROM t"],
        ["SELECT ", "- ", "v", "", " FROM t"],
        ["SELECT ", "(v + ", "v", ")", " FROM t"],
        ["SELECT ", "(1 + ", "1", ")", " FROM t"],
        ["SELECT ", "(", "v", ")", " FROM t"],
        ["SELECT ", "(int)", "1", "", " FROM t"],
        ["SELECT ", "CAST(", "v", " AS int)", " FROM t"],
        ["SELECT ", "to_json(", "v", ")", " FROM t"],
        ["SELECT ", "max(", "v", ")", " FROM t"],
        ["SELECT ", "[", "v", "]", " FROM t"],
        ["SELECT ", "(list<int>)[", "v", "]", " FROM t"],
        ["SELECT ", "{", "v", "}", " FROM t"],
        ["SELECT ", "{1: ", "v", "}", " FROM t"],
        ["SELECT ", "{a: ", "v", "}", " FROM t"],
        ["SELECT ", "l[", "v", "]", " FROM t"],
        ["SELECT ", "token(", "v", ")", " FROM t"],
        ["SELECT ", "mask_default(", "v", ")", " FROM t"],
        ["SELECT ", "mask_replace(", "v", ", 1)", " FROM t"],
        ["SELECT ", "map_keys(", "v", ")", " FROM t"],
        ["SELECT ", "nofunction(", "v", ")", " FROM t"],
        ["SELECT ", "similarity_cosine([", "v", "], [1])", " FROM t"],
        ["SELECT * FROM t WHERE k = ", "abs(", "1", ")", ""],
        ["SELECT * FROM t WHERE k = ", "(1 + ", "1", ")", ""],
        ["SELECT * FROM t WHERE k = ", "- ", "1", "", ""],
        ["SELECT * FROM t WHERE k = ", "[", "1", "]", ""],
        ["SELECT * FROM t WHERE k = ", "{", "1", "}", ""],
        ["SELECT * FROM t WHERE k = ", "{1: ", "1", "}", ""],
        ["SELECT * FROM t WHERE k = ", "{f: ", "1", "}", ""],
        ["SELECT * FROM t WHERE k = ", "(", "1", ")", ""],
        ["SELECT * FROM t WHERE k = ", "(int)", "1", "", ""],
        ["SELECT * FROM t WHERE k = ", "CAST(", "1", " AS int)", ""],
        ["UPDATE t SET w = ", "(1 + ", "1", ")", " WHERE k = 1"],
        ["UPDATE t SET l = ", "[", "1", "]", " WHERE k = 1"],
        ["UPDATE t SET v = 1 WHERE k = 1 IF w = ", "abs(", "1", ")", ""],
    ];
    for [head, open, core, close, tail] in nests {
        for depth in [2, 6, 10, 14, 18, 22, 40, 61] {
            let text = format!("{head}{}{core}{}{tail}", open.repeat(depth), close.repeat(depth));
            let before = std::time::Instant::now();
            let _ = bench.run(&text);
            // Linear takes far less than a millisecond; what doubles per level is past this long before the deepest.
            assert!(before.elapsed().as_millis() < 2000, "{open} {depth} times takes {:?}", before.elapsed());
        }
    }
}

/// Numbers of millions of digits took minutes to read, to print and to compare.
#[test]
fn numbers_have_a_number_of_digits() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, n varint, d decimal, f double, i int)");
    let digits = "7".repeat(1_000_000);
    let texts = [
        format!("INSERT INTO t (k, n) VALUES (1, {digits})"),
        format!("INSERT INTO t (k, n) VALUES (1, -{digits})"),
        format!("INSERT INTO t (k, d) VALUES (1, {digits}.5)"),
        format!("INSERT INTO t (k, d) VALUES (1, {digits}e5)"),
        format!("INSERT INTO t (k, i) VALUES (1, {digits})"),
        format!("SELECT * FROM t WHERE k = {digits}"),
        format!("SELECT {digits} + 1 FROM t"),
        format!("SELECT abs({digits}) FROM t"),
        format!("SELECT (varint){digits} FROM t"),
        format!("SELECT k FROM t LIMIT {digits}"),
        format!(r#"INSERT INTO t JSON '{{"k": 1, "n": {digits}}}'"#),
        format!(r#"INSERT INTO t JSON '{{"k": 1, "d": {digits}}}'"#),
        format!("INSERT INTO t JSON '{{\"k\": 1, \"n\": \"{digits}\"}}'"),
    ];
    for text in texts {
        let started = std::time::Instant::now();
        assert!(bench.run(&text).is_err(), "{}", &text[..50]);
        assert!(started.elapsed().as_secs() < 5, "{} takes {:?}", &text[..50], started.elapsed());
    }
    let large = vec![0x77; 8 << 20];
    for text in ["INSERT INTO t (k, n) VALUES (1, ?)", "INSERT INTO t (k, d) VALUES (1, ?)"] {
        let refused = bench.run_with(text, &[Some(&large)]).concat();
        assert!(refused.contains("may have at most 10000 digits"), "{refused}");
    }
    // As many digits as are allowed, and what can be done with them.
    let most = "9".repeat(10_000);
    bench.run(&format!("INSERT INTO t (k, n, d) VALUES (1, {most}, {most})")).unwrap();
    assert_eq!(bench.run_with("SELECT CAST(n AS text) FROM t", &[]).concat().len(), 10_002);
    for operation in [
        "n * n",
        "d * d",
        "n + n",
        "d / 7",
        "n % 7",
        "exp(d)",
        "log(d)",
        "log10(n)",
        "exp(1999)",
        "exp(99999.5)",
    ] {
        let started = std::time::Instant::now();
        let _ = bench.run(&format!("SELECT {operation} FROM t"));
        assert!(started.elapsed().as_secs() < 5, "{operation} takes {:?}", started.elapsed());
    }
}

#[test]
fn documents_with_many_members_take_linear_time() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, m map<text, int>, s set<text>)");
    let members: Vec<String> = (0..40_000).map(|n| format!("\"key{n}\": {n}")).collect();
    let document = format!("{{\"k\": 1, {}}}", members.join(", "));
    let refused = refused(&mut bench, &format!("INSERT INTO t JSON '{document}'"));
    assert!(refused.contains("unrecognized column: key0"), "{refused}");
    let nested = format!("{{\"k\": 1, \"m\": {{{}}}}}", members.join(", "));
    bench.run(&format!("INSERT INTO t JSON '{nested}'")).unwrap();
}

/// The list, and what is taken from it, are both long.
#[test]
fn long_lists_are_subtracted_and_counted() {
    let mut bench = Bench::new("CREATE TABLE t (k int PRIMARY KEY, l list<int>)");
    bench.run(&format!("INSERT INTO t (k, l) VALUES (1, [{}])", numbers(20_000))).unwrap();
    bench.run(&format!("UPDATE t SET l = l - [{}] WHERE k = 1", numbers(19_999))).unwrap();
    assert_eq!(bench.run_with("SELECT l FROM t", &[]), ["[19999]"]);
    let sets: Vec<String> = (0..2000).map(|_| "l[0] = 1".to_string()).collect();
    let refused = refused(&mut bench, &format!("UPDATE t SET {} WHERE k = 1", sets.join(", ")));
    assert!(refused.contains("at most 16"), "{refused}");
    bench.run(&format!("UPDATE t SET {} WHERE k = 1", sets[..16].join(", "))).unwrap();
}

#[test]
fn clauses_have_a_number() {
    let mut bench = Bench::new(TABLE);
    let many = |clause: &str, separator: &str| vec![clause; 20_000].join(separator);
    for text in [
        format!("SELECT * FROM t WHERE {} ALLOW FILTERING", many("v = 'a'", " AND ")),
        format!("SELECT {} FROM t", many("v", ", ")),
        format!("SELECT * FROM t WHERE a = 1 AND b = 1 ORDER BY {}", many("c", ", ")),
        format!("SELECT a FROM t GROUP BY {}", many("a", ", ")),
        format!("SELECT * FROM t WHERE ({}) = (1)", many("a", ", ")),
        format!("SELECT * FROM t WHERE token({}) = 1", many("a", ", ")),
        format!(
            "UPDATE t SET {} WHERE a = 1 AND b = 1 AND c = 1 AND d = 1 AND e = 1",
            many("m['a'] = 'b'", ", ")
        ),
        format!("DELETE {} FROM t WHERE a = 1", many("v", ", ")),
        format!("UPDATE t SET v = 'a' WHERE {}", many("a = 1", " AND ")),
        format!("UPDATE t SET v = 'a' WHERE a = 1 IF {}", many("v = 'a'", " AND ")),
        format!("BEGIN BATCH {} APPLY BATCH", many("DELETE FROM t WHERE a = 1 AND b = 1", ";")),
    ] {
        let message = refused(&mut bench, &text);
        assert!(message.contains("The statement has 20000 "), "{message}");
    }
    // Below the limits they are quick.
    let columns = vec!["v"; 10_000].join(", ");
    bench.run(&format!("SELECT {columns} FROM t")).unwrap();
}

/// What plans hold beside their answer is counted; beyond the budget they are refused as overload, and all of it comes back.
#[test]
fn sorts_and_plans_count_against_one_budget() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))");
    bench.run("CREATE TABLE near (k int PRIMARY KEY, w text, v vector<float, 2>)").unwrap();
    bench.run("CREATE TABLE wide (k text PRIMARY KEY)").unwrap();
    let long = "x".repeat(20_000);
    for k in 0..40 {
        bench.run(&format!("INSERT INTO t (k, c, v) VALUES ({k}, {k}, '{long}')")).unwrap();
        bench.run(&format!("INSERT INTO near (k, w, v) VALUES ({k}, '{long}', [1, {k}])")).unwrap();
    }
    let keys = (0..40).map(|k| k.to_string()).collect::<Vec<_>>().join(", ");
    let names = (0..40).map(|k| format!("'{k}{long}'")).collect::<Vec<_>>().join(", ");
    let greatest = vec!["max(v)"; 40].join(", ");
    let statements = [
        format!("SELECT * FROM t WHERE k IN ({keys}) ORDER BY c"),
        format!("SELECT c, max(v) FROM t WHERE k IN ({keys}) GROUP BY k, c ORDER BY c"),
        format!("SELECT {greatest} FROM t"),
        "SELECT w FROM near ORDER BY v ANN OF [1, 1] LIMIT 40".to_string(),
        format!("SELECT * FROM wide WHERE k IN ({names})"),
    ];
    for statement in statements {
        let shown = &statement[..statement.len().min(60)];
        let enough = rt::Budget::new(64 << 20);
        bench.limit_to(&enough);
        assert!(bench.run(&statement).is_ok(), "{shown}");
        assert_eq!(enough.bytes_taken(), 0, "{shown}");
        let little = rt::Budget::new(300 << 10);
        bench.limit_to(&little);
        let refused = bench.run(&statement);
        assert!(matches!(refused, Err(CqlError::Overloaded(_))), "{shown}: {refused:?}");
        assert_eq!(little.bytes_taken(), 0, "{shown}");
        assert!(little.refused() > 0, "{shown}");
    }
}
