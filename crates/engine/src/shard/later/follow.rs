//! The task that brings copies up to date: it takes a batch of entries, reads the rows that they name as they are now, and makes one commit.
//!
//! Others may write a row between the look at it and the commit. Then their entry is there, and the row is looked at again. Only this task
//! writes the places of its shard, and it waits for each commit, so what it reads of them is what it wrote last. While it works on a partition it
//! holds a lock of its places, which a check takes too.

use super::backlog::{Look, Waiting};
use crate::shard::Shard;
use crate::shard::holds::Holds;
use crate::shard::indexes::apart;
use crate::shard::reads::CurrentRows;
use crate::shard::views::side_by_side;
use model::key::PartitionKey;
use model::row::RowView;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use store::later::{LaterConfig, Pending};
use store::view::NOTHING_EXPIRED;
use store::{
    Flow, Mutation, Partitions, Position, Read, ReadEnd, RowPosition, Sink, Slice, StoreError, TableId,
};

/// What one commit follows.
const ENTRIES_MAX: usize = 256;
const BYTES_MAX: usize = 512 << 10;

/// Stored entries that are examined before others have their turn.
const SCAN_ENTRIES: u64 = 10_000;

/// After an error that may pass.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// Follows for every copy until the shard ends or the log takes no more. Then waiting writers hear that nobody follows.
pub(in crate::shard) async fn keep_following(shard: Rc<Shard>) {
    let task = tokio::task::spawn_local(follow_later(shard.clone()));
    if task.await.is_err_and(|error| error.is_panic()) {
        tracing::error!(
            shard = shard.index,
            "following projections panicked; see the message above. Restart the server"
        );
    }
    let tables: Vec<TableId> = shard.later.backlogs.borrow().keys().copied().collect();
    tables.into_iter().for_each(|table| shard.followed(table, true));
}

async fn follow_later(shard: Rc<Shard>) {
    let mut last = TableId(0);
    while !shard.closing.get() && shard.shared.log.failure().is_none() {
        // The copy after the last one has its turn.
        let next = {
            let backlogs = shard.later.backlogs.borrow();
            let mut due = backlogs.iter().filter(|(_, backlog)| backlog.has_work()).map(|(id, _)| *id);
            let first = due.clone().next();
            due.find(|id| *id > last).or(first)
        };
        let Some(table) = next else {
            shard.later.woken.notified().await;
            continue;
        };
        last = table;
        let outcome = shard.follow_some(table).await;
        shard.followed(table, outcome.is_err());
        if let Err(error) = outcome {
            if matches!(error, StoreError::Closed | StoreError::ReadOnly { .. }) {
                return;
            }
            tracing::warn!(table = table.0, %error, "a projection cannot follow its table for now; trying again");
            match shard.shared.options.inline {
                // Nothing tells the time there.
                true => shard.later.woken.notified().await,
                false => tokio::time::sleep(RETRY_AFTER).await,
            }
        }
    }
}

/// What there is to do in one partition.
#[derive(Default)]
struct Work {
    slices: Vec<Slice>,
    stamps: Vec<i64>,
    since: i64,
}

impl Shard {
    /// Shows where a copy stands after a batch.
    fn followed(&self, table: TableId, is_stuck: bool) {
        if let Some(backlog) = self.later.backlogs.borrow().get(&table) {
            backlog.standing.stick(self.index, is_stuck);
            backlog.show(self.index, self.shared.clock.micros());
        }
        self.later.progressed.notify_waiters();
    }

    async fn follow_some(self: &Rc<Self>, table: TableId) -> Result<(), StoreError> {
        self.look_for_pending(table).await?;
        let Some((config, incarnation, work)) = self.next_batch(table) else { return Ok(()) };
        let _admitted = self.admit().await?;
        let mut holds = Holds::default();
        for key in work.keys() {
            holds.local.push(self.locks.acquire((config.places, key.clone())).await);
            holds.keys.push((config.places, key.clone()));
        }
        // Waiting may have taken long enough for a change of the tables.
        if self.incarnation_of(table) != Some(incarnation) {
            return Ok(());
        }
        let batch = self.follow_batch(&config, work).await?;
        if batch.mutations.is_empty() {
            return Ok(());
        }
        match self.log_and_apply(batch.ballot, batch.mutations, holds).await {
            // Dropped meanwhile, as another shard knew first.
            Err(StoreError::UnknownTable(_)) => return Ok(()),
            outcome => outcome?,
        }
        self.shared.metrics.copies_followed.add(batch.rows);
        if let Some(backlog) = self.later.backlogs.borrow_mut().get_mut(&table) {
            let (front, done) = (backlog.list.len().min(ENTRIES_MAX), batch.done);
            let left: Vec<Waiting> = backlog
                .list
                .drain(..front)
                .filter(|w| !done.contains(&(w.key.clone(), w.pending.stamp)))
                .collect();
            left.into_iter().rev().for_each(|waiting| backlog.list.push_front(waiting));
        }
        Ok(())
    }

    fn incarnation_of(&self, table: TableId) -> Option<u32> {
        self.later.backlogs.borrow().get(&table).map(|backlog| backlog.incarnation)
    }

    /// Lists entries that are in the table only, when no others are left.
    async fn look_for_pending(self: &Rc<Self>, table: TableId) -> Result<(), StoreError> {
        let mut after = {
            let mut backlogs = self.later.backlogs.borrow_mut();
            let Some(backlog) = backlogs.get_mut(&table).filter(|backlog| backlog.must_look()) else {
                return Ok(());
            };
            backlog.begin_look()
        };
        let incarnation = self.incarnation_of(table);
        let mut look = Look::default();
        let next = loop {
            let read = read(table, Partitions::all(), vec![Slice::all()], after.take());
            match self.read(&read, &mut look)?.end {
                ReadEnd::Complete => break None,
                ReadEnd::Stopped => break look.stopped.take(),
                ReadEnd::Paused(position) => after = Some(position),
            }
            rt::turn::give_way().await;
        };
        if let Some(backlog) = self.later.backlogs.borrow_mut().get_mut(&table)
            && Some(backlog.incarnation) == incarnation
        {
            backlog.found(look.found, next);
        }
        Ok(())
    }

    /// The oldest entries, by partition.
    fn next_batch(&self, table: TableId) -> Option<(Arc<LaterConfig>, u32, BTreeMap<PartitionKey, Work>)> {
        let backlogs = self.later.backlogs.borrow();
        let backlog = backlogs.get(&table)?;
        let mut work: BTreeMap<PartitionKey, Work> = BTreeMap::new();
        for Waiting { key, pending } in backlog.list.iter().take(ENTRIES_MAX) {
            let new = || Work { since: pending.since, ..Work::default() };
            let partition = work.entry(key.clone()).or_insert_with(new);
            partition.slices.extend(pending.slices.iter().cloned());
            partition.stamps.push(pending.stamp);
            partition.since = partition.since.min(pending.since);
        }
        (!work.is_empty()).then(|| (backlog.config.clone(), backlog.incarnation, work))
    }

    async fn follow_batch(
        &self,
        config: &LaterConfig,
        work: BTreeMap<PartitionKey, Work>,
    ) -> Result<Batch, StoreError> {
        let now_seconds = u32::try_from(self.shared.clock.micros() / 1_000_000).unwrap_or_default();
        let mut batch = Batch { rows_max: self.shared.options.follow_rows_max, ..Batch::default() };
        for (key, work) in work {
            if batch.is_full() {
                break;
            }
            let slices = apart(work.slices);
            let left = self.follow_partition(config, &key, &slices, now_seconds, &mut batch)?;
            batch.ballot = self.next_ballot();
            batch.mutations.push(config.done(&key, work.stamps.iter().copied(), batch.ballot, now_seconds));
            batch.done.extend(work.stamps.into_iter().map(|stamp| (key.clone(), stamp)));
            if !left.is_empty() {
                batch.ballot = self.next_ballot();
                let pending = Pending { stamp: batch.ballot, since: work.since, slices: left };
                batch.mutations.push(pending.mutation(config.pending, key));
            }
            if rt::turn::is_over() {
                rt::turn::give_way().await;
            }
        }
        Ok(batch)
    }

    /// Follows rows of one partition; what is left of the slices when the batch is full.
    fn follow_partition(
        &self,
        config: &LaterConfig,
        key: &PartitionKey,
        slices: &[Slice],
        now_seconds: u32,
        batch: &mut Batch,
    ) -> Result<Vec<Slice>, StoreError> {
        let some = |table| {
            let read = read(table, Partitions::One(key.clone()), slices.to_vec(), None);
            self.some_rows(read, batch.room())
        };
        let (rows, known_rows) = some(config.base)?;
        let (places, known_places) = some(config.places)?;
        // Both were read so far.
        let known = known_rows.into_iter().chain(known_places).min();
        for (position, row, place) in side_by_side(rows.payloads(), places.payloads()) {
            let RowPosition::Row(clustering) = position else { continue };
            if known.as_ref().is_some_and(|known| clustering > known) {
                break;
            }
            let row = row.and_then(|payload| RowView::from_payload(payload));
            let place = place.and_then(|payload| RowView::from_payload(payload));
            // A row of the copy is replaced by a deletion just below it, so each takes two.
            self.next_ballot();
            let stamp = (self.next_ballot(), now_seconds);
            batch.bytes += clustering.len() + row.map_or(0, |row| row.body().len());
            batch.rows += 1;
            batch.mutations.extend(config.follow(key, clustering, row, place, stamp));
        }
        let Some(known) = known else { return Ok(Vec::new()) };
        let behind =
            |slice: &Slice| Slice { start: slice.start.clone().max(after(&known)), end: slice.end.clone() };
        Ok(slices.iter().map(behind).filter(|slice| !slice.is_empty()).collect())
    }

    /// The first rows of a read, and up to where they are all, if not to the end.
    fn some_rows(
        &self,
        read: Read,
        most: (usize, usize),
    ) -> Result<(CurrentRows, Option<Vec<u8>>), StoreError> {
        let mut some = FirstRows { rows: CurrentRows::default(), left: most, last: None };
        let known = match self.read(&read, &mut some)?.end {
            ReadEnd::Complete => None,
            ReadEnd::Stopped => some.last,
            ReadEnd::Paused(Position { clustering, .. }) => clustering,
        };
        Ok((some.rows, known))
    }
}

/// The first clustering key behind this one.
fn after(clustering: &[u8]) -> Vec<u8> {
    let mut after = clustering.to_vec();
    after.push(0);
    after
}

fn read(table: TableId, partitions: Partitions, slices: Vec<Slice>, after: Option<Position>) -> Read {
    Read { after, scan_limit: SCAN_ENTRIES, ..Read::of(table, partitions, slices, NOTHING_EXPIRED) }
}

/// One commit of the task.
#[derive(Default)]
struct Batch {
    mutations: Vec<Mutation>,
    /// The entries that it follows.
    done: HashSet<(PartitionKey, i64)>,
    ballot: i64,
    rows: u64,
    rows_max: usize,
    bytes: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.rows >= self.rows_max as u64 || self.bytes >= BYTES_MAX
    }

    /// Rows and bytes that it can take.
    fn room(&self) -> (usize, usize) {
        (self.rows_max.saturating_sub(self.rows as usize).max(1), BYTES_MAX.saturating_sub(self.bytes))
    }
}

/// The first rows of a read.
struct FirstRows {
    rows: CurrentRows,
    /// Rows and bytes.
    left: (usize, usize),
    last: Option<Vec<u8>>,
}

impl Sink for FirstRows {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, clustering: &[u8], row: RowView<'_>) -> Flow {
        self.rows.put(RowPosition::Row(clustering.to_vec()), row.to_payload());
        let (rows, bytes) = &mut self.left;
        *rows = rows.saturating_sub(1);
        *bytes = bytes.saturating_sub(row.body().len());
        if *rows > 0 && *bytes > 0 {
            return Flow::Continue;
        }
        self.last = Some(clustering.to_vec());
        Flow::Stop
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
