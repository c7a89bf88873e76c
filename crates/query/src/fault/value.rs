//! Values that do not fit their place.

use model::constraint::Unsatisfied;
use model::value::ValueError;

#[derive(Clone, Debug, PartialEq)]
pub enum ValueFault {
    /// The bytes are no value of their type.
    Wrong(ValueError),
    Null(NullIn),
    Unset(UnsetIn),
    /// The bytes of an int end early, or go on.
    IntWidth {
        bytes: usize,
    },
    LongWidth {
        bytes: usize,
    },
    /// The bytes of a list end early.
    ShortList,
    /// The same of any collection.
    ShortCollection,
    /// A constraint of a column says no.
    Unsatisfied(Unsatisfied),
    /// An operator compares with null. `symbol` is the operator.
    ComparedWithNull {
        symbol: &'static str,
    },
    JsonNotUtf8,
    JsonMalformed {
        why: String,
        text: String,
    },
    JsonNotAnObject {
        text: String,
    },
    JsonUnknownColumn {
        column: String,
    },
    JsonValue {
        column: String,
        why: ValueError,
    },
}

/// Where a null stood that means nothing there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NullIn {
    /// A restriction of a key column.
    Restriction {
        column: String,
    },
    /// A tuple that is compared with several columns.
    Restrictions {
        columns: Vec<String>,
    },
    Filter {
        column: String,
    },
    FilterEntry {
        column: String,
    },
    FilterKey {
        column: String,
    },
    /// One of several alternatives.
    Alternative {
        column: String,
    },
    /// All alternatives at once.
    Alternatives,
    Collection,
    Vector,
    Timestamp,
    MapKey,
    ListIndex,
    CounterDelta,
    Operand {
        column: String,
    },
    MapElement,
    ListElement,
    AlternativesOfCondition,
    Token,
    Limit,
    NearestVector,
    Document,
}

/// Where a value was left unset that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsetIn {
    TupleField {
        at: usize,
    },
    TypeField {
        field: String,
        of: String,
    },
    Argument {
        function: String,
    },
    Restriction {
        column: String,
    },
    Filter {
        column: String,
    },
    FilterEntry {
        column: String,
    },
    FilterKey {
        column: String,
    },
    /// A tuple that is compared with several columns.
    Tuple {
        columns: Vec<String>,
    },
    /// A list of such tuples.
    Tuples {
        columns: Vec<String>,
    },
    Condition {
        column: String,
    },
    MapKey,
    ListIndex,
}

impl From<NullIn> for ValueFault {
    fn from(place: NullIn) -> ValueFault {
        ValueFault::Null(place)
    }
}

impl From<UnsetIn> for ValueFault {
    fn from(place: UnsetIn) -> ValueFault {
        ValueFault::Unset(place)
    }
}

impl From<NullIn> for crate::QueryError {
    #[cold]
    fn from(place: NullIn) -> crate::QueryError {
        ValueFault::Null(place).into()
    }
}

impl From<UnsetIn> for crate::QueryError {
    #[cold]
    fn from(place: UnsetIn) -> crate::QueryError {
        ValueFault::Unset(place).into()
    }
}

impl From<ValueError> for crate::QueryError {
    #[cold]
    fn from(error: ValueError) -> crate::QueryError {
        ValueFault::Wrong(error).into()
    }
}
