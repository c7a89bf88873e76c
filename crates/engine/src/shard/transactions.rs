//! Transactions: lock the rows, read them, decide, log what was decided.
//!
//! Runs on the shard that owns the first row; rows and mutations of other shards come and go by mail. Locks are of rows, so writers of
//! one partition share the log's groups; they are taken in the one order everybody follows and kept until the commit is applied.

use super::Shard;
use super::holds::Holds;
use super::locks::LockKey;
use model::key::PartitionKey;
use model::row::RowView;
use std::rc::Rc;
use store::{
    Decide, Flow, Horizon, Moment, Mutation, Partitions, Read, Refused, Sink, Slice, StoreError, Transaction,
    WantedRow,
};

/// Rows of a transaction. A dialect has its own, lower limits.
pub const ROWS_MAX: usize = 1_000;

impl Shard {
    /// The first row belongs to this shard.
    pub async fn transact<D: Decide>(
        self: &Rc<Self>,
        transaction: Transaction<D>,
    ) -> Result<D::Outcome, StoreError> {
        let Transaction { rows, decide, now_seconds } = transaction;
        if rows.is_empty() || rows.len() > ROWS_MAX {
            return Err(Refused::RowsOfTransaction { most: ROWS_MAX }.into());
        }
        let _admitted = self.admit().await?;
        self.shared.metrics.conditional_commits.add(1);
        let holds = self.hold_rows(&rows).await?;
        let current = self.current_rows(rows, now_seconds).await?;
        // Above what every shard concerned has given: it told when it locked its rows.
        let elsewhere = holds.remote.iter().map(|hold| hold.ballot).max();
        self.raise_ballot(elsewhere.unwrap_or_default());
        let moment = Moment { ballot: self.next_ballot(), place: self.index as u32, now_seconds };
        let views: Vec<Option<RowView<'_>>> =
            current.iter().map(|row| row.as_deref().and_then(RowView::from_payload)).collect();
        let (outcome, mutations) = decide.decide(&views, moment)?;
        if !mutations.is_empty() {
            self.log_decided(moment.ballot, mutations, holds).await?;
        }
        Ok(outcome)
    }

    async fn hold_rows(self: &Rc<Self>, rows: &[WantedRow]) -> Result<Holds, StoreError> {
        if let [row] = rows {
            let local = vec![self.locks.acquire(lock_key(row)?).await];
            return Ok(Holds { local, ..Holds::default() });
        }
        self.hold(rows.iter().map(lock_key).collect::<Result<_, _>>()?).await
    }

    /// Locks on other shards of rows that are only looked at are kept until all is applied.
    async fn log_decided(
        self: &Rc<Self>,
        ballot: i64,
        mut mutations: Vec<Mutation>,
        holds: Holds,
    ) -> Result<(), StoreError> {
        if mutations.iter().any(|mutation| !mutation.deferred.is_empty()) {
            return Err(Refused::DeferredInTransaction.into());
        }
        let mut remote_holds = holds.remote;
        let mut parts = Vec::new();
        if mutations.iter().any(|mutation| self.owner_of(&mutation.key) != self.index) {
            parts = self.split_off_remote(&mut mutations, &mut remote_holds, ballot)?;
        }
        let number = self.submit_with_others(ballot, mutations, parts, holds.local)?;
        self.applied(number).await
    }

    /// The rows as payloads, in their order.
    async fn current_rows(
        self: &Rc<Self>,
        rows: Vec<WantedRow>,
        now_seconds: u32,
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        if rows.iter().all(|row| self.owner_of(&row.key) == self.index) {
            return rows.into_iter().map(|row| self.current_row(row, now_seconds)).collect();
        }
        let mut current = vec![None; rows.len()];
        let mut by_owner: Vec<Vec<(usize, WantedRow)>> = vec![Vec::new(); self.shared.options.shards];
        for (place, row) in rows.into_iter().enumerate() {
            let owner = self.owner_of(&row.key);
            by_owner[owner].push((place, row));
        }
        for (owner, rows) in by_owner.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let read = move |shard: &Shard| {
                let read = |(place, row)| Ok((place, shard.current_row(row, now_seconds)?));
                rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()
            };
            let found = match owner == self.index {
                true => read(self)?,
                false => self.ask(owner, read).await??,
            };
            for (place, row) in found {
                current[place] = row;
            }
        }
        Ok(current)
    }

    fn current_row(&self, row: WantedRow, now_seconds: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let WantedRow { table, key, clustering } = row;
        let read = Read::of(table, Partitions::One(key), vec![Slice::behind(clustering, 0)], now_seconds);
        let mut one = One::default();
        self.read(&read, &mut one)?;
        Ok(one.0)
    }

    /// How far the transactions of all shards have got.
    pub async fn horizon(self: &Rc<Self>) -> Result<Horizon, StoreError> {
        let mut all = self.own_horizon();
        let others = (0..self.shared.options.shards).filter(|shard| *shard != self.index);
        for shard in others.clone() {
            let horizon = self.ask(shard, |shard| shard.own_horizon()).await?;
            all.settled = all.settled.min(horizon.settled);
            all.given = all.given.max(horizon.given);
        }
        // What any shard gives from now on is above what all have given.
        self.raise_ballot(all.given);
        for shard in others {
            self.ask(shard, move |shard| shard.raise_ballot(all.given)).await?;
        }
        Ok(all)
    }

    fn own_horizon(&self) -> Horizon {
        let given = self.ballot.get().max(self.shared.clock.micros());
        self.raise_ballot(given);
        let oldest = self.commits.borrow().oldest_ballot();
        Horizon { settled: oldest.map_or(given, |oldest| oldest.saturating_sub(1)), given }
    }
}

/// Rows are locked under a key of their own, with the token of their partition: it belongs to the same shard.
fn lock_key(row: &WantedRow) -> Result<LockKey, StoreError> {
    let mut bytes = Vec::with_capacity(row.key.bytes().len() + row.clustering.len());
    bytes.extend_from_slice(row.key.bytes());
    bytes.extend_from_slice(&row.clustering);
    let key = PartitionKey::new(row.key.token(), &bytes).ok_or(Refused::RowKeyTooLong)?;
    Ok((row.table, key))
}

/// The one row of a read.
#[derive(Default)]
struct One(Option<Vec<u8>>);

impl Sink for One {
    fn partition(&mut self, _: &PartitionKey) -> Flow {
        Flow::Continue
    }

    fn static_row(&mut self, _: RowView<'_>) -> Flow {
        Flow::Continue
    }

    fn row(&mut self, _: &[u8], row: RowView<'_>) -> Flow {
        self.0 = Some(row.to_payload());
        Flow::Continue
    }

    fn partition_end(&mut self) -> Flow {
        Flow::Continue
    }
}
