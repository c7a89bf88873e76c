//! JSON: `{"findings": [...], "errors": [...], "notes": [...]}`; the field names are fixed, other tools rely on them.

use crate::entry::Review;
use crate::finding::ReadError;
use crate::source::Place;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'r> {
    findings: Vec<Item<'r>>,
    errors: Vec<ErrorItem<'r>>,
    /// What was left out, and why.
    notes: Vec<ErrorItem<'r>>,
}

#[derive(Serialize)]
struct Item<'r> {
    rule: &'r str,
    severity: &'r str,
    keyspace: Option<&'r str>,
    table: Option<&'r str>,
    pattern: Option<&'r str>,
    file: &'r str,
    line: u32,
    column: u32,
    message: &'r str,
    fix: &'r str,
}

#[derive(Serialize)]
struct ErrorItem<'r> {
    file: &'r str,
    line: u32,
    column: u32,
    message: &'r str,
}

/// The review as JSON, indented.
pub fn write(review: &Review) -> String {
    let findings = review.findings.iter().map(|f| {
        let (file, line, column) = place(review, f.place);
        Item {
            rule: f.rule,
            severity: f.severity.name(),
            keyspace: f.keyspace.as_deref(),
            table: f.table.as_deref(),
            pattern: f.pattern.as_deref(),
            file,
            line,
            column,
            message: &f.message,
            fix: &f.fix,
        }
    });
    let document = Document {
        findings: findings.collect(),
        errors: listed(review, review.errors()),
        notes: listed(review, &review.catalogue.notes),
    };
    // Strings and numbers only: serialisation cannot fail.
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn listed<'r>(review: &'r Review, list: &'r [ReadError]) -> Vec<ErrorItem<'r>> {
    let item = |e: &'r ReadError| {
        let (file, line, column) = place(review, e.place);
        ErrorItem { file, line, column, message: &e.message }
    };
    list.iter().map(item).collect()
}

/// File, line and column of a place.
fn place(review: &Review, place: Place) -> (&str, u32, u32) {
    review.catalogue.files.get(place.file).map_or(("", 1, 1), |file| {
        let position = file.position(place.span.start);
        (file.name.as_str(), position.line, position.column)
    })
}
