//! Words for values that do not fit where they stand.

use model::constraint::Unsatisfied;
use query::fault::{NullIn, UnsetIn, ValueFault};

pub fn words(fault: &ValueFault) -> String {
    match fault {
        ValueFault::Wrong(error) => error.to_string(),
        ValueFault::Null(place) => null(place),
        ValueFault::Unset(place) => unset(place),
        ValueFault::IntWidth { bytes } => format!("Expected 4 or 0 byte int ({bytes})"),
        ValueFault::LongWidth { bytes } => format!("Expected 8 or 0 byte long ({bytes})"),
        ValueFault::ShortList => "Not enough bytes to read a list".into(),
        ValueFault::ShortCollection => "Not enough bytes to read a collection".into(),
        ValueFault::Unsatisfied(fault) => unsatisfied(fault),
        ValueFault::ComparedWithNull { symbol } => compared_with_null(symbol),
        ValueFault::JsonNotUtf8 => "Could not decode JSON string as a map: it is not UTF-8".into(),
        ValueFault::JsonMalformed { why, text } => not_a_map(why, text),
        ValueFault::JsonNotAnObject { text } => not_a_map("it is not an object", text),
        ValueFault::JsonUnknownColumn { column } => {
            format!("JSON values map contains unrecognized column: {column}")
        }
        ValueFault::JsonValue { column, why } => format!("Error decoding JSON value for {column}: {why}"),
    }
}

fn not_a_map(why: &str, text: &str) -> String {
    format!("Could not decode JSON string as a map: {why}. (String was: {text})")
}

pub fn compared_with_null(symbol: &str) -> String {
    format!("Invalid comparison with null for operator \"{symbol}\"")
}

fn null(place: &NullIn) -> String {
    match place {
        NullIn::Restriction { column } => format!("Invalid null value in condition for column {column}"),
        NullIn::Restrictions { columns } => {
            format!("Invalid null value in condition for columns: [{}]", columns.join(", "))
        }
        NullIn::Filter { column } => format!("Unsupported null value for column {column}"),
        NullIn::FilterEntry { column } => format!("Unsupported null map value for column {column}"),
        NullIn::FilterKey { column } => format!("Unsupported null map key for column {column}"),
        NullIn::Alternative { column } => format!("Invalid null value for column {column}"),
        NullIn::Alternatives => "Invalid null value for IN restriction".into(),
        NullIn::Collection => "null is not supported inside collections".into(),
        NullIn::Vector => "null is not supported inside vectors".into(),
        NullIn::Timestamp => "Invalid null value of timestamp".into(),
        NullIn::MapKey => "Invalid null map key".into(),
        NullIn::ListIndex => "Invalid null value for list index".into(),
        NullIn::CounterDelta => "Invalid null value for counter increment/decrement".into(),
        NullIn::Operand { column } => format!("Invalid null operand in the new value of {column}"),
        NullIn::MapElement => "Invalid null value for map element access".into(),
        NullIn::ListElement => "Invalid null value for list element access".into(),
        NullIn::AlternativesOfCondition => "Invalid null list in IN condition".into(),
        NullIn::Token => "Invalid null token value".into(),
        NullIn::Limit => "Invalid null value of limit".into(),
        NullIn::NearestVector => "Invalid null value for ANN OF".into(),
        NullIn::Document => "Got null for INSERT JSON values".into(),
    }
}

fn unset(place: &UnsetIn) -> String {
    match place {
        UnsetIn::TupleField { at } => format!("Invalid unset value for tuple field number {at}"),
        UnsetIn::TypeField { field, of } => {
            format!("Invalid unset value for field '{field}' of user defined type {of}")
        }
        UnsetIn::Argument { function } => {
            format!("Invalid unset value for argument in call to function {function}")
        }
        UnsetIn::Restriction { column } => format!("Invalid unset value for column {column}"),
        UnsetIn::Filter { column } => format!("Unsupported unset value for column {column}"),
        UnsetIn::FilterEntry { column } => format!("Unsupported unset map value for column {column}"),
        UnsetIn::FilterKey { column } => format!("Unsupported unset map key for column {column}"),
        UnsetIn::Tuple { columns } => format!("Invalid unset value for tuple ({})", columns.join(",")),
        UnsetIn::Tuples { columns } => format!("Invalid unset value for in({})", columns.join(",")),
        UnsetIn::Condition { column } => format!("Invalid 'unset' value in condition for column {column}"),
        UnsetIn::MapKey => "Invalid unset map key".into(),
        UnsetIn::ListIndex => "Invalid unset value for list index".into(),
    }
}

pub fn unsatisfied(fault: &Unsatisfied) -> String {
    let of = |column: &str| format!("Column value does not satisfy value constraint for column '{column}'");
    match fault {
        Unsatisfied::Json { column } => {
            format!("Value for column '{column}' violated JSON constraint as it is not a valid JSON.")
        }
        Unsatisfied::Value { column, comparison, term } => {
            format!("{}. It should be {column} {} {term}", of(column), comparison.symbol())
        }
        Unsatisfied::Length { column, octets, length, comparison, count } => {
            // The doubled words are Cassandra's.
            let should = if *octets { "should be should be" } else { "should be" };
            let symbol = comparison.symbol();
            format!("{}. It has a length of {length} and it {should} {symbol} {count}", of(column))
        }
        Unsatisfied::Regexp { equal: true, pattern } => {
            format!("Value does not match regular expression '{pattern}'")
        }
        Unsatisfied::Regexp { equal: false, pattern } => {
            format!("Value does match regular expression '{pattern}'")
        }
        Unsatisfied::Null { column } => format!("{} as it is null.", of(column)),
        Unsatisfied::Deleted { column } => format!("Column '{column}' can not be set to null."),
        Unsatisfied::Missing { column } => {
            format!("Column '{column}' has to be specified as part of this query.")
        }
    }
}
