//! CQL's words: the text that a client of this dialect gets when something is refused, and the protocol's error class.
//!
//! Layers below know kinds and facts ([`query::fault`]); here is the one place that makes Cassandra's sentences of them, a file for
//! each topic. No match has a wildcard arm: a new fact does not compile until it has words. What the dialect refuses itself, while
//! it binds a statement, is a [`CqlError`] from the beginning.

mod access;
mod bucket;
mod condition;
mod foreign;
mod function;
mod job;
mod key;
mod read;
mod restriction;
pub(crate) mod schema;
mod store;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use function::failure_words;

use ::schema::SchemaError;
use ::store::StoreError;
use design::act_as::{Class, Refusal};
use query::QueryError;
use query::fault::{Fault, Kind};
use std::fmt;

/// A refusal as clients of CQL know it: a class and a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum CqlError {
    /// The text does not parse (0x2000).
    Syntax(String),
    /// The statement or its values are wrong (0x2200).
    Invalid(String),
    /// A property value is wrong (0x2300).
    Config(String),
    /// 0x2400; `table` is empty for a keyspace.
    AlreadyExists { keyspace: String, table: String, message: String },
    /// 0x2100.
    Unauthorized(String),
    /// Malformed request data, such as a paging state (0x000A).
    Protocol(String),
    /// A function failed on its arguments (0x1400).
    FunctionFailure { keyspace: String, function: String, arguments: Vec<String>, message: String },
    /// 0x1001: a budget is used up.
    Overloaded(String),
    /// Its class depends on what was going on: see the server's mapping.
    Store(StoreError),
}

impl CqlError {
    pub fn invalid(text: impl Into<String>) -> CqlError {
        CqlError::Invalid(text.into())
    }

    /// Whether the same might succeed later.
    pub fn is_overload(&self) -> bool {
        matches!(self, CqlError::Overloaded(_))
    }
}

impl From<QueryError> for CqlError {
    #[cold]
    fn from(error: QueryError) -> CqlError {
        match error {
            QueryError::Store(error) => error.into(),
            QueryError::Fault(fault) => worded(*fault),
        }
    }
}

impl From<StoreError> for CqlError {
    #[cold]
    fn from(error: StoreError) -> CqlError {
        match error {
            StoreError::Refused(why) => CqlError::Invalid(store::words(&why)),
            StoreError::Overloaded(what) => CqlError::Overloaded(what.to_string()),
            StoreError::TooManyTombstones { .. }
            | StoreError::PartitionFull(_)
            | StoreError::ReadOnly { .. }
            | StoreError::Corrupt { .. }
            | StoreError::UnknownTable(_)
            | StoreError::Unknown
            | StoreError::Closed
            | StoreError::Io { .. } => CqlError::Store(error),
        }
    }
}

/// What another server would refuse.
impl From<Refusal> for CqlError {
    #[cold]
    fn from(refusal: Refusal) -> CqlError {
        match refusal.class {
            Class::Syntax => CqlError::Syntax(refusal.text),
            Class::Invalid => CqlError::Invalid(refusal.text),
            Class::Config => CqlError::Config(refusal.text),
        }
    }
}

impl From<SchemaError> for CqlError {
    #[cold]
    fn from(error: SchemaError) -> CqlError {
        schema::error(error)
    }
}

macro_rules! from_topics {
    ($($fault:ty),+ $(,)?) => {$(
        impl From<$fault> for CqlError {
            #[cold]
            fn from(fault: $fault) -> CqlError {
                worded(fault.into())
            }
        }
    )+};
}

from_topics!(
    query::fault::AccessFault,
    query::fault::ConditionFault,
    query::fault::FunctionFault,
    query::fault::JobFault,
    query::fault::KeyFault,
    query::fault::ReadFault,
    query::fault::RestrictionFault,
    query::fault::ValueFault,
);

fn worded(fault: Fault) -> CqlError {
    let kind = fault.kind();
    let text = match fault {
        Fault::Key(fault) => key::words(&fault),
        Fault::Value(fault) => value::words(&fault),
        Fault::Function(fault) => return function::error(fault, kind),
        Fault::Restriction(fault) => restriction::words(&fault),
        Fault::Read(fault) => read::words(&fault),
        Fault::Write(fault) => write::words(&fault),
        Fault::Condition(fault) => condition::words(&fault),
        Fault::Bucket(fault) => bucket::words(&fault),
        Fault::Access(fault) => access::words(&fault),
        Fault::Job(fault) => job::words(&fault),
        Fault::Foreign(fault) => foreign::words(fault),
        Fault::Schema(error) => return schema::error(error),
    };
    of_kind(kind, text)
}

/// The protocol's class of each kind. CQL has none for what is missing or too large: both are invalid requests.
fn of_kind(kind: Kind, text: String) -> CqlError {
    match kind {
        Kind::Invalid
        | Kind::TooLarge
        | Kind::NotFound
        | Kind::AlreadyExists
        | Kind::FunctionFailed
        | Kind::Corrupt
        | Kind::Unknown
        | Kind::Unavailable => CqlError::Invalid(text),
        Kind::Misconfigured => CqlError::Config(text),
        Kind::Syntax => CqlError::Syntax(text),
        Kind::Malformed => CqlError::Protocol(text),
        Kind::Unauthorized => CqlError::Unauthorized(text),
        Kind::Overloaded => CqlError::Overloaded(text),
    }
}

impl fmt::Display for CqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CqlError::Syntax(text)
            | CqlError::Invalid(text)
            | CqlError::Config(text)
            | CqlError::Unauthorized(text)
            | CqlError::Protocol(text)
            | CqlError::Overloaded(text) => f.write_str(text),
            CqlError::AlreadyExists { message, .. } | CqlError::FunctionFailure { message, .. } => {
                f.write_str(message)
            }
            CqlError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CqlError {}
