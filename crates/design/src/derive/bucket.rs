//! Buckets from the growth model: time where rows are ordered by time, a hash where one key is too hot or nothing is known.

use super::input::{Entity, Pattern};
use crate::growth::{PARTITION_BYTES_MAX, PARTITION_WRITES_MAX};
use crate::units;
use crate::vocabulary::Grain;

/// A partition is planned to stay this far below its limit, so that a year better than expected does not break it.
const PLANNED_BYTES_MAX: f64 = PARTITION_BYTES_MAX / 2.0;
const BUCKETS_MAX: f64 = 256.0;
/// A table that nobody gives a key for is spread over at least this many partitions.
const KEYLESS_BUCKETS: u32 = 16;

/// What keeps a partition small and cool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    pub time: Option<Grain>,
    /// This many hash buckets.
    pub hash: Option<u32>,
}

/// What all patterns of one table declare together: the larger number where several speak.
#[derive(Debug, Clone, Copy, Default)]
pub struct Declared {
    pub growth: Option<f64>,
    pub rows_per_day: Option<f64>,
    pub row_bytes: f64,
    pub kept_days: f64,
    /// Writes per second on the busiest key.
    pub hot_writes: Option<f64>,
}

impl Declared {
    pub fn of<'p>(entity: &Entity, patterns: impl Iterator<Item = &'p Pattern> + Clone) -> Declared {
        let most = |of: &dyn Fn(&Pattern) -> Option<f64>| patterns.clone().filter_map(of).reduce(f64::max);
        let days = |p: &Pattern| p.retention.as_deref().and_then(crate::numbers::parse_days);
        let write_rate = most(&|p| p.write_rate).or(entity.write_rate);
        Declared {
            growth: most(&|p| p.growth),
            rows_per_day: most(&|p| p.rows_per_day),
            row_bytes: most(&|p| p.row_bytes).unwrap_or_else(|| row_bytes(entity)),
            kept_days: most(&days).unwrap_or(f64::INFINITY).max(1.0),
            hot_writes: write_rate.zip(most(&|p| p.hot_share)).map(|(rate, share)| rate * share),
        }
    }
}

/// Estimated bytes of a row, from the types as written.
fn row_bytes(entity: &Entity) -> f64 {
    let cells = entity.fields.values().map(|data_type| {
        8.0 + match data_type.as_str() {
            "boolean" | "tinyint" => 1.0,
            "int" | "float" | "date" => 4.0,
            "uuid" | "timeuuid" => 16.0,
            "text" | "ascii" | "varchar" => 64.0,
            "blob" => 1_024.0,
            other if other.contains('<') => 400.0,
            _ => 8.0,
        }
    });
    16.0 + cells.sum::<f64>()
}

/// Chooses the buckets and says why. `by_time`: rows are ordered by time first. `is_keyless`: nothing else is in the key.
pub fn choose(declared: &Declared, by_time: bool, is_keyless: bool, reasons: &mut Vec<String>) -> Bucket {
    let mut bucket = Bucket::default();
    if let Some(rate) = declared.hot_writes.filter(|rate| *rate > PARTITION_WRITES_MAX) {
        let buckets = buckets(rate / PARTITION_WRITES_MAX);
        let rate = units::count(rate);
        reasons.push(format!(
            "{rate} writes/s on the busiest key are spread over {buckets} hash buckets; a read merges them"
        ));
        bucket.hash = Some(buckets);
    }
    if is_keyless && bucket.hash.is_none() {
        reasons.push(format!(
            "the pattern knows nothing, so one key would take everything: {KEYLESS_BUCKETS} hash buckets spread it; a read merges them"
        ));
        bucket.hash = Some(KEYLESS_BUCKETS);
    }
    let spread = f64::from(bucket.hash.unwrap_or(1));
    let rows = declared.growth.or(declared.rows_per_day.map(|rate| rate * declared.kept_days));
    let Some(rows) = rows.map(|rows| rows / spread) else {
        reasons.push(
            "growth is not declared: no bucket for size, and the review will ask for the number".into(),
        );
        return bucket;
    };
    let row = declared.row_bytes;
    let bytes = rows * row;
    let size = if bytes.is_finite() {
        format!("{} rows x {} = {}", units::count(rows), units::bytes(row), units::bytes(bytes))
    } else {
        "growth without end".into()
    };
    if bytes <= PLANNED_BYTES_MAX {
        reasons.push(format!("{size} at most in a partition: no bucket for size needed"));
        return bucket;
    }
    let kept = declared.kept_days;
    let per_day =
        declared.rows_per_day.or((rows.is_finite() && kept.is_finite()).then(|| rows * spread / kept));
    if let Some(per_day) = per_day.filter(|_| by_time).map(|per_day| per_day / spread) {
        let fits = |grain: &Grain| grain.days().is_some_and(|days| days * per_day * row <= PLANNED_BYTES_MAX);
        let mut grains = Grain::KNOWN.into_iter().rev().filter(|grain| *grain != Grain::Quarter);
        let grain = grains.find(fits).unwrap_or(Grain::Minute);
        let day = units::bytes(per_day * row);
        reasons
            .push(format!("{size} is past 50 MB; {day} a day, so one {} makes one partition", grain.word()));
        bucket.time = Some(grain);
        return bucket;
    }
    if bytes.is_finite() {
        let buckets = buckets(bytes * spread / PLANNED_BYTES_MAX);
        reasons.push(format!("{size} is past 50 MB, so {buckets} hash buckets hold it; a read merges them"));
        bucket.hash = Some(buckets);
    } else {
        reasons.push("it grows without end and is not ordered by time: declare growth or retention".into());
    }
    bucket
}

/// At least two, a power of two, so that the number can be doubled later without moving half of the rows twice.
fn buckets(wanted: f64) -> u32 {
    (wanted.ceil().clamp(2.0, BUCKETS_MAX) as u32).next_power_of_two()
}
