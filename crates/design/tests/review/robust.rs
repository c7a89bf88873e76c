//! Any text gives a review; a thousand tables give it within a second; one statement within 100 microseconds or so.

use super::evidence;
use super::{FLAWED, GOOD, SEEDS};
use design::output::{html, json, sarif, text};
use design::{review, review_statement};
use std::time::Instant;

/// A small seeded generator (xorshift), so that a failure repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

const WORDS: &[&str] = &[
    "CREATE",
    "TABLE",
    "PRIMARY",
    "KEY",
    "(",
    ")",
    "((",
    "))",
    ",",
    ";",
    "user_id",
    "uuid",
    "day",
    "date",
    "bucket",
    "int",
    "status",
    "text",
    "SELECT",
    "*",
    "FROM",
    "WHERE",
    "=",
    "?",
    ">",
    "IN",
    "AND",
    "ORDER",
    "BY",
    "DESC",
    "LIMIT",
    "10",
    "WITH",
    "CLUSTERING",
    "counter",
    "INDEX",
    "ON",
    "ACCESS",
    "PATTERN",
    "AS",
    "rows_per_partition",
    "{'max': 1e309}",
    "'x'",
    "BEGIN",
    "BATCH",
    "APPLY",
    "DELETE",
    "UPDATE",
    "SET",
    "IF",
    "ALLOW",
    "FILTERING",
    "MATERIALIZED",
    "VIEW",
    "IS",
    "NOT",
    "NULL",
    "list<text>",
    "é",
    "\"\"",
    "--",
    "/*",
    "$$",
    "0",
    "-1",
    "retention",
    "bucketing",
    "{'by': 'day', 'every': '1d', 'hash': 'b', 'into': 16}",
    "extensions",
    "{'partita.bucketing': 'by=a; every=99999y; into=4294967295'}",
    "'7 years'",
    "DROP",
    "ALTER",
    "ADD",
    "t",
    "a",
    "b",
];

fn mutate(random: &mut Random, source: &str) -> String {
    let mut chars: Vec<char> = source.chars().collect();
    for _ in 0..1 + random.below(8) {
        let at = random.below(chars.len());
        match random.below(4) {
            0 if !chars.is_empty() => drop(chars.remove(at)),
            1 => chars.insert(at, char::from(32 + random.below(95) as u8)),
            2 => chars.truncate(at),
            _ => {
                let word = WORDS[random.below(WORDS.len())];
                let at = at.min(chars.len());
                chars.splice(at..at, format!(" {word} ").chars());
            }
        }
    }
    chars.into_iter().collect()
}

fn exercise(source: &str) {
    let _ = design::review_for(design::Target::Partita, [("fuzz.cql", source)]);
    let review = review([("fuzz.cql", source)]);
    let _ = text::write(&review, text::Colour::Always);
    let _ = html::write(&review);
    let _ = sarif::write(&review);
    let parsed: serde_json::Value = serde_json::from_str(&json::write(&review)).expect("the JSON is JSON");
    assert!(parsed["findings"].is_array() && parsed["errors"].is_array());
}

#[test]
fn no_text_makes_the_review_panic() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let sources: Vec<String> = [SEEDS, GOOD, FLAWED]
        .iter()
        .flat_map(|text| text.split("-- case ").map(str::to_string).collect::<Vec<_>>())
        .collect();
    let sets = ["learning", "locked", "second", "third", "fourth"];
    let real: Vec<_> = sets.iter().flat_map(|set| evidence::projects(set)).collect();
    for round in 0..3_000 {
        let source = if round % 2 == 1 {
            // Real schemas are longer: several changes each.
            let project = &real[random.below(real.len())];
            mutate(&mut random, &project.text)
        } else if round % 4 == 0 {
            (0..random.below(60)).map(|_| WORDS[random.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
        } else {
            let at = random.below(sources.len());
            mutate(&mut random, &sources[at])
        };
        exercise(&source);
    }
}

#[test]
fn a_thousand_tables_take_less_than_a_second() {
    let mut source = String::new();
    for n in 0..1000 {
        source.push_str(&format!(
            "CREATE TABLE events_{n}_by_user (user_id uuid, month text, at timestamp, event_id uuid, kind text, payload text,
             PRIMARY KEY ((user_id, month), at, event_id)) WITH CLUSTERING ORDER BY (at DESC, event_id ASC);
             CREATE ACCESS PATTERN read_{n} AS SELECT * FROM events_{n}_by_user WHERE user_id = ? AND month = ? LIMIT 50
             WITH peak_rate = 10 AND rows_per_partition = 5000;\n"
        ));
    }
    let start = Instant::now();
    let review = review([("large.cql", source.as_str())]);
    let taken = start.elapsed();
    assert_eq!(review.catalogue.tables.len(), 1000);
    // The bound is for a quiet machine; under load an unoptimised test build gets some slack.
    let bound = if cfg!(debug_assertions) { 5_000 } else { 1_000 };
    assert!(taken.as_millis() < bound, "took {taken:?}");
    eprintln!("1,000 tables and 1,000 patterns: {taken:?}");
}

/// Every table with a finding has a repair that was reviewed before it is printed; a thousand of them are still quick.
#[test]
fn a_thousand_flawed_tables_are_quick_too() {
    let mut source = String::new();
    for n in 0..1000 {
        source.push_str(&format!(
            "CREATE TABLE readings_{n} (sensor_id uuid, at timestamp, value double, PRIMARY KEY (sensor_id, at));
             SELECT * FROM readings_{n} WHERE value > ? ALLOW FILTERING;\n"
        ));
    }
    let start = Instant::now();
    let review = review([("flawed.cql", source.as_str())]);
    let taken = start.elapsed();
    assert!(review.findings.iter().filter(|f| f.fix.contains("CREATE TABLE")).count() >= 2000);
    let bound = if cfg!(debug_assertions) { 30_000 } else { 1_000 };
    assert!(taken.as_millis() < bound, "took {taken:?}");
    eprintln!("1,000 flawed tables: {taken:?}");
}

#[test]
fn one_statement_is_reviewed_quickly() {
    let create = "CREATE TABLE sensor_readings (sensor_id uuid, recorded_at timestamp, value double, PRIMARY KEY (sensor_id, recorded_at))";
    let start = Instant::now();
    for _ in 0..200 {
        assert!(!review_statement(Some("ks"), create, &[]).is_empty());
    }
    let each = start.elapsed() / 200;
    eprintln!("review_statement: {each:?} each");
    // An unoptimised build on a busy machine gets much slack: the bound is against work that grows, not for a record.
    let bound = if cfg!(debug_assertions) { 100_000 } else { 5_000 };
    assert!(each.as_micros() < bound, "{each:?}");
}

#[test]
fn all_syntax_errors_are_told_and_the_rest_is_reviewed() {
    let source = "CREATE TABLE a (x int;\nSELEC * FROM a;\nCREATE TABLE users_by_active (active boolean, user_id uuid, PRIMARY KEY (active, user_id));\nSELECT FROM;\nCREATE TABLE t (k int);";
    let review = review([("broken.cql", source)]);
    let lines: Vec<u32> = review
        .errors()
        .iter()
        .map(|e| review.catalogue.files[e.place.file].position(e.place.span.start).line)
        .collect();
    assert_eq!(lines, [1, 2, 4, 5], "{:?}", review.errors());
    assert!(review.findings.iter().any(|f| f.rule == "low-cardinality-key"));
}
