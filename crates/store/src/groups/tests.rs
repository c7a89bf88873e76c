//! Totals from members: what is added, what is taken away, what is refused.

use super::*;
use crate::view::ColumnSource;
use model::row::Cell;

const VALUE: ColumnId = 3;
const COUNT: ColumnId = 1 << 24;

fn config() -> GroupsConfig {
    let cell =
        || ViewColumn { source: ColumnSource::Cell(VALUE), data_type: DataType::Decimal, descending: false };
    let total = |column, of| Total { column: COUNT + column, of };
    GroupsConfig {
        table: TableId(9),
        clustering: vec![(DataType::Int, true)],
        totals: vec![
            total(0, TotalOf::Members),
            total(1, TotalOf::Values(cell())),
            total(2, TotalOf::Sum { of: cell(), data_type: DataType::Decimal }),
        ],
    }
}

fn member(group: i32, list: u8, base: &str) -> Vec<u8> {
    let mut key = Vec::new();
    comparable::encode(&DataType::Int, true, &group.to_be_bytes(), &mut key).unwrap();
    comparable::encode(&DataType::TinyInt, false, &[list], &mut key).unwrap();
    comparable::encode(&DataType::Text, false, base.as_bytes(), &mut key).unwrap();
    key
}

fn row(timestamp: i64, value: Option<&str>, ttl: u32) -> Vec<u8> {
    let mut writer = RowWriter::new();
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    if let Some(value) = value {
        let value = Decimal::parse(value).unwrap().to_wire();
        let state = match ttl {
            0 => CellState::Live(&value),
            ttl => CellState::Expiring { value: &value, ttl, expiry: 100 + ttl },
        };
        writer.cell(&Cell { column: VALUE, path: None, timestamp, state });
    }
    writer.view().to_payload()
}

fn rows(of: &[(Vec<u8>, Vec<u8>)]) -> Rows<'_> {
    of.iter().map(|(at, row)| (at.as_slice(), RowView::from_payload(row).unwrap())).collect()
}

/// Count, count of values and sum of a group's row; `None`: there is no row.
fn shown(mutation: &Mutation) -> Option<(i64, i64, String)> {
    let row = RowView::from_payload(mutation.entries().next().unwrap().payload).unwrap();
    if !row.is_live(0) {
        return None;
    }
    let cell = |column| row.cells().find(|cell| cell.column == column).unwrap().live_value(0).unwrap();
    let number = |column| i64::from_be_bytes(cell(column).try_into().unwrap());
    let sum = Decimal::from_wire(cell(COUNT + 2)).unwrap().to_plain_string().unwrap();
    Some((number(COUNT), number(COUNT + 1), sum))
}

#[test]
fn a_group_is_moved_by_the_difference_and_ends_with_its_last_member() {
    let (config, key) = (config(), PartitionKey::of(b"k").unwrap());
    let follow = |change: &Change, row: Option<&Mutation>| {
        let row = row.map(|row| RowView::from_payload(row.entries().next().unwrap().payload).unwrap());
        config.follow(&key, change, row, &[None, None, None], (50, 1)).unwrap()
    };
    let first = [
        (member(1, 0, "a"), row(5, Some("1.50"), 0)),
        (member(1, 0, "b"), row(5, None, 0)),
        (member(2, 0, "c"), row(5, Some("7"), 0)),
        (member(1, 1, "a"), row(5, None, 0)),
    ];
    let changes = config.changes(&key, &Rows::new(), &rows(&first)).unwrap();
    // Descending, so the group 2 comes first.
    assert_eq!(changes.len(), 2);
    let two = follow(&changes[0], None);
    let one = follow(&changes[1], None);
    assert_eq!(shown(&two), Some((1, 1, "7".into())));
    assert_eq!(shown(&one), Some((2, 1, "1.5".into())), "only list 0 counts");
    let then = [(member(1, 0, "a"), row(9, Some("2.25"), 0)), (member(2, 0, "c"), row(9, Some("7"), 0))];
    let changes = config.changes(&key, &rows(&first), &rows(&then)).unwrap();
    assert_eq!(changes.len(), 1, "a member that was written again is none that has changed");
    let one = follow(&changes[0], Some(&one));
    assert_eq!(shown(&one), Some((1, 1, "2.25".into())));
    let changes = config.changes(&key, &rows(&then), &Rows::new()).unwrap();
    assert_eq!(shown(&follow(&changes[1], Some(&one))), None);
}

#[test]
fn what_expires_is_refused() {
    let (config, key) = (config(), PartitionKey::of(b"k").unwrap());
    let expiring = [(member(1, 0, "a"), row(5, Some("1"), 10))];
    assert!(config.changes(&key, &Rows::new(), &rows(&expiring)).is_err());
    assert!(config.changes(&key, &rows(&expiring), &Rows::new()).is_ok(), "but it may go");
}
