//! DynamoDB: every form of definition is read, the lessons are true, the output is that of CQL, and any text gives a review.

use super::describe;
use design::output::{html, json, sarif, text};
use design::{Review, Severity, review};

fn findings<'r>(review: &'r Review, rule: &str) -> Vec<&'r design::Finding> {
    review.findings.iter().filter(|f| f.rule == rule).collect()
}

#[test]
fn the_lessons_are_true() {
    for rule in design::rules::all().filter(|rule| design::rules::is_dynamo(rule)) {
        let bad = review([("bad.json", rule.bad)]);
        assert!(bad.errors().is_empty(), "{}: {:?}", rule.id, bad.errors());
        assert!(
            !findings(&bad, rule.id).is_empty(),
            "the bad example of {} is not found\n{}",
            rule.id,
            describe(&bad)
        );
        let good = review([("good.json", rule.good)]);
        assert!(good.errors().is_empty(), "{}: {:?}", rule.id, good.errors());
        let loud = good.findings.iter().any(|f| f.severity >= Severity::Warning || f.rule == rule.id);
        assert!(!loud, "the good example of {} is criticised\n{}", rule.id, describe(&good));
    }
}

const TERRAFORM: &str = r#"
variable "range" { default = "created_at" }
# partita:allow missing-ttl: sessions are kept for the auditors
resource "aws_dynamodb_table" "jobs" {
  name         = "${var.env}-jobs"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "job_id"
  attribute {
    name = "job_id"
    type = "S"
  }
  attribute {
    name = "status"
    type = "S"
  }
  global_secondary_index {
    name            = "by_status"
    hash_key        = "status"
    range_key       = var.range
    projection_type = "ALL"
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
}
"#;

const CLOUDFORMATION: &str = r#"
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Jobs:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${AWS::StackName}-jobs"
      AttributeDefinitions:
        - AttributeName: job_id
          AttributeType: S
        - { AttributeName: status, AttributeType: S }
        - { AttributeName: created_at, AttributeType: S }
      KeySchema:
        - AttributeName: job_id
          KeyType: HASH
      GlobalSecondaryIndexes:
        - IndexName: by_status
          KeySchema:
            - { AttributeName: status, KeyType: HASH }
            - { AttributeName: created_at, KeyType: RANGE }
          Projection: { ProjectionType: ALL }
      TimeToLiveSpecification: { AttributeName: expires, Enabled: true }
  Names:
    Type: AWS::Serverless::SimpleTable
"#;

const CREATE_TABLE: &str = r#"{"Table": {"TableName": "jobs",
  "AttributeDefinitions": [{"AttributeName": "job_id", "AttributeType": "S"}, {"AttributeName": "status", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "job_id", "KeyType": "HASH"}],
  "GlobalSecondaryIndexes": [{"IndexName": "by_status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "created_at", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "ALL"}}]}}"#;

const WORKBENCH: &str = r#"{"ModelName": "m", "DataModel": [{"TableName": "jobs",
  "KeyAttributes": {"PartitionKey": {"AttributeName": "job_id", "AttributeType": "S"}},
  "GlobalSecondaryIndexes": [{"IndexName": "by_status", "KeyAttributes": {"PartitionKey": {"AttributeName": "status", "AttributeType": "S"},
    "SortKey": {"AttributeName": "created_at", "AttributeType": "S"}}, "Projection": {"ProjectionType": "ALL"}}],
  "TableData": [{"job_id": {"S": "1"}, "status": {"S": "new"}}]}]}"#;

const OPERATIONS: &str = r##"[
  {"op": "Query", "table": "jobs", "index": "by_status", "key": "#s = :s", "names": {"#s": "status"}, "limit": 20, "colour": "red"},
  {"op": "GetItem", "table": "jobs", "key": {"job_id": "<job_id>"}}
]"##;

#[test]
fn every_form_of_definition_is_read() {
    for (name, definition) in [
        ("table.tf", TERRAFORM),
        ("template.yaml", CLOUDFORMATION),
        ("table.json", CREATE_TABLE),
        ("model.json", WORKBENCH),
        ("-", TERRAFORM),
        ("-", CLOUDFORMATION),
    ] {
        let review = review([(name, definition), ("operations.json", OPERATIONS)]);
        assert!(review.errors().is_empty(), "{name}: {:?}", review.errors());
        let model = &review.catalogue.dynamo;
        let jobs = model.tables.first().unwrap_or_else(|| panic!("{name} has no table"));
        assert_eq!(jobs.hash.name, "job_id", "{name}");
        let index = jobs.index("by_status").unwrap_or_else(|| panic!("{name} has no index"));
        assert_eq!(index.range.as_ref().map(|r| r.name.as_str()), Some("created_at"), "{name}");
        let found = findings(&review, "few-valued-hash-key");
        assert_eq!(found.len(), 1, "{name}\n{}", describe(&review));
        // The place is that of the index's hash key.
        let file = &review.catalogue.files[0];
        assert!(found[0].place.span.text(&file.text).contains("status"), "{name}");
        assert_eq!(review.catalogue.notes.len(), 1, "the unknown field is noted");
    }
}

#[test]
fn a_reason_allows_a_finding() {
    let allowed = TERRAFORM
        .replace("missing-ttl: sessions are kept for the auditors", "few-valued-hash-key: ten jobs a day");
    let review_of = |text: &str| review([("t.tf", text.to_string()), ("o.json", OPERATIONS.to_string())]);
    assert!(findings(&review_of(&allowed), "few-valued-hash-key").is_empty());
    let bare = TERRAFORM.replace("missing-ttl: sessions are kept for the auditors", "few-valued-hash-key");
    let bare = review_of(&bare);
    assert_eq!(
        (findings(&bare, "few-valued-hash-key").len(), findings(&bare, "bare-suppression").len()),
        (1, 1)
    );
    let scan = r#"[{"op": "Scan", "table": "jobs", "comment": "partita:allow table-scan: ten items"}]"#;
    let quiet = review([("t.tf", TERRAFORM), ("o.json", scan)]);
    assert!(findings(&quiet, "table-scan").is_empty(), "{}", describe(&quiet));
}

#[test]
fn what_cannot_be_read_is_an_error_of_the_file() {
    let unknown =
        review([("o.json", r#"[{"op": "Query", "table": "nowhere", "key": "a = :a"}, {"op": "Fly"}]"#)]);
    assert_eq!(unknown.errors().len(), 2, "{:?}", unknown.errors());
    let broken = review([("o.json", "[{]")]);
    assert_eq!(broken.errors().len(), 1);
    let nothing = review([("main.tf", "resource \"aws_s3_bucket\" \"b\" {\n}\n")]);
    assert!(nothing.errors().is_empty() && nothing.catalogue.notes.len() == 1);
}

#[test]
fn the_output_is_that_of_cql() {
    let review = review([("t.tf", TERRAFORM), ("o.json", OPERATIONS)]);
    let json: serde_json::Value = serde_json::from_str(&json::write(&review)).expect("JSON");
    let finding = &json["findings"][0];
    assert_eq!(
        (finding["rule"].as_str(), finding["file"].as_str()),
        (Some("few-valued-hash-key"), Some("t.tf"))
    );
    assert!(
        finding["line"].as_u64() > Some(1)
            && finding["fix"].as_str().is_some_and(|fix| fix.contains("global_secondary_index"))
    );
    let sarif: serde_json::Value = serde_json::from_str(&sarif::write(&review)).expect("SARIF");
    assert!(sarif["runs"][0]["results"][0]["ruleIndex"].is_u64());
    let shown = text::write(&review, text::Colour::Never);
    assert!(shown.contains("--> t.tf:") && shown.contains("1 tables, 2 access patterns"), "{shown}");
    assert!(html::write(&review).contains("by_status"));
}

/// The JSON of a repair is JSON, and CLI bodies name the table.
#[test]
fn repairs_are_what_they_say() {
    for rule in design::rules::all().filter(|rule| design::rules::is_dynamo(rule)) {
        let review = review([("bad.json", rule.bad)]);
        for finding in review.findings.iter().filter(|f| f.rule == rule.id) {
            assert!(!finding.fix.is_empty(), "{} has no fix", rule.id);
            assert!(!finding.message.is_empty() && !finding.message.contains("  "), "{}", finding.message);
            for line in finding.fix.lines().filter(|line| !line.starts_with('#')) {
                let body = match line.strip_prefix("aws dynamodb ") {
                    Some(command) => command
                        .split_once('\'')
                        .and_then(|(_, rest)| rest.strip_suffix('\''))
                        .expect("a body"),
                    None => line,
                };
                let parsed: serde_json::Value =
                    serde_json::from_str(body).unwrap_or_else(|e| panic!("{}: {e}: {body}", rule.id));
                assert!(parsed["TableName"].is_string() || parsed["op"].is_string(), "{body}");
            }
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

#[test]
fn mutated_definitions_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let words = [
        "{", "}", "[", "]", ":", ",", "\"", "'", "- ", "\n", "\n  ", "#", "//", "/*", "<<EOT\n", "${",
        "!Sub ", "|", ">", "&a", "*a", "é", "\u{feff}", "---", "= ", "null", "1e999", "\\u", "\\",
    ];
    for round in 0..3_000 {
        let (name, source) = [
            ("a.tf", TERRAFORM),
            ("a.yaml", CLOUDFORMATION),
            ("a.json", CREATE_TABLE),
            ("b.json", WORKBENCH),
            ("o.json", OPERATIONS),
        ][round % 5];
        let mut chars: Vec<char> = source.chars().collect();
        for _ in 0..1 + random.below(8) {
            let at = random.below(chars.len());
            match random.below(4) {
                0 if !chars.is_empty() => drop(chars.remove(at)),
                1 => chars.insert(at, char::from(32 + random.below(95) as u8)),
                2 if random.below(4) == 0 => chars.truncate(at),
                _ => drop(chars.splice(at..at, words[random.below(words.len())].chars())),
            }
        }
        let mutated: String = chars.into_iter().collect();
        let review = review([(name, mutated.as_str()), ("o.json", OPERATIONS)]);
        let _ = text::write(&review, text::Colour::Always);
        let _ = html::write(&review);
        let _ = sarif::write(&review);
        let _ = json::write(&review);
    }
}

#[test]
fn a_thousand_tables_are_reviewed_within_a_second() {
    let mut definitions = Vec::new();
    let mut operations = Vec::new();
    for n in 0..1_000 {
        definitions.push(format!(r#"{{"table": "jobs{n}", "hash": "job_id", "indexes": [{{"name": "by_status", "hash": "status", "range": "at"}}]}}"#));
        operations.push(format!(
            r#"{{"op": "Query", "table": "jobs{n}", "index": "by_status", "key": "status = :s"}}"#
        ));
        operations.push(format!(r#"{{"op": "Scan", "table": "jobs{n}", "filter": "email = :s"}}"#));
        operations.push(format!(r#"{{"op": "UpdateItem", "table": "jobs{n}", "key": {{"job_id": "<job_id>"}}, "update": "SET messages = list_append(messages, :m)"}}"#));
    }
    let text =
        format!(r#"{{"tables": [{}], "operations": [{}]}}"#, definitions.join(",\n"), operations.join(",\n"));
    let start = std::time::Instant::now();
    let review = review([("t.json", text)]);
    let written = json::write(&review);
    let took = start.elapsed();
    eprintln!("{} findings, {} bytes of JSON in {took:?}", review.findings.len(), written.len());
    assert!(review.findings.len() >= 3_000);
    // Unoptimised builds are many times slower than what is shipped.
    let limit = if cfg!(debug_assertions) { 10.0 } else { 1.0 };
    assert!(took.as_secs_f64() < limit, "{took:?}");
}
