//! Letting buckets spill: all shards pause while the points are logged.

use super::EmbeddedStore;
use model::key::PartitionKey;
use store::{StoreError, TableId};

/// Buckets that spill in one pause; the others are found again by the next write to them.
const BUCKETS_MAX: usize = 1_000;

type Buckets = Vec<(TableId, PartitionKey)>;

impl EmbeddedStore {
    /// See [`store::Store::spill`].
    pub(super) async fn spill_due(&self) -> Result<usize, StoreError> {
        let mut due = self.shard.shared.points.take_due();
        due.truncate(BUCKETS_MAX);
        let mut spillable: Vec<(usize, Buckets)> = Vec::new();
        for (owner, buckets) in self.by_owner(due) {
            let buckets = self.shard.ask_for(owner, async move |shard| shard.spillable(buckets)).await?;
            if !buckets.is_empty() {
                spillable.push((owner, buckets));
            }
        }
        if spillable.is_empty() {
            return Ok(0);
        }
        // Snapshots and changes of the tables pause commits too.
        let shared = self.shard.shared.clone();
        let _alone = shared.catalogue.lock().await;
        let _paused = self.pause_all().await?;
        let mut spilled = 0;
        for (owner, buckets) in spillable {
            spilled +=
                self.shard.ask_for(owner, async move |shard| shard.set_points(buckets).await).await??;
        }
        Ok(spilled)
    }

    fn by_owner(&self, buckets: Buckets) -> Vec<(usize, Buckets)> {
        let mut all: Vec<(usize, Buckets)> = Vec::new();
        for (table, key) in buckets {
            let owner = self.shard.owner_of(&key);
            match all.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, buckets)) => buckets.push((table, key)),
                None => all.push((owner, vec![(table, key)])),
            }
        }
        all
    }
}
