//! The naive store: the contract in the simplest way, all in memory, nothing clever.
//!
//! It is the model that the engine is tested against and the holder of virtual tables. It keeps every
//! deletion as it came and decides what is visible when somebody reads. It never purges, never
//! pauses, and forgets everything when dropped.

use crate::buckets::BucketsConfig;
use crate::commit::{CasOutcome, CheckedPartition, Commit, ConditionalCommit, CurrentRow};
use crate::condition::{RowCheck, RowPosition};
use crate::constraint::Violation;
use crate::error::StoreError;
use crate::groups::GroupsConfig;
use crate::index::{self, IndexConfig};
use crate::mirror::{Images, MirrorConfig};
use crate::mutation::Mutation;
use crate::read::{Flow, Partitions, Read, ReadEnd, ReadOutcome, Sink};
use crate::row_ttl::{LivingRows, RowTtl};
use crate::transaction::{Decide, Horizon, Moment, Stamped, Transaction};
use crate::view::{BaseRow, ViewConfig};
use crate::{NoPrompt, Promises, Store, TableConfig, TableId};
use model::deletion::Deletion;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_STATIC, PartitionKey};
use model::merge::RowMerger;
use model::row::RowView;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

mod operations;
#[cfg(test)]
mod tests;
mod totals;

#[derive(Clone, Default)]
struct Partition {
    deletion: Option<Deletion>,
    /// Every range deletion ever made, in order of arrival.
    ranges: Vec<(Vec<u8>, Vec<u8>, Deletion)>,
    static_row: Option<Vec<u8>>,
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
}

#[derive(Clone, Default)]
struct Table {
    incarnation: u32,
    indexes: Vec<IndexConfig>,
    views: Vec<ViewConfig>,
    buckets: Option<BucketsConfig>,
    mirror: Option<MirrorConfig>,
    groups: Option<Arc<GroupsConfig>>,
    row_ttl: Option<RowTtl>,
    partitions: BTreeMap<PartitionKey, Partition>,
}

/// See the module.
#[derive(Default)]
pub struct NaiveStore {
    tables: RefCell<BTreeMap<TableId, Table>>,
    catalogue: RefCell<Option<Vec<u8>>>,
    last_ballot: RefCell<i64>,
}

impl NaiveStore {
    pub fn new() -> NaiveStore {
        NaiveStore::default()
    }

    /// One partition of a conditional commit.
    fn checked(
        &self,
        table: TableId,
        key: &PartitionKey,
        checks: &[RowCheck],
        now_seconds: u32,
    ) -> Result<CheckedPartition, StoreError> {
        let live = |at: &RowPosition| {
            let payload = self.current(table, key, at, now_seconds)?;
            let row = RowView::from_payload(&payload)?;
            (row.is_live(now_seconds) && !self.is_over(table, at, &row, now_seconds)).then_some(payload)
        };
        let static_row = live(&RowPosition::Static);
        let mut holds = true;
        let mut rows = Vec::new();
        for check in checks {
            let row = live(&check.position);
            let views = (row.as_deref(), static_row.as_deref());
            // The first check that fails decides; later ones are not evaluated.
            holds = holds
                && check.holds(
                    views.0.and_then(RowView::from_payload),
                    views.1.and_then(RowView::from_payload),
                    now_seconds,
                )?;
            rows.push(CurrentRow { position: check.position.clone(), row });
        }
        Ok(CheckedPartition { holds, key: key.clone(), static_row, rows })
    }

    fn row_ttl(&self, table: TableId) -> Option<RowTtl> {
        self.tables.borrow().get(&table)?.row_ttl
    }

    /// Whether the moment of a row has come.
    fn is_over(&self, table: TableId, at: &RowPosition, row: &RowView<'_>, now_seconds: u32) -> bool {
        *at != RowPosition::Static && self.row_ttl(table).is_some_and(|ttl| ttl.is_over(row, now_seconds))
    }

    pub fn create(&self, table: TableId) {
        self.tables.borrow_mut().entry(table).or_default();
    }

    pub fn catalogue(&self) -> Option<Vec<u8>> {
        self.catalogue.borrow().clone()
    }

    /// Applies one mutation, with what it does to the indexes of its table; operations that need the current value are
    /// resolved first.
    pub fn apply(&self, mutation: &Mutation, now_seconds: u32) -> Result<(), StoreError> {
        self.apply_all(std::slice::from_ref(mutation), now_seconds)
    }

    /// All of them or none. Of several wrong statements the first one is reported, whichever partitions they are on.
    fn apply_all(&self, mutations: &[Mutation], now_seconds: u32) -> Result<(), StoreError> {
        // Totals may refuse a commit when its rows are there already.
        let totalled = mutations.iter().any(|mutation| self.is_totalled(mutation.table));
        let kept = totalled.then(|| self.tables.borrow().clone());
        let outcome = self.apply_each(mutations, now_seconds);
        if let (Err(_), Some(kept)) = (&outcome, kept) {
            *self.tables.borrow_mut() = kept;
        }
        outcome
    }

    fn apply_each(&self, mutations: &[Mutation], now_seconds: u32) -> Result<(), StoreError> {
        let mut resolved = Vec::new();
        let mut refused: Option<Violation> = None;
        for mutation in operations::together(mutations) {
            match self.resolve(mutation, now_seconds) {
                Ok(mutation) => resolved.push(mutation),
                Err(new) if refused.as_ref().is_some_and(|earlier| earlier.statement <= new.statement) => {}
                Err(new) => refused = Some(new),
            }
        }
        match refused {
            Some(refused) => Err(refused.error),
            None => resolved.iter().try_for_each(|mutation| self.apply_resolved(mutation, now_seconds)),
        }
    }

    fn apply_resolved(&self, mutation: &Mutation, now_seconds: u32) -> Result<(), StoreError> {
        if let Some(mirror) = self.tables.borrow().get(&mutation.table).and_then(|t| t.mirror.as_ref()) {
            mirror.check(mutation)?;
        }
        let mut entries = self.index_delta(mutation, now_seconds);
        entries.extend(self.bucket_entry(mutation));
        let before = self.base_rows(mutation);
        std::iter::once(mutation).chain(&entries).try_for_each(|mutation| self.put(mutation))?;
        let copies = self.mirror_delta(mutation, &before)?;
        let views = self.view_delta(mutation, &before, now_seconds);
        copies.iter().try_for_each(|mutation| self.put(mutation))?;
        // Members have totals of their own, which are made of all that a group's partition gets.
        operations::together(&views)
            .iter()
            .try_for_each(|mutation| self.apply_resolved(mutation, now_seconds))?;
        self.total(mutation, &before, now_seconds)
    }

    /// The entry of a bucket, with every write of it.
    fn bucket_entry(&self, mutation: &Mutation) -> Option<Mutation> {
        self.tables.borrow().get(&mutation.table)?.buckets.as_ref()?.entry(mutation)
    }

    /// Every row of the partition, if its table has views or a mirror.
    fn base_rows(&self, mutation: &Mutation) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let tables = self.tables.borrow();
        let followed =
            |table: &&Table| !table.views.is_empty() || table.mirror.is_some() || table.groups.is_some();
        let table = tables.get(&mutation.table).filter(followed);
        let partition = table.and_then(|table| table.partitions.get(&mutation.key));
        let row = |clustering: &Vec<u8>| {
            let at = RowPosition::Row(clustering.clone());
            Some((clustering.clone(), self.current(mutation.table, &mutation.key, &at, 0)?))
        };
        partition.into_iter().flat_map(|partition| partition.rows.keys()).filter_map(row).collect()
    }

    /// What a mutation that was applied does to the views of its table.
    fn view_delta(
        &self,
        mutation: &Mutation,
        before: &BTreeMap<Vec<u8>, Vec<u8>>,
        now_seconds: u32,
    ) -> Vec<Mutation> {
        let after = self.base_rows(mutation);
        let tables = self.tables.borrow();
        let Some(table) = tables.get(&mutation.table).filter(|table| !table.views.is_empty()) else {
            return Vec::new();
        };
        let timestamp = *self.last_ballot.borrow() + 2;
        *self.last_ballot.borrow_mut() = timestamp;
        let mut out = Vec::new();
        for clustering in before.keys().chain(after.keys().filter(|row| !before.contains_key(*row))) {
            let (was, is) = (before.get(clustering), after.get(clustering));
            if was == is {
                continue;
            }
            let row = |row| BaseRow { key: &mutation.key, clustering, row };
            let was = was.and_then(|payload| RowView::from_payload(payload)).map(row);
            let is = is.and_then(|payload| RowView::from_payload(payload)).map(row);
            out.extend(table.views.iter().flat_map(|view| view.follow(was, is, timestamp, now_seconds)));
        }
        out
    }

    /// What a mutation that was applied does to the mirror of its table.
    fn mirror_delta(
        &self,
        mutation: &Mutation,
        before: &BTreeMap<Vec<u8>, Vec<u8>>,
    ) -> Result<Vec<Mutation>, StoreError> {
        let config = self.tables.borrow().get(&mutation.table).and_then(|table| table.mirror.clone());
        let Some(mirror) = config else { return Ok(Vec::new()) };
        let after = self.base_rows(mutation);
        let slices = crate::mirror::touched(mutation);
        let live = |row: &RowView<'_>| row.is_live(0);
        fn images<'r>(
            rows: &'r BTreeMap<Vec<u8>, Vec<u8>>,
            slices: &[crate::Slice],
            live: impl Fn(&RowView<'_>) -> bool,
        ) -> Images<'r> {
            let touched = |at: &[u8]| slices.iter().any(|slice| slice.contains(at));
            let rows = rows.iter().filter(|(at, _)| touched(at));
            rows.filter_map(|(at, row)| Some((&at[..], RowView::from_payload(row).filter(&live)?))).collect()
        }
        mirror.follow(mutation, &images(before, &slices, live), &images(&after, &slices, live))
    }

    fn put(&self, mutation: &Mutation) -> Result<(), StoreError> {
        let mut tables = self.tables.borrow_mut();
        let table = tables.get_mut(&mutation.table).ok_or(StoreError::UnknownTable(mutation.table))?;
        let partition = table.partitions.entry(mutation.key.clone()).or_default();
        for entry in mutation.entries() {
            if let Some((&kind, clustering)) = entry.position.split_first() {
                partition.put(kind, clustering, entry.payload);
            }
        }
        Ok(())
    }

    /// What a mutation does to the indexes of its table: every row of the partition is looked at.
    fn index_delta(&self, mutation: &Mutation, now_seconds: u32) -> Vec<Mutation> {
        let tables = self.tables.borrow();
        let Some(table) = tables.get(&mutation.table).filter(|table| !table.indexes.is_empty()) else {
            return Vec::new();
        };
        let rows = table.partitions.get(&mutation.key).map(|partition| &partition.rows);
        let positions = rows.into_iter().flat_map(BTreeMap::keys).map(|row| RowPosition::Row(row.clone()));
        let old: Vec<(RowPosition, Vec<u8>)> = std::iter::once(RowPosition::Static)
            .chain(positions)
            .filter_map(|at| {
                Some((at.clone(), self.current(mutation.table, &mutation.key, &at, now_seconds)?))
            })
            .collect();
        let live = |row: &RowView<'_>| row.is_live(now_seconds);
        let old = old.iter().filter_map(|(at, row)| Some((at, RowView::from_payload(row).filter(live)?)));
        index::delta(&table.indexes, mutation, old, now_seconds)
    }

    /// The merged image of one row, live or not.
    pub(crate) fn current(
        &self,
        table: TableId,
        key: &PartitionKey,
        at: &RowPosition,
        now: u32,
    ) -> Option<Vec<u8>> {
        let tables = self.tables.borrow();
        let partition = tables.get(&table)?.partitions.get(key)?;
        let stored = match at {
            RowPosition::Static => partition.static_row.as_ref()?,
            RowPosition::Row(clustering) => partition.rows.get(clustering)?,
        };
        let covering = match at {
            RowPosition::Static => partition.deletion.unwrap_or(Deletion::NONE),
            RowPosition::Row(clustering) => partition.covering(clustering),
        };
        let _ = now;
        let mut merger = RowMerger::new();
        merger.merge(&[RowView::from_payload(stored)?], covering, None).then(|| merger.row().to_payload())
    }

    /// Reads at once; what [`Store::read`] does.
    pub fn read_now(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        let tables = self.tables.borrow();
        let table = tables.get(&read.table).ok_or(StoreError::UnknownTable(read.table))?;
        let mut tombstones = 0;
        let mut living;
        let sink: &mut dyn Sink = match table.row_ttl {
            Some(row_ttl) => {
                living = LivingRows { row_ttl, now_seconds: read.now_seconds, sink };
                &mut living
            }
            None => sink,
        };
        for (key, partition) in &table.partitions {
            if !wanted(read, key) {
                continue;
            }
            let flow = partition.deliver(key, read, sink, &mut tombstones);
            if flow == Flow::Stop {
                return Ok(ReadOutcome { end: ReadEnd::Stopped, tombstones });
            }
        }
        Ok(ReadOutcome { end: ReadEnd::Complete, tombstones })
    }
}

fn wanted(read: &Read, key: &PartitionKey) -> bool {
    let inside = match &read.partitions {
        Partitions::One(one) => one == key,
        Partitions::Range { start, end } => {
            start.as_slice() <= key.prefix() && (end.is_empty() || key.prefix() < end.as_slice())
        }
    };
    let behind = read
        .after
        .as_ref()
        .is_some_and(|after| after.key > *key || (after.key == *key && after.clustering.is_none()));
    inside && !behind
}

impl Partition {
    fn put(&mut self, kind: u8, clustering: &[u8], payload: &[u8]) {
        match kind {
            KIND_PARTITION_DELETION => {
                if let Some((deletion, _)) = Deletion::decode(payload) {
                    self.deletion = Some(self.deletion.map_or(deletion, |old| old.max(deletion)));
                }
            }
            KIND_RANGE => {
                if let Some((deletion, end)) = Deletion::decode(payload) {
                    self.ranges.push((clustering.to_vec(), end.to_vec(), deletion));
                }
            }
            KIND_STATIC => {
                self.static_row = Some(merged(self.static_row.as_deref(), payload));
            }
            _ => {
                let row = merged(self.rows.get(clustering).map(Vec::as_slice), payload);
                self.rows.insert(clustering.to_vec(), row);
            }
        }
    }

    /// The strongest deletion over a clustering position.
    fn covering(&self, clustering: &[u8]) -> Deletion {
        let ranges = self
            .ranges
            .iter()
            .filter(|(start, end, _)| start.as_slice() <= clustering && clustering < end.as_slice());
        ranges.map(|r| r.2).fold(self.deletion.unwrap_or(Deletion::NONE), Deletion::max)
    }

    fn deliver(&self, key: &PartitionKey, read: &Read, sink: &mut dyn Sink, tombstones: &mut u64) -> Flow {
        match sink.partition(key) {
            Flow::Continue => {}
            Flow::NextPartition => return sink.partition_end(),
            Flow::Stop => return Flow::Stop,
        }
        match self.deliver_body(key, read, sink, tombstones) {
            Flow::Stop => Flow::Stop,
            _ => sink.partition_end(),
        }
    }

    fn deliver_body(&self, key: &PartitionKey, read: &Read, sink: &mut dyn Sink, dead: &mut u64) -> Flow {
        let mut merger = RowMerger::new();
        let live = |merger: &RowMerger| merger.row().is_live(read.now_seconds);
        if read.statics
            && let Some(view) = self.static_row.as_deref().and_then(RowView::from_payload)
        {
            merger.merge(&[view], self.deletion.unwrap_or(Deletion::NONE), None);
            if live(&merger) {
                let flow = sink.static_row(merger.row());
                if flow != Flow::Continue {
                    return flow;
                }
            }
        }
        let after = read.after.as_ref().filter(|p| p.key == *key).and_then(|p| p.clustering.as_deref());
        let ahead = |clustering: &[u8]| match after {
            None => true,
            Some(after) if read.reverse => clustering < after,
            Some(after) => clustering > after,
        };
        let mut rows: Vec<_> = self
            .rows
            .iter()
            .filter(|(clustering, _)| ahead(clustering) && read.slices.iter().any(|s| s.contains(clustering)))
            .collect();
        if read.reverse {
            rows.reverse();
        }
        for (clustering, payload) in rows {
            let Some(view) = RowView::from_payload(payload) else { continue };
            merger.merge(&[view], self.covering(clustering), None);
            if !live(&merger) {
                *dead += 1;
                continue;
            }
            let flow = sink.row(clustering, merger.row());
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }
}

fn merged(old: Option<&[u8]>, new: &[u8]) -> Vec<u8> {
    let versions: Vec<_> = old.into_iter().chain([new]).filter_map(RowView::from_payload).collect();
    let mut merger = RowMerger::new();
    merger.merge(&versions, Deletion::NONE, None);
    merger.row().to_payload()
}

impl Store for NaiveStore {
    type Prompt = NoPrompt;

    fn promises(&self) -> Promises {
        Promises {
            transactions: true,
            exclusive_work: true,
            mirrors: true,
            exact_limits: false,
            later: false,
            answers: true,
        }
    }

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        self.read_now(read, sink)
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.apply_all(&commit.mutations, commit.now_seconds)
    }

    async fn commit_if(&self, mut commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        let now = commit.now_seconds;
        let first = self.checked(commit.table, &commit.key, &commit.checks, now)?;
        let further =
            commit.further.iter().map(|check| self.checked(check.table, &check.key, &check.checks, now));
        let further = further.collect::<Result<Vec<_>, _>>()?;
        let applied = first.holds && further.iter().all(|partition| partition.holds);
        if applied {
            let ballot = commit.provisional_timestamp.max(*self.last_ballot.borrow() + 1);
            *self.last_ballot.borrow_mut() = ballot;
            for mutation in &mut commit.mutations {
                mutation.shift_timestamps(ballot - commit.provisional_timestamp);
            }
            self.apply_all(&commit.mutations, now)?;
        }
        let CheckedPartition { key, static_row, rows, .. } = first;
        Ok(CasOutcome { applied, key, static_row, rows, further })
    }

    async fn transact<D: Decide>(&self, transaction: Transaction<D>) -> Result<D::Outcome, StoreError> {
        let Transaction { rows, decide, now_seconds } = transaction;
        let current = rows.iter().map(|row| {
            let at = RowPosition::Row(row.clustering.clone());
            let payload = self.current(row.table, &row.key, &at, now_seconds)?;
            RowView::from_payload(&payload)?.is_live(now_seconds).then_some(payload)
        });
        let current: Vec<Option<Vec<u8>>> = current.collect();
        let views: Vec<Option<RowView<'_>>> =
            current.iter().map(|row| row.as_deref().and_then(RowView::from_payload)).collect();
        let ballot = *self.last_ballot.borrow() + 1;
        let (outcome, mutations) = decide.decide(&views, Moment { ballot, place: 0, now_seconds })?;
        *self.last_ballot.borrow_mut() = ballot;
        self.apply_all(&mutations, now_seconds)?;
        Ok(outcome)
    }

    async fn exclusively<T, E: From<StoreError>>(
        &self,
        _: Vec<(TableId, PartitionKey)>,
        stamped: Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> Result<T, E> {
        let (outcome, mut mutations) = work().await?;
        let ballot = stamped.provisional_timestamp.max(*self.last_ballot.borrow() + 1);
        *self.last_ballot.borrow_mut() = ballot;
        for mutation in &mut mutations {
            mutation.shift_timestamps(ballot - stamped.provisional_timestamp);
        }
        self.apply_all(&mutations, stamped.now_seconds)?;
        Ok(outcome)
    }

    async fn horizon(&self) -> Result<Horizon, StoreError> {
        let ballot = *self.last_ballot.borrow();
        Ok(Horizon { settled: ballot, given: ballot })
    }

    async fn alter(&self, catalogue: Vec<u8>, configs: Vec<TableConfig>) -> Result<(), StoreError> {
        let mut tables = self.tables.borrow_mut();
        tables.retain(|id, _| configs.iter().any(|c| c.id == *id));
        for config in configs {
            let table = tables.entry(config.id).or_default();
            if table.incarnation != config.incarnation {
                *table = Table { incarnation: config.incarnation, ..Table::default() };
            }
            table.indexes = config.indexes;
            // Never late: that is within every bound.
            let later = config.later.iter().map(|later| later.view.clone());
            table.views = config.views.into_iter().chain(later).collect();
            table.buckets = config.buckets;
            table.mirror = config.mirror;
            table.groups = config.groups;
            table.row_ttl = config.row_ttl;
        }
        *self.catalogue.borrow_mut() = Some(catalogue);
        Ok(())
    }
}
