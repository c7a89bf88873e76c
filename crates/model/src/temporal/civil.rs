//! Days and calendar dates.

use super::MILLIS_PER_DAY;

/// A date of the proleptic Gregorian calendar. Year 0 is 1 BC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilDate {
    pub year: i64,
    pub month: u8,
    pub day: u8,
}

pub fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl CivilDate {
    /// The date so many days after 1970-01-01. Counts 400-year cycles of 146 097 days from 0000-03-01, so that the
    /// leap day is the last of its year.
    pub fn from_days(days: i64) -> CivilDate {
        let shifted = i128::from(days) + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u8;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 } as u8;
        let year = (year_of_era + era * 400) as i64 + i64::from(month <= 2);
        CivilDate { year, month, day }
    }

    /// Days after 1970-01-01; `None` when it leaves 64 bits.
    pub fn to_days(self) -> Option<i64> {
        let year = i128::from(self.year) - i128::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted_month = (i128::from(self.month) + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5 + i128::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        i64::try_from(era * 146_097 + day_of_era - 719_468).ok()
    }

    /// The date some months later; a day the month lacks becomes its last.
    pub fn add_months(self, months: i64) -> CivilDate {
        let total = i128::from(self.year) * 12 + i128::from(self.month) - 1 + i128::from(months);
        let year = i64::try_from(total.div_euclid(12)).unwrap_or(if months < 0 {
            i64::MIN / 13
        } else {
            i64::MAX / 13
        });
        let month = (total.rem_euclid(12) + 1) as u8;
        CivilDate { year, month, day: self.day.min(days_in_month(year, month)) }
    }
}

/// Days before which Java's calendar arithmetic is Julian: 1582-10-15.
const CUTOVER_DAYS: i64 = -141_427;

fn julian_from_days(days: i64) -> CivilDate {
    // Days since 0000-03-01 of the Julian calendar, in cycles of four years.
    let shifted = i128::from(days) + 719_470;
    let cycle = shifted.div_euclid(1_461);
    let day_of_cycle = shifted.rem_euclid(1_461);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460) / 365;
    let day_of_year = day_of_cycle - 365 * year_of_cycle;
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 } as u8;
    let year = (cycle * 4 + year_of_cycle) as i64 + i64::from(month <= 2);
    CivilDate { year, month, day: (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u8 }
}

fn julian_to_days(date: CivilDate) -> Option<i64> {
    let year = i128::from(date.year) - i128::from(date.month <= 2);
    let shifted_month = (i128::from(date.month) + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + i128::from(date.day) - 1;
    let days = year.div_euclid(4) * 1_461 + year.rem_euclid(4) * 365 + day_of_year;
    i64::try_from(days - 719_470).ok()
}

/// Days moved by months as Java's calendar does it: Gregorian from 1582-10-15 on, Julian before. Only arithmetic
/// with months follows this; texts of dates are Gregorian throughout.
pub(super) fn add_months_to_days(days: i64, months: i64) -> Option<i64> {
    let start = if days >= CUTOVER_DAYS { CivilDate::from_days(days) } else { julian_from_days(days) };
    let moved = start.add_months(months);
    let gregorian = moved.to_days()?;
    if moved.year > 1582 || (moved.year == 1582 && gregorian >= CUTOVER_DAYS) {
        return Some(gregorian);
    }
    // The length of the month is Julian here, too.
    let leap_day = moved.month == 2 && moved.year.rem_euclid(4) == 0;
    let length = if leap_day { 29 } else { days_in_month(moved.year, moved.month) };
    julian_to_days(CivilDate { day: start.day.min(length), ..moved })
}

/// The date value (u32, 2^31 = 1970-01-01) of a timestamp. Times before 1970 go towards 1970, as in Cassandra.
pub fn millis_to_date_days(millis: i64) -> u32 {
    let days = millis.div_euclid(1000) / 86_400;
    (days as u32) ^ 1 << 31
}

/// Milliseconds since 1970 of the start of a date value.
pub fn date_to_millis(date: u32) -> i64 {
    i64::from((date ^ 1 << 31) as i32) * MILLIS_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_agree() {
        for (days, year, month, day) in [
            (0, 1970, 1, 1),
            (-1, 1969, 12, 31),
            (11_016, 2000, 2, 29),
            (11_017, 2000, 3, 1),
            (-719_528, 0, 1, 1),
            (i64::from(i32::MIN), -5_877_641, 6, 23),
            (i64::from(i32::MAX), 5_881_580, 7, 11),
        ] {
            let date = CivilDate { year, month, day };
            assert_eq!(CivilDate::from_days(days), date);
            assert_eq!(date.to_days(), Some(days));
        }
        for days in (-800_000..800_000).step_by(17) {
            assert_eq!(CivilDate::from_days(days).to_days(), Some(days));
        }
        for days in [i64::MIN, i64::MAX] {
            let _ = CivilDate::from_days(days);
        }
    }

    #[test]
    fn months_end_where_the_month_does() {
        let date = CivilDate { year: 2024, month: 1, day: 31 };
        assert_eq!(date.add_months(1), CivilDate { year: 2024, month: 2, day: 29 });
        assert_eq!(date.add_months(-2), CivilDate { year: 2023, month: 11, day: 30 });
        assert_eq!(date.add_months(12), CivilDate { year: 2025, month: 1, day: 31 });
    }

    #[test]
    fn months_before_the_reform_are_julian() {
        for days in [CUTOVER_DAYS - 1, -719_530, -1_000_000, i64::from(i32::MIN)] {
            assert_eq!(julian_to_days(julian_from_days(days)), Some(days));
        }
        // The day before 1582-10-15 was 1582-10-04.
        assert_eq!(julian_from_days(CUTOVER_DAYS - 1), CivilDate { year: 1582, month: 10, day: 4 });
        assert_eq!(CivilDate::from_days(CUTOVER_DAYS), CivilDate { year: 1582, month: 10, day: 15 });
        assert_eq!(
            add_months_to_days(CUTOVER_DAYS - 1, 1),
            CivilDate { year: 1582, month: 11, day: 4 }.to_days()
        );
        let moved = add_months_to_days(0, -12 * 400).unwrap();
        assert_eq!(julian_from_days(moved), CivilDate { year: 1570, month: 1, day: 1 });
    }

    #[test]
    fn timestamps_and_dates() {
        assert_eq!(millis_to_date_days(0), 1 << 31);
        assert_eq!(millis_to_date_days(-1), 1 << 31);
        assert_eq!(millis_to_date_days(-MILLIS_PER_DAY - 1), (1 << 31) - 1);
        assert_eq!(date_to_millis((1 << 31) + 1), MILLIS_PER_DAY);
    }
}
