//! Decimals in the form that decides their order: sign, decimal exponent, significant digits without trailing zeros.
//!
//! Works from wire bytes (i32 scale, then a big integer); numbers of up to 128 bits need no allocation. Scales
//! and lengths of any size are fine because nothing is ever multiplied out.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::varint;

/// Digits of a magnitude, most significant first, as ASCII.
enum Digits {
    Short { buffer: [u8; 40], from: usize },
    Long(Vec<u8>),
}

/// value = sign * 0.d1d2d3... * 10^exponent, with d1 and the last digit not zero. Zero has no digits.
pub struct NormalDecimal {
    pub sign: Ordering,
    pub exponent: i64,
    digits: Digits,
    len: usize,
}

impl NormalDecimal {
    /// `None` for fewer than four bytes. Four bytes alone are zero.
    pub fn from_wire(bytes: &[u8]) -> Option<NormalDecimal> {
        let (scale, unscaled) = bytes.split_first_chunk::<4>()?;
        let scale = i64::from(i32::from_be_bytes(*scale));
        let unscaled = varint::minimal(unscaled);
        let negative = varint::is_negative(unscaled);
        let digits = match varint::to_i128(unscaled) {
            Some(number) => short_digits(number.unsigned_abs()),
            None if unscaled.is_empty() => short_digits(0),
            None => {
                let text = BigInt::from_signed_bytes_be(unscaled).magnitude().to_str_radix(10);
                Digits::Long(text.into_bytes())
            }
        };
        let mut normal = NormalDecimal { sign: Ordering::Equal, exponent: 0, digits, len: 0 };
        let all = normal.digits.all();
        let zeros = all.iter().rev().take_while(|digit| **digit == b'0').count();
        let count = all.len();
        normal.len = count - zeros;
        if normal.len > 0 {
            normal.exponent = count as i64 - scale;
            normal.sign = if negative { Ordering::Less } else { Ordering::Greater };
        }
        Some(normal)
    }

    /// Significant digits as ASCII; empty for zero.
    pub fn digits(&self) -> &[u8] {
        self.digits.all().get(..self.len).unwrap_or(&[])
    }
}

impl Digits {
    fn all(&self) -> &[u8] {
        match self {
            Digits::Short { buffer, from } => buffer.get(*from..).unwrap_or(&[]),
            Digits::Long(digits) => digits,
        }
    }
}

fn short_digits(mut number: u128) -> Digits {
    let mut buffer = [b'0'; 40];
    let mut from = buffer.len();
    for slot in buffer.iter_mut().rev() {
        if number == 0 {
            break;
        }
        *slot = b'0' + (number % 10) as u8;
        number /= 10;
        from -= 1;
    }
    Digits::Short { buffer, from }
}

/// Numeric order of two decimals; `None` when one is too short to be a decimal.
pub fn compare(left: &[u8], right: &[u8]) -> Option<Ordering> {
    if let (Some((left_scale, left)), Some((right_scale, right))) =
        (left.split_first_chunk::<4>(), right.split_first_chunk::<4>())
        && left_scale == right_scale
        && !left.is_empty()
        && !right.is_empty()
    {
        return Some(varint::compare(left, right));
    }
    let (left, right) = (NormalDecimal::from_wire(left)?, NormalDecimal::from_wire(right)?);
    let magnitudes = || left.exponent.cmp(&right.exponent).then_with(|| left.digits().cmp(right.digits()));
    Some(left.sign.cmp(&right.sign).then_with(|| match left.sign {
        Ordering::Equal => Ordering::Equal,
        Ordering::Greater => magnitudes(),
        Ordering::Less => magnitudes().reverse(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(unscaled: i64, scale: i32) -> Vec<u8> {
        let mut bytes = scale.to_be_bytes().to_vec();
        bytes.extend_from_slice(&unscaled.to_be_bytes());
        bytes
    }

    #[test]
    fn order_ignores_scale() {
        let ascending = [
            wire(-1, i32::MIN),
            wire(-100, 0),
            wire(-99, 0),
            wire(-1, 1),
            wire(0, 7),
            wire(1, i32::MAX),
            wire(1, 1),
            wire(11, 2),
            wire(12, 2),
            wire(1, 0),
            wire(99, 0),
            wire(1, -2),
            wire(101, 0),
            wire(1, i32::MIN),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(compare(a, b), Some(i.cmp(&j)), "{i} {j}");
            }
        }
        assert_eq!(compare(&wire(10, 1), &wire(1, 0)), Some(Ordering::Equal));
        assert_eq!(compare(&wire(0, 5), &wire(0, -3)), Some(Ordering::Equal));
        assert_eq!(compare(&wire(0, 5), &0i32.to_be_bytes()), Some(Ordering::Equal));
        assert_eq!(compare(&[1], &wire(0, 0)), None);
    }
}
