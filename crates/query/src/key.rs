//! From column values to keys: partition keys in wire form, clustering keys in comparable form.

use crate::error::QueryError;
use model::comparable;
use model::key::{PARTITION_KEY_BYTES_MAX, PartitionKey};
use schema::{Column, Table};

/// The partition key made of one wire value per partition key column.
pub fn partition_key(table: &Table, values: &[&[u8]]) -> Result<PartitionKey, QueryError> {
    debug_assert_eq!(values.len(), table.partition_key.len());
    let too_long = |len: usize| {
        QueryError::invalid(format!(
            "Key length of {len} is longer than maximum of {PARTITION_KEY_BYTES_MAX}"
        ))
    };
    if let [value] = values {
        if value.is_empty() {
            return Err(QueryError::invalid("Key may not be empty"));
        }
        return PartitionKey::of(value).ok_or_else(|| too_long(value.len()));
    }
    let mut bytes = Vec::with_capacity(values.iter().map(|v| v.len() + 3).sum());
    for value in values {
        let len = u16::try_from(value.len()).map_err(|_| too_long(value.len()))?;
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes.extend_from_slice(value);
        bytes.push(0);
    }
    PartitionKey::of(&bytes).ok_or_else(|| too_long(bytes.len()))
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
    comparable::encode(&column.data_type, column.descending, value, out)
        .map_err(|e| QueryError::invalid(e.to_string()))
}

/// The clustering key made of one wire value per clustering column.
pub fn clustering_key(table: &Table, values: &[&[u8]]) -> Result<Vec<u8>, QueryError> {
    let mut bytes = Vec::with_capacity(values.iter().map(|v| v.len() + 4).sum());
    for (column, value) in table.clustering.iter().zip(values) {
        put_clustering(column, value, &mut bytes)?;
    }
    Ok(bytes)
}

/// Appends the wire value of each clustering column in `clustering` bytes to `out`, and gives their
/// ends: value `i` is `out[ends[i - 1]..ends[i]]`.
pub fn clustering_values(table: &Table, clustering: &[u8], out: &mut Vec<u8>) -> Vec<usize> {
    let mut rest = clustering;
    let mut ends = Vec::with_capacity(table.clustering.len());
    for column in &table.clustering {
        let Ok(used) = comparable::decode(&column.data_type, column.descending, rest, out) else { break };
        rest = rest.get(used..).unwrap_or_default();
        ends.push(out.len());
    }
    ends.resize(table.clustering.len(), out.len());
    ends
}
