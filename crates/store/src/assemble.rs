//! Multi-cell columns: from cells to one wire value, and access to elements of values.
//!
//! A non-frozen collection or user-defined type is stored as one cell per element; clients see one
//! value. Guarantees: elements come in the type's order, dead cells are left out, a collection
//! without live elements is null.

use crate::condition::Element;
use model::comparable;
use model::row::{Cell, ColumnId, RowView};
use model::timeuuid;
use model::types::DataType;
use model::value::compare;
use model::value::elements::{elements, fields, map_entries};

/// A live element of a list: its path and its value.
#[derive(Clone, Copy, Debug)]
pub struct ListCell<'a> {
    pub path: &'a [u8],
    pub value: &'a [u8],
}

/// The live elements of a non-frozen list, in order.
pub fn live_list<'a>(
    row: Option<RowView<'a>>,
    column: ColumnId,
    now_seconds: u32,
) -> impl Iterator<Item = ListCell<'a>> {
    row.into_iter().flat_map(move |row| {
        row.cells()
            .filter(move |c| c.column == column)
            .filter_map(move |cell| Some(ListCell { path: cell.path?, value: cell.live_value(now_seconds)? }))
    })
}

/// The wire value of a column in a row; `None` when it is null.
pub fn assemble_column(
    row: RowView<'_>,
    column: ColumnId,
    data_type: &DataType,
    now_seconds: u32,
) -> Option<Vec<u8>> {
    let cells = row.cells().filter(|c| c.column == column);
    if !data_type.is_multi_cell() {
        return cells.filter_map(|c| c.live_value(now_seconds)).next().map(<[u8]>::to_vec);
    }
    let mut out = Vec::new();
    assemble_cells(cells, data_type, now_seconds, &mut out).then_some(out)
}

/// Appends the wire value made of a multi-cell column's cells (in path order); `false`, with nothing
/// appended, when none is live.
pub fn assemble_cells<'a>(
    cells: impl Iterator<Item = Cell<'a>>,
    data_type: &DataType,
    now_seconds: u32,
    out: &mut Vec<u8>,
) -> bool {
    let live = cells.filter_map(|c| Some((c.path?, c.live_value(now_seconds)?)));
    match data_type {
        DataType::Udt(udt) => return assemble_fields(live, udt.fields.len(), out),
        DataType::List { .. } | DataType::Set { .. } | DataType::Map { .. } => {}
        _ => return false,
    }
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0i32;
    let written_keys = matches!(data_type, DataType::Map { key, .. } if key.has_decimal());
    for (path, value) in live {
        match data_type {
            DataType::List { .. } => put_part(out, value),
            DataType::Set { .. } if !value.is_empty() => put_part(out, value),
            DataType::Set { element, .. } => put_path(out, element, path),
            DataType::Map { key, .. } => {
                let written = if written_keys { written_entry(key, path, value) } else { None };
                match written {
                    Some((key, _)) => put_part(out, key),
                    None => put_path(out, key, path),
                }
                put_part(out, written.map_or(value, |(_, value)| value));
            }
            _ => {}
        }
        count += 1;
    }
    if count == 0 {
        out.truncate(start);
        return false;
    }
    out[start..start + 4].copy_from_slice(&count.to_be_bytes());
    true
}

/// What the cell of a set's element holds: nothing, or the element as it was written if its path does not tell (the
/// scale of a decimal).
pub fn set_cell_value(element: &DataType, path: &[u8], written: &[u8]) -> Vec<u8> {
    if element.has_decimal() && !tells(element, path, written) { written.to_vec() } else { Vec::new() }
}

/// What the cell of a map's entry holds: the value; behind the key as it was written, if keys of this type have decimals.
pub fn map_cell_value(key: &DataType, written: &[u8], value: &[u8]) -> Vec<u8> {
    if !key.has_decimal() {
        return value.to_vec();
    }
    let mut out = Vec::with_capacity(4 + written.len() + value.len());
    put_part(&mut out, written);
    out.extend_from_slice(value);
    out
}

/// The two halves of a cell made by [`map_cell_value`]. `None` for a plain value, as it was stored before keys were kept as
/// written: it does not begin with a form of its own key.
fn written_entry<'v>(key: &DataType, path: &[u8], cell: &'v [u8]) -> Option<(&'v [u8], &'v [u8])> {
    let (len, rest) = cell.split_first_chunk::<4>()?;
    let (written, value) = rest.split_at_checked(usize::try_from(i32::from_be_bytes(*len)).ok()?)?;
    let mut again = Vec::with_capacity(path.len());
    comparable::encode(key, false, written, &mut again).ok()?;
    (again == path).then_some((written, value))
}

/// The value in the cell of a map's entry.
pub fn map_value_of<'v>(key: &DataType, path: &[u8], cell: &'v [u8]) -> &'v [u8] {
    let written = if key.has_decimal() { written_entry(key, path, cell) } else { None };
    written.map_or(cell, |(_, value)| value)
}

/// Whether the comparable form of a value gives it back byte for byte.
fn tells(data_type: &DataType, path: &[u8], written: &[u8]) -> bool {
    let mut decoded = Vec::with_capacity(written.len());
    comparable::decode(data_type, false, path, &mut decoded).is_ok() && decoded == written
}

fn put_part(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as i32).to_be_bytes());
    out.extend_from_slice(value);
}

/// A set element or map key: decoded from its comparable form, length patched in.
fn put_path(out: &mut Vec<u8>, data_type: &DataType, path: &[u8]) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    // A path was encoded by us and checked by the file's checksum; were it malformed all the same,
    // the element shows as empty rather than as something it is not.
    if comparable::decode(data_type, false, path, out).is_err() {
        out.truncate(at + 4);
    }
    let len = (out.len() - at - 4) as i32;
    out[at..at + 4].copy_from_slice(&len.to_be_bytes());
}

/// Fields up to the last live one; missing ones in between are null.
fn assemble_fields<'a>(
    live: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    arity: usize,
    out: &mut Vec<u8>,
) -> bool {
    let start = out.len();
    let mut next = 0usize;
    for (path, value) in live {
        let Some(index) = field_index(path).filter(|&i| i >= next && i < arity) else { continue };
        (next..index).for_each(|_| out.extend_from_slice(&(-1i32).to_be_bytes()));
        put_part(out, value);
        next = index + 1;
    }
    if next == 0 {
        return false;
    }
    debug_assert!(out.len() > start);
    (next..arity).for_each(|_| out.extend_from_slice(&(-1i32).to_be_bytes()));
    true
}

/// The field a path of a non-frozen user-defined type names.
pub fn field_index(path: &[u8]) -> Option<usize> {
    Some(u16::from_be_bytes(path.try_into().ok()?) as usize)
}

/// The path of a field.
pub fn field_path(index: u16) -> [u8; 2] {
    index.to_be_bytes()
}

/// The path of a list element with this timeuuid.
pub fn list_path(id: &[u8; 16]) -> [u8; 16] {
    timeuuid::to_ordered(id)
}

/// An element or field of an assembled value, with its type.
pub fn element(data_type: &DataType, whole: Option<&[u8]>, part: &Element) -> (Option<Vec<u8>>, DataType) {
    match (data_type, part) {
        (DataType::Map { key, value, .. }, Element::MapKey(wanted)) => {
            let found = whole.and_then(|bytes| {
                map_entries(bytes)
                    .ok()?
                    .flatten()
                    .find_map(|(k, v)| (compare(key, k?, wanted).is_eq()).then_some(v?.to_vec()))
            });
            (found, (**value).clone())
        }
        (DataType::List { element, .. }, Element::ListIndex(index)) => {
            let found = whole.and_then(|bytes| {
                let index = usize::try_from(*index).ok()?;
                elements(bytes).ok()?.nth(index)?.ok()?.map(<[u8]>::to_vec)
            });
            (found, (**element).clone())
        }
        (DataType::Udt(udt), Element::Field(index)) => {
            let found = whole.and_then(|bytes| fields(bytes).nth(*index as usize)?.ok()?.map(<[u8]>::to_vec));
            let field = udt.fields.get(*index as usize).map_or(DataType::Empty, |f| f.data_type.clone());
            (found, field)
        }
        _ => (None, DataType::Empty),
    }
}

/// Whether a collection value has an element (or a map a key, with `keys`) equal to `wanted`.
pub fn contains(data_type: &DataType, whole: Option<&[u8]>, wanted: Option<&[u8]>, keys: bool) -> bool {
    let (Some(bytes), Some(wanted)) = (whole, wanted) else { return false };
    let equal = |t: &DataType, part: Option<&[u8]>| part.is_some_and(|p| compare(t, p, wanted).is_eq());
    match data_type {
        DataType::List { element, .. } | DataType::Set { element, .. } => {
            elements(bytes).is_ok_and(|mut parts| parts.any(|p| p.is_ok_and(|p| equal(element, p))))
        }
        DataType::Map { key, value, .. } => map_entries(bytes).is_ok_and(|mut entries| {
            entries.any(|e| e.is_ok_and(|(k, v)| if keys { equal(key, k) } else { equal(value, v) }))
        }),
        _ => false,
    }
}

/// Whether a list, set or map value has no elements.
pub fn is_empty_collection(data_type: &DataType, bytes: &[u8]) -> bool {
    data_type.is_collection() && elements(bytes).is_ok_and(|parts| parts.left() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::row::CellState;
    use std::sync::Arc;

    fn path_of(key: &[u8]) -> Vec<u8> {
        let mut path = Vec::new();
        comparable::encode(&DataType::Decimal, false, key, &mut path).unwrap();
        path
    }

    /// The key and the value that one stored cell of a `map<decimal, blob>` gives.
    fn shown(key: &[u8], cell: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (key_type, value) = (Arc::new(DataType::Decimal), Arc::new(DataType::Blob));
        let map = DataType::Map { key: key_type, value, frozen: false };
        let path = path_of(key);
        let cell = Cell { column: 1, path: Some(&path), timestamp: 1, state: CellState::Live(cell) };
        let mut out = Vec::new();
        assert!(assemble_cells([cell].into_iter(), &map, 0, &mut out));
        let (key, value) = map_entries(&out).unwrap().next().unwrap().unwrap();
        (key.unwrap().to_vec(), value.unwrap().to_vec())
    }

    #[test]
    fn map_keys_come_back_as_they_were_written() {
        let one_fifty = [0, 0, 0, 2, 0, 150];
        for value in [&b""[..], b"x", &[0, 0, 0, 1, 7], &[0xff; 9]] {
            let cell = map_cell_value(&DataType::Decimal, &one_fifty, value);
            assert_eq!(shown(&one_fifty, &cell), (one_fifty.to_vec(), value.to_vec()));
        }
    }

    #[test]
    fn map_values_of_versions_that_kept_no_keys_are_read() {
        let (one_fifty, shortest) = ([0, 0, 0, 2, 0, 150], [0, 0, 0, 1, 15]);
        let another_key = map_cell_value(&DataType::Decimal, &[0, 0, 0, 0, 9], b"x");
        for plain in [&b""[..], b"x", &[0, 0, 0, 1, 7], &[0xff; 9], &another_key] {
            assert_eq!(shown(&one_fifty, plain), (shortest.to_vec(), plain.to_vec()));
        }
    }
}
