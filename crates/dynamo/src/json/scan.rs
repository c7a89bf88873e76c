//! How far text in a JSON string stands for itself: many bytes at a time, because most of a request and of an answer is such text.

/// Bytes looked at together; a multiple of what the processor compares at once.
const BLOCK: usize = 64;
const WORD: usize = 8;

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
    // Most texts end soon.
    for _ in 0..2 {
        match word_at(bytes, at).map(specials) {
            Some(0) => at += WORD,
            Some(found) => return at + first_of(found),
            None => break,
        }
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if !is_plain_block(block) {
            break;
        }
        at += BLOCK;
    }
    while let Some(word) = word_at(bytes, at) {
        let found = specials(word);
        if found != 0 {
            return at + first_of(found);
        }
        at += WORD;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// Whether all of it stands for itself. The last bytes are looked at twice where that saves looking at each by itself.
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    match bytes.len() {
        0 => true,
        1 => !is_special(bytes[0]),
        2..4 => {
            let (first, last) = (bytes.first_chunk().copied(), bytes.last_chunk().copied());
            let both = first.map(u16::from_le_bytes).zip(last.map(u16::from_le_bytes));
            // Blanks, which stand for themselves, fill the rest.
            both.is_some_and(|(a, b)| specials(u64::from(a) | u64::from(b) << 16 | 0x2020_2020 << 32) == 0)
        }
        4..8 => {
            let (first, last) = (bytes.first_chunk().copied(), bytes.last_chunk().copied());
            let both = first.map(u32::from_le_bytes).zip(last.map(u32::from_le_bytes));
            both.is_some_and(|(a, b)| specials(u64::from(a) | u64::from(b) << 32) == 0)
        }
        8..BLOCK => {
            let words = bytes.as_chunks::<WORD>().0.iter().chain(bytes.last_chunk::<WORD>());
            words.fold(0, |found, word| found | specials(u64::from_le_bytes(*word))) == 0
        }
        _ => is_plain_long(bytes),
    }
}

fn is_plain_long(bytes: &[u8]) -> bool {
    bytes.as_chunks::<BLOCK>().0.iter().chain(bytes.last_chunk::<BLOCK>()).all(is_plain_block)
}

/// Without a branch per byte: this becomes a few comparisons of sixteen bytes.
#[inline(always)]
fn is_plain_block(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0, |found, byte| found | special(*byte)) == 0
}

#[inline]
fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

fn first_of(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
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
    use super::{is_plain, plain};

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for fill in [b' ', b'x', 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'] {
            for len in 0..200 {
                let mut bytes = vec![fill; len];
                assert_eq!(plain(&bytes), len);
                assert!(is_plain(&bytes));
                for at in 0..len {
                    for special in [0, 0x1f, b'"', b'\\', b'\n'] {
                        bytes[at] = special;
                        assert_eq!(plain(&bytes), at, "{fill} {special} at {at} of {len}");
                        assert!(!is_plain(&bytes), "{fill} {special} at {at} of {len}");
                    }
                    bytes[at] = fill;
                }
            }
        }
    }
}
