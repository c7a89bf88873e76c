//! A mutation: writes and deletions to one partition of one table, in one buffer.
//!
//! Entries are (position, payload) pairs in the layout of the log and the memtable, so a mutation is
//! encoded once. Guarantees: positions and payloads from a log are checked by [`Mutation::check`].

use crate::TableId;
use crate::deferred::Deferred;
use crate::read::Slice;
use model::deletion::{Deletion, Timestamp};
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW, KIND_STATIC, PartitionKey};
use model::row::{Cell, CellState, RowView};
use model::vint;

#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    pub table: TableId,
    pub key: PartitionKey,
    /// `vint position length, position, vint payload length, payload`, repeated.
    entries: Vec<u8>,
    /// Operations that need the current value; the owning shard turns them into entries.
    pub deferred: Vec<Deferred>,
    /// Rows that are not changed but copied into the table's mirror. Never stored; in a box, because it is rare.
    pub touched: Option<Box<Slice>>,
}

/// One entry of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRef<'a> {
    pub position: &'a [u8],
    pub payload: &'a [u8],
}

impl Mutation {
    pub fn new(table: TableId, key: PartitionKey) -> Mutation {
        Mutation { table, key, entries: Vec::new(), deferred: Vec::new(), touched: None }
    }

    /// A mutation read back from a log record; call [`Mutation::check`] before using it.
    pub fn from_encoded(table: TableId, key: PartitionKey, entries: Vec<u8>) -> Mutation {
        Mutation { table, key, entries, deferred: Vec::new(), touched: None }
    }

    pub fn encoded(&self) -> &[u8] {
        &self.entries
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.deferred.is_empty() && self.touched.is_none()
    }

    /// Makes the store copy the rows of the slice into the table's mirror, see [`crate::mirror`]; with an earlier slice, also the rows between.
    pub fn touch(&mut self, rows: Slice) {
        self.touched = Some(Box::new(match self.touched.take() {
            None => rows,
            Some(known) => Slice { start: known.start.min(rows.start), end: known.end.max(rows.end) },
        }));
    }

    pub fn delete_partition(&mut self, deletion: Deletion) {
        let at = self.begin(KIND_PARTITION_DELETION, &[], Deletion::ENCODED_LEN);
        deletion.encode(&mut self.entries);
        debug_assert_eq!(self.entries.len() - at, Deletion::ENCODED_LEN);
    }

    /// Deletes every row in the half-open interval of clustering bytes; empty intervals are ignored.
    pub fn delete_range(&mut self, start: &[u8], end: &[u8], deletion: Deletion) {
        if start < end {
            self.begin(KIND_RANGE, start, Deletion::ENCODED_LEN + end.len());
            deletion.encode(&mut self.entries);
            self.entries.extend_from_slice(end);
        }
    }

    pub fn static_row(&mut self, row: RowView<'_>) {
        debug_assert!(row.check(), "a row image is well formed");
        self.begin(KIND_STATIC, &[], 8 + row.body().len());
        row.put_payload(&mut self.entries);
    }

    pub fn row(&mut self, clustering: &[u8], row: RowView<'_>) {
        debug_assert!(row.check(), "a row image is well formed");
        self.begin(KIND_ROW, clustering, 8 + row.body().len());
        row.put_payload(&mut self.entries);
    }

    /// Adds an entry of another mutation.
    pub fn put(&mut self, entry: EntryRef<'_>) {
        vint::put(&mut self.entries, entry.position.len() as u64);
        self.entries.extend_from_slice(entry.position);
        vint::put(&mut self.entries, entry.payload.len() as u64);
        self.entries.extend_from_slice(entry.payload);
    }

    fn begin(&mut self, kind: u8, clustering: &[u8], payload_len: usize) -> usize {
        self.entries.reserve(clustering.len() + payload_len + 12);
        vint::put(&mut self.entries, 1 + clustering.len() as u64);
        self.entries.push(kind);
        self.entries.extend_from_slice(clustering);
        vint::put(&mut self.entries, payload_len as u64);
        self.entries.len()
    }

    /// The entries in the order they were added; ends early where the bytes are malformed.
    pub fn entries(&self) -> Entries<'_> {
        Entries { rest: &self.entries }
    }

    /// Whether every entry is well formed; to be called once on bytes from a log.
    pub fn check(&self) -> bool {
        check_entries(&self.entries)
    }

    /// Moves every timestamp by `delta`: how a conditional commit gets its ballot. Payloads start
    /// with their timestamp and everything inside is relative to it.
    pub fn shift_timestamps(&mut self, delta: i64) {
        let mut at = 0;
        while let Some(payload_at) = payload_offset(&self.entries, at) {
            let (start, end) = payload_at;
            if let Some(stamp) = self.entries.get_mut(start..).and_then(|b| b.first_chunk_mut::<8>()) {
                *stamp = i64::from_be_bytes(*stamp).wrapping_add(delta).to_be_bytes();
            }
            at = end;
        }
        for deferred in &mut self.deferred {
            deferred.timestamp = deferred.timestamp.wrapping_add(delta);
        }
    }

    /// The largest timestamp that starts a payload; what a ballot must not fall behind.
    pub fn max_timestamp(&self) -> Option<Timestamp> {
        self.entries().filter_map(|e| e.payload.first_chunk::<8>()).map(|b| i64::from_be_bytes(*b)).max()
    }

    /// Whether it writes anything but deletions: those are taken even by a partition at its limit.
    pub fn adds_data(&self) -> bool {
        !self.deferred.is_empty() || self.entries().any(|entry| entry.adds_data())
    }

    /// Adds the entries of `other` (same table and partition).
    pub fn extend(&mut self, other: Mutation) {
        assert!(self.table == other.table && self.key == other.key, "mutations of one partition");
        self.entries.extend_from_slice(&other.entries);
        self.deferred.extend(other.deferred);
        if let Some(rows) = other.touched {
            self.touch(*rows);
        }
    }
}

impl EntryRef<'_> {
    fn adds_data(&self) -> bool {
        if !matches!(self.position.first(), Some(&(KIND_ROW | KIND_STATIC))) {
            return false;
        }
        let is_live = |cell: Cell<'_>| matches!(cell.state, CellState::Live(_) | CellState::Expiring { .. });
        RowView::from_payload(self.payload)
            .is_some_and(|row| row.marker().is_some() || row.cells().any(is_live))
    }
}

/// Whether these are the well-formed entries of a mutation.
pub fn check_entries(bytes: &[u8]) -> bool {
    let mut entries = Entries::new(bytes);
    let all_good = entries.by_ref().all(|entry| {
        let Some((&kind, clustering)) = entry.position.split_first() else { return false };
        match kind {
            KIND_PARTITION_DELETION => clustering.is_empty() && entry.payload.len() == Deletion::ENCODED_LEN,
            KIND_RANGE => Deletion::decode(entry.payload).is_some_and(|(_, end)| clustering < end),
            KIND_STATIC => {
                clustering.is_empty() && RowView::from_payload(entry.payload).is_some_and(|r| r.check())
            }
            KIND_ROW => RowView::from_payload(entry.payload).is_some_and(|r| r.check()),
            _ => false,
        }
    });
    all_good && entries.rest.is_empty()
}

/// Where the payload of the entry at `at` starts and ends.
fn payload_offset(entries: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut rest = entries.get(at..)?;
    vint::take_slice(&mut rest)?;
    let payload = vint::take_slice(&mut rest)?;
    let end = entries.len() - rest.len();
    Some((end - payload.len(), end))
}

#[derive(Clone)]
pub struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    /// The entries in `bytes`, as [`Mutation::encoded`] gives them.
    pub fn new(bytes: &'a [u8]) -> Entries<'a> {
        Entries { rest: bytes }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = EntryRef<'a>;

    fn next(&mut self) -> Option<EntryRef<'a>> {
        let mut rest = self.rest;
        let position = vint::take_slice(&mut rest)?;
        let payload = vint::take_slice(&mut rest)?;
        self.rest = rest;
        Some(EntryRef { position, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::deletion::Marker;
    use model::row::RowWriter;

    fn sample() -> Mutation {
        let mut mutation = Mutation::new(TableId(7), PartitionKey::of(b"k").unwrap());
        let mut writer = RowWriter::new();
        writer.begin(100, Some(Marker::new(100)), Deletion { timestamp: 99, local_seconds: 1 });
        writer.live(3, b"value");
        mutation.row(b"\x20c", writer.view());
        mutation.static_row(writer.view());
        mutation.delete_partition(Deletion { timestamp: 50, local_seconds: 2 });
        mutation.delete_range(b"a", b"b", Deletion { timestamp: 60, local_seconds: 2 });
        mutation
    }

    #[test]
    fn deletions_add_no_data() {
        let mut mutation = Mutation::new(TableId(7), PartitionKey::of(b"k").unwrap());
        let mut writer = RowWriter::new();
        mutation.delete_partition(Deletion { timestamp: 50, local_seconds: 2 });
        mutation.delete_range(b"a", b"b", Deletion { timestamp: 60, local_seconds: 2 });
        writer.begin(100, None, Deletion { timestamp: 99, local_seconds: 1 });
        let state = CellState::Tombstone { local_seconds: 1 };
        writer.cell(&Cell { column: 3, path: None, timestamp: 100, state });
        mutation.row(b"\x20c", writer.view());
        assert!(!mutation.adds_data());
        writer.begin(100, None, Deletion::NONE);
        writer.live(3, b"value");
        mutation.row(b"\x20c", writer.view());
        assert!(mutation.adds_data());
    }

    #[test]
    fn entries_come_back_and_check() {
        let mutation = sample();
        assert!(mutation.check());
        let kinds: Vec<u8> = mutation.entries().map(|e| e.position[0]).collect();
        assert_eq!(kinds, [KIND_ROW, KIND_STATIC, KIND_PARTITION_DELETION, KIND_RANGE]);
        assert_eq!(mutation.max_timestamp(), Some(100));
    }

    #[test]
    fn shifting_moves_every_timestamp() {
        let mut mutation = sample();
        mutation.shift_timestamps(1000);
        assert!(mutation.check());
        let row = mutation.entries().next().unwrap();
        let view = RowView::from_payload(row.payload).unwrap();
        assert_eq!(view.marker().unwrap().timestamp, 1100);
        assert_eq!(view.deletion().timestamp, 1099);
        assert_eq!(view.cells().next().unwrap().timestamp, 1100);
        let partition = mutation.entries().nth(2).unwrap();
        assert_eq!(Deletion::decode(partition.payload).unwrap().0.timestamp, 1050);
    }

    #[test]
    fn damaged_entries_fail_the_check() {
        let good = sample();
        for at in 0..good.encoded().len() {
            let cut = good.encoded()[..at].to_vec();
            let mutation = Mutation::from_encoded(good.table, good.key.clone(), cut);
            let whole_entries =
                mutation.entries().map(|e| e.position.len() + e.payload.len() + 2).sum::<usize>();
            assert_eq!(mutation.check(), whole_entries == at, "cut at {at}");
        }
    }
}
