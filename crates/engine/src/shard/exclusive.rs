//! Work that has its partitions to itself: lock them, let the work read and decide, commit its decision as one record.
//!
//! It runs on the shard that has the request; partitions of other shards are locked there by mail, in the one order everybody follows, and
//! stay locked until every part is applied. Conditional commits take the same locks, so both are serializable with each
//! other. Plain commits take none.

use super::Shard;
use super::locks::LockKey;
use std::rc::Rc;
use store::{Mutation, Refused, Stamped, StoreError};

/// Partitions that one piece of work may lock.
const PARTITIONS_MAX: usize = 1_000;

impl Shard {
    pub async fn exclusively<T, E: From<StoreError>>(
        self: &Rc<Self>,
        partitions: Vec<LockKey>,
        stamped: Stamped,
        work: impl AsyncFnOnce() -> Result<(T, Vec<Mutation>), E>,
    ) -> Result<T, E> {
        if partitions.len() > PARTITIONS_MAX {
            return Err(StoreError::from(Refused::PartitionsOfTransaction { most: PARTITIONS_MAX }).into());
        }
        let named: Vec<_> = partitions.iter().map(|(table, _)| *table).collect();
        self.hold_back(&named).await?;
        let _admitted = self.admit().await?;
        self.shared.metrics.conditional_commits.add(1);
        let mut keys: Vec<LockKey> = partitions;
        keys.sort();
        keys.dedup();
        let locked = keys.clone();
        let mut holds = self.hold(keys).await?;
        let (outcome, mut mutations) = work().await?;
        if mutations.is_empty() {
            return Ok(outcome);
        }
        let is_locked = |m: &Mutation| locked.binary_search(&(m.table, m.key.clone())).is_ok();
        if !mutations.iter().all(is_locked) {
            return Err(StoreError::from(Refused::UnnamedPartition).into());
        }
        // Above what every shard concerned has given: it told when it locked its partitions.
        let elsewhere = holds.remote.iter().map(|hold| hold.ballot).max();
        self.raise_ballot(elsewhere.unwrap_or_default());
        let ballot = self.next_ballot();
        for mutation in &mut mutations {
            mutation.shift_timestamps(ballot.wrapping_sub(stamped.provisional_timestamp));
        }
        let mut mutations = self.resolve_all(mutations, stamped.now_seconds).await?;
        let ballot = ballot.max(self.project(&mut mutations, &mut holds, stamped.now_seconds).await?);
        self.log_and_apply(ballot, mutations, holds).await?;
        Ok(outcome)
    }
}
