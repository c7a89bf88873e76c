//! Numbers beyond machine words: decimals with Java's `BigDecimal` rules, and Java's text of floating-point numbers.
//!
//! Cassandra computes with Java numbers, so scales, rounding and printed forms follow Java. Operations whose exact
//! result would need an absurd number of digits fail instead of exhausting memory.

mod decimal;
mod decimal_text;
mod float_text;
mod limit;

pub(crate) use decimal::low_bits;
pub use decimal::{Decimal, Rounding};
pub use float_text::{java_double, java_float, parse_java_double, parse_java_float};
pub use limit::{NUMBER_BYTES_MAX, NUMBER_DIGITS_MAX};
pub(crate) use limit::{check_digits, check_number};
