//! Totals of groups of rows: what a projection with `count`, `sum`, `min` and `max` is made of.
//!
//! Such a projection has two tables. Its *members* are rows of views of the base, under the key of the group they belong to; its
//! *totals* are one row per group, in a partition with the same key. A commit that changes members reads them as they are
//! and as they will be, under the lock of the members' partition, and writes the new totals: the old counts and sums
//! moved by the difference, and for `min` and `max` the first or last member of a list that is sorted by the value.
//!
//! Members are in lists. List 0 has every row of the group, under the key of the base, with the values that are added up. The other
//! lists have the rows where one column is set, sorted by that column.
//!
//! Guarantees: totals are in the commit of the members, and members in that of their base, so all three agree at every moment.
//! Writing a member again changes nothing. Members that expire are refused: nothing is written when time passes, so totals could not follow.

use crate::error::StoreError;
use crate::mutation::Mutation;
use crate::read::Slice;
use crate::refused::Refused;
use crate::view::{BaseRow, ViewColumn, value_of};
use crate::{TableId, view::NOTHING_EXPIRED};
use model::arithmetic::NumberValue;
use model::comparable;
use model::deletion::{Deletion, Marker, Timestamp};
use model::key::PartitionKey;
use model::number::Decimal;
use model::row::{CellState, ColumnId, RowView, RowWriter};
use model::types::DataType;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// The cell in which a group's row keeps how many members the group has. It belongs to no column.
pub const MEMBERS_COUNTED: ColumnId = ColumnId::MAX - 1;

/// The list that has every member.
pub const ALL_MEMBERS: u8 = 0;

/// The totals of one members table, as its store must know them.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupsConfig {
    /// Holds one row per group.
    pub table: TableId,
    /// Types and directions of the clustering columns that name a group: the first ones of a member's key, before its list.
    pub clustering: Vec<(DataType, bool)>,
    pub totals: Vec<Total>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// Of the totals' table.
    pub column: ColumnId,
    pub of: TotalOf,
}

/// What a total is of; columns are those of members.
#[derive(Clone, Debug, PartialEq)]
pub enum TotalOf {
    Members,
    /// Members in which the column is set.
    Values(ViewColumn),
    Sum {
        of: ViewColumn,
        data_type: DataType,
    },
    Least {
        list: u8,
        of: ViewColumn,
    },
    Greatest {
        list: u8,
        of: ViewColumn,
    },
}

/// Rows of one partition: clustering and image.
pub type Rows<'r> = BTreeMap<&'r [u8], RowView<'r>>;

/// How the members of one group have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The clustering key of the group's row, with which the keys of its members begin.
    pub group: Vec<u8>,
    members: i64,
    /// One per total; of `Least` and `Greatest` nothing is added up.
    added: Vec<Decimal>,
}

impl GroupsConfig {
    /// Group and list of a member, from its clustering key.
    pub fn group_of<'m>(&self, member: &'m [u8]) -> Option<(&'m [u8], u8)> {
        let mut rest = member;
        for (data_type, descending) in &self.clustering {
            rest = rest.get(comparable::skip(data_type, *descending, rest).ok()?..)?;
        }
        let group = member.get(..member.len() - rest.len())?;
        let mut list = Vec::with_capacity(1);
        comparable::decode(&DataType::TinyInt, false, rest, &mut list).ok()?;
        Some((group, *list.first()?))
    }

    /// The groups whose members differ. An error: a member expires, or a sum cannot be made.
    pub fn changes(
        &self,
        key: &PartitionKey,
        before: &Rows<'_>,
        after: &Rows<'_>,
    ) -> Result<Vec<Change>, StoreError> {
        let mut changes: BTreeMap<&[u8], Change> = BTreeMap::new();
        for (rows, others, is_after) in [(before, after, false), (after, before, true)] {
            for (member, row) in rows {
                let Some((group, list)) = self.group_of(member) else { continue };
                // If only the timestamp differs from before, nothing has changed.
                if list != ALL_MEMBERS || others.get(member).is_some_and(|other| same_values(*other, *row)) {
                    continue;
                }
                if is_after && expires(*row) {
                    return Err(Refused::Expires.into());
                }
                let change = changes.entry(group).or_insert_with(|| self.no_change(group));
                self.add(change, BaseRow { key, clustering: member, row: *row }, is_after)?;
            }
        }
        Ok(changes.into_values().collect())
    }

    pub fn no_change(&self, group: &[u8]) -> Change {
        Change { group: group.to_vec(), members: 0, added: vec![Decimal::zero(); self.totals.len()] }
    }

    /// Counts a member in, as if it were new: for a check of the totals.
    pub fn count(
        &self,
        change: &mut Change,
        key: &PartitionKey,
        clustering: &[u8],
        row: RowView<'_>,
    ) -> Result<(), StoreError> {
        self.add(change, BaseRow { key, clustering, row }, true)
    }

    fn add(&self, change: &mut Change, member: BaseRow<'_>, is_new: bool) -> Result<(), StoreError> {
        let signed = |number: Decimal| if is_new { number } else { number.negate() };
        change.members += if is_new { 1 } else { -1 };
        for (total, sum) in self.totals.iter().zip(&mut change.added) {
            let number = match &total.of {
                TotalOf::Members => Some(Decimal::new(1, 0)),
                TotalOf::Values(of) => value_of(of, member).map(|_| Decimal::new(1, 0)),
                TotalOf::Sum { of, .. } => {
                    let value = value_of(of, member);
                    value.and_then(|(value, _)| as_decimal(&of.data_type, &value))
                }
                TotalOf::Least { .. } | TotalOf::Greatest { .. } => None,
            };
            if let Some(number) = number {
                *sum = sum.add(&signed(number)).map_err(unsummable)?;
            }
        }
        Ok(())
    }

    /// The first member of which list, read in which direction, each total needs.
    pub fn ends(&self, group: &[u8]) -> Vec<Option<(Slice, bool)>> {
        let end = |total: &Total| {
            let (list, reverse) = match total.of {
                TotalOf::Least { list, .. } => (list, false),
                TotalOf::Greatest { list, .. } => (list, true),
                _ => return None,
            };
            Some((list_slice(group, list)?, reverse))
        };
        self.totals.iter().map(end).collect()
    }

    /// The group's row after the change. `row`: as it is; `ends`: clustering key and image of the members that [`GroupsConfig::ends`]
    /// asks for, with the change made.
    pub fn follow(
        &self,
        key: &PartitionKey,
        change: &Change,
        row: Option<RowView<'_>>,
        ends: &[Option<(Vec<u8>, Vec<u8>)>],
        stamp: (Timestamp, u32),
    ) -> Result<Mutation, StoreError> {
        let (timestamp, now_seconds) = stamp;
        let mut mutation = Mutation::new(self.table, key.clone());
        let mut writer = RowWriter::new();
        let deletion = Deletion { timestamp: timestamp - 1, local_seconds: now_seconds };
        let members = stored(row, MEMBERS_COUNTED, &DataType::BigInt).add(&Decimal::new(change.members, 0));
        let members = members.map_err(unsummable)?.to_i64_wrapping();
        if members <= 0 {
            writer.begin(timestamp - 1, None, deletion);
            mutation.row(&change.group, writer.view());
            return Ok(mutation);
        }
        writer.begin(timestamp, Some(Marker::new(timestamp)), deletion);
        let mut cells: Vec<(ColumnId, Vec<u8>)> = Vec::with_capacity(self.totals.len() + 1);
        cells.push((MEMBERS_COUNTED, members.to_be_bytes().to_vec()));
        for ((total, added), end) in self.totals.iter().zip(&change.added).zip(ends) {
            let value = match &total.of {
                TotalOf::Members | TotalOf::Values(_) => {
                    let count = stored(row, total.column, &DataType::BigInt).add(added);
                    Some(count.map_err(unsummable)?.to_i64_wrapping().to_be_bytes().to_vec())
                }
                TotalOf::Sum { data_type, .. } => {
                    let sum = stored(row, total.column, data_type).add(added).map_err(unsummable)?;
                    Some(as_wire(data_type, &sum)?)
                }
                TotalOf::Least { of, .. } | TotalOf::Greatest { of, .. } => end.as_ref().and_then(|end| {
                    let row = RowView::from_payload(&end.1)?;
                    let member = BaseRow { key, clustering: &end.0, row };
                    value_of(of, member).map(|(value, _)| value.into_owned())
                }),
            };
            cells.extend(value.map(|value| (total.column, value)));
        }
        cells.sort_unstable_by_key(|(column, _)| *column);
        cells.iter().for_each(|(column, value)| writer.live(*column, value));
        mutation.row(&change.group, writer.view());
        Ok(mutation)
    }
}

fn unsummable(error: model::value::ValueError) -> StoreError {
    Refused::NoSum(error).into()
}

/// The members of one list of a group.
pub fn list_slice(group: &[u8], list: u8) -> Option<Slice> {
    let mut prefix = group.to_vec();
    comparable::encode(&DataType::TinyInt, false, &[list], &mut prefix).ok()?;
    Some(Slice::prefix(&prefix))
}

/// Whether two rows show the same, whenever they were written.
fn same_values(a: RowView<'_>, b: RowView<'_>) -> bool {
    let live = |row: RowView<'_>| row.is_live(NOTHING_EXPIRED);
    let mut cells = a.cells().map(|cell| (cell.column, cell.state));
    live(a) == live(b)
        && !expires(a)
        && !expires(b)
        && cells.by_ref().eq(b.cells().map(|c| (c.column, c.state)))
}

fn expires(row: RowView<'_>) -> bool {
    row.marker().is_some_and(|marker| marker.ttl != 0)
        || row.cells().any(|cell| matches!(cell.state, CellState::Expiring { .. }))
}

/// A number of a group's row; nothing is zero.
fn stored(row: Option<RowView<'_>>, column: ColumnId, data_type: &DataType) -> Decimal {
    let cell = row.and_then(|row| row.cells().find(|cell| cell.column == column));
    let number = cell.and_then(|cell| as_decimal(data_type, cell.live_value(NOTHING_EXPIRED)?));
    number.unwrap_or_else(Decimal::zero)
}

/// `None`: the value is empty.
fn as_decimal(data_type: &DataType, wire: &[u8]) -> Option<Decimal> {
    Some(match NumberValue::from_wire(data_type, wire)? {
        NumberValue::Decimal(number) => number,
        number => Decimal::new(number.to_big_integer(), 0),
    })
}

fn as_wire(data_type: &DataType, sum: &Decimal) -> Result<Vec<u8>, StoreError> {
    match data_type {
        // The trailing zeros of a sum depend on everything that was ever added; its value does not.
        DataType::Decimal => Ok(sum.strip_trailing_zeros().to_wire()),
        DataType::VarInt => Ok(NumberValue::VarInt(sum.to_integer().map_err(unsummable)?).to_wire()),
        _ => Ok(sum.to_i64_wrapping().to_be_bytes().to_vec()),
    }
}
