//! Errors of the embedding library, by what the caller can do about them.

use std::fmt;

#[derive(Debug)]
pub enum Error {
    /// The folder cannot be opened; the text says which file and what to do.
    Open(String),
    /// The statement is wrong, or failed; nothing is half done.
    Statement(cql::CqlError),
    /// A parameter does not fit its place.
    Parameter { index: usize, message: String },
    /// A result column is absent or of another type than asked for.
    Column { name: String, message: String },
    /// The database was closed, or its threads have ended.
    Closed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Open(text) => f.write_str(text),
            Error::Statement(error) => error.fmt(f),
            Error::Parameter { index, message } => write!(f, "parameter {}: {message}", index + 1),
            Error::Column { name, message } => write!(f, "column {name}: {message}"),
            Error::Closed => f.write_str("the database is closed"),
        }
    }
}

impl std::error::Error for Error {}
