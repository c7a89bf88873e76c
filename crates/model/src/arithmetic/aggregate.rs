//! Sum and average per number type, as Cassandra's aggregates compute them. Both keep the type of the input.
//!
//! Integer sums wrap; integer averages do not overflow and truncate; floats are summed with compensation; the average
//! of nothing is zero. Null and empty inputs are the caller's to leave out: adding one does nothing here.

use num_bigint::BigInt;

use super::NumberValue;
use crate::number::{Decimal, Rounding};
use crate::types::DataType;
use crate::value::ValueError;

/// A running sum.
#[derive(Clone, Debug)]
pub struct Sum {
    data_type: DataType,
    state: SumState,
}

#[derive(Clone, Debug)]
enum SumState {
    Integer(i64),
    Big(BigInt),
    Float(CompensatedSum),
    Decimal(Decimal),
}

impl Sum {
    /// `None` when the type is not a number type.
    pub fn new(data_type: &DataType) -> Option<Sum> {
        let state = match data_type {
            DataType::VarInt => SumState::Big(BigInt::from(0)),
            DataType::Decimal => SumState::Decimal(Decimal::zero()),
            DataType::Float | DataType::Double => SumState::Float(CompensatedSum::default()),
            other if other.is_numeric() => SumState::Integer(0),
            _ => return None,
        };
        Some(Sum { data_type: data_type.clone(), state })
    }

    pub fn add(&mut self, bytes: &[u8]) -> Result<(), ValueError> {
        let Some(number) = NumberValue::from_wire(&self.data_type, bytes) else { return Ok(()) };
        match &mut self.state {
            SumState::Integer(sum) => *sum = sum.wrapping_add(number.to_i64()),
            SumState::Big(sum) => *sum += number.to_big_integer(),
            SumState::Float(sum) => sum.add(number.to_f64()),
            SumState::Decimal(sum) => *sum = sum.add(&number.to_decimal()?)?,
        }
        Ok(())
    }

    /// The sum so far, as a value of the input's type.
    pub fn value(&self) -> Vec<u8> {
        match &self.state {
            SumState::Integer(sum) => integer_to_wire(&self.data_type, *sum),
            SumState::Big(sum) => sum.to_signed_bytes_be(),
            SumState::Float(sum) => float_to_wire(&self.data_type, sum.value()),
            SumState::Decimal(sum) => sum.to_wire(),
        }
    }
}

/// Low bits of an integer as a value of an integer type.
fn integer_to_wire(data_type: &DataType, number: i64) -> Vec<u8> {
    match data_type {
        DataType::TinyInt => vec![number as u8],
        DataType::SmallInt => (number as i16).to_be_bytes().to_vec(),
        DataType::Int => (number as i32).to_be_bytes().to_vec(),
        _ => number.to_be_bytes().to_vec(),
    }
}

fn float_to_wire(data_type: &DataType, number: f64) -> Vec<u8> {
    match data_type {
        DataType::Float => (number as f32).to_be_bytes().to_vec(),
        _ => number.to_be_bytes().to_vec(),
    }
}

/// A sum of doubles that carries the rounding error along. The last step adds the error rather than taking it off,
/// which is what Cassandra does.
#[derive(Clone, Copy, Debug, Default)]
struct CompensatedSum {
    sum: f64,
    compensation: f64,
    simple: f64,
}

impl CompensatedSum {
    fn add(&mut self, number: f64) {
        self.simple += number;
        let corrected = number - self.compensation;
        let rounded = self.sum + corrected;
        self.compensation = (rounded - self.sum) - corrected;
        self.sum = rounded;
    }

    /// Infinities of one sign stay infinite although the compensation made them NaN.
    fn value(&self) -> f64 {
        let total = self.sum + self.compensation;
        if total.is_nan() && self.simple.is_infinite() { self.simple } else { total }
    }
}

/// A running average.
#[derive(Clone, Debug)]
pub struct Average {
    data_type: DataType,
    /// Wraps at 32 bits in Cassandra; nobody averages that many.
    count: i64,
    state: AverageState,
}

#[derive(Clone, Debug)]
enum AverageState {
    Integer(i128),
    Big(BigInt),
    Float(CompensatedSum),
    /// The sum of doubles that became infinite.
    Overflowed(Decimal),
    /// The average itself, updated with each number: its scale depends on the order.
    Decimal(Decimal),
}

impl Average {
    /// `None` when the type is not a number type.
    pub fn new(data_type: &DataType) -> Option<Average> {
        let state = match data_type {
            DataType::VarInt => AverageState::Big(BigInt::from(0)),
            DataType::Decimal => AverageState::Decimal(Decimal::zero()),
            DataType::Float | DataType::Double => AverageState::Float(CompensatedSum::default()),
            other if other.is_numeric() => AverageState::Integer(0),
            _ => return None,
        };
        Some(Average { data_type: data_type.clone(), count: 0, state })
    }

    pub fn add(&mut self, bytes: &[u8]) -> Result<(), ValueError> {
        let Some(number) = NumberValue::from_wire(&self.data_type, bytes) else { return Ok(()) };
        self.count += 1;
        match &mut self.state {
            AverageState::Integer(sum) => *sum += i128::from(number.to_i64()),
            AverageState::Big(sum) => *sum += number.to_big_integer(),
            AverageState::Float(sum) => {
                let (before, double) = (sum.sum, number.to_f64());
                sum.add(double);
                let overflowed = sum.sum.is_infinite() && !double.is_infinite();
                if overflowed
                    && let (Some(before), Some(number)) =
                        (Decimal::from_f64(before), Decimal::from_f64(double))
                {
                    self.state = AverageState::Overflowed(before.add(&number)?);
                }
            }
            AverageState::Overflowed(sum) => {
                if let Some(number) = Decimal::from_f64(number.to_f64()) {
                    *sum = sum.add(&number)?;
                }
            }
            AverageState::Decimal(average) => {
                let difference = number.to_decimal()?.subtract(average)?;
                let count = Decimal::new(self.count, 0);
                *average =
                    average.add(&difference.divide(&count, difference.scale, Rounding::HalfEven)?)?;
            }
        }
        Ok(())
    }

    /// The average so far, as a value of the input's type.
    pub fn value(&self) -> Vec<u8> {
        let count = self.count;
        match &self.state {
            AverageState::Integer(sum) => {
                let average = if count == 0 { 0 } else { sum / i128::from(count) };
                integer_to_wire(&self.data_type, average as i64)
            }
            AverageState::Big(sum) => {
                let average = if count == 0 { BigInt::from(0) } else { sum / count };
                average.to_signed_bytes_be()
            }
            AverageState::Float(sum) => {
                let average = if count == 0 { 0.0 } else { sum.value() / count as f64 };
                float_to_wire(&self.data_type, average)
            }
            AverageState::Overflowed(sum) => {
                let average = sum.divide(&Decimal::new(count, 0), sum.scale, Rounding::HalfEven);
                float_to_wire(&self.data_type, average.map_or(f64::NAN, |average| average.to_f64()))
            }
            AverageState::Decimal(average) => average.to_wire(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::{format_text, text_to_wire};

    #[track_caller]
    fn check(data_type: DataType, inputs: &[&str], sum: &str, average: &str) {
        let (mut summed, mut averaged) = (Sum::new(&data_type).unwrap(), Average::new(&data_type).unwrap());
        for input in inputs {
            let bytes = text_to_wire(&data_type, input, 0).unwrap();
            summed.add(&bytes).unwrap();
            averaged.add(&bytes).unwrap();
        }
        assert_eq!(format_text(&data_type, &summed.value()).unwrap(), sum, "sum");
        assert_eq!(format_text(&data_type, &averaged.value()).unwrap(), average, "average");
    }

    #[test]
    fn per_type() {
        check(DataType::Int, &["1", "2", "4"], "7", "2");
        check(DataType::Int, &["2147483647", "1"], "-2147483648", "1073741824");
        check(DataType::TinyInt, &["127", "127"], "-2", "127");
        check(DataType::BigInt, &["9223372036854775807", "9223372036854775807"], "-2", "9223372036854775807");
        check(DataType::VarInt, &["-1", "-2"], "-3", "-1");
        check(DataType::Double, &["0.1", "0.2", "0.3"], "0.6", "0.19999999999999998");
        check(DataType::Double, &["1.7E308", "1.7E308"], "Infinity", "1.7E308");
        check(DataType::Double, &["Infinity", "Infinity"], "Infinity", "Infinity");
        check(DataType::Float, &["1.5", "2.5"], "4.0", "2.0");
        check(DataType::Decimal, &["1.0", "2.00", "4"], "7.00", "2.33");
        check(DataType::Counter, &["3", "4"], "7", "3");
        check(DataType::Decimal, &[], "0", "0");
        check(DataType::Double, &[], "0.0", "0.0");
        check(DataType::Int, &["", "4"], "4", "4");
        assert!(Sum::new(&DataType::Text).is_none() && Average::new(&DataType::Timestamp).is_none());
    }

    #[test]
    fn wide_averages_do_not_overflow() {
        check(
            DataType::BigInt,
            &["-9223372036854775808", "-9223372036854775808"],
            "0",
            "-9223372036854775808",
        );
    }
}
