//! Constants -> wire bytes of the type they stand for.

use super::assign::Assignable;
use cql_syntax::ast::Literal;
use model::types::DataType;
use query::QueryError;

/// Which types a constant may stand for.
pub fn test(literal: &Literal, expected: &DataType) -> Assignable {
    use DataType as T;
    let fits = match literal {
        Literal::String(_) => {
            matches!(expected, T::Ascii | T::Text | T::Inet | T::Date | T::Time | T::Timestamp)
        }
        Literal::Integer(_) => {
            expected.is_numeric() || matches!(expected, T::Date | T::Time | T::Timestamp | T::Duration)
        }
        Literal::Float(_) => matches!(expected, T::Decimal | T::Double | T::Float),
        Literal::Boolean(_) => matches!(expected, T::Boolean),
        Literal::Duration(_) => matches!(expected, T::Duration),
        Literal::Uuid(_) => matches!(expected, T::Uuid | T::TimeUuid),
        Literal::Blob(_) => matches!(expected, T::Blob),
    };
    if matches!(expected, T::Custom(_)) {
        return Assignable::Weak;
    }
    match (fits, natural_type(literal)) {
        (false, _) => Assignable::No,
        (true, natural) if natural == *expected => Assignable::Exact,
        (true, _) => Assignable::Weak,
    }
}

/// The type a constant has when nothing around it says otherwise.
pub fn natural_type(literal: &Literal) -> DataType {
    match literal {
        Literal::String(text) if text.is_ascii() => DataType::Ascii,
        Literal::String(_) => DataType::Text,
        Literal::Integer(digits) => match digits.parse::<i64>() {
            Ok(value) if i32::try_from(value).is_ok() => DataType::Int,
            Ok(_) => DataType::BigInt,
            Err(_) => DataType::VarInt,
        },
        Literal::Float(_) => DataType::Double,
        Literal::Boolean(_) => DataType::Boolean,
        Literal::Duration(_) => DataType::Duration,
        Literal::Uuid(_) => DataType::Uuid,
        Literal::Blob(_) => DataType::Blob,
    }
}

/// The wire bytes of a constant.
pub fn encode(literal: &Literal, expected: &DataType, receiver: &str) -> Result<Vec<u8>, QueryError> {
    if test(literal, expected) == Assignable::No {
        return Err(QueryError::invalid(format!(
            "Invalid {} constant ({}) for \"{receiver}\" of type {expected}",
            literal.kind_name(),
            literal.text()
        )));
    }
    parse(literal, expected).map_err(QueryError::Invalid)
}

fn parse(literal: &Literal, expected: &DataType) -> Result<Vec<u8>, String> {
    let text = literal.text();
    let bad = || format!("Unable to make {expected} from '{text}'");
    Ok(match (literal, expected) {
        (Literal::Blob(digits), _) => hex(digits).ok_or_else(bad)?,
        (_, DataType::Text | DataType::Ascii) => text.as_bytes().to_vec(),
        (Literal::Boolean(value), _) => vec![u8::from(*value)],
        (_, DataType::TinyInt) => text.parse::<i8>().map_err(|_| bad())?.to_be_bytes().to_vec(),
        (_, DataType::SmallInt) => text.parse::<i16>().map_err(|_| bad())?.to_be_bytes().to_vec(),
        (_, DataType::Int) => text.parse::<i32>().map_err(|_| bad())?.to_be_bytes().to_vec(),
        (_, DataType::BigInt | DataType::Counter) => {
            text.parse::<i64>().map_err(|_| bad())?.to_be_bytes().to_vec()
        }
        (_, DataType::Float) => text.parse::<f32>().map_err(|_| bad())?.to_be_bytes().to_vec(),
        (_, DataType::Double) => text.parse::<f64>().map_err(|_| bad())?.to_be_bytes().to_vec(),
        (_, DataType::Uuid | DataType::TimeUuid) => model::timeuuid::parse(text).ok_or_else(bad)?.to_vec(),
        _ => return Err(bad()),
    })
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()).collect()
}
