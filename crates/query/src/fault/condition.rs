//! Conditional writes whose conditions cannot be judged together.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionFault {
    EmptyBatch,
    SeveralTables,
    SeveralPartitions,
    /// The partition key has several values. `deletes`: the statement is a deletion.
    SeveralKeys {
        deletes: bool,
    },
    /// The clustering key has several values.
    SeveralRows {
        deletes: bool,
    },
    /// A deletion names a range of rows.
    RangeOfRows,
    ExistsAndNotExists,
    /// One statement asks whether the row exists, another about its values.
    ValuesAndExistence {
        exists: bool,
    },
    NegativeListIndex {
        index: i32,
    },
    SeveralBuckets,
}
