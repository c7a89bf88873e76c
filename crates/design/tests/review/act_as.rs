//! What other servers refuse: every rule is shown by an example, and the page says what the rules say.

use design::act_as::{Profile, RULES, refused, table};
use design::{Severity, Target, review_as};

/// For each rule a statement that it refuses, and one beside it that it does not.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("own-statement", "EXPLAIN SELECT * FROM t", "SELECT * FROM t"),
    ("own-statement", "CREATE ACCESS PATTERN a AS SELECT * FROM t WHERE k = ?", "DESCRIBE TABLES"),
    (
        "own-option",
        "CREATE TABLE t (k int PRIMARY KEY) WITH retention = '7d'",
        "CREATE TABLE t (k int PRIMARY KEY) WITH comment = 'retention'",
    ),
    ("own-option", "ALTER KEYSPACE k WITH review = 'off'", "ALTER KEYSPACE k WITH durable_writes = true"),
    (
        "transaction",
        "BEGIN TRANSACTION INSERT INTO t (k) VALUES (1); COMMIT TRANSACTION",
        "BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH",
    ),
    (
        "constraint",
        "CREATE TABLE t (k int PRIMARY KEY, v int CHECK v > 1)",
        "CREATE TABLE t (k int PRIMARY KEY, v int)",
    ),
    ("constraint", "CREATE TABLE t (k int PRIMARY KEY, v int NOT NULL)", "ALTER TABLE t ADD v int"),
    ("note", "COMMENT ON TABLE t IS 'x'", "ALTER TABLE t WITH comment = 'x'"),
    ("table-like", "CREATE TABLE a LIKE b", "CREATE TABLE a (k int PRIMARY KEY)"),
    ("index-hint", "SELECT * FROM t WHERE v = 1 WITH included_indexes = {i}", "SELECT * FROM t WHERE v = 1"),
    (
        "option-of-6",
        "CREATE TABLE t (k int PRIMARY KEY) WITH transactional_mode = 'full'",
        "CREATE TABLE t (k int PRIMARY KEY) WITH gc_grace_seconds = 1",
    ),
    ("function-of-6", "SELECT octet_length(v) FROM t", "SELECT ks.octet_length(v) FROM t"),
    ("generated-password", "CREATE ROLE r WITH GENERATED PASSWORD", "CREATE ROLE r WITH PASSWORD = 'x'"),
    (
        "scylla-option",
        "CREATE TABLE t (k int PRIMARY KEY) WITH tombstone_gc = {'mode': 'repair'}",
        "CREATE TABLE t (k int PRIMARY KEY) WITH caching = {'keys': 'ALL'}",
    ),
    ("scylla-clause", "SELECT * FROM t BYPASS CACHE", "SELECT * FROM t"),
    (
        "scylla-clause",
        "INSERT INTO t (k) VALUES (1) USING TIMEOUT 5s",
        "INSERT INTO t (k) VALUES (1) USING TTL 5",
    ),
    (
        "old-option",
        "CREATE TABLE t (k int PRIMARY KEY) WITH read_repair_chance = 0.1",
        "CREATE TABLE t (k int PRIMARY KEY) WITH read_repair = 'NONE'",
    ),
    (
        "row-ttl",
        "CREATE TABLE t (k int PRIMARY KEY, e timestamp TTL)",
        "CREATE TABLE t (k int PRIMARY KEY, ttl timestamp)",
    ),
    ("row-ttl", "ALTER TABLE t TTL NULL", "ALTER TABLE t ADD ttl timestamp"),
    ("service-level", "CREATE SERVICE LEVEL gold WITH shares = 100", "CREATE ROLE gold"),
    (
        "not-in",
        "SELECT * FROM t WHERE k = 1 AND c NOT IN (1, 2)",
        "SELECT * FROM t WHERE k = 1 AND c IN (1, 2)",
    ),
    (
        "newer-relation",
        "SELECT * FROM t WHERE k = 1 AND c BETWEEN 1 AND 2",
        "SELECT * FROM t WHERE k = 1 AND c > 1 AND c < 2",
    ),
    (
        "newer-relation",
        "SELECT * FROM t WHERE m NOT CONTAINS 1 ALLOW FILTERING",
        "SELECT * FROM t WHERE m CONTAINS 1 ALLOW FILTERING",
    ),
    ("not-equal", "SELECT * FROM t WHERE v != 1 ALLOW FILTERING", "UPDATE t SET v = 1 WHERE k = 1 IF v != 2"),
    (
        "field-in-where",
        "SELECT * FROM t WHERE u.f = 1 ALLOW FILTERING",
        "UPDATE t SET v = 1 WHERE k = 1 IF u.f = 2",
    ),
    (
        "function-language",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a'",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
    ),
    (
        "function-in-java",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a'",
    ),
    (
        "vector",
        "CREATE TABLE t (k int PRIMARY KEY, v vector<float, 3>)",
        "CREATE TABLE t (k int PRIMARY KEY, v list<float>)",
    ),
    (
        "vector",
        "SELECT * FROM t ORDER BY v ANN OF [1, 2, 3] LIMIT 3",
        "SELECT * FROM t WHERE k = 1 ORDER BY c LIMIT 3",
    ),
    (
        "mask",
        "CREATE TABLE t (k int PRIMARY KEY, v text MASKED WITH DEFAULT)",
        "CREATE TABLE t (k int PRIMARY KEY, v text)",
    ),
    ("mask", "GRANT UNMASK ON TABLE t TO r", "GRANT SELECT ON TABLE t TO r"),
    (
        "storage-attached-index",
        "CREATE CUSTOM INDEX ON t (v) USING 'StorageAttachedIndex'",
        "CREATE INDEX ON t (v)",
    ),
    ("function-of-5", "SELECT map_keys(m), to_date(t) FROM t", "SELECT toDate(t), dateOf(t) FROM t"),
    ("function-of-5", "SELECT collection_count(m) FROM t", "SELECT count(m) FROM t"),
    ("function-of-5", "SELECT int_as_blob(m) FROM t", "SELECT intAsBlob(m) FROM t"),
    ("maxwritetime", "SELECT maxwritetime(m) FROM t", "SELECT writetime(m) FROM t"),
    (
        "unified-compaction",
        "CREATE TABLE t (k int PRIMARY KEY) WITH compaction = {'class': 'UnifiedCompactionStrategy'}",
        "CREATE TABLE t (k int PRIMARY KEY) WITH compaction = {'class': 'LeveledCompactionStrategy'}",
    ),
    ("cidr", "CREATE ROLE r WITH ACCESS FROM ALL CIDRS", "CREATE ROLE r WITH LOGIN = true"),
    ("datacenter", "CREATE ROLE r WITH ACCESS TO ALL DATACENTERS", "CREATE ROLE r WITH LOGIN = true"),
    ("arithmetic", "SELECT v * 2 FROM t", "UPDATE t SET v = v + 1 WHERE k = 1"),
    ("managed-schema", "CREATE INDEX ON t (v)", "CREATE TABLE t (k int PRIMARY KEY)"),
    ("managed-schema", "ALTER TABLE t DROP v", "ALTER TABLE t ADD v int"),
    ("managed-roles", "GRANT SELECT ON t TO r", "SELECT * FROM t"),
    (
        "managed-batch",
        "BEGIN UNLOGGED BATCH UPDATE t SET v = 1 WHERE k = 1 IF v = 2; APPLY BATCH",
        "BEGIN UNLOGGED BATCH UPDATE t SET v = 1 WHERE k = 1; APPLY BATCH",
    ),
    ("trigger", "CREATE TRIGGER g ON t USING 'x'", "CREATE TABLE t (k int PRIMARY KEY)"),
];

#[test]
fn every_rule_finds_its_example_and_not_the_other() {
    for rule in RULES {
        assert!(EXAMPLES.iter().any(|(id, ..)| *id == rule.id), "{} has no example", rule.id);
    }
    let mut wrong = Vec::new();
    for (id, bad, good) in EXAMPLES {
        let rule = RULES.iter().find(|rule| rule.id == *id).unwrap_or_else(|| panic!("{id}"));
        let (Ok(refused_one), Ok(other)) =
            (cql_syntax::parse_statement(bad), cql_syntax::parse_statement(good))
        else {
            wrong.push(format!(
                "{id} does not parse: {bad}: {:?} | {good}: {:?}",
                cql_syntax::parse_statement(bad).err(),
                cql_syntax::parse_statement(good).err()
            ));
            continue;
        };
        if (rule.find)(&refused_one.statement).is_none() || (rule.find)(&other.statement).is_some() {
            wrong.push(format!("{id}: {bad} | {good}"));
        }
        for profile in Profile::ALL {
            let listed = rule.refused.iter().any(|refused| refused.by.contains(&profile));
            let told = refused(profile, &refused_one.statement, bad);
            assert!(!listed || told.is_some(), "{id} {profile:?}");
            if let Some(told) = told {
                assert!(told.text.contains(&format!("--act-as {}", profile.name())), "{}", told.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nobody_is_refused_twice_by_one_rule() {
    for rule in RULES {
        for profile in Profile::ALL {
            let count = rule.refused.iter().filter(|refused| refused.by.contains(&profile)).count();
            assert!(count <= 1, "{} {profile:?}", rule.id);
        }
    }
    for profile in Profile::ALL {
        assert_eq!(Profile::named(profile.name()), Some(profile));
    }
}

#[test]
fn a_review_says_where_and_can_be_told_to_allow_it() {
    let text = "CREATE TABLE t (k int PRIMARY KEY, v int);\nSELECT * FROM t WHERE k = ? AND v BETWEEN 1 AND 2 ALLOW FILTERING;\n\
                -- partita:allow act-as: only on Partita\nEXPLAIN SELECT * FROM t WHERE k = 1;\n";
    let found = |profile: Option<Profile>| {
        let review = review_as(Target::Cassandra, profile, [("a.cql", text)]);
        let findings = review.findings.iter().filter(|finding| finding.rule == design::act_as::RULE);
        findings.map(|finding| (finding.severity, finding.message.clone())).collect::<Vec<_>>()
    };
    assert_eq!(found(None), []);
    let told = found(Some(Profile::Cassandra5));
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, Severity::Error);
    assert!(told[0].1.starts_with("line 2:32 no viable alternative at input 'BETWEEN'"), "{}", told[0].1);
}

#[test]
fn the_page_has_the_table_of_the_rules() {
    let page = include_str!("../../../../docs/act-as.md");
    let table = table();
    assert!(page.contains(&table), "docs/act-as.md needs this table:\n{table}");
}
