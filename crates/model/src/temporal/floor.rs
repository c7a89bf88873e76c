//! Rounding timestamps and times down to a multiple of a duration: the `floor` functions.

use super::duration::add_months_to_millis;
use super::{CivilDate, Duration, MILLIS_PER_DAY, NANOS_PER_DAY};
use crate::value::ValueError;
use crate::value::error::invalid;

/// The start of the interval that holds `millis`, counting intervals from `start_millis`.
pub fn floor_timestamp(millis: i64, duration: Duration, start_millis: i64) -> Result<i64, ValueError> {
    if start_millis > millis {
        return invalid!("The floor function starting time is greater than the provided time");
    }
    if duration.is_negative() {
        return invalid!("Negative durations are not supported by the floor function");
    }
    let step = duration.millis_without_months();
    if duration.months == 0 {
        if step == 0 {
            return Ok(millis);
        }
        return Ok(millis.wrapping_sub(millis.wrapping_sub(start_millis).wrapping_rem(step)));
    }
    let month_index = |millis: i64| {
        let date = CivilDate::from_days(millis.div_euclid(MILLIS_PER_DAY));
        date.year * 12 + i64::from(date.month)
    };
    let months = i64::from(duration.months);
    let mut multiple = (month_index(millis) - month_index(start_millis)) / months;
    let mut months_floor = add_months_to_millis(start_millis, multiple * months);
    if duration.days == 0 && duration.nanos == 0 {
        return Ok(months_floor);
    }
    // The months alone may overshoot once the days and nanoseconds are added: step back until they do not.
    let mut floor = months_floor.saturating_add(multiple.saturating_mul(step));
    while floor > millis && multiple > 0 {
        // Many steps at once first, so that long intervals do not take a loop per step.
        let excess =
            (floor - millis) / (months.saturating_mul(28 * MILLIS_PER_DAY).saturating_add(step).max(1));
        let back = (excess / 2).clamp(1, multiple);
        multiple -= back;
        months_floor = add_months_to_millis(months_floor, -back * months);
        floor = months_floor.saturating_add(multiple.saturating_mul(step));
    }
    Ok(floor.max(start_millis))
}

/// The start of the interval of the day that holds `nanos`.
pub fn floor_time(nanos: i64, duration: Duration) -> Result<i64, ValueError> {
    if duration.is_negative() {
        return invalid!("Negative durations are not supported by the floor function");
    }
    if duration.months != 0 || duration.days != 0 || duration.nanos > NANOS_PER_DAY {
        return invalid!("For time values, the floor can only be computed for durations smaller that a day");
    }
    if duration.nanos == 0 { Ok(nanos) } else { Ok(nanos - nanos % duration.nanos) }
}

#[cfg(test)]
mod tests {
    use super::super::parse_timestamp;
    use super::*;

    #[track_caller]
    fn floors(time: &str, duration: &str, expected: &str) {
        let millis = |text| parse_timestamp(text, 0).unwrap();
        let duration = Duration::parse(duration).unwrap();
        assert_eq!(floor_timestamp(millis(time), duration, 0), Ok(millis(expected)), "{time} {duration}");
    }

    #[test]
    fn timestamps() {
        floors("2016-09-27 16:45:20.123", "10m", "2016-09-27 16:40");
        floors("2016-09-27 16:45:20", "1d", "2016-09-27");
        floors("2016-09-27 16:45:20", "1mo", "2016-09-01");
        floors("2016-09-27 16:45:20", "3mo", "2016-07-01");
        floors("2016-09-27 16:45:20", "1y", "2016-01-01");
        floors("1970-03-15", "1mo14d", "1970-02-15");
        let start_after = floor_timestamp(0, Duration::new(0, 1, 0), 1);
        assert_eq!(
            start_after.unwrap_err().message(),
            "The floor function starting time is greater than the provided time"
        );
        assert!(floor_timestamp(0, Duration::new(-1, 0, 0), 0).is_err());
        assert_eq!(floor_timestamp(1234, Duration::new(0, 0, 5), 0), Ok(1234));
    }

    #[test]
    fn times() {
        assert_eq!(
            floor_time(5_400_000_000_000, Duration::new(0, 0, 3_600_000_000_000)),
            Ok(3_600_000_000_000)
        );
        assert!(floor_time(0, Duration::new(0, 1, 0)).is_err());
        assert_eq!(floor_time(7, Duration::default()), Ok(7));
    }
}
