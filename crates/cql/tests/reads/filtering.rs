//! ALLOW FILTERING: every operator, and the warning that says what it costs.

use crate::harness::{Bench, check};

fn collections() -> Bench {
    let mut bench = Bench::new(
        "CREATE TABLE t (k int PRIMARY KEY, v int, s set<text>, l list<int>, m map<text, int>, f frozen<list<int>>)",
    );
    for values in [
        "1, 10, {'a', 'b'}, [1, 2], {'x': 1, 'y': 2}, [1]",
        "2, 20, {'b'}, [2, 3], {'x': 5}, [1, 2]",
        "3, null, null, null, null, null",
    ] {
        bench.run(&format!("INSERT INTO t (k, v, s, l, m, f) VALUES ({values})")).unwrap();
    }
    bench
}

#[test]
fn operators() {
    check(
        &mut collections(),
        "
        SELECT k FROM t WHERE v = 10 ALLOW FILTERING
          1
        SELECT k FROM t WHERE v > 10 ALLOW FILTERING
          2
        SELECT k FROM t WHERE v >= 10 AND v < 20 ALLOW FILTERING
          1
        SELECT k FROM t WHERE v != 10 ALLOW FILTERING
          2
        SELECT k FROM t WHERE v IN (20, 30) ALLOW FILTERING
          2
        SELECT k FROM t WHERE v NOT IN (20, 30) ALLOW FILTERING
          1
        SELECT k FROM t WHERE v BETWEEN 15 AND 20 ALLOW FILTERING
          2
        SELECT k FROM t WHERE s CONTAINS 'b' ALLOW FILTERING
          1
          2
        SELECT k FROM t WHERE s CONTAINS 'a' AND s CONTAINS 'b' ALLOW FILTERING
          1
        SELECT k FROM t WHERE l CONTAINS 3 ALLOW FILTERING
          2
        SELECT k FROM t WHERE m CONTAINS KEY 'y' ALLOW FILTERING
          1
        SELECT k FROM t WHERE m CONTAINS 5 ALLOW FILTERING
          2
        SELECT k FROM t WHERE m['x'] = 1 ALLOW FILTERING
          1
        SELECT k FROM t WHERE f = [1, 2] ALLOW FILTERING
          2
        SELECT k FROM t WHERE f CONTAINS 1 ALLOW FILTERING
          1
          2
        SELECT k FROM t WHERE k > 1 ALLOW FILTERING
          2
          3
        SELECT count(*) FROM t WHERE v > 0 ALLOW FILTERING
          2
        SELECT k FROM t WHERE v > 0 LIMIT 1 ALLOW FILTERING
          1
    ",
    );
}

#[test]
fn clustering_columns_out_of_order() {
    let mut bench = Bench::new("CREATE TABLE t (k int, c int, d int, v int, PRIMARY KEY (k, c, d))");
    for (k, c, d) in [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 2)] {
        bench
            .run(&format!("INSERT INTO t (k, c, d, v) VALUES ({k}, {c}, {d}, {})", k * 100 + c * 10 + d))
            .unwrap();
    }
    check(
        &mut bench,
        "
        SELECT v FROM t WHERE k = 1 AND d = 1 ALLOW FILTERING
          111
          121
        SELECT v FROM t WHERE d = 2 ALLOW FILTERING
          112
          212
        SELECT v FROM t WHERE k = 1 AND c > 0 AND d = 2 ALLOW FILTERING
          112
        SELECT v FROM t WHERE k = 1 AND (c, d) > (1, 1) AND v < 121 ALLOW FILTERING
          112
        SELECT v FROM t WHERE c = 1 AND v > 111 ALLOW FILTERING
          112
          212
        SELECT v FROM t WHERE k = 1 AND v > 100 ORDER BY c DESC ALLOW FILTERING
          121
          112
          111
        SELECT v FROM t WHERE k = 1 AND v > 0 PER PARTITION LIMIT 2 ALLOW FILTERING
          111
          112
    ",
    );
}

#[test]
fn the_warning_names_the_cost_and_the_table() {
    let mut bench = Bench::new("CREATE TABLE people (id int PRIMARY KEY, city text, age int)");
    let warnings = bench.warnings("SELECT * FROM people WHERE city = 'Oslo' AND age > 30 ALLOW FILTERING");
    assert_eq!(
        warnings,
        [
            "ALLOW FILTERING: this query reads every partition of ks.people and returns only rows where city = 'Oslo' \
             AND age > 30; its cost grows with the data read, not with the result. A table that serves it: CREATE TABLE \
             ks.people_by_city (city text, age int, id int, PRIMARY KEY ((city), age, id));"
        ]
    );
    assert!(bench.warnings("SELECT * FROM people WHERE id = 1 ALLOW FILTERING").is_empty());
    assert_eq!(
        bench.warnings("SELECT count(*) FROM people"),
        ["Aggregation query used without partition key"]
    );
    assert_eq!(
        bench.warnings("SELECT sum(age) FROM people WHERE id IN (1, 2)"),
        ["Aggregation query used on multiple partition keys (IN restriction)"]
    );
    assert!(bench.warnings("SELECT sum(age) FROM people WHERE id = 1").is_empty());
}

#[test]
fn every_table_in_a_warning_can_be_created() {
    let long = "a_column_whose_name_is_long_enough_for_trouble";
    let mut bench = Bench::new(&format!(
        "CREATE TABLE people (id int, at timestamp, age int, tags set<text>, links map<text, int>, took duration, \
         bucket int, {long} int, PRIMARY KEY (id, at))"
    ));
    let said = "A table that serves it: ";
    for (condition, table) in [
        (
            "age > 30",
            "ks.people_by_age (bucket_of_rows int, age int, id int, at timestamp, a_column_whose_name_is_long_enough_for_trouble \
             int, bucket int, links map<text, int>, tags set<text>, took duration, PRIMARY KEY ((bucket_of_rows), age, id, at));",
        ),
        ("age > 30 AND age < 40", "ks.people_by_age ("),
        ("tags CONTAINS 'x'", "ks.people_by_tags_element (tags_element text, "),
        ("links CONTAINS 1", "ks.people_by_links_element (links_element int, "),
        (
            "links CONTAINS KEY 'a' AND age = 3",
            "ks.people_by_links_element_age (links_element text, age int, ",
        ),
        ("at > 0", "ks.people_by_at ("),
        (&format!("{long} = 1"), "ks.people_by_a_column_whose_name_is_long_enough_for ("),
    ] {
        let warnings = bench.warnings(&format!("SELECT * FROM people WHERE {condition} ALLOW FILTERING"));
        let (_, ddl) = warnings[0].split_once(said).unwrap_or_else(|| panic!("{condition}: {warnings:?}"));
        assert!(ddl.starts_with(&format!("CREATE TABLE {table}")), "{condition}: {ddl}");
        let (ddl, _) = ddl.split_once(';').unwrap();
        bench.run(ddl).unwrap();
        let (name, _) = ddl.strip_prefix("CREATE TABLE ").unwrap().split_once(' ').unwrap();
        bench.run(&format!("DROP TABLE {name}")).unwrap();
    }
    // No single table reads two ranges in order, and a duration cannot be a key.
    for condition in ["age > 30 AND bucket > 5", "took = 1h"] {
        let warnings = bench.warnings(&format!("SELECT * FROM people WHERE {condition} ALLOW FILTERING"));
        assert!(!warnings[0].contains(said), "{condition}: {warnings:?}");
    }
}
