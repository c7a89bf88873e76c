//! One partition in a memtable: its deletion, static row, range tombstones and rows.

use super::arena::Arena;
use super::ranges::Ranges;
use super::rows::{Rows, Slot};
use model::deletion::{Deletion, NO_TIMESTAMP, Timestamp};
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_STATIC};
use model::merge::RowMerger;
use model::row::RowView;
use store::mutation::EntryRef;

pub struct Partition {
    pub(super) prefix: Box<[u8]>,
    pub(super) deletion: Deletion,
    /// Local seconds of `deletion` as its payload holds them.
    pub(super) deletion_rest: [u8; 4],
    pub(super) static_row: Option<Slot>,
    pub(super) ranges: Ranges,
    pub(super) rows: Rows,
    /// Largest timestamp of anything but the partition's deletion.
    max_timestamp: Timestamp,
    /// Positions and payloads, as they would be stored in a file, without what was replaced.
    data_bytes: u64,
}

/// Reused between mutations, so that applying a row allocates nothing.
#[derive(Default)]
pub(super) struct Scratch {
    merger: RowMerger,
    payload: Vec<u8>,
}

/// What one entry changed.
#[derive(Default)]
pub(super) struct Change {
    pub grown_bytes: usize,
    /// Smallest and largest timestamp the entry brought.
    pub timestamps: Option<(Timestamp, Timestamp)>,
}

impl Partition {
    pub(super) fn new(prefix: &[u8]) -> Partition {
        Partition {
            prefix: prefix.into(),
            deletion: Deletion::NONE,
            deletion_rest: [0; 4],
            static_row: None,
            ranges: Ranges::default(),
            rows: Rows::default(),
            max_timestamp: NO_TIMESTAMP,
            data_bytes: 0,
        }
    }

    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Whether there is anything but rows.
    pub fn has_special(&self) -> bool {
        !self.deletion.is_none() || self.static_row.is_some() || !self.ranges.is_empty()
    }

    pub fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Largest timestamp of rows, static row and range tombstones.
    pub fn max_timestamp(&self) -> Timestamp {
        self.max_timestamp
    }

    pub(super) fn apply(&mut self, arena: &mut Arena, scratch: &mut Scratch, entry: EntryRef<'_>) -> Change {
        match entry.position.first() {
            Some(&KIND_PARTITION_DELETION) => self.delete(entry.payload),
            Some(&KIND_RANGE) => self.delete_range(entry),
            Some(&KIND_STATIC) => self.merge_static(arena, scratch, entry),
            Some(_) => self.merge_row(arena, scratch, entry),
            None => Change::default(),
        }
    }

    fn delete(&mut self, payload: &[u8]) -> Change {
        let Some((deletion, _)) = Deletion::decode(payload) else { return Change::default() };
        self.deletion = self.deletion.max(deletion);
        self.deletion_rest = self.deletion.local_seconds.to_be_bytes();
        if self.deletion.covers(self.max_timestamp) {
            self.rows.clear();
            self.ranges.clear();
            self.static_row = None;
            self.max_timestamp = NO_TIMESTAMP;
            self.data_bytes = 0;
        }
        Change { grown_bytes: 0, timestamps: Some((deletion.timestamp, deletion.timestamp)) }
    }

    fn delete_range(&mut self, entry: EntryRef<'_>) -> Change {
        let Some((deletion, end)) = Deletion::decode(entry.payload) else { return Change::default() };
        if self.deletion.covers(deletion.timestamp) {
            return Change::default();
        }
        let before = self.ranges.bytes();
        self.ranges.insert(entry.position, end, deletion);
        self.data_bytes += (entry.position.len() + entry.payload.len()) as u64;
        self.max_timestamp = self.max_timestamp.max(deletion.timestamp);
        Change {
            grown_bytes: self.ranges.bytes().saturating_sub(before),
            timestamps: Some((deletion.timestamp, deletion.timestamp)),
        }
    }

    fn merge_static(&mut self, arena: &mut Arena, scratch: &mut Scratch, entry: EntryRef<'_>) -> Change {
        let Some((view, timestamps)) = self.admit(entry.payload) else { return Change::default() };
        self.max_timestamp = self.max_timestamp.max(timestamps.1);
        let payload = match &self.static_row {
            Some(slot) => scratch.merged(&[stored(slot, arena), view]),
            None => scratch.normalised(view, entry.payload),
        };
        match &mut self.static_row {
            Some(slot) => slot.replace(arena, payload),
            None => {
                self.data_bytes += (entry.position.len() + payload.len()) as u64;
                self.static_row = Some(Slot::store(arena, entry.position, payload));
            }
        }
        Change { grown_bytes: 0, timestamps: Some(timestamps) }
    }

    fn merge_row(&mut self, arena: &mut Arena, scratch: &mut Scratch, entry: EntryRef<'_>) -> Change {
        let Some((view, timestamps)) = self.admit(entry.payload) else { return Change::default() };
        self.max_timestamp = self.max_timestamp.max(timestamps.1);
        let mut grown_bytes = 0;
        match self.rows.find(arena, entry.position) {
            Ok(place) => {
                let Some(slot) = self.rows.get_mut(place) else { return Change::default() };
                let payload = scratch.merged(&[stored(slot, arena), view]);
                let before = slot.record(arena).1.len();
                slot.replace(arena, payload);
                self.data_bytes = (self.data_bytes + payload.len() as u64).saturating_sub(before as u64);
            }
            Err(place) => {
                let payload = scratch.normalised(view, entry.payload);
                self.data_bytes += (entry.position.len() + payload.len()) as u64;
                grown_bytes = self.rows.insert(place, Slot::store(arena, entry.position, payload));
            }
        }
        Change { grown_bytes, timestamps: Some(timestamps) }
    }

    /// The row image and its timestamps, unless it is malformed, empty or wholly deleted already.
    fn admit<'a>(&self, payload: &'a [u8]) -> Option<(RowView<'a>, (Timestamp, Timestamp))> {
        let view = RowView::from_payload(payload)?;
        let timestamps = view.timestamps()?;
        (!self.deletion.covers(timestamps.1)).then_some((view, timestamps))
    }
}

fn stored<'a>(slot: &Slot, arena: &'a Arena) -> RowView<'a> {
    let payload = slot.record(arena).1;
    RowView::from_payload(payload).unwrap_or(RowView::from_parts(NO_TIMESTAMP, &[]))
}

impl Scratch {
    fn merged(&mut self, versions: &[RowView<'_>]) -> &[u8] {
        self.merger.merge(versions, Deletion::NONE, None);
        self.payload.clear();
        self.merger.row().put_payload(&mut self.payload);
        &self.payload
    }

    /// An image may carry cells that its own deletions hide; readers rely on there being none.
    fn normalised<'a>(&'a mut self, view: RowView<'_>, payload: &'a [u8]) -> &'a [u8] {
        let deletes = !view.deletion().is_none() || view.cells().any(|cell| cell.is_complex_deletion());
        if deletes { self.merged(&[view]) } else { payload }
    }
}
