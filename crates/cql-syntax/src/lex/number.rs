//! Tokens that begin with a digit, a minus or the `P` of a duration, and uuids.
//!
//! Each function looks at the bytes from `start` and says where the token ends, or that there is none. None of them
//! panics on any bytes.

use super::token::TokenKind;

/// A number, duration or blob. `start` is at a digit, or at a minus before a digit.
pub(super) fn number(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    let negative = bytes.get(start) == Some(&b'-');
    let digits_start = start + usize::from(negative);
    let integer_end = skip_digits(bytes, digits_start);
    let next = bytes.get(integer_end).copied().unwrap_or(0);
    if !negative && bytes.get(start) == Some(&b'0') && integer_end == start + 1 && next | 0x20 == b'x' {
        let end = skip_while(bytes, start + 2, |byte| byte.is_ascii_hexdigit());
        return (TokenKind::Blob, end);
    }
    if let Some(end) = unit_duration(bytes, digits_start) {
        return (TokenKind::Duration, end);
    }
    let mut end = integer_end;
    if next == b'.' {
        match (bytes.get(integer_end + 1), bytes.get(integer_end + 2)) {
            // `1...5` is the float `1.` and a range; `1..5` is the integer 1 and a range.
            (Some(b'.'), Some(b'.')) => return (TokenKind::Float, integer_end + 1),
            (Some(b'.'), _) => return (TokenKind::Integer, integer_end),
            _ => end = skip_digits(bytes, integer_end + 1),
        }
    }
    if let Some(after) = exponent(bytes, end) {
        end = after;
    }
    if end == integer_end { (TokenKind::Integer, end) } else { (TokenKind::Float, end) }
}

/// `E [+-] digits`
fn exponent(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at).copied()? | 0x20 != b'e' {
        return None;
    }
    let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
    let digits_start = at + 1 + usize::from(signed);
    let end = skip_digits(bytes, digits_start);
    (end > digits_start).then_some(end)
}

/// `(digits unit)+`, not directly followed by more of a word. `at` is behind the minus, if any.
fn unit_duration(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let digits_end = skip_digits(bytes, at);
        if digits_end == at {
            return None;
        }
        at = digits_end + unit(bytes, digits_end)?;
        match bytes.get(at) {
            Some(byte) if byte.is_ascii_digit() => {}
            Some(byte) if is_word(*byte) => return None,
            _ => return Some(at),
        }
    }
}

/// Length of the unit at `at`: the longest that fits.
fn unit(bytes: &[u8], at: usize) -> Option<usize> {
    let first = bytes.get(at)?.to_ascii_lowercase();
    let second = bytes.get(at + 1).map_or(0, u8::to_ascii_lowercase);
    match (first, second) {
        (b'm', b'o' | b's') | (b'u' | b'n', b's') => Some(2),
        // The micro sign in UTF-8, then `s`.
        (0xC2, 0xB5) if bytes.get(at + 2).map(u8::to_ascii_lowercase) == Some(b's') => Some(3),
        (b'y' | b'w' | b'd' | b'h' | b'm' | b's', _) => Some(1),
        _ => None,
    }
}

/// An ISO 8601 duration. `start` is at the `P`, or at a minus before it. Capitals only, so that `p1d` stays a name.
pub(super) fn iso_duration(bytes: &[u8], start: usize) -> Option<usize> {
    let at = start + usize::from(bytes.get(start) == Some(&b'-'));
    if bytes.get(at) != Some(&b'P') {
        return None;
    }
    let end = iso_alternative(bytes, at + 1).or_else(|| iso_designators(bytes, at + 1))?;
    match bytes.get(end) {
        Some(byte) if is_word(*byte) => None,
        _ => Some(end),
    }
}

/// `YYYY-MM-DDThh:mm:ss`
fn iso_alternative(bytes: &[u8], at: usize) -> Option<usize> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let found = bytes.get(at..at + SHAPE.len())?;
    let fits = SHAPE.iter().zip(found).all(|(shape, byte)| match shape {
        b'0' => byte.is_ascii_digit(),
        other => other == byte,
    });
    fits.then_some(at + SHAPE.len())
}

/// `nW`, or `nYnMnD` and `TnHnMnS`, each part optional but at least one present.
fn iso_designators(bytes: &[u8], at: usize) -> Option<usize> {
    let weeks_end = skip_digits(bytes, at);
    if weeks_end > at && bytes.get(weeks_end) == Some(&b'W') {
        return Some(weeks_end + 1);
    }
    let date_end = designated(bytes, at, b"YMD");
    if bytes.get(date_end) == Some(&b'T') {
        let time_end = designated(bytes, date_end + 1, b"HMS");
        return (time_end > date_end + 1).then_some(time_end);
    }
    (date_end > at).then_some(date_end)
}

/// Skips `digits letter` for each letter in turn, where present.
fn designated(bytes: &[u8], mut at: usize, letters: &[u8]) -> usize {
    for letter in letters {
        let digits_end = skip_digits(bytes, at);
        if digits_end > at && bytes.get(digits_end) == Some(letter) {
            at = digits_end + 1;
        }
    }
    at
}

/// Whether a uuid stands at `start`.
pub(super) fn uuid(bytes: &[u8], start: usize) -> Option<usize> {
    const LENGTH: usize = 36;
    // The cheap test first: nearly every word and number fails here.
    if bytes.get(start + 8) != Some(&b'-') {
        return None;
    }
    let found = bytes.get(start..start + LENGTH)?;
    let fits = found.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    fits.then_some(start + LENGTH)
}

/// Letters, digits and the underscore.
pub(super) const fn is_word(byte: u8) -> bool {
    WORD[byte as usize]
}

static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    word
};

fn skip_digits(bytes: &[u8], at: usize) -> usize {
    skip_while(bytes, at, |byte| byte.is_ascii_digit())
}

pub(super) fn skip_while(bytes: &[u8], at: usize, accept: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    at + rest.iter().position(|byte| !accept(*byte)).unwrap_or(rest.len())
}
