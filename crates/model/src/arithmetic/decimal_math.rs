//! Decimal operations with the precision Cassandra gives them: sums and products of up to ten thousand digits,
//! quotients of at least 32 significant digits, and exp, ln and log10 of at least 32.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::number::{Decimal, Rounding};
use crate::value::ValueError;
use crate::value::error::invalid;

const PRECISION_MAX: i64 = 10_000;
const SIGNIFICANT_MIN: i64 = 32;
/// Series take time that grows with the third power of the digits: this many take a few milliseconds.
const FUNCTION_PRECISION_MAX: i64 = 256;
/// e to this power has 868 digits before the point.
const EXP_MAX: i64 = 2_000;
const QUOTIENT_SCALE_MAX: i64 = 1_000;

/// Sum, rounded half up to ten thousand digits. Operands too far apart to meet within them are not aligned: the
/// smaller then only decides the rounding.
pub(super) fn add_rounded(left: &Decimal, right: &Decimal) -> Result<Decimal, ValueError> {
    if left.is_zero() || right.is_zero() {
        return add_to_zero(if left.is_zero() { right } else { left }, left.scale.max(right.scale));
    }
    let leading = |number: &Decimal| number.precision() - i64::from(number.scale);
    let (big, small) = if leading(left) >= leading(right) { (left, right) } else { (right, left) };
    let last_place = i64::from(big.scale) - big.precision() + PRECISION_MAX;
    let small_leading_place = -leading(small) + 1;
    if small_leading_place > i64::from(big.scale) + 2 && small_leading_place > last_place + 2 {
        let scale = last_place.max(i64::from(big.scale)) + 3;
        let Ok(scale) = i32::try_from(scale) else { return invalid!("Underflow") };
        let sign = if small.unscaled.sign() == Sign::Minus { -1 } else { 1 };
        return big.add(&Decimal::new(sign, scale))?.round_to_precision(PRECISION_MAX);
    }
    left.add(right)?.round_to_precision(PRECISION_MAX)
}

/// Adding zero only brings in its scale, as far as the precision allows.
fn add_to_zero(number: &Decimal, preferred_scale: i32) -> Result<Decimal, ValueError> {
    let rounded = number.clone().round_to_precision(PRECISION_MAX)?;
    let room = PRECISION_MAX - rounded.precision();
    let wanted = i64::from(preferred_scale) - i64::from(rounded.scale);
    let raise = wanted.clamp(0, room.max(0));
    rounded
        .set_scale(i32::try_from(i64::from(rounded.scale) + raise).unwrap_or(preferred_scale), Rounding::Down)
}

/// Product, rounded half up to ten thousand digits.
pub(super) fn multiply_rounded(left: &Decimal, right: &Decimal) -> Result<Decimal, ValueError> {
    left.multiply(right)?.round_to_precision(PRECISION_MAX)
}

/// The quotient of the `/` operator: at least 32 significant digits and 32 places, at most 1000 places, without
/// trailing zeros.
pub(super) fn divide_for_operator(left: &Decimal, right: &Decimal) -> Result<Decimal, ValueError> {
    if right.is_zero() {
        return invalid!("BigInteger divide by zero");
    }
    let leading = |number: &Decimal| number.precision() - i64::from(number.scale);
    let scale = (SIGNIFICANT_MIN - (leading(left) - leading(right)))
        .max(i64::from(left.scale))
        .max(i64::from(right.scale))
        .clamp(SIGNIFICANT_MIN, QUOTIENT_SCALE_MAX);
    let quotient = left.divide(right, scale as i32, Rounding::HalfUp)?;
    Ok(quotient.strip_trailing_zeros())
}

/// Digits of exp, ln and log10: those of the input, at least 32 and at most 256.
fn function_precision(input: &Decimal) -> i64 {
    input.precision().clamp(SIGNIFICANT_MIN, FUNCTION_PRECISION_MAX)
}

/// Extra digits in which the series are summed.
const GUARD: u32 = 12;

/// A fixed-point number: value * 10^places.
fn fixed(input: &Decimal, places: u32) -> Result<BigInt, ValueError> {
    Ok(input.set_scale(places as i32, Rounding::HalfEven)?.unscaled)
}

fn one(places: u32) -> BigInt {
    BigInt::from(10u8).pow(places)
}

/// exp by halving the argument until it is small, the power series, and squaring back.
pub(super) fn exp(input: &Decimal) -> Result<Decimal, ValueError> {
    let precision = function_precision(input);
    if input.is_zero() {
        return Ok(Decimal::new(1, 0));
    }
    // e^x has x / ln 10 digits before the point; keep that far below what would take long.
    if input.abs().compare(&Decimal::new(EXP_MAX, 0)) == Ordering::Greater {
        return invalid!("Overflow");
    }
    let integer_digits = (input.abs().to_f64() / std::f64::consts::LN_10).ceil() as u32 + 1;
    const HALVINGS: u32 = 24;
    let places = precision as u32 + integer_digits + HALVINGS + GUARD;
    let scale = one(places);
    let x = fixed(input, places)? >> HALVINGS;
    let mut term = scale.clone();
    let mut sum = scale.clone();
    for n in 1u32..10_000 {
        term = &term * &x / &scale / n;
        if term.sign() == Sign::NoSign || term == BigInt::from(-1) {
            break;
        }
        sum += &term;
    }
    for _ in 0..HALVINGS {
        sum = &sum * &sum / &scale;
    }
    round_half_even(Decimal::new(sum, places as i32), precision)
}

/// Natural logarithm.
pub(super) fn ln(input: &Decimal) -> Result<Decimal, ValueError> {
    if input.unscaled.sign() != Sign::Plus {
        return invalid!("Natural log of number zero or less");
    }
    let precision = function_precision(input);
    let places = precision as u32 + GUARD + 12;
    let value = ln_fixed(input, places)?;
    round_half_even(Decimal::new(value, places as i32), precision)
}

/// Logarithm to base 10.
pub(super) fn log10(input: &Decimal) -> Result<Decimal, ValueError> {
    if input.unscaled.sign() != Sign::Plus {
        return invalid!("Log10 of number zero or less");
    }
    let precision = function_precision(input);
    let places = precision as u32 + GUARD + 12;
    let value = ln_fixed(input, places)? * one(places) / ln_of_ten(places);
    round_half_even(Decimal::new(value, places as i32), precision)
}

/// ln as a fixed-point number: mantissa in [1, 10) times a power of ten; roots bring the mantissa near one, where
/// ln m = 2 artanh((m - 1) / (m + 1)) converges fast.
fn ln_fixed(input: &Decimal, places: u32) -> Result<BigInt, ValueError> {
    let exponent = input.precision() - i64::from(input.scale) - 1;
    let mantissa =
        Decimal::new(input.unscaled.clone(), i32::try_from(input.precision() - 1).unwrap_or(i32::MAX));
    let value = fixed(&mantissa, places)?;
    Ok(ln_near_one(value, places) + ln_of_ten(places) * exponent)
}

fn ln_of_ten(places: u32) -> BigInt {
    ln_near_one(one(places) * 10u8, places)
}

/// ln of a fixed-point number between 1 and 10.
fn ln_near_one(value: BigInt, places: u32) -> BigInt {
    const ROOTS: u32 = 8;
    let work = places + 6;
    let scale = one(work);
    let mut root = value * one(6);
    for _ in 0..ROOTS {
        root = (&root * &scale).sqrt();
    }
    let y = (&root - &scale) * &scale / (&root + &scale);
    let y_squared = &y * &y / &scale;
    let mut power = y.clone();
    let mut sum = y;
    for n in (3u32..20_000).step_by(2) {
        power = &power * &y_squared / &scale;
        if power.sign() == Sign::NoSign {
            break;
        }
        sum += &power / n;
    }
    (sum << (ROOTS + 1)) / one(6)
}

fn round_half_even(number: Decimal, precision: i64) -> Result<Decimal, ValueError> {
    if number.is_zero() {
        return Ok(Decimal::zero());
    }
    let drop = number.precision() - precision;
    if drop <= 0 {
        return Ok(number);
    }
    let scale = i64::from(number.scale) - drop;
    number.set_scale(i32::try_from(scale).unwrap_or(i32::MIN), Rounding::HalfEven)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn far_apart_operands_add() {
        let sum = add_rounded(&decimal("1E+300000"), &decimal("1")).unwrap();
        assert_eq!(sum.compare(&decimal("1E+300000")), Ordering::Equal);
        assert_eq!(sum.precision(), PRECISION_MAX);
        assert_eq!(add_rounded(&decimal("0.00"), &decimal("5")).unwrap(), decimal("5.00"));
    }

    #[test]
    fn transcendental_functions() {
        for (input, text) in [
            ("1", "2.7182818284590452353602874713527"),
            ("0.5", "1.6487212707001281468486507878142"),
            ("-1", "0.36787944117144232159552377016146"),
            ("10", "22026.465794806716516957900645284"),
        ] {
            assert_eq!(exp(&decimal(input)).unwrap().to_string(), text);
        }
        for (input, text) in [
            ("2", "0.69314718055994530941723212145818"),
            ("10", "2.3025850929940456840179914546844"),
            ("0.001", "-6.9077552789821370520539743640531"),
            ("123.456", "4.8158848172832638831092321051665"),
        ] {
            assert_eq!(ln(&decimal(input)).unwrap().compare(&decimal(text)), Ordering::Equal, "{input}");
        }
        assert_eq!(log10(&decimal("2")).unwrap().to_string(), "0.30102999566398119521373889472449");
        assert_eq!(log10(&decimal("1000")).unwrap().compare(&decimal("3")), Ordering::Equal);
        assert_eq!(ln(&decimal("1")).unwrap(), Decimal::zero());
        assert!(ln(&decimal("0")).is_err() && log10(&decimal("-1")).is_err());
        assert!(exp(&decimal("1E+9")).is_err());
    }
}
