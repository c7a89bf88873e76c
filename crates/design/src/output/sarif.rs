//! SARIF 2.1.0, for code scanning.

use crate::entry::Review;
use crate::finding::Severity;
use crate::rules;
use crate::source::Place;
use serde_json::{Value, json};

/// The review as one SARIF log with one run.
pub fn write(review: &Review) -> String {
    let rules: Vec<Value> = rules::all().map(rule_of).collect();
    let mut results: Vec<Value> = review
        .findings
        .iter()
        .map(|f| {
            let mut result = json!({
                "ruleId": f.rule,
                "level": level(f.severity),
                "message": { "text": f.message },
                "locations": [location(review, f.place)],
                "properties": {
                    "severity": f.severity.name(),
                    "keyspace": f.keyspace,
                    "table": f.table,
                    "pattern": f.pattern,
                    "fix": f.fix,
                },
            });
            if let Some(index) = rules::all().position(|rule| rule.id == f.rule) {
                result["ruleIndex"] = json!(index);
            }
            result
        })
        .collect();
    results.extend(review.errors().iter().map(|error| {
        json!({
            "ruleId": "syntax-error",
            "level": "error",
            "message": { "text": error.message },
            "locations": [location(review, error.place)],
        })
    }));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "partita review",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).unwrap_or_default()
}

fn rule_of(rule: &rules::Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("{}\n\nBad:\n{}\n\nGood:\n{}", rule.why, rule.bad, rule.good) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "note",
    }
}

fn location(review: &Review, place: Place) -> Value {
    let Some(file) = review.catalogue.files.get(place.file) else { return json!({}) };
    let start = file.position(place.span.start);
    let end = file.position(place.span.end.max(place.span.start + 1));
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": file.name },
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }})
}
