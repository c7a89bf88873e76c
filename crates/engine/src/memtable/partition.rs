//! One partition in a memtable: its deletion, static row, range tombstones and rows.

use super::arena::Arena;
use super::ranges::Ranges;
use super::rows::{Rows, Slot};
use model::deletion::{Deletion, NO_TIMESTAMP, Timestamp};
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_STATIC, token_of};
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

    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.data_bytes >= super::LARGE_BYTES || self.rows() >= super::LARGE_ROWS
    }

    /// Of the whole partition.
    pub fn deletion(&self) -> Deletion {
        self.deletion
    }

    pub fn ring_position(&self) -> u64 {
        token_of(&self.prefix).ring_position()
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
        let Some(new) = self.admit(entry.payload) else { return Change::default() };
        let payload = match &self.static_row {
            Some(slot) => scratch.merged(&[stored(slot, arena), new.row]),
            None => scratch.normalised(&new, entry.payload),
        };
        match &mut self.static_row {
            Some(slot) => slot.replace(arena, payload),
            None => {
                self.data_bytes += (entry.position.len() + payload.len()) as u64;
                self.static_row = Some(Slot::store(arena, entry.position, payload));
            }
        }
        Change { grown_bytes: 0, timestamps: Some((new.min, new.max)) }
    }

    fn merge_row(&mut self, arena: &mut Arena, scratch: &mut Scratch, entry: EntryRef<'_>) -> Change {
        let Some(new) = self.admit(entry.payload) else { return Change::default() };
        let mut grown_bytes = 0;
        match self.rows.find(arena, entry.position) {
            Ok(place) => {
                let Some(slot) = self.rows.get_mut(place) else { return Change::default() };
                let (old, before) = (stored(slot, arena), slot.record(arena).1.len());
                let old_dead_from = old.dead_from();
                let payload = scratch.merged(&[old, new.row]);
                slot.replace(arena, payload);
                self.data_bytes = (self.data_bytes + payload.len() as u64).saturating_sub(before as u64);
                self.rows.replaced(place, old_dead_from, scratch.merger.row().dead_from());
            }
            Err(place) => {
                let payload = scratch.normalised(&new, entry.payload);
                self.data_bytes += (entry.position.len() + payload.len()) as u64;
                let dead_from = RowView::from_payload(payload).map_or(0, |row| row.dead_from());
                let slot = Slot::store(arena, entry.position, payload);
                grown_bytes = self.rows.insert(arena, place, slot, dead_from);
            }
        }
        Change { grown_bytes, timestamps: Some((new.min, new.max)) }
    }

    /// Looks at a row image, unless it is malformed, empty or wholly deleted already.
    #[inline]
    fn admit<'a>(&mut self, payload: &'a [u8]) -> Option<NewRow<'a>> {
        let new = NewRow::of(RowView::from_payload(payload)?)?;
        if self.deletion.covers(new.max) {
            return None;
        }
        self.max_timestamp = self.max_timestamp.max(new.max);
        Some(new)
    }
}

/// A row image that arrives, and what one pass over it shows.
struct NewRow<'a> {
    row: RowView<'a>,
    min: Timestamp,
    max: Timestamp,
    /// It deletes something, perhaps of its own.
    deletes: bool,
}

impl<'a> NewRow<'a> {
    #[inline]
    fn of(row: RowView<'a>) -> Option<NewRow<'a>> {
        if row.is_uniform() {
            return Some(NewRow { row, min: row.base(), max: row.base(), deletes: false });
        }
        let mut new = NewRow { row, min: Timestamp::MAX, max: NO_TIMESTAMP, deletes: false };
        if row.marker().is_some() {
            (new.min, new.max) = (row.base(), row.base());
        }
        let deletion = row.deletion();
        if !deletion.is_none() {
            new.deletes = true;
            new.widen(deletion.timestamp);
        }
        for cell in row.cells() {
            new.widen(cell.timestamp);
            new.deletes |= cell.is_complex_deletion();
        }
        (new.min <= new.max).then_some(new)
    }

    #[inline]
    fn widen(&mut self, timestamp: Timestamp) {
        self.min = self.min.min(timestamp);
        self.max = self.max.max(timestamp);
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
    #[inline]
    fn normalised<'a>(&'a mut self, new: &NewRow<'_>, payload: &'a [u8]) -> &'a [u8] {
        if new.deletes { self.merged(&[new.row]) } else { payload }
    }
}
