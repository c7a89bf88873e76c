//! The growth model: how large a partition is and will be, and when it passes the limit.
//!
//! Input: declared rows per partition (median, 99th percentile, largest), row bytes (estimated from types when not
//! declared), rate and retention. Where the files declare nothing, the model says so: an assumed rate is never taken
//! for a declared one.

use crate::catalogue::{Column, Role, Table};
use crate::facts::{Content, Facts, Owner};
use crate::vocabulary::{Grain, Meaning, any_word};
use cql_syntax::ast::{DataType, NativeType, TypeKind};

/// The size that a healthy partition stays under.
pub const PARTITION_BYTES_MAX: f64 = 100e6;
/// Writes per second that one partition takes without becoming the bottleneck.
pub const PARTITION_WRITES_MAX: f64 = 1_000.0;
/// Days of the horizons: now (the first day), 1, 3, 12, 36 months.
pub const HORIZONS: [(&str, f64); 5] =
    [("now", 1.0), ("1 month", 30.4), ("3 months", 91.3), ("12 months", 365.0), ("36 months", 1095.0)];

/// Sizes of one partition over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Growth {
    pub row_bytes: f64,
    /// Whether somebody declared the rows (or their rate); otherwise the model assumes.
    pub is_declared: bool,
    /// Rows per day of one key (without its buckets): typical, 99th percentile, worst.
    pub rows_per_day: [f64; 3],
    /// Rows of one full partition, when that is declared as a plain bound.
    pub rows_bound: Option<[f64; 3]>,
    /// Days after which a partition takes no more rows: the bucket, the TTL, the retention; infinite when nothing ends it.
    pub closes_after_days: f64,
}

impl Growth {
    /// Bytes of one partition after so many days; `which` is 0 typical, 1 p99, 2 worst.
    pub fn bytes_at(&self, which: usize, days: f64) -> f64 {
        let rate = self.rows_per_day.get(which).copied().unwrap_or(0.0);
        let grown = rate * days.min(self.closes_after_days) * self.row_bytes;
        match self.rows_bound.and_then(|bound| bound.get(which).copied()) {
            Some(bound) if rate <= 0.0 => bound * self.row_bytes,
            Some(bound) => grown.min(bound * self.row_bytes),
            None => grown,
        }
    }

    /// The size of a full partition; infinite when nothing ends it.
    pub fn full_bytes(&self, which: usize) -> f64 {
        if self.closes_after_days.is_infinite() && self.rows_bound.is_none() {
            let rate = self.rows_per_day.get(which).copied().unwrap_or(0.0);
            return if rate > 0.0 { f64::INFINITY } else { 0.0 };
        }
        self.bytes_at(which, self.closes_after_days)
    }

    /// The day on which the worst partition passes the limit, if ever.
    pub fn breach_day(&self) -> Option<f64> {
        if self.full_bytes(2) <= PARTITION_BYTES_MAX {
            return None;
        }
        let per_day = self.rows_per_day[2] * self.row_bytes;
        Some(if per_day > 0.0 { PARTITION_BYTES_MAX / per_day } else { 0.0 })
    }

    /// The coarsest bucket whose worst partition stays under the limit.
    pub fn bucket_advice(&self) -> Grain {
        let per_day = self.rows_per_day[2] * self.row_bytes;
        Grain::KNOWN
            .into_iter()
            .rev()
            .find(|grain| grain.days().is_some_and(|days| days * per_day <= PARTITION_BYTES_MAX))
            .unwrap_or(Grain::Minute)
    }
}

/// The model of one table.
pub fn model(table: &Table, facts: &Facts) -> Growth {
    let numbers = &facts.numbers;
    let row_bytes = numbers.row_bytes.unwrap_or_else(|| row_bytes(table));
    let ttl = facts.usage.ttl_days.or(table.default_ttl_days);
    let kept = ttl.or(numbers.retention_days).unwrap_or(f64::INFINITY);
    let by_server = table.bucketing.as_ref().and_then(|plan| plan.time.as_ref());
    let bucket = match by_server {
        Some(time) => time.finest_days(),
        None => facts.time_bucket.map_or(f64::INFINITY, |grain| grain.days().unwrap_or(1.0)),
    };
    let closes_after_days = kept.min(bucket);
    let worst = numbers.rows_worst();
    if let Some(plan) = &table.bucketing {
        return of_entity(plan.fan_out(), facts, kept, row_bytes, closes_after_days).unwrap_or_else(|| {
            let rate = if facts.is_history { assumed_rate(facts).min(interval_rate(table)) } else { 0.0 };
            let rate = rate / plan.fan_out();
            let rows_per_day = [rate / 10.0, rate / 2.0, rate];
            Growth { row_bytes, is_declared: false, rows_per_day, rows_bound: None, closes_after_days }
        });
    }
    if let Some(rate) = declared_rate(facts) {
        let bound = worst.map(|_| spread(numbers));
        return Growth {
            row_bytes,
            is_declared: true,
            rows_per_day: [rate; 3],
            rows_bound: bound,
            closes_after_days,
        };
    }
    if worst.is_some() {
        let rows = spread(numbers);
        let rate = if closes_after_days.is_finite() && closes_after_days > 0.0 {
            rows.map(|rows| rows / closes_after_days)
        } else {
            [0.0; 3]
        };
        return Growth {
            row_bytes,
            is_declared: true,
            rows_per_day: rate,
            rows_bound: Some(rows),
            closes_after_days,
        };
    }
    let rate =
        if facts.is_history { assumed_rate(facts).min(interval_rate(table)) } else { calendar_rate(table) };
    // Versions of each of several instances: their product.
    let has = |meaning: Meaning| table.clustering_columns().any(|c| c.meaning == meaning);
    let rate = if has(Meaning::Sequence) && has(Meaning::Identity) { rate * 10.0 } else { rate };
    let rows_per_day = [rate / 10.0, rate / 2.0, rate];
    Growth { row_bytes, is_declared: false, rows_per_day, rows_bound: None, closes_after_days }
}

/// Rows per day of one key, when the numbers say it.
fn declared_rate(facts: &Facts) -> Option<f64> {
    let numbers = &facts.numbers;
    numbers.rows_per_day.or_else(|| {
        let per_second = numbers.partition_rate.or_else(|| {
            match (facts.write_rate, numbers.hot_share, numbers.partitions) {
                (Some(rate), Some(share), _) => Some(rate * share),
                (Some(rate), None, Some(partitions)) if partitions >= 1.0 => Some(rate / partitions),
                _ => None,
            }
        })?;
        Some(per_second * 86_400.0)
    })
}

/// A table whose buckets the server makes: what is declared is of the key that statements name, and is parted.
fn of_entity(
    fan_out: f64,
    facts: &Facts,
    kept: f64,
    row_bytes: f64,
    closes_after_days: f64,
) -> Option<Growth> {
    let rows = facts.numbers.rows_worst().map(|_| spread(&facts.numbers));
    // Rows without a rate came within what is kept, or within a year.
    let over = if kept.is_finite() { kept.max(1.0) } else { 365.0 };
    let rates = match declared_rate(facts) {
        Some(rate) => [rate; 3],
        None if closes_after_days.is_finite() => rows?.map(|rows| rows / over),
        None => {
            rows?;
            [0.0; 3]
        }
    };
    Some(Growth {
        row_bytes,
        is_declared: true,
        rows_per_day: rates.map(|rate| rate / fan_out),
        rows_bound: rows.map(|rows| rows.map(|rows| rows / fan_out)),
        closes_after_days,
    })
}

/// Typical, p99 and worst rows; a missing one is taken from its worse neighbour.
fn spread(numbers: &crate::numbers::Numbers) -> [f64; 3] {
    let max = numbers.rows_worst().unwrap_or(0.0);
    let p99 = numbers.rows_p99.unwrap_or(max);
    [numbers.rows_p50.unwrap_or(p99), p99, max]
}

/// Rows per day and key that nobody declared. One a second for machines; what a busy person or group makes otherwise.
pub fn assumed_rate(facts: &Facts) -> f64 {
    match (facts.owner, facts.content) {
        (_, Content::Telemetry) => 86_400.0,
        (Owner::Machine, Content::Happenings) => 10_000.0,
        (Owner::Machine, Content::Things) => 20.0,
        (Owner::Group, Content::Happenings) => 10_000.0,
        (Owner::Group, Content::Things) => 100.0,
        (Owner::Unit, _) => 20.0,
        (Owner::LongUnit, Content::Happenings) => 100.0,
        (_, Content::Happenings) => 200.0,
        (_, Content::Things) => 20.0,
    }
}

/// Rows per day of a table whose name says how long one row's stretch of time is: `six_hour_metrics`, `rollup_5m`. Infinite when it
/// does not. Only summaries are named so: `daily_events` are the events of a day.
fn interval_rate(table: &Table) -> f64 {
    let summaries =
        ["metric", "rollup", "aggregate", "aggregated", "agg", "avg", "average", "summary", "stat", "candle"];
    // Forecasts come by the hour, windows by the minute at most.
    let words_of = |list: &[&str]| {
        any_word(&table.words, list) || table.clustering_columns().any(|c| any_word(&c.words, list))
    };
    if words_of(&["forecast"]) {
        return 24.0;
    }
    let window = if crate::facts::has_window(table) { 1_440.0 } else { f64::INFINITY };
    if !any_word(&table.words, &summaries) {
        return window;
    }
    let minutes = |unit: &str| match unit.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "m" | "min" | "minute" | "minutes" | "minutely" => Some(1.0),
        "h" | "hr" | "hour" | "hours" | "hourly" => Some(60.0),
        "d" | "day" | "days" | "daily" => Some(1_440.0),
        "week" | "weekly" => Some(10_080.0),
        "month" | "monthly" => Some(43_200.0),
        "y" | "year" | "yearly" => Some(525_600.0),
        _ => None,
    };
    let numbers =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let count = |word: &str| {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        let named = numbers.iter().position(|n| *n == word).map(|at| at as f64 + 1.0);
        digits.parse::<f64>().ok().or(named).filter(|n| *n >= 1.0)
    };
    for (at, word) in table.words.iter().enumerate() {
        let Some(unit) = minutes(word) else { continue };
        let before = at.checked_sub(1).and_then(|at| table.words.get(at));
        let alone = word.ends_with("ly");
        let times = count(word).or_else(|| before.and_then(|w| count(w)));
        let Some(times) = times.or(alone.then_some(1.0)) else { continue };
        // What else is in the key has rows of its own.
        let others = table.clustering_columns().filter(|c| !c.is_chronological() && !c.meaning.is_bucket());
        return 1_440.0 / (unit * times) * if others.count() > 0 { 10.0 } else { 1.0 };
    }
    window
}

/// Rows per day of a calendar in the clustering key: one per day or hour, and per further thing that is listed there.
fn calendar_rate(table: &Table) -> f64 {
    let finest = crate::facts::time_bucket(table.clustering_columns()).and_then(Grain::days);
    let others = table.clustering_columns().filter(|c| !c.meaning.is_bucket()).count();
    finest.map_or(0.0, |days| if others > 0 { 10.0 / days } else { 1.0 / days })
}

/// Estimated bytes of a row on disk: a header, its clustering values, and each cell with its own header.
pub fn row_bytes(table: &Table) -> f64 {
    const ROW_HEADER: f64 = 16.0;
    const CELL_HEADER: f64 = 8.0;
    let mut sum = ROW_HEADER;
    for column in table.columns.iter().filter(|c| !c.is_static) {
        sum += match column.role {
            Role::Partition => 0.0,
            Role::Clustering => column_bytes(column),
            Role::Regular => column_bytes(column) + CELL_HEADER,
        };
    }
    sum
}

const LONG_TEXT: &[&str] = &[
    "payload",
    "body",
    "text",
    "content",
    "description",
    "json",
    "summary",
    "message",
    "data",
    "details",
    "comment",
    "note",
    "html",
    "document",
    "metadata",
    "stacktrace",
];

fn column_bytes(column: &Column) -> f64 {
    let is_long = any_word(&column.words, LONG_TEXT);
    match &column.data_type.kind {
        TypeKind::Native(NativeType::Text | NativeType::Ascii) if is_long => 512.0,
        _ => type_bytes(&column.data_type),
    }
}

fn type_bytes(data_type: &DataType) -> f64 {
    use NativeType::*;
    match &data_type.kind {
        TypeKind::Native(native) => match native {
            Boolean | Tinyint => 1.0,
            Smallint => 2.0,
            Int | Float | Date => 4.0,
            Bigint | Double | Timestamp | Time | Counter | Varint | Inet => 8.0,
            Decimal | Duration => 12.0,
            Uuid | Timeuuid => 16.0,
            Text | Ascii => 32.0,
            Blob => 1_024.0,
        },
        // A collection of the size that collections are meant for.
        TypeKind::List(element) | TypeKind::Set(element) => 10.0 * (type_bytes(element) + 8.0),
        TypeKind::Map(key, value) => 10.0 * (type_bytes(key) + type_bytes(value) + 8.0),
        TypeKind::Tuple(parts) => parts.iter().map(type_bytes).sum(),
        TypeKind::Vector(element, n) => type_bytes(element) * f64::from(*n),
        TypeKind::Frozen(inner) => type_bytes(inner),
        TypeKind::User(_) | TypeKind::Custom(_) => 64.0,
    }
}
