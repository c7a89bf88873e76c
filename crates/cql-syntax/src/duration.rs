//! Durations as CQL writes them: `1h30m`, `P1Y2M`, `PT5S`, `P1W`, `P0001-02-03T04:05:06`, each with an optional minus.
//!
//! Follows Cassandra's rules: units in falling order, each at most once; months, days and nanoseconds are kept apart.
//! Any text may be given, not only what the lexer takes for a duration.

/// A duration: months and days have no fixed length, so they are not converted into each other. All three have one sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DurationParts {
    pub months: i32,
    pub days: i32,
    pub nanoseconds: i64,
}

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationError {
    /// It does not look like one.
    Malformed,
    /// Units are not in falling order, or one occurs twice.
    Order,
    /// Months or days exceed 31 bits, or the rest 63 bits of nanoseconds.
    Range,
}

/// Reads a duration.
pub fn parse(text: &str) -> Result<DurationParts, DurationError> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut sum = Sum::default();
    match rest.strip_prefix('P') {
        Some(iso) => parse_iso(iso, &mut sum)?,
        None => parse_units(rest, &mut sum)?,
    }
    sum.finish(negative)
}

/// Nanoseconds of each unit of time, and months and days of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

#[derive(Default)]
struct Sum {
    months: u128,
    days: u128,
    nanoseconds: u128,
    last: Option<Unit>,
}

impl Sum {
    fn add(&mut self, digits: &str, unit: Unit) -> Result<(), DurationError> {
        if self.last.is_some_and(|last| last >= unit) {
            return Err(DurationError::Order);
        }
        self.last = Some(unit);
        let amount = u128::from(digits.parse::<u64>().map_err(|_| DurationError::Range)?);
        match unit {
            Unit::Year => self.months += amount * 12,
            Unit::Month => self.months += amount,
            Unit::Week => self.days += amount * 7,
            Unit::Day => self.days += amount,
            Unit::Hour => self.nanoseconds += amount * 3_600_000_000_000,
            Unit::Minute => self.nanoseconds += amount * 60_000_000_000,
            Unit::Second => self.nanoseconds += amount * 1_000_000_000,
            Unit::Millisecond => self.nanoseconds += amount * 1_000_000,
            Unit::Microsecond => self.nanoseconds += amount * 1_000,
            Unit::Nanosecond => self.nanoseconds += amount,
        }
        Ok(())
    }

    fn finish(self, negative: bool) -> Result<DurationParts, DurationError> {
        if self.last.is_none() {
            return Err(DurationError::Malformed);
        }
        let months = i32::try_from(self.months).map_err(|_| DurationError::Range)?;
        let days = i32::try_from(self.days).map_err(|_| DurationError::Range)?;
        let nanoseconds = i64::try_from(self.nanoseconds).map_err(|_| DurationError::Range)?;
        let sign: i8 = if negative { -1 } else { 1 };
        Ok(DurationParts {
            months: months * i32::from(sign),
            days: days * i32::from(sign),
            nanoseconds: nanoseconds * i64::from(sign),
        })
    }
}

/// Leading digits and what is behind them.
fn split_digits(text: &str) -> Result<(&str, &str), DurationError> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 { Err(DurationError::Malformed) } else { Ok(text.split_at(end)) }
}

/// `1h30m`
fn parse_units(mut text: &str, sum: &mut Sum) -> Result<(), DurationError> {
    // Longer names first, so that `ms` is not taken for `m`.
    const UNITS: [(&str, Unit); 11] = [
        ("mo", Unit::Month),
        ("ms", Unit::Millisecond),
        ("us", Unit::Microsecond),
        ("µs", Unit::Microsecond),
        ("ns", Unit::Nanosecond),
        ("y", Unit::Year),
        ("w", Unit::Week),
        ("d", Unit::Day),
        ("h", Unit::Hour),
        ("m", Unit::Minute),
        ("s", Unit::Second),
    ];
    while !text.is_empty() {
        let (digits, rest) = split_digits(text)?;
        let found = UNITS.iter().find_map(|(name, unit)| {
            let head = rest.get(..name.len())?;
            head.eq_ignore_ascii_case(name).then_some((*unit, name.len()))
        });
        let (unit, length) = found.ok_or(DurationError::Malformed)?;
        sum.add(digits, unit)?;
        text = rest.get(length..).unwrap_or("");
    }
    Ok(())
}

/// Behind the `P`: `1Y2M3DT4H5M6S`, `1W` or `0001-02-03T04:05:06`.
fn parse_iso(text: &str, sum: &mut Sum) -> Result<(), DurationError> {
    if text.contains('-') {
        return parse_iso_alternative(text, sum);
    }
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return Err(DurationError::Malformed),
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    parse_designated(
        date,
        &[("Y", Unit::Year), ("M", Unit::Month), ("W", Unit::Week), ("D", Unit::Day)],
        sum,
    )?;
    // Weeks stand alone.
    if date.contains('W') && (date.matches(char::is_alphabetic).count() > 1 || !time.is_empty()) {
        return Err(DurationError::Malformed);
    }
    parse_designated(time, &[("H", Unit::Hour), ("M", Unit::Minute), ("S", Unit::Second)], sum)
}

fn parse_designated(mut text: &str, units: &[(&str, Unit)], sum: &mut Sum) -> Result<(), DurationError> {
    while !text.is_empty() {
        let (digits, rest) = split_digits(text)?;
        let (letter, unit) =
            units.iter().find(|(letter, _)| rest.starts_with(letter)).ok_or(DurationError::Malformed)?;
        sum.add(digits, *unit)?;
        text = rest.get(letter.len()..).unwrap_or("");
    }
    Ok(())
}

fn parse_iso_alternative(text: &str, sum: &mut Sum) -> Result<(), DurationError> {
    const WIDTHS: [(usize, char, Unit); 6] = [
        (4, '-', Unit::Year),
        (2, '-', Unit::Month),
        (2, 'T', Unit::Day),
        (2, ':', Unit::Hour),
        (2, ':', Unit::Minute),
        (2, '\0', Unit::Second),
    ];
    let mut rest = text;
    for (width, separator, unit) in WIDTHS {
        let (digits, behind) = split_digits(rest)?;
        if digits.len() != width {
            return Err(DurationError::Malformed);
        }
        sum.add(digits, unit)?;
        rest = match behind.strip_prefix(separator) {
            Some(behind) => behind,
            None if separator == '\0' && behind.is_empty() => behind,
            None => return Err(DurationError::Malformed),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(months: i32, days: i32, nanoseconds: i64) -> Result<DurationParts, DurationError> {
        Ok(DurationParts { months, days, nanoseconds })
    }

    #[test]
    fn durations() {
        const SECOND: i64 = 1_000_000_000;
        let cases = [
            ("1h30m", parts(0, 0, 5400 * SECOND)),
            ("1y2mo3w4d5h6m7s8ms9us10ns", parts(14, 25, 18_367 * SECOND + 8_009_010)),
            ("1Y2MO", parts(14, 0, 0)),
            ("5µs", parts(0, 0, 5000)),
            ("-2d", parts(0, -2, 0)),
            ("0s", parts(0, 0, 0)),
            ("P1Y2M3DT4H5M6S", parts(14, 3, 14_706 * SECOND)),
            ("PT5S", parts(0, 0, 5 * SECOND)),
            ("-P1D", parts(0, -1, 0)),
            ("P2W", parts(0, 14, 0)),
            ("P0001-02-03T04:05:06", parts(14, 3, 14_706 * SECOND)),
            ("1m1h", Err(DurationError::Order)),
            ("1h1h", Err(DurationError::Order)),
            ("99999999999mo", Err(DurationError::Range)),
            ("99999999999999999999s", Err(DurationError::Range)),
            ("9223372036854775807ns", parts(0, 0, i64::MAX)),
            ("9223372036854775808ns", Err(DurationError::Range)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
        for text in [
            "",
            "-",
            "P",
            "PT",
            "P1",
            "1",
            "1x",
            "h",
            "1h ",
            "P1WT1S",
            "P1D1W",
            "P001-02-03T04:05:06",
            "P1-",
            "é",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
