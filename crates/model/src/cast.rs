//! `CAST(x AS type)`: which casts exist and what they give.
//!
//! Numbers go to numbers with Java's conversions (integers keep low bits, floats saturate), to text and to ascii;
//! ascii to text; booleans, addresses, UUIDs, dates, times and timestamps to text; timeuuid and timestamp to date,
//! timeuuid and date to timestamp. A type casts to itself.

use num_bigint::BigInt;

use crate::arithmetic::NumberValue;
use crate::literal::format_text;
use crate::number::{Decimal, check_number};
use crate::temporal::{date_to_millis, millis_to_date_days};
use crate::timeuuid;
use crate::types::DataType;
use crate::value::ValueError;
use crate::value::error::invalid;

/// True when the cast exists.
pub fn can_cast(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    if from == to {
        return true;
    }
    if from.is_numeric() {
        return (to.is_numeric() && *to != Counter) || to.is_text();
    }
    match (from, to) {
        (Ascii, Text) => true,
        (Boolean | Inet | Uuid | TimeUuid | Timestamp | Date | Time, to) if to.is_text() => true,
        (TimeUuid, Date | Timestamp) | (Timestamp, Date) | (Date, Timestamp) => true,
        _ => false,
    }
}

/// Casts a value; null, and empty values that mean nothing, stay null.
pub fn cast(from: &DataType, to: &DataType, value: Option<&[u8]>) -> Result<Option<Vec<u8>>, ValueError> {
    let Some(bytes) = value else { return Ok(None) };
    if from == to || (*from == DataType::Ascii && *to == DataType::Text) {
        return Ok(Some(bytes.to_vec()));
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    if !can_cast(from, to) {
        return invalid!("{from} cannot be cast to {to}");
    }
    check_number(from, bytes)?;
    let malformed = || ValueError::new(format!("the value is not a {from}"));
    if to.is_text() {
        return format_text(from, bytes).map(|text| Some(text.into_bytes())).ok_or_else(malformed);
    }
    if from.is_numeric() {
        let number = NumberValue::from_wire(from, bytes).ok_or_else(malformed)?;
        return number_as(&number, to).map(|number| Some(number.to_wire()));
    }
    let millis = match from {
        DataType::TimeUuid => timeuuid::unix_millis(bytes.try_into().map_err(|_| malformed())?),
        DataType::Timestamp => i64::from_be_bytes(bytes.try_into().map_err(|_| malformed())?),
        _ => date_to_millis(u32::from_be_bytes(bytes.try_into().map_err(|_| malformed())?)),
    };
    Ok(Some(match to {
        DataType::Date => millis_to_date_days(millis).to_be_bytes().to_vec(),
        _ => millis.to_be_bytes().to_vec(),
    }))
}

fn number_as(number: &NumberValue, to: &DataType) -> Result<NumberValue, ValueError> {
    Ok(match to {
        DataType::TinyInt => NumberValue::TinyInt(number.to_i32() as i8),
        DataType::SmallInt => NumberValue::SmallInt(number.to_i32() as i16),
        DataType::Int => NumberValue::Int(number.to_i32()),
        DataType::BigInt | DataType::Counter => NumberValue::BigInt(number.to_i64()),
        DataType::Float => NumberValue::Float(number.to_f32()),
        DataType::Double => NumberValue::Double(number.to_f64()),
        DataType::VarInt => NumberValue::VarInt(BigInt::from(number.to_i64())),
        DataType::Decimal => NumberValue::Decimal(as_decimal(number)?),
        other => return invalid!("{other} is not a number type"),
    })
}

/// Unlike in arithmetic, integers become decimals without a detour.
fn as_decimal(number: &NumberValue) -> Result<Decimal, ValueError> {
    let decimal = match number {
        NumberValue::Decimal(decimal) => Some(decimal.clone()),
        NumberValue::VarInt(number) => Some(Decimal::new(number.clone(), 0)),
        NumberValue::Float(number) => Decimal::from_f32(*number),
        NumberValue::Double(number) => Decimal::from_f64(*number),
        integer => Some(Decimal::new(integer.to_i64(), 0)),
    };
    decimal.ok_or_else(|| ValueError::new("NaN and infinite numbers have no decimal value"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::text_to_wire;

    use DataType::*;

    #[track_caller]
    fn casts(from: DataType, text: &str, to: DataType, expected: &str) {
        let bytes = text_to_wire(&from, text, 0).unwrap();
        let result = cast(&from, &to, Some(&bytes)).unwrap().unwrap();
        assert_eq!(format_text(&to, &result).unwrap(), expected, "{from} {text} as {to}");
    }

    #[test]
    fn numbers() {
        casts(Int, "300", TinyInt, "44");
        casts(Double, "300.9", TinyInt, "44");
        casts(Double, "1e20", Int, "2147483647");
        casts(Double, "1e20", BigInt, "9223372036854775807");
        casts(Double, "NaN", Int, "0");
        casts(Decimal, "-1.9", Int, "-1");
        casts(Decimal, "4294967297", Int, "1");
        casts(VarInt, "18446744073709551617", BigInt, "1");
        casts(BigInt, "9007199254740993", Double, "9.007199254740992E15");
        casts(Int, "5", Decimal, "5");
        casts(Float, "1.1", Decimal, "1.1");
        casts(Float, "1.1", Double, "1.100000023841858");
        casts(Double, "1", Decimal, "1.0");
        casts(Decimal, "1E+30", VarInt, "5076944270305263616");
        casts(Double, "1e30", VarInt, "9223372036854775807");
        casts(Counter, "7", Text, "7");
        casts(Double, "1e10", Text, "1.0E10");
    }

    #[test]
    fn others() {
        casts(Boolean, "true", Text, "true");
        casts(Timestamp, "0", Text, "1970-01-01T00:00:00.000Z");
        casts(Timestamp, "2024-02-29 13:00", Date, "2024-02-29");
        casts(Date, "2024-02-29", Timestamp, "2024-02-29T00:00:00.000Z");
        casts(TimeUuid, "d2177dd0-eaa2-11de-a572-001b779c76e3", Date, "2009-12-17");
        casts(Inet, "::1", Ascii, "0:0:0:0:0:0:0:1");
        casts(Ascii, "a", Text, "a");
        casts(Time, "1", Text, "00:00:00.000000001");
        assert!(!can_cast(&Text, &Int) && !can_cast(&Text, &Ascii) && !can_cast(&Blob, &Text));
        assert!(!can_cast(&Int, &Counter) && !can_cast(&Int, &Timestamp) && can_cast(&Blob, &Blob));
        assert_eq!(cast(&Int, &Text, Some(&[])), Ok(None));
        assert_eq!(cast(&Int, &Text, None), Ok(None));
        assert!(cast(&Double, &Decimal, Some(&f64::NAN.to_be_bytes())).is_err());
    }
}
