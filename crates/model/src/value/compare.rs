//! Cassandra's order of two values of one type, on wire bytes.
//!
//! Guarantees: a total order for valid values, empty first; the memcmp order of [`crate::comparable`] agrees
//! with it. Bytes that are not valid for the type compare as plain bytes instead of panicking.

use std::cmp::Ordering;

use super::elements::{self, Part};
use super::{decimal_order, varint};
use crate::timeuuid;
use crate::types::DataType;

/// Order of two values as a column of the type sorts ascending.
pub fn compare(data_type: &DataType, left: &[u8], right: &[u8]) -> Ordering {
    if left.is_empty() || right.is_empty() {
        return left.len().cmp(&right.len());
    }
    let order = match data_type {
        DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => signed(left, right),
        DataType::Timestamp | DataType::Counter => signed(left, right),
        DataType::Boolean => match (left, right) {
            ([left], [right]) => Some((*left != 0).cmp(&(*right != 0))),
            _ => None,
        },
        DataType::Float => arrays(left, right, |l: &[u8; 4], r| {
            ordered_f32(f32::from_be_bytes(*l)).cmp(&ordered_f32(f32::from_be_bytes(*r)))
        }),
        DataType::Double => arrays(left, right, |l: &[u8; 8], r| {
            ordered_f64(f64::from_be_bytes(*l)).cmp(&ordered_f64(f64::from_be_bytes(*r)))
        }),
        DataType::Uuid => arrays(left, right, |l, r| timeuuid::uuid_order(l).cmp(&timeuuid::uuid_order(r))),
        DataType::TimeUuid => {
            arrays(left, right, |l, r| timeuuid::to_ordered(l).cmp(&timeuuid::to_ordered(r)))
        }
        DataType::VarInt => Some(varint::compare(left, right)),
        DataType::Decimal => decimal_order::compare(left, right),
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            compare_elements(element, left, right)
        }
        DataType::Map { key, value, .. } => compare_maps(key, value, left, right),
        DataType::Tuple(components) => compare_fields(&mut components.iter(), left, right),
        DataType::Udt(udt) => {
            compare_fields(&mut udt.fields.iter().map(|field| &field.data_type), left, right)
        }
        DataType::Vector { element, dimensions } => compare_vectors(element, *dimensions, left, right),
        DataType::Ascii | DataType::Text | DataType::Blob | DataType::Inet | DataType::Date => None,
        DataType::Time | DataType::Duration | DataType::Empty | DataType::Custom(_) => None,
    };
    order.unwrap_or_else(|| left.cmp(right))
}

/// Two's complement of equal length: the first byte is signed, the others are not.
fn signed(left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (&l, left) = left.split_first()?;
    let (&r, right) = right.split_first()?;
    Some((l as i8).cmp(&(r as i8)).then_with(|| left.cmp(right)))
}

fn arrays<const N: usize>(
    left: &[u8],
    right: &[u8],
    order: impl Fn(&[u8; N], &[u8; N]) -> Ordering,
) -> Option<Ordering> {
    Some(order(left.try_into().ok()?, right.try_into().ok()?))
}

/// A float as an unsigned number in Java's order: -0 below 0, every NaN alike and above infinity.
pub fn ordered_f32(value: f32) -> u32 {
    let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
    if bits >> 31 == 0 { bits ^ 1 << 31 } else { !bits }
}

/// The inverse of [`ordered_f32`].
pub fn from_ordered_f32(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 == 1 { ordered ^ 1 << 31 } else { !ordered })
}

/// A double as an unsigned number in Java's order.
pub fn ordered_f64(value: f64) -> u64 {
    let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
    if bits >> 63 == 0 { bits ^ 1 << 63 } else { !bits }
}

/// The inverse of [`ordered_f64`].
pub fn from_ordered_f64(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered ^ 1 << 63 } else { !ordered })
}

/// Null sorts before every value.
fn compare_parts(data_type: &DataType, left: Part<'_>, right: Part<'_>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => compare(data_type, left, right),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

fn compare_elements(element: &DataType, left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (mut left, mut right) = (elements::elements(left).ok()?, elements::elements(right).ok()?);
    loop {
        match (left.next(), right.next()) {
            (Some(l), Some(r)) => match compare_parts(element, l.ok()?, r.ok()?) {
                Ordering::Equal => {}
                order => return Some(order),
            },
            (l, r) => return Some(l.is_some().cmp(&r.is_some())),
        }
    }
}

fn compare_maps(key: &DataType, value: &DataType, left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (mut left, mut right) = (elements::map_entries(left).ok()?, elements::map_entries(right).ok()?);
    loop {
        match (left.next(), right.next()) {
            (Some(l), Some(r)) => {
                let ((left_key, left_value), (right_key, right_value)) = (l.ok()?, r.ok()?);
                let order = compare_parts(key, left_key, right_key)
                    .then_with(|| compare_parts(value, left_value, right_value));
                if order != Ordering::Equal {
                    return Some(order);
                }
            }
            (l, r) => return Some(l.is_some().cmp(&r.is_some())),
        }
    }
}

/// Tuples and user-defined types: missing trailing components count as null, and null sorts first.
fn compare_fields(types: &mut dyn Iterator<Item = &DataType>, left: &[u8], right: &[u8]) -> Option<Ordering> {
    let (mut left, mut right) = (elements::fields(left), elements::fields(right));
    for data_type in types {
        let order = compare_parts(data_type, left.next_or_null().ok()?, right.next_or_null().ok()?);
        if order != Ordering::Equal {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

fn compare_vectors(element: &DataType, dimensions: u32, left: &[u8], right: &[u8]) -> Option<Ordering> {
    let left = elements::vector_elements(element, dimensions, left);
    let right = elements::vector_elements(element, dimensions, right);
    for (l, r) in left.zip(right) {
        let order = compare(element, l.ok()?, r.ok()?);
        if order != Ordering::Equal {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}
