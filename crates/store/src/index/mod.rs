//! Secondary indexes as data: what a row is found by, and where the entries lie.
//!
//! An index is a table of its own that no dialect shows: one partition per indexed value, one row per place that has (or
//! had) the value. Entries enter the log in the commit of their source, so no crash separates them.
//!
//! Guarantees: whatever a source table shows, its indexes lead to (no row is ever missing). An index may lead to more:
//! entries whose row has changed since, where nothing that was at hand told that they are dead. So whoever reads through an
//! index looks at the rows themselves and drops those that do not match; then the answer is that of reading everything.
//!
//! An entry has the timestamp and lifetime of the cell it was made of, so it expires with it, and a deletion with the
//! timestamp of a cell that was replaced hides that cell's entry and no later one. Hence entries may arrive in any order,
//! twice, or after they were deleted, as when an index is built while its table is written to.

mod delta;
mod place;
#[cfg(test)]
mod tests;

pub use delta::{Needs, additions, delta, needs};
pub use place::{Candidate, Place, candidate, partitions_slice};

use crate::TableId;
use model::comparable;
use model::key::PartitionKey;
use model::row::ColumnId;
use model::token::murmur3_h1;
use model::types::DataType;

/// One index of a table, as its store must know it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexConfig {
    /// Holds the entries.
    pub table: TableId,
    pub source: Source,
}

/// What of a row is indexed.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The value of a column that is one cell (regular or static).
    Cell { column: ColumnId, data_type: DataType },
    /// The elements of a set, or the keys of a map, of many cells.
    Path { column: ColumnId, data_type: DataType },
    /// The elements of a list, or the values of a map (then with the type of its keys), of many cells.
    Value { column: ColumnId, data_type: DataType, map_key: Option<DataType> },
    /// The entries of a map of many cells.
    Entry { column: ColumnId, key: DataType, value: DataType },
    /// A clustering column. `columns` are the types and directions up to and with it.
    Clustering { columns: Vec<(DataType, bool)> },
    /// A column of a partition key of several.
    Partition { position: usize, data_type: DataType },
}

/// Longer forms of values are cut, and a hash of the whole put behind: values that then fall together are told apart by
/// looking at the rows.
const VALUE_BYTES_MAX: usize = 1024;

impl Source {
    /// The column outside the key that the index is on.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            Source::Cell { column, .. }
            | Source::Path { column, .. }
            | Source::Value { column, .. }
            | Source::Entry { column, .. } => Some(*column),
            Source::Clustering { .. } | Source::Partition { .. } => None,
        }
    }
}

impl IndexConfig {
    /// The partition that leads to the places with this value (in wire form). `None`: no row can have it.
    pub fn partition_of(&self, value: &[u8]) -> Option<PartitionKey> {
        let data_type = match &self.source {
            Source::Cell { data_type, .. }
            | Source::Path { data_type, .. }
            | Source::Value { data_type, .. }
            | Source::Partition { data_type, .. } => data_type,
            Source::Clustering { columns } => &columns.last()?.0,
            Source::Entry { .. } => return None,
        };
        partition(&comparable_of(data_type, value)?)
    }

    /// The partition that leads to the places whose map has this entry.
    pub fn partition_of_entry(&self, map_key: &[u8], map_value: &[u8]) -> Option<PartitionKey> {
        let Source::Entry { key, value, .. } = &self.source else { return None };
        let mut bytes = comparable_of(key, map_key)?;
        bytes.extend(comparable_of(value, map_value)?);
        partition(&bytes)
    }
}

fn comparable_of(data_type: &DataType, value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len() + 2);
    comparable::encode(data_type, false, value, &mut bytes).ok()?;
    Some(bytes)
}

/// The partition for a value in comparable form: equal values have equal forms.
fn partition(comparable: &[u8]) -> Option<PartitionKey> {
    if comparable.len() <= VALUE_BYTES_MAX {
        return PartitionKey::of(comparable);
    }
    let mut cut = comparable.get(..VALUE_BYTES_MAX)?.to_vec();
    cut.extend_from_slice(&murmur3_h1(comparable).to_be_bytes());
    PartitionKey::of(&cut)
}
