//! Durations: months, days and nanoseconds, all of one sign.

use super::MILLIS_PER_DAY;
use super::civil::add_months_to_days;
use crate::value::wire_vint;

pub(super) const NANOS_PER_MILLI: i64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    pub months: i32,
    pub days: i32,
    pub nanos: i64,
}

impl Duration {
    pub fn new(months: i32, days: i32, nanos: i64) -> Duration {
        Duration { months, days, nanos }
    }

    /// From wire bytes; `None` when they are not three numbers in range. Signs are not checked here.
    pub fn from_wire(bytes: &[u8]) -> Option<Duration> {
        let (months, rest) = wire_vint::take_signed(bytes)?;
        let (days, rest) = wire_vint::take_signed(rest)?;
        let (nanos, _) = wire_vint::take_signed(rest)?;
        Some(Duration { months: i32::try_from(months).ok()?, days: i32::try_from(days).ok()?, nanos })
    }

    pub fn to_wire(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9);
        wire_vint::put_signed(&mut out, i64::from(self.months));
        wire_vint::put_signed(&mut out, i64::from(self.days));
        wire_vint::put_signed(&mut out, self.nanos);
        out
    }

    pub fn is_negative(self) -> bool {
        self.months < 0 || self.days < 0 || self.nanos < 0
    }

    pub fn has_day_precision(self) -> bool {
        self.nanos == 0
    }

    pub fn has_millisecond_precision(self) -> bool {
        self.nanos % NANOS_PER_MILLI == 0
    }

    pub fn negate(self) -> Duration {
        Duration {
            months: self.months.wrapping_neg(),
            days: self.days.wrapping_neg(),
            nanos: self.nanos.wrapping_neg(),
        }
    }

    /// Milliseconds of the days and nanoseconds.
    pub(super) fn millis_without_months(self) -> i64 {
        i64::from(self.days) * MILLIS_PER_DAY + self.nanos / NANOS_PER_MILLI
    }

    /// A timestamp moved by this duration. Months move along the calendar; the result wraps like Java's.
    pub fn add_to_millis(self, millis: i64) -> i64 {
        if self.months == 0 {
            return millis.wrapping_add(self.millis_without_months());
        }
        let moved = add_months_to_millis(millis, i64::from(self.months));
        // Java's calendar takes the nanoseconds as a 32-bit number of milliseconds when months are involved.
        let of_day = (self.nanos / NANOS_PER_MILLI) as i32;
        moved.wrapping_add(i64::from(self.days) * MILLIS_PER_DAY).wrapping_add(i64::from(of_day))
    }
}

pub(super) fn add_months_to_millis(millis: i64, months: i64) -> i64 {
    let days = add_months_to_days(millis.div_euclid(MILLIS_PER_DAY), months).unwrap_or(0);
    days.wrapping_mul(MILLIS_PER_DAY).wrapping_add(millis.rem_euclid(MILLIS_PER_DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_form() {
        let duration = Duration::new(14, 3, 5_000_000_000);
        assert_eq!(Duration::from_wire(&duration.to_wire()), Some(duration));
        assert_eq!(Duration::new(1, 2, 3).to_wire(), [2, 4, 6]);
        assert_eq!(Duration::from_wire(&[2, 4]), None);
    }

    #[test]
    fn months_follow_the_calendar() {
        let jan_31 = 1_706_659_200_000; // 2024-01-31
        assert_eq!(Duration::new(1, 0, 0).add_to_millis(jan_31), 1_709_164_800_000); // 2024-02-29
        assert_eq!(Duration::new(0, 1, 0).add_to_millis(jan_31), jan_31 + MILLIS_PER_DAY);
        assert_eq!(Duration::new(1, 0, 0).negate().add_to_millis(jan_31), 1_703_980_800_000); // 2023-12-31
        assert_eq!(Duration::new(0, 0, 3_600_000_000_000).add_to_millis(0), 3_600_000);
    }
}
