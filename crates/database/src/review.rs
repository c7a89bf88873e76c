//! The interface through which a schema change is reviewed. The rules live in `design`; this crate does not know them.

/// Reads schema statements and says what is wrong with them. No I/O; called under the catalogue's lock.
pub trait Reviewer: Send + Sync {
    /// Errors and warnings on the schema that these statements make; unqualified names are of `keyspace`.
    fn review(&self, keyspace: &str, statements: &[String]) -> Vec<Objection>;
}

/// One thing that a review holds against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    pub rule: String,
    /// Refused with `review = 'enforce'`; else it only warns.
    pub is_error: bool,
    pub table: Option<String>,
    pub pattern: Option<String>,
    /// Why, in one sentence.
    pub message: String,
    /// Runnable CQL.
    pub fix: String,
}
