//! What a commit does to other tables: entries of indexes, rows of views and the record of buckets join it before it is logged.
//!
//! They are found on the shard that owns the rows, wherever the commit is logged.

use super::Shard;
use super::holds::Holds;
use super::locks::LockKey;
use crate::log::NO_BALLOT;
use std::rc::Rc;
use store::{Mutation, RowTtl, StoreError, TableId};

/// Mutations of projections, and the highest ballot that was given for them.
#[derive(Default)]
pub(super) struct Projected {
    pub mutations: Vec<Mutation>,
    pub ballot: Option<i64>,
}

impl Shard {
    /// When rows of the table expire as a whole, if they do.
    pub(super) fn row_ttl(&self, table: TableId) -> Option<RowTtl> {
        self.tables.borrow().get(&table)?.config.row_ttl
    }

    /// Whether commits to the table change other tables.
    pub(super) fn is_projected(&self, table: TableId) -> bool {
        self.any_projection.get()
            && self.tables.borrow().get(&table).is_some_and(|table| table.config.is_projected())
    }

    pub(super) fn are_projected(&self, mutations: &[Mutation]) -> bool {
        self.any_projection.get() && mutations.iter().any(|mutation| self.is_projected(mutation.table))
    }

    /// The partitions that must not change while the rows of their views or of their mirror are found.
    pub(super) fn viewed_keys(&self, mutations: &[Mutation]) -> Vec<LockKey> {
        if !self.any_projection.get() {
            return Vec::new();
        }
        let tables = self.tables.borrow();
        let viewed = |table: TableId| tables.get(&table).is_some_and(|table| table.config.is_followed());
        let viewed = mutations.iter().filter(|mutation| viewed(mutation.table));
        viewed.map(|mutation| (mutation.table, mutation.key.clone())).collect()
    }

    /// Adds what mutations do to indexes and views, and to the totals of these; locks for totals join those that are held. Their operations have been resolved; they must be logged, with at least the
    /// ballot that this returns, without waiting for anything in between.
    pub(super) async fn project(
        self: &Rc<Self>,
        mutations: &mut Vec<Mutation>,
        holds: &mut Holds,
        now_seconds: u32,
    ) -> Result<i64, StoreError> {
        if !self.are_projected(mutations) {
            return Ok(NO_BALLOT);
        }
        let mut all = Vec::new();
        let mut highest = NO_BALLOT;
        for mutation in mutations.iter() {
            let owner = self.owner_of(&mutation.key);
            // Another shard may know more of the tables than this one, or less.
            let projected = match owner == self.index {
                true => self.projected(mutation, now_seconds)?,
                false => self.projected_remote(owner, mutation.clone(), now_seconds).await?,
            };
            highest = projected.ballot.map_or(highest, |ballot| highest.max(ballot));
            all.extend(projected.mutations);
        }
        // A projection that was dropped meanwhile, as this shard knows and another did not yet.
        // What was only to be copied is nothing to be stored.
        mutations.retain(|mutation| mutation.touched.is_none() || !mutation.encoded().is_empty());
        {
            let tables = self.tables.borrow();
            mutations.extend(all.into_iter().filter(|mutation| tables.get(&mutation.table).is_some()));
        }
        match mutations.iter().any(|mutation| self.has_groups(mutation.table)) {
            true => Ok(highest.max(self.total(mutations, holds, now_seconds).await?)),
            false => Ok(highest),
        }
    }

    /// The same for mutations whose projected tables are all of this shard's partitions: nothing has to be waited for.
    pub(super) fn project_here(
        &self,
        mutations: &mut Vec<Mutation>,
        now_seconds: u32,
    ) -> Result<i64, StoreError> {
        let mut highest = NO_BALLOT;
        for place in 0..mutations.len() {
            let Some(mutation) = mutations.get(place) else { break };
            let projected = self.projected(mutation, now_seconds)?;
            highest = projected.ballot.map_or(highest, |ballot| highest.max(ballot));
            mutations.extend(projected.mutations);
        }
        Ok(highest)
    }

    async fn projected_remote(
        &self,
        owner: usize,
        mutation: Mutation,
        now_seconds: u32,
    ) -> Result<Projected, StoreError> {
        self.ask(owner, move |owner| owner.projected(&mutation, now_seconds)).await?
    }

    /// What a mutation of a partition of this shard does to the projections of its table.
    fn projected(&self, mutation: &Mutation, now_seconds: u32) -> Result<Projected, StoreError> {
        if !self.is_projected(mutation.table) {
            return Ok(Projected::default());
        }
        let mut projected = self.view_delta(mutation, now_seconds)?;
        projected.mutations.extend(self.mirror_delta(mutation)?);
        projected.mutations.extend(self.index_delta(mutation, now_seconds)?);
        projected.mutations.extend(self.bucket_entry(mutation));
        if let Some((entries, stamp)) = self.pending_entries(mutation) {
            projected.mutations.extend(entries);
            projected.ballot = Some(stamp);
        }
        Ok(projected)
    }
}
