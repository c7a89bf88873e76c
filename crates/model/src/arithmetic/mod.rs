//! The operators `+ - * / %` and negation on wire values, with Cassandra's promotion and overflow rules.
//!
//! Integers wrap, floats follow IEEE, varint and decimal are exact up to ten thousand digits. The result type is the
//! wider of the two: any floating-point operand makes it float, double or decimal, else it is the larger integer.
//! Null operands, and empty values that mean nothing, give null. Failures carry Cassandra's sentence.

mod aggregate;
mod decimal_math;
mod functions;
mod number_value;
mod operator;

pub use aggregate::{Average, Sum};
pub use functions::{MathFunction, apply_math};
pub use number_value::NumberValue;
pub use operator::{Operator, apply, negate, result_type};
