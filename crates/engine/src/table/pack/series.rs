//! A list of numbers as a line and what is left over: `number(i) = base + step * i + rest(i)`.
//!
//! ```text
//! base (8 bytes)  svint step  1 byte w (0 to 8)  n times: rest in w bytes
//! ```
//! All arithmetic wraps, so reading is total.

use model::vint;

/// Where a series lies, ready for questions.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    pub base: u64,
    pub step: u64,
    pub width: u8,
    pub rests: &'a [u8],
}

/// Bytes that the largest rest needs.
fn width_of(largest: u64) -> usize {
    (64 - largest.leading_zeros() as usize).div_ceil(8)
}

/// The smallest base for this step, and the largest rest over it; `None` when that needs more than 64 bits.
fn fit(numbers: &[u64], step: i64) -> Option<(i128, u64)> {
    let over = |(i, number): (usize, &u64)| i128::from(*number) - i128::from(step) * i as i128;
    let rests = numbers.iter().enumerate().map(over);
    let (low, high) = rests.fold((i128::MAX, i128::MIN), |(low, high), x| (low.min(x), high.max(x)));
    Some((low, u64::try_from(high - low).ok()?))
}

/// Appends the series. `numbers` is not empty.
pub fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    let (first, last) = (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0));
    let steps = (numbers.len() as i128 - 1).max(1);
    let slope = i64::try_from((i128::from(last) - i128::from(first)) / steps).unwrap_or(0);
    let flat = fit(numbers, 0).unwrap_or((0, u64::MAX));
    // A line that saves nothing is not worth a step that differs from block to block.
    let line = fit(numbers, slope).filter(|(_, rest)| width_of(*rest) < width_of(flat.1));
    let ((base, largest), step) = line.map_or((flat, 0), |line| (line, slope));
    let width = width_of(largest);
    out.extend_from_slice(&(base as u64).to_le_bytes());
    vint::put_signed(out, step);
    out.push(width as u8);
    for (i, number) in numbers.iter().enumerate() {
        let on_line = (base as u64).wrapping_add((step as u64).wrapping_mul(i as u64));
        out.extend_from_slice(&number.wrapping_sub(on_line).to_le_bytes()[..width]);
    }
}

impl<'a> Series<'a> {
    pub fn take(bytes: &mut &'a [u8], count: usize) -> Option<Series<'a>> {
        let (base, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        let step = vint::take_signed(bytes)? as u64;
        let (&width, rest) = bytes.split_first().filter(|(width, _)| **width <= 8)?;
        let (rests, rest) = rest.split_at_checked(count.checked_mul(width as usize)?)?;
        *bytes = rest;
        Some(Series { base: u64::from_le_bytes(*base), step, width, rests })
    }

    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        let on_line = self.base.wrapping_add(self.step.wrapping_mul(i as u64));
        on_line.wrapping_add(little_endian(self.rests, i * self.width as usize, self.width))
    }
}

/// A number of `width` bytes at `at`; zeros stand in for what is missing.
#[inline]
pub fn little_endian(bytes: &[u8], at: usize, width: u8) -> u64 {
    let width = width as usize;
    // There is nearly always more behind: read eight bytes and cut off what is not ours.
    let word = match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let bytes = bytes.get(at..at + width).unwrap_or_default();
            bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    if width == 8 { word } else { word & ((1 << (8 * width)) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::Random;

    fn bytes_of(numbers: &[u64]) -> usize {
        let mut out = vec![];
        put(&mut out, numbers);
        let mut rest = out.as_slice();
        let series = Series::take(&mut rest, numbers.len()).unwrap();
        assert!(rest.is_empty());
        let back: Vec<u64> = (0..numbers.len()).map(|i| series.get(i)).collect();
        assert_eq!(back, numbers);
        for cut in 0..out.len() {
            assert!(Series::take(&mut &out[..cut], numbers.len()).is_none());
        }
        out.len()
    }

    #[test]
    fn numbers_come_back_and_lines_cost_nothing() {
        let even: Vec<u64> = (0..100).map(|i| 1_700_000_000_000 + i * 1000).collect();
        assert!(bytes_of(&even) <= 12);
        let falling: Vec<u64> = even.iter().rev().copied().collect();
        assert!(bytes_of(&falling) <= 12);
        bytes_of(&[0, u64::MAX, 0, 5]);
        bytes_of(&[u64::MAX, 0]);
        bytes_of(&[7]);
        for seed in 0..300 {
            let mut random = Random::seeded(seed);
            let shift = random.below(64);
            let slope = random.below(1 << 40);
            let count = 1 + random.below(40);
            let numbers: Vec<u64> =
                (0..count).map(|i| (random.next_u64() >> shift).wrapping_add(slope * i)).collect();
            bytes_of(&numbers);
        }
    }
}
