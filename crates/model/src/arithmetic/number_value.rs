//! A number of any CQL number type, with Java's conversions between them.

use num_bigint::BigInt;

use crate::number::{Decimal, low_bits};
use crate::types::DataType;
use crate::value::ValueError;

#[derive(Clone, Debug, PartialEq)]
pub enum NumberValue {
    TinyInt(i8),
    SmallInt(i16),
    Int(i32),
    /// Also counters.
    BigInt(i64),
    VarInt(BigInt),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
}

impl NumberValue {
    /// Reads a wire value; `None` when it is empty, not a number type, or malformed.
    pub fn from_wire(data_type: &DataType, bytes: &[u8]) -> Option<NumberValue> {
        Some(match data_type {
            DataType::TinyInt => NumberValue::TinyInt(i8::from_be_bytes(bytes.try_into().ok()?)),
            DataType::SmallInt => NumberValue::SmallInt(i16::from_be_bytes(bytes.try_into().ok()?)),
            DataType::Int => NumberValue::Int(i32::from_be_bytes(bytes.try_into().ok()?)),
            DataType::BigInt | DataType::Counter => {
                NumberValue::BigInt(i64::from_be_bytes(bytes.try_into().ok()?))
            }
            DataType::VarInt if !bytes.is_empty() => NumberValue::VarInt(BigInt::from_signed_bytes_be(bytes)),
            DataType::Float => NumberValue::Float(f32::from_be_bytes(bytes.try_into().ok()?)),
            DataType::Double => NumberValue::Double(f64::from_be_bytes(bytes.try_into().ok()?)),
            DataType::Decimal => NumberValue::Decimal(Decimal::from_wire(bytes)?),
            _ => return None,
        })
    }

    pub fn to_wire(&self) -> Vec<u8> {
        match self {
            NumberValue::TinyInt(number) => number.to_be_bytes().to_vec(),
            NumberValue::SmallInt(number) => number.to_be_bytes().to_vec(),
            NumberValue::Int(number) => number.to_be_bytes().to_vec(),
            NumberValue::BigInt(number) => number.to_be_bytes().to_vec(),
            NumberValue::VarInt(number) => number.to_signed_bytes_be(),
            NumberValue::Float(number) => number.to_be_bytes().to_vec(),
            NumberValue::Double(number) => number.to_be_bytes().to_vec(),
            NumberValue::Decimal(number) => number.to_wire(),
        }
    }

    /// Java's `longValue`: integers keep their low bits, floats saturate, fractions are cut.
    pub fn to_i64(&self) -> i64 {
        match self {
            NumberValue::TinyInt(number) => i64::from(*number),
            NumberValue::SmallInt(number) => i64::from(*number),
            NumberValue::Int(number) => i64::from(*number),
            NumberValue::BigInt(number) => *number,
            NumberValue::VarInt(number) => low_bits(number),
            NumberValue::Float(number) => *number as i64,
            NumberValue::Double(number) => *number as i64,
            NumberValue::Decimal(number) => number.to_i64_wrapping(),
        }
    }

    /// Java's `intValue`: like [`NumberValue::to_i64`], but floats saturate at 32 bits.
    pub fn to_i32(&self) -> i32 {
        match self {
            NumberValue::Float(number) => *number as i32,
            NumberValue::Double(number) => *number as i32,
            other => other.to_i64() as i32,
        }
    }

    pub fn to_f32(&self) -> f32 {
        match self {
            NumberValue::Float(number) => *number,
            NumberValue::Double(number) => *number as f32,
            NumberValue::VarInt(number) => Decimal::new(number.clone(), 0).to_f32(),
            NumberValue::Decimal(number) => number.to_f32(),
            other => other.to_i64() as f32,
        }
    }

    pub fn to_f64(&self) -> f64 {
        match self {
            NumberValue::Float(number) => f64::from(*number),
            NumberValue::Double(number) => *number,
            NumberValue::VarInt(number) => Decimal::new(number.clone(), 0).to_f64(),
            NumberValue::Decimal(number) => number.to_f64(),
            other => other.to_i64() as f64,
        }
    }

    /// As an operand of varint arithmetic.
    pub fn to_big_integer(&self) -> BigInt {
        match self {
            NumberValue::VarInt(number) => number.clone(),
            other => BigInt::from(other.to_i64()),
        }
    }

    /// As an operand of decimal arithmetic. Machine numbers pass through a double first, as in Cassandra: 5 becomes
    /// 5.0, and the low digits of a large bigint are lost.
    pub fn to_decimal(&self) -> Result<Decimal, ValueError> {
        match self {
            NumberValue::Decimal(number) => Ok(number.clone()),
            NumberValue::VarInt(number) => Ok(Decimal::new(number.clone(), 0)),
            other => {
                let double = other.to_f64();
                Decimal::from_f64(double).ok_or_else(|| {
                    ValueError::new(if double.is_nan() {
                        "A NaN cannot be converted into a decimal"
                    } else {
                        "An infinite number cannot be converted into a decimal"
                    })
                })
            }
        }
    }
}
