//! What a column's values must satisfy: `CHECK` and `NOT NULL`, as Cassandra 6.0 has them.
//!
//! A constraint is checked when it is made (so that no table has one that cannot hold) and then only evaluated. It looks at
//! one value and at nothing else; whether a row lacks a value is for the caller to see.

use crate::comparison::Comparison;
use crate::json::JsonValue;
use crate::types::DataType;
use crate::value::compare;
use regex::{Regex, RegexBuilder};
use std::cmp::Ordering;

/// The compiled form of a regular expression may take this much. The crate's matching time is linear in the text.
const REGEXP_BYTES_MAX: usize = 256 << 10;

/// One condition on the values of a column.
#[derive(Clone, Debug)]
pub enum Constraint {
    NotNull,
    Json,
    /// `column < term`; the term as it was written and as the column's type stores it.
    Value {
        comparison: Comparison,
        term: String,
        value: Vec<u8>,
    },
    /// `LENGTH() < term` in characters, or `OCTET_LENGTH() < term` in bytes.
    Length {
        octets: bool,
        comparison: Comparison,
        count: i64,
    },
    /// `REGEXP() = 'pattern'`: the whole value matches, or with `!=` does not.
    Regexp {
        equal: bool,
        pattern: String,
        compiled: Regex,
    },
}

impl PartialEq for Constraint {
    fn eq(&self, other: &Constraint) -> bool {
        self.to_string_for("") == other.to_string_for("")
    }
}

/// Which constraint a value does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsatisfied {
    Json {
        column: String,
    },
    Value {
        column: String,
        comparison: Comparison,
        term: String,
    },
    /// `length` is what the value has; `octets`: in bytes.
    Length {
        column: String,
        octets: bool,
        length: i64,
        comparison: Comparison,
        count: i64,
    },
    Regexp {
        equal: bool,
        pattern: String,
    },
    /// A null is written where a column has constraints.
    Null {
        column: String,
    },
    /// A value that must be there is deleted.
    Deleted {
        column: String,
    },
    /// The row would lack a value that it must have.
    Missing {
        column: String,
    },
}

/// Why a constraint, or several of one column, cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintError {
    NotARegexp {
        pattern: String,
    },
    /// A column of this type cannot have it; those that can.
    WrongType {
        constraint: String,
        types: &'static [DataType],
        data_type: DataType,
    },
    Repeated {
        column: String,
        constraints: Vec<String>,
    },
    /// No value is above the one bound and below the other.
    Unsatisfiable {
        of: BoundsOf,
        bounds: [String; 2],
    },
    /// Too many bounds, or two on the same side.
    Uncombinable {
        of: BoundsOf,
        bounds: Vec<String>,
    },
}

/// What bounds are of that can contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundsOf {
    Values,
    Lengths { octets: bool },
}

impl Constraint {
    /// `REGEXP() = 'pattern'`. Patterns that need backtracking are refused: their time has no bound.
    pub fn regexp(equal: bool, pattern: &str) -> Result<Constraint, ConstraintError> {
        let whole = format!("^(?:{pattern})$");
        let compiled = RegexBuilder::new(&whole).size_limit(REGEXP_BYTES_MAX).build();
        let compiled = compiled.map_err(|_| ConstraintError::NotARegexp { pattern: pattern.to_string() })?;
        Ok(Constraint::Regexp { equal, pattern: pattern.to_string(), compiled })
    }

    /// As DESCRIBE shows it on a column of this (quoted) name.
    pub fn to_string_for(&self, column: &str) -> String {
        match self {
            Constraint::NotNull => "NOT NULL".to_string(),
            Constraint::Json => "JSON()".to_string(),
            Constraint::Value { comparison, term, .. } => format!("{column} {} {term}", comparison.symbol()),
            Constraint::Length { octets, comparison, count } => {
                format!("{}() {} {count}", length_name(*octets), comparison.symbol())
            }
            Constraint::Regexp { equal, pattern, .. } => {
                let symbol = if *equal { "=" } else { "!=" };
                format!("REGEXP() {symbol} '{}'", pattern.replace('\'', "''"))
            }
        }
    }

    /// How the constraint is named when it cannot be used.
    fn name(&self, column: &str) -> String {
        match self {
            Constraint::NotNull => "NOT_NULL".to_string(),
            Constraint::Json => "JSON".to_string(),
            Constraint::Value { comparison, .. } => format!("{column} {}", comparison.symbol()),
            Constraint::Length { octets, .. } => length_name(*octets).to_string(),
            Constraint::Regexp { .. } => "REGEXP".to_string(),
        }
    }

    /// Whether a value satisfies it.
    pub fn check(&self, column: &str, data_type: &DataType, value: &[u8]) -> Result<(), Unsatisfied> {
        let column = || column.to_string();
        match self {
            Constraint::NotNull => Ok(()),
            Constraint::Json => match std::str::from_utf8(value).is_ok_and(JsonValue::is_document) {
                true => Ok(()),
                false => Err(Unsatisfied::Json { column: column() }),
            },
            Constraint::Value { comparison, term, value: bound } => {
                match orders(*comparison, compare(data_type, value, bound)) {
                    true => Ok(()),
                    false => Err(Unsatisfied::Value {
                        column: column(),
                        comparison: *comparison,
                        term: term.clone(),
                    }),
                }
            }
            Constraint::Length { octets, comparison, count } => {
                let length = length(data_type, value, *octets);
                match orders(*comparison, length.cmp(count)) {
                    true => Ok(()),
                    false => Err(Unsatisfied::Length {
                        column: column(),
                        octets: *octets,
                        length,
                        comparison: *comparison,
                        count: *count,
                    }),
                }
            }
            Constraint::Regexp { equal, pattern, compiled } => {
                let matches = std::str::from_utf8(value).is_ok_and(|text| compiled.is_match(text));
                match matches == *equal {
                    true => Ok(()),
                    false => Err(Unsatisfied::Regexp { equal: *equal, pattern: pattern.clone() }),
                }
            }
        }
    }

    fn takes(&self) -> Option<&'static [DataType]> {
        use DataType::*;
        match self {
            Constraint::NotNull => None,
            Constraint::Json | Constraint::Regexp { .. } => Some(&[Text, Ascii]),
            Constraint::Length { .. } => Some(&[Blob, Text, Ascii]),
            Constraint::Value { .. } => Some(&[
                TinyInt, Counter, Decimal, Double, Float, Int, VarInt, BigInt, SmallInt, Time, Date,
                Timestamp,
            ]),
        }
    }
}

fn length_name(octets: bool) -> &'static str {
    if octets { "OCTET_LENGTH" } else { "LENGTH" }
}

fn length(data_type: &DataType, value: &[u8], octets: bool) -> i64 {
    let length = match data_type {
        DataType::Text | DataType::Ascii if !octets => {
            std::str::from_utf8(value).map_or(value.len(), |text| text.encode_utf16().count())
        }
        _ => value.len(),
    };
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn orders(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
        _ => false,
    }
}

/// Refuses constraints that a column of this type cannot have, or that no value satisfies together.
pub fn check_constraints(
    column: &str,
    data_type: &DataType,
    constraints: &[Constraint],
) -> Result<(), ConstraintError> {
    for constraint in constraints {
        if let Some(types) = constraint.takes().filter(|types| !types.contains(data_type)) {
            let (constraint, data_type) = (constraint.name(column), data_type.clone());
            return Err(ConstraintError::WrongType { constraint, types, data_type });
        }
    }
    check_repeated(column, constraints)?;
    check_satisfiable(column, data_type, constraints)
}

fn check_repeated(column: &str, constraints: &[Constraint]) -> Result<(), ConstraintError> {
    let kind = |constraint: &Constraint| match constraint {
        Constraint::Length { octets, comparison, .. } => {
            format!("{} {}", length_name(*octets), comparison.symbol())
        }
        Constraint::Regexp { equal, .. } => format!("REGEXP {}", if *equal { "=" } else { "!=" }),
        other => other.name(column),
    };
    let kinds: Vec<String> = constraints.iter().map(kind).filter(|kind| !kind.ends_with("!=")).collect();
    let mut twice: Vec<String> = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        if kinds.iter().take(at).any(|earlier| earlier == kind) && !twice.contains(kind) {
            twice.push(kind.clone());
        }
    }
    match twice.is_empty() {
        true => Ok(()),
        false => Err(ConstraintError::Repeated { column: column.to_string(), constraints: twice }),
    }
}

/// A comparison with a bound, of whatever kind, beside others of its kind.
struct Bound<'c> {
    comparison: Comparison,
    text: String,
    value: BoundValue<'c>,
}

enum BoundValue<'c> {
    Stored(&'c [u8]),
    Count(i64),
}

fn check_satisfiable(
    column: &str,
    data_type: &DataType,
    constraints: &[Constraint],
) -> Result<(), ConstraintError> {
    for group in [BoundsOf::Values, BoundsOf::Lengths { octets: false }, BoundsOf::Lengths { octets: true }] {
        let bounds: Vec<Bound<'_>> =
            constraints.iter().filter_map(|constraint| bound_in(group, column, constraint)).collect();
        let [first, second] = &bounds[..] else {
            if bounds.len() > 2 {
                return Err(unsupported(group, &bounds));
            }
            continue;
        };
        use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
        let (low, high) = match (first.comparison, second.comparison) {
            (Greater | GreaterOrEqual, Less | LessOrEqual) => (first, second),
            (Less | LessOrEqual, Greater | GreaterOrEqual) => (second, first),
            _ => return Err(unsupported(group, &bounds)),
        };
        let order = match (&low.value, &high.value) {
            (BoundValue::Stored(low), BoundValue::Stored(high)) => compare(data_type, low, high),
            (BoundValue::Count(low), BoundValue::Count(high)) => low.cmp(high),
            _ => continue,
        };
        let both_included = low.comparison == GreaterOrEqual && high.comparison == LessOrEqual;
        if order == Ordering::Greater || (order == Ordering::Equal && !both_included) {
            let bounds = [first.text.clone(), second.text.clone()];
            return Err(ConstraintError::Unsatisfiable { of: group, bounds });
        }
    }
    Ok(())
}

/// The bound that a constraint of the group sets, if it is one that can contradict others.
fn bound_in<'c>(group: BoundsOf, column: &str, constraint: &'c Constraint) -> Option<Bound<'c>> {
    let (of, comparison, term, value) = match constraint {
        Constraint::Value { comparison, term, value } => {
            (BoundsOf::Values, *comparison, term.clone(), BoundValue::Stored(value))
        }
        Constraint::Length { octets, comparison, count } => {
            let of = BoundsOf::Lengths { octets: *octets };
            (of, *comparison, count.to_string(), BoundValue::Count(*count))
        }
        _ => return None,
    };
    let text = format!("{column} {} {term}", comparison.symbol());
    (of == group && comparison != Comparison::NotEqual).then_some(Bound { comparison, text, value })
}

fn unsupported(of: BoundsOf, bounds: &[Bound<'_>]) -> ConstraintError {
    ConstraintError::Uncombinable { of, bounds: bounds.iter().map(|bound| bound.text.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(comparison: Comparison, number: i32) -> Constraint {
        Constraint::Value { comparison, term: number.to_string(), value: number.to_be_bytes().to_vec() }
    }

    #[test]
    fn values_are_compared_in_the_order_of_their_type() {
        let above = value(Comparison::Greater, -3);
        assert_eq!(above.check("v", &DataType::Int, &(-2i32).to_be_bytes()), Ok(()));
        let (column, term) = ("v".to_string(), "-3".to_string());
        let fault = Unsatisfied::Value { column, comparison: Comparison::Greater, term };
        assert_eq!(above.check("v", &DataType::Int, &(-4i32).to_be_bytes()), Err(fault));
    }

    #[test]
    fn lengths_count_characters_or_bytes() {
        let short = |octets| Constraint::Length { octets, comparison: Comparison::LessOrEqual, count: 4 };
        assert_eq!(short(false).check("v", &DataType::Text, "äöüß".as_bytes()), Ok(()));
        assert!(short(true).check("v", &DataType::Text, "äöüß".as_bytes()).is_err());
    }

    #[test]
    fn a_regular_expression_is_of_the_whole_value() {
        let pattern = Constraint::regexp(true, "a.*b").unwrap();
        assert_eq!(pattern.check("v", &DataType::Text, b"axb"), Ok(()));
        assert!(pattern.check("v", &DataType::Text, b"axbc").is_err());
        assert!(pattern.check("v", &DataType::Text, b"xab").is_err());
        assert!(Constraint::regexp(true, "a[").is_err());
        assert!(Constraint::regexp(true, "(a{500}){500}").is_err(), "its automaton would be too large");
    }

    #[test]
    fn what_cannot_hold_is_refused() {
        use Comparison::*;
        let check = |constraints: &[Constraint]| check_constraints("v", &DataType::Int, constraints);
        assert_eq!(
            check(&[value(Greater, 1), value(Less, 5), value(NotEqual, 3), value(NotEqual, 4)]),
            Ok(())
        );
        assert_eq!(check(&[value(LessOrEqual, 5), value(GreaterOrEqual, 5)]), Ok(()));
        assert!(check(&[value(Less, 5), value(Greater, 5)]).is_err());
        assert!(check(&[value(Equal, 5), value(Greater, 1)]).is_err());
        assert!(check(&[value(Greater, 5), value(Greater, 1)]).is_err());
        assert!(check(&[Constraint::Json]).is_err());
    }
}
