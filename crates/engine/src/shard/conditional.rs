//! Conditional commits: read, check, apply, all under the partition's lock.

use super::Shard;
use super::operations::deferred_keys;
use std::rc::Rc;
use store::{CasOutcome, ConditionalCommit, CurrentRow, RowPosition, StoreError};

impl Shard {
    /// The partition that the checks read belongs to this shard.
    pub async fn commit_if(self: &Rc<Self>, commit: ConditionalCommit) -> Result<CasOutcome, StoreError> {
        let _admitted = self.admit().await?;
        self.shared.metrics.conditional_commits.add(1);
        let ConditionalCommit { table, key, checks, mut mutations, provisional_timestamp, now_seconds } =
            commit;
        let mut keys = deferred_keys(&mutations);
        keys.push((table, key.clone()));
        let holds = self.hold(keys).await?;
        let positions = checks.iter().map(|check| check.position.clone());
        let current = self.current(table, &key, positions, now_seconds)?;
        let mut applied = true;
        let mut rows = Vec::with_capacity(checks.len());
        for check in &checks {
            let row = current.view(&check.position);
            applied &= check.holds(row, current.view(&RowPosition::Static), now_seconds)?;
            let row = current.payload(&check.position).cloned();
            rows.push(CurrentRow { position: check.position.clone(), row });
        }
        let static_row = current.payload(&RowPosition::Static).cloned();
        let outcome = CasOutcome { applied, key, static_row, rows };
        if !applied {
            return Ok(outcome);
        }
        let ballot = self.next_ballot();
        for mutation in &mut mutations {
            mutation.shift_timestamps(ballot.wrapping_sub(provisional_timestamp));
        }
        let mutations = self.resolve_all(mutations, now_seconds).await?;
        self.log_and_apply(ballot, mutations, holds).await?;
        Ok(outcome)
    }
}
