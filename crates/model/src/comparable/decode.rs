//! Comparable bytes back to a wire value, and stepping over a component without building it.

use super::encode::VARINT_SHORT_MAX;
use super::{EMPTY, END, MalformedKey, NULL, VALUE, decimal};
use crate::timeuuid;
use crate::types::DataType;
use crate::value::{from_ordered_f32, from_ordered_f64, wire_vint};

/// Appends the wire value of the component at the front of `bytes` to `out`; gives the bytes consumed.
pub fn decode(
    data_type: &DataType,
    descending: bool,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, MalformedKey> {
    if let DataType::BigInt | DataType::Timestamp = data_type
        && let Some(value) = eight_bytes(descending, bytes)
    {
        out.extend_from_slice(&value);
        return Ok(1 + value.len());
    }
    let mut reader = Reader::new(bytes, descending);
    take_component(data_type, &mut reader, out)?;
    Ok(bytes.len() - reader.rest.len())
}

/// A whole number or a time of eight bytes, which most rows are ordered by; `None`: the general way has to look.
#[inline]
fn eight_bytes(descending: bool, bytes: &[u8]) -> Option<[u8; 8]> {
    let (head, _) = bytes.split_first_chunk::<9>()?;
    let [kind, value @ ..] = *head;
    let mask = if descending { u64::MAX } else { 0 };
    (kind ^ mask as u8 == VALUE).then(|| (u64::from_be_bytes(value) ^ mask ^ (1 << 63)).to_be_bytes())
}

/// Length of the component at the front of `bytes`.
pub fn skip(data_type: &DataType, descending: bool, bytes: &[u8]) -> Result<usize, MalformedKey> {
    let mut reader = Reader::new(bytes, descending);
    skip_component(data_type, &mut reader)?;
    Ok(bytes.len() - reader.rest.len())
}

/// Reads bytes that may be inverted.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    mask: u8,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], descending: bool) -> Reader<'a> {
        Reader { rest: bytes, mask: if descending { 0xff } else { 0 } }
    }

    /// Inverts what follows; negative decimals are inverted within their component.
    pub(super) fn invert(&mut self) {
        self.mask = !self.mask;
    }

    pub(super) fn byte(&mut self) -> Result<u8, MalformedKey> {
        let (&first, rest) = self.rest.split_first().ok_or(MalformedKey)?;
        self.rest = rest;
        Ok(first ^ self.mask)
    }

    fn peek(&self) -> Result<u8, MalformedKey> {
        self.rest.first().map(|byte| byte ^ self.mask).ok_or(MalformedKey)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedKey> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(MalformedKey)?;
        self.rest = rest;
        let mut bytes = *head;
        // A loop over all bytes becomes one instruction for small arrays; `map` does not.
        bytes.iter_mut().for_each(|byte| *byte ^= self.mask);
        Ok(bytes)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], MalformedKey> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or(MalformedKey)?;
        self.rest = rest;
        Ok(head)
    }

    fn push(&self, raw: &[u8], out: &mut Vec<u8>) {
        if self.mask == 0 {
            out.extend_from_slice(raw);
        } else {
            out.extend(raw.iter().map(|byte| !byte));
        }
    }

    /// Escaped bytes up to and with their end, passed to `each` in raw runs (still masked).
    fn escaped(&mut self, mut each: impl FnMut(&Reader<'a>, &'a [u8])) -> Result<(), MalformedKey> {
        loop {
            let zero = self.mask;
            let len = self.rest.iter().position(|byte| *byte == zero).ok_or(MalformedKey)?;
            let run = self.take(len)?;
            each(self, run);
            match self.array::<2>()? {
                [0, 0] => return Ok(()),
                [0, 0xff] => each(self, if zero == 0 { &[0x00] } else { &[0xff] }),
                _ => return Err(MalformedKey),
            }
        }
    }

    fn varint_len(&mut self) -> Result<usize, MalformedKey> {
        match self.byte()? {
            0xff => {
                let len = u32::from_be_bytes(self.array()?) as usize;
                if len > VARINT_SHORT_MAX { Ok(len) } else { Err(MalformedKey) }
            }
            0x00 => {
                let len = !u32::from_be_bytes(self.array()?) as usize;
                if len > VARINT_SHORT_MAX { Ok(len) } else { Err(MalformedKey) }
            }
            first @ 0x80.. => Ok(usize::from(first - 0x80) + 1),
            first => Ok(usize::from(0x7f - first) + 1),
        }
    }

    pub(super) fn varint(&mut self, out: &mut Vec<u8>) -> Result<(), MalformedKey> {
        let len = self.varint_len()?;
        let raw = self.take(len)?;
        self.push(raw, out);
        Ok(())
    }
}

fn flip_sign<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    if let Some(first) = bytes.first_mut() {
        *first ^= 0x80;
    }
    bytes
}

fn take_component(
    data_type: &DataType,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MalformedKey> {
    match reader.byte()? {
        EMPTY => Ok(()),
        VALUE => take_payload(data_type, reader, out),
        _ => Err(MalformedKey),
    }
}

fn take_payload(
    data_type: &DataType,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MalformedKey> {
    match data_type {
        DataType::Int => out.extend_from_slice(&flip_sign::<4>(reader.array()?)),
        DataType::BigInt | DataType::Timestamp | DataType::Counter => {
            out.extend_from_slice(&flip_sign::<8>(reader.array()?));
        }
        DataType::Text
        | DataType::Ascii
        | DataType::Blob
        | DataType::Custom(_)
        | DataType::Inet
        | DataType::Duration => {
            reader.escaped(|reader, run| reader.push(run, out))?;
        }
        DataType::Uuid => out.extend_from_slice(&timeuuid::uuid_from_order(&reader.array()?)),
        DataType::TimeUuid => out.extend_from_slice(&timeuuid::from_ordered(&reader.array()?)),
        DataType::SmallInt => out.extend_from_slice(&flip_sign::<2>(reader.array()?)),
        DataType::TinyInt => out.extend_from_slice(&flip_sign::<1>(reader.array()?)),
        DataType::Boolean => out.push(reader.byte()?),
        DataType::Date => out.extend_from_slice(&reader.array::<4>()?),
        DataType::Time => out.extend_from_slice(&reader.array::<8>()?),
        DataType::Float => {
            out.extend_from_slice(&from_ordered_f32(u32::from_be_bytes(reader.array()?)).to_be_bytes());
        }
        DataType::Double => {
            out.extend_from_slice(&from_ordered_f64(u64::from_be_bytes(reader.array()?)).to_be_bytes());
        }
        DataType::VarInt => reader.varint(out)?,
        DataType::Decimal => decimal::decode(reader, out)?,
        DataType::Empty => return Err(MalformedKey),
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            take_counted(reader, out, 1, |reader, out, _| take_part(element, reader, out))?;
        }
        DataType::Map { key, value, .. } => {
            take_counted(reader, out, 2, |reader, out, i| {
                take_part(if i % 2 == 0 { key } else { value }, reader, out)
            })?;
        }
        DataType::Tuple(components) => take_fields(&mut components.iter(), reader, out)?,
        DataType::Udt(udt) => {
            take_fields(&mut udt.fields.iter().map(|field| &field.data_type), reader, out)?;
        }
        DataType::Vector { element, dimensions } => take_vector(element, *dimensions, reader, out)?,
    }
    Ok(())
}

/// A part with its i32 length in front, patched once the part is there.
fn take_part(data_type: &DataType, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), MalformedKey> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    take_component(data_type, reader, out)?;
    let len = out.len() - at - 4;
    patch(out, at, len)
}

fn patch(out: &mut [u8], at: usize, number: usize) -> Result<(), MalformedKey> {
    let number = i32::try_from(number).map_err(|_| MalformedKey)?;
    out.get_mut(at..at + 4).ok_or(MalformedKey)?.copy_from_slice(&number.to_be_bytes());
    Ok(())
}

/// Parts up to the end mark, behind their count; `per_entry` parts make one.
fn take_counted(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    per_entry: usize,
    mut take: impl FnMut(&mut Reader<'_>, &mut Vec<u8>, usize) -> Result<(), MalformedKey>,
) -> Result<(), MalformedKey> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut parts = 0;
    while reader.peek()? != END {
        take(reader, out, parts)?;
        parts += 1;
    }
    reader.byte()?;
    if parts % per_entry != 0 {
        return Err(MalformedKey);
    }
    patch(out, at, parts / per_entry)
}

/// All declared components; those after the end mark are null.
fn take_fields(
    types: &mut dyn Iterator<Item = &DataType>,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MalformedKey> {
    for data_type in types {
        match reader.peek()? {
            END => out.extend_from_slice(&[0xff; 4]),
            NULL => {
                reader.byte()?;
                out.extend_from_slice(&[0xff; 4]);
            }
            _ => take_part(data_type, reader, out)?,
        }
    }
    if reader.byte()? == END { Ok(()) } else { Err(MalformedKey) }
}

fn take_vector(
    element: &DataType,
    dimensions: u32,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), MalformedKey> {
    let fixed = element.fixed_len();
    let mut part = Vec::new();
    for _ in 0..dimensions {
        match fixed {
            Some(len) => {
                let at = out.len();
                take_component(element, reader, out)?;
                if out.len() - at != len {
                    return Err(MalformedKey);
                }
            }
            None => {
                part.clear();
                take_component(element, reader, &mut part)?;
                wire_vint::put_unsigned(out, part.len() as u64);
                out.extend_from_slice(&part);
            }
        }
    }
    Ok(())
}

fn skip_component(data_type: &DataType, reader: &mut Reader<'_>) -> Result<(), MalformedKey> {
    match reader.byte()? {
        EMPTY => return Ok(()),
        VALUE => {}
        _ => return Err(MalformedKey),
    }
    match data_type {
        DataType::Int | DataType::Date | DataType::Float => reader.take(4).map(|_| ()),
        DataType::BigInt | DataType::Timestamp | DataType::Counter | DataType::Time | DataType::Double => {
            reader.take(8).map(|_| ())
        }
        DataType::Uuid | DataType::TimeUuid => reader.take(16).map(|_| ()),
        DataType::SmallInt => reader.take(2).map(|_| ()),
        DataType::TinyInt | DataType::Boolean => reader.take(1).map(|_| ()),
        DataType::Text
        | DataType::Ascii
        | DataType::Blob
        | DataType::Custom(_)
        | DataType::Inet
        | DataType::Duration => reader.escaped(|_, _| {}),
        DataType::VarInt => {
            let len = reader.varint_len()?;
            reader.take(len).map(|_| ())
        }
        DataType::Decimal => decimal::skip(reader),
        DataType::Empty => Err(MalformedKey),
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            while reader.peek()? != END {
                skip_component(element, reader)?;
            }
            reader.byte().map(|_| ())
        }
        DataType::Map { key, value, .. } => {
            while reader.peek()? != END {
                skip_component(key, reader)?;
                skip_component(value, reader)?;
            }
            reader.byte().map(|_| ())
        }
        DataType::Tuple(components) => skip_fields(&mut components.iter(), reader),
        DataType::Udt(udt) => skip_fields(&mut udt.fields.iter().map(|field| &field.data_type), reader),
        DataType::Vector { element, dimensions } => {
            (0..*dimensions).try_for_each(|_| skip_component(element, reader))
        }
    }
}

fn skip_fields(
    types: &mut dyn Iterator<Item = &DataType>,
    reader: &mut Reader<'_>,
) -> Result<(), MalformedKey> {
    for data_type in types {
        match reader.peek()? {
            END => break,
            NULL => {
                reader.byte()?;
            }
            _ => skip_component(data_type, reader)?,
        }
    }
    if reader.byte()? == END { Ok(()) } else { Err(MalformedKey) }
}
