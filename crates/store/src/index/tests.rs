//! Entries of mutations, and the places they lead to.

use super::*;
use crate::condition::RowPosition;
use crate::mutation::Mutation;
use model::deletion::{Deletion, Marker};
use model::row::{RowView, RowWriter};

fn index() -> IndexConfig {
    IndexConfig { table: TableId(9), source: Source::Cell { column: 3, data_type: DataType::Text } }
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
    assert_eq!(Some(&entry.key), index().partition_of(b"blue").as_ref());
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
        let red = index().partition_of(b"red").unwrap();
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
    let (a, b) =
        (index().partition_of(long.as_bytes()).unwrap(), index().partition_of(other.as_bytes()).unwrap());
    assert_ne!(a, b);
    assert_eq!(additions(&[index()], &mutation(&long, 1))[0].key, a);
}
