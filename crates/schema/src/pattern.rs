//! Access patterns: named reads and writes with their declared numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct AccessPattern {
    pub name: Arc<str>,
    /// The statement as canonical CQL.
    pub statement: String,
    /// `peak_rate`, `p99_ms`, ... as canonical CQL literals.
    pub settings: BTreeMap<String, String>,
}
