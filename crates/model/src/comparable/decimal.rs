//! Decimals as comparable bytes.
//!
//! Layout: 0x40 negative, 0x80 zero, 0xC0 positive; then, inverted for negative numbers, the decimal exponent (in
//! the form of varint components) and the significant digits two to a byte plus one, ended by a zero byte.
//!
//! The scale is not part of a decimal's order (1.0 and 1.00 are one clustering row), so it is not stored. Decoding
//! gives the value without trailing zeros in the fraction; whole numbers of up to [`WHOLE_ZEROS_MAX`] trailing
//! zeros come back with scale 0 (100, not 1E+2), larger ones with a negative scale.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::MalformedKey;
use super::decode::Reader;
use super::encode::put_varint;
use crate::value::decimal_order::NormalDecimal;

const NEGATIVE: u8 = 0x40;
const ZERO: u8 = 0x80;
const POSITIVE: u8 = 0xc0;

/// Trailing zeros of a whole number that are written out on decoding.
pub const WHOLE_ZEROS_MAX: i64 = 40;

/// `None` when the bytes are too short to be a decimal.
pub(super) fn put(wire: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let normal = NormalDecimal::from_wire(wire)?;
    let start = match normal.sign {
        Ordering::Equal => {
            out.push(ZERO);
            return Some(());
        }
        Ordering::Less => {
            out.push(NEGATIVE);
            out.len()
        }
        Ordering::Greater => {
            out.push(POSITIVE);
            out.len()
        }
    };
    put_varint(&normal.exponent.to_be_bytes(), out);
    for pair in normal.digits().chunks(2) {
        let (tens, units) = match pair {
            [tens, units] => (tens - b'0', units - b'0'),
            [tens, ..] => (tens - b'0', 0),
            [] => break,
        };
        out.push(tens * 10 + units + 1);
    }
    out.push(0);
    if normal.sign == Ordering::Less {
        for byte in out.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
    Some(())
}

/// Exponent and digits of the payload at the reader; `digits` collects ASCII.
fn take(reader: &mut Reader<'_>, digits: &mut Vec<u8>) -> Result<(Ordering, i64), MalformedKey> {
    let sign = match reader.byte()? {
        ZERO => return Ok((Ordering::Equal, 0)),
        POSITIVE => Ordering::Greater,
        NEGATIVE => Ordering::Less,
        _ => return Err(MalformedKey),
    };
    let invert = sign == Ordering::Less;
    if invert {
        reader.invert();
    }
    let mut exponent = Vec::with_capacity(8);
    reader.varint(&mut exponent)?;
    let exponent = crate::value::varint::to_i128(&exponent).and_then(|e| i64::try_from(e).ok());
    loop {
        match reader.byte()? {
            0 => break,
            pair @ 1..=100 => digits.extend_from_slice(&[b'0' + (pair - 1) / 10, b'0' + (pair - 1) % 10]),
            _ => return Err(MalformedKey),
        }
    }
    if digits.last() == Some(&b'0') {
        digits.pop();
    }
    if invert {
        reader.invert();
    }
    if digits.is_empty() { Err(MalformedKey) } else { Ok((sign, exponent.ok_or(MalformedKey)?)) }
}

pub(super) fn skip(reader: &mut Reader<'_>) -> Result<(), MalformedKey> {
    take(reader, &mut Vec::new()).map(|_| ())
}

pub(super) fn decode(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), MalformedKey> {
    let mut digits = Vec::new();
    let (sign, exponent) = take(reader, &mut digits)?;
    if sign == Ordering::Equal {
        out.extend_from_slice(&[0, 0, 0, 0, 0]);
        return Ok(());
    }
    let mut scale = (digits.len() as i64).checked_sub(exponent).ok_or(MalformedKey)?;
    // A scale below i32 came from trailing zeros of the unscaled number, so it is near; anything else is corrupt.
    let zeros = if scale < i64::from(i32::MIN) {
        i64::from(i32::MIN) - scale
    } else if scale < 0 && -scale <= WHOLE_ZEROS_MAX {
        -scale
    } else {
        0
    };
    if zeros > 1 << 20 {
        return Err(MalformedKey);
    }
    digits.resize(digits.len() + zeros as usize, b'0');
    scale += zeros;
    let scale = i32::try_from(scale).map_err(|_| MalformedKey)?;
    let mut number = BigInt::parse_bytes(&digits, 10).ok_or(MalformedKey)?;
    if sign == Ordering::Less {
        number = -number;
    }
    out.extend_from_slice(&scale.to_be_bytes());
    out.extend_from_slice(&number.to_signed_bytes_be());
    Ok(())
}
