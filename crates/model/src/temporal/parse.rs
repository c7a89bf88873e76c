//! Reads dates, times and timestamps in every form Cassandra accepts, with its sentences for the others.

use super::civil::days_in_month;
use super::{CivilDate, MILLIS_PER_DAY, NANOS_PER_DAY};
use crate::value::ValueError;
use crate::value::error::invalid;

/// An optional minus sign and digits: a raw number rather than a formatted text.
fn is_whole_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A date: a raw day number with 1970-01-01 at 2^31, or `yyyy-mm-dd`.
pub fn parse_date(text: &str) -> Result<u32, ValueError> {
    if is_whole_number(text) {
        let error = || ValueError::new(format!("Unable to make unsigned int (for date) from: '{text}'"));
        return text.parse::<u32>().map_err(|_| error());
    }
    let days = iso_date(text).and_then(|(date, rest)| if rest.is_empty() { date.to_days() } else { None });
    let Some(days) = days else { return invalid!("Unable to coerce '{text}' to a formatted date (long)") };
    match i32::try_from(days) {
        Ok(days) => Ok((days as u32) ^ 1 << 31),
        Err(_) if days < 0 => {
            invalid!("Input date {text} is less than min supported date -5877641-06-23T00:00Z")
        }
        Err(_) => invalid!("Input date {text} is greater than max supported date +5881580-07-11T00:00Z"),
    }
}

/// `[+-]yyyy-mm-dd` at the front, strict: four digits of year, or more behind a sign; the day must exist.
fn iso_date(text: &str) -> Option<(CivilDate, &str)> {
    let (date, rest) = signed_date(text)?;
    (date.day <= days_in_month(date.year, date.month)).then_some((date, rest))
}

/// The same without asking whether the month has the day.
fn signed_date(text: &str) -> Option<(CivilDate, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (year, digits, rest) = number(unsigned, 4, 10)?;
    let plus_fits = text.starts_with('-') || (text.starts_with('+') == (digits > 4));
    let year = if text.starts_with('-') { -year } else { year };
    let (month, _, rest) = number(rest.strip_prefix('-')?, 2, 2)?;
    let (day, _, rest) = number(rest.strip_prefix('-')?, 2, 2)?;
    let valid = plus_fits && !(text.starts_with('-') && year == 0) && (1..=12).contains(&month);
    let date = CivilDate { year, month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? };
    (valid && (1..=31).contains(&day) && year.abs() <= 999_999_999).then_some((date, rest))
}

/// Between `min` and `max` digits at the front, as many as there are: value, digits, rest.
fn number(text: &str, min: usize, max: usize) -> Option<(i64, usize, &str)> {
    let len = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    if len < min {
        return None;
    }
    let (digits, rest) = text.split_at_checked(len)?;
    Some((digits.parse().ok()?, len, rest))
}

/// A time of day in nanoseconds: a raw number, or `hh:mm:ss[.fffffffff]`.
pub fn parse_time(text: &str) -> Result<i64, ValueError> {
    if is_whole_number(text) {
        return match text.parse::<i64>() {
            Ok(nanos) if (0..NANOS_PER_DAY).contains(&nanos) => Ok(nanos),
            _ => invalid!("Unable to make long (for time) from: '{text}'"),
        };
    }
    formatted_time(text.trim())
        .map_or_else(|| invalid!("(TimeType) Unable to coerce '{text}' to a formatted time (long)"), Ok)
}

fn formatted_time(text: &str) -> Option<i64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, rest) = rest.split_once(':')?;
    let (seconds, fraction) = match rest.split_once('.') {
        Some((seconds, fraction)) => (seconds, fraction),
        None => (rest, "0"),
    };
    let below = |text: &str, limit: i64| text.parse::<i64>().ok().filter(|n| (0..limit).contains(n));
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    let seconds = (below(hours, 24)? * 60 + below(minutes, 60)?) * 60 + below(seconds, 60)?;
    Some(seconds * 1_000_000_000 + nanos)
}

/// A timestamp in milliseconds: a raw number, `now` (the caller passes the time), or a formatted text.
pub fn parse_timestamp(text: &str, now_millis: i64) -> Result<i64, ValueError> {
    if text.eq_ignore_ascii_case("now") {
        return Ok(now_millis);
    }
    if is_whole_number(text) {
        let error = || ValueError::new(format!("Unable to make long (for date) from: '{text}'"));
        return text.parse().map_err(|_| error());
    }
    let parsed = date_time(text).or_else(|| date_with_zone(text));
    parsed.map_or_else(|| invalid!("Unable to parse a date/time from '{text}'"), Ok)
}

/// `y-M-d`, `T` or a blank, `H:m[:s[.f]]`, and a zone or none.
fn date_time(text: &str) -> Option<i64> {
    let (year, _, rest) = number(text, 1, 18)?;
    let (month, _, rest) = number(rest.strip_prefix('-')?, 1, 18)?;
    let (day, _, rest) = number(rest.strip_prefix('-')?, 1, 18)?;
    let (hour, _, rest) = number(rest.strip_prefix(['T', ' '])?, 1, 18)?;
    let (minute, _, rest) = number(rest.strip_prefix(':')?, 1, 18)?;
    let (mut second, mut fraction_millis, mut rest) = (0, 0, rest);
    if let Some(seconds) = rest.strip_prefix(':') {
        (second, _, rest) = number(seconds, 1, 18)?;
        if let Some(fraction) = rest.strip_prefix('.') {
            let (value, digits, after) = number(fraction, 0, 9).or(Some((0, 0, fraction)))?;
            // The fraction counts in milliseconds; finer digits are cut off.
            fraction_millis = value * 1_000 / 10_i64.pow(digits as u32);
            rest = after;
        }
    }
    let midnight_after = hour == 24 && minute == 0 && second == 0 && fraction_millis == 0;
    let in_range = (1..=999_999_999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (midnight_after || hour < 24)
        && minute < 60
        && second < 60;
    if !in_range {
        return None;
    }
    let millis_of_day = ((hour * 60 + minute) * 60 + second) * 1_000 + fraction_millis;
    to_millis(year, month as u8, day as u8, millis_of_day, zone_seconds(rest)?)
}

/// `yyyy-MM-dd` and a zone or none; midnight.
fn date_with_zone(text: &str) -> Option<i64> {
    let (date, rest) = signed_date(text)?;
    to_millis(date.year, date.month, date.day, 0, zone_seconds(rest)?)
}

/// A day the month lacks means its last day, as Java's lenient resolution has it.
fn to_millis(year: i64, month: u8, day: u8, millis_of_day: i64, zone_seconds: i64) -> Option<i64> {
    let date = CivilDate { year, month, day: day.min(days_in_month(year, month)) };
    let millis = i128::from(date.to_days()?) * i128::from(MILLIS_PER_DAY) + i128::from(millis_of_day);
    i64::try_from(millis - i128::from(zone_seconds) * 1_000).ok()
}

/// Zone names with their usual fixed offset in minutes. Names that follow summer time elsewhere are fixed here.
const ZONES: [(&str, i64); 24] = [
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("Z", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("IST", 330),
    ("JST", 540),
    ("KST", 540),
    ("AST", -240),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
];

/// Seconds east of UTC of everything after the date and time; an empty text is UTC.
fn zone_seconds(text: &str) -> Option<i64> {
    let name = text.strip_prefix(' ').unwrap_or(text);
    if text.is_empty() || name == "Z" {
        return Some(0);
    }
    if name.starts_with(['+', '-']) {
        return offset_seconds(name);
    }
    if name.len() == text.len() {
        return None;
    }
    if let Some((_, minutes)) = ZONES.iter().find(|(known, _)| *known == name) {
        return Some(minutes * 60);
    }
    // Behind a name the offset is written out: UTC+01:00, not UTC+01.
    let offset = ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    if offset.contains(':') { offset_seconds(offset) } else { None }
}

/// `+hh`, `+hhmm` or `+hh:mm`, up to 18 hours.
fn offset_seconds(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, _, rest) = number(text.strip_prefix(['+', '-'])?, 2, 2)?;
    let minutes = match rest.strip_prefix(':').unwrap_or(rest) {
        "" if rest.is_empty() => 0,
        digits => number(digits, 2, 2).filter(|(minutes, _, rest)| *minutes < 60 && rest.is_empty())?.0,
    };
    let total = hours * 3_600 + minutes * 60;
    (total <= 18 * 3_600).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn timestamp(text: &str, millis: i64) {
        assert_eq!(parse_timestamp(text, 0), Ok(millis), "{text}");
    }

    #[test]
    fn timestamps_in_all_forms() {
        let base = 1_296_705_900_000; // 2011-02-03 04:05 UTC
        for text in [
            "2011-02-03 04:05+0000",
            "2011-02-03 04:05:00+0000",
            "2011-02-03 04:05:00.000+0000",
            "2011-02-03T04:05+0000",
            "2011-02-03T04:05:00+0000",
            "2011-02-03T04:05:00.000+0000",
            "2011-02-03T04:05:00.000Z",
            "2011-02-03T04:05:00.000 Z",
            "2011-02-03 04:05",
            "2011-2-3 4:5",
            "2011-02-03 04:05:00 UTC",
            "2011-02-03 05:05:00 +01",
            "2011-02-03 05:35:00+01:30",
            "2011-02-03 05:35:00 +01:30",
            "2011-02-03 05:35:00+0130",
            "2011-02-02 23:05:00 EST",
            "2011-02-03 05:05:00 GMT+01:00",
            "1296705900000",
        ] {
            timestamp(text, base);
        }
        timestamp("2011-02-03 04:05:00.123456+0000", base + 123);
        timestamp("2011-02-03 04:05:00.5", base + 500);
        timestamp("2011-02-03", 1_296_691_200_000);
        timestamp("2011-02-03+0000", 1_296_691_200_000);
        timestamp("2011-02-03 UTC", 1_296_691_200_000);
        timestamp("2011-02-30 00:00", 1_298_851_200_000);
        timestamp("2011-02-03 24:00", 1_296_777_600_000);
        timestamp("-5", -5);
        timestamp("-0044-03-15", -63_549_360_000_000);
        assert_eq!(parse_timestamp("NOW", 77), Ok(77));
    }

    #[test]
    fn bad_timestamps() {
        for text in [
            "",
            "yesterday",
            "2011-13-03",
            "2011-02-32 00:00",
            "2011-02-03 25:00",
            "2011-02-03 04:60",
            "2011-02-03 04:05:60",
            "2011-02-03 04:05.5",
            "2011-02-03 04:05:00.1234567890",
            "2011-02-03 04:05 Nowhere",
            "2011-02-03 04:05+19",
            "2011-02-03 04:05+1",
            "0-01-01 00:00",
            "20110203",
            "2011-02-03 04:05UTC",
            "2011-02-03 04:05 UTC+01",
        ] {
            let error = parse_timestamp(text, 0);
            if text == "20110203" {
                assert_eq!(error, Ok(20_110_203));
            } else {
                assert_eq!(
                    error.unwrap_err().message(),
                    format!("Unable to parse a date/time from '{text}'"),
                    "{text}"
                );
            }
        }
        assert_eq!(
            parse_timestamp("99999999999999999999", 0).unwrap_err().message(),
            "Unable to make long (for date) from: '99999999999999999999'"
        );
    }

    #[test]
    fn dates() {
        assert_eq!(parse_date("1970-01-01"), Ok(1 << 31));
        assert_eq!(parse_date("2147483648"), Ok(1 << 31));
        assert_eq!(parse_date("4294967295"), Ok(u32::MAX));
        assert_eq!(parse_date("-5877641-06-23"), Ok(0));
        assert_eq!(parse_date("+5881580-07-11"), Ok(u32::MAX));
        for (text, message) in [
            ("2011-02-30", "Unable to coerce '2011-02-30' to a formatted date (long)"),
            ("11-02-03", "Unable to coerce '11-02-03' to a formatted date (long)"),
            ("-1", "Unable to make unsigned int (for date) from: '-1'"),
            ("4294967296", "Unable to make unsigned int (for date) from: '4294967296'"),
            (
                "-5877641-06-22",
                "Input date -5877641-06-22 is less than min supported date -5877641-06-23T00:00Z",
            ),
            (
                "+5881580-07-12",
                "Input date +5881580-07-12 is greater than max supported date +5881580-07-11T00:00Z",
            ),
        ] {
            assert_eq!(parse_date(text).unwrap_err().message(), message);
        }
    }

    #[test]
    fn times() {
        assert_eq!(parse_time("04:05:06"), Ok(14_706_000_000_000));
        assert_eq!(parse_time("4:5:6.000000007"), Ok(14_706_000_000_007));
        assert_eq!(parse_time("00:00:00.5"), Ok(500_000_000));
        assert_eq!(parse_time("86399999999999"), Ok(86_399_999_999_999));
        assert_eq!(
            parse_time("86400000000000").unwrap_err().message(),
            "Unable to make long (for time) from: '86400000000000'"
        );
        for text in ["24:00:00", "10:60:00", "10:10:60", "10:10", "10:10:10.", "10:10:10.1234567891", "x"] {
            assert_eq!(
                parse_time(text).unwrap_err().message(),
                format!("(TimeType) Unable to coerce '{text}' to a formatted time (long)")
            );
        }
    }
}
