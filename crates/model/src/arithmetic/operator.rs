//! Binary operators and negation.

use num_bigint::{BigInt, Sign};

use super::NumberValue;
use super::decimal_math::{add_rounded, divide_for_operator, multiply_rounded};
use crate::number::check_number;
use crate::temporal::{Duration, date_to_millis, millis_to_date_days};
use crate::types::DataType;
use crate::value::ValueError;
use crate::value::error::invalid;

/// Most bytes of a text that `+` makes.
const JOINED_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Operator {
    pub fn symbol(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
            Operator::Modulo => '%',
        }
    }

    /// The name Cassandra gives the function behind the operator (in function-failure errors).
    pub fn function_name(self) -> &'static str {
        match self {
            Operator::Add => "_add",
            Operator::Subtract => "_substract",
            Operator::Multiply => "_multiply",
            Operator::Divide => "_divide",
            Operator::Modulo => "_modulo",
        }
    }
}

/// The type of `left operator right`; `None` when the operator does not apply.
pub fn result_type(operator: Operator, left: &DataType, right: &DataType) -> Option<DataType> {
    if left.is_numeric() && right.is_numeric() {
        return Some(wider(left, right));
    }
    let add_or_subtract = matches!(operator, Operator::Add | Operator::Subtract);
    match (left, right) {
        (DataType::Timestamp | DataType::Date, DataType::Duration) if add_or_subtract => Some(left.clone()),
        (DataType::Ascii, DataType::Ascii) if operator == Operator::Add => Some(DataType::Ascii),
        (left, right) if operator == Operator::Add && left.is_text() && right.is_text() => {
            Some(DataType::Text)
        }
        _ => None,
    }
}

/// Bytes of a number, unlimited ones above all.
fn width(data_type: &DataType) -> u8 {
    match data_type {
        DataType::TinyInt => 1,
        DataType::SmallInt => 2,
        DataType::Int | DataType::Float => 4,
        DataType::BigInt | DataType::Counter | DataType::Double => 8,
        _ => u8::MAX,
    }
}

fn wider(left: &DataType, right: &DataType) -> DataType {
    let floating = |t: &DataType| matches!(t, DataType::Float | DataType::Double | DataType::Decimal);
    let width = width(left).max(width(right));
    if floating(left) || floating(right) {
        return match width {
            4 => DataType::Float,
            8 => DataType::Double,
            _ => DataType::Decimal,
        };
    }
    match width {
        1 => DataType::TinyInt,
        2 => DataType::SmallInt,
        4 => DataType::Int,
        8 => DataType::BigInt,
        _ => DataType::VarInt,
    }
}

/// Applies an operator to two values. The types must have a [`result_type`]; else it is an error.
pub fn apply(
    operator: Operator,
    left_type: &DataType,
    left: Option<&[u8]>,
    right_type: &DataType,
    right: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, ValueError> {
    let (Some(left), Some(right)) = (present(left_type, left), present(right_type, right)) else {
        return Ok(None);
    };
    let sized = check_number(left_type, left).and_then(|()| check_number(right_type, right));
    let result = sized.and_then(|()| compute(operator, left_type, left, right_type, right));
    result.map(Some).map_err(|reason| {
        let symbol = operator.symbol();
        ValueError::new(format!("the operation '{left_type} {symbol} {right_type}' failed: {reason}"))
    })
}

fn present<'a>(data_type: &DataType, value: Option<&'a [u8]>) -> Option<&'a [u8]> {
    value.filter(|bytes| !(bytes.is_empty() && data_type.is_empty_meaningless()))
}

fn compute(
    operator: Operator,
    left_type: &DataType,
    left: &[u8],
    right_type: &DataType,
    right: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let Some(result) = result_type(operator, left_type, right_type) else {
        return invalid!("the types do not fit the operator");
    };
    if result.is_text() {
        // One expression has many operators: each copies what the one before has made.
        if left.len() + right.len() > JOINED_BYTES_MAX {
            return invalid!("the text would be longer than {JOINED_BYTES_MAX} bytes");
        }
        return Ok([left, right].concat());
    }
    if matches!(result, DataType::Timestamp | DataType::Date) {
        return move_in_time(operator, &result, left, right);
    }
    let (Some(left), Some(right)) =
        (NumberValue::from_wire(left_type, left), NumberValue::from_wire(right_type, right))
    else {
        return invalid!("an operand is not a number");
    };
    match result {
        DataType::TinyInt => integer(operator, left.to_i64(), right.to_i64()).map(|n| vec![n as u8]),
        DataType::SmallInt => {
            integer(operator, left.to_i64(), right.to_i64()).map(|n| (n as i16).to_be_bytes().to_vec())
        }
        DataType::Int => {
            integer(operator, left.to_i64(), right.to_i64()).map(|n| (n as i32).to_be_bytes().to_vec())
        }
        DataType::BigInt => {
            integer(operator, left.to_i64(), right.to_i64()).map(|n| n.to_be_bytes().to_vec())
        }
        DataType::VarInt => {
            let number = big_integer(operator, left.to_big_integer(), right.to_big_integer())?;
            let bytes = number.to_signed_bytes_be();
            check_number(&result, &bytes)?;
            Ok(bytes)
        }
        DataType::Float => Ok(float(operator, left.to_f32(), right.to_f32()).to_be_bytes().to_vec()),
        DataType::Double => Ok(double(operator, left.to_f64(), right.to_f64()).to_be_bytes().to_vec()),
        _ => decimal(operator, &left, &right),
    }
}

/// Wraps at 64 bits; narrower results wrap when the caller cuts them, which gives the same low bits.
fn integer(operator: Operator, left: i64, right: i64) -> Result<i64, ValueError> {
    Ok(match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide | Operator::Modulo if right == 0 => return invalid!("/ by zero"),
        Operator::Divide => left.wrapping_div(right),
        Operator::Modulo => left.wrapping_rem(right),
    })
}

fn big_integer(operator: Operator, left: BigInt, right: BigInt) -> Result<BigInt, ValueError> {
    Ok(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide | Operator::Modulo if right.sign() == Sign::NoSign => {
            return invalid!("BigInteger divide by zero");
        }
        Operator::Divide => left / right,
        Operator::Modulo => left % right,
    })
}

fn float(operator: Operator, left: f32, right: f32) -> f32 {
    match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Modulo => left % right,
    }
}

fn double(operator: Operator, left: f64, right: f64) -> f64 {
    match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Modulo => left % right,
    }
}

fn decimal(operator: Operator, left: &NumberValue, right: &NumberValue) -> Result<Vec<u8>, ValueError> {
    let (left, right) = (left.to_decimal()?, right.to_decimal()?);
    let result = match operator {
        Operator::Add => add_rounded(&left, &right)?,
        Operator::Subtract => add_rounded(&left, &right.negate())?,
        Operator::Multiply => multiply_rounded(&left, &right)?,
        Operator::Divide => divide_for_operator(&left, &right)?,
        Operator::Modulo => left.remainder(&right)?,
    };
    Ok(result.to_wire())
}

fn move_in_time(
    operator: Operator,
    result: &DataType,
    left: &[u8],
    right: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let Some(duration) = Duration::from_wire(right) else { return invalid!("the duration is malformed") };
    let signed = if operator == Operator::Subtract { duration.negate() } else { duration };
    if let (DataType::Timestamp, Ok(millis)) = (result, <[u8; 8]>::try_from(left)) {
        if !duration.has_millisecond_precision() {
            return invalid!("The duration must have a millisecond precision. Was: {duration}");
        }
        return Ok(signed.add_to_millis(i64::from_be_bytes(millis)).to_be_bytes().to_vec());
    }
    if let (DataType::Date, Ok(days)) = (result, <[u8; 4]>::try_from(left)) {
        if !duration.has_day_precision() {
            return invalid!("The duration must have a day precision. Was: {duration}");
        }
        let millis = signed.add_to_millis(date_to_millis(u32::from_be_bytes(days)));
        return Ok(millis_to_date_days(millis).to_be_bytes().to_vec());
    }
    invalid!("an operand is malformed")
}

/// `-value` for numbers.
pub fn negate(data_type: &DataType, value: Option<&[u8]>) -> Result<Option<Vec<u8>>, ValueError> {
    let Some(bytes) = present(data_type, value) else { return Ok(None) };
    let Some(number) = NumberValue::from_wire(data_type, bytes) else {
        return invalid!("the operation '-{data_type}' failed: the operand is not a number");
    };
    let negated = match number {
        NumberValue::TinyInt(number) => NumberValue::TinyInt(number.wrapping_neg()),
        NumberValue::SmallInt(number) => NumberValue::SmallInt(number.wrapping_neg()),
        NumberValue::Int(number) => NumberValue::Int(number.wrapping_neg()),
        NumberValue::BigInt(number) => NumberValue::BigInt(number.wrapping_neg()),
        NumberValue::VarInt(number) => NumberValue::VarInt(-number),
        NumberValue::Float(number) => NumberValue::Float(-number),
        NumberValue::Double(number) => NumberValue::Double(-number),
        NumberValue::Decimal(number) => NumberValue::Decimal(number.negate()),
    };
    Ok(Some(negated.to_wire()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::{format_text, text_to_wire};

    /// `left operator right` on texts, as text.
    fn eval(left: (&DataType, &str), operator: Operator, right: (&DataType, &str)) -> Result<String, String> {
        let wire = |(data_type, text): (&DataType, &str)| text_to_wire(data_type, text, 0).unwrap();
        let result = result_type(operator, left.0, right.0).ok_or("no such operator")?;
        let bytes = apply(operator, left.0, Some(&wire(left)), right.0, Some(&wire(right)));
        let bytes = bytes.map_err(|error| error.to_string())?.ok_or("null")?;
        Ok(format!("{result}:{}", format_text(&result, &bytes).unwrap()))
    }

    use DataType::*;
    use Operator::*;

    #[test]
    fn promotion_and_wrapping() {
        for (left, operator, right, expected) in [
            ((&Int, "2147483647"), Add, (&Int, "1"), "int:-2147483648"),
            ((&TinyInt, "127"), Add, (&TinyInt, "1"), "tinyint:-128"),
            ((&TinyInt, "-128"), Divide, (&TinyInt, "-1"), "tinyint:-128"),
            ((&SmallInt, "5"), Multiply, (&TinyInt, "3"), "smallint:15"),
            ((&Int, "7"), Divide, (&BigInt, "2"), "bigint:3"),
            ((&Int, "-7"), Modulo, (&Int, "2"), "int:-1"),
            ((&Counter, "1"), Add, (&Counter, "2"), "bigint:3"),
            ((&Int, "1"), Divide, (&Float, "2"), "float:0.5"),
            ((&BigInt, "1"), Add, (&Float, "0.5"), "double:1.5"),
            ((&Double, "1"), Divide, (&Int, "0"), "double:Infinity"),
            ((&VarInt, "100000000000000000000"), Multiply, (&Int, "10"), "varint:1000000000000000000000"),
            ((&VarInt, "1"), Add, (&Double, "0.5"), "decimal:1.5"),
            ((&Int, "5"), Add, (&Decimal, "1"), "decimal:6.0"),
            ((&Decimal, "1.10"), Add, (&Decimal, "1.1"), "decimal:2.20"),
            ((&Decimal, "10"), Divide, (&Decimal, "4"), "decimal:2.5"),
            ((&Decimal, "1"), Divide, (&Decimal, "3"), "decimal:0.33333333333333333333333333333333"),
            ((&Decimal, "200"), Divide, (&Decimal, "2"), "decimal:1E+2"),
            ((&Decimal, "7.5"), Modulo, (&Decimal, "2"), "decimal:1.5"),
            ((&Decimal, "100"), Modulo, (&Decimal, "2.5"), "decimal:0"),
            ((&Text, "a"), Add, (&Ascii, "b"), "text:ab"),
            ((&Ascii, "a"), Add, (&Ascii, "b"), "ascii:ab"),
        ] {
            assert_eq!(eval(left, operator, right).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn time_moves() {
        for (left, operator, right, expected) in [
            ((&Timestamp, "2024-01-31"), Add, (&Duration, "1mo"), "timestamp:2024-02-29T00:00:00.000Z"),
            ((&Timestamp, "2024-01-31"), Subtract, (&Duration, "1h"), "timestamp:2024-01-30T23:00:00.000Z"),
            ((&Date, "2024-02-29"), Add, (&Duration, "1y"), "date:2025-02-28"),
            ((&Date, "2024-03-01"), Subtract, (&Duration, "1d"), "date:2024-02-29"),
        ] {
            assert_eq!(eval(left, operator, right).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn failures_have_cassandras_sentences() {
        for (left, operator, right, expected) in [
            ((&Int, "1"), Divide, (&Int, "0"), "the operation 'int / int' failed: / by zero"),
            ((&BigInt, "1"), Modulo, (&Int, "0"), "the operation 'bigint % int' failed: / by zero"),
            (
                (&VarInt, "1"),
                Divide,
                (&Int, "0"),
                "the operation 'varint / int' failed: BigInteger divide by zero",
            ),
            (
                (&Double, "NaN"),
                Add,
                (&Decimal, "1"),
                "the operation 'double + decimal' failed: A NaN cannot be converted into a decimal",
            ),
            (
                (&Date, "2024-01-01"),
                Add,
                (&Duration, "1h"),
                "the operation 'date + duration' failed: The duration must have a day precision. Was: 1h",
            ),
            ((&Text, "a"), Subtract, (&Text, "b"), "no such operator"),
            ((&Duration, "1h"), Add, (&Timestamp, "0"), "no such operator"),
        ] {
            assert_eq!(eval(left, operator, right), Err(expected.to_string()));
        }
    }

    #[test]
    fn nulls_and_negation() {
        assert_eq!(apply(Add, &Int, None, &Int, Some(&[0, 0, 0, 1])), Ok(None));
        assert_eq!(apply(Add, &Int, Some(&[]), &Int, Some(&[0, 0, 0, 1])), Ok(None));
        assert_eq!(negate(&Int, Some(&5i32.to_be_bytes())), Ok(Some((-5i32).to_be_bytes().to_vec())));
        assert_eq!(negate(&TinyInt, Some(&[0x80])), Ok(Some(vec![0x80])));
        assert_eq!(negate(&Int, None), Ok(None));
        assert!(negate(&Text, Some(b"a")).is_err());
    }
}
