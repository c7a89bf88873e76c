//! What statistics need from one row, in one pass over it.

use super::NEVER;
use model::deletion::Timestamp;
use model::row::{CellState, RowView};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowFacts {
    pub min_timestamp: Timestamp,
    pub max_timestamp: Timestamp,
    pub min_local_seconds: u32,
    pub max_local_seconds: u32,
    pub max_expiry: u32,
    /// From this second on nothing of the row is live.
    pub expired_at: u32,
    pub deletes_row: bool,
    pub cell_tombstones: u32,
    pub expiring: u32,
}

impl RowFacts {
    pub fn of(row: &RowView<'_>) -> RowFacts {
        let mut facts = RowFacts {
            min_timestamp: Timestamp::MAX,
            max_timestamp: Timestamp::MIN,
            min_local_seconds: NEVER,
            max_local_seconds: 0,
            max_expiry: 0,
            expired_at: 0,
            deletes_row: false,
            cell_tombstones: 0,
            expiring: 0,
        };
        if let Some(marker) = row.marker() {
            facts.timestamp(marker.timestamp);
            if marker.ttl > 0 {
                facts.expiring(marker.ttl, marker.expiry);
            } else {
                facts.expired_at = NEVER;
            }
        }
        let deletion = row.deletion();
        if !deletion.is_none() {
            facts.timestamp(deletion.timestamp);
            facts.tombstone(deletion.local_seconds);
            facts.deletes_row = true;
        }
        for cell in row.cells() {
            facts.timestamp(cell.timestamp);
            match cell.state {
                CellState::Live(_) => facts.expired_at = NEVER,
                CellState::Expiring { ttl, expiry, .. } => facts.expiring(ttl, expiry),
                CellState::Tombstone { local_seconds } | CellState::ComplexDeletion { local_seconds } => {
                    facts.tombstone(local_seconds);
                    facts.cell_tombstones += 1;
                }
            }
        }
        facts
    }

    #[inline]
    fn timestamp(&mut self, timestamp: Timestamp) {
        self.min_timestamp = self.min_timestamp.min(timestamp);
        self.max_timestamp = self.max_timestamp.max(timestamp);
    }

    fn tombstone(&mut self, local_seconds: u32) {
        self.min_local_seconds = self.min_local_seconds.min(local_seconds);
        self.max_local_seconds = self.max_local_seconds.max(local_seconds);
    }

    fn expiring(&mut self, ttl: u32, expiry: u32) {
        self.tombstone(expiry.saturating_sub(ttl));
        self.max_expiry = self.max_expiry.max(expiry);
        self.expired_at = self.expired_at.max(expiry);
        self.expiring += 1;
    }
}
