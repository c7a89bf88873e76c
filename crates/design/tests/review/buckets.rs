//! Buckets that the server makes: understood where a table has them, proposed where the repair is for Partita.

use design::{Finding, Review, Severity, Target, review, review_for};

const READINGS: &str = "CREATE TABLE readings (sensor_id uuid, at timestamp, value double, PRIMARY KEY (sensor_id, at));\n\
    CREATE ACCESS PATTERN write_reading AS INSERT INTO readings (sensor_id, at, value) VALUES (?, ?, ?)\n\
    WITH rows_per_day = 86400 AND row_bytes = 50;";

fn bucketed(clause: &str, numbers: &str) -> Review {
    let text = format!(
        "CREATE TABLE readings (sensor_id uuid, at timestamp, id uuid, value double, PRIMARY KEY (sensor_id, at, id))\n\
         WITH CLUSTERING ORDER BY (at DESC, id ASC) AND bucketing = {clause};\n\
         CREATE ACCESS PATTERN write_reading AS INSERT INTO readings (sensor_id, at, id, value) VALUES (?, ?, ?, ?) WITH {numbers};\n\
         CREATE ACCESS PATTERN newest AS SELECT at, value FROM readings WHERE sensor_id = ? ORDER BY at DESC LIMIT 100 WITH peak_rate = 10;"
    );
    let review = review([("schema.cql", text)]);
    assert!(review.errors().is_empty(), "{:?}", review.errors());
    review
}

fn loud(review: &Review) -> Vec<&Finding> {
    review.findings.iter().filter(|f| f.severity >= Severity::Warning).collect()
}

fn fix_of<'r>(review: &'r Review, rule: &str) -> &'r str {
    let finding = review.findings.iter().find(|f| f.rule == rule);
    &finding.unwrap_or_else(|| panic!("{rule} is not found: {:#?}", review.findings)).fix
}

#[test]
fn a_repair_for_partita_is_a_clause_with_the_number_of_the_growth_model() {
    let portable = review([("schema.cql", READINGS)]);
    let by_hand = fix_of(&portable, "unbounded-partition");
    assert!(by_hand.contains("week text") && !by_hand.contains("bucketing"), "{by_hand}");
    // 4.3 MB a day: a week is 30 MB, a month 131 MB.
    let served = review_for(Target::Partita, [("schema.cql", READINGS)]);
    let fix = fix_of(&served, "unbounded-partition");
    assert!(fix.contains("bucketing = {'by': 'at', 'every': '1w'}"), "{fix}");
    assert!(fix.contains("CREATE TABLE readings_by_sensor_id") && !fix.contains("week text"), "{fix}");
    assert!(loud(&review([("fix.cql", fix)])).is_empty(), "{fix}");
}

#[test]
fn a_hot_key_gets_as_many_buckets_as_its_writes_want() {
    let text = "CREATE TABLE posts (author_id uuid, post_time timestamp, post_id uuid, body text, PRIMARY KEY (author_id, post_time, post_id));\n\
        CREATE ACCESS PATTERN write_post AS INSERT INTO posts (author_id, post_time, post_id, body) VALUES (?, ?, ?, ?)\n\
        WITH peak_rate = 20000 AND hot_share = 0.4 AND rows_per_partition = 100000 AND row_bytes = 100;";
    let served = review_for(Target::Partita, [("schema.cql", text)]);
    let fix = fix_of(&served, "hot-key");
    // 8,000 writes a second, planned for half of the 1,000 that a partition takes.
    assert!(fix.contains("'into': 16"), "{fix}");
    assert!(fix.contains("'hash': 'post_id'") || fix.contains("'by': 'post_id'"), "{fix}");
}

#[test]
fn a_bucket_by_hand_that_is_too_coarse_is_handed_over() {
    let text = "CREATE TABLE readings (sensor_id uuid, year int, ts timestamp, value double, PRIMARY KEY ((sensor_id, year), ts));\n\
        CREATE ACCESS PATTERN w AS INSERT INTO readings (sensor_id, year, ts, value) VALUES (?, ?, ?, ?) WITH rows_per_day = 86400 AND row_bytes = 50;";
    let served = review_for(Target::Partita, [("schema.cql", text)]);
    let fix = fix_of(&served, "bucket-size");
    assert!(fix.contains("'every': '1w'") && fix.contains("PRIMARY KEY (sensor_id, ts)"), "{fix}");
    assert!(!fix.contains("    year int"), "{fix}");
}

#[test]
fn a_table_with_buckets_of_the_server_is_not_unbounded() {
    let review = bucketed("{'by': 'at', 'every': '1w'}", "rows_per_day = 86400 AND row_bytes = 50");
    assert!(loud(&review).is_empty(), "{:#?}", loud(&review));
    let described = "CREATE TABLE ks.readings (sensor_id uuid, bucket timestamp, at timestamp, id uuid, value double,\n\
        PRIMARY KEY ((sensor_id, bucket), at, id)) WITH CLUSTERING ORDER BY (at DESC, id ASC)\n\
        AND extensions = {'partita.bucketing': 'by=at; every=1w'};\n\
        SELECT at, bucket FROM ks.readings WHERE sensor_id = ? AND at > ? LIMIT 10;\n\
        SELECT at FROM ks.readings WHERE sensor_id = ? AND bucket = ?;";
    let review = design::review([("described.cql", described)]);
    assert!(review.errors().is_empty() && loud(&review).is_empty(), "{:#?}", review.findings);
}

#[test]
fn a_bucket_that_is_too_long_or_too_short_is_told() {
    let long = bucketed("{'by': 'at', 'every': 'year'}", "rows_per_day = 86400 AND row_bytes = 50");
    let finding = long.findings.iter().find(|f| f.rule == "bucket-size").expect("a finding");
    assert_eq!(finding.severity, Severity::Error, "{}", finding.message);
    assert!(finding.fix.contains("'every': '1w'"), "{}", finding.fix);
    let short = bucketed(
        "{'by': 'at', 'every': '1h'}",
        "rows_per_day = 24 AND row_bytes = 100 AND lookback = '1 year'",
    );
    let finding = short.findings.iter().find(|f| f.rule == "bucket-size").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning, "{}", finding.message);
    assert!(finding.fix.contains("'every': '1y'"), "{}", finding.fix);
}

#[test]
fn hash_buckets_that_hold_nothing_are_too_many_and_they_end_no_growth() {
    let many = bucketed("{'by': 'id', 'into': 128}", "rows_per_partition = 5000 AND row_bytes = 100");
    let finding = many.findings.iter().find(|f| f.rule == "bucket-size").expect("a finding");
    assert!(finding.message.contains("128 hash buckets") && finding.fix.contains("'into': 8"), "{finding:?}");
    let endless = bucketed("{'by': 'id', 'into': 16}", "rows_per_day = 86400 AND row_bytes = 50");
    assert!(
        endless.findings.iter().any(|f| f.rule == "unbounded-partition" && f.severity == Severity::Error)
    );
    let both = bucketed(
        "{'by': 'at', 'every': '1d', 'hash': 'id', 'into': 16}",
        "rows_per_day = 8640000 AND row_bytes = 100",
    );
    assert!(!both.findings.iter().any(|f| f.rule == "unbounded-partition"), "{:#?}", both.findings);
}
