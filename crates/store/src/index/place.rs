//! Where an entry leads, as the clustering bytes of the entry.
//!
//! The layout is in docs/format/index.md. Byte order is the storage order of the source.

use crate::read::Slice;
use model::key::{KIND_ROW, KIND_STATIC, PartitionKey, split_prefix};

/// Keeps the bytes below the end of every slice: a storage prefix may begin with 0xff.
const TAG: u8 = 0x20;

/// Where in its partition an entry leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Partition,
    /// The row with this clustering key.
    Row(Vec<u8>),
}

/// A place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub key: PartitionKey,
    pub place: Place,
}

/// The place that an entry leads to; `None` when the bytes are not an entry's.
pub fn candidate(entry: &[u8]) -> Option<Candidate> {
    candidate_of(place_of(entry)?)
}

/// The place that an entry leads to, as a storage key of the source: its byte order is the order of the source.
pub fn place_of(entry: &[u8]) -> Option<&[u8]> {
    let (&TAG, rest) = entry.split_first()? else { return None };
    let (rest, len) = rest.split_last_chunk::<2>()?;
    rest.get(..rest.len().checked_sub(usize::from(u16::from_be_bytes(*len)))?)
}

/// What is behind the place of an entry: of a vector, its code.
pub fn path_of(entry: &[u8]) -> Option<&[u8]> {
    let (rest, len) = entry.split_last_chunk::<2>()?;
    rest.get(rest.len().checked_sub(usize::from(u16::from_be_bytes(*len)))?..)
}

/// The same place, taken apart.
pub fn candidate_of(place: &[u8]) -> Option<Candidate> {
    let (prefix, position) = split_prefix(place)?;
    let place = match position.split_first()? {
        (&KIND_STATIC, []) => Place::Partition,
        (&KIND_ROW, clustering) => Place::Row(clustering.to_vec()),
        _ => return None,
    };
    Some(Candidate { key: PartitionKey::from_prefix(prefix)?, place })
}

/// The clustering bytes of an entry. `None` when the path is too long to be told.
pub(super) fn entry(key: &PartitionKey, clustering: Option<&[u8]>, path: &[u8]) -> Option<Vec<u8>> {
    let len = u16::try_from(path.len()).ok()?;
    let row = clustering.unwrap_or_default();
    let mut bytes = Vec::with_capacity(4 + key.prefix().len() + row.len() + path.len());
    bytes.push(TAG);
    bytes.extend_from_slice(key.prefix());
    bytes.push(if clustering.is_some() { KIND_ROW } else { KIND_STATIC });
    bytes.extend_from_slice(row);
    bytes.extend_from_slice(path);
    bytes.extend_from_slice(&len.to_be_bytes());
    Some(bytes)
}

/// The entries that lead to partitions whose storage prefix lies in `[start, end)`; an empty `end` means no bound.
pub fn partitions_slice(start: &[u8], end: &[u8]) -> Slice {
    let tagged = |bytes: &[u8]| [&[TAG], bytes].concat();
    let end = if end.is_empty() { vec![TAG + 1] } else { tagged(end) };
    Slice { start: tagged(start), end }
}
