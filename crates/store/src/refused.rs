//! Why a store refuses something: the facts, without words for any client.

use crate::StoreError;
use model::constraint::Unsatisfied;
use model::value::ValueError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This store has no transactions over several rows.
    NoTransactions,
    /// A read of a range was asked for, and the read names keys.
    NotARange,
    /// A transaction has no rows, or more than `most`.
    RowsOfTransaction {
        most: usize,
    },
    PartitionsOfTransaction {
        most: usize,
    },
    /// A transaction has decided, and leaves something to be decided later.
    DeferredInTransaction,
    /// A transaction writes a partition that it has not locked.
    UnnamedPartition,
    RowKeyTooLong,
    CommitTooLarge {
        bytes: usize,
        limit: usize,
    },
    /// One statement touches more rows of a table with copies than can be followed.
    TooManyTouched {
        most: u64,
    },
    /// A row or value that totals are made of would expire.
    Expires,
    /// A sum that a projection keeps cannot be made.
    NoSum(ValueError),
    /// A copy is to go where a database is already.
    Occupied {
        place: String,
    },
    ConditionTooDeep {
        most: usize,
    },
    ComparedWithNull {
        symbol: &'static str,
    },
    ComparedWithEmpty {
        kind: &'static str,
        symbol: &'static str,
    },
    Unsatisfied(Unsatisfied),
    /// An element of a list that is null is set, or deleted.
    ListIsNull {
        sets: bool,
    },
    ListIndex {
        index: i32,
        elements: usize,
    },
    Arithmetic(ValueError),
    /// The plan that a table moves to has no bucket for the row.
    NoBucket,
    /// The store cannot keep the next generation of a table in step with it.
    NoMirrors,
    /// The caller's decision about rows failed; `why` is in the caller's own words.
    Undecided {
        why: String,
    },
}

impl From<Refused> for StoreError {
    #[cold]
    fn from(why: Refused) -> StoreError {
        StoreError::Refused(Box::new(why))
    }
}
