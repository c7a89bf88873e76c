//! From column values to keys: partition keys in wire form, clustering keys in comparable form.

use crate::error::QueryError;
use crate::fault::KeyFault;
use model::comparable;
use model::key::{PARTITION_KEY_BYTES_MAX, PartitionKey};
pub use model::row::written_values;
use model::row::{KEY_AS_WRITTEN, RowView, encode_written};
use schema::{Column, Table};
use std::borrow::Cow;

/// Most keys have no more columns.
const KEY_COLUMNS_INLINE: usize = 4;

/// The partition key made of one wire value per partition key column.
pub fn partition_key<V: AsRef<[u8]>>(table: &Table, values: &[V]) -> Result<PartitionKey, QueryError> {
    debug_assert_eq!(values.len(), table.partition_key.len());
    let too_long = |len: usize| too_long(len, PARTITION_KEY_BYTES_MAX);
    if let [value] = values {
        let value = value.as_ref();
        if value.is_empty() {
            return Err(KeyFault::Empty.into());
        }
        return PartitionKey::of(value).ok_or_else(|| too_long(value.len()));
    }
    PartitionKey::composite(values).ok_or_else(|| match values.iter().map(|v| v.as_ref().len()).max() {
        Some(longest) if longest > PARTITION_KEY_BYTES_MAX => {
            too_long(values.iter().map(|v| v.as_ref().len()).sum())
        }
        _ => too_long(values.iter().map(|v| v.as_ref().len() + 3).sum()),
    })
}

/// A key that is longer than keys may be.
pub fn too_long(bytes: usize, bytes_max: usize) -> QueryError {
    KeyFault::TooLong { bytes, bytes_max }.into()
}

/// The value of each partition key column inside a partition key's wire form.
pub fn partition_values<'k>(table: &Table, key: &'k [u8]) -> Vec<&'k [u8]> {
    if table.partition_key.len() == 1 {
        return vec![key];
    }
    let mut rest = key;
    let mut values = Vec::with_capacity(table.partition_key.len());
    while let Some((len, tail)) = rest.split_first_chunk::<2>() {
        let Some((value, tail)) = tail.split_at_checked(u16::from_be_bytes(*len) as usize) else { break };
        values.push(value);
        rest = tail.get(1..).unwrap_or_default();
    }
    values.resize(table.partition_key.len(), &[]);
    values
}

/// Appends the comparable form of one clustering value (already validated for its type).
pub fn put_clustering(column: &Column, value: &[u8], out: &mut Vec<u8>) -> Result<(), QueryError> {
    comparable::encode(&column.data_type, column.descending, value, out).map_err(QueryError::from)
}

/// The clustering key made of one wire value per clustering column.
pub fn clustering_key<V: AsRef<[u8]>>(table: &Table, values: &[V]) -> Result<Vec<u8>, QueryError> {
    let mut bytes = Vec::with_capacity(values.iter().map(|v| v.as_ref().len() + 4).sum());
    for (column, value) in table.clustering.iter().zip(values) {
        put_clustering(column, value.as_ref(), &mut bytes)?;
    }
    Ok(bytes)
}

/// Values of the key columns of one row: on the stack unless there are many.
#[derive(Default)]
pub struct KeyValues<'v> {
    inline: [Cow<'v, [u8]>; KEY_COLUMNS_INLINE],
    count: usize,
    many: Vec<Cow<'v, [u8]>>,
}

impl<'v> KeyValues<'v> {
    pub fn push(&mut self, value: Cow<'v, [u8]>) {
        match self.inline.get_mut(self.count) {
            Some(slot) if self.many.is_empty() => {
                *slot = value;
                self.count += 1;
            }
            _ => {
                if self.many.is_empty() {
                    self.many.extend(self.inline.iter_mut().map(std::mem::take));
                }
                self.many.push(value);
            }
        }
    }

    pub fn as_slice(&self) -> &[Cow<'v, [u8]>] {
        if self.many.is_empty() { &self.inline[..self.count] } else { &self.many }
    }
}

/// Clustering values in the form in which a row keeps them beside its key; `None` if the key gives them back as they are.
pub fn as_written<V: AsRef<[u8]>>(table: &Table, values: &[V], key: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(key.len());
    let ends = clustering_values(table, key, None, &mut decoded);
    let mut start = 0;
    let given_back = ends.iter().map(|end| &decoded[std::mem::replace(&mut start, *end)..*end]);
    if given_back.eq(values.iter().map(AsRef::as_ref)) {
        return None;
    }
    Some(encode_written(values))
}

/// What a row keeps of its clustering values as they were written.
pub fn kept_values<'r>(table: &Table, row: RowView<'r>, now_seconds: u32) -> Option<&'r [u8]> {
    if !table.loses_scale() {
        return None;
    }
    row.cells().find(|cell| cell.column == KEY_AS_WRITTEN)?.live_value(now_seconds)
}

/// Appends the wire value of each clustering column in `clustering` bytes to `out`, and gives their
/// ends: value `i` is `out[ends[i - 1]..ends[i]]`.
/// `kept` are the values as they were written, if the row keeps them.
pub fn clustering_values(
    table: &Table,
    clustering: &[u8],
    kept: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Vec<usize> {
    let mut rest = clustering;
    let mut ends = Vec::with_capacity(table.clustering.len());
    for value in kept.into_iter().flat_map(written_values) {
        out.extend_from_slice(value);
        ends.push(out.len());
    }
    if ends.len() == table.clustering.len() {
        return ends;
    }
    for column in &table.clustering {
        let Ok(used) = comparable::decode(&column.data_type, column.descending, rest, out) else { break };
        rest = rest.get(used..).unwrap_or_default();
        ends.push(out.len());
    }
    ends.resize(table.clustering.len(), out.len());
    ends
}
