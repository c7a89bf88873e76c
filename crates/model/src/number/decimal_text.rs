//! Reading and printing decimals as Java's `BigDecimal` does.

use std::fmt;

use num_bigint::{BigInt, Sign};

use super::{Decimal, check_digits};

impl Decimal {
    /// Reads `[+-]digits[.digits][e[+-]digits]`; `None` for anything else, and when the scale leaves 32 bits.
    pub fn parse(text: &str) -> Option<Decimal> {
        if !check_digits(text) {
            return None;
        }
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = BigInt::parse_bytes(digits.as_bytes(), 10)?;
        let scale = i32::try_from(fraction.len() as i64 - exponent).ok()?;
        Some(Decimal { unscaled: if mantissa.starts_with('-') { -number } else { number }, scale })
    }

    /// Without exponent. `None` when that would print more than a hundred thousand zeros.
    pub fn to_plain_string(&self) -> Option<String> {
        if self.scale >= 0 {
            return self.set_point();
        }
        if self.is_zero() {
            return Some("0".to_string());
        }
        let zeros = usize::try_from(-i64::from(self.scale)).ok().filter(|zeros| *zeros <= 100_000)?;
        Some(format!("{}{}", self.unscaled, "0".repeat(zeros)))
    }

    /// The digits with a point before the last `scale` of them.
    fn set_point(&self) -> Option<String> {
        let scale = usize::try_from(self.scale).ok().filter(|scale| *scale <= 100_000)?;
        let digits = self.unscaled.magnitude().to_str_radix(10);
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        if scale == 0 {
            return Some(format!("{sign}{digits}"));
        }
        let padded = format!("{}{digits}", "0".repeat((scale + 1).saturating_sub(digits.len())));
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        Some(format!("{sign}{whole}.{fraction}"))
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 10 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent: i64 = digits.parse().ok()?;
    Some(if text.starts_with('-') { -exponent } else { exponent })
}

/// As `BigDecimal.toString`: plain when the number is not too small and the scale not negative, else with exponent.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.magnitude().to_str_radix(10);
        let adjusted = digits.len() as i64 - 1 - i64::from(self.scale);
        if self.scale >= 0 && adjusted >= -6 {
            return match self.set_point() {
                Some(text) => f.write_str(&text),
                None => write!(f, "{}E-{}", self.unscaled, self.scale),
            };
        }
        if self.unscaled.sign() == Sign::Minus {
            f.write_str("-")?;
        }
        let (first, rest) = digits.split_at(1);
        f.write_str(first)?;
        if !rest.is_empty() {
            write!(f, ".{rest}")?;
        }
        if adjusted == 0 { Ok(()) } else { write!(f, "E{adjusted:+}") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rounding;
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn prints_as_java_does() {
        for (unscaled, scale, text) in [
            (0i64, 0, "0"),
            (0, 3, "0.000"),
            (0, -2, "0E+2"),
            (0, 8, "0E-8"),
            (123, 0, "123"),
            (-123, 0, "-123"),
            (123, -1, "1.23E+3"),
            (123, -3, "1.23E+5"),
            (123, 1, "12.3"),
            (123, 5, "0.00123"),
            (123, 10, "1.23E-8"),
            (-123, 12, "-1.23E-10"),
            (1, 6, "0.000001"),
            (1, 7, "1E-7"),
        ] {
            assert_eq!(Decimal::new(unscaled, scale).to_string(), text);
        }
        assert_eq!(decimal("1E+3").to_plain_string().unwrap(), "1000");
        assert_eq!(decimal("1E-9").to_plain_string().unwrap(), "0.000000001");
        assert_eq!(decimal("1E+2147483647").to_plain_string(), None);
    }

    #[test]
    fn reads_what_java_reads() {
        assert_eq!(decimal("1.50"), Decimal::new(150, 2));
        assert_eq!(decimal("-.5"), Decimal::new(-5, 1));
        assert_eq!(decimal("1."), Decimal::new(1, 0));
        assert_eq!(decimal("+1.5e3"), Decimal::new(15, -2));
        assert_eq!(decimal("1E-2147483647"), Decimal::new(1, i32::MAX));
        for text in ["", ".", "e5", "1e", "1e+", "1x", " 1", "--1", "1.2.3", "1E2147483650", "1E-2147483648"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_follows_java() {
        assert_eq!(decimal("1.5").add(&decimal("2.25")).unwrap(), decimal("3.75"));
        assert_eq!(decimal("1.5").multiply(&decimal("2.0")).unwrap(), decimal("3.00"));
        assert_eq!(decimal("10").divide(&decimal("3"), 5, Rounding::HalfUp).unwrap(), decimal("3.33333"));
        assert_eq!(decimal("-1").divide(&decimal("2"), 0, Rounding::HalfUp).unwrap(), decimal("-1"));
        assert_eq!(decimal("1").divide(&decimal("2"), 0, Rounding::HalfEven).unwrap(), decimal("0"));
        assert_eq!(decimal("3").divide(&decimal("2"), 0, Rounding::HalfEven).unwrap(), decimal("2"));
        assert_eq!(decimal("-7.5").remainder(&decimal("2")).unwrap(), decimal("-1.5"));
        assert_eq!(decimal("100.00").strip_trailing_zeros(), decimal("1E+2"));
        assert_eq!(decimal("0.00").strip_trailing_zeros(), Decimal::zero());
        assert_eq!(decimal("99.95").round_to_precision(3).unwrap(), decimal("1.00E+2"));
        assert_eq!(decimal("2.5").set_scale(0, Rounding::HalfUp).unwrap(), decimal("3"));
    }

    #[test]
    fn absurd_scales_fail_instead_of_allocating() {
        let (huge, tiny) = (decimal("1E+2147483647"), decimal("1E-2147483647"));
        assert!(huge.add(&tiny).is_err());
        assert!(huge.divide(&tiny, 10, Rounding::HalfUp).is_err());
        assert!(huge.to_integer().is_err());
        assert_eq!(huge.to_i64_wrapping(), 0);
        assert_eq!(tiny.to_i64_wrapping(), 0);
        assert_eq!(tiny.to_f64(), 0.0);
        assert_eq!(huge.to_f64(), f64::INFINITY);
        assert!(huge.compare(&tiny).is_gt());
    }

    #[test]
    fn conversions() {
        assert_eq!(Decimal::from_f64(1.0).unwrap(), decimal("1.0"));
        assert_eq!(Decimal::from_f64(1e20).unwrap(), decimal("1.0E+20"));
        assert_eq!(Decimal::from_f64(f64::NAN), None);
        assert_eq!(decimal("-1.9").to_i64_wrapping(), -1);
        assert_eq!(decimal("18446744073709551617").to_i64_wrapping(), 1);
        assert_eq!(decimal("0.1").to_f32(), 0.1f32);
        assert_eq!(Decimal::from_wire(&decimal("-12.5").to_wire()), Some(decimal("-12.5")));
    }
}
