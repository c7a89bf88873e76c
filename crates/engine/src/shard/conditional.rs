//! Conditional commits: read, check, apply, all under the partition's lock.

use super::Shard;
use super::operations::deferred_keys;
use std::rc::Rc;
use store::{CasOutcome, ConditionalCommit, CurrentRow, Mutation, RowPosition, StoreError};

impl Shard {
    /// The partition that the checks read belongs to this shard.
    pub async fn commit_if(self: &Rc<Self>, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        let _admitted = self.admit().await?;
        self.shared.metrics.conditional_commits.add(1);
        let mut commit = commit;
        let mut keys = deferred_keys(&commit.mutations);
        keys.extend(self.viewed_keys(&commit.mutations));
        keys.push((commit.table, commit.key.clone()));
        let holds = self.hold(keys).await?;
        let outcome = decide(self, &commit)?;
        if !outcome.applied {
            return Ok(outcome);
        }
        let (ballot, mutations) = stamped(self, &mut commit);
        let mut mutations = self.resolve_all(mutations, commit.now_seconds).await?;
        let ballot = ballot.max(self.project(&mut mutations, commit.now_seconds).await?);
        self.log_and_apply(ballot, mutations, holds).await?;
        Ok(outcome)
    }
}

/// Whether every check holds, and what they saw. The partition is locked.
pub(super) fn decide(shard: &Shard, commit: &ConditionalCommit) -> Result<CasOutcome, StoreError> {
    let ConditionalCommit { table, key, checks, now_seconds, .. } = commit;
    let positions = checks.iter().map(|check| check.position.clone());
    let current = shard.current(*table, key, positions, *now_seconds)?;
    let mut applied = true;
    let mut rows = Vec::with_capacity(checks.len());
    for check in checks {
        let row = current.view(&check.position);
        // After one that fails the others are only looked at.
        applied = applied && check.holds(row, current.view(&RowPosition::Static), *now_seconds)?;
        let row = current.payload(&check.position).cloned();
        rows.push(CurrentRow { position: check.position.clone(), row });
    }
    let static_row = current.payload(&RowPosition::Static).cloned();
    Ok(CasOutcome { applied, key: key.clone(), static_row, rows })
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
