//! Decimal numbers as the DynamoDB API has them: 38 significant digits, 1E-130 to 9.99E+125, always exact.
//!
//! A number is kept in the form in which it is stored and compared: a byte for sign and magnitude, then pairs of
//! decimal digits aligned on the point. Byte order is numeric order, equal numbers have equal bytes, and the length
//! (at most 21) is the accounted size. Text and arithmetic are computed from it.

use std::cmp::Ordering;
use std::fmt;

/// Significant digits of a number.
pub const DIGITS_MAX: usize = 38;
/// The power of ten of the highest digit is at most this …
const POWER_MAX: i32 = 125;
/// … and of the highest digit at least this.
const POWER_MIN: i32 = -130;
/// The first byte of zero, and what the first byte of a positive number is counted from.
const ZERO: u8 = 0x80;
const BYTES_MAX: usize = 21;
const PAIRS_MAX: usize = 20;
/// Ends the digits of a negative number, so that a shorter one is the greater one.
const TERMINATOR: u8 = 102;

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    NotANumber,
    Overflow,
    Underflow,
    TooManyDigits,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    length: u8,
    bytes: [u8; BYTES_MAX],
}

impl Number {
    pub const ZERO: Number = {
        let mut bytes = [0; BYTES_MAX];
        bytes[0] = ZERO;
        Number { length: 1, bytes }
    };

    /// Reads `-12.5e3`: a sign, digits with at most one point, an exponent; nothing else, no blanks.
    pub fn parse(text: &str) -> Result<Number, NumberFault> {
        let bytes = text.as_bytes();
        let (negative, mut at) = match bytes.first() {
            Some(b'-') => (true, 1),
            Some(b'+') => (false, 1),
            _ => (false, 0),
        };
        // Only significant digits are kept; `dropped` counts zeros behind them that may turn out to be significant.
        let mut digits = [0u8; DIGITS_MAX + 1];
        let mut count = 0usize;
        let mut zeros = 0usize;
        let mut any = false;
        let mut point_seen = false;
        let mut after_point = 0i64;
        let mut too_many = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    after_point += i64::from(point_seen);
                    if byte == b'0' && count == 0 {
                        // A leading zero.
                    } else if byte == b'0' {
                        zeros += 1;
                    } else if too_many || count + zeros >= DIGITS_MAX {
                        too_many = true;
                        zeros = 0;
                    } else {
                        count += zeros;
                        zeros = 0;
                        digits[count] = byte - b'0';
                        count += 1;
                    }
                }
                b'.' if !point_seen => point_seen = true,
                _ => break,
            }
            at += 1;
        }
        if !any {
            return Err(NumberFault::NotANumber);
        }
        let exponent = read_exponent(&bytes[at..])?;
        // The power of ten of the last digit written, zeros included.
        let last = exponent - after_point;
        if count == 0 {
            return zero_in_range(last);
        }
        if too_many {
            return Err(NumberFault::TooManyDigits);
        }
        // The position of the last significant digit, then that of the first.
        let low = last.saturating_add(zeros as i64);
        let high = low.saturating_add(count as i64 - 1);
        if high > i64::from(POWER_MAX) {
            return Err(NumberFault::Overflow);
        }
        if high < i64::from(POWER_MIN) {
            return Err(NumberFault::Underflow);
        }
        Ok(Number::from_digits(negative, &digits[..count], low as i32))
    }

    /// `digits` (no zero at either end) with the last one at ten to the power of `low`.
    fn from_digits(negative: bool, digits: &[u8], low: i32) -> Number {
        debug_assert!(!digits.is_empty() && digits[0] != 0 && digits[digits.len() - 1] != 0);
        let high = low + digits.len() as i32 - 1;
        let magnitude = high.div_euclid(2);
        // A pair holds an even power's digit as its ones.
        let lead = high.rem_euclid(2) == 0;
        let mut bytes = [0u8; BYTES_MAX];
        let first = 65 + magnitude;
        bytes[0] = if negative { (127 - first) as u8 } else { (128 + first) as u8 };
        let mut length = 1;
        let mut at = 0;
        while at < digits.len() {
            let pair = if at == 0 && lead {
                at += 1;
                digits[0]
            } else {
                let tens = digits[at] * 10;
                let ones = digits.get(at + 1).copied().unwrap_or(0);
                at += 2;
                tens + ones
            };
            bytes[length] = if negative { 101 - pair } else { pair + 1 };
            length += 1;
        }
        if negative && length - 1 < PAIRS_MAX {
            bytes[length] = TERMINATOR;
            length += 1;
        }
        Number { length: length as u8, bytes }
    }

    pub fn from_i64(value: i64) -> Number {
        // Nineteen digits are always within range.
        Number::parse(&value.to_string()).unwrap_or(Number::ZERO)
    }

    /// The stored form; its length is the accounted size.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Checks bytes that claim to be a number.
    pub fn from_bytes(stored: &[u8]) -> Option<Number> {
        if stored.is_empty() || stored.len() > BYTES_MAX {
            return None;
        }
        let mut bytes = [0; BYTES_MAX];
        bytes[..stored.len()].copy_from_slice(stored);
        let number = Number { length: stored.len() as u8, bytes };
        if stored == [ZERO] {
            return Some(number);
        }
        // Whatever the bytes are, writing them out and reading them again must lead back to them.
        let (negative, pairs) = number.pairs()?;
        if pairs.is_empty() || pairs.len() > PAIRS_MAX {
            return None;
        }
        let digit = |byte: u8| if negative { 101u8.wrapping_sub(byte) } else { byte.wrapping_sub(1) };
        if pairs.iter().any(|&b| digit(b) > 99) || digit(pairs[0]) == 0 || digit(pairs[pairs.len() - 1]) == 0
        {
            return None;
        }
        let mut digits = [0; 2 * PAIRS_MAX];
        let (count, _) = number.digits(&mut digits);
        (count <= DIGITS_MAX).then_some(number)
    }

    /// The sign and the pairs as they are stored, without terminator; none if a terminator is missing or too many.
    fn pairs(&self) -> Option<(bool, &[u8])> {
        let stored = self.bytes();
        let negative = stored[0] < ZERO;
        let pairs = &stored[1..];
        if !negative {
            return Some((false, pairs));
        }
        match pairs {
            [pairs @ .., TERMINATOR] if pairs.len() < PAIRS_MAX => Some((true, pairs)),
            _ if pairs.len() == PAIRS_MAX => Some((true, pairs)),
            _ => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.bytes() == [ZERO]
    }

    pub fn is_negative(&self) -> bool {
        self.bytes[0] < ZERO
    }

    /// Significant digits into `into`, how many there are, and the power of ten of the last one.
    fn digits(&self, into: &mut [u8; 2 * PAIRS_MAX]) -> (usize, i32) {
        let Some((negative, pairs)) = self.pairs() else { return (0, 0) };
        let first = self.bytes[0];
        let magnitude = if negative { 127 - i32::from(first) } else { i32::from(first) - 128 } - 65;
        let mut count = 0;
        for (at, &byte) in pairs.iter().enumerate() {
            let pair = if negative { 101u8.wrapping_sub(byte) } else { byte.wrapping_sub(1) };
            if at > 0 || pair >= 10 {
                into[count] = pair / 10;
                count += 1;
            }
            into[count] = pair % 10;
            count += 1;
        }
        let mut low = 2 * (magnitude - (pairs.len() as i32 - 1));
        while count > 0 && into[count - 1] == 0 {
            count -= 1;
            low += 1;
        }
        (count, low)
    }

    /// Writes a number as it was stored; `None` if the bytes are none.
    #[inline]
    pub fn write_stored(stored: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match small_whole(stored) {
            Some(value) => write_whole(value, out),
            None => Number::from_bytes(stored)?.write(out),
        }
        Some(())
    }

    /// Plain decimal text: no exponent, no needless zeros.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.is_zero() {
            out.push(b'0');
            return;
        }
        let mut digits = [0; 2 * PAIRS_MAX];
        let (count, low) = self.digits(&mut digits);
        if self.is_negative() {
            out.push(b'-');
        }
        let high = low + count as i32 - 1;
        if high < 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', (-high - 1) as usize));
        }
        for (at, digit) in digits[..count].iter().enumerate() {
            out.push(b'0' + digit);
            if high - at as i32 == 0 && at + 1 < count {
                out.push(b'.');
            }
        }
        if low > 0 {
            out.extend(std::iter::repeat_n(b'0', low as usize));
        }
    }

    /// The sum, exact or refused.
    pub fn add(&self, other: &Number) -> Result<Number, NumberFault> {
        sum(self, other, false)
    }

    /// The difference, exact or refused.
    pub fn subtract(&self, other: &Number) -> Result<Number, NumberFault> {
        sum(self, other, true)
    }

    pub fn negate(&self) -> Number {
        if self.is_zero() {
            return *self;
        }
        let mut digits = [0; 2 * PAIRS_MAX];
        let (count, low) = self.digits(&mut digits);
        Number::from_digits(!self.is_negative(), &digits[..count], low)
    }

    /// The value if it is a whole number of 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        self.to_string().parse().ok()
    }

    /// The nearest binary fraction.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(0.0)
    }
}

/// Zero has no first digit: the power of its last one decides.
fn zero_in_range(last: i64) -> Result<Number, NumberFault> {
    if last > i64::from(POWER_MAX) {
        return Err(NumberFault::Overflow);
    }
    if last < i64::from(POWER_MIN) {
        return Err(NumberFault::Underflow);
    }
    Ok(Number::ZERO)
}

/// `e-12`, or nothing. Saturates: any such power is out of range.
fn read_exponent(bytes: &[u8]) -> Result<i64, NumberFault> {
    let [b'e' | b'E', rest @ ..] = bytes else {
        return if bytes.is_empty() { Ok(0) } else { Err(NumberFault::NotANumber) };
    };
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberFault::NotANumber);
    }
    let value = digits.iter().fold(0i64, |sum, d| (sum * 10 + i64::from(d - b'0')).min(1 << 40));
    Ok(if negative { -value } else { value })
}

/// Columns of a sum: all powers of ten that either number can have, and a carry.
const COLUMNS: usize = (POWER_MAX - POWER_MIN) as usize + DIGITS_MAX + 2;
const COLUMN_LOW: i32 = POWER_MIN - DIGITS_MAX as i32;

fn sum(left: &Number, right: &Number, negate_right: bool) -> Result<Number, NumberFault> {
    let mut columns = [0i8; COLUMNS];
    for (number, negate) in [(left, false), (right, negate_right)] {
        if number.is_zero() {
            continue;
        }
        let mut digits = [0; 2 * PAIRS_MAX];
        let (count, low) = number.digits(&mut digits);
        let minus = number.is_negative() != negate;
        for (at, &digit) in digits[..count].iter().rev().enumerate() {
            let column = (low - COLUMN_LOW) as usize + at;
            columns[column] += if minus { -(digit as i8) } else { digit as i8 };
        }
    }
    // The highest column that is not zero has the sign of the sum.
    let Some(highest) = columns.iter().rposition(|&c| c != 0) else { return Ok(Number::ZERO) };
    let negative = columns[highest] < 0;
    let mut carry = 0i8;
    for column in columns.iter_mut() {
        let value = if negative { -*column } else { *column } + carry;
        *column = value.rem_euclid(10);
        carry = value.div_euclid(10);
    }
    let Some(highest) = columns.iter().rposition(|&c| c != 0) else { return Ok(Number::ZERO) };
    let lowest = columns.iter().position(|&c| c != 0).unwrap_or(highest);
    let high = highest as i32 + COLUMN_LOW;
    if high > POWER_MAX {
        return Err(NumberFault::Overflow);
    }
    if high < POWER_MIN {
        return Err(NumberFault::Underflow);
    }
    if highest - lowest >= DIGITS_MAX {
        return Err(NumberFault::TooManyDigits);
    }
    let mut digits = [0u8; DIGITS_MAX];
    let count = highest - lowest + 1;
    for (digit, column) in digits.iter_mut().zip(columns[lowest..=highest].iter().rev()) {
        *digit = *column as u8;
    }
    Ok(Number::from_digits(negative, &digits[..count], lowest as i32 + COLUMN_LOW))
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(48);
        self.write(&mut out);
        f.write_str(std::str::from_utf8(&out).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Most numbers are small, whole and not negative: their value, if the stored bytes are exactly those of one.
fn small_whole(stored: &[u8]) -> Option<u64> {
    /// What the first byte of 1 to 99 is.
    const ONES: u8 = 193;
    /// So many pairs fit in 64 bits.
    const PAIRS: usize = 9;
    let (&first, pairs) = stored.split_first()?;
    let behind = usize::from(first.checked_sub(ONES)?).checked_sub(pairs.len().checked_sub(1)?)?;
    if pairs.len() + behind > PAIRS {
        return None;
    }
    let mut value = 0u64;
    let mut pair = 0;
    for byte in pairs {
        pair = u64::from(byte.checked_sub(1)?);
        // Neither the first pair nor, below, the last is zero.
        if pair > 99 || (pair == 0 && value == 0) {
            return None;
        }
        value = value * 100 + pair;
    }
    (pair != 0).then(|| value * 100u64.pow(behind as u32))
}

fn write_whole(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
    }

    #[test]
    fn text_is_canonical() {
        let cases = [
            ("0", "0"),
            ("-0", "0"),
            ("0.000", "0"),
            ("007", "7"),
            ("5.", "5"),
            (".5", "0.5"),
            ("+1.50", "1.5"),
            ("1E3", "1000"),
            ("12.5e-3", "0.0125"),
            ("-120", "-120"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("1e-130", &format!("0.{}1", "0".repeat(129))),
            ("1e125", &format!("1{}", "0".repeat(125))),
            ("100000000000000000000000000000000000000000", "100000000000000000000000000000000000000000"),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn faults() {
        use NumberFault::*;
        let cases = [
            ("", NotANumber),
            ("-", NotANumber),
            (".", NotANumber),
            ("1 ", NotANumber),
            ("1e", NotANumber),
            ("1.2.3", NotANumber),
            ("0x1", NotANumber),
            ("NaN", NotANumber),
            ("1e126", Overflow),
            ("9.99e126", Overflow),
            ("1e99999999999999999999", Overflow),
            ("1e-131", Underflow),
            ("0e126", Overflow),
            ("0e-131", Underflow),
            ("123456789012345678901234567890123456789", TooManyDigits),
        ];
        for (text, fault) in cases {
            assert_eq!(Number::parse(text), Err(fault), "{text:?}");
        }
    }

    fn stored_text(stored: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        Number::write_stored(stored, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn stored_bytes_are_written_as_the_number_they_are() {
        for text in [
            "0",
            "1",
            "9",
            "10",
            "99",
            "100",
            "101",
            "120",
            "10000",
            "1.5",
            "-7",
            "0.01",
            "999999999999999999",
            "1000000000000000000",
        ] {
            assert_eq!(stored_text(number(text).bytes()).as_deref(), Some(text));
        }
        for first in 0..=255 {
            for second in 0..=255 {
                for third in [None, Some(0), Some(1), Some(2), Some(100), Some(101), Some(TERMINATOR)] {
                    let stored: Vec<u8> = [first, second].into_iter().chain(third).collect();
                    assert_eq!(
                        stored_text(&stored),
                        Number::from_bytes(&stored).map(|n| n.to_string()),
                        "{stored:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn accounted_sizes() {
        let cases = [("0", 1), ("12", 2), ("120", 3), ("1.5", 3), ("0.001", 2), ("-1", 3), ("1e125", 2)];
        for (text, size) in cases {
            assert_eq!(number(text).bytes().len(), size, "{text}");
        }
        assert_eq!(number(&"9".repeat(38)).bytes().len(), 20);
        assert_eq!(number(&format!("-{}.9", "9".repeat(37))).bytes().len(), 21);
    }

    #[test]
    fn sums() {
        let cases = [
            ("1", "2", "3"),
            ("0.1", "0.2", "0.3"),
            ("-5", "5", "0"),
            ("999", "1", "1000"),
            ("1", "-1000", "-999"),
            ("99999999999999999999999999999999999999", "-1", "99999999999999999999999999999999999998"),
            ("1e-130", "-1e-130", "0"),
        ];
        for (left, right, expected) in cases {
            assert_eq!(number(left).add(&number(right)).map(|n| n.to_string()), Ok(expected.to_string()));
        }
        assert_eq!(number("1e20").add(&number("1e-20")), Err(NumberFault::TooManyDigits));
        assert_eq!(number("9e125").add(&number("9e125")), Err(NumberFault::Overflow));
    }

    fn any_number() -> impl Strategy<Value = Number> {
        (any::<bool>(), 1u128..10u128.pow(38), -120i32..80).prop_map(|(negative, digits, power)| {
            number(&format!("{}{digits}e{power}", if negative { "-" } else { "" }))
        })
    }

    proptest! {
        #[test]
        fn byte_order_is_numeric_order(a in any_number(), b in any_number()) {
            let difference = match a.subtract(&b) {
                Ok(difference) => difference,
                // Too far apart to subtract: then the magnitudes differ.
                Err(_) => return Ok(()),
            };
            let expected = if difference.is_zero() { Ordering::Equal }
                else if difference.is_negative() { Ordering::Less } else { Ordering::Greater };
            prop_assert_eq!(a.cmp(&b), expected);
        }

        #[test]
        fn text_and_bytes_lead_back(a in any_number()) {
            prop_assert_eq!(number(&a.to_string()), a);
            prop_assert_eq!(Number::from_bytes(a.bytes()), Some(a));
            prop_assert_eq!(a.negate().negate(), a);
        }

        #[test]
        fn small_sums_are_those_of_integers(a in -1_000_000_000i64..1_000_000_000, b in -1_000_000_000i64..1_000_000_000) {
            prop_assert_eq!(Number::from_i64(a).add(&Number::from_i64(b)), Ok(Number::from_i64(a + b)));
            prop_assert_eq!(Number::from_i64(a).cmp(&Number::from_i64(b)), a.cmp(&b));
        }

        #[test]
        fn any_bytes_are_a_number_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            if let Some(number) = Number::from_bytes(&bytes) {
                prop_assert_eq!(Number::parse(&number.to_string()), Ok(number));
            }
        }
    }
}
