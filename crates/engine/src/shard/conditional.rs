//! Conditional commits: read, check, apply, while the partitions are locked.
//!
//! A commit may check and write partitions of several shards. Their locks are taken in the one order everybody follows and
//! kept until every shard has applied its part, even those of partitions that are only checked. So a reader who sees the commit's
//! writes never sees an older state than the commit saw. Without mutations it is a read of several partitions at one moment.

use super::Shard;
use super::operations::deferred_keys;
use model::key::PartitionKey;
use std::rc::Rc;
use store::{
    CasOutcome, CheckedPartition, ConditionalCommit, CurrentRow, Mutation, PartitionCheck, RowCheck,
    RowPosition, StoreError, TableId,
};

impl Shard {
    /// The first partition that the checks read belongs to this shard. The commit comes back when it turns out that rows of it are in other
    /// buckets: one has spilled while the commit was on its way.
    pub async fn commit_if(
        self: &Rc<Self>,
        commit: ConditionalCommit,
    ) -> Result<Result<CasOutcome, ConditionalCommit>, StoreError> {
        if self.has_followers() {
            self.hold_back(&super::later::written(&commit.mutations)).await?;
        }
        let _admitted = self.admit().await?;
        if self.is_elsewhere(&commit) {
            return Ok(Err(commit));
        }
        self.shared.metrics.conditional_commits.add(1);
        let mut commit = commit;
        let mut keys = deferred_keys(&commit.mutations);
        keys.extend(self.viewed_keys(&commit.mutations));
        keys.extend(commit.mutations.iter().map(|mutation| (mutation.table, mutation.key.clone())));
        keys.extend(commit.further.iter().map(|check| (check.table, check.key.clone())));
        keys.push((commit.table, commit.key.clone()));
        let mut holds = self.hold(keys).await?;
        let mut outcome = decide(self, &commit)?;
        for check in std::mem::take(&mut commit.further) {
            let partition = self.decide_further(check, commit.now_seconds).await?;
            outcome.applied &= partition.holds;
            outcome.further.push(partition);
        }
        if !outcome.applied || commit.mutations.is_empty() {
            return Ok(Ok(outcome));
        }
        // Above what every shard concerned has given: it told when it locked its partitions.
        let elsewhere = holds.remote.iter().map(|hold| hold.ballot).max();
        self.raise_ballot(elsewhere.unwrap_or_default());
        let (ballot, mutations) = stamped(self, &mut commit);
        let mut mutations = self.resolve_all(mutations, commit.now_seconds).await?;
        let ballot = ballot.max(self.project(&mut mutations, &mut holds, commit.now_seconds).await?);
        self.log_and_apply(ballot, mutations, holds).await?;
        Ok(Ok(outcome))
    }

    /// One more partition, on the shard that owns it.
    async fn decide_further(
        &self,
        check: PartitionCheck,
        now_seconds: u32,
    ) -> Result<CheckedPartition, StoreError> {
        let owner = self.owner_of(&check.key);
        let decide = move |shard: &Shard| {
            let PartitionCheck { table, key, checks } = &check;
            decide_partition(shard, *table, key, checks, now_seconds)
        };
        if owner == self.index {
            return decide(self);
        }
        self.ask(owner, decide).await?
    }
}

/// Whether the checks of the first partition hold, and what they saw. The partition is locked.
pub(super) fn decide(shard: &Shard, commit: &ConditionalCommit) -> Result<CasOutcome, StoreError> {
    let ConditionalCommit { table, key, checks, now_seconds, .. } = commit;
    let CheckedPartition { holds, key, static_row, rows } =
        decide_partition(shard, *table, key, checks, *now_seconds)?;
    Ok(CasOutcome { applied: holds, key, static_row, rows, further: Vec::new() })
}

fn decide_partition(
    shard: &Shard,
    table: TableId,
    key: &PartitionKey,
    checks: &[RowCheck],
    now_seconds: u32,
) -> Result<CheckedPartition, StoreError> {
    let positions = checks.iter().map(|check| check.position.clone());
    let current = shard.current(table, key, positions, now_seconds)?;
    let mut holds = true;
    let mut rows = Vec::with_capacity(checks.len());
    for check in checks {
        let row = current.view(&check.position);
        // After one that fails the others are only looked at.
        holds = holds && check.holds(row, current.view(&RowPosition::Static), now_seconds)?;
        let row = current.payload(&check.position).cloned();
        rows.push(CurrentRow { position: check.position.clone(), row });
    }
    if !holds {
        shard.heat.refused(table, key);
        shard.shared.metrics.conditions_refused.add(1);
    }
    let static_row = current.payload(&RowPosition::Static).cloned();
    Ok(CheckedPartition { holds, key: key.clone(), static_row, rows })
}

/// Takes the mutations of a commit that applies, with its ballot in them.
pub(super) fn stamped(shard: &Shard, commit: &mut ConditionalCommit) -> (i64, Vec<Mutation>) {
    let ballot = shard.next_ballot();
    let mut mutations = std::mem::take(&mut commit.mutations);
    for mutation in &mut mutations {
        mutation.shift_timestamps(ballot.wrapping_sub(commit.provisional_timestamp));
    }
    (ballot, mutations)
}
