//! Statistics as bytes (layout: docs/format/table.md).

use super::{Histogram, Largest, Statistics};
use model::vint;

impl Statistics {
    /// Everything but the row bounds and the ledger, which have sections of their own.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let counts = [
            self.partitions,
            self.rows,
            self.static_rows,
            self.range_tombstones,
            self.partition_deletions,
            self.row_deletions,
            self.cell_tombstones,
            self.expiring,
            self.data_bytes,
        ];
        counts.iter().for_each(|n| vint::put(out, *n));
        vint::put_signed(out, self.min_timestamp);
        vint::put_signed(out, self.max_timestamp);
        let seconds = [self.min_local_seconds, self.max_local_seconds, self.max_expiry, self.all_expired_at];
        seconds.iter().for_each(|n| vint::put(out, u64::from(*n)));
        vint::put(out, self.log_min);
        vint::put(out, self.log_max);
        self.partition_bytes.encode(out);
        self.partition_rows.encode(out);
        self.row_bytes.encode(out);
        self.largest.encode(out);
    }

    pub fn decode(mut bytes: &[u8]) -> Option<Statistics> {
        let bytes = &mut bytes;
        let statistics = Statistics {
            partitions: vint::take(bytes)?,
            rows: vint::take(bytes)?,
            static_rows: vint::take(bytes)?,
            range_tombstones: vint::take(bytes)?,
            partition_deletions: vint::take(bytes)?,
            row_deletions: vint::take(bytes)?,
            cell_tombstones: vint::take(bytes)?,
            expiring: vint::take(bytes)?,
            data_bytes: vint::take(bytes)?,
            min_timestamp: vint::take_signed(bytes)?,
            max_timestamp: vint::take_signed(bytes)?,
            min_local_seconds: vint::take_u32(bytes)?,
            max_local_seconds: vint::take_u32(bytes)?,
            max_expiry: vint::take_u32(bytes)?,
            all_expired_at: vint::take_u32(bytes)?,
            log_min: vint::take(bytes)?,
            log_max: vint::take(bytes)?,
            partition_bytes: Histogram::decode(bytes)?,
            partition_rows: Histogram::decode(bytes)?,
            row_bytes: Histogram::decode(bytes)?,
            largest: Largest::decode(bytes)?,
            row_bounds: None,
            ledger: None,
        };
        bytes.is_empty().then_some(statistics)
    }
}
