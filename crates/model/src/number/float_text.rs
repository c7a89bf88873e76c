//! Java's text of floating-point numbers (`Double.toString`), and reading such text.
//!
//! The digits are those of the Java versions Cassandra runs on (11 and 17), which are not always the shortest that
//! identify the number: 2^31 as a float prints 2.14748365E9. Later Java versions print the shortest.

use num_bigint::BigUint;

/// As `Double.toString`: 1.0, 1.0E10, NaN, -Infinity.
pub fn java_double(value: f64) -> String {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    java_text(value, (bits >> 52 & 0x7ff) as i32, fraction, 52, 1_023)
}

/// As `Float.toString`.
pub fn java_float(value: f32) -> String {
    let bits = value.to_bits();
    let fraction = u64::from(bits & ((1 << 23) - 1));
    java_text(f64::from(value), (bits >> 23 & 0xff) as i32, fraction, 23, 127)
}

fn java_text(value: f64, biased_exponent: i32, fraction: u64, fraction_bits: u32, bias: i32) -> String {
    if value.is_nan() {
        return "NaN".to_string();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    // Normalise: the leading one at bit 52, and the number of bits that mean something.
    let (mantissa, exponent, significant) = if biased_exponent == 0 {
        let width = 64 - fraction.leading_zeros();
        (fraction << (53 - width), width as i32 - fraction_bits as i32 - bias, width as i32)
    } else {
        let full = (fraction | 1 << fraction_bits) << (52 - fraction_bits);
        (full, biased_exponent - bias, fraction_bits as i32 + 1)
    };
    let (digits, point) = decimal_digits(mantissa, exponent, significant);
    layout(sign, &digits, point)
}

/// Places the point: plain between 10^-3 and 10^7, else with an exponent; always a digit after the point.
fn layout(sign: &str, digits: &str, point: i32) -> String {
    let or_zero = |text: &str| if text.is_empty() { "0".to_string() } else { text.to_string() };
    if point > 0 && point < 8 {
        let whole_len = (point as usize).min(digits.len());
        let (whole, fraction) = digits.split_at(whole_len);
        let zeros = "0".repeat(point as usize - whole_len);
        return format!("{sign}{whole}{zeros}.{}", or_zero(fraction));
    }
    if point <= 0 && point > -3 {
        return format!("{sign}0.{}{digits}", "0".repeat(-point as usize));
    }
    let (first, rest) = digits.split_at(1);
    format!("{sign}{first}.{}E{}", or_zero(rest), point - 1)
}

/// Digits and the position of the point (0.ddd * 10^point) of mantissa / 2^52 * 2^exponent.
fn decimal_digits(mantissa: u64, exponent: i32, significant: i32) -> (String, i32) {
    let zeros = mantissa.trailing_zeros() as i32;
    let width = 53 - zeros;
    let bits_after_point = (width - exponent - 1).max(0);
    if bits_after_point == 0 && exponent <= 62 {
        // A whole number below 2^63. Bits that the type cannot tell apart are rounded away in decimal.
        let whole = if exponent >= 52 { mantissa << (exponent - 52) } else { mantissa >> (52 - exponent) };
        let doubtful = exponent - significant - 1;
        let drop = if exponent > significant && doubtful > 1 {
            (f64::from(doubtful) * std::f64::consts::LOG10_2) as u32
        } else {
            0
        };
        return whole_digits(whole, drop);
    }
    Generation::new(mantissa >> zeros, width, bits_after_point, exponent, significant).digits()
}

fn whole_digits(whole: u64, drop: u32) -> (String, i32) {
    let power = 10u64.pow(drop);
    let rounded = whole / power + u64::from(drop > 0 && whole % power >= power / 2);
    let text = rounded.to_string();
    let point = text.len() as i32 + drop as i32;
    (text.trim_end_matches('0').to_string(), point)
}

/// Digit generation: the number is value / divisor * 10^exponent; digits are taken off the front until what remains
/// is within half a unit of the last bit (`margin`).
struct Generation {
    decimal_exponent: i32,
    value: Scaled,
    divisor: Scaled,
    margin: Scaled,
}

/// A number times 2^twos * 5^fives, multiplied out later.
struct Scaled {
    number: u64,
    twos: i32,
    fives: i32,
}

impl Scaled {
    fn bits(&self, width: i32) -> i32 {
        width + self.twos + five_bits(self.fives)
    }

    fn big(&self) -> BigUint {
        (BigUint::from(self.number) * BigUint::from(5u8).pow(self.fives.max(0) as u32))
            << self.twos.max(0) as u32
    }

    fn small(&self) -> i64 {
        (self.number as i64).wrapping_mul(5i64.wrapping_pow(self.fives.max(0) as u32))
            << self.twos.clamp(0, 63)
    }
}

/// Bits of 5^n; beyond 5^26 an estimate that only has to be large.
fn five_bits(n: i32) -> i32 {
    if n < 27 { 128 - 5u128.pow(n.max(0) as u32).leading_zeros() as i32 - i32::from(n == 0) } else { n * 3 }
}

impl Generation {
    fn new(number: u64, width: i32, bits_after_point: i32, exponent: i32, significant: i32) -> Generation {
        let decimal_exponent = estimate_exponent(number, width, exponent);
        let value_fives = (-decimal_exponent).max(0);
        let divisor_fives = decimal_exponent.max(0);
        let mut value_twos = value_fives + bits_after_point + exponent;
        let mut divisor_twos = divisor_fives + bits_after_point;
        let mut margin_twos = value_twos - significant;
        value_twos -= width - 1;
        let shared = value_twos.min(divisor_twos);
        value_twos -= shared;
        divisor_twos -= shared;
        margin_twos -= shared;
        if width == 1 {
            // Below a power of two the numbers lie twice as close.
            margin_twos -= 1;
        }
        if margin_twos < 0 {
            value_twos -= margin_twos;
            divisor_twos -= margin_twos;
            margin_twos = 0;
        }
        Generation {
            decimal_exponent,
            value: Scaled { number, twos: value_twos, fives: value_fives },
            divisor: Scaled { number: 1, twos: divisor_twos, fives: divisor_fives },
            margin: Scaled { number: 1, twos: margin_twos, fives: value_fives },
        }
    }

    fn digits(self) -> (String, i32) {
        let width = 64 - self.value.number.leading_zeros() as i32;
        let value_bits = self.value.bits(width);
        let ten_divisor_bits = self.divisor.twos + 1 + five_bits(self.divisor.fives + 1);
        if value_bits < 64 && ten_divisor_bits < 64 {
            // Java computes in 32 or 64 bits here and lets comparisons wrap, which shows in a few results.
            let narrow = value_bits < 32 && ten_divisor_bits < 32;
            let wrap = move |number: i64| if narrow { i64::from(number as i32) } else { number };
            self.generate_small(wrap)
        } else {
            self.generate_big()
        }
    }

    fn generate_small(self, wrap: impl Fn(i64) -> i64) -> (String, i32) {
        let (mut value, divisor) = (wrap(self.value.small()), wrap(self.divisor.small()).max(1));
        let mut margin = wrap(self.margin.small());
        let tens = wrap(divisor.wrapping_mul(10));
        let mut run = Run::new(self.decimal_exponent);
        while !run.done() {
            let digit = value / divisor;
            value = wrap((value % divisor).wrapping_mul(10));
            margin = wrap(margin.wrapping_mul(10));
            let overflowed = margin <= 0 && !run.first;
            let low = overflowed || value < margin;
            let high = overflowed || wrap(value.wrapping_add(margin)) > tens;
            run.push(digit as u8, low, high);
        }
        run.finish(wrap(wrap(value << 1).wrapping_sub(tens)).cmp(&0))
    }

    fn generate_big(self) -> (String, i32) {
        let (mut value, divisor) = (self.value.big(), self.divisor.big());
        let mut margin = self.margin.big();
        let tens = &divisor * 10u8;
        let mut run = Run::new(self.decimal_exponent);
        while !run.done() {
            let digit = u8::try_from(&value / &divisor).unwrap_or(9);
            value = (value % &divisor) * 10u8;
            margin *= 10u8;
            let low = value < margin;
            let high = &value + &margin >= tens;
            run.push(digit, low, high);
        }
        run.finish((value << 1u8).cmp(&tens))
    }
}

/// The decimal exponent from a straight-line estimate of the logarithm; may be one too high.
fn estimate_exponent(number: u64, width: i32, exponent: i32) -> i32 {
    let fraction = (number << (53 - width)) & ((1 << 52) - 1);
    let mantissa = f64::from_bits(1_023 << 52 | fraction);
    // Java's constant has fifteen digits; a division of whole numbers gives the same double.
    let log_of_two = 301_029_995_663_981.0 / 1e15;
    let estimate = (mantissa - 1.5) * 0.289_529_654 + 0.176_091_259 + f64::from(exponent) * log_of_two;
    estimate.floor() as i32
}

/// The digits of a generation and when it stops.
struct Run {
    digits: Vec<u8>,
    decimal_exponent: i32,
    low: bool,
    high: bool,
    first: bool,
}

impl Run {
    fn new(decimal_exponent: i32) -> Run {
        Run { digits: Vec::new(), decimal_exponent, low: false, high: false, first: true }
    }

    fn done(&self) -> bool {
        (self.low || self.high) && !self.first
    }

    fn push(&mut self, digit: u8, low: bool, high: bool) {
        (self.low, self.high) = (low, high);
        if !self.first {
            self.digits.push(digit);
            return;
        }
        self.first = false;
        if digit == 0 && !high {
            self.decimal_exponent -= 1;
        } else {
            self.digits.push(digit);
        }
        // A form with exponent has two digits at least.
        if self.decimal_exponent < -3 || self.decimal_exponent >= 8 {
            (self.low, self.high) = (false, false);
        }
    }

    /// Rounds the last digit; `twice_rest` compares twice the remainder with the unit.
    fn finish(mut self, twice_rest: std::cmp::Ordering) -> (String, i32) {
        let odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        let up = self.high && (!self.low || twice_rest.is_gt() || (twice_rest.is_eq() && odd));
        let mut point = self.decimal_exponent + 1;
        if up {
            let nines = self.digits.iter().rev().take_while(|digit| **digit == 9).count();
            let keep = self.digits.len() - nines;
            for digit in self.digits.iter_mut().skip(keep) {
                *digit = 0;
            }
            match keep.checked_sub(1).and_then(|at| self.digits.get_mut(at)) {
                Some(digit) => *digit += 1,
                None => {
                    // All nines: 999 becomes 1000, one place further left.
                    self.digits.insert(0, 1);
                    self.digits.pop();
                    point += 1;
                }
            }
        }
        (self.digits.iter().map(|digit| (b'0' + digit) as char).collect(), point)
    }
}

/// Text that Java's parser takes, in the form Rust's parser takes; `None` for what only one of them knows.
fn java_number_text(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.eq_ignore_ascii_case("nan") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(text);
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    // Java takes the type suffixes of its own literals.
    Some(text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text))
}

pub fn parse_java_double(text: &str) -> Option<f64> {
    java_number_text(text)?.parse().ok()
}

pub fn parse_java_float(text: &str) -> Option<f32> {
    java_number_text(text)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1234567.0, "1234567.0"),
            (9999999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.5e10, "1.5E10"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (0.1, "0.1"),
            (-123.456, "-123.456"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::from_bits(1), "4.9E-324"),
            (1e23, "9.999999999999999E22"),
            (2e-3, "0.002"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(java_double(value), text);
        }
    }

    #[test]
    fn floats_print_as_in_java() {
        for (value, text) in [
            (1.1f32, "1.1"),
            (16777216.0, "1.6777216E7"),
            (2147483648.0, "2.14748365E9"),
            (8.5e15, "8.5000001E15"),
            (123456789.125, "1.23456792E8"),
            (f32::MAX, "3.4028235E38"),
            (f32::from_bits(1), "1.4E-45"),
            (0.5, "0.5"),
            (f32::INFINITY, "Infinity"),
        ] {
            assert_eq!(java_float(value), text);
        }
    }

    proptest! {
        #[test]
        fn doubles_read_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            if !value.is_nan() {
                prop_assert_eq!(parse_java_double(&java_double(value)), Some(value));
            }
        }

        #[test]
        fn floats_read_back(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                prop_assert_eq!(parse_java_float(&java_float(value)), Some(value));
            }
        }

        #[test]
        fn short_decimals_print_short(number in -1_000_000i32..1_000_000, places in 0u32..6) {
            let value = f64::from(number) / 10f64.powi(places as i32);
            prop_assert!(java_double(value).len() <= 14, "{}", java_double(value));
        }
    }

    #[test]
    fn parsing_takes_java_forms_only() {
        assert_eq!(parse_java_double(" 1.5e3 "), Some(1500.0));
        assert_eq!(parse_java_double("1."), Some(1.0));
        assert_eq!(parse_java_double("1f"), Some(1.0));
        assert_eq!(parse_java_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert!(parse_java_double("NaN").is_some_and(f64::is_nan));
        for text in ["inf", "", "abc", "1e", "--1", "-", "1_0"] {
            assert_eq!(parse_java_double(text), None, "{text}");
        }
        assert_eq!(parse_java_float("1e40"), Some(f32::INFINITY));
    }
}
