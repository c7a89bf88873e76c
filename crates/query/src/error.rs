//! What a client is told when a statement fails, by protocol class. The dialect's one mapping file
//! turns these into codes; texts start with Cassandra's sentence where tools match it.

use std::fmt;
use store::StoreError;

#[derive(Clone, Debug, PartialEq)]
pub enum QueryError {
    /// The text does not parse (0x2000).
    Syntax(String),
    /// The statement or its values are wrong (0x2200).
    Invalid(String),
    /// A property value is wrong (0x2300).
    Config(String),
    /// 0x2400; `table` is empty for a keyspace.
    AlreadyExists {
        keyspace: String,
        table: String,
        message: String,
    },
    /// 0x2100.
    Unauthorized(String),
    /// Malformed request data, such as a paging state (0x000A).
    Protocol(String),
    /// A function failed on its arguments (0x1400).
    FunctionFailure {
        keyspace: String,
        function: String,
        arguments: Vec<String>,
        message: String,
    },
    /// 0x1001: a budget is used up.
    Overloaded(String),
    Store(StoreError),
}

impl QueryError {
    pub fn invalid(text: impl Into<String>) -> QueryError {
        QueryError::Invalid(text.into())
    }

    /// Whether the same might succeed later.
    pub fn is_overload(&self) -> bool {
        matches!(self, QueryError::Overloaded(_))
    }
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> QueryError {
        match error {
            StoreError::Invalid(text) => QueryError::Invalid(text),
            StoreError::Overloaded(what) => QueryError::Overloaded(what.to_string()),
            other => QueryError::Store(other),
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Syntax(text)
            | QueryError::Invalid(text)
            | QueryError::Config(text)
            | QueryError::Unauthorized(text)
            | QueryError::Protocol(text)
            | QueryError::Overloaded(text) => f.write_str(text),
            QueryError::AlreadyExists { message, .. } | QueryError::FunctionFailure { message, .. } => {
                f.write_str(message)
            }
            QueryError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QueryError {}
