//! Values as bytes whose memcmp order is the value order: clustering columns and paths of collection elements.
//!
//! Guarantees, for valid values of one type: `encode(a) < encode(b)` by memcmp exactly when `a` sorts before `b`
//! (reversed for descending columns); equal values have equal encodings; no encoding is a prefix of another; and
//! `decode` gives the value back. What decode cannot give back is what Cassandra's order cannot see: the payload
//! of a NaN, non-zero booleans other than 1, redundant sign bytes of a varint, missing as opposed to null trailing
//! components of a tuple, and the scale of a decimal (trailing zeros of the fraction), which whoever cares keeps beside
//! the key ([`DataType::has_decimal`](crate::types::DataType::has_decimal)).
//!
//! Layout: a marker byte (empty value 0x10, value 0x20), then the payload; a descending column inverts every byte.
//! Inside a list, set, map, tuple or user-defined type every part is again a component, null is marker 0x08, and a
//! zero byte ends the sequence. Decoding bytes that no encoder wrote ends in an error, never in a panic.

mod decimal;
mod decode;
mod encode;
#[cfg(test)]
mod tests;

use std::fmt;

pub use decode::{decode, skip};
pub use encode::encode;

/// Ends a sequence of parts; below every marker, so a shorter sequence sorts first.
const END: u8 = 0x00;
/// A null part of a tuple or user-defined type.
const NULL: u8 = 0x08;
/// The empty value, which sorts before all others.
const EMPTY: u8 = 0x10;
/// A value; its payload follows.
const VALUE: u8 = 0x20;

/// Bytes that are not an encoding of the type: corruption, or the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedKey;

impl fmt::Display for MalformedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are not a comparable encoding of the type")
    }
}

impl std::error::Error for MalformedKey {}
