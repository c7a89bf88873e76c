//! Commits on their owning shard, with and without operations that need the current value.

use super::holds::Holds;
use super::locks::LockKey;
use super::reads::CurrentRows;
use super::{Done, RemotePart, Shard, later};
use crate::log::NO_BALLOT;
use model::merge::RowMerger;
use model::row::RowWriter;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use store::{Deferred, DeferredOp, Mutation, RowPosition, StoreError};
use tokio::sync::oneshot;

impl Shard {
    /// Commits mutations, at least one of which belongs to this shard.
    pub async fn commit(
        self: &Rc<Self>,
        mutations: Vec<Mutation>,
        now_seconds: u32,
    ) -> Result<(), StoreError> {
        if self.has_followers() {
            self.hold_back(&later::written(&mutations)).await?;
        }
        let _admitted = self.admit().await?;
        let mut mutations = mutations;
        self.give_home(&mut mutations);
        let mut keys = deferred_keys(&mutations);
        keys.extend(self.viewed_keys(&mutations));
        if keys.is_empty() && !self.are_projected(&mutations) {
            return self.log_and_apply(NO_BALLOT, mutations, Holds::default()).await;
        }
        let mut holds = self.hold(keys).await?;
        let mut mutations = self.resolve_all(mutations, now_seconds).await?;
        let ballot = self.project(&mut mutations, &mut holds, now_seconds).await?;
        self.log_and_apply(ballot, mutations, holds).await
    }

    /// One record for everything; returns when every shard has applied its part.
    pub(super) async fn log_and_apply(
        self: &Rc<Self>,
        ballot: i64,
        mut mutations: Vec<Mutation>,
        holds: Holds,
    ) -> Result<(), StoreError> {
        // Those of partitions that are only looked at are kept until all is applied.
        let mut remote_holds = holds.remote;
        let mut parts = Vec::new();
        let mut done = Vec::new();
        if mutations.iter().any(|m| self.owner_of(&m.key) != self.index) {
            parts = self.split_off_remote(&mut mutations, &mut remote_holds, ballot)?;
            for part in &mut parts {
                let (sender, receiver) = oneshot::channel();
                part.done = Done::Task(sender);
                done.push(receiver);
            }
        }
        let learnable = if done.is_empty() { Vec::new() } else { self.learnable(&mutations) };
        let number = self.submit(ballot, mutations, parts, holds.local)?;
        self.applied(number).await?;
        for receiver in done {
            receiver.await.map_err(|_| StoreError::Closed)?;
        }
        self.learn(learnable);
        Ok(())
    }

    /// Moves the mutations of other shards into one part per shard; this shard hears when they are done.
    pub(super) fn split_off_remote(
        &self,
        mutations: &mut Vec<Mutation>,
        holds: &mut Vec<super::holds::RemoteHold>,
        ballot: i64,
    ) -> Result<Vec<RemotePart>, StoreError> {
        let mut parts: Vec<RemotePart> = Vec::new();
        let tables = self.tables.borrow();
        let (local, remote) =
            std::mem::take(mutations).into_iter().partition(|m| self.owner_of(&m.key) == self.index);
        *mutations = local;
        let remote: Vec<Mutation> = remote;
        for mutation in remote {
            let table = tables.get(&mutation.table).ok_or(StoreError::UnknownTable(mutation.table))?;
            let stamped = (table.config.incarnation, mutation);
            let shard = self.owner_of(&stamped.1.key);
            match parts.iter_mut().find(|part| part.shard == shard) {
                Some(part) => part.mutations.push(stamped),
                None => {
                    let hold = holds.iter().position(|h| h.shard == shard).map(|i| holds.swap_remove(i));
                    let done = Done::Begun { shard: self.index, number: 0 };
                    parts.push(RemotePart { shard, mutations: vec![stamped], hold, ballot, done });
                }
            }
        }
        Ok(parts)
    }

    /// Turns deferred operations into entries; the partitions are locked.
    pub(super) async fn resolve_all(
        self: &Rc<Self>,
        mutations: Vec<Mutation>,
        now_seconds: u32,
    ) -> Result<Vec<Mutation>, StoreError> {
        let mut resolved = Vec::with_capacity(mutations.len());
        let mut refused: Option<Refused> = None;
        // Together per partition, so that two increments of one counter in one batch add up.
        for mutation in together(mutations) {
            let owner = self.owner_of(&mutation.key);
            let outcome = match mutation.deferred.is_empty() {
                true => Ok(mutation),
                false if owner == self.index => self.resolve(mutation, now_seconds).await,
                false => self.resolve_remote(owner, mutation, now_seconds).await?,
            };
            match outcome {
                Ok(mutation) => resolved.push(mutation),
                // Of several wrong statements the first one is reported, whichever partitions they are on.
                Err(new) => match &refused {
                    Some(earlier) if earlier.statement <= new.statement => {}
                    _ => refused = Some(new),
                },
            }
        }
        refused.map_or(Ok(resolved), |refused| Err(refused.error))
    }

    async fn resolve_remote(
        &self,
        owner: usize,
        mutation: Mutation,
        now_seconds: u32,
    ) -> Result<Result<Mutation, Refused>, StoreError> {
        self.ask_for(owner, async move |owner| owner.resolve(mutation, now_seconds).await).await
    }

    /// Each operation sees what the earlier ones of its statement have made of its row; counters and numbers that are added
    /// to without a condition also what the other statements have. The partition is locked, so others have their turn while a long row is worked on.
    async fn resolve(&self, mut mutation: Mutation, now_seconds: u32) -> Result<Mutation, Refused> {
        let (checks, deferred): (Vec<Deferred>, Vec<Deferred>) =
            std::mem::take(&mut mutation.deferred).into_iter().partition(Deferred::is_check);
        let mut statement = deferred.first().map_or(0, |operation| operation.statement);
        let positions = deferred.iter().chain(&checks).map(|operation| operation.position.clone());
        let before = self
            .current(mutation.table, &mutation.key, positions, now_seconds)
            .map_err(|error| Refused { statement, error })?;
        if let Some(row_ttl) = self.row_ttl(mutation.table) {
            let positions = deferred.iter().chain(&checks).map(|operation| operation.position.clone());
            let stored = self
                .stored(mutation.table, &mutation.key, positions, now_seconds)
                .map_err(|error| Refused { statement, error })?;
            row_ttl.bury(stored.rows(), now_seconds, &mut mutation);
        }
        let several = deferred.iter().any(|operation| operation.statement != statement);
        let first = several.then(|| before.clone());
        worked(before.bytes()).await;
        let looked_at = (!checks.is_empty()).then(|| before.clone());
        let mut seen = before;
        // Elements of lists that were set: they change no index, so only other operations have to see them.
        let mut unseen = CurrentRows::default();
        let mut written = CurrentRows::default();
        let mut writer = RowWriter::new();
        let mut merger = RowMerger::new();
        for (place, operation) in deferred.iter().enumerate() {
            let position = &operation.position;
            if std::mem::replace(&mut statement, operation.statement) != operation.statement
                && !operation.sees_its_batch()
                && let Some(first) = &first
            {
                seen = first.clone();
                unseen = CurrentRows::default();
            }
            let sets_element = matches!(operation.op, DeferredOp::ListSet { value: Some(_), .. });
            if !sets_element && let Some(elements) = unseen.take(position) {
                worked(seen.merge(&mut merger, position, &elements)).await;
            }
            let current = seen.view(position);
            let row_bytes = current.map_or(0, |row| row.body().len());
            operation
                .resolve(current, now_seconds, &mut writer)
                .map_err(|error| Refused { statement, error })?;
            worked(row_bytes).await;
            if writer.is_empty() {
                continue;
            }
            let image = writer.view().to_payload();
            if place + 1 < deferred.len() {
                let seen = if sets_element { &mut unseen } else { &mut seen };
                worked(seen.merge(&mut merger, position, &image)).await;
            }
            // One image per row: each is merged with all of the row when it is applied.
            written.merge(&mut merger, position, &image);
        }
        for (position, row) in written.rows() {
            match position {
                RowPosition::Static => mutation.static_row(row),
                RowPosition::Row(clustering) => mutation.row(clustering, row),
            }
        }
        if let Some(before) = &looked_at {
            store::check_rows(&mutation, &checks, |position| before.view(position), now_seconds)
                .map_err(|store::Violation { statement, error }| Refused { statement, error })?;
        }
        Ok(mutation)
    }
}

/// Rows below this are not worth counting.
const SHORT_BYTES: usize = 4 << 10;
/// What reading or merging a row takes for each of its bytes, about.
const BYTE_NANOS: u64 = 2;

/// Counts work on a row of this many bytes, and lets others have their turn when it is due.
async fn worked(row_bytes: usize) {
    if row_bytes >= SHORT_BYTES {
        rt::turn::worked(Duration::from_nanos(BYTE_NANOS * row_bytes as u64));
        if rt::turn::is_over() {
            rt::turn::give_way().await;
        }
    }
}

/// One mutation per partition.
pub(super) fn together(mutations: Vec<Mutation>) -> Vec<Mutation> {
    if mutations.len() <= 1 {
        return mutations;
    }
    let mut places: HashMap<LockKey, usize> = HashMap::with_capacity(mutations.len());
    let mut together: Vec<Mutation> = Vec::with_capacity(mutations.len());
    for mutation in mutations {
        let place = *places.entry((mutation.table, mutation.key.clone())).or_insert(together.len());
        match together.get_mut(place) {
            Some(earlier) => earlier.extend(mutation),
            None => together.push(mutation),
        }
    }
    together
}

/// An operation that cannot be done, and whose it is.
pub(super) struct Refused {
    statement: u32,
    error: StoreError,
}

/// The partitions whose current values a commit needs.
pub(super) fn deferred_keys(mutations: &[Mutation]) -> Vec<LockKey> {
    let deferred = mutations.iter().filter(|m| !m.deferred.is_empty());
    deferred.map(|m| (m.table, m.key.clone())).collect()
}
