//! Totals of groups: the second step of a commit. The first step finds the members that follow the base; here the totals follow the members.
//!
//! Members of one group come from many base partitions, so the base's locks do not keep two writers apart. The lock of
//! the members' partition does. It is taken after all locks of bases: a commit that holds it waits for no lock of a base, so nobody
//! waits in a circle. It is kept until the commit is applied.

use super::Shard;
use super::holds::Holds;
use super::locks::LockKey;
use super::projections::Projected;
use super::reads::CurrentRows;
use super::views::touched;
use crate::log::NO_BALLOT;
use crate::memtable::Memtable;
use model::key::PartitionKey;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use store::groups::Rows;
use store::view::NOTHING_EXPIRED;
use store::{
    FirstRow, GroupsConfig, Mutation, Partitions, Read, ReadEnd, RowPosition, Slice, StoreError, TableId,
};

/// Entries that are examined for the end of a list before others have their turn: what was deleted in front of it is passed.
const SCAN_ENTRIES: u64 = 10_000;

impl Shard {
    /// Whether totals follow a commit to the table.
    pub(super) fn is_totalled(&self, table: TableId) -> bool {
        self.any_projection.get()
            && self.tables.borrow().get(&table).is_some_and(|table| table.config.is_totalled())
    }

    pub(super) fn has_groups(&self, table: TableId) -> bool {
        self.groups_of(table).is_some()
    }

    fn groups_of(&self, table: TableId) -> Option<Arc<GroupsConfig>> {
        self.tables.borrow().get(&table)?.config.groups.clone()
    }

    /// Adds the totals that follow members among the mutations, and locks the partitions of these members until the commit is applied.
    pub(super) async fn total(
        self: &Rc<Self>,
        mutations: &mut Vec<Mutation>,
        holds: &mut Holds,
        now_seconds: u32,
    ) -> Result<i64, StoreError> {
        let mut members: BTreeMap<LockKey, Mutation> = BTreeMap::new();
        for mutation in mutations.iter().filter(|mutation| self.has_groups(mutation.table)) {
            match members.get_mut(&(mutation.table, mutation.key.clone())) {
                Some(known) => known.extend(mutation.clone()),
                None => drop(members.insert((mutation.table, mutation.key.clone()), mutation.clone())),
            }
        }
        if members.is_empty() {
            return Ok(NO_BALLOT);
        }
        let free = members.keys().filter(|key| !holds.keys.contains(*key)).cloned().collect();
        holds.join(self.hold(free).await?);
        let mut highest = NO_BALLOT;
        for mutation in members.into_values() {
            let owner = self.owner_of(&mutation.key);
            let totals = match owner == self.index {
                true => self.totals_of(mutation, now_seconds).await?,
                false => self.totals_of_remote(owner, mutation, now_seconds).await?,
            };
            highest = totals.ballot.map_or(highest, |ballot| highest.max(ballot));
            mutations.extend(totals.mutations);
        }
        Ok(highest)
    }

    async fn totals_of_remote(
        &self,
        owner: usize,
        mutation: Mutation,
        now_seconds: u32,
    ) -> Result<Projected, StoreError> {
        self.ask_for(owner, async move |owner| owner.totals_of(mutation, now_seconds).await).await?
    }

    /// What a mutation of members does to their totals. Their partition is of this shard and locked.
    async fn totals_of(&self, mutation: Mutation, now_seconds: u32) -> Result<Projected, StoreError> {
        // Dropped meanwhile: then nobody wants totals.
        let Some(groups) = self.groups_of(mutation.table) else { return Ok(Projected::default()) };
        let slices = super::indexes::slices(touched(&mutation));
        let mut then = Memtable::new();
        then.apply(&mutation, 0);
        let read = read(mutation.table, &mutation.key, slices);
        let changes = {
            let (before, after) = (self.rows_of(&read, None)?, self.rows_of(&read, Some(&then))?);
            groups.changes(&mutation.key, &by_clustering(&before), &by_clustering(&after))?
        };
        let mut totals = Projected::default();
        for change in changes {
            let at = RowPosition::Row(change.group.clone());
            let row =
                self.current(groups.table, &mutation.key, std::iter::once(at.clone()), NOTHING_EXPIRED)?;
            let mut ends = Vec::new();
            for end in groups.ends(&change.group) {
                ends.push(match end {
                    Some((slice, reverse)) => {
                        let read = Read { reverse, scan_limit: SCAN_ENTRIES, ..read_slice(&read, slice) };
                        self.first_then(read, &then).await?
                    }
                    None => None,
                });
            }
            // A group's row is replaced by a deletion just below it, so each change takes two.
            self.next_ballot();
            let timestamp = self.next_ballot();
            let stamp = (timestamp, now_seconds);
            let row = row.view(&at);
            totals.mutations.push(groups.follow(&mutation.key, &change, row, &ends, stamp)?);
            totals.ballot = Some(timestamp);
        }
        Ok(totals)
    }

    /// The first row of a read as it will be: clustering key and payload.
    async fn first_then(
        &self,
        mut read: Read,
        then: &Memtable,
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>, StoreError> {
        let mut first = FirstRow::default();
        while let ReadEnd::Paused(position) = self.read_then(&read, Some(then), &mut first)?.end {
            read.after = Some(position);
            rt::turn::give_way().await;
        }
        Ok(first.row)
    }
}

fn read(table: TableId, key: &PartitionKey, slices: Vec<Slice>) -> Read {
    Read {
        scan_limit: super::views::TOUCHED_MAX,
        ..Read::of(table, Partitions::One(key.clone()), slices, NOTHING_EXPIRED)
    }
}

fn read_slice(read: &Read, slice: Slice) -> Read {
    Read { slices: vec![slice], ..read.clone() }
}

fn by_clustering(rows: &CurrentRows) -> Rows<'_> {
    let rows = rows.rows().filter_map(|(position, row)| match position {
        RowPosition::Row(clustering) => Some((clustering.as_slice(), row)),
        RowPosition::Static => None,
    });
    rows.collect()
}
