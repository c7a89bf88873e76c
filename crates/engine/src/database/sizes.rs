//! How large tables are over all shards, from what each shard has shown last.

use super::engine::Engine;
use crate::statistics::{Histogram, NEVER_WRITTEN, Statistics, TableStatistics};
use model::key::PartitionKey;
use observe::{LargePartition, Spread, TableSize};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Of the largest partitions of a table.
const LARGEST_MAX: usize = 64;

impl Engine {
    /// By table, as of the last `show_sizes` of each shard.
    pub fn table_sizes(&self) -> BTreeMap<u32, TableSize> {
        let mut tables: BTreeMap<u32, TableStatistics> = BTreeMap::new();
        for shard in &self.shared.sizes {
            for (id, found) in shard.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                match tables.get_mut(id) {
                    None => drop(tables.insert(*id, found.clone())),
                    Some(sum) => {
                        sum.total.merge(&found.total);
                        sum.files += found.files;
                        sum.file_bytes += found.file_bytes;
                        // No partition is on two shards.
                        sum.largest.extend(found.largest.iter().cloned());
                    }
                }
            }
        }
        let now_micros = self.shared.clock.micros();
        tables.into_iter().map(|(id, found)| (id, TableSize { now_micros, ..size(found) })).collect()
    }
}

fn size(mut found: TableStatistics) -> TableSize {
    found.largest.sort_by_key(|size| std::cmp::Reverse(size.bytes_min));
    let largest = found.largest.iter().take(LARGEST_MAX).filter_map(|size| {
        let key = PartitionKey::from_prefix(&size.prefix)?.bytes().into();
        let (bytes_min, bytes_max, rows) = (size.bytes_min, size.bytes_max, size.rows_min);
        Some(LargePartition {
            key,
            bytes_min,
            bytes_max,
            rows,
            oldest_micros: (size.oldest != NEVER_WRITTEN).then_some(size.oldest),
            growth_day: size.growth_day,
            growth_week: size.growth_week,
        })
    });
    let total: &Statistics = &found.total;
    let mut below = 0;
    let buckets = total.partition_bytes.buckets().map(|(bound, count)| {
        below += count;
        (bound, below)
    });
    let written =
        (total.min_timestamp <= total.max_timestamp).then_some((total.min_timestamp, total.max_timestamp));
    TableSize {
        partitions: total.partitions,
        rows: total.rows,
        bytes: total.data_bytes,
        files: found.files,
        file_bytes: found.file_bytes,
        tombstones: total.tombstones(),
        written_micros: written,
        partition_bytes: spread(&total.partition_bytes),
        partition_rows: spread(&total.partition_rows),
        row_bytes: spread(&total.row_bytes),
        partition_buckets: buckets.collect(),
        largest: largest.collect(),
        now_micros: 0,
    }
}

fn spread(histogram: &Histogram) -> Spread {
    Spread { p50: histogram.quantile(0.5), p99: histogram.quantile(0.99), max: histogram.max() }
}
