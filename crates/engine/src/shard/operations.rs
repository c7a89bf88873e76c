//! Commits on their owning shard, with and without operations that need the current value.

use super::holds::Holds;
use super::locks::LockKey;
use super::{RemotePart, Shard};
use crate::log::NO_BALLOT;
use model::deletion::Deletion;
use model::merge::RowMerger;
use model::row::{RowView, RowWriter};
use std::rc::Rc;
use store::{DeferredOp, Mutation, RowPosition, StoreError};
use tokio::sync::oneshot;

impl Shard {
    /// Commits mutations, at least one of which belongs to this shard.
    pub async fn commit(
        self: &Rc<Self>,
        mutations: Vec<Mutation>,
        now_seconds: u32,
    ) -> Result<(), StoreError> {
        let _admitted = self.admit().await?;
        let mut keys = deferred_keys(&mutations);
        keys.extend(self.viewed_keys(&mutations));
        if keys.is_empty() && !self.are_projected(&mutations) {
            return self.log_and_apply(NO_BALLOT, mutations, Holds::default()).await;
        }
        let holds = self.hold(keys).await?;
        let mut mutations = self.resolve_all(mutations, now_seconds).await?;
        let ballot = self.project(&mut mutations, now_seconds).await?;
        self.log_and_apply(ballot, mutations, holds).await
    }

    /// One record for everything; returns when every shard has applied its part.
    pub(super) async fn log_and_apply(
        self: &Rc<Self>,
        ballot: i64,
        mut mutations: Vec<Mutation>,
        holds: Holds,
    ) -> Result<(), StoreError> {
        let mut parts = Vec::new();
        let mut done = Vec::new();
        if mutations.iter().any(|m| self.owner_of(&m.key) != self.index) {
            self.split_off_remote(&mut mutations, holds.remote, &mut parts, &mut done)?;
        }
        let number = self.submit(ballot, mutations, parts, holds.local)?;
        self.applied(number).await?;
        for receiver in done {
            receiver.await.map_err(|_| StoreError::Closed)?;
        }
        Ok(())
    }

    /// Moves the mutations of other shards into one part per shard.
    fn split_off_remote(
        &self,
        mutations: &mut Vec<Mutation>,
        mut holds: Vec<super::holds::RemoteHold>,
        parts: &mut Vec<RemotePart>,
        done: &mut Vec<oneshot::Receiver<()>>,
    ) -> Result<(), StoreError> {
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
                    let (sender, receiver) = oneshot::channel();
                    let hold = holds.iter().position(|h| h.shard == shard).map(|i| holds.swap_remove(i));
                    parts.push(RemotePart { shard, mutations: vec![stamped], hold, done: sender });
                    done.push(receiver);
                }
            }
        }
        Ok(())
    }

    /// Turns deferred operations into entries; the partitions are locked.
    pub(super) async fn resolve_all(
        self: &Rc<Self>,
        mutations: Vec<Mutation>,
        now_seconds: u32,
    ) -> Result<Vec<Mutation>, StoreError> {
        // Together per partition, so that two increments of one counter in one batch add up.
        let mut together: Vec<Mutation> = Vec::with_capacity(mutations.len());
        for mutation in mutations {
            let same = |other: &&mut Mutation| other.table == mutation.table && other.key == mutation.key;
            match together.iter_mut().find(same) {
                Some(earlier) => earlier.extend(mutation),
                None => together.push(mutation),
            }
        }
        let mut resolved = Vec::with_capacity(together.len());
        let mut refused: Option<Refused> = None;
        for mutation in together {
            let owner = self.owner_of(&mutation.key);
            let outcome = match mutation.deferred.is_empty() {
                true => Ok(mutation),
                false if owner == self.index => self.resolve(mutation, now_seconds),
                false => self.resolve_remote(owner, mutation, now_seconds).await?,
            };
            match outcome {
                Ok(mutation) => resolved.push(mutation),
                // Of several wrong statements the first one is told, whichever partitions they are on.
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
        let (sender, receiver) = oneshot::channel();
        self.send(
            owner,
            Box::new(move |owner| {
                let _ = sender.send(owner.resolve(mutation, now_seconds));
            }),
        )?;
        receiver.await.map_err(|_| StoreError::Closed)
    }

    /// Each operation sees what the earlier ones of its statement have made of its row; counters also what the other
    /// statements have.
    fn resolve(&self, mut mutation: Mutation, now_seconds: u32) -> Result<Mutation, Refused> {
        let deferred = std::mem::take(&mut mutation.deferred);
        let mut statement = deferred.first().map_or(0, |operation| operation.statement);
        let positions = deferred.iter().map(|operation| operation.position.clone());
        let before = self
            .current(mutation.table, &mutation.key, positions, now_seconds)
            .map_err(|error| Refused { statement, error })?;
        let mut seen = before.clone();
        let mut writer = RowWriter::new();
        for operation in &deferred {
            if std::mem::replace(&mut statement, operation.statement) != operation.statement
                && !matches!(operation.op, DeferredOp::CounterAdd(_))
            {
                seen = before.clone();
            }
            let current = seen.view(&operation.position);
            operation
                .resolve(current, now_seconds, &mut writer)
                .map_err(|error| Refused { statement, error })?;
            if writer.is_empty() {
                continue;
            }
            let written = writer.view();
            let versions: Vec<RowView<'_>> = current.into_iter().chain([written]).collect();
            let mut merger = RowMerger::new();
            merger.merge(&versions, Deletion::NONE, None);
            let merged = merger.row().to_payload();
            match &operation.position {
                RowPosition::Static => mutation.static_row(written),
                RowPosition::Row(clustering) => mutation.row(clustering, written),
            }
            seen.put(operation.position.clone(), merged);
        }
        Ok(mutation)
    }
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
