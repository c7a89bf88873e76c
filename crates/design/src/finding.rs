//! What a review says.

use crate::source::Place;
use std::fmt;

/// How sure and how bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Advice,
    /// Probably wrong, or wrong from a size on that nobody declared.
    Warning,
    /// Wrong by the declared numbers, or by what names, types and statements make certain.
    Error,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Advice => "advice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One result of a review.
#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub keyspace: Option<String>,
    pub table: Option<String>,
    /// The access pattern, when the finding is about one.
    pub pattern: Option<String>,
    pub place: Place,
    /// One sentence with the arithmetic.
    pub message: String,
    /// Runnable CQL that repairs it.
    pub fix: String,
}

/// A text that could not be read.
#[derive(Debug, Clone)]
pub struct ReadError {
    pub place: Place,
    pub message: String,
}

/// The findings while rules run.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    pub fn push(&mut self, finding: Finding) {
        self.list.push(finding);
    }

    /// Whether a rule has already spoken about this table at this severity or above.
    pub fn has(&self, rule: &str, table: &str, at_least: Severity) -> bool {
        self.list
            .iter()
            .rev()
            .any(|f| f.rule == rule && f.severity >= at_least && f.table.as_deref() == Some(table))
    }

    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}
