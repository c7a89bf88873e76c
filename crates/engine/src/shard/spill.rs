//! Buckets that spill: which ones have become too large, the points from which they continue in finer buckets, and moving the rows of a
//! commit to the right buckets.
//!
//! A point is set while no commit is under way on any shard. So a commit either came before the point was set, and all its rows are before
//! the point, or it comes after, and its rows go to the buckets that the point says.

use super::holds::Holds;
use super::{Shard, TableState};
use crate::log::NO_BALLOT;
use crate::memtable::Memtable;
use crate::merge::{self, Sources};
use model::key::PartitionKey;
use model::row::RowView;
use std::rc::Rc;
use store::spill::{Division, divide, divide_checks, is_divided, point_of};
use store::{
    ConditionalCommit, Flow, Mutation, Partitions, Read, ReadEnd, RowCheck, RowPosition, Sink, Slice,
    StoreError, TableId,
};

/// Points that a shard reads at a time when it learns them.
const SCAN_ENTRIES: u64 = 100_000;

impl Shard {
    /// A partition of a table that spills has changed: whether it is too large now.
    pub(super) fn look_for_spill(&self, table: &mut TableState, mutation: &Mutation) {
        let Some(spill) = &table.config.spill else { return };
        let (bytes, rows, id, finer) = (spill.bytes, spill.rows, table.config.id, spill.finer.clone());
        let held = table.held_of(mutation.key.token().ring_position());
        let is_large = held.bytes >= bytes || held.rows >= rows;
        if is_large && finer.may_spill(&mutation.key) && self.shared.points.find(id, &mutation.key).is_none()
        {
            self.shared.points.must_spill(id, &mutation.key);
        }
    }

    /// Gives rows behind the points of their buckets to finer buckets.
    pub fn give_home(&self, mutations: &mut Vec<Mutation>) {
        if !self.shared.points.any() {
            return;
        }
        let mut at = 0;
        while let Some(mutation) = mutations.get(at) {
            let (table, key) = (mutation.table, mutation.key.clone());
            let home = |clustering: &[u8]| self.home(table, &key, clustering);
            match self.spills(table, &key) && is_divided(mutation, &home) {
                false => at += 1,
                true => {
                    let parts = divide(mutations.remove(at), &home);
                    let count = parts.len();
                    mutations.splice(at..at, parts);
                    at += count;
                }
            }
        }
    }

    /// Whether a partition is a bucket that has spilled.
    fn spills(&self, table: TableId, key: &PartitionKey) -> bool {
        self.shared.points.find(table, key).is_some()
    }

    /// The finer bucket of a row, if it is behind the point of its bucket.
    pub fn home(&self, table: TableId, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
        let point = self.shared.points.find(table, key)?;
        let tables = self.tables.borrow();
        tables.get(&table)?.config.spill.as_ref()?.finer.home(key, point, clustering)
    }

    /// The same for a conditional commit. Checks that have to be divided make it one of several partitions; what comes back tells
    /// its outcome as it was asked for.
    pub fn give_home_if(&self, commit: &mut ConditionalCommit) -> Option<Division> {
        if !self.shared.points.any() {
            return None;
        }
        self.give_home(&mut commit.mutations);
        divide_checks(commit, &|table, key, clustering| self.home(table, key, clustering))
    }

    /// Whether rows of a conditional commit are in other partitions than it says.
    pub fn is_elsewhere(&self, commit: &ConditionalCommit) -> bool {
        if !self.shared.points.any() {
            return false;
        }
        let moved = |table: TableId, key: &PartitionKey, checks: &[RowCheck]| {
            self.spills(table, key)
                && checks.iter().any(|check| match &check.position {
                    RowPosition::Row(clustering) => self.home(table, key, clustering).is_some(),
                    RowPosition::Static => false,
                })
        };
        let divided = |mutation: &Mutation| {
            let (table, key) = (mutation.table, &mutation.key);
            self.spills(table, key) && is_divided(mutation, &|clustering| self.home(table, key, clustering))
        };
        moved(commit.table, &commit.key, &commit.checks)
            || commit.further.iter().any(|check| moved(check.table, &check.key, &check.checks))
            || commit.mutations.iter().any(divided)
    }

    /// Of these buckets those that have a point they can go on from.
    pub fn spillable(&self, buckets: Vec<(TableId, PartitionKey)>) -> Vec<(TableId, PartitionKey)> {
        let mut spillable = Vec::with_capacity(buckets.len());
        for (table, key) in buckets {
            match self.next_point(table, &key) {
                Ok(Some(_)) => spillable.push((table, key)),
                Ok(None) => self.shared.points.too_late(table, key),
                Err(error) => tracing::warn!(%error, "a bucket that is too large cannot be looked at"),
            }
        }
        spillable
    }

    /// The point behind everything that a bucket has, deletions of rows included.
    fn next_point(&self, table: TableId, key: &PartitionKey) -> Result<Option<i64>, StoreError> {
        let tables = self.tables.borrow();
        let Some(state) = tables.get(&table) else { return Ok(None) };
        let Some(spill) = &state.config.spill else { return Ok(None) };
        let sealed = state.sealed.iter().map(|sealed| &sealed.memtable);
        let memtables: Vec<&Memtable> = sealed.chain([&state.active]).collect();
        let sources = Sources { memtables: &memtables, tables: &state.files, cache: Some(&self.cache) };
        let newest = merge::outermost_row(&sources, key.prefix(), !spill.finer.newest_first())?;
        Ok(newest.and_then(|newest| spill.finer.point(key, &newest)))
    }

    /// Sets the points of these buckets: durable when it returns. No commit is under way, and none is let in.
    pub async fn set_points(
        self: &Rc<Self>,
        buckets: Vec<(TableId, PartitionKey)>,
    ) -> Result<usize, StoreError> {
        let mut points = Vec::with_capacity(buckets.len());
        let mut records = Vec::with_capacity(buckets.len());
        for (table, key) in buckets {
            let known = self.shared.points.find(table, &key);
            if let (None, Some(point)) = (known, self.next_point(table, &key)?) {
                let tables = self.tables.borrow();
                let spill = tables.get(&table).and_then(|state| state.config.spill.as_ref());
                records.extend(spill.map(|spill| spill.record(&key, point)));
                points.push((table, key, point));
            }
        }
        if points.is_empty() {
            return Ok(0);
        }
        self.log_and_apply(NO_BALLOT, records, Holds::default()).await?;
        let count = points.len();
        points.into_iter().for_each(|(table, key, point)| self.shared.points.add(table, key, point));
        Ok(count)
    }

    /// Learns the points of a table that were set earlier.
    pub(super) fn learn_points(&self, table: TableId, points: TableId) {
        let mut read =
            Read { scan_limit: SCAN_ENTRIES, ..Read::of(points, Partitions::all(), vec![Slice::all()], 0) };
        let mut learner = Learner { shard: self, table, key: None };
        loop {
            match self.read(&read, &mut learner).map(|outcome| outcome.end) {
                Ok(ReadEnd::Paused(position)) => read.after = Some(position),
                Ok(ReadEnd::Complete | ReadEnd::Stopped) => return,
                Err(error) => {
                    // A write that does not know a point would put a row where no reader of that moment looks for it.
                    let reason = format!("the points of spilled buckets cannot be read: {error}");
                    tracing::error!(shard = self.index, "{reason}; writes are stopped");
                    return self.shared.log.fail(reason);
                }
            }
        }
    }
}

struct Learner<'s> {
    shard: &'s Shard,
    table: TableId,
    key: Option<PartitionKey>,
}

impl Sink for Learner<'_> {
    fn partition(&mut self, key: &PartitionKey) -> Flow {
        self.key = Some(key.clone());
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        if let (Some(key), Some(point)) = (&self.key, point_of(row)) {
            self.shard.shared.points.add(self.table, key.clone(), point);
        }
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
