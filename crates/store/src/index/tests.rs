//! Entries of mutations, and the places they lead to.

use super::*;
use crate::condition::RowPosition;
use crate::mutation::Mutation;
use model::deletion::{Deletion, Marker};
use model::row::{RowView, RowWriter};

fn index() -> IndexConfig {
    IndexConfig {
        table: TableId(9),
        sorted: false,
        change: Default::default(),
        source: Source::Cell { column: 3, data_type: DataType::Text },
    }
}

fn partition(value: &str) -> PartitionKey {
    index().partition(&index().form(value.as_bytes()).unwrap(), b"").unwrap()
}

/// A row image with one cell in the indexed column.
fn image(value: &str, timestamp: i64) -> Vec<u8> {
    let mut writer = RowWriter::new();
    writer.begin(timestamp, Some(Marker::new(timestamp)), Deletion::NONE);
    writer.live(3, value.as_bytes());
    writer.view().to_payload()
}

fn mutation(value: &str, timestamp: i64) -> Mutation {
    let mut mutation = Mutation::new(TableId(1), PartitionKey::of(b"k").unwrap());
    mutation.row(b"\x20c", RowView::from_payload(&image(value, timestamp)).unwrap());
    mutation
}

#[test]
fn an_entry_leads_to_its_row() {
    let mutation = mutation("blue", 7);
    let [entry] = &additions(&[index()], &mutation)[..] else { panic!("one entry") };
    assert_eq!(entry.table, TableId(9));
    assert_eq!(entry.key, partition("blue"));
    let place = entry.entries().next().unwrap().position[1..].to_vec();
    let found = candidate(&place).unwrap();
    assert_eq!(found, Candidate { key: mutation.key.clone(), place: Place::Row(b"\x20c".to_vec()) });
    let prefix = mutation.key.prefix();
    assert!(partitions_slice(prefix, &[]).contains(&place));
    assert!(!partitions_slice(&[], prefix).contains(&place));
}

#[test]
fn only_what_is_surely_replaced_is_removed() {
    let position = RowPosition::Row(b"\x20c".to_vec());
    // A younger value, an older one, one of the same age.
    for (timestamp, removed) in [(11, true), (9, false), (10, false)] {
        let old = image("red", 10);
        let old = [(&position, RowView::from_payload(&old).unwrap())];
        let changes = delta(&[index()], &mutation("blue", timestamp), old.into_iter(), 0);
        let red = partition("red");
        let deletion = changes.iter().find(|m| m.key == red).map(|m| {
            let entry = m.entries().next().unwrap();
            RowView::from_payload(entry.payload).unwrap().deletion().timestamp
        });
        assert_eq!(deletion, removed.then_some(10), "{timestamp}");
    }
}

#[test]
fn long_values_fall_into_partitions_that_fit() {
    let long = "x".repeat(70_000);
    let other = format!("{}y", "x".repeat(69_999));
    let (a, b) = (partition(&long), partition(&other));
    assert_ne!(a, b);
    assert_eq!(additions(&[index()], &mutation(&long, 1))[0].key, a);
}

/// A sorted index on a big decimal: its forms may be long.
fn numbers() -> IndexConfig {
    IndexConfig {
        table: TableId(9),
        sorted: true,
        change: Default::default(),
        source: Source::Cell { column: 3, data_type: DataType::VarInt },
    }
}

#[test]
fn a_range_of_values_is_a_range_of_partitions_in_every_slice() {
    let mut values: Vec<Vec<u8>> = [-70_000i64, -300, -1, 0, 1, 5, 127, 128, 40_000, i64::MAX]
        .map(|value| {
            let bytes = value.to_be_bytes();
            let redundant = bytes
                .windows(2)
                .take_while(|two| (two[0] == 0 && two[1] < 0x80) || (two[0] == 0xff && two[1] >= 0x80));
            bytes[redundant.count()..].to_vec()
        })
        .to_vec();
    // Two that are alike in all that is kept of them but the hash.
    values.extend([1u8, 2].map(|last| [&[0x55; 1500][..], &[last]].concat()));
    let index = numbers();
    let forms: Vec<Vec<u8>> = values.iter().map(|value| index.form(value).unwrap()).collect();
    assert!(forms.is_sorted());
    for source in index.slices() {
        let partitions: Vec<PartitionKey> =
            forms.iter().map(|form| index.partition(form, &source).unwrap()).collect();
        for (from, to, inclusive) in
            (0..forms.len()).flat_map(|a| (a..forms.len()).flat_map(move |b| [(a, b, true), (a, b, false)]))
        {
            let range = ValueRange {
                start: Some((forms[from].clone(), inclusive)),
                end: Some((forms[to].clone(), inclusive)),
            };
            let crate::read::Partitions::Range { start, end } = range.partitions(&source) else { panic!() };
            // Stores find the shards of a range by the tokens at its ends.
            assert!(start.len() == 8 && (end.len() == 8 || end.is_empty()));
            let open = ValueRange { start: range.start.clone(), end: None };
            let crate::read::Partitions::Range { end: last, .. } = open.partitions(&source) else { panic!() };
            assert!(last.len() == 8 || last.is_empty());
            for (at, partition) in partitions.iter().enumerate() {
                let covered =
                    partition.prefix() >= &start[..] && (end.is_empty() || partition.prefix() < &end[..]);
                let found = covered && range.holds(partition);
                let wanted = if inclusive { (from..=to).contains(&at) } else { from < at && at < to };
                let is_long = |at: usize| forms[at].len() > VALUE_BYTES_MAX;
                let may_be = is_long(at) && (is_long(from) || is_long(to));
                assert!(found == wanted || (found && may_be), "{from}..{to} {inclusive}: {at} {found}");
                // Neighbouring slices have nothing to do with it.
                assert_eq!(slice_end(partition.prefix()), slice_end(&source));
            }
        }
        assert!(ValueRange::default().holds(&partitions[0]));
    }
    assert_eq!(index.slices().count(), 16);
}

#[test]
fn a_row_of_which_a_part_expires_has_an_entry_for_each_life() {
    let index = IndexConfig {
        table: TableId(9),
        sorted: false,
        change: Default::default(),
        source: Source::Clustering { columns: vec![(DataType::Text, false)] },
    };
    let mut writer = RowWriter::new();
    writer.begin(5, Some(Marker { timestamp: 5, ttl: 10, expiry: 100 }), Deletion::NONE);
    writer.cell(&model::row::Cell {
        column: 1,
        path: None,
        timestamp: 7,
        state: model::row::CellState::Expiring { value: b"x", ttl: 20, expiry: 100 },
    });
    writer.live(3, b"for ever");
    let mut mutation = Mutation::new(TableId(1), PartitionKey::of(b"k").unwrap());
    mutation.row(b"\x20c\x00\x00", RowView::from_payload(&writer.view().to_payload()).unwrap());
    let [entries] = &additions(&[index], &mutation)[..] else { panic!("one value") };
    let markers = entries.entries().map(|entry| {
        let marker = RowView::from_payload(entry.payload).unwrap().marker().unwrap();
        assert!(candidate(&entry.position[1..]).is_some());
        (marker.timestamp, marker.expiry)
    });
    let mut markers: Vec<_> = markers.collect();
    markers.sort_unstable();
    assert_eq!(markers, [(5, 0), (7, 100)]);
}
