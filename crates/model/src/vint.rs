//! Variable-length integers of row images and files: LEB128, zigzag for signed values.
//!
//! Decoding never panics and never reads past the slice; over-long encodings are refused.

/// Appends `value`, seven bits a byte, low bits first.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed value with small magnitudes short.
#[inline]
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Takes an integer from the front of `bytes`.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(first as u64);
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().enumerate().take(10) {
        let bits = (byte & 0x7f) as u64;
        if i == 9 && bits > 1 {
            return None;
        }
        value |= bits << (7 * i);
        if byte < 0x80 {
            *bytes = &bytes[i + 1..];
            return Some(value);
        }
    }
    None
}

#[inline]
pub fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let raw = take(bytes)?;
    Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
}

/// Takes an integer that must fit in 32 bits.
#[inline]
pub fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes)?.try_into().ok()
}

/// Takes `len` bytes (a vint) and then that many bytes.
#[inline]
pub fn take_slice<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take(bytes)?).ok()?;
    let (head, tail) = bytes.split_at_checked(len)?;
    *bytes = tail;
    Some(head)
}

#[inline]
pub fn put_slice(out: &mut Vec<u8>, slice: &[u8]) {
    put(out, slice.len() as u64);
    out.extend_from_slice(slice);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_at_every_width() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift).wrapping_sub(1), u64::MAX >> shift] {
                let mut out = vec![];
                put(&mut out, value);
                let mut rest = &out[..];
                assert_eq!(take(&mut rest), Some(value));
                assert!(rest.is_empty());
                let signed = value as i64;
                let mut out = vec![];
                put_signed(&mut out, signed);
                assert_eq!(take_signed(&mut &out[..]), Some(signed));
            }
        }
    }

    #[test]
    fn truncated_and_over_long_are_refused() {
        assert_eq!(take(&mut &[][..]), None);
        assert_eq!(take(&mut &[0x80][..]), None);
        assert_eq!(take(&mut &[0xff; 11][..]), None);
        assert_eq!(take_slice(&mut &[5, 1, 2][..]), None);
    }
}
