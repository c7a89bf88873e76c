//! Merge rules: which of several versions of a cell, marker or row wins (PROTOCOL section 5).
//!
//! Guarantees: merging commutes, associates and repeats safely, whatever the clock says, so
//! replicas, replay and compaction may merge in any order. What a reader sees at a given second is
//! decided after merging, by the cells' own liveness. Does not look at column types.

use crate::deletion::{Deletion, Marker, NO_TIMESTAMP};
use crate::row::{Cell, CellState, Cells, RowView, RowWriter};
use std::cmp::Ordering;

/// Whether `a` wins over `b` (two versions of the same cell). Equal versions compare equal.
///
/// Higher timestamp; else a tombstone or an expiring cell beats a live one; else a pure tombstone
/// beats an expiring one; else the later local deletion or expiry time; else the larger value.
pub fn reconcile(a: &Cell<'_>, b: &Cell<'_>) -> Ordering {
    fn rank<'c>(cell: &Cell<'c>) -> (u8, u32, &'c [u8], u32) {
        match cell.state {
            CellState::Live(value) => (0, 0, value, 0),
            // The ttl comes last: it only makes the order total.
            CellState::Expiring { value, ttl, expiry } => (1, expiry, value, ttl),
            CellState::Tombstone { local_seconds } | CellState::ComplexDeletion { local_seconds } => {
                (2, local_seconds, &[], 0)
            }
        }
    }
    a.timestamp.cmp(&b.timestamp).then_with(|| rank(a).cmp(&rank(b)))
}

/// What a merge may drop. Reads drop nothing here (they skip dead cells when they look at them).
#[derive(Clone, Copy, Debug)]
pub struct Purge {
    /// Tombstones made before this second may go, if nothing older can be beneath them.
    pub before_seconds: u32,
    /// What has expired at this second counts as a tombstone.
    pub now_seconds: u32,
    /// Tombstones with a timestamp below this have nothing older beneath them.
    pub below_timestamp: i64,
}

impl Purge {
    fn drops(&self, timestamp: i64, local_seconds: u32) -> bool {
        timestamp < self.below_timestamp && local_seconds < self.before_seconds
    }
}

/// Merges versions of one row, under a deletion that covers it from outside (partition or range).
///
/// Reusable: scratch space is kept between rows. The outcome is in `row()`.
#[derive(Default)]
pub struct RowMerger {
    out: RowWriter,
}

impl RowMerger {
    pub fn new() -> RowMerger {
        RowMerger::default()
    }

    /// Merges `rows` under `covering`; the covering deletion itself is not written into the row.
    /// Returns whether anything is left.
    pub fn merge(&mut self, rows: &[RowView<'_>], covering: Deletion, purge: Option<Purge>) -> bool {
        let mut marker: Option<Marker> = None;
        let mut deletion = Deletion::NONE;
        let mut base = NO_TIMESTAMP;
        for row in rows {
            marker = match (marker, row.marker()) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            deletion = deletion.max(row.deletion());
            base = base.max(row.base());
        }
        let hidden = deletion.max(covering);
        marker = marker.filter(|m| !hidden.covers(m.timestamp));
        // A row deletion that the covering one hides is not needed any more.
        if covering.covers(deletion.timestamp) {
            deletion = Deletion::NONE;
        }
        if let Some(purge) = purge {
            marker = marker.filter(|m| m.is_live(purge.now_seconds) || !expired_purged(m, &purge));
            if !deletion.is_none() && purge.drops(deletion.timestamp, deletion.local_seconds) {
                deletion = Deletion::NONE;
            }
        }
        if let Some(marker) = marker {
            base = marker.timestamp;
        }
        self.out.begin(base, marker, deletion);
        self.cells(rows, hidden, purge);
        !self.out.is_empty()
    }

    /// The merged image, until the next merge.
    pub fn row(&self) -> RowView<'_> {
        self.out.view()
    }

    fn cells(&mut self, rows: &[RowView<'_>], hidden: Deletion, purge: Option<Purge>) {
        // Almost always one to three versions: keep their iterators on the stack.
        const INLINE: usize = 4;
        if rows.len() <= INLINE {
            let mut heads: [Head<'_>; INLINE] = std::array::from_fn(|_| Head::default());
            for (head, row) in heads.iter_mut().zip(rows) {
                *head = Head::new(row);
            }
            self.merge_heads(&mut heads[..rows.len()], hidden, purge);
        } else {
            let mut heads: Vec<Head<'_>> = rows.iter().map(Head::new).collect();
            self.merge_heads(&mut heads, hidden, purge);
        }
    }

    fn merge_heads(&mut self, heads: &mut [Head<'_>], hidden: Deletion, purge: Option<Purge>) {
        let mut complex_column = None;
        let mut complex = Deletion::NONE;
        loop {
            let mut best: Option<Cell<'_>> = None;
            for head in heads.iter() {
                let Some(cell) = head.cell else { continue };
                best = Some(match best {
                    None => cell,
                    Some(b) => match (cell.column, cell.path).cmp(&(b.column, b.path)) {
                        Ordering::Less => cell,
                        Ordering::Greater => b,
                        Ordering::Equal if reconcile(&cell, &b) == Ordering::Greater => cell,
                        Ordering::Equal => b,
                    },
                });
            }
            let Some(cell) = best else { return };
            for head in heads.iter_mut() {
                if head.cell.is_some_and(|c| c.column == cell.column && c.path == cell.path) {
                    head.cell = head.rest.as_mut().and_then(Iterator::next);
                }
            }
            if let CellState::ComplexDeletion { local_seconds } = cell.state {
                complex_column = Some(cell.column);
                complex = Deletion { timestamp: cell.timestamp, local_seconds };
            }
            let in_complex = complex_column == Some(cell.column) && !cell.is_complex_deletion();
            if hidden.covers(cell.timestamp) || (in_complex && complex.covers(cell.timestamp)) {
                continue;
            }
            self.put(cell, purge);
        }
    }

    fn put(&mut self, cell: Cell<'_>, purge: Option<Purge>) {
        let dead_since = |now_seconds: u32| match cell.state {
            CellState::Live(_) => None,
            // An expired cell keeps its form until it can go: turned into a tombstone it would win
            // over a version of the same timestamp that expires later.
            CellState::Expiring { ttl, expiry, .. } => {
                (expiry <= now_seconds).then_some(expiry.saturating_sub(ttl))
            }
            CellState::Tombstone { local_seconds } => Some(local_seconds),
            CellState::ComplexDeletion { local_seconds } => Some(local_seconds),
        };
        let dropped = purge
            .is_some_and(|p| dead_since(p.now_seconds).is_some_and(|since| p.drops(cell.timestamp, since)));
        if !dropped {
            self.out.cell(&cell);
        }
    }
}

fn expired_purged(marker: &Marker, purge: &Purge) -> bool {
    purge.drops(marker.timestamp, marker.expiry.saturating_sub(marker.ttl))
}

#[derive(Default)]
struct Head<'a> {
    cell: Option<Cell<'a>>,
    rest: Option<Cells<'a>>,
}

impl<'a> Head<'a> {
    fn new(row: &RowView<'a>) -> Head<'a> {
        let mut cells = row.cells();
        Head { cell: cells.next(), rest: Some(cells) }
    }
}

#[cfg(test)]
mod tests;
