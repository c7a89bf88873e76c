//! Materialized views as data: from a row of the base table to its row in the view.
//!
//! A view is a table whose key is made of its base's key and other columns (in CQL's views at most one). The store keeps it in step: under the lock of the
//! base partition it looks at the rows that a commit touches as they are and as they will be, and the view's rows follow in
//! the same commit. So readers of a view need not look at its base.
//!
//! Guarantees: at every moment the live rows of a view are those that its definition makes of the live rows of its base, even
//! when cells expire: the cells of a view's row say how long it lives. Rows of views have timestamps of their own, in the
//! order of commits, because timestamps of the base cannot say which of two rows of a view came later.

use crate::TableId;
use crate::evaluate;
use crate::mutation::Mutation;
use model::comparable;
use model::comparison::Comparison;
use model::deletion::{Deletion, Marker, Timestamp};
use model::key::{self, KIND_ROW, PartitionKey};
use model::row::{
    Cell, CellState, ColumnId, KEY_AS_WRITTEN, NEVER, RowView, RowWriter, encode_written, written_values,
};
use model::types::DataType;
use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// Older than any commit: the timestamp of rows that were there before the view.
pub const BUILD_TIMESTAMP: Timestamp = 1;

/// Rows are looked at as if nothing had expired yet: the contents of a view's row do not depend on the clock, only how long
/// it lives.
pub const NOTHING_EXPIRED: u32 = 0;

/// Room for the clustering key of a usual view, and for what a row of a view has more than its base's: growing costs more.
const KEY_BYTES: usize = 64;
const ROW_BYTES: usize = 32;

/// One view of a table, as its store must know it.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewConfig {
    /// Holds the rows.
    pub table: TableId,
    pub partition: Vec<ViewColumn>,
    pub clustering: Vec<ViewColumn>,
    /// The columns outside the view's key, under the ids that they have in the base.
    pub columns: Vec<ColumnId>,
    /// The columns of the base whose cells keep its rows alive; `None`: all.
    pub living: Option<Vec<ColumnId>>,
    /// What must hold of a row besides having every column of the view's key.
    pub conditions: Vec<ViewCondition>,
    /// Its rows are members of groups, whose totals follow them.
    pub is_grouped: bool,
}

/// A column of the view's key.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewColumn {
    pub source: ColumnSource,
    pub data_type: DataType,
    /// In the view.
    pub descending: bool,
}

/// Where a value is in the base.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnSource {
    /// The column at `position` of `count` in the partition key.
    Partition {
        position: usize,
        count: usize,
    },
    /// A clustering column: the types and directions up to and with it.
    Clustering {
        columns: Vec<(DataType, bool)>,
    },
    Cell(ColumnId),
    /// Nowhere: which list of members the row is in ([`crate::groups`]).
    List(u8),
}

/// `columns comparison values`; any of the alternatives for IN. Several columns are compared as a tuple, the first that
/// differs decides.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewCondition {
    pub columns: Vec<ViewColumn>,
    pub comparison: Comparison,
    /// One for every comparison but IN, each with a value per column. Nothing holds without one.
    pub alternatives: Vec<Vec<Vec<u8>>>,
}

/// A row of the base with its key.
#[derive(Clone, Copy)]
pub struct BaseRow<'a> {
    pub key: &'a PartitionKey,
    pub clustering: &'a [u8],
    pub row: RowView<'a>,
}

/// Where a row of a view is, and until when it can be there at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPlace {
    pub key: PartitionKey,
    pub clustering: Vec<u8>,
    /// The end of the first cell that a column of the key is made of or a condition is about; [`NEVER`].
    until: u32,
}

impl ViewConfig {
    /// Where the view has the row; `None` when it does not have it.
    pub fn place(&self, base: BaseRow<'_>) -> Option<ViewPlace> {
        if !self.lives(base.row) {
            return None;
        }
        let mut until = NEVER;
        let mut value = |column: &ViewColumn| {
            let (value, end) = value_of(column, base)?;
            until = until.min(end);
            Some(value)
        };
        let values = self.partition.iter().map(&mut value).collect::<Option<Vec<_>>>()?;
        let mut clustering = Vec::with_capacity(KEY_BYTES);
        for column in &self.clustering {
            let value = value(column)?;
            comparable::encode(&column.data_type, column.descending, &value, &mut clustering).ok()?;
        }
        let key = match values.as_slice() {
            [one] => PartitionKey::of(one)?,
            several => PartitionKey::composite(several)?,
        };
        for condition in &self.conditions {
            until = until.min(condition.holds_until(base)?);
        }
        Some(ViewPlace { key, clustering, until })
    }

    fn lives(&self, row: RowView<'_>) -> bool {
        match &self.living {
            None => row.is_live(NOTHING_EXPIRED),
            Some(columns) => row.is_live_in(columns, NOTHING_EXPIRED),
        }
    }

    /// From when on nothing keeps the row of the base alive.
    fn dead_from(&self, row: RowView<'_>) -> u32 {
        let counts =
            |cell: &Cell<'_>| self.living.as_ref().is_none_or(|columns| columns.contains(&cell.column));
        let marker = row.marker().map_or(0, |m| if m.ttl == 0 { NEVER } else { m.expiry });
        row.cells().filter(counts).map(|cell| end_of(&cell.state)).fold(marker, u32::max)
    }

    /// The row of the view, written at `timestamp`, over a deletion of whatever was there.
    pub fn image(&self, base: BaseRow<'_>, place: &ViewPlace, stamp: ViewStamp, out: &mut RowWriter) {
        let ViewStamp { timestamp, replaces, now_seconds } = stamp;
        let end = self.end(base, place);
        let mut marker = Marker::new(timestamp);
        if end != NEVER {
            (marker.ttl, marker.expiry) = (end.saturating_sub(now_seconds).max(1), end);
        }
        let deletion = match replaces {
            true => Deletion { timestamp: timestamp - 1, local_seconds: now_seconds },
            false => Deletion::NONE,
        };
        out.begin(timestamp, Some(marker), deletion);
        for cell in base.row.cells().filter(|cell| self.columns.contains(&cell.column)) {
            let Some(value) = cell.live_value(NOTHING_EXPIRED) else { continue };
            let end = end_of(&cell.state).min(place.until);
            let state = match (end, cell.state) {
                (NEVER, _) => CellState::Live(value),
                (end, CellState::Expiring { ttl, expiry, .. }) if end == expiry => {
                    CellState::Expiring { value, ttl, expiry }
                }
                (expiry, _) => {
                    let ttl = expiry.saturating_sub(now_seconds).max(1);
                    CellState::Expiring { value, ttl, expiry }
                }
            };
            out.cell(&Cell { column: cell.column, path: cell.path, timestamp, state });
        }
        if let Some(values) = self.as_written(base) {
            let state = match place.until {
                NEVER => CellState::Live(&values),
                expiry => {
                    let ttl = expiry.saturating_sub(now_seconds).max(1);
                    CellState::Expiring { value: &values, ttl, expiry }
                }
            };
            out.cell(&Cell { column: KEY_AS_WRITTEN, path: None, timestamp, state });
        }
    }

    /// The values of the clustering columns, if the key may not give them back: the scale of decimals is no part of it.
    fn as_written(&self, base: BaseRow<'_>) -> Option<Vec<u8>> {
        if !self.clustering.iter().any(|column| column.data_type.has_decimal()) {
            return None;
        }
        let values = self.clustering.iter().map(|column| Some(value_of(column, base)?.0));
        Some(encode_written(&values.collect::<Option<Vec<_>>>()?))
    }

    /// What brings a view from what it has of one row of its base to what it must have.
    /// `timestamp` and the one before it are higher than any that the view has for the row.
    pub fn follow(
        &self,
        before: Option<BaseRow<'_>>,
        after: Option<BaseRow<'_>>,
        timestamp: Timestamp,
        now_seconds: u32,
    ) -> Vec<Mutation> {
        let was = before.and_then(|base| self.place(base));
        let is = after.and_then(|base| Some((base, self.place(base)?)));
        let was = was.as_ref().map(|was| (&was.key, was.clustering.as_slice()));
        self.follow_from(was, is.as_ref(), timestamp, now_seconds)
    }

    /// The same from where the view has the row to where it must have it.
    pub fn follow_from(
        &self,
        was: Option<(&PartitionKey, &[u8])>,
        is: Option<&(BaseRow<'_>, ViewPlace)>,
        timestamp: Timestamp,
        now_seconds: u32,
    ) -> Vec<Mutation> {
        let mut out = Vec::with_capacity(2);
        let mut writer =
            RowWriter::with_capacity(is.map_or(0, |(base, _)| base.row.body().len()) + ROW_BYTES);
        if let Some((key, clustering)) = was
            && is.is_none_or(|(_, is)| (&is.key, is.clustering.as_slice()) != (key, clustering))
        {
            let deletion = Deletion { timestamp: timestamp - 1, local_seconds: now_seconds };
            writer.begin(timestamp - 1, None, deletion);
            let mut mutation = Mutation::new(self.table, key.clone());
            mutation.row(clustering, writer.view());
            out.push(mutation);
        }
        if let Some((base, place)) = is {
            let stamp = ViewStamp { timestamp, replaces: true, now_seconds };
            self.image(*base, place, stamp, &mut writer);
            let mut mutation = Mutation::new(self.table, place.key.clone());
            mutation.row(&place.clustering, writer.view());
            out.push(mutation);
        }
        out
    }

    /// From when on the view does not have the row any more, if nobody writes it again.
    pub fn end(&self, base: BaseRow<'_>, place: &ViewPlace) -> u32 {
        self.dead_from(base.row).min(place.until)
    }
}

impl ViewConfig {
    /// The rows of the view that rows of the base make which were there before it. Static rows make none.
    pub fn built_from(&self, rows: &Mutation, now_seconds: u32) -> Vec<Mutation> {
        let mut writer = RowWriter::new();
        let mut out = Vec::new();
        for entry in rows.entries() {
            let Some((&KIND_ROW, clustering)) = entry.position.split_first() else { continue };
            let Some(row) = RowView::from_payload(entry.payload) else { continue };
            let base = BaseRow { key: &rows.key, clustering, row };
            let Some(place) = self.place(base) else { continue };
            let stamp = ViewStamp { timestamp: BUILD_TIMESTAMP, replaces: false, now_seconds };
            self.image(base, &place, stamp, &mut writer);
            let mut mutation = Mutation::new(self.table, place.key.clone());
            mutation.row(&place.clustering, writer.view());
            out.push(mutation);
        }
        out
    }
}

/// When a row of a view is written, and over what.
#[derive(Clone, Copy, Debug)]
pub struct ViewStamp {
    pub timestamp: Timestamp,
    /// There may be an older row in its place.
    pub replaces: bool,
    pub now_seconds: u32,
}

impl ViewCondition {
    /// When the first value that it is about expires; `None`: it does not hold.
    fn holds_until(&self, base: BaseRow<'_>) -> Option<u32> {
        let values = self.columns.iter().map(|column| value_of(column, base)).collect::<Option<Vec<_>>>()?;
        let holds = evaluate::holds(self.comparison, self.alternatives.len(), |alternative| {
            let parts = self.columns.iter().zip(&values).zip(&self.alternatives[alternative]);
            evaluate::order(
                parts.map(|((column, (value, _)), wanted)| (&column.data_type, &**value, &**wanted)),
            )
        });
        holds.then(|| values.iter().map(|(_, end)| *end).fold(NEVER, u32::min))
    }
}

fn end_of(state: &CellState<'_>) -> u32 {
    match state {
        CellState::Live(_) => NEVER,
        CellState::Expiring { expiry, .. } => *expiry,
        CellState::Tombstone { .. } | CellState::ComplexDeletion { .. } => 0,
    }
}

/// The wire value of a column in a row of the base, and its end.
pub(crate) fn value_of<'a>(column: &ViewColumn, base: BaseRow<'a>) -> Option<(Cow<'a, [u8]>, u32)> {
    match &column.source {
        ColumnSource::Partition { count: 1, .. } => Some((Cow::Borrowed(base.key.bytes()), NEVER)),
        ColumnSource::Partition { position, .. } => {
            Some((Cow::Borrowed(key::composite_part(base.key.bytes(), *position)?), NEVER))
        }
        ColumnSource::Clustering { columns } => {
            let ((data_type, descending), before) = columns.split_last()?;
            if data_type.has_decimal()
                && let Some(cell) = base.row.cells().find(|cell| cell.column == KEY_AS_WRITTEN)
                && let Some(value) =
                    cell.live_value(NOTHING_EXPIRED).and_then(|kept| written_values(kept).nth(before.len()))
            {
                return Some((Cow::Borrowed(value), NEVER));
            }
            let mut rest = base.clustering;
            for (data_type, descending) in before {
                rest = rest.get(comparable::skip(data_type, *descending, rest).ok()?..)?;
            }
            let mut value = Vec::with_capacity(rest.len());
            comparable::decode(data_type, *descending, rest, &mut value).ok()?;
            Some((Cow::Owned(value), NEVER))
        }
        ColumnSource::Cell(id) => {
            let cell = base.row.cells().find(|cell| cell.column == *id && cell.path.is_none())?;
            Some((Cow::Borrowed(cell.live_value(NOTHING_EXPIRED)?), end_of(&cell.state)))
        }
        ColumnSource::List(list) => Some((Cow::Owned(vec![*list]), NEVER)),
    }
}
