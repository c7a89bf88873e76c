//! The review of schema statements: the rules of `design` behind the interface that `database` has for it.
//!
//! Pure: texts in, findings out. Advice is left out, because drivers log every warning.

use database::review::{Objection, Reviewer};
use design::Severity;

/// The rules of `partita review`, for schema statements.
pub struct SchemaReview;

impl Reviewer for SchemaReview {
    fn review(&self, keyspace: &str, statements: &[String]) -> Vec<Objection> {
        let known: Vec<&str> = statements.iter().map(String::as_str).collect();
        let loud = |finding: &design::Finding| finding.severity >= Severity::Warning;
        let objection = |finding: design::Finding| Objection {
            rule: finding.rule.to_string(),
            is_error: finding.severity == Severity::Error,
            table: finding.table,
            pattern: finding.pattern,
            message: finding.message,
            fix: finding.fix,
        };
        design::review_statements(Some(keyspace), &known).into_iter().filter(loud).map(objection).collect()
    }
}
