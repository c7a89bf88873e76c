//! What other servers refuse, refused as they do.

use crate::harness::Bench;
use cql::CqlError;
use design::act_as::Profile;

fn bench() -> Bench {
    let mut bench = Bench::new(
        "CREATE TABLE t (p int, c int, n int, k counter_less, PRIMARY KEY (p, c))"
            .replace(", k counter_less", "")
            .as_str(),
    );
    bench.run("INSERT INTO t (p, c, n) VALUES (1, 1, 1)").unwrap();
    bench
}

fn refused(bench: &mut Bench, profile: Profile, text: &str) -> CqlError {
    bench.act_as(Some(profile));
    let outcome = bench.run(text);
    bench.act_as(None);
    outcome.expect_err(text)
}

#[test]
fn words_and_classes_are_theirs() {
    let mut bench = bench();
    let told = refused(&mut bench, Profile::Cassandra5, "SELECT * FROM t WHERE p = 1 AND c BETWEEN 1 AND 2");
    let CqlError::Syntax(text) = told else { panic!("{told:?}") };
    assert!(text.starts_with("line 1:32 no viable alternative at input 'BETWEEN'"), "{text}");
    assert!(text.contains("--act-as cassandra-5"), "{text}");
    let told =
        refused(&mut bench, Profile::Scylla, "CREATE TABLE x (k int PRIMARY KEY) WITH retention = '7d'");
    assert!(
        matches!(&told, CqlError::Syntax(text) if text.starts_with("Unknown property 'retention'")),
        "{told:?}"
    );
    let told = refused(&mut bench, Profile::Cassandra4, "CREATE CUSTOM INDEX i ON t (n) USING 'sai'");
    assert!(
        matches!(&told, CqlError::Config(text) if text.starts_with("Unable to find custom indexer class 'sai'")),
        "{told:?}"
    );
    let told = refused(&mut bench, Profile::Keyspaces, "TRUNCATE t");
    assert!(
        matches!(&told, CqlError::Invalid(text) if text.starts_with("TRUNCATE is not supported")),
        "{told:?}"
    );
}

/// What is seen only of the bound statement.
#[test]
fn arithmetic_on_ordinary_columns() {
    let mut bench = bench();
    let plain = "UPDATE t SET n = n + 1 WHERE p = 1 AND c = 1";
    let conditional = "UPDATE t SET n = n + 1 WHERE p = 1 AND c = 1 IF n = 1";
    for profile in Profile::ALL {
        assert!(matches!(refused(&mut bench, profile, plain), CqlError::Invalid(_)));
    }
    refused(&mut bench, Profile::Cassandra4, conditional);
    refused(&mut bench, Profile::Cassandra5, &format!("BEGIN BATCH {plain}; APPLY BATCH"));
    bench.act_as(Some(Profile::Cassandra5));
    bench.run(conditional).unwrap();
}

/// What everybody has works under every profile.
#[test]
fn ordinary_statements_pass() {
    let mut bench = bench();
    for profile in Profile::ALL {
        bench.act_as(Some(profile));
        for text in [
            "SELECT p, c, writetime(n), ttl(n), toTimestamp(now()), CAST(n AS text), token(p) FROM t WHERE p = 1 AND c >= 0 AND c IN (1, 2) ORDER BY c DESC",
            "INSERT INTO t (p, c, n) VALUES (2, 2, 2) IF NOT EXISTS",
            "UPDATE t USING TTL 100 AND TIMESTAMP 1 SET n = 3 WHERE p = 2 AND c = 2",
            "DELETE n FROM t WHERE p = 2 AND c = 2 IF EXISTS",
            "BEGIN UNLOGGED BATCH INSERT INTO t (p, c, n) VALUES (3, 3, 3); APPLY BATCH",
            "CREATE TABLE IF NOT EXISTS u (k uuid PRIMARY KEY, m map<text, frozen<list<int>>>, s text) WITH comment = 'x' AND default_time_to_live = 10",
            "ALTER TABLE ks.t WITH gc_grace_seconds = 100",
        ] {
            if let Err(error) = bench.run(text) {
                assert!(!error.to_string().contains("--act-as"), "{profile:?} {text}: {error}");
            }
        }
    }
}
