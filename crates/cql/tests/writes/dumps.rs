//! Schema dumps of applications that are older than this: they load, and what DESCRIBE prints of them makes the same schema again.

use super::harness::Bench;

const DUMPS: [(&str, &str); 3] = [
    ("kairos", include_str!("../dumps/kairosdb.cql")),
    ("titan", include_str!("../dumps/titan.cql")),
    ("videos", include_str!("../dumps/videos.cql")),
];

#[test]
fn old_dumps_load_and_describe_themselves() {
    for (keyspace, dump) in DUMPS {
        let mut bench = Bench::bare();
        bench.load(dump);
        let described = bench.describe_keyspace(keyspace);
        let statements = cql_syntax::parse_script(dump).statements.len();
        // All but USE; what DESCRIBE prints has a statement for each.
        let uses = usize::from(dump.contains("USE "));
        assert_eq!(described.len(), statements - uses, "{keyspace}: {described:#?}");
        bench.run(&format!("DROP KEYSPACE {keyspace}")).unwrap();
        bench.load(&described.join("\n"));
        assert_eq!(bench.describe_keyspace(keyspace), described, "{keyspace}");
    }
}

#[test]
fn what_an_old_option_does_is_told() {
    let mut bench = Bench::bare();
    bench.load("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};");
    let told = bench.warnings(
        "CREATE TABLE k.t (a int PRIMARY KEY, b int) WITH read_repair_chance = 0.1 AND index_interval = 128 AND \
         compaction = {'class': 'DateTieredCompactionStrategy', 'max_sstable_age_days': '30'}",
    );
    for part in
        ["read_repair_chance has no effect", "index_interval has no effect", "TimeWindowCompactionStrategy"]
    {
        assert!(told.iter().any(|warning| warning.contains(part)), "{part}: {told:?}");
    }
    let told = bench.warnings("ALTER TABLE k.t WITH dclocal_read_repair_chance = 0.2");
    assert!(
        told.iter().any(|warning| warning.contains("dclocal_read_repair_chance has no effect")),
        "{told:?}"
    );
}

#[test]
fn service_levels_are_accepted_and_do_nothing() {
    let mut bench = Bench::bare();
    for text in [
        "CREATE SERVICE LEVEL IF NOT EXISTS gold WITH timeout = 500ms AND workload_type = 'interactive' AND shares = 100",
        "ALTER SERVICE LEVEL gold WITH timeout = 5s",
        "ATTACH SERVICE_LEVEL gold TO somebody",
        "LIST ALL SERVICE LEVELS",
        "LIST ATTACHED SERVICE LEVEL OF somebody",
        "LIST EFFECTIVE SERVICE LEVEL OF somebody",
        "DETACH SERVICE LEVEL FROM somebody",
        "DROP SERVICE LEVEL gold",
    ] {
        let told = bench.warnings(text);
        assert!(
            told.iter().any(|warning| warning.starts_with("Service levels have no effect")),
            "{text}: {told:?}"
        );
    }
    assert!(bench.run("CREATE SERVICE LEVEL").is_err());
    assert!(bench.run("ATTACH ROLE gold TO somebody").is_err());
}
