//! The embedded store: the contract of `store` over the shards of one process.
//!
//! A handle lives on one shard's thread. A request for a partition of that shard is served at once, without a
//! message; others travel by mail to the owning shard and their rows come back in pieces.

mod begin;
mod chunk;
mod remote;
mod spill;

use crate::database::catalogue::Catalogue;
use crate::database::replace::{Replaced, replace_catalogue};
use crate::jobs::Lane;
use crate::shard::Shard;
use model::key::PartitionKey;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use store::{
    Ahead, AheadMax, CasOutcome, Commit, ConditionalCommit, Decide, Horizon, Lag, Mutation, PartitionLimit,
    Partitions, Read, ReadEnd, ReadOutcome, Refused, Sink, Stamped, Store, StoreError, TableConfig, TableId,
    Transaction,
};
use tokio::sync::oneshot;

/// See the module. Cheap to clone on its thread.
#[derive(Clone)]
pub struct EmbeddedStore {
    shard: Rc<Shard>,
    /// Reads of other shards are not sent: see [`EmbeddedStore::only_here`].
    only_here: Cell<bool>,
}

impl EmbeddedStore {
    pub(crate) fn new(shard: Rc<Shard>) -> EmbeddedStore {
        EmbeddedStore { shard, only_here: Cell::new(false) }
    }

    pub fn shard_index(&self) -> usize {
        self.shard.index
    }

    pub fn shards(&self) -> usize {
        self.shard.shared.options.shards
    }

    /// The tables this shard knows.
    pub fn tables(&self) -> Vec<TableConfig> {
        self.shard.configs()
    }

    /// Lets [`crate::Engine::hot_partitions`] see what this shard has counted. Called about once a second.
    pub fn show_heat(&self, now_millis: u64) {
        self.shard.show_heat(now_millis);
        self.shard.keep_growth();
    }

    fn count(&self, local: bool) {
        let metrics = &self.shard.shared.metrics;
        if local { metrics.requests_local.add(1) } else { metrics.requests_remote.add(1) }
    }

    async fn read_range(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        let Partitions::Range { start, end } = &read.partitions else {
            return Err(Refused::NotARange.into());
        };
        let shards = self.shards() as u32;
        let resume = read.after.as_ref().map_or(0, |after| after.key.token().shard(shards));
        let first = model::key::token_of(start).shard(shards).max(resume);
        let last = if end.is_empty() { shards - 1 } else { model::key::token_of(end).shard(shards) };
        let mut tombstones = 0;
        for owner in first..=last {
            let outcome = self.read_on(owner as usize, read, sink).await?;
            tombstones += outcome.tombstones;
            if outcome.end != ReadEnd::Complete {
                return Ok(ReadOutcome { end: outcome.end, tombstones });
            }
        }
        Ok(ReadOutcome { end: ReadEnd::Complete, tombstones })
    }

    async fn read_on(
        &self,
        owner: usize,
        read: &Read,
        sink: &mut dyn Sink,
    ) -> Result<ReadOutcome, StoreError> {
        let local = owner == self.shard.index;
        if !local && self.only_here.get() {
            return std::future::pending().await;
        }
        self.count(local);
        if local { self.shard.read(read, sink) } else { self.read_remote(owner, read, sink).await }
    }
}

impl Store for EmbeddedStore {
    type Prompt = EmbeddedStore;

    #[inline]
    fn prompt(&self) -> Option<&EmbeddedStore> {
        Some(self)
    }

    fn promises(&self) -> store::Promises {
        store::Promises {
            transactions: true,
            exclusive_work: true,
            mirrors: true,
            exact_limits: true,
            later: true,
            answers: true,
        }
    }

    async fn read(&self, read: &Read, sink: &mut dyn Sink) -> Result<ReadOutcome, StoreError> {
        match &read.partitions {
            Partitions::One(key) => self.read_on(self.shard.owner_of(key), read, sink).await,
            Partitions::Range { .. } => self.read_range(read, sink).await,
        }
    }

    fn reads_ahead(&self) -> bool {
        self.shards() > 1
    }

    async fn read_ahead(
        &self,
        reads: Vec<Read>,
        max: AheadMax,
    ) -> Result<Vec<Option<Box<dyn Ahead>>>, StoreError> {
        self.read_pieces(reads, max).await
    }

    fn is_crowded(&self) -> bool {
        self.shard.shared.limits.any()
    }

    fn crowding(&self, table: TableId, key: &PartitionKey) -> Option<(u64, u64, PartitionLimit)> {
        let mark = self.shard.shared.limits.find(table, key)?;
        Some((mark.held.bytes, mark.held.rows, mark.limit))
    }

    async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        let Commit { mut mutations, now_seconds } = commit;
        self.shard.give_home(&mut mutations);
        let Some(first) = mutations.first() else { return Ok(()) };
        let owner = self.shard.owner_of(&first.key);
        let here = self.shard.index;
        // Logged by the shard that owns it all; what spans shards, here.
        let single = owner == here || mutations.iter().all(|m| self.shard.owner_of(&m.key) == owner);
        if single && owner != here {
            self.count(false);
            return self
                .shard
                .ask_for(owner, async move |shard| shard.commit(mutations, now_seconds).await)
                .await?;
        }
        self.count(single);
        self.shard.commit(mutations, now_seconds).await
    }

    async fn commit_if(&self, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        let mut commit = commit;
        let mut divisions = Vec::new();
        loop {
            divisions.extend(self.shard.give_home_if(&mut commit));
            let owner = self.shard.owner_of(&commit.key);
            let local = owner == self.shard.index;
            self.count(local);
            let decided = match local {
                true => self.shard.commit_if(commit).await?,
                false => {
                    self.shard.ask_for(owner, async move |shard| shard.commit_if(commit).await).await??
                }
            };
            match decided {
                Ok(outcome) => {
                    return Ok(divisions
                        .into_iter()
                        .rev()
                        .fold(outcome, |told, division| division.undo(told)));
                }
                Err(returned) => commit = returned,
            }
        }
    }

    fn point(&self, table: TableId, key: &PartitionKey) -> Option<i64> {
        self.shard.shared.points.find(table, key)
    }

    fn finer(&self, table: TableId, key: &PartitionKey, clustering: &[u8]) -> Option<PartitionKey> {
        self.shard.home(table, key, clustering)
    }

    async fn spill(&self) -> Result<usize, StoreError> {
        self.spill_due().await
    }

    async fn transact<D: Decide>(&self, transaction: Transaction<D>) -> Result<D::Outcome, StoreError> {
        let Some(first) = transaction.rows.first() else {
            return Err(Refused::RowsOfTransaction { most: crate::shard::transactions::ROWS_MAX }.into());
        };
        let owner = self.shard.owner_of(&first.key);
        let local = owner == self.shard.index;
        self.count(local);
        if local {
            return self.shard.transact(transaction).await;
        }
        self.shard.ask_for(owner, async move |shard| shard.transact(transaction).await).await?
    }

    async fn exclusively<T, E: From<StoreError>>(
        &self,
        partitions: Vec<(TableId, PartitionKey)>,
        stamped: Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> Result<T, E> {
        self.count(true);
        self.shard.exclusively(partitions, stamped, work).await
    }

    fn lag(&self, pending: TableId) -> Option<Lag> {
        self.shard.shared.late.lag(pending, self.shard.shared.clock.micros())
    }

    async fn caught_up(&self, pending: TableId) -> Result<(), StoreError> {
        for owner in 0..self.shards() {
            match owner == self.shard.index {
                true => self.shard.caught_up(pending).await?,
                false => {
                    self.shard.ask_for(owner, async move |shard| shard.caught_up(pending).await).await??
                }
            }
        }
        Ok(())
    }

    async fn horizon(&self) -> Result<Horizon, StoreError> {
        self.shard.horizon().await
    }

    async fn alter(&self, catalogue: Vec<u8>, tables: Vec<TableConfig>) -> Result<(), StoreError> {
        let store = self.clone();
        // A task of its own: a change that has begun goes on when the client that asked for it is gone.
        let task = tokio::task::spawn_local(async move { store.alter_all(catalogue, tables).await });
        task.await.map_err(|_| StoreError::Closed)?
    }

    /// Lets no commit in for as long as those under way need to end.
    async fn settle(&self) -> Result<(), StoreError> {
        // Snapshots pause commits too, and must not be resumed by us.
        let shared = self.shard.shared.clone();
        let _alone = shared.catalogue.lock().await;
        self.pause_all().await.map(|_| ())
    }
}

/// Tables with a next generation, and which.
fn mirrors(tables: &[TableConfig]) -> impl Iterator<Item = (TableId, TableId)> {
    tables.iter().filter_map(|table| Some((table.id, table.mirror.as_ref()?.table)))
}

/// Lets commits in again, even if the task that waited for the pause goes away.
struct Paused<'s>(&'s EmbeddedStore);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        for owner in 0..self.0.shards() {
            let _ = self.0.shard.send(owner, Box::new(|shard| shard.resume()));
        }
    }
}

impl EmbeddedStore {
    /// Lets no commit in until the guard is gone; returns when those under way have ended. The catalogue is locked.
    async fn pause_all(&self) -> Result<Paused<'_>, StoreError> {
        let paused = Paused(self);
        for owner in 0..self.shards() {
            let (sender, receiver) = oneshot::channel();
            self.shard.send(owner, Box::new(move |shard| shard.pause(sender)))?;
            receiver.await.map_err(|_| StoreError::Closed)?;
        }
        Ok(paused)
    }

    async fn alter_all(&self, blob: Vec<u8>, tables: Vec<TableConfig>) -> Result<(), StoreError> {
        let shared = self.shard.shared.clone();
        let mut current = shared.catalogue.lock().await;
        if let Some(reason) = shared.log.failure() {
            return Err(StoreError::ReadOnly { reason: reason.to_owned() });
        }
        // Generations of a table begin and end between commits: every commit is before or after, on all shards alike.
        let _paused = match mirrors(&current.tables).eq(mirrors(&tables)) {
            true => None,
            false => Some(self.pause_all().await?),
        };
        let next = Arc::new(Catalogue { version: current.version + 1, tables, blob });
        let (written, old, job_shared) = (next.clone(), current.clone(), shared.clone());
        let replace = move || replace_catalogue(&job_shared, &old, &written);
        match shared.jobs.run(Lane::Chores, replace).await.ok_or(StoreError::Closed)? {
            Ok(()) => {}
            Err(Replaced::Not(error)) => return Err(error),
            Err(Replaced::Back { version, error }) => {
                current.version = version;
                return Err(error);
            }
        }
        let mut dropped = Vec::new();
        for owner in 0..self.shards() {
            let next = next.clone();
            dropped.extend(
                self.shard.ask_for(owner, async move |shard| shard.alter(next.version, &next.tables)).await?,
            );
        }
        *current = (*next).clone();
        shared.drop_files(dropped);
        Ok(())
    }
}
