//! From a mutation to the entries that it adds to its table's indexes, and those that it makes obsolete.

use super::{IndexConfig, Source, place};
use crate::assemble::map_value_of;
use crate::condition::RowPosition;
use crate::mutation::Mutation;
use crate::read::Slice;
use model::comparable;
use model::deletion::{Deletion, Marker, Timestamp};
use model::key::{KIND_PARTITION_DELETION, KIND_RANGE, KIND_ROW, KIND_STATIC, PartitionKey, composite_part};
use model::lists;
use model::row::{Cell, CellState, ColumnId, RowView, RowWriter};
use std::borrow::Cow;

/// The entries of what a mutation writes; its operations must have been resolved.
pub fn additions(indexes: &[IndexConfig], mutation: &Mutation) -> Vec<Mutation> {
    let mut out = Entries::default();
    for (position, row) in rows(mutation) {
        for index in indexes {
            entries_of(index, &mutation.key, position, row, &mut |entry| out.add(index, entry));
        }
    }
    out.mutations
}

/// What of the current data a mutation may make obsolete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    pub rows: Vec<RowPosition>,
    /// Ranges of rows that are deleted.
    pub ranges: Vec<Slice>,
}

impl Needs {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.ranges.is_empty()
    }
}

/// What has to be read before [`delta`] can tell.
pub fn needs(indexes: &[IndexConfig], mutation: &Mutation) -> Needs {
    let mut needs = Needs::default();
    for entry in mutation.entries() {
        let Some((&kind, clustering)) = entry.position.split_first() else { continue };
        match kind {
            KIND_PARTITION_DELETION => {
                needs.rows.push(RowPosition::Static);
                needs.ranges = vec![Slice::all()];
            }
            KIND_RANGE => {
                if let Some((_, end)) = Deletion::decode(entry.payload) {
                    needs.ranges.push(Slice { start: clustering.to_vec(), end: end.to_vec() });
                }
            }
            _ => {
                let Some(row) = RowView::from_payload(entry.payload) else { continue };
                let indexed = |c: Cell<'_>| indexes.iter().any(|i| i.source.column() == Some(c.column));
                if !row.deletion().is_none() || row.cells().any(indexed) {
                    needs.rows.push(position_of(kind, clustering));
                }
            }
        }
    }
    needs
}

/// The entries that a mutation adds, and deletions of those of `old` (the rows that are there, live ones) that it replaces
/// or deletes.
pub fn delta<'o>(
    indexes: &[IndexConfig],
    mutation: &Mutation,
    old: impl Iterator<Item = (&'o RowPosition, RowView<'o>)>,
    now_seconds: u32,
) -> Vec<Mutation> {
    let old: Vec<_> = old.collect();
    let mut out = Entries::default();
    for (clustering, row) in rows(mutation) {
        let there =
            old.iter().find(|(position, _)| clustering_of(position) == clustering).map(|(_, row)| *row);
        for index in indexes {
            entries_of(index, &mutation.key, clustering, row, &mut |entry| {
                if !there.is_some_and(|there| loses(&entry, there)) {
                    out.add(index, entry);
                }
            });
        }
    }
    for (position, row) in old {
        let clustering = clustering_of(position);
        let over_row = covering(mutation, clustering);
        for index in indexes {
            // A partition stays when one of its rows goes.
            let covering = match index.source {
                Source::Partition { .. } => partition_deletion(mutation),
                _ => over_row,
            };
            entries_of(index, &mutation.key, clustering, row, &mut |entry| {
                let deletion = match entry.cell {
                    // Everything up to the deletion is gone; what is newer has an entry that is newer.
                    None => (!covering.is_none()).then_some(covering.timestamp),
                    Some(id) => {
                        let gone = covering.covers(entry.timestamp)
                            || replaced(mutation, clustering, id, entry.timestamp);
                        gone.then_some(entry.timestamp)
                    }
                };
                if let Some(timestamp) = deletion {
                    out.remove(index, entry, Deletion { timestamp, local_seconds: now_seconds });
                }
            });
        }
    }
    out.mutations
}

fn clustering_of(position: &RowPosition) -> Option<&[u8]> {
    match position {
        RowPosition::Static => None,
        RowPosition::Row(clustering) => Some(clustering),
    }
}

/// Whether the cell of an entry is written over by something younger that is there already. It stays so, whatever is written later, so
/// nobody will look for the entry. Of two cells with one timestamp nothing is said.
fn loses(entry: &Entry<'_>, there: RowView<'_>) -> bool {
    let Some((column, path)) = entry.cell else { return false };
    let is_younger = |cell: Cell<'_>| match cell.state {
        CellState::ComplexDeletion { .. } => cell.column == column && cell.timestamp >= entry.timestamp,
        _ => cell.column == column && cell.path == path && cell.timestamp > entry.timestamp,
    };
    there.deletion().covers(entry.timestamp) || there.cells().any(is_younger)
}

/// An entry is a marker or a deletion: some numbers.
const ENTRY_BYTES: usize = 32;

/// One entry: where it lies, how old it is, how long it lives.
struct Entry<'r> {
    partition: PartitionKey,
    clustering: Vec<u8>,
    timestamp: Timestamp,
    life: Life,
    /// The cell it was made of; `None` when it stands for a row.
    cell: Option<(ColumnId, Option<&'r [u8]>)>,
}

/// Calls `found` for every entry of a row (of the static row when there is no clustering).
fn entries_of<'r>(
    index: &IndexConfig,
    key: &PartitionKey,
    clustering: Option<&[u8]>,
    row: RowView<'r>,
    found: &mut dyn FnMut(Entry<'r>),
) {
    let Some(column) = index.source.column() else {
        return key_entries(index, key, clustering, row, found);
    };
    for cell in row.cells().filter(|cell| cell.column == column) {
        let (value, life) = match cell.state {
            CellState::Live(value) => (value, None),
            CellState::Expiring { value, ttl, expiry } => (value, Some((ttl, expiry))),
            CellState::Tombstone { .. } | CellState::ComplexDeletion { .. } => continue,
        };
        let Some((bytes, path)) = form_of(index, cell.path, value) else { continue };
        let partition = index.partition(&bytes, key.prefix());
        let (Some(partition), Some(clustering)) = (partition, place::entry(key, clustering, &path)) else {
            continue;
        };
        let cell_id = Some((cell.column, cell.path));
        found(Entry { partition, clustering, timestamp: cell.timestamp, life, cell: cell_id });
    }
}

/// The comparable form that a cell is found by, and what tells its entry from those of equal elements.
fn form_of<'r>(
    index: &IndexConfig,
    path: Option<&'r [u8]>,
    value: &'r [u8],
) -> Option<(Vec<u8>, Cow<'r, [u8]>)> {
    const NOTHING: Cow<'static, [u8]> = Cow::Borrowed(&[]);
    let mut bytes = Vec::with_capacity(value.len() + 2);
    let change = index.change;
    let mut put = |data_type, value| match change.is_none() {
        true => comparable::encode(data_type, false, value, &mut bytes).ok(),
        false => comparable::encode(data_type, false, &change.apply(value), &mut bytes).ok(),
    };
    match (&index.source, path) {
        (Source::Cell { data_type, .. }, None) => put(data_type, value)?,
        // Paths of sets and maps are comparable already.
        (Source::Path { .. }, Some(path)) if change.is_none() => return Some((path.to_vec(), NOTHING)),
        // Several elements may be alike now: their paths tell their entries apart.
        (Source::Path { data_type, .. }, Some(path)) => {
            let mut element = Vec::new();
            comparable::decode(data_type, false, path, &mut element).ok()?;
            put(data_type, &element)?;
            return Some((bytes, path.into()));
        }
        (Source::Value { data_type, map_key, .. }, Some(path)) => {
            put(data_type, map_key.as_ref().map_or(value, |key| map_value_of(key, path, value)))?;
            return Some((bytes, path.into()));
        }
        (Source::Entry { key, value: data_type, .. }, Some(path)) => {
            bytes.extend_from_slice(path);
            comparable::encode(data_type, false, map_value_of(key, path, value), &mut bytes).ok()?;
        }
        (Source::Near { lists, .. }, None) => {
            return Some((super::form_of_list(lists.list_of(value)), lists::code(value).into()));
        }
        _ => return None,
    }
    Some((bytes, NOTHING))
}

/// The entries of a row (or partition) in an index on a key column: one for the part of the row that never expires, and one for each moment at which
/// some of it does. Each is as young as anything it stands for, and is gone with the last of it.
fn key_entries<'r>(
    index: &IndexConfig,
    key: &PartitionKey,
    clustering: Option<&[u8]>,
    row: RowView<'r>,
    found: &mut dyn FnMut(Entry<'r>),
) {
    let (bytes, place) = match (&index.source, clustering) {
        (Source::Clustering { columns }, Some(clustering)) => {
            (clustering_column(columns, clustering), Some(clustering))
        }
        (Source::Partition { position, data_type }, _) => {
            (composite_part(key.bytes(), *position).and_then(|v| super::comparable_of(data_type, v)), None)
        }
        _ => return,
    };
    let Some(partition) = bytes.and_then(|bytes| index.partition(&bytes, key.prefix())) else { return };
    for (life, timestamp) in lives(row) {
        let expiry = life.map(|(_, expiry): (u32, u32)| expiry.to_be_bytes());
        let path = expiry.as_ref().map_or(&[][..], |expiry| expiry);
        if let Some(clustering) = place::entry(key, place, path) {
            found(Entry { partition: partition.clone(), clustering, timestamp, life, cell: None });
        }
    }
}

/// Time to live and second of expiry; `None` is for ever.
type Life = Option<(u32, u32)>;

/// How long the parts of a row live, each with the youngest timestamp of those that live so long.
fn lives(row: RowView<'_>) -> Vec<(Life, Timestamp)> {
    let marker = row.marker().map(|m| ((m.ttl > 0).then_some((m.ttl, m.expiry)), m.timestamp));
    let cells = row.cells().filter_map(|cell| match cell.state {
        CellState::Live(_) => Some((None, cell.timestamp)),
        CellState::Expiring { ttl, expiry, .. } => Some((Some((ttl, expiry)), cell.timestamp)),
        CellState::Tombstone { .. } | CellState::ComplexDeletion { .. } => None,
    });
    let mut lives: Vec<(Life, Timestamp)> = Vec::with_capacity(1);
    for (life, timestamp) in marker.into_iter().chain(cells) {
        let expiry = |life: Life| life.map(|(_, expiry)| expiry);
        match lives.iter_mut().find(|(known, _)| expiry(*known) == expiry(life)) {
            Some((_, youngest)) => *youngest = timestamp.max(*youngest),
            None => lives.push((life, timestamp)),
        }
    }
    lives
}

/// The comparable form (ascending) of the last of these columns of a clustering key.
fn clustering_column(columns: &[(model::types::DataType, bool)], clustering: &[u8]) -> Option<Vec<u8>> {
    let mut rest = clustering;
    for (at, (data_type, descending)) in columns.iter().enumerate() {
        let (component, behind) =
            rest.split_at_checked(comparable::skip(data_type, *descending, rest).ok()?)?;
        if at + 1 == columns.len() {
            return Some(component.iter().map(|byte| if *descending { !byte } else { *byte }).collect());
        }
        rest = behind;
    }
    None
}

/// The rows of a mutation, with their clustering; the static row has none.
fn rows(mutation: &Mutation) -> impl Iterator<Item = (Option<&[u8]>, RowView<'_>)> {
    mutation.entries().filter_map(|entry| {
        let (&kind, clustering) = entry.position.split_first()?;
        let clustering = match kind {
            KIND_STATIC => None,
            KIND_ROW => Some(clustering),
            _ => return None,
        };
        Some((clustering, RowView::from_payload(entry.payload)?))
    })
}

fn position_of(kind: u8, clustering: &[u8]) -> RowPosition {
    if kind == KIND_STATIC { RowPosition::Static } else { RowPosition::Row(clustering.to_vec()) }
}

/// The strongest deletion of a mutation over a row.
fn covering(mutation: &Mutation, row: Option<&[u8]>) -> Deletion {
    let over = |entry: crate::mutation::EntryRef<'_>| {
        let (&kind, clustering) = entry.position.split_first()?;
        match (kind, row) {
            (KIND_PARTITION_DELETION, _) => Some(Deletion::decode(entry.payload)?.0),
            (KIND_RANGE, Some(row)) => {
                let (deletion, end) = Deletion::decode(entry.payload)?;
                (clustering <= row && row < end).then_some(deletion)
            }
            (KIND_STATIC, None) => Some(RowView::from_payload(entry.payload)?.deletion()),
            (KIND_ROW, Some(row)) if row == clustering => {
                Some(RowView::from_payload(entry.payload)?.deletion())
            }
            _ => None,
        }
    };
    mutation.entries().filter_map(over).fold(Deletion::NONE, Deletion::max)
}

fn partition_deletion(mutation: &Mutation) -> Deletion {
    let whole = mutation.entries().filter(|entry| entry.position == [KIND_PARTITION_DELETION]);
    whole.filter_map(|entry| Some(Deletion::decode(entry.payload)?.0)).fold(Deletion::NONE, Deletion::max)
}

/// Whether a mutation writes over a cell. Of two cells with one timestamp either may win: nothing is said of them.
fn replaced(
    mutation: &Mutation,
    row: Option<&[u8]>,
    (column, path): (ColumnId, Option<&[u8]>),
    timestamp: Timestamp,
) -> bool {
    let here = rows(mutation).filter(|(clustering, _)| *clustering == row);
    here.flat_map(|(_, row)| row.cells()).filter(|cell| cell.column == column).any(|cell| match cell.state {
        CellState::ComplexDeletion { .. } => cell.timestamp >= timestamp,
        _ => cell.path == path && cell.timestamp > timestamp,
    })
}

/// Mutations of index tables, one per partition.
#[derive(Default)]
struct Entries {
    mutations: Vec<Mutation>,
}

impl Entries {
    fn add(&mut self, index: &IndexConfig, entry: Entry<'_>) {
        let mut marker = Marker::new(entry.timestamp);
        if let Some((ttl, expiry)) = entry.life {
            (marker.ttl, marker.expiry) = (ttl, expiry);
        }
        self.put(index, entry, Some(marker), Deletion::NONE);
    }

    fn remove(&mut self, index: &IndexConfig, entry: Entry<'_>, deletion: Deletion) {
        self.put(index, entry, None, deletion);
    }

    fn put(&mut self, index: &IndexConfig, entry: Entry<'_>, marker: Option<Marker>, deletion: Deletion) {
        let mut writer = RowWriter::with_capacity(ENTRY_BYTES);
        writer.begin(marker.map_or(deletion.timestamp, |m| m.timestamp), marker, deletion);
        let same = |m: &Mutation| m.table == index.table && m.key == entry.partition;
        match self.mutations.iter_mut().find(|m| same(m)) {
            Some(mutation) => mutation.row(&entry.clustering, writer.view()),
            None => {
                let mut mutation = Mutation::new(index.table, entry.partition);
                mutation.row(&entry.clustering, writer.view());
                self.mutations.push(mutation);
            }
        }
    }
}
