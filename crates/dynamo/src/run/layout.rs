//! Where items and index entries lie in the store: key values to partition keys and clustering bytes, documents to row images.
//!
//! An item lies under its HASH value as partition key and its RANGE value as clustering key; an index entry under the index's HASH
//! values, then its RANGE values, then the key of its item, so that every item has an entry of its own. A row has one cell: the
//! document. Key values are stored as their bytes (numbers in the byte-comparable form), so storage order is the API's order.

use crate::document::Document;
use crate::error::{ApiError, ErrorName};
use crate::expression::KeyTest;
use crate::table::PrimaryKey;
use crate::value::Value;
use model::comparable;
use model::deletion::{Deletion, Marker};
use model::key::PartitionKey;
use model::row::{ColumnId, RowView, RowWriter};
use model::types::DataType;
use store::Slice;

/// The cell of documents in stores beside a table; a table's own column has the id that the catalogue gave it.
pub const STORE_COLUMN: ColumnId = 1;

/// A row's place in a table or store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub key: PartitionKey,
    pub clustering: Vec<u8>,
}

pub fn internal(text: impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorName::InternalServer, text.to_string())
}

/// The partition of some key values; more than one only in indexes.
pub fn partition<V: AsRef<[u8]>>(values: &[V]) -> Result<PartitionKey, ApiError> {
    let key = match values {
        [one] => PartitionKey::of(one.as_ref()),
        several => PartitionKey::composite(several),
    };
    key.ok_or_else(|| internal("a key is longer than any may be"))
}

/// Appends a component of a clustering key.
pub fn put_component(bytes: &[u8], out: &mut Vec<u8>) {
    // Bytes are always of the type.
    let encoded = comparable::encode(&DataType::Blob, false, bytes, out);
    debug_assert!(encoded.is_ok());
}

fn put_value(value: &Value, out: &mut Vec<u8>) {
    put_component(value.key_bytes().unwrap_or_default(), out);
}

/// Where an item lies in its table.
pub fn item_place(key: &PrimaryKey<'_>) -> Result<Place, ApiError> {
    let mut clustering = Vec::new();
    if let Some(sort) = key.sort_bytes() {
        clustering.reserve(sort.len() + 4);
        put_component(sort, &mut clustering);
    }
    Ok(Place { key: partition(&[key.hash_bytes()])?, clustering })
}

/// Where the entry of an item lies in an index.
pub fn entry_place(hash: &[Value], sort: &[Value], item: &PrimaryKey<'_>) -> Result<Place, ApiError> {
    let hash: Vec<&[u8]> = hash.iter().map(|value| value.key_bytes().unwrap_or_default()).collect();
    let mut clustering = Vec::new();
    for value in sort {
        put_value(value, &mut clustering);
    }
    put_component(item.hash_bytes(), &mut clustering);
    if let Some(sort) = item.sort_bytes() {
        put_component(sort, &mut clustering);
    }
    Ok(Place { key: partition(&hash)?, clustering })
}

/// The rows whose RANGE values begin with these and pass the test.
pub fn slice(equal: &[Value], test: Option<&KeyTest>) -> Slice {
    let mut prefix = Vec::new();
    for value in equal {
        put_value(value, &mut prefix);
    }
    let with = |value: &Value| {
        let mut bytes = prefix.clone();
        put_value(value, &mut bytes);
        bytes
    };
    let behind = |mut bytes: Vec<u8>| {
        bytes.push(0xff);
        bytes
    };
    match test {
        None => Slice::prefix(&prefix),
        Some(KeyTest::Equal(value)) => Slice::prefix(&with(value)),
        Some(KeyTest::Less(value)) => Slice { end: with(value), start: prefix },
        Some(KeyTest::LessOrEqual(value)) => Slice { end: behind(with(value)), start: prefix },
        Some(KeyTest::Greater(value)) => Slice { start: behind(with(value)), end: behind(prefix) },
        Some(KeyTest::GreaterOrEqual(value)) => Slice { start: with(value), end: behind(prefix) },
        Some(KeyTest::Between(low, high)) => Slice { start: with(low), end: behind(with(high)) },
        Some(KeyTest::BeginsWith(value)) if value.key_bytes().is_none_or(<[u8]>::is_empty) => {
            Slice::prefix(&prefix)
        }
        Some(KeyTest::BeginsWith(value)) => {
            let start = without_end(with(value));
            Slice { end: successor(start.clone()), start }
        }
    }
}

/// The encoding of a value without its terminator: what all values that begin with it begin with.
fn without_end(mut encoded: Vec<u8>) -> Vec<u8> {
    encoded.truncate(encoded.len().saturating_sub(TERMINATOR_BYTES));
    encoded
}

/// The shortest bytes above everything that begins with these.
fn successor(mut bytes: Vec<u8>) -> Vec<u8> {
    while let Some(last) = bytes.pop() {
        if last < 0xff {
            bytes.push(last + 1);
            return bytes;
        }
    }
    vec![0xff; 2]
}

/// How `model::comparable` ends a run of bytes: two zeros.
const TERMINATOR_BYTES: usize = 2;

/// A row with a document.
pub fn document_row(writer: &mut RowWriter, ballot: i64, column: ColumnId, document: &[u8]) {
    writer.begin(ballot, Some(Marker::new(ballot)), Deletion::NONE);
    writer.live(column, document);
}

/// A row that is no more.
pub fn deleted_row(writer: &mut RowWriter, ballot: i64, now_seconds: u32) {
    writer.begin(ballot, None, Deletion { timestamp: ballot, local_seconds: now_seconds });
}

/// The document in a row.
pub fn document_bytes<'r>(row: &RowView<'r>, column: ColumnId, now_seconds: u32) -> Option<&'r [u8]> {
    let cell = row.cells().find(|cell| cell.column == column)?;
    cell.live_value(now_seconds)
}

pub fn document<'r>(row: &RowView<'r>, column: ColumnId, now_seconds: u32) -> Result<Document<'r>, ApiError> {
    let bytes = document_bytes(row, column, now_seconds).unwrap_or_default();
    Document::new(bytes).map_err(internal)
}
