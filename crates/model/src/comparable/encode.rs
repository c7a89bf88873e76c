//! Wire value to comparable bytes.

use super::{EMPTY, END, NULL, VALUE, decimal};
use crate::timeuuid;
use crate::types::DataType;
use crate::value::elements::{self, Part};
use crate::value::{ValueError, ordered_f32, ordered_f64, validate, varint};

/// Appends one component. Fails, with the sentence for the client, only when `wire` is not a value of the type;
/// `out` may then hold a partial component.
pub fn encode(
    data_type: &DataType,
    descending: bool,
    wire: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    let start = out.len();
    put_component(data_type, wire, out)?;
    if descending {
        for byte in out.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
    Ok(())
}

/// The error of a value whose length its type does not allow.
#[cold]
fn bad_length(data_type: &DataType, wire: &[u8]) -> ValueError {
    match validate(data_type, wire) {
        Err(error) => error,
        Ok(()) => ValueError::new(format!("{} bytes are not a {data_type}", wire.len())),
    }
}

fn fixed<const N: usize>(
    data_type: &DataType,
    wire: &[u8],
    out: &mut Vec<u8>,
    order: impl Fn([u8; N]) -> [u8; N],
) -> Result<(), ValueError> {
    match wire.try_into() {
        Ok(bytes) => {
            out.extend_from_slice(&order(bytes));
            Ok(())
        }
        Err(_) => Err(bad_length(data_type, wire)),
    }
}

/// Flips the sign bit: two's complement then compares unsigned.
fn flip_sign<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    if let Some(first) = bytes.first_mut() {
        *first ^= 0x80;
    }
    bytes
}

pub(super) fn put_component(data_type: &DataType, wire: &[u8], out: &mut Vec<u8>) -> Result<(), ValueError> {
    if wire.is_empty() {
        out.push(EMPTY);
        return Ok(());
    }
    out.push(VALUE);
    match data_type {
        DataType::Int => fixed::<4>(data_type, wire, out, flip_sign),
        DataType::BigInt | DataType::Timestamp | DataType::Counter => {
            fixed::<8>(data_type, wire, out, flip_sign)
        }
        DataType::Text | DataType::Ascii | DataType::Blob | DataType::Custom(_) => {
            put_escaped(wire, out);
            Ok(())
        }
        DataType::Uuid => fixed::<16>(data_type, wire, out, |uuid| timeuuid::uuid_order(&uuid)),
        DataType::TimeUuid => fixed::<16>(data_type, wire, out, |uuid| timeuuid::to_ordered(&uuid)),
        DataType::SmallInt => fixed::<2>(data_type, wire, out, flip_sign),
        DataType::TinyInt => fixed::<1>(data_type, wire, out, flip_sign),
        DataType::Boolean => fixed::<1>(data_type, wire, out, |[byte]| [u8::from(byte != 0)]),
        DataType::Date => fixed::<4>(data_type, wire, out, |days| days),
        DataType::Time => fixed::<8>(data_type, wire, out, |nanos| nanos),
        DataType::Float => {
            fixed::<4>(data_type, wire, out, |bits| ordered_f32(f32::from_be_bytes(bits)).to_be_bytes())
        }
        DataType::Double => {
            fixed::<8>(data_type, wire, out, |bits| ordered_f64(f64::from_be_bytes(bits)).to_be_bytes())
        }
        DataType::Inet => {
            if !matches!(wire.len(), 4 | 16) {
                return Err(bad_length(data_type, wire));
            }
            put_escaped(wire, out);
            Ok(())
        }
        DataType::Duration => {
            put_escaped(wire, out);
            Ok(())
        }
        DataType::Empty => Err(bad_length(data_type, wire)),
        DataType::VarInt => {
            put_varint(wire, out);
            Ok(())
        }
        DataType::Decimal => decimal::put(wire, out).ok_or_else(|| bad_length(data_type, wire)),
        DataType::List { .. }
        | DataType::Set { .. }
        | DataType::Map { .. }
        | DataType::Tuple(_)
        | DataType::Udt(_)
        | DataType::Vector { .. } => put_nested(data_type, wire, out),
    }
}

/// Zero becomes 00 FF and 00 00 ends the text, so a shorter text sorts first and every byte may occur.
fn put_escaped(wire: &[u8], out: &mut Vec<u8>) {
    out.reserve(wire.len() + 2);
    let mut parts = wire.split(|byte| *byte == 0);
    out.extend_from_slice(parts.next().unwrap_or(&[]));
    for part in parts {
        out.extend_from_slice(&[0, 0xff]);
        out.extend_from_slice(part);
    }
    out.extend_from_slice(&[0, 0]);
}

/// Lengths up to this are in the first byte.
pub(super) const VARINT_SHORT_MAX: usize = 119;

/// Sign and length first (longer is further from zero), then the two's complement bytes.
/// First byte: 0x80 + (length - 1) when not negative, 0x7F - (length - 1) when negative; 0xFF or 0x00 with an
/// explicit u32 length (inverted when negative) beyond 119 bytes.
pub(super) fn put_varint(wire: &[u8], out: &mut Vec<u8>) {
    let bytes = varint::minimal(wire);
    let negative = varint::is_negative(bytes);
    if bytes.len() <= VARINT_SHORT_MAX {
        let length = (bytes.len().max(1) - 1) as u8;
        out.push(if negative { 0x7f - length } else { 0x80 + length });
    } else {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        out.push(if negative { 0x00 } else { 0xff });
        out.extend_from_slice(&(if negative { !length } else { length }).to_be_bytes());
    }
    out.extend_from_slice(bytes);
}

fn put_part(data_type: &DataType, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), ValueError> {
    match part {
        Some(value) => put_component(data_type, value, out),
        None => {
            out.push(NULL);
            Ok(())
        }
    }
}

fn put_nested(data_type: &DataType, wire: &[u8], out: &mut Vec<u8>) -> Result<(), ValueError> {
    let truncated = |_| bad_length(data_type, wire);
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            let mut walk = elements::elements(wire).map_err(truncated)?;
            for part in &mut walk {
                let part = part.map_err(truncated)?.ok_or_else(|| bad_length(data_type, wire))?;
                put_component(element, part, out)?;
            }
            out.push(END);
            expect_end(data_type, walk.rest(), wire)
        }
        DataType::Map { key, value, .. } => {
            let mut walk = elements::map_entries(wire).map_err(truncated)?;
            for entry in &mut walk {
                let (Some(key_part), Some(value_part)) = entry.map_err(truncated)? else {
                    return Err(bad_length(data_type, wire));
                };
                put_component(key, key_part, out)?;
                put_component(value, value_part, out)?;
            }
            out.push(END);
            expect_end(data_type, walk.rest(), wire)
        }
        DataType::Tuple(components) => put_fields(data_type, &mut components.iter(), wire, out),
        DataType::Udt(udt) => {
            put_fields(data_type, &mut udt.fields.iter().map(|field| &field.data_type), wire, out)
        }
        DataType::Vector { element, dimensions } => {
            let mut walk = elements::vector_elements(element, *dimensions, wire);
            for part in &mut walk {
                put_component(element, part.map_err(truncated)?, out)?;
            }
            expect_end(data_type, walk.rest(), wire)
        }
        _ => Err(bad_length(data_type, wire)),
    }
}

/// Trailing nulls are left out, since a short tuple equals the same tuple padded with nulls.
fn put_fields(
    data_type: &DataType,
    types: &mut dyn Iterator<Item = &DataType>,
    wire: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    let mut walk = elements::fields(wire);
    let mut end = out.len();
    for field_type in types {
        let part = walk.next_or_null().map_err(|_| bad_length(data_type, wire))?;
        put_part(field_type, part, out)?;
        if part.is_some() {
            end = out.len();
        }
    }
    out.truncate(end);
    out.push(END);
    expect_end(data_type, walk.rest(), wire)
}

fn expect_end(data_type: &DataType, rest: &[u8], wire: &[u8]) -> Result<(), ValueError> {
    if rest.is_empty() { Ok(()) } else { Err(bad_length(data_type, wire)) }
}

impl DataType {
    /// Comparable bytes of one value; see [`encode`].
    pub fn comparable(&self, descending: bool, wire: &[u8]) -> Result<Vec<u8>, ValueError> {
        let mut out = Vec::with_capacity(wire.len() + 4);
        encode(self, descending, wire, &mut out)?;
        Ok(out)
    }
}
