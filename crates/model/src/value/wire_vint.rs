//! Cassandra's variable-length integers: the number of leading one bits of the first byte is the number of
//! bytes that follow. Used inside values (durations, vectors of variable-length elements); our own files use
//! LEB128 instead.

/// Appends an unsigned number (1 to 9 bytes).
pub fn put_unsigned(out: &mut Vec<u8>, value: u64) {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    // Seven payload bits per byte; nine bytes carry all 64 because the first then has no payload.
    let extra = (bits - 1) / 7;
    if extra >= 8 {
        out.push(0xff);
        out.extend_from_slice(&value.to_be_bytes());
        return;
    }
    let bytes = value.to_be_bytes();
    let start = out.len();
    out.extend_from_slice(bytes.get(7 - extra..).unwrap_or(&bytes));
    if let Some(first) = out.get_mut(start) {
        *first |= !(0xffu8 >> extra);
    }
}

/// Reads an unsigned number; gives the value and the rest, or nothing when bytes are missing.
pub fn take_unsigned(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let extra = first.leading_ones() as usize;
    let (tail, rest) = rest.split_at_checked(extra)?;
    let head = if extra >= 8 { 0 } else { u64::from(first & (0xff >> extra)) };
    let value = tail.iter().fold(head, |value, &byte| value << 8 | u64::from(byte));
    Some((value, rest))
}

/// Appends a signed number, zig-zag coded.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Reads a signed number, zig-zag coded.
pub fn take_signed(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (raw, rest) = take_unsigned(bytes)?;
    Some(((raw >> 1) as i64 ^ -((raw & 1) as i64), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_bytes_and_round_trips() {
        let encoded = |value| {
            let mut out = Vec::new();
            put_unsigned(&mut out, value);
            out
        };
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(128), [0x80, 0x80]);
        assert_eq!(encoded(u64::MAX), [0xff; 9]);
        for shift in 0..64 {
            for delta in -1i64..=1 {
                let value = (1u64 << shift).wrapping_add(delta as u64);
                let bytes = encoded(value);
                assert_eq!(take_unsigned(&bytes), Some((value, &[][..])), "{value}");
                assert_eq!(take_unsigned(&bytes[..bytes.len() - 1]), None);
                let mut signed = Vec::new();
                put_signed(&mut signed, value as i64);
                assert_eq!(take_signed(&signed), Some((value as i64, &[][..])));
            }
        }
    }
}
