//! Why a plan or a store refused a request or failed. Facts; every dialect has its own words and codes for them.

use crate::fault::{Fault, Kind};
use std::fmt;
use store::StoreError;

/// Refusals are boxed: they are rare, and every function on the way carries the size of this.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryError {
    Fault(Box<Fault>),
    Store(StoreError),
}

impl QueryError {
    /// What the caller must do next.
    pub fn kind(&self) -> Kind {
        match self {
            QueryError::Fault(fault) => fault.kind(),
            QueryError::Store(error) => match error {
                StoreError::Refused(_) => Kind::Invalid,
                StoreError::PartitionFull(_) | StoreError::TooManyTombstones { .. } => Kind::TooLarge,
                StoreError::UnknownTable(_) => Kind::NotFound,
                StoreError::Unknown => Kind::Unknown,
                StoreError::Overloaded(_) => Kind::Overloaded,
                StoreError::ReadOnly { .. } | StoreError::Closed => Kind::Unavailable,
                StoreError::Corrupt { .. } | StoreError::Io { .. } => Kind::Corrupt,
            },
        }
    }

    /// Whether the same might succeed later.
    pub fn is_overload(&self) -> bool {
        self.kind() == Kind::Overloaded
    }
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> QueryError {
        QueryError::Store(error)
    }
}

/// For logs. Clients get the words of their dialect.
impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Fault(fault) => write!(f, "{:?}: {fault:?}", fault.kind()),
            QueryError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QueryError {}
