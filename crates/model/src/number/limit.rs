//! How large a varint or decimal may be.
//!
//! Reading digits, printing them, dividing, and ordering decimals take time that grows with the square of the digits: eight
//! megabytes took minutes. Ten thousand digits is what Cassandra rounds decimal arithmetic to; larger numbers are refused
//! wherever they would come in, so that nothing behind has to ask.

use crate::types::DataType;
use crate::value::ValueError;
use crate::value::error::invalid;

/// Most decimal digits of a varint, and of a decimal without its scale.
pub const NUMBER_DIGITS_MAX: usize = 10_000;

/// Bytes that hold as many digits, and some.
pub const NUMBER_BYTES_MAX: usize = 4_160;

/// Refuses a number that is too large, in wire form.
pub(crate) fn check_number(data_type: &DataType, bytes: &[u8]) -> Result<(), ValueError> {
    let long = match data_type {
        DataType::VarInt => bytes.len() > NUMBER_BYTES_MAX,
        DataType::Decimal => bytes.len() > NUMBER_BYTES_MAX + 4,
        _ => false,
    };
    if long { invalid!("A {data_type} may have at most {NUMBER_DIGITS_MAX} digits") } else { Ok(()) }
}

/// Whether a text may be read as a number: it has few enough digits.
pub(crate) fn check_digits(text: &str) -> bool {
    // A sign, a point and an exponent of eleven characters may be there as well.
    text.len() <= NUMBER_DIGITS_MAX + 16
}
