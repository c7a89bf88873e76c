//! How long a time bucket is: a fixed span, or calendar months. All in UTC.

use serde::{Deserialize, Serialize};
use std::fmt;

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
/// The first Monday after the epoch: weeks start on Mondays.
const FIRST_MONDAY: i64 = 4 * DAY;

/// Times further from 1970 than this (about 270,000 years) have no bucket: calendars end somewhere.
const MILLIS_MAX: i64 = 8_640_000_000_000_000;

/// The length of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Every {
    /// Milliseconds, a whole number of minutes; whole weeks start on Mondays, everything else counts from 1970.
    Span(i64),
    /// Calendar months, counted from January 1970.
    Months(u32),
}

impl Every {
    /// From words like `1d`, `6h`, `15m`, `2w`, `1mo`, `1y`, `day`, `month`.
    pub fn parse(text: &str) -> Option<Every> {
        let text = text.trim().to_ascii_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: i64 = if number.is_empty() { 1 } else { number.parse().ok()? };
        let span = |unit: i64| number.checked_mul(unit).map(Every::Span);
        let months = |unit: i64| Some(Every::Months(u32::try_from(number.checked_mul(unit)?).ok()?));
        let every = match unit.trim() {
            "m" | "min" | "minute" | "minutes" => span(MINUTE),
            "h" | "hour" | "hours" => span(HOUR),
            "d" | "day" | "days" => span(DAY),
            "w" | "week" | "weeks" => span(WEEK),
            "mo" | "month" | "months" => months(1),
            "y" | "year" | "years" => months(12),
            _ => None,
        }?;
        let fits = match every {
            Every::Span(span) => (MINUTE..=520 * WEEK).contains(&span),
            Every::Months(months) => (1..=120).contains(&months),
        };
        fits.then_some(every)
    }

    /// The start of the bucket that holds a moment; `None` beyond the ends of the calendar.
    pub fn start(self, millis: i64) -> Option<i64> {
        if !(-MILLIS_MAX..=MILLIS_MAX).contains(&millis) {
            return None;
        }
        Some(match self {
            Every::Span(span) => {
                let origin = if span % WEEK == 0 { FIRST_MONDAY } else { 0 };
                (millis - origin).div_euclid(span) * span + origin
            }
            Every::Months(count) => {
                let months = months_of(millis.div_euclid(DAY));
                let count = i64::from(count);
                days_of(months.div_euclid(count) * count) * DAY
            }
        })
    }

    /// The start of the next bucket, which is the end of this one.
    pub fn next(self, start: i64) -> i64 {
        match self {
            Every::Span(span) => start.saturating_add(span),
            Every::Months(count) => days_of(months_of(start.div_euclid(DAY)) + i64::from(count)) * DAY,
        }
    }

    /// About how long a bucket is, in seconds.
    pub fn seconds(self) -> u64 {
        match self {
            Every::Span(span) => span.unsigned_abs() / 1000,
            Every::Months(count) => u64::from(count) * 2_629_746,
        }
    }
}

/// Months since January 1970 of a day since 1970-01-01.
fn months_of(days: i64) -> i64 {
    // Counted from 0000-03-01, years end with February, so leap days come last.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    (era * 400 + year) * 12 + month + 2 - 1970 * 12
}

/// The day since 1970-01-01 on which a month since January 1970 starts.
fn days_of(months: i64) -> i64 {
    let shifted = months + 1970 * 12 - 2;
    let (year, month) = (shifted.div_euclid(12), shifted.rem_euclid(12));
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Every::Span(span) if span % WEEK == 0 => write!(f, "{}w", span / WEEK),
            Every::Span(span) if span % DAY == 0 => write!(f, "{}d", span / DAY),
            Every::Span(span) if span % HOUR == 0 => write!(f, "{}h", span / HOUR),
            Every::Span(span) => write!(f, "{}m", span / MINUTE),
            Every::Months(count) if count % 12 == 0 => write!(f, "{}y", count / 12),
            Every::Months(count) => write!(f, "{count}mo"),
        }
    }
}

impl From<Every> for String {
    fn from(every: Every) -> String {
        every.to_string()
    }
}

impl TryFrom<String> for Every {
    type Error = String;

    fn try_from(text: String) -> Result<Every, String> {
        Every::parse(&text).ok_or_else(|| format!("{text} is not the length of a bucket"))
    }
}
