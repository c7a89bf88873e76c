//! JSON: `{"findings": [...], "errors": [...]}`; the field names are fixed, other tools rely on them.

use crate::entry::Review;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'r> {
    findings: Vec<Item<'r>>,
    errors: Vec<ErrorItem<'r>>,
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
    let files = &review.catalogue.files;
    let place = |place: crate::source::Place| {
        files.get(place.file).map_or(("", 1, 1), |file| {
            let position = file.position(place.span.start);
            (file.name.as_str(), position.line, position.column)
        })
    };
    let findings = review.findings.iter().map(|f| {
        let (file, line, column) = place(f.place);
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
    let errors = review.errors().iter().map(|e| {
        let (file, line, column) = place(e.place);
        ErrorItem { file, line, column, message: &e.message }
    });
    let document = Document { findings: findings.collect(), errors: errors.collect() };
    // Strings and numbers only: serialisation cannot fail.
    serde_json::to_string_pretty(&document).unwrap_or_default()
}
