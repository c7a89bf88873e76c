//! How far text in a JSON string stands for itself: many bytes at a time, because most of a request and of an answer is such text.

/// Bytes looked at together; a multiple of what the processor compares at once.
const BLOCK: usize = 64;

/// Whether a byte is a control character, a quote or a backslash. With its second bit turned, a quote follows the control characters, and
/// no other byte comes among them, so that two comparisons do.
#[inline(always)]
fn special(byte: u8) -> u8 {
    u8::from((byte ^ 2) < 0x21) | u8::from(byte == b'\\')
}

fn is_special(byte: u8) -> bool {
    special(byte) != 0
}

/// The bytes before the first quote, backslash or control character.
pub fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        // Without a branch per byte: this becomes a few comparisons of sixteen bytes.
        if block.iter().fold(0, |found, byte| found | special(*byte)) != 0 {
            break;
        }
        at += BLOCK;
    }
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = specials(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// The highest bit of the first special byte is set, and none below it; what lies behind it may be wrong.
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let backslash = zero(word ^ (ONES * b'\\' as u64));
    (control | quote | backslash) & HIGH
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for fill in [b' ', b'x', 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'] {
            for len in 0..100 {
                let mut bytes = vec![fill; len];
                assert_eq!(plain(&bytes), len);
                for at in 0..len {
                    for special in [0, 0x1f, b'"', b'\\', b'\n'] {
                        bytes[at] = special;
                        assert_eq!(plain(&bytes), at, "{fill} {special} at {at} of {len}");
                    }
                    bytes[at] = fill;
                }
            }
        }
    }
}
