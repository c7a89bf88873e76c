//! How large tables and their partitions are, as tables: what is known without reading them.

use super::cells::*;
use super::heat::place;
use super::node::Live;
use super::rows::Filler;
use observe::TableSize;
use schema::Catalogue;
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
) {
    for (id, size) in live.map(|live| live.table_sizes()).unwrap_or_default() {
        let Some(place) = place(catalogue, id) else { continue };
        for (rank, large) in (1..).zip(&size.largest) {
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
