//! Dates, times, timestamps and durations over the whole CQL range, on integers.
//!
//! The calendar is the proleptic Gregorian one; days before 1970 are negative. No clock and no time-zone database:
//! text without a zone is UTC, and zone names other than UTC and GMT are a short table of fixed offsets.

mod civil;
mod duration;
mod duration_text;
mod floor;
mod format;
mod parse;

pub use civil::{CivilDate, date_to_millis, days_in_month, millis_to_date_days};
pub use duration::Duration;
pub use floor::{floor_time, floor_timestamp};
pub use format::{format_date, format_time, format_timestamp, format_timestamp_json};
pub use parse::{parse_date, parse_time, parse_timestamp};

pub const MILLIS_PER_DAY: i64 = 86_400_000;
pub const NANOS_PER_DAY: i64 = 86_400_000_000_000;
