//! Text of dates, times and timestamps as Cassandra prints them.

use std::fmt::Write;

use super::{CivilDate, MILLIS_PER_DAY};

/// A year as Java's padded pattern prints it: four digits at least, a plus sign beyond four.
fn put_year(out: &mut String, year: i64) {
    let _ = if year > 9_999 {
        write!(out, "+{year}")
    } else if year < 0 {
        write!(out, "-{:04}", year.unsigned_abs())
    } else {
        write!(out, "{year:04}")
    };
}

/// A date value: `2011-02-03`.
pub fn format_date(date: u32) -> String {
    let civil = CivilDate::from_days(i64::from((date ^ 1 << 31) as i32));
    let mut out = String::with_capacity(10);
    put_year(&mut out, civil.year);
    let _ = write!(out, "-{:02}-{:02}", civil.month, civil.day);
    out
}

/// A time of day: `04:05:06.000000007`.
pub fn format_time(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let fraction = nanos.rem_euclid(1_000_000_000);
    let (hours, minutes) = (seconds.div_euclid(3_600).rem_euclid(24), seconds.div_euclid(60).rem_euclid(60));
    format!("{hours:02}:{minutes:02}:{:02}.{fraction:09}", seconds.rem_euclid(60))
}

fn timestamp(millis: i64, separator: char) -> String {
    let civil = CivilDate::from_days(millis.div_euclid(MILLIS_PER_DAY));
    let of_day = millis.rem_euclid(MILLIS_PER_DAY);
    // The pattern prints the year of the era without the era.
    let year_of_era = if civil.year > 0 { civil.year } else { 1 - civil.year };
    let mut out = String::with_capacity(24);
    put_year(&mut out, year_of_era);
    let _ = write!(
        out,
        "-{:02}-{:02}{separator}{:02}:{:02}:{:02}.{:03}Z",
        civil.month,
        civil.day,
        of_day / 3_600_000,
        of_day / 60_000 % 60,
        of_day / 1_000 % 60,
        of_day % 1_000
    );
    out
}

/// A timestamp in literals and casts to text: `2011-02-03T04:05:00.000Z`.
pub fn format_timestamp(millis: i64) -> String {
    timestamp(millis, 'T')
}

/// A timestamp in JSON: `2011-02-03 04:05:00.000Z`.
pub fn format_timestamp_json(millis: i64) -> String {
    timestamp(millis, ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        assert_eq!(format_date(1 << 31), "1970-01-01");
        assert_eq!(format_date(0), "-5877641-06-23");
        assert_eq!(format_date(u32::MAX), "+5881580-07-11");
        assert_eq!(format_time(14_706_000_000_007), "04:05:06.000000007");
        assert_eq!(format_time(0), "00:00:00.000000000");
        assert_eq!(format_timestamp(1_296_705_900_000), "2011-02-03T04:05:00.000Z");
        assert_eq!(format_timestamp_json(1_296_705_900_001), "2011-02-03 04:05:00.001Z");
        assert_eq!(format_timestamp(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(format_timestamp(253_402_300_800_000), "+10000-01-01T00:00:00.000Z");
        assert_eq!(format_timestamp(-62_167_219_200_001), "0002-12-31T23:59:59.999Z");
        for extreme in [i64::MIN, i64::MAX] {
            assert!(format_timestamp(extreme).ends_with('Z'));
            assert!(!format_time(extreme).is_empty());
        }
    }
}
