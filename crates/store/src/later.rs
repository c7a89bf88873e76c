//! Copies that follow their table later: what a writer leaves for them, and what becomes of it.
//!
//! A commit to the table adds one *pending* entry per partition, in its own record: which rows it touched, and when. A consumer takes entries,
//! reads these rows as they are by then, and brings the copy to what its definition makes of them. Another table, its *places*, says which rows of the copy belong to a
//! row of the table, so that no writer has to look at what was there before.
//!
//! Guarantees: applying an entry twice, or late, makes the same copy, because what is written follows from the table as it is. The copy's rows, the
//! places and the removal of the entries are one commit, so an entry that is gone was applied, and one that is there was not.
//!
//! Pending entries and places have the partition key of the table's row, so all three are of one shard, whatever the number of shards.

use crate::TableId;
use crate::mutation::Mutation;
use crate::read::Slice;
use crate::view::{BaseRow, NOTHING_EXPIRED, ViewConfig};
use model::deletion::{Deletion, Marker, Timestamp};
use model::key::PartitionKey;
use model::row::{Cell, CellState, ColumnId, NEVER, RowView, RowWriter};
use model::vint;

#[cfg(test)]
mod tests;

/// The one column of pending entries, and of places.
const COLUMN: ColumnId = 0;

/// One copy that follows later, as its store must know it.
#[derive(Clone, Debug, PartialEq)]
pub struct LaterConfig {
    /// The table that it follows.
    pub base: TableId,
    /// What it has, by its definition.
    pub view: ViewConfig,
    /// Holds what is still to be done.
    pub pending: TableId,
    /// Holds where the copy has the rows of each row.
    pub places: TableId,
    /// How far behind it may be.
    pub bound_millis: u64,
    pub on_lag: OnLag,
}

/// What happens to writers of the table when the bound is about to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLag {
    /// They wait.
    Wait,
    /// They are refused.
    Refuse,
    /// Nothing: the copy is late.
    Late,
}

/// How far a copy is behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Rows and ranges that were written and are not followed yet.
    pub rows: u64,
    /// Since when the oldest of them waits.
    pub millis: u64,
    /// Changes that were too large for one commit and are being continued.
    pub continued: u64,
}

/// What a commit has left to be done in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Names it; no other entry of the partition has it.
    pub stamp: Timestamp,
    /// When the writer came; earlier than the stamp in what is left of an entry.
    pub since: Timestamp,
    /// The rows that were touched: ascending and disjoint.
    pub slices: Vec<Slice>,
}

impl Pending {
    /// The entry as a mutation of the pending table.
    pub fn mutation(&self, table: TableId, key: PartitionKey) -> Mutation {
        let mut value = Vec::new();
        vint::put_signed(&mut value, self.stamp.wrapping_sub(self.since));
        for slice in &self.slices {
            let is_one =
                slice.end.split_last().is_some_and(|(last, start)| *last == 0 && start == slice.start);
            value.push(u8::from(is_one));
            vint::put_slice(&mut value, &slice.start);
            if !is_one {
                vint::put_slice(&mut value, &slice.end);
            }
        }
        let mut row = RowWriter::with_capacity(value.len() + 16);
        row.begin(self.stamp, Some(Marker::new(self.stamp)), Deletion::NONE);
        row.live(COLUMN, &value);
        let mut mutation = Mutation::new(table, key);
        mutation.row(&self.stamp.to_be_bytes(), row.view());
        mutation
    }

    /// Reads an entry back; `None`: it is removed, or damaged.
    pub fn read(clustering: &[u8], row: RowView<'_>) -> Option<Pending> {
        let stamp = i64::from_be_bytes(clustering.try_into().ok()?);
        let cell = row.cells().find(|cell| cell.column == COLUMN)?;
        let mut value = cell.live_value(NOTHING_EXPIRED)?;
        let since = stamp.wrapping_sub(vint::take_signed(&mut value)?);
        let mut slices = Vec::new();
        while let Some((&is_one, rest)) = value.split_first() {
            value = rest;
            let start = vint::take_slice(&mut value)?;
            slices.push(match is_one {
                1 => Slice::one(start),
                _ => Slice { start: start.to_vec(), end: vint::take_slice(&mut value)?.to_vec() },
            });
        }
        Some(Pending { stamp, since, slices })
    }
}

/// Where the copy has a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    key: PartitionKey,
    clustering: Vec<u8>,
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.key.bytes().len() + self.clustering.len() + 2);
        vint::put_slice(&mut bytes, self.key.bytes());
        bytes.extend_from_slice(&self.clustering);
        bytes
    }

    fn decode(mut bytes: &[u8]) -> Option<Place> {
        let key = PartitionKey::of(vint::take_slice(&mut bytes)?)?;
        Some(Place { key, clustering: bytes.to_vec() })
    }

    fn of(row: RowView<'_>) -> Option<Place> {
        let cell = row.cells().find(|cell| cell.column == COLUMN)?;
        Place::decode(cell.live_value(NOTHING_EXPIRED)?)
    }
}

impl LaterConfig {
    /// Removes entries of a partition, at a timestamp above theirs.
    pub fn done(
        &self,
        key: &PartitionKey,
        stamps: impl Iterator<Item = Timestamp>,
        timestamp: Timestamp,
        now_seconds: u32,
    ) -> Mutation {
        let mut mutation = Mutation::new(self.pending, key.clone());
        let mut row = RowWriter::new();
        row.begin(timestamp, None, Deletion { timestamp, local_seconds: now_seconds });
        stamps.for_each(|stamp| mutation.row(&stamp.to_be_bytes(), row.view()));
        mutation
    }

    /// What brings the copy to what it must have of one row of the table. `row`: as the table has it; `place`: the row of the places.
    /// `timestamp` and the one before it are higher than any that the copy has for the row.
    pub fn follow(
        &self,
        key: &PartitionKey,
        clustering: &[u8],
        row: Option<RowView<'_>>,
        place: Option<RowView<'_>>,
        (timestamp, now_seconds): (Timestamp, u32),
    ) -> Vec<Mutation> {
        let base = row.map(|row| BaseRow { key, clustering, row });
        let was = place.and_then(Place::of);
        let is = base.and_then(|base| Some((base, self.view.place(base)?)));
        let mut out = Vec::with_capacity(3);
        let at = was.as_ref().map(|was| (&was.key, was.clustering.as_slice()));
        out.extend(self.view.follow_from(at, is.as_ref(), timestamp, now_seconds));
        let mut writer = RowWriter::new();
        match is {
            Some((base, place)) => {
                // As long as the copy has the row: then nobody needs to know where it was.
                let end = self.view.end(base, &place);
                let place = Place { key: place.key, clustering: place.clustering }.encode();
                let ttl = end.saturating_sub(now_seconds).max(1);
                let state = match end {
                    NEVER => CellState::Live(&place),
                    expiry => CellState::Expiring { value: &place, ttl, expiry },
                };
                writer.begin(timestamp, None, Deletion::NONE);
                writer.cell(&Cell { column: COLUMN, path: None, timestamp, state });
            }
            None if was.is_some() => {
                writer.begin(timestamp, None, Deletion { timestamp, local_seconds: now_seconds });
            }
            None => return out,
        }
        let mut mutation = Mutation::new(self.places, key.clone());
        mutation.row(clustering, writer.view());
        out.push(mutation);
        out
    }
}
