//! Any text as a definition of DynamoDB tables (JSON, YAML, Terraform) and as operations: a review whose every place lies in its
//! text, and which can be written in every form.

#![no_main]

use design::output::{edit, html, json, sarif, text};
use design::review;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 3] = ["a.json", "a.yaml", "a.tf"];
/// So that operations under test have a table.
const TABLE: &str = r#"{"table": "t", "hash": "PK", "range": "SK", "indexes": [{"name": "i", "hash": "status", "range": "at"}], "ttl": "expires"}"#;

fuzz_target!(|input: (u8, &str)| {
    let (kind, source) = input;
    let name = NAMES[kind as usize % NAMES.len()];
    let review = review([(name, source), ("table.json", TABLE)]);
    let file = |at: usize| &review.catalogue.files[at].text;
    let places = review.findings.iter().map(|f| f.place).chain(review.errors().iter().map(|e| e.place));
    for place in places.chain(review.catalogue.notes.iter().map(|n| n.place)) {
        let span = place.span;
        assert!(span.start <= span.end && span.start as usize <= file(place.file).len(), "{span:?} in {source}");
    }
    for finding in &review.findings {
        let edits = [edit::repair(&review, finding), edit::allow(&review, finding)];
        for edit in edits.into_iter().flatten() {
            assert!(file(finding.place.file).get(edit.span.range()).is_some(), "{edit:?} in {source}");
        }
    }
    let _ = (text::write(&review, text::Colour::Never), html::write(&review), sarif::write(&review), json::write(&review));
});
