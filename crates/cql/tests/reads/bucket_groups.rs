//! GROUP BY over entities: the groups of a bucketed table are those of a table without buckets.

use crate::harness::Bench;

const COLUMNS: &str =
    "(tenant text, kind int, at timestamp, id int, size int, PRIMARY KEY ((tenant, kind), at, id))";
const PLANS: [&str; 5] = [
    "{'by': 'at', 'every': '1d'}",
    "{'by': 'id', 'into': 4}",
    "{'by': 'at', 'every': '6h', 'hash': 'id', 'into': 3}",
    "{'by': 'at', 'every': '1w'}",
    "{'by': 'at', 'every': 'month', 'spill': '1d', 'at': '50MB'}",
];

/// Minutes of February in no order; several rows have the same.
fn fill(bench: &mut Bench, table: &str) {
    for n in 0..300u32 {
        let (tenant, kind) = (["a", "b", "c"][n as usize % 3], n % 2);
        let minute = n * 7919 % 20_000 / 10 * 10;
        let (day, hour) = (1 + minute / 1440, minute / 60 % 24);
        let at = format!("2026-02-{day:02} {hour:02}:{:02}:00+0000", minute % 60);
        bench
            .run(&format!(
                "INSERT INTO {table} (tenant, kind, at, id, size) VALUES ('{tenant}', {kind}, '{at}', {}, {n})",
                n % 11
            ))
            .unwrap();
    }
}

#[test]
fn groups_of_an_entity_are_those_without_buckets() {
    let mut statements = Vec::new();
    for keys in
        ["tenant, kind", "tenant, kind, at", "tenant, kind, at, id", "tenant, kind, floor(at, 1d)", "at"]
    {
        for entity in ["tenant = 'a' AND kind = 0", "tenant IN ('c', 'nobody', 'a') AND kind = 1"] {
            for (more, end) in [
                ("", ""),
                (" AND at >= '2026-02-03 05:00:00+0000' AND at < '2026-02-09 00:00:00+0000'", ""),
                ("", " LIMIT 5"),
                ("", " PER PARTITION LIMIT 3"),
                (" AND at > '2026-02-05 00:00:00+0000'", " PER PARTITION LIMIT 2 LIMIT 3"),
                (" AND size > 100", " ALLOW FILTERING"),
            ] {
                // What is not grouped by must be fixed.
                if keys == "at" && entity.contains("IN") {
                    continue;
                }
                let columns = "tenant, at, id, count(*), min(id), sum(size)";
                statements
                    .push(format!("SELECT {columns} FROM TABLE WHERE {entity}{more} GROUP BY {keys}{end}"));
            }
        }
        let one = "tenant = 'b' AND kind = 1";
        statements
            .push(format!("SELECT at, max(size) FROM TABLE WHERE {one} GROUP BY {keys} ORDER BY at DESC"));
    }
    for plan in PLANS {
        let mut bench = Bench::new(&format!("CREATE TABLE plain {COLUMNS}"));
        bench.run(&format!("CREATE TABLE buckets {COLUMNS} WITH bucketing = {plan}")).unwrap();
        fill(&mut bench, "plain");
        fill(&mut bench, "buckets");
        let mut groups = 0;
        for statement in &statements {
            let expected: Vec<String> = bench.pages(&statement.replace("TABLE", "plain"), 10_000).concat();
            groups += expected.len();
            for size in [1, 2, 7, 10_000] {
                let pages = bench.pages(&statement.replace("TABLE", "buckets"), size);
                assert!(pages.iter().all(|page| page.len() <= size as usize), "{plan}: {statement}");
                assert_eq!(pages.concat(), expected, "{plan}, pages of {size}: {statement}");
            }
        }
        assert!(groups > 500, "{groups} groups are too few to tell");
    }
}

#[test]
fn groups_that_cannot_be_are_refused_in_words() {
    let mut bench = Bench::new(&format!("CREATE TABLE t {COLUMNS} WITH bucketing = {}", PLANS[0]));
    for (statement, words) in [
        (
            "SELECT count(*) FROM t WHERE tenant = 'a' AND kind = 1 GROUP BY tenant, kind, bucket",
            "needs bucket in WHERE",
        ),
        (
            "SELECT count(*) FROM t WHERE tenant IN ('a', 'b') AND kind = 1 GROUP BY tenant, kind ORDER BY at",
            "not with IN",
        ),
        (
            "SELECT count(*) FROM t WHERE tenant = 'a' AND kind = 1 GROUP BY tenant, kind, id",
            "declared order",
        ),
    ] {
        let error = bench.run(statement).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{statement}: {error}");
    }
    // With the bucket, it is an ordinary partition.
    let named = "SELECT count(*) FROM t WHERE tenant = 'a' AND kind = 1 AND bucket = '2026-02-01' GROUP BY tenant, kind, bucket";
    assert!(bench.run(named).is_ok());
}
