//! Which constants fit which types.

use num_bigint::BigInt;

use super::text::{hex_to_wire, text_to_wire};
use crate::number::{Decimal, check_digits};
use crate::timeuuid;
use crate::types::DataType;
use crate::value::{ValueError, validate};

/// How a constant was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantKind {
    String,
    Integer,
    Float,
    Boolean,
    Uuid,
    Hex,
    Duration,
}

/// How well a constant fits a type; decides between functions of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assignability {
    No,
    Weak,
    Exact,
}

impl ConstantKind {
    /// The name in error sentences.
    pub fn name(self) -> &'static str {
        match self {
            ConstantKind::String => "STRING",
            ConstantKind::Integer => "INTEGER",
            ConstantKind::Float => "FLOAT",
            ConstantKind::Boolean => "BOOLEAN",
            ConstantKind::Uuid => "UUID",
            ConstantKind::Hex => "HEX",
            ConstantKind::Duration => "DURATION",
        }
    }
}

/// The type a constant has when nothing else says: the smallest of int, bigint and varint, double before decimal.
pub fn preferred_type(kind: ConstantKind, text: &str) -> DataType {
    match kind {
        ConstantKind::String if text.is_ascii() => DataType::Ascii,
        ConstantKind::String => DataType::Text,
        ConstantKind::Integer => {
            // More digits than 64 bits can have need not be read; leading zeros are nobody's habit.
            let number = check_digits(text).then(|| BigInt::parse_bytes(text.as_bytes(), 10)).flatten();
            match number {
                Some(number) if i32::try_from(&number).is_ok() => DataType::Int,
                Some(number) if i64::try_from(&number).is_ok() => DataType::BigInt,
                _ => DataType::VarInt,
            }
        }
        ConstantKind::Float => match Decimal::parse(text) {
            Some(decimal) => match Decimal::from_f64(decimal.to_f64()) {
                Some(double) if double.compare(&decimal).is_eq() => DataType::Double,
                _ => DataType::Decimal,
            },
            // NaN and the infinities are doubles.
            None => DataType::Double,
        },
        ConstantKind::Boolean => DataType::Boolean,
        ConstantKind::Uuid => match timeuuid::parse(text) {
            Some(uuid) if timeuuid::version(&uuid) == 1 => DataType::TimeUuid,
            _ => DataType::Uuid,
        },
        // Not blob, for Cassandra's own reasons; see also `constant_to_wire`.
        ConstantKind::Hex => DataType::TinyInt,
        ConstantKind::Duration => DataType::Duration,
    }
}

/// Whether a constant may stand where the type is wanted.
pub fn assignability(kind: ConstantKind, text: &str, data_type: &DataType) -> Assignability {
    use DataType::*;
    let structured = data_type.is_collection() || matches!(data_type, Udt(_) | Vector { .. });
    if structured {
        return Assignability::No;
    }
    // Types that are not native take any constant, as in Cassandra.
    if data_type.native_name().is_none() {
        return Assignability::Weak;
    }
    if preferred_type(kind, text) == *data_type {
        return Assignability::Exact;
    }
    let fits = match kind {
        ConstantKind::String => matches!(data_type, Ascii | Text | Inet | Date | Time | Timestamp),
        ConstantKind::Integer => {
            data_type.is_numeric() || matches!(data_type, Date | Duration | Time | Timestamp)
        }
        ConstantKind::Uuid => matches!(data_type, Uuid | TimeUuid),
        ConstantKind::Float => matches!(data_type, Decimal | Double | Float),
        ConstantKind::Boolean => matches!(data_type, Boolean),
        ConstantKind::Hex => matches!(data_type, Blob),
        ConstantKind::Duration => matches!(data_type, Duration),
    };
    if fits { Assignability::Weak } else { Assignability::No }
}

/// The sentence for a constant of the wrong kind.
pub fn wrong_constant(kind: ConstantKind, text: &str, column: &str, data_type: &DataType) -> ValueError {
    ValueError::new(format!("Invalid {} constant ({text}) for \"{column}\" of type {data_type}", kind.name()))
}

/// Wire bytes of a constant for a column (its name goes into the sentence). `now_millis` is the time of the request,
/// which `'now'` means as a timestamp.
pub fn constant_to_wire(
    kind: ConstantKind,
    text: &str,
    column: &str,
    data_type: &DataType,
    now_millis: i64,
) -> Result<Vec<u8>, ValueError> {
    if assignability(kind, text, data_type) == Assignability::No {
        return Err(wrong_constant(kind, text, column, data_type));
    }
    if kind == ConstantKind::Hex {
        // A tinyint takes a hex constant too, but unlike Cassandra we insist on its one byte.
        let bytes = hex_to_wire(text.get(2..).unwrap_or(""))?;
        return validate(data_type, &bytes).map(|()| bytes);
    }
    // There is one NaN; its sign is dropped before anything looks at it.
    text_to_wire(data_type, if text == "-NaN" { "NaN" } else { text }, now_millis)
}
