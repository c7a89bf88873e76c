//! Rows of views and of a table's next generation: found from the rows that a mutation touches as they are and as they will be. The base partition is locked.

use super::Shard;
use super::projections::Projected;
use super::reads::CurrentRows;
use crate::memtable::Memtable;
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW};
use model::row::RowView;
use std::cmp::Ordering;
use store::index::Needs;
use store::mirror::{self, Images};
use store::view::{BaseRow, NOTHING_EXPIRED};
use store::{Mutation, Partitions, Read, ReadEnd, Refused, RowPosition, Slice, StoreError};

/// Stored entries that one mutation of a table with views may touch: all of them become part of one commit.
pub(super) const TOUCHED_MAX: u64 = 100_000;

impl Shard {
    pub(super) fn view_delta(&self, mutation: &Mutation, now_seconds: u32) -> Result<Projected, StoreError> {
        // Borrowed while its rows are read: nothing changes tables meanwhile, and a copy of the settings per write is dear.
        let tables = self.tables.borrow();
        let table = tables.get(&mutation.table).ok_or(StoreError::UnknownTable(mutation.table))?;
        let views = &table.config.views;
        if views.is_empty() {
            return Ok(Projected::default());
        }
        let touched = touched(mutation);
        if touched.is_empty() {
            return Ok(Projected::default());
        }
        let read = Read {
            scan_limit: TOUCHED_MAX,
            ..Read::of(
                mutation.table,
                Partitions::One(mutation.key.clone()),
                super::indexes::slices(touched),
                NOTHING_EXPIRED,
            )
        };
        let mut then = Memtable::new();
        then.apply(mutation, 0);
        let (before, after) = (self.rows_of(&read, None)?, self.rows_of(&read, Some(&then))?);
        // A row of a view is replaced by a deletion just below it, so each commit takes two.
        self.next_ballot();
        let timestamp = self.next_ballot();
        let mut mutations = Vec::new();
        for (position, was, is) in side_by_side(before.payloads(), after.payloads()) {
            let RowPosition::Row(clustering) = position else { continue };
            if was == is {
                continue;
            }
            let base = |row| BaseRow { key: &mutation.key, clustering, row };
            let was = was.and_then(|payload| RowView::from_payload(payload)).map(base);
            let is = is.and_then(|payload| RowView::from_payload(payload)).map(base);
            for view in views {
                mutations.extend(view.follow(was, is, timestamp, now_seconds));
            }
        }
        Ok(Projected { mutations, ballot: Some(timestamp) })
    }

    /// The rows of the table's next generation: every row that a mutation touches, where it will be.
    pub(super) fn mirror_delta(&self, mutation: &Mutation) -> Result<Vec<Mutation>, StoreError> {
        let tables = self.tables.borrow();
        let table = tables.get(&mutation.table).ok_or(StoreError::UnknownTable(mutation.table))?;
        let Some(mirror) = &table.config.mirror else { return Ok(Vec::new()) };
        let slices = super::indexes::apart(mirror::touched(mutation));
        if slices.is_empty() {
            return Ok(Vec::new());
        }
        let read = Read {
            scan_limit: TOUCHED_MAX,
            ..Read::of(mutation.table, Partitions::One(mutation.key.clone()), slices, NOTHING_EXPIRED)
        };
        let mut then = Memtable::new();
        then.apply(mutation, 0);
        // Rows that are gone afterwards are known by name, unless a range has taken them.
        let before = match mirror::deletes_ranges(mutation) {
            true => self.rows_of(&read, None)?,
            false => CurrentRows::default(),
        };
        let after = self.rows_of(&read, Some(&then))?;
        mirror.follow(mutation, &images(&before), &images(&after))
    }

    pub(super) fn rows_of(&self, read: &Read, then: Option<&Memtable>) -> Result<CurrentRows, StoreError> {
        let mut rows = CurrentRows::default();
        match self.read_then(read, then, &mut rows)?.end {
            ReadEnd::Complete | ReadEnd::Stopped => Ok(rows),
            ReadEnd::Paused(_) => Err(Refused::TooManyTouched { most: TOUCHED_MAX }.into()),
        }
    }
}

fn images(rows: &CurrentRows) -> Images<'_> {
    let rows = rows.rows().filter_map(|(position, row)| match position {
        RowPosition::Row(clustering) => Some((clustering.as_slice(), row)),
        RowPosition::Static => None,
    });
    rows.collect()
}

pub(super) type Payload = (RowPosition, Vec<u8>);

/// Every position of either, ascending, with what each has there.
pub(super) fn side_by_side<'r>(
    mut before: &'r [Payload],
    mut after: &'r [Payload],
) -> impl Iterator<Item = (&'r RowPosition, Option<&'r Vec<u8>>, Option<&'r Vec<u8>>)> {
    std::iter::from_fn(move || {
        let order = match (before.first(), after.first()) {
            (Some(was), Some(is)) => was.0.cmp(&is.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let was = if order.is_le() { before.split_off_first() } else { None };
        let is = if order.is_ge() { after.split_off_first() } else { None };
        let position = was.or(is).map(|(position, _)| position)?;
        Some((position, was.map(|(_, payload)| payload), is.map(|(_, payload)| payload)))
    })
}

/// The rows that a mutation writes or deletes.
pub(super) fn touched(mutation: &Mutation) -> Needs {
    let mut touched = Needs::default();
    for entry in mutation.entries() {
        match entry.position.split_first() {
            Some((&KIND_PARTITION_DELETION, _)) => touched.ranges.push(Slice::all()),
            Some((&KIND_RANGE, start)) => {
                if let Some((_, end)) = model::deletion::Deletion::decode(entry.payload) {
                    touched.ranges.push(Slice { start: start.to_vec(), end: end.to_vec() });
                }
            }
            Some((&KIND_ROW, clustering)) => touched.rows.push(RowPosition::Row(clustering.to_vec())),
            _ => {}
        }
    }
    touched
}
