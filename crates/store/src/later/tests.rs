//! Entries of a queue: what is written is read, and damage is refused.

use super::*;

fn key() -> PartitionKey {
    PartitionKey::of(b"some key").unwrap()
}

fn image(mutation: &Mutation) -> (&[u8], RowView<'_>) {
    let entry = mutation.entries().next().unwrap();
    (&entry.position[1..], RowView::from_payload(entry.payload).unwrap())
}

#[test]
fn entries_come_back() {
    let range = Slice { start: b"a".to_vec(), end: b"b\0".to_vec() };
    for slices in [vec![Slice::one(b"")], vec![Slice::one(b"a\0"), range.clone()], vec![range, Slice::all()]]
    {
        let pending = Pending { stamp: 1_000_007, since: 900_000, slices };
        let mutation = pending.mutation(TableId(7), key());
        assert!(mutation.check());
        let (clustering, row) = image(&mutation);
        assert_eq!(Pending::read(clustering, row), Some(pending));
    }
}

#[test]
fn damaged_entries_are_none() {
    let pending = Pending { stamp: 50, since: 50, slices: vec![Slice::one(b"abc")] };
    let mutation = pending.mutation(TableId(7), key());
    let (clustering, row) = image(&mutation);
    assert_eq!(Pending::read(&clustering[1..], row), None);
    let mut writer = RowWriter::new();
    writer.begin(50, None, Deletion::NONE);
    writer.live(COLUMN, b"\x00\x01\x09ab");
    assert_eq!(Pending::read(clustering, writer.view()), None);
}

#[test]
fn places_come_back() {
    let place = Place { key: key(), clustering: b"\x20c".to_vec() };
    assert_eq!(Place::decode(&place.encode()), Some(place));
    assert_eq!(Place::decode(b"\x09short"), None);
}
