//! Row images: round trips, and arbitrary bytes.

use super::*;
use proptest::prelude::*;

/// Owned cells for generators; shared with the merge tests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnedCell {
    pub column: ColumnId,
    pub path: Option<Vec<u8>>,
    pub timestamp: i64,
    pub kind: u8,
    pub value: Vec<u8>,
    pub ttl: u32,
    pub seconds: u32,
}

impl OwnedCell {
    pub(crate) fn view(&self) -> Cell<'_> {
        let state = match self.kind {
            0 => CellState::Live(&self.value),
            1 => CellState::Expiring { value: &self.value, ttl: self.ttl, expiry: self.seconds },
            2 => CellState::Tombstone { local_seconds: self.seconds },
            _ => CellState::ComplexDeletion { local_seconds: self.seconds },
        };
        Cell { column: self.column, path: self.path.as_deref(), timestamp: self.timestamp, state }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct OwnedRow {
    pub base: i64,
    pub marker: Option<Marker>,
    pub deletion: Deletion,
    pub cells: Vec<OwnedCell>,
}

impl OwnedRow {
    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut writer = RowWriter::new();
        writer.begin(self.base, self.marker, self.deletion);
        self.cells.iter().for_each(|c| writer.cell(&c.view()));
        writer.view().to_payload()
    }
}

/// Columns 0 and 1 are simple, 5 is multi-cell: small ranges so that versions collide.
fn cell() -> impl Strategy<Value = OwnedCell> {
    let path = prop::option::of(prop::collection::vec(0u8..3, 1..3));
    let value = prop::collection::vec(any::<u8>(), 0..3);
    (0u32..3, path, 0i64..6, 0u8..4, value, 1u32..4, 0u32..12).prop_map(
        |(column, path, timestamp, kind, value, ttl, seconds)| {
            let column = if column == 2 { 5 } else { column };
            let (path, kind) = match (column, path) {
                (5, Some(path)) => (Some(path), kind % 3),
                (5, None) => (None, 3),
                _ => (None, kind % 3),
            };
            OwnedCell { column, path, timestamp, kind, value, ttl, seconds }
        },
    )
}

pub(crate) fn row() -> impl Strategy<Value = OwnedRow> {
    let marker = prop::option::of((0u32..3, 0u32..12));
    let deletion = prop::option::of((0i64..6, 0u32..4));
    (0i64..6, marker, deletion, prop::collection::vec(cell(), 0..6)).prop_map(
        |(base, marker, deletion, mut cells)| {
            cells.sort_by(|a, b| (a.column, &a.path).cmp(&(b.column, &b.path)));
            cells.dedup_by(|a, b| (a.column, &a.path) == (b.column, &b.path));
            let marker = marker.map(|(ttl, expiry)| Marker {
                timestamp: base,
                ttl,
                expiry: if ttl > 0 { expiry } else { 0 },
            });
            let deletion = deletion
                .map_or(Deletion::NONE, |(timestamp, local_seconds)| Deletion { timestamp, local_seconds });
            OwnedRow { base, marker, deletion, cells }
        },
    )
}

proptest! {
    #[test]
    fn images_round_trip(row in row()) {
        let payload = row.payload();
        let view = RowView::from_payload(&payload).unwrap();
        prop_assert!(view.check());
        prop_assert_eq!(view.marker(), row.marker);
        prop_assert_eq!(view.deletion(), row.deletion);
        let cells: Vec<_> = view.cells().collect();
        let expected: Vec<_> = row.cells.iter().map(OwnedCell::view).collect();
        prop_assert_eq!(cells, expected);
    }

    /// What the short look at an image says is what the long one finds.
    #[test]
    fn a_uniform_row_is_as_old_as_its_base(row in row(), lasting in any::<bool>()) {
        let mut row = row;
        if lasting {
            row.marker = Some(Marker::new(row.base));
            row.deletion = Deletion::NONE;
            row.cells.retain(|cell| cell.column != 5);
            row.cells.iter_mut().for_each(|cell| (cell.kind, cell.timestamp) = (0, row.base));
        }
        let payload = row.payload();
        let view = RowView::from_payload(&payload).unwrap();
        prop_assert_eq!(view.dead_from(), view.dead_from_parts());
        if lasting {
            prop_assert!(view.is_uniform());
        }
        if view.is_uniform() {
            prop_assert_eq!(view.timestamps(), Some((row.base, row.base)));
            prop_assert!(view.deletion().is_none() && view.cells().all(|cell| matches!(cell.state, CellState::Live(_))));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some(view) = RowView::from_payload(&bytes) {
            let counted = view.cells().count();
            prop_assert!(counted <= bytes.len());
            view.check();
            view.timestamps();
            view.is_live(5);
            view.is_uniform();
        }
    }

    #[test]
    fn damage_is_seen_or_harmless(row in row(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut payload = row.payload();
        let at = at.index(payload.len());
        payload[at] ^= 1 << bit;
        let view = RowView::from_payload(&payload).unwrap();
        if view.check() {
            prop_assert!(view.cells().count() <= payload.len());
        }
    }
}

#[test]
fn an_insert_costs_few_bytes_beside_its_values() {
    let mut writer = RowWriter::new();
    writer.begin(1_700_000_000_000_000, Some(Marker::new(1_700_000_000_000_000)), Deletion::NONE);
    writer.live(1, b"four");
    writer.live(2, b"eight by");
    assert_eq!(writer.view().body().len(), 1 + (3 + 4) + (3 + 8));
}

#[test]
fn order_and_trailing_bytes_are_checked() {
    let good = OwnedRow { base: 1, marker: None, deletion: Deletion::NONE, cells: vec![] }.payload();
    assert!(RowView::from_payload(&good).unwrap().check());
    let mut repeated = good.clone();
    // Two cells of column 0 without path: the second does not sort after the first.
    repeated.extend([0, 0, 1, b'a', 0, 0, 1, b'b']);
    assert!(!RowView::from_payload(&repeated).unwrap().check());
    let mut truncated = good;
    truncated.extend([0, 0, 9, b'a']);
    assert!(!RowView::from_payload(&truncated).unwrap().check());
}
