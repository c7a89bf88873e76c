//! An arbitrary-precision decimal: an integer and a scale, value = unscaled / 10^scale, as Java's `BigDecimal`.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::value::ValueError;
use crate::value::decimal_order;
use crate::value::error::invalid;

/// Digits that aligning two numbers may add. Java would try to allocate them all.
const ALIGN_DIGITS_MAX: i64 = 20_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    pub unscaled: BigInt,
    pub scale: i32,
}

/// What happens to the digits that are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Down,
    HalfUp,
    HalfEven,
}

fn pow10(exponent: i64) -> Result<BigInt, ValueError> {
    match u32::try_from(exponent) {
        Ok(exponent) if i64::from(exponent) <= ALIGN_DIGITS_MAX => Ok(BigInt::from(10u8).pow(exponent)),
        _ => invalid!("the result needs more than {ALIGN_DIGITS_MAX} digits"),
    }
}

/// Quotient of two integers, rounded; the divisor is not zero.
fn divide_rounded(dividend: &BigInt, divisor: &BigInt, rounding: Rounding) -> BigInt {
    let quotient = dividend / divisor;
    let remainder = dividend % divisor;
    if remainder.sign() == Sign::NoSign || rounding == Rounding::Down {
        return quotient;
    }
    let twice = remainder.magnitude() * 2u8;
    let up = match twice.cmp(divisor.magnitude()) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => rounding == Rounding::HalfUp || quotient.magnitude().bit(0),
    };
    let away = if dividend.sign() == divisor.sign() { BigInt::from(1) } else { BigInt::from(-1) };
    if up { quotient + away } else { quotient }
}

impl Decimal {
    pub fn new(unscaled: impl Into<BigInt>, scale: i32) -> Decimal {
        Decimal { unscaled: unscaled.into(), scale }
    }

    pub fn zero() -> Decimal {
        Decimal::new(0, 0)
    }

    fn with_scale(unscaled: BigInt, scale: i64) -> Result<Decimal, ValueError> {
        match i32::try_from(scale) {
            Ok(scale) => Ok(Decimal { unscaled, scale }),
            Err(_) => Err(ValueError::new(if scale > 0 { "Underflow" } else { "Overflow" })),
        }
    }

    /// From wire bytes of a decimal; `None` when there are fewer than four.
    pub fn from_wire(bytes: &[u8]) -> Option<Decimal> {
        let (scale, unscaled) = bytes.split_first_chunk::<4>()?;
        Some(Decimal::new(BigInt::from_signed_bytes_be(unscaled), i32::from_be_bytes(*scale)))
    }

    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = self.scale.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.unscaled.to_signed_bytes_be());
        bytes
    }

    pub fn is_zero(&self) -> bool {
        self.unscaled.sign() == Sign::NoSign
    }

    /// Number of digits of the unscaled value; 1 for zero.
    pub fn precision(&self) -> i64 {
        if self.is_zero() { 1 } else { self.unscaled.magnitude().to_str_radix(10).len() as i64 }
    }

    /// Numeric order; scales do not matter.
    pub fn compare(&self, other: &Decimal) -> Ordering {
        decimal_order::compare(&self.to_wire(), &other.to_wire()).unwrap_or(Ordering::Equal)
    }

    /// Same number with another scale, rounding dropped digits.
    pub fn set_scale(&self, scale: i32, rounding: Rounding) -> Result<Decimal, ValueError> {
        let raise = i64::from(scale) - i64::from(self.scale);
        if self.is_zero() {
            return Ok(Decimal::new(0, scale));
        }
        if raise >= 0 {
            return Ok(Decimal { unscaled: &self.unscaled * pow10(raise)?, scale });
        }
        if -raise > self.precision() + 1 {
            return Ok(Decimal::new(0, scale));
        }
        Ok(Decimal { unscaled: divide_rounded(&self.unscaled, &pow10(-raise)?, rounding), scale })
    }

    /// Rounded half up to at most `precision` digits.
    pub fn round_to_precision(self, precision: i64) -> Result<Decimal, ValueError> {
        let mut number = self;
        loop {
            let drop = number.precision() - precision;
            if drop <= 0 {
                return Ok(number);
            }
            let unscaled = divide_rounded(&number.unscaled, &pow10(drop)?, Rounding::HalfUp);
            // Rounding 99.9 up adds a digit, hence the loop.
            number = Decimal::with_scale(unscaled, i64::from(number.scale) - drop)?;
        }
    }

    /// Trailing zeros of the unscaled value removed; zero gets scale 0.
    pub fn strip_trailing_zeros(&self) -> Decimal {
        if self.is_zero() {
            return Decimal::zero();
        }
        let digits = self.unscaled.magnitude().to_str_radix(10);
        let room = i64::from(self.scale) - i64::from(i32::MIN);
        let zeros =
            (digits.len() - digits.trim_end_matches('0').len()).min(usize::try_from(room).unwrap_or(0));
        match BigInt::parse_bytes(digits.get(..digits.len() - zeros).unwrap_or("0").as_bytes(), 10) {
            Some(unscaled) if self.unscaled.sign() == Sign::Minus => {
                Decimal { unscaled: -unscaled, scale: self.scale - zeros as i32 }
            }
            Some(unscaled) => Decimal { unscaled, scale: self.scale - zeros as i32 },
            None => self.clone(),
        }
    }

    /// Both unscaled values at the larger of the two scales.
    fn align(&self, other: &Decimal) -> Result<(BigInt, BigInt, i32), ValueError> {
        let scale = self.scale.max(other.scale);
        let raise = |number: &Decimal| -> Result<BigInt, ValueError> {
            if number.is_zero() {
                return Ok(BigInt::from(0));
            }
            Ok(&number.unscaled * pow10(i64::from(scale) - i64::from(number.scale))?)
        };
        Ok((raise(self)?, raise(other)?, scale))
    }

    /// Exact sum.
    pub fn add(&self, other: &Decimal) -> Result<Decimal, ValueError> {
        let (left, right, scale) = self.align(other)?;
        Ok(Decimal { unscaled: left + right, scale })
    }

    /// Exact difference.
    pub fn subtract(&self, other: &Decimal) -> Result<Decimal, ValueError> {
        self.add(&other.negate())
    }

    /// Exact product.
    pub fn multiply(&self, other: &Decimal) -> Result<Decimal, ValueError> {
        Decimal::with_scale(&self.unscaled * &other.unscaled, i64::from(self.scale) + i64::from(other.scale))
    }

    /// Quotient with the given scale. The caller excludes a zero divisor.
    pub fn divide(&self, other: &Decimal, scale: i32, rounding: Rounding) -> Result<Decimal, ValueError> {
        if other.is_zero() {
            return invalid!("/ by zero");
        }
        if self.is_zero() {
            return Ok(Decimal::new(0, scale));
        }
        let raise = i64::from(scale) + i64::from(other.scale) - i64::from(self.scale);
        let unscaled = if raise >= 0 {
            divide_rounded(&(&self.unscaled * pow10(raise)?), &other.unscaled, rounding)
        } else {
            divide_rounded(&self.unscaled, &(&other.unscaled * pow10(-raise)?), rounding)
        };
        Ok(Decimal { unscaled, scale })
    }

    /// Remainder of the division that truncates, with the sign of the dividend.
    pub fn remainder(&self, other: &Decimal) -> Result<Decimal, ValueError> {
        if other.is_zero() {
            return invalid!("{}", if self.is_zero() { "Division undefined" } else { "Division by zero" });
        }
        let magnitude =
            |number: &Decimal| Decimal { unscaled: number.unscaled.magnitude().clone().into(), ..*number };
        if magnitude(self).compare(&magnitude(other)) == Ordering::Less {
            return Ok(self.clone());
        }
        let (left, right, scale) = self.align(other)?;
        let quotient = (&left / &right).magnitude().to_str_radix(10);
        let zeros = (quotient.len() - quotient.trim_end_matches('0').len()) as i64;
        // Java's quotient sheds trailing zeros, which shows in the scale of what is subtracted.
        let shown = i64::from(self.scale).max(i64::from(other.scale) - zeros);
        let remainder = Decimal { unscaled: left % right, scale };
        remainder.set_scale(i32::try_from(shown).unwrap_or(scale), Rounding::Down)
    }

    pub fn negate(&self) -> Decimal {
        Decimal { unscaled: -self.unscaled.clone(), scale: self.scale }
    }

    pub fn abs(&self) -> Decimal {
        Decimal { unscaled: self.unscaled.magnitude().clone().into(), scale: self.scale }
    }

    /// The whole part. Huge negative scales fail rather than write out their zeros.
    pub fn to_integer(&self) -> Result<BigInt, ValueError> {
        Ok(self.set_scale(0, Rounding::Down)?.unscaled)
    }

    /// The lowest 64 bits of the whole part, as Java's `longValue`.
    pub fn to_i64_wrapping(&self) -> i64 {
        // 10^64 is a multiple of 2^64, so such numbers end in 64 zero bits.
        if self.scale <= -64 {
            return 0;
        }
        self.to_integer().map_or(0, |whole| low_bits(&whole))
    }

    pub fn to_f64(&self) -> f64 {
        format!("{}e{}", self.unscaled, -i64::from(self.scale)).parse().unwrap_or(f64::NAN)
    }

    pub fn to_f32(&self) -> f32 {
        format!("{}e{}", self.unscaled, -i64::from(self.scale)).parse().unwrap_or(f32::NAN)
    }

    /// The decimal of a double's shortest text, as Java's `BigDecimal.valueOf`; `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        if value.is_finite() { Decimal::parse(&super::java_double(value)) } else { None }
    }

    /// The decimal of a float's shortest text.
    pub fn from_f32(value: f32) -> Option<Decimal> {
        if value.is_finite() { Decimal::parse(&super::java_float(value)) } else { None }
    }
}

/// The lowest 64 bits of a big integer in two's complement, as Java's `longValue`.
pub(crate) fn low_bits(number: &BigInt) -> i64 {
    let bytes = number.to_signed_bytes_be();
    let sign = if number.sign() == Sign::Minus { -1i64 } else { 0 };
    bytes.iter().skip(bytes.len().saturating_sub(8)).fold(sign, |value, &byte| value << 8 | i64::from(byte))
}
