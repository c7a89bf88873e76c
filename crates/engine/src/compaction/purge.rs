//! What a compaction may drop for good.
//!
//! A tombstone or expired data goes only when nothing older can lie beneath it: no other source that
//! may hold the partition has data with a timestamp at or below its own; no log segment that its inputs came
//! from could be replayed; and the grace period is over.

use crate::table::Table;
use model::deletion::Timestamp;
use model::merge::Purge;
use std::sync::Arc;

/// When, and up to where, purging is allowed at all.
#[derive(Clone, Copy, Debug)]
pub struct PurgeTerms {
    pub now_seconds: u32,
    /// How long tombstones are kept in any case.
    pub grace_seconds: u32,
    /// Segments below this are recycled: nothing in them can come back by replay.
    pub oldest_live_segment: u64,
}

/// The sources of the table that do not take part in the compaction.
#[derive(Clone, Copy)]
pub struct Others<'a> {
    pub tables: &'a [Arc<Table>],
    /// The smallest timestamp in any memtable of the table on this shard, active or sealed, when the merge began. It is
    /// checked again before the outcome is published.
    pub memtables_min_timestamp: Option<Timestamp>,
}

impl Others<'_> {
    /// The smallest timestamp that a source which may hold the partition can have for it.
    pub fn min_timestamp(&self, prefix: &[u8]) -> Timestamp {
        let tables = self.tables.iter().filter(|table| table.may_contain(prefix));
        let tables = tables.map(|table| table.statistics().min_timestamp);
        tables.chain(self.memtables_min_timestamp).min().unwrap_or(Timestamp::MAX)
    }
}

impl PurgeTerms {
    /// Tombstones made before this second are old enough.
    pub fn before_seconds(&self) -> u32 {
        // "made + grace <= now" is "made < now - grace + 1"; nothing is old enough while now < grace.
        self.now_seconds.checked_sub(self.grace_seconds).map_or(0, |at| at.saturating_add(1))
    }

    /// What may go from a partition in files whose newest log segment is `log_max`.
    pub fn purge(&self, log_max: u64, below_timestamp: Timestamp) -> Option<Purge> {
        (log_max < self.oldest_live_segment).then_some(Purge {
            before_seconds: self.before_seconds(),
            now_seconds: self.now_seconds,
            below_timestamp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_and_log_segments_hold_tombstones_back() {
        let terms =
            |now_seconds, grace_seconds| PurgeTerms { now_seconds, grace_seconds, oldest_live_segment: 7 };
        for (now, grace, before) in [(100, 0, 101), (100, 10, 91), (100, 100, 1), (100, 101, 0)] {
            assert_eq!(terms(now, grace).before_seconds(), before, "{now} {grace}");
        }
        assert!(terms(100, 0).purge(7, 5).is_none());
        assert_eq!(terms(100, 0).purge(6, 5).unwrap().below_timestamp, 5);
    }
}
