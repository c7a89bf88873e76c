//! Items and bytes of a table, and provisioned throughput if it is to be kept to.
//!
//! Counts are kept in memory: exact for tables made since the server started, for others counted by a scan when somebody asks for the
//! first time and kept in step from then on (writes during that scan may be missed or counted twice).

use super::table::OpenTable;
use super::{Caller, Dynamo, layout, store_error};
use crate::error::{ApiError, ErrorName};
use crate::table::BillingMode;
use model::key::PartitionKey;
use model::row::RowView;
use std::sync::atomic::Ordering::Relaxed;
use store::{Flow, Partitions, Read, ReadEnd, Sink, Slice, Store, TableId};

/// Entries examined before others have their turn.
pub const ENTRIES_PER_TURN: u64 = 2_000;
/// Unused throughput of so many seconds may be used later.
const BURST_SECONDS: i64 = 300;

impl<S: Store> Dynamo<S> {
    /// Items and accounted bytes of a table.
    pub(super) async fn counted(
        &self,
        caller: &Caller<'_>,
        table: &OpenTable,
    ) -> Result<(i64, i64), ApiError> {
        let counts = &table.counts;
        if !counts.known.load(Relaxed) {
            let (items, bytes) = self.count_rows(caller, table.id, table.column).await?;
            // Somebody else may have been faster.
            if !counts.known.swap(true, Relaxed) {
                counts.items.store(items, Relaxed);
                counts.bytes.store(bytes, Relaxed);
            }
        }
        Ok((counts.items.load(Relaxed).max(0), counts.bytes.load(Relaxed).max(0)))
    }

    /// The same for any table of documents, always by a scan.
    pub(super) async fn count_rows(
        &self,
        caller: &Caller<'_>,
        table: TableId,
        column: u32,
    ) -> Result<(i64, i64), ApiError> {
        let mut read = all_rows(table, caller.now_seconds());
        let mut rows = Rows { column, now_seconds: caller.now_seconds(), items: 0, bytes: 0 };
        loop {
            match self.runtime.store.read(&read, &mut rows).await.map_err(store_error)?.end {
                ReadEnd::Paused(position) => read.after = Some(position),
                ReadEnd::Complete | ReadEnd::Stopped => return Ok((rows.items, rows.bytes)),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Refuses a write that the table has no throughput left for.
    pub(super) fn throttle_write(&self, caller: &Caller<'_>, table: &OpenTable) -> Result<(), ApiError> {
        self.throttle(caller, table, false)
    }

    pub(super) fn throttle_read(&self, caller: &Caller<'_>, table: &OpenTable) -> Result<(), ApiError> {
        self.throttle(caller, table, true)
    }

    pub(super) fn charge_write(&self, table: &OpenTable, units: f64) {
        if self.shared.settings.throttle {
            table.counts.write_units.fetch_sub((units * 1_000.0) as i64, Relaxed);
        }
    }

    pub(super) fn charge_read(&self, table: &OpenTable, units: f64) {
        if self.shared.settings.throttle {
            table.counts.read_units.fetch_sub((units * 1_000.0) as i64, Relaxed);
        }
    }

    fn throttle(&self, caller: &Caller<'_>, table: &OpenTable, reads: bool) -> Result<(), ApiError> {
        if !self.shared.settings.throttle || table.definition.billing != BillingMode::Provisioned {
            return Ok(());
        }
        let (counts, throughput) = (&table.counts, &table.definition.throughput);
        let last = counts.topped_up_micros.swap(caller.now_micros, Relaxed);
        let passed = (caller.now_micros - last).clamp(0, BURST_SECONDS * 1_000_000);
        for (units, per_second) in
            [(&counts.read_units, throughput.read), (&counts.write_units, throughput.write)]
        {
            let most = per_second.saturating_mul(1_000 * BURST_SECONDS);
            let more = per_second.saturating_mul(passed) / 1_000;
            // Nobody minds if two that come at once lose a thousandth of a unit.
            let _ = units.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_add(more).min(most)));
        }
        let (left, word) = match reads {
            true => (&counts.read_units, "Read"),
            false => (&counts.write_units, "Write"),
        };
        if left.load(Relaxed) > 0 {
            return Ok(());
        }
        let text = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
                    provisioning level with the UpdateTable API.";
        let arn = self.shared.table_arn(&table.definition.name);
        let reasons =
            format!(r#"[{{"reason":"Table{word}ProvisionedThroughputExceeded","resource":"{arn}"}}]"#);
        Err(ApiError::new(ErrorName::ProvisionedThroughputExceeded, text)
            .with("ThrottlingReasons", reasons.into_bytes()))
    }
}

/// A read of everything in a table.
pub fn all_rows(table: TableId, now_seconds: u32) -> Read {
    Read {
        scan_limit: ENTRIES_PER_TURN,
        ..Read::of(table, Partitions::all(), vec![Slice::all()], now_seconds)
    }
}

struct Rows {
    column: u32,
    now_seconds: u32,
    items: i64,
    bytes: i64,
}

impl Sink for Rows {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        if let Ok(document) = layout::document(&row, self.column, self.now_seconds) {
            self.items += 1;
            self.bytes += document.size() as i64;
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
