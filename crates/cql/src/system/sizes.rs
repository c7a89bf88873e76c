//! How large tables and their partitions are, as tables: what is known without reading them.

use super::Viewer;
use super::cells::*;
use super::heat::place;
use super::node::{Live, PARTITION_BYTES};
use super::rows::Filler;
use observe::{LargePartition, TableSize};
use schema::{Catalogue, LimitPlan};
use std::sync::Arc;

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// One row for each table, view and index that holds something.
pub(super) fn table_sizes(filler: &mut Filler<'_>, catalogue: &Catalogue, live: Option<Arc<dyn Live>>) {
    for (id, size) in live.map(|live| live.table_sizes()).unwrap_or_default() {
        let Some(place) = place(catalogue, id) else { continue };
        let TableSize { partition_bytes, partition_rows, row_bytes, .. } = &size;
        let number = |value: u64| bigint(i64::try_from(value).unwrap_or(i64::MAX));
        filler.row(&[
            ("keyspace_name", text(place.keyspace)),
            ("table_name", text(place.name)),
            ("bytes", number(size.bytes)),
            ("disk_bytes", number(size.file_bytes)),
            ("files", number(size.files)),
            ("newest", size.written_micros.and_then(|(_, newest)| timestamp(newest / 1000))),
            ("oldest", size.written_micros.and_then(|(oldest, _)| timestamp(oldest / 1000))),
            ("partition_bytes_max", number(partition_bytes.max)),
            ("partition_bytes_p50", number(partition_bytes.p50)),
            ("partition_bytes_p99", number(partition_bytes.p99)),
            ("partition_rows_max", number(partition_rows.max)),
            ("partition_rows_p50", number(partition_rows.p50)),
            ("partition_rows_p99", number(partition_rows.p99)),
            ("partitions", number(size.partitions)),
            ("row_bytes_p50", number(row_bytes.p50)),
            ("row_bytes_p99", number(row_bytes.p99)),
            ("rows", number(size.rows)),
            ("tombstone_ratio", double(ratio(size.tombstones, size.rows + size.tombstones))),
            ("tombstones", number(size.tombstones)),
        ]);
    }
}

/// The largest partitions of each table, the largest first.
pub(super) fn largest_partitions(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    for (id, size) in live.map(|live| live.table_sizes()).unwrap_or_default() {
        let Some(place) = place(catalogue, id) else { continue };
        let seen = size.largest.iter().filter(|large| viewer.sees(catalogue, id, &large.key));
        for (rank, large) in (1..).zip(seen) {
            filler.row(&[
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("rank", int(rank)),
                ("bytes", bigint(large.bytes_min as i64)),
                ("bytes_max", bigint(large.bytes_max as i64)),
                ("partition_key", text(place.key_text(&large.key))),
                ("rows", bigint(large.rows as i64)),
            ]);
        }
    }
}

/// A younger partition counts as this old: what came in its first minutes says little about a day.
const AGE_MIN_MICROS: i64 = 3_600_000_000;
const DAY_MICROS: f64 = 86_400e6;
/// A day further off than this is noise.
const DAYS_MAX: f64 = 3_650.0;
/// The day 0 of the type `date` lies 2^31 days before 1970.
const DATE_EPOCH: u32 = 1 << 31;

/// The ledger: the largest partitions of each table, how fast they grow, and when they pass their limit.
pub(super) fn partition_sizes(
    filler: &mut Filler<'_>,
    catalogue: &Catalogue,
    live: Option<Arc<dyn Live>>,
    viewer: Viewer<'_>,
) {
    let bytes_default = live.as_ref().map_or(PARTITION_BYTES, |live| live.partition_bytes());
    for (id, size) in live.map(|live| live.table_sizes()).unwrap_or_default() {
        let Some(place) = place(catalogue, id) else { continue };
        let limit = catalogue.table_by_id(id).and_then(|table| table.options.partition_limit());
        let bytes_max = limit.map_or(bytes_default, |limit| limit.bytes);
        let rows_max = limit.map_or(u64::MAX, |limit| limit.rows);
        let known = |value: u64| if value == u64::MAX { None } else { bigint(value as i64) };
        let seen = size.largest.iter().filter(|large| viewer.sees(catalogue, id, &large.key));
        for (rank, large) in (1..).zip(seen) {
            let growth = large.growth_day.or_else(|| average(large, size.now_micros));
            filler.row(&[
                ("keyspace_name", text(place.keyspace)),
                ("table_name", text(place.name)),
                ("rank", int(rank)),
                ("breach_day", breach_day(large, bytes_max, growth, size.now_micros)),
                ("bytes", bigint(large.bytes_min as i64)),
                ("bytes_max", bigint(large.bytes_max as i64)),
                ("growth_bytes_per_day", growth.and_then(bigint)),
                ("growth_bytes_per_day_of_week", large.growth_week.and_then(bigint)),
                ("limit_bytes", known(bytes_max)),
                ("limit_rows", known(rows_max)),
                ("oldest", large.oldest_micros.and_then(|micros| timestamp(micros / 1000))),
                ("partition_key", text(place.key_text(&large.key))),
                ("rows", bigint(large.rows as i64)),
                ("status", text(status(large, bytes_max, rows_max, limit))),
            ]);
        }
    }
}

/// Bytes per day since the first write.
fn average(large: &LargePartition, now_micros: i64) -> Option<i64> {
    let age = now_micros.checked_sub(large.oldest_micros?).filter(|age| *age >= 0)?.max(AGE_MIN_MICROS);
    Some((large.bytes_min as f64 * DAY_MICROS / age as f64) as i64)
}

fn status(large: &LargePartition, bytes_max: u64, rows_max: u64, limit: Option<LimitPlan>) -> &'static str {
    let (warn_bytes, warn_rows) =
        limit.map_or((bytes_max / 5 * 4, u64::MAX), |limit| (limit.warn_bytes, limit.warn_rows));
    match () {
        () if large.bytes_min >= bytes_max || large.rows >= rows_max => "breached",
        () if large.bytes_min >= warn_bytes || large.rows >= warn_rows => "near",
        () => "within",
    }
}

/// The day on which the partition passes its limit if it goes on like this; none when it shrinks or never will.
fn breach_day(large: &LargePartition, bytes_max: u64, growth: Option<i64>, now_micros: i64) -> Cell {
    if bytes_max == u64::MAX {
        return None;
    }
    let left = bytes_max.saturating_sub(large.bytes_min);
    let days = match growth {
        _ if left == 0 => 0.0,
        Some(growth) if growth > 0 => left as f64 / growth as f64,
        _ => return None,
    };
    let today = now_micros as f64 / DAY_MICROS;
    (days <= DAYS_MAX).then(|| date((today + days) as u32))?
}

fn date(days_since_1970: u32) -> Cell {
    Some((DATE_EPOCH + days_since_1970).to_be_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_breach_follows_growth() {
        let large = |bytes: u64, age_days: i64| LargePartition {
            key: Box::default(),
            bytes_min: bytes,
            bytes_max: bytes,
            rows: 1,
            oldest_micros: Some((20_000 - age_days) * 86_400_000_000),
            growth_day: None,
            growth_week: None,
        };
        let now = 20_000 * 86_400_000_000;
        let young = large(10_000_000, 10);
        assert_eq!(average(&young, now), Some(1_000_000));
        assert_eq!(breach_day(&young, PARTITION_BYTES, Some(1_000_000), now), date(20_090));
        assert_eq!(breach_day(&young, PARTITION_BYTES, Some(-5), now), None);
        assert_eq!(breach_day(&young, PARTITION_BYTES, Some(1), now), None, "a day in the far future");
        assert_eq!(breach_day(&large(PARTITION_BYTES, 1), PARTITION_BYTES, Some(0), now), date(20_000));
        assert_eq!(status(&large(PARTITION_BYTES, 1), PARTITION_BYTES, u64::MAX, None), "breached");
        assert_eq!(status(&large(90_000_000, 1), PARTITION_BYTES, u64::MAX, None), "near");
        assert_eq!(status(&young, PARTITION_BYTES, u64::MAX, None), "within");
    }
}
