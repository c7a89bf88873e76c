//! The functions abs, exp, log, log10 and round on every number type. The result has the type of the argument;
//! integers are computed as doubles and cut.

use num_bigint::BigInt;

use super::NumberValue;
use super::decimal_math;
use crate::number::{Decimal, Rounding, check_number};
use crate::types::DataType;
use crate::value::ValueError;
use crate::value::error::invalid;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathFunction {
    Abs,
    Exp,
    Log,
    Log10,
    Round,
}

impl MathFunction {
    fn on_double(self, value: f64) -> f64 {
        match self {
            MathFunction::Abs => value.abs(),
            MathFunction::Exp => value.exp(),
            MathFunction::Log => value.ln(),
            MathFunction::Log10 => value.log10(),
            MathFunction::Round => java_round(value) as f64,
        }
    }

    /// Integers: abs wraps, round does nothing, the others go through double.
    fn on_i64(self, value: i64) -> i64 {
        match self {
            MathFunction::Abs => value.wrapping_abs(),
            MathFunction::Round => value,
            other => other.on_double(value as f64) as i64,
        }
    }

    fn on_decimal(self, value: &Decimal) -> Result<Decimal, ValueError> {
        match self {
            MathFunction::Abs => Ok(value.abs()),
            MathFunction::Exp => decimal_math::exp(value),
            MathFunction::Log => decimal_math::ln(value),
            MathFunction::Log10 => decimal_math::log10(value),
            MathFunction::Round => value.set_scale(0, Rounding::HalfUp),
        }
    }

    fn on_big_integer(self, value: BigInt) -> Result<BigInt, ValueError> {
        match self {
            MathFunction::Round => Ok(value),
            other => other.on_decimal(&Decimal::new(value, 0))?.to_integer(),
        }
    }
}

/// Java's `Math.round`: halves go up, NaN is zero, infinities saturate.
fn java_round(value: f64) -> i64 {
    let floor = value.floor();
    if value - floor >= 0.5 { (floor + 1.0) as i64 } else { floor as i64 }
}

/// Applies a function to a wire value; null and empty values give null.
pub fn apply_math(
    function: MathFunction,
    data_type: &DataType,
    value: Option<&[u8]>,
) -> Result<Option<Vec<u8>>, ValueError> {
    let Some(bytes) = value.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
    check_number(data_type, bytes)?;
    let Some(number) = NumberValue::from_wire(data_type, bytes) else {
        return invalid!("a value of type {data_type} is not a number");
    };
    let result = match number {
        // Narrow integers are cut by way of 32 bits, as Java casts a double to a byte.
        NumberValue::TinyInt(number) => NumberValue::TinyInt(saturate(function.on_i64(number.into())) as i8),
        NumberValue::SmallInt(number) => {
            NumberValue::SmallInt(saturate(function.on_i64(number.into())) as i16)
        }
        NumberValue::Int(number) => match function {
            MathFunction::Abs => NumberValue::Int(number.wrapping_abs()),
            other => NumberValue::Int(saturate(other.on_i64(number.into()))),
        },
        NumberValue::BigInt(number) => NumberValue::BigInt(function.on_i64(number)),
        NumberValue::VarInt(number) => NumberValue::VarInt(function.on_big_integer(number)?),
        NumberValue::Float(number) => NumberValue::Float(match function {
            // A float rounds to 32 bits.
            MathFunction::Round => saturate(java_round(number.into())) as f32,
            other => other.on_double(number.into()) as f32,
        }),
        NumberValue::Double(number) => NumberValue::Double(function.on_double(number)),
        NumberValue::Decimal(number) => NumberValue::Decimal(function.on_decimal(&number)?),
    };
    Ok(Some(result.to_wire()))
}

fn saturate(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::{format_text, text_to_wire};

    fn eval(function: MathFunction, data_type: &DataType, text: &str) -> String {
        let bytes = text_to_wire(data_type, text, 0).unwrap();
        match apply_math(function, data_type, Some(&bytes)) {
            Ok(Some(bytes)) => format_text(data_type, &bytes).unwrap(),
            Ok(None) => "null".to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn functions_keep_the_type() {
        use DataType::*;
        use MathFunction::*;
        for (function, data_type, input, expected) in [
            (Abs, Int, "-5", "5"),
            (Abs, Int, "-2147483648", "-2147483648"),
            (Abs, Decimal, "-1.50", "1.50"),
            (Exp, Int, "5", "148"),
            (Exp, TinyInt, "5", "-108"),
            (Exp, Double, "0", "1.0"),
            (Log, BigInt, "1000", "6"),
            (Log10, Int, "1000", "3"),
            (Log10, VarInt, "1000", "3"),
            (Log, VarInt, "0", "Natural log of number zero or less"),
            (Round, Double, "2.5", "3.0"),
            (Round, Double, "-2.5", "-2.0"),
            (Round, Float, "1.4", "1.0"),
            (Round, Decimal, "2.5", "3"),
            (Round, Decimal, "-2.5", "-3"),
            (Round, Int, "7", "7"),
            (Log, Double, "-1", "NaN"),
        ] {
            assert_eq!(eval(function, &data_type, input), expected, "{function:?} {data_type} {input}");
        }
        assert_eq!(apply_math(Abs, &Int, None), Ok(None));
        assert!(apply_math(Abs, &Text, Some(b"a")).is_err());
    }
}
