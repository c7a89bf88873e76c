//! Words for what a store does not do.

use super::value;
use store::Refused;

pub fn words(why: &Refused) -> String {
    match why {
        Refused::NoTransactions => "this store has no transactions".into(),
        Refused::NotARange => "not a range read".into(),
        Refused::RowsOfTransaction { most } => format!("a transaction needs 1 to {most} rows"),
        Refused::PartitionsOfTransaction { most } => {
            format!("A transaction may name {most} partitions at most")
        }
        Refused::DeferredInTransaction => "a transaction has decided already, it cannot defer".into(),
        Refused::UnnamedPartition => "a transaction writes only partitions that it has named".into(),
        Refused::RowKeyTooLong => "the key of the row is too long".into(),
        Refused::CommitTooLarge { bytes, limit } => {
            format!("the mutations are {bytes} bytes together; the limit is {limit}")
        }
        Refused::TooManyTouched { most } => format!(
            "The table has materialized views or its buckets are being changed, and one statement may touch at most {most} of its \
             rows; delete fewer at once, by ranges of the clustering key, or use a projection WITH freshness = '5s' instead, which follows any \
             number of rows later"
        ),
        Refused::Expires => "A projection keeps totals of this table, and totals cannot follow rows and values that expire. Write without TTL, or drop \
                             the projection"
            .into(),
        Refused::NoSum(error) => {
            format!("A projection keeps totals of this table, and the sum cannot be made: {error}")
        }
        Refused::Occupied { place } => format!("{place} already holds a database"),
        Refused::ConditionTooDeep { most } => format!("A condition may be nested at most {most} deep"),
        Refused::ComparedWithNull { symbol } => value::compared_with_null(symbol),
        Refused::ComparedWithEmpty { kind, symbol } => {
            format!("Invalid comparison with an empty {kind} for operator \"{symbol}\"")
        }
        Refused::Unsatisfied(fault) => value::unsatisfied(fault),
        Refused::ListIsNull { sets: true } => "Attempted to set an element on a list which is null".into(),
        Refused::ListIsNull { sets: false } => {
            "Attempted to delete an element from a list which is null".into()
        }
        Refused::ListIndex { index, elements } => {
            format!("List index {index} out of bound, list has size {elements}")
        }
        Refused::Arithmetic(error) => error.to_string(),
        Refused::NoBucket => {
            "The buckets of the table are being changed, and the new plan has no bucket for the time of the row: it is empty or too \
             far from our time"
                .into()
        }
        Refused::NoMirrors => {
            "this store cannot change the buckets of a table: make a table with the new buckets and copy the rows".into()
        }
        Refused::Undecided { why } => why.clone(),
    }
}
