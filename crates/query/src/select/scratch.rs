//! The values of the row at hand, noted as places in buffers: no copy, no allocation per cell.

use super::cell_info::{CellInfos, put_info};
use super::input::Input;
use super::layout::Layout;
use super::output::check_row;
use crate::error::QueryError;
use crate::key::{partition_values, written_values};
use crate::spec::put_value;
use model::comparable;
use model::key::PartitionKey;
use model::row::{KEY_AS_WRITTEN, RowView};
use schema::Table;
use std::borrow::Cow;
use store::assemble::assemble_cells;

/// Rows from which on their length is known before they are copied.
const LONG_BYTES: usize = 64 << 10;

/// Where a value lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Null,
    /// In the image of the row.
    Row { start: u32, len: u32 },
    /// In `row_bytes`: decoded or assembled for this row.
    Made { start: u32, len: u32 },
    /// In `partition_bytes`: key values and static values.
    Partition { start: u32, len: u32 },
}

/// Room for the key values of a typical row.
const MADE_BYTES: usize = 64;

/// Reused for every row of a read.
pub struct Scratch {
    places: Vec<Place>,
    row_bytes: Vec<u8>,
    partition_bytes: Vec<u8>,
    now_seconds: u32,
}

impl Scratch {
    pub fn new(layout: &Layout, now_seconds: u32) -> Scratch {
        Scratch {
            places: vec![Place::Null; layout.slots],
            row_bytes: Vec::with_capacity(if layout.wants_clustering { MADE_BYTES } else { 0 }),
            partition_bytes: Vec::with_capacity(if layout.partition.is_empty() { 0 } else { MADE_BYTES }),
            now_seconds,
        }
    }

    /// A partition begins: notes its key values and forgets static values.
    pub fn partition(&mut self, table: &Table, layout: &Layout, key: &PartitionKey) {
        self.partition_bytes.clear();
        self.clear_row(layout);
        layout.static_slots.iter().for_each(|slot| self.places[*slot] = Place::Null);
        match layout.partition.as_slice() {
            [] => {}
            wanted if table.partition_key.len() == 1 => {
                let place = self.keep(key.bytes());
                wanted.iter().for_each(|(slot, _)| self.places[*slot] = place);
            }
            wanted => {
                let values = partition_values(table, key.bytes());
                for (slot, at) in wanted {
                    self.places[*slot] = self.keep(values.get(*at).copied().unwrap_or_default());
                }
            }
        }
    }

    fn keep(&mut self, value: &[u8]) -> Place {
        let start = self.partition_bytes.len() as u32;
        self.partition_bytes.extend_from_slice(value);
        Place::Partition { start, len: value.len() as u32 }
    }

    /// Notes the static values; they are copied, because the row's bytes do not outlive the call.
    pub fn static_row(&mut self, layout: &Layout, inputs: &[Input], infos: &CellInfos, row: RowView<'_>) {
        let mut done = None;
        let mut cells = row.cells();
        while let Some(cell) = cells.next() {
            let Some(slot) = layout.static_slot(cell.column).filter(|_| done != Some(cell.column)) else {
                continue;
            };
            let start = self.partition_bytes.len();
            let data_type = &inputs[slot].data_type;
            if data_type.is_multi_cell() {
                done = Some(cell.column);
                let rest = cells.clone().take_while(|c| c.column == cell.column);
                let all = std::iter::once(cell).chain(rest);
                if assemble_cells(all, data_type, self.now_seconds, &mut self.partition_bytes) {
                    let len = (self.partition_bytes.len() - start) as u32;
                    self.places[slot] = Place::Partition { start: start as u32, len };
                }
            } else if let Some(value) = cell.live_value(self.now_seconds) {
                self.places[slot] = self.keep(value);
            }
        }
        for info in infos.of_statics() {
            let start = self.partition_bytes.len();
            if put_info(info, row, self.now_seconds, &mut self.partition_bytes) {
                let len = (self.partition_bytes.len() - start) as u32;
                self.places[info.slot] = Place::Partition { start: start as u32, len };
            }
        }
    }

    /// Forgets the values of the last row.
    pub fn clear_row(&mut self, layout: &Layout) {
        self.row_bytes.clear();
        layout.row_slots.iter().for_each(|slot| self.places[*slot] = Place::Null);
    }

    /// Notes the values of a row.
    pub fn row(
        &mut self,
        table: &Table,
        layout: &Layout,
        inputs: &[Input],
        infos: &CellInfos,
        clustering: &[u8],
        row: RowView<'_>,
    ) {
        self.clear_row(layout);
        if layout.wants_clustering {
            self.clustering(table, layout, clustering);
        }
        let origin = row.body().as_ptr() as usize;
        // The value is a part of the image, so its address tells its place there.
        let place = |value: &[u8]| {
            let start = (value.as_ptr() as usize).wrapping_sub(origin) as u32;
            Place::Row { start, len: value.len() as u32 }
        };
        let mut done = None;
        let mut kept = None;
        let mut cells = row.cells();
        loop {
            let cell = match cells.next_plain() {
                Some((column, value)) => match layout.plain_slot(column) {
                    Some(slot) => {
                        self.places[slot] = place(value);
                        continue;
                    }
                    None if layout.regular_slot(column).is_none() => continue,
                    None => cells.of_plain(column, value),
                },
                None if cells.is_done() => break,
                None => match cells.next() {
                    Some(cell) => cell,
                    None => break,
                },
            };
            let Some(slot) = layout.regular_slot(cell.column).filter(|_| done != Some(cell.column)) else {
                if cell.column == KEY_AS_WRITTEN {
                    kept = cell.live_value(self.now_seconds);
                }
                continue;
            };
            let data_type = &inputs[slot].data_type;
            if data_type.is_multi_cell() {
                done = Some(cell.column);
                let start = self.row_bytes.len();
                let rest = cells.clone().take_while(|c| c.column == cell.column);
                let all = std::iter::once(cell).chain(rest);
                if assemble_cells(all, data_type, self.now_seconds, &mut self.row_bytes) {
                    let len = (self.row_bytes.len() - start) as u32;
                    self.places[slot] = Place::Made { start: start as u32, len };
                }
            } else if let Some(value) = cell.live_value(self.now_seconds) {
                self.places[slot] = place(value);
            }
        }
        if let Some(values) = kept {
            for (at, value) in written_values(values).enumerate() {
                for (slot, _) in layout.clustering.iter().filter(|(_, wanted_at)| *wanted_at == at) {
                    self.places[*slot] = place(value);
                }
            }
        }
        for info in infos.of_rows() {
            let start = self.row_bytes.len();
            if put_info(info, row, self.now_seconds, &mut self.row_bytes) {
                let len = (self.row_bytes.len() - start) as u32;
                self.places[info.slot] = Place::Made { start: start as u32, len };
            }
        }
    }

    fn clustering(&mut self, table: &Table, layout: &Layout, clustering: &[u8]) {
        let mut rest = clustering;
        let mut wanted = layout.clustering.iter().peekable();
        for (at, column) in table.clustering.iter().enumerate() {
            if wanted.peek().is_none() {
                return;
            }
            let start = self.row_bytes.len();
            let decoded = comparable::decode(&column.data_type, column.descending, rest, &mut self.row_bytes);
            let Ok(used) = decoded else { return };
            rest = rest.get(used..).unwrap_or_default();
            let len = (self.row_bytes.len() - start) as u32;
            while let Some((slot, _)) = wanted.next_if(|(_, wanted_at)| *wanted_at == at) {
                self.places[*slot] = Place::Made { start: start as u32, len };
            }
        }
    }

    /// Takes all inputs from where another plan wrote them, one behind the other as an answer has values.
    pub fn put_inputs(&mut self, inputs: &[u8]) {
        self.row_bytes.clear();
        self.row_bytes.extend_from_slice(inputs);
        let mut at = 0;
        for place in &mut self.places {
            let length =
                inputs.get(at..).and_then(<[u8]>::first_chunk).map_or(-1, |head| i32::from_be_bytes(*head));
            at += size_of::<i32>();
            *place = match u32::try_from(length) {
                Ok(len) => Place::Made { start: at as u32, len },
                Err(_) => Place::Null,
            };
            at += usize::try_from(length).unwrap_or(0);
        }
        debug_assert_eq!(at, inputs.len(), "a row has as many values as the plan has inputs");
    }

    /// The value in a slot; `row` is the body of the row at hand (empty for a static-only row).
    #[inline]
    pub fn value<'s>(&'s self, slot: usize, row: &'s [u8]) -> Option<&'s [u8]> {
        let (bytes, start, len) = match *self.places.get(slot)? {
            Place::Null => return None,
            Place::Row { start, len } => (row, start, len),
            Place::Made { start, len } => (&self.row_bytes[..], start, len),
            Place::Partition { start, len } => (&self.partition_bytes[..], start, len),
        };
        bytes.get(start as usize..start as usize + len as usize)
    }

    /// Appends the values of these slots to an answer, as one row.
    #[inline]
    pub fn put_row(&self, slots: &[usize], row: &[u8], body: &mut Vec<u8>) -> Result<(), QueryError> {
        let start = body.len();
        if row.len() > LONG_BYTES {
            return self.put_long_row(slots, row, body);
        }
        for slot in slots {
            put_value(body, self.value(*slot, row));
            if body.len() - start > LONG_BYTES {
                body.truncate(start);
                return self.put_long_row(slots, row, body);
            }
        }
        Ok(())
    }

    /// The same for a row that may be long: refused before anything is copied, or copied into room that was made once. Growing by
    /// doubling would copy megabytes several times.
    #[cold]
    fn put_long_row(&self, slots: &[usize], row: &[u8], body: &mut Vec<u8>) -> Result<(), QueryError> {
        let bytes = |slot: &usize| 4 + self.value(*slot, row).map_or(0, <[u8]>::len);
        let bytes = slots.iter().map(bytes).fold(0, usize::saturating_add);
        check_row(bytes, slots.len(), self.places.len())?;
        if body.capacity() - body.len() < bytes {
            body.reserve_exact(bytes);
        }
        slots.iter().for_each(|slot| put_value(body, self.value(*slot, row)));
        Ok(())
    }

    /// All values at once, for expressions.
    pub fn values<'s>(&'s self, row: &'s [u8]) -> Vec<Option<Cow<'s, [u8]>>> {
        (0..self.places.len()).map(|slot| self.value(slot, row).map(Cow::Borrowed)).collect()
    }
}
