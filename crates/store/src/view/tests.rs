//! Rows of views: where they are, how long they live.

use super::*;

const BY: ColumnId = 1;
const COPIED: ColumnId = 2;
const OTHER: ColumnId = 3;

fn view() -> ViewConfig {
    let column = |source| ViewColumn { source, data_type: DataType::Text, descending: false };
    ViewConfig {
        table: TableId(9),
        partition: vec![column(ColumnSource::Cell(BY))],
        clustering: vec![column(ColumnSource::Partition { position: 0, count: 1 })],
        columns: vec![COPIED],
        living: None,
        conditions: Vec::new(),
        is_grouped: false,
    }
}

/// Cells of (column, value, expiry), no marker.
fn row(cells: &[(ColumnId, &str, Option<u32>)]) -> Vec<u8> {
    let mut writer = RowWriter::new();
    writer.begin(5, None, Deletion::NONE);
    for (column, value, expiry) in cells {
        let value = value.as_bytes();
        let state = match expiry {
            None => CellState::Live(value),
            Some(expiry) => CellState::Expiring { value, ttl: 10, expiry: *expiry },
        };
        writer.cell(&Cell { column: *column, path: None, timestamp: 5, state });
    }
    writer.view().to_payload()
}

/// The second from which on the view's row, and the copied cell in it, are gone.
fn ends(cells: &[(ColumnId, &str, Option<u32>)]) -> Option<(u32, Option<u32>)> {
    let payload = row(cells);
    let key = PartitionKey::of(b"k").unwrap();
    let base = BaseRow { key: &key, clustering: b"", row: RowView::from_payload(&payload).unwrap() };
    let changes = view().follow(None, Some(base), 100, 50);
    let [mutation] = changes.as_slice() else { return None };
    let entry = mutation.entries().next().unwrap();
    let image = RowView::from_payload(entry.payload).unwrap();
    assert!(image.check());
    assert_eq!(image.deletion().timestamp, 99);
    Some((image.dead_from(), image.cells().next().map(|cell| end_of(&cell.state))))
}

#[test]
fn a_row_lives_as_long_as_its_base_and_its_key() {
    assert_eq!(ends(&[(BY, "a", None), (COPIED, "x", None)]), Some((NEVER, Some(NEVER))));
    // The key ends: the row ends, with all that is in it.
    assert_eq!(ends(&[(BY, "a", Some(60)), (COPIED, "x", None)]), Some((60, Some(60))));
    assert_eq!(ends(&[(BY, "a", None), (COPIED, "x", Some(60))]), Some((NEVER, Some(60))));
    assert_eq!(ends(&[(BY, "a", Some(70)), (COPIED, "x", Some(60))]), Some((70, Some(60))));
    // A column that the view does not have keeps the row of the base, but not its key.
    assert_eq!(ends(&[(BY, "a", Some(60)), (OTHER, "y", None)]), Some((60, None)));
    assert_eq!(ends(&[(OTHER, "y", None)]), None);
    assert_eq!(ends(&[(BY, "", None)]), Some((NEVER, None)));
}

#[test]
fn a_row_that_moves_leaves_its_old_place() {
    let key = PartitionKey::of(b"k").unwrap();
    let (old, new) = (row(&[(BY, "a", None)]), row(&[(BY, "b", None)]));
    let base = |payload| BaseRow { key: &key, clustering: b"", row: RowView::from_payload(payload).unwrap() };
    let changes = view().follow(Some(base(&old)), Some(base(&new)), 100, 50);
    let keys: Vec<&[u8]> = changes.iter().map(|change| change.key.bytes()).collect();
    assert_eq!(keys, [&b"a"[..], b"b"]);
    let changes = view().follow(Some(base(&new)), None, 102, 50);
    let [gone] = changes.as_slice() else { panic!("one change") };
    assert_eq!(gone.max_timestamp(), Some(101));
    // The same place: one row image that hides what was there.
    assert_eq!(view().follow(Some(base(&new)), Some(base(&new)), 104, 50).len(), 1);
}

#[test]
fn conditions_are_about_the_base() {
    let mut view = view();
    let column = ViewColumn {
        source: ColumnSource::Partition { position: 0, count: 1 },
        data_type: DataType::Text,
        descending: false,
    };
    view.conditions.push(ViewCondition {
        columns: vec![column],
        comparison: Comparison::Less,
        alternatives: vec![vec![b"m".to_vec()]],
    });
    let payload = row(&[(BY, "a", None)]);
    for (key, there) in [("k", true), ("m", false)] {
        let key = PartitionKey::of(key.as_bytes()).unwrap();
        let base = BaseRow { key: &key, clustering: b"", row: RowView::from_payload(&payload).unwrap() };
        assert_eq!(view.place(base).is_some(), there);
    }
}
