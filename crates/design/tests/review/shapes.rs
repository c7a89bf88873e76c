//! The written forms: text with the mark under the column, the fixed JSON fields, SARIF, HTML, suppression, server texts.

use design::output::{explain, html, json, sarif, text};
use design::{review, review_statement, warnings};

const BAD: &str = "USE shop;\nCREATE TABLE sensor_readings (\n  sensor_id uuid,\n  recorded_at timestamp,\n  value double,\n  PRIMARY KEY (sensor_id, recorded_at)\n);\n";

#[test]
fn text_draws_the_mark_under_the_column() {
    let written = text::write(&review([("schema.cql", BAD)]), text::Colour::Never);
    let expected =
        " --> schema.cql:6:16\n6 |   PRIMARY KEY (sensor_id, recorded_at)\n  |                ^~~~~~~~~\n";
    assert!(written.contains(expected), "{written}");
    assert!(
        written.contains("error[unbounded-partition]: nothing ends the partition of one sensor_id"),
        "{written}"
    );
    assert!(!written.contains('\x1b'));
    assert!(text::write(&review([("schema.cql", BAD)]), text::Colour::Always).contains('\x1b'));
}

#[test]
fn json_has_the_fixed_fields() {
    let written = json::write(&review([("schema.cql", BAD), ("broken.cql", "SELEC 1;")]));
    let value: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    let findings = value["findings"].as_array().expect("array");
    let finding = findings.iter().find(|f| f["rule"] == "unbounded-partition").expect("finding");
    let mut fields: Vec<&str> = finding.as_object().expect("object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["column", "file", "fix", "keyspace", "line", "message", "pattern", "rule", "severity", "table"]
    );
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["keyspace"], "shop");
    assert_eq!(finding["table"], "sensor_readings");
    assert_eq!(finding["pattern"], serde_json::Value::Null);
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(6), Some(16)));
    let error = &value["errors"][0];
    assert_eq!(error["file"], "broken.cql");
    assert_eq!((error["line"].as_u64(), error["column"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn sarif_names_rules_and_places() {
    let written = sarif::write(&review([("schema.cql", BAD)]));
    let value: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(value["version"], "2.1.0");
    let run = &value["runs"][0];
    let results = run["results"].as_array().expect("array");
    let result = results.iter().find(|r| r["ruleId"] == "unbounded-partition").expect("result");
    let index = result["ruleIndex"].as_u64().expect("index") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    assert_eq!(result["level"], "error");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 6);
}

/// What SARIF 2.1.0 requires of a log, its runs, its tool and its results, over everything that can be found.
#[test]
fn sarif_has_every_required_field() {
    let all = [super::SEEDS, super::FLAWED, "SELEC 1;\n-- partita:allow hot-key\nSELECT FROM;"].concat();
    let value: serde_json::Value =
        serde_json::from_str(&sarif::write(&review([("a.cql", all.as_str())]))).expect("JSON");
    assert_eq!(value["version"], "2.1.0");
    assert!(value["$schema"].as_str().is_some_and(|s| s.contains("sarif-2.1.0")));
    let run = &value["runs"][0];
    assert!(run["tool"]["driver"]["name"].is_string());
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(rules.iter().all(|rule| rule["id"].is_string()));
    let results = run["results"].as_array().expect("results");
    assert!(results.len() > 100, "{}", results.len());
    for result in results {
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        let level = result["level"].as_str().unwrap_or_default();
        assert!(["none", "note", "warning", "error"].contains(&level), "{result}");
        if let Some(at) = result["ruleIndex"].as_u64() {
            assert_eq!(rules[at as usize]["id"], result["ruleId"]);
        }
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a.cql");
        let number = |name: &str| place["region"][name].as_u64().unwrap_or(0);
        assert!(number("startLine") >= 1 && number("startColumn") >= 1, "{result}");
        let (start, end) =
            ((number("startLine"), number("startColumn")), (number("endLine"), number("endColumn")));
        assert!(end >= start, "{result}");
    }
}

#[test]
fn html_is_one_page_that_escapes() {
    let source = format!(
        "{BAD}CREATE TABLE \"<script>\" (k int PRIMARY KEY, v text);\nCREATE ACCESS PATTERN p AS SELECT * FROM shop.sensor_readings WHERE sensor_id = ? LIMIT 5 WITH rows_per_day = 86400;"
    );
    let page = html::write(&review([("schema.cql", source.as_str())]));
    assert!(
        page.contains("class=\"chebotko\"")
            && page.contains("class=\"growth\"")
            && page.contains("class=\"graph\"")
    );
    assert!(!page.contains("<script"), "names are escaped and there is no script");
    let links = page.matches("href=").count();
    assert_eq!(links, page.matches("href=\"#").count(), "links lead to places of the page itself");
    assert!(!page.contains("src="), "nothing is loaded");
}

#[test]
fn growth_of_the_seeds_is_computed_as_they_do() {
    let source = "CREATE TABLE c (tenant_id uuid, case_id uuid, month text, at timestamp, id uuid, PRIMARY KEY ((tenant_id, case_id, month), at, id));
        CREATE ACCESS PATTERN p AS SELECT * FROM c WHERE tenant_id = ? AND case_id = ? AND month = ? LIMIT 9
        WITH rows_per_partition = {'p50': 200, 'p99': 5000, 'max': 100000} AND row_bytes = 1200;";
    let review = review([("c.cql", source)]);
    let growth = &review.facts[0].growth;
    assert!((growth.full_bytes(2) - 120e6).abs() < 1.0, "{}", growth.full_bytes(2));
    assert!((growth.full_bytes(1) - 6e6).abs() < 1.0);
    assert!(growth.breach_day().is_some());
    assert_eq!(growth.bucket_advice().word(), "week");
}

#[test]
fn a_reason_suppresses_inside_and_behind_too() {
    let finds =
        |source: &str| review([("s.cql", source)]).findings.iter().any(|f| f.rule == "low-cardinality-key");
    let table = "CREATE TABLE t_by_active (active boolean, t_id uuid, PRIMARY KEY (active, t_id))";
    assert!(finds(&format!("{table};")));
    assert!(!finds(&format!("/* partita:allow low-cardinality-key: 40 rows */\n{table};")));
    assert!(!finds(&format!("{table}; -- partita:allow low-cardinality-key: 40 rows")));
    assert!(!finds(&format!(
        "{};",
        table.replace("active boolean,", "active boolean, -- partita:allow low-cardinality-key: 40 rows\n")
    )));
    assert!(!finds(&format!(
        "-- partita:allow-file low-cardinality-key: test data\nSELECT * FROM x;\n{table};"
    )));
    assert!(!finds(&format!(
        "{table} WITH comment = 'the small ones; partita:allow low-cardinality-key: 40 rows';"
    )));
    assert!(finds(&format!("{table} WITH comment = 'partita:allow low-cardinality-key';")));
    assert!(finds(&format!("-- partita:allow hot-key: other rule\n{table};")));
    assert!(finds(&format!(
        "-- partita:allow low-cardinality-key: first only\nCREATE TABLE x (k int PRIMARY KEY);\n{table};"
    )));
}

#[test]
fn the_server_gets_short_texts_for_one_statement() {
    let known = ["CREATE TABLE users (user_id uuid PRIMARY KEY, status text);"];
    let findings = review_statement(Some("shop"), "CREATE INDEX ON users (status)", &known);
    let texts = warnings(&findings);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].starts_with("review warning (index-misuse): "), "{texts:?}");
    assert!(review_statement(None, "CREATE TABLE u (id uuid PRIMARY KEY, name text)", &[]).is_empty());
}

#[test]
fn every_rule_of_the_issue_is_explained() {
    for id in [
        "unbounded-partition",
        "low-cardinality-key",
        "constant-key",
        "time-only-key",
        "hot-key",
        "shattered-key",
        "no-tie-breaker",
        "order-mismatch",
        "needs-filtering",
        "unbounded-fanout",
        "bucket-size",
        "missing-tenant",
        "index-misuse",
        "view-cost",
        "queue-like",
        "wide-ttl-reads",
        "no-retention",
        "unbounded-collection",
        "hot-condition",
        "batch-misuse",
        "unused-table",
        "ungoverned-copy",
        "refused-statement",
    ] {
        let lesson = explain::rule(id).unwrap_or_else(|| panic!("{id} is not explained"));
        assert!(lesson.contains("Bad:") && lesson.contains("Good:") && lesson.contains("Seen:"));
    }
    for rule in design::rules::all() {
        assert!(rule.seen.len() > 80, "{} was seen nowhere", rule.id);
    }
    assert!(explain::rule("no-such-rule").is_none());
}
