//! Where each input of a plan comes from, arranged for one pass over a row's cells.

use super::input::{Input, Source};
use model::row::ColumnId;
use schema::Table;

/// No slot wants the column.
const UNWANTED: u16 = u16::MAX;

#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// (slot, position in the key).
    pub partition: Vec<(usize, usize)>,
    /// (slot, position); ascending by position.
    pub clustering: Vec<(usize, usize)>,
    /// Slot by column id.
    regular: Vec<u16>,
    /// The same, without columns of many cells.
    plain: Vec<u16>,
    statics: Vec<u16>,
    /// Slots of properties of cells.
    pub infos: Vec<usize>,
    /// Slots that are null until a row fills them.
    pub row_slots: Vec<usize>,
    /// Slots that are null until a static row fills them.
    pub static_slots: Vec<usize>,
    pub wants_statics: bool,
    pub wants_clustering: bool,
    pub slots: usize,
}

impl Layout {
    pub fn new(_table: &Table, inputs: &[Input]) -> Layout {
        let mut layout = Layout { slots: inputs.len(), ..Layout::default() };
        for (slot, input) in inputs.iter().enumerate() {
            match &input.source {
                Source::PartitionKey(at) => layout.partition.push((slot, *at)),
                Source::Clustering(at) => {
                    layout.clustering.push((slot, *at));
                    layout.row_slots.push(slot);
                }
                Source::Cell(place) if place.is_static => {
                    set(&mut layout.statics, place.column, slot);
                    layout.static_slots.push(slot);
                }
                Source::Cell(place) => {
                    set(&mut layout.regular, place.column, slot);
                    if !input.data_type.is_multi_cell() {
                        set(&mut layout.plain, place.column, slot);
                    }
                    layout.row_slots.push(slot);
                }
                Source::WriteTime(place, _) | Source::MaxWriteTime(place, _) | Source::Ttl(place, _) => {
                    layout.infos.push(slot);
                    match place.is_static {
                        true => layout.static_slots.push(slot),
                        false => layout.row_slots.push(slot),
                    }
                }
                Source::Aggregate(_) => {}
            }
        }
        layout.clustering.sort_by_key(|&(_, at)| at);
        layout.wants_clustering = !layout.clustering.is_empty();
        layout.wants_statics = !layout.static_slots.is_empty();
        layout
    }

    #[inline]
    pub fn regular_slot(&self, column: ColumnId) -> Option<usize> {
        lookup(&self.regular, column)
    }

    /// The slot of a column whose value is one cell.
    #[inline]
    pub fn plain_slot(&self, column: ColumnId) -> Option<usize> {
        lookup(&self.plain, column)
    }

    #[inline]
    pub fn static_slot(&self, column: ColumnId) -> Option<usize> {
        lookup(&self.statics, column)
    }
}

#[inline]
fn lookup(slots: &[u16], column: ColumnId) -> Option<usize> {
    slots.get(column as usize).filter(|slot| **slot != UNWANTED).map(|slot| *slot as usize)
}

fn set(slots: &mut Vec<u16>, column: ColumnId, slot: usize) {
    let at = column as usize;
    if slots.len() <= at {
        slots.resize(at + 1, UNWANTED);
    }
    slots[at] = u16::try_from(slot).unwrap_or(UNWANTED);
}
