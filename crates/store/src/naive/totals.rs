//! Totals of groups in the naive store: every row of the partition is looked at.

use super::NaiveStore;
use crate::TableId;
use crate::condition::RowPosition;
use crate::error::StoreError;
use crate::groups::Rows;
use crate::mutation::Mutation;
use crate::view::NOTHING_EXPIRED;
use model::row::RowView;
use std::collections::BTreeMap;

impl NaiveStore {
    /// Whether totals follow a commit to the table.
    pub(super) fn is_totalled(&self, table: TableId) -> bool {
        let tables = self.tables.borrow();
        tables.get(&table).is_some_and(|t| t.groups.is_some() || t.views.iter().any(|view| view.is_grouped))
    }

    /// What a mutation of members that was applied does to their totals.
    pub(super) fn total(
        &self,
        mutation: &Mutation,
        before: &BTreeMap<Vec<u8>, Vec<u8>>,
        now_seconds: u32,
    ) -> Result<(), StoreError> {
        let groups = self.tables.borrow().get(&mutation.table).and_then(|table| table.groups.clone());
        let Some(groups) = groups else { return Ok(()) };
        let after = self.base_rows(mutation);
        for change in groups.changes(&mutation.key, &live(before), &live(&after))? {
            let at = RowPosition::Row(change.group.clone());
            let row = self.current(groups.table, &mutation.key, &at, now_seconds);
            let row =
                row.as_deref().and_then(RowView::from_payload).filter(|row| row.is_live(NOTHING_EXPIRED));
            let end = |(slice, reverse): (crate::Slice, bool)| {
                let mut members = live(&after).into_iter().filter(|(at, _)| slice.contains(at));
                let end = if reverse { members.next_back() } else { members.next() };
                end.map(|(at, row)| (at.to_vec(), row.to_payload()))
            };
            let ends: Vec<_> =
                groups.ends(&change.group).into_iter().map(|wanted| wanted.and_then(end)).collect();
            let timestamp = *self.last_ballot.borrow() + 2;
            *self.last_ballot.borrow_mut() = timestamp;
            self.put(&groups.follow(&mutation.key, &change, row, &ends, (timestamp, now_seconds))?)?;
        }
        Ok(())
    }
}

fn live(rows: &BTreeMap<Vec<u8>, Vec<u8>>) -> Rows<'_> {
    let rows = rows.iter().filter_map(|(at, row)| Some((at.as_slice(), RowView::from_payload(row)?)));
    rows.filter(|(_, row)| row.is_live(NOTHING_EXPIRED)).collect()
}
