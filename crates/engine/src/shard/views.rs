//! Rows of views: found from the rows that a mutation touches as they are and as they will be. The base partition is locked.

use super::Shard;
use super::projections::Projected;
use super::reads::CurrentRows;
use crate::memtable::Memtable;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW};
use std::collections::HashSet;
use store::index::Needs;
use store::view::{BaseRow, NOTHING_EXPIRED};
use store::{Mutation, Partitions, Read, ReadEnd, RowPosition, Slice, StoreError};

/// Stored entries that one mutation of a table with views may touch: all of them become part of one commit.
const TOUCHED_MAX: u64 = 100_000;

impl Shard {
    pub(super) fn view_delta(&self, mutation: &Mutation, now_seconds: u32) -> Result<Projected, StoreError> {
        let views = self.with_table(mutation.table, |table| Ok(table.config.views.clone()))?;
        let touched = touched(mutation);
        if views.is_empty() || touched.is_empty() {
            return Ok(Projected::default());
        }
        let read = Read {
            table: mutation.table,
            partitions: Partitions::One(mutation.key.clone()),
            slices: super::indexes::slices(touched),
            reverse: false,
            statics: false,
            after: None,
            now_seconds: NOTHING_EXPIRED,
            scan_limit: TOUCHED_MAX,
            tombstone_limit: u64::MAX,
        };
        let mut then = Memtable::new();
        then.apply(mutation, 0);
        let (before, after) = (self.rows_of(&read, None)?, self.rows_of(&read, Some(&then))?);
        // A row of a view is replaced by a deletion just below it, so each commit takes two.
        self.next_ballot();
        let timestamp = self.next_ballot();
        let positions: HashSet<&RowPosition> = before.rows().chain(after.rows()).map(|(at, _)| at).collect();
        let mut mutations = Vec::new();
        for position in positions {
            let RowPosition::Row(clustering) = position else { continue };
            if before.payload(position) == after.payload(position) {
                continue;
            }
            let base = |row| BaseRow { key: &mutation.key, clustering, row };
            let (was, is) = (before.view(position).map(base), after.view(position).map(base));
            for view in &views {
                mutations.extend(view.follow(was, is, timestamp, now_seconds));
            }
        }
        Ok(Projected { mutations, ballot: Some(timestamp) })
    }

    fn rows_of(&self, read: &Read, then: Option<&Memtable>) -> Result<CurrentRows, StoreError> {
        let mut rows = CurrentRows::default();
        match self.read_then(read, then, &mut rows)?.end {
            ReadEnd::Complete | ReadEnd::Stopped => Ok(rows),
            ReadEnd::Paused(_) => Err(StoreError::Invalid(format!(
                "The table has materialized views, and one statement may touch at most {TOUCHED_MAX} of its rows; delete fewer \
                 at once, by ranges of the clustering key"
            ))),
        }
    }
}

/// The rows that a mutation writes or deletes.
fn touched(mutation: &Mutation) -> Needs {
    let mut touched = Needs::default();
    for entry in mutation.entries() {
        match entry.position.split_first() {
            Some((&KIND_PARTITION_DELETION, _)) => touched.ranges.push(Slice::all()),
            Some((&KIND_RANGE, start)) => {
                if let Some((_, end)) = model::deletion::Deletion::decode(entry.payload) {
                    touched.ranges.push(Slice { start: start.to_vec(), end: end.to_vec() });
                }
            }
            Some((&KIND_ROW, clustering)) => touched.rows.push(RowPosition::Row(clustering.to_vec())),
            _ => {}
        }
    }
    touched
}
