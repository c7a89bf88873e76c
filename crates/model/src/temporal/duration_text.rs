//! Text of durations: `1y2mo3d4h`, ISO 8601 `P1Y2M3DT4H` and `P3W`, and ISO 8601 `P0001-02-03T04:05:06`.

use std::fmt;

use super::Duration;
use crate::value::ValueError;
use crate::value::error::invalid;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Units from large to small: name in errors, field it counts in, size in that field.
const UNITS: [Unit; 10] = [
    Unit { name: "years", field: Field::Months, size: 12 },
    Unit { name: "months", field: Field::Months, size: 1 },
    Unit { name: "weeks", field: Field::Days, size: 7 },
    Unit { name: "days", field: Field::Days, size: 1 },
    Unit { name: "hours", field: Field::Nanos, size: 3_600 * NANOS_PER_SECOND },
    Unit { name: "minutes", field: Field::Nanos, size: 60 * NANOS_PER_SECOND },
    Unit { name: "seconds", field: Field::Nanos, size: NANOS_PER_SECOND },
    Unit { name: "milliseconds", field: Field::Nanos, size: 1_000_000 },
    Unit { name: "microseconds", field: Field::Nanos, size: 1_000 },
    Unit { name: "nanoseconds", field: Field::Nanos, size: 1 },
];

#[derive(Clone, Copy)]
enum Field {
    Months,
    Days,
    Nanos,
}

struct Unit {
    name: &'static str,
    field: Field,
    size: i64,
}

/// Collects amounts, each unit once and from large to small.
#[derive(Default)]
struct Builder {
    months: i64,
    days: i64,
    nanos: i64,
    /// One more than the index of the last unit.
    next: usize,
}

impl Builder {
    fn add(&mut self, index: usize, amount: i64) -> Result<(), ValueError> {
        let Some(unit) = UNITS.get(index) else { return Ok(()) };
        if index + 1 == self.next {
            return invalid!("Invalid duration. The {} are specified multiple times", unit.name);
        }
        if index < self.next {
            return invalid!("Invalid duration. The {} should be after {}", self.last_name(), unit.name);
        }
        self.next = index + 1;
        let (total, limit, field_name) = match unit.field {
            Field::Months => (&mut self.months, i64::from(i32::MAX), "months"),
            Field::Days => (&mut self.days, i64::from(i32::MAX), "days"),
            Field::Nanos => (&mut self.nanos, i64::MAX, "nanoseconds"),
        };
        let sum = amount.checked_mul(unit.size).and_then(|part| total.checked_add(part));
        match sum {
            // The sentence names the limit of months and days for nanoseconds too, as Cassandra's does.
            Some(sum) if sum <= limit => {
                *total = sum;
                Ok(())
            }
            _ => invalid!(
                "Invalid duration. The total number of {field_name} must be less or equal to {}",
                i32::MAX
            ),
        }
    }

    fn last_name(&self) -> &'static str {
        UNITS.get(self.next.wrapping_sub(1)).map_or("", |unit| unit.name)
    }

    fn build(&self, negative: bool) -> Duration {
        // The limits keep months and days within 32 bits.
        let duration = Duration::new(self.months as i32, self.days as i32, self.nanos);
        if negative { duration.negate() } else { duration }
    }
}

impl Duration {
    /// Reads any of the forms, with a minus sign in front for negative durations.
    pub fn parse(input: &str) -> Result<Duration, ValueError> {
        let (negative, source) = match input.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, input),
        };
        let mut builder = Builder::default();
        let understood = match source.strip_prefix('P') {
            Some(rest) if rest.ends_with('W') => parse_weeks(rest, &mut builder)?,
            Some(rest) if rest.contains('-') => parse_alternative(rest, &mut builder)?,
            Some(rest) => parse_iso(rest, &mut builder)?,
            None => parse_standard(source, &mut builder)?,
        };
        match understood {
            Some(()) => Ok(builder.build(negative)),
            None => invalid!("Unable to convert '{source}' to a duration"),
        }
    }
}

/// Digits at the front and the rest; too many digits are an error of their own in Java, here not understood.
fn amount(text: &str) -> Option<(i64, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(len)?;
    Some((digits.parse().ok()?, rest))
}

type Understood = Result<Option<()>, ValueError>;

fn parse_standard(mut text: &str, builder: &mut Builder) -> Understood {
    if text.is_empty() {
        return Ok(None);
    }
    while !text.is_empty() {
        let Some((number, rest)) = amount(text) else { return Ok(None) };
        let len = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (symbol, rest) = rest.split_at(len);
        let index = match symbol.to_lowercase().as_str() {
            "y" => 0,
            "mo" => 1,
            "w" => 2,
            "d" => 3,
            "h" => 4,
            "m" => 5,
            "s" => 6,
            "ms" => 7,
            "us" | "\u{b5}s" => 8,
            "ns" => 9,
            _ => return Ok(None),
        };
        builder.add(index, number)?;
        text = rest;
    }
    Ok(Some(()))
}

fn parse_weeks(text: &str, builder: &mut Builder) -> Understood {
    match amount(text) {
        Some((number, "W")) => builder.add(2, number).map(Some),
        _ => Ok(None),
    }
}

/// `[nY][nM][nD][T[nH][nM][nS]]` behind the P.
fn parse_iso(text: &str, builder: &mut Builder) -> Understood {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    for (mut part, designators) in
        [(date, [('Y', 0), ('M', 1), ('D', 3)]), (time, [('H', 4), ('M', 5), ('S', 6)])]
    {
        let mut allowed = designators.iter();
        while !part.is_empty() {
            let Some((number, rest)) = amount(part) else { return Ok(None) };
            let Some(designator) = rest.chars().next() else { return Ok(None) };
            let Some((_, index)) = allowed.by_ref().find(|(letter, _)| *letter == designator) else {
                return Ok(None);
            };
            builder.add(*index, number)?;
            part = rest.get(1..).unwrap_or("");
        }
    }
    Ok(Some(()))
}

/// `YYYY-MM-DDThh:mm:ss` behind the P.
fn parse_alternative(text: &str, builder: &mut Builder) -> Understood {
    let shape = "0000-00-00T00:00:00";
    let fits = text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(a, b)| if b == b'0' { a.is_ascii_digit() } else { a == b });
    if !fits {
        return Ok(None);
    }
    for (from, to, index) in [(0, 4, 0), (5, 7, 1), (8, 10, 3), (11, 13, 4), (14, 16, 5), (17, 19, 6)] {
        let number = text.get(from..to).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        builder.add(index, number)?;
    }
    Ok(Some(()))
}

/// As Cassandra prints it: `1y2mo3d4h5m6s7ms8us9ns`, nothing for zero.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative() {
            f.write_str("-")?;
        }
        let months = self.months.unsigned_abs();
        let parts = [
            (u64::from(months / 12), "y"),
            (u64::from(months % 12), "mo"),
            (u64::from(self.days.unsigned_abs()), "d"),
        ];
        for (amount, unit) in parts {
            if amount > 0 {
                write!(f, "{amount}{unit}")?;
            }
        }
        let mut nanos = self.nanos.unsigned_abs();
        for (index, unit) in [(4, "h"), (5, "m"), (6, "s"), (7, "ms"), (8, "us"), (9, "ns")] {
            let size = UNITS.get(index).map_or(1, |unit| unit.size.unsigned_abs());
            if nanos >= size {
                write!(f, "{}{unit}", nanos / size)?;
                nanos %= size;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, months: i32, days: i32, nanos: i64) {
        assert_eq!(Duration::parse(text), Ok(Duration::new(months, days, nanos)), "{text}");
    }

    #[test]
    fn three_forms() {
        let hour = 3_600 * NANOS_PER_SECOND;
        reads("1y2mo", 14, 0, 0);
        reads("-1y2mo", -14, 0, 0);
        reads("1Y2MO3W4D", 14, 25, 0);
        reads("1h30m", 0, 0, hour + hour / 2);
        reads("5s6ms7us8ns", 0, 0, 5_006_007_008);
        reads("5\u{b5}s", 0, 0, 5_000);
        reads("P1Y2M3DT4H5M6S", 14, 3, 4 * hour + 306 * NANOS_PER_SECOND);
        reads("PT5S", 0, 0, 5 * NANOS_PER_SECOND);
        reads("-P1Y", -12, 0, 0);
        reads("P3W", 0, 21, 0);
        reads("P0001-02-03T04:05:06", 14, 3, 4 * hour + 306 * NANOS_PER_SECOND);
        reads("P", 0, 0, 0);
    }

    #[test]
    fn bad_texts() {
        for (text, message) in [
            ("", "Unable to convert '' to a duration"),
            ("1x", "Unable to convert '1x' to a duration"),
            ("10", "Unable to convert '10' to a duration"),
            ("P1D1Y", "Unable to convert 'P1D1Y' to a duration"),
            ("-PT1", "Unable to convert 'PT1' to a duration"),
            ("1h2h", "Invalid duration. The hours are specified multiple times"),
            ("1m2h", "Invalid duration. The minutes should be after hours"),
            (
                "9223372036854775807h",
                "Invalid duration. The total number of nanoseconds must be less or equal to 2147483647",
            ),
            (
                "178956971y",
                "Invalid duration. The total number of months must be less or equal to 2147483647",
            ),
        ] {
            assert_eq!(Duration::parse(text).unwrap_err().message(), message);
        }
    }

    #[test]
    fn prints_as_cassandra_does() {
        for (duration, text) in [
            (Duration::new(14, 3, 0), "1y2mo3d"),
            (Duration::new(0, 0, 5_400 * NANOS_PER_SECOND), "1h30m"),
            (Duration::new(-1, -1, -1), "-1mo1d1ns"),
            (Duration::new(0, 0, 0), ""),
            (Duration::new(i32::MIN, 0, i64::MIN), "-178956970y8mo2562047h47m16s854ms775us808ns"),
        ] {
            assert_eq!(duration.to_string(), text);
        }
    }
}
