//! Big integers as wire bytes (big-endian two's complement), compared and shortened without building numbers.

use std::cmp::Ordering;

/// The shortest bytes of the same number: leading sign bytes that say nothing are dropped. Empty stays empty.
pub fn minimal(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes {
        let Some(next) = rest.first() else { break };
        let redundant = (*first == 0 && *next < 0x80) || (*first == 0xff && *next >= 0x80);
        if !redundant {
            break;
        }
        bytes = rest;
    }
    bytes
}

pub fn is_negative(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| *first >= 0x80)
}

/// Numeric order of two big integers; empty sorts first.
pub fn compare(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (minimal(left), minimal(right));
    if left.is_empty() || right.is_empty() {
        return left.len().cmp(&right.len());
    }
    match (is_negative(left), is_negative(right)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        // With equal sign and length, two's complement bytes compare as numbers.
        (false, false) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, true) => right.len().cmp(&left.len()).then_with(|| left.cmp(right)),
    }
}

/// The number when it fits 128 bits.
pub fn to_i128(bytes: &[u8]) -> Option<i128> {
    let bytes = minimal(bytes);
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let sign = if is_negative(bytes) { -1i128 } else { 0 };
    Some(bytes.iter().fold(sign, |value, &byte| value << 8 | i128::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimal_keeps_the_number() {
        assert_eq!(minimal(&[0, 0, 1]), [1]);
        assert_eq!(minimal(&[0, 0x80]), [0, 0x80]);
        assert_eq!(minimal(&[0xff, 0xff, 0x80]), [0x80]);
        assert_eq!(minimal(&[0xff, 0x7f]), [0xff, 0x7f]);
        assert_eq!(minimal(&[0]), [0]);
        assert_eq!(minimal(&[]), [0u8; 0]);
    }

    #[test]
    fn order_is_numeric() {
        let numbers: [i64; 11] = [i64::MIN, -65536, -257, -256, -129, -128, -1, 0, 1, 127, 128];
        for (i, a) in numbers.iter().enumerate() {
            for (j, b) in numbers.iter().enumerate() {
                assert_eq!(compare(&a.to_be_bytes(), &b.to_be_bytes()), i.cmp(&j), "{a} {b}");
                assert_eq!(to_i128(&a.to_be_bytes()), Some(i128::from(*a)));
            }
        }
    }
}
